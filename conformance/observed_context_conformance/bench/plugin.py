"""The pytest plugin of the benchmarks: parametrizes them over cases and sizes, and gathers the results."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from observed_context_conformance.bench.cases import CASES, Case, Subject, cases_of
from observed_context_conformance.bench.measuring import EFFORT, Effort, measure
from observed_context_conformance.bench.meters import meter_of
from observed_context_conformance.bench.patience import CASE_SECONDS, Expired, within
from observed_context_conformance.bench.results import Measured, Result, at
from observed_context_conformance.raised import kind_of, staying

_LARGEST_KEPT = 31 * 1024 * 1024


@dataclass(frozen=True)
class Cost:
    """What one benchmark measures."""

    case: Case
    size: int

    def __str__(self) -> str:
        return at(self.case.id, self.size, self.case.unit)


class Bench:
    """The benchmarks of one adapter; register it as a plugin.

    Attributes:
        measured: what has come of them so far.
    """

    def __init__(
        self,
        subject: Subject,
        *,
        full: bool = False,
        effort: Effort = EFFORT,
        cases: Iterable[Case] = CASES,
        only: frozenset[tuple[str, int]] | None = None,
    ) -> None:
        """Prepare to measure an adapter; `only` names cases and sizes when not all are wanted."""
        self._meter = meter_of(subject)
        self._subject = subject
        self._effort = effort
        self._last: dict[str, tuple[int, float]] = {}
        self._hung: set[str] = set()
        described = subject.description
        self.measured = Measured(subject.name, f"{described['name']} {described['version']}", self._meter.says)
        possible, impossible = cases_of(subject, cases)
        self.measured.missing.update(impossible)
        self.costs = [
            Cost(case, size)
            for case in possible
            for size in (case.full if full else case.sizes)
            if only is None or (case.id, size) in only
        ]
        # Where malloc takes large pieces from the system anew each time, and gives them back, that is most of the cost.
        # glibc stops doing so when it has once seen a piece of that size go.
        piece = bytearray(_LARGEST_KEPT)
        del piece

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One benchmark for each case and size."""
        if "cost" in metafunc.fixturenames:
            metafunc.parametrize("cost", self.costs, ids=str)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Tell pytest-benchmark which clock to read."""
        for item in items:
            item.add_marker(pytest.mark.benchmark(timer=self._meter.clock))

    @pytest.fixture
    def bench(self) -> Bench:
        """What the benchmarks are measured with."""
        return self

    def measure(self, benchmark: Any, cost: Cost) -> None:
        """Measure, and keep what comes of it."""
        case, size = cost.case, cost.size
        last, seconds = self._last.get(case.id, (size, 0.0))
        if seconds * size / last > self._effort.patience:
            self._leave_out(cost, f"at {last:,} a call takes {seconds:.2g} s")
        try:
            with within(CASE_SECONDS, lambda: 0), staying():
                result = self._measured(benchmark, cost)
        except Expired as expired:
            # What hangs does so again: larger sizes are left out, and other cases of the method get less patience.
            self._last[case.id] = (size, self._effort.deadline)
            self._hung.add(case.call)
            self._failed(cost, str(expired))
            pytest.fail(str(expired), pytrace=False)
        except (Exception, SystemExit) as error:
            self._failed(cost, f"it raised {kind_of(error)}: {str(error)[:200]}")
            raise
        if result is not None:
            self._last[case.id] = (size, result.seconds)
            self.measured.results.append(result)

    def _measured(self, benchmark: Any, cost: Cost) -> Result | None:
        case, size = cost.case, cost.size
        effort = self._effort
        if case.call in self._hung:
            effort = replace(effort, deadline=min(effort.deadline, 1.0))
        with contextmanager(case.make)(self._subject, size) as work:
            obstacle = self._meter.obstacle(work)
            if obstacle is not None:
                self._leave_out(cost, obstacle)
            return measure(benchmark, self._meter, case, size, work, effort)

    def _failed(self, cost: Cost, why: str) -> None:
        self.measured.missing[str(cost)] = why
        self.measured.failed.append(str(cost))

    def _leave_out(self, cost: Cost, why: str) -> None:
        self.measured.missing[str(cost)] = why
        pytest.skip(why)
