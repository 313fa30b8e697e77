"""One case at one size: cost and limit by turns, many times, and what follows from all of them together."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise, repeat
from statistics import mean, median
from typing import Any, Protocol

from observed_context_conformance.bench.cases import Case, Work, limit_of, whole_of
from observed_context_conformance.bench.meters import Meter
from observed_context_conformance.bench.patience import within
from observed_context_conformance.bench.results import Result
from observed_context_conformance.subject import CALL_SECONDS


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    Attributes:
        seconds: how long each case and size is to take, about.
        least, most: how many rounds there are in any case, and at the most.
        turn: how long the calls of one turn are to take at least; short ones are made several times.
        patience: a size is left out when one call would take longer, judged by the size before it.
        deadline: how long one call may take before it counts as hung.
    """

    seconds: float = 0.4
    least: int = 7
    most: int = 61
    turn: float = 0.002
    patience: float = 2.0
    deadline: float = CALL_SECONDS


EFFORT = Effort()


class Benchmark(Protocol):
    """The fixture of pytest-benchmark, as far as it is used here."""

    extra_info: dict[str, Any]
    group: str | None
    stats: Any

    def pedantic(self, target: Callable[[], object], **options: Any) -> object:
        """Call the target for so many rounds and iterations."""


def measure(benchmark: Benchmark, meter: Meter, case: Case, size: int, work: Work, effort: Effort) -> Result | None:
    """Measure a work, in rounds of pytest-benchmark; None when that plugin is switched off.

    Each round stands between two measurements of the limit, and is divided by the mean of both: what slows the machine
    down for longer than a round slows down both. Behind a pipe the empty call is treated in the same way.
    """
    (limit, times), whole, null = limit_of(work), whole_of(work), meter.null(work)
    walls: list[float] = []
    limits: list[float] = []
    wholes: list[float] = []
    nulls: list[float] = []
    with _undisturbed():
        limit_iterations = _iterations(limit, time.process_time, effort.turn / 2)
        whole_iterations = _iterations(whole, time.process_time, effort.turn / 2)
    with _undisturbed(), within(effort.deadline, lambda: len(walls) + len(limits) + len(wholes) + len(nulls)):
        calls = _walled(meter.calls(work), walls)
        iterations = _iterations(calls, meter.clock, effort.turn)

        def beside() -> None:
            limits.append(times * _time(limit, limit_iterations, time.process_time))
            wholes.append(_time(whole, whole_iterations, time.process_time))
            nulls.append(0.0 if null is None else _time(null, iterations, meter.clock))

        beside()
        started = time.perf_counter()
        _time(calls, iterations, meter.clock)
        beside()
        rounds = int(effort.seconds / (time.perf_counter() - started))
        benchmark.group = case.id
        benchmark.pedantic(
            calls, teardown=beside, iterations=iterations, rounds=min(max(rounds, effort.least), effort.most)
        )
    if benchmark.stats is None:
        return None
    costs = list(benchmark.stats.stats.data)
    costs = [cost - mean(around) for cost, around in zip(costs, pairwise(nulls[1:]), strict=False)]
    ratios = sorted(_ratios(costs, limits[1:]))
    seconds = median(costs)
    # So many of a sample lie outside each end of the 95 % interval for its median.
    outside = max(int((len(ratios) - 1.96 * len(ratios) ** 0.5) / 2), 0)
    result = Result(
        case=case.id,
        size=size,
        unit=case.unit,
        ratio=median(ratios),
        whole=median(_ratios(costs, wholes[1:])),
        low=ratios[outside],
        high=ratios[-1 - outside],
        seconds=seconds,
        limit=median(limits),
        rounds=len(costs),
        rate=_rate(work.amount, median(walls) if case.waits else seconds) if case.rate else None,
        rate_unit=case.rate,
    )
    benchmark.extra_info.update(ratio=result.ratio, low=result.low, high=result.high, limit=result.limit)
    return result


def _rate(amount: float, seconds: float) -> float | None:
    """How much a second; None where a difference of two times drowned in the noise."""
    return amount / seconds if seconds > 0 else None


def _ratios(costs: Sequence[float], limits: Sequence[float]) -> list[float]:
    """Each cost as a multiple of the limits before and after it."""
    return [cost / mean(around) for cost, around in zip(costs, pairwise(limits), strict=False)]


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Keep the garbage collector out: when it comes depends on everything that was made before."""
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def _walled(calls: Callable[[], object], walls: list[float]) -> Callable[[], object]:
    """The calls; the time that each takes by the clock on the wall is added to `walls`."""

    def noted() -> object:
        started = time.perf_counter()
        result = calls()
        walls.append(time.perf_counter() - started)
        return result

    return noted


def _iterations(call: Callable[[], object], clock: Callable[[], float], turn: float) -> int:
    """How many calls take at least a turn. The first calls do what is done only once, and do not count."""
    call()
    number = 1
    while _time(call, number, clock) * number < turn:
        number *= 2
    return number


def _time(call: Callable[[], object], number: int, clock: Callable[[], float]) -> float:
    started = clock()
    for _ in repeat(None, number):
        call()
    return (clock() - started) / number
