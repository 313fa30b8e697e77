"""The checks in somebody else's pytest suite: as a parametrized test, and as `--pyargs`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def pytest_in(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a process of its own, with the adapters of these tests importable."""
    env = {**os.environ, "PYTHONPATH": str(HERE)}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True, timeout=600, check=False)


def test_one_line_parametrizes_a_test_over_the_checks(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "from observed_context_conformance import conformance\n"
        "@conformance('adapters_for_tests:ReadsLimits', areas=('LIM',))\n"
        "def test_conformance(check):\n"
        "    check()\n"
    )
    ran = pytest_in(tmp_path, "-v")
    assert ran.returncode == 0, ran.stdout
    assert "test_conformance[LIM-1-" in ran.stdout


def test_a_failure_in_ones_own_suite_is_the_explanation_alone(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "from observed_context_conformance import conformance\n"
        "@conformance('adapters_for_tests:ReturnsNonsense', areas=('LIM',))\n"
        "def test_conformance(check):\n"
        "    check()\n"
    )
    ran = pytest_in(tmp_path)
    assert ran.returncode == 1
    assert "FAIL LIM-1 (MUST)" in ran.stdout
    assert "Traceback" not in ran.stdout


def test_pyargs_runs_the_kit_without_a_file_of_ones_own(tmp_path: Path) -> None:
    arguments = ["--pyargs", "observed_context_conformance", "--adapter", "adapters_for_tests:ReadsLimits"]
    ran = pytest_in(tmp_path, *arguments, "--conformance-area", "lim", "--conformance-level", "MUST")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "passed" in ran.stdout


def test_a_stale_entry_fails_ones_own_suite_too(tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text(
        '[[known]]\nrequirement = "LIM-1"\nsignatures = ["a: b"]\nreason = "It was so once."\n'
    )
    arguments = ["--pyargs", "observed_context_conformance", "--adapter", "adapters_for_tests:ReadsLimits"]
    ran = pytest_in(tmp_path, *arguments, "--conformance-area", "LIM", "--conformance-known", "known.toml")
    assert ran.returncode == 1
    assert "LIM-1 passes now" in ran.stdout


def test_a_project_may_have_options_of_such_names_itself(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n"
        "    for name in ('area', 'requirement', 'level', 'known', 'seed'):\n"
        "        parser.addoption(f'--{name}')\n"
    )
    (tmp_path / "test_mine.py").write_text("def test_mine(pytestconfig):\n    assert pytestconfig.option.area == '7'\n")
    ran = pytest_in(tmp_path, "--area", "7", "--level", "high")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_without_an_adapter_it_says_what_to_give(tmp_path: Path) -> None:
    ran = pytest_in(tmp_path, "--pyargs", "observed_context_conformance")
    assert ran.returncode != 0
    assert "--adapter package.module:attribute" in ran.stdout + ran.stderr
