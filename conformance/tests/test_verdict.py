"""From outcomes to a verdict: what a run may claim, and with which exit code."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import adapters_for_tests as toys
import pytest
from rich.console import Console

from observed_context_conformance.catalogue import load_catalogue
from observed_context_conformance.checking import LACKS, Check, Effort, Outcome, Verdict
from observed_context_conformance.report.known import Known, Ledger
from observed_context_conformance.report.terminal import print_result
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


def printed(result: Result) -> str:
    """What a person reads of it."""
    console = Console(file=io.StringIO(), width=200)
    print_result(console, result)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


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
    assert (standing(result, "CAP-1"), standing(result, "CAP-2")) == (Standing.PASS, Standing.NOT_RUN)
    assert (result.claim, result.exit_code) == (Claim.INTERRUPTED, 1)
    said = printed(result)
    total, levels = len(load_catalogue()), {r.requirement.level for r in result.results}
    assert levels == {"MUST", "SHOULD"}
    assert f"INTERRUPTED: 1 requirement passes, {total - 1} not tested." in said
    assert "CAP-2: not run: the run was interrupted" in said


def test_an_interrupted_requirement_that_failed_already_fails() -> None:
    other = replace(CAP_1, name="another_check_of_cap_1")
    result = judged(ended(CAP_1, Verdict.FAIL), checks=(CAP_1, other), interrupted=True)
    assert standing(result, "CAP-1") is Standing.FAIL
    recorded_and_cut = judged(ended(CAP_1, Verdict.FAIL), checks=(CAP_1, other), ledger=recorded("CAP-1"))
    assert standing(recorded_and_cut, "CAP-1") is Standing.FAIL


def test_a_failure_is_not_blocked_by_what_does_not_fail() -> None:
    shape = ended(CAP_2, Verdict.FAIL, blocked_by="CAP-1")
    for outcomes in ([shape], [shape, ended(CAP_1, Verdict.PASS)]):
        result = judged(*outcomes, checks=(CAP_1, CAP_2))
        assert "mend that first" not in printed(result)
        assert next(r.blocked_by for r in result.results if r.requirement.id == "CAP-2") is None
    both = judged(shape, ended(CAP_1, Verdict.FAIL), checks=(CAP_1, CAP_2))
    assert next(r.blocked_by for r in both.results if r.requirement.id == "CAP-2") == "CAP-1"


def test_a_newer_minor_version_is_warned_of() -> None:
    newer = {**toys.DESCRIPTION, "spec": "1.10"}
    assert "what is newer than 1.0 is not tested" in printed(judged(ended(CAP_1, Verdict.PASS), description=newer))
    assert "warning" not in printed(judged(ended(CAP_1, Verdict.PASS)))


def test_an_error_is_explained_by_the_check_that_ended_in_error() -> None:
    later = replace(CAP_1, name="zz_check_of_cap_1")
    result = judged(ended(CAP_1, Verdict.FAIL), ended(later, Verdict.ERROR), checks=(CAP_1, later))
    assert re.search(r"ERROR CAP-1.*\n +check +zz_check_of_cap_1\n", printed(result))


@pytest.mark.parametrize(
    ("lacks", "reason"),
    [
        (["scheduler()", "scheduler() or gateway()"], "the adapter has no scheduler()"),
        (["turn() or gateway()"], "the adapter has no turn() or gateway()"),
        (["turn()", "gateway()", "compact() or gateway()"], "the adapter has no turn() or gateway()"),
        (["turn()", "assemble()", "gateway()"], "the adapter has no assemble(), turn() or gateway()"),
    ],
)
def test_what_is_lacking_is_said_once(lacks: list[str], reason: str) -> None:
    checks = [replace(CAP_1, name=f"check_{number}") for number in range(len(lacks))]
    outcomes = [
        replace(ended(check, Verdict.NOT_APPLICABLE), reason=LACKS + names)
        for check, names in zip(checks, lacks, strict=True)
    ]
    result = judged(*outcomes, checks=tuple(checks))
    assert next(r.reason for r in result.results if r.requirement.id == "CAP-1") == reason


@pytest.mark.parametrize(
    ("selection", "why"),
    [
        (Selection(levels=("MAY",)), "has no requirement in MAY"),
        (Selection(areas=("TURN",), requirements=("CAP-1",)), "has no requirement in TURN and CAP-1"),
        (Selection(areas=("AMB",)), "for adapters of the ambient profile"),
        (Selection(areas=("CAP",)), "offers no method that a selected check needs"),
    ],
)
def test_nothing_tested_says_why(selection: Selection, why: str) -> None:
    result = judged(ended(CAP_1, Verdict.NOT_APPLICABLE), selection=selection)
    assert result.claim is Claim.NOTHING_TESTED
    assert why in printed(result)


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
