"""Mutants by cosmic-ray: comparisons, arithmetic, numbers, truth values, jumps, loops, exceptions, decorators.

It runs here as it is meant to be run, with a test command of our own.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from mutant import Mutant, changed, drawn

# Three replacements of a comparison are enough: what tells these apart tells apart the others too.
COMPARISONS = {
    "Eq": "NotEq LtE GtE",
    "NotEq": "Eq Lt Gt",
    "Lt": "LtE NotEq GtE",
    "LtE": "Lt Eq Gt",
    "Gt": "GtE NotEq LtE",
    "GtE": "Gt Eq Lt",
    "Is": "IsNot",
    "IsNot": "Is",
}
# Of arithmetic one replacement each: nearly all others raise at once. `|` stands in types alone.
ARITHMETIC = {"Add": "Sub", "Sub": "Add", "Mul": "FloorDiv", "FloorDiv": "Mul", "Mod": "FloorDiv"}
OTHERS = {
    "AddNot",
    "ExceptionReplacer",
    "NumberReplacer",
    "RemoveDecorator",
    "ReplaceAndWithOr",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ReplaceFalseWithTrue",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_Delete_USub",
    "ZeroIterationForLoop",
}
OPERATORS = OTHERS | {
    f"{kind}_{old}_{new}"
    for kind, table in (("ReplaceComparisonOperator", COMPARISONS), ("ReplaceBinaryOperator", ARITHMETIC))
    for old, news in table.items()
    for new in news.split()
}
_PREFIX = "core/"


def mutate(
    directory: Path, module: str, sample: int | None, only: Collection[str] | None, seconds: float
) -> Iterator[Mutant]:
    """Try all mutants of a module, a sample, or those named.

    Args:
        directory: where the package is, and the judge listens.
        module: a key of `AREAS`.
        sample: at most so many.
        only: names, or None for all.
        seconds: after so many no further one is tried.
    """
    file = directory / "observed_context" / f"{module}.py"
    original = file.read_text()
    (directory / "config.toml").write_text(
        f"""
        [cosmic-ray]
        module-path = "observed_context/{module}.py"
        timeout = 600.0
        excluded-modules = []
        test-command = "{sys.executable} -I {Path(__file__).with_name("ask.py")} {directory / "judge"}"
        [cosmic-ray.distributor]
        name = "local"
        """
    )
    session = directory / f"{module.replace('/', '-')}.sqlite"
    command = [sys.executable, "-m", "cosmic_ray.cli"]
    subprocess.run([*command, "init", "config.toml", session], cwd=directory, check=True)
    _choose(session, sample, only)
    try:
        subprocess.run([*command, "exec", "config.toml", session], cwd=directory, check=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        file.write_text(original)  # it was stopped before it could do so
    dumped = subprocess.run(
        [*command, "dump", session], cwd=directory, check=True, capture_output=True, text=True
    ).stdout
    for item, result in map(json.loads, dumped.splitlines()):
        if result and result["worker_outcome"] != "skipped":
            yield _mutant(item["mutations"][0], result)


def _choose(session: Path, sample: int | None, only: Collection[str] | None) -> None:
    """Mark the mutants that are not to be tried."""
    database: Any = importlib.import_module("cosmic_ray.work_db")
    items: Any = importlib.import_module("cosmic_ray.work_item")
    with database.use_db(session, database.WorkDB.Mode.open) as work:
        all_items = list(work.work_items)
        wanted = [
            item
            for item in all_items
            for mutation in item.mutations
            if mutation.operator_name.removeprefix(_PREFIX) in OPERATORS
            and (only is None or _name(mutation.operator_name, mutation.occurrence) in only)
        ]
        kept = {item.job_id for item in drawn(wanted, sample)}
        others = [item.job_id for item in all_items if item.job_id not in kept]
        work.set_multiple_results(others, items.WorkResult(worker_outcome=items.WorkerOutcome.SKIPPED))


def _name(operator: str, occurrence: int) -> str:
    return f"{operator.removeprefix(_PREFIX)}#{occurrence}"


def _mutant(mutation: dict[str, Any], result: dict[str, Any]) -> Mutant:
    verdict = json.loads(result["output"])
    return {
        "name": _name(mutation["operator_name"], mutation["occurrence"]),
        "line": mutation["start_pos"][0],
        "change": changed(result["diff"].splitlines()),
        "outcome": verdict["outcome"],
        "by": verdict["by"],
        "seconds": verdict["seconds"],
    }
