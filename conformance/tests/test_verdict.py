"""From outcomes to a verdict: what a run may claim, and with which exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import adapters_for_tests as toys
import pytest

from observed_context_conformance.catalogue import load_catalogue
from observed_context_conformance.checking import Check, Effort, Outcome, Verdict
from observed_context_conformance.report.known import Known, Ledger
from observed_context_conformance.report.verdict import Claim, Result, Selection, Standing, judge


def made(requirement: str, *, after: tuple[str, ...] = ()) -> Check:
    """The only check of a requirement."""
    name = f"check_of_{requirement.lower().replace('-', '_')}"
    return Check(name, requirement, ("assemble",), after, 1, "", lambda: None, {})


def ended(check: Check, verdict: Verdict, blocked_by: str | None = None) -> Outcome:
    """How it ended."""
    bad = verdict in (Verdict.FAIL, Verdict.ERROR)
    return Outcome(
        check.name, check.requirement, verdict, f"{check.name}: slug" if bad else None, blocked_by=blocked_by
    )


CAP_1, CAP_2, CAP_8 = made("CAP-1"), made("CAP-2", after=("CAP-1",)), made("CAP-8")


def judged(*outcomes: Outcome, checks: tuple[Check, ...] = (CAP_1,), **more: Any) -> Result:
    """A run that declared `checks` and saw `outcomes`."""
    arguments: dict[str, Any] = {
        "adapter": "toy",
        "description": toys.DESCRIPTION,
        "methods": ("assemble",),
        "catalogue": load_catalogue(),
        "checks": checks,
        "outcomes": outcomes,
        "selection": Selection(),
        "effort": Effort(),
    }
    return judge(**(arguments | more))


def standing(result: Result, requirement: str) -> Standing:
    """How a requirement stands."""
    return next(r.standing for r in result.results if r.requirement.id == requirement)


def recorded(*requirements: str) -> Ledger:
    """A ledger that lists these requirements with the signatures of these tests."""
    entries = {r: Known(r, (f"check_of_{r.lower().replace('-', '_')}: slug",), "Because.") for r in requirements}
    return Ledger(Path("known.toml"), entries)


@pytest.mark.parametrize(
    ("verdict", "expected", "claim", "code"),
    [
        (Verdict.PASS, Standing.PASS, Claim.CONFORMANT, 0),
        (Verdict.FAIL, Standing.FAIL, Claim.NOT_CONFORMANT, 1),
        (Verdict.ERROR, Standing.ERROR, Claim.NOT_CONFORMANT, 1),
        (Verdict.NOT_APPLICABLE, Standing.NOT_APPLICABLE, Claim.NOTHING_TESTED, 3),
    ],
)
def test_one_must(verdict: Verdict, expected: Standing, claim: Claim, code: int) -> None:
    result = judged(ended(CAP_1, verdict))
    assert (standing(result, "CAP-1"), result.claim, result.exit_code) == (expected, claim, code)


def test_a_check_that_did_not_run_is_no_pass() -> None:
    result = judged(ended(CAP_1, Verdict.PASS), checks=(CAP_1, CAP_8))
    assert standing(result, "CAP-8") is Standing.NOT_RUN
    result = judged(ended(CAP_8, Verdict.PASS), checks=(CAP_1, CAP_8))
    assert (standing(result, "CAP-1"), result.claim, result.exit_code) == (Standing.NOT_RUN, Claim.NOT_CONFORMANT, 1)


def test_a_failing_should_is_a_warning() -> None:
    result = judged(ended(CAP_1, Verdict.PASS), ended(CAP_8, Verdict.FAIL), checks=(CAP_1, CAP_8))
    assert (standing(result, "CAP-8"), result.claim, result.exit_code) == (Standing.FAIL, Claim.CONFORMANT, 0)


def test_a_part_of_the_specification_never_claims_conformance() -> None:
    result = judged(ended(CAP_1, Verdict.PASS), selection=Selection(areas=("CAP",)))
    assert (result.claim, result.exit_code) == (Claim.FILTERED, 0)
    assert {r.requirement.area for r in result.results} == {"CAP"}


def test_a_recorded_failure_is_expected_and_claims_no_conformance() -> None:
    result = judged(ended(CAP_1, Verdict.FAIL), ledger=recorded("CAP-1"))
    assert (standing(result, "CAP-1"), result.claim, result.exit_code) == (
        Standing.EXPECTED_FAILURE,
        Claim.AS_RECORDED,
        0,
    )


def test_a_ledger_is_strict_about_a_should_too() -> None:
    outcomes = (ended(CAP_1, Verdict.FAIL), ended(CAP_8, Verdict.FAIL))
    result = judged(*outcomes, checks=(CAP_1, CAP_8), ledger=recorded("CAP-1"))
    assert (result.claim, result.exit_code) == (Claim.NOT_CONFORMANT, 1)
    assert "CAP-8 fails and is not in known.toml" in result.problems[0]


def test_a_consequence_is_red_and_listed_under_its_cause() -> None:
    result = judged(ended(CAP_1, Verdict.FAIL), ended(CAP_2, Verdict.FAIL), checks=(CAP_1, CAP_2))
    blocked = {r.requirement.id: r.blocked_by for r in result.results if r.standing is Standing.FAIL}
    assert blocked == {"CAP-1": None, "CAP-2": "CAP-1"}
    alone = judged(ended(CAP_1, Verdict.PASS), ended(CAP_2, Verdict.FAIL), checks=(CAP_1, CAP_2))
    assert next(r.blocked_by for r in alone.results if r.requirement.id == "CAP-2") is None


def test_an_interrupted_run_keeps_what_it_has_and_claims_nothing() -> None:
    result = judged(ended(CAP_1, Verdict.PASS), checks=(CAP_1, CAP_2), interrupted=True)
    assert standing(result, "CAP-1") is Standing.PASS
    assert (result.claim, result.exit_code) == (Claim.NOT_CONFORMANT, 1)


def test_a_check_that_broke_by_itself_is_no_pass() -> None:
    result = judged(ended(CAP_8, Verdict.PASS), checks=(CAP_1, CAP_8), broken_checks={CAP_1.name: "ZeroDivisionError"})
    assert result.exit_code == 1


def test_the_ambient_area_does_not_apply_to_the_block_profile() -> None:
    result = judged(ended(CAP_1, Verdict.PASS))
    reasons = {r.reason for r in result.results if r.requirement.area == "AMB"}
    assert reasons == {"the adapter declares the block profile"}


def test_totals_count_every_selected_requirement_once() -> None:
    result = judged(ended(CAP_1, Verdict.PASS), ended(CAP_8, Verdict.FAIL), checks=(CAP_1, CAP_8))
    assert sum(sum(counts.values()) for counts in result.totals.values()) == len(load_catalogue())
    assert result.totals["SHOULD"]["fail"] == 1
    assert result.tested == 2
