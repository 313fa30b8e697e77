"""The corpus of planted secrets, and the judgement whether a secret is still there."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from observed_context_conformance.data import fixtures_dir

Level = Literal["must", "should", "negative"]

RUN = 12
"""So many characters of a secret in a row are too many; half of a secret that has fewer."""

TAIL = 4
"""So many characters at the end of a token are too many: with them people recognise it, and support asks for them."""

_HOLE = re.compile(r"\{\{(\d+)\}\}")


@dataclass(frozen=True)
class Record:
    """One sentence of the corpus, its values put together.

    Attributes:
        id: unique.
        kind: what sort of secret is planted, or of what sort of secret the text makes one think.
        level: `must` and `should` hold secrets, a `negative` holds none.
        tier: `core`, `context` or `evasion` where a secret is planted, else `negative`.
        surface: where such a text stands in a transcript: content, sender, file name, previous summary ...
        text: the sentence.
        secrets: what may not survive, each spelling of it; empty in a negative.
        rows: the messages that the secret is split over, or nothing.
        note: a remark for readers.
    """

    id: str
    kind: str
    level: Level
    tier: str
    surface: str
    text: str
    secrets: tuple[str, ...]
    rows: tuple[str, ...]
    note: str

    @property
    def around(self) -> str:
        """The sentence without its secrets."""
        return without(self.text, self.secrets)

    def survivor(self, text: str) -> str | None:
        """What survives of the secrets in `text`, which was this sentence; None when nothing does."""
        return survivor(self.secrets, text, self.around)


@cache
def load_secrets() -> tuple[Record, ...]:
    """The records of `fixtures/secrets/secrets.jsonl`.

    Raises:
        FileNotFoundError: the installation lacks its data.
    """
    lines = (fixtures_dir() / "secrets" / "secrets.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_record(json.loads(line)) for line in lines)


def _record(data: dict[str, Any]) -> Record:
    parts = {number: "".join(pieces) for number, pieces in data["parts"].items()}

    def filled(text: str) -> str:
        return _HOLE.sub(lambda hole: parts[hole[1]], text)

    return Record(
        id=data["id"],
        kind=data["kind"],
        level=data["level"],
        tier=data["tier"],
        surface=data["surface"],
        text=filled(data["text"]),
        secrets=tuple(map(filled, data["secret"])),
        rows=tuple(map(filled, data.get("rows", ()))),
        note=data["note"],
    )


# -- the judgement ------------------------------------------------------------------------------------------------


def survivor(secrets: Iterable[str], text: str, around: str = "") -> str | None:
    """The first piece of one of the secrets that is left in `text`; None when what is left is too little.

    Too much is a run of 12 characters (half of a secret that has fewer), and the last four characters of a token (more
    than eight characters without a blank). Both count in the text as it is, after NFKC without invisible characters,
    and without line breaks besides.

    Args:
        secrets: what was planted, each spelling of it.
        text: what came out.
        around: the text that stood beside the secrets. What it says by itself is no survivor.
    """
    pairs = list(zip(readings(text), readings(around), strict=True))
    spellings = dict.fromkeys(spelling for secret in secrets for spelling in readings(secret))
    for piece in (_run, _tail):
        for spelling in spellings:
            for shown, beside in pairs:
                if left := piece(spelling, shown, beside):
                    return left
    return None


def readings(text: str) -> Iterator[str]:
    """A text as it is; after NFKC and without invisible characters; and that without line breaks."""
    yield text
    plain = "".join(character for character in unicodedata.normalize("NFKC", text) if not _invisible(character))
    yield plain
    yield re.sub(r"[\r\n]+", "", plain)


def without(text: str, secrets: Iterable[str]) -> str:
    """A text from which the secrets were cut out, a line break in the place of each."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "\n")
    return text


def _run(secret: str, shown: str, beside: str) -> str:
    """The first run of the secret that is left and long enough, as far as it goes; empty when there is none."""
    size = RUN if len(secret) >= RUN else (len(secret) + 1) // 2
    for start in range(len(secret) - size + 1):
        end = start + size
        if _is_left(secret[start:end], shown, beside):
            while end < len(secret) and _is_left(secret[start : end + 1], shown, beside):
                end += 1
            return secret[start:end]
    return ""


def _tail(secret: str, shown: str, beside: str) -> str:
    """The end of a token when it is left; empty when it is not, or the secret is no token."""
    token = len(secret) > 2 * TAIL and not re.search(r"\s", secret)
    return secret[-TAIL:] if token and _is_left(secret[-TAIL:], shown, beside) else ""


def _is_left(piece: str, shown: str, beside: str) -> bool:
    return piece in shown and shown.count(piece) > beside.count(piece)


def _invisible(character: str) -> bool:
    return (
        unicodedata.category(character) == "Cf"
        or "\ufe00" <= character <= "\ufe0f"
        or character in "\u034f\u115f\u1160\u17b4\u17b5\u180e\u3164\uffa0"
    )
