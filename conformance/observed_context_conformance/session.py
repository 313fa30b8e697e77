"""One run of the checks against one adapter: calls pytest with the kit's plugin, and judges what came back."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis.configuration import set_hypothesis_home_dir
from rich.console import Console

from observed_context_conformance import plugin
from observed_context_conformance.catalogue import load_catalogue
from observed_context_conformance.checking import Check, Effort
from observed_context_conformance.plugin import Gathered, selected_checks
from observed_context_conformance.report.known import Ledger
from observed_context_conformance.report.progress import RunProgress
from observed_context_conformance.report.verdict import Result, Selection, judge
from observed_context_conformance.subject import CALL_SECONDS, Adapter

FEW_CHECKS = 40
"""Fewer than these are done before a second process has started."""

MOST_WORKERS = 8


class SessionError(Exception):
    """pytest itself failed; the message says how. A defect of the kit or of its installation."""


@dataclass(frozen=True)
class Run:
    """What is run.

    Attributes:
        name: the adapter's name, as it was given.
        target: the adapter.
        command: the command line that starts it, when it is another process.
        call_seconds: how long one call may take.
        selection: which requirements.
        effort: how hard to look.
        ledger: known failures, or None.
        junit: where to write JUnit XML, or None.
        workers: processes to spread the checks over, each of which loads the adapter by its name; None: as many as are
            worth their start.
    """

    name: str
    target: Any
    command: str | None = None
    call_seconds: float = CALL_SECONDS
    selection: Selection = field(default_factory=Selection)
    effort: Effort = field(default_factory=Effort)
    ledger: Ledger | None = None
    junit: Path | None = None
    workers: int | None = None


class _Guest:
    """Hands the loaded adapter to the plugin, and keeps what pytest says when it fails itself."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.said: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[plugin.TARGET] = self._run.target

    def pytest_internalerror(self, excrepr: object) -> None:
        self.said.append(str(excrepr))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.said.append(report.longreprtext)


def run_session(run: Run, console: Console) -> Result:
    """Run the selected checks; progress goes to `console`.

    Raises:
        AdapterUnusableError: the object is no adapter.
        SessionError: pytest could not do its work.
    """
    adapter = Adapter(run.target, run.call_seconds)
    checks = selected_checks(run.selection)
    gathered = Gathered()
    code: int = pytest.ExitCode.OK
    if checks:
        guest = _Guest(run)
        with RunProgress(console, checks) as progress, own_environment():
            code = pytest.main(_arguments(run, _workers(run, adapter, checks)), plugins=[guest, gathered, progress])
        if code in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR) or guest.said:
            raise SessionError("\n".join(guest.said) or f"pytest ended with exit code {code}")
    return judge(
        adapter=run.name,
        description=adapter.description,
        methods=adapter.methods,
        catalogue=load_catalogue(),
        checks=checks,
        outcomes=gathered.outcomes.values(),
        selection=run.selection,
        effort=run.effort,
        ledger=run.ledger,
        broken_checks=gathered.broken,
        interrupted=code == pytest.ExitCode.INTERRUPTED,
    )


def _workers(run: Run, adapter: Adapter, checks: tuple[Check, ...]) -> int:
    if run.workers is not None:
        return run.workers
    worth = sum(all(adapter.offers(method) for method in check.calls) for check in checks) >= FEW_CHECKS
    return min(os.cpu_count() or 1, MOST_WORKERS) if worth else 1


def _arguments(run: Run, workers: int) -> list[str]:
    here = Path(__file__).parent
    # The user's own pytest configuration, plugins and caches have no say in a verdict.
    arguments = [str(here / "test_conformance.py"), "-c", os.devnull, f"--rootdir={here}", "-p", plugin.__name__]
    arguments += ["-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:warnings"]
    arguments += [f"--adapter={run.name}" if run.command is None else f"--adapter-command={run.command}"]
    arguments += [f"--call-seconds={run.call_seconds}"]
    arguments += [f"--conformance-area={area}" for area in run.selection.areas]
    arguments += [f"--conformance-requirement={requirement}" for requirement in run.selection.requirements]
    arguments += [f"--conformance-level={level}" for level in run.selection.levels]
    arguments += [f"--conformance-seed={run.effort.seed}", f"--conformance-effort={run.effort.factor}"]
    if run.ledger is not None:
        arguments.append(f"--conformance-known={run.ledger.path.absolute()}")
    if workers > 1:
        # One group a worker, so that who runs what, and in which order, does not depend on who was faster.
        arguments += ["-p", "xdist.plugin", f"--numprocesses={workers}", "--dist=loadgroup"]
    if run.junit is not None:
        arguments += [f"--junitxml={run.junit.absolute()}", "-o", "junit_suite_name=observed-context"]
    return arguments


@contextmanager
def own_environment() -> Iterator[None]:
    """Keep pytest's environment variables out, and Hypothesis's tables out of the user's directory."""
    saved = dict(os.environ)
    set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "observed-context")
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ.pop("PYTEST_PLUGINS", None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        set_hypothesis_home_dir(None)
        for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
            if name in saved:
                os.environ[name] = saved[name]
            else:
                os.environ.pop(name, None)
