"""One run of the benchmarks: calls pytest with pytest-benchmark, and takes what the plugin gathered."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from observed_context_conformance.bench.cases import CASES, Case, Subject
from observed_context_conformance.bench.measuring import EFFORT, Effort
from observed_context_conformance.bench.plugin import Bench
from observed_context_conformance.bench.results import Measured
from observed_context_conformance.session import SessionError, own_environment


def run(
    subject: Subject,
    console: Console,
    *,
    full: bool = False,
    effort: Effort = EFFORT,
    cases: Iterable[Case] = CASES,
    only: frozenset[tuple[str, int]] | None = None,
) -> Measured:
    """Measure an adapter; progress goes to `console`.

    Raises:
        SessionError: pytest could not do its work.
        KeyboardInterrupt: the user has had enough.
    """
    bench = Bench(subject, full=full, effort=effort, cases=cases, only=only)
    if not bench.costs:
        return bench.measured
    with _Progress(console, subject.name, len(bench.costs)) as progress, own_environment():
        code = pytest.main(_arguments(), plugins=[bench, progress])
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if code in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR) or progress.said:
        raise SessionError("\n".join(progress.said) or f"pytest ended with exit code {code}")
    return bench.measured


def _arguments() -> list[str]:
    here = Path(__file__).parent
    # As for the checks: the user's own pytest configuration, plugins and caches have no say.
    arguments = [str(here / "costs.py"), "-c", os.devnull, f"--rootdir={here}", "-p", "pytest_benchmark.plugin"]
    return [*arguments, "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:warnings", "-p", "no:xdist"]


class _Progress:
    """A line that says how far it is, and what pytest said when it failed itself."""

    def __init__(self, console: Console, name: str, total: int) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} of {task.total}"))
        self._bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task(name, total=total)
        self.said: list[str] = []

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._bar.stop()

    def pytest_runtest_logfinish(self, nodeid: str, location: object) -> None:
        """One more."""
        self._bar.advance(self._task)

    def pytest_internalerror(self, excrepr: object) -> None:
        """Keep it."""
        self.said.append(str(excrepr))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what could not be collected."""
        if report.failed:
            self.said.append(report.longreprtext)
