"""The one test function of the kit: run with `pytest --pyargs observed_context_conformance --adapter NAME`."""

from __future__ import annotations

from observed_context_conformance.binding import BoundCheck


def test_conformance(conformance_check: BoundCheck) -> None:
    """One check of one requirement, against the adapter that `--adapter` names."""
    conformance_check()
