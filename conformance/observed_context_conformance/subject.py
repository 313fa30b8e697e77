"""The adapter under test, seen through glass: every call is copied, timed, validated and recorded."""

from __future__ import annotations

import asyncio
import copy
import inspect
import signal
import threading
import time
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, cast

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
    Replayed,
    Row,
    Settings,
)
from observed_context_conformance.schemas import problem

CALL_SECONDS = 10.0
"""How long one call of an adapter may take before it counts as hung."""


class AdapterUnusableError(Exception):
    """The object is no adapter: `describe()` is missing, fails, or returns what the schema does not allow."""


class ShapeError(Exception):
    """A call returned what its schema does not allow.

    Attributes:
        method: the port method.
        requirement: the requirement that the shape of this result belongs to.
    """

    def __init__(self, method: str, message: str) -> None:
        super().__init__(f"{method}() returned a result of the wrong shape: {message}")
        self.method = method
        self.requirement = SHAPE_OF[method]
        self.message = message


class AdapterCrashed(Exception):  # noqa: N818 - a verdict, not an error of ours
    """A call raised.

    Attributes:
        method: the port method.
        where: file name, line and function of the adapter's innermost frame.
    """

    def __init__(self, method: str, cause: BaseException) -> None:
        super().__init__(f"{method}() raised {type(cause).__name__}: {_short(str(cause))}")
        self.method = method
        self.kind = type(cause).__name__
        self.where = _innermost(cause)


class AdapterHung(BaseException):
    """A call did not return in time. Not an `Exception`, so that neither the adapter nor Hypothesis goes on past it."""

    def __init__(self, method: str, seconds: float) -> None:
        super().__init__(f"{method}() did not return within {seconds:g} s")
        self.method = method


class _Expired(BaseException):
    """Raised inside the adapter's code when its time is over."""


@dataclass
class Call:
    """One call: what went in, what came out.

    Attributes:
        method: the port method.
        arguments: what the kit passed, by name.
        result: what came back (None until it did).
        changed_input: the adapter modified what it was given.
        shares_input: the result holds a list or dict of the input itself.
        requests: for `turn`, the payload of each model request.
    """

    method: str
    arguments: dict[str, Any]
    result: Any = None
    changed_input: bool = False
    shares_input: bool = False
    requests: list[list[Message]] = field(default_factory=list)


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
        self.calls: list[Call] = []
        self.story: list[str] = []
        self.description = self._describe()

    # -- what it offers -------------------------------------------------------------------------------------------

    def offers(self, method: str) -> bool:
        """Whether the adapter has this method of the port."""
        return callable(getattr(self._target, method, None))

    @property
    def methods(self) -> tuple[str, ...]:
        """The port methods that the adapter has, in the order of the port."""
        return tuple(method for method in METHODS if self.offers(method))

    def begin_example(self) -> None:
        """Forget the calls and the story of the example before."""
        self.calls.clear()
        self.story.clear()

    def close(self) -> None:
        """Release what the proxy itself opened."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    @contextmanager
    def must_not_raise(self, slug: str, *, expected: str) -> Iterator[None]:
        """Turn an exception of the adapter into the failure of a check about not raising."""
        try:
            yield
        except AdapterCrashed as crash:
            raise Violation(slug, expected=expected, got=str(crash)) from crash

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

        def recording(payload: list[Message]) -> Message:
            seen = copy.deepcopy(payload)
            wrong = problem("calls.json#/$defs/model/properties/arguments/properties/payload", seen)
            if wrong is not None:
                raise ShapeError("turn", f"the payload of request {len(requests) + 1} is not valid: {wrong}")
            requests.append(seen)
            return model(copy.deepcopy(seen))

        arguments = {
            "transcript": transcript,
            "message": message,
            "channel_prompt": channel_prompt,
            "limits": limits,
        }
        return cast("list[Row]", self._call("turn", recording, requests, **arguments))

    # -- how a call is made ---------------------------------------------------------------------------------------

    def _call(
        self,
        method: str,
        callback: Callable[[list[Message]], Message] | None = None,
        requests: list[list[Message]] | None = None,
        **arguments: Any,
    ) -> Any:
        call = Call(method, copy.deepcopy(arguments), requests=requests if requests is not None else [])
        self.calls.append(call)
        handed = copy.deepcopy(arguments)
        positional = list(handed.values()) + ([callback] if callback is not None else [])
        try:
            result = self._timed(method, lambda: getattr(self._target, method)(*positional))
        except ShapeError:
            raise
        except Exception as error:
            # An adapter may wrap what our callback raised; the shape of its payload is still what went wrong.
            shape = _find(error, ShapeError)
            if shape is not None:
                raise shape from error
            raise AdapterCrashed(method, error) from error
        call.changed_input = handed != arguments
        call.shares_input = bool(_containers(handed) & _containers(result))
        wrong = problem(f"calls.json#/$defs/{method}/properties/result", result)
        if wrong is not None:
            call.result = repr(result)
            raise ShapeError(method, wrong)
        call.result = copy.deepcopy(result)
        return copy.deepcopy(result)

    def _timed(self, method: str, work: Callable[[], Any]) -> Any:
        # Once a method has hung it gets less patience, so that a hanging adapter still gets its verdict soon.
        seconds = min(self._seconds, 1.0) if self._hung[method] else self._seconds
        started = time.monotonic()
        expired = False
        try:
            with _alarm(seconds):
                result = work()
                return self._await(result) if inspect.isawaitable(result) else result
        except _Expired:
            expired = True
        finally:
            # Also when the adapter swallowed the interruption and answered, or raised something else, afterwards.
            if expired or time.monotonic() - started > seconds:
                self._hung[method] += 1
                raise AdapterHung(method, seconds) from None

    def _await(self, awaitable: Any) -> Any:
        if self._runner is None:
            self._runner = asyncio.Runner()

        async def wait() -> Any:
            return await awaitable

        return self._runner.run(wait())

    def _describe(self) -> Description:
        if not callable(getattr(self._target, "describe", None)):
            raise AdapterUnusableError(
                f"{type(self._target).__name__} has no describe() method. "
                "An adapter is an object with describe() and some methods of the port; see the README, 'Plug in your adapter'."
            )
        try:
            description = self._timed("describe", lambda: self._target.describe())  # type: ignore[attr-defined]
        except Exception as error:
            raise AdapterUnusableError(f"describe() raised {type(error).__name__}: {_short(str(error))}") from error
        except AdapterHung as hung:
            raise AdapterUnusableError(str(hung)) from None
        wrong = problem("description.json", description)
        if wrong is not None:
            raise AdapterUnusableError(f"describe() returned what spec/schema/description.json does not allow: {wrong}")
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


def _innermost(error: BaseException) -> str | None:
    trace = error.__traceback__
    if trace is None:
        return None
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    return f"{code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno} in {code.co_name}"


def _short(text: str, limit: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 4] + " ..."
