"""Defects of assembly: each shows other rows than it should, or the right ones so that they pass for something else."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from secrets import token_hex
from typing import Any, cast
from unittest.mock import patch

from observed_context import assembly, lines
from observed_context.shapes import Limits, Row
from observed_context.text import text_of
from observed_context.watermark import verbatim
from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.faults import fault

_newest_that_fit = assembly._newest_that_fit


def _with(row: Row, **changes: Any) -> Row:
    return cast(Row, {**row, **changes})


def _is_summary(row: Row) -> bool:
    return row.get("summary") is not None


def _with_watermarks(rows: Sequence[Row], change: Callable[[Any], Any]) -> list[Row]:
    """The rows with another `covers_through` in every summary; None takes the field away."""
    return [
        _with_watermark(row, change(row["summary"].get("covers_through"))) if _is_summary(row) else row for row in rows
    ]


def _with_watermark(row: Row, through: Any) -> Row:
    says = {} if through is None else {"covers_through": through}
    return _with(row, summary={"covered": row["summary"]["covered"], **says})


def _time(row: Row) -> str:
    return row.get("time") or ""


# -- ASM-1 -----------------------------------------------------------------------------------------------------------


@fault("asm-rows-on-one-line", "ASM-1")
class RowsOnOneLine(ReferenceAdapter):
    """Rows are joined with a blank, so that a message goes on behind the one before it."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        for row in rows if block else ():
            first = text_of(row.get("content")).split("\n")[0]
            block = block.replace(f"\n{first}", f" {first}") if block and first else block
        return block


@fault("asm-newest-first", "ASM-1")
class NewestFirst(ReferenceAdapter):
    """The rows stand in the block as they come out of the loop that counts backwards: newest first."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(assembly, "_newest_that_fit", lambda *arguments: _newest_that_fit(*arguments)[::-1]):
            return super().assemble(rows, limits)


@fault("asm-same-text-once", "ASM-1", after="joshuaswarren/remnic#2785")
class SameTextOnce(ReferenceAdapter):
    """A message that says what another one said is taken for a redelivery of it and left out."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        seen: set[str] = set()
        kept = []
        for row in rows:
            text = text_of(row.get("content"))
            if not text or text not in seen:
                kept.append(row)
            seen.add(text)
        return super().assemble(kept, limits)


@fault("asm-parts-as-program-text", "ASM-1")
class PartsAsProgramText(ReferenceAdapter):
    """Content that is a list of parts is put into the block as the program prints lists."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        printed = [_with(row, content=str(row["content"])) if row.get("content") else row for row in rows]
        return super().assemble(printed, limits)


@fault("asm-first-part-only", "ASM-1")
class FirstPartOnly(ReferenceAdapter):
    """Of content parts only the first text is read; what was written below the picture is lost."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        firsts = [_with(row, content=_first_text(row["content"])) if row.get("content") else row for row in rows]
        return super().assemble(firsts, limits)


def _first_text(content: Any) -> str:
    texts = [part["text"] for part in content if part["type"] == "text"] if isinstance(content, list) else [content]
    return texts[0] if texts else ""


@fault("asm-missing-content-is-none", "ASM-1")
class MissingContentIsNone(ReferenceAdapter):
    """A row without content is shown with the program's word for nothing."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble([_with(row, content=row.get("content", "None")) for row in rows], limits)


@fault("asm-forgets-who-spoke", "ASM-1")
class ForgetsWhoSpoke(ReferenceAdapter):
    """The attribution line is taken off, and the block holds words of nobody."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        bare = [row if _is_summary(row) else _with(row, content=_unattributed(row.get("content"))) for row in rows]
        return super().assemble(bare, limits)


def _unattributed(content: Any) -> Any:
    return re.sub(r"^\[[^\]\n]*\]\n", "", content) if isinstance(content, str) else content


@fault(
    "asm-takes-a-name-for-its-own", "ASM-1", after="openclaw/openclaw extensions/telegram/src/group-history-window.ts"
)
class TakesANameForItsOwn(ReferenceAdapter):
    """A sender whose display name ends with `(you)` is taken for the bot, which has seen all that stands before it."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        own = [at for at, row in enumerate(rows) if re.match(r"\[[^|\n]*\(you\)\|", text_of(row.get("content")))]
        first = own[-1] if own else 0
        return super().assemble([row for at, row in enumerate(rows) if at >= first or _is_summary(row)], limits)


@fault("asm-looks-behind-a-bracket", "ASM-1")
class LooksBehindABracket(ReferenceAdapter):
    """Whether a row begins with an attribution is told by what stands behind its first bracket; in `[` nothing does."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        texts = (text_of(row.get("content")) for row in rows)
        assert all(text[1] for text in texts if text.startswith("["))
        return super().assemble(rows, limits)


@fault("asm-disarming-eats-a-character", "ASM-1")
class DisarmingEatsACharacter(ReferenceAdapter):
    """Where a line is disarmed the first character of the text is lost: the line break behind the name, or a letter."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        def neutralise_row(text: str) -> str:
            own = lines._OWN_ATTRIBUTION.match(text)
            first, rest = (text[: own.end()], text[own.end() :]) if own else ("", text)
            return first + _eaten(rest)

        with patch.object(assembly, "neutralise_row", neutralise_row):
            return super().assemble(rows, limits)


def _eaten(text: str) -> str:
    disarmed = lines.neutralise(text)
    return disarmed if disarmed == text or disarmed.startswith("> ") else disarmed[1:]


# -- ASM-2 -----------------------------------------------------------------------------------------------------------


@fault("asm-summary-last", "ASM-2")
class SummaryLast(ReferenceAdapter):
    """The summary stands where it is stored, after the rows, and not at the head of the block."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        summary, _ = assembly.watermark(rows)
        head = super().assemble([summary], limits) if summary else None
        if block and head and block.startswith(f"{head}\n"):
            return f"{block[len(head) + 1 :]}\n{head}"
        return block


@fault("asm-first-summary-wins", "ASM-2")
class FirstSummaryWins(ReferenceAdapter):
    """The search for the summary stops at the oldest one."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        first = next((index for index, row in enumerate(rows) if _is_summary(row)), len(rows))
        return super().assemble(
            [row for index, row in enumerate(rows) if index <= first or not _is_summary(row)], limits
        )


@fault("asm-stacks-summaries", "ASM-2")
class StacksSummaries(ReferenceAdapter):
    """Every summary ever written stands in the block, although the newest was written with the older ones in hand."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        bodies = [text_of(row.get("content")) for row in rows if _is_summary(row)]
        summary, _ = assembly.watermark(rows)
        stacked = [_with(row, content="\n".join(bodies)) if row is summary else row for row in rows]
        return super().assemble(stacked, limits)


@fault("asm-shows-covered-rows", "ASM-2")
class ShowsCoveredRows(ReferenceAdapter):
    """The summary is put in front, but the rows that it stands for are left in."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(_with_watermarks(rows, lambda through: -1), limits)


@fault("asm-summary-alone-is-nothing", "ASM-2")
class SummaryAloneIsNothing(ReferenceAdapter):
    """When every row is covered there seems to be nothing to show, and the summary is not shown either."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(rows, limits) if assembly.watermark(rows)[1] else None


@fault("asm-disarming-eats-a-summarys-letter", "ASM-2")
class DisarmingEatsASummarysLetter(ReferenceAdapter):
    """Where a line of a summary is disarmed, the summary loses its first letter."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(assembly, "neutralise", _eaten):
            return super().assemble(rows, limits)


# -- ASM-3 -----------------------------------------------------------------------------------------------------------


@fault("asm-position-is-the-watermark", "ASM-3", after="NousResearch/hermes-agent#104245")
class PositionIsTheWatermark(ReferenceAdapter):
    """Everything stored before the summary row counts as covered, also the rows that the pass had kept verbatim."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(_with_watermarks(rows, lambda through: None), limits)


@fault("asm-late-rows-are-covered", "ASM-3", after="NousResearch/hermes-agent#87484")
class LateRowsAreCovered(ReferenceAdapter):
    """The row stored directly before the summary, which arrived while the summariser ran, counts as covered."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        newest = max((index for index, row in enumerate(rows) if _is_summary(row)), default=0)
        return super().assemble([row for index, row in enumerate(rows) if index != newest - 1], limits)


@fault("asm-watermark-row-shown", "ASM-3")
class WatermarkRowShown(ReferenceAdapter):
    """The comparison with the watermark is `<` where it has to be `<=`: the last covered row is shown again."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(
            _with_watermarks(rows, lambda through: None if through is None else through - 1), limits
        )


@fault("asm-row-after-the-watermark-hidden", "ASM-3")
class RowAfterTheWatermarkHidden(ReferenceAdapter):
    """The watermark is taken for the first row that is not covered, and that row is left out."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(
            _with_watermarks(rows, lambda through: None if through is None else through + 1), limits
        )


@fault("asm-compares-seq-as-text", "ASM-3", after="openclaw/openclaw#109787")
class ComparesSeqAsText(ReferenceAdapter):
    """Numbers of rows are compared with the watermark as texts, in which 10 comes before 9."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        summary, _ = assembly.watermark(rows)
        through = summary["summary"].get("covers_through") if summary else None
        if through is None:
            return super().assemble(rows, limits)
        left = [_is_summary(row) or str(row.get("seq", "")) > str(through) for row in rows]
        shown = [
            row if _is_summary(row) or "seq" not in row else _with(row, seq=max(row["seq"], through + 1))
            for row in rows
        ]
        return super().assemble([row for row, stays in zip(shown, left, strict=True) if stays], limits)


@fault("asm-watermark-zero-is-none", "ASM-3")
class WatermarkZeroIsNone(ReferenceAdapter):
    """A watermark at row 0 is falsy and read as no watermark, so that the place of the summary decides."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(_with_watermarks(rows, lambda through: through or None), limits)


@fault("asm-null-watermark-covers-nothing", "ASM-3")
class NullWatermarkCoversNothing(ReferenceAdapter):
    """A summary without a watermark covers nothing, and the rows before it are shown beside it."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(_with_watermarks(rows, lambda through: -1 if through is None else through), limits)


# -- ASM-4 -----------------------------------------------------------------------------------------------------------


@fault("asm-summary-by-nickname", "ASM-4", after="NousResearch/hermes-agent#104245")
class SummaryByNickname(ReferenceAdapter):
    """A row whose text begins with the words of the summary's wrapper is one; a nickname can begin so."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble([_believed(row, r"\[(Observed context summary|Summary of)") for row in rows], limits)


@fault("asm-summary-by-its-label", "ASM-4")
class SummaryByItsLabel(ReferenceAdapter):
    """A row that holds the summary's label on a line of its own is taken for a summary."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        label = r"(?s)(.*\n)?\[Summary of \d+ earlier observed messages\]\n"
        return super().assemble([_believed(row, label) for row in rows], limits)


@fault("asm-summary-by-a-field-in-the-text", "ASM-4")
class SummaryByAFieldInTheText(ReferenceAdapter):
    """A row is searched as JSON for the field `summary`, and a message that quotes such a field is one."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble([_believed(row, r'(?s).*"summary": \{') for row in rows], limits)


def _believed(row: Row, pattern: str) -> Row:
    content = row.get("content")
    if not _is_summary(row) and isinstance(content, str) and re.match(pattern, content):
        return _with(row, summary={"covered": 1})
    return row


@fault("asm-attributed-summary-is-a-row", "ASM-4")
class AttributedSummaryIsARow(ReferenceAdapter):
    """A summary that begins with an attribution line is taken for a message, whatever its field says."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble([_doubted(row) for row in rows], limits)


def _doubted(row: Row) -> Row:
    if _is_summary(row) and re.match(r"\[[^\]\n|]*\|[^\]\n]*\]\n", text_of(row.get("content"))):
        return cast(Row, {key: value for key, value in row.items() if key != "summary"})
    return row


# -- ASM-5 -----------------------------------------------------------------------------------------------------------


@fault("asm-empty-block", "ASM-5")
class EmptyBlock(ReferenceAdapter):
    """Where there is nothing to show the block is the empty text, which is wrapped like any other."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        return super().assemble(rows, limits) or ""


@fault("asm-note-without-a-row", "ASM-5")
class NoteWithoutARow(ReferenceAdapter):
    """Rows without text count as dropped, so that a block may be a note alone."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        beyond = len(rows) - limits["max_rows"] if limits["max_rows"] else 0
        return lines.note(beyond) if block is None and beyond > 0 else block


@fault("asm-pictures-without-words-are-shown", "ASM-5")
class PicturesWithoutWordsAreShown(ReferenceAdapter):
    """Content parts always make a row of the block, although there is no text among them."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        shown = [
            _with(row, content="(no text)") if row.get("content") and not text_of(row.get("content")) else row
            for row in rows
        ]
        return super().assemble(shown, limits)


# -- ASM-6 -----------------------------------------------------------------------------------------------------------


@fault("asm-random-fence", "ASM-6")
class RandomFence(ReferenceAdapter):
    """The block ends with a fence that is drawn anew for each block, so that no two requests of a turn are alike."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        block = super().assemble(rows, limits)
        fenced = f"{block}\n{token_hex(4)}"
        return block if block is None or 0 < limits["max_chars"] < len(fenced) else fenced


@fault("asm-shows-rows-once", "ASM-6")
class ShowsRowsOnce(ReferenceAdapter):
    """What the call before showed is left out, as if the model remembered it: the retry of a turn has no block."""

    def __init__(self) -> None:
        self._last: list[Row] = []

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        if self._last and list(rows) == self._last:
            self._last = []
            return None
        self._last = list(rows)
        return super().assemble(rows, limits)


@fault("asm-remembers-the-limit", "ASM-6")
class RemembersTheLimit(ReferenceAdapter):
    """The row limit of the call before goes on to hold when the next call has none."""

    def __init__(self) -> None:
        self._max_rows = 0

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        before, self._max_rows = self._max_rows, limits["max_rows"]
        return super().assemble(rows, {**limits, "max_rows": limits["max_rows"] or before})


@fault("asm-takes-the-times-off", "ASM-6")
class TakesTheTimesOff(ReferenceAdapter):
    """Times are taken off the rows that were passed in, and the transcript loses them."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        for row in rows:
            row.pop("time", None)
        return super().assemble(rows, limits)


@fault("asm-flattens-parts-in-place", "ASM-6")
class FlattensPartsInPlace(ReferenceAdapter):
    """Content parts are replaced by their text in the rows that were passed in."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        for row in rows:
            if isinstance(row.get("content"), list):
                row["content"] = text_of(row["content"])
        return super().assemble(rows, limits)


# -- ASM-7 -----------------------------------------------------------------------------------------------------------


@fault("asm-sorts-by-time", "ASM-7", after="google/adk-go#1232")
class SortsByTime(ReferenceAdapter):
    """Rows are sorted by the platform's time before they are shown."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        by_time = iter(sorted((row for row in rows if not _is_summary(row)), key=_time))
        return super().assemble([row if _is_summary(row) else next(by_time) for row in rows], limits)


@fault("asm-drops-the-oldest-by-time", "ASM-7")
class DropsTheOldestByTime(ReferenceAdapter):
    """The rows stand in their order, but the ones that a row limit drops are those with the oldest times."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        def newest(pending: Sequence[Row], max_rows: int, bound: int, purse: int) -> list[str]:
            latest = sorted(pending, key=_time)[-max_rows:]
            return _newest_that_fit(verbatim([row for row in pending if row in latest]), 0, bound, purse)

        with patch.object(assembly, "_newest_that_fit", newest):
            return super().assemble(rows, limits)


@fault("asm-one-row-an-instant", "ASM-7", after="kirodotdev/KiroCrew#11377")
class OneRowAnInstant(ReferenceAdapter):
    """Rows are kept under their time, and of two with the same one only the later is left."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        latest = {_time(row): index for index, row in enumerate(rows) if _time(row)}
        kept = [row for index, row in enumerate(rows) if latest.get(_time(row), index) == index]
        return super().assemble(kept, limits)


class _HidesByTime(ReferenceAdapter, ABC):
    """Goes by the time of the last covered row as well as by its number."""

    @abstractmethod
    def hides(self, time: str, last: str) -> bool: ...

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        summary, pending = assembly.watermark(rows)
        through = (summary["summary"].get("covers_through") if summary else None) or 0
        covered = [_time(row) for row in rows if row.get("seq", through + 1) <= through and not _is_summary(row)]
        last = covered[-1] if covered else ""
        hidden = [id(row) for row in pending if last and _time(row) and self.hides(_time(row), last)]
        return super().assemble([row for row in rows if id(row) not in hidden], limits)


@fault("asm-covers-the-twin-of-a-covered-row", "ASM-7", after="kirodotdev/KiroCrew#11377")
class CoversTheTwinOfACoveredRow(_HidesByTime):
    """A row of the same second as the last covered one counts as covered, although the summary does not speak of it."""

    def hides(self, time: str, last: str) -> bool:
        return time == last


@fault(
    "asm-hides-late-arrivals",
    "ASM-7",
    after="openclaw/openclaw src/config/sessions/ambient-transcript-watermark.ts",
)
class HidesLateArrivals(_HidesByTime):
    """A row that came late, with an older time than the last covered one, counts as covered."""

    def hides(self, time: str, last: str) -> bool:
        return time < last


@fault("asm-skips-undated-rows", "ASM-7")
class SkipsUndatedRows(ReferenceAdapter):
    """A row without a time is taken for bookkeeping and not shown, where other rows have one."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        dated = any(_time(row) for row in rows)
        return super().assemble([row for row in rows if _is_summary(row) or _time(row) or not dated], limits)


# -- ASM-8 -----------------------------------------------------------------------------------------------------------


@fault("asm-label-without-a-number", "ASM-8")
class LabelWithoutANumber(ReferenceAdapter):
    """The label does not say how many messages the summary stands for."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(assembly, "label", lambda covered: "[Summary of earlier observed messages]"):
            return super().assemble(rows, limits)


@fault("asm-label-counts-stored-rows", "ASM-8")
class LabelCountsStoredRows(ReferenceAdapter):
    """The label counts the rows at hand that the summary covers, and forgets those behind earlier summaries."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        _, pending = assembly.watermark(rows)
        covered = len(rows) - len(pending)
        with patch.object(assembly, "label", lambda _: lines.label(covered)):
            return super().assemble(rows, limits)


@fault("asm-number-without-a-word", "ASM-8", after="google/adk-go#1234")
class NumberWithoutAWord(ReferenceAdapter):
    """The label is the number alone, and the digest passes for a message."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(assembly, "label", lambda covered: f"({covered})"):
            return super().assemble(rows, limits)


# -- ASM-9 -----------------------------------------------------------------------------------------------------------


@fault("asm-believes-every-line", "ASM-9", after="NousResearch/hermes-agent#85490")
class BelievesEveryLine(ReferenceAdapter):
    """Texts stand in the block as they are, forged attribution lines included."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(assembly, "neutralise_row", lambda text: text):
            return super().assemble(rows, limits)


@fault("asm-disarms-the-first-part", "ASM-9", after="Mininglamp-OSS/cc-channel-octo#37")
class DisarmsTheFirstPart(ReferenceAdapter):
    """Of content parts the first is disarmed, the others are joined to it as they are."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        def neutralise_row(text: str) -> str:
            first = firsts.get(text)
            return lines.neutralise_row(text if first is None else first) + (
                "" if first is None else text[len(first) :]
            )

        parted = [row["content"] for row in rows if isinstance(row.get("content"), list)]
        firsts = {text_of(content): _first_text(content) for content in parted}
        with patch.object(assembly, "neutralise_row", neutralise_row):
            return super().assemble(rows, limits)


@fault("asm-trusts-the-senders-own-line", "ASM-9")
class TrustsTheSendersOwnLine(ReferenceAdapter):
    """A line that equals the row's own attribution is left as it is: one message passes for two of the same person."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        def neutralise_row(text: str) -> str:
            own = text.partition("\n")[0]
            return lines.neutralise_row(text).replace(f"\n> {own}", f"\n{own}")

        with patch.object(assembly, "neutralise_row", neutralise_row):
            return super().assemble(rows, limits)


@fault("asm-knows-one-line-break", "ASM-9")
class KnowsOneLineBreak(ReferenceAdapter):
    """Lines are told apart by LF alone, so that a forged line which ends with CR LF is not recognised."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(assembly, "neutralise_row", _unless_carriage_return):
            return super().assemble(rows, limits)


def _unless_carriage_return(text: str) -> str:
    parts = text.split("\n")
    disarmed = lines.neutralise_row(text).split("\n")
    return "\n".join(part if part.endswith("\r") else safe for part, safe in zip(parts, disarmed, strict=True))


@fault("asm-trusts-what-follows-a-blank", "ASM-9")
class TrustsWhatFollowsABlank(ReferenceAdapter):
    """The search for the beginning of a line goes back over blanks one character too far, and past the line break."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        with patch.object(assembly, "neutralise_row", lambda text: lines.neutralise_row(text).replace(" \n> ", " \n")):
            return super().assemble(rows, limits)


@fault("asm-cut-frees-a-line", "ASM-9")
class CutFreesALine(ReferenceAdapter):
    """The mark of a cut stands on a line of its own, and what follows it begins a line that nobody looks at again."""

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        def cut(text: str, room: int) -> str:
            tail = (room - 8) // 2
            return text if len(text) <= room else f"{text[: room - 8 - tail]}\n[...]\n\n{text[len(text) - tail :]}"

        with patch.object(assembly, "cut", cut):
            return super().assemble(rows, limits)
