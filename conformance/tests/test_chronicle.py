"""The ledger of a gateway, and a second honest gateway that every check of GWY has to let pass."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from tiny_gateway import TinyAdapter, TinyGateway

from observed_context_conformance.checking import Check, Verdict, load_checks, run_check
from observed_context_conformance.chronicle import Chronicle, chronicle, rows_of
from observed_context_conformance.strategies.histories import (
    ANA,
    BEN,
    GROUP,
    OTHER_GROUP,
    TOPIC,
    ZOE,
    Ask,
    AskWhile,
    Say,
)
from observed_context_conformance.subject import Adapter, Violation

CHECKS = [check for check in load_checks() if check.area == "GWY"]


@pytest.fixture
def adapter() -> Adapter:
    return Adapter(TinyAdapter())


@pytest.fixture
def told(adapter: Adapter) -> Iterator[Chronicle]:
    with chronicle(adapter) as made:
        yield made


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_another_honest_gateway_passes(check: Check, adapter: Adapter) -> None:
    outcome = run_check(check, adapter)
    assert outcome.verdict is Verdict.PASS, (outcome.signature, outcome.expected, outcome.got, outcome.story)


def test_without_its_optional_methods_a_gateway_is_not_judged_by_them() -> None:
    class Plain(TinyGateway):
        retry = undo = internal = None  # type: ignore[assignment]

    class Hosts(TinyAdapter):
        async def gateway(self, settings: Any, environment: Any) -> TinyGateway:
            return Plain(settings, environment)

    adapter = Adapter(Hosts())
    for check in CHECKS:
        if check.requirement in ("GWY-10", "GWY-11"):
            outcome = run_check(check, adapter)
            assert outcome.verdict is Verdict.NOT_APPLICABLE
            assert "the gateway has no" in (outcome.reason or "")


def test_a_gateway_that_announces_no_writes_is_not_made_to_fail() -> None:
    class Silent(TinyGateway):
        def flush(self) -> None:
            self.env = SimpleNamespace(**{**vars(self.env), "writing": lambda what: None})
            super().flush()

    class Hosts(TinyAdapter):
        async def gateway(self, settings: Any, environment: Any) -> TinyGateway:
            names = ("storage", "config", "model", "summarize", "clock", "send", "writing")
            return Silent(settings, SimpleNamespace(**{name: getattr(environment, name) for name in names}))

    failing = next(check for check in CHECKS if check.name == "observing_goes_on_after_a_failed_write")
    outcome = run_check(failing, Adapter(Hosts()))
    assert outcome.verdict is Verdict.NOT_APPLICABLE
    assert "announces no writes" in (outcome.reason or "")


def test_a_history_is_told_as_a_story(adapter: Adapter, told: Chronicle) -> None:
    told.say(GROUP, BEN)
    told.ask(GROUP, ANA)
    told.restart(killed=True)
    told.again(told.said[0])
    assert adapter.story == [
        'ben writes to the group: "otter01 lunch"',
        'ana asks the bot in the group: "@kit_bot, falcon02?"',
        "the model is sent: block otter01; message falcon02",
        "the gateway is killed and started again",
        "the platform delivers otter01 again",
    ]


def test_a_turn_is_taken_apart(told: Chronicle) -> None:
    said = told.say(TOPIC, BEN)
    turn = told.ask(TOPIC, ANA)
    assert said.token in turn.block
    assert turn.said.token in turn.first.message
    assert turn.said.token not in turn.block
    assert not turn.waits
    assert said.token in turn.everything
    assert said.token not in turn.history


def test_a_turn_without_a_request_says_so(told: Chronicle) -> None:
    turn = told.turn_of(told.request(GROUP, ANA))
    with pytest.raises(Violation, match="model-not-asked"):
        _ = turn.block


def test_what_is_said_during_a_turn_is_dealt_with_when_it_ends(told: Chronicle) -> None:
    told.do(AskWhile(Ask(GROUP, ANA), (Say(GROUP, BEN),)))
    assert [said.token for said in told.observed(GROUP)] == ["falcon02"]
    assert told.under_way == []


def test_what_was_under_way_when_it_was_killed_is_not_expected(told: Chronicle) -> None:
    told.do(AskWhile(Ask(GROUP, ANA), (Say(GROUP, BEN),), "is killed"))
    assert told.observed(GROUP) == []  # this gateway lets it wait for the turn


def test_ids_are_unique_or_counted_by_chat(adapter: Adapter, told: Chronicle) -> None:
    assert [told.write(place, ZOE).event["id"] for place in (GROUP, OTHER_GROUP)] == ["1", "2"]
    with chronicle(adapter, ids_for_each_chat=True) as other:
        assert [other.write(place, ZOE).event["id"] for place in (GROUP, OTHER_GROUP, TOPIC)] == ["1", "1", "2"]


def test_a_write_fails_once(told: Chronicle) -> None:
    told.break_writes("row")
    said = told.say(GROUP, ANA)
    assert told.environment.failed == 1
    told.say(GROUP, ANA)
    assert told.environment.failed == 1
    assert len(rows_of(said, told.transcript(GROUP))) == 1  # this gateway writes it before the next one


@pytest.mark.parametrize(
    ("block", "number"),
    [
        ("[Ana|1001]\notter01 lunch", 0),
        ("[... 1,200 older observed messages omitted ...]\n[Ana|1001]\notter01 lunch", 1200),
        ("[Summary of 7 earlier observed messages]\nThey ate.\n[... 3 omitted ...]\n[Ana|1001]\notter01 lunch", 3),
        ("[... 4 older observed messages omitted ...]", 4),
    ],
)
def test_the_note_is_read(told: Chronicle, block: str, number: int) -> None:
    told.say(GROUP, ANA)
    assert told.left_out(block) == number
