"""How a single check ends: each verdict, and what it says."""

from __future__ import annotations

import asyncio
import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import adapters_for_tests as toys
import pytest
from hypothesis import event
from hypothesis import strategies as st

from observed_context_conformance import checking
from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.checking import (
    Check,
    Effort,
    Verdict,
    check,
    expect,
    given,
    not_applicable,
    run_check,
)
from observed_context_conformance.environment import Clock, MemoryStore, Summariser, answers
from observed_context_conformance.raised import staying
from observed_context_conformance.subject import Adapter, AdapterUnusableError


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the checks of these tests out of the kit's own."""
    monkeypatch.setattr(checking, "_REGISTRY", {})


def limits_are_the_defaults(requirement: str = "LIM-4") -> Check:
    """A check that any number from 0 up leaves the defaults in force."""

    @check(requirement, calls=("limits",))
    @given(config=st.integers(min_value=0, max_value=1000))
    def defaults_hold(adapter: Adapter, config: int) -> None:
        event("large" if config > 500 else "small")
        limits = adapter.limits(config)
        wanted = {"max_chars": 512_000, "max_rows": 4_000}
        expect(limits == wanted, "not-the-defaults", expected="the defaults", got=str(limits))

    return defaults_hold


def test_a_right_answer_passes() -> None:
    outcome = run_check(limits_are_the_defaults(), Adapter(toys.ReadsLimits()))
    assert outcome.verdict is Verdict.PASS
    assert outcome.examples == 100
    assert sum(outcome.events.values()) == 100
    assert set(outcome.events) == {"large", "small"}
    assert outcome.signature is None


def test_an_awaitable_answer_is_awaited() -> None:
    outcome = run_check(limits_are_the_defaults(), Adapter(toys.ReadsLimitsLater()))
    assert outcome.verdict is Verdict.PASS


def test_an_absent_method_is_not_applicable() -> None:
    outcome = run_check(limits_are_the_defaults(), Adapter(toys.Describes()))
    assert outcome.verdict is Verdict.NOT_APPLICABLE
    assert outcome.reason == "the adapter has no limits()"


def test_a_check_can_find_nothing_to_test() -> None:
    @check("LIM-4", calls=("limits",))
    @given(config=st.integers())
    def needs_two_markers(adapter: Adapter, config: int) -> None:
        not_applicable("declares one marker only")

    outcome = run_check(needs_two_markers, Adapter(toys.ReadsLimits()))
    assert (outcome.verdict, outcome.reason) == (Verdict.NOT_APPLICABLE, "declares one marker only")


def test_a_wrong_answer_fails_with_the_smallest_example() -> None:
    class IgnoresDefaultsFrom300(toys.ReadsLimits):
        def limits(self, config: Any) -> dict[str, int]:
            return super().limits(None) if config < 300 else {"max_chars": config, "max_rows": 1}

    outcome = run_check(limits_are_the_defaults(), Adapter(IgnoresDefaultsFrom300()))
    assert outcome.verdict is Verdict.FAIL
    assert outcome.signature == "defaults_hold: not-the-defaults"
    assert outcome.expected == "the defaults"
    assert [call.arguments for call in outcome.calls] == [{"config": 300}]
    assert outcome.calls[0].result == {"max_chars": 300, "max_rows": 1}
    assert outcome.blocked_by is None


def test_a_wrong_shape_is_a_failure_of_the_calls_own_requirement() -> None:
    adapter = Adapter(toys.ReturnsNonsense())
    other = run_check(limits_are_the_defaults(), adapter)
    assert other.verdict is Verdict.FAIL
    assert other.signature == "defaults_hold: limits-shape"
    assert other.blocked_by == "LIM-1"
    assert other.got is not None
    assert "is not of type 'object'" in other.got
    checking._REGISTRY.clear()
    own = run_check(limits_are_the_defaults("LIM-1"), adapter)
    assert (own.verdict, own.blocked_by) == (Verdict.FAIL, None)


def test_an_exception_is_an_error_that_names_the_place() -> None:
    outcome = run_check(limits_are_the_defaults(), Adapter(toys.Raises()))
    assert outcome.verdict is Verdict.ERROR
    assert outcome.signature == "defaults_hold: limits-raised-KeyError"
    assert outcome.got is not None
    assert "adapters_for_tests.py" in outcome.got


@pytest.mark.parametrize(
    ("leave", "got"),
    [(lambda: sys.exit(5), "limits() raised SystemExit: 5"), (lambda: os._exit(0), "SystemExit: os._exit(0)")],
    ids=["sys.exit", "os._exit"],
)
@pytest.mark.parametrize("later", [False, True], ids=["plain", "async"])
def test_an_adapter_that_ends_the_process_is_an_error_of_its_call(
    leave: Callable[[], None], got: str, later: bool
) -> None:
    class Leaves(toys.Describes):
        def limits(self, config: Any) -> Any:
            leave()

    class LeavesLater(Leaves):
        async def limits(self, config: Any) -> Any:
            leave()

    outcome = run_check(limits_are_the_defaults(), Adapter(LeavesLater() if later else Leaves()))
    assert (outcome.verdict, outcome.signature) == (Verdict.ERROR, "defaults_hold: limits-raised-SystemExit")
    assert outcome.got is not None
    assert got in outcome.got
    assert "(test_checking.py:" in outcome.got, "the place is the adapter's, not the kit's"


def test_a_gateway_that_ends_the_process_in_the_background_is_an_error() -> None:
    class Leaves(ReferenceAdapter):
        def scheduler(self, store: Any, limits: Any, summarize: Any, clock: Any) -> Any:
            class Scheduler:
                def appended(self, session: str, chars: int) -> None:
                    self.task = asyncio.get_running_loop().create_task(self.work())

                async def work(self) -> None:
                    await asyncio.sleep(0)
                    sys.exit("in the background")

                async def drain(self) -> None:
                    await self.task

            return Scheduler()

    @check("SCH-1", calls=("scheduler",))
    def is_told(adapter: Adapter) -> None:
        scheduler = adapter.scheduler(
            MemoryStore(), {"max_chars": 0, "max_rows": 0}, Summariser(answers("")).ask, Clock()
        )
        scheduler.appended("s", 5)

    adapter = Adapter(Leaves())
    started = time.monotonic()
    outcome = run_check(is_told, adapter)
    adapter.close()
    assert outcome.signature == "is_told: scheduler-raised-SystemExit"
    assert time.monotonic() - started < 5, "what is left of the loop holds nothing up"


def test_a_forked_child_may_end_as_it_wants() -> None:
    class Forks(toys.ReadsLimits):
        def limits(self, config: Any) -> dict[str, int]:
            child = os.fork()
            if child == 0:
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            return super().limits(config)

    assert run_check(limits_are_the_defaults(), Adapter(Forks()), Effort(factor=0.02)).verdict is Verdict.PASS


def test_a_call_that_the_adapter_cannot_take_has_no_place() -> None:
    class TakesNothing(toys.Describes):
        def limits(self) -> Any:
            return None

    outcome = run_check(limits_are_the_defaults(), Adapter(TakesNothing()))
    assert outcome.got is not None
    assert outcome.got.endswith("takes 1 positional argument but 2 were given")


def test_the_address_of_an_object_is_not_in_the_verdict() -> None:
    class ReturnsAnObject(toys.Describes):
        def limits(self, config: Any) -> Any:
            return [{5: object()}, math.nan, (1,)]

    outcome = run_check(limits_are_the_defaults(), Adapter(ReturnsAnObject()))
    assert outcome.got == "[{5: <object object>}, nan, (1,)] is not of type 'object'"
    assert str(outcome.calls[0].result) == "[{'5': '<object object>'}, nan, '(1,)']"


def test_an_exception_fails_a_check_about_not_raising() -> None:
    @check("LIM-3", calls=("limits",))
    @given(config=st.integers())
    def never_raises(adapter: Adapter, config: int) -> None:
        with adapter.must_not_raise("raised", expected="limits for any configuration"):
            adapter.limits(config)

    outcome = run_check(never_raises, Adapter(toys.Raises()))
    assert (outcome.verdict, outcome.signature) == (Verdict.FAIL, "never_raises: raised")


@pytest.mark.parametrize("adapter", [toys.Hangs(), toys.SwallowsAndHangs()], ids=["hangs", "swallows"])
def test_a_call_that_hangs_is_an_error_and_is_not_tried_again(adapter: object) -> None:
    outcome = run_check(limits_are_the_defaults(), Adapter(adapter, call_seconds=0.2))
    assert (outcome.verdict, outcome.signature) == (Verdict.ERROR, "defaults_hold: limits-hung")
    assert len(outcome.calls) == 1


def test_an_answer_that_depends_on_earlier_calls_is_an_error() -> None:
    outcome = run_check(limits_are_the_defaults(), Adapter(toys.AnswersByTurns()))
    assert (outcome.verdict, outcome.signature) == (Verdict.ERROR, "defaults_hold: unstable")


def test_the_same_seed_gives_the_same_examples_and_another_seed_others() -> None:
    made = limits_are_the_defaults()

    def drawn(seed: int) -> list[Any]:
        asked: list[Any] = []

        class Remembers(toys.ReadsLimits):
            def limits(self, config: Any) -> dict[str, int]:
                asked.append(config)
                return super().limits(None)

        run_check(made, Adapter(Remembers()), Effort(seed=seed))
        return asked

    assert drawn(0) == drawn(0)
    assert drawn(0) != drawn(1)


def test_effort_multiplies_the_examples() -> None:
    outcome = run_check(limits_are_the_defaults(), Adapter(toys.ReadsLimits()), Effort(factor=0.1))
    assert outcome.examples == 10


def test_a_broken_check_is_not_blamed_on_the_adapter() -> None:
    @check("LIM-4", calls=("limits",))
    def broken(adapter: Adapter) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_check(broken, Adapter(toys.ReadsLimits()))


def test_two_checks_cannot_share_a_name() -> None:
    limits_are_the_defaults()
    with pytest.raises(ValueError, match="two checks are named defaults_hold"):
        limits_are_the_defaults()


def test_the_proxy_sees_changed_and_shared_input() -> None:
    adapter = Adapter(toys.ChangesItsInput())
    adapter.replay(
        [{"role": "user", "content": [{"type": "text", "text": "hi"}], "seq": 1}], None, {"max_chars": 0, "max_rows": 0}
    )
    assert adapter.calls[-1].changed_input
    assert adapter.calls[-1].shares_input
    assert adapter.calls[-1].arguments["transcript"][0]["seq"] == 1


@pytest.mark.parametrize(
    ("adapter", "message"),
    [
        (toys.HasNoDescribe(), "HasNoDescribe has no describe"),
        (toys.DescribesNonsense(), "'cube' is not one of"),
        (toys.RaisesInDescribe(), "describe.. raised RuntimeError: no configuration found"),
        (toys.AnotherVersion("2.0"), '"spec": "2.0", and this kit tests version 1.0'),
        (toys.AnotherVersion("0.9"), '"spec": "0.9"'),
        (toys.CannotBeAsked(), "asking the adapter whether it has gate.. raised KeyError: 'gate'"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_describe_itself_is_no_adapter(adapter: object, message: str) -> None:
    with pytest.raises(AdapterUnusableError, match=message):
        Adapter(adapter)


def test_quote_keeps_a_long_text_on_one_short_line() -> None:
    assert checking.quote("a\nb\u202ec") == '"a\\nb\\u202ec"'
    assert len(checking.quote("x" * 10_000)) <= 170


def test_calls_that_overlap_leave_the_way_out_as_it_was() -> None:
    before = os._exit
    first, second = staying(), staying()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    with pytest.raises(SystemExit):
        os._exit(0)
    second.__exit__(None, None, None)
    assert os._exit is before
