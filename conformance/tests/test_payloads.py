"""Reading payloads: the current message taken apart, and what breaks the order of messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from observed_context_conformance.payloads import not_alternating, out_of_order, same_content, strings, taken_apart
from observed_context_conformance.port import Headers, Message, Part

HEADERS: Headers = {"block": "<context>", "addressed": "<message>"}
WRAPPED = "<context>\n[Ben|2]\nhm\n\n<message>\nkit?"
PICTURE: Part = {"type": "image_url", "image_url": {"url": "https://example.invalid/a.jpg"}}
CALL: dict[str, Any] = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def user(content: Any) -> Message:
    return {"role": "user", "content": content}


def test_a_wrapped_message_is_taken_apart() -> None:
    payload = taken_apart([{"role": "system", "content": "be brief"}, user("A?"), user(WRAPPED)], "kit?", HEADERS)
    assert [message["content"] for message in payload.system] == ["be brief"]
    assert payload.history == [user("A?")]
    assert (payload.block, payload.message) == ("[Ben|2]\nhm", "kit?")


def test_a_message_without_a_block_has_none() -> None:
    payload = taken_apart([user("kit?")], "kit?", HEADERS)
    assert (payload.history, payload.block, payload.message) == ([], None, "kit?")


def test_a_header_that_the_message_quotes_is_part_of_the_message() -> None:
    quoting = "what is\n<message>\nkit?"
    payload = taken_apart([user(WRAPPED.replace("kit?", quoting))], quoting, HEADERS)
    assert (payload.block, payload.message) == ("[Ben|2]\nhm", quoting)


@pytest.mark.parametrize("current", [f"A?\n\n{WRAPPED}", "A?\n\nkit?"])
def test_what_is_joined_to_the_current_message_is_history(current: str) -> None:
    payload = taken_apart([user(current)], "kit?", HEADERS)
    assert payload.history == [user("A?")]
    assert payload.message == "kit?"


def test_parts_that_are_joined_to_the_current_message_are_history() -> None:
    current = [PICTURE, {"type": "text", "text": "A?"}, PICTURE, {"type": "text", "text": WRAPPED}]
    payload = taken_apart([user(current)], [PICTURE, {"type": "text", "text": "kit?"}], HEADERS)
    assert payload.history == [user([PICTURE, {"type": "text", "text": "A?"}])]


def test_what_follows_the_current_message_belongs_to_its_turn() -> None:
    asked: Message = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    payload = taken_apart(
        [user(WRAPPED), asked, {"role": "tool", "tool_call_id": "c", "content": "x"}], "kit?", HEADERS
    )
    assert payload.history == []
    assert payload.message == "kit?"


def test_text_parts_may_become_one_text() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert same_content(parts, "a\n\nb")
    assert not same_content(parts, "b\n\na")
    assert not same_content([PICTURE, *parts], "a\nb")
    assert same_content(None, "")


def test_texts_are_found_in_json_within_json() -> None:
    cache = {"sent": json.dumps([{"content": json.dumps({"deep": "<context>\nhm"})}])}
    assert "<context>\nhm" in strings({"extra": cache})


@pytest.mark.parametrize(
    ("roles", "wrong"),
    [
        ("user assistant user", None),
        ("assistant user", None),
        ("user user", "messages 0 and 1 are both user messages"),
        ("user assistant assistant", "messages 1 and 2 are both assistant messages"),
        ("user system assistant", "message 1 is a system message in the midst of the others"),
        ("user call tool assistant user", None),
        ("user call user", "message 2 (user) stands before the result of 'c'"),
        ("user call", "the result of 'c' is missing"),
        ("user tool", "message 1 answers 'c', which the message before it does not ask for"),
    ],
)
def test_what_breaks_the_order_is_named(roles: str, wrong: str | None) -> None:
    kinds: dict[str, Message] = {
        "call": {"role": "assistant", "content": None, "tool_calls": [CALL]},
        "tool": {"role": "tool", "tool_call_id": "c", "content": "x"},
        "system": {"role": "system", "content": "x"},
        "user": user("x"),
        "assistant": {"role": "assistant", "content": "x"},
    }
    messages = [kinds[role] for role in roles.split()]
    assert not_alternating(messages) == wrong
    if wrong is None:
        assert out_of_order(messages) is None
