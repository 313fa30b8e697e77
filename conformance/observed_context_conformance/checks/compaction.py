"""Checks of compaction (CMP): what one pass summarises, when it runs, and what it writes."""

from __future__ import annotations

from hypothesis import event
from hypothesis import strategies as st

from observed_context_conformance.checking import Adapter, check, expect, given, quote
from observed_context_conformance.environment import (
    Summariser,
)
from observed_context_conformance.ledger import Chat
from observed_context_conformance.port import Limits
from observed_context_conformance.strategies.stored import (
    BREAKS,
    Backlog,
    due_backlogs,
    is_due,
    is_forbidden,
    limits_of,
    overflow,
    quiet_backlogs,
    verbose,
)

CALM: Limits = {"max_chars": 1_000, "max_rows": 0}
"""Under these a pass is due from two overflowing rows with 4,000 characters on."""


# -- CMP-1: what is summarised and what stays -------------------------------------------------------------------------


@check("CMP-1", calls=("compact",), examples=40)
@given(backlog=due_backlogs(), giant=st.booleans())
def the_oldest_overflow_is_summarised_and_the_newest_rows_stay(adapter: Adapter, backlog: Backlog, giant: bool) -> None:
    """A first pass; rows that stay or go as line breaks are counted are the adapter's business."""
    chat = Chat(adapter, backlog.limits)
    chat.arrive_all(backlog.sizes, "astral")
    if giant and backlog.limits["max_chars"]:
        chat.arrive_all([backlog.limits["max_chars"] // 2 + 1], "astral")  # so that none of them stays
    event("no row stays" if overflow(chat.sizes(), chat.limits).rows == len(chat.said) else "some rows stay")
    _settled_by_one_pass(chat)


@check("CMP-1", calls=("compact",), after=("CMP-3",), examples=40)
@given(backlog=due_backlogs(), sizes=st.lists(st.integers(60, 1500), min_size=1, max_size=4))
def later_passes_summarise_the_oldest_overflow_and_the_newest_rows_stay(
    adapter: Adapter, backlog: Backlog, sizes: list[int]
) -> None:
    """The same for a pass after a pass: what is covered already no longer counts."""
    chat = Chat(adapter, backlog.limits)
    chat.arrive_all(backlog.sizes)
    chat.run()
    added = 0
    while not is_due(chat.sizes(), chat.limits):
        chat.arrive(max(sizes[added % len(sizes)], backlog.limits["max_chars"] // 40))
        added += 1
    chat.tell(f"{added} more messages arrive")
    _settled_by_one_pass(chat)


def _settled_by_one_pass(chat: Chat) -> None:
    before = chat.verbatim()
    sizes = [message.size for message in before]
    # Between these two counts are the rows that stay or go as the adapter counts line breaks.
    least, most = overflow(sizes, chat.limits).rows, overflow(sizes, chat.limits, BREAKS).rows
    chat.succeed()
    covered = {message.number for message in chat.covered()}
    left = [message for message in before[:least] if message.number not in covered]
    expect(
        not left,
        "overflow-left",
        expected=f"the oldest {least} of {len(before)} rows are summarised: they exceed {_budget(chat.limits)}",
        got=f"{len(left)} of them are not covered by the summary",
    )
    if chat.positional:
        return  # a summary that covers all before it leaves no row verbatim
    gone = [message for message in before[most:] if message.number in covered]
    expect(
        not gone,
        "newest-summarised",
        expected=f"the newest {len(before) - most} of {len(before)} rows stay: they fit into {_budget(chat.limits)}",
        got=f"{len(gone)} of them are covered by the summary",
    )


def _budget(limits: Limits) -> str:
    parts = []
    if limits["max_chars"]:
        parts.append(f"{limits['max_chars'] // 2:,} characters (half of max_chars)")
    if limits["max_rows"]:
        parts.append(f"{limits['max_rows']} rows")
    return " and ".join(parts)


# -- CMP-2: what a pass writes ----------------------------------------------------------------------------------------


@check("CMP-2", calls=("compact",), examples=40)
@given(
    backlog=due_backlogs(limits=limits_of(chars=(1000, 4000))),
    meanwhile=st.integers(0, 2),
    again=st.booleans(),
)
def a_pass_appends_one_summary_row_and_nothing_else(
    adapter: Adapter, backlog: Backlog, meanwhile: int, again: bool
) -> None:
    """With other rows between the messages, a summary from before, and messages that arrive meanwhile."""
    chat = Chat(adapter, backlog.limits)
    chat.arrive_all(backlog.sizes)
    chat.interlude()
    if again:
        chat.run()
        chat.arrive_all(backlog.sizes)
    ended = chat.run(chat.interrupted(meanwhile))
    expect(
        len(ended.stored) <= 1,
        "more-than-one-row",
        expected="one row is appended by a pass",
        got=f"{len(ended.stored)} rows were: {', '.join(quote(row.get('content'), 40) for row in ended.stored)}",
    )
    for row in ended.stored:
        expect(
            "summary" in row and row.get("observed") is True and row["role"] == "user",
            "not-a-summary-row",
            expected="the row that a pass appends is a summary row: role user, observed true, a field `summary`",
            got=quote(row),
        )
    expect(
        ended.row == (ended.stored[0] if ended.stored else None),
        "result-is-not-the-stored-row",
        expected="compact() returns the summary row as it was stored, with its seq, or null when it stored none",
        got=f"it returned {quote(ended.row)} and stored {quote(list(ended.stored))}",
    )
    _no_foreign_writes(chat)


def _no_foreign_writes(chat: Chat) -> None:
    foreign = [session for session, _ in chat.store.written if session != chat.session]
    expect(
        not foreign,
        "wrote-elsewhere",
        expected=f"rows are stored in {chat.session} only",
        got=f"a row was stored in {quote(foreign)}",
    )


# -- CMP-8: when a pass is due ----------------------------------------------------------------------------------------


@check("CMP-8", calls=("compact",), examples=60)
@given(backlog=quiet_backlogs())
def below_the_threshold_there_is_no_pass(adapter: Adapter, backlog: Backlog) -> None:
    """Little overflow, one overflowing row, or both limits off."""
    chat = Chat(adapter, backlog.limits)
    chat.arrive_all(backlog.sizes, "astral")
    if overflow(backlog.sizes, backlog.limits).rows:
        event("a little overflow")
    _no_pass(chat)


@check("CMP-8", calls=("compact",), after=("CMP-10",), examples=40)
@given(
    backlog=due_backlogs(limits=limits_of(chars=(4000, 20_000))),
    pattern=st.lists(st.integers(60, 1200), min_size=1, max_size=4),
    fewer=st.integers(0, 2),
)
def after_a_pass_only_what_is_not_covered_counts_towards_the_next(
    adapter: Adapter, backlog: Backlog, pattern: list[int], fewer: int
) -> None:
    """As many new messages as the threshold allows, however line breaks are counted."""
    chat = Chat(adapter, backlog.limits)
    chat.arrive_all(backlog.sizes)
    chat.succeed()
    kept, new = chat.sizes(), list[int]()
    while len(new) < 40 and is_forbidden([*kept, *new, pattern[len(new) % len(pattern)]], chat.limits):
        new.append(pattern[len(new) % len(pattern)])
    chat.arrive_all(new[: len(new) - fewer] if fewer < len(new) else new)
    event("a little overflow" if overflow(chat.sizes(), chat.limits).rows else "no overflow")
    _no_pass(chat)


@check("CMP-8", calls=("compact",), examples=30)
@given(
    max_chars=st.sampled_from((0, 1000, 20_000, 100_000, 512_000)),
    rows=st.integers(2, 5),
    more=st.sampled_from((0, 1, 37, 900)),
    newest=st.integers(1, 3),
)
def from_4000_characters_of_overflow_on_a_pass_is_due(
    adapter: Adapter, max_chars: int, rows: int, more: int, newest: int
) -> None:
    """Just enough overflow, under small limits and large ones."""
    limits: Limits = {"max_chars": max_chars, "max_rows": 0 if max_chars else newest}
    kept = [max_chars // 2 // newest - BREAKS] * newest if max_chars else [400] * newest
    chat = Chat(adapter, limits)
    # None of the older rows fits beside the kept ones, and together they are just enough.
    chat.arrive_all([-(-4000 // rows) + more] * rows)
    chat.arrive_all(kept)
    chat.succeed()


def _no_pass(chat: Chat) -> None:
    why = f"no pass below the threshold ({chat.overflowing()}; max_chars {chat.limits['max_chars']:,})"
    ended = chat.run()
    expect(not ended.requests, "asked", expected=why, got="the summariser was asked")
    expect(not ended.stored and ended.row is None, "stored", expected=why, got=f"{quote(ended.row)} was stored")


# -- CMP-10: what a summary says of itself ----------------------------------------------------------------------------


@check("CMP-10", calls=("compact",), examples=40)
@given(
    backlogs=st.lists(due_backlogs(limits=st.just(CALM), most=25), min_size=1, max_size=4),
    meanwhile=st.integers(0, 2),
)
def a_summary_row_names_its_watermark_and_the_number_of_messages(
    adapter: Adapter, backlogs: list[Backlog], meanwhile: int
) -> None:
    """Several passes; the number is that of all messages with text up to the watermark."""
    chat = Chat(adapter, CALM)
    last = -1
    for backlog in backlogs:
        chat.arrive_all(backlog.sizes, "mixed")
        ended = chat.run(chat.interrupted(meanwhile))
        for row in ended.stored:
            if "summary" not in row:
                continue
            through = row["summary"].get("covers_through")
            if not chat.positional:
                expect(
                    through is not None,
                    "no-watermark",
                    expected="`covers_through` names the highest seq that the summary speaks for",
                    got=quote(row["summary"]),
                )
                expect(
                    last < (through or 0) <= chat.seqs[-1],
                    "watermark-out-of-range",
                    expected=f"a watermark beyond {last}, where the pass before ended, and up to {chat.seqs[-1]}, "
                    "the last row that is stored",
                    got=str(through),
                )
                last = through or 0
            behind = len(chat.covered())
            event(f"{min(chat.passes, 3)} passes")
            expect(
                row["summary"]["covered"] == behind,
                "wrong-number",
                expected=f"`covered` is {behind}: so many messages stand behind the summary, earlier passes included",
                got=str(row["summary"]["covered"]),
            )


# -- CMP-11: passes converge ------------------------------------------------------------------------------------------


@check("CMP-11", calls=("compact",), examples=30)
@given(
    backlog=due_backlogs(limits=limits_of(chars=(1000, 4000, 10_000), rows=(0,))),
    factor=st.sampled_from((0.51, 1.0, 3.0)),
)
def a_summary_longer_than_half_of_max_chars_is_cut_before_it_is_stored(
    adapter: Adapter, backlog: Backlog, factor: float
) -> None:
    """The summariser answers with more than half of `max_chars`, up to three times as much as all of it."""
    chat = Chat(adapter, backlog.limits)
    chat.arrive_all(backlog.sizes)
    half = backlog.limits["max_chars"] // 2
    ended = chat.succeed(Summariser(verbose(0, int(backlog.limits["max_chars"] * factor))))
    content = ended.stored[-1].get("content")
    length = len(content) if isinstance(content, str) else 0
    expect(
        0 < length <= half,
        "summary-too-long",
        expected=f"a summary of 1 to {half:,} characters is stored (half of max_chars)",
        got=f"{length:,} characters",
    )


@check("CMP-11", calls=("compact",), examples=25)
@given(backlog=due_backlogs(), factor=st.sampled_from((3.0, 0.3)))
def repeated_passes_without_new_rows_do_nothing(adapter: Adapter, backlog: Backlog, factor: float) -> None:
    """Two passes work a backlog off, whatever the summariser answers; a third has nothing to do."""
    chat = Chat(adapter, backlog.limits)
    chat.arrive_all(backlog.sizes)
    size = int(factor * (backlog.limits["max_chars"] or 4_000))
    for number in range(2):
        chat.run(Summariser(verbose(number, size)))
    ended = chat.run(Summariser(verbose(2, size)))
    expect(
        not ended.requests and not ended.stored,
        "pass-without-new-rows",
        expected="after two passes over the same rows there is nothing left to summarise",
        got="the summariser is asked again",
    )


REACH = {
    "the_oldest_overflow_is_summarised_and_the_newest_rows_stay": {"no row stays": 0.2, "some rows stay": 0.2},
    "below_the_threshold_there_is_no_pass": {"a little overflow": 0.3},
    "after_a_pass_only_what_is_not_covered_counts_towards_the_next": {"a little overflow": 0.3},
}
