"""The matrix: which check catches which fault, how soon, and what a fault reddens elsewhere."""

from __future__ import annotations

import io
import logging
import multiprocessing
import statistics
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.catalogue import load_catalogue
from observed_context_conformance.checking import RED, Check, Effort, Outcome, Verdict, load_checks, run_check
from observed_context_conformance.faults import Fault, load_faults
from observed_context_conformance.port import METHODS
from observed_context_conformance.subject import Adapter

BRIEFLY = 0.05
"""The effort with which areas are tried that share a method with a fault: what it reddens there is told, not judged."""


@dataclass(frozen=True)
class Catch:
    """A check that caught a fault.

    Attributes:
        check: its name.
        signature: of the failure.
        examples: how many it took.
        seconds: until it ended.
    """

    check: str
    signature: str
    examples: int
    seconds: float


@dataclass(frozen=True)
class Trial:
    """One fault, tried.

    Attributes:
        fault: its id.
        requirement: the requirement that must catch it.
        catches: the checks of that requirement which caught it, the soonest first.
        missed_by: the checks of that requirement which passed.
        reddens: requirements of other areas that fail too, among those that use a method which the fault changes.
        leaks: requirements that fail although the fault changes no method which they use. A defect of the fault.
        seconds: the whole trial.
    """

    fault: str
    requirement: str
    catches: tuple[Catch, ...]
    missed_by: tuple[str, ...]
    reddens: tuple[str, ...]
    leaks: tuple[str, ...]
    seconds: float

    @property
    def area(self) -> str:
        """The area of its requirement."""
        return self.requirement.partition("-")[0]

    @property
    def gross(self) -> bool:
        """Whether whatever is tried first shows it, to every check that catches it."""
        return bool(self.catches) and all(catch.examples <= 1 for catch in self.catches)


def changed_methods(adapter: object) -> frozenset[str]:
    """The port methods in which a faulty adapter differs from the reference."""
    own = {m for m in METHODS if getattr(type(adapter), m, None) is not getattr(ReferenceAdapter, m, None)}
    return frozenset(own | {m for m in METHODS if m in getattr(adapter, "__dict__", {})})


def try_fault(fault: Fault, seed: int = 0, *, position: int = 0) -> Trial:
    """Run the checks that a fault is for, then a sample of the others.

    Args:
        fault: the defect.
        seed: as in a verdict.
        position: of the fault in the catalogue; which untouched checks are sampled depends on it.
    """
    started = time.perf_counter()
    target = fault.make()
    adapter = Adapter(target)
    changed = changed_methods(target)
    checks = load_checks()
    own = [c for c in checks if c.requirement == fault.requirement]
    full = Effort(seed=seed, shrink=False)
    outcomes = _run(own, adapter, full)
    catches = [Catch(o.check, o.signature or "", o.examples, o.seconds) for o in outcomes if o.verdict in RED]
    area = fault.requirement.partition("-")[0]
    others = [c for c in checks if c.area != area and c.strategies]
    touched = [c for c in others if changed & set(c.calls)]
    untouched = [c for c in others if not changed & set(c.calls)]
    brief = Effort(seed=seed, factor=BRIEFLY, shrink=False)
    reddens = {o.requirement for o in _run(touched, adapter, brief) if o.verdict in RED}
    leaks = {o.requirement for o in _run(_sample(untouched, position), adapter, brief) if o.verdict in RED}
    adapter.close()
    return Trial(
        fault.id,
        fault.requirement,
        tuple(sorted(catches, key=lambda c: (c.examples, c.check))),
        tuple(o.check for o in outcomes if o.verdict is Verdict.PASS),
        tuple(_in_order(reddens)),
        tuple(_in_order(leaks)),
        time.perf_counter() - started,
    )


def run_matrix(faults: Iterable[Fault], *, seed: int = 0, workers: int = 1) -> Iterator[Trial]:
    """Try faults over several processes; trials come as they end."""
    order = {fault.id: position for position, fault in enumerate(load_faults())}
    jobs = [(fault.id, seed, order[fault.id]) for fault in faults]
    if workers == 1:
        yield from map(_job, jobs)
        return
    # Spawned, not forked: the first process may have threads by now.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(_job, jobs, chunksize=4)


def trial_json(trial: Trial) -> dict[str, Any]:
    """A trial as plain JSON."""
    return {
        "fault": trial.fault,
        "requirement": trial.requirement,
        "caught": bool(trial.catches),
        "gross": trial.gross,
        "catches": [
            {"check": c.check, "signature": c.signature, "examples": c.examples, "seconds": round(c.seconds, 3)}
            for c in trial.catches
        ],
        "missed_by": list(trial.missed_by),
        "reddens": list(trial.reddens),
        "leaks": list(trial.leaks),
        "seconds": round(trial.seconds, 3),
    }


def only_gross(trials: Iterable[Trial]) -> list[str]:
    """Requirements all of whose faults are gross, in the order of the specification."""
    by_requirement: dict[str, list[bool]] = {}
    for trial in trials:
        by_requirement.setdefault(trial.requirement, []).append(trial.gross)
    return _in_order({requirement for requirement, gross in by_requirement.items() if all(gross)})


def examples_to_catch(trials: Iterable[Trial]) -> tuple[float, int]:
    """Median and worst number of examples until the soonest check caught a fault."""
    counts = [trial.catches[0].examples for trial in trials if trial.catches]
    return (statistics.median(counts), max(counts)) if counts else (0, 0)


def _job(job: tuple[str, int, int]) -> Trial:
    name, seed, position = job
    found = next(fault for fault in load_faults() if fault.id == name)
    logging.disable(logging.CRITICAL)  # a broken adapter has a lot to say
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        return try_fault(found, seed, position=position)


def _run(checks: Iterable[Check], adapter: Adapter, effort: Effort) -> list[Outcome]:
    return [run_check(check, adapter, effort) for check in checks]


def _sample(checks: list[Check], position: int) -> list[Check]:
    """One check of each area, another one for each fault, so that all get their turn."""
    by_area: dict[str, list[Check]] = {}
    for check in checks:
        by_area.setdefault(check.area, []).append(check)
    return [members[position % len(members)] for members in by_area.values()]


def _in_order(requirements: set[str]) -> list[str]:
    return [requirement.id for requirement in load_catalogue() if requirement.id in requirements]
