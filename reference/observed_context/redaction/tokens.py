"""Tokens that say what they are: a published prefix with a random body behind it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from observed_context.redaction.values import is_random
from observed_context.redaction.views import HEADER


class Span(NamedTuple):
    """Characters `start` to `end` are a secret of that kind."""

    start: int
    end: int
    kind: str


class Rule(NamedTuple):
    """A family of tokens.

    Attributes:
        kind: what the placeholder calls it.
        prefix: in small letters; it is found whatever the case.
        body: matches what may follow, as far as it goes.
        length: of a whole body; what is shorter is taken for a token that was cut, when it looks random.
        alone: words end with the prefix, too: no letter may stand before it, and the body has to look random.
    """

    kind: str
    prefix: str
    body: re.Pattern[str]
    length: int
    alone: bool


_LEAST = 10  # characters of a body: with fewer there is nothing left to guess from
_SHORTEST = 3  # and of one whose rest stands in another message
_PROBE = 64
_LONGEST = 8192
_ALPHABETS = {
    "hex": "[0-9a-fA-F]",
    "key id": "[A-Z2-7]",
    "alnum": "[A-Za-z0-9]",
    "word": "[A-Za-z0-9_]",
    "url": "[A-Za-z0-9_-]",
    "dotted": "[A-Za-z0-9_-]|[.](?=[A-Za-z0-9_-])",
    "base64": "[A-Za-z0-9+/_-]|=(?=[=A-Za-z0-9+/_-])",
    "json": "[A-Za-z0-9+/_-]|[.=](?=[=A-Za-z0-9+/_-])",
}
# kind | prefixes (~ before one: only where no word runs into it) | alphabet of the body | length of a whole body
_TABLE = """
github token          | ghp_ gho_ ghu_ ghs_ ghr_                                     | alnum  | 36
github token          | github_pat_                                                  | word   | 82
gitlab token          | glpat- gldt- glptt- glrt- glcbt- glsoat- glft- glimt- glagent- gloas- | dotted | 20
slack token           | xoxb- xoxp- xoxa- xoxr- xoxe- xoxs- xoxc- xoxd- xapp- xoxe.xox | url  | 48
anthropic key         | sk-ant-                                                      | url    | 90
openrouter key        | sk-or-v1-                                                    | alnum  | 64
openai key            | sk-proj- sk-svcacct- sk-admin- sess-                         | url    | 148
api key               | ~sk-                                                         | url    | 48
google key            | aiza                                                         | url    | 35
google client secret  | gocspx-                                                      | url    | 28
google token          | ~ya29.                                                       | url    | 60
aws key id            | akia asia abia acca                                          | key id | 16
stripe key            | sk_live_ rk_live_ sk_test_ rk_test_ whsec_                   | alnum  | 24
sendgrid key          | ~sg.                                                         | dotted | 66
hugging face token    | ~hf_ api_org_                                                | alnum  | 34
npm token             | ~npm_                                                        | alnum  | 36
pypi token            | pypi-agei                                                    | url    | 80
rubygems key          | rubygems_                                                    | alnum  | 48
digitalocean token    | dop_v1_ doo_v1_ dor_v1_                                      | alnum  | 64
shopify token         | shpat_ shpca_ shppa_ shpss_                                  | alnum  | 32
notion token          | ~ntn_ ~secret_                                               | alnum  | 43
linear key            | lin_api_ lin_oauth_                                          | alnum  | 40
xai key               | ~xai-                                                        | alnum  | 80
groq key              | ~gsk_                                                        | alnum  | 52
nvidia key            | nvapi-                                                       | url    | 64
perplexity key        | pplx-                                                        | alnum  | 48
replicate token       | ~r8_                                                         | alnum  | 37
langsmith key         | lsv2_pt_ lsv2_sk_                                            | word   | 43
tavily key            | tvly-                                                        | url    | 32
docker token          | dckr_pat_ dckr_oat_                                          | url    | 27
grafana token         | glsa_ glc_                                                   | base64 | 41
doppler token         | dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.               | dotted | 40
1password token       | ops_eyj                                                      | url    | 200
tailscale key         | tskey-                                                       | url    | 35
new relic key         | nrak- nrii- nrjs- nraa-                                      | url    | 27
sentry token          | sntrys_ sntryu_                                              | base64 | 64
vault token           | ~hvs. ~hvb. ~hvr.                                            | url    | 90
databricks token      | ~dapi                                                        | hex    | 32
atlassian token       | atatt3 atctt3                                                | base64 | 180
airtable token        | ~patx                                                        | dotted | 70
figma token           | figd_ figdr_                                                 | url    | 40
postman key           | pmak-                                                        | url    | 59
planetscale token     | pscale_tkn_ pscale_oauth_ pscale_pw_                         | dotted | 32
supabase token        | sbp_ sb_secret_                                              | word   | 40
netlify token         | ~nfp_                                                        | alnum  | 36
fly token             | fm1_ fm2_ fo1_                                               | base64 | 43
pulumi token          | ~pul-                                                        | alnum  | 40
buildkite token       | bkua_ bkat_                                                  | alnum  | 40
brevo key             | xkeysib- xsmtpsib-                                           | url    | 81
square token          | sq0atp- sq0csp- sq0idp-                                      | url    | 22
dynatrace token       | dt0c01. dt0s01.                                              | dotted | 89
facebook token        | ~eaa                                                         | alnum  | 100
posthog key           | ~phx_ ~phc_                                                  | alnum  | 43
age key               | age-secret-key-1                                             | alnum  | 58
extended private key  | ~xprv ~yprv ~zprv ~tprv                                      | alnum  | 107
jwt                   | eyj                                                          | json   | 400
"""


def _rules() -> Iterator[Rule]:
    bodies = {name: re.compile(f"(?:{one}){{0,{_LONGEST}}}+") for name, one in _ALPHABETS.items()}
    for line in _TABLE.strip().splitlines():
        kind, prefixes, alphabet, length = (cell.strip() for cell in line.split("|"))
        for prefix in prefixes.split():
            yield Rule(kind, prefix.lstrip("~"), bodies[alphabet], int(length), prefix.startswith("~"))


def any_of(words: Sequence[str]) -> str:
    """A pattern for the longest of `words`; what they begin with is shared, so that many cost little more than one."""
    branches: dict[str, list[str]] = {}
    for word in words:
        if word:
            branches.setdefault(word[0], []).append(word[1:])
    pattern = "|".join(re.escape(first) + any_of(rests) for first, rests in branches.items())
    if not pattern:
        return ""
    return f"(?:{pattern})?+" if "" in words else f"(?:{pattern})"


_RULES = sorted(_rules(), key=lambda rule: -len(rule.prefix))
_PREFIX = re.compile(any_of([rule.prefix for rule in _RULES]))
_FOR = {rule.prefix: [other for other in _RULES if rule.prefix.startswith(other.prefix)] for rule in _RULES}

# Tokens with something distinctive inside: kind, that, pattern.
_INFIXED = (
    ("telegram token", ":AA", re.compile(r"(?<![0-9])[0-9]{8,10}+:AA[A-Za-z0-9_-]{20,33}+")),
    (
        "discord token",
        ".",
        re.compile(r"(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{22,27}+\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{20,38}+"),
    ),
    ("terraform token", ".atlasv1.", re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{20,67}+")),
    ("azure client secret", "Q~", re.compile(r"(?<![\w~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}")),
)

# The rest of a token that was cut at the end of a message, alone in one of the next three.
_REST = re.compile(
    rf"[ \t]*(?:\r?\n(?:{HEADER})?[^\n]{{0,200}}+){{0,2}}?"
    rf"\r?\n(?:{HEADER})?(?P<rest>[A-Za-z0-9_-]{{6,}}+)[ \t]*(?=\r?\n|\Z)"
)


def recognised(text: str, lowered: str, joins: Sequence[int] = ()) -> Iterator[Span]:
    """The tokens in `text`.

    Args:
        text: what to look at.
        lowered: the same in small letters, character by character.
        joins: where a line break was taken out; a token goes on behind one only where the rest of it seems to stand.
    """
    yield from _prefixed(text, lowered, joins)
    for kind, needed, pattern in _INFIXED:
        if needed in text:
            yield from (Span(*found.span(), kind) for found in pattern.finditer(text))


def _prefixed(text: str, lowered: str, joins: Sequence[int]) -> Iterator[Span]:
    at = 0
    while found := _PREFIX.search(lowered, at):
        start = found.start()
        at = start + 1
        for rule in _FOR[found[0]]:
            begin = start + len(rule.prefix)
            if rule.alone and _is_letter(text[start - 1 : start]):
                continue
            if _is_hopeless(rule, rule.body.match(text, begin, begin + _PROBE)):
                continue
            end = _body_end(rule, text, begin, joins)
            cut = _REST.match(text, end) if _SHORTEST <= end - begin < rule.length else None
            if cut is not None and is_random(cut["rest"]):
                yield Span(start, end, rule.kind)
                yield Span(*cut.span("rest"), rule.kind)
                at = cut.end("rest")
                break
            if _is_body(rule, text[begin:end]):
                yield Span(start, end, rule.kind)
                at = end
                break


def _body_end(rule: Rule, text: str, begin: int, joins: Sequence[int]) -> int:
    """Where the body ends that begins at `begin`."""
    # Without line breaks a whole transcript may be one run: there a token goes on for a few lines at most.
    found = rule.body.match(text, begin, begin + rule.length + 512 if joins else len(text))
    end = found.end() if found else begin
    first = bisect_right(joins, begin)
    for number in range(first, bisect_left(joins, end)):
        join = joins[number]
        after = min(end, joins[number + 1]) if number + 1 < len(joins) else end
        if join - begin >= rule.length or not (after - begin == rule.length or _goes_on(text[join:after])):
            return join
    return end


def _is_hopeless(rule: Rule, beginning: re.Match[str] | None) -> bool:
    """Whether a long body cannot count, by its beginning: to follow each of many to its end would take long."""
    if beginning is None or len(beginning[0]) < _PROBE:
        return False
    return not is_random(beginning[0]) and len(set(beginning[0])) < (12 if rule.alone else 6)


def _is_body(rule: Rule, body: str) -> bool:
    if len(body) < _LEAST:
        return False
    if len(body) < rule.length:
        return is_random(body)
    if rule.alone:
        return is_random(body) or (body.isalnum() and not body.islower() and len(set(body)) >= 12)
    return len(set(body.lower())) >= 6


def _goes_on(piece: str) -> bool:
    """Whether a line begins with the rest of a token rather than with a word."""
    return len(piece) >= 4 and any(map(str.isalpha, piece)) and (any(map(str.isdigit, piece)) or is_random(piece))


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalnum()
