"""The benchmarks find what is slower, pass what is not, and say so when they cannot tell. Small sizes, little time."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console
from typer.testing import CliRunner

from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.bench.cases import CASES, Case
from observed_context_conformance.bench.command import FINE, NOTHING, SLOWER, Plan, bench, subject_of
from observed_context_conformance.bench.comparing import compare, doubtful, merged
from observed_context_conformance.bench.measuring import Effort
from observed_context_conformance.bench.patience import Expired, within
from observed_context_conformance.bench.plot import svg_of
from observed_context_conformance.bench.results import Measured, Result, SavedError, growth_of, read, saved
from observed_context_conformance.bench.table import print_measured
from observed_context_conformance.cli import app
from observed_context_conformance.schemas import problem
from observed_context_conformance.stdio.process import ProcessAdapter

QUICK = Effort(seconds=0.04, least=5, most=15, turn=0.0005)


def cases(*names: str, sizes: tuple[int, ...]) -> list[Case]:
    """These cases, at other sizes."""
    found = [replace(case, sizes=sizes, full=sizes) for case in CASES if case.id in names]
    assert len(found) == len(names)
    return found


EVEN, HELD = "assemble: 128 characters, default limits", "assemble: the same, held by the adapter"
SMALL = [*cases(EVEN, sizes=(100, 1_000)), *cases(HELD, sizes=(1_000, 10_000))]


def run(adapter: object, **plan: Any) -> tuple[int, str]:
    """Exit code and output of the benchmarks of an adapter."""
    out = io.StringIO()
    chosen = Plan(**{"cases": SMALL, "effort": QUICK, **plan})
    code = bench([subject_of("it", adapter)], chosen, Console(file=out, width=200), Console(file=io.StringIO()))
    return code, out.getvalue()


# -- regressions that are planted --------------------------------------------------------------------------------------


class QuadraticJoin(ReferenceAdapter):
    """Puts each line before all that it has."""

    def assemble(self, rows: Sequence[Any], limits: Any) -> str | None:
        """Copy what there is for each line."""
        block = ""
        for line in reversed((super().assemble(rows, limits) or "").split("\n")):
            block = line + ("\n" + block if block else "")
        return block or None


class ScansAllRows(ReferenceAdapter):
    """Looks for the newest summary in all rows that exist, before anything else."""

    def assemble(self, rows: Sequence[Any], limits: Any) -> str | None:
        """Look first."""
        return super().assemble(rows, limits) if max((row["seq"] for row in rows if row), default=0) else None


class ExpressionPerRow(ReferenceAdapter):
    """Tries a regular expression on every row that it shows."""

    def assemble(self, rows: Sequence[Any], limits: Any) -> str | None:
        """Search first."""
        for row in rows[-limits["max_rows"] :]:
            re.search(r"\b(?:password|token)\b", row["content"])
        return super().assemble(rows, limits)


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference as it is."""
    path = tmp_path_factory.mktemp("bench") / "baseline.json"
    code, _ = run(ReferenceAdapter(), save=path)
    assert code == FINE
    return path


@pytest.mark.parametrize(
    ("adapter", "slow"),
    [
        (QuadraticJoin(), f"{EVEN}, 1,000 rows"),
        (ScansAllRows(), f"{HELD}, 10,000 rows"),
        (ExpressionPerRow(), f"{EVEN}, 1,000 rows"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, ReferenceAdapter) else "",
)
def test_a_planted_regression_is_slower(baseline: Path, adapter: ReferenceAdapter, slow: str) -> None:
    code, output = run(adapter, compare=baseline)
    assert code == SLOWER
    assert re.search(rf"^slower +{re.escape(slow)}: ", output, re.MULTILINE)


def test_the_same_adapter_is_not_slower(baseline: Path) -> None:
    code, output = run(ReferenceAdapter(), compare=baseline)
    assert code == FINE, output
    assert "0 of 4 slower than 1.25 times" in output


def test_what_is_not_measured_any_more_fails(baseline: Path) -> None:
    class Forgetful(ReferenceAdapter):
        bench_rows = None  # type: ignore[assignment]

    code, output = run(Forgetful(), compare=baseline)
    assert code == SLOWER
    assert f"missing  {HELD}, 1,000 rows" in output
    assert f"not measured  {HELD}: the adapter has no bench_rows()" in output


X = Case("assemble", "x", lambda subject, size: iter(()), (100, 1_000, 10_000), (), steady=100)


# -- what is compared, and how -----------------------------------------------------------------------------------------


def result(ratio: float, spread: float = 1.0, size: int = 100, whole: float | None = None) -> Result:
    """A result whose interval reaches so many times up and down; the ratio to all rows is the same when not given."""
    ends = (ratio / spread, ratio * spread)
    return Result("assemble: x", size, "rows", ratio, whole or ratio, *ends, 1e-3 * size, 1e-4 * size, 9)


@pytest.mark.parametrize(
    ("then", "now", "verdict"),
    [
        (result(2.0), result(2.4), "same"),
        (result(2.0), result(2.6), "slower"),
        (result(2.0), result(1.5), "faster"),
        (result(2.0), result(2.6, 1.3), "noisy"),
        (result(2.0, 1.3), result(2.6), "noisy"),
        (result(2.0), result(2.3, 1.3), "noisy"),
        (result(2.0), result(1.9, 1.3), "same"),
        (result(2.0, 1.3), result(9.0, 1.3), "slower"),
        (result(2.0, whole=1.0), result(3.0, whole=1.1), "same"),
        (result(2.0, whole=1.0), result(3.0, whole=1.4), "slower"),
        (result(-0.1), result(2.0), "noisy"),
        (result(2.0), None, "missing"),
        (None, result(2.0), "new"),
    ],
)
def test_verdicts(then: Result | None, now: Result | None, verdict: str) -> None:
    measured = Measured("it", "it 1", "", [now] if now else [])
    (change,) = compare({("assemble: x", 100): then} if then else {}, measured, [(X, 100)], 1.25)
    assert change.verdict == verdict
    looks = frozenset([("assemble: x", 100)]) if verdict in ("slower", "noisy") else frozenset()
    assert doubtful([change]) == looks


def test_where_costs_are_not_steady_more_is_needed() -> None:
    measured = Measured("it", "it 1", "", [result(3.0, size=100), result(3.0, size=1_000), result(4.1, size=10_000)])
    before = {("assemble: x", size): result(2.0, size=size) for size in X.sizes}
    changes = compare(before, measured, [(X, size) for size in X.sizes], 1.25)
    assert [change.verdict for change in changes] == ["slower", "same", "slower"]


def test_another_look_counts_when_it_is_quieter_or_faster() -> None:
    first = Measured("it", "it 1", "", [result(9.0, 1.5), result(3.0, size=1_000), result(2.0, size=10_000)])
    merged(first, Measured("it", "it 1", "", [result(9.5), result(4.0, size=1_000)]))
    assert [one.ratio for one in first.results] == [9.5, 3.0, 2.0]


def test_growth_is_the_exponent() -> None:
    assert growth_of([(10**n, 3.0 * 10**n) for n in range(2, 6)]) == pytest.approx(1)
    assert growth_of([(10**n, 3.0 * 100**n) for n in range(2, 6)]) == pytest.approx(2)
    assert growth_of([(1_000, 1.0), (4_000, 4.0)]) is None


def test_noise_is_said() -> None:
    out = io.StringIO()
    measured = Measured("it", "it 1", "some clock", [result(2.0, 1.3), result(2.0, size=1_000)])
    print_measured(Console(file=out), measured)
    assert "2.0~" in out.getvalue()
    assert "too busy to say anything of 1 of 2 ratios" in out.getvalue()


def test_what_drowned_in_the_noise_has_no_number() -> None:
    out = io.StringIO()
    drowned = dataclasses.replace(result(2.0), low=-1.0, seconds=-1e-6, rate=None, rate_unit="rows/s")
    print_measured(Console(file=out), Measured("it", "it 1", "some clock", [drowned]))
    assert re.search(r"^  x +~ +~$", out.getvalue(), re.MULTILINE)


# -- adapters of other kinds -------------------------------------------------------------------------------------------

GATE = cases("gate: not for the bot", "gate: a mention in the middle", sizes=(100, 1_000))


class Awaited(ReferenceAdapter):
    """Answers later."""

    async def gate(self, event: Any, settings: Any) -> Any:  # type: ignore[override]
        """As the reference."""
        return ReferenceAdapter.gate(self, event, settings)


class Raises(ReferenceAdapter):
    """Cannot."""

    def gate(self, event: Any, settings: Any) -> Any:
        """Never."""
        raise RuntimeError("not today")


class Slow(ReferenceAdapter):
    """Takes the square of the length."""

    def gate(self, event: Any, settings: Any) -> Any:
        """Late."""
        until = time.process_time() + len(event["text"]) ** 2 * 1e-8
        while time.process_time() < until:
            pass
        return super().gate(event, settings)


def test_coroutine_functions_are_measured(tmp_path: Path) -> None:
    code, _ = run(Awaited(), cases=GATE, save=tmp_path / "saved.json")
    assert code == FINE
    measured = read(tmp_path / "saved.json")["adapters"][0]["results"]
    assert [(one["case"], one["size"]) for one in measured] == [(case.id, size) for case in GATE for size in case.sizes]
    assert all(one["rate"] > 1_000 and one["rate_unit"] == "decisions/s" for one in measured)


def test_an_adapter_that_raises_fails() -> None:
    code, output = run(Raises(), cases=[*SMALL[:1], *GATE])
    assert code == SLOWER
    assert "gate: not for the bot, 100 characters: it raised RuntimeError: not today" in output


class Leaves(ReferenceAdapter):
    """Ends the process."""

    def gate(self, event: Any, settings: Any) -> Any:
        """Never."""
        os._exit(0)


class Hangs(ReferenceAdapter):
    """Does not come back."""

    def gate(self, event: Any, settings: Any) -> Any:
        """Never."""
        time.sleep(3600)


def test_an_adapter_that_ends_the_process_fails() -> None:
    code, output = run(Leaves(), cases=[*SMALL[:1], *GATE])
    assert code == SLOWER
    assert "gate: not for the bot, 100 characters: it raised SystemExit: os._exit(0)" in output


def test_an_adapter_that_hangs_fails_soon() -> None:
    begun = time.monotonic()
    code, output = run(Hangs(), cases=[*SMALL[:1], *GATE], effort=replace(QUICK, deadline=0.3, patience=0.1))
    assert code == SLOWER
    assert "gate: not for the bot, 100 characters: it did not return within 0.3 s" in output
    assert "gate: not for the bot, 1,000 characters: at 100 a call takes" in output
    assert time.monotonic() - begun < 10


def test_a_slow_call_among_others_does_not_hang() -> None:
    made: list[int] = []
    with within(0.4, lambda: len(made)):
        for number in range(4):
            time.sleep(0.2)
            made.append(number)
    with pytest.raises(Expired), within(0.2, lambda: 0):
        time.sleep(5)


def test_what_would_take_too_long_is_left_out() -> None:
    code, output = run(Slow(), cases=GATE[:1], effort=replace(QUICK, patience=0.1))
    assert code == FINE
    assert "not measured  gate: not for the bot, 1,000 characters: at 100 a call takes" in output


def test_nothing_to_measure_is_no_success() -> None:
    class Bare:
        describe = ReferenceAdapter.describe

    assert run(Bare())[0] == NOTHING


def test_an_adapter_behind_a_pipe_is_measured_without_the_pipe(tmp_path: Path) -> None:
    adapter = ProcessAdapter(f"{sys.executable} -m observed_context_conformance.serve reference")
    try:
        code, output = run(adapter, cases=cases(EVEN, HELD, sizes=(1_000,)), save=tmp_path / "saved.json")
    finally:
        adapter.close()
    assert code == FINE
    assert "less that of an empty call with the same arguments" in output
    assert f"not measured  {HELD}: the adapter has no bench_rows()" in output
    (one,) = read(tmp_path / "saved.json")["adapters"][0]["results"]
    assert 0 < one["seconds"] < 0.01, "JSON of a thousand rows takes longer than to assemble them"


# -- files, and the commands -------------------------------------------------------------------------------------------


def test_what_is_saved_satisfies_its_schema(baseline: Path) -> None:
    content = json.loads(baseline.read_text(encoding="utf-8"))
    assert problem("bench.json", content) is None
    (one,) = content["adapters"]
    assert [(entry["case"], entry["size"]) for entry in one["results"]] == [
        (case.id, size) for case in SMALL for size in case.sizes
    ]


@pytest.mark.parametrize("content", [None, "{", "{}"])
def test_a_file_that_is_none_is_refused(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "saved.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(SavedError):
        run(ReferenceAdapter(), compare=path)


def test_a_file_of_another_adapter_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(saved([Measured("other", "other 1", "")], False, "2026-11-30T12:00:00+00:00")), "utf-8")
    with pytest.raises(SavedError, match="holds nothing of 'it'; it has other"):
        run(ReferenceAdapter(), compare=path)


def test_the_picture_has_a_line_for_each_adapter() -> None:
    one = Measured("one", "one <1>", "", [result(2.0, size=10**n) for n in (2, 3, 4)])
    two = Measured("two", "two 2", "", [result(3.0, size=100)])
    picture = ElementTree.fromstring(svg_of([one, two]))
    lines = list(picture.iter("{http://www.w3.org/2000/svg}polyline"))
    assert len(lines) == 3 + 3, "three in the legend, three in the panel"
    texts = ["".join(text.itertext()) for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"one: one <1>", "two: two 2", "assemble", "x", "10k"} <= set(texts)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name an adapter"),
        (["no_such_module:Adapter"], "no module"),
        (["reference", "--save", "no/such/directory/x.json"], "does not exist"),
        (["reference", "--compare", "no-such.json"], "cannot be read"),
        (["reference", "--plot", "costs.png"], "name it costs.svg"),
        (["--command", " "], "the command is empty"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str) -> None:
    outcome = CliRunner().invoke(app, ["bench", *arguments])
    assert outcome.exit_code == 2
    assert said in outcome.output


def test_pytest_runs_them_too() -> None:
    root = Path(__file__).parents[2]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "benchmarks",
        "--adapter",
        "reference",
        "-k",
        "wrap and 100",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a block to escape" in done.stdout
    assert "2 passed" in done.stdout
