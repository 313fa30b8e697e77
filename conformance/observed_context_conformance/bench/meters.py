"""How a call is made and which clock is read: for an adapter in this process, and for one behind a pipe."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any, Protocol

from observed_context_conformance.bench.cases import Subject, Work
from observed_context_conformance.stdio.process import ProcessAdapter
from observed_context_conformance.stdio.wire import LONGEST_LINE, encode, request


class Meter(Protocol):
    """Makes the calls of a work.

    Attributes:
        clock: what the calls are measured with, seconds.
        says: what the numbers are, for the reader.
    """

    clock: Callable[[], float]
    says: str

    def calls(self, work: Work) -> Callable[[], object]:
        """Return what makes the calls of the work, once each."""

    def null(self, work: Work) -> Callable[[], object] | None:
        """Return what makes calls that carry the same and do nothing, or None where nothing is carried."""

    def obstacle(self, work: Work) -> str | None:
        """Why the work cannot be measured, or None."""


def meter_of(subject: Subject) -> Meter:
    """The meter for an adapter."""
    return PipeMeter(subject.adapter) if isinstance(subject.adapter, ProcessAdapter) else LocalMeter(subject.adapter)


class LocalMeter:
    """An adapter in this process. Processor time: what other programs take in the meantime does not count."""

    says = "processor time of the calls"

    def __init__(self, adapter: Any) -> None:
        self.clock = time.process_time
        self._adapter = adapter
        self._loop: asyncio.AbstractEventLoop | None = None

    def calls(self, work: Work) -> Callable[[], object]:
        """Plain calls; where the method is a coroutine function, each on an event loop."""
        method = getattr(self._adapter if work.target is None else work.target, work.method)
        call: Callable[..., object] = method
        first = method(*work.arguments[0])
        if inspect.isawaitable(first):
            loop = self._loop = self._loop or asyncio.new_event_loop()
            loop.run_until_complete(_awaited(first))
            call = lambda *arguments: loop.run_until_complete(_awaited(method(*arguments)))  # noqa: E731
        if len(work.arguments) == 1:
            (only,) = work.arguments
            return lambda: call(*only)

        def all_of_them() -> None:
            for arguments in work.arguments:
                call(*arguments)

        return all_of_them

    def null(self, work: Work) -> None:
        """Nothing is carried."""

    def obstacle(self, work: Work) -> None:
        """None."""


class PipeMeter:
    """An adapter behind a pipe.

    What is measured is the processor time of its process, or where the system does not tell that, the time by the clock
    on the wall. A call of a method that does not exist carries the same arguments there and has them read; what that
    takes is subtracted. What remains of the pipe in the number is that the result is written.
    """

    def __init__(self, adapter: ProcessAdapter) -> None:
        self._adapter = adapter
        before = adapter.processor_time()
        adapter.describe()
        # It stands still where the command is a shell that starts the process which does the work.
        tells = before is not None and adapter.processor_time() != before
        self.clock: Callable[[], float] = self._processor_time if tells else time.perf_counter
        self.says = (
            f"{'processor time of its process' if tells else 'time'} "
            "less that of an empty call with the same arguments; writing the result is in it"
        )

    def calls(self, work: Work) -> Callable[[], object]:
        """Calls through the pipe."""
        method = getattr(self._adapter, work.method)

        def all_of_them() -> None:
            for arguments in work.arguments:
                method(*arguments)

        return all_of_them

    def null(self, work: Work) -> Callable[[], object]:
        """Calls through the pipe that are refused."""

        def all_of_them() -> None:
            for arguments in work.arguments:
                self._adapter.null(work.method, arguments)

        return all_of_them

    def obstacle(self, work: Work) -> str | None:
        """A line of the protocol has an end."""
        longest = max(len(encode(request(0, work.method, {"arguments": arguments}))) for arguments in work.arguments)
        return f"{longest / 1e6:.0f} MB do not pass the pipe" if longest > LONGEST_LINE else None

    def _processor_time(self) -> float:
        return self._adapter.processor_time() or 0.0


async def _awaited(result: Any) -> Any:
    return await result
