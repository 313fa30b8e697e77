"""Print what the reference's redaction finds of the secrets in the corpus, what it touches besides, and what it costs.

    python benchmarks/redaction_figures.py

Times are processor time, the best of several runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import pairwise
from random import Random

from observed_context.redaction import redact
from observed_context_conformance.checks.redaction import HOSTILE
from observed_context_conformance.secrets import Record, load_secrets
from observed_context_conformance.strategies import plants
from observed_context_conformance.strategies import secrets as made

KB = 1000
FRESH = 100
"""Secrets of each kind."""


def main() -> None:
    """Print the figures."""
    records = load_secrets()
    _recall(records)
    _fresh()
    _false_alarms(records)
    _cost(records)


def _recall(records: Iterable[Record]) -> None:
    print("secrets of the corpus that are caught")
    groups: dict[tuple[str, str], list[bool]] = {}
    missed = []
    for record in records:
        if record.level != "negative":
            caught = record.survivor(redact(record.text)) is None
            groups.setdefault((record.level, record.tier), []).append(caught)
            missed += [] if caught else [record.kind]
    for (level, tier), caught_ones in groups.items():
        _line(f"{level}, {tier}", sum(caught_ones), len(caught_ones))
    print(f"  missed: {', '.join(missed) or 'nothing'}\n")


def _fresh() -> None:
    print("fresh secrets that are caught")
    rng = Random(0)
    fresh = [
        plants.planted(make(rng), rng.choice(plants.SENTENCES), rng.choice(plants.WRAPPERS), rng.choice(plants.ENDS))
        for make in made.MUST.values()
        for _ in range(FRESH)
    ]
    _line(f"{len(made.MUST)} kinds that must not cross", _caught(fresh), len(fresh))
    for disguise in plants.DISGUISES:
        hidden = [plants.disguised(made.MUST[kind](rng), disguise) for kind in made.TOKENS for _ in range(FRESH // 10)]
        _line(f"tokens disguised by {disguise}", _caught(hidden), len(hidden))
    print()


def _caught(planted: Iterable[plants.Plant]) -> int:
    return sum(plant.survivor(redact(plant.text)) is None for plant in planted)


def _false_alarms(records: Iterable[Record]) -> None:
    print("sentences without a secret that are changed")
    negatives = [record for record in records if record.level == "negative"]
    _line("of the corpus", sum(redact(record.text) != record.text for record in negatives), len(negatives))
    print()


def _cost(records: Iterable[Record]) -> None:
    print("cost: megabytes per second, and how much longer ten times the text takes")
    messages = [record.text for record in records]
    size = sum(len(message) for message in messages)
    seconds = _seconds(lambda: [redact(message) for message in messages])
    print(f"  {'the corpus, message by message':45} {size / seconds / KB**2:6.2f} MB/s")
    for name, piece in HOSTILE.items():
        times = [_time_of(piece, size) for size in (10 * KB, 100 * KB, KB**2)]
        growth = "  ".join(f"x {after / before:4.1f}" for before, after in pairwise(times))
        print(f"  {name:45} {1 / times[-1]:6.2f} MB/s  {growth}")


def _time_of(piece: str, size: int) -> float:
    text = (piece * (size // len(piece) + 1))[:size]
    return _seconds(lambda: redact(text))


def _seconds(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def _line(what: str, number: int, of: int) -> None:
    print(f"  {what:45} {number:5} of {of}")


if __name__ == "__main__":
    main()
