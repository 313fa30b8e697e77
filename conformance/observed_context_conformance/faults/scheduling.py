"""Defects of scheduling: passes too often, too late, never again, one over the other, or in the way of the caller."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from observed_context import scheduling
from observed_context.compaction import Backlog, Store, chars_of, run_pass
from observed_context.scheduling import Scheduler
from observed_context.shapes import Limits, Message
from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.faults import fault

OBSERVED = "NousResearch/hermes-agent#104245"

Ask = Callable[[list[Message]], Awaitable[str | None]]
State = Any
"""What the reference knows of a session."""


def scheduled(made: type[Scheduler], **options: Any) -> type[ReferenceAdapter]:
    """The reference with another scheduler; the docstring is the scheduler's."""

    class Adapter(ReferenceAdapter):
        def scheduler(
            self, store: Store, limits: Limits, summarize: Ask, clock: Callable[[], float]
        ) -> scheduling.Scheduler:
            return made(store, limits, summarize, clock, **options)

    Adapter.__doc__ = made.__doc__
    return Adapter


def scheduler_fault(identity: str, requirement: str, *, after: str | None = None) -> Callable[[type[Scheduler]], type]:
    """Register the reference with a scheduler that has a defect."""

    def decorate(made: type[Scheduler]) -> type:
        fault(identity, requirement, after=after)(scheduled(made))
        return made

    return decorate


# -- SCH-1 -----------------------------------------------------------------------------------------------------------


@scheduler_fault("sch-loads-for-every-message", "SCH-1", after=OBSERVED)
class LoadsForEveryMessage(Scheduler):
    """There is no gate: each message makes the scheduler look at the transcript."""

    def _is_worth_a_look(self, state: State) -> bool:
        return True


@scheduler_fault("sch-trigger-at-a-quarter", "SCH-1")
class TriggerAtAQuarter(Scheduler):
    """The gate opens at half of the retention budget, which is a quarter of `max_chars`."""

    def _is_worth_a_look(self, state: State) -> bool:
        return super()._is_worth_a_look(state) or state.chars >= self._limits["max_chars"] // 4 > 0


@scheduler_fault("sch-gate-stays-open", "SCH-1", after="vellum-ai/vellum-assistant#34639")
class GateStaysOpen(Scheduler):
    """A pass that has succeeded does not close the gate again; the next message finds it open."""

    async def _one_pass(self, session: str, state: State) -> bool:
        more = await super()._one_pass(session, state)
        if state.chars_mark == self._limits["max_chars"] // 2:
            state.chars_mark = 0
        return more


# -- SCH-2 -----------------------------------------------------------------------------------------------------------


@scheduler_fault("sch-waits-for-the-pass", "SCH-2", after="openclaw/openclaw#137294")
class WaitsForThePass(Scheduler):
    """`appended` awaits the pass that it started, and with it the summariser."""

    async def appended(self, session: str, chars: int) -> None:  # type: ignore[override]
        super().appended(session, chars)
        state = self._sessions[session]
        if state.task is not None:
            await asyncio.wait([state.task])


@scheduler_fault("sch-never-starts", "SCH-2")
class NeverStarts(Scheduler):
    """The task of a pass is made and cancelled at once, because nobody holds it."""

    async def _one_pass(self, session: str, state: State) -> bool:
        return False


@scheduler_fault("sch-throws-the-answer-away", "SCH-2")
class ThrowsTheAnswerAway(Scheduler):
    """Draining cancels the passes that still run, as closing does."""

    async def drain(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await super().drain()


# -- SCH-3 -----------------------------------------------------------------------------------------------------------


@scheduler_fault("sch-two-passes-at-once", "SCH-3", after="NousResearch/hermes-agent#34351")
class TwoPassesAtOnce(Scheduler):
    """Whether a pass runs is not looked at: past the trigger each message starts another."""

    def _appended(self, session: str, chars: int) -> None:
        if session in self._sessions:
            self._sessions[session].task = None
        super()._appended(session, chars)


@scheduler_fault("sch-slow-pass-counts-as-dead", "SCH-3", after="NousResearch/hermes-agent#97488")
class SlowPassCountsAsDead(Scheduler):
    """A pass that has run for a minute is taken for dead, and another one starts beside it."""

    def _appended(self, session: str, chars: int) -> None:
        state: State = self._sessions.get(session)
        if state is not None and state.is_busy():
            started = getattr(state, "started", None)
            if started is None:
                state.started = self._clock()
            elif self._clock() - started > 60:
                state.task, state.started = None, None
        super()._appended(session, chars)


@scheduler_fault("sch-one-pass-for-all", "SCH-3")
class OnePassForAll(Scheduler):
    """One lock for all sessions: while one pass waits for the summariser, no other session gets one."""

    def _is_worth_a_look(self, state: State) -> bool:
        return not self._tasks and super()._is_worth_a_look(state)


# -- SCH-4 -----------------------------------------------------------------------------------------------------------


@scheduler_fault("sch-cooldown-never-armed", "SCH-4", after=OBSERVED)
class CooldownNeverArmed(Scheduler):
    """Errors are swallowed below, so that a failed pass looks like one with nothing to do."""

    async def _one_pass(self, session: str, state: State) -> bool:
        more = await super()._one_pass(session, state)
        state.rests_until = float("-inf")
        return more


@scheduler_fault("sch-only-errors-rest", "SCH-4", after=OBSERVED)
class OnlyErrorsRest(Scheduler):
    """Only an exception arms the cooldown; an answer that is no summary does not."""

    async def _one_pass(self, session: str, state: State) -> bool:
        raised = False

        async def watched(prompt: list[Message]) -> str | None:
            nonlocal raised
            raised = True
            answer = await self._summarize(prompt)
            raised = False
            return answer

        outcome = await run_pass(self._store, session, self._limits, watched)
        if outcome.kind == "failed":
            state.rests_until = self._clock() + self._cooldown if raised else state.rests_until
            state.chars_mark = state.rows_mark = 0
        elif outcome.kind == "done":
            state.chars = state.rows = 0
            state.chars_mark, state.rows_mark = self._limits["max_chars"] // 2, self._limits["max_rows"] // 2
        elif outcome.backlog is not None:
            self._wait_for_enough(state, outcome.backlog)
        return outcome.more


class _ShortRest(Scheduler):
    """A session rests for half a minute after a failure instead of five."""


fault("sch-short-rest", "SCH-4")(scheduled(_ShortRest, cooldown=30.0))


class _RestsForEver(Scheduler):
    """A session that has failed once is not tried again before a restart."""


fault("sch-rests-for-ever", "SCH-4")(scheduled(_RestsForEver, cooldown=float("inf")))


@scheduler_fault("sch-nothing-is-a-failure", "SCH-4", after=OBSERVED)
class NothingIsAFailure(Scheduler):
    """A look that finds nothing to do arms the cooldown as a failure does."""

    def _wait_for_enough(self, state: State, backlog: Backlog) -> None:
        super()._wait_for_enough(state, backlog)
        state.rests_until = self._clock() + self._cooldown


# -- SCH-5 -----------------------------------------------------------------------------------------------------------


@scheduler_fault("sch-spends-the-count-on-starting", "SCH-5", after=OBSERVED)
class SpendsTheCountOnStarting(Scheduler):
    """The counter is set to zero when a pass starts: after a failure, another half of the limit has to come."""

    async def _one_pass(self, session: str, state: State) -> bool:
        more = await super()._one_pass(session, state)
        if state.rests_until > self._clock():
            state.chars = state.rows = 0
            state.chars_mark, state.rows_mark = self._limits["max_chars"] // 2, self._limits["max_rows"] // 2
        return more


@scheduler_fault("sch-forgets-arrivals", "SCH-5")
class ForgetsArrivals(Scheduler):
    """A pass that succeeds sets the counter to zero at its end, with what arrived while it ran."""

    async def _one_pass(self, session: str, state: State) -> bool:
        more = await super()._one_pass(session, state)
        if state.chars_mark == self._limits["max_chars"] // 2 and state.rests_until < self._clock():
            state.chars = state.rows = 0
        return more


@scheduler_fault("sch-does-not-count-while-busy", "SCH-5")
class DoesNotCountWhileBusy(Scheduler):
    """Messages that arrive while a pass runs return early, before they are counted."""

    def _appended(self, session: str, chars: int) -> None:
        state = self._sessions.get(session)
        if state is None or not state.is_busy():
            super()._appended(session, chars)


# -- SCH-6 -----------------------------------------------------------------------------------------------------------


@scheduler_fault("sch-needs-a-loop", "SCH-6", after=OBSERVED)
class NeedsALoop(Scheduler):
    """Without a running event loop the error of asyncio reaches the caller."""

    def appended(self, session: str, chars: int) -> None:
        asyncio.get_running_loop()
        super().appended(session, chars)


@scheduler_fault("sch-drain-raises", "SCH-6")
class DrainRaises(Scheduler):
    """A pass that fails ends in an exception, and draining raises it."""

    async def _one_pass(self, session: str, state: State) -> bool:
        more = await super()._one_pass(session, state)
        if state.rests_until > self._clock():
            raise RuntimeError("a pass of compaction failed")
        return more

    async def drain(self) -> None:
        while self._tasks:
            await asyncio.gather(*self._tasks)


@scheduler_fault("sch-looks-in-the-caller", "SCH-6")
class LooksInTheCaller(Scheduler):
    """The size of the backlog is read from the store when a session is first seen, in the caller and unguarded."""

    def appended(self, session: str, chars: int) -> None:
        first = session not in self._sessions
        super().appended(session, chars)
        if first:
            self._sessions[session].chars = chars_of(self._store.load(session))


# -- SCH-7 -----------------------------------------------------------------------------------------------------------


@scheduler_fault("sch-characters-only", "SCH-7", after=OBSERVED)
class CharactersOnly(Scheduler):
    """The row limit opens no gate: thousands of short messages wait until they are half of the characters."""

    def _is_worth_a_look(self, state: State) -> bool:
        return bool(state.chars >= state.chars_mark)


@scheduler_fault("sch-off-is-always", "SCH-7", after=OBSERVED)
class OffIsAlways(Scheduler):
    """With the character limit off, its gate asks for more than zero characters and is open for every message."""

    def _is_worth_a_look(self, state: State) -> bool:
        return self._limits["max_chars"] == 0 or super()._is_worth_a_look(state)


@scheduler_fault("sch-rows-wait-for-twice-the-limit", "SCH-7")
class RowsWaitForTwiceTheLimit(Scheduler):
    """The gate for rows opens at twice `max_rows`, so that the cap has long dropped what no summary covers."""

    async def _one_pass(self, session: str, state: State) -> bool:
        more = await super()._one_pass(session, state)
        if state.rows_mark:
            state.rows_mark = max(state.rows_mark, 2 * self._limits["max_rows"])
        return more


@scheduler_fault("sch-stored-rows-are-still-to-come", "SCH-7")
class StoredRowsAreStillToCome(Scheduler):
    """The rows that a look has found are added to what has to come before the next look, instead of taken off it."""

    def _wait_for_enough(self, state: State, backlog: Backlog) -> None:
        super()._wait_for_enough(state, backlog)
        state.rows_mark = state.rows + self._limits["max_rows"] + len(backlog.verbatim)


# -- SCH-8 -----------------------------------------------------------------------------------------------------------


@scheduler_fault("sch-counts-from-zero", "SCH-8", after=OBSERVED)
class CountsFromZero(Scheduler):
    """The count lives in memory alone: after a restart nothing is looked at before another half of the limit."""

    def _is_worth_a_look(self, state: State) -> bool:
        return state.chars >= self._limits["max_chars"] // 2 and super()._is_worth_a_look(state)


@scheduler_fault("sch-first-look-leaves-nothing", "SCH-8")
class FirstLookLeavesNothing(Scheduler):
    """A first look starts a pass if one is due; if not, what it found is not taken into the count."""

    def _wait_for_enough(self, state: State, backlog: Backlog) -> None:
        state.chars_mark = state.chars + self._limits["max_chars"] // 2
        state.rows_mark = state.rows + self._limits["max_rows"] // 2


@scheduler_fault("sch-a-summary-ends-the-backlog", "SCH-8")
class ASummaryEndsTheBacklog(Scheduler):
    """A first look takes what it finds into the count only where nothing was ever summarised."""

    def _wait_for_enough(self, state: State, backlog: Backlog) -> None:
        super()._wait_for_enough(state, backlog if backlog.newest is None else replace(backlog, fresh=[]))


# -- SCH-9 -----------------------------------------------------------------------------------------------------------


@scheduler_fault("sch-never-forgets", "SCH-9", after=OBSERVED)
class NeverForgets(Scheduler):
    """Each session that was ever seen keeps its entry."""

    def _forget(self) -> None:
        """Nothing is forgotten."""


@scheduler_fault("sch-keeps-the-locks", "SCH-9", after=OBSERVED)
class KeepsTheLocks(Scheduler):
    """Counters are pruned, but the lock that was made for a session stays for good."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._locks: dict[str, asyncio.Lock] = {}

    def _appended(self, session: str, chars: int) -> None:
        self._locks.setdefault(session, asyncio.Lock())
        super()._appended(session, chars)
