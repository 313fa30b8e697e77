"""Separation: observed rows leave the history and come back as the block."""

from collections.abc import Collection, Sequence
from copy import deepcopy
from itertools import zip_longest
from typing import Any, cast

from observed_context.addressing import MARKERS
from observed_context.assembly import assemble
from observed_context.shapes import Content, Limits, Message, Part, Replayed, Row

BOUNDARY = "\n\n---\n\n"
_BOOKKEEPING = {"system", "session_meta"}
_JOINABLE = {"user", "assistant"}
_MESSAGE_KEYS = {"role", "content", "tool_calls", "tool_call_id", "name"}


def replay(
    transcript: Sequence[Row],
    channel_prompt: str | None,
    limits: Limits,
    markers: Collection[str] = tuple(MARKERS.values()),
) -> Replayed:
    """Return a transcript as the model sees it: `{"history", "block"}`.

    With a registered marker in the channel prompt, whichever it is (SEP-2), observed rows are withheld from the history
    and make the block (SEP-1). Without one every row is history, as if none had been flagged (SEP-3). Rows of
    bookkeeping appear nowhere (SEP-7). The result is a copy (SEP-8).
    """
    separates = any(marker in (channel_prompt or "") for marker in markers)
    history: list[list[Message]] = []  # each of these becomes one message
    withheld: list[Row] = []
    together = True  # whether the row at hand stood next to the last message of the history
    for row in transcript:
        if row["role"] in _BOOKKEEPING:
            continue
        if separates and is_observed_row(row):
            withheld.append(row)
            together = False
            continue
        message = _message(row)
        if history and not together and is_same_side(history[-1][-1], message):
            history[-1].append(message)  # SEP-5
        else:
            history.append([message])
        together = True
    block = assemble(withheld, limits) if withheld else None
    return {"history": [_one_of(messages) for messages in history], "block": block}


def is_observed_row(row: Row) -> bool:
    """Whether a row is observed: the flag decides, on a user's row, and nothing else (SEP-6)."""
    return row["role"] == "user" and row.get("observed") is True


def is_same_side(one: Message, other: Message) -> bool:
    """Whether two messages both are the user's or both the assistant's; results of tools are neither."""
    return one["role"] == other["role"] and one["role"] in _JOINABLE


def _one_of(messages: list[Message]) -> Message:
    while len(messages) > 1:  # neighbours first: of many, no text is copied more often than there are rounds
        pairs = zip_longest(messages[::2], messages[1::2])
        messages = [one if other is None else joined(one, other) for one, other in pairs]
    return messages[0]


def joined(one: Message, other: Message) -> Message:
    """Return one message for two of the same role: everything of both, and a visible boundary between (SEP-5)."""
    message: Message = {"role": one["role"], "content": _joined_content(one["content"], other["content"])}
    if calls := [*one.get("tool_calls", []), *other.get("tool_calls", [])]:
        message["tool_calls"] = calls
    if "name" in one and one["name"] == other.get("name"):
        message["name"] = one["name"]
    return message


def _joined_content(one: Content, other: Content) -> Content:
    if not one or not other:
        return one or other
    if isinstance(one, str) and isinstance(other, str):
        return one + BOUNDARY + other
    return [*_parts(one), {"type": "text", "text": BOUNDARY}, *_parts(other)]


def _parts(content: str | list[Part]) -> list[Part]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _message(row: Row) -> Message:
    # Only what a model request knows: no `observed`, `seq`, `summary`, `message_id` (SEP-9).
    known = {key: _copied(value) for key, value in row.items() if key in _MESSAGE_KEYS}
    return cast(Message, {"role": row["role"], "content": None, **known})


def _copied(value: Any) -> Any:
    return value if isinstance(value, str) else deepcopy(value)
