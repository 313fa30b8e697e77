"""Lists that their heading gives away: one-time codes, recovery codes, the words of a wallet's seed."""

from __future__ import annotations

import re

from observed_context.redaction.tokens import Span

_DIGITS = r"(?<![0-9])(?P<code>[0-9]{3}[ -]?[0-9]{3}|[0-9]{4,8})(?![0-9])"
_AFTER = re.compile(rf"[^0-9\n]{{0,24}}?{_DIGITS}")
_BEFORE = re.compile(
    rf"{_DIGITS}[ ](?:is|ist|es|est|è|é)[ ](?:your|dein|ihr|tu|su|votre|ton|il tuo|seu)[ ][^\n]{{0,24}}\Z"
)
_RECOVERY = re.compile(
    r"""s?\b[^\n0-9]{0,40} (?:(?<=:) | (?!\s{0,4}\n))                        # a colon, or codes on the same line
    (?P<codes>
    (?: [\s,;:*•`-]{0,6} (?:[0-9]{1,2}[.)][ ])?                             # what separates and numbers them
        (?=[A-Za-z]{0,11}-?[A-Za-z]{0,11}[0-9])                             # a digit in each
        [A-Za-z0-9]{4,12} (?:[ -][A-Za-z0-9]{4,12})? (?![A-Za-z0-9]) ){1,32}+ )""",
    re.VERBOSE,
)
_SEED = re.compile(
    r"""(?:[ ]?(?:phrase|words?))? (?:[^\n:]{0,40}:|[ ](?:is|are|ist|lautet))? \s{0,4}
    (?P<words> (?:[a-z]{3,8}(?:[ ,\n]{1,3}(?:[0-9]{1,2}[.)][ ]?)?)){11,23}+ [a-z]{3,8} ) (?![a-z])""",
    re.VERBOSE,
)


def one_time_code(text: str, start: int, end: int) -> Span | None:
    """The code beside the words at `start` to `end`, which announce one."""
    if text[start - 1 : start].isalpha() and text[start].isascii():
        return None
    found = _AFTER.match(text, end) or _BEFORE.search(text, max(0, start - 60), start)
    return Span(*found.span("code"), "one-time code") if found else None


def recovery_codes(text: str, end: int) -> Span | None:
    """The codes after the heading that ends at `end`."""
    found = _RECOVERY.match(text, end)
    if found is None:
        return None
    blank = len(found["codes"]) - len(found["codes"].lstrip())
    return Span(found.start("codes") + blank, found.end("codes"), "recovery codes")


def seed_phrase(text: str, end: int) -> Span | None:
    """The words after the heading that ends at `end`: 12, 15, 18, 21 or 24, as wallets write them."""
    found = _SEED.match(text, end)
    if found is None or len(re.findall("[a-z]+", found["words"])) % 3:
        return None
    return Span(*found.span("words"), "seed phrase")
