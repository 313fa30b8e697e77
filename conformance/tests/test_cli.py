"""The command line as its users meet it: exit codes, files, and a clear word for every wrong call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import pytest

from observed_context_conformance import __version__
from observed_context_conformance.catalogue import SPEC_VERSION, load_catalogue
from observed_context_conformance.checking import load_checks
from observed_context_conformance.schemas import problem

HERE = Path(__file__).parent
LIMITS_ONLY = "adapters_for_tests:ReadsLimits"


def observed_context(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, with the adapters of these tests importable."""
    env = {**os.environ, "PYTHONPATH": str(HERE), "COLUMNS": "120", **environment}
    command = [sys.executable, "-m", "observed_context_conformance.cli", *arguments]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=600, check=False)


def without_times(path: Path) -> str:
    """A report without what may differ between two runs."""

    def strip(value: object) -> object:
        if isinstance(value, dict):
            return {k: strip(v) for k, v in value.items() if k not in ("seconds", "started")}
        return [strip(item) for item in value] if isinstance(value, list) else value

    return json.dumps(strip(json.loads(path.read_text())))


def test_a_good_adapter_exits_with_0_and_writes_its_reports(tmp_path: Path) -> None:
    ran = observed_context("check", LIMITS_ONLY, "--json", "r.json", "--junit", "r.xml", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "CONFORMANT: 4 requirements pass" in ran.stdout
    assert "ROW-1 to 6: not applicable: the adapter has no row()" in ran.stdout
    report = json.loads((tmp_path / "r.json").read_text())
    assert problem("report.json", report) is None
    assert report["claim"] == "conformant"
    assert report["totals"]["MUST"]["pass"] == 4
    assert {r["id"] for r in report["requirements"]} == {r.id for r in load_catalogue()}
    for requirement in report["requirements"]:
        assert requirement["ran"] == requirement["declared"]
    suite = ElementTree.parse(tmp_path / "r.xml").getroot()[0]
    assert suite.get("name") == "observed-context"
    assert int(suite.get("tests") or 0) == len(load_checks())
    assert suite.get("failures") == "0"


def test_two_runs_give_the_same_report_but_for_times(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        observed_context("check", "adapters_for_tests:ReturnsNonsense", "--json", name, cwd=tmp_path)
    assert without_times(tmp_path / "a.json") == without_times(tmp_path / "b.json")
    other = observed_context("check", LIMITS_ONLY, "--json", "c.json", "--seed", "7", cwd=tmp_path, PYTHONHASHSEED="5")
    assert other.returncode == 0
    assert json.loads((tmp_path / "c.json").read_text())["configuration"]["seed"] == 7


def test_hash_randomisation_changes_nothing(tmp_path: Path) -> None:
    for name, seed in (("a.json", "1"), ("b.json", "2")):
        observed_context("check", "reference", "--level", "SHOULD", "--json", name, cwd=tmp_path, PYTHONHASHSEED=seed)
    assert without_times(tmp_path / "a.json") == without_times(tmp_path / "b.json")


def test_a_wrong_adapter_exits_with_1_and_is_explained(tmp_path: Path) -> None:
    ran = observed_context("check", "adapters_for_tests:ReturnsNonsense", "--area", "LIM", cwd=tmp_path)
    assert ran.returncode == 1
    assert "FAIL LIM-1 (MUST)" in ran.stdout
    assert "[1, 2, 3] is not of type 'object'" in ran.stdout
    assert "limits -> [1, 2, 3]" in ran.stdout
    assert "repeat    observed-context check adapters_for_tests:ReturnsNonsense --requirement LIM-1" in ran.stdout
    assert "blocks    LIM-2, LIM-3, LIM-4" in ran.stdout
    assert "Traceback" not in ran.stdout + ran.stderr


def test_an_adapter_that_raises_is_an_error_without_a_traceback_of_ours(tmp_path: Path) -> None:
    ran = observed_context("check", "adapters_for_tests:Raises", "--area", "LIM", cwd=tmp_path)
    assert ran.returncode == 1
    assert "ERROR LIM-1" in ran.stdout
    assert "limits() raised KeyError: 'gateway' (adapters_for_tests.py:" in ran.stdout
    assert "Traceback" not in ran.stdout + ran.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_adapter_that_ends_the_process_does_not_end_the_run(tmp_path: Path, workers: str) -> None:
    (tmp_path / "leaves.py").write_text(
        "import os\n"
        "import adapters_for_tests as toys\n"
        "class Leaves(toys.ReadsLimits):\n"
        "    def gate(self, event, settings):\n"
        "        os._exit(0)\n"
    )
    arguments = ["check", "leaves:Leaves", "--requirement", "GATE-14", "--requirement", "LIM-1", "-n", workers]
    ran = observed_context(*arguments, cwd=tmp_path)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "gate() raised SystemExit: os._exit(0) (leaves.py:5 in gate)" in " ".join(ran.stdout.split())
    assert "1 requirement passes, 1 MUST fails" in ran.stdout


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("import sys\nsys.exit(0)\n", "importing leaves raised SystemExit: 0"),
        ("import os\nos._exit(0)\n", "importing leaves raised SystemExit: os._exit(0)"),
        ("class A:\n    def __init__(self):\n        raise SystemExit(5)\n", "leaves:A() raised SystemExit: 5"),
        ("class A:\n    def describe(self):\n        raise SystemExit(0)\n", "describe() raised SystemExit: 0"),
    ],
)
def test_an_adapter_that_ends_the_process_at_once_is_none(tmp_path: Path, body: str, message: str) -> None:
    (tmp_path / "leaves.py").write_text(body)
    ran = observed_context("check", "leaves:A", cwd=tmp_path)
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert message in " ".join(ran.stderr.split())


def test_an_adapter_that_hangs_loses_no_other_results(tmp_path: Path) -> None:
    adapter = tmp_path / "half.py"
    adapter.write_text(
        textwrap.dedent(
            """
            import time
            import adapters_for_tests as toys

            class HalfHangs(toys.ReadsLimits):
                def gate(self, event, settings):
                    time.sleep(3600)
            """
        )
    )
    arguments = ["check", "half:HalfHangs", "--requirement", "GATE-14", "--requirement", "LIM-1"]
    ran = observed_context(*arguments, cwd=tmp_path)
    assert ran.returncode == 1
    assert "ERROR GATE-14" in ran.stdout
    assert "gate() did not return within" in ran.stdout
    assert "1 requirement passes" in ran.stdout


def test_a_print_of_the_adapter_does_not_disturb_the_verdict(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "import adapters_for_tests as toys\n"
        "class Loud(toys.ReadsLimits):\n"
        "    def limits(self, config):\n"
        "        print('LOUD')\n"
        "        return super().limits(config)\n"
    )
    ran = observed_context("check", "loud:Loud", "--area", "LIM", cwd=tmp_path)
    assert ran.returncode == 0
    assert "LOUD" not in ran.stdout


def test_nothing_to_test_exits_with_3(tmp_path: Path) -> None:
    ran = observed_context("check", "adapters_for_tests:Describes", cwd=tmp_path)
    assert ran.returncode == 3
    assert "NOTHING TESTED" in ran.stdout


def test_a_filtered_run_says_so_and_claims_nothing(tmp_path: Path) -> None:
    ran = observed_context("check", LIMITS_ONLY, "--requirement", "lim-2", "--level", "must", cwd=tmp_path)
    assert ran.returncode == 0
    assert "a part of the specification, no claim over all" in ran.stdout
    assert "CONFORMANT:" not in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "no_such_module:Adapter"], "there is no module 'no_such_module'"),
        (["check", "adapters_for_tests:Missing"], "the module adapters_for_tests has no 'Missing'"),
        (["check", "nonsense"], "'nonsense' names no adapter"),
        (["check", "adapters_for_tests:HasNoDescribe"], "has no describe() method"),
        (["check", "adapters_for_tests:DescribesNonsense"], "'cube' is not one of"),
        (["check", LIMITS_ONLY, "--area", "CUP"], "there is no area 'CUP'"),
        (["check", LIMITS_ONLY, "--requirement", "CAP-99"], "there is no requirement 'CAP-99'"),
        (["check", LIMITS_ONLY, "--level", "PERHAPS"], "there is no level 'PERHAPS'"),
        (["check", LIMITS_ONLY, "--known", "none.toml"], "none.toml does not exist"),
        (["check", LIMITS_ONLY, "--grow-known"], "name it"),
        (["check", LIMITS_ONLY, "--json", "no/such/place.json"], "does not exist"),
        (["check", LIMITS_ONLY, "--known", "no/such/known.toml", "--grow-known"], "does not exist"),
        (["check", "--command", ""], "the command is empty"),
        (["check", "adapters_for_tests:CannotBeAsked"], "raised KeyError: 'gate'"),
        (["faults", "--area", "LIM", "--fault", "cap-newest-row-whole"], "nothing to try"),
        (["explain", "CAP-99"], "there is no requirement 'CAP-99'"),
        (["requirements", "--area", "CUP"], "there is no area 'CUP'"),
    ],
)
def test_wrong_usage_exits_with_2_and_names_the_thing(tmp_path: Path, arguments: list[str], message: str) -> None:
    ran = observed_context(*arguments, cwd=tmp_path)
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert message in " ".join(ran.stderr.split())
    assert "Traceback" not in ran.stdout + ran.stderr


def test_known_failures_from_the_first_to_the_last(tmp_path: Path) -> None:
    arguments = ["check", "adapters_for_tests:ReturnsNonsense", "--area", "LIM", "--known", "known.toml"]
    assert observed_context(*arguments, "--grow-known", cwd=tmp_path).returncode == 1
    unexplained = observed_context(*arguments, cwd=tmp_path)
    assert unexplained.returncode == 1
    assert "LIM-1 in known.toml has no reason: write one." in unexplained.stdout
    known = tmp_path / "known.toml"
    known.write_text(known.read_text().replace('reason = ""', 'reason = "It answers with numbers."'))
    recorded = observed_context(*arguments, cwd=tmp_path)
    assert recorded.returncode == 0, recorded.stdout
    assert "4 fail as recorded" in recorded.stdout
    mended = ["check", LIMITS_ONLY, "--area", "LIM", "--known", "known.toml"]
    stale = observed_context(*mended, cwd=tmp_path)
    assert stale.returncode == 1
    assert "LIM-1 passes now" in stale.stdout
    observed_context(*mended, "--shrink-known", cwd=tmp_path)
    assert observed_context(*mended, cwd=tmp_path).returncode == 0


def test_the_users_own_pytest_configuration_has_no_say(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    ran = observed_context("check", LIMITS_ONLY, "--area", "LIM", cwd=tmp_path, PYTEST_ADDOPTS="--no-such-option")
    assert ran.returncode == 0, ran.stderr


def test_the_version(tmp_path: Path) -> None:
    ran = observed_context("--version", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == f"observed-context {__version__}, specification {SPEC_VERSION}\n"


def test_without_what_the_kit_needs_it_says_how_to_serve(tmp_path: Path) -> None:
    script = "import sys\nsys.modules['typer'] = None\nfrom observed_context_conformance.__main__ import main\nmain()\n"
    ran = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "python -m observed_context_conformance.serve" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_every_requirement_can_be_listed_and_explained(tmp_path: Path) -> None:
    listed = observed_context("requirements", "--json", cwd=tmp_path)
    assert [entry["id"] for entry in json.loads(listed.stdout)] == [r.id for r in load_catalogue()]
    explained = observed_context("explain", "cap-1", cwd=tmp_path)
    assert explained.returncode == 0
    assert explained.stdout.startswith("CAP-1 (MUST)")
    assert "block_stays_within_max_chars" in explained.stdout
