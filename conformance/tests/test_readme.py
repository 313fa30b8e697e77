"""What the README shows is what happens."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from observed_context_conformance.faults import load_faults
from observed_context_conformance.schemas import problem

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def block_of(language: str, beginning: str) -> str:
    """The block of code that begins so."""
    found = re.search(rf"^```{language}\n({re.escape(beginning)}.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert found, beginning
    return found[1]


@pytest.mark.parametrize("name", ["event", "settings"])
def test_the_sample_is_an_event_and_settings(name: str) -> None:
    assert problem(f"{name}.json", json.loads(block_of("json", "{"))[name]) is None


def test_the_adapter_fails_as_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "my_adapter.py").write_text(block_of("python", "class Adapter:"), encoding="utf-8")
    command = [sys.executable, "-m", "observed_context_conformance.cli", "check", "my_adapter:Adapter"]
    ran = subprocess.run(
        [*command, "--requirement", "GATE-9"], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert ran.returncode == 1
    told = re.search(r"^    FAIL GATE-9.*?\n\n", README, re.MULTILINE | re.DOTALL)
    assert told
    assert re.sub(r"^    ", "", told[0], flags=re.MULTILINE) in ran.stdout


def test_the_number_of_faults_is_about_right() -> None:
    told = re.search(r"some (\d+) adapters", README)
    assert told
    assert abs(int(told[1]) - len(load_faults())) < 50
