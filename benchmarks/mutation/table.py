"""Prints what `run.py` found as a table, and the mutants that are left.

python benchmarks/mutation/table.py /tmp/mutants /tmp/after
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from areas import AREAS
from mutant import Mutant


def main(first: Path, again: Path | None) -> None:
    """Print a row for each module: the first run, and what was left of its survivors in another run of them."""
    print("| module | checks | mutants | killed | survived | of these killed later |")
    print("|---|---|---:|---:|---:|---:|")
    sums = [0, 0, 0, 0]
    left: list[str] = []
    for module, areas in AREAS.items():
        mutants = [mutant for mutant in _read(first, module) if mutant["outcome"] != "stillborn"]
        if not mutants:
            continue
        later = {mutant["name"] for mutant in _read(again, module) if mutant["outcome"] == "killed"} if again else set()
        survived = [mutant for mutant in mutants if mutant["outcome"] == "survived"]
        counts = [
            len(mutants),
            len(mutants) - len(survived),
            len(survived),
            len([m for m in survived if m["name"] in later]),
        ]
        sums = [one + other for one, other in zip(sums, counts, strict=True)]
        print(f"| `{module}` | {', '.join(areas)} | {' | '.join(map(str, counts))} |")
        left += [f"{module}:{m['line']} {' '.join(m['change'])}" for m in survived if m["name"] not in later]
    print(f"| all | | {' | '.join(map(str, sums))} |\n")
    print("\n".join(left))


def _read(directory: Path, module: str) -> list[Mutant]:
    file = directory / f"{module.replace('/', '-')}.json"
    mutants: list[Mutant] = json.loads(file.read_text()) if file.exists() else []
    return mutants


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path, help="directory of a run")
    parser.add_argument("again", type=Path, nargs="?", help="directory of a later run of what survived in the first")
    chosen = parser.parse_args()
    main(chosen.first, chosen.again)
