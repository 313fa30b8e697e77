"""Every requirement has a check, every check belongs to its requirement, and every check has seen a fault."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter

import pytest

from observed_context_conformance import checks
from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.catalogue import Requirement, load_catalogue
from observed_context_conformance.checking import RED, Adapter, Check, Effort, Outcome, load_checks, run_check
from observed_context_conformance.faults import Fault, load_faults

# The ambient profile has no calls yet.
COVERED = [r for r in load_catalogue() if r.area != "AMB"]


@pytest.mark.parametrize("requirement", COVERED, ids=lambda r: r.id)
def test_every_requirement_has_a_check(requirement: Requirement) -> None:
    assert [check.name for check in load_checks() if check.requirement == requirement.id]


@pytest.mark.parametrize("requirement", COVERED, ids=lambda r: r.id)
def test_every_requirement_has_a_fault(requirement: Requirement) -> None:
    assert [fault.id for fault in load_faults() if fault.requirement == requirement.id]


@pytest.mark.parametrize("check", load_checks(), ids=lambda c: c.name)
def test_every_check_is_described_and_calls_what_its_requirement_names(check: Check) -> None:
    assert check.doc
    assert set(check.calls) & set(load_catalogue()[check.requirement].ports)
    for requirement in check.after:
        assert requirement in load_catalogue()


@pytest.mark.parametrize("fault", load_faults(), ids=lambda f: f.id)
def test_every_fault_is_caught_by_a_check_of_its_requirement(fault: Fault) -> None:
    adapter = Adapter(fault.make())
    own = [check for check in load_checks() if check.requirement == fault.requirement]
    verdicts = {}
    for check in own:
        outcome = run_check(check, adapter, Effort(shrink=False))
        verdicts[check.name] = outcome.verdict
        if outcome.verdict in RED:
            return  # one is enough
    pytest.fail(f"not caught: {verdicts}")


RARE = {
    ("LIM-3", "boolean"): "two values for two keys, and none is drawn twice",
    ("LIM-3", "object"): "three values for two keys",
    ("SEP-10", "order UOU"): "the order of rows is not what its checks are about",
    ("TURN-9", "order UOO"): "drawn only where two of the orders of its checks meet",
    ("TURN-13", "order OOU"): "one order of many; the others bring observed rows before requests too",
}
"""What fewer than one in twenty examples of a requirement's checks reach, and why that is enough."""


def _reach() -> list[tuple[str, str, float]]:
    rows = []
    for info in pkgutil.iter_modules(checks.__path__):
        module = importlib.import_module(f"{checks.__name__}.{info.name}")
        for check, events in getattr(module, "REACH", {}).items():
            rows += [(check, event, share) for event, share in events.items()]
    return rows


@pytest.fixture(scope="session")
def reached() -> dict[str, Outcome]:
    """What became of each check that draws, with the reference: how many examples ran, and what they reached."""
    adapter = Adapter(ReferenceAdapter())
    return {check.name: run_check(check, adapter) for check in load_checks() if check.strategies}


@pytest.mark.parametrize(("check", "event", "share"), _reach())
def test_generators_reach(reached: dict[str, Outcome], check: str, event: str, share: float) -> None:
    outcome = reached[check]
    found = outcome.events.get(event, 0) / max(outcome.examples, 1)
    assert found >= share, f"{outcome.events} in {outcome.examples} examples"


def test_what_checks_mark_is_no_rarity(reached: dict[str, Outcome]) -> None:
    examples: Counter[tuple[str, str]] = Counter()
    found: Counter[tuple[str, str]] = Counter()
    for outcome in reached.values():
        for event, times in outcome.events.items():
            if not event.startswith("gave up"):  # Hypothesis says so when a check turns a draw down
                examples[outcome.requirement, event] += outcome.examples
                found[outcome.requirement, event] += times
    assert {mark for mark, number in examples.items() if found[mark] < 0.05 * number} == set(RARE)
