"""The matrix of faults for a person in a terminal: what was not caught first."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from observed_context_conformance.catalogue import load_catalogue
from observed_context_conformance.faults.matrix import Trial, examples_to_catch, only_gross
from observed_context_conformance.report.explanation import counted

CHECKS_SHOWN = 3


def print_matrix(console: Console, trials: Sequence[Trial], *, seed: int) -> None:
    """Print all trials."""
    missed = [trial for trial in trials if not trial.catches]
    leaking = [trial for trial in trials if trial.leaks]
    console.print(f"{counted(len(trials), 'fault')}, seed {seed}", highlight=False)
    for title, some in (("Not caught", missed), ("Red where the fault changes nothing", leaking)):
        if some:
            console.print(title, style="bold red")
            for trial in some:
                where = f": {', '.join(trial.leaks)}" if some is leaking else ""
                console.print(Text(f"  {trial.requirement:8} {trial.fault}{where}"), soft_wrap=True)
            console.print()
    for trial in trials:
        _line(console, trial)
    console.print()
    console.print(_table(trials))
    gross = only_gross(trials)
    if gross:
        console.print()
        console.print(
            Text(f"Only gross faults, which whatever is tried first shows: {', '.join(gross)}"), soft_wrap=True
        )
    console.print()
    caught = len(trials) - len(missed)
    style = "bold green" if not missed and not leaking else "bold red"
    console.print(Text(f"{caught} of {len(trials)} caught, {len(leaking)} leaking", style=style))


def _line(console: Console, trial: Trial) -> None:
    caught = [f"{c.check} ({counted(c.examples, 'example')}, {c.seconds:.2f} s)" for c in trial.catches[:CHECKS_SHOWN]]
    more = len(trial.catches) - CHECKS_SHOWN
    caught += [f"and {more} more"] if more > 0 else []
    console.print(Text(f"{trial.requirement:8} {trial.fault}: {', '.join(caught) or 'NOT CAUGHT'}"), soft_wrap=True)
    if trial.reddens:
        console.print(Text(f"         reddens {', '.join(trial.reddens)}", style="dim"), soft_wrap=True)


def _table(trials: Sequence[Trial]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("Area", "faults", "caught", "examples: median", "worst", "seconds: median", "worst"):
        table.add_column(column, justify="left" if column == "Area" else "right")
    order = {area.code: position for position, area in enumerate(load_catalogue().areas)}
    ordered = sorted(trials, key=lambda trial: order[trial.area])
    for area, group in groupby(ordered, key=lambda trial: trial.area):
        members = list(group)
        median, worst = examples_to_catch(members)
        seconds = [min(c.seconds for c in trial.catches) for trial in members if trial.catches]
        table.add_row(
            area,
            str(len(members)),
            str(sum(bool(trial.catches) for trial in members)),
            f"{median:g}",
            str(worst),
            f"{statistics.median(seconds):.2f}" if seconds else "-",
            f"{max(seconds):.2f}" if seconds else "-",
        )
    return table
