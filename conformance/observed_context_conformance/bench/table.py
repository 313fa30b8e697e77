"""The results for a person in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from observed_context_conformance.bench.comparing import FAILING, Change
from observed_context_conformance.bench.results import Measured, Result, short

NAMES = 33
"""Characters of the first column at least, so that the tables are in line."""

_UNITS = (("s", 1), ("ms", 1e3), ("µs", 1e6))

NARROWEST = 118
"""Characters of a line. What is too wide for a terminal is easier to read wrapped than cut."""

_STYLES = {"slower": "bold red", "missing": "bold red", "noisy": "yellow", "faster": "green"}


def print_measured(console: Console, measured: Measured) -> None:
    """Print one adapter: for each case the ratios over the sizes, what it comes to at the largest, and the growth."""
    console.width = max(console.width, NARROWEST)
    console.print(Text(f"{measured.name}: {measured.description}", "bold"), soft_wrap=True)
    console.print(Text(f"{measured.clock},", "dim"), soft_wrap=True)
    console.print(
        Text("as multiples of the limit: to take out the texts that are shown, and join them", "dim"), soft_wrap=True
    )
    growth = measured.growth()
    by_case = {case: list(results) for case, results in groupby(measured.results, key=lambda result: result.case)}
    for (call, unit), cases in groupby(by_case, key=lambda case: (case.partition(":")[0], by_case[case][0].unit)):
        _print_table(console, f"{call}, by {unit}", {case: by_case[case] for case in cases}, growth)
    for name, why in measured.missing.items():
        console.print(Text(f"not measured  {name}: {why}"), soft_wrap=True)
    noisy = sum(result.noisy for result in measured.results)
    if noisy:
        said = f"warning: the machine was too busy to say anything of {noisy} of {len(measured.results)} ratios (~)"
        console.print(Text(said, "yellow"), soft_wrap=True)
    console.print()


def _print_table(console: Console, title: str, cases: dict[str, list[Result]], growth: dict[str, float]) -> None:
    sizes = sorted({result.size for results in cases.values() for result in results})
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column(title, min_width=NAMES, no_wrap=True)
    for column in (*map(short, sizes), "growth", "at the largest"):
        table.add_column(column, justify="right", min_width=5, no_wrap=True)
    for case, results in cases.items():
        ratios = {result.size: _ratio(result) for result in results}
        last = results[-1]
        most = _most(last)
        exponent = f"n^{growth[case]:.2f}" if case in growth else ""
        table.add_row(f"  {case.partition(': ')[2]}", *(ratios.get(size, "") for size in sizes), exponent, most)
    console.print(table)


def _most(result: Result) -> str:
    if result.low <= 0:
        return "~"
    return _time(result.seconds) if result.rate is None else f"{_digits(result.rate)} {result.rate_unit}"


def _ratio(result: Result) -> str:
    if result.low <= 0:  # a difference of two times, smaller than the noise
        return "~"
    return f"{_digits(result.ratio)}{'~' if result.noisy else ''}"


def _digits(number: float) -> str:
    """Three digits at the most, or all before the point."""
    return f"{number:,.{max(0, 2 - len(str(int(abs(number)))) + (abs(number) < 1))}f}"


def _time(seconds: float) -> str:
    unit, factor = next(((unit, factor) for unit, factor in _UNITS if seconds * factor >= 1), _UNITS[-1])
    return f"{_digits(seconds * factor)} {unit}"


def print_changes(console: Console, changes: Iterable[Change], fail_over: float) -> None:
    """Print what is not as it was."""
    changes = list(changes)
    for change in changes:
        if change.verdict == "same":
            continue
        then = f"{change.before.ratio:.3g}" if change.before else "-"
        now = f"{change.now.ratio:.3g}" if change.now else "-"
        factor = f" ({change.factor:.2f} times)" if change.factor is not None else ""
        line = f"{change.verdict:8} {change.name}: {then} -> {now}{factor}"
        console.print(Text(line, _STYLES.get(change.verdict, "")), soft_wrap=True)
    counts = Counter(change.verdict for change in changes)
    compared = sum(change.before is not None for change in changes)
    failing = any(change.verdict in FAILING for change in changes)
    said = f"{counts['slower']} of {compared} slower than {fail_over:g} times"
    if counts["missing"]:
        said += f", {counts['missing']} not measured any more"
    if counts["noisy"]:
        said += f", {counts['noisy']} too noisy to say"
    console.print(Text(f"{said}.", "bold red" if failing else "bold green"), soft_wrap=True)
