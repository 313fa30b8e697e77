"""`pytest benchmarks --adapter NAME`, or `--adapter-command COMMAND`: the benchmarks under pytest's own roof."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from observed_context_conformance.bench.command import subject_of
from observed_context_conformance.bench.plugin import Bench
from observed_context_conformance.bench.table import print_measured
from observed_context_conformance.loading import AdapterLoadError, load_adapter, start_adapter
from observed_context_conformance.subject import AdapterUnusableError

_NAME = "observed-context-bench"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--full`; `--adapter` and `--adapter-command` are the kit's."""
    parser.addoption("--full", action="store_true", help="all sizes, up to a million rows")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Stay in one process: the project's own configuration spreads tests over the cores."""
    config.option.numprocesses = None
    config.option.dist = "no"


def pytest_configure(config: pytest.Config) -> None:
    """Load the adapter."""
    name, command = config.getoption("--adapter"), config.getoption("--adapter-command")
    if not name and not command:
        raise pytest.UsageError("name the adapter: --adapter package.module:attribute, or --adapter-command COMMAND")
    try:
        subject = subject_of(command or name, start_adapter(command) if command else load_adapter(name))
    except (AdapterLoadError, AdapterUnusableError) as error:
        raise pytest.UsageError(str(error)) from error
    config.pluginmanager.register(Bench(subject, full=config.getoption("--full")), _NAME)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Show the ratios below the table of pytest-benchmark."""
    bench = config.pluginmanager.get_plugin(_NAME)
    if bench is not None and bench.measured.results:
        terminalreporter.section("costs")
        print_measured(Console(file=terminalreporter._tw._file, highlight=False), bench.measured)
