"""Secrets that are known by their shape alone, without a prefix or a name: and tokens in another spelling."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from hashlib import sha256

from observed_context.redaction.tokens import Span, recognised
from observed_context.redaction.values import changes, is_random
from observed_context.redaction.views import HEADER

_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----")
_PEM_LONGEST = 32_000
# What follows a first line whose last line was cut away: long runs of Base64, headers, and what separates them.
_PEM_REST = re.compile(
    rf"""(?: [\s>|"'\\] | \\[nr] | (?<=\n){HEADER} | [A-Z][\w-]{{1,30}}:[ ][^\n\\]{{0,80}}(?=\n|\\n)
    | [A-Za-z0-9+/=]{{16,}}+
    | (?=[A-Za-z+/=]{{0,64}}[0-9])[A-Za-z0-9+/=]{{1,64}}(?=\s{{0,4}}\Z|\r?\n{HEADER}) )*+""",
    re.VERBOSE,
)

_KEY_ID = re.compile(r"A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=])(?=[a-z0-9/+]{0,40}[A-Z])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_NEAR = 300

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_WIF = re.compile(rf"(?<![A-Za-z0-9])[5KLc9][{_BASE58}]{{50,51}}(?![A-Za-z0-9])")

_LONG = re.compile(
    r"(?<![A-Za-z0-9_-])[A-Za-z][A-Za-z0-9]{1,15}(?:[_-][A-Za-z0-9]{1,12}){0,3}?(?P<mark>[_-])(?P<body>[A-Za-z0-9_-]{20,}+)"
)
_HASH = re.compile(
    r"(?:sha|md|blake|h)[0-9]|commit|hash|etag|digest|trace|request|cache|image|layer|build|chunk", re.IGNORECASE
)

_ENCODED = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{24,}+(?:=|%3D){0,2}")
_SPACED = re.compile(r"(?<!\S)(?:[!-~][ ]){15,400}[!-~](?!\S)")


def shaped(text: str) -> Iterator[Span]:
    """The secrets in `text` that a shape gives away."""
    yield from _private_keys(text)
    yield from _aws_secrets(text)
    for found in _WIF.finditer(text):
        if _base58check(found[0]):
            yield Span(*found.span(), "wallet key")
    yield from _unknown_vendors(text)
    yield from _respelled(text)


def _private_keys(text: str) -> Iterator[Span]:
    """PEM and PGP private keys, the first line included; those that were cut before the last line as well."""
    found = _PEM_BEGIN.search(text)
    last = _PEM_END.search(text, found.end()) if found else None
    while found:
        following = _PEM_BEGIN.search(text, found.end())
        if last and last.start() < found.end():
            last = _PEM_END.search(text, found.end())
        whole = (
            last and last.end() - found.start() <= _PEM_LONGEST and not (following and following.start() < last.start())
        )
        if whole and last:
            yield Span(found.start(), last.end(), "private key")
        elif rest := _PEM_REST.match(text, found.end()):
            end = rest.end()
            while text[end - 1].isspace():
                end -= 1
            if end - found.end() >= 16:
                yield Span(found.start(), end, "private key")
        found = following


def _aws_secrets(text: str) -> Iterator[Span]:
    """Secret access keys have no prefix; the id of the key stands near them."""
    done = 0
    for key_id in _KEY_ID.finditer(text):
        for found in _AWS_SECRET.finditer(text, max(done, key_id.start() - _NEAR), key_id.end() + _NEAR):
            if is_random(found[0]):
                yield Span(*found.span(), "aws secret key")
        done = max(done, key_id.end() + _NEAR - 64)


def _unknown_vendors(text: str) -> Iterator[Span]:
    """Tokens of services that no table lists: a short name, a hyphen or underscore, a long and very random body."""
    for found in _LONG.finditer(text):
        body = found["body"][:64]
        if _HASH.match(found[0]) or 4 * changes(body) < len(body):
            continue
        mixed = all(sum(map(kind, body)) >= 2 for kind in (str.isdigit, str.isupper, str.islower))
        longest = max(map(len, re.split("[_-]", body)))
        if mixed or (found["mark"] == "_" and longest >= 32):
            yield Span(*found.span(), "token")


def _respelled(text: str) -> Iterator[Span]:
    """Tokens in Base64 or hexadecimal, or with a blank after every letter."""
    for found in _ENCODED.finditer(text):
        if _holds_token(_decoded(found[0])):
            yield Span(*found.span(), "encoded token")
    for found in _SPACED.finditer(text):
        if _holds_token(found[0].replace(" ", "")):
            yield Span(*found.span(), "spaced token")


def _holds_token(text: str) -> bool:
    return bool(text) and (
        next(recognised(text, text.lower()), None) is not None or _PEM_BEGIN.search(text) is not None
    )


def _decoded(run: str) -> str:
    """The text that the run encodes; empty when it encodes none."""
    run = run.replace("%3D", "").rstrip("=")
    try:
        plain = bytes.fromhex(run)
    except ValueError:
        whole = run[: len(run) - len(run) % 4].replace("-", "+").replace("_", "/")
        plain = binascii.a2b_base64(whole)
        if len(run) % 4 > 1:
            plain += binascii.a2b_base64((run[len(whole) :] + "==").replace("-", "+").replace("_", "/")[:4])
    return plain.decode() if plain.isascii() else ""


def _base58check(word: str) -> bool:
    number = 0
    for character in word:
        number = number * 58 + _BASE58.index(character)
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return sha256(sha256(data[:-4]).digest()).digest()[:4] == data[-4:]
