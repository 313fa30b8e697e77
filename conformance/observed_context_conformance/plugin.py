"""The pytest plugin: `--adapter` runs the checks as tests and gathers what really ran."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from observed_context_conformance.binding import BoundCheck, bound_checks, ordered_checks
from observed_context_conformance.catalogue import CatalogueError, load_catalogue
from observed_context_conformance.checking import Check, Effort, Outcome
from observed_context_conformance.loading import AdapterLoadError, load_adapter, start_adapter
from observed_context_conformance.report.known import Ledger, LedgerError, disagreements, read_ledger
from observed_context_conformance.report.machine import outcome_from, outcome_json
from observed_context_conformance.report.verdict import Selection
from observed_context_conformance.subject import CALL_SECONDS, Adapter, AdapterUnusableError

_PROPERTY = "observed-context"
TARGET = pytest.StashKey[Any]()
"""The adapter itself, when whoever started pytest has loaded it already."""
_LEDGER = pytest.StashKey[Ledger | None]()
_GATHERED = pytest.StashKey["Gathered"]()


class Gathered:
    """Collects the outcomes of a session, also from workers in other processes.

    Attributes:
        outcomes: by check, in the order in which they ended.
        broken: checks that broke by themselves, with what they said.
    """

    def __init__(self) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self.broken: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take over one report."""
        properties = dict(report.user_properties)
        if _PROPERTY not in properties or report.when != "call":
            return
        carried = json.loads(str(properties[_PROPERTY]))
        if carried["outcome"] is None:
            self.broken[carried["check"]] = report.longreprtext
        else:
            outcome = outcome_from(carried["outcome"])
            self.outcomes[outcome.check] = outcome


def selected_checks(selection: Selection) -> tuple[Check, ...]:
    """The checks of the selected requirements, in the order of the specification."""
    catalogue = load_catalogue()
    return tuple(check for check in ordered_checks() if selection.takes(catalogue[check.requirement]))


def validated(selection: Selection) -> Selection:
    """The selection in the spelling of the specification, if everything in it exists; case does not matter.

    Raises:
        CatalogueError: an unknown area, requirement or level; the message names close ones.
    """
    catalogue = load_catalogue()
    codes = [area.code for area in catalogue.areas]
    selection = Selection(*map(_folded, (selection.areas, selection.requirements, selection.levels)))
    for area in selection.areas:
        if area not in codes:
            raise CatalogueError(f"there is no area {area!r}; the areas are {', '.join(codes)}")
    for requirement in selection.requirements:
        catalogue[requirement]
    for level in selection.levels:
        if level not in ("MUST", "SHOULD", "MAY"):
            raise CatalogueError(f"there is no level {level!r}; the levels are MUST, SHOULD and MAY")
    return selection


def _folded(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.strip().upper() for name in names)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the kit."""
    group = parser.getgroup("observed-context", "conformance of an adapter to the observed-context specification")
    group.addoption("--adapter", metavar="NAME", help="the adapter: package.module:attribute, or a built-in name")
    group.addoption(
        "--adapter-command",
        metavar="COMMAND",
        help="the adapter: a command that speaks the protocol of spec/protocol.md",
    )
    group.addoption(
        "--call-seconds", type=float, default=CALL_SECONDS, help="how long one call of the adapter may take"
    )
    group.addoption(
        "--conformance-area",
        action="append",
        default=[],
        metavar="AREA",
        help="only this area (CAP, SEP, ...); repeatable",
    )
    group.addoption(
        "--conformance-requirement", action="append", default=[], metavar="ID", help="only this requirement; repeatable"
    )
    group.addoption(
        "--conformance-level",
        action="append",
        default=[],
        metavar="LEVEL",
        help="only this level: MUST or SHOULD; repeatable",
    )
    group.addoption(
        "--conformance-known",
        metavar="FILE",
        help="the adapter's known failures; the run fails when it disagrees with them",
    )
    group.addoption(
        "--conformance-seed", type=int, default=0, help="draw other examples (default 0: the verdict's own)"
    )
    group.addoption("--conformance-effort", type=float, default=1.0, help="multiply the number of examples")


def pytest_configure(config: pytest.Config) -> None:
    """Read the ledger, and gather what ends."""
    known = config.getoption("--conformance-known")
    try:
        config.stash[_LEDGER] = read_ledger(Path(known)) if known else None
    except LedgerError as error:
        raise pytest.UsageError(str(error)) from error
    gathered = Gathered()
    config.stash[_GATHERED] = gathered
    config.pluginmanager.register(gathered, "observed-context-gathered")


def _selection(config: pytest.Config) -> Selection:
    chosen = [tuple(config.getoption(f"--conformance-{what}")) for what in ("area", "requirement", "level")]
    return validated(Selection(*chosen))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize the kit's own test function over the selected checks."""
    if "conformance_check" not in metafunc.fixturenames:
        return
    config = metafunc.config
    name, command = config.getoption("--adapter"), config.getoption("--adapter-command")
    if not name and not command:
        raise pytest.UsageError(
            "name the adapter to check: --adapter package.module:attribute, or --adapter-command COMMAND"
        )
    try:
        if TARGET in config.stash:
            target = config.stash[TARGET]
        else:
            target = start_adapter(command) if command else load_adapter(name)
        selection = _selection(config)
        adapter = Adapter(target, config.getoption("--call-seconds"))
    except (AdapterLoadError, AdapterUnusableError, CatalogueError) as error:
        raise pytest.UsageError(str(error)) from error
    effort = Effort(config.getoption("--conformance-seed"), config.getoption("--conformance-effort"))
    groups = config.getoption("numprocesses", default=None) or 1
    bound = bound_checks(
        adapter,
        selected_checks(selection),
        effort,
        config.stash[_LEDGER],
        groups,
    )
    metafunc.parametrize("conformance_check", bound)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Attach the outcome to the report, so that it travels to whoever gathers."""
    report = yield
    if call.when == "call":
        callspec = getattr(item, "callspec", None)
        for value in callspec.params.values() if callspec is not None else ():
            if isinstance(value, BoundCheck):
                carried = {
                    "check": value.check.name,
                    "outcome": None if value.outcome is None else outcome_json(value.outcome),
                }
                report.user_properties.append((_PROPERTY, json.dumps(carried)))
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a disagreement with the ledger fail the session."""
    if _problems(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_unconfigure() -> None:
    """Leave no process behind."""
    process = sys.modules.get("observed_context_conformance.stdio.process")
    if process is not None:
        process.stop_everything()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what the ledger and the run do not agree on."""
    problems = _problems(config)
    if problems:
        terminalreporter.section("known failures")
        for problem in problems:
            terminalreporter.line(problem)


def _problems(config: pytest.Config) -> list[str]:
    ledger = config.stash.get(_LEDGER, None)
    gathered = config.stash.get(_GATHERED, None)
    if ledger is None or gathered is None or not gathered.outcomes or hasattr(config, "workerinput"):
        return []
    catalogue = load_catalogue()
    selection = _selection(config)
    selected = frozenset(r.id for r in catalogue if selection.takes(r))
    return disagreements(ledger, gathered.outcomes.values(), selected)
