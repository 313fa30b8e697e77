"""The judge of mutants: has the checks loaded, and forks for each mutant a process that runs them until one is red.

It imports nothing of the reference itself. Each child finds the reference in the directory where the mutants are made,
ahead of the installed one.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import socket
import sys
import time
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from areas import AREAS, exercises

from observed_context_conformance.checking import Adapter, Check, Effort, Verdict, load_checks, run_check

PATIENCE = 120.0
"""Seconds for all checks of a mutant; a process that takes longer hangs where no signal reaches it."""

CALL_SECONDS = 4.0
"""Seconds for one call of the port."""


class Judge:
    """Judges whatever stands in a directory at the time.

    Args:
        directory: holds the package `observed_context`, unmutated when the judge starts.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._package = directory / "observed_context"
        self._originals = {module: (self._package / f"{module}.py").read_bytes() for module in AREAS}
        self._kills: Counter[str] = Counter()
        self._seconds: dict[str, float] = {}

    def judge(self) -> dict[str, Any]:
        """Return what became of the mutant: `outcome`, `by` (a signature, or how it ended), `seconds`."""
        mutated = [m for m, code in self._originals.items() if (self._package / f"{m}.py").read_bytes() != code]
        assert len(mutated) <= 1
        if not mutated:  # the tool changed nothing
            return {"outcome": "survived", "by": None, "seconds": 0.0}
        return self._tried(self._checks_of(mutated[0]))

    def baseline(self, modules: list[str]) -> str | None:
        """Run the checks of modules against the unmutated reference, and return the signature of one that is red."""
        result = self._tried([c for c in load_checks() if any(exercises(m, c.requirement) for m in modules)], 1_200.0)
        self._seconds = result.get("took", {})
        return None if result["outcome"] == "survived" else str(result["by"])

    def _checks_of(self, module: str) -> list[Check]:
        """The checks to run, in the order that kills soonest: what often killed before, for its time."""
        checks = [c for c in load_checks() if exercises(module, c.requirement)]
        return sorted(checks, key=lambda c: self._seconds.get(c.name, 1.0) / (1 + self._kills[c.name]))

    def _tried(self, checks: list[Check], patience: float = PATIENCE) -> dict[str, Any]:
        fork = multiprocessing.get_context("fork")
        here, there = fork.Pipe(duplex=False)
        child = fork.Process(target=_try, args=(self._directory, checks, there), daemon=True)
        started = time.monotonic()
        child.start()
        there.close()
        result: dict[str, Any] = {"outcome": "killed", "by": "killed after a timeout"}
        try:
            if here.poll(patience):
                result = here.recv()
        except EOFError:
            result = {"outcome": "killed", "by": "the process died"}
        child.kill()
        child.join()
        here.close()
        if result["outcome"] == "killed":
            self._kills[str(result["by"]).partition(":")[0]] += 1
        return {**result, "seconds": round(time.monotonic() - started, 2)}


def _try(directory: Path, checks: list[Check], answer: Connection) -> None:
    sys.path.insert(0, str(directory))
    sys.dont_write_bytecode = True
    logging.disable(logging.CRITICAL)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        from observed_context_conformance.adapters.reference import ReferenceAdapter  # noqa: PLC0415

        target = ReferenceAdapter()
    except BaseException as error:
        answer.send({"outcome": "stillborn", "by": f"does not import: {type(error).__name__}"})
        return
    answer.send(_first_red(target, checks))


def _first_red(target: object, checks: list[Check]) -> dict[str, Any]:
    try:
        adapter = Adapter(target, call_seconds=CALL_SECONDS)
    except Exception as error:
        return {"outcome": "killed", "by": f"describe: {type(error).__name__}"}
    took: dict[str, float] = {}
    for check in checks:
        outcome = run_check(check, adapter, Effort(shrink=False))
        took[check.name] = outcome.seconds
        if outcome.verdict in (Verdict.FAIL, Verdict.ERROR):
            return {"outcome": "killed", "by": outcome.signature, "took": took}
    return {"outcome": "survived", "by": None, "took": took}


def main(directory: Path, address: Path, modules: list[str]) -> None:
    """Answer on a socket: each connection gets the verdict on what stands in the directory, as JSON."""
    load_checks()
    import hypothesis.strategies  # noqa: F401, PLC0415 - loaded before the first fork

    assert "observed_context" not in sys.modules
    judge = Judge(directory)
    if red := judge.baseline(modules):
        sys.exit(f"the reference is red before any mutation: {red}")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(address))
        listening.listen()
        while True:
            asking, _ = listening.accept()
            with asking:
                asking.sendall(json.dumps(judge.judge()).encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
