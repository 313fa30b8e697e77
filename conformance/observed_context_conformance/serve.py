"""Serves a Python adapter over standard input and output.

    python -m observed_context_conformance.serve package.module:attribute

Standard library only, so that it can be put into the environment of the system under test without any of the kit's
dependencies. What the adapter prints goes to the error stream; the pipe belongs to the protocol (`spec/protocol.md`).

How it works: a thread reads the pipe. Calls run on one asyncio event loop in the main thread, where schedulers and
gateways live too; `turn` and `compact`, whose callbacks block, run in threads of their own.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context
from typing import Any, BinaryIO, TypeVarTuple, Unpack, cast

from observed_context_conformance.loading import AdapterLoadError, load_adapter
from observed_context_conformance.raised import place_of
from observed_context_conformance.stdio.wire import (
    METHOD_NOT_FOUND,
    PROTOCOL,
    WireError,
    decode,
    encode,
    failure,
    request,
    response,
)

PURE = ("describe", "gate", "row", "address", "replay", "assemble", "limits", "wrap", "redact")
BLOCKING = ("turn", "compact")
OBJECTS = ("scheduler", "gateway")
CALLS_OF = {
    "scheduler": ("appended", "drain", "close"),
    "gateway": ("receive", "transcript", "search", "retry", "undo", "internal", "drain", "close"),
}


QUIET_ROUNDS = 3
"""So many rounds of the loop in which nothing happened mean that everything waits."""


_Ts = TypeVarTuple("_Ts")


GRACE_SECONDS = 1.0
"""How long the adapter may take to come to its end when the kit has closed the pipe."""


class CallbackError(Exception):
    """A callback of the kit failed, on purpose or because it was misused."""


class _Loop(asyncio.SelectorEventLoop):
    """An event loop that counts what happens on it, so that one can tell when nothing does."""

    happened = 0

    def call_soon(
        self, callback: Callable[[Unpack[_Ts]], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.Handle:
        self.happened += 1
        return super().call_soon(callback, *args, context=context)

    def call_soon_threadsafe(
        self, callback: Callable[[Unpack[_Ts]], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.Handle:
        self.happened += 1
        return super().call_soon_threadsafe(callback, *args, context=context)


class Server:
    """One adapter at the end of a pipe."""

    def __init__(self, adapter: Any, source: BinaryIO, sink: BinaryIO) -> None:
        self._adapter = adapter
        self._source = source
        self._sink = sink
        self._writing = threading.Lock()
        self._numbers = itertools.count(1)
        self._answers: dict[int, Future[Any]] = {}
        self._objects: dict[str, Any] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._settling = 0

    async def run(self) -> None:
        """Serve until the kit closes the pipe."""
        self._loop = cast(_Loop, asyncio.get_running_loop())
        self._over = asyncio.Event()
        threading.Thread(target=self._read, daemon=True).start()
        await self._over.wait()

    # -- the pipe -------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        for line in self._source:
            if not line.strip():
                continue
            try:
                message = decode(line)
            except WireError as error:
                print(f"the kit wrote {error}", file=sys.stderr)
                continue
            if "method" not in message:
                waiting = self._answers.pop(message["id"], None)
                if waiting is not None:
                    waiting.set_result(message)
            elif message["method"] in BLOCKING:
                threading.Thread(target=self._block, args=(message,), daemon=True).start()
            else:
                self._loop.call_soon_threadsafe(self._start, message)
        self._loop.call_soon_threadsafe(self._over.set)
        for waiting in list(self._answers.values()):
            waiting.set_exception(ConnectionError("the kit is gone"))
        # Whatever the adapter is caught in: when the kit is gone, so are we.
        time.sleep(GRACE_SECONDS)
        os._exit(1)

    def _write(self, message: dict[str, Any]) -> None:
        try:
            line = encode(message)
        except WireError as error:
            line = encode(failure(message.get("id"), error))
        with self._writing:
            self._sink.write(line)
            self._sink.flush()

    # -- calls ----------------------------------------------------------------------------------------------------

    def _start(self, message: dict[str, Any]) -> None:
        method, params = message["method"], message.get("params", {})
        if method in PURE and not inspect.iscoroutinefunction(getattr(self._adapter, method, None)):
            # The common case, without a task of its own.
            self._write(self._outcome(message, lambda: self._plain(method, params)))
            return
        task = self._loop.create_task(self._serve(message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _plain(self, method: str, params: dict[str, Any]) -> Any:
        return getattr(self._adapter, method)(*params.values())

    async def _serve(self, message: dict[str, Any]) -> None:
        method, params = message["method"], dict(message.get("params", {}))
        try:
            result = await self._result(method, params)
        except (Exception, SystemExit) as error:
            answer = _raised(message, error)
        else:
            answer = response(message.get("id"), result)
        if "id" in message:  # nobody waits for the answer to a notification
            self._write(answer)

    async def _result(self, method: str, params: dict[str, Any]) -> Any:
        if method == "initialize":
            return {"protocol": PROTOCOL, "methods": self._methods()}
        if method == "settle":
            return await self._settle()
        if method == "forget":
            self._objects.pop(params["object"], None)
            return None
        if method in OBJECTS:
            handle = params.pop("object")
            made = self._objects[handle] = await _awaited(self._make(method, handle, params))
            return [name for name in CALLS_OF[method] if callable(getattr(made, name, None))]
        kind, dot, name = method.partition(".")
        if dot and kind in OBJECTS:
            target = self._objects[params.pop("object")]
            return await _awaited(getattr(target, name)(*params.values()))
        if method in PURE:
            return await _awaited(self._plain(method, params))
        raise LookupError(f"there is no method {method!r}")

    def _block(self, message: dict[str, Any]) -> None:
        params = message.get("params", {})

        def call() -> Any:
            owner = message["id"]
            ask = _Asking(self, owner)
            if message["method"] == "turn":
                result = self._adapter.turn(*params.values(), ask.model)
            else:
                result = self._adapter.compact(ask, *params.values(), ask.summarize)
            return asyncio.run(_wait(result)) if inspect.isawaitable(result) else result

        self._write(self._outcome(message, call))

    def _outcome(self, message: dict[str, Any], call: Any) -> dict[str, Any]:
        try:
            return response(message.get("id"), call())
        except (Exception, SystemExit) as error:
            return _raised(message, error)

    def _methods(self) -> list[str]:
        names = [name for name in (*PURE, *BLOCKING, *OBJECTS) if callable(getattr(self._adapter, name, None))]
        for kind in OBJECTS:
            if kind in names:
                names += [f"{kind}.{name}" for name in CALLS_OF[kind]]
        return [*names, "settle"] if set(OBJECTS) & set(names) else names

    def _make(self, kind: str, handle: str, params: dict[str, Any]) -> Any:
        ask = _Asking(self, handle)
        if kind == "scheduler":
            return self._adapter.scheduler(ask, params["limits"], ask.summarize_later, ask.now)
        return self._adapter.gateway(params["settings"], _Environment(ask, params["storage"], params["config"]))

    async def _settle(self) -> None:
        """Return when every task waits for the kit, or for time."""
        loop = self._loop
        quiet = 0
        self._settling += 1
        try:
            while quiet < QUIET_ROUNDS:
                before = loop.happened
                await asyncio.sleep(0)
                # This sleep is one of them, and so is that of each other call that waits for rest: one for a gateway
                # that was killed may still be there, and two that took each other for work would never end.
                quiet = quiet + 1 if loop.happened <= before + self._settling else 0
        finally:
            self._settling -= 1

    # -- callbacks ------------------------------------------------------------------------------------------------

    def ask(self, method: str, owner: int | str, params: dict[str, Any]) -> Future[Any]:
        """Send a callback to the kit; its answer arrives in the future."""
        number = next(self._numbers)
        answer: Future[Any] = Future()
        self._answers[number] = answer
        self._write(request(number, method, {"for": owner, **params}))
        return answer


class _Asking:
    """The kit's callbacks, for one call or one object."""

    def __init__(self, server: Server, owner: int | str) -> None:
        self._server = server
        self._owner = owner

    def _now(self, method: str, **params: Any) -> Any:
        return _answered(self._server.ask(method, self._owner, params).result())

    async def _later(self, method: str, **params: Any) -> Any:
        return _answered(await asyncio.wrap_future(self._server.ask(method, self._owner, params)))

    def load(self, session: str) -> Any:
        return self._now("store.load", session=session)

    def append(self, session: str, row: Any) -> Any:
        return self._now("store.append", session=session, row=row)

    def commit(self, session: str, row: Any, previous: int | None) -> Any:
        return self._now("store.commit", session=session, row=row, previous=previous)

    def summarize(self, prompt: Any) -> Any:
        return self._now("summarize", prompt=prompt)

    async def summarize_later(self, prompt: Any) -> Any:
        return await self._later("summarize", prompt=prompt)

    def model(self, payload: Any) -> Any:
        return self._now("model", payload=payload)

    async def model_later(self, payload: Any) -> Any:
        return await self._later("model", payload=payload)

    def now(self) -> Any:
        return self._now("now")

    def writing(self, what: str) -> Any:
        return self._now("writing", what=what)

    async def send(self, chat: str, topic: str | None, text: str) -> Any:
        return await self._later("send", chat=chat, topic=topic, text=text)


class _Environment:
    """The `environment` of a gateway."""

    def __init__(self, ask: _Asking, storage: str, config: Any) -> None:
        self.storage = storage
        self.config = config
        self.model = ask.model_later
        self.summarize = ask.summarize_later
        self.clock = ask.now
        self.send = ask.send
        self.writing = ask.writing


def _answered(message: dict[str, Any]) -> Any:
    if "error" in message:
        error = message["error"]
        kind = (error.get("data") or {}).get("kind") or "error"
        raise CallbackError(f"{kind}: {error.get('message', '')}")
    return message["result"]


def _raised(message: dict[str, Any], error: BaseException) -> dict[str, Any]:
    code = METHOD_NOT_FOUND if isinstance(error, LookupError) and "there is no method" in str(error) else -32000
    return failure(message.get("id"), error, code, place_of(error))


async def _wait(awaitable: Any) -> Any:
    return await awaitable


async def _awaited(result: Any) -> Any:
    return await result if inspect.isawaitable(result) else result


def main(arguments: list[str]) -> int:
    """Serve the adapter that the only argument names; 2 when there is none."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m observed_context_conformance.serve package.module:attribute", file=sys.stderr)
        return 2
    # The pipe is ours alone: whatever else is printed, by whomever, goes to the error stream.
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        adapter = load_adapter(arguments[0])
    except AdapterLoadError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    with asyncio.Runner(loop_factory=_Loop) as runner:
        runner.run(Server(adapter, sys.stdin.buffer, sink).run())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
