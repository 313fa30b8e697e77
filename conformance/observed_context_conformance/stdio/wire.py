"""The messages of the pipe: written, read, and refused when they are none. Standard library only; both ends use it."""

from __future__ import annotations

import json
import math
from typing import Any

PROTOCOL = "1.0"
LONGEST_LINE = 16 * 1024 * 1024
"""Bytes. A longer line is taken for a mistake, not for a message."""

ADAPTER_RAISED = -32000
METHOD_NOT_FOUND = -32601
CANCELLED = -32800


class WireError(Exception):
    """What came through the pipe is no message of the protocol; the text says why."""


def encode(message: dict[str, Any]) -> bytes:
    """One line of UTF-8. JSON has no word for infinity and none for NaN: they travel as `1e999` and null.

    Raises:
        WireError: the message cannot be written as JSON.
    """
    try:
        try:
            text = json.dumps(message, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        except ValueError:
            text = _with_infinities(message)
    except (TypeError, ValueError) as error:
        raise WireError(f"cannot be written as JSON: {error}") from error
    return text.encode("ascii") + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """The message in a line.

    Raises:
        WireError: it is no JSON, no object, no JSON-RPC 2.0, or neither request, notification nor response.
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise WireError(f"a line that is not JSON: {shown(line)}") from error
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise WireError(f'a line that is not a JSON-RPC message (no "jsonrpc":"2.0"): {shown(line)}')
    if "method" in message:
        if not isinstance(message["method"], str) or not isinstance(message.get("params", {}), dict):
            raise WireError(f"a request whose method is no text, or whose params are no object: {shown(line)}")
    elif "id" not in message or ("result" in message) == ("error" in message):
        raise WireError(f"a response without id, or without exactly one of result and error: {shown(line)}")
    elif "error" in message and not isinstance(message["error"], dict):
        raise WireError(f"a response whose error is no object: {shown(line)}")
    return message


def shown(line: bytes, limit: int = 120) -> str:
    """The beginning of a line, for a message to a person."""
    text = line.decode("utf-8", "replace").strip()
    return repr(text if len(text) <= limit else text[:limit] + " ...")


def request(number: int | str, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """A request."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def notification(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """A message that nobody answers."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def response(number: int | str | None, result: object) -> dict[str, Any]:
    """A response that carries a result."""
    return {"jsonrpc": "2.0", "id": number, "result": result}


def failure(
    number: int | str | None, error: BaseException, code: int = ADAPTER_RAISED, where: str | None = None
) -> dict[str, Any]:
    """A response that carries an exception: its kind, its text, and where it was raised."""
    data = {"kind": type(error).__name__, "where": where}
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": str(error), "data": data}}


def _with_infinities(message: dict[str, Any]) -> str:
    marks = {math.inf: "\ue000+\ue000", -math.inf: "\ue000-\ue000"}

    def marked(value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return marks.get(value)
        if isinstance(value, list):
            return [marked(item) for item in value]
        if isinstance(value, dict):
            return {key: marked(item) for key, item in value.items()}
        return value

    text = json.dumps(marked(message), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace('"\\ue000+\\ue000"', "1e999").replace('"\\ue000-\\ue000"', "-1e999")
