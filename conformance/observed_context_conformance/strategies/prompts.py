"""Generators of channel prompts: with a declared marker, without one, and with what only resembles one."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from observed_context_conformance.checking import declared

_MARK = "{}"
_FRAMES = (
    *(
        "{}",
        "You are in a group chat. {}",
        "{} Be brief.",
        "Rules:\n- {}\n- be kind",
        "({})",
        "Today: {}; answer in French.",
    ),
    *("Ana wrote the rules.\r\n\r\n{}\r\n", "« {} »"),
)
"""Prompts around a marker: it may begin, end, stand on a line of its own, or be one phrase among others."""

_PLAIN = ("You are in a group chat.", "Be brief.\n- be kind", "[observed]", "observed", "context", " ", "\n")


def markers() -> SearchStrategy[str]:
    """One of the markers that the adapter under test declares."""
    return st.integers(0, 7).map(lambda index: _markers()[index % len(_markers())])


def marked_prompts() -> SearchStrategy[str]:
    """A channel prompt that carries a declared marker, alone or among other sentences."""
    return st.builds(_framed, st.sampled_from(_FRAMES), markers())


@st.composite
def marked_alike(draw: DrawFn) -> tuple[str, str]:
    """Two channel prompts that differ in their marker alone; they are equal where only one marker is declared."""
    frame, first = draw(st.sampled_from(_FRAMES)), draw(markers())
    others = [marker for marker in _markers() if marker != first]
    second = draw(st.sampled_from(others)) if others else first
    return _framed(frame, first), _framed(frame, second)


def unmarked_prompts() -> SearchStrategy[str | None]:
    """A channel prompt without a marker: none, empty, other sentences, or a near miss."""
    return st.one_of(st.none(), st.sampled_from(("", *_PLAIN)), near_misses())


@st.composite
def near_misses(draw: DrawFn) -> str:
    """A channel prompt with a piece of a marker, or with a marker in disorder.

    A difference in case or blanks is no near miss: an adapter may read over those.
    """
    marker = draw(markers())
    words = marker.split() if len(marker.split()) > 2 else list(marker)
    glue = " " if len(marker.split()) > 2 else ""
    half = len(words) // 2
    pieces = [
        words[:half],
        words[half:],
        words[::-1],
        words[half:] + words[:half],
        [*words[:half], "never", *words[half:]],
    ]
    prompt = _framed(draw(st.sampled_from(_FRAMES)), glue.join(draw(st.sampled_from(pieces))))
    return prompt if not _has_marker(prompt) else _PLAIN[0]


def _has_marker(prompt: str) -> bool:
    return any(_folded(marker) in _folded(prompt) for marker in _markers())


def _markers() -> list[str]:
    return sorted(set(declared.get()["markers"].values()))


def _framed(frame: str, phrase: str) -> str:
    return frame.replace(_MARK, phrase)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
