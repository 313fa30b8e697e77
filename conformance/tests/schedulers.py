"""Honest adapters that schedule passes, as unlike each other as can be: no check may fail any of them."""

from __future__ import annotations

import asyncio
from typing import Any

from compactors import Compacts, Row

COOLDOWN = 300.0


class Polls:
    """Counts, looks whenever the count is past the trigger, gives the summariser a minute, and drains by polling."""

    def __init__(self, store: Any, limits: Row, summarize: Any, clock: Any) -> None:
        self._store, self._limits, self._summarize, self._clock = store, limits, summarize, clock
        self._compactor = Compacts()
        self._pending: dict[str, list[int]] = {}
        self._rests: dict[str, float] = {}
        self._running: dict[str, asyncio.Task[None]] = {}

    def appended(self, session: str, chars: int) -> None:
        """A message was stored."""
        first = session not in self._pending
        if first and len(self._pending) >= 500:
            idle = next((name for name in self._pending if name not in self._running), session)
            self._pending.pop(idle, None)
        count = self._pending.setdefault(session, [0, 0])
        count[0] += chars
        count[1] += 1
        if not first and not self._is_past(count):
            return
        if session in self._running or self._rests.get(session, 0) > self._clock():
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        task = loop.create_task(self._work(session, first))
        self._running[session] = task
        task.add_done_callback(lambda _: self._running.pop(session, None))

    def _is_past(self, count: list[int]) -> bool:
        chars, rows = self._limits["max_chars"] // 2, self._limits["max_rows"] // 2
        return 0 < chars <= count[0] or 0 < rows <= count[1]

    async def _work(self, session: str, first: bool) -> None:
        self._rests.pop(session, None)
        before = list(self._pending[session])
        try:
            rows = await self._load(session)
            previous, fresh = self._compactor.divide(rows)
            if first:
                self._pending[session] = [sum(len(str(row["content"])) for row in fresh), len(fresh)]
                before = list(self._pending[session])
            taken = self._compactor.taken(fresh, self._limits)
            if not taken:
                return
            prompt = self._compactor.prompt(previous, taken)
            answer = await asyncio.wait_for(self._summarize(prompt), timeout=60)
            row = self._compactor.row_of(answer, previous, taken, self._limits)
            if row is None:
                raise ValueError("no summary")
            self._store.commit(session, row, previous["seq"] if previous else None)
        except Exception:
            self._rests[session] = self._clock() + COOLDOWN
            return
        count = self._pending[session]
        count[0] -= before[0]
        count[1] -= before[1]

    async def _load(self, session: str) -> list[Row]:
        rows: list[Row] = self._store.load(session)
        return rows

    async def drain(self) -> None:
        """Until nothing runs."""
        while self._running:
            await asyncio.sleep(0.05)


class LoadsInAThread(Polls):
    """Loads in a thread, so that a slow disk holds nobody up; has a close."""

    async def _load(self, session: str) -> list[Row]:
        rows: list[Row] = await asyncio.to_thread(self._store.load, session)
        return rows

    async def close(self) -> None:
        """Cancel what runs."""
        for task in list(self._running.values()):
            task.cancel()


class HasAWorker(Polls):
    """`appended` is a coroutine function that puts messages into a queue, which a worker takes them out of."""

    def __init__(self, store: Any, limits: Row, summarize: Any, clock: Any) -> None:
        super().__init__(store, limits, summarize, clock)
        self._queue: asyncio.Queue[tuple[str, int]] = asyncio.Queue()
        self._worker = asyncio.get_running_loop().create_task(self._take())

    async def appended(self, session: str, chars: int) -> None:  # type: ignore[override]
        """A message was stored."""
        await self._queue.put((session, chars))

    async def _take(self) -> None:
        while True:
            Polls.appended(self, *await self._queue.get())
            self._queue.task_done()

    async def drain(self) -> None:
        """Until nothing is waiting and nothing runs."""
        await self._queue.join()
        await super().drain()

    async def close(self) -> None:
        """Stop the worker."""
        self._worker.cancel()


class SchedulesByPolling(Compacts):
    """An adapter with the first of these."""

    scheduled: type[Polls] = Polls

    def scheduler(self, store: Any, limits: Row, summarize: Any, clock: Any) -> Any:
        """A new one."""
        return self.scheduled(store, limits, summarize, clock)


class SchedulesWithThreads(SchedulesByPolling):
    """An adapter with the second."""

    scheduled = LoadsInAThread


class SchedulesWithAWorker(SchedulesByPolling):
    """An adapter with the third."""

    scheduled = HasAWorker


HONEST = (SchedulesByPolling, SchedulesWithThreads, SchedulesWithAWorker)
