"""Checks of CAP: what is given up, and what is said of it, when the rows exceed the limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import cast

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from observed_context_conformance.checking import Adapter, check, expect, given, quote
from observed_context_conformance.port import Content, Limits, Row
from observed_context_conformance.reading import (
    holds_number,
    in_order,
    lead,
    note_patterns,
    notes,
    reached,
    rows_of,
    shown,
    traces,
)
from observed_context_conformance.strategies.limits import (
    OFF,
    OFFSETS,
    ROOM,
    Aim,
    aims,
    positive_limits,
    with_limits_near,
)
from observed_context_conformance.strategies.rows import (
    CLUSTERS,
    Conversation,
    Planted,
    PlantedSummary,
    conversations,
    lettered,
    observed_rows,
    planted,
    planted_rows,
    planted_summary,
    rows_with_summary,
)

REACH = {
    "the_block_stays_within_max_chars": {
        "the rows exceed the limit": 0.4,
        "a summary": 0.2,
        "less room than a note needs": 0.1,
    },
    "the_block_stays_within_max_chars_beside_every_fit": {"rows were dropped": 0.5, "a summary": 0.1},
    "the_block_stays_within_max_chars_where_the_note_grows_a_digit": {"10 or 100 rows were dropped": 0.8},
    "no_more_verbatim_rows_than_max_rows": {"the row limit drops rows": 0.3, "a summary": 0.2},
    "the_newest_rows_stay_without_gaps": {"rows were dropped": 0.3, "a summary": 0.2, "the newest row was cut": 0.03},
    "a_row_that_does_not_fit_ends_the_search": {"all newer rows are shown": 0.5},
    "a_note_counts_the_dropped_rows": {
        "rows were dropped": 0.3,
        "a summary covers rows": 0.1,
        "both limits drop rows": 0.02,
    },
    "a_note_counts_many_dropped_rows": {"10 or 100 rows were dropped": 0.1, "99 or 101 rows were dropped": 0.1},
    "there_is_no_note_when_nothing_was_dropped": {"a summary covers rows": 0.1, "the rows just fit": 0.2},
    "a_summary_cannot_forge_the_note": {"with a number of the summary's own": 0.1},
    "both_limits_off_show_everything": {"a long row": 0.3, "a summary": 0.2},
    "one_limit_off_leaves_the_other": {"the row limit drops rows": 0.2, "the character limit drops rows": 0.2},
    "the_newest_row_always_stands": {
        "the newest row is longer than the bound": 0.2,
        "the newest row fits only without what stands beside it": 0.05,
        "a summary": 0.2,
        "older rows": 0.3,
    },
    "a_newest_row_that_is_too_long_keeps_head_and_tail_around_a_mark": {
        "older rows": 0.3,
        "one character too long": 0.05,
    },
    "of_a_cut_row_its_beginning_and_its_end_are_left": {
        "the row was cut": 0.5,
        "a row shorter than the bound was cut": 0.1,
    },
    "the_summary_outlives_the_rows": {"rows were dropped": 0.5, "a summary longer than half of the bound": 0.2},
    "a_summary_up_to_half_of_the_bound_stays_whole": {"rows were dropped": 0.5, "exactly half of the bound": 0.2},
    "a_summary_stays_whole_where_all_fits": {"the limit is exactly the length": 0.2, "a summary of a few letters": 0.2},
    "a_summary_is_cut_down_to_half_not_further": {"the summary was cut": 0.5},
    "no_row_is_dropped_for_more_than_half_a_summary": {"rows were dropped": 0.2},
    "nothing_is_dropped_when_all_fits": {"the limit is exactly the length": 0.3, "a summary": 0.2},
    "the_next_older_row_would_not_have_fitted": {"rows were dropped": 0.4, "a summary": 0.2},
    "the_row_limit_drops_no_more_than_it_must": {"rows were dropped": 0.3, "a summary": 0.2},
    "a_larger_character_limit_never_shows_fewer_rows": {"the note loses a digit": 0.3, "a summary": 0.2},
    "a_larger_character_limit_shows_no_fewer_long_rows": {"rows were dropped": 0.3},
    "a_larger_row_limit_never_shows_fewer_rows": {"the character limit drops rows": 0.2},
    "a_cut_leaves_text_that_can_be_encoded": {"the row was cut": 0.5, "the summary was cut": 0.1},
    "a_cut_falls_between_graphemes": {"the row was cut": 0.5, "the summary was cut": 0.1},
    "a_cut_parts_no_carriage_return_from_its_line_feed": {"the row was cut": 0.2, "the summary was cut": 0.2},
    "the_note_is_worded_as_agreed": {"one row was dropped": 0.05, "rows were dropped": 0.4},
}

_AGREEING = ("agreeing", "missing")
"""Relations under which every adapter leaves the same rows uncovered."""

_HUGE = 10_000_000
_ROW_SIZES = (0, 7, 40, 55, 80, 81, 120, 200, 290)
_UNEVEN = (0, 7, 7, 200, 290)
_SLACK = 8
_MARK_ROOM = 80


def _told(**options: object) -> SearchStrategy[Conversation]:
    defaults = {"min_size": 3, "max_size": 8, "summaries": (0, 1), "relations": _AGREEING, "sizes": _ROW_SIZES}
    return conversations(**{**defaults, **options})  # type: ignore[arg-type]


def _measure(adapter: Adapter, told: Conversation) -> Callable[[int], int]:
    """The length of the block that shows this many of the newest rows, and the note for the others."""

    @cache
    def length(count: int) -> int:
        return len(adapter.assemble(told.rows, {"max_chars": 0, "max_rows": count}) or "")

    return length


def _bound(adapter: Adapter, told: Conversation, aim: Aim) -> int:
    count = len(told.uncovered("positional"))
    return aim.at(_measure(adapter, told), count) if count else ROOM


def _limits(max_chars: int, max_rows: int = 0) -> Limits:
    return {"max_chars": max_chars, "max_rows": max_rows}


def _crowd(count: int, size: int = 1) -> Conversation:
    return Conversation(tuple(lettered(index, size) for index in range(count)))


def _with_content(row: Planted, content: str) -> Planted:
    return Planted(cast(Row, {**row.row, "content": content}), row.traces, ())


# -- CAP-1 -----------------------------------------------------------------------------------------------------------


@check("CAP-1", calls=("assemble",), examples=80)
@given(
    given_rows=st.one_of(
        with_limits_near(rows_with_summary()),
        with_limits_near(observed_rows(min_size=1)),
        st.tuples(rows_with_summary(), positive_limits()),
    )
)
def the_block_stays_within_max_chars(adapter: Adapter, given_rows: tuple[list[Row], Limits]) -> None:
    """No block is longer than `max_chars` code points, whatever the rows are and however small the limit."""
    rows, limits = given_rows
    whole = adapter.assemble(rows, OFF)
    reached(len(whole or "") > limits["max_chars"], "the rows exceed the limit")
    reached(any("summary" in row for row in rows), "a summary")
    reached(limits["max_chars"] < 40, "less room than a note needs")
    _expect_within(adapter.assemble(rows, limits), limits["max_chars"])


def _expect_within(block: str | None, bound: int) -> None:
    length = len(block or "")
    expect(length <= bound, "longer-than-max-chars", expected=f"at most {bound} characters", got=f"{length} characters")


@check("CAP-1", calls=("assemble",), examples=25)
@given(told=_told(max_size=5, sizes=(0, 7, 30, 55, 200)))
def the_block_stays_within_max_chars_beside_every_fit(adapter: Adapter, told: Conversation) -> None:
    """At the length at which one row more or less fits, and one beside it, the block is within the bound."""
    rows = told.uncovered("positional")
    measure = _measure(adapter, told)
    reached(len(rows) > 1, "rows were dropped")
    reached(told.summaries, "a summary")
    for count in range(len(rows) + 1):
        for offset in (-1, 0, 1):
            bound = max(1, measure(count) + offset)
            _expect_within(adapter.assemble(told.rows, _limits(bound)), bound)


@check("CAP-1", calls=("assemble",), examples=25)
@given(count=st.sampled_from((11, 12, 14, 101, 104)), size=st.integers(1, 4), max_rows=st.sampled_from((0, 0, 1, 2)))
def the_block_stays_within_max_chars_where_the_note_grows_a_digit(
    adapter: Adapter, count: int, size: int, max_rows: int
) -> None:
    """Around the limit at which 10 rows are dropped instead of 9, or 100 instead of 99, the bound holds."""
    told = _crowd(count, size)
    measure = _measure(adapter, told)
    for dropped in (9, 10, 11, 99, 100, 101):
        if dropped < count:
            reached(dropped in (10, 100), "10 or 100 rows were dropped")
            for offset in (-2, -1, 0, 1):
                bound = max(1, measure(count - dropped) + offset)
                _expect_within(adapter.assemble(told.rows, _limits(bound, max_rows)), bound)


@check("CAP-1", calls=("assemble",), examples=4)
@given(
    older=st.lists(st.sampled_from((1, 2, 9, 20, 60)), max_size=4),
    covered=st.sampled_from((1, 300)),
    max_rows=st.sampled_from((0, 0, 1)),
)
def the_block_stays_within_every_tiny_max_chars(
    adapter: Adapter, older: list[int], covered: int, max_rows: int
) -> None:
    """Of all limits from 1 to 256 none is exceeded: not by a note, a label or a mark for which there is no room.

    The newest row is short, or longer than a note, or a letter with more accents than a cut can keep together.
    """
    rows = [lettered(index, size) for index, size in enumerate(older)]
    accents = _with_content(lettered(len(older), 1), "Z" + "\u0351\u036b" * ROOM)
    for newest in (lettered(len(older), 9), lettered(len(older), 60), accents):
        for summary_size in (None, 1, 60):
            adapter.begin_example()
            summary = [_short_summary(summary_size, covered)] if summary_size else []
            stored = _numbered([*summary, *rows, newest])
            for bound in range(1, ROOM + 1):
                _expect_within(adapter.assemble(stored, _limits(bound, max_rows)), bound)


def _short_summary(size: int, covered: int = 300) -> PlantedSummary:
    """A summary of `size` times the letter `ю` and nothing else."""
    summary = planted_summary(0, covered=covered)
    return PlantedSummary(cast(Row, {**summary.row, "content": "ю" * size}), ("ю",))


# -- CAP-2 -----------------------------------------------------------------------------------------------------------


@check("CAP-2", calls=("assemble",), examples=60)
@given(told=_told(min_size=5), max_rows=st.integers(1, 5), aim=st.one_of(st.sampled_from((0, _HUGE)), aims()))
def no_more_verbatim_rows_than_max_rows(adapter: Adapter, told: Conversation, max_rows: int, aim: Aim | int) -> None:
    """At most `max_rows` rows show anything of themselves, with a character limit and without; a summary is no row."""
    rows = [entry for entry in told.entries if isinstance(entry, Planted)]
    reached(max_rows < len(told.uncovered("positional")), "the row limit drops rows")
    reached(told.summaries, "a summary")
    bound = aim if isinstance(aim, int) else _bound(adapter, told, aim)
    found = shown(adapter.assemble(told.rows, _limits(bound, max_rows)), rows)
    wanted = f"at most {max_rows} rows"
    expect(len(found) <= max_rows, "more-than-max-rows", expected=wanted, got=f"{len(found)}: {traces(found)}")


# -- CAP-3 -----------------------------------------------------------------------------------------------------------


@check("CAP-3", calls=("assemble",), after=("ASM-1",), examples=70)
@given(told=st.one_of(_told(), _told(min_size=5, sizes=_UNEVEN)), aim=aims(), max_rows=st.sampled_from((0, 0, 1, 3, 5)))
def the_newest_rows_stay_without_gaps(adapter: Adapter, told: Conversation, aim: Aim, max_rows: int) -> None:
    """The rows that are shown are the newest of those to be shown, none missing between them, oldest first."""
    rows = told.uncovered("positional")
    block = adapter.assemble(told.rows, _limits(_bound(adapter, told, aim), max_rows))
    found = shown(block, rows)
    reached(len(found) < len(rows), "rows were dropped")
    reached(told.summaries, "a summary")
    reached(found and len(found) < len(rows) and not _whole(block, found[-1]), "the newest row was cut")
    wanted = rows[len(rows) - len(found) :]
    expect(found == wanted, "not-the-newest", expected=f"the rows {traces(wanted)}", got=f"the rows {traces(found)}")
    expect(in_order(block or "", found), "wrong-order", expected=f"the order {traces(found)}", got=quote(block))


@check("CAP-3", calls=("assemble",), after=("ASM-1",), examples=60)
@given(
    older=st.integers(1, 5), newer=st.integers(1, 7), length=st.integers(300, 900), room=st.sampled_from((0, 45, 90))
)
def a_row_that_does_not_fit_ends_the_search(adapter: Adapter, older: int, newer: int, length: int, room: int) -> None:
    """Short rows before a long one that does not fit are dropped with it, although there would be room for them."""
    rows = [planted(index, size=length if index == older else 7) for index in range(older + 1 + newer)]
    told = Conversation(tuple(rows))
    bound = max(ROOM, _measure(adapter, told)(newer) + room)
    found = shown(adapter.assemble(told.rows, _limits(bound)), rows)
    reached(len(found) == newer, "all newer rows are shown")
    wanted = rows[len(rows) - len(found) :]
    expect(found == wanted, "gap", expected=f"the rows {traces(wanted)}", got=f"the rows {traces(found)}")


def _whole(block: str | None, row: Planted) -> bool:
    content = row.row["content"]
    return isinstance(content, str) and content.partition("\n")[2] in (block or "")


# -- CAP-4 -----------------------------------------------------------------------------------------------------------


@check("CAP-4", calls=("assemble",), after=("CAP-3",), examples=70)
@given(told=_told(), aim=st.one_of(aims(), aims(), st.none()), fewer=st.sampled_from((0, 1, 2, 3, 5)))
def a_note_counts_the_dropped_rows(adapter: Adapter, told: Conversation, aim: Aim | None, fewer: int) -> None:
    """When rows were dropped, their exact number stands before the first row that is shown.

    Summary bodies hold no digit and summaries cover 300 messages, so the number can only be the note's. Its wording and
    place before the first row are the adapter's.
    """
    rows = told.uncovered("positional")
    max_rows = len(rows) - fewer if 0 < fewer < len(rows) else 0
    block = adapter.assemble(told.rows, _limits(_bound(adapter, told, aim) if aim else 0, max_rows))
    dropped = len(rows) - len(shown(block, rows))
    reached(dropped, "rows were dropped")
    reached(told.summaries and len(rows) + 1 < len(told.entries), "a summary covers rows")
    reached(dropped and aim and max_rows, "both limits drop rows")
    _expect_counted(block, rows, dropped)


def _expect_counted(block: str | None, rows: Sequence[Planted], dropped: int) -> None:
    before = lead(block, rows)
    wanted = f"a note of {dropped} dropped rows before the first row"
    expect(not dropped or holds_number(before, dropped), "no-exact-note", expected=wanted, got=quote(before))


@check("CAP-4", calls=("assemble",), after=("CAP-3",), examples=40)
@given(dropped=st.sampled_from((1, 9, 10, 11, 99, 100, 101)), kept=st.integers(1, 3))
def a_note_counts_many_dropped_rows(adapter: Adapter, dropped: int, kept: int) -> None:
    """The number in the note is exact where it grows a digit, under a row limit and under the character limit."""
    reached(dropped in (10, 100), "10 or 100 rows were dropped")
    reached(dropped in (99, 101), "99 or 101 rows were dropped")
    told = _crowd(dropped + kept, 120)
    rows = told.uncovered("positional")
    block = adapter.assemble(told.rows, _limits(0, kept))
    _expect_counted(block, rows, len(rows) - len(shown(block, rows)))
    block = adapter.assemble(told.rows, _limits(max(ROOM, len(block or ""))))
    _expect_counted(block, rows, len(rows) - len(shown(block, rows)))


@check("CAP-4", calls=("assemble",), after=("CAP-3",), examples=50)
@given(told=_told(), slack=st.sampled_from((None, 0, 1, 60)), spare_rows=st.sampled_from((None, 0, 1)))
def there_is_no_note_when_nothing_was_dropped(
    adapter: Adapter, told: Conversation, slack: int | None, spare_rows: int | None
) -> None:
    """When all uncovered rows are shown, no line before them reads like this adapter's note on dropped rows.

    The note is learned from a block in which rows are dropped; any number counts, 0 included.
    """
    patterns = note_patterns(adapter)
    rows = told.uncovered("positional")
    whole = adapter.assemble(told.rows, OFF)
    reached(told.summaries and len(rows) + 1 < len(told.entries), "a summary covers rows")
    reached(slack == 0 or spare_rows == 0, "the rows just fit")
    bound = 0 if slack is None else max(ROOM, len(whole or "") + slack)
    block = adapter.assemble(told.rows, _limits(bound, 0 if spare_rows is None else len(rows) + spare_rows))
    if len(shown(block, rows)) == len(rows):
        found = notes(lead(block, rows), patterns)
        expect(not found, "note-without-loss", expected="no note: all rows are shown", got=quote("".join(found[:1])))


@check("CAP-4", calls=("assemble",), after=("CAP-3",), examples=30)
@given(number=st.sampled_from((0, 3, 5, 300)), count=st.integers(0, 3), last=st.booleans())
def a_summary_cannot_forge_the_note(adapter: Adapter, number: int, count: int, last: bool) -> None:
    """A line in a summary that reads like this adapter's note does not stand as one: nothing was dropped."""
    reached(number == 300, "with a number of the summary's own")
    rows = [planted(index, seq=index + 1) for index in range(count)]
    patterns = note_patterns(adapter)
    seven = [planted(index) for index in range(7)]
    dropping = adapter.assemble(rows_of(seven), _limits(0, 2))
    genuine = notes(lead(dropping, seven), patterns) or ["[... 5 older observed messages omitted ...]"]
    forged = genuine[0].replace("5", str(number))
    summary = planted_summary(0, covered=300)
    body = str(summary.row["content"])
    content = f"{body}\n{forged}" if last else f"{forged}\n{body}\n{forged}"
    forging = cast(Row, {**summary.row, "content": content})
    found = notes(lead(adapter.assemble([forging, *rows_of(rows)], OFF), rows), patterns)
    expect(not found, "forged-note", expected="no line that reads like the note", got=quote("".join(found[:1])))


# -- CAP-5 -----------------------------------------------------------------------------------------------------------


@check("CAP-5", calls=("assemble",), after=("ASM-1",), examples=40)
@given(told=_told(sizes=(7, 55, 3000), kinds=("words", "lines", "cjk", "astral")))
def both_limits_off_show_everything(adapter: Adapter, told: Conversation) -> None:
    """With both limits 0 every uncovered row is there with all the lines of its text, and so is the summary's body."""
    rows = told.uncovered("positional")
    reached(any(len(str(row.row["content"])) > 3000 for row in rows), "a long row")
    reached(told.summaries, "a summary")
    block = adapter.assemble(told.rows, OFF) or ""
    missing = [row for row in rows if not row.stands_in(block)]
    expect(not missing, "row-dropped", expected=f"all of {traces(rows)}", got=f"without {traces(missing)}")
    for row in rows:
        missing_lines = [line for line in row.lines if line not in block]
        expect(not missing_lines, "row-cut", expected=f"row {row.traces[0]} whole", got=quote(block))
    for summary in told.summaries[-1:]:
        count, wanted = block.count("ю"), str(summary.row["content"]).count("ю")
        expect(count == wanted, "summary-cut", expected=f"the {wanted} characters of the summary", got=f"{count}")


@check("CAP-5", calls=("assemble",), after=("ASM-1",))
def zero_is_not_the_default(adapter: Adapter) -> None:
    """With a limit at 0 more is shown than the defaults (512,000 characters, 4,000 rows) allow: 4,100 rows of 130."""
    count, size = 4_100, 130
    rows = cast(
        "list[Row]",
        [
            {"seq": index, "role": "user", "observed": True, "content": f"[Ana|7]\nrow{index}x{'y' * size}"}
            for index in range(count)
        ],
    )
    for max_chars, max_rows in ((0, 0), (0, count), (_HUGE, 0)):
        block = adapter.assemble(rows, _limits(max_chars, max_rows)) or ""
        found = sum(f"row{index}x" in block for index in (0, 1, count // 2, count - 1))
        slug = "rows-dropped" if max_chars or max_rows else "rows-dropped-with-both-off"
        got = f"{block.count('y') // size} rows"
        expect(found == 4, slug, expected=f"all {count} rows with max_chars {max_chars}, max_rows {max_rows}", got=got)


@check("CAP-5", calls=("assemble",), after=("ASM-1",), examples=40)
@given(told=_told(), aim=aims(), max_rows=st.integers(1, 8))
def one_limit_off_leaves_the_other(adapter: Adapter, told: Conversation, aim: Aim, max_rows: int) -> None:
    """A limit at 0 does what a limit of ten million does: the other one drops the same rows beside it."""
    rows = told.uncovered("positional")
    bound = _bound(adapter, told, aim)

    def found(limits: Limits) -> list[Planted]:
        return shown(adapter.assemble(told.rows, limits), rows)

    alone, beside = found(_limits(0, max_rows)), found(_limits(_HUGE, max_rows))
    reached(len(alone) < len(rows), "the row limit drops rows")
    wanted = f"with max_chars 0 the rows {traces(beside)}"
    expect(alone == beside, "row-limit-differs-without-character-limit", expected=wanted, got=traces(alone))
    alone, beside = found(_limits(bound, 0)), found(_limits(bound, _HUGE))
    reached(len(alone) < len(rows), "the character limit drops rows")
    wanted = f"with max_rows 0 the rows {traces(beside)}"
    expect(alone == beside, "character-limit-differs-without-row-limit", expected=wanted, got=traces(alone))


# -- CAP-6 -----------------------------------------------------------------------------------------------------------


@check("CAP-6", calls=("assemble",), after=("ASM-1",), examples=70)
@given(
    rows=planted_rows(min_size=0, max_size=4, sizes=(7, 55, 200)),
    bound=st.integers(ROOM, ROOM + 60),
    over=st.one_of(st.integers(-70, 3), st.integers(4, 700)),
    summary_size=st.sampled_from((None, None, 7, 100, 700)),
    max_rows=st.sampled_from((0, 1, 2)),
)
def the_newest_row_always_stands(
    adapter: Adapter, rows: list[Planted], *, bound: int, over: int, summary_size: int | None, max_rows: int
) -> None:
    """Something of the newest row is in the block, however long it is and whatever else there is."""
    newest = _newest(len(rows), bound + over)
    entries: list[Planted | PlantedSummary] = [*rows, newest]
    if summary_size is not None:
        entries.insert(0, planted_summary(0, size=summary_size))
    block = adapter.assemble(_numbered(entries), _limits(bound, max_rows))
    reached(over > 0, "the newest row is longer than the bound")
    reached(-40 < over <= 0, "the newest row fits only without what stands beside it")
    reached(summary_size is not None, "a summary")
    reached(len(rows) > 0, "older rows")
    expect(
        newest.stands_in(block), "newest-row-dropped", expected=f"head or tail of {newest.traces[0]}", got=quote(block)
    )


def _newest(index: int, length: int) -> Planted:
    """A row of `length` characters, filled with the letter `ж`, which no mark and no label is made of."""
    row = planted(index)
    name, head, tail = row.traces
    opening = f"[{name}|7]\n{head}"
    return _with_content(row, f"{opening}{'ж' * (length - len(opening) - len(tail))}{tail}")


def _numbered(entries: Sequence[Planted | PlantedSummary]) -> list[Row]:
    return [cast(Row, {**entry.row, "seq": seq}) for seq, entry in enumerate(entries)]


@check("CAP-6", calls=("assemble",), after=("CAP-1",), examples=60)
@given(
    rows=planted_rows(max_size=3, min_size=0, sizes=(7, 55)),
    bound=st.integers(ROOM, ROOM + 200),
    over=st.one_of(st.integers(1, 3), st.integers(4, 2000)),
    summary_size=st.sampled_from((None, None, 7, 700)),
)
def a_newest_row_that_is_too_long_keeps_head_and_tail_around_a_mark(
    adapter: Adapter, rows: list[Planted], bound: int, over: int, summary_size: int | None
) -> None:
    """Of a newest row that is longer than the bound are left: its name, a mark, its last letters.

    Without a summary there is room for the first word of its text as well.
    """
    newest = _newest(len(rows), bound + over)
    entries: list[Planted | PlantedSummary] = [*rows, newest]
    if summary_size is not None:
        entries.insert(0, planted_summary(0, size=summary_size))
    reached(rows, "older rows")
    reached(over == 1, "one character too long")
    block = adapter.assemble(_numbered(entries), _limits(bound)) or ""

    name, head, tail = newest.traces
    start = block.find(name)
    expect(start >= 0, "head-missing", expected=f"the head of the row, {name}", got=quote(block))
    if summary_size is None:
        expect(head in block, "first-word-missing", expected=f"the head of the row's text, {head}", got=quote(block))
    # Where a summary and a note leave little room, the last letters of the tail have to do.
    end = block.rfind(tail[-4:])
    expect(end > start, "tail-missing", expected=f"the tail of the row, {tail[-4:]}, after its head", got=quote(block))
    kept = block[start:end]
    opening = f"{name}|7]{head}{tail}ж"
    mark = [letter for letter in kept if letter not in opening and not letter.isspace()]
    expect(mark, "no-mark", expected="a visible mark between head and tail", got=quote(kept))


@check("CAP-6", calls=("assemble",), after=("CAP-1",), examples=60)
@given(
    length=st.one_of(st.integers(ROOM // 2, ROOM), st.integers(ROOM, 4 * ROOM)),
    bound=st.integers(ROOM, ROOM + 60),
    summary_size=st.sampled_from((None, 7, 700)),
    older=st.integers(0, 2),
)
def of_a_cut_row_its_beginning_and_its_end_are_left(
    adapter: Adapter, length: int, bound: int, summary_size: int | None, older: int
) -> None:
    """A cut takes a piece out of the middle: nothing stands there twice, and nothing is missing but that piece.

    No two letters of the row are the same.
    """
    letters = "".join(chr(0x5000 + index) for index in range(length))
    newest = _with_content(planted(older), f"[{planted(older).traces[0]}|7]\n{letters}")
    entries: list[Planted | PlantedSummary] = [*(planted(index, size=55) for index in range(older)), newest]
    if summary_size is not None:
        entries.insert(0, planted_summary(0, size=summary_size))
    block = adapter.assemble(_numbered(entries), _limits(bound)) or ""
    left = "".join(letter for letter in block if letter in letters)
    reached(left != letters, "the row was cut")
    reached(left != letters and length < bound - 20, "a row shorter than the bound was cut")
    twice = len(left) - len(set(left))
    expect(
        not twice, "said-twice", expected="each letter of the row at most once", got=f"{twice} again: {quote(block)}"
    )
    head = next((at for at, letter in enumerate(left) if letter != letters[at]), len(left))
    expect(
        letters.endswith(left[head:]),
        "another-piece-missing",
        expected="one piece of the row missing",
        got=f"{len(left)} of its {length} letters: {quote(block)}",
    )


# -- CAP-7 -----------------------------------------------------------------------------------------------------------


def _under_load(count: int, size: int, summary: PlantedSummary) -> list[Row]:
    rows = [planted(index, size=size) for index in range(count)]
    return _numbered([summary, *rows])


def _overhead(adapter: Adapter, summary: PlantedSummary) -> int:
    """How many characters the adapter puts around a summary's body."""
    return len(adapter.assemble([summary.row], OFF) or "") - len(str(summary.row["content"]))


@check("CAP-7", calls=("assemble",), after=("ASM-2",), examples=40)
@given(
    count=st.integers(2, 8),
    size=st.sampled_from((80, 200, 900)),
    summary_size=st.integers(0, 900),
    bound=st.integers(ROOM, 600),
)
def the_summary_outlives_the_rows(adapter: Adapter, count: int, size: int, summary_size: int, bound: int) -> None:
    """Something of the summary's body is in the block, however many rows were dropped."""
    summary = planted_summary(0, size=summary_size)
    block = adapter.assemble(_under_load(count, size, summary), _limits(bound))
    reached(len(shown(block, [planted(index) for index in range(count)])) < count, "rows were dropped")
    reached(2 * summary_size > bound, "a summary longer than half of the bound")
    found = summary.stands_in(block) or "ю" in (block or "")
    expect(found, "summary-dropped", expected="the summary before the rows", got=quote(block))


@check("CAP-7", calls=("assemble",), after=("ASM-2",), examples=40)
@given(
    count=st.integers(3, 8),
    size=st.sampled_from((80, 200, 900)),
    summary_size=st.integers(100, 300),
    extra=st.sampled_from((0, 0, 1, 40)),
)
def a_summary_up_to_half_of_the_bound_stays_whole(
    adapter: Adapter, count: int, size: int, summary_size: int, extra: int
) -> None:
    """A summary that is no longer than half of `max_chars`, with its label and what parts it from a row, is not cut."""
    summary = planted_summary(0, size=summary_size)
    row = planted(0)
    beside = len(adapter.assemble(_numbered([summary, row]), OFF) or "")
    whole = beside - len(adapter.assemble([row.row], OFF) or "")
    bound = max(ROOM, 2 * whole + extra)
    block = adapter.assemble(_under_load(count, size, summary), _limits(bound))
    reached(len(shown(block, [planted(index) for index in range(count)])) < count, "rows were dropped")
    reached(bound == 2 * whole, "exactly half of the bound")
    count_shown = (block or "").count("ю")
    expect(
        count_shown == summary_size and summary.traces[-1] in (block or ""),
        "summary-cut",
        expected=f"the whole summary of {summary_size} letters within half of {bound}",
        got=f"{count_shown} letters",
    )


@check("CAP-7", calls=("assemble",), after=("ASM-2",), examples=60)
@given(
    count=st.integers(3, 8),
    size=st.sampled_from((55, 80, 120)),
    summary_size=st.one_of(st.integers(1, 12), st.integers(13, 120)),
    extra=st.one_of(st.just(0), st.integers(1, 16)),
)
def a_summary_stays_whole_where_all_fits(
    adapter: Adapter, count: int, size: int, summary_size: int, extra: int
) -> None:
    """A summary that is no longer than half of `max_chars` is not cut where all rows fit beside it, or just fit."""
    summary = _short_summary(summary_size)
    stored = _under_load(count, size, summary)
    length = len(adapter.assemble(stored, OFF) or "")
    beside = length - len(adapter.assemble(stored[1:], OFF) or "")
    bound = max(ROOM, length + extra)
    reached(bound == length, "the limit is exactly the length")
    reached(summary_size < 13, "a summary of a few letters")
    if 2 * beside <= bound:
        found = (adapter.assemble(stored, _limits(bound)) or "").count("ю")
        wanted = f"the whole summary of {summary_size} letters: all is {length} characters, the limit is {bound}"
        expect(found == summary_size, "summary-cut", expected=wanted, got=f"{found} letters")


@check("CAP-7", calls=("assemble",), after=("ASM-2",), examples=40)
@given(
    count=st.integers(1, 8),
    size=st.sampled_from((80, 200, 900)),
    bound=st.integers(ROOM, 900),
    times=st.sampled_from((1, 2, 5)),
)
def a_summary_is_cut_down_to_half_not_further(adapter: Adapter, count: int, size: int, bound: int, times: int) -> None:
    """Of a summary longer than the bound about half of `max_chars` is left.

    Less by its label, and by at most 80 characters: a mark, and a cut that looks for a good place.
    """
    summary = planted_summary(0, size=bound * times)
    block = adapter.assemble(_under_load(count, size, summary), _limits(bound)) or ""
    found = block.count("ю")
    reached(found < bound * times, "the summary was cut")
    wanted = bound // 2 - _overhead(adapter, summary) - _MARK_ROOM
    expect(found >= wanted, "summary-cut-too-far", expected=f"at least {wanted} letters of it", got=f"{found} letters")


@check("CAP-7", calls=("assemble",), after=("ASM-2",), examples=80)
@given(
    count=st.integers(3, 8),
    size=st.sampled_from((0, 7, 30, 80)),
    bound=st.integers(ROOM, 500),
    twentieths=st.integers(11, 24),
)
def no_row_is_dropped_for_more_than_half_a_summary(
    adapter: Adapter, count: int, size: int, bound: int, twentieths: int
) -> None:
    """No row is dropped that would be there, had the summary been cut to half of `max_chars`.

    The row is asked for only when it fits beside half a summary and its label, with 8 characters to spare. When no row
    is saved by it, a summary may fill what room is left.
    """
    summary = planted_summary(0, size=bound * twentieths // 20)
    rows = [planted(index, size=size) for index in range(count)]
    stored = _under_load(count, size, summary)
    block = adapter.assemble(stored, _limits(bound)) or ""
    found, letters = len(shown(block, rows)), block.count("ю")
    reached(found < count, "rows were dropped")
    if found < count and 2 * letters > bound:
        alone = len(adapter.assemble([summary.row], OFF) or "")
        more = len(adapter.assemble(stored, _limits(0, found + 1)) or "")
        lean = more - alone + bound // 2 + _overhead(adapter, summary) + _SLACK
        wanted = f"{found + 1} rows, which are {lean} of {bound} characters beside half a summary"
        expect(lean > bound, "row-dropped-for-summary", expected=wanted, got=f"{found} rows, {letters} summary letters")


# -- CAP-8 -----------------------------------------------------------------------------------------------------------


@check("CAP-8", calls=("assemble",), after=("CAP-1",), examples=60)
@given(told=_told(), extra=st.sampled_from((0, 0, 1, 50)), spare_rows=st.sampled_from((None, None, 0, 1)))
def nothing_is_dropped_when_all_fits(adapter: Adapter, told: Conversation, extra: int, spare_rows: int | None) -> None:
    """At a limit that is exactly the length of the block without limits, every row is shown, and no note is needed."""
    rows = told.uncovered("positional")
    length = len(adapter.assemble(told.rows, OFF) or "")
    bound = max(ROOM, length + extra)
    reached(bound == length, "the limit is exactly the length")
    reached(told.summaries, "a summary")
    block = adapter.assemble(told.rows, _limits(bound, 0 if spare_rows is None else len(rows) + spare_rows))
    found = shown(block, rows)
    wanted = f"all {len(rows)} rows: together they are {length} characters, the limit is {bound}"
    expect(found == rows, "dropped-though-all-fits", expected=wanted, got=f"{len(found)} rows")


@check("CAP-8", calls=("assemble",), after=("CAP-1",), examples=70)
@given(told=_told(), aim=aims())
def the_next_older_row_would_not_have_fitted(adapter: Adapter, told: Conversation, aim: Aim) -> None:
    """The block with one row more, as the adapter itself renders it under a row limit, is longer than `max_chars`.

    So separators, labels and the shorter note are counted as they are. Up to 8 characters may be left over: an adapter
    may count a line break after the last row, or keep room for a longer number in its note.
    """
    rows = told.uncovered("positional")
    bound = _bound(adapter, told, aim)
    count = len(shown(adapter.assemble(told.rows, _limits(bound)), rows))
    reached(count < len(rows), "rows were dropped")
    reached(told.summaries, "a summary")
    if count < len(rows):
        more = _measure(adapter, told)(count + 1)
        wanted = f"{count + 1} rows, which are {more} of {bound} characters"
        expect(more + _SLACK > bound, "room-for-another-row", expected=wanted, got=f"{count} rows")


@check("CAP-8", calls=("assemble",), after=("CAP-2",), examples=60)
@given(told=_told(), max_rows=st.integers(1, 8))
def the_row_limit_drops_no_more_than_it_must(adapter: Adapter, told: Conversation, max_rows: int) -> None:
    """With the character limit off exactly `max_rows` of the rows are shown, or all; a summary takes no row's place."""
    rows = told.uncovered("positional")
    wanted = min(max_rows, len(rows))
    reached(wanted < len(rows), "rows were dropped")
    reached(told.summaries, "a summary")
    found = shown(adapter.assemble(told.rows, _limits(0, max_rows)), rows)
    expect(len(found) >= wanted, "fewer-than-max-rows", expected=f"{wanted} rows", got=f"{len(found)}: {traces(found)}")


_SILENT: tuple[dict[str, Content], ...] = ({"content": ""}, {"content": None}, {}, {"content": []})


@check("CAP-8", calls=("assemble",), after=("CAP-2",), examples=40)
@given(count=st.integers(1, 8), silent=st.lists(st.integers(0, 8), min_size=1, max_size=6), max_rows=st.integers(1, 8))
def rows_without_text_take_no_place(adapter: Adapter, count: int, silent: list[int], max_rows: int) -> None:
    """Rows that have nothing to show do not count towards `max_rows`, wherever they stand."""
    rows = [planted(index, seq=10 * index) for index in range(count)]
    empty = [
        cast(Row, {"seq": 10 * (place % (count + 1)) + 1 + at, "role": "user", "observed": True, **_SILENT[at % 4]})
        for at, place in enumerate(silent)
    ]
    wanted = min(max_rows, count)
    reached(wanted < count, "rows were dropped")
    stored = sorted([*(row.row for row in rows), *empty], key=lambda row: row["seq"])
    found = shown(adapter.assemble(stored, _limits(0, max_rows)), rows)
    expect(len(found) >= wanted, "fewer-than-max-rows", expected=f"{wanted} rows", got=f"{len(found)}: {traces(found)}")


# -- CAP-9 -----------------------------------------------------------------------------------------------------------


@check("CAP-9", calls=("assemble",), examples=8)
@given(
    sizes=st.lists(st.sampled_from((1, 2, 3, 9, 30)), min_size=11, max_size=12),
    summary_size=st.sampled_from((None, None, 5, 40)),
    max_rows=st.sampled_from((0, 0, 5)),
)
def a_larger_character_limit_never_shows_fewer_rows(
    adapter: Adapter, sizes: list[int], summary_size: int | None, max_rows: int
) -> None:
    """Of all character limits from 1 up to one that holds all, and 0 last, none shows fewer rows than a smaller one.

    The rows have no attribution line and a letter of their own each, so that whatever is left of a row in a tiny block
    is seen. Below 256, where a mark and an adapter's own decoration can crowd out the text, a block that is more than a
    note counts as one row.
    """
    rows = [lettered(index, size) for index, size in enumerate(sizes)]
    entries: list[Planted | PlantedSummary] = [*rows]
    if summary_size is not None:
        entries.insert(0, planted_summary(0, size=summary_size))
    reached(not max_rows, "the note loses a digit")
    reached(summary_size is not None, "a summary")
    stored, patterns = _numbered(entries), note_patterns(adapter)
    whole = len(adapter.assemble(stored, OFF) or "")
    most, smaller = 0, 0
    for bound in (*range(1, whole + 2), _HUGE, 0):
        adapter.begin_example()
        block = adapter.assemble(stored, _limits(bound, max_rows))
        count = len(shown(block, rows))
        lenient = max(count, int(0 < bound < ROOM and _is_more_than_a_note(block, patterns)))
        wanted = f"at least {most} rows, as with max_chars {smaller}"
        expect(lenient >= most, "fewer-rows", expected=wanted, got=f"{count} rows with max_chars {bound}")
        if count > most:
            most, smaller = count, bound


def _is_more_than_a_note(block: str | None, patterns: Sequence[re.Pattern[str]]) -> bool:
    lines = [line for line in (block or "").split("\n") if line.strip()]
    return len(lines) > len(notes("\n".join(lines), patterns))


@check("CAP-9", calls=("assemble",), examples=50)
@given(
    told=_told(min_size=5, sizes=(55, 80, 120, 200, 290, 600)),
    offset=st.sampled_from(OFFSETS),
    max_rows=st.sampled_from((0, 0, 0, 4)),
)
def a_larger_character_limit_shows_no_fewer_long_rows(
    adapter: Adapter, told: Conversation, offset: int, max_rows: int
) -> None:
    """Of the limits from 256 up that stand at a fit or beside it, a larger one never shows fewer rows."""
    rows = told.uncovered("positional")
    measure = _measure(adapter, told)
    most, smaller = 0, 0
    for bound in sorted({Aim(at, offset).at(measure, len(rows)) for at in range(len(rows))}):
        count = len(shown(adapter.assemble(told.rows, _limits(bound, max_rows)), rows))
        reached(count < len(rows), "rows were dropped")
        wanted = f"at least {most} rows, as with max_chars {smaller}"
        expect(count >= most, "fewer-rows", expected=wanted, got=f"{count} rows with max_chars {bound}")
        most, smaller = count, bound


@check("CAP-9", calls=("assemble",), examples=30)
@given(told=_told(), aim=st.one_of(st.none(), aims(), st.integers(1, ROOM)))
def a_larger_row_limit_never_shows_fewer_rows(adapter: Adapter, told: Conversation, aim: Aim | int | None) -> None:
    """Of all row limits, from 1 to more than there are, and 0 last, none shows fewer rows than a smaller one."""
    rows = told.uncovered("positional")
    bound = _bound(adapter, told, aim) if isinstance(aim, Aim) else aim or 0
    before, smaller = 0, 0
    for max_rows in (*range(1, len(rows) + 2), _HUGE, 0):
        count = len(shown(adapter.assemble(told.rows, _limits(bound, max_rows)), rows))
        reached(max_rows == 0 and count < len(rows), "the character limit drops rows")
        wanted = f"at least {before} rows, as with max_rows {smaller}"
        expect(count >= before, "fewer-rows", expected=wanted, got=f"{count} rows with max_rows {max_rows}")
        before, smaller = count, max_rows


# -- CAP-10, CAP-11 --------------------------------------------------------------------------------------------------

_ASTRAL = ("😀", "𝕂", "🚀x", "a😀", "👩🏽\u200d🚀")


def _filled(filler: str, name_length: int, length: int, in_summary: bool) -> tuple[list[Row], str]:
    """Rows of which the newest, or the summary, is filled with `filler`; and the text that is filled."""
    attribution = f"[{'A' * name_length}|7]\n"
    if not in_summary:
        text = filler * (length // len(filler))
        return [{"seq": 0, "role": "user", "observed": True, "content": attribution + text}], text
    summary = planted_summary(0)
    text = filler * (length // len(filler))
    rows = [planted(index, size=200, seq=index + 1).row for index in range(3)]
    return [cast(Row, {**summary.row, "content": text}), *rows], text


@check("CAP-10", calls=("assemble",), after=("CAP-1",))
@given(
    filler=st.sampled_from(_ASTRAL),
    name_length=st.integers(1, 4),
    bound=st.integers(ROOM, ROOM + 30),
    in_summary=st.sampled_from((False, False, True)),
)
def a_cut_leaves_text_that_can_be_encoded(
    adapter: Adapter, filler: str, name_length: int, bound: int, in_summary: bool
) -> None:
    """Wherever a text of astral characters is cut, no half of a surrogate pair is left, and no replacement for one."""
    rows, text = _filled(filler, name_length, 2 * bound, in_summary)
    block = adapter.assemble(rows, _limits(bound)) or ""
    reached(text not in block, "the summary was cut" if in_summary else "the row was cut")
    halves = [letter for letter in block if 0xD800 <= ord(letter) <= 0xDFFF]
    expect(not halves, "lone-surrogate", expected="whole characters", got=f"{len(halves)} halves: {quote(block)}")
    replaced = block.count("\ufffd")
    expect(not replaced, "replacement-character", expected="whole characters", got=f"{replaced} U+FFFD: {quote(block)}")


@check("CAP-11", calls=("assemble",), after=("CAP-10",), examples=40)
@given(
    name_length=st.integers(1, 8),
    bound=st.integers(ROOM, ROOM + 30),
    in_summary=st.sampled_from((False, False, True)),
    between=st.sampled_from(("", "", "x")),
)
def a_cut_falls_between_graphemes(
    adapter: Adapter, name_length: int, bound: int, in_summary: bool, between: str
) -> None:
    """Of a text that is one cluster again and again, whole clusters are left on both sides of the cut.

    The clusters have two to seven code points, so a boundary is always near. A letter may stand between them.
    """
    for kind, cluster in CLUSTERS.items():
        adapter.begin_example()
        rows, text = _filled(cluster + between, name_length, 2 * bound, in_summary)
        block = adapter.assemble(rows, _limits(bound)) or ""
        reached(text not in block, "the summary was cut" if in_summary else "the row was cut")
        left = [letter for letter in block.replace(cluster, "") if letter in cluster]
        parts = " ".join(f"U+{ord(letter):04X}" for letter in left)
        expect(not left, "torn-cluster", expected=f"whole clusters ({kind})", got=f"{parts} apart")


@check("CAP-11", calls=("assemble",), after=("CAP-10",), examples=20)
@given(name_length=st.integers(1, 4), bound=st.integers(ROOM, ROOM + 30), in_summary=st.booleans())
def a_cut_parts_no_carriage_return_from_its_line_feed(
    adapter: Adapter, name_length: int, bound: int, in_summary: bool
) -> None:
    """In a text whose lines end with CR LF no CR stands alone after a cut."""
    rows, text = _filled("a\r\n", name_length, 2 * bound, in_summary)
    block = adapter.assemble(rows, _limits(bound)) or ""
    reached(text not in block, "the summary was cut" if in_summary else "the row was cut")
    alone = block.replace("\r\n", "").count("\r")
    expect(not alone, "torn-line-break", expected="no CR without its LF", got=f"{alone} alone in {quote(block)}")


# -- CAP-12 ----------------------------------------------------------------------------------------------------------


@check("CAP-12", calls=("assemble",), after=("CAP-4",), examples=60)
@given(told=_told(), aim=st.one_of(st.none(), aims()), fewer=st.sampled_from((0, 1, 2, 3)))
def the_note_is_worded_as_agreed(adapter: Adapter, told: Conversation, aim: Aim | None, fewer: int) -> None:
    """Before the first row stands the line `[... N older observed messages omitted ...]`, for one row too."""
    rows = told.uncovered("positional")
    max_rows = len(rows) - fewer if 0 < fewer < len(rows) else 0
    block = adapter.assemble(told.rows, _limits(_bound(adapter, told, aim) if aim else 0, max_rows))
    dropped = len(rows) - len(shown(block, rows))
    reached(dropped, "rows were dropped")
    reached(dropped == 1, "one row was dropped")
    note = f"[... {dropped} older observed messages omitted ...]"
    before = lead(block, rows)
    expect(
        not dropped or note in before.split("\n"),
        "note-worded-otherwise",
        expected=f"the line {note}",
        got=quote(before),
    )
