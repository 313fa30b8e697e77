"""Mutates the reference and lets the conformance checks kill the mutants.

Mutants are made in a copy of the reference, one after the other; the judge (`judge.py`) says what becomes of each.
Needs `cosmic-ray` and `mutmut` beside the kit.

    python benchmarks/mutation/run.py --out /tmp/mutants gating rows
    python benchmarks/mutation/run.py --out /tmp/more --tool mutmut --sample 40
    python benchmarks/mutation/run.py --out /tmp/after --again /tmp/mutants
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path

import with_cosmic_ray
import with_mutmut
from areas import AREAS
from mutant import Mutant

HERE = Path(__file__).parent
REFERENCE = HERE.parents[1] / "reference" / "observed_context"
TOOLS = {"cosmic-ray": with_cosmic_ray.mutate, "mutmut": with_mutmut.mutate}


def main() -> None:
    """Mutate modules; write one JSON file for each, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="modules of the reference; default: all")
    parser.add_argument("--out", type=Path, required=True, help="directory for the results")
    parser.add_argument("--tool", choices=list(TOOLS), default="cosmic-ray")
    parser.add_argument("--sample", type=int, help="at most so many mutants of each module, drawn at random")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no mutant after so many minutes")
    parser.add_argument("--again", type=Path, metavar="DIR", help="only the mutants that survived there")
    chosen = parser.parse_args()
    modules = chosen.modules or list(AREAS)
    if unknown := set(modules) - set(AREAS):
        parser.error(f"no such module: {', '.join(sorted(unknown))}")
    chosen.out.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + 60 * chosen.minutes
    with tempfile.TemporaryDirectory() as work:
        copy = Path(work)
        shutil.copytree(REFERENCE, copy / "observed_context", ignore=shutil.ignore_patterns("__pycache__"))
        judge = _judge(copy, modules)
        try:
            for module in modules:
                left = until - time.monotonic()
                only = _survivors(chosen.again / _file(module)) if chosen.again else None
                if left > 0 and (only is None or only):
                    _run(TOOLS[chosen.tool](copy, module, chosen.sample, only, left), module, chosen.out)
        finally:
            judge.terminate()
            judge.wait()


def _judge(copy: Path, modules: Iterable[str]) -> subprocess.Popen[bytes]:
    """Start the judge, and wait until it has seen that the unmutated reference is green."""
    judge = subprocess.Popen([sys.executable, HERE / "judge.py", copy, copy / "judge", *modules])
    while not (copy / "judge").exists():
        if judge.poll() is not None:
            sys.exit(1)
        time.sleep(0.1)
    return judge


def _run(mutants: Iterable[Mutant], module: str, out: Path) -> None:
    became = list(mutants)
    (out / _file(module)).write_text(json.dumps(became, indent=1))
    counts = Counter(mutant["outcome"] for mutant in became)
    told = "  ".join(f"{outcome} {counts[outcome]:4}" for outcome in ("killed", "survived", "stillborn"))
    print(f"{module:20} {told}  {sum(mutant['seconds'] for mutant in became):6.0f} s", flush=True)


def _survivors(file: Path) -> Collection[str]:
    if not file.exists():
        return []
    return {mutant["name"] for mutant in json.loads(file.read_text()) if mutant["outcome"] == "survived"}


def _file(module: str) -> str:
    return f"{module.replace('/', '-')}.json"


if __name__ == "__main__":
    main()
