"""Reading what reaches a model: the text of messages, the current message, and the block in it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from observed_context_conformance.port import Addressed, Content, Headers, Message, Row

Piece = str | dict[str, Any]


@dataclass(frozen=True)
class Payload:
    """One model request, taken apart.

    Attributes:
        system: the leading system messages.
        history: the messages before the current one, without the system messages. Where an adapter joins an unanswered
            message to the current one, its text is here, as a user message.
        block: the text between the header lines of the current message; None when they are not there.
        message: the text of the current message, without what stands before it.
        current: the current message as it is.
    """

    system: list[Message]
    history: list[Message]
    block: str | None
    message: str
    current: Message


def taken_apart(payload: list[Message], message: Addressed, headers: Headers) -> Payload:
    """Take a payload apart; its current message is the user's last one, and what follows it belongs to the turn.

    Args:
        payload: the messages of a request, at least one of them the user's.
        message: the bare addressed message.
        headers: the header lines that the adapter declares.
    """
    system = [item for item in payload if item["role"] == "system"]
    rest = [item for item in payload if item["role"] != "system"]
    last = max((index for index, item in enumerate(rest) if item["role"] == "user"), default=len(rest) - 1)
    before, block, after = _split(text_of(rest[last]["content"]), text_of(message), headers)
    joined: list[Message] = []
    if before.strip():
        joined = [{"role": "user", "content": _up_to(rest[last]["content"], before)}]
    return Payload(system, rest[:last] + joined, block, after, rest[last])


def text_of(content: Content) -> str:
    """The text of a content, its text parts on lines of their own; empty when it has none."""
    return "\n".join(piece for piece in pieces(content) if isinstance(piece, str))


def pieces(content: Content) -> list[Piece]:
    """A content as the texts and the other parts that it consists of; an empty text is none."""
    if isinstance(content, list):
        found: list[Piece] = [part["text"] if part["type"] == "text" else part for part in content]
        return [piece for piece in found if piece != ""]
    return [content] if content else []


def same_content(one: Content, other: Content) -> bool:
    """Whether two contents say the same: texts in text parts may have become one text, blanks between them aside."""
    ours, theirs = pieces(one), pieces(other)
    if ours == theirs:
        return True
    if len(theirs) != 1 or not isinstance(theirs[0], str) or not ours:
        return False
    texts = [piece for piece in ours if isinstance(piece, str)]
    return len(texts) == len(ours) and re.fullmatch(r"\s*".join(map(re.escape, texts)), theirs[0]) is not None


def dumped(value: object) -> str:
    """A value as JSON, to look for tokens in."""
    return json.dumps(value, ensure_ascii=False)


def plain_lines(text: str | None) -> list[str]:
    """The lines of a text, divided at LF, CR LF and CR."""
    return re.split(r"\r\n|\r|\n", text or "")


def strings(value: object) -> list[str]:
    """All texts in a value, however deep, keys included, and those in texts that are JSON themselves."""
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *strings(item))]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    if isinstance(value, str):
        return [value, *_inside(value)]
    return []


def out_of_order(history: list[Message]) -> str | None:
    """What is wrong with the tool calls in a history, where each is answered once and directly, or None."""
    open_calls: list[str] = []
    for index, message in enumerate(history):
        if message["role"] == "tool":
            call = message.get("tool_call_id", "")
            if call not in open_calls:
                return f"message {index} answers {call!r}, which the message before it does not ask for"
            open_calls.remove(call)
        elif open_calls:
            return f"message {index} ({message['role']}) stands before the result of {open_calls[0]!r}"
        else:
            open_calls = [call["id"] for call in message.get("tool_calls", [])]
    return f"the result of {open_calls[0]!r} is missing" if open_calls else None


def not_alternating(messages: list[Message]) -> str | None:
    """What breaks the alternation of user and assistant in a payload without its system messages, or None."""
    wrong = out_of_order(messages)
    if wrong is not None:
        return wrong
    for index in range(1, len(messages)):
        role, before = messages[index]["role"], messages[index - 1]["role"]
        if role == "system":
            return f"message {index} is a system message in the midst of the others"
        # After the results of its calls the assistant goes on.
        if role == before != "tool":
            return f"messages {index - 1} and {index} are both {role} messages"
    return None


def shows(message: Message, row: Row, mark: str) -> bool:
    """Whether a message is made of a row: it holds the row's token, or its calls, or answers its call."""
    if row.get("tool_call_id"):
        return message.get("tool_call_id") == row["tool_call_id"]
    if row.get("tool_calls"):
        asked = {call["id"] for call in message.get("tool_calls", [])}
        return {call["id"] for call in row["tool_calls"]} <= asked
    return mark in dumped(message["content"])


def _split(text: str, message: str, headers: Headers) -> tuple[str, str | None, str]:
    lines = text.split("\n")
    addressed = [index for index, line in enumerate(lines) if line == headers["addressed"]]
    # The message itself may hold the header; the one that introduces it stands before.
    ends = [index for index in addressed if "\n".join(lines[index + 1 :]) == message] or addressed[-1:]
    begins = [index for index, line in enumerate(lines) if line == headers["block"] and ends and index < ends[-1]]
    if begins:
        first, last = begins[0], ends[-1]
        block = "\n".join(lines[first + 1 : last])
        return "\n".join(lines[:first]), block.strip("\n"), "\n".join(lines[last + 1 :])
    if message and text.endswith(message):
        return text[: -len(message)], None, message
    return "", None, text


def _up_to(content: Content, before: str) -> Content:
    """What a content holds until its text has said `before`."""
    if not isinstance(content, list):
        return before.strip("\n")
    found, left = [], len(before)
    for part in content:
        if left <= 0:
            break
        if part["type"] != "text":
            found.append(part)
        elif part["text"]:
            found.append({"type": "text", "text": part["text"][:left].strip("\n")})
            left -= len(part["text"]) + 1
    return found


def _inside(text: str) -> list[str]:
    if text[:1] not in ("{", "[", '"'):
        return []
    try:
        value = json.loads(text)
    except ValueError:
        return []
    return strings(value)
