"""What came of measuring: results, growth, and the file in which they are kept (`spec/schema/bench.json`)."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from statistics import linear_regression
from typing import Any

from observed_context_conformance import __version__
from observed_context_conformance.schemas import problem

NOISY = 1.25
"""When the two ends of what a ratio may be are so many times apart, nothing can be said of it."""

DECADE = 10
"""Growth is spoken of when the largest size is so many times the smallest."""


class SavedError(Exception):
    """A file of results cannot be read; the message says why."""


@dataclass(frozen=True)
class Result:
    """One case at one size.

    Attributes:
        case: the id of the case.
        size: how many of `unit`.
        unit: what the size counts.
        ratio: the cost as a multiple of the limit, the median of the rounds.
        whole: the cost as a multiple of the same with all rows that there are, in one go, the median.
        low, high: between these the median of ever more rounds would be, with 95 % probability.
        seconds: the cost, median.
        limit: the limit, median, in seconds.
        rounds: how often cost and limit were measured, by turns.
        rate: how much is done in a second, or None.
        rate_unit: what the rate counts, or None.
    """

    case: str
    size: int
    unit: str
    ratio: float
    whole: float
    low: float
    high: float
    seconds: float
    limit: float
    rounds: int
    rate: float | None = None
    rate_unit: str | None = None

    @property
    def noisy(self) -> bool:
        """Whether the machine was too busy for the ratio to mean anything."""
        return self.low <= 0 or self.high > NOISY * self.low


@dataclass
class Measured:
    """One adapter, measured.

    Attributes:
        name: as it was given.
        description: name and version that the adapter gives itself.
        clock: what the numbers are.
        results: in the order of the cases and sizes.
        missing: what was not measured, `case` or `case, size unit`, and why.
        failed: those of the missing on which the adapter raised.
    """

    name: str
    description: str
    clock: str
    results: list[Result] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def growth(self) -> dict[str, float]:
        """The growth exponent of each case that has sizes enough."""
        found = {}
        for case, group in groupby(self.results, key=lambda result: result.case):
            exponent = growth_of([(result.size, result.seconds) for result in group if result.low > 0])
            if exponent is not None:
                found[case] = exponent
        return found


def at(case: str, size: int, unit: str) -> str:
    """The name of a case at a size, for files and readers."""
    return f"{case}, {size:,} {unit}"


def short(size: int) -> str:
    """A size in few characters: 100, 4k, 1M."""
    for factor, letter in ((1_000_000, "M"), (1_000, "k")):
        if size % factor == 0:
            return f"{size // factor}{letter}"
    return str(size)


def growth_of(costs: Sequence[tuple[int, float]]) -> float | None:
    """The exponent e in cost = c * size ** e, by least squares over the logarithms; None where sizes are too close."""
    if len(costs) < 2 or max(costs)[0] < DECADE * min(costs)[0]:
        return None
    sizes = [math.log(size) for size, _ in costs]
    seconds = [math.log(max(cost, 1e-9)) for _, cost in costs]
    return linear_regression(sizes, seconds).slope


def saved(measured: Iterable[Measured], full: bool, started: str) -> dict[str, Any]:
    """What is written to a file."""
    return {
        "kit": {"name": "observed-context", "version": __version__},
        "started": started,
        "full": full,
        "machine": {
            "python": platform.python_version(),
            "implementation": platform.python_implementation(),
            "system": platform.system(),
            "processor": platform.machine(),
        },
        "adapters": [
            {
                "name": one.name,
                "description": one.description,
                "clock": one.clock,
                "results": [asdict(result) for result in one.results],
                "growth": [{"case": case, "exponent": exponent} for case, exponent in one.growth().items()],
                "missing": [{"what": what, "why": why} for what, why in one.missing.items()],
            }
            for one in measured
        ],
    }


def read(path: Path) -> dict[str, Any]:
    """A file that `saved` made.

    Raises:
        SavedError: it cannot be read, or is no such file.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SavedError(f"{path} cannot be read: {error}") from error
    wrong = problem("bench.json", content)
    if wrong is not None:
        raise SavedError(f"{path} holds no results of a benchmark: {wrong}")
    return content  # type: ignore[no-any-return]


def results_of(content: dict[str, Any], name: str) -> dict[tuple[str, int], Result] | None:
    """The results of one adapter in a file, by case and size; None when it is not in there."""
    for one in content["adapters"]:
        if one["name"] == name:
            return {(result["case"], result["size"]): Result(**result) for result in one["results"]}
    return None
