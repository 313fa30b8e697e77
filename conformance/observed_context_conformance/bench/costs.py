"""The benchmarks as pytest runs them: one for each case and size of the adapter that is measured."""

from __future__ import annotations

from typing import Any

from observed_context_conformance.bench.plugin import Bench, Cost


def test_cost(benchmark: Any, cost: Cost, bench: Bench) -> None:
    """A case at a size."""
    bench.measure(benchmark, cost)
