"""Says what a run is doing meanwhile: a bar in a terminal, a line per area elsewhere."""

from __future__ import annotations

from types import TracebackType

import pytest
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from observed_context_conformance.checking import Check
from observed_context_conformance.report.explanation import counted


class RunProgress:
    """Follows a pytest session that runs checks; register it as a plugin and use it as a context manager."""

    def __init__(self, console: Console, checks: tuple[Check, ...]) -> None:
        self._console = console
        self._left: dict[str, int] = {}
        for check in checks:
            self._left[check.area] = self._left.get(check.area, 0) + 1
        self._total = dict(self._left)
        self._failed: dict[str, int] = dict.fromkeys(self._left, 0)
        self._bar: Progress | None = None
        if console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.fields[area]:5}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[failed]}"),
                TimeElapsedColumn(),
                TextColumn("{task.fields[check]}"),
                console=console,
                transient=True,
            )
            self._task = self._bar.add_task("", total=len(checks), area="", failed="", check="")

    def __enter__(self) -> RunProgress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Name the check that starts."""
        if self._bar is not None:
            area, name = _names(nodeid)
            self._bar.update(self._task, area=area, check=name[:60])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a check that ended."""
        if report.when != "call":
            return
        area, _ = _names(report.nodeid)
        self._failed[area] += bool(report.failed) or hasattr(report, "wasxfail")
        self._left[area] -= 1
        if self._bar is not None:
            failed = sum(self._failed.values())
            self._bar.update(self._task, advance=1, failed=f"{failed} failing" if failed else "")
        elif self._left[area] == 0:
            failing = f", {self._failed[area]} failing" if self._failed[area] else ""
            self._console.print(f"{area:5} {counted(self._total[area], 'check')}{failing}", highlight=False)


def _names(nodeid: str) -> tuple[str, str]:
    """Area and check name out of `file.py::test_conformance[CAP-1-name]`."""
    area, _, rest = nodeid.rpartition("[")[2].partition("]")[0].partition("-")
    return area, rest.partition("-")[2]
