"""The adapter under test, seen through glass: every call is copied, timed, validated and recorded."""

from __future__ import annotations

import asyncio
import copy
import inspect
import signal
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Protocol, cast

from observed_context_conformance.catalogue import SPEC_VERSION, version_of
from observed_context_conformance.environment.gateway import GatewayEnvironment
from observed_context_conformance.environment.loop import Waits
from observed_context_conformance.glass import Glass
from observed_context_conformance.hosted import Gateway
from observed_context_conformance.port import (
    METHODS,
    SHAPE_OF,
    Addressed,
    Decision,
    Description,
    Event,
    Framed,
    Limits,
    Message,
    Model,
    Prompt,
    Replayed,
    Row,
    Settings,
    Store,
    Summarize,
)
from observed_context_conformance.raised import kind_of, place_of, staying, steady
from observed_context_conformance.scheduled import Scheduler
from observed_context_conformance.schemas import problem
from observed_context_conformance.stdio.process import ProcessAdapter, ProtocolBroken

CALL_SECONDS = 10.0
"""How long one call of an adapter may take before it counts as hung."""


class AdapterUnusableError(Exception):
    """The object is no adapter: `describe()` is missing, fails, or returns what the schema does not allow."""


class ShapeError(Exception):
    """A call returned what its schema does not allow.

    Attributes:
        method: the port method, or `gateway.search` and the like.
        requirement: the requirement that the shape of this result belongs to.
    """

    def __init__(self, method: str, message: str) -> None:
        super().__init__(f"{method}() returned a result of the wrong shape: {message}")
        self.method = method
        self.requirement = SHAPE_OF[method.partition(".")[0]]
        self.message = steady(message)


class AdapterCrashed(Exception):  # noqa: N818 - a verdict, not an error of ours
    """A call raised.

    Attributes:
        method: the port method.
        where: file name, line and function of the adapter's innermost frame, or None when it has none.
    """

    def __init__(self, method: str, cause: BaseException) -> None:
        self.kind = kind_of(cause)
        super().__init__(f"{method}() raised {self.kind}: {_short(str(cause))}".removesuffix(": "))
        self.method = method
        self.where = getattr(cause, "where", None) or place_of(cause)

    @property
    def told(self) -> str:
        """What was raised, and where."""
        return f"{self} ({self.where})" if self.where else str(self)


class AdapterHung(BaseException):
    """A call did not return in time. Not an `Exception`, so that neither the adapter nor Hypothesis goes on past it."""

    def __init__(self, method: str, seconds: float) -> None:
        super().__init__(f"{method}() did not return within {seconds:g} s")
        self.method = method


class AdapterBroke(BaseException):
    """An adapter in another process left, or broke the protocol. Like a hang, the end of its check: a new process
    would know nothing of what made this one fail.
    """

    def __init__(self, method: str, cause: ProtocolBroken) -> None:
        super().__init__(f"{method}(): {cause}")
        self.method = method


class _Expired(BaseException):
    """Raised inside the adapter's code when its time is over."""


@dataclass
class Call:
    """One call: what went in, what came out.

    Attributes:
        method: the port method.
        arguments: what the kit passed, by name.
        result: what came back (None until it did); what in it is no JSON is in words.
        raised: what the adapter raised instead, in words, or None.
        changed_input: the adapter modified what it was given.
        shares_input: the result holds a list or dict of the input itself.
        requests: for `turn`, the payload of each model request.
    """

    method: str
    arguments: dict[str, Any]
    result: Any = None
    raised: str | None = None
    changed_input: bool = False
    shares_input: bool = False
    requests: list[list[Message]] = field(default_factory=list)


class Contender(Store, Protocol):
    """One of two passes at once, as the kit sees it: a store of its own, and a summariser."""

    def summarize(self, prompt: Prompt) -> str | None:
        """As `summarize` of `compact`."""


class Adapter:
    """The proxy that checks talk to; it has every method of the port.

    Raises:
        AdapterUnusableError: on construction, when `describe()` does not give a valid description.
    """

    def __init__(self, target: object, call_seconds: float = CALL_SECONDS) -> None:
        self._target = target
        self._seconds = call_seconds
        self._hung: Counter[str] = Counter()
        self._runner: asyncio.Runner | None = None
        self._opened: list[Scheduler | Gateway] = []
        self.calls: list[Call] = []
        self.story: list[str] = []
        self.description = self._describe()
        for method in METHODS:
            self.offers(method)  # one that cannot be asked is refused now

    # -- what it offers -------------------------------------------------------------------------------------------

    def offers(self, method: str) -> bool:
        """Whether the adapter has this method of the port.

        Raises:
            AdapterUnusableError: it cannot be asked.
        """
        try:
            return callable(getattr(self._target, method, None))
        except (Exception, SystemExit) as error:
            raise AdapterUnusableError(
                f"asking the adapter whether it has {method}() raised {kind_of(error)}: {_short(str(error))}. "
                "A __getattr__ raises AttributeError for what is not there."
            ) from error

    @property
    def methods(self) -> tuple[str, ...]:
        """The port methods that the adapter has, in the order of the port."""
        return tuple(method for method in METHODS if self.offers(method))

    @property
    def in_this_process(self) -> bool:
        """Whether its objects are here to be looked at, and what is done to this process reaches it."""
        return not isinstance(self._target, ProcessAdapter)

    def last_words(self) -> tuple[str, ...]:
        """The last lines that an adapter in another process wrote to its error stream."""
        return tuple(self._target.last_words()) if isinstance(self._target, ProcessAdapter) else ()

    def begin_example(self) -> None:
        """Forget the calls and the story of the example before, and close what it left open."""
        self._close_opened()
        self.calls.clear()
        self.story.clear()

    def close(self) -> None:
        """Release what the proxy itself opened."""
        self._close_opened()
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    @contextmanager
    def must_not_raise(self, slug: str, *, expected: str) -> Iterator[None]:
        """Turn an exception of the adapter into the failure of a check about not raising."""
        try:
            yield
        except AdapterCrashed as crash:
            raise Violation(slug, expected=expected, got=crash.told) from crash

    @contextmanager
    def within(self, seconds: float, slug: str, *, expected: str) -> Iterator[None]:
        """Turn a call that takes longer than `seconds` into the failure of a check about speed.

        Only for checks that draw nothing: while Hypothesis shrinks, each example would cost the whole time again.
        """
        patience, self._seconds = self._seconds, min(seconds, self._seconds)
        started = time.perf_counter()
        try:
            yield
        except AdapterHung as hung:
            self._hung[hung.method] -= 1  # it is slow, and judged for it here; others may still wait for it
            raise Violation(slug, expected=expected, got=str(hung)) from None
        finally:
            self._seconds = patience
        # Where a call cannot be interrupted it comes back late.
        if time.perf_counter() - started > seconds:
            raise Violation(
                slug, expected=expected, got=f"{self.calls[-1].method}() did not return within {seconds:g} s"
            )

    # -- the port -------------------------------------------------------------------------------------------------

    def gate(self, event: Event, settings: Settings) -> Decision:
        """`gate` of the adapter."""
        return cast(Decision, self._call("gate", event=event, settings=settings))

    def row(self, event: Event, settings: Settings) -> Row:
        """`row` of the adapter."""
        return cast(Row, self._call("row", event=event, settings=settings))

    def address(self, event: Event, settings: Settings) -> Framed:
        """`address` of the adapter."""
        return cast(Framed, self._call("address", event=event, settings=settings))

    def replay(self, transcript: list[Row], channel_prompt: str | None, limits: Limits) -> Replayed:
        """`replay` of the adapter."""
        result = self._call("replay", transcript=transcript, channel_prompt=channel_prompt, limits=limits)
        return cast(Replayed, result)

    def assemble(self, rows: list[Row], limits: Limits) -> str | None:
        """`assemble` of the adapter."""
        return cast("str | None", self._call("assemble", rows=rows, limits=limits))

    def limits(self, config: Any) -> Limits:
        """`limits` of the adapter."""
        return cast(Limits, self._call("limits", config=config))

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """`wrap` of the adapter."""
        return cast(Addressed, self._call("wrap", message=message, block=block))

    def turn(
        self, transcript: list[Row], message: Addressed, channel_prompt: str | None, limits: Limits, model: Model
    ) -> list[Row]:
        """`turn` of the adapter. What reaches `model` is validated and recorded in `calls[-1].requests`."""
        requests: list[list[Message]] = []
        glass = Glass()

        def recording(payload: list[Message]) -> Message:
            seen = copy.deepcopy(payload)
            # An adapter that takes every exception for a provider's failure swallows this one; the glass keeps it.
            glass.look("model", payload=seen)
            requests.append(seen)
            return model(copy.deepcopy(seen))

        arguments: dict[str, Any] = {
            "transcript": transcript,
            "message": message,
            "channel_prompt": channel_prompt,
            "limits": limits,
        }
        return cast("list[Row]", self._call("turn", after=[recording], requests=requests, glass=glass, **arguments))

    def compact(self, store: Store, session: str, limits: Limits, summarize: Summarize) -> Row | None:
        """`compact` of the adapter. What it hands to store and summariser is validated."""
        glass = Glass()
        before, after = [glass.store(store)], [glass.summarize(summarize)]
        result = self._call("compact", before=before, after=after, glass=glass, session=session, limits=limits)
        return cast("Row | None", result)

    def compact_at_once(self, session: str, limits: Limits, first: Contender, second: Contender) -> list[Row | None]:
        """Two passes over one session that run at the same time; results in the order of the contenders.

        A coroutine function runs both on one event loop, anything else in a thread for each.
        """
        arguments = {"session": session, "limits": limits}
        glass = Glass()

        def work(side: Contender) -> Any:
            handed = copy.deepcopy(arguments)
            return self._target.compact(glass.store(side), *handed.values(), glass.summarize(side.summarize))  # type: ignore[attr-defined]

        async def on_one_loop() -> list[Any]:
            return list(await asyncio.gather(work(first), work(second)))

        def in_threads() -> list[Any]:
            return _at_once([lambda: _finished(work(first)), lambda: _finished(work(second))], self._seconds)

        together = inspect.iscoroutinefunction(self._target.compact)  # type: ignore[attr-defined]
        self.calls += [Call("compact", copy.deepcopy(arguments)), Call("compact", copy.deepcopy(arguments))]
        results = self._guarded("compact", on_one_loop if together else in_threads, glass)
        for call, result in zip(self.calls[-2:], results, strict=True):
            self._keep(call, result)
        return cast("list[Row | None]", copy.deepcopy(results))

    def redact(self, text: str) -> str:
        """`redact` of the adapter."""
        return cast(str, self._call("redact", text=text))

    def scheduler(
        self,
        store: Store,
        limits: Limits,
        summarize: Callable[[Prompt], Awaitable[str | None]],
        clock: Callable[[], float],
    ) -> Scheduler:
        """`scheduler` of the adapter, behind a proxy that runs its event loop. Closed when the example is over."""
        glass = Glass()
        arguments = (glass.store(store), copy.deepcopy(limits), glass.summarize_async(summarize), clock)

        def guard(name: str, told: dict[str, Any], work: Callable[[], Any]) -> Any:
            if told:
                self.calls.append(Call(name, told))
            return self._guarded("scheduler", work, glass)

        self.calls.append(Call("scheduler", {"limits": copy.deepcopy(limits)}))
        made = Scheduler(lambda: self._target.scheduler(*arguments), clock, guard, self._seconds)  # type: ignore[attr-defined]
        self._opened.append(made)
        return made

    def gateway(self, settings: Settings, environment: GatewayEnvironment) -> Gateway:
        """`gateway` of the adapter, behind a proxy that runs its event loop. Closed when the example is over."""
        glass = Glass()

        def guard(name: str, told: dict[str, Any], work: Callable[[], Any]) -> Any:
            call = Call(name, copy.deepcopy(told))
            self.calls.append(call)
            result = self._guarded(name, work, glass)
            if name in ("gateway.transcript", "gateway.search"):
                self._keep(call, result)
                return copy.deepcopy(result)
            return result

        def make(world: Any) -> Any:
            return self._target.gateway(copy.deepcopy(settings), world)  # type: ignore[attr-defined]

        made = Gateway(make, environment, glass, guard, self._seconds)
        self._opened.append(made)
        return made

    # -- how a call is made ---------------------------------------------------------------------------------------

    def _call(
        self,
        method: str,
        *,
        before: Sequence[object] = (),
        after: Sequence[object] = (),
        requests: list[list[Message]] | None = None,
        glass: Glass | None = None,
        **arguments: Any,
    ) -> Any:
        """Call `method` with callbacks `before` and `after` its data."""
        call = Call(method, copy.deepcopy(arguments), requests=requests if requests is not None else [])
        self.calls.append(call)
        handed = copy.deepcopy(arguments)
        positional = [*before, *handed.values(), *after]
        try:
            result = self._guarded(method, lambda: getattr(self._target, method)(*positional), glass)
        except (AdapterCrashed, AdapterHung, AdapterBroke) as ended:
            call.raised = str(ended)
            raise
        call.changed_input = handed != arguments
        call.shares_input = bool(_containers(handed) & _containers(result))
        self._keep(call, result)
        return copy.deepcopy(result)

    def _keep(self, call: Call, result: Any) -> None:
        wrong = problem(f"calls.json#/$defs/{call.method}/properties/result", result)
        if wrong is not None:
            call.result = _data(result)
            raise ShapeError(call.method, wrong)
        call.result = copy.deepcopy(result)

    def _guarded(self, method: str, work: Callable[[], Any], glass: Glass | None = None) -> Any:
        """Do `work`, and say in our words what went wrong with it."""
        try:
            result = self._timed(method, work)
        except ShapeError:
            raise
        except Waits:
            raise AdapterHung(method, self._seconds) from None
        except ProtocolBroken as broken:
            raise AdapterBroke(method, broken) from broken
        except (Exception, SystemExit) as error:
            # An adapter may wrap what our callback raised; the shape of its payload is still what went wrong.
            shape = _find(error, ShapeError)
            if shape is not None:
                raise shape from error
            if glass is None or glass.misuse is None:
                raise AdapterCrashed(method, error) from error
        if glass is not None and glass.misuse is not None:
            raise ShapeError(method, glass.misuse)
        return result

    def _timed(self, method: str, work: Callable[[], Any]) -> Any:
        # Once a method has hung it gets less patience, so that a hanging adapter still gets its verdict soon.
        seconds = min(self._seconds, 1.0) if self._hung[method] else self._seconds
        started = time.monotonic()
        expired = False
        try:
            with _alarm(seconds), staying():
                result = work()
                return self._await(result) if inspect.isawaitable(result) else result
        except _Expired:
            expired = True
        finally:
            # Also when the adapter swallowed the interruption and answered, or raised something else, afterwards.
            if expired or time.monotonic() - started > seconds:
                self._hung[method] += 1
                raise AdapterHung(method, seconds) from None

    def _close_opened(self) -> None:
        while self._opened:
            self._opened.pop().close()

    def _await(self, awaitable: Any) -> Any:
        if self._runner is None:
            self._runner = asyncio.Runner()

        async def wait() -> Any:
            return await awaitable

        return self._runner.run(wait())

    def _describe(self) -> Description:
        if not self.offers("describe"):
            raise AdapterUnusableError(
                f"{type(self._target).__name__} has no describe() method. "
                "An adapter is an object with describe() and some methods of the port; "
                "see the README, 'Plug in your adapter'."
            )
        try:
            description = self._timed("describe", self._target.describe)  # type: ignore[attr-defined]
        except (Exception, SystemExit) as error:
            raise AdapterUnusableError(f"describe() raised {kind_of(error)}: {_short(str(error))}") from error
        except AdapterHung as hung:
            raise AdapterUnusableError(str(hung)) from None
        wrong = problem("description.json", description)
        if wrong is not None:
            raise AdapterUnusableError(f"describe() returned what spec/schema/description.json does not allow: {wrong}")
        spec = description["spec"]
        if version_of(spec)[0] != version_of(SPEC_VERSION)[0]:
            raise AdapterUnusableError(
                f'describe() says "spec": "{spec}", and this kit tests version {SPEC_VERSION}: what another major '
                'version demands is something else. Use a kit for it, or say in "spec" which version you implement.'
            )
        return cast(Description, copy.deepcopy(description))


class Violation(AssertionError):  # noqa: N818 - a finding about the adapter, not an error of ours
    """A requirement does not hold.

    Attributes:
        slug: kebab-case name of the broken promise, unique within its check; part of the failure's signature.
        expected: what the requirement asks for, a short phrase.
        got: what came instead, a short phrase.
    """

    def __init__(self, slug: str, *, expected: str, got: str) -> None:
        super().__init__(f"{slug}: expected {expected}; got {got}")
        self.slug = slug
        self.expected = expected
        self.got = got


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Interrupt the body after `seconds`, where the platform can (POSIX, main thread); elsewhere just run it."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def expire(_signal: int, _frame: FrameType | None) -> None:
        raise _Expired

    before = signal.signal(signal.SIGALRM, expire)
    # It repeats, in case the adapter swallows the first one.
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _finished(result: Any) -> Any:
    """`result`, awaited when it can be; for a thread that has no event loop."""

    async def wait() -> Any:
        return await result

    return asyncio.run(wait()) if inspect.isawaitable(result) else result


def _at_once(works: Sequence[Callable[[], Any]], seconds: float) -> list[Any]:
    """The results of functions that run at the same time, each in a thread. What the first one raised is raised.

    Raises:
        Waits: one of them is not done after `seconds`.
    """
    futures: list[Future[Any]] = [Future() for _ in works]

    def run(work: Callable[[], Any], future: Future[Any]) -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    for work, future in zip(works, futures, strict=True):
        # Not a pool: the interpreter would wait for a hanging thread when it exits.
        threading.Thread(target=run, args=(work, future), daemon=True).start()
    if wait(futures, timeout=seconds).not_done:
        raise Waits
    return [future.result() for future in futures]


def _containers(value: object) -> set[int]:
    """The identities of all lists and dicts in `value` that hold something."""
    found: set[int] = set()
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict | list) and item and id(item) not in found:
            found.add(id(item))
            waiting.extend(item.values() if isinstance(item, dict) else item)
    return found


def _find(error: BaseException | None, kind: type[ShapeError]) -> ShapeError | None:
    while error is not None:
        if isinstance(error, kind):
            return error
        error = error.__cause__ or error.__context__
    return None


def _data(value: object, depth: int = 20) -> Any:
    """A result of the wrong shape, to be shown: what is no JSON as Python writes it, and what is too deep."""
    if isinstance(value, dict) and depth:
        return {k if isinstance(k, str) else steady(repr(k)): _data(item, depth - 1) for k, item in value.items()}
    if isinstance(value, list) and depth:
        return [_data(item, depth - 1) for item in value]
    return value if value is None or isinstance(value, str | int | float) else steady(repr(value))


def _short(text: str, limit: int = 200) -> str:
    line = " ".join(steady(text).split())
    return line if len(line) <= limit else line[: limit - 4] + " ..."
