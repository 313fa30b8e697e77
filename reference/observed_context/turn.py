"""The addressed turn: what the model sees is wrapped, what is stored is bare."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from typing import cast

from observed_context.lines import ADDRESSED_HEADER, BLOCK_HEADER, neutralise_headers
from observed_context.separation import is_same_side, joined, replay
from observed_context.shapes import Addressed, Limits, Message, Row
from observed_context.waiting import asynchronous, at_once

MAX_TOOL_ROUNDS = 8
NO_ANSWER = "[no answer]"
NO_RESULT = "[no result]"

_log = logging.getLogger(__name__)


def wrap(message: Addressed, block: str | None) -> Addressed:
    """Return an addressed message as the model sees it: under the block, last and unchanged (TURN-1, TURN-2).

    Of content parts the first text part takes the prefix, or a new first part is made of it (TURN-3). No line of the
    block passes for a header (TURN-9). The message passed in is not changed.
    """
    if not block:
        return deepcopy(message)
    prefix = f"{BLOCK_HEADER}\n{neutralise_headers(block)}\n\n{ADDRESSED_HEADER}\n"
    if isinstance(message, str):
        return prefix + message
    parts = deepcopy(message)
    first = next((part for part in parts if part.get("type") == "text"), None)
    if first is None:
        return [{"type": "text", "text": prefix}, *parts]
    first["text"] = prefix + first["text"]
    return parts


def take_turn(
    transcript: Sequence[Row],
    message: Addressed,
    channel_prompt: str | None,
    limits: Limits,
    model: Callable[[list[Message]], Message],
) -> list[Row]:
    """Ask the model and return the rows to store: the message as it came, then what the model did (TURN-4, TURN-8).

    A turn whose request fails leaves the message alone, unanswered.
    """
    payload = payload_of(transcript, message, channel_prompt, limits)
    answers = at_once(answer(payload, asynchronous(model)))
    return [{"role": "user", "content": deepcopy(message)}, *answers]


async def answer(payload: list[Message], model: Callable[[list[Message]], Awaitable[Message]]) -> list[Row]:
    """Return the rows of the model's answer to a payload, calls of tools included; none when the model fails.

    Each request holds the whole payload, after tool calls and in the one retry of a failed request as well (TURN-5).
    There are no tools here: each call is answered with a message that says so.
    """
    answers: list[Message] = []
    for _ in range(MAX_TOOL_ROUNDS):
        said = await _ask(model, payload + answers) or await _ask(model, payload + answers)
        if said is None:
            return []
        answers.append(said)
        if not said.get("tool_calls"):
            break
        answers += [
            _tool_message(call["id"], f"There is no tool {call['function']['name']}.") for call in said["tool_calls"]
        ]
    return [cast(Row, answer) for answer in answers]


def payload_of(
    transcript: Sequence[Row], message: Addressed, channel_prompt: str | None, limits: Limits
) -> list[Message]:
    """Return the messages of a turn's first request: channel prompt, history, and last the wrapped message (TURN-2).

    What comes before the last message does not depend on observed rows, so that it can be cached (TURN-6, TURN-7).
    """
    replayed = replay(transcript, channel_prompt, limits)
    system: list[Message] = [{"role": "system", "content": channel_prompt}] if channel_prompt else []
    current: Message = {"role": "user", "content": wrap(message, replayed["block"])}
    return [*system, *alternating(replayed["history"]), current]


def alternating(history: Sequence[Message]) -> list[Message]:
    """Return a history after which a user message can follow, in strict alternation and with no text lost (TURN-11).

    Neighbours of one role are joined. Calls of tools have their results directly behind them: a call without one gets a
    row that says so, a result without its call becomes the assistant's text. Behind an unanswered request stands an
    answer that says so: the request stays history and does not become part of the current one (TURN-12).
    """
    repaired: list[Message] = []
    missing: list[str] = []  # ids of calls that wait for their result
    for message in history:
        if message["role"] == "tool" and message.get("tool_call_id") in missing:
            missing.remove(message["tool_call_id"])
            repaired.append(message)
            continue
        if message["role"] == "tool":
            message = {"role": "assistant", "content": message["content"]}  # noqa: PLW2901
        repaired += [_tool_message(call, NO_RESULT) for call in missing]
        if repaired and is_same_side(repaired[-1], message):
            message = joined(repaired.pop(), message)  # noqa: PLW2901
        repaired.append(message)
        missing = [call["id"] for call in message.get("tool_calls", [])]
    repaired += [_tool_message(call, NO_RESULT) for call in missing]
    if repaired and repaired[-1]["role"] == "user":
        repaired.append({"role": "assistant", "content": NO_ANSWER})
    return repaired


async def _ask(model: Callable[[list[Message]], Awaitable[Message]], payload: list[Message]) -> Message | None:
    try:
        return deepcopy(await model(deepcopy(payload)))
    except Exception as error:  # a provider's failure, of whatever kind
        _log.warning("a model request failed: %s", type(error).__name__)
        return None


def _tool_message(call: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call, "content": text}
