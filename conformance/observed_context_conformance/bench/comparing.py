"""A run beside a saved one: what has become slower, what was not measured again, and what the noise hides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from observed_context_conformance.bench.results import Measured, Result, at

Verdict = Literal["same", "faster", "slower", "noisy", "missing", "new"]

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
        """How many times the ratio of then."""
        return self.now.ratio / self.before.ratio if self.now and self.before and self.before.ratio > 0 else None


def compare(
    before: Mapping[tuple[str, int], Result], measured: Measured, planned: Iterable[tuple[str, int]], fail_over: float
) -> list[Change]:
    """Compare all that was planned, by the ratios.

    Args:
        before: the results of then, by case and size.
        measured: what was measured now.
        planned: the cases and sizes that were to be measured now; what else there is of then is left alone.
        fail_over: so many times the ratio of then is slower.
    """
    now = {(result.case, result.size): result for result in measured.results}
    changes = []
    for key in planned:
        then, here = before.get(key), now.get(key)
        known = here or then
        if known is not None:
            changes.append(Change(at(*key, known.unit), _verdict(then, here, fail_over), then, here))
    return changes


def _verdict(then: Result | None, now: Result | None, fail_over: float) -> Verdict:
    if now is None:
        return "missing"
    if then is None:
        return "new"
    threshold = fail_over * then.ratio
    if now.low > fail_over * then.high:  # however noisy it was
        return "slower"
    if now.ratio > threshold:
        return "noisy" if now.noisy or then.noisy else "slower"
    if now.noisy and now.high > threshold:
        return "noisy"
    return "faster" if now.ratio * fail_over < then.ratio else "same"


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
