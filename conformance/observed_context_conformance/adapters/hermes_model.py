"""The kit's model as a provider on this machine: an HTTP server on the loopback that speaks OpenAI's chat completions.

The package reaches a model by HTTP alone. What arrives here is what a provider would get. Its list of messages is
handed to the kit as it is, but for the fields of `_NO_CONTENT`; what stands beside the list (model, token limits,
tools) is not.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Model = Callable[[list[dict[str, Any]]], dict[str, Any]]

NAME = "kit-model"
"""What the model is called in configurations and requests."""

_NO_CONTENT = ("timestamp",)
"""Fields of messages that the kit is not shown, so that it can judge the rest. Before 0.18 the package sends the time
of the current message along as a field of its own, which no provider knows.
"""


class ModelServer:
    """One server for any number of conversations; the key that a client authenticates with says whose request it is."""

    def __init__(self) -> None:
        self._models: dict[str, Model] = {}
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("_Bound", (_Requests,), {"models": self._models}))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, name="hermes model", daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}/v1"

    @contextmanager
    def serving(self, key: str, model: Model) -> Iterator[None]:
        """Answer the requests of `key` with `model`; those that come later are refused."""
        self._models[key] = model
        try:
            yield
        finally:
            del self._models[key]


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    models: dict[str, Model]

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the name is the base class's
        """Requests are not for the terminal."""

    def do_GET(self) -> None:
        """Whatever is asked about the models."""
        self._send(200, {"object": "list", "data": [{"id": NAME, "object": "model", "context_length": 128000}]})

    def do_POST(self) -> None:
        """A chat completion, plain or streamed."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model = self.models.get(self.headers.get("Authorization", "").removeprefix("Bearer "))
        if not self.path.endswith("/chat/completions") or model is None:
            self._send(404, _error("there is no such thing here"))
            return
        try:
            answer = model([_shown(message) for message in body["messages"]])
        except Exception as failure:
            # As providers say that they are overloaded; a client is to try again.
            self._send(503, _error(str(failure)))
            return
        if body.get("stream"):
            self._stream(answer)
        else:
            self._send(200, _envelope("chat.completion", {"message": answer, "finish_reason": _finish(answer)}))

    def _stream(self, answer: dict[str, Any]) -> None:
        calls = [{**call, "index": index} for index, call in enumerate(answer.get("tool_calls", []))]
        delta = {**answer, "tool_calls": calls} if calls else answer
        chunks = [
            _envelope("chat.completion.chunk", {"delta": delta, "finish_reason": None}),
            _envelope("chat.completion.chunk", {"delta": {}, "finish_reason": _finish(answer)}),
        ]
        lines = [json.dumps(chunk).encode() for chunk in chunks]
        self._write(200, "text/event-stream", b"".join(b"data: " + line + b"\n\n" for line in [*lines, b"[DONE]"]))

    def _send(self, status: int, body: dict[str, Any]) -> None:
        self._write(status, "application/json", json.dumps(body).encode())

    def _write(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _shown(message: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key not in _NO_CONTENT}


def _finish(answer: dict[str, Any]) -> str:
    return "tool_calls" if answer.get("tool_calls") else "stop"


def _envelope(kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "1", "object": kind, "created": 1, "model": NAME, "choices": [{"index": 0, **choice}], "usage": usage}


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "server_error", "param": None, "code": None}}
