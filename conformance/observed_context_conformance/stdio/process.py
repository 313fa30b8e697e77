"""An adapter that is another process: started, asked, answered, stopped, and started again when it misbehaves."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import queue
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from observed_context_conformance import __version__
from observed_context_conformance.catalogue import SPEC_VERSION
from observed_context_conformance.port import METHODS
from observed_context_conformance.stdio.wire import (
    LONGEST_LINE,
    METHOD_NOT_FOUND,
    PROTOCOL,
    WireError,
    decode,
    encode,
    failure,
    notification,
    request,
    response,
)

START_SECONDS = 20.0
"""How long a process may take to answer `initialize`."""

GRACE_SECONDS = 2.0
"""How long a process may take to leave when its standard input is closed."""

SILENCE_SECONDS = 0.05
"""How long a process without `settle` has to be silent to be taken for at rest."""

LAST_WORDS = 40
"""Lines of the error stream that are kept."""

HEAD, TAIL = 5, 3
"""How many of the first and of the last of them say why a process did not start."""


class ProcessError(Exception):
    """The process cannot be started, or is none of ours; the message says what to do."""


class ProtocolBroken(Exception):  # noqa: N818 - a finding about the adapter
    """The process left, or what it wrote is not the protocol."""


class RemoteError(Exception):
    """The adapter answered a call with an error.

    Attributes:
        kind: the name of the exception in the adapter's language, if it told.
        where: where it was raised, if it told.
    """

    def __init__(self, message: str, kind: str | None, where: str | None) -> None:
        super().__init__(message)
        self.kind = kind
        self.where = where


_Deliver = Callable[[dict[str, Any] | BaseException], None]


class ProcessAdapter:
    """The adapter behind a command; has the port methods that the process says it has.

    One process at a time. When a call is interrupted, or the process breaks the protocol or leaves, it is stopped, and
    the next call starts a new one.

    Raises:
        ProcessError: on construction, when the command cannot be started or does not answer `initialize`.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        self._pipe: _Pipe | None = None
        self._methods = frozenset(self._open().methods)

    def __getattr__(self, name: str) -> Any:
        # The kit asks an adapter for its methods; this one has those that the process named in its handshake.
        if name in METHODS and name in self._methods:
            return getattr(self, f"_{name}", None) or (lambda *arguments: self._plain(name, arguments))
        raise AttributeError(f"the process does not offer {name}()")

    def describe(self) -> Any:
        """What the process says of itself."""
        return self._call("describe", {})

    def last_words(self) -> list[str]:
        """The end of what the process wrote to its error stream."""
        return list(self._pipe.words) if self._pipe is not None else []

    def processor_time(self) -> float | None:
        """Seconds of processor time that the process has used, without its children; None where nobody tells."""
        # As clock_getcpuclockid(3) makes it of a process id on Linux; Python has no name for it.
        clock = (~self._open().pid << 3) | 2
        try:
            return time.clock_gettime(clock) if sys.platform == "linux" else None
        except OSError:
            return None

    def null(self, method: str, arguments: tuple[Any, ...]) -> None:
        """Carry the arguments of a call to the process, which reads them and refuses: there is no such method."""
        with contextlib.suppress(RemoteError):
            self._call("null", dict(zip(_PARAMETERS[method], arguments, strict=True)))

    def close(self) -> None:
        """Stop the process, kindly at first."""
        if self._pipe is not None:
            self._pipe.stop()
            self._pipe = None

    # -- calls that return ----------------------------------------------------------------------------------------

    def _plain(self, method: str, arguments: tuple[Any, ...]) -> Any:
        return self._call(method, dict(zip(_PARAMETERS[method], arguments, strict=True)))

    def _turn(self, transcript: Any, message: Any, channel_prompt: Any, limits: Any, model: Callable[..., Any]) -> Any:
        params = {"transcript": transcript, "message": message, "channel_prompt": channel_prompt, "limits": limits}
        return self._call("turn", params, {"model": model})

    def _compact(self, store: Any, session: str, limits: Any, summarize: Callable[..., Any]) -> Any:
        callbacks = {**_store_callbacks(store), "summarize": summarize}
        return self._call("compact", {"session": session, "limits": limits}, callbacks)

    def _call(self, method: str, params: dict[str, Any], callbacks: dict[str, Callable[..., Any]] | None = None) -> Any:
        pipe = self._open()
        inbox: queue.SimpleQueue[dict[str, Any] | BaseException] = queue.SimpleQueue()
        number = pipe.number()
        if callbacks:
            # Before the call: its first callback may be here before we are back.
            pipe.listeners[number] = inbox.put
        pipe.send(method, params, inbox.put, number)
        try:
            while True:
                message = inbox.get()
                if isinstance(message, BaseException):
                    raise message
                if "method" not in message:
                    return _result(message)
                pipe.write(_answer(message, callbacks or {}))
        except (RemoteError, ProtocolBroken):
            raise
        except BaseException:
            # Interrupted: whatever the process is doing, it is not to be waited for.
            pipe.kill()
            raise
        finally:
            pipe.listeners.pop(number, None)

    # -- objects that live on an event loop -----------------------------------------------------------------------

    async def _scheduler(self, store: Any, limits: Any, summarize: Any, clock: Callable[[], float]) -> RemoteObject:
        callbacks = {**_store_callbacks(store), "summarize": summarize, "now": clock}
        return await RemoteObject.create(self._open(), "scheduler", {"limits": limits}, callbacks)

    async def _gateway(self, settings: Any, environment: Any) -> RemoteObject:
        callbacks = {
            "model": environment.model,
            "summarize": environment.summarize,
            "send": environment.send,
            "writing": environment.writing,
            "now": environment.clock,
        }
        params = {"settings": settings, "storage": environment.storage, "config": environment.config}
        return await RemoteObject.create(self._open(), "gateway", params, callbacks)

    # -- the process ----------------------------------------------------------------------------------------------

    def _open(self) -> _Pipe:
        if self._pipe is None or self._pipe.broken:
            if self._pipe is not None:
                self._pipe.kill()
            self._pipe = _Pipe(self.command)
        return self._pipe


class RemoteObject:
    """A scheduler or a gateway in the other process; its methods are coroutine functions on the loop that made it."""

    def __init__(self, pipe: _Pipe, kind: str, handle: str, callbacks: dict[str, Callable[..., Any]]) -> None:
        self._pipe = pipe
        self._kind = kind
        self._handle = handle
        self._callbacks = callbacks
        self._methods = pipe.methods
        self._settled = -1
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    async def create(
        cls, pipe: _Pipe, kind: str, params: dict[str, Any], callbacks: dict[str, Callable[..., Any]]
    ) -> RemoteObject:
        """Ask the process for one."""
        handle = f"{kind}-{next(_HANDLES)}"
        made = cls(pipe, kind, handle, callbacks)
        loop = asyncio.get_running_loop()
        pipe.listeners[handle] = lambda message: _in_loop(loop, made._receive, message)
        add_remote = getattr(loop, "add_remote", None)
        if add_remote is not None:
            add_remote(made._settle if "settle" in pipe.methods else made._silence)
        named = await made._ask(kind, {"object": handle, **params})
        if isinstance(named, list):
            made._methods = frozenset(f"{kind}.{name}" for name in named)
        return made

    def __getattr__(self, name: str) -> Any:
        method = f"{self._kind}.{name}"
        if name.startswith("_") or method not in self._methods:
            raise AttributeError(f"the process does not offer {method}")

        async def ask(*arguments: Any) -> Any:
            params = dict(zip(_PARAMETERS[method], arguments, strict=True))
            return await self._ask(method, {"object": self._handle, **params})

        return ask

    def forget(self) -> None:
        """Never speak of it again, and let the process do likewise."""
        self._pipe.listeners.pop(self._handle, None)
        with contextlib.suppress(ProtocolBroken):
            self._pipe.write(notification("forget", {"object": self._handle}))

    async def _settle(self) -> bool:
        if self._pipe.sent == self._settled:
            return False  # it has been told nothing since it came to rest
        before = self._pipe.received
        asked = self._pipe.sent + 1  # what is sent while it answers counts as news
        try:
            await self._ask("settle", {})
        except ProtocolBroken:
            return False
        self._settled = asked
        return self._pipe.received > before + 1  # more than the answer to this

    async def _silence(self) -> bool:
        """Wait and see, where the process cannot say that it has come to rest."""
        if self._pipe.sent == self._settled:
            return False
        before, sent = self._pipe.received, self._pipe.sent
        end = time.monotonic() + SILENCE_SECONDS
        while time.monotonic() < end:
            if self._pipe.received > before:
                return True
            time.sleep(0.001)
        self._settled = sent
        return False

    async def _ask(self, method: str, params: dict[str, Any]) -> Any:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[dict[str, Any]] = loop.create_future()

        def arrive(message: dict[str, Any] | BaseException) -> None:
            if answer.done():
                return
            if isinstance(message, BaseException):
                answer.set_exception(message)
            else:
                answer.set_result(message)

        self._pipe.send(method, params, lambda message: _in_loop(loop, arrive, message))
        return _result(await answer)

    def _receive(self, message: dict[str, Any] | BaseException) -> None:
        if isinstance(message, BaseException):
            return  # the call that waits hears of it
        task = asyncio.get_running_loop().create_task(self._reply(message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _reply(self, message: dict[str, Any]) -> None:
        answer = _answer(message, self._callbacks)
        if isinstance(answer, Coroutine):
            answer = await answer
        with contextlib.suppress(ProtocolBroken):
            self._pipe.write(answer)


class _Pipe:
    """One process and its two streams. A thread of its own reads; everybody else writes."""

    def __init__(self, command: str) -> None:
        self.words: deque[str] = deque(maxlen=LAST_WORDS)
        self.listeners: dict[int | str, _Deliver] = {}
        self.methods: frozenset[str] = frozenset()
        self.broken: ProtocolBroken | None = None
        self.received = 0
        self.sent = 0
        self._waiting: dict[int | str, _Deliver] = {}
        self._numbers = itertools.count(1)
        self._writing = threading.Lock()
        try:
            words = shlex.split(command)
            if not words:
                raise ProcessError("the command is empty: name a program that speaks the protocol of spec/protocol.md.")
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ProcessError(f"cannot start {command!r}: {error}") from error
        self._reader = threading.Thread(target=self._read, name="observed-context pipe", daemon=True)
        self._listener = threading.Thread(target=self._listen, name="observed-context words", daemon=True)
        self._reader.start()
        self._listener.start()
        _OPEN.add(self)
        self._shake_hands(command)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def number(self) -> int:
        """The id of a request to come."""
        return next(self._numbers)

    def send(self, method: str, params: dict[str, Any], deliver: _Deliver, number: int | None = None) -> None:
        """Write a request; `deliver` gets its response, or why there is none."""
        number = self.number() if number is None else number
        self._waiting[number] = deliver
        self.write(request(number, method, params))
        if self.broken is not None:
            self._waiting.pop(number, None)
            raise self.broken

    def write(self, message: Any) -> None:
        """Write one message.

        Raises:
            ProtocolBroken: the process is gone.
        """
        line = encode(message)
        try:
            with self._writing:
                self.sent += 1
                assert self._process.stdin is not None
                view = memoryview(line)
                while view:
                    view = view[os.write(self._process.stdin.fileno(), view) :]
        except (OSError, ValueError) as error:
            if threading.current_thread() is not self._reader:
                self._reader.join(GRACE_SECONDS)  # it knows more about how the process left
            raise self.broken or ProtocolBroken(f"the process does not read any more: {error}") from error

    def stop(self) -> None:
        """Close its standard input and wait a moment; then make it leave."""
        with contextlib.suppress(OSError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Make the process and its children leave at once."""
        if self.broken is None:
            self.broken = ProtocolBroken("the process was stopped")
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        _OPEN.discard(self)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None and threading.current_thread() not in (self._reader, self._listener):
                with contextlib.suppress(OSError, ValueError):
                    stream.close()

    def _shake_hands(self, command: str) -> None:
        inbox: queue.SimpleQueue[dict[str, Any] | BaseException] = queue.SimpleQueue()
        kit = {"name": "observed-context", "version": __version__}
        try:
            self.send("initialize", {"protocol": PROTOCOL, "spec": SPEC_VERSION, "kit": kit}, inbox.put)
            message = inbox.get(timeout=START_SECONDS)
            if isinstance(message, BaseException):
                raise message
            answer = _result(message)
        except queue.Empty:
            self.kill()
            raise ProcessError(
                f"{command!r} did not answer initialize within {START_SECONDS:g} s.{self._said()}"
            ) from None
        except (ProtocolBroken, RemoteError) as error:
            self.kill()
            raise ProcessError(f"{command!r} did not answer initialize: {error}.{self._said()}") from error
        protocol = answer.get("protocol") if isinstance(answer, dict) else None
        if not isinstance(protocol, str) or protocol.partition(".")[0] != PROTOCOL.partition(".")[0]:
            self.kill()
            raise ProcessError(
                f"{command!r} speaks protocol {protocol!r}, this kit speaks {PROTOCOL}: "
                "answer initialize with the protocol's version, see spec/protocol.md."
            )
        methods = answer.get("methods")
        if not isinstance(methods, list) or not all(isinstance(m, str) for m in methods) or "describe" not in methods:
            self.kill()
            raise ProcessError(
                f'{command!r} answered initialize without "methods", a list of names that holds describe.'
            )
        self.methods = frozenset(methods)

    def _said(self) -> str:
        self._listener.join(0.2)
        words = [word for word in self.words if word.strip()]
        if len(words) > HEAD + TAIL:
            # Some languages say what is wrong before they say where, others after it.
            words = [*words[:HEAD], "...", *words[-TAIL:]]
        return f" It wrote: {' / '.join(words)}" if words else ""

    def _read(self) -> None:
        try:
            for line in self._lines():
                self._dispatch(decode(line))
            code = self._process.wait()
            raise ProtocolBroken(f"the process left with exit code {code}")
        except WireError as error:
            self._fail(ProtocolBroken(f"the process wrote {error}"))
        except ProtocolBroken as broken:
            self._fail(broken)
        except (OSError, ValueError):
            self._fail(ProtocolBroken("the process was stopped"))

    def _lines(self) -> Any:
        assert self._process.stdout is not None
        stream = self._process.stdout.fileno()
        rest = bytearray()
        while chunk := os.read(stream, 1 << 16):
            if b"\n" not in chunk:
                rest += chunk
                if len(rest) > LONGEST_LINE:
                    raise ProtocolBroken(f"the process wrote a line of more than {LONGEST_LINE >> 20} MB")
                continue
            lines = (bytes(rest) + chunk).split(b"\n")
            rest = bytearray(lines.pop())
            yield from (line for line in lines if line.strip())

    def _dispatch(self, message: dict[str, Any]) -> None:
        self.received += 1
        if message.get("method") == "initialize":
            raise ProtocolBroken("the process sent the request back instead of an answer, as `cat` does")
        if "method" in message:
            owner = message.get("params", {}).get("for")
            deliver = self.listeners.get(owner)
            if deliver is not None:
                deliver(message)
            elif "id" in message:
                unknown = LookupError(
                    f"params.for is {owner!r}, which is no call or object of ours that takes callbacks"
                )
                self.write(failure(message["id"], unknown, METHOD_NOT_FOUND))
            return
        waiting = self._waiting.pop(message["id"], None) if isinstance(message["id"], int | str) else None
        if waiting is None:
            raise ProtocolBroken(f"the process answered a request that nobody made: id {message['id']!r}")
        waiting(message)

    def _fail(self, broken: ProtocolBroken) -> None:
        self.broken = self.broken or broken
        # A process that broke the protocol may go on writing: nobody reads it any more.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        while self._waiting:
            _, deliver = self._waiting.popitem()
            deliver(self.broken)
        for deliver in list(self.listeners.values()):
            deliver(self.broken)

    def _listen(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            for line in self._process.stderr:
                self.words.append(line.decode("utf-8", "replace").rstrip()[:300])


_HANDLES = itertools.count(1)
_OPEN: set[_Pipe] = set()

_PARAMETERS: dict[str, tuple[str, ...]] = {
    "gate": ("event", "settings"),
    "row": ("event", "settings"),
    "address": ("event", "settings"),
    "replay": ("transcript", "channel_prompt", "limits"),
    "assemble": ("rows", "limits"),
    "limits": ("config",),
    "wrap": ("message", "block"),
    "redact": ("text",),
    "scheduler.appended": ("session", "chars"),
    "scheduler.drain": (),
    "scheduler.close": (),
    "gateway.receive": ("event",),
    "gateway.transcript": ("chat", "topic"),
    "gateway.search": ("text", "chat"),
    "gateway.retry": ("chat", "topic"),
    "gateway.undo": ("chat", "topic"),
    "gateway.internal": ("chat", "topic", "text"),
    "gateway.drain": (),
    "gateway.close": (),
}
"""The names by which positional arguments of the port travel."""


def stop_everything() -> None:
    """Leave no process behind."""
    for pipe in list(_OPEN):
        pipe.kill()


def _store_callbacks(store: Any) -> dict[str, Callable[..., Any]]:
    return {"store.load": store.load, "store.append": store.append, "store.commit": store.commit}


def _result(message: dict[str, Any]) -> Any:
    if "error" not in message:
        return message["result"]
    error = message["error"]
    data = error.get("data") if isinstance(error.get("data"), dict) else {}
    kind, where = data.get("kind"), data.get("where")
    raise RemoteError(
        str(error.get("message", "")),
        kind if isinstance(kind, str) else None,
        where if isinstance(where, str) else None,
    )


def _answer(message: dict[str, Any], callbacks: dict[str, Callable[..., Any]]) -> Any:
    """The response to a callback; a coroutine of it when the callback is one."""
    number, method = message.get("id"), message["method"]
    params = {name: value for name, value in message.get("params", {}).items() if name != "for"}
    callback = callbacks.get(method)
    if callback is None:
        return failure(number, LookupError(f"there is no callback {method!r} here"), METHOD_NOT_FOUND)
    try:
        result = callback(**params)
    except Exception as error:
        return failure(number, error)
    if not isinstance(result, Coroutine):
        return response(number, result)

    async def later() -> dict[str, Any]:
        try:
            return response(number, await result)
        except Exception as error:
            return failure(number, error)

    return later()


def _in_loop(loop: asyncio.AbstractEventLoop, work: Callable[[Any], None], message: Any) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(work, message)


if sys.platform == "win32":  # pragma: no cover
    raise ImportError("adapters in other processes need a POSIX system")
