"""An adapter's scheduler under test, on an event loop of its own that runs only while the kit runs it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from observed_context_conformance.environment.loop import KitLoop, Waits
from observed_context_conformance.stdio.process import RemoteObject

DRAIN_TIMERS = 3600.0
"""How far timers may run ahead while a scheduler is drained, in seconds: a `drain()` may poll."""

Guard = Callable[[str, dict[str, Any], Callable[[], Any]], Any]
"""Records a call of a name with arguments, makes it, and turns what goes wrong into the verdicts of `subject`."""


class Scheduler:
    """The proxy that checks talk to.

    Every method raises `AdapterCrashed` when the adapter raises, `AdapterHung` when it does not come to an end, and
    `ShapeError` when a callback was misused.
    """

    def __init__(self, make: Callable[[], Any], clock: Callable[[], float], guard: Guard, seconds: float) -> None:
        self._guard = guard
        self._seconds = seconds
        self._loop = KitLoop(clock)
        try:
            self._target = self._guard("scheduler", {}, lambda: self._until(make))
        except BaseException:
            self._loop.end()
            raise

    def appended(self, session: str, chars: int) -> bool:
        """Tell it of a row, and let the background go on until everything waits.

        Returns:
            False when the call has not come back, because it waits for something.
        """

        def call() -> bool:
            try:
                self._until(lambda: self._target.appended(session, chars))
            except Waits:
                return False
            finally:
                self._settle()
            return True

        return bool(self._guard("scheduler.appended", {"session": session, "chars": chars}, call))

    def appended_all(self, rows: Iterable[tuple[str, int]]) -> None:
        """Tell it of many rows in one go; they are not recorded one by one."""

        async def all_of_them() -> None:
            for session, chars in rows:
                result = self._target.appended(session, chars)
                if inspect.isawaitable(result):
                    await result
                await asyncio.sleep(0)

        def call() -> None:
            self._until(all_of_them)
            self._settle()

        self._guard("scheduler.appended", {"session": "many", "chars": 0}, call)

    def appended_without_loop(self, session: str, chars: int) -> None:
        """Tell it of a row while no event loop runs. A coroutine function cannot be told."""

        def call() -> None:
            result = self._target.appended(session, chars)
            if inspect.iscoroutine(result):
                result.close()

        self._guard("scheduler.appended", {"session": session, "chars": chars}, call)

    def settle(self) -> None:
        """Let the background go on until everything waits."""
        self._guard("scheduler", {}, self._settle)

    def drain(self, release: Callable[[], object] | None = None) -> None:
        """Wait until no pass is running.

        Args:
            release: called when the wait has begun. From then on nothing may hold up the summariser.
        """

        async def wait() -> None:
            waiting = asyncio.ensure_future(_finished(self._target.drain()))
            for _ in range(3):
                await asyncio.sleep(0)
            if release is not None:
                release()
            await waiting

        self._guard("scheduler.drain", {}, lambda: self._until(wait, DRAIN_TIMERS))

    def close(self) -> None:
        """Close it, if it can be closed, and end everything that still runs. Raises nothing."""
        if self._loop.is_closed():
            return
        if callable(getattr(self._target, "close", None)):
            try:
                self._guard("scheduler", {}, lambda: self._until(self._target.close, DRAIN_TIMERS))
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException:  # it hangs, for one; whoever closes it now has his verdict already
                pass
        self._loop.end()
        if isinstance(self._target, RemoteObject):
            self._target.forget()

    @property
    def state(self) -> object:
        """The adapter's own object, to be weighed."""
        return self._target

    def _until(self, work: Callable[[], Any], timers: float = 0.0) -> Any:
        return self._loop.until(work, seconds=self._seconds, timers=timers)

    def _settle(self) -> None:
        self._loop.settle(seconds=self._seconds)


async def _finished(result: Any) -> Any:
    return await result if inspect.isawaitable(result) else result
