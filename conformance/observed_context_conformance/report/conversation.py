"""Draws what crossed the port as a conversation that a person can take in at a glance."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from observed_context_conformance.checking import quote
from observed_context_conformance.raised import steady
from observed_context_conformance.schemas import problem
from observed_context_conformance.subject import Call

CALLS_SHOWN = 4
ROWS_SHOWN = 24


@dataclass(frozen=True)
class _Misshapen:
    """A result that cannot be drawn as what it ought to be, and is printed as JSON."""

    value: Any


def draw_calls(calls: Iterable[Call]) -> list[str]:
    """The last calls of an example, a few lines each; rows and events as a chat, in plain text."""
    # What a gateway is told is in the story of the check.
    calls = [call for call in calls if call.method.partition(".")[0] != "gateway"]
    lines: list[str] = []
    if len(calls) > CALLS_SHOWN:
        lines.append(f"({len(calls) - CALLS_SHOWN} calls before)")
    for call in calls[-CALLS_SHOWN:]:
        lines += _DRAWN[call.method](_drawable(call)) if call.method in _DRAWN else _plain(call)
        if call.raised is not None:
            lines.append(call.raised)
    return lines


def _drawable(call: Call) -> Call:
    wrong = problem(f"calls.json#/$defs/{call.method}/properties/result", call.result)
    return call if wrong is None else replace(call, result=_Misshapen(call.result))


def _event_call(call: Call) -> list[str]:
    event, settings = call.arguments["event"], call.arguments["settings"]
    lines = _event(event) + _settings(event, settings)
    result = call.result
    if call.method == "gate" and isinstance(result, Mapping):
        return [*lines, f"gate -> {result['action']}"]
    if call.method == "row" and isinstance(result, Mapping):
        return [*lines, "row ->", *_indent(_row(result))]
    return [*lines, *_answer(call)]


def _rows_call(call: Call) -> list[str]:
    arguments = call.arguments
    lines: list[str] = []
    for row in _some(arguments.get("transcript", arguments.get("rows", []))):
        lines += row if isinstance(row, list) else [row]
    if "channel_prompt" in arguments:
        lines.append(f"channel prompt: {_text(arguments['channel_prompt'])}")
    limits = arguments["limits"]
    lines.append(f"limits: characters {limits['max_chars'] or 'unlimited'}, rows {limits['max_rows'] or 'unlimited'}")
    if "message" in arguments:
        lines.append(f"current message: {_text(arguments['message'])}")
    for number, request in enumerate(call.requests, 1):
        lines += [f"model request {number}:", *_indent(_messages(request))]
    result = call.result
    if call.method == "assemble" and call.raised is None:
        return [*lines, "assemble ->", *_indent(_block(result))]
    if call.method == "replay" and isinstance(result, Mapping):
        history = _indent(_messages(result["history"])) or ["  (empty)"]
        return [*lines, "replay -> history:", *history, "replay -> block:", *_indent(_block(result["block"]))]
    if call.method == "turn" and isinstance(result, list):
        return [*lines, "turn -> rows:", *_indent([line for row in result for line in _row(row)])]
    return [*lines, *_answer(call)]


def _wrap_call(call: Call) -> list[str]:
    given = [f"message: {_text(call.arguments['message'])}", "block:", *_indent(_block(call.arguments["block"]))]
    if call.raised is not None:
        return given
    return [*given, "wrap ->", *_indent(_block(call.result) if isinstance(call.result, str) else [_text(call.result)])]


def _plain(call: Call) -> list[str]:
    given = ", ".join(f"{name} {_json(value)}" for name, value in call.arguments.items())
    return [*([given] if given else []), *_answer(call)]


def _answer(call: Call) -> list[str]:
    return [] if call.raised is not None else [f"{call.method} -> {_json(call.result)}"]


_DRAWN = {
    "gate": _event_call,
    "row": _event_call,
    "address": _event_call,
    "replay": _rows_call,
    "assemble": _rows_call,
    "turn": _rows_call,
    "wrap": _wrap_call,
}


def _event(event: Mapping[str, Any]) -> list[str]:
    chat, sender = event["chat"], event["sender"]
    place = f"{event['platform']} {chat['kind']} {chat['id']}"
    if chat["name"]:
        place += f" {quote(chat['name'], 60)}"
    if event["topic"]:
        place += f", topic {event['topic']}"
    who = quote(sender["name"], 60) if sender["name"] is not None else "(no name)"
    who += f" ({sender['id'] or 'no id'}{', a bot' if sender['is_bot'] else ''})"
    text = event["caption"] if event["caption"] is not None else event["text"]
    lines = [f"[{place}]", f"  {who}: {quote(text)}"]
    if event["mentions"]:
        lines.append("    mentions " + ", ".join(_mention(mention) for mention in event["mentions"]))
    if event["reply_to"]:
        reply = event["reply_to"]
        lines.append(f"    in reply to {reply['sender_id'] or 'somebody'}: {quote(reply['text'])}")
    for medium in event["media"]:
        where = medium["path"] or medium["url"] or f"unavailable ({medium['error']})"
        named = f", named {quote(medium['name'], 60)}" if medium["name"] else ""
        lines.append(f"    {medium['kind']}: {quote(where)}{named}")
    return lines


def _mention(mention: Mapping[str, Any]) -> str:
    span = f"characters {mention['offset']} to {mention['offset'] + mention['length']}" if "offset" in mention else ""
    return " at ".join(part for part in (mention.get("id", ""), span) if part)


def _settings(event: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    bot = settings["bot"]
    chat = event["chat"]["id"]
    facts = [
        f"bot {bot['id']} @{bot['handle']}",
        f"observe {'on' if settings['observe'] else 'off'}",
        f"mention {'required' if settings['require_mention'] else 'not required'}",
    ]
    if settings["group_policy"] == "open":
        facts.append("open groups")
    allowed = settings["allowed_chats"]
    facts.append(
        "this chat is allowlisted"
        if allowed and chat in allowed
        else f"allowlist {_json(allowed) if allowed else 'empty'}"
    )
    if chat in settings["free_response_chats"]:
        facts.append("free-response chat")
    if settings["mention_patterns"]:
        facts.append("patterns " + ", ".join(quote(pattern, 60) for pattern in settings["mention_patterns"]))
    if settings["other_bots"]:
        facts.append("other bots " + ", ".join(f"{b['id']} @{b['handle']}" for b in settings["other_bots"]))
    if settings["channel_prompt"] is not None:
        facts.append(f"channel prompt {quote(settings['channel_prompt'], 60)}")
    return ["settings: " + ", ".join(facts)]


def _row(row: Mapping[str, Any]) -> list[str]:
    seq = f"#{row['seq']}" if "seq" in row else "#-"
    kind = row["role"]
    if row.get("observed"):
        kind = "observed" if kind == "user" else f"{kind}, flagged observed"
    if "summary" in row:
        through = row["summary"].get("covers_through")
        upto = "all before it" if through is None else f"up to #{through}"
        kind = f"summary of {row['summary']['covered']}, {upto}"
    notes = [f"time {row['time']}"] if row.get("time") else []
    notes += [f"calls {', '.join(c['function']['name'] for c in row['tool_calls'])}"] if row.get("tool_calls") else []
    notes += [f"result of {row['tool_call_id']}"] if row.get("tool_call_id") else []
    notes += [f"extra {_json(row['extra'])}"] if row.get("extra") else []
    tail = f"   ({'; '.join(notes)})" if notes else ""
    content = "(no content)" if "content" not in row else _text(row["content"])
    return [f"{seq:>4} {kind}: {content}{tail}"]


def _messages(messages: Iterable[Mapping[str, Any]]) -> list[str]:
    lines = []
    for message in messages:
        calls = message.get("tool_calls")
        tail = f"   (calls {', '.join(c['function']['name'] for c in calls)})" if calls else ""
        lines.append(f"{message['role']}: {_text(message['content'])}{tail}")
    return lines


def _block(block: object) -> list[str]:
    if block is None:
        return ["(null)"]
    if not isinstance(block, str):
        return [_json(block)]
    lines = block.split("\n")
    shown = [quote(line, 140)[1:-1] for line in lines]
    if len(shown) > ROWS_SHOWN:
        half = ROWS_SHOWN // 2
        shown = [*shown[:half], f"... {len(shown) - 2 * half} lines ...", *shown[-half:]]
    return [f"| {line}" for line in shown]


def _some(rows: list[Any]) -> list[str | list[str]]:
    if len(rows) <= ROWS_SHOWN:
        return [_row(row) for row in rows]
    half = ROWS_SHOWN // 2
    return [
        *[_row(row) for row in rows[:half]],
        f"     ... {len(rows) - 2 * half} rows ...",
        *[_row(row) for row in rows[-half:]],
    ]


def _text(content: object) -> str:
    return "(null)" if content is None else quote(content) if isinstance(content, str) else _json(content)


def _json(value: object) -> str:
    shown = json.dumps(value, ensure_ascii=False, default=_otherwise)
    return shown if len(shown) <= 300 else f"{shown[:200]} ... {shown[-90:]}"


def _otherwise(value: object) -> Any:
    return value.value if isinstance(value, _Misshapen) else steady(repr(value))


def _indent(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]
