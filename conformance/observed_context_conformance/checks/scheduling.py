"""Checks of scheduling (SCH): when a pass starts, what it waits for, and what survives failures and restarts."""

from __future__ import annotations

from hypothesis import event
from hypothesis import strategies as st

from observed_context_conformance.checking import Adapter, check, expect, given, not_applicable
from observed_context_conformance.environment import FAILURES, Behaviour
from observed_context_conformance.ledger import Chat
from observed_context_conformance.port import Limits
from observed_context_conformance.timeline import ANSWERS, COOLDOWN, Timeline
from observed_context_conformance.weight import weight

BY_CHARS: Limits = {"max_chars": 20_000, "max_rows": 0}
"""A pass may start from 10,000 pending characters on; 10,000 stay verbatim."""

KINDS = (FAILURES[0], FAILURES[-1], FAILURES[1], FAILURES[7], FAILURES[5])
"""One failure of each kind: an error, reasoning alone, a timeout, blanks, nothing."""

SIZES = st.sampled_from((300, 900, 1_500, 2_500))


def _starts(timeline: Timeline, chat: Chat, size: int = 1_500, slug: str = "no-pass") -> None:
    """Messages arrive until a pass starts."""
    started = timeline.fill_until_asked(chat, size)
    expect(
        started,
        slug,
        expected=f"a pass starts past {timeline.trigger:,} pending characters (half of max_chars)",
        got=f"{sum(message.size for message in chat.said):,} characters have arrived, and the summariser was not asked",
    )


# -- SCH-1: below the trigger -----------------------------------------------------------------------------------------


@check("SCH-1", calls=("scheduler",), examples=25)
@given(sizes=st.lists(st.tuples(st.integers(0, 1), st.integers(60, 2_000)), min_size=2, max_size=25))
def below_the_trigger_a_session_is_loaded_once_at_most(adapter: Adapter, sizes: list[tuple[int, int]]) -> None:
    """Messages of two sessions, less than half of `max_chars` each; the one load is the look at the backlog."""
    timeline = Timeline(adapter, BY_CHARS)
    chats, pending = (timeline.chat(), timeline.chat()), [0, 0]
    for which, size in sizes:
        if pending[which] + size >= timeline.trigger:
            break
        timeline.append(chats[which], size)
        pending[which] += size
        expect(
            timeline.loads(chats[which]) <= 1,
            "loaded-below-the-trigger",
            expected=f"below {timeline.trigger:,} pending characters a session is loaded once, when it is first seen",
            got=f"at {pending[which]:,} it was loaded {timeline.loads(chats[which])} times",
        )
    event("many messages" if len(chats[0].said) > 8 else "few messages")


@check("SCH-1", calls=("scheduler",), after=("SCH-2",), examples=20)
@given(sizes=st.lists(st.integers(60, 2_000), min_size=3, max_size=12), size=SIZES)
def after_a_pass_nothing_is_loaded_below_the_trigger(adapter: Adapter, sizes: list[int], size: int) -> None:
    """Pending characters count from the last pass that succeeded."""
    timeline = Timeline(adapter, BY_CHARS)
    chat = timeline.chat()
    _starts(timeline, chat, size)
    timeline.drain()
    loads, pending = timeline.loads(chat), 0
    for more in sizes:
        pending += more
        if pending >= timeline.trigger:
            break
        timeline.append(chat, more)
        expect(
            timeline.loads(chat) == loads,
            "loaded-below-the-trigger",
            expected=f"nothing is loaded below {timeline.trigger:,} characters after a pass",
            got=f"the session was loaded at {pending:,}",
        )


# -- SCH-2: past the trigger ------------------------------------------------------------------------------------------


@check("SCH-2", calls=("scheduler",), examples=15)
@given(size=SIZES, after=st.integers(0, 5))
def a_pass_starts_past_the_trigger_and_nobody_waits_for_it(adapter: Adapter, size: int, after: int) -> None:
    """The summariser stalls; `appended` comes back all the same, and the pass ends when the summariser answers."""
    timeline = Timeline(adapter, BY_CHARS)
    chat = timeline.chat()
    timeline.stall()
    _starts(timeline, chat, size)
    for _ in range(after):
        timeline.append(chat, size)
    expect(
        not timeline.waiting,
        "caller-waits",
        expected="appended() comes back while the summariser is at work",
        got="it waits for the summariser",
    )
    timeline.drain()
    expect(
        chat.summary is not None,
        "pass-does-not-end",
        expected="when the summariser has answered and the scheduler is drained, the summary is stored",
        got="there is no summary row",
    )


# -- SCH-3: one pass at a time ----------------------------------------------------------------------------------------


@check("SCH-3", calls=("scheduler",), after=("SCH-2",), examples=15)
@given(size=SIZES, more=st.integers(4, 20), pause=st.sampled_from((0, 10, 301, 3_000)))
def a_session_has_one_pass_at_a_time(adapter: Adapter, size: int, more: int, pause: float) -> None:
    """While one pass waits for the summariser, messages for several more arrive, and time passes."""
    timeline = Timeline(adapter, BY_CHARS)
    chat = timeline.chat()
    timeline.stall()
    _starts(timeline, chat, size)
    for number in range(more):
        if number == 2:
            timeline.advance(pause)
        timeline.append(chat, 2_500)
        expect(
            timeline.overlap() is None,
            "two-passes-at-once",
            expected="one pass at a time over a session",
            got="the summariser is asked about the same messages a second time while it is at work on them",
        )
    timeline.drain()


@check("SCH-3", calls=("scheduler",), after=("SCH-2",), examples=10)
@given(size=SIZES)
def other_sessions_go_on_while_a_pass_runs(adapter: Adapter, size: int) -> None:
    """The summariser stalls over one session and answers about another."""
    timeline = Timeline(adapter, BY_CHARS)
    slow, other = timeline.chat(), timeline.chat()
    timeline.stall(slow)
    _starts(timeline, slow, size)
    done = timeline.fill(other, size, lambda: other.summary is not None)
    expect(
        done,
        "held-up-by-another-session",
        expected="a session is compacted while the summariser is still at work on another one",
        got=f"{sum(message.size for message in other.said):,} characters have arrived, and there is no summary",
    )
    timeline.drain()


# -- SCH-4: after a failure -------------------------------------------------------------------------------------------


@check("SCH-4", calls=("scheduler",), after=("SCH-2",), examples=6)
@given(
    steps=st.lists(st.tuples(st.sampled_from((99.0, 1.0, 0.0)), st.sampled_from((6_000, 60))), min_size=1, max_size=3)
)
def a_session_rests_after_a_failed_pass_and_then_tries_again(adapter: Adapter, steps: list[tuple[float, int]]) -> None:
    """No request within 300 seconds of a failed pass, whatever arrives; one with the first message after that."""
    timeline = Timeline(adapter, BY_CHARS)
    chat = timeline.chat()
    timeline.behave(KINDS[0])
    _starts(timeline, chat)
    for failure in KINDS[1:]:
        timeline.drain()
        rested, asked = 0.0, timeline.asked_about(chat)
        for seconds, size in steps:
            if rested + seconds >= COOLDOWN:
                break
            rested += seconds
            timeline.advance(seconds)
            timeline.append(chat, size)
            expect(
                timeline.asked_about(chat) == asked,
                "no-rest",
                expected=f"no request within {COOLDOWN:g} seconds of a pass that failed",
                got=f"the summariser is asked again after {rested:g} seconds",
            )
        timeline.advance(COOLDOWN + 1 - rested)
        timeline.behave(failure)
        timeline.append(chat, 12_000)
        expect(
            timeline.asked_about(chat) > asked,
            "no-new-attempt",
            expected=f"after {COOLDOWN:g} seconds the next message starts a new attempt",
            got="the summariser is not asked",
        )


@check("SCH-4", calls=("scheduler",), examples=10)
@given(size=SIZES, looks=st.integers(0, 2))
def nothing_to_do_is_no_failure(adapter: Adapter, size: int, looks: int) -> None:
    """A look at a transcript with nothing to summarise arms no cooldown: the clock stands still until a pass is due."""
    timeline = Timeline(adapter, BY_CHARS)
    chat = timeline.chat()
    for _ in range(looks):
        timeline.append(chat, size)
        timeline.restart()
    _starts(timeline, chat, size, "rests-without-a-failure")


# -- SCH-5: work is not forgotten -------------------------------------------------------------------------------------


@check("SCH-5", calls=("scheduler",), after=("SCH-2",), examples=15)
@given(size=SIZES)
def what_arrives_during_a_pass_counts_towards_the_next(adapter: Adapter, size: int) -> None:
    """More than `max_chars` arrive while the summariser is at work; then one short message is enough."""
    timeline = Timeline(adapter, BY_CHARS)
    chat = timeline.chat()
    timeline.stall()
    _starts(timeline, chat, size)
    known = len(chat.said)
    for _ in range(24_000 // size + 1):
        timeline.append(chat, size)
    timeline.drain()
    timeline.append(chat, 60)
    timeline.drain()
    late = chat.said[known : known + 2]
    expect(
        any(message.stands_in(request.text) for message in late for request in timeline.summariser.requests),
        "arrivals-forgotten",
        expected="24,000 characters that arrived during a pass start the next one, with the next message at the latest",
        got="the summariser was not asked about them",
    )


@check("SCH-5", calls=("scheduler",), after=("SCH-2", "SCH-4"), examples=20)
@given(
    cause=st.sampled_from((*KINDS, "load", "write")),
    during=st.sampled_from((1, 6)),
    resting=st.sampled_from((0, 6)),
)
def what_arrived_before_and_after_a_failure_still_counts(
    adapter: Adapter, cause: Behaviour | str, during: int, resting: int
) -> None:
    """A pass fails; when the session has rested, one short message is enough to try again."""
    timeline = Timeline(adapter, BY_CHARS)
    chat = timeline.chat()
    timeline.append(chat, 60)  # the look at a new session is over when things go wrong
    if isinstance(cause, Behaviour):
        timeline.behave(cause)
    else:
        timeline.tell(f"the next {cause} of the store will fail")
        timeline.store.fail(cause)  # type: ignore[arg-type]
    timeline.stall()
    for _ in range(14):
        timeline.append(chat, 1_500)
    for _ in range(during):
        timeline.append(chat, 1_500)
    timeline.drain()
    for _ in range(resting):
        timeline.append(chat, 1_500)
    timeline.behave(ANSWERS)
    timeline.drain()
    event("the pass has failed" if chat.summary is None else "a pass has succeeded all the same")
    timeline.advance(COOLDOWN + 1)
    timeline.append(chat, 60)
    timeline.drain()
    expect(
        chat.summary is not None,
        "failure-spends-the-count",
        expected="what was pending before a failed pass is pending after it, so that one short message is enough",
        got=f"{sum(message.size for message in chat.said):,} characters have arrived, and there is no summary",
    )


# -- SCH-6: nothing is raised -----------------------------------------------------------------------------------------


@check("SCH-6", calls=("scheduler",), examples=4)
@given(failures=st.permutations((*KINDS, "load", "write")), size=st.sampled_from((2_500, 900)))
def failures_of_store_and_summariser_do_not_reach_the_caller(
    adapter: Adapter, failures: list[Behaviour | str], size: int
) -> None:
    """Loads fail, or writes, or the summariser, in turn, in an old session and in a new one; messages go on."""
    timeline = Timeline(adapter, BY_CHARS)
    old = timeline.chat()
    for failure in failures:
        new = timeline.chat()
        timeline.stall()
        if isinstance(failure, Behaviour):
            timeline.behave(failure)
        else:
            timeline.tell(f"the {failure}s of the store fail")
            for _ in range(60):
                timeline.store.fail(failure)  # type: ignore[arg-type]
        with adapter.must_not_raise("raises", expected="appended() and drain() raise nothing when a pass fails"):
            for chat in (old, new):
                for _ in range(15_000 // size):
                    timeline.append(chat, size)
            timeline.drain()
        timeline.store.undisturbed()
        timeline.advance(COOLDOWN + 1)
    timeline.behave(ANSWERS)
    _starts(timeline, old, size, "dead-after-a-failure")


@check("SCH-6", calls=("scheduler",), after=("SCH-2",))
def without_an_event_loop_nothing_is_raised(adapter: Adapter) -> None:
    """`appended` is called where no event loop runs, far past the trigger; with a loop again, passes start."""
    timeline = Timeline(adapter, BY_CHARS)
    chat = timeline.chat()
    with adapter.must_not_raise("raises", expected="appended() raises nothing without an event loop"):
        for _ in range(20):
            message = chat.arrive(2_500)
            timeline.scheduler.appended_without_loop(chat.session, message.size)
    timeline.tell("20 messages arrive while no event loop runs (50,000 characters)")
    timeline.advance(COOLDOWN + 1)
    timeline.append(chat, 60)
    timeline.drain()
    if chat.summary is None:
        _starts(timeline, chat, slug="dead-without-a-loop")


# -- SCH-7: the row limit ---------------------------------------------------------------------------------------------


@check("SCH-7", calls=("scheduler",), examples=10)
@given(max_chars=st.sampled_from((0, 512_000)), max_rows=st.sampled_from((20, 40)), size=st.sampled_from((220, 400)))
def many_short_messages_start_a_pass(adapter: Adapter, max_chars: int, max_rows: int, size: int) -> None:
    """Four times `max_rows` messages, which together are far from half of `max_chars`."""
    timeline = Timeline(adapter, {"max_chars": max_chars, "max_rows": max_rows})
    chat = timeline.chat()
    for _ in range(4 * max_rows):
        timeline.append(chat, size)
        if timeline.asked_about(chat):
            return
    expect(
        False,
        "rows-do-not-trigger",
        expected=f"with max_rows {max_rows} a pass starts before {4 * max_rows} messages are waiting",
        got=f"{len(chat.said)} messages have arrived, and the summariser was not asked",
    )


@check("SCH-7", calls=("scheduler",), examples=8)
@given(
    max_chars=st.sampled_from((0, 512_000)),
    max_rows=st.sampled_from((20, 40)),
    stored=st.sampled_from((0.0, 0.6, 0.9)),
)
def as_many_messages_as_the_row_limit_start_a_pass(
    adapter: Adapter, max_chars: int, max_rows: int, stored: float
) -> None:
    """Messages so long that a pass is due with two of them over the limit; some were there before the scheduler."""
    timeline = Timeline(adapter, {"max_chars": max_chars, "max_rows": max_rows})
    chat = timeline.chat()
    if stored:
        chat.arrive_all([2_500] * int(stored * max_rows))
        timeline.restart()
    # The first `max_rows` of them stay; after that pass nothing more fits.
    for few in (max_rows if stored else max_rows * 7 // 4, max_rows):
        asked, more = timeline.asked_about(chat), 0
        while more < few and timeline.asked_about(chat) == asked:
            timeline.append(chat, 2_500)
            more += 1
        expect(
            timeline.asked_about(chat) > asked,
            "too-many-rows",
            expected=f"with max_rows {max_rows} a pass starts when {len(chat.said)} rows are stored, {few} of them new",
            got="the summariser was not asked",
        )
        timeline.drain()


@check("SCH-7", calls=("scheduler",), examples=6)
@given(max_rows=st.sampled_from((60, 100)), size=st.sampled_from((60, 500)))
def without_a_character_limit_not_every_message_starts_a_pass(adapter: Adapter, max_rows: int, size: int) -> None:
    """`max_chars` 0: few loads while no pass can be due, and fewer loads and requests than messages ever after."""
    timeline = Timeline(adapter, {"max_chars": 0, "max_rows": max_rows})
    chat = timeline.chat()
    few = max_rows * 9 // 20
    for number in range(1, 4 * max_rows + 1):
        timeline.append(chat, size)
        if number == few:
            expect(
                timeline.loads(chat) <= 1 + few // 4,
                "loaded-for-every-message",
                expected=f"{few} messages with max_rows {max_rows} are no reason to load the session again and again",
                got=f"it was loaded {timeline.loads(chat)} times",
            )
    loads, asked = timeline.loads(chat), timeline.asked_about(chat)
    expect(
        loads <= 0.8 * len(chat.said) and asked <= 0.55 * len(chat.said),
        "pass-for-every-message",
        expected=f"far fewer loads and requests than the {len(chat.said)} messages",
        got=f"{loads} loads and {asked} requests",
    )


# -- SCH-8: restarts --------------------------------------------------------------------------------------------------


@check("SCH-8", calls=("scheduler",), after=("SCH-2",), examples=10)
@given(size=SIZES, backlog=st.sampled_from((18_000, 40_000)))
def a_backlog_is_found_after_a_restart(adapter: Adapter, size: int, backlog: int) -> None:
    """Much was stored before the scheduler was made; a few short messages are enough to find it."""
    timeline = Timeline(adapter, BY_CHARS)
    chat = timeline.chat()
    chat.arrive_all([size] * (backlog // size))
    timeline.restart()
    for _ in range(3):
        timeline.append(chat, 60)
        timeline.drain()
    expect(
        timeline.asked_about(chat),
        "backlog-not-found",
        expected=f"a backlog of {backlog:,} characters is found without {timeline.trigger:,} new ones",
        got="the summariser was not asked",
    )


@check("SCH-8", calls=("scheduler",), after=("SCH-2",), examples=10)
@given(size=st.sampled_from((300, 900)), restarts=st.integers(1, 3), compacted=st.booleans())
def restarts_do_not_start_the_count_again(adapter: Adapter, size: int, restarts: int, compacted: bool) -> None:
    """A backlog just short of a pass, and a restart; less than half of `max_chars` completes it."""
    timeline = Timeline(adapter, BY_CHARS)
    chat = timeline.chat()
    if compacted:
        for large in (5_000, 12_000):  # the second is more than the budget, so that a pass leaves nothing
            timeline.append(chat, large)
        timeline.drain()
    event("a summary stands before it" if chat.summary else "no summary stands before it")
    asked = timeline.asked_about(chat)
    while sum(chat.sizes()) + size < timeline.trigger:
        timeline.append(chat, size)
    new = 0
    while new + size < timeline.trigger and timeline.asked_about(chat) == asked:
        if new < restarts * size:
            timeline.restart()
        timeline.append(chat, size)
        new += size
    expect(
        timeline.asked_about(chat) > asked,
        "count-starts-again",
        expected=f"what was stored before a restart counts: with {new:,} characters more, a pass starts",
        got="the summariser was not asked",
    )


# -- SCH-9: idle sessions ---------------------------------------------------------------------------------------------


@check("SCH-9", calls=("scheduler",))
def ten_thousand_idle_sessions_leave_no_growing_state(adapter: Adapter) -> None:
    """One message in each of 10,000 sessions, then in 2,500 more, and in 2,500 more: what it holds stops growing."""
    if not adapter.in_this_process:
        not_applicable("its memory is in another process")
    timeline = Timeline(adapter, BY_CHARS)
    own = (timeline.store, timeline.summariser, timeline.clock)
    heard = 0
    weights = []
    for sessions in (10_000, 2_500, 2_500):
        for start in range(heard, heard + sessions, 500):
            timeline.scheduler.appended_all((f"irc:main:#idle{number}", 100) for number in range(start, start + 500))
            timeline.drain()
        heard += sessions
        timeline.advance(86_400)
        timeline.scheduler.appended_all([(f"irc:main:#awake{heard}", 100)])
        timeline.drain()
        weights.append(weight(timeline.scheduler.state, own))
    # A table of bounded size may be made larger once, but not twice; a name alone takes more than fifty bytes.
    growth = min(weights[1] - weights[0], weights[2] - weights[1]) / 2_500
    expect(
        growth < 24,
        "state-grows",
        expected="after 10,000 idle sessions, more of them leave nothing behind",
        got=f"{weights[0]:,} bytes after 10,000 sessions, {weights[1]:,} after 12,500, {weights[2]:,} after 15,000",
    )


REACH = {
    "below_the_trigger_a_session_is_loaded_once_at_most": {"many messages": 0.05},
    "what_arrived_before_and_after_a_failure_still_counts": {"the pass has failed": 0.5},
    "restarts_do_not_start_the_count_again": {"a summary stands before it": 0.2, "no summary stands before it": 0.2},
}
