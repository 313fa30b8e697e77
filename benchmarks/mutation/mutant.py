"""What became of a mutant, and how the judge is asked."""

from __future__ import annotations

import random
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, TypeVar

T = TypeVar("T")


class Mutant(TypedDict):
    """A mutant after its trial.

    Attributes:
        name: the operator and its number among those of the module; the same as long as the module is.
        line: where.
        change: the lines of the difference.
        outcome: `killed`, `survived` or `stillborn` (it does not import, so that it says nothing about the checks).
        by: the signature of the check that killed it, or how else it ended.
        seconds: the trial.
    """

    name: str
    line: int
    change: list[str]
    outcome: str
    by: str | None
    seconds: float


def ask(address: Path) -> bytes:
    """Return the judge's verdict on what stands in its directory now, as JSON."""
    with socket.socket(socket.AF_UNIX) as judge:
        judge.connect(str(address))
        return b"".join(iter(lambda: judge.recv(4096), b""))


def drawn(items: Sequence[T], sample: int | None) -> Sequence[T]:
    """Return all items, or a random sample of them, the same each time."""
    return items if sample is None or len(items) <= sample else random.Random(0).sample(items, sample)


def changed(difference: Sequence[str]) -> list[str]:
    """Return the lines of a unified difference that differ."""
    return [line for line in difference if line[:1] in {"+", "-"} and line[:3] not in {"+++", "---"}]
