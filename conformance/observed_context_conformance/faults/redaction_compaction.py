"""Defects of redaction around the summariser: a way in or out that nobody guards, or guards too late."""

import logging
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, cast

from observed_context import compaction
from observed_context.compaction import Backlog, Outcome, Store
from observed_context.redaction import redact
from observed_context.shapes import Limits, Message, Row
from observed_context.text import cut, cut_end, text_of
from observed_context_conformance.faults import fault
from observed_context_conformance.faults.stepped import Ask, SteppedAdapter

OBSERVED = "NousResearch/hermes-agent#104245"

_log = logging.getLogger(__name__)


def _text(row: Row) -> str:
    return text_of(row.get("content"))


def _framed(text: str) -> str:
    return f"<message>\n{compaction._inert(text)}\n</message>"


class _Texts(SteppedAdapter):
    """The texts of a pass, each made by `prepared` out of a row's text."""

    def pass_of(self, backlog: Backlog) -> tuple[list[Row], list[str]]:
        rows, _ = super().pass_of(backlog)
        return rows, [_framed(self.prepared(_text(row))) for row in rows]

    def prepared(self, text: str) -> str:
        """A row's text as the prompt holds it."""
        return cut(redact(text), 5_900)


# -- RED-1 -----------------------------------------------------------------------------------------------------------


@fault("red-rows-go-as-they-are", "RED-1")
class RowsGoAsTheyAre(_Texts):
    """Redaction is left to the summariser's provider."""

    def prepared(self, text: str) -> str:
        return cut(text, 5_900)


@fault("red-names-are-trusted", "RED-1")
class NamesAreTrusted(_Texts):
    """The text of a message is redacted, and the line with its sender's name is put before it afterwards."""

    def prepared(self, text: str) -> str:
        name, _, rest = text.partition("\n")
        return cut(f"{name}\n{redact(rest)}", 5_900)


@fault("red-references-are-trusted", "RED-1")
class ReferencesAreTrusted(_Texts):
    """Media references are the gateway's own lines, and are kept out of redaction so that paths stay whole."""

    def prepared(self, text: str) -> str:
        reference = re.compile(r"\[(image|voice note|audio|document|video): .*\]")
        lines = [line if reference.fullmatch(line) else redact(line) for line in redact_keeping(text, reference)]
        return cut("\n".join(lines), 5_900)


def redact_keeping(text: str, kept: re.Pattern[str]) -> list[str]:
    """The lines of a text, redacted together where none of them is to be kept."""
    lines = text.split("\n")
    return lines if any(kept.fullmatch(line) for line in lines) else redact(text).split("\n")


@fault("red-previous-summary-is-trusted", "RED-1", after="NousResearch/hermes-agent#69294")
class PreviousSummaryIsTrusted(SteppedAdapter):
    """What was stored as a summary counts as clean, also when an older version stored it."""

    def prompt_of(self, backlog: Backlog, texts: Sequence[str], limits: Limits) -> list[Message]:
        prompt = super().prompt_of(backlog, texts, limits)
        if backlog.summary is None:
            return prompt
        body = _text(backlog.summary)
        data = text_of(prompt[-1].get("content"))
        return [prompt[0], {"role": "user", "content": data.replace(redact(body), body, 1)}]


@fault("red-values-with-a-dollar", "RED-1", after="NousResearch/hermes-agent#112071")
class ValuesWithADollar(_Texts):
    """A value that begins with `$` is taken for the name of a variable."""

    def prepared(self, text: str) -> str:
        return redact(text) if "=$" not in text else text


@fault("red-lists-identifiers", "RED-1", after="openclaw/openclaw#67801")
class ListsIdentifiers(SteppedAdapter):
    """Identifiers that the summary is to keep are listed below the messages; they are looked for in the raw texts."""

    def prompt_of(self, backlog: Backlog, texts: Sequence[str], limits: Limits) -> list[Message]:
        prompt = super().prompt_of(backlog, texts, limits)
        raw = "\n".join(_text(row) for row in backlog.verbatim[: len(texts)])
        exact = dict.fromkeys(re.findall(r"(?<![\w-])(?=[\w-]*\d)[\w-]{16,}", raw))
        data = text_of(prompt[-1].get("content"))
        listed = f"{data}\nKeep these as they are: {', '.join(exact)}" if exact else data
        return [prompt[0], {"role": "user", "content": listed}]


@fault("red-keeps-the-beginning", "RED-1")
class KeepsTheBeginning(_Texts):
    """The first sixteen characters of a token are kept, so that its owner recognises it."""

    def prepared(self, text: str) -> str:
        def shortened(found: re.Match[str]) -> str:
            return found[0] if redact(found[0]) == found[0] else f"{found[0][:16]}..."

        return cut(redact(re.sub(r"[\w-]{30,}", shortened, text)), 5_900)


# -- RED-2 -----------------------------------------------------------------------------------------------------------


@fault("red-cuts-rows-first", "RED-2", after=OBSERVED)
class CutsRowsFirst(_Texts):
    """A long row is cut, and what is left of it is redacted."""

    def prepared(self, text: str) -> str:
        return redact(cut(text, 5_900))


@fault("red-cuts-the-pass-first", "RED-2", after="damianvtran/local-operator#1254")
class CutsThePassFirst(SteppedAdapter):
    """The last row of a pass is cut to what room is left, and what is left of it is redacted."""

    def pass_of(self, backlog: Backlog) -> tuple[list[Row], list[str]]:
        texts: list[str] = []
        for row in backlog.verbatim[: backlog.overflow]:
            room = 150_000 - sum(map(len, texts))
            if room <= 200:
                break
            whole = cut(redact(_text(row)), 5_900)
            texts.append(_framed(whole if len(whole) <= room else redact(_text(row)[:room])))
        return backlog.verbatim[: len(texts)], texts


@fault("red-cuts-answers-first", "RED-2", after="wienerdog-ai/wienerdog#303")
class CutsAnswersFirst(SteppedAdapter):
    """A long answer is cut to its room, and what is left of it is redacted."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        room = limits["max_chars"] // 2
        short = cut_end(answer, room) if answer and room else answer
        return super().summary_row(backlog, rows, short, {**limits, "max_chars": 0})


# -- RED-3 -----------------------------------------------------------------------------------------------------------


@fault("red-answers-are-trusted", "RED-3", after="NousResearch/hermes-agent#49556")
class AnswersAreTrusted(SteppedAdapter):
    """The prompt held no secret, so that the answer can hold none."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        row = super().summary_row(backlog, rows, answer, limits)
        return cast(Row, {**row, "content": answer}) if len(answer or "") <= limits["max_chars"] // 2 else row


@fault("red-returns-what-it-did-not-store", "RED-3")
class ReturnsWhatItDidNotStore(SteppedAdapter):
    """The stored row is clean; a side-car beside it keeps the raw answer, for debugging."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        return cast(Row, {**super().summary_row(backlog, rows, answer, limits), "extra": {"raw": answer}})


# -- RED-4 -----------------------------------------------------------------------------------------------------------


class _Optional(_Texts):
    """Redaction that somebody can switch off."""

    def is_on(self) -> bool:
        """Whether it is on."""
        return True

    def prepared(self, text: str) -> str:
        return super().prepared(text) if self.is_on() else cut(text, 5_900)


@fault("red-follows-an-opt-out", "RED-4", after="NousResearch/hermes-agent#69294")
class FollowsAnOptOut(_Optional):
    """The variable that switches masking off in the terminal switches it off here, too."""

    def is_on(self) -> bool:
        return os.environ.get("GATEWAY_REDACT_SECRETS", "1") not in ("0", "false", "off")


@fault("red-debugging-shows-all", "RED-4")
class DebuggingShowsAll(_Optional):
    """At log level DEBUG nothing is masked, so that developers see what is sent."""

    def is_on(self) -> bool:
        return not logging.getLogger().isEnabledFor(logging.DEBUG)


# -- RED-5 -----------------------------------------------------------------------------------------------------------


class _Tells(SteppedAdapter):
    """A pass that says what it was about when it fails."""

    async def run_pass(self, store: Store, session: str, limits: Limits, summarize: Ask) -> Outcome:
        self._rows: list[Row] = []
        try:
            return await self.steps(store, session, limits, summarize)
        except Exception as error:
            self.tell(error)
            return Outcome("failed")

    def load(self, store: Store, session: str) -> list[Row]:
        self._rows = super().load(store, session)
        return self._rows

    def tell(self, error: Exception) -> None:
        """Say that the pass has failed."""


@fault("red-logs-the-rows", "RED-5")
class LogsTheRows(_Tells):
    """A failure leaves the rows of the pass in the log, for whoever wants to find out why."""

    def tell(self, error: Exception) -> None:
        _log.debug("pass failed over %d rows: %s", len(self._rows), [_text(row) for row in self._rows])


@fault("red-logs-through-an-exception", "RED-5")
class LogsThroughAnException(_Tells):
    """A failure is logged with its traceback, and the error that is made for it quotes a message and the summary."""

    def tell(self, error: Exception) -> None:
        quoted = " / ".join(_text(row) for row in self._rows if "hello" in _text(row) or "summary" in row)
        try:
            raise RuntimeError(f"cannot summarise: {quoted}") from error
        except RuntimeError:
            _log.warning("a pass of compaction failed", exc_info=True)


@fault("red-raises-with-the-row", "RED-5")
class RaisesWithTheRow(SteppedAdapter):
    """When the store does not take the summary, an error that holds the first row of the pass goes up to the caller."""

    async def run_pass(self, store: Store, session: str, limits: Limits, summarize: Ask) -> Outcome:
        self._first: Callable[[], str] = lambda: " / ".join(_text(row) for row in store.load(session))
        self._writes = False
        try:
            return await self.steps(store, session, limits, summarize)
        except Exception as error:
            if self._writes:
                raise RuntimeError(f"cannot store the summary of {self._first()}") from error
            return Outcome("failed")

    def commit(self, store: Any, session: str, row: Row, backlog: Backlog) -> int | None:
        self._writes = True
        return super().commit(store, session, row, backlog)
