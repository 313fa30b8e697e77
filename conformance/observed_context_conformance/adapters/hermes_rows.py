"""Rows of the port in the forms that the package has for them: columns of its store, entries of its transcript."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

_NOT_SENT = ("timestamp", "tool_name", "effect_disposition", "api_content")
"""What the package takes out of a message of the history when it makes the request of it."""

_FIELDS = (
    ("message_id", "platform_message_id"),
    ("tool_call_id", "tool_call_id"),
    ("name", "tool_name"),
)
"""Fields of a row, and the columns of the package's table that they are in."""

_KNOWN = {"id", "session_id", "role", "content", "observed", "timestamp"} | {column for _, column in _FIELDS}
"""Columns that have a field of their own in a row, or that only number it."""


def loaded_row(entry: dict[str, Any], session: str) -> dict[str, Any]:
    """A row as the package's `load_transcript` gives it; before 0.17 that is without the time."""
    rest = dict(entry)
    time = rest.pop("timestamp", None)
    row = {
        "role": rest.pop("role"),
        "content": rest.pop("content"),
        "observed": rest.pop("observed", False),
        "message_id": rest.pop("message_id", None),
        "time": None if time is None else _iso(time),
        "session": session,
    }
    return row | {"extra": rest} if rest else row


def stored_row(columns: dict[str, Any]) -> dict[str, Any]:
    """A row of the package's table of messages: what the port has no field for is in `extra`, if there is anything."""
    row: dict[str, Any] = {"role": columns["role"], "content": columns["content"], "time": _iso(columns["timestamp"])}
    if columns.get("observed"):
        row["observed"] = True
    for ours, theirs in _FIELDS:
        if columns.get(theirs):
            row[ours] = columns[theirs]
    if columns.get("tool_calls"):
        row["tool_calls"] = [_call(call) for call in columns["tool_calls"]]
    extra = {key: value for key, value in columns.items() if key not in _KNOWN and value is not None}
    return row | {"extra": extra}


def columns_of(row: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    """What the package's `append_message` takes to store a row.

    Args:
        row: a row, possibly one that `stored_row` made.
        known: the names of its parameters.
    """
    columns = {
        "role": row["role"],
        "content": row.get("content"),
        "observed": bool(row.get("observed")),
        "timestamp": _seconds(row.get("time")),
        "tool_calls": row.get("tool_calls"),
        **{theirs: row.get(ours) for ours, theirs in _FIELDS},
        **row.get("extra", {}),
    }
    return {name: value for name, value in columns.items() if name in known}


def transcript_entry(row: dict[str, Any]) -> dict[str, Any]:
    """A row as the package's store gives it back. It keeps a platform's message id on the rows of users only."""
    entry: dict[str, Any] = {"role": row["role"], "content": row.get("content")}
    if row.get("observed"):
        entry["observed"] = True
    if row["role"] == "user" and row.get("message_id"):
        entry["message_id"] = row["message_id"]
    if row.get("time"):
        entry["timestamp"] = _seconds(row["time"])
    for ours, theirs in (("tool_calls", "tool_calls"), ("tool_call_id", "tool_call_id"), ("name", "tool_name")):
        if ours in row:
            entry[theirs] = row[ours]
    return entry


def message(entry: dict[str, Any]) -> dict[str, Any]:
    """A message of the package's history, without what the package itself takes out before the request."""
    made = {key: value for key, value in entry.items() if key not in _NOT_SENT}
    if "tool_name" in entry:
        made["name"] = entry["tool_name"]
    return made


def _call(call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    return {"id": call["id"], "type": "function", "function": {key: function[key] for key in ("name", "arguments")}}


def _seconds(time: str | None) -> float | None:
    return None if time is None else datetime.fromisoformat(time).timestamp()


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
