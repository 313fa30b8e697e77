"""Checks of GWY: the whole gateway, through messages, turns, compaction, failures and restarts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal, get_args

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from observed_context_conformance.checking import Adapter, check, expect, given, not_applicable, quote
from observed_context_conformance.chronicle import (
    COMMON,
    LONG,
    Chronicle,
    Said,
    Turn,
    answer_to,
    chronicle,
    rows_of,
    tokens,
)
from observed_context_conformance.environment import Request
from observed_context_conformance.payloads import text_of
from observed_context_conformance.port import Row
from observed_context_conformance.strategies.events import platforms
from observed_context_conformance.strategies.histories import (
    ANA,
    BEN,
    OTHER_GROUP,
    PLACES,
    ROOMS,
    ZOE,
    Again,
    Ask,
    AskWhile,
    BreakWrite,
    Burst,
    Person,
    Place,
    Restart,
    Say,
    Step,
    Summarising,
    Way,
    agains,
    asks,
    bursts,
    busy,
    dated_says,
    floods,
    meanwhiles,
    pairs,
    people,
    places,
    restarts,
    rooms,
    says,
    summarisings,
    talk,
    talk_with_restarts,
    tight,
    ways,
)

REACH: dict[str, dict[str, float]] = {
    "observing_asks_no_model_and_sends_nothing": {"a failed write": 0.2, "after a restart": 0.2},
    "a_second_delivery_leaves_one_row_and_no_second_turn": {"observed": 0.4, "addressed": 0.4},
    "equal_ids_of_different_chats_are_different_messages": {"the same id in two chats": 0.3},
    "equal_words_are_no_second_delivery": {"observed": 0.3, "addressed": 0.3},
    "an_addressed_copy_takes_the_place_of_the_passive_one": {"a restart between the copies": 0.1},
    "a_passive_copy_after_the_addressed_one_does_not_count": {"a restart between the copies": 0.1},
    "the_room_sees_what_was_said_in_it": {"asked in a topic": 0.2},
    "what_is_said_during_a_turn_is_context_of_the_next": {
        f"the turn {ending}": 0.1 for ending in ("answers", "fails", "is killed")
    },
    "a_request_that_waits_sees_what_was_said_before_it": {"the second request has its turn": 0.9},
    "what_is_said_while_the_summariser_works_is_seen": {"the summariser is at work": 0.9},
    "what_is_not_shown_word_for_word_is_summarised_or_counted": {"compacted": 0.5, "rows left out": 0.2},
    "observing_goes_on_after_a_failed_write": {"a write failed": 0.9},
    "the_next_block_is_the_same_after_a_restart": {"with a summary": 0.1, "without limits": 0.2},
    "observed_messages_are_found_after_compaction": {"compacted": 0.5},
    "turns_go_on_without_the_summariser": {f"the summariser {how}": 0.2 for how in ("fails", "stalls")},
    "the_cap_holds_without_the_summariser": {"many characters": 0.3, "many rows": 0.2},
    "an_internal_turn_leaves_the_next_one_as_it_was": {"where nothing was said yet": 0.2},
    "an_undo_takes_back_the_last_addressed_message": {"chatter after the request": 0.3, "across a restart": 0.2},
    "a_retry_runs_the_last_addressed_message": {"chatter after the request": 0.3, "across a restart": 0.2},
}


def _blocks(adapter: Adapter) -> None:
    """End a check that looks at blocks where there are none."""
    if adapter.description["profile"] != "block":
        not_applicable("an adapter of the ambient profile has no block")


def _run(told: Chronicle, steps: Sequence[Step]) -> list[Turn]:
    """Carry out steps; the turns among them."""
    return [turn for turn in map(told.do, steps) if turn is not None]


def _missing(turn: Turn, expected: Sequence[Said]) -> list[Said]:
    """Those of the expected messages that are not in the block."""
    return [said for said in expected if said.token not in turn.block]


def _seen(turn: Turn, expected: Sequence[Said], slug: str = "observed-message-not-seen") -> None:
    missing = _missing(turn, expected)
    expect(
        not missing,
        slug,
        expected=f"what was observed before {turn.said.token} in its block: {tokens(expected)}",
        got=f"{tokens(missing)} not in {quote(turn.block)}",
    )


def _never_a_request(turn: Turn, observed: Sequence[Said]) -> None:
    requests = turn.history + turn.first.message
    found = [said for said in observed if said.token in requests]
    expect(
        not found,
        "observed-message-became-a-request",
        expected=f"what was observed before {turn.said.token} in the block and nowhere else",
        got=f"{tokens(found)} in the history or in the addressed message: {quote(requests, 300)}",
    )


def _stored(told: Chronicle, place: Place, expected: Sequence[Said], slug: str, when: str) -> None:
    rows = told.transcript(place)
    missing = [said for said in expected if not rows_of(said, rows)]
    expect(
        not missing,
        slug,
        expected=f"a row for each message that {when}: {tokens(expected)}",
        got=f"none for {tokens(missing)} in {place.called}",
    )


# -- GWY-1 -----------------------------------------------------------------------------------------------------------

_broken_write: SearchStrategy[BreakWrite] = st.just(BreakWrite())
_quiet: SearchStrategy[list[Step]] = st.lists(
    st.one_of(says, says, bursts, asks, agains, restarts, _broken_write, _broken_write), min_size=2, max_size=12
)


@check("GWY-1", calls=("gateway",), examples=30)
@given(platform=platforms(), steps=_quiet, limits=st.one_of(st.none(), tight))
def observing_asks_no_model_and_sends_nothing(
    adapter: Adapter, platform: str, steps: list[Step], limits: dict[str, int] | None
) -> None:
    """Whatever is observed, wherever and when, the model is asked nothing and nothing is sent."""
    with chronicle(adapter, platform=platform, limits=limits) as told:
        world = told.environment
        heard = 0
        for step in steps:
            if isinstance(step, Restart) and heard:
                event("after a restart")
            asked, sent = len(world.models.payloads), len(world.sent)
            told.do(step)
            heard += isinstance(step, Say | Burst)
            if isinstance(step, Say | Burst):
                if world.failed:
                    event("a failed write")
                told.gateway.drain()
                expect(
                    len(world.models.payloads) == asked,
                    "observing-asked-the-model",
                    expected="no request to the model",
                    got=f"{len(world.models.payloads) - asked}, the last: {quote(world.models.payloads[-1:])}",
                )
                expect(
                    len(world.sent) == sent,
                    "observing-sent-something",
                    expected="nothing sent to any chat",
                    got=f"sent {quote(world.sent[-1:])}",
                )


STRANGE = Place("-100789", None, "a group off the allowlist")


@check("GATE-4", calls=("gate", "gateway"), examples=6)
@given(who=people, way=ways, killed=st.booleans())
def what_is_written_off_the_allowlist_is_neither_stored_nor_answered(
    adapter: Adapter, who: Person, way: Way, killed: bool
) -> None:
    """Somebody writes and somebody asks the bot in a group that nobody has allowed: nothing comes of it."""
    with chronicle(adapter) as told:
        said = [told.say(STRANGE, who), told.ask(STRANGE, who, way).said]
        told.restart(killed=killed)
        world = told.environment
        expect(
            not world.models.payloads and not world.sent,
            "dispatched",
            expected=f"no request to the model and no answer to {STRANGE.called}",
            got=f"{len(world.models.payloads)} requests; sent: {quote(world.sent)}",
        )
        stored = [message for message in said for hit in told.search(message.token, None) if hit]
        expect(not stored, "stored", expected="nothing stored", got=f"{tokens(stored)} is found by a search")


# -- GWY-2 -----------------------------------------------------------------------------------------------------------

_repeated: SearchStrategy[list[Step]] = st.builds(
    lambda first, steps: [first, *steps],
    st.one_of(says, asks),
    st.lists(st.one_of(says, asks, agains, agains, restarts), max_size=9),
)


def _deliver_again(told: Chronicle, said: Said) -> None:
    turns = told.requests_for(said)
    told.again(said)
    expect(
        told.requests_for(said) == turns,
        "second-turn",
        expected=f"one turn for {said.token}, however often it is delivered",
        got="the model is asked again",
    )


def _stored_once(told: Chronicle, said: Said) -> None:
    rows = rows_of(said, told.transcript(said.place))
    expect(
        len(rows) <= 1,
        "stored-twice",
        expected=f"one row for {said.token}",
        got=f"{len(rows)} rows in {said.place.called}",
    )


@check("GWY-2", calls=("gateway",), examples=30)
@given(platform=platforms(), steps=_repeated, killed=st.booleans())
def a_second_delivery_leaves_one_row_and_no_second_turn(
    adapter: Adapter, platform: str, steps: list[Step], killed: bool
) -> None:
    """Messages are delivered again, at once, later and after a restart: the row stays one, there is no second turn."""
    with chronicle(adapter, platform=platform) as told:
        for step in steps:
            if isinstance(step, Again):
                for said in told.said[-1 - step.back :][:1]:
                    _deliver_again(told, said)
            else:
                told.do(step)
        told.restart(killed=killed)
        for said in list(told.said):
            event("addressed" if said.addressed else "observed")
            _deliver_again(told, said)
        for said in told.said:
            _stored_once(told, said)


@check("GWY-2", calls=("gateway",), examples=8)
@given(place=places, who=people, copies=st.integers(1, 2))
def a_copy_that_arrives_during_the_turn_starts_no_second_one(
    adapter: Adapter, place: Place, who: Person, copies: int
) -> None:
    """A message is delivered again while the bot still answers it: there is one turn, and one row."""
    with chronicle(adapter) as told:
        usual = len(told.ask(place, who).requests)
        said = told.request(place, who)
        told.environment.stall_model()
        told.begin(said)
        for _ in range(copies):
            told.again(said)
        told.let_answer()
        expect(
            told.requests_for(said) <= usual,
            "second-turn-meanwhile",
            expected=f"one turn for {said.token}",
            got=f"{told.requests_for(said)} requests to the model instead of {usual}",
        )
        _stored_once(told, said)


@check("GWY-2", calls=("gateway",), examples=14)
@given(steps=st.lists(st.one_of(says, asks), min_size=2, max_size=8))
def equal_ids_of_different_chats_are_different_messages(adapter: Adapter, steps: list[Step]) -> None:
    """Each chat numbers its messages from 1: all observed ones are stored, and all addressed ones get their turn."""
    with chronicle(adapter, ids_for_each_chat=True) as told:
        for turn in _run(told, steps):
            expect(
                turn.requests,
                "turn-missing",
                expected=f"a turn for {turn.said.token}, the first with the id {turn.said.event['id']} in its chat",
                got="no request to the model",
            )
        ids = [said.event["id"] for said in told.said]
        if len(set(ids)) < len(ids):
            event("the same id in two chats")
        for place in told.touched():
            _stored(told, place, told.observed(place), "row-missing", "has its id from its own chat")


@check("GWY-2", calls=("gateway",), examples=12)
@given(place=rooms, who=people, addressed=st.booleans(), between=st.lists(st.one_of(says, restarts), max_size=2))
def equal_words_are_no_second_delivery(
    adapter: Adapter, place: Place, who: Person, addressed: bool, between: list[Step]
) -> None:
    """Somebody says the same words again, as a message with an id of its own: it is a message of its own."""
    with chronicle(adapter) as told:
        first = told.request(place, who) if addressed else told.write(place, who)
        told.tell(f"{who.called} writes to {place.called}: {quote(first.event['text'])}")
        told.deliver(first)
        _run(told, between)
        asked = told.requests_for(first)
        second = told.request(place, who) if addressed else told.write(place, who)
        told.tell(f"{who.called} writes the same words again")
        told.deliver(replace(second, event={**second.event, "text": first.event["text"]}))
        event("addressed" if addressed else "observed")
        if addressed:
            expect(
                told.requests_for(first) > asked,
                "request-taken-for-a-copy",
                expected="a turn for each of two requests in the same words",
                got="no request to the model for the second one",
            )
        rows = rows_of(first, told.transcript(place))
        expect(
            len(rows) == 2,
            "message-taken-for-a-copy",
            expected=f"two rows with {first.token}, for two messages",
            got=f"{len(rows)} in {place.called}",
        )


# -- GWY-3 -----------------------------------------------------------------------------------------------------------

_copied: SearchStrategy[Way] = st.sampled_from(("reply", "name"))
"""Ways to address the bot that the passive copy does not show."""
_between: SearchStrategy[list[Step]] = st.lists(st.one_of(says, restarts), max_size=3)
"""What happens between the two copies."""


@check("GWY-3", calls=("gateway",), examples=18)
@given(
    place=rooms,
    who=people,
    way=_copied,
    before=st.lists(says, max_size=2),
    between=_between,
    restart=st.one_of(st.none(), restarts),
)
def an_addressed_copy_takes_the_place_of_the_passive_one(
    adapter: Adapter,
    *,
    place: Place,
    who: Person,
    way: Way,
    before: list[Step],
    between: list[Step],
    restart: Restart | None,
) -> None:
    """A message was observed, and its addressed copy comes: it has its turn, and is in no block, then or later."""
    _blocks(adapter)
    with chronicle(adapter) as told:
        _run(told, before)
        said = told.request(place, who, way)
        _passive_copy(told, said)
        _run(told, between)
        _addressed_copy(told, said)
        _counted_once(told, said, restart, between)


@check("GWY-3", calls=("gateway",), examples=18)
@given(
    place=rooms,
    who=people,
    way=_copied,
    before=st.lists(says, max_size=2),
    between=_between,
    restart=st.one_of(st.none(), restarts),
)
def a_passive_copy_after_the_addressed_one_does_not_count(
    adapter: Adapter,
    *,
    place: Place,
    who: Person,
    way: Way,
    before: list[Step],
    between: list[Step],
    restart: Restart | None,
) -> None:
    """A message had its turn, and its passive copy comes: the message is in no block, neither then nor later."""
    _blocks(adapter)
    with chronicle(adapter) as told:
        _run(told, before)
        said = told.request(place, who, way)
        _addressed_copy(told, said)
        _run(told, between)
        _passive_copy(told, said)
        _counted_once(told, said, restart, between)


@check("GWY-3", calls=("gateway",), examples=8)
@given(place=rooms, who=people, way=_copied, before=st.lists(says, max_size=2), restart=st.one_of(st.none(), restarts))
def a_passive_copy_during_the_turn_does_not_count(
    adapter: Adapter, *, place: Place, who: Person, way: Way, before: list[Step], restart: Restart | None
) -> None:
    """While the bot answers a message its passive copy arrives: the message is in no block, neither then nor later."""
    _blocks(adapter)
    with chronicle(adapter) as told:
        _run(told, before)
        said = told.request(place, who, way)
        told.environment.stall_model()
        _addressed_copy(told, said)
        _passive_copy(told, said)
        told.let_answer()
        _counted_once(told, said, restart, [])


def _passive_copy(told: Chronicle, said: Said) -> None:
    text = quote(said.event["text"])
    told.tell(f"a copy arrives in {said.place.called} that does not show that it is for the bot: {text}")
    told.deliver(told.passive(said))


def _addressed_copy(told: Chronicle, said: Said) -> None:
    told.tell(f"a copy arrives in {said.place.called} that shows that it is for the bot: {quote(said.event['text'])}")
    told.deliver(said)


def _counted_once(told: Chronicle, said: Said, restart: Restart | None, between: Sequence[Step]) -> None:
    if any(isinstance(step, Restart) for step in between):
        event("a restart between the copies")
    turn = told.turn_of(said)
    expect(
        turn.requests,
        "addressed-copy-swallowed",
        expected=f"a turn for {said.token}",
        got="no request to the model",
    )
    expect(
        said.token not in turn.block,
        "own-copy-in-the-block",
        expected=f"{said.token} as the addressed message alone",
        got=f"it is in the block as well: {quote(turn.block)}",
    )
    times = turn.everything.count(said.token)
    expect(
        times <= 1,
        "own-message-twice",
        expected=f"{said.token} once in the request for it",
        got=f"{times} times",
    )
    later = [told.ask(said.place, ZOE)]
    if restart is not None:
        told.do(restart)
        later.append(told.ask(said.place, ZOE))
    for other in later:
        expect(
            said.token not in other.block,
            "copy-in-a-later-block",
            expected=f"{said.token} in no later block",
            got=f"the block {quote(other.block)}",
        )
        times = other.everything.count(said.token)
        expect(
            times <= 1,
            "seen-twice",
            expected=f"{said.token} once in a later request",
            got=f"{times} times",
        )


# -- GWY-4 -----------------------------------------------------------------------------------------------------------


@check("GWY-4", calls=("gateway",), after=("TURN-2",), examples=28)
@given(platform=platforms(), steps=talk)
def the_room_sees_what_was_said_in_it(adapter: Adapter, platform: str, steps: list[Step]) -> None:
    """Whoever addresses the bot in a chat or topic, all that was observed there before is in the block."""
    _blocks(adapter)
    with chronicle(adapter, platform=platform) as told:
        for step in steps:
            turn = told.do(step)
            if turn is not None and not turn.said.place.direct:
                _seen(turn, told.observed(turn.said.place))
        for place in told.touched():
            if place.topic is not None:
                event("asked in a topic")
            if not place.direct:
                _seen(told.ask(place, ZOE), told.observed(place))


@check("GWY-4", calls=("gateway",), examples=28)
@given(platform=platforms(), steps=talk)
def nobody_sees_what_was_said_elsewhere(adapter: Adapter, platform: str, steps: list[Step]) -> None:
    """Nothing of another chat, another topic or a direct chat is in a request, and no answer to somebody there."""
    with chronicle(adapter, platform=platform) as told:
        turns = [*_run(told, steps), *(told.ask(place, ZOE) for place in PLACES)]
        for turn in turns:
            _only_of_its_own_place(told, turn)


def _only_of_its_own_place(told: Chronicle, turn: Turn) -> None:
    everything = turn.everything
    others = told.elsewhere(turn.said.place)
    found = [said for said in others if said.token in everything]
    expect(
        not found,
        "seen-elsewhere",
        expected=f"nothing but what was said in {turn.said.place.called} in the request for {turn.said.token}",
        got="; ".join(f"{said.token} of {said.place.called}" for said in found),
    )
    answered = [said for said in others if said.addressed and _answer(said) in everything]
    expect(
        not answered,
        "answer-seen-elsewhere",
        expected=f"nothing but what was said in {turn.said.place.called} in the request for {turn.said.token}",
        got="; ".join(f"the answer to {said.token} of {said.place.called}" for said in answered),
    )


def _answer(said: Said) -> str:
    return answer_to(said.token[-2:])


@check("GWY-4", calls=("gateway",), after=("TURN-2", "TURN-12"), examples=28)
@given(
    before=st.lists(people, max_size=2),
    during=meanwhiles,
    steps=st.lists(st.one_of(meanwhiles, meanwhiles, says, asks), max_size=4),
)
def what_is_said_during_a_turn_is_context_of_the_next(
    adapter: Adapter, before: list[Person], during: AskWhile, steps: list[Step]
) -> None:
    """What is observed while the bot answers, fails to answer or is killed is in the next block, and is no request.

    So is what was said before a turn that failed.
    """
    _blocks(adapter)
    with chronicle(adapter) as told:
        for who in before:
            told.say(during.ask.place, who)
        for step in (during, *steps):
            if isinstance(step, AskWhile):
                event(f"the turn {step.ending}")
            earlier = {place: told.observed(place) for place in ROOMS}
            turn = told.do(step)
            if turn is not None and turn.requests and not turn.said.place.direct:
                _never_a_request(turn, earlier[turn.said.place])
                _seen(turn, earlier[turn.said.place])
        for place in told.touched():
            if not place.direct:
                observed = told.observed(place)
                turn = told.ask(place, ZOE)
                _never_a_request(turn, observed)
                _seen(turn, observed)


@check("GWY-4", calls=("gateway",), after=("TURN-2", "TURN-12"), examples=12)
@given(
    place=rooms,
    who=st.sampled_from((ANA, BEN)),
    before=st.lists(says, max_size=2),
    meanwhile=st.lists(people, min_size=1, max_size=2),
)
def a_request_that_waits_sees_what_was_said_before_it(
    adapter: Adapter, place: Place, who: Person, before: list[Step], meanwhile: list[Person]
) -> None:
    """While the bot answers something is said, and then Zoe asks: a request that waits for its turn sees that."""
    _blocks(adapter)
    with chronicle(adapter) as told:
        _run(told, before)
        told.environment.stall_model()
        told.begin(told.request(place, who))
        for other in meanwhile:
            told.say(place, other)
        observed = told.observed(place)
        second = told.request(place, ZOE)
        told.begin(second)
        told.let_answer()
        turn = told.turn_of(second)
        if turn.requests:  # a gateway may turn away who comes while it is busy
            event("the second request has its turn")
            _seen(turn, observed)
            _never_a_request(turn, observed)


@check("GWY-4", calls=("gateway",), after=("TURN-2", "GWY-9"), examples=8)
@given(place=rooms, count=st.integers(6, 9), late=st.lists(people, min_size=1, max_size=2), limits=tight)
def what_is_said_while_the_summariser_works_is_seen(
    adapter: Adapter, place: Place, count: int, late: list[Person], limits: dict[str, int]
) -> None:
    """A pass of compaction is at work, and what is said meanwhile is stored, and in the next block."""
    _blocks(adapter)
    with chronicle(adapter, limits=limits) as told:
        told.summarising(Summarising("stalls"))
        told.burst(place, count)
        said = [told.say(place, who) for who in late]
        if told.environment.summariser.requests:
            event("the summariser is at work")
        told.summarising(Summarising("answers"))
        told.gateway.drain()
        _stored(told, place, said, "row-missing", "came while the summariser was at work")
        _seen(told.ask(place, ZOE), said)


@check("GWY-4", calls=("gateway",), examples=14)
@given(
    where=st.lists(places, min_size=2, max_size=4, unique=True),
    before=st.lists(says, max_size=4),
)
def turns_of_several_chats_at_once_do_not_mix(adapter: Adapter, where: list[Place], before: list[Step]) -> None:
    """The bot is addressed in several places at the same moment: requests and answers keep to their own place."""
    with chronicle(adapter) as told:
        _run(told, before)
        told.environment.stall_model()
        messages = [told.request(place, ZOE) for place in where]
        told.begin(*messages)
        told.let_answer()
        for said in messages:
            _only_of_its_own_place(told, told.turn_of(said))
            _answered_at_home(told, said, where)
        for said in messages:
            _only_of_its_own_place(told, told.ask(said.place, ZOE))


def _answered_at_home(told: Chronicle, said: Said, where: Sequence[Place]) -> None:
    home, text = said.place, _answer(said)
    sent = [(chat, topic) for chat, topic, answer in told.environment.sent if text in answer]
    expect(
        all(place == (home.chat, home.topic) for place in sent),
        "answer-sent-elsewhere",
        expected=f"the answer to {said.token} sent to {home.called}",
        got=f"sent to {sent}",
    )
    strange = [
        place.called
        for place in where
        if place != home and any(text in text_of(row.get("content")) for row in told.transcript(place))
    ]
    expect(
        not strange,
        "answer-stored-elsewhere",
        expected=f"the answer to {said.token} stored in {home.called}",
        got=f"stored in {', '.join(strange)}",
    )


_overflowing: SearchStrategy[list[Step]] = st.lists(
    st.one_of(says, bursts, bursts, asks, restarts, summarisings, summarisings), min_size=2, max_size=6
)


@check("GWY-4", calls=("gateway",), after=("TURN-2", "GWY-9"), examples=24)
@given(first=floods, steps=_overflowing, limits=tight)
def what_is_not_shown_word_for_word_is_summarised_or_counted(
    adapter: Adapter, first: Burst, steps: list[Step], limits: dict[str, int]
) -> None:
    """Where more is said than the limits hold, each observed message is shown, summarised, or counted in the note."""
    _blocks(adapter)
    with chronicle(adapter, limits=limits) as told:
        for step in [first, *steps]:
            turn = told.do(step)
            if turn is not None and not turn.said.place.direct:
                _accounted_for(told, turn)
        for place in told.touched():
            if not place.direct:
                _accounted_for(told, told.ask(place, ZOE))


def _accounted_for(told: Chronicle, turn: Turn) -> None:
    hidden = _missing(turn, told.observed(turn.said.place))
    summarised = told.summarised()
    gone = [said for said in hidden if said.token not in summarised]
    if len(gone) < len(hidden):
        event("compacted")
    if gone:
        event("rows left out")
    expect(
        len(gone) <= told.left_out(turn.block),
        "observed-message-lost",
        expected="each observed message in the block, given to the summariser, or counted in the note",
        got=f"{tokens(gone)} in none, and the note counts {told.left_out(turn.block)}",
    )
    own = [request.answer for request in _summaries_of(told, turn.said.place)]
    shown = [answer for answer in own if answer and answer in turn.block]
    expect(
        shown or len(gone) == len(hidden),
        "summary-missing",
        expected="the summary of what is not shown in the block",
        got=f"no summary in {quote(turn.block)}",
    )
    foreign = [
        place.called
        for place in told.touched()
        if place != turn.said.place
        for request in _summaries_of(told, place)
        if request.answer and request.answer in turn.everything
    ]
    expect(
        not foreign,
        "summary-of-another-room",
        expected=f"no summary but that of {turn.said.place.called}",
        got=f"a summary of {', '.join(foreign)}",
    )


def _summaries_of(told: Chronicle, place: Place) -> list[Request]:
    """The summariser's requests that hold something of a place."""
    said = [said.token for said in told.said if said.place == place]
    return [request for request in told.environment.summariser.requests if any(token in request.text for token in said)]


# -- GWY-5 -----------------------------------------------------------------------------------------------------------


def _observe_with_failures(told: Chronicle, place: Place, who: Person, times: int) -> Said:
    """Something is said while the next writes fail."""
    told.break_writes("row", times)
    said = told.say(place, who)
    told.environment.mend()
    if told.environment.failed:
        event("a write failed")
    elif not told.environment.writes:
        not_applicable("the gateway announces no writes, so that none of them can be made to fail")
    return said


@check("GWY-5", calls=("gateway",), examples=20)
@given(
    before=st.lists(st.one_of(says, asks), max_size=3),
    place=rooms,
    who=people,
    failures=st.lists(st.sampled_from((1, 4)), min_size=1, max_size=3),
    after=st.lists(says, min_size=1, max_size=3),
    killed=st.booleans(),
)
def observing_goes_on_after_a_failed_write(
    adapter: Adapter,
    *,
    before: list[Step],
    place: Place,
    who: Person,
    failures: list[int],
    after: list[Step],
    killed: bool,
) -> None:
    """Rows cannot be stored: nothing is raised, later messages are stored for good, addressed ones get their turn."""
    with chronicle(adapter) as told:
        _run(told, before)
        with adapter.must_not_raise("receive-raised", expected="receive() returns although a write failed"):
            lost = [_observe_with_failures(told, place, who, times).token for times in failures]
            _run(told, [*after, Say(place, who)])
        turn = told.ask(place, ZOE)
        expect(
            turn.requests,
            "turn-missing",
            expected="a turn for the next addressed message",
            got="no request to the model",
        )
        told.restart(killed=killed)
        for room in told.touched():
            expected = [said for said in told.observed(room) if said.token not in lost]
            _stored(told, room, expected, "later-message-not-stored", "came before or after the failure")


@check("GWY-5", calls=("gateway",), after=("GWY-2",), examples=16)
@given(
    place=rooms,
    who=people,
    times=st.sampled_from((1, 4)),
    between=st.lists(st.one_of(says, restarts), max_size=2),
    killed=st.booleans(),
)
def a_message_whose_write_failed_can_come_again(
    adapter: Adapter, *, place: Place, who: Person, times: int, between: list[Step], killed: bool
) -> None:
    """The platform delivers a message again whose row could not be stored: now it is stored, once."""
    with chronicle(adapter) as told:
        with adapter.must_not_raise("receive-raised", expected="receive() returns although a write failed"):
            said = _observe_with_failures(told, place, who, times)
        _run(told, between)
        told.again(said)
        told.restart(killed=killed)
        _stored(told, place, [said], "second-delivery-refused", "came again after its write had failed")
        _stored_once(told, said)


@check("GWY-5", calls=("gateway",), examples=8)
@given(limits=tight, place=rooms, who=people)
def a_summary_that_cannot_be_stored_disturbs_nobody(
    adapter: Adapter, limits: dict[str, int], place: Place, who: Person
) -> None:
    """A summary cannot be stored: nothing is raised, later messages are stored, and addressed ones get their turn."""
    with chronicle(adapter, limits=limits) as told:
        told.break_writes("summary")
        with adapter.must_not_raise("receive-raised", expected="receive() returns although a write failed"):
            told.burst(place, 9)
            told.gateway.drain()
            told.say(place, who)
        if told.environment.failed:
            event("a write failed")
        expect(
            told.ask(place, ZOE).requests,
            "turn-missing",
            expected="a turn for the next addressed message",
            got="no request to the model",
        )
        _stored(told, place, told.observed(place), "message-not-stored", "came before or after the failure")


# -- GWY-6 -----------------------------------------------------------------------------------------------------------


def _comparable(rows: Sequence[Row]) -> list[Row]:
    return [{key: value for key, value in row.items() if key != "extra"} for row in rows]  # type: ignore[misc]


@check("GWY-6", calls=("gateway",), examples=20)
@given(
    platform=platforms(),
    steps=st.lists(st.one_of(says, asks, bursts, restarts), min_size=1, max_size=8),
    limits=st.one_of(st.none(), tight),
    killed=st.booleans(),
)
def the_same_rows_are_there_after_a_restart(
    adapter: Adapter, platform: str, steps: list[Step], limits: dict[str, int] | None, killed: bool
) -> None:
    """However the gateway ended, all rows that were there before are there afterwards, the same and in that order."""
    with chronicle(adapter, platform=platform, limits=limits) as told:
        for step in [*steps, Restart(killed)]:
            if not isinstance(step, Restart):
                told.do(step)
                continue
            told.gateway.drain()
            before = {place: _comparable(told.transcript(place)) for place in told.touched()}
            told.do(step)
            for place, rows in before.items():
                after = _comparable(told.transcript(place))
                changed = [row for row, now in zip(rows, after, strict=False) if row != now]
                expect(
                    rows == after[: len(rows)],
                    "rows-differ",
                    expected=f"the same {len(rows)} rows in {place.called}",
                    got=f"{len(after)} rows; the first that differs was {quote(changed[:1])}",
                )


_remembered: SearchStrategy[tuple[dict[str, int] | None, list[Step]]] = st.one_of(
    st.tuples(st.none(), talk_with_restarts), st.tuples(tight, busy)
)


@check("GWY-6", calls=("gateway",), after=("TURN-2",), examples=28)
@given(scene=_remembered, killed=st.booleans())
def the_next_block_is_the_same_after_a_restart(
    adapter: Adapter, scene: tuple[dict[str, int] | None, list[Step]], killed: bool
) -> None:
    """Zoe asks, the gateway is restarted, and she asks again: the block shows the same messages, the same summary."""
    _blocks(adapter)
    limits, steps = scene
    with chronicle(adapter, limits=limits) as told:
        _run(told, steps)
        told.gateway.drain()
        asked_in = [place for place in told.touched() if not place.direct]
        first = [told.ask(place, ZOE) for place in asked_in]
        told.gateway.drain()
        passes = len(told.environment.summariser.requests)
        told.restart(killed=killed)
        for turn in first:
            again = told.ask(turn.said.place, ZOE)
            if len(told.environment.summariser.requests) > passes:
                event("compacted after the restart")
                return
            event("without limits" if limits is None else "with a summary" if passes else "within tight limits")
            if limits is None:
                _seen(again, told.observed(turn.said.place), "observed-message-not-seen-after-a-restart")
            expect(
                _outline(told, again) == _outline(told, turn),
                "block-differs",
                expected=f"the block of before: {_outline(told, turn)}",
                got=_outline(told, again),
            )


def _outline(told: Chronicle, turn: Turn) -> str:
    """What a block shows, without regard to how: summary and observed messages."""
    summaries = [
        request.answer
        for request in told.environment.summariser.requests
        if request.answer and request.answer in turn.block
    ]
    shown = [said.token for said in told.observed(turn.said.place) if said.token in turn.block]
    return "; ".join(filter(None, [*summaries, " ".join(shown)])) or "nothing"


# -- GWY-7 -----------------------------------------------------------------------------------------------------------

_dated: SearchStrategy[list[Step]] = st.lists(
    st.one_of(dated_says, dated_says, asks, restarts), min_size=2, max_size=10
)


@check("GWY-7", calls=("gateway",), examples=24)
@given(platform=platforms(), steps=_dated)
def rows_stand_in_order_of_arrival(adapter: Adapter, platform: str, steps: list[Step]) -> None:
    """Whatever their times say, and over restarts, messages stand in a transcript as they arrived."""
    with chronicle(adapter, platform=platform) as told:
        _run(told, steps)
        for place in told.touched():
            rows = told.transcript(place)
            _in_order(told, place, rows)
            numbers = [row["seq"] for row in rows if "seq" in row]
            expect(
                numbers == sorted(set(numbers)),
                "seq-not-ascending",
                expected="rows in ascending seq",
                got=f"{numbers}",
            )


def _in_order(told: Chronicle, place: Place, rows: Sequence[Row]) -> None:
    arrived = [said for said in told.said if said.place == place]
    stored = [said.token for row in rows for said in arrived if rows_of(said, [row])]
    wanted = [said.token for said in arrived if said.token in stored]
    expect(
        stored == wanted,
        "not-in-order-of-arrival",
        expected=f"rows in order of arrival: {' '.join(wanted)}",
        got=" ".join(stored),
    )


@check("GWY-7", calls=("gateway",), examples=12)
@given(steps=st.lists(st.one_of(says, meanwhiles), min_size=1, max_size=3))
def a_request_stands_before_what_was_said_during_its_turn(adapter: Adapter, steps: list[Step]) -> None:
    """A message that was observed while the bot answered stands behind the message that it answered."""
    with chronicle(adapter) as told:
        _run(told, steps)
        for place in told.touched():
            _in_order(told, place, told.transcript(place))


@check("GWY-7", calls=("gateway",), after=("ROW-1",), examples=20)
@given(platform=platforms(), steps=_dated)
def the_platforms_time_is_kept(adapter: Adapter, platform: str, steps: list[Step]) -> None:
    """The row of an observed message has the time that the platform gave, in whatever zone, also after a restart."""
    with chronicle(adapter, platform=platform) as told:
        _run(told, steps)
        for place in told.touched():
            rows = told.transcript(place)
            for said in told.observed(place):
                for row in rows_of(said, rows):
                    given_time = said.event["time"]
                    expect(
                        _moment(row.get("time")) == _moment(given_time),
                        "time-changed",
                        expected=f"the time of {said.token} as the platform gave it: {given_time}",
                        got=f"{row.get('time')}",
                    )


def _moment(time: str | None) -> datetime | None:
    return datetime.fromisoformat(time) if time else None


# -- GWY-8 -----------------------------------------------------------------------------------------------------------

SEARCHES = 6
"""For how many messages of a history is searched."""


def _found(told: Chronicle, messages: Sequence[Said], slug: str) -> None:
    for index, said in enumerate(messages[:SEARCHES]):
        chat = said.place.chat if index % 2 == 0 else None
        hits = [hit for hit in told.search(said.token, chat) if rows_of(said, [hit["row"]])]
        expect(
            hits,
            slug,
            expected=f"{said.token} found",
            got="no hit that holds it",
        )
        home = (said.place.chat, said.place.topic)
        expect(
            all((hit["chat"], hit["topic"]) == home for hit in hits),
            "found-in-the-wrong-place",
            expected=f"{said.token} found in {said.place.called}: {home}",
            got=f"{[(hit['chat'], hit['topic']) for hit in hits]}",
        )


@check("GWY-8", calls=("gateway",), examples=16)
@given(platform=platforms(), steps=talk_with_restarts)
def observed_messages_are_found(adapter: Adapter, platform: str, steps: list[Step]) -> None:
    """A word of an observed message finds it, in its chat and in all chats, where it was said."""
    with chronicle(adapter, platform=platform) as told:
        _run(told, steps)
        _found(told, [said for place in told.touched() for said in told.observed(place)], "not-found")


@check("GWY-8", calls=("gateway",), examples=10)
@given(place=rooms, counts=st.lists(st.integers(6, 9), min_size=1, max_size=2), limits=tight, restart=st.booleans())
def observed_messages_are_found_after_compaction(
    adapter: Adapter, place: Place, counts: list[int], limits: dict[str, int], restart: bool
) -> None:
    """A word of a message that has been summarised still finds the message itself."""
    with chronicle(adapter, limits=limits) as told:
        for count in counts:
            told.burst(place, count)
        told.gateway.drain()
        if told.summarised():
            event("compacted")
        if restart:
            told.restart(killed=False)
        _found(told, told.observed(place), "not-found-after-compaction")


# -- GWY-9 -----------------------------------------------------------------------------------------------------------

_room_asks: SearchStrategy[Ask] = st.builds(Ask, st.sampled_from(ROOMS[:2]), people)
_without_summariser: SearchStrategy[list[Step]] = st.lists(
    st.one_of(bursts, _room_asks, summarisings), min_size=1, max_size=6
)
_first_failure: SearchStrategy[Summarising] = st.builds(
    Summarising, st.sampled_from(("fails", "stalls")), st.integers(0, 9)
)


@check("GWY-9", calls=("gateway",), examples=24)
@given(first=_first_failure, steps=_without_summariser, limits=tight)
def turns_go_on_without_the_summariser(
    adapter: Adapter, first: Summarising, steps: list[Step], limits: dict[str, int]
) -> None:
    """While the summariser fails or does not come back, whoever addresses the bot gets an answer all the same."""
    with chronicle(adapter, limits=limits) as told:
        for step in [first, *steps]:
            if isinstance(step, Summarising) and step.how != "answers":
                event(f"the summariser {step.how}")
            with adapter.must_not_raise("turn-raised", expected="receive() returns whatever the summariser does"):
                turn = told.do(step)
            _goes_on(told, turn)
        for place in told.touched():
            with adapter.must_not_raise("turn-raised", expected="receive() returns whatever the summariser does"):
                turn = told.ask(place, ZOE)
            _goes_on(told, turn)


def _goes_on(told: Chronicle, turn: Turn | None) -> None:
    if turn is None:
        return
    expect(
        not turn.waits,
        "turn-waits-for-the-summariser",
        expected=f"the turn of {turn.said.token} comes to its end without the summariser",
        got="it waits for the summariser",
    )
    expect(
        turn.requests,
        "turn-missing",
        expected=f"a turn for {turn.said.token} although the summariser does not answer",
        got="no request to the model",
    )
    expect(
        _answers_sent(told, turn.said),
        "answer-not-sent",
        expected=f"the answer to {turn.said.token} sent to {turn.said.place.called}",
        got="the model has answered, and nobody was told",
    )


def _answers_sent(told: Chronicle, said: Said) -> int:
    """How often its own place was sent the answer to a message."""
    home = (said.place.chat, said.place.topic)
    return sum((chat, topic) == home and _answer(said) in text for chat, topic, text in told.environment.sent)


@check("GWY-9", calls=("gateway",), after=("TURN-2",), examples=30)
@given(first=_first_failure, steps=_without_summariser, limits=tight)
def the_cap_holds_without_the_summariser(
    adapter: Adapter, first: Summarising, steps: list[Step], limits: dict[str, int]
) -> None:
    """While nothing, something or again nothing is summarised, no block is longer than the limits allow."""
    _blocks(adapter)
    with chronicle(adapter, limits=limits) as told:
        turns = _run(told, [first, *steps])
        for place in told.touched():
            turns.append(told.ask(place, ZOE))
        told.summarising(Summarising("answers"))
        for place in told.touched():
            turns.append(told.ask(place, ZOE))
        for turn in turns:
            if turn.requests:
                _within(told, turn, limits)


def _within(told: Chronicle, turn: Turn, limits: dict[str, int]) -> None:
    shown = set(told.tokens_in(turn.block))
    if len(turn.block) > limits["max_chars"] // 2 > 0:
        event("many characters")
    if len(shown) == limits["max_rows"]:
        event("many rows")
    expect(
        len(turn.block) <= (limits["max_chars"] or len(turn.block)),
        "longer-than-max-chars",
        expected=f"a block of at most {limits['max_chars']} characters",
        got=f"{len(turn.block)} characters",
    )
    expect(
        len(shown) <= (limits["max_rows"] or len(shown)),
        "more-than-max-rows",
        expected=f"at most {limits['max_rows']} rows",
        got=f"{len(shown)} rows",
    )


@check("SCH-2", calls=("scheduler", "gateway"), examples=4)
@given(place=rooms, limits=tight)
def a_gateway_in_which_enough_is_said_asks_the_summariser(
    adapter: Adapter, place: Place, limits: dict[str, int]
) -> None:
    """Three times as many long messages are observed as its limits hold."""
    with chronicle(adapter, limits=limits) as told:
        for _ in range(3):
            told.burst(place, 9)
            told.gateway.drain()
        expect(
            told.environment.summariser.requests,
            "no-pass-in-the-gateway",
            expected=f"a pass in a room in which {len(told.said)} messages of {LONG} characters were observed",
            got="the summariser was not asked",
        )


# -- GWY-10 ----------------------------------------------------------------------------------------------------------


@check("GWY-10", calls=("gateway",), after=("GWY-4",), examples=20)
@given(
    place=rooms,
    before=st.lists(st.one_of(says, asks), max_size=4),
    after=st.lists(says, max_size=1),
    times=st.integers(1, 2),
    first=st.booleans(),
    restart=st.one_of(st.none(), restarts),
)
def an_internal_turn_leaves_the_next_one_as_it_was(
    adapter: Adapter,
    *,
    place: Place,
    before: list[Step],
    after: list[Step],
    times: int,
    first: bool,
    restart: Restart | None,
) -> None:
    """After a turn without a marker the next marked one separates as before: observed messages in the block alone."""
    _blocks(adapter)
    with chronicle(adapter) as told:
        _needs(told, "internal")
        if first:
            event("where nothing was said yet")
            told.internal(place, "Wish them a good morning.")
        _run(told, [*before, Say(place, ZOE)])
        for _ in range(times):
            told.internal(place, "Look at the calendar.")
        _run(told, after)
        if restart is not None:
            event("a restart after it")
            told.do(restart)
        observed = told.observed(place)
        rows = told.transcript(place)
        unmarked = [said for said in observed for row in rows_of(said, rows) if row.get("observed") is not True]
        expect(
            not unmarked,
            "flag-lost",
            expected=f"observed rows that stay observed: {tokens(observed)}",
            got=f"the rows of {tokens(unmarked)} are not",
        )
        turn = told.ask(place, ZOE)
        _seen(turn, observed)
        _never_a_request(turn, observed)


def _needs(told: Chronicle, method: str) -> None:
    if not told.gateway.offers(method):
        not_applicable(f"the gateway has no {method}()")


# -- GWY-11 ----------------------------------------------------------------------------------------------------------

Deed = Literal["say", "ask", "say elsewhere", "ask elsewhere"]
_deeds: SearchStrategy[list[Deed]] = st.lists(st.sampled_from(get_args(Deed)), max_size=4)
_chatter: SearchStrategy[list[Deed]] = st.lists(
    st.sampled_from(("say", "say", "say elsewhere", "ask elsewhere")), max_size=4
)


def _act(told: Chronicle, deeds: Sequence[Deed], here: Place, there: Place, who: Person) -> None:
    for deed in deeds:
        place = there if deed.endswith("elsewhere") else here
        if deed.startswith("say"):
            told.say(place, who)
        else:
            told.ask(place, who)


def _requests_in(told: Chronicle, place: Place) -> list[Said]:
    return [said for said in told.said if said.place == place and said.addressed]


def _is_still_context(told: Chronicle, place: Place) -> Turn:
    """Zoe asks; all that was observed is in the block, and nowhere else."""
    observed = told.observed(place)
    turn = told.ask(place, ZOE)
    missing = _missing(turn, observed)
    expect(
        not missing,
        "observed-message-gone",
        expected=f"observed messages untouched: {tokens(observed)}",
        got=f"{tokens(missing)} not in the next block",
    )
    _never_a_request(turn, observed)
    return turn


@check("GWY-11", calls=("gateway",), after=("GWY-4",), examples=24)
@given(where=pairs, who=people, before=_deeds, after=_chatter, restart=st.one_of(st.none(), restarts))
def a_retry_runs_the_last_addressed_message(
    adapter: Adapter, *, where: list[Place], who: Person, before: list[Deed], after: list[Deed], restart: Restart | None
) -> None:
    """A retry asks the model the last addressed message of that place again, however much was observed since."""
    _blocks(adapter)
    with chronicle(adapter) as told:
        _needs(told, "retry")
        here, there = where
        _act(told, before, here, there, who)
        told.say(here, who)
        before_it = told.observed(here)
        last = told.ask(here, who).said
        _act(told, after, here, there, who)
        if restart is not None:
            event("across a restart")
            told.do(restart)
        if "say" in after:
            event("chatter after the request")
        answered = _answers_sent(told, last)
        requests = told.retry(here)
        run = [told.tokens_in(told.addressed_part(request)) for request in requests]
        expect(
            run and all(found == [last.token] for found in run),
            "retried-another-message",
            expected=f"the model is asked {last.token} again",
            got="; ".join(" ".join(found) or "none of the messages" for found in run) or "no request to the model",
        )
        turn = told.turn_of(last)
        retried = replace(turn, requests=turn.requests[-len(run) :], payloads=turn.payloads[-len(run) :])
        _seen(retried, before_it)
        _never_a_request(retried, told.observed(here))
        expect(
            _answers_sent(told, last) > answered,
            "answer-not-sent",
            expected=f"the new answer to {last.token} sent to {here.called}",
            got="nothing of the kind",
        )
        later = _is_still_context(told, here)
        times = later.history.count(last.token)
        expect(
            times == 1,
            "retried-request-gone" if not times else "retried-request-twice",
            expected=f"{last.token} once in the history of the next request",
            got=f"{times} times",
        )


@check("GWY-11", calls=("gateway",), after=("GWY-4",), examples=30)
@given(
    where=pairs,
    who=people,
    before=_deeds,
    after=_chatter,
    times=st.integers(1, 2),
    restart=st.one_of(st.none(), restarts),
)
def an_undo_takes_back_the_last_addressed_message(
    adapter: Adapter,
    *,
    where: list[Place],
    who: Person,
    before: list[Deed],
    after: list[Deed],
    times: int,
    restart: Restart | None,
) -> None:
    """An undo takes the last addressed message of that place and its answer back, and nothing that was observed."""
    _blocks(adapter)
    with chronicle(adapter) as told:
        _needs(told, "undo")
        here, there = where
        _act(told, [*before, "ask", *after], here, there, who)
        if "say" in after:
            event("chatter after the request")
        requests = _requests_in(told, here)
        times = min(times, len(requests))
        kept, undone = requests[:-times], requests[-times:]
        for _ in range(times):
            told.undo(here)
        if restart is not None:
            event("across a restart")
            told.do(restart)
        turn = _is_still_context(told, here)
        still = [said for said in undone if said.token in turn.everything or _answer(said) in turn.everything]
        expect(
            not still,
            "request-still-there",
            expected=f"neither {tokens(undone)} nor an answer to it in the next request",
            got=f"{tokens(still)} or its answer is there",
        )
        gone = [said for said in kept if said.token not in turn.history]
        expect(
            not gone,
            "earlier-request-gone",
            expected=f"earlier addressed messages in the history: {tokens(kept)}",
            got=f"{tokens(gone)} is gone",
        )
        unanswered = [said for said in kept if _answer(said) not in turn.history]
        expect(
            not unanswered,
            "earlier-answer-gone",
            expected=f"the answers to them in the history: {tokens(kept)}",
            got=f"the answer to {tokens(unanswered)} is gone",
        )
        for said in _requests_in(told, there)[-1:]:
            elsewhere = told.ask(there, ZOE)
            expect(
                said.token in elsewhere.history,
                "request-of-another-room-gone",
                expected=f"{said.token} in the history of {there.called}",
                got="it is gone",
            )


@check("GWY-11", calls=("gateway",), after=("GWY-4",), examples=14)
@given(where=pairs, who=people, deeds=_chatter, operation=st.sampled_from(("retry", "undo")), restart=st.booleans())
def without_a_request_there_is_nothing_to_retry_or_undo(
    adapter: Adapter,
    *,
    where: list[Place],
    who: Person,
    deeds: list[Deed],
    operation: Literal["retry", "undo"],
    restart: bool,
) -> None:
    """Where nobody has addressed the bot, neither retry nor undo takes an observed message for a request."""
    _blocks(adapter)
    with chronicle(adapter) as told:
        _needs(told, operation)
        here, there = where
        _act(told, [*deeds, "say"], here, there, who)
        if restart:
            told.restart(killed=False)
        asked = len(told.environment.models.payloads)
        with told.may_refuse():
            getattr(told, operation)(here)
        observed = told.observed(here)
        for request in told.environment.models.payloads[asked:]:
            found = told.tokens_in(told.addressed_part(request))
            expect(
                not any(said.token in found for said in observed),
                "observed-message-became-a-request",
                expected="no request to the model for an observed message",
                got=f"it is asked {' '.join(found)}",
            )
        _is_still_context(told, here)


# -- GWY-12 ----------------------------------------------------------------------------------------------------------


@check("GWY-12", calls=("gateway",), after=("GWY-8",), examples=12)
@given(platform=platforms(), steps=talk_with_restarts)
def a_hit_says_whether_it_was_observed(adapter: Adapter, platform: str, steps: list[Step]) -> None:
    """Each hit of a search has the flag of its row: observed messages have it, addressed ones have not."""
    with chronicle(adapter, platform=platform) as told:
        _run(told, steps)
        for said in told.said[-SEARCHES:]:
            for hit in told.search(said.token, None):
                if rows_of(said, [hit["row"]]):
                    expect(
                        (hit["row"].get("observed") is True) is not said.addressed,
                        "flag-missing" if not said.addressed else "flag-on-a-request",
                        expected=f"{said.token} as {'addressed' if said.addressed else 'observed'}",
                        got=f"observed: {hit['row'].get('observed')}",
                    )


@check("GWY-12", calls=("gateway",), examples=14)
@given(platform=platforms(), steps=talk_with_restarts)
def a_search_in_one_chat_stays_in_it(adapter: Adapter, platform: str, steps: list[Step]) -> None:
    """A search in one chat returns rows of that chat only: for a word of all chats, and for one that is not in it."""
    with chronicle(adapter, platform=platform) as told:
        _run(told, [*steps, Say(OTHER_GROUP, ZOE)])
        for chat in dict.fromkeys(place.chat for place in told.touched()):
            others = [said for said in told.said if said.place.chat != chat]
            for text in (COMMON, *(said.token for said in others[-2:])):
                strange = [
                    said
                    for hit in told.search(text, chat)
                    for said in others
                    if hit["chat"] != chat or rows_of(said, [hit["row"]])
                ]
                expect(
                    not strange,
                    "hit-of-another-chat",
                    expected=f"rows of {chat} only",
                    got=f"{tokens(strange[:1])}, which was said elsewhere",
                )


# -- GWY-13 ----------------------------------------------------------------------------------------------------------


@check("GWY-13", calls=("gateway",), after=("TURN-2",), examples=24)
@given(
    place=rooms,
    senders=st.lists(people, min_size=3, max_size=5),
    addressed=st.lists(st.sampled_from((True, True, False)), min_size=5, max_size=5),
    slow=st.booleans(),
)
def messages_of_two_senders_are_never_joined(
    adapter: Adapter, place: Place, senders: list[Person], addressed: list[bool], slow: bool
) -> None:
    """People write at the same moment: no addressed message, stored or sent, holds the words of two of them."""
    _blocks(adapter)
    with chronicle(adapter) as told:
        told.say(place, ZOE)  # so that there is a block, and headers that say where the addressed message begins
        if slow:
            told.environment.stall_model()
        messages = [
            told.request(place, who) if for_us or index == 0 else told.write(place, who)
            for index, (who, for_us) in enumerate(zip(senders, addressed, strict=False))
        ]
        told.begin(*messages)
        told.let_answer()
        if len({said.event["sender"]["id"] for said in messages if said.addressed}) > 1:
            event("two senders address the bot")
        authors = {said.token: said.event["sender"]["name"] for said in told.said}
        for request in told.environment.models.payloads:
            part = told.tokens_in(told.addressed_part(request))
            expect(
                len({authors[token] for token in part}) <= 1,
                "two-senders-in-one-request",
                expected="the words of one sender in an addressed message",
                got=f"{' '.join(f'{token} ({authors[token]})' for token in part)}",
            )
        for row in told.transcript(place):
            found = told.tokens_in(text_of(row.get("content"))) if row["role"] == "user" else []
            expect(
                len({authors[token] for token in found}) <= 1,
                "two-senders-in-one-row",
                expected="the words of one sender in a row",
                got=f"{' '.join(f'{token} ({authors[token]})' for token in found)}",
            )
