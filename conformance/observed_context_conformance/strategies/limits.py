"""Generators of limits: any, those under which every requirement holds, and those that are aimed at given rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from observed_context_conformance.port import Limits, Row
from observed_context_conformance.strategies.transcripts import row_text

OFF: Limits = {"max_chars": 0, "max_rows": 0}
"""Both limits switched off."""

ROOM = 256
"""The smallest character limit under which every requirement of CAP holds."""

OFFSETS = (-2, -1, 0, 1, 2, 8, 9, 12, 40)
"""How far from a fit an aimed limit stands: beside it, and beyond what an adapter may keep in reserve."""


def positive_limits() -> SearchStrategy[Limits]:
    """A character limit of at least 1, tiny ones included, with any row limit or none."""
    chars = st.one_of(st.integers(1, 70), st.integers(ROOM - 10, ROOM + 10), st.integers(70, 3000))
    return st.builds(_limits, chars, _row_limits())


def full_limits() -> SearchStrategy[Limits]:
    """Limits under which every requirement of CAP holds: the character limit off, or 256 and more."""
    chars = st.one_of(st.just(0), st.integers(ROOM, ROOM + 10), st.integers(ROOM, 3000))
    return st.builds(_limits, chars, _row_limits())


def limits_near(rows: list[Row]) -> SearchStrategy[Limits]:
    """A character limit near a length at which another of `rows` fits, as far as one can know without an adapter.

    The guess is the texts of the newest rows, joined by line breaks, with and without a note before them.

    Args:
        rows: observed rows and summary rows in ascending `seq`.
    """
    lengths = [len(row_text(row)) for row in rows]
    sums = [sum(lengths[start:]) + len(lengths[start:]) - 1 for start in range(len(rows))] or [1]
    note = len("[... 1 older observed messages omitted ...]\n")
    chars = st.builds(
        lambda fit, extra, offset: max(1, fit + extra + offset),
        st.sampled_from(sums),
        st.sampled_from((0, note)),
        st.integers(-3, 3),
    )
    return st.builds(_limits, st.one_of(chars, st.integers(1, 70)), st.one_of(st.just(0), _row_limits()))


def with_limits_near(rows: SearchStrategy[list[Row]]) -> SearchStrategy[tuple[list[Row], Limits]]:
    """Rows, and limits that are aimed at them."""
    return rows.flatmap(lambda drawn: st.tuples(st.just(drawn), limits_near(drawn)))


@dataclass(frozen=True)
class Aim:
    """A character limit that stands at the length of what an adapter shows, or beside it.

    Attributes:
        rows: how many of the newest rows the limit is to hold, counted round.
        offset: how many characters more (or fewer) it has.
    """

    rows: int
    offset: int

    def at(self, measure: Callable[[int], int], count: int) -> int:
        """The limit, at least `ROOM`.

        Args:
            measure: the length of the block that shows this many of the newest rows.
            count: how many rows there are.
        """
        return max(ROOM, measure(1 + self.rows % count) + self.offset)


def aims() -> SearchStrategy[Aim]:
    """Aims at every number of rows: exactly at the fit, one below, one above, and a little further."""
    return st.builds(Aim, st.integers(0, 11), st.sampled_from(OFFSETS))


def _row_limits() -> SearchStrategy[int]:
    return st.one_of(st.just(0), st.integers(1, 12))


def _limits(max_chars: int, max_rows: int) -> Limits:
    return {"max_chars": max_chars, "max_rows": max_rows}
