"""A run beside a saved one: what has become slower, what was not measured again, and what the noise hides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from observed_context_conformance.bench.cases import Case
from observed_context_conformance.bench.results import Measured, Result, at

Verdict = Literal["same", "faster", "slower", "noisy", "missing", "new"]

UNSTEADY = 1.6
"""Rows that no cache holds cost up to 1.4 times as much in one process as in another."""

FAILING: frozenset[Verdict] = frozenset({"slower", "missing"})


@dataclass(frozen=True)
class Change:
    """One case at one size, then and now.

    Attributes:
        name: case and size.
        verdict: `noisy` when the machine, then or now, was too busy to tell.
        before, now: the two results; None where there is none.
    """

    name: str
    verdict: Verdict
    before: Result | None
    now: Result | None

    @property
    def factor(self) -> float | None:
        """How many times as slow as then."""
        if self.before is None or self.now is None or min(self.before.ratio, self.before.whole) <= 0:
            return None
        return _factor(self.before, self.now)


def compare(
    before: Mapping[tuple[str, int], Result], measured: Measured, planned: Iterable[tuple[Case, int]], fail_over: float
) -> list[Change]:
    """Compare all that was planned, by the ratios.

    Args:
        before: the results of then, by case and size.
        measured: what was measured now.
        planned: the cases and sizes that were to be measured now; what else there is of then is left alone.
        fail_over: so many times the ratio of then is slower; `UNSTEADY` times as much where a cost is not steady.
    """
    now = {(result.case, result.size): result for result in measured.results}
    changes = []
    for case, size in planned:
        then, here = before.get((case.id, size)), now.get((case.id, size))
        threshold = fail_over * (UNSTEADY if case.steady is not None and size > case.steady else 1)
        if then is not None or here is not None:
            changes.append(Change(at(case.id, size, case.unit), _verdict(then, here, threshold), then, here))
    return changes


def _verdict(then: Result | None, now: Result | None, fail_over: float) -> Verdict:
    if then is None or now is None:
        return "missing" if now is None else "new"
    if min(then.ratio, now.ratio, then.whole, now.whole) <= 0:  # a difference of two times, smaller than the noise
        return "noisy"
    factor = _factor(then, now)
    if factor > fail_over:
        sure = now.low > fail_over * then.high  # however noisy it was
        return "slower" if sure or not (now.noisy or then.noisy) else "noisy"
    if now.noisy and factor * now.high / now.ratio > fail_over:
        return "noisy"
    return "faster" if factor * fail_over < 1 else "same"


def _factor(then: Result, now: Result) -> float:
    """How many times as slow as then, by the limit or by the one with all rows, whichever is less.

    A program that became slower is so by both. When others keep the memory busy, a call on many rows is slower too, but
    so is joining all of them.
    """
    return min(now.ratio / then.ratio, now.whole / then.whole)


def doubtful(changes: Iterable[Change]) -> frozenset[tuple[str, int]]:
    """The cases and sizes that deserve another look: a disturbance passes, a slower program stays slower."""
    return frozenset(
        (change.now.case, change.now.size) for change in changes if change.now and change.verdict in ("slower", "noisy")
    )


def merged(first: Measured, again: Measured) -> None:
    """Take over into `first` what was measured again and better: with less noise, or else with a lower ratio."""
    anew = {(result.case, result.size): result for result in again.results}
    first.results[:] = [
        min(result, anew.get((result.case, result.size), result), key=lambda one: (one.noisy, one.ratio))
        for result in first.results
    ]
