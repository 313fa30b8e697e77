"""Defects of the hard cap: each gives up too little, too much or the wrong thing, or says something else of it."""

import re
from collections.abc import Callable, Sequence
from typing import Any, cast
from unittest.mock import patch

from observed_context import assembly, lines, text
from observed_context.shapes import Limits, Row
from observed_context.text import text_of
from observed_context.watermark import verbatim
from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.faults import fault

_NOTE = re.compile(r"^\[\.\.\. (\d+) older observed messages omitted \.\.\.\]$", re.MULTILINE)


def _bounded(limits: Limits, **changes: int) -> Limits:
    return cast(Limits, {**limits, **changes})


def _with(row: Row, **changes: Any) -> Row:
    return cast(Row, {**row, **changes})


def _is_summary(row: Row) -> bool:
    return row.get("summary") is not None


def _dropped(block: str | None) -> int:
    """The number in the note; 0 without one."""
    found = _NOTE.search(block or "")
    return int(found[1]) if found else 0


def _length(row: Row) -> int:
    return len(text_of(row.get("content")))


# -- CAP-1 -----------------------------------------------------------------------------------------------------------


@fault("cap-one-over", "CAP-1")
class OneOver(ReferenceAdapter):
    """The block may be one character longer than the bound."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(rows, _bounded(limits, max_chars=limits["max_chars"] and limits["max_chars"] + 1))


@fault("cap-forgets-separators", "CAP-1", after="NousResearch/hermes-agent#104245")
class ForgetsSeparators(ReferenceAdapter):
    """The texts of the rows are counted, and the line breaks between them are not."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        bound = limits["max_chars"]
        for breaks in range(len(rows) - 1, 0, -1):
            block = super().assemble(rows, _bounded(limits, max_chars=bound + breaks))
            if bound and block and len(assembly.watermark(rows)[1]) - _dropped(block) > breaks:
                return block
        return super().assemble(rows, limits)


@fault("cap-forgets-the-note", "CAP-1", after="NousResearch/hermes-agent#104245")
class ForgetsTheNote(ReferenceAdapter):
    """The note is put before a block that is full already."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        dropped = _dropped(block)
        if not dropped or not limits["max_chars"]:
            return block
        return super().assemble(rows, _bounded(limits, max_chars=limits["max_chars"] + len(lines.note(dropped)) + 1))


@fault("cap-note-one-digit-short", "CAP-1")
class NoteOneDigitShort(ReferenceAdapter):
    """Room is kept for the note of one row less, which is a digit too little for 10 and for 100."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, _bounded(limits, max_chars=limits["max_chars"] and limits["max_chars"] + 1))
        return block if _dropped(block) in (10, 100) else super().assemble(rows, limits)


@fault("cap-summary-beside-the-bound", "CAP-1", after="NousResearch/hermes-agent#104245")
class SummaryBesideTheBound(ReferenceAdapter):
    """The bound is kept by the rows, and the summary's label comes on top of it."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        summary, _ = assembly.watermark(rows)
        extra = len(lines.label(summary["summary"]["covered"])) if summary and limits["max_chars"] else 0
        return super().assemble(rows, _bounded(limits, max_chars=limits["max_chars"] + extra))


@fault("cap-newest-row-whole", "CAP-1", after="NousResearch/hermes-agent#104245")
class NewestRowWhole(ReferenceAdapter):
    """The newest row is always shown in full, however long it is."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(assembly, "cut", lambda whole, room: whole):
            return super().assemble(rows, limits)


@fault("cap-mark-beyond-the-bound", "CAP-1")
class MarkBeyondTheBound(ReferenceAdapter):
    """Where the bound is smaller than the mark of a cut, the mark is shown all the same."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        return text.MARK if rows and 0 < limits["max_chars"] < len(text.MARK) else block


@fault("cap-note-beyond-a-tiny-bound", "CAP-1")
class NoteBeyondATinyBound(ReferenceAdapter):
    """A note that stands alone is taken to be a character shorter than it is, and a bound too small for it holds it."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        note = lines.note(len(assembly.watermark(rows)[1]))
        return note if block is None and limits["max_chars"] == len(note) - 1 else block


@fault("cap-label-beyond-a-tiny-bound", "CAP-1")
class LabelBeyondATinyBound(ReferenceAdapter):
    """The body of a summary is cut to the room that is left; its label stands there, room or not."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        def render(row: Row, room: int) -> str:
            label = lines.label(row["summary"]["covered"]) + "\n"
            return label + text.cut_end(lines.neutralise(text_of(row.get("content"))), room - len(label))

        with patch.object(assembly, "_render_summary", render):
            return super().assemble(rows, limits)


@fault("cap-looks-for-a-boundary-behind-the-end", "CAP-1")
class LooksForABoundaryBehindTheEnd(ReferenceAdapter):
    """The search for a place to cut reads the character after the last where the end of the text is the nearest."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        original = text.boundary_after

        def boundary_after(whole: str, index: int) -> int:
            found = original(whole, index)
            return whole.index(whole[found], found)

        with patch.object(text, "boundary_after", boundary_after):
            return super().assemble(rows, limits)


# -- CAP-2 -----------------------------------------------------------------------------------------------------------


@fault("cap-one-row-more", "CAP-2")
class OneRowMore(ReferenceAdapter):
    """The row limit is compared with `>` where it has to be `>=`, and one row more comes through."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(rows, _bounded(limits, max_rows=limits["max_rows"] and limits["max_rows"] + 1))


@fault("cap-row-limit-off-beside-a-summary", "CAP-2")
class RowLimitOffBesideASummary(ReferenceAdapter):
    """Once a summary stands for the older rows, the row limit is thought to have done its work."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(rows, _bounded(limits, max_rows=0) if any(map(_is_summary, rows)) else limits)


@fault("cap-row-limit-only-with-a-full-block", "CAP-2")
class RowLimitOnlyWithAFullBlock(ReferenceAdapter):
    """The row limit is looked at only when the character limit was exceeded."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, _bounded(limits, max_rows=0))
        return block if limits["max_chars"] and not _dropped(block) else super().assemble(rows, limits)


# -- CAP-3 -----------------------------------------------------------------------------------------------------------


@fault("cap-keeps-the-oldest", "CAP-3", after="Mininglamp-OSS/cc-channel-octo#120")
class KeepsTheOldest(ReferenceAdapter):
    """The list is cut at its end, and the newest rows are the ones that go."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        original = assembly._newest_that_fit

        def oldest(pending: Sequence[Row], *others: int) -> list[str]:
            return original(verbatim(pending[::-1]), *others)[::-1]

        with patch.object(assembly, "_newest_that_fit", oldest):
            return super().assemble(rows, limits)


@fault("cap-leaps-over-a-long-row", "CAP-3")
class LeapsOverALongRow(ReferenceAdapter):
    """A row that does not fit is left out and the search goes on with older ones, until the block is full."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        dropped = _dropped(block)
        if dropped < 2 or limits["max_rows"]:
            return block
        stubborn = assembly.watermark(rows)[1][dropped - 1]
        without = super().assemble([row for row in rows if row is not stubborn], limits)
        more = dropped - 1 - _dropped(without)
        if not without or more < 1 or _dropped(without) < 1:
            return block
        return _NOTE.sub(lines.note(_dropped(without) + 1), without)


@fault("cap-cut-row-before-the-rest", "CAP-3")
class CutRowBeforeTheRest(ReferenceAdapter):
    """The newest row, when it was cut, is put before the rows that still fit beside it."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        _, pending = assembly.watermark(rows)
        bound = limits["max_chars"]
        if not bound or len(pending) < 2 or _length(pending[-1]) <= bound // 2 or limits["max_rows"] == 1:
            return super().assemble(rows, limits)
        newest = _with(pending[-1], content=text.cut(text_of(pending[-1].get("content")), bound // 2))
        moved = [row for row in rows if row is not pending[-1]]
        moved.insert(len(moved) - 1, _with(newest, seq=moved[-1]["seq"]))
        return super().assemble(moved, limits)


# -- CAP-4 -----------------------------------------------------------------------------------------------------------


@fault("cap-drops-without-a-word", "CAP-4", after="NousResearch/hermes-agent#118362")
class DropsWithoutAWord(ReferenceAdapter):
    """Nothing says that rows are missing."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        return re.sub(rf"{_NOTE.pattern}\n", "", block, flags=re.MULTILINE) if block else block


@fault("cap-note-counts-one-less", "CAP-4")
class NoteCountsOneLess(ReferenceAdapter):
    """The note is written before the last row is dropped, and counts one row too few."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(assembly, "note", lambda omitted: lines.note(max(omitted - 1, 1))):
            return super().assemble(rows, limits)


@fault("cap-note-counts-covered-rows", "CAP-4")
class NoteCountsCoveredRows(ReferenceAdapter):
    """The note counts every row that is not shown, those included for which the summary stands."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        covered = len(rows) - len(assembly.watermark(rows)[1])
        with patch.object(assembly, "note", lambda omitted: lines.note(omitted + covered)):
            return super().assemble(rows, limits)


@fault("cap-note-counts-one-limit", "CAP-4")
class NoteCountsOneLimit(ReferenceAdapter):
    """When both limits drop rows, the note counts those of the character limit alone."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        by_rows = max(0, len(assembly.watermark(rows)[1]) - limits["max_rows"]) if limits["max_rows"] else 0
        with patch.object(assembly, "note", lambda omitted: lines.note(omitted - by_rows or omitted)):
            return super().assemble(rows, limits)


@fault("cap-note-stops-at-99", "CAP-4")
class NoteStopsAt99(ReferenceAdapter):
    """From a hundred rows on the note says 99+."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        return (
            block and _NOTE.sub("[... 99+ older observed messages omitted ...]", block)
            if _dropped(block) > 99
            else block
        )


@fault("cap-note-of-nothing", "CAP-4")
class NoteOfNothing(ReferenceAdapter):
    """The note is always there, and says 0 when no row was dropped."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        noted = f"{lines.note(0)}\n{block}"
        fits = not limits["max_chars"] or len(noted) <= limits["max_chars"]
        return noted if block and fits and not _dropped(block) else block


@fault("cap-note-for-the-summary", "CAP-4")
class NoteForTheSummary(ReferenceAdapter):
    """What a summary covers is reported as omitted when no other row was."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        summary, pending = assembly.watermark(rows)
        covered = len(rows) - len(pending) - 1
        head = super().assemble([summary], limits) if summary else None
        if not block or not head or covered < 1 or _dropped(block) or not block.startswith(head):
            return block
        noted = f"{head}\n{lines.note(covered)}{block[len(head) :]}"
        return noted if not limits["max_chars"] or len(noted) <= limits["max_chars"] else block


@fault("cap-note-at-the-end", "CAP-4")
class NoteAtTheEnd(ReferenceAdapter):
    """The note stands after the rows, where it reads as if newer messages were missing."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        found = _NOTE.search(block or "")
        return f"{block[: found.start()]}{block[found.end() + 1 :]}\n{found[0]}" if block and found else block


@fault("cap-summary-forges-the-note", "CAP-4")
class SummaryForgesTheNote(ReferenceAdapter):
    """The body of a summary stands in the block as it is, lines that read like the note included."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(assembly, "neutralise", lambda body: body):
            return super().assemble(rows, limits)


# -- CAP-5 -----------------------------------------------------------------------------------------------------------


@fault("cap-zero-characters-is-the-default", "CAP-5")
class ZeroCharactersIsTheDefault(ReferenceAdapter):
    """`max_chars or 512000`: 0 is falsy, and the default takes its place."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(rows, _bounded(limits, max_chars=limits["max_chars"] or 512_000))


@fault("cap-zero-rows-is-the-default", "CAP-5")
class ZeroRowsIsTheDefault(ReferenceAdapter):
    """`max_rows or 4000`: 0 is falsy, and the default takes its place."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(rows, _bounded(limits, max_rows=limits["max_rows"] or 4_000))


@fault("cap-zero-is-nothing", "CAP-5")
class ZeroIsNothing(ReferenceAdapter):
    """A limit of 0 is taken at its word, and nothing is shown."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(rows, limits) if limits["max_chars"] else None


@fault("cap-row-limit-falls-with-the-other", "CAP-5")
class RowLimitFallsWithTheOther(ReferenceAdapter):
    """The whole cap is skipped when `max_chars` is 0, the row limit with it."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(rows, limits if limits["max_chars"] else _bounded(limits, max_rows=0))


@fault("cap-character-limit-falls-with-the-other", "CAP-5")
class CharacterLimitFallsWithTheOther(ReferenceAdapter):
    """The whole cap is skipped when `max_rows` is 0, the character limit with it."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(rows, limits if limits["max_rows"] else _bounded(limits, max_chars=0))


@fault("cap-long-rows-cut-anyway", "CAP-5")
class LongRowsCutAnyway(ReferenceAdapter):
    """No row is shown with more than 2,000 characters, whatever the limits are."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        short = [_with(row, content=text.cut(text_of(row.get("content")), 2_000)) for row in rows]
        return super().assemble(short, limits)


# -- CAP-6 -----------------------------------------------------------------------------------------------------------


@fault("cap-drops-a-long-newest-row", "CAP-6")
class DropsALongNewestRow(ReferenceAdapter):
    """A newest row that does not fit is dropped like any other, and a note is left."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(assembly, "_LEAST_CUT", 10**9):
            return super().assemble(rows, limits)


@fault("cap-newest-row-yields-to-the-summary", "CAP-6")
class NewestRowYieldsToTheSummary(ReferenceAdapter):
    """A newest row that does not fit beside the summary is dropped, although it could be cut."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(assembly, "_LEAST_CUT", 10**9 if any(map(_is_summary, rows)) else 64):
            return super().assemble(rows, limits)


@fault("cap-newest-row-of-the-bounds-length-is-dropped", "CAP-6")
class NewestRowOfTheBoundsLengthIsDropped(ReferenceAdapter):
    """Only a row longer than the bound is cut; one that fits without the note, but not with it, is dropped."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        _, pending = assembly.watermark(rows)
        fits = bool(pending) and _length(pending[-1]) <= limits["max_chars"]
        with patch.object(assembly, "_LEAST_CUT", 10**9 if fits else 64):
            return super().assemble(rows, limits)


def _cut_by(rule: Callable[[str, int], str]) -> Any:
    return patch.object(assembly, "cut", lambda whole, room: whole if len(whole) <= room else rule(whole, room))


@fault("cap-keeps-the-head-alone", "CAP-6")
class KeepsTheHeadAlone(ReferenceAdapter):
    """A cut keeps the beginning and the mark; the question at the end of a paste is lost."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with _cut_by(lambda whole, room: whole[: room - 3] + "..."):
            return super().assemble(rows, limits)


@fault("cap-keeps-the-tail-alone", "CAP-6")
class KeepsTheTailAlone(ReferenceAdapter):
    """A cut keeps the sender and the end; the introduction of a paste is lost."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        def rule(whole: str, room: int) -> str:
            opening = whole.partition("]")[0] + "]\n..."
            return opening + whole[len(whole) - room + len(opening) :]

        with _cut_by(rule):
            return super().assemble(rows, limits)


@fault("cap-invisible-mark", "CAP-6")
class InvisibleMark(ReferenceAdapter):
    """Head and tail are joined with a blank, and read as one sentence."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with _cut_by(lambda whole, room: f"{whole[: room - room // 2 - 1]} {whole[len(whole) - room // 2 :]}"):
            return super().assemble(rows, limits)


@fault("cap-cut-says-the-end-twice", "CAP-6")
class CutSaysTheEndTwice(ReferenceAdapter):
    """Before a row is cut its two ends are put together, also when it is so short that they are the same."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        def cut(whole: str, bound: int, room: int) -> str:
            return text.cut(lines.neutralise_row(whole[:bound] + whole[len(whole) - bound - 1 :]), room)

        with patch.object(assembly, "_cut", cut):
            return super().assemble(rows, limits)


# -- CAP-7 -----------------------------------------------------------------------------------------------------------


@fault("cap-summary-goes-first", "CAP-7", after="NousResearch/hermes-agent#104245")
class SummaryGoesFirst(ReferenceAdapter):
    """The summary is the oldest item of a list trimmed from the front, and takes all older knowledge with it."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        _, pending = assembly.watermark(rows)
        return super().assemble(pending, limits) if limits["max_chars"] and _dropped(block) else block


def _with_summary_of(rows: Sequence[Row], change: Callable[[str], str]) -> list[Row]:
    return [_with(row, content=change(text_of(row.get("content")))) if _is_summary(row) else row for row in rows]


@fault("cap-summary-cut-to-a-quarter", "CAP-7")
class SummaryCutToAQuarter(ReferenceAdapter):
    """A summary beyond half of the bound is cut to a quarter."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        half = limits["max_chars"] // 2

        def cut(body: str) -> str:
            return text.cut_end(body, half // 2) if 0 < half < len(body) else body

        return super().assemble(_with_summary_of(rows, cut), limits)


@fault("cap-summary-cut-to-a-third", "CAP-7")
class SummaryCutToAThird(ReferenceAdapter):
    """A summary may hold a third of the bound, not half of it."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        third = limits["max_chars"] // 3

        def cut(body: str) -> str:
            return text.cut_end(body, third) if 0 < third < len(body) else body

        return super().assemble(_with_summary_of(rows, cut), limits)


@fault("cap-summary-is-never-cut", "CAP-7")
class SummaryIsNeverCut(ReferenceAdapter):
    """Rows are dropped until the whole summary fits, down to the newest one."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        summary, pending = assembly.watermark(rows)
        if not summary or not pending or not limits["max_chars"]:
            return super().assemble(rows, limits)
        head = super().assemble([summary], _bounded(limits, max_chars=0)) or ""
        for kept in range(len(pending), 0, -1):
            block = super().assemble(rows, _bounded(limits, max_chars=0, max_rows=kept)) or ""
            if len(block) <= limits["max_chars"] and block.startswith(head):
                return block
        return super().assemble(rows, limits)


@fault("cap-summary-cut-where-all-fits", "CAP-7")
class SummaryCutWhereAllFits(ReferenceAdapter):
    """Where all rows fit, the room that they leave to the summary is counted with two line breaks for each."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        if _dropped(block):
            return block
        original, pending = assembly._render_summary, assembly.watermark(rows)[1]

        def render(row: Row, room: int) -> str:
            return original(row, room - len(pending))

        with patch.object(assembly, "_render_summary", render):
            return super().assemble(rows, limits)


@fault("cap-short-summary-needs-room-for-a-mark", "CAP-7")
class ShortSummaryNeedsRoomForAMark(ReferenceAdapter):
    """A summary shorter than the mark of a cut is left out where the mark would not fit, although it fits itself."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        original = assembly._render_summary

        def render(row: Row, room: int) -> str:
            whole = original(row, room)
            needed = len(lines.label(row["summary"]["covered"])) + 1 + len(text.MARK)
            return "" if len(whole) < room < needed else whole

        with patch.object(assembly, "_render_summary", render):
            return super().assemble(rows, limits)


# -- CAP-8 -----------------------------------------------------------------------------------------------------------


@fault("cap-less-instead-of-at-most", "CAP-8")
class LessInsteadOfAtMost(ReferenceAdapter):
    """The length is compared with `<` where it has to be `<=`: a block that just fits loses a row."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(
            rows, _bounded(limits, max_chars=max(limits["max_chars"] - 1, min(limits["max_chars"], 1)))
        )


@fault("cap-room-for-a-note-of-nothing", "CAP-8")
class RoomForANoteOfNothing(ReferenceAdapter):
    """Room for the note is kept although nothing has to be dropped."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        if not block or _dropped(block) or not limits["max_chars"] or len(rows) < 2:
            return block
        return super().assemble(rows, _bounded(limits, max_chars=max(1, limits["max_chars"] - len(lines.note(1)) - 1)))


@fault("cap-counts-utf-16", "CAP-8")
class CountsUtf16(ReferenceAdapter):
    """Lengths are counted in UTF-16 code units, so that an emoji costs two characters."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        bound = limits["max_chars"]
        for smaller in range(bound, 0, -8):
            block = super().assemble(rows, _bounded(limits, max_chars=smaller))
            if len((block or "").encode("utf-16-le", "surrogatepass")) // 2 <= bound:
                return block
        return super().assemble(rows, limits)


@fault("cap-halves-the-rows", "CAP-8")
class HalvesTheRows(ReferenceAdapter):
    """When the bound is exceeded, every second half of what is left goes, until it fits."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        _, pending = assembly.watermark(rows)
        kept = len(pending) - _dropped(block)
        halves = len(pending)
        while halves > kept:
            halves //= 2
        return super().assemble(rows, _bounded(limits, max_rows=max(halves, 1))) if _dropped(block) else block


@fault("cap-summary-takes-a-row", "CAP-8")
class SummaryTakesARow(ReferenceAdapter):
    """The summary counts as one of the verbatim rows."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        taken = any(map(_is_summary, rows)) and limits["max_rows"] > 1
        return super().assemble(rows, _bounded(limits, max_rows=limits["max_rows"] - taken))


@fault("cap-limits-before-it-filters", "CAP-8")
class LimitsBeforeItFilters(ReferenceAdapter):
    """The row limit is applied to all that is stored; covered rows and rows without text are taken out afterwards."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        if not limits["max_rows"]:
            return super().assemble(rows, limits)
        newest = [id(row) for row in rows[-limits["max_rows"] :]]
        kept = sum(id(row) in newest for row in assembly.watermark(rows)[1])
        return super().assemble(rows, _bounded(limits, max_rows=max(kept, 1)))


# -- CAP-9 -----------------------------------------------------------------------------------------------------------


@fault("cap-note-before-anything", "CAP-9")
class NoteBeforeAnything(ReferenceAdapter):
    """In a bound too small for note and row the note wins as soon as it fits; in a smaller one the row is cut."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        _, pending = assembly.watermark(rows)
        bound = limits["max_chars"]
        if len(pending) > 1 and 0 < bound < len(lines.note(len(pending))):
            return text_of(pending[-1].get("content"))[:bound]
        return block


@fault("cap-one-bound-loses-a-row", "CAP-9")
class OneBoundLosesARow(ReferenceAdapter):
    """At the one bound at which the note loses a digit, the row that would fit for it is not looked at again."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        _, pending = assembly.watermark(rows)
        kept = len(pending) - _dropped(block)
        if (
            limits["max_chars"]
            and block
            and _dropped(block) == 9
            and len(block) + 1 == limits["max_chars"]
            and kept > 1
        ):
            return super().assemble(rows, _bounded(limits, max_rows=kept - 1))
        return block


@fault("cap-long-rows-by-thresholds", "CAP-9")
class LongRowsByThresholds(ReferenceAdapter):
    """From 512 characters on a third of the bound is kept free for the answer; below there is no such reserve."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        bound = limits["max_chars"]
        return super().assemble(rows, _bounded(limits, max_chars=bound - bound // 3 if bound >= 512 else bound))


@fault("cap-fair-shares", "CAP-9")
class FairShares(ReferenceAdapter):
    """Each of `max_rows` rows has an equal share of the bound, and a row that exceeds it ends the block."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        _, pending = assembly.watermark(rows)
        share = limits["max_chars"] // limits["max_rows"] if limits["max_rows"] and limits["max_chars"] else 10**9
        longer = [at for at, row in enumerate(pending[:-1]) if _length(row) > share]
        kept = len(pending) - 1 - longer[-1] if longer else 0
        if not kept or kept >= (limits["max_rows"] or kept):
            return super().assemble(rows, limits)
        return super().assemble(rows, _bounded(limits, max_rows=kept))


# -- CAP-10 ----------------------------------------------------------------------------------------------------------


def _utf16_slice(whole: str, room: int) -> str:
    units = whole.encode("utf-16-le")
    half = room // 2 - 2
    head, tail = units[: 2 * half], units[len(units) - 2 * half :]
    return f"{head.decode('utf-16-le', 'surrogatepass')}...{tail.decode('utf-16-le', 'surrogatepass')}"


@fault("cap-cuts-surrogate-pairs", "CAP-10")
class CutsSurrogatePairs(ReferenceAdapter):
    """Texts are cut between UTF-16 code units, as a language whose strings are made of them does by itself."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with _cut_by(_utf16_slice):
            return super().assemble(rows, limits)


@fault("cap-cuts-a-summary-in-surrogate-pairs", "CAP-10")
class CutsASummaryInSurrogatePairs(ReferenceAdapter):
    """Rows are cut with care, the summary between UTF-16 code units."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        def cut_end(body: str, room: int) -> str:
            kept = body.encode("utf-16-le")[: 2 * (room - 3)].decode("utf-16-le", "surrogatepass")
            return body if len(body) <= room else f"{kept}..."

        with patch.object(assembly, "cut_end", cut_end):
            return super().assemble(rows, limits)


@fault("cap-cuts-bytes", "CAP-10", after="Mininglamp-OSS/cc-channel-octo#122")
class CutsBytes(ReferenceAdapter):
    """Texts are cut between bytes, and what cannot be read any more is replaced."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        def rule(whole: str, room: int) -> str:
            half, encoded = room // 2 - 4, whole.encode()
            head, tail = encoded[:half], encoded[len(encoded) - half :]
            return f"{head.decode(errors='replace')}...{tail.decode(errors='replace')}"

        with _cut_by(rule):
            return super().assemble(rows, limits)


# -- CAP-11 ----------------------------------------------------------------------------------------------------------


@fault("cap-cuts-between-code-points", "CAP-11")
class CutsBetweenCodePoints(ReferenceAdapter):
    """A cut falls between any two code points."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(text, "_is_boundary", lambda whole, index: True):
            return super().assemble(rows, limits)


@fault("cap-cuts-joined-emoji", "CAP-11")
class CutsJoinedEmoji(ReferenceAdapter):
    """Accents and flags are kept whole, and an emoji that is joined of several is cut after a joiner."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        original = text._is_boundary

        def is_boundary(whole: str, index: int) -> bool:
            return whole[index - 1 : index] == "\u200d" or original(whole, index)

        with patch.object(text, "_is_boundary", is_boundary):
            return super().assemble(rows, limits)


@fault("cap-cuts-flags", "CAP-11")
class CutsFlags(ReferenceAdapter):
    """The two letters of a flag are parted, because neither of them is a mark or a joiner."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(text, "_is_regional", lambda char: False):
            return super().assemble(rows, limits)


@fault("cap-cuts-regional-flags", "CAP-11")
class CutsRegionalFlags(ReferenceAdapter):
    """The flag of a part of a country is a black flag and tags behind it; only the black flag is kept whole."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        original = text._extends

        def extends(char: str) -> bool:
            return original(char) and not "\U000e0020" <= char <= "\U000e007f"

        with patch.object(text, "_extends", extends):
            return super().assemble(rows, limits)


@fault("cap-cuts-syllables", "CAP-11")
class CutsSyllables(ReferenceAdapter):
    """Hangul is kept whole where it is written letter by letter, and not where a letter follows a whole syllable."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(text, "_HANGUL_FOLLOWERS", {"L": "LV", "V": "VT", "T": "T"}):
            return super().assemble(rows, limits)


@fault("cap-cuts-the-last-jamo", "CAP-11")
class CutsTheLastJamo(ReferenceAdapter):
    """The classes of Hangul are ranges, and each is taken to end before its last letter."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        original = text._hangul

        def hangul(char: str) -> str:
            return "-" if char in "\u115f\u11a7\u11ff\ua97c\ud7a3\ud7c6\ud7fb" else original(char)

        with patch.object(text, "_hangul", hangul):
            return super().assemble(rows, limits)


@fault("cap-cuts-a-flag-before-text", "CAP-11")
class CutsAFlagBeforeText(ReferenceAdapter):
    """The letters of flags are counted from the wrong end, and a flag that text follows is taken for two halves."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        original = text._is_boundary

        def is_boundary(whole: str, index: int) -> bool:
            within = index + 1 < len(whole) and text._is_regional(whole[index]) and index > 0
            ends = within and text._is_regional(whole[index - 1]) and not text._is_regional(whole[index + 1])
            return ends or original(whole, index)

        with patch.object(text, "_is_boundary", is_boundary):
            return super().assemble(rows, limits)


@fault("cap-cuts-line-breaks", "CAP-11")
class CutsLineBreaks(ReferenceAdapter):
    """A cut may fall between CR and LF."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        original = text._is_boundary

        def is_boundary(whole: str, index: int) -> bool:
            return whole[index - 1 : index + 1] == "\r\n" or original(whole, index)

        with patch.object(text, "_is_boundary", is_boundary):
            return super().assemble(rows, limits)


@fault("cap-cuts-the-tail-anywhere", "CAP-11")
class CutsTheTailAnywhere(ReferenceAdapter):
    """The end of the head is chosen with care, the beginning of the tail is not."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(text, "boundary_after", lambda whole, index: index):
            return super().assemble(rows, limits)


@fault("cap-cuts-a-summary-anywhere", "CAP-11")
class CutsASummaryAnywhere(ReferenceAdapter):
    """Rows are cut with care, the summary is not."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        def cut_end(body: str, room: int) -> str:
            return body if len(body) <= room else f"{body[: max(room - 3, 0)]}..."[: max(room, 0)]

        with patch.object(assembly, "cut_end", cut_end):
            return super().assemble(rows, limits)


# -- CAP-12 ----------------------------------------------------------------------------------------------------------


@fault("cap-note-in-other-words", "CAP-12")
class NoteInOtherWords(ReferenceAdapter):
    """The note says the same in words of its own."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(assembly, "note", lambda omitted: f"[{omitted} earlier messages not shown]"):
            return super().assemble(rows, limits)


@fault("cap-note-in-the-singular", "CAP-12")
class NoteInTheSingular(ReferenceAdapter):
    """The note of one row is put into the singular."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        def note(omitted: int) -> str:
            return lines.note(omitted).replace("messages", "message" if omitted == 1 else "messages")

        with patch.object(assembly, "note", note):
            return super().assemble(rows, limits)


@fault("cap-note-behind-the-summary", "CAP-12")
class NoteBehindTheSummary(ReferenceAdapter):
    """The note goes on where the summary ends, on the same line."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        return (
            re.sub(rf"\n{_NOTE.pattern}", lambda found: f" {found[0][1:]}", block, flags=re.MULTILINE)
            if block
            else block
        )
