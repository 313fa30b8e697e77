"""A clock that stands still until the kit moves it."""

from __future__ import annotations


class Clock:
    """Seconds since some epoch; `clock()` reads it, `advance()` moves it.

    Attributes:
        now: the time, in seconds. It starts late, so that a time of 0 is long ago, as on a real machine.
    """

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """The time, in seconds."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass; never backwards."""
        self.now += max(0.0, seconds)
