"""An asyncio event loop that runs only while the kit runs it, and whose time is the kit's."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import selectors
import threading
import time
from asyncio import Future, Task, TimerHandle
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Any, TypeVar, TypeVarTuple, Unpack

from observed_context_conformance.raised import staying

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")

QUIET_SPINS = 3
"""So many rounds of the loop in which nothing happened mean that everything waits."""

PATIENCE = 0.05
"""How long, in real seconds, the silence of an adapter's threads and pipes has to last to be taken for rest."""


REMOTE_PATIENCE = 0.5
"""The same, for the answer of another process to what it was asked."""


class Waits(Exception):  # noqa: N818 - a finding, not an error of ours
    """What should have come to an end waits for something that only the kit could bring."""


class _Polling(selectors.DefaultSelector):
    """Looks at pipes and sleeps on them only while another process is asked: time is the kit's business."""

    patient = False

    def select(self, timeout: float | None = None) -> Any:
        if self.patient and timeout != 0:
            return super().select(0.05)
        return super().select(0)


class KitLoop(asyncio.SelectorEventLoop):
    """The one event loop of an adapter's scheduler or gateway.

    Nothing runs between `until`, `settle` and `drain`. Timers follow the kit's clock; those that a wait depends on (a
    `drain()` that polls, a pause before a pass) come at once, since nobody else would ever bring them.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ahead = 0.0
        self._happened = 0
        self._timers: list[TimerHandle] = []
        self._remotes: list[Callable[[], Awaitable[bool]]] = []
        self._polling = _Polling()
        self._abroad: set[Future[Any]] = set()
        super().__init__(self._polling)
        self._known = set(threading.enumerate())

    # -- what the kit does with it --------------------------------------------------------------------------------

    def until(self, work: Callable[[], Any], *, seconds: float, timers: float = 0.0) -> Any:
        """Run `work` within the loop, and what it returns to its end when that can be awaited.

        Args:
            work: called while the loop runs.
            seconds: of real time that it may take.
            timers: how far the loop's time may run ahead for it, in seconds.

        Raises:
            Waits: it does not come to an end; it goes on whenever the loop runs again.
            Exception: what `work` raised.
        """

        async def main() -> Any:
            result = work()
            return await result if inspect.isawaitable(result) else result

        task = self.create_task(main())
        self._drive(task, seconds, timers)
        if not task.done():
            task.add_done_callback(_forgive)
            raise Waits
        return task.result()

    def settle(self, *, seconds: float, timers: float = 2.0) -> None:
        """Let everything in the background go on until it waits for the kit."""
        self._drive(None, seconds, timers)

    def add_remote(self, settle: Callable[[], Awaitable[bool]]) -> None:
        """Have another process at work for this loop.

        Args:
            settle: returns when that process has nothing left to do without the kit; whether it did anything.
        """
        self._remotes.append(settle)

    def end(self) -> None:
        """Cancel what is left, and close."""
        if self.is_closed():
            return
        for task in asyncio.all_tasks(self):
            task.cancel()
        with contextlib.suppress(Exception, SystemExit), staying():
            self._drive(None, 1.0, 0.0)
        self.set_exception_handler(lambda _loop, _context: None)
        self.close()

    # -- how it does it -------------------------------------------------------------------------------------------

    def _drive(self, task: Task[Any] | None, seconds: float, timers: float) -> None:
        spin = self.create_task(self._spin(task, seconds, timers))
        try:
            self.run_until_complete(spin)
        except BaseException:
            # A task that raises SystemExit ends the loop at once; two of these would take each other for work.
            spin.cancel()
            raise

    async def _spin(self, task: Task[Any] | None, seconds: float, timers: float) -> None:
        end = time.monotonic() + seconds
        horizon = self.time() + timers
        quiet, resting = 0, 0.0
        patience = PATIENCE
        if self._remotes:
            # Another process says itself when it has come to rest; but its timers are its own, and take real time.
            patience = max(min(timers, seconds), REMOTE_PATIENCE) if task is not None else 0.0
        while task is None or not task.done():
            before = self._happened
            await asyncio.sleep(0)
            if self._happened > before + 1:  # one of these is our own sleep
                quiet, resting = 0, 0.0
                if time.monotonic() > end:
                    return
                continue
            quiet += 1
            if quiet < QUIET_SPINS:
                continue
            if self._remotes and await self._remotes_settle():
                quiet, resting = 0, 0.0
            elif self._abroad and time.monotonic() < end:
                time.sleep(0.0005)
            elif resting < patience and (self._remotes or self._others()):
                time.sleep(0.001)
                resting += 0.001
            elif not self._jump(horizon):
                return
            else:
                quiet, resting = 0, 0.0

    async def _remotes_settle(self) -> bool:
        """Whether the other processes did anything before they came to rest."""
        self._polling.patient = True
        try:
            return any([await settle() for settle in self._remotes])
        finally:
            self._polling.patient = False

    def _others(self) -> bool:
        """Whether pipes or threads of the adapter's own may be at work that this loop does not see."""
        if len(self._polling.get_map()) > 1:
            return True
        return any(not thread.name.startswith("asyncio_") for thread in set(threading.enumerate()) - self._known)

    def _jump(self, horizon: float) -> bool:
        self._timers = [timer for timer in self._timers if not timer.cancelled() and timer.when() > self.time()]
        due = min((timer.when() for timer in self._timers), default=None)
        if due is None or due > horizon:
            return False
        self._ahead += due - self.time()
        return True

    def time(self) -> float:
        """The kit's clock, and what the loop ran ahead of it, in seconds."""
        return self._clock() + self._ahead

    def run_in_executor(self, executor: Any, func: Callable[[Unpack[_Ts]], _T], *args: *_Ts) -> Future[_T]:
        """As in asyncio; while the thread is at work, the kit waits for it."""
        future = super().run_in_executor(executor, func, *args)
        self._abroad.add(future)
        future.add_done_callback(self._abroad.discard)
        return future

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[_Ts]], object],
        *args: *_Ts,
        context: Context | None = None,
    ) -> TimerHandle:
        """As in asyncio."""
        timer = super().call_at(when, callback, *args, context=context)
        self._timers.append(timer)
        return timer

    def call_soon(
        self, callback: Callable[[Unpack[_Ts]], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """As in asyncio."""
        self._happened += 1
        return super().call_soon(callback, *args, context=context)

    def call_soon_threadsafe(
        self, callback: Callable[[Unpack[_Ts]], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """As in asyncio."""
        self._happened += 1
        return super().call_soon_threadsafe(callback, *args, context=context)


def _forgive(task: Task[Any]) -> None:
    """Look at a late result, so that nobody complains that nobody looked."""
    if not task.cancelled():
        task.exception()
