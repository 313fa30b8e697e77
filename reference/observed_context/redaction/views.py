"""Readings of a text: as it is, and without what hides a secret in it; each knows where its characters came from."""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator

Edit = tuple[int, int, str]
"""Characters `start` to `end` are read as that text."""

HEADER = r"(?:\[[^\[\]\n]{1,120}\](?:\r?\n|[ \t]{1,2}[^\s:\[\]]{1,40}:[ \t]?)|<[^<>\s]{1,40}>[ \t])"
"""What stands at the head of a message in a transcript: `[name|id]` on a line, `[10:00] name: `, `<name> `."""

_HIDDEN = re.compile(
    r"""\\(?:u(?P<unicode>[0-9a-fA-F]{4})|x(?P<byte>[0-9a-fA-F]{2})|(?P<escaped>[^\w\s]|_|[nrt](?=[^a-z]|$)))
    | %(?P<percent>[0-9a-fA-F]{2})
    | &(?P<entity>\#?\w{2,10};)
    | (?P<wide>[^\x00-\x7f]+)
    """,
    re.VERBOSE,
)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
_BREAK = re.compile(rf"(?<=[A-Za-z0-9_-])(?:=?\r?\n|[ ]\r?\n)(?:{HEADER}|>[ ]?)?(?=[A-Za-z0-9_-])")
_LOOKALIKE = str.maketrans(
    "АаВЕеЗІіЈјКМНОоРрСсТУуХхѕЅһԁԛԝɡΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρ",
    "AaBEe3IiJjKMHOoPpCcTYyXxsShdqwgABEZHIKMNOPTYXovp",
)
_MIXED = re.compile("[A-Za-z0-9_-][\u0370-\u052fɡ]|[\u0370-\u052fɡ][A-Za-z0-9_-]")


class View:
    """A reading of a text.

    Attributes:
        text: what is read.
        joins: where, in `text`, a line break was taken out.
    """

    def __init__(self, text: str, edits: Iterable[Edit] = (), parent: View | None = None) -> None:
        """Read `text` with `edits` applied; they are in ascending order and do not overlap."""
        self._parent = parent
        self._starts: list[int] = []  # of each edit, in the view
        self._marks: list[tuple[int, int, int]] = []  # its end in the view, its start and end in the text
        pieces: list[str] = []
        size = at = 0
        for start, end, replacement in edits:
            pieces += (text[at:start], replacement)
            size += start - at
            self._starts.append(size)
            size += len(replacement)
            self._marks.append((size, start, end))
            at = end
        pieces.append(text[at:])
        self.text = "".join(pieces) if self._starts else text
        self.joins: tuple[int, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether it reads anything differently."""
        return bool(self._starts)

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Where the characters `start` to `end` of the view stand in the text that the first view was made of."""
        begin, finish = self._place(start)[0], self._place(end - 1)[1]
        return self._parent.origin(begin, finish) if self._parent is not None else (begin, finish)

    def _place(self, position: int) -> tuple[int, int]:
        edit = bisect_right(self._starts, position) - 1
        # Edits that read as nothing share their start with what follows; the last of them decides.
        if edit < 0:
            return position, position + 1
        finish, start, end = self._marks[edit]
        if position < finish:
            return start, end
        return end + position - finish, end + position - finish + 1


def revealed(view: View) -> View:
    """Escapes of JSON, Markdown, URLs and HTML undone, invisible characters left out, letters made plain ones."""
    return View(view.text, _reveal(view.text), view)


def joined(view: View) -> View:
    """Line breaks between two characters of a token left out, with the head of the message that follows."""
    edits = [(found.start(), found.end(), "") for found in _BREAK.finditer(view.text)]
    made = View(view.text, edits, view)
    made.joins = tuple(made._starts)
    return made


def folded(view: View) -> View | None:
    """Cyrillic and Greek letters that look Latin read as Latin; None when no such letter stands beside a Latin one.

    For tokens alone: words of those languages become unreadable.
    """
    return View(view.text.translate(_LOOKALIKE), (), view) if _MIXED.search(view.text) else None


def _reveal(text: str) -> Iterator[Edit]:
    for found in _HIDDEN.finditer(text):
        kind, value = found.lastgroup, found[found.lastgroup or 0]
        if kind == "wide":
            if not unicodedata.is_normalized("NFKC", value) or any(map(_invisible, value)):
                yield from _plain(found.start(), value)
        elif kind == "entity":
            character = html.unescape(found[0])
            if character != found[0]:
                yield found.start(), found.end(), character
        elif kind == "escaped":
            yield found.start(), found.end(), _CONTROLS.get(value, value)
        else:
            yield found.start(), found.end(), chr(int(value, 16))


def _plain(start: int, text: str) -> Iterator[Edit]:
    for position, character in enumerate(text, start):
        plain = "" if _invisible(character) else unicodedata.normalize("NFKC", character)
        if plain != character:
            yield position, position + 1, plain


def _invisible(character: str) -> bool:
    return (
        unicodedata.category(character) == "Cf"
        or "\ufe00" <= character <= "\ufe0f"
        or character in "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
    )
