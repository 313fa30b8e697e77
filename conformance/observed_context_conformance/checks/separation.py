"""Checks of SEP: what goes into the history, what into the block, and that nothing is lost between them."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any, cast

from hypothesis import event
from hypothesis import strategies as st

from observed_context_conformance.checking import Adapter, check, expect, given, not_applicable, quote
from observed_context_conformance.payloads import (
    dumped,
    out_of_order,
    pieces,
    plain_lines,
    same_content,
    shows,
    text_of,
)
from observed_context_conformance.port import Content, Limits, Message, Replayed, Row
from observed_context_conformance.strategies.limits import OFF
from observed_context_conformance.strategies.prompts import marked_alike, marked_prompts, unmarked_prompts
from observed_context_conformance.strategies.transcripts import (
    ANSWERED,
    BOOKKEPT,
    CALLS,
    EVERYTHING,
    FLAGLESS,
    ORDERS,
    SUMMARISED,
    covered,
    forged_texts,
    has_text,
    is_bookkeeping,
    is_summary,
    is_withheld,
    kept,
    plain_texts,
    row_text,
    second_token,
    situations,
    token,
    transcripts,
    unflagged,
)
from observed_context_conformance.turns import take_turn

REACH: dict[str, dict[str, float]] = {
    "observed_rows_are_withheld_from_history": {f"order {order}": 0.05 for order in ORDERS},
    "observed_rows_are_in_the_block": {"a summary row": 0.05},
    "flags_change_nothing_without_a_marker": {
        "a tool sequence is split by an observed row": 0.05,
        "content parts": 0.05,
    },
    "rows_that_are_not_observed_replay_unchanged": {
        "a tool sequence is split by an observed row": 0.05,
        "several tool calls at once": 0.05,
        "content parts": 0.05,
    },
    "separation_creates_no_neighbours": {
        "order AOA": 0.05,
        "order UOU": 0.05,
        "an answer with calls is brought to an answer": 0.05,
    },
    "joined_rows_keep_both_texts_apart": {"order AOA": 0.05, "order UOU": 0.05},
    "tool_results_follow_their_calls": {
        "a tool sequence is split by an observed row": 0.2,
        "several tool calls at once": 0.1,
    },
    "every_row_is_accounted_for": {"a summary row": 0.05, "an observed row without text": 0.05},
    "rows_left_out_are_counted": {"rows are left out": 0.2, "all rows fit": 0.05},
    "odd_content_is_not_program_text": {"an observed row without text": 0.2, "content parts": 0.2},
}

_QUESTION = "[Ana|1001]\nkit, and now?"

View = Callable[[Adapter, list[Row], str | None, Limits], Replayed]


def _replayed(adapter: Adapter, transcript: list[Row], channel_prompt: str | None, limits: Limits = OFF) -> Replayed:
    for situation in situations(transcript):
        event(situation)
    return adapter.replay(transcript, channel_prompt, limits)


def _sent(adapter: Adapter, transcript: list[Row], channel_prompt: str | None, limits: Limits = OFF) -> Replayed:
    """History and block of the first request of a turn."""
    for situation in situations(transcript):
        event(situation)
    first = take_turn(adapter, transcript, _QUESTION, channel_prompt, limits=limits).first
    return {"history": first.history, "block": first.block}


# -- SEP-1 -----------------------------------------------------------------------------------------------------------


def _no_observed_text_in(history: list[Message], transcript: list[Row]) -> None:
    shown = dumped(history)
    for row in transcript:
        if is_withheld(row):
            expect(
                token(row) not in shown,
                "observed-row-in-history",
                expected=f"row {row['seq']}, which is observed, in the block alone",
                got=f"its text in the history: {quote(row_text(row))}",
            )


def _observed_text_in(block: str | None, transcript: list[Row], spoken_for: list[Row]) -> None:
    for row in transcript:
        if not is_withheld(row) or is_summary(row) or row in spoken_for:
            continue
        lines = [line.strip() for line in plain_lines(row_text(row)) if line.strip()]
        expect(
            not has_text(row) or _stand_in_order(lines, block or ""),
            "observed-text-not-in-block",
            expected=f"the text of row {row['seq']} in the block: {quote(row_text(row))}",
            got=quote(block) if block else "no block",
        )


def _stand_in_order(texts: list[str], whole: str) -> bool:
    position = 0
    for text in texts:
        found = whole.find(text, position)
        if found < 0:
            return False
        position = found + len(text)
    return True


@check("SEP-1", calls=("replay",), after=("SEP-2",), examples=50)
@given(transcript=transcripts(), channel_prompt=marked_prompts())
def observed_rows_are_withheld_from_history(adapter: Adapter, transcript: list[Row], channel_prompt: str) -> None:
    """With a marker, what was said to others is not among the messages to the bot."""
    seen = _replayed(adapter, transcript, channel_prompt)
    _no_observed_text_in(seen["history"], transcript)


@check("SEP-1", calls=("replay",), after=("SEP-2",), examples=50)
@given(transcript=transcripts(written=plain_texts(), parts=False), channel_prompt=marked_prompts())
def observed_rows_are_in_the_block(adapter: Adapter, transcript: list[Row], channel_prompt: str) -> None:
    """With a marker and no limit, the text of every observed row that no summary covers is in the block."""
    seen = _replayed(adapter, transcript, channel_prompt)
    _observed_text_in(seen["block"], transcript, covered(transcript, adapter.description))


@check("SEP-1", calls=("turn",), after=("SEP-2",), examples=30)
@given(
    transcript=transcripts((*ORDERS, *CALLS, *SUMMARISED), written=plain_texts(), addressed=plain_texts(), parts=False),
    channel_prompt=marked_prompts(),
)
def turn_separates_observed_rows(adapter: Adapter, transcript: list[Row], channel_prompt: str) -> None:
    """In the request to the model, observed rows are in the block before the current message and nowhere else."""
    seen = _sent(adapter, transcript, channel_prompt)
    _no_observed_text_in(seen["history"], transcript)
    _observed_text_in(seen["block"], transcript, covered(transcript, adapter.description))


# -- SEP-2 -----------------------------------------------------------------------------------------------------------


def _alike(view: View, adapter: Adapter, transcript: list[Row], channel_prompts: tuple[str, str]) -> None:
    if len(set(adapter.description["markers"].values())) < 2:
        not_applicable("the adapter declares one marker only")
    one, other = (view(adapter, transcript, prompt, OFF) for prompt in channel_prompts)
    difference = f"under {quote(channel_prompts[0])} and under {quote(channel_prompts[1])}"
    expect(
        one["history"] == other["history"],
        "history-depends-on-the-marker",
        expected=f"the same history {difference}",
        got=f"{len(one['history'])} and {len(other['history'])} messages, not the same",
    )
    expect(
        one["block"] == other["block"],
        "block-depends-on-the-marker",
        expected=f"the same block {difference}",
        got=f"{_shown(one['block'])} and {_shown(other['block'])}",
    )


def _shown(block: str | None) -> str:
    return "no block" if block is None else quote(block)


@check("SEP-2", calls=("replay",), examples=40)
@given(transcript=transcripts(), channel_prompts=marked_alike())
def every_marker_separates_alike(adapter: Adapter, transcript: list[Row], channel_prompts: tuple[str, str]) -> None:
    """Two channel prompts that differ in their marker alone give the same history and the same block."""
    _alike(_replayed, adapter, transcript, channel_prompts)


@check("SEP-2", calls=("turn",), examples=25)
@given(
    transcript=transcripts(written=plain_texts(), addressed=plain_texts(), blank=False), channel_prompts=marked_alike()
)
def every_marker_separates_alike_in_a_turn(
    adapter: Adapter, transcript: list[Row], channel_prompts: tuple[str, str]
) -> None:
    """Two channel prompts that differ in their marker alone give the model the same history and the same block."""
    _alike(_sent, adapter, transcript, channel_prompts)


# -- SEP-3 -----------------------------------------------------------------------------------------------------------

_UNSUMMARISED = tuple(order for order in EVERYTHING if "S" not in order)


@check("SEP-3", calls=("replay",), examples=50)
@given(transcript=transcripts(_UNSUMMARISED), channel_prompt=unmarked_prompts())
def no_block_without_a_marker(adapter: Adapter, transcript: list[Row], channel_prompt: str | None) -> None:
    """Without a marker in the channel prompt there is no block, whatever the rows say."""
    seen = _replayed(adapter, transcript, channel_prompt)
    expect(seen["block"] is None, "block-without-marker", expected="no block (null)", got=_shown(seen["block"]))


def _as_if_unflagged(view: View, adapter: Adapter, transcript: list[Row], channel_prompt: str | None) -> None:
    flagged = view(adapter, transcript, channel_prompt, OFF)["history"]
    plain = view(adapter, unflagged(transcript), channel_prompt, OFF)["history"]
    differing = [index for index, (one, other) in enumerate(zip(flagged, plain, strict=False)) if one != other]
    where = f"; message {differing[0]} is {quote(dumped(flagged[differing[0]]))}" if differing else ""
    expect(
        flagged == plain,
        "flags-decide-without-marker",
        expected=f"the history that the transcript gives without its observed fields ({len(plain)} messages)",
        got=f"another one, of {len(flagged)} messages{where}",
    )


@check("SEP-3", calls=("replay",), examples=50)
@given(transcript=transcripts(_UNSUMMARISED), channel_prompt=unmarked_prompts())
def flags_change_nothing_without_a_marker(adapter: Adapter, transcript: list[Row], channel_prompt: str | None) -> None:
    """Without a marker, observed rows replay exactly as if they had never been flagged."""
    _as_if_unflagged(_replayed, adapter, transcript, channel_prompt)


@check("SEP-3", calls=("turn",), examples=25)
@given(
    transcript=transcripts(_UNSUMMARISED, written=plain_texts(), addressed=plain_texts()),
    channel_prompt=unmarked_prompts(),
)
def flags_change_nothing_without_a_marker_in_a_turn(
    adapter: Adapter, transcript: list[Row], channel_prompt: str | None
) -> None:
    """Without a marker the model gets no block, and observed rows exactly as if they had never been flagged."""
    seen = _sent(adapter, transcript, channel_prompt)
    expect(seen["block"] is None, "block-without-marker", expected="no header lines", got=_shown(seen["block"]))
    _as_if_unflagged(_sent, adapter, transcript, channel_prompt)


# -- SEP-4 -----------------------------------------------------------------------------------------------------------


def _whole(content: Content, rows: list[Row]) -> bool:
    """Whether a message of several rows has all that they say, one after the other, blanks at the ends aside."""
    said = [_as_text(piece) for row in rows for piece in pieces(row.get("content"))]
    return _stand_in_order([text.strip() for text in said], "\n".join(_as_text(piece) for piece in pieces(content)))


def _trimmed(content: Content) -> list[object]:
    return [piece.strip() if isinstance(piece, str) else piece for piece in pieces(content)]


def _as_text(piece: object) -> str:
    return piece if isinstance(piece, str) else dumped(piece)


def _places(history: list[Message], row: Row) -> list[int]:
    return [index for index, message in enumerate(history) if shows(message, row, token(row))]


def _read(calls: list[dict[str, Any]]) -> list[Any]:
    """Tool calls with their arguments read, so that blanks between them do not count."""
    return [(call["id"], call["function"]["name"], _value(call["function"]["arguments"])) for call in calls]


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _unchanged(history: list[Message], transcript: list[Row], *, sent: bool) -> None:
    """Expect each row that is not observed, and that can be told from the others, once, unchanged and in order.

    In what is sent to the model the blanks at the ends of a text may be missing.
    """
    shown = [row for row in transcript if not is_bookkeeping(row)]
    told = [
        row for row in shown if token(row) in dumped(row.get("content")) or "tool_calls" in row or row["role"] == "tool"
    ]
    found = {row["seq"]: _places(history, row) for row in told}
    # What stands next to a row without text, withheld rows aside, may have been joined with it.
    beside = [
        one["seq"]
        for rows in (shown, kept(transcript))
        for one, other in (*pairwise(rows), *pairwise(rows[::-1]))
        if other not in told
    ]
    before = -1
    for row in told:
        if is_withheld(row):
            continue
        seq, places = row["seq"], found[row["seq"]]
        name = f"row {seq} ({row['role']})"
        expect(len(places) == 1, "row-not-once", expected=f"{name} once in the history", got=f"{len(places)} times")
        message = history[places[0]]
        expect(
            places[0] >= before, "out-of-order", expected=f"{name} after the rows before it", got=f"message {places[0]}"
        )
        before = places[0]
        expect(message["role"] == row["role"], "role-changed", expected=f"{name} as {row['role']}", got=message["role"])
        here = [other for other in told if places[0] in found[other["seq"]]]
        says = row.get("content")
        joined = len(here) > 1 or seq in beside
        ours = [other for other in here if not is_withheld(other)]
        expect(
            same_content(says, message["content"])
            or (joined and _whole(message["content"], ours))
            or (sent and _trimmed(says) == _trimmed(message["content"])),
            "content-changed",
            expected=f"the content of {name} unchanged: {quote(dumped(says))}",
            got=quote(dumped(message["content"])),
        )
        calls = [call for other in here for call in other.get("tool_calls", [])]
        expect(
            _read(message.get("tool_calls", [])) == _read(calls),
            "tool-calls-changed",
            expected=f"the tool calls of {name} unchanged: {quote(dumped(calls))}",
            got=quote(dumped(message.get("tool_calls", []))),
        )


@check("SEP-4", calls=("replay",), after=("SEP-1",), examples=50)
@given(
    transcript=transcripts((*ORDERS, *CALLS, *BOOKKEPT, "UUA", "AA")),
    channel_prompt=st.one_of(marked_prompts(), unmarked_prompts()),
)
def rows_that_are_not_observed_replay_unchanged(
    adapter: Adapter, transcript: list[Row], channel_prompt: str | None
) -> None:
    """Requests, answers, tool calls and their results are in the history once, in order, unchanged."""
    seen = _replayed(adapter, transcript, channel_prompt)
    _unchanged(seen["history"], transcript, sent=False)


@check("SEP-4", calls=("turn",), after=("SEP-1",), examples=25)
@given(
    transcript=transcripts(written=plain_texts(), addressed=plain_texts(), blank=False), channel_prompt=marked_prompts()
)
def rows_that_are_not_observed_reach_the_model_unchanged(
    adapter: Adapter, transcript: list[Row], channel_prompt: str
) -> None:
    """Requests, answers, tool calls and their results reach the model once, in order, unchanged."""
    seen = _sent(adapter, transcript, channel_prompt)
    _unchanged(seen["history"], transcript, sent=True)


# -- SEP-5 -----------------------------------------------------------------------------------------------------------


_TOGETHER = ("AOA", "UOU", "AOT", "UOO", "AOtA", "UOB", "AO", "UOUA")
"""Orders in which withholding brings rows of one role together, within one of them or with the next."""


def _brought_together(transcript: list[Row]) -> list[tuple[Row, Row]]:
    """Pairs of rows of one role between which nothing but observed rows stands, one with text at least."""
    pairs: list[tuple[Row, Row]] = []
    last: Row | None = None
    between = False
    for row in transcript:
        if is_bookkeeping(row):
            continue
        if is_withheld(row):
            between = between or has_text(row)
            continue
        if last is not None and between and row["role"] == last["role"] != "tool" and "tool_calls" not in last:
            pairs.append((last, row))
        last, between = row, False
    return pairs


def _no_new_neighbours(history: list[Message], transcript: list[Row]) -> None:
    for one, other in _brought_together(transcript):
        if "tool_calls" in other:
            event("an answer with calls is brought to an answer")
        for place in _places(history, one):
            expect(
                place + 1 not in _places(history, other) or place in _places(history, other),
                "neighbours-of-one-role",
                expected=f"rows {one['seq']} and {other['seq']} ({one['role']}) joined: only observed rows between",
                got=f"two {one['role']} messages in a row, {place} and {place + 1}",
            )


@check("SEP-5", calls=("replay",), after=("SEP-1",), examples=50)
@given(transcript=transcripts(_TOGETHER, blank=False), channel_prompt=marked_prompts())
def separation_creates_no_neighbours(adapter: Adapter, transcript: list[Row], channel_prompt: str) -> None:
    """Where only observed rows stood between two rows of one role, the history does not have them side by side."""
    seen = _replayed(adapter, transcript, channel_prompt)
    _no_new_neighbours(seen["history"], transcript)


def _joined_apart(history: list[Message], transcript: list[Row]) -> None:
    for one, other in _brought_together(transcript):
        first, second = _text_left(one), _text_left(other)
        if first is None or second is None:
            continue
        shown = [text_of(message["content"]) for message in history if message["role"] == one["role"]]
        for name, row, text in (("first", one, first), ("second", other, second)):
            expect(
                any(text in whole for whole in shown),
                f"{name}-text-lost",
                expected=f"the text of row {row['seq']} in the history: {quote(text)}",
                got="it is in no message of its role",
            )
        for whole in shown:
            end = whole.find(first) + len(first)
            if first in whole and second in whole:
                expect(
                    second in whole[end:],
                    "joined-out-of-order",
                    expected=f"row {one['seq']} before row {other['seq']}",
                    got=quote(whole),
                )
                between = whole[end : whole.find(second, end)]
                expect(
                    len(plain_lines(between)) > 1,
                    "joined-without-boundary",
                    expected=f"a line break at least between the texts of rows {one['seq']} and {other['seq']}",
                    got=f"{quote(between)} in {quote(whole)}",
                )


def _text_left(row: Row) -> str | None:
    """What a row says, blanks at its ends aside; None when it says nothing."""
    return row_text(row).strip() or None


@check("SEP-5", calls=("replay",), after=("SEP-1",), examples=50)
@given(
    transcript=transcripts(_TOGETHER, addressed=plain_texts(), blank=False, parts=False),
    channel_prompt=marked_prompts(),
)
def joined_rows_keep_both_texts_apart(adapter: Adapter, transcript: list[Row], channel_prompt: str) -> None:
    """Where withholding rows brings two rows together, both texts are in the history, on lines of their own."""
    seen = _replayed(adapter, transcript, channel_prompt)
    _joined_apart(seen["history"], transcript)


@check("SEP-5", calls=("replay",), after=("SEP-1",), examples=50)
@given(
    transcript=transcripts((*CALLS, "OU", "A"), written=plain_texts(), addressed=plain_texts()),
    channel_prompt=marked_prompts(),
)
def tool_results_follow_their_calls(adapter: Adapter, transcript: list[Row], channel_prompt: str) -> None:
    """Each tool call in the history is followed directly by its results, also where somebody wrote in between."""
    seen = _replayed(adapter, transcript, channel_prompt)
    wrong = out_of_order(seen["history"])
    expect(wrong is None, "result-apart-from-call", expected="results directly after their calls", got=wrong or "")


@check("SEP-5", calls=("turn",), after=("SEP-1",), examples=25)
@given(
    transcript=transcripts(_TOGETHER, written=plain_texts(), addressed=plain_texts(), blank=False, parts=False),
    channel_prompt=marked_prompts(),
)
def separation_creates_no_neighbours_in_a_turn(adapter: Adapter, transcript: list[Row], channel_prompt: str) -> None:
    """In the request, rows that withholding brings together are not side by side, and both texts are there."""
    seen = _sent(adapter, transcript, channel_prompt)
    _no_new_neighbours(seen["history"], transcript)
    _joined_apart(seen["history"], transcript)


# -- SEP-6 -----------------------------------------------------------------------------------------------------------


def _answers_flagged(transcript: list[Row]) -> list[Row]:
    return [cast(Row, {**row, "observed": True}) if row["role"] in ("assistant", "tool") else row for row in transcript]


def _answers_unflagged(transcript: list[Row]) -> list[Row]:
    return [row if row["role"] == "user" else unflagged([row])[0] for row in transcript]


def _flags_of_answers_mean_nothing(view: View, adapter: Adapter, transcript: list[Row], channel_prompt: str) -> None:
    flagged = view(adapter, _answers_flagged(transcript), channel_prompt, OFF)
    plain = view(adapter, _answers_unflagged(transcript), channel_prompt, OFF)
    expect(
        flagged["history"] == plain["history"],
        "flagged-answer-treated-apart",
        expected=f"the history that the transcript gives without those flags ({len(plain['history'])} messages)",
        got=f"another one, of {len(flagged['history'])} messages",
    )
    expect(
        flagged["block"] == plain["block"],
        "flagged-answer-in-block",
        expected=f"the same block: {_shown(plain['block'])}",
        got=_shown(flagged["block"]),
    )


@check("SEP-6", calls=("replay",), examples=50)
@given(transcript=transcripts((*ORDERS, *CALLS, *ANSWERED)), channel_prompt=marked_prompts())
def only_rows_of_users_are_withheld(adapter: Adapter, transcript: list[Row], channel_prompt: str) -> None:
    """An assistant or tool row that carries the observed flag replays like one that does not."""
    _flags_of_answers_mean_nothing(_replayed, adapter, transcript, channel_prompt)


def _look_alikes_stay(view: View, adapter: Adapter, transcript: list[Row], channel_prompt: str) -> None:
    seen = view(adapter, transcript, channel_prompt, OFF)
    expect(
        seen["block"] is None, "look-alike-in-block", expected="no block: no row is observed", got=_shown(seen["block"])
    )
    shown = dumped(seen["history"])
    for row in kept(transcript):
        expect(
            not has_text(row) or token(row) in shown,
            "look-alike-withheld",
            expected=f"row {row['seq']} in the history: it is not flagged",
            got=f"its text is not there: {quote(row_text(row))}",
        )


@check("SEP-6", calls=("replay",), examples=50)
@given(transcript=transcripts(FLAGLESS, addressed=forged_texts()), channel_prompt=marked_prompts())
def text_that_looks_observed_is_not_withheld(adapter: Adapter, transcript: list[Row], channel_prompt: str) -> None:
    """A row without the flag stays in the history, though its text reads like a header, a summary or chatter."""
    _look_alikes_stay(_replayed, adapter, transcript, channel_prompt)


@check("SEP-6", calls=("turn",), examples=25)
@given(
    transcript=transcripts((*ORDERS, *CALLS, *ANSWERED), written=plain_texts(), addressed=plain_texts(), blank=False),
    channel_prompt=marked_prompts(),
)
def only_flagged_rows_of_users_are_withheld_in_a_turn(
    adapter: Adapter, transcript: list[Row], channel_prompt: str
) -> None:
    """In the request, flagged answers and tool results are where they would be without the flag."""
    _flags_of_answers_mean_nothing(_sent, adapter, transcript, channel_prompt)
    _look_alikes_stay(_sent, adapter, unflagged(transcript), channel_prompt)


# -- SEP-7 -----------------------------------------------------------------------------------------------------------


def _nothing_lost(seen: Replayed, transcript: list[Row], spoken_for: list[Row]) -> None:
    newest = max((row["seq"] for row in transcript if is_summary(row)), default=None)
    history, block = dumped(seen["history"]), seen["block"] or ""
    for row in transcript:
        if is_bookkeeping(row) or not has_text(row) or row in spoken_for:
            continue
        if is_summary(row) and row["seq"] != newest:
            continue
        expect(
            token(row) in history or token(row) in block,
            "summary-lost" if is_summary(row) else "row-lost",
            expected=f"row {row['seq']} ({row['role']}) in the history, in the block, or covered",
            got=f"nowhere: {quote(row_text(row))}",
        )


def _bookkeeping_nowhere(seen: Replayed, transcript: list[Row]) -> None:
    shown = dumped(seen)
    for row in transcript:
        expect(
            not is_bookkeeping(row) or token(row) not in shown,
            "bookkeeping-shown",
            expected=f"row {row['seq']} ({row['role']}) neither in the history nor in the block",
            got=f"its text is there: {quote(row_text(row))}",
        )


@check("SEP-7", calls=("replay",), after=("SEP-1",), examples=50)
@given(transcript=transcripts(), channel_prompt=marked_prompts())
def every_row_is_accounted_for(adapter: Adapter, transcript: list[Row], channel_prompt: str) -> None:
    """With no limit, every row with text is in the history, in the block, or covered by the block's summary."""
    seen = _replayed(adapter, transcript, channel_prompt)
    _nothing_lost(seen, transcript, covered(transcript, adapter.description))


def _long_talk(count: int, asked_every: int) -> list[tuple[str, Row]]:
    """So many observed rows, with a request and its answer after every `asked_every` of them; a word of each."""
    rows: list[tuple[str, dict[str, Any]]] = []
    for number in range(1, count + 1):
        note, question, answer = f"note{number:04}", f"question{number:04}", f"answer{number:04}"
        rows.append((note, {"role": "user", "observed": True, "content": f"[Ana|1001]\n{note} on the demo"}))
        if number % asked_every == 0:
            rows.append((question, {"role": "user", "content": f"[Ben|1002]\nkit, {question}?"}))
            rows.append((answer, {"role": "assistant", "content": answer}))
    return [(word, cast(Row, {"seq": seq, **row})) for seq, (word, row) in enumerate(rows, start=1)]


@check("SEP-7", calls=("replay",), after=("SEP-1",), examples=6)
@given(
    count=st.sampled_from((30, 60, 120, 600)), asked_every=st.sampled_from((7, 1000)), channel_prompt=marked_prompts()
)
def no_window_bounds_what_is_seen(adapter: Adapter, count: int, asked_every: int, channel_prompt: str) -> None:
    """With no limit, all of a long talk is seen, however much was said before the last request and since."""
    talk = _long_talk(count, asked_every)
    seen = _replayed(adapter, [row for _, row in talk], channel_prompt)
    shown = f"{dumped(seen['history'])}\n{seen['block']}"
    lost = [word for word, _ in talk if word not in shown]
    got = f"{len(lost)} in neither: {', '.join(lost[:3])}"
    expect(not lost, "row-lost", expected=f"{len(talk)} rows in history and block", got=got)


@check("SEP-7", calls=("replay",), examples=40)
@given(transcript=transcripts(_UNSUMMARISED), channel_prompt=unmarked_prompts())
def nothing_is_lost_without_a_marker(adapter: Adapter, transcript: list[Row], channel_prompt: str | None) -> None:
    """Without a marker every row with text is in the history."""
    seen = _replayed(adapter, transcript, channel_prompt)
    _nothing_lost(seen, transcript, [])


@check("SEP-7", calls=("replay",), examples=40)
@given(transcript=transcripts((*BOOKKEPT, "OBU", "SB")), channel_prompt=st.one_of(marked_prompts(), unmarked_prompts()))
def bookkeeping_rows_appear_nowhere(adapter: Adapter, transcript: list[Row], channel_prompt: str | None) -> None:
    """System and session metadata rows are for the gateway: their text is neither in the history nor in the block."""
    _bookkeeping_nowhere(_replayed(adapter, transcript, channel_prompt), transcript)


def _counted(block: str | None, transcript: list[Row]) -> None:
    """Expect a note with the number of the rows that are not in the block. Rows without text may count or not."""
    observed = [row for row in transcript if is_withheld(row)]
    out = [row for row in observed if has_text(row) and token(row) not in (block or "")]
    event("rows are left out" if out else "all rows fit")
    if not out:
        return
    numbers = {str(len(out) + empty) for empty in range(sum(not has_text(row) for row in observed) + 1)}
    lines = {line.strip() for row in observed for line in plain_lines(row_text(row))}
    notes = [line for line in plain_lines(block) if line.strip() not in lines]
    expect(
        any(numbers & set(_numbers(line)) for line in notes),
        "rows-left-out-uncounted",
        expected=f"a note in the block that counts the {len(out)} rows which are not in it",
        got=_shown(block),
    )


def _numbers(line: str) -> list[str]:
    return "".join(character if character.isascii() and character.isdigit() else " " for character in line).split()


_TIGHT = st.one_of(
    st.builds(lambda rows: Limits(max_chars=0, max_rows=rows), st.integers(1, 6)),
    st.builds(lambda chars: Limits(max_chars=chars, max_rows=0), st.integers(256, 500)),
)

_CROWDED = ("OOU", "OUOAO", "UOO", "O", "OO")


@check("SEP-7", calls=("replay",), after=("SEP-1",), examples=50)
@given(
    transcript=transcripts(_CROWDED, written=plain_texts(), addressed=plain_texts(), max_size=6),
    channel_prompt=marked_prompts(),
    limits=_TIGHT,
)
def rows_left_out_are_counted(adapter: Adapter, transcript: list[Row], channel_prompt: str, limits: Limits) -> None:
    """Where a limit keeps rows out of the block, a note in the block says how many."""
    _counted(_replayed(adapter, transcript, channel_prompt, limits)["block"], transcript)


@check("SEP-7", calls=("turn",), after=("SEP-1",), examples=25)
@given(
    transcript=transcripts(written=plain_texts(), addressed=plain_texts(), blank=False), channel_prompt=marked_prompts()
)
def every_row_is_accounted_for_in_a_turn(adapter: Adapter, transcript: list[Row], channel_prompt: str) -> None:
    """In the request every row is in the history, in the block, or covered; bookkeeping is not there."""
    seen = _sent(adapter, transcript, channel_prompt)
    _nothing_lost(seen, transcript, covered(transcript, adapter.description))
    _bookkeeping_nowhere(seen, transcript)


# -- SEP-8 -----------------------------------------------------------------------------------------------------------


def _left_alone(adapter: Adapter) -> None:
    expect(
        not adapter.calls[-1].changed_input,
        "transcript-changed",
        expected="the transcript as it was passed in",
        got="rows that were changed during the call",
    )


def _nothing_shared(adapter: Adapter) -> None:
    expect(
        not adapter.calls[-1].shares_input,
        "parts-shared",
        expected="a result of its own lists and dicts",
        got="one of the transcript's, so that a change of the result changes a stored row",
    )


@check("SEP-8", calls=("replay",), examples=40)
@given(transcript=transcripts(), channel_prompt=st.one_of(marked_prompts(), unmarked_prompts()))
def transcript_is_left_alone(adapter: Adapter, transcript: list[Row], channel_prompt: str | None) -> None:
    """Separation changes no row of the transcript that it is given."""
    _replayed(adapter, transcript, channel_prompt)
    _left_alone(adapter)


@check("SEP-8", calls=("replay",), examples=40)
@given(transcript=transcripts(), channel_prompt=st.one_of(marked_prompts(), unmarked_prompts()))
def history_shares_nothing_with_the_transcript(
    adapter: Adapter, transcript: list[Row], channel_prompt: str | None
) -> None:
    """The messages of the history are copies down to their content parts and tool calls."""
    _replayed(adapter, transcript, channel_prompt)
    _nothing_shared(adapter)


@check("SEP-8", calls=("turn",), examples=20)
@given(transcript=transcripts(), channel_prompt=st.one_of(marked_prompts(), unmarked_prompts()))
def turn_leaves_the_transcript_alone(adapter: Adapter, transcript: list[Row], channel_prompt: str | None) -> None:
    """A turn changes no row of the transcript that it is given, and what it returns shares nothing with it."""
    take_turn(adapter, transcript, _QUESTION, channel_prompt)
    _left_alone(adapter)
    _nothing_shared(adapter)


# -- SEP-9 -----------------------------------------------------------------------------------------------------------


@check("SEP-9", calls=("replay",), examples=40)
@given(transcript=transcripts(), channel_prompt=st.one_of(marked_prompts(), unmarked_prompts()))
def history_has_no_bookkeeping_keys(adapter: Adapter, transcript: list[Row], channel_prompt: str | None) -> None:
    """Every message of the history satisfies the schema, which knows no observed, seq, summary or message_id."""
    _replayed(adapter, transcript, channel_prompt)


@check("SEP-9", calls=("turn",), examples=20)
@given(transcript=transcripts(), channel_prompt=st.one_of(marked_prompts(), unmarked_prompts()))
def requests_have_no_bookkeeping_keys(adapter: Adapter, transcript: list[Row], channel_prompt: str | None) -> None:
    """Every message of a request satisfies the schema, which knows no observed, seq, summary or message_id."""
    take_turn(adapter, transcript, _QUESTION, channel_prompt)


# -- SEP-10 ----------------------------------------------------------------------------------------------------------

_ODD = ("O", "OO", "UOA", "OUO", "AOA")
_PROGRAM_TEXT = ("None", "null", "undefined", "'type'", '"type"', "[{", "{'", "[]")


def _no_program_text(seen: Replayed) -> None:
    shown = "\n".join((*(text_of(message["content"]) for message in seen["history"]), seen["block"] or ""))
    for fragment in _PROGRAM_TEXT:
        expect(
            fragment not in shown,
            "program-text",
            expected="what people wrote",
            got=f"{quote(fragment)} in {quote(shown)}",
        )


@check("SEP-10", calls=("replay",), examples=50)
@given(transcript=transcripts(_ODD), channel_prompt=st.one_of(marked_prompts(), unmarked_prompts()))
def odd_content_does_not_raise(adapter: Adapter, transcript: list[Row], channel_prompt: str | None) -> None:
    """Observed rows with empty, missing or list content are replayed without an exception."""
    with adapter.must_not_raise("odd-content-raises", expected="replay() returns, whatever the content of a row"):
        _replayed(adapter, transcript, channel_prompt)


@check("SEP-10", calls=("replay",), examples=50)
@given(
    transcript=transcripts(_ODD, written=plain_texts(), addressed=plain_texts()),
    channel_prompt=st.one_of(marked_prompts(), unmarked_prompts()),
)
def odd_content_is_not_program_text(adapter: Adapter, transcript: list[Row], channel_prompt: str | None) -> None:
    """Empty, missing or list content never shows as the program prints it: None, null, [{'type': ...}]."""
    _no_program_text(_replayed(adapter, transcript, channel_prompt))


def _text_parts_count(block: str | None, transcript: list[Row]) -> None:
    for row in transcript:
        content = row.get("content")
        if is_withheld(row) and isinstance(content, list):
            marks = [mark for mark in (token(row), second_token(row)) if mark in row_text(row)]
            event(f"text parts: {len(marks)}")
            expect(
                _stand_in_order(marks, block or ""),
                "text-part-missing",
                expected=f"every text part of row {row['seq']} in the block, in order: {quote(row_text(row))}",
                got=_shown(block),
            )


@check("SEP-10", calls=("replay",), after=("SEP-1",), examples=50)
@given(transcript=transcripts(_ODD, written=plain_texts()), channel_prompt=marked_prompts())
def text_parts_count_as_the_text(adapter: Adapter, transcript: list[Row], channel_prompt: str) -> None:
    """Where an observed row is a list of parts, each of its text parts is in the block, in order."""
    _text_parts_count(_replayed(adapter, transcript, channel_prompt)["block"], transcript)


@check("SEP-10", calls=("turn",), after=("SEP-1",), examples=25)
@given(transcript=transcripts(_ODD, written=plain_texts(), addressed=plain_texts()), channel_prompt=marked_prompts())
def odd_content_does_not_disturb_a_turn(adapter: Adapter, transcript: list[Row], channel_prompt: str) -> None:
    """Observed rows with empty, missing or list content do not make a turn raise, and show the text they have."""
    with adapter.must_not_raise("odd-content-raises", expected="turn() returns, whatever the content of a row"):
        seen = _sent(adapter, transcript, channel_prompt)
    _no_program_text(seen)
    _text_parts_count(seen["block"], transcript)


REACH["text_parts_count_as_the_text"] = {"text parts: 2": 0.05}
