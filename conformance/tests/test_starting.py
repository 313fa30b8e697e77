"""The starting point of an adapter gets a verdict as it is, in both languages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from observed_context_conformance.starting import StartError, begin, first_command

CLI = [sys.executable, "-m", "observed_context_conformance.cli"]


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    env = {**os.environ, "PYTHONPATH": ""}
    return subprocess.run(
        [*CLI, *arguments], cwd=cwd, env=env, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_starting_point_gets_its_first_verdict(tmp_path: Path, language: str) -> None:
    if language == "javascript" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    made = run("new", "mine", "--language", language, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert first_command(language) in made.stdout
    target = ["adapter:Adapter"] if language == "python" else ["--command", "node adapter.mjs"]
    ran = run("check", *target, "--requirement", "LIM-1", "--requirement", "CAP-1", cwd=tmp_path / "mine")
    # A verdict, not yet a good one: what stands there is a placeholder for the adopter's own code.
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    assert "1 not tested" in ran.stdout
    assert "CAP-1: not applicable: the adapter has no assemble()" in ran.stdout


def test_nothing_is_written_over(tmp_path: Path) -> None:
    begin("python", tmp_path)
    (tmp_path / "adapter.py").write_text("mine now")
    again = run("new", str(tmp_path), cwd=tmp_path)
    assert again.returncode == 2
    assert "is there already" in again.stderr
    assert (tmp_path / "adapter.py").read_text() == "mine now"


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(StartError, match="taken is a file"):
        begin("python", tmp_path / "taken")


def test_an_unknown_language_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="there is no starting point in 'cobol'"):
        begin("cobol", tmp_path)
