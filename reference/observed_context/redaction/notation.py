"""How a name and its value are written: assigned, listed, said; and where the value begins and ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from observed_context.redaction.values import is_placeholder
from observed_context.redaction.views import HEADER


class Notation(Enum):
    """What ties a value to a name."""

    ASSIGNED = auto()  # name=value, "name": "value"
    LISTED = auto()  # name: value, and nothing else on the line
    MENTIONED = auto()  # name: value, in a sentence
    SAID = auto()  # the name is value
    GIVEN = auto()  # --name value
    BESIDE = auto()  # name value


class Written(NamedTuple):
    """A value that a name may have: characters `start` to `end`.

    Attributes:
        notation: what ties it to the name.
        quoted: it stands in quotes, so it is no expression of a program.
        near: next to nothing lies between name and value.
    """

    notation: Notation
    start: int
    end: int
    quoted: bool
    near: bool


_SPACE = rf"[ \t]{{0,8}}(?:\r?\n(?:{HEADER})?[ \t>]{{0,8}})?"
_MARKUP = r"[*_`~|(]{0,3}"
_ASSIGN = re.compile(
    rf"(?:\\?[\"'`])?\]?{_MARKUP}[ \t]{{0,8}}(?P<sign>=>|:=|={{1,3}}|[:：]=?(?!//)|>){_MARKUP}{_SPACE}"
)
_IS = r"(?:is|are|was|be|to|ist|lautet|war|sind|es|est|era|é|è|jest|это|changed[ ]to|set[ ]to)(?![A-Za-z])[ \t]{0,2}:?"
_SAYS = re.compile(
    rf"""(?:[ \t]{{1,3}}[^\s:=.,;!?]{{1,32}}){{0,8}}? [ \t]{{0,3}}
    (?: (?<=[ \t]){_IS} | [:：](?!//) | -{{1,2}}(?=[ \t]) | [—–→>] ) {_MARKUP}{_SPACE}
    | [ \t]?(?:是|为|為|は|が|는|은|：)[ \t]?[:：]?[ \t]?""",
    re.VERBOSE,
)
_BESIDE = re.compile(r"[ \t]{1,4}|[ \t]{0,4}[|/,(][ \t]{0,4}")
_NEAR = 16

_OPTION = re.compile(r"(?:^|[\s\"'`(])--[a-z-]{0,32}\Z")
_LINE_BEFORE = re.compile(r"(?:^|\n)[\s>\"'-]{0,24}[\w.-]{0,64}\Z")
_LINE_AFTER = re.compile(r"[\"',;*~|]{0,2}[ \t]*(?:[\r\n]|\Z)")

# A value without quotes: to the next blank, and not into another script's punctuation or writing.
_RUN = re.compile(r"[^\s，。、；！？）】」』“”«»\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,512}+")
_RUN_ON = re.compile(_RUN.pattern.replace("1,512", "0,65536"))
# What ends it earlier: a quote before the end of something, the next parameter or entry, a tag.
_RUN_END = re.compile(
    r"""\\?["'`](?=\Z|[\s,;:)\]}>|&]) | &(?:amp;)?(?=[\w.%-]{1,40}=) | [,;](?=["']?[\w.-]{2,40}["']?[=:]) | </""",
    re.VERBOSE,
)
_TRAILING = re.compile(r"""(?:[.,;:)\]}>"'`*|~]|\\(?=["'\\]))+\Z""")
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“", "«": "»", "‘": "’", '\\"': '\\"', "\\'": "\\'"}
_QUOTE = re.compile(r"""\\?["']|[`“„«‘]""")
_LONGEST = 4096


def written(text: str, start: int, end: int) -> Iterator[Written]:
    """The values that the name at `start` to `end` may have, the most certain first."""
    if sign := _ASSIGN.match(text, end):
        begin, finish, quoted = _value(text, sign.end())
        if "=" in sign["sign"] or (quoted and sign["sign"] == ":"):
            notation = Notation.ASSIGNED
        elif "\n" not in sign[0] and _fill_a_line(text, start, finish):
            notation = Notation.LISTED
        else:
            notation = Notation.MENTIONED
        yield Written(notation, begin, finish, quoted, near=not any(map(str.isspace, sign[0])))
    if says := _SAYS.match(text, end):
        yield Written(Notation.SAID, *_value(text, says.end()), near=says.end() - end < _NEAR)
    if beside := _BESIDE.match(text, end):
        option = _OPTION.search(text[max(0, start - 40) : start])
        yield Written(Notation.GIVEN if option else Notation.BESIDE, *_value(text, beside.end()), near=True)


def _value(text: str, at: int) -> tuple[int, int, bool]:
    """The value that begins at `at`: its first character, the one behind its last, and whether quotes hold it."""
    if opening := _QUOTE.match(text, at):
        finish = _closing(text, opening.end(), _QUOTES[opening[0]])
        if finish is not None:
            return opening.end(), finish, True
        at = opening.end()
    run = _RUN.match(text, at)
    if run is None:
        return at, at, False
    end = _RUN_END.search(text, at, run.end())
    finish = end.start() if end else run.end()
    if is_placeholder(text[at:finish].rstrip(",;")):
        return at, at, False
    if trailing := _TRAILING.search(text, max(at, finish - 16), finish):
        finish = trailing.start()
    return at, finish, False


def run_on(text: str, value: Written) -> int:
    """Where a value really ends that `written` followed for its first 512 characters only."""
    long = not value.quoted and value.end - value.start > 480
    return _RUN_ON.match(text, value.end).end() if long else value.end  # type: ignore[union-attr]  # it may match nothing


def _closing(text: str, begin: int, quote: str) -> int | None:
    """Where the quote closes, on the same line and not too far away."""
    line = text.find("\n", begin, begin + _LONGEST)
    limit = line if line >= 0 else begin + _LONGEST
    at = text.find(quote, begin, limit)
    while at > begin and len(quote) == 1 and text[at - 1] == "\\" and text[at - 2 : at] != "\\\\":
        at = text.find(quote, at + 1, limit)
    return at if at >= 0 else None


def _fill_a_line(text: str, start: int, end: int) -> bool:
    """Whether name and value are all that their line holds, as in a file of settings."""
    before = _LINE_BEFORE.search(text[max(0, start - 90) : start])
    return before is not None and _LINE_AFTER.match(text[end : end + 16]) is not None
