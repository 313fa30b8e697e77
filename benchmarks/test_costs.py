"""The benchmarks of the kit, for `pytest benchmarks`."""

from observed_context_conformance.bench.costs import test_cost

__all__ = ["test_cost"]
