"""Values that their place gives away: in URLs, in headers of requests, in arguments of known commands."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator

from observed_context.redaction.tokens import Span, any_of
from observed_context.redaction.values import is_placeholder, is_plain_word, is_random, is_strong

_PARAMETERS = (
    *("sig", "signature", "key", "auth", "jwt", "sid", "session", "sessionid", "session_id"),
    *("ticket", "assertion", "code", "hash", "x-goog-signature", "pwd"),
)
_PARAMETER = re.compile(rf"(?<=[?&#;])(?P<name>{any_of(_PARAMETERS)})=(?P<value>[^\s&#\"'<>`\x00]{{4,4096}}+)")
_SURE = frozenset(("sig", "signature", "x-goog-signature", "pwd"))
_WEBHOOKS = re.compile(
    r"""(?:discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{5,25}/
      | webhook\.office\.com/webhookb2/[^/\s]{1,120}/IncomingWebhook/
      | hooks\.slack\.com/(?:services|workflows|triggers)/
      | hooks\.zapier\.com/hooks/catch/
      | (?:t\.me|telegram\.me)/(?:\+|joinchat/)
      | chat\.whatsapp\.com/(?:invite/)?
      | signal\.group/\#
      )(?P<value>[A-Za-z0-9_/-]{12,300}+)""",
    re.VERBOSE,
)
_AUTHORITY = re.compile(r"(?P<user>[^\s/?#:@\[\"'<>`\x00]{0,128}+):(?P<rest>[^\s\"'<>`]{1,512}+)")
_PORT = re.compile(r"[0-9]{1,5}(?:[/?#,]|\Z)")

_HEADER_NAME = re.compile(r"authorization|cookie")
_HEADER_SIGN = re.compile(r"(?:\\?[\"'])?[ \t]{0,4}(?:[:=]|=>)[ \t]{0,4}(?P<quote>\\?[\"'])?")
_SCHEME = re.compile(
    r"(?P<scheme>basic|bearer|token|digest|api-?key|key|negotiate|ntlm|oauth|hmac|aws4-hmac-sha256|bot)[ \t]{1,4}",
    re.IGNORECASE,
)
_WITH_PARAMETERS = frozenset(("digest", "oauth", "hmac", "aws4-hmac-sha256"))
_CREDENTIALS = re.compile(r"[^\s\"'`,;<>\\]{6,128}+")
_MORE_CREDENTIALS = re.compile(r"[^\s\"'`,;<>\\]{0,65536}+")
_REST_OF_LINE = re.compile(r"[^\n]{8,4096}+")
_BEARER = re.compile(r"bearer[ \t]{1,3}(?P<value>[A-Za-z0-9._~+/-]{16,8192}+=*)")
_COOKIE = re.compile(r"[ \t]{0,4}(?P<name>[^\s=;:,\"'\\]{1,128}+)=(?P<value>[^\s;\"'\\]{0,4096}+)(?P<more>;)?")
_ATTRIBUTES = frozenset(("path", "domain", "expires", "max-age", "samesite", "priority", "theme", "lang", "locale"))
_SESSION = re.compile(r"sess|sid|auth|token|login|remember", re.IGNORECASE)

_IN_QUOTES = r"\"(?P<double>[^\"\n]{1,256}+)\"|'(?P<single>[^'\n]{1,256}+)'"
_COMMANDS = (
    # what has to be there at all, pattern; the value is one of the groups
    (
        "curl",
        re.compile(
            r"\bcurl\b[^\n]{0,300}?[ ](?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"']{1,128}+:(?P<bare>[^\s\"']{3,256}+)"
        ),
    ),
    ("sshpass", re.compile(rf"\bsshpass\b[ ]{{1,4}}-p[ ]?(?:{_IN_QUOTES}|(?P<bare>[^\s\"']{{3,256}}+))")),
    (
        " -p",
        re.compile(
            r"\b(?:mysql\w{0,12}|mariadb\w{0,12}|mongo\w{0,12}|7z|zip|unzip|docker login)\b[^\n]{0,300}?[ ]-p"
            rf"(?:{_IN_QUOTES}|(?P<bare>[^\s\"'-][^\s\"']{{3,256}}+))"
        ),
    ),
    (
        "identified by",
        re.compile(rf"identified by[ ]{{1,4}}(?:password[ ]{{1,4}})?(?:{_IN_QUOTES})", re.IGNORECASE),
    ),
)
_PGPASS = re.compile(
    r"(?m)^[ \t>]{0,4}[\w.*-]{1,128}+:(?:[0-9]{2,5}|\*):[^:\s]{1,64}+:[^:\s]{1,64}+:(?P<value>[^\s:]{6,128}+)$"
)


def placed(text: str, lowered: str) -> Iterator[Span]:
    """The values in `text` that stand where secrets stand. `lowered` is the same text in small letters."""
    yield from _userinfo(text)
    for found in _PARAMETER.finditer(lowered):
        value = text[slice(*found.span("value"))]
        if not is_placeholder(value) and (found["name"] in _SURE or (len(value) >= 16 and is_random(value))):
            yield Span(*found.span("value"), "url parameter")
    for found in _WEBHOOKS.finditer(text):
        yield Span(*found.span("value"), "secret link")
    yield from _headers(text, lowered)
    for needed, pattern in _COMMANDS:
        if needed in lowered:
            for found in pattern.finditer(text):
                group = found.lastgroup
                if group and not is_placeholder(found[group]):
                    yield Span(*found.span(group), "password")
    for found in _PGPASS.finditer(text):
        if is_strong(found["value"]):
            yield Span(*found.span("value"), "password")


def _userinfo(text: str) -> Iterator[Span]:
    """The password of `scheme://user:password@host`, whatever characters it holds unescaped."""
    at = text.find("://")
    while at >= 0:
        found = _AUTHORITY.match(text, at + 3)
        at = text.find("://", at + 3)
        if found is None or _PORT.match(found["rest"]):
            continue
        authority = re.split(r"/", found["rest"], maxsplit=1)[0]
        end = authority.rfind("@") if "@" in authority else found["rest"].find("@")
        if end > 0 and not is_placeholder(found["rest"][:end]):
            yield Span(found.start("rest"), found.start("rest") + end, "password")


def _headers(text: str, lowered: str) -> Iterator[Span]:
    for name in _HEADER_NAME.finditer(lowered):
        sign = _HEADER_SIGN.match(text, name.end())
        if sign:
            yield from _cookies(text, sign.end()) if name[0] == "cookie" else _authorization(text, sign.end())
    for found in _BEARER.finditer(lowered):
        value = text[slice(*found.span("value"))]
        if is_random(value):
            yield Span(*found.span("value"), "authorization")


def _authorization(text: str, at: int) -> Iterator[Span]:
    scheme = _SCHEME.match(text, at)
    begin = scheme.end() if scheme else at
    if scheme and scheme["scheme"].lower() in _WITH_PARAMETERS:
        line = _REST_OF_LINE.match(text, begin)
        if line and not is_placeholder(line[0]):
            yield Span(*line.span(), "authorization")
        return
    found = _CREDENTIALS.match(text, begin)
    if found is None or is_placeholder(found[0]) or is_plain_word(found[0]):
        return
    named = scheme is not None and (len(found[0]) >= 16 or _holds_name_and_password(found[0]))
    if named or is_strong(found[0], 6 if scheme else 12):
        end = _MORE_CREDENTIALS.match(text, found.end())
        yield Span(begin, end.end() if end else found.end(), "authorization")


def _holds_name_and_password(value: str) -> bool:
    """Whether it is Base64 of a name, a colon and a password, however short."""
    try:
        return b":" in binascii.a2b_base64(value)
    except ValueError:
        return False


def _cookies(text: str, at: int) -> Iterator[Span]:
    for _ in range(64):
        found = _COOKIE.match(text, at)
        if found is None:
            return
        name, value = found["name"], found["value"]
        sure = len(value) >= 8 or (len(value) >= 4 and _SESSION.search(name) is not None)
        if sure and name.lower() not in _ATTRIBUTES and not is_placeholder(value):
            yield Span(*found.span("value"), "cookie")
        if not found["more"]:
            return
        at = found.end()
