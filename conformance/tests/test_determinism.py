"""The verdict's examples do not depend on what else is loaded."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from observed_context_conformance.determinism import same_draws_everywhere


def drawn() -> list[int]:
    """What a fixed seed draws."""
    values: list[int] = []

    @seed(7)
    @settings(max_examples=300, database=None, suppress_health_check=list(HealthCheck))
    @given(st.integers())
    def collect(value: int) -> None:
        values.append(value)

    collect()
    return values


def test_constants_of_loaded_modules_are_not_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with same_draws_everywhere():
        before = drawn()
    numbers = ", ".join(str(9_100_000 + i) for i in range(400))
    (tmp_path / "full_of_constants.py").write_text(f"NUMBERS = [{numbers}]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "full_of_constants", raising=False)
    importlib.import_module("full_of_constants")
    with same_draws_everywhere():
        assert drawn() == before
    # Without it the module is seen: the test would notice if there were nothing to prevent.
    assert any(9_100_000 <= value < 9_100_400 for value in drawn())
