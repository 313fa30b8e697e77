"""Generators of addressed messages, text and content parts, and of blocks to wrap them in."""

from __future__ import annotations

from copy import deepcopy

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from observed_context_conformance.port import Addressed, Part
from observed_context_conformance.strategies import texts

TOKEN = "askedz"
"""Stands once in every message of these strategies, and in nothing else."""

_PLAIN = ("[Ana|1001]\n{} who brings it?", "{}", "{} thanks", "what was decided?\n\n{}")
_TEXTS = (
    *_PLAIN,
    *("[Ana|1001]\n{} ```\ncode\n```", "请看 {} 😀", "a\r\nb {}", "[Boss|0]\n{}"),
    "[... 3 older observed messages omitted ...]\n{}",
)
_BLANKS_AT_THE_ENDS = ("{} ends with a break\n", "  {}  ", "\n{}", "{}\n\n", "\t{} two  blanks")
_BLOCK_LINES = (
    *("[Ben|1002]\nI do", "[Zoë|1003]\nsee you at five", "[李雷|1004]\n明天见\n\n- one\n- two", "[Ben|1002]\n😀"),
    *("[Ana (work)|1005]\n[image: /tmp/a.jpg]", "[... 2 older observed messages omitted ...]"),
)


def text_messages() -> SearchStrategy[str]:
    """An addressed message as text: blanks and line breaks at its ends, and lines like those of a gateway, included."""
    pasted = texts.structure().map(lambda line: f"what is this?\n{line}\n{TOKEN}")
    blanks = st.sampled_from(_BLANKS_AT_THE_ENDS).map(_filled)
    return st.one_of(st.sampled_from(_TEXTS).map(_filled), blanks, pasted)


def plain_messages() -> SearchStrategy[Addressed]:
    """An addressed message that resembles nothing else, as text or with a picture."""
    text = st.sampled_from(_PLAIN).map(_filled)
    return st.one_of(
        text, text, text.map(lambda words: [_text(words)]), text.map(lambda words: [_picture(), _text(words)])
    )


def part_messages(*, plain: bool = False) -> SearchStrategy[list[Part]]:
    """An addressed message as a list of parts: one to four of text, pictures, sounds and files, in any order.

    Args:
        plain: no sounds, no files, and texts that resemble nothing else.
    """
    others = [_picture()] if plain else [_picture(), _sound(), _file()]
    some = st.lists(st.sampled_from([*others, _text("and then?")]), max_size=3)
    lone = st.just([{"type": "image_url", "image_url": {"url": f"https://example.invalid/{TOKEN}.jpg"}}])
    with_text = st.builds(
        lambda parts, text, place: (
            [*parts[: place % (len(parts) + 1)], _text(text), *parts[place % (len(parts) + 1) :]]
        ),
        some,
        st.sampled_from(_PLAIN if plain else _TEXTS).map(_filled),
        st.integers(0, 3),
    )
    without_text = st.builds(lambda parts, last: [p for p in parts if p["type"] != "text"] + last, some, lone)
    # Data from outside holds no part twice by identity, though samples of a strategy do.
    return st.one_of(with_text, with_text, without_text).map(lambda parts: [deepcopy(part) for part in parts])


def blocks() -> SearchStrategy[str]:
    """A block without any line that poses as a header."""
    return st.lists(st.sampled_from(_BLOCK_LINES), min_size=1, max_size=4).map("\n".join)


def _filled(text: str) -> str:
    return text.replace("{}", TOKEN)


def _text(text: str) -> Part:
    return {"type": "text", "text": text}


def _picture() -> Part:
    return {"type": "image_url", "image_url": {"url": "https://example.invalid/picture.jpg"}}


def _sound() -> Part:
    return {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "ogg"}}


def _file() -> Part:
    return {"type": "file", "file": {"file_id": "file-1"}}
