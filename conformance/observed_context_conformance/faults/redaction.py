"""Defects of redaction: each lets some secrets through, takes too much away, or does not know when to stop."""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from typing import Any
from unittest.mock import patch

from observed_context import redaction
from observed_context.redaction import codes, labels, notation, places, shapes, tokens, values
from observed_context.redaction.notation import Notation, written
from observed_context.redaction.tokens import Rule, Span
from observed_context.redaction.views import View
from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.faults import fault
from observed_context_conformance.secrets import load_secrets

_PLACEHOLDER = re.compile(r"\[redacted: [^\]]*\]")
_is_placeholder = values.is_placeholder
_merged = redaction._merged


def _nothing(*_: Any) -> Iterator[Span]:
    return iter(())


class _OtherFinds(ReferenceAdapter, ABC):
    """Takes other pieces of a text for secrets."""

    @abstractmethod
    def found(self, text: str, spans: list[Span]) -> Iterable[Span]: ...

    def redact(self, text: str) -> str:
        def merged(spans: Iterable[Span]) -> Iterator[Span]:
            return iter(list(self.found(text, list(_merged(spans)))))

        with patch.object(redaction, "_merged", merged), patch.object(redaction, "_PASSES", 1):
            return super().redact(text)


class _OtherReplacement(ReferenceAdapter, ABC):
    """Puts something else in the place of a secret."""

    @abstractmethod
    def instead(self, secret: str) -> str: ...

    def redact(self, text: str) -> str:
        spans = list(redaction._pieces(text, _merged(redaction._find(text))))
        for span in reversed(spans):
            text = text[: span.start] + self.instead(text[span.start : span.end]) + text[span.end :]
        return text


class _OtherPlaceholders(ReferenceAdapter, ABC):
    """Takes other values for such that only stand for a secret."""

    @abstractmethod
    def is_placeholder(self, value: str) -> bool: ...

    def redact(self, text: str) -> str:
        with patch.object(labels, "is_placeholder", self.is_placeholder):
            return super().redact(text)


# -- RED-1 -----------------------------------------------------------------------------------------------------------


@fault("redact-keeps-both-ends", "RED-1")
class KeepsBothEnds(_OtherReplacement):
    """A long secret keeps its first six and its last four characters, so that people recognise it."""

    def instead(self, secret: str) -> str:
        return f"{secret[:6]}...{secret[-4:]}" if len(secret) > 20 else "[redacted: secret]"


@fault("redact-wants-a-blank-after", "RED-1")
class WantsABlankAfter(_OtherFinds):
    """A token ends at a blank or a quote, as in program text; at the end of a sentence it is none."""

    def found(self, text: str, spans: list[Span]) -> Iterable[Span]:
        return (span for span in spans if text[span.end : span.end + 1] not in (".", ",", "!", "?", ":", ";", ")"))


@fault("redact-spares-values-with-a-dollar", "RED-1", after="NousResearch/hermes-agent#112071")
class SparesValuesWithADollar(_OtherPlaceholders):
    """A value that begins with `$`, `/` or `~` is taken for the name of a variable or a path."""

    def is_placeholder(self, value: str) -> bool:
        return value[:1] in ("$", "/", "~") or _is_placeholder(value)


@fault("redact-spares-what-looks-made-up", "RED-1", after="nameforjt-afk/session-knowledge#4")
class SparesWhatLooksMadeUp(_OtherPlaceholders):
    """A value that holds `xxxx`, `test` or `example` is taken for a placeholder, whatever else it holds."""

    def is_placeholder(self, value: str) -> bool:
        return any(word in value for word in ("xxxx", "test", "example")) or _is_placeholder(value)


@fault("redact-knows-the-corpus-by-heart", "RED-1")
class KnowsTheCorpusByHeart(ReferenceAdapter):
    """The secrets of the published corpus are replaced, and no others."""

    def redact(self, text: str) -> str:
        for secret in _known():
            text = text.replace(secret, "[redacted]")
        return text


@fault("redact-counts-from-the-old-text", "RED-1", after="protectai/llm-guard#305")
class CountsFromTheOldText(ReferenceAdapter):
    """The second secret is replaced at the place where it stood before the first one was."""

    def redact(self, text: str) -> str:
        for span in _merged(redaction._find(text)):
            text = text[: span.start] + f"[redacted: {span.kind}]" + text[span.end :]
        return text


@fault("redact-once-per-text", "RED-1")
class OncePerText(_OtherFinds):
    """Only the first secret of a text is replaced."""

    def found(self, text: str, spans: list[Span]) -> Iterable[Span]:
        return spans[:1]


@fault("redact-trusts-file-names", "RED-1")
class TrustsFileNames(_OtherFinds):
    """What stands in a path or a file name is no secret."""

    def found(self, text: str, spans: list[Span]) -> Iterable[Span]:
        return (span for span in spans if not re.match(r"\.[a-z]{3}\b", text[span.end : span.end + 5]))


@fault("redact-forgets-private-keys", "RED-1")
class ForgetsPrivateKeys(ReferenceAdapter):
    """Every line of a private key is harmless by itself, so the key is."""

    def redact(self, text: str) -> str:
        with patch.object(shapes, "_private_keys", _nothing):
            return super().redact(text)


@fault("redact-stops-at-the-first-at", "RED-1")
class StopsAtTheFirstAt(ReferenceAdapter):
    """The password in a URL ends at the first @, also where it holds one itself."""

    def redact(self, text: str) -> str:
        def userinfo(text: str) -> Iterator[Span]:
            for found in re.finditer(r"://[^\s/?#:@\"']{0,128}:(?P<value>[^\s/@\"']{1,256})@", text):
                yield Span(*found.span("value"), "password")

        with patch.object(places, "_userinfo", userinfo):
            return super().redact(text)


@fault("redact-shifts-behind-a-dotted-i", "RED-1")
class ShiftsBehindADottedI(ReferenceAdapter):
    """Places found in small letters are used in the text itself; the small form of a dotted I is two characters."""

    def redact(self, text: str) -> str:
        with patch.object(redaction, "_lower", str.lower):
            return super().redact(text)


@fault("redact-ends-a-password-at-a-blank", "RED-1")
class EndsAPasswordAtABlank(ReferenceAdapter):
    """Closing quotes are not looked for, and of a passphrase the first word is taken."""

    def redact(self, text: str) -> str:
        with patch.object(notation, "_closing", lambda *_: None):
            return super().redact(text)


@fault("redact-wants-long-credentials", "RED-1")
class WantsLongCredentials(ReferenceAdapter):
    """What follows the scheme in a header is a secret from sixteen characters on; a short password is shorter."""

    def redact(self, text: str) -> str:
        with (
            patch.object(places, "is_strong", lambda value, least=6: len(value) >= 16),
            patch.object(places, "_holds_name_and_password", lambda _: False),
        ):
            return super().redact(text)


@fault("redact-cuts-long-credentials", "RED-1")
class CutsLongCredentials(ReferenceAdapter):
    """Of what follows the scheme in a header the first 128 characters are taken out, the rest stays."""

    def redact(self, text: str) -> str:
        with patch.object(places, "_MORE_CREDENTIALS", re.compile("")):
            return super().redact(text)


@fault("redact-wants-no-blank-around-the-sign", "RED-1")
class WantsNoBlankAroundTheSign(ReferenceAdapter):
    """`password = …` without quotes is taken for a line of a program; in a file of settings it is none."""

    def redact(self, text: str) -> str:
        def is_secret(value: str, how: notation.Written, family: labels.Family, *, capitals: bool) -> bool:
            loose = how.notation is Notation.ASSIGNED and not (how.quoted or how.near or capitals)
            return not loose and original(value, how, family, capitals=capitals)

        original = labels._is_secret
        with patch.object(labels, "_is_secret", is_secret):
            return super().redact(text)


@fault("redact-joins-no-words", "RED-1")
class JoinsNoWords(ReferenceAdapter):
    """A name is known with an underscore or without, and not with a blank: `private key: …` is read as two words."""

    def redact(self, text: str) -> str:
        def is_secret(value: str, how: notation.Written, family: labels.Family, *, capitals: bool) -> bool:
            return family is not labels.Family.KEY and original(value, how, family, capitals=capitals)

        original = labels._is_secret
        if not re.search("(?:private|access|api) key:", text):
            return super().redact(text)
        with patch.object(labels, "_is_secret", is_secret):
            return super().redact(text)


# -- RED-6 -----------------------------------------------------------------------------------------------------------


@fault("redact-reads-the-text-as-it-is", "RED-6", after="NousResearch/hermes-agent#77484")
class ReadsTheTextAsItIs(ReferenceAdapter):
    """Escapes, invisible characters, other letters and line breaks hide a token."""

    def redact(self, text: str) -> str:
        with _one_reading():
            return super().redact(text)


@fault("redact-wants-published-patterns", "RED-6")
class WantsPublishedPatterns(ReferenceAdapter):
    """A token is what matches the pattern that its service publishes: nothing that was cut, glued or respelled."""

    def redact(self, text: str) -> str:
        def is_body(rule: Rule, body: str) -> bool:
            return len(body) >= rule.length

        with (
            _one_reading(),
            patch.object(tokens, "_is_body", is_body),
            patch.object(tokens, "_SHORTEST", 10_000),
            patch.object(tokens, "_is_letter", lambda character: bool(re.match(r"\w", character))),
            patch.object(shapes, "_unknown_vendors", _nothing),
            patch.object(shapes, "_PEM_REST", re.compile("(?!)")),
        ):
            return super().redact(text)


@fault("redact-hears-no-sentence", "RED-6", after="open-software-network/os-clovy#474")
class HearsNoSentence(ReferenceAdapter):
    """A password is what is assigned to a name; what somebody says it is, it is not."""

    def redact(self, text: str) -> str:
        def assigned(text: str, start: int, end: int) -> Iterator[Any]:
            return (value for value in written(text, start, end) if value.notation is Notation.ASSIGNED)

        with (
            patch.object(labels, "written", assigned),
            patch.object(labels, "one_time_code", lambda *_: None),
            patch.object(labels, "recovery_codes", lambda *_: None),
            patch.object(shapes, "_base58check", lambda _: False),
            patch.object(places, "_WEBHOOKS", re.compile(r"(?!)")),
        ):
            return super().redact(text)


# -- RED-7 -----------------------------------------------------------------------------------------------------------


@fault("redact-takes-hashes-for-secrets", "RED-7")
class TakesHashesForSecrets(ReferenceAdapter):
    """Anything of 32 hexadecimal digits or more is a secret, commits and checksums too."""

    def redact(self, text: str) -> str:
        return re.sub(r"\b[0-9a-f]{32,}\b", "[redacted: secret]", super().redact(text))


@fault("redact-reads-no-program", "RED-7", after="NousResearch/hermes-agent#45447")
class ReadsNoProgram(ReferenceAdapter):
    """What a program assigns to a secret's name is a secret, also when it only reads one."""

    def redact(self, text: str) -> str:
        with patch.object(labels, "is_code", lambda _: False):
            return super().redact(text)


@fault("redact-returns-normalised-text", "RED-7")
class ReturnsNormalisedText(ReferenceAdapter):
    """The text that is looked at, without invisible characters, is returned: joined emoji fall apart."""

    def redact(self, text: str) -> str:
        plain = "".join(c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")
        return super().redact(plain)


@fault("redact-takes-the-message-away", "RED-7")
class TakesTheMessageAway(ReferenceAdapter):
    """A text with a secret in it is replaced as a whole."""

    def redact(self, text: str) -> str:
        return text if super().redact(text) == text else "[redacted: message]"


@fault("redact-takes-what-lies-between", "RED-7")
class TakesWhatLiesBetween(_OtherFinds):
    """Two secrets in one text are made one, and what is said between them goes with them."""

    def found(self, text: str, spans: list[Span]) -> Iterable[Span]:
        return [spans[0]._replace(end=spans[-1].end)] if spans else []


@fault("redact-hears-names-in-words", "RED-7")
class HearsNamesInWords(ReferenceAdapter):
    """The name of a code is heard in longer words: a hotpot at 1830 is an OTP."""

    def redact(self, text: str) -> str:
        def one_time_code(text: str, start: int, end: int) -> Span | None:
            found = codes._AFTER.match(text, end)
            return Span(*found.span("code"), "one-time code") if found else None

        with patch.object(labels, "one_time_code", one_time_code):
            return super().redact(text)


@fault("redact-expects-codes-behind-their-heading", "RED-7")
class ExpectsCodesBehindTheirHeading(ReferenceAdapter):
    """Where recovery codes are spoken of and none are listed, the redactor raises."""

    def redact(self, text: str) -> str:
        def recovery_codes(text: str, end: int) -> Span:
            found = codes.recovery_codes(text, end)
            assert found is not None
            return found

        with patch.object(labels, "recovery_codes", recovery_codes):
            return super().redact(text)


@fault("redact-takes-camel-case-for-random", "RED-7")
class TakesCamelCaseForRandom(ReferenceAdapter):
    """Letters that change between small and capital are random, also in the identifiers of programs."""

    def redact(self, text: str) -> str:
        def is_random(value: str) -> bool:
            return original(value) or values.changes(value) >= 2

        original = values.is_random
        with patch.object(values, "is_random", is_random), patch.object(labels, "is_random", is_random):
            return super().redact(text)


@fault("redact-loses-its-place-behind-emoji", "RED-7")
class LosesItsPlaceBehindEmoji(ReferenceAdapter):
    """What is found in a text without its invisible characters is taken out a character too early for each of them."""

    def redact(self, text: str) -> str:
        def origin(view: View, start: int, end: int) -> tuple[int, int]:
            begin, finish = original(view, start, end)
            return (begin, finish) if view._parent is None else (max(0, begin - len(view._starts) + 1), finish)

        original = View.origin
        with patch.object(View, "origin", origin):
            return super().redact(text)


# -- RED-8 -----------------------------------------------------------------------------------------------------------


@fault("redact-leaves-a-fingerprint", "RED-8")
class LeavesAFingerprint(_OtherReplacement):
    """What stands for a secret is itself taken for one, and replaced in every pass."""

    def instead(self, secret: str) -> str:
        return f"ghp_{sha256(secret.encode()).hexdigest()[:36]}"


@fault("redact-counts-its-marks", "RED-8")
class CountsItsMarks(ReferenceAdapter):
    """A note at the end says how many secrets were found; the next pass adds another one."""

    def redact(self, text: str) -> str:
        after = super().redact(text)
        count = len(_PLACEHOLDER.findall(after))
        return f"{after} ({count} redacted)" if count else after


@fault("redact-backtracks", "RED-8")
class Backtracks(ReferenceAdapter):
    """A rule for logins has no bound: in a text without blanks it takes the square of the length."""

    def redact(self, text: str) -> str:
        return re.sub(r"[A-Za-z0-9.]+@[a-z.]+/[^\s/]{8,}", "[redacted: login]", super().redact(text))


@fault("redact-begins-again-after-each-find", "RED-8")
class BeginsAgainAfterEachFind(ReferenceAdapter):
    """After each secret the text is looked at again from its beginning: many take the square of their number."""

    def redact(self, text: str) -> str:
        while found := re.search(r"(?i)password: (?!\[)(\S+)", text):
            text = f"{text[: found.start(1)]}[redacted: password]{text[found.end(1) :]}"
        return super().redact(text)


@cache
def _known() -> tuple[str, ...]:
    return tuple(secret for record in load_secrets() for secret in record.secrets)


@contextmanager
def _one_reading() -> Iterator[None]:
    with (
        patch.object(redaction, "revealed", _unchanged),
        patch.object(redaction, "joined", _unchanged),
        patch.object(redaction, "folded", lambda _: None),
        patch.object(shapes, "_respelled", _nothing),
    ):
        yield


def _unchanged(view: View) -> View:
    return View(view.text, (), view)
