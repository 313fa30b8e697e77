"""What a value looks like: random, like a password, like a placeholder, like a line of a program."""

from __future__ import annotations

import re

BARRIER = "\x00"
"""Stands in a view for each character of a placeholder that is already there, so that no rule reads it as a value."""

_SAMPLE = 64  # characters of a value that are looked at, so that the cost does not depend on its length
_LONG = 200  # no expression, placeholder or address is longer, unless it is a secret after all

_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile("[0-9]")
_SYMBOL = re.compile("[!@#$%^&*+~?|=§€]")
_CHANGE = re.compile("(?<=[0-9])[A-Za-z]|(?<=[A-Za-z])[0-9]|(?<=[a-z])[A-Z]")
_CAPITALS = re.compile("(?<=[A-Z])[A-Z]")

_PLACEHOLDER = re.compile(
    r"""[\x00\W_]*                                    # nothing but what was redacted before, or punctuation
    | <[^<>]*> | \{\{?[^{}]*\}?\}? | \[[^\[\]]*\]     # <your-key>, {cfg.key}, {{ .Values.key }}, [hidden]
    | \$\{[^{}]*\}? | \$\(.*                          # ${VAR}, $(command)
    | \$(?:[A-Z_][A-Z0-9_]*|[a-z_]+)                  # $VAR, $var
    | %[A-Z_][A-Z0-9_]*% | %[a-z]                     # %VAR%, %s
    | (.)\1*                                          # xxxxxxxx
    | [\w-]{0,12}(?:\.{2,}|…)                         # sk-...
    | (?:your|my|the|some|insert)[a-z _-]*            # your-key-here
    """,
    re.VERBOSE | re.DOTALL,
)
_CODE = re.compile(
    r"""[A-Za-z_]+\d?(?:(?:\.|::|->)[A-Za-z_]+\d?)+(?:[(\[].*)?   # process.env.TOKEN, os.environ['KEY']
    | [A-Za-z_][A-Za-z_0-9]{0,40}(?:\(.*|\[.*)                   # input(, tokens[0]
    | (?:await|new|not)\b.*
    | 0x[0-9A-Fa-f]{1,8} | [0-9]{1,3}(?:_[0-9]{3}){1,4}             # numbers
    """,
    re.VERBOSE | re.DOTALL,
)
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s@]*", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{1,4}(?:[-/.:T][0-9]{1,4}){1,6}(?:Z|[ap]m)?", re.IGNORECASE)
_PLAIN_WORDS = """
    string str text bytes int integer number bool boolean object array any char varchar null none nil undefined
    true false yes no on off required optional missing invalid expired hidden redacted masked removed empty blank
    default unset changeme password passwd passwort pass secret token key apikey credential credentials username user
    admin env environment input prompt field value example sample test placeholder disabled enabled new-password
    current-password
"""
_NOT_SECRET = frozenset(_PLAIN_WORDS.split())


def is_placeholder(value: str) -> bool:
    """Whether the value only stands for one. The whole of it has to: `xxxx-real-value` is a value."""
    if len(value) > _LONG:
        return len(set(value)) == 1
    return _PLACEHOLDER.fullmatch(value) is not None


def is_code(value: str) -> bool:
    """Whether the value reads as an expression of a program: a call, an index, a dotted name."""
    return len(value) <= _LONG and _CODE.fullmatch(value) is not None


def is_plain_word(value: str) -> bool:
    """Whether the value is a word of the sort that forms and schemas put where a secret goes."""
    return value.lower() in _NOT_SECRET


def changes(text: str) -> int:
    """How often the kind of character changes between neighbours: letter and digit, small letter and capital."""
    return len(_CHANGE.findall(text))


def is_random(value: str) -> bool:
    """Whether the value looks drawn at random: kinds of characters change more often than in words and versions."""
    sample = value[:_SAMPLE]
    if _DIGIT.search(sample):
        return changes(sample) >= 3 and len(set(sample.lower())) >= 6
    # Without digits: words in camel case have changes too, but hardly two capitals in a row.
    return changes(sample) >= 2 and len(_CAPITALS.findall(sample)) >= 2 and not sample.isupper()


def is_strong(value: str, least: int = 6) -> bool:
    """Whether the value looks like a password even where only a sentence says so: letters with digits or symbols."""
    sample = value[:_SAMPLE]
    if len(value) < least or _URL.fullmatch(value[:_LONG]) or _DATE.fullmatch(sample):
        return False
    letters, digits = _LETTER.search(sample) is not None, _DIGIT.search(sample) is not None
    symbols = _SYMBOL.search(sample[:-1]) is not None
    return letters + digits + symbols >= 2 or is_random(sample)
