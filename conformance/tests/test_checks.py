"""Every requirement has a check, every check belongs to its requirement, and every check has seen a fault."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from observed_context_conformance import checks
from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.catalogue import Requirement, load_catalogue
from observed_context_conformance.checking import Adapter, Check, Verdict, load_checks, run_check
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
        outcome = run_check(check, adapter)
        verdicts[check.name] = outcome.verdict
        if outcome.verdict in (Verdict.FAIL, Verdict.ERROR):
            return  # one is enough
    pytest.fail(f"not caught: {verdicts}")


def _reach() -> list[tuple[str, str, float]]:
    rows = []
    for info in pkgutil.iter_modules(checks.__path__):
        module = importlib.import_module(f"{checks.__name__}.{info.name}")
        for check, events in getattr(module, "REACH", {}).items():
            rows += [(check, event, share) for event, share in events.items()]
    return rows


@pytest.fixture(scope="session")
def reached() -> dict[str, tuple[int, dict[str, int]]]:
    """For each check of the table, how many examples ran and what they reached."""
    wanted = {check for check, _, _ in _reach()}
    adapter = Adapter(ReferenceAdapter())
    ran = {check.name: run_check(check, adapter) for check in load_checks() if check.name in wanted}
    return {name: (outcome.examples, outcome.events) for name, outcome in ran.items()}


@pytest.mark.parametrize(("check", "event", "share"), _reach())
def test_generators_reach(reached: dict[str, tuple[int, dict[str, int]]], check: str, event: str, share: float) -> None:
    examples, events = reached[check]
    assert events.get(event, 0) / max(examples, 1) >= share, f"{events} in {examples} examples"
