"""Checks bound to an adapter, for anybody's own test suite: one line parametrizes a test function over them."""

from __future__ import annotations

from typing import Any

import pytest

from observed_context_conformance.catalogue import load_catalogue
from observed_context_conformance.checking import Adapter, Check, Effort, Outcome, Verdict, load_checks, run_check
from observed_context_conformance.loading import load_adapter
from observed_context_conformance.report.explanation import explain_outcome
from observed_context_conformance.report.known import Ledger


class BoundCheck:
    """One check, ready to be called inside a test.

    Attributes:
        check: the check.
        outcome: how it ended; None before the call.
    """

    def __init__(self, check: Check, adapter: Adapter, effort: Effort, ledger: Ledger | None) -> None:
        self.check = check
        self.outcome: Outcome | None = None
        self._adapter = adapter
        self._effort = effort
        self._ledger = ledger

    def __call__(self) -> None:
        """Run the check in pytest's terms: a MUST that fails fails, a SHOULD or a known failure is expected to."""
        self.outcome = outcome = run_check(self.check, self._adapter, self._effort)
        if outcome.verdict is Verdict.PASS:
            return
        if outcome.verdict is Verdict.NOT_APPLICABLE:
            pytest.skip(outcome.reason or "not applicable")
        requirement = load_catalogue()[outcome.requirement]
        if self._ledger is not None and self._ledger.lists(outcome):
            pytest.xfail(f"known failure of {requirement.id}")
        if requirement.level == "SHOULD" and outcome.verdict is Verdict.FAIL and self._ledger is None:
            pytest.xfail(f"{requirement.id} is a SHOULD: {outcome.signature}")
        pytest.fail(explain_outcome(requirement, outcome), pytrace=False)


def ordered_checks() -> tuple[Check, ...]:
    """All checks in the order of the specification: by area, then by requirement."""
    catalogue = load_catalogue()
    areas = {area.code: position for position, area in enumerate(catalogue.areas)}
    return tuple(sorted(load_checks(), key=lambda c: (areas[c.area], catalogue[c.requirement].number)))


def bound_checks(
    adapter: Adapter, checks: tuple[Check, ...], effort: Effort, ledger: Ledger | None = None, groups: int = 1
) -> list[Any]:
    """The checks as pytest parameters, each with `requirement-name` as its id; they share one adapter.

    With several groups each is marked for one of them, for pytest-xdist to run in one process.
    """
    return [
        pytest.param(
            BoundCheck(check, adapter, effort, ledger),
            id=f"{check.requirement}-{check.name}",
            marks=[pytest.mark.xdist_group(str(position % groups))] if groups > 1 else [],
        )
        for position, check in enumerate(checks)
    ]


def conformance(adapter: str | Any, *, areas: tuple[str, ...] = ()) -> pytest.MarkDecorator:
    """Parametrize a test function over the checks; its argument `check` is called in the body.

        @conformance("my_adapter:Adapter")
        def test_conformance(check):
            check()

    Args:
        adapter: the adapter itself, or its name as for `observed-context check`.
        areas: only these areas; all when empty.

    Raises:
        AdapterLoadError: the name leads to no adapter.
        AdapterUnusableError: it is none.
        ValueError: no check belongs to these areas.
    """
    target = load_adapter(adapter) if isinstance(adapter, str) else adapter
    checks = tuple(c for c in ordered_checks() if not areas or c.area in areas)
    if not checks:
        codes = ", ".join(area.code for area in load_catalogue().areas)
        raise ValueError(f"no check belongs to {', '.join(areas)}; the areas are {codes}")
    return pytest.mark.parametrize("check", bound_checks(Adapter(target), checks, Effort()))
