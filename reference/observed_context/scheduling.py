"""Scheduling: when a pass of compaction is worth looking at the transcript."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from observed_context.compaction import Backlog, Store, chars_of, due_chars, run_pass
from observed_context.shapes import Limits, Message

COOLDOWN = 300.0
REMEMBERED = 1_024

_log = logging.getLogger(__name__)


@dataclass
class _Session:
    """What is known of a session.

    Attributes:
        chars: pending characters: appended since the last pass that succeeded.
        rows: the same in rows.
        chars_mark: pending characters at which the transcript is looked at next; 0: with the next row.
        rows_mark: the same in rows.
        rests_until: time before which nothing is tried.
        task: the pass that runs, or the last one that did.
    """

    chars: int = 0
    rows: int = 0
    chars_mark: int = 0
    rows_mark: int = 0
    rests_until: float = float("-inf")
    task: asyncio.Task[None] | None = None

    def is_busy(self) -> bool:
        return self.task is not None and not self.task.done() and not self.task.get_loop().is_closed()


class Scheduler:
    """Starts passes in the background; told of every observed row, it decides when.

    A session that is seen for the first time is looked at once, which finds what an earlier process left (SCH-8). After
    that the transcript is not read below half of `max_chars` or of `max_rows` in pending rows (SCH-1, SCH-7). A session
    that was not heard of for long is forgotten, and counts as new when it is heard of again (SCH-9).
    """

    def __init__(
        self,
        store: Store,
        limits: Limits,
        summarize: Callable[[list[Message]], Awaitable[str | None]],
        clock: Callable[[], float],
        cooldown: float = COOLDOWN,
    ) -> None:
        self._store = store
        self._limits = limits
        self._summarize = summarize
        self._clock = clock
        self._cooldown = cooldown
        self._sessions: dict[str, _Session] = {}  # in the order in which they were last heard of
        self._tasks: set[asyncio.Task[None]] = set()

    def appended(self, session: str, chars: int) -> None:
        """Take note of an observed row of so many characters; never waits and never raises (SCH-2, SCH-6)."""
        try:
            self._appended(session, chars)
        except Exception as error:
            _log.warning("compaction could not be scheduled: %s", type(error).__name__)

    async def drain(self) -> None:
        """Wait until no pass is running."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        """Give up the passes that are running; nothing of them is stored."""
        for task in self._tasks:
            task.cancel()
        await self.drain()

    def _appended(self, session: str, chars: int) -> None:
        state = self._sessions.pop(session, None) or _Session()
        self._sessions[session] = state
        self._forget()
        state.chars += chars
        state.rows += 1
        if state.is_busy() or self._clock() < state.rests_until or not self._is_worth_a_look(state):
            return
        loop = asyncio.get_running_loop()  # without one it raises; what was counted stays counted
        state.task = loop.create_task(self._work(session, state))
        self._tasks.add(state.task)
        state.task.add_done_callback(self._tasks.discard)

    def _is_worth_a_look(self, state: _Session) -> bool:
        by_chars = self._limits["max_chars"] > 0 and state.chars >= state.chars_mark
        by_rows = self._limits["max_rows"] > 0 and state.rows >= state.rows_mark
        return by_chars or by_rows

    def _forget(self) -> None:
        while len(self._sessions) > REMEMBERED:
            oldest = next(iter(self._sessions))
            if self._sessions[oldest].is_busy():
                return
            del self._sessions[oldest]

    async def _work(self, session: str, state: _Session) -> None:
        try:
            while await self._one_pass(session, state):
                pass
        finally:
            state.task = None
            self._forget()

    async def _one_pass(self, session: str, state: _Session) -> bool:
        """Run a pass, take account of what came of it, and say whether rows had to wait for another one."""
        chars, rows = state.chars, state.rows
        outcome = await run_pass(self._store, session, self._limits, self._summarize)
        if outcome.kind == "failed":  # SCH-4; nothing is taken off what was counted (SCH-5)
            state.rests_until = self._clock() + self._cooldown
            state.chars_mark = state.rows_mark = 0
        elif outcome.kind == "done":  # what arrived meanwhile counts towards the next pass (SCH-5)
            state.chars -= chars
            state.rows -= rows
            state.chars_mark, state.rows_mark = self._limits["max_chars"] // 2, self._limits["max_rows"] // 2
        elif outcome.backlog is not None:
            self._wait_for_enough(state, outcome.backlog)
        return outcome.more

    def _wait_for_enough(self, state: _Session, backlog: Backlog) -> None:
        """Take what was found into the count, and look again when about as much has come as makes a pass."""
        state.chars = max(state.chars, chars_of(backlog.fresh))
        state.rows = max(state.rows, len(backlog.fresh))
        max_chars, max_rows = self._limits["max_chars"], self._limits["max_rows"]
        state.chars_mark = max(max_chars // 2, state.chars + due_chars(self._limits))
        state.rows_mark = max(max_rows // 2, state.rows + max(max_rows // 10, 1))
