"""Print what the pipe costs: one call and the whole check, over the pipe as a multiple of the same in this process.

    python benchmarks/pipe_overhead.py [--calls-only]

A call is made as the checks make it, with arguments copied and the result validated, and once more without that. Both
sides take turns, and the medians are divided. The check is run once on each side, from the command line; it takes
minutes. Times are by the clock on the wall: over a pipe one waits.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.bench import material
from observed_context_conformance.stdio.process import ProcessAdapter
from observed_context_conformance.subject import Adapter

ROUNDS = 200
SERVE = f"{sys.executable} -m observed_context_conformance.serve reference"
CHECK = [sys.executable, "-m", "observed_context_conformance.cli", "check"]


def main() -> None:
    """Print the figures."""
    here, there = ReferenceAdapter(), ProcessAdapter(SERVE)
    try:
        _calls("a call, as the checks make it", Adapter(here), Adapter(there))
        _calls("a bare call", here, there)
    finally:
        there.close()
    if "--calls-only" not in sys.argv[1:]:
        _check()


def _arguments() -> dict[str, tuple[Any, ...]]:
    """Arguments as the checks make them: a message, two dozen rows."""
    (event,) = material.events(80, 1, "@kit_bot ")
    rows = material.rows(material.chat_line, 24)
    prompt = next(iter(ReferenceAdapter().describe()["markers"].values()))
    return {
        "gate": (event, material.SETTINGS),
        "row": (event, material.SETTINGS),
        "address": (event, material.SETTINGS),
        "limits": ({"gateway": {"observed_context_max_rows": 50}},),
        "assemble": (rows, material.DEFAULT),
        "replay": (material.transcript(24, 6), prompt, material.DEFAULT),
        "wrap": ("[Ana|1001]\nwho?", "[Ben|1002]\nI do"),
        "redact": ("the password is Wombat#7fKq2x, do not tell",),
    }


def _calls(title: str, here: Any, there: Any) -> None:
    print(title)
    ratios = []
    for method, arguments in _arguments().items():
        near, far = [], []
        for _ in range(ROUNDS):
            near.append(_seconds(lambda: getattr(here, method)(*arguments)))  # noqa: B023 - called at once
            far.append(_seconds(lambda: getattr(there, method)(*arguments)))  # noqa: B023
        ratios.append(median(far) / median(near))
        print(
            f"  {method:10} {median(near) * 1e6:8.0f} µs here  {median(far) * 1e6:8.0f} µs there  x {ratios[-1]:5.1f}"
        )
    print(f"  {'median':10} {'':36}  x {median(ratios):5.1f}\n")


def _check() -> None:
    print("the whole check")
    wall_here, work_here = _checked("reference")
    wall_there, work_there = _checked("--command", SERVE)
    print(f"  time       {wall_here:8.1f} s here   {wall_there:8.1f} s there   x {wall_there / wall_here:5.2f}")
    print(f"  processor  {work_here:8.1f} s here   {work_there:8.1f} s there   x {work_there / work_here:5.2f}")


def _checked(*arguments: str) -> tuple[float, float]:
    """Seconds by the clock on the wall, and of processor time with that of all processes that were started."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run([*CHECK, *arguments], capture_output=True, text=True, check=False)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        said = done.stdout[-2000:] + done.stderr[-2000:]
        sys.exit(f"the check of {arguments} ended with exit code {done.returncode}:\n{said}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
