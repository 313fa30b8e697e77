"""What `observed-context bench` does: measure, compare, look again at what is doubtful, write, and decide."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from observed_context_conformance.bench.cases import CASES, Case, Subject
from observed_context_conformance.bench.comparing import FAILING, Change, compare, doubtful, merged
from observed_context_conformance.bench.measuring import EFFORT, Effort
from observed_context_conformance.bench.plot import svg_of
from observed_context_conformance.bench.results import Measured, SavedError, read, results_of, saved
from observed_context_conformance.bench.session import run
from observed_context_conformance.bench.table import print_changes, print_measured
from observed_context_conformance.stdio.process import ProcessAdapter
from observed_context_conformance.subject import Adapter

FAIL_OVER = 1.25

LOOKS = 3
"""How often a case is measured before it is called slower, or too noisy to say."""

FINE, SLOWER, NOTHING = 0, 1, 3


@dataclass(frozen=True)
class Plan:
    """What is to be done.

    Attributes:
        full: all sizes.
        save: where to keep the results.
        compare: the results to compare with.
        fail_over: so many times the ratio of then fails.
        plot: where to draw them.
        cases: what is measured.
        effort: how long.
    """

    full: bool = False
    save: Path | None = None
    compare: Path | None = None
    fail_over: float = FAIL_OVER
    plot: Path | None = None
    cases: Sequence[Case] = CASES
    effort: Effort = EFFORT


def subject_of(name: str, target: Any) -> Subject:
    """The adapter, asked what it is.

    Raises:
        AdapterUnusableError: it does not say so properly.
    """
    return Subject(name, target, Adapter(target).description, isinstance(target, ProcessAdapter))


def bench(subjects: Iterable[Subject], plan: Plan, console: Console, progress: Console) -> int:
    """Do it; the exit code is 0 when nothing is slower, 1 when something is or cannot be measured, 3 without results.

    Raises:
        SavedError: the file to compare with cannot be used.
        SessionError: pytest could not do its work.
    """
    subjects = list(subjects)
    content = read(plan.compare) if plan.compare is not None else None
    for subject in subjects:
        if content is not None and results_of(content, subject.name) is None:
            known = ", ".join(one["name"] for one in content["adapters"])
            raise SavedError(f"{plan.compare} holds nothing of {subject.name!r}; it has {known}")
    started = datetime.now(UTC).isoformat(timespec="seconds")
    done = []
    failing = False
    for subject in subjects:
        measured = run(subject, progress, full=plan.full, effort=plan.effort, cases=plan.cases)
        changes = _changes(subject, measured, content, plan, progress) if content is not None else []
        print_measured(console, measured)
        if content is not None:
            print_changes(console, changes, plan.fail_over)
            _mention_machine(console, content, saved([], plan.full, started))
        failing = failing or bool(measured.failed) or any(change.verdict in FAILING for change in changes)
        done.append(measured)
    if plan.save is not None:
        text = json.dumps(saved(done, plan.full, started), indent=1, ensure_ascii=False)
        plan.save.write_text(text + "\n", encoding="utf-8")
    if not any(measured.results for measured in done):
        console.print("nothing was measured", style="bold red")
        return NOTHING
    if plan.plot is not None:
        plan.plot.write_text(svg_of(done), encoding="utf-8")
    return SLOWER if failing else FINE


def _changes(
    subject: Subject, measured: Measured, content: dict[str, Any], plan: Plan, progress: Console
) -> list[Change]:
    before = results_of(content, subject.name) or {}
    planned = [(case, size) for case in plan.cases for size in (case.full if plan.full else case.sizes)]
    changes = compare(before, measured, planned, plan.fail_over)
    for _ in range(LOOKS - 1):
        again = doubtful(changes)
        if not again:
            break
        merged(measured, run(subject, progress, full=plan.full, effort=plan.effort, cases=plan.cases, only=again))
        changes = compare(before, measured, planned, plan.fail_over)
    return changes


def _mention_machine(console: Console, before: dict[str, Any], now: dict[str, Any]) -> None:
    # A ratio survives another machine; another interpreter may change cost and limit differently.
    for what in ("implementation", "python"):
        then, here = before["machine"][what], now["machine"][what]
        if then.split(".")[:2] != here.split(".")[:2]:
            console.print(Text(f"note: saved with {what} {then}, this is {here}", "yellow"), soft_wrap=True)
