"""Defects of compaction: rows are lost, asked about twice, summarised too early or too late, or taken for orders."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from observed_context import compaction
from observed_context.assembly import is_summary
from observed_context.compaction import Backlog, NoSummaryError, Outcome, Store
from observed_context.lines import label
from observed_context.separation import is_observed_row
from observed_context.shapes import Limits, Message, Row
from observed_context.text import cut, is_blank, text_of
from observed_context_conformance.faults import fault
from observed_context_conformance.faults.stepped import Ask, SteppedAdapter

OBSERVED = "NousResearch/hermes-agent#104245"


def _with(row: Row, **changes: Any) -> Row:
    return cast(Row, {**row, **changes})


def _covering(row: Row, **changes: Any) -> Row:
    return _with(row, summary={**row["summary"], **changes})


def _data(prompt: list[Message], text: str) -> list[Message]:
    """The prompt with other data."""
    return [*prompt[:-1], {"role": "user", "content": text}]


def _text(message: Message) -> str:
    return text_of(message.get("content"))


def _observed(rows: Sequence[Row]) -> list[Row]:
    """The observed messages with text among rows, those that are covered included."""
    return [row for row in rows if is_observed_row(row) and not is_summary(row) and not is_blank(_text_of(row))]


def _text_of(row: Row) -> str:
    return text_of(row.get("content"))


def _without(reasoning: str, answer: str | None, count: int = 0) -> str:
    """The answer without this pattern; what is left of other tags is made harmless, so that the reference keeps it."""
    return re.sub(r"</?think>", "*", re.sub(reasoning, "", answer or "", count=count, flags=re.DOTALL))


# -- CMP-1 -----------------------------------------------------------------------------------------------------------


@fault("cmp-keeps-the-whole-bound", "CMP-1")
class KeepsTheWholeBound(SteppedAdapter):
    """The retention budget is `max_chars` and not half of it, which leaves the summary no room in the block."""

    def backlog_of(self, rows: Sequence[Row], limits: Limits) -> Backlog:
        return super().backlog_of(rows, {**limits, "max_chars": 2 * limits["max_chars"]})


@fault("cmp-keeps-any-number-of-rows", "CMP-1")
class KeepsAnyNumberOfRows(SteppedAdapter):
    """Retention looks at characters alone when there is a character limit; the row limit is left to the cap."""

    def backlog_of(self, rows: Sequence[Row], limits: Limits) -> Backlog:
        return super().backlog_of(rows, {**limits, "max_rows": 0} if limits["max_chars"] else limits)


@fault("cmp-keeps-one-row-less", "CMP-1")
class KeepsOneRowLess(SteppedAdapter):
    """The loop over the newest rows leaves one step too early: the oldest row that would fit is summarised too."""

    def backlog_of(self, rows: Sequence[Row], limits: Limits) -> Backlog:
        backlog = super().backlog_of(rows, limits)
        more = 0 < backlog.overflow < len(backlog.verbatim)
        return replace(backlog, overflow=backlog.overflow + 1) if more else backlog


@fault("cmp-counts-bytes", "CMP-1")
class CountsBytes(SteppedAdapter):
    """Retention counts bytes of UTF-8, so that a chat that does not write ASCII keeps half as much."""

    def backlog_of(self, rows: Sequence[Row], limits: Limits) -> Backlog:
        widened = [_with(row, content="x" * len(_text_of(row).encode())) if "content" in row else row for row in rows]
        return replace(super().backlog_of(rows, limits), overflow=super().backlog_of(widened, limits).overflow)


@fault("cmp-summary-takes-from-the-budget", "CMP-1")
class SummaryTakesFromTheBudget(SteppedAdapter):
    """The previous summary counts as a kept row, although the other half of the bound is there for it."""

    def backlog_of(self, rows: Sequence[Row], limits: Limits) -> Backlog:
        backlog = super().backlog_of(rows, limits)
        if backlog.summary is None or not limits["max_chars"]:
            return backlog
        # Room for the label and what else a summary may bring.
        taken = 2 * len(_text_of(backlog.summary)) + 100
        return super().backlog_of(rows, {**limits, "max_chars": max(2, limits["max_chars"] - 2 * taken)})


@fault("cmp-never-takes-the-last-row", "CMP-1")
class NeverTakesTheLastRow(SteppedAdapter):
    """A pass ends before the last row of the transcript, also when that row is over the budget by itself."""

    def pass_of(self, backlog: Backlog) -> tuple[list[Row], list[str]]:
        return super().pass_of(replace(backlog, overflow=min(backlog.overflow, len(backlog.verbatim) - 1)))


# -- CMP-2 -----------------------------------------------------------------------------------------------------------


@fault("cmp-stores-kept-rows-again", "CMP-2")
class StoresKeptRowsAgain(SteppedAdapter):
    """The kept rows are appended again behind the summary, so that its position says what it covers."""

    async def steps(self, store: Store, session: str, limits: Limits, summarize: Ask) -> Outcome:
        outcome = await super().steps(store, session, limits, summarize)
        if outcome.kind == "done" and outcome.backlog is not None:
            for row in outcome.backlog.verbatim[outcome.backlog.overflow :]:
                again = {key: value for key, value in row.items() if key != "seq"}
                cast(Any, store).append(session, again)
        return outcome


@fault("cmp-notes-its-work", "CMP-2")
class NotesItsWork(SteppedAdapter):
    """A pass leaves a bookkeeping row in the transcript before it begins."""

    def pass_of(self, backlog: Backlog) -> tuple[list[Row], list[str]]:
        self._store.append(self._session, {"role": "session_meta", "content": "compacting"})
        return super().pass_of(backlog)

    def load(self, store: Store, session: str) -> list[Row]:
        self._store, self._session = cast(Any, store), session
        return super().load(store, session)


@fault("cmp-summary-is-not-observed", "CMP-2", after="NousResearch/hermes-agent#41607")
class SummaryIsNotObserved(SteppedAdapter):
    """The summary row lacks the flag, so that it replays as a request of somebody's."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        return _with(super().summary_row(backlog, rows, answer, limits), observed=False)


@fault("cmp-returns-the-row-before-it-was-stored", "CMP-2")
class ReturnsTheRowBeforeItWasStored(SteppedAdapter):
    """What comes back lacks the seq that the store gave."""

    async def run_pass(self, store: Store, session: str, limits: Limits, summarize: Ask) -> Outcome:
        outcome = await super().run_pass(store, session, limits, summarize)
        if outcome.row is None:
            return outcome
        return replace(outcome, row=cast(Row, {key: value for key, value in outcome.row.items() if key != "seq"}))


# -- CMP-3 -----------------------------------------------------------------------------------------------------------


@fault("cmp-starts-over", "CMP-3")
class StartsOver(SteppedAdapter):
    """The prompt holds the new rows alone; what the previous summary knew is gone with it."""

    def prompt_of(self, backlog: Backlog, texts: Sequence[str], limits: Limits) -> list[Message]:
        return super().prompt_of(replace(backlog, summary=None), texts, limits)


@fault("cmp-feeds-the-label-back", "CMP-3", after=OBSERVED)
class FeedsTheLabelBack(SteppedAdapter):
    """The previous summary goes into the prompt as the block shows it, with its label."""

    def prompt_of(self, backlog: Backlog, texts: Sequence[str], limits: Limits) -> list[Message]:
        prompt = super().prompt_of(backlog, texts, limits)
        if backlog.summary is None:
            return prompt
        opening = "<previous_summary>\n"
        shown = opening + label(backlog.summary["summary"]["covered"]) + "\n"
        return _data(prompt, _text(prompt[-1]).replace(opening, shown, 1))


@fault("cmp-repeats-the-last-covered-row", "CMP-3")
class RepeatsTheLastCoveredRow(SteppedAdapter):
    """For the sake of continuity the prompt begins with the last row that the previous summary covers."""

    def load(self, store: Store, session: str) -> list[Row]:
        self._rows = super().load(store, session)
        return self._rows

    def prompt_of(self, backlog: Backlog, texts: Sequence[str], limits: Limits) -> list[Message]:
        verbatim = {row["seq"] for row in backlog.verbatim}
        covered = [_text_of(row) for row in _observed(self._rows) if row["seq"] not in verbatim]
        return super().prompt_of(
            backlog, [f"<message>\n{text}\n</message>" for text in covered[-1:]] + [*texts], limits
        )


@fault("cmp-newest-row-first", "CMP-3")
class NewestRowFirst(SteppedAdapter):
    """The last row of the pass stands above the others too, to say what the conversation has come to."""

    def prompt_of(self, backlog: Backlog, texts: Sequence[str], limits: Limits) -> list[Message]:
        return super().prompt_of(backlog, [texts[-1], *texts], limits)


@fault("cmp-builds-on-the-first-summary", "CMP-3")
class BuildsOnTheFirstSummary(SteppedAdapter):
    """The search for the previous summary stops at the first one in the transcript."""

    def backlog_of(self, rows: Sequence[Row], limits: Limits) -> Backlog:
        backlog = super().backlog_of(rows, limits)
        first = next((row for row in rows if is_summary(row)), None)
        if backlog.summary is None or first is None:
            return backlog
        return replace(backlog, summary=_with(backlog.summary, content=first["content"]))


# -- CMP-4 -----------------------------------------------------------------------------------------------------------


@fault("cmp-stores-blanks", "CMP-4", after="NousResearch/hermes-agent#94606")
class StoresBlanks(SteppedAdapter):
    """Only a missing answer counts as a failure: blanks are stored as a summary."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        if answer is None:
            raise NoSummaryError
        return _with(super().summary_row(backlog, rows, "." if is_blank(answer) else answer, limits))


@fault("cmp-stores-reasoning", "CMP-4", after="NousResearch/hermes-agent#94606")
class StoresReasoning(SteppedAdapter):
    """A model's thinking with nothing after it is stored as a summary."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        return super().summary_row(backlog, rows, re.sub(r"</?think>", "", answer or ""), limits)


@fault("cmp-fallback-sentence", "CMP-4", after="NousResearch/hermes-agent#11585")
class FallbackSentence(SteppedAdapter):
    """When the summariser fails, a fixed sentence takes the place of the rows."""

    async def steps(self, store: Store, session: str, limits: Limits, summarize: Ask) -> Outcome:
        async def never_fails(prompt: list[Message]) -> str | None:
            try:
                return await summarize(prompt)
            except Exception:
                return "Earlier messages were removed; a summary is not available."

        return await super().steps(store, session, limits, never_fails)


@fault("cmp-failure-moves-the-watermark", "CMP-4", after="NousResearch/hermes-agent#11585")
class FailureMovesTheWatermark(SteppedAdapter):
    """The rows of a pass are remembered as done before the summariser is asked; a failure does not take it back."""

    def __init__(self) -> None:
        self._tried: dict[str, int] = {}

    def load(self, store: Store, session: str) -> list[Row]:
        self._session = session
        last = self._tried.get(session, -1)
        return [row for row in super().load(store, session) if is_summary(row) or row["seq"] > last]

    def pass_of(self, backlog: Backlog) -> tuple[list[Row], list[str]]:
        rows, texts = super().pass_of(backlog)
        self._tried[self._session] = rows[-1]["seq"]
        return rows, texts


@fault("cmp-timeouts-escape", "CMP-4")
class TimeoutsEscape(SteppedAdapter):
    """Errors of the summariser are caught by a list of their kinds, and a timeout is not on it."""

    async def run_pass(self, store: Store, session: str, limits: Limits, summarize: Ask) -> Outcome:
        try:
            return await self.steps(store, session, limits, summarize)
        except TimeoutError:
            raise
        except Exception:
            return Outcome("failed")


@fault("cmp-knows-one-section-of-reasoning", "CMP-4")
class KnowsOneSectionOfReasoning(SteppedAdapter):
    """The first section of reasoning is taken out of an answer; a model that thinks twice has its second one stored."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        return super().summary_row(backlog, rows, _without(r"<think>.*?</think>", answer, count=1), limits)


@fault("cmp-needs-both-tags-of-reasoning", "CMP-4")
class NeedsBothTagsOfReasoning(SteppedAdapter):
    """Reasoning is known by its two tags, and stored when the prompt held the first or the answer was cut off."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        return super().summary_row(backlog, rows, _without(r"<think>.*?</think>", answer), limits)


@fault("cmp-reasoning-swallows-the-answer", "CMP-4")
class ReasoningSwallowsTheAnswer(SteppedAdapter):
    """An answer in which the model has thought counts as reasoning alone, whatever comes after: no pass succeeds."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        return super().summary_row(backlog, rows, _without(r".*</?think>.*", answer), limits)


@fault("cmp-begins-a-character-late", "CMP-4")
class BeginsACharacterLate(SteppedAdapter):
    """The search for reasoning leaves its position behind the first character, and every summary begins there."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        return super().summary_row(backlog, rows, answer if "<" in (answer or "") else (answer or "")[1:], limits)


# -- CMP-5 -----------------------------------------------------------------------------------------------------------


@fault("cmp-position-is-the-watermark", "CMP-5", after=OBSERVED)
class PositionIsTheWatermark(SteppedAdapter):
    """The summary row does not say what it covers; it stands behind the kept rows, and so they are skipped."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        return _covering(super().summary_row(backlog, rows, answer, limits), covers_through=None)


@fault("cmp-covers-the-newest-rows", "CMP-5", after=OBSERVED)
class CoversTheNewestRows(SteppedAdapter):
    """The watermark is the last row that was loaded: the newest rows are neither summarised nor shown."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        row = super().summary_row(backlog, rows, answer, limits)
        return _covering(row, covers_through=backlog.verbatim[-1]["seq"])


@fault("cmp-watermark-one-too-far", "CMP-5")
class WatermarkOneTooFar(SteppedAdapter):
    """The watermark is the first row that was not read, as if it were an exclusive end."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        row = super().summary_row(backlog, rows, answer, limits)
        rest = backlog.verbatim[len(rows) :]
        return _covering(row, covers_through=rest[0]["seq"] if rest else rows[-1]["seq"])


@fault("cmp-summary-known-by-its-text", "CMP-5", after=OBSERVED)
class SummaryKnownByItsText(SteppedAdapter):
    """A row that begins like a summary is taken for one, whoever wrote it, and what stands before it for covered."""

    def backlog_of(self, rows: Sequence[Row], limits: Limits) -> Backlog:
        backlog = super().backlog_of(rows, limits)
        posing = [index for index, row in enumerate(backlog.verbatim) if "[Summary of" in _text_of(row)]
        if not posing:
            return backlog
        first = posing[-1] + 1
        overflow = max(0, backlog.overflow - first)
        return replace(backlog, verbatim=backlog.verbatim[first:], overflow=overflow)


@fault("cmp-skips-content-parts", "CMP-5")
class SkipsContentParts(SteppedAdapter):
    """Rows whose content is a list have no text for the prompt, but the watermark passes over them."""

    def pass_of(self, backlog: Backlog) -> tuple[list[Row], list[str]]:
        rows, texts = super().pass_of(backlog)
        return rows, [text for row, text in zip(rows, texts, strict=True) if isinstance(row.get("content"), str)]


@fault("cmp-failed-write-counts", "CMP-5", after="openclaw/openclaw#99306")
class FailedWriteCounts(SteppedAdapter):
    """When the store fails to take the summary, the rows of the pass are remembered as summarised all the same."""

    def __init__(self) -> None:
        self._done: dict[str, int] = {}

    def load(self, store: Store, session: str) -> list[Row]:
        last = self._done.get(session, -1)
        return [row for row in super().load(store, session) if is_summary(row) or row["seq"] > last]

    def commit(self, store: Any, session: str, row: Row, backlog: Backlog) -> int | None:
        self._done[session] = row["summary"]["covers_through"] or -1
        return super().commit(store, session, row, backlog)


# -- CMP-6 -----------------------------------------------------------------------------------------------------------


@fault("cmp-watermark-taken-at-the-end", "CMP-6", after="NousResearch/hermes-agent#87484")
class WatermarkTakenAtTheEnd(SteppedAdapter):
    """What is covered is decided after the summariser has answered, over the transcript as it is then."""

    def load(self, store: Store, session: str) -> list[Row]:
        self._read: Callable[[], list[Row]] = lambda: store.load(session)
        self._before = super().load(store, session)
        return self._before

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        row = super().summary_row(backlog, rows, answer, limits)
        late = _observed(self._read())[len(_observed(self._before)) :]
        return _covering(row, covers_through=late[-1]["seq"]) if late else row


@fault("cmp-keeping-nothing-covers-all", "CMP-6")
class KeepingNothingCoversAll(SteppedAdapter):
    """A pass that keeps no row takes the end of the transcript for its watermark, whatever has arrived meanwhile."""

    def load(self, store: Store, session: str) -> list[Row]:
        self._read: Callable[[], list[Row]] = lambda: store.load(session)
        return super().load(store, session)

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        row = super().summary_row(backlog, rows, answer, limits)
        if len(rows) < len(backlog.verbatim):
            return row
        return _covering(row, covers_through=_observed(self._read())[-1]["seq"])


# -- CMP-7 -----------------------------------------------------------------------------------------------------------


class _Prompts(SteppedAdapter):
    """The texts of a pass, made otherwise."""

    def texts(self, rows: Sequence[Row]) -> list[str]:
        """What the prompt holds of these rows."""
        return [self.framed(cut(_text_of(row), 6_000)) for row in rows]

    def framed(self, text: str) -> str:
        """One message."""
        return f"<message>\n{text}\n</message>"


@fault("cmp-long-rows-whole", "CMP-7", after=OBSERVED)
class LongRowsWhole(_Prompts):
    """A row of any length goes into the prompt as it is."""

    def pass_of(self, backlog: Backlog) -> tuple[list[Row], list[str]]:
        rows, _ = super().pass_of(backlog)
        return rows, [self.framed(_text_of(row)) for row in rows]


@fault("cmp-cuts-without-a-mark", "CMP-7")
class CutsWithoutAMark(_Prompts):
    """A long row is cut, and nothing says so: half a sentence goes over into half of another."""

    def pass_of(self, backlog: Backlog) -> tuple[list[Row], list[str]]:
        rows, _ = super().pass_of(backlog)
        texts = [_text_of(row) for row in rows]
        return rows, [self.framed(text if len(text) <= 6_000 else text[:3_000] + text[-3_000:]) for text in texts]


@fault("cmp-pass-without-a-bound", "CMP-7")
class PassWithoutABound(_Prompts):
    """Each row is bounded, but a pass takes as many of them as there are."""

    def pass_of(self, backlog: Backlog) -> tuple[list[Row], list[str]]:
        rows = backlog.verbatim[: backlog.overflow]
        return rows, self.texts(rows)


@fault("cmp-samples-the-middle", "CMP-7", after="NousResearch/hermes-agent#118362")
class SamplesTheMiddle(_Prompts):
    """When a pass would be too long, rows in the middle are left out of the prompt, and count as covered."""

    def pass_of(self, backlog: Backlog) -> tuple[list[Row], list[str]]:
        rows = backlog.verbatim[: backlog.overflow]
        texts = self.texts(rows)
        while sum(map(len, texts)) > 150_000:
            del texts[len(texts) // 2]
        return rows, texts


@fault("cmp-covers-what-did-not-fit", "CMP-7", after="NousResearch/hermes-agent#94340")
class CoversWhatDidNotFit(SteppedAdapter):
    """The watermark is the end of the overflow, also when the pass took only the part of it that fits into a prompt."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        row = super().summary_row(backlog, rows, answer, limits)
        return _covering(row, covers_through=backlog.verbatim[backlog.overflow - 1]["seq"])


# -- CMP-8 -----------------------------------------------------------------------------------------------------------


@fault("cmp-one-row-is-enough", "CMP-8")
class OneRowIsEnough(SteppedAdapter):
    """A single long row that overflows starts a pass."""

    def is_due(self, backlog: Backlog, limits: Limits) -> bool:
        long = sum(len(_text_of(row)) for row in backlog.verbatim[: backlog.overflow]) >= 4_000
        return long or super().is_due(backlog, limits)


@fault("cmp-any-overflow-is-enough", "CMP-8")
class AnyOverflowIsEnough(SteppedAdapter):
    """Two overflowing rows start a pass, however short they are: the summariser is asked for every other message."""

    def is_due(self, backlog: Backlog, limits: Limits) -> bool:
        return backlog.overflow > 1


@fault("cmp-a-tenth-of-any-bound", "CMP-8")
class ATenthOfAnyBound(SteppedAdapter):
    """A pass waits for a tenth of `max_chars`, which under a large bound is ten times too late."""

    def is_due(self, backlog: Backlog, limits: Limits) -> bool:
        over = sum(len(_text_of(row)) for row in backlog.verbatim[: backlog.overflow])
        return super().is_due(backlog, limits) and over >= limits["max_chars"] / 10


@fault("cmp-off-is-zero", "CMP-8")
class OffIsZero(SteppedAdapter):
    """With both limits off, the budget is half of nothing, and every row overflows."""

    def backlog_of(self, rows: Sequence[Row], limits: Limits) -> Backlog:
        backlog = super().backlog_of(rows, limits)
        off = not limits["max_chars"] and not limits["max_rows"]
        return replace(backlog, overflow=len(backlog.verbatim)) if off else backlog

    def is_due(self, backlog: Backlog, limits: Limits) -> bool:
        return super().is_due(backlog, {**limits, "max_chars": limits["max_chars"] or 40_000})


@fault("cmp-covered-rows-count", "CMP-8")
class CoveredRowsCount(SteppedAdapter):
    """Whether a pass is worth it is measured over all rows, those that a summary covers included."""

    def load(self, store: Store, session: str) -> list[Row]:
        self._rows = super().load(store, session)
        return self._rows

    def is_due(self, backlog: Backlog, limits: Limits) -> bool:
        covered = _observed(self._rows)[: -len(backlog.verbatim) or None]
        chars = sum(len(_text_of(row)) for row in [*covered, *backlog.verbatim[: backlog.overflow]])
        return backlog.overflow > 1 and chars >= compaction.due_chars(limits)


# -- CMP-9 -----------------------------------------------------------------------------------------------------------


@fault("cmp-no-warning", "CMP-9", after=OBSERVED)
class NoWarning(SteppedAdapter):
    """The prompt asks for a summary and says nothing of what the messages are."""

    def prompt_of(self, backlog: Backlog, texts: Sequence[str], limits: Limits) -> list[Message]:
        data = super().prompt_of(backlog, texts, limits)[-1]
        return [{"role": "system", "content": "Summarise the conversation between the tags. Be brief and exact."}, data]


@fault("cmp-no-senders", "CMP-9", after="google/adk-go#1234")
class NoSenders(SteppedAdapter):
    """The attribution line is taken for noise and dropped."""

    def pass_of(self, backlog: Backlog) -> tuple[list[Row], list[str]]:
        rows, texts = super().pass_of(backlog)
        return rows, [re.sub(r"(?m)^\[[^\]\n]*\|[^\]\n]*\]\n", "", text) for text in texts]


@fault("cmp-tags-can-be-forged", "CMP-9", after="google/adk-go#1234")
class TagsCanBeForged(_Prompts):
    """Messages stand between tags, and tags in messages stand as they are: a message can close its own."""

    def pass_of(self, backlog: Backlog) -> tuple[list[Row], list[str]]:
        rows, _ = super().pass_of(backlog)
        return rows, self.texts(rows)


@fault("cmp-messages-run-together", "CMP-9")
class MessagesRunTogether(_Prompts):
    """Messages stand one below the other, and a line in one of them can look like the beginning of the next."""

    def pass_of(self, backlog: Backlog) -> tuple[list[Row], list[str]]:
        rows, _ = super().pass_of(backlog)
        return rows, self.texts(rows)

    def framed(self, text: str) -> str:
        return text


# -- CMP-10 ----------------------------------------------------------------------------------------------------------


@fault("cmp-counts-this-pass-only", "CMP-10")
class CountsThisPassOnly(SteppedAdapter):
    """The number of messages is that of the last pass: ten thousand become forty."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        return _covering(super().summary_row(backlog, rows, answer, limits), covered=len(rows))


@fault("cmp-counts-the-summary", "CMP-10")
class CountsTheSummary(SteppedAdapter):
    """The previous summary counts as one more message."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        row = super().summary_row(backlog, rows, answer, limits)
        return _covering(row, covered=row["summary"]["covered"] + (backlog.summary is not None))


@fault("cmp-watermark-counts-rows", "CMP-10")
class WatermarkCountsRows(SteppedAdapter):
    """`covers_through` is the number of rows covered so far, as if `seq` counted the rows of one session."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        row = super().summary_row(backlog, rows, answer, limits)
        return _covering(row, covers_through=row["summary"]["covered"] - 1)


# -- CMP-11 ----------------------------------------------------------------------------------------------------------


@fault("cmp-summary-of-any-length", "CMP-11", after="vellum-ai/vellum-assistant#34639")
class SummaryOfAnyLength(SteppedAdapter):
    """The summary is stored as long as it came."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        return super().summary_row(backlog, rows, answer, {**limits, "max_chars": 0})


@fault("cmp-summary-cut-at-the-bound", "CMP-11")
class SummaryCutAtTheBound(SteppedAdapter):
    """The summary is cut at `max_chars`, so that beside a long one no row fits into the block."""

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        return super().summary_row(backlog, rows, answer, {**limits, "max_chars": 2 * limits["max_chars"]})


@fault("cmp-summarises-its-summary", "CMP-11", after="google/adk-go#1439")
class SummarisesItsSummary(SteppedAdapter):
    """A summary that takes more than an eighth of the bound counts as overflow and is summarised again, every time."""

    async def steps(self, store: Store, session: str, limits: Limits, summarize: Ask) -> Outcome:
        outcome = await super().steps(store, session, limits, summarize)
        backlog = outcome.backlog
        if outcome.kind != "nothing" or backlog is None or backlog.summary is None or not limits["max_chars"]:
            return outcome
        if len(_text_of(backlog.summary)) * 8 < limits["max_chars"]:
            return outcome
        answer = await summarize(self.prompt_of(backlog, [], limits))
        row = _with(backlog.summary, content=answer or "?")
        row.pop("seq")
        seq = self.commit(store, session, row, backlog)
        return outcome if seq is None else Outcome("done", backlog, _with(row, seq=seq))


# -- CMP-12 ----------------------------------------------------------------------------------------------------------


@fault("cmp-remembers-the-wrong-summary", "CMP-12", after="NousResearch/hermes-agent#38788")
class RemembersTheWrongSummary(SteppedAdapter):
    """The last summary is kept in the compactor, and a session that has none yet goes on from there."""

    def __init__(self) -> None:
        self._last: Row | None = None

    def prompt_of(self, backlog: Backlog, texts: Sequence[str], limits: Limits) -> list[Message]:
        return super().prompt_of(replace(backlog, summary=backlog.summary or self._last), texts, limits)

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        self._last = super().summary_row(backlog, rows, answer, limits)
        return self._last


@fault("cmp-topics-share-a-transcript", "CMP-12")
class TopicsShareATranscript(SteppedAdapter):
    """A session's key is cut after the chat, so that a topic's pass works on the transcript of the whole chat."""

    async def steps(self, store: Store, session: str, limits: Limits, summarize: Ask) -> Outcome:
        chat = ":".join(session.split(":")[:3]).partition("/")[0]
        return await super().steps(store, chat, limits, summarize)


@fault("cmp-keeps-a-cursor-for-each-chat", "CMP-12", after="makecindy/cindy#843")
class KeepsACursorForEachChat(SteppedAdapter):
    """How far a chat was read is remembered under the chat alone: where sessions share it, one hides another's rows."""

    def __init__(self) -> None:
        self._read: dict[str, int] = {}

    def load(self, store: Store, session: str) -> list[Row]:
        self._chat = session.rsplit(":", maxsplit=1)[-1]
        read = self._read.get(self._chat, -1)
        return [row for row in super().load(store, session) if is_summary(row) or row["seq"] > read]

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        row = super().summary_row(backlog, rows, answer, limits)
        self._read[self._chat] = max(rows[-1]["seq"], self._read.get(self._chat, -1))
        return row


# -- CMP-13 ----------------------------------------------------------------------------------------------------------


@fault("cmp-stores-without-looking", "CMP-13", after="NousResearch/hermes-agent#34351")
class StoresWithoutLooking(SteppedAdapter):
    """The summary is appended whatever was stored since the transcript was read."""

    def commit(self, store: Any, session: str, row: Row, backlog: Backlog) -> int | None:
        seq: int = store.append(session, row)
        return seq


@fault("cmp-looks-too-late", "CMP-13", after="NousResearch/hermes-agent#97321")
class LooksTooLate(SteppedAdapter):
    """The summary to follow is read just before storing, and so always the newest."""

    def commit(self, store: Any, session: str, row: Row, backlog: Backlog) -> int | None:
        newest = max((row["seq"] for row in store.load(session) if is_summary(row)), default=None)
        return super().commit(store, session, row, replace(backlog, newest=newest))


@fault("cmp-lock-opens-on-an-error", "CMP-13", after="NousResearch/hermes-agent#63129")
class LockOpensOnAnError(SteppedAdapter):
    """When the store cannot say whether another pass was faster, the summary is stored all the same."""

    def commit(self, store: Any, session: str, row: Row, backlog: Backlog) -> int | None:
        try:
            return super().commit(store, session, row, backlog)
        except Exception:
            seq: int = store.append(session, row)
            return seq


@fault("cmp-loser-claims-a-summary", "CMP-13")
class LoserClaimsASummary(SteppedAdapter):
    """A pass that came second returns its row as if it were stored."""

    def commit(self, store: Any, session: str, row: Row, backlog: Backlog) -> int | None:
        seq = super().commit(store, session, row, backlog)
        return backlog.verbatim[-1]["seq"] + 1 if seq is None else seq
