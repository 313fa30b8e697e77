"""From the outcomes of single checks to a verdict: per requirement, and over all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from observed_context_conformance.catalogue import Catalogue, Requirement
from observed_context_conformance.checking import LACKS, OR, RED, Check, Effort, Outcome, Verdict
from observed_context_conformance.port import METHODS, Description
from observed_context_conformance.report.known import Ledger, disagreements


class Standing(StrEnum):
    """How a requirement stands after a run."""

    PASS = "pass"
    FAIL = "fail"
    EXPECTED_FAILURE = "expected failure"
    ERROR = "error"
    NOT_APPLICABLE = "not applicable"
    NOT_RUN = "not run"
    NO_CHECK = "no check"


BROKEN = (Standing.FAIL, Standing.ERROR, Standing.NOT_RUN)
UNTESTED = (Standing.NOT_APPLICABLE, Standing.NOT_RUN, Standing.NO_CHECK)


class Claim(StrEnum):
    """What a run may claim."""

    CONFORMANT = "conformant"
    AS_RECORDED = "as recorded"
    NOT_CONFORMANT = "not conformant"
    FILTERED = "filtered"
    NOTHING_TESTED = "nothing tested"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Selection:
    """What a run is about; empty means everything."""

    areas: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()

    @property
    def everything(self) -> bool:
        """Whether nothing was left out on purpose."""
        return not (self.areas or self.requirements or self.levels)

    def takes(self, requirement: Requirement) -> bool:
        """Whether a requirement belongs to the run."""
        return (
            (not self.areas or requirement.area in self.areas)
            and (not self.requirements or requirement.id in self.requirements)
            and (not self.levels or requirement.level in self.levels)
        )

    def __str__(self) -> str:
        """As a reader would say it."""
        return " and ".join(", ".join(part) for part in (self.areas, self.requirements, self.levels) if part)


@dataclass(frozen=True)
class RequirementResult:
    """One requirement after a run.

    Attributes:
        requirement: what it says.
        standing: how it stands.
        declared: names of the checks that belong to it.
        outcomes: of those that ran.
        reason: why it was not tested; None when it was.
        blocked_by: a failing requirement of which this failure is a consequence.
    """

    requirement: Requirement
    standing: Standing
    declared: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    reason: str | None = None
    blocked_by: str | None = None


@dataclass(frozen=True)
class Result:
    """A whole run.

    Attributes:
        adapter: the name it was loaded by.
        description: what it says of itself.
        methods: the port methods that it has.
        selection: what the run was about.
        effort: seed and factor.
        results: the selected requirements, in the order of the specification.
        problems: disagreements with the ledger, each a sentence; empty without one.
        ledger: the file of known failures, or None.
        broken_checks: checks that broke by themselves, with what they said; a defect of the kit.
        interrupted: the run was stopped before its end.
    """

    adapter: str
    description: Description
    methods: tuple[str, ...]
    selection: Selection
    effort: Effort
    results: tuple[RequirementResult, ...]
    problems: tuple[str, ...] = ()
    ledger: str | None = None
    broken_checks: Mapping[str, str] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def totals(self) -> dict[str, dict[str, int]]:
        """For each level, how many requirements stand how."""
        counted: dict[str, Counter[str]] = {"MUST": Counter(), "SHOULD": Counter(), "MAY": Counter()}
        for result in self.results:
            counted[result.requirement.level][result.standing.value] += 1
        return {
            level: {s.value: counts[s.value] for s in Standing if counts[s.value]} for level, counts in counted.items()
        }

    @property
    def tested(self) -> int:
        """How many requirements were really tested."""
        return sum(result.standing not in UNTESTED for result in self.results)

    @property
    def claim(self) -> Claim:
        """What the run may claim."""
        unexpected = any(r.standing in BROKEN and r.requirement.level == "MUST" for r in self.results)
        if self.interrupted:
            return Claim.INTERRUPTED
        if self.tested == 0 and not self.broken_checks:
            return Claim.NOTHING_TESTED
        if unexpected or self.problems or self.broken_checks:
            return Claim.NOT_CONFORMANT
        if not self.selection.everything:
            return Claim.FILTERED
        if any(r.standing is Standing.EXPECTED_FAILURE and r.requirement.level == "MUST" for r in self.results):
            return Claim.AS_RECORDED
        return Claim.CONFORMANT

    @property
    def exit_code(self) -> int:
        """0 conformant (or as recorded, or nothing wrong in what was selected), 1 not, 3 nothing tested."""
        return {Claim.NOT_CONFORMANT: 1, Claim.INTERRUPTED: 1, Claim.NOTHING_TESTED: 3}.get(self.claim, 0)


def judge(
    *,
    adapter: str,
    description: Description,
    methods: tuple[str, ...],
    catalogue: Catalogue,
    checks: Iterable[Check],
    outcomes: Iterable[Outcome],
    selection: Selection,
    effort: Effort,
    ledger: Ledger | None = None,
    broken_checks: Mapping[str, str] | None = None,
    interrupted: bool = False,
) -> Result:
    """Put the outcomes together, requirement by requirement, and compare what was declared with what ran."""
    declared: dict[str, list[Check]] = {}
    for check in checks:
        declared.setdefault(check.requirement, []).append(check)
    # By name, not as they came in: with several workers that order is nobody's.
    ended = sorted(outcomes, key=lambda o: o.check)
    failing = {o.requirement for o in ended if o.verdict in RED}
    ran: dict[str, list[Outcome]] = {}
    for outcome in ended:
        # A check knows only to which requirement its failure belongs; whether that one fails is known now.
        blocked = outcome.blocked_by if outcome.blocked_by in failing else None
        ran.setdefault(outcome.requirement, []).append(replace(outcome, blocked_by=blocked))
    broken = broken_checks or {}

    selected = [requirement for requirement in catalogue if selection.takes(requirement)]
    results = tuple(
        _result(
            requirement,
            declared.get(requirement.id, []),
            ran.get(requirement.id, []),
            failing,
            description,
            ledger,
            interrupted,
        )
        for requirement in selected
    )
    problems: list[str] = []
    if ledger is not None and not interrupted:
        everything = [outcome for found in ran.values() for outcome in found]
        problems = disagreements(ledger, everything, frozenset(requirement.id for requirement in selected))
    return Result(
        adapter=adapter,
        description=description,
        methods=methods,
        selection=selection,
        effort=effort,
        results=results,
        problems=tuple(problems),
        ledger=None if ledger is None else str(ledger.path),
        broken_checks=broken,
        interrupted=interrupted,
    )


def _result(
    requirement: Requirement,
    checks: list[Check],
    outcomes: list[Outcome],
    failing: set[str],
    description: Description,
    ledger: Ledger | None,
    interrupted: bool,
) -> RequirementResult:
    names = tuple(sorted(check.name for check in checks))
    verdicts = {outcome.verdict for outcome in outcomes}
    missing = sorted(set(names) - {outcome.check for outcome in outcomes})
    bad = [outcome for outcome in outcomes if outcome.verdict in RED]
    reason: str | None = None
    blocked_by: str | None = None
    if requirement.area == "AMB" and description["profile"] != "ambient":
        standing, reason = Standing.NOT_APPLICABLE, f"the adapter declares the {description['profile']} profile"
    elif not names:
        standing, reason = Standing.NO_CHECK, "this kit has no check of it yet"
    elif missing and not bad:
        standing = Standing.NOT_RUN
        reason = "the run was interrupted" if interrupted else f"did not run: {', '.join(missing)}"
    elif bad:
        standing = Standing.ERROR if Verdict.ERROR in verdicts else Standing.FAIL
        if ledger is not None and not missing and all(ledger.lists(outcome) for outcome in bad):
            standing = Standing.EXPECTED_FAILURE
        before = {o.blocked_by for o in bad if o.blocked_by}
        before |= {r for check in checks for r in check.after if r in failing and r != requirement.id}
        blocked_by = min(before) if before and all(o.blocked_by or _after(checks, o, failing) for o in bad) else None
    elif verdicts == {Verdict.NOT_APPLICABLE}:
        standing, reason = Standing.NOT_APPLICABLE, _reasons(outcomes)
    else:
        standing = Standing.PASS
    return RequirementResult(requirement, standing, names, tuple(outcomes), reason, blocked_by)


def _after(checks: list[Check], outcome: Outcome, failing: set[str]) -> bool:
    return any(check.name == outcome.check and set(check.after) & failing for check in checks)


def _reasons(outcomes: list[Outcome]) -> str:
    """Why nothing was tested, in one phrase."""
    said = sorted({outcome.reason or "" for outcome in outcomes})
    lacking = [frozenset(r.removeprefix(LACKS).split(OR)) for r in said if r.startswith(LACKS)]
    # Where one method is missing to one check, it says nothing that another check would need one more.
    least = {method for methods in lacking if not any(fewer < methods for fewer in lacking) for method in methods}
    *some, last = [f"{method}()" for method in METHODS if f"{method}()" in least] or [""]
    lacks = [LACKS + (", ".join(some) + OR) * bool(some) + last] * bool(least)
    return "; ".join(lacks + [reason for reason in said if not reason.startswith(LACKS)])
