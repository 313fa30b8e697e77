"""Print which checks catch which fault: `python -m observed_context_conformance.faults [AREA ...]`."""

from __future__ import annotations

import sys

from observed_context_conformance.checking import Adapter, Verdict, load_checks, run_check
from observed_context_conformance.faults import load_faults


def main(areas: list[str]) -> int:
    """Run each fault against the checks of its own requirement; 1 when one is not caught."""
    missed = 0
    for fault in load_faults():
        if areas and fault.requirement.partition("-")[0] not in areas and fault.id not in areas:
            continue
        adapter = Adapter(fault.make())
        outcomes = [run_check(check, adapter) for check in load_checks() if check.requirement == fault.requirement]
        caught = [o for o in outcomes if o.verdict in (Verdict.FAIL, Verdict.ERROR)]
        missed += not caught
        print(f"{'caught' if caught else 'MISSED':7} {fault.requirement:8} {fault.id}")
        for outcome in caught:
            print(f"        {outcome.signature}: expected {outcome.expected}; got {outcome.got}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
