"""What happens around a scheduler in time: messages, slow and failing summarisers and stores, waiting, restarts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from observed_context_conformance.environment import FAILURES, Behaviour


@dataclass(frozen=True)
class Say:
    """So many messages of this size arrive in a session (0 or 1)."""

    chat: int
    count: int
    size: int


@dataclass(frozen=True)
class Wait:
    """Time passes, in seconds."""

    seconds: float


@dataclass(frozen=True)
class Fail:
    """The summariser fails from now on."""

    behaviour: Behaviour


@dataclass(frozen=True)
class StoreFails:
    """The next load or write fails."""

    point: Literal["load", "write"]


Turn = Literal["stall", "release", "recover", "restart"]
"""The summariser stops answering, answers again, no longer fails; the process is restarted."""

Happening = Say | Wait | Fail | StoreFails | Turn


def happenings(*, max_size: int = 16) -> SearchStrategy[list[Happening]]:
    """Any of this in any order, more messages than anything else.

    Args:
        max_size: the most steps.
    """
    say = st.builds(Say, st.integers(0, 1), st.integers(1, 6), st.sampled_from((2_500, 6_000, 900)))
    turns: SearchStrategy[Happening] = st.sampled_from(("stall", "release", "recover", "restart"))
    step: SearchStrategy[Happening] = st.one_of(
        say,
        say,
        say,
        turns,
        st.builds(Wait, st.sampled_from((100.0, 301.0))),
        st.builds(Fail, st.sampled_from(FAILURES)),
        st.builds(StoreFails, st.sampled_from(("load", "write"))),
    )
    return st.lists(step, min_size=4, max_size=max_size)
