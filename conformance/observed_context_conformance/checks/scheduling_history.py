"""Checks of scheduling (SCH) over whole histories: messages, failures, waiting and restarts in any order."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from hypothesis import event

from observed_context_conformance.checking import Adapter, check, expect, given
from observed_context_conformance.ledger import Chat
from observed_context_conformance.port import Limits
from observed_context_conformance.strategies.busy import Fail, Happening, Say, StoreFails, Wait, happenings
from observed_context_conformance.strategies.stored import is_due
from observed_context_conformance.timeline import ANSWERS, COOLDOWN, Timeline

LIMITS: Limits = {"max_chars": 20_000, "max_rows": 0}


@dataclass
class _Session:
    """What the kit expects of the scheduler for one session.

    Attributes:
        chat: the session.
        pending: characters since the last look at the transcript that was not followed by a failure.
        since_look: those since the last look of any kind.
        loads: looks so far.
        judged: the last look has been judged by what came of it.
        asked: requests so far that were judged.
        stored: summaries so far.
        rests_until: the end of the cooldown, when the last pass failed.
    """

    chat: Chat
    pending: int = 0
    since_look: int = 0
    loads: int = 0
    judged: bool = True
    asked: int = 0
    stored: int = 0
    rests_until: float = -inf


class _History:
    """A timeline of two sessions, and the steps that it takes."""

    def __init__(self, adapter: Adapter) -> None:
        self.timeline = Timeline(adapter, LIMITS)
        self.sessions = [_Session(self.timeline.chat()), _Session(self.timeline.chat())]
        self._store_failures = 0

    def messages(self, step: Say) -> list[tuple[_Session, int]]:
        """The messages of a step, one by one."""
        return [(self.sessions[step.chat], step.size)] * step.count

    def say(self, session: _Session, size: int) -> None:
        """One message arrives."""
        session.pending += size
        session.since_look += size
        self.timeline.append(session.chat, size)
        self.look()

    def take(self, step: Happening) -> None:
        """Anything else happens."""
        timeline = self.timeline
        match step:
            case Wait(seconds):
                timeline.advance(seconds)
            case Fail(behaviour):
                timeline.behave(behaviour)
            case StoreFails(point):
                timeline.store.fail(point)
                timeline.tell(f"the next {point} of the store will fail")
            case "stall":
                timeline.stall()
            case "release":
                timeline.release()
            case "recover":
                timeline.behave(ANSWERS)
            case "restart":
                timeline.restart()
                for session in self.sessions:  # a process knows nothing of the one before
                    session.pending = session.since_look = 0
                    session.rests_until = -inf
                    self._remember(session)
        self.look()

    def look(self) -> None:
        """Take note of what the scheduler has done."""
        store_failed = self.timeline.store.failures > self._store_failures
        self._store_failures = self.timeline.store.failures
        for session in self.sessions:
            if self.timeline.loads(session.chat) > session.loads:
                session.loads = self.timeline.loads(session.chat)
                session.since_look, session.judged = 0, False
            if self.is_running(session) or session.judged:
                continue
            asked = self.timeline.asked_about(session.chat) > session.asked
            if store_failed or (asked and self._summaries(session) == session.stored):
                event("a pass failed")
                session.rests_until = self.timeline.clock() + COOLDOWN
            else:
                session.pending = session.since_look
            self._remember(session)

    def is_running(self, session: _Session) -> bool:
        """Whether the summariser is at work on the session."""
        return any(self.timeline.about(session.chat, request) for request in self.timeline.summariser.open_requests)

    def _summaries(self, session: _Session) -> int:
        return sum(written == session.chat.session for written, _ in self.timeline.store.written)

    def _remember(self, session: _Session) -> None:
        session.asked = self.timeline.asked_about(session.chat)
        session.stored = self._summaries(session)
        session.loads, session.judged = self.timeline.loads(session.chat), True


@check("SCH-5", calls=("scheduler",), after=("SCH-2", "SCH-4", "CMP-10"), examples=40)
@given(history=happenings())
def whatever_has_happened_enough_pending_messages_lead_to_a_look(adapter: Adapter, history: list[Happening]) -> None:
    """A message that completes half of `max_chars` leads to a look, when a pass is due and none runs or rests."""
    past = _History(adapter)
    for step in history:
        if not isinstance(step, Say):
            past.take(step)
            continue
        for session, size in past.messages(step):
            past.say(session, size)
            idle = not past.is_running(session) and past.timeline.clock() > session.rests_until
            due = is_due(session.chat.sizes(), LIMITS)
            expect(
                not (idle and due and session.pending >= past.timeline.trigger),
                "work-forgotten",
                expected=f"at {session.pending:,} pending characters a look, since no pass runs",
                got="it was not loaded",
            )


@check("SCH-3", calls=("scheduler",), after=("SCH-2",), examples=25)
@given(history=happenings())
def whatever_has_happened_a_session_has_one_pass_at_a_time(adapter: Adapter, history: list[Happening]) -> None:
    """Two requests that wait for an answer never hold the same message."""
    past = _History(adapter)
    start: list[Happening] = [Say(0, 1, 900), "stall", Say(0, 5, 6_000)]
    for step in [*start, *history]:
        if isinstance(step, Say):
            for session, size in past.messages(step):
                past.say(session, size)
        elif step not in ("release", "restart"):
            past.take(step)
        if past.timeline.summariser.open_requests:
            event("a pass was running")
        expect(
            past.timeline.overlap() is None,
            "two-passes-at-once",
            expected="one pass at a time over a session",
            got="the summariser is asked about the same messages a second time while it is at work on them",
        )


REACH = {
    "whatever_has_happened_enough_pending_messages_lead_to_a_look": {"a pass failed": 0.1},
    "whatever_has_happened_a_session_has_one_pass_at_a_time": {"a pass was running": 0.3},
}
