"""A transcript store in memory that records what is done with it, and fails or lets others in where the kit says."""

from __future__ import annotations

import copy
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Literal

from observed_context_conformance.port import Row

Point = Literal["load", "loaded", "write", "written"]
"""Where the kit can step in: before and after a load, before and after a row is stored (`append` or `commit`)."""


class StoreFailure(Exception):  # noqa: N818 - named for what happens, not for what it is
    """What the store raises when the kit makes it fail."""


class MemoryStore:
    """All sessions of one gateway.

    `load`, `append` and `commit` are what an adapter sees. Everything else belongs to the kit: `put` is a message that
    arrives, `rows` a look that is not counted.

    `seq` runs over all sessions and leaves gaps, as a table's row ids do: neither a position in a list nor a count of
    rows can stand in for it.

    Attributes:
        loads: the session of each load, in order.
        written: session and seq of each row that the adapter stored, in order.
        failures: how often it has failed.
    """

    def __init__(self, *, first: int = 0, step: int = 1) -> None:
        self._sessions: dict[str, list[Row]] = defaultdict(list)
        self._next = first
        self._step = step
        self._lock = threading.RLock()
        self._actions: dict[Point, list[Callable[[], object]]] = defaultdict(list)
        self.loads: list[str] = []
        self.written: list[tuple[str, int]] = []
        self.failures = 0

    # -- what an adapter sees -------------------------------------------------------------------------------------

    def load(self, session: str) -> list[Row]:
        """All rows of `session`, ascending by seq, as copies.

        Raises:
            StoreFailure: the kit wants it so.
        """
        self.loads.append(session)
        self._reach("load")
        loaded = self.rows(session)
        self._reach("loaded")
        return loaded

    def append(self, session: str, row: Row) -> int:
        """Store a row; returns its seq.

        Raises:
            StoreFailure: the kit wants it so; nothing was stored.
        """
        self._reach("write")
        seq = self._insert(session, row)
        self.written.append((session, seq))
        self._reach("written")
        return seq

    def commit(self, session: str, row: Row, previous: int | None) -> int | None:
        """Store a summary row, unless the newest summary row of the session is not the one with seq `previous`.

        Returns:
            The new row's seq, or None when another summary came first; then nothing is stored.

        Raises:
            StoreFailure: the kit wants it so; nothing was stored.
        """
        self._reach("write")
        with self._lock:
            newest = self.newest_summary(session)
            if (newest["seq"] if newest else None) != previous:
                return None
            seq = self._insert(session, row)
            self.written.append((session, seq))
        self._reach("written")
        return seq

    # -- the kit's own side ---------------------------------------------------------------------------------------

    def put(self, session: str, row: Row) -> int:
        """A row arrives that the adapter did not write; returns its seq."""
        return self._insert(session, row)

    def rows(self, session: str) -> list[Row]:
        """What is stored, as copies; neither recorded nor made to fail."""
        with self._lock:
            return copy.deepcopy(self._sessions.get(session, []))

    def newest_summary(self, session: str) -> Row | None:
        """The summary row with the highest seq."""
        with self._lock:
            return next((row for row in reversed(self._sessions.get(session, [])) if "summary" in row), None)

    def at(self, point: Point, action: Callable[[], object]) -> None:
        """Run `action` the next time that the adapter comes to `point`; once. What it raises, the adapter gets."""
        self._actions[point].append(action)

    def fail(self, point: Literal["load", "write"], message: str = "the disk is full") -> None:
        """Make the next load or write raise `StoreFailure`."""

        def action() -> None:
            raise StoreFailure(message)

        self.at(point, action)

    def undisturbed(self) -> None:
        """Forget the actions that have not been reached."""
        self._actions.clear()

    def _reach(self, point: Point) -> None:
        waiting = self._actions[point]
        if not waiting:
            return
        try:
            waiting.pop(0)()
        except StoreFailure:
            self.failures += 1
            raise

    def _insert(self, session: str, row: Row) -> int:
        with self._lock:
            seq = self._next
            self._next += self._step
            stored = copy.deepcopy(row)
            stored["seq"] = seq
            self._sessions[session].append(stored)
            return seq
