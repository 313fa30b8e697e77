"""Mutants by mutmut: texts, arguments, assignments, methods, `in`, cases of a `match`.

Only its operators are used. mutmut itself runs pytest alone, in one process with what it mutates; the checks must not
know that process.
"""

from __future__ import annotations

import difflib
import importlib
import json
import os
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from mutant import Mutant, ask, changed, drawn

# cosmic-ray makes these.
SEEN = {
    *("Integer", "Float", "Equal", "NotEqual", "LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual"),
    *("Is", "IsNot", "And", "Or", "Add", "Subtract", "Multiply", "FloorDivide", "Modulo", "UnaryOperation"),
    *("Break", "Continue"),
}


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
    until = time.monotonic() + seconds
    (directory / "setup.cfg").write_text("[mutmut]\nsource_paths=observed_context\n")
    os.chdir(directory)  # where it looks for its configuration
    maker: Any = importlib.import_module("mutmut.mutation.file_mutation")
    file = directory / "observed_context" / f"{module}.py"
    original = file.read_text()
    tree, mutations, *_ = maker.create_mutations(str(file), original)
    named = [
        (f"{type(mutation.original_node).__name__}#{number}", mutation)
        for number, mutation in enumerate(mutations)
        if type(mutation.original_node).__name__ not in SEEN
    ]
    for name, mutation in drawn([pair for pair in named if only is None or pair[0] in only], sample):
        if time.monotonic() > until:
            return
        mutated = maker.deep_replace(tree, mutation.original_node, mutation.mutated_node).code
        file.write_text(mutated)
        try:
            verdict = json.loads(ask(directory / "judge"))
        finally:
            file.write_text(original)
        yield {
            "name": name,
            "line": _first_difference(original, mutated),
            "change": changed(list(difflib.unified_diff(original.splitlines(), mutated.splitlines(), n=0))),
            "outcome": verdict["outcome"],
            "by": verdict["by"],
            "seconds": verdict["seconds"],
        }


def _first_difference(one: str, other: str) -> int:
    pairs = zip(one.splitlines(), other.splitlines(), strict=False)
    return next((number for number, (old, new) in enumerate(pairs, start=1) if old != new), 0)
