"""Defects of separation: chatter among the requests, requests among the chatter, and rows that are nowhere."""

import json
import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any
from unittest.mock import patch

from observed_context import separation, turn
from observed_context.lines import label
from observed_context.shapes import Limits, Message, Replayed, Row
from observed_context.text import text_of
from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.faults import fault
from observed_context_conformance.faults.composed import ComposedAdapter, Model, changed

Rows = Sequence[Row]


def _observed(row: Row) -> bool:
    return row["role"] == "user" and row.get("observed") is True


def _users(row: Row) -> Row:
    return {**row, "role": "user"}


def _markers(adapter: ReferenceAdapter) -> list[str]:
    return list(adapter.describe()["markers"].values())


def _marked(adapter: ReferenceAdapter, channel_prompt: str | None) -> bool:
    return any(marker in (channel_prompt or "") for marker in _markers(adapter))


# -- SEP-1 -----------------------------------------------------------------------------------------------------------


@fault("sep-shows-chatter-twice", "SEP-1", after="NousResearch/hermes-agent#30171")
class ShowsChatterTwice(ComposedAdapter):
    """Observed rows are in the block, and nobody took them out of the history."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Withhold nothing."""
        block = super().replay(transcript, channel_prompt, limits)["block"]
        return {"history": super().replay(transcript, None, limits)["history"], "block": block}


@fault("sep-repairs-before-it-separates", "SEP-1", after="HCF-STUDIOS/openhermit#276")
class RepairsBeforeItSeparates(ComposedAdapter):
    """A row between a tool call and its result is moved behind the result first, and loses its flag on the way."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Take the flag from rows that stand in a tool sequence."""
        rows = list(transcript)
        for index, row in enumerate(rows[1:], start=1):
            if _observed(row) and "tool_calls" in rows[index - 1]:
                rows[index] = {**row, "observed": False}
        return super().replay(rows, channel_prompt, limits)


@fault("sep-forgets-at-each-answer", "SEP-1")
class ForgetsAtEachAnswer(ComposedAdapter):
    """The block holds only what was observed since the bot last answered, as if it remembered the rest."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Make the block of the rows after the last answer."""
        replayed = super().replay(transcript, channel_prompt, limits)
        answers = [index for index, row in enumerate(transcript) if row["role"] == "assistant"]
        recent = transcript[answers[-1] :] if answers else transcript
        block = super().replay(recent, channel_prompt, limits)["block"]
        return {"history": replayed["history"], "block": block}


# -- SEP-2 -----------------------------------------------------------------------------------------------------------


@fault("sep-knows-one-platform", "SEP-2", after="NousResearch/hermes-agent#104245")
class KnowsOnePlatform(ComposedAdapter):
    """The runner compares the channel prompt with the marker of the platform that it was written for."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Separate under the first marker alone."""
        known = _markers(self)[0] in (channel_prompt or "")
        return super().replay(transcript, channel_prompt if known else None, limits)


@fault("sep-titles-the-block-by-platform", "SEP-2")
class TitlesTheBlockByPlatform(ComposedAdapter):
    """Under one platform's marker the attribution lines of the block get the platform's name."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Rewrite the block under one marker."""
        replayed = super().replay(transcript, channel_prompt, limits)
        if replayed["block"] and _markers(self)[-1] in (channel_prompt or ""):
            replayed["block"] = re.sub(r"(?m)^\[([^|\n]+)\|", r"[\1 (matrix)|", replayed["block"])
        return replayed


# -- SEP-3 -----------------------------------------------------------------------------------------------------------


@fault("sep-hides-chatter-without-marker", "SEP-3")
class HidesChatterWithoutMarker(ComposedAdapter):
    """Without a marker observed rows are in neither history nor block: the safe side, somebody thought."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Withhold always."""
        rows = transcript if _marked(self, channel_prompt) else [row for row in transcript if not _observed(row)]
        return super().replay(rows, channel_prompt, limits)


@fault("sep-labels-chatter-without-marker", "SEP-3")
class LabelsChatterWithoutMarker(ComposedAdapter):
    """Without a marker observed rows replay with a word before them that says so."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Put the word before them."""
        if _marked(self, channel_prompt):
            return super().replay(transcript, channel_prompt, limits)

        def labelled(row: Row) -> dict[str, Any]:
            text = row.get("content")
            return {"content": f"(observed) {text}"} if _observed(row) and isinstance(text, str) else {}

        return super().replay(changed(transcript, labelled), channel_prompt, limits)


@fault("sep-finds-the-marker-in-the-chat", "SEP-3")
class FindsTheMarkerInTheChat(ComposedAdapter):
    """The marker is looked for in all that the model is going to see, so that any member of the chat can write it."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Look for it in the rows."""
        seen = "\n".join([channel_prompt or "", *(text_of(row.get("content")) for row in transcript)])
        return super().replay(transcript, seen, limits)


@fault("sep-takes-half-a-marker", "SEP-3")
class TakesHalfAMarker(ComposedAdapter):
    """The first words of a marker are enough, so that prompts which mention observing separate by accident."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Compare the first two words."""
        halves = {" ".join(marker.split()[:2]): marker for marker in _markers(self)}
        found = next((marker for half, marker in halves.items() if half in (channel_prompt or "")), channel_prompt)
        return super().replay(transcript, found, limits)


# -- SEP-4 -----------------------------------------------------------------------------------------------------------


@fault("sep-strips-attributions", "SEP-4", after="openclaw/openclaw#95279")
class StripsAttributions(ComposedAdapter):
    """A line in brackets at the start of a request is taken for metadata and stripped from the history."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Strip it."""
        replayed = super().replay(transcript, channel_prompt, limits)
        for message in replayed["history"]:
            if message["role"] == "user" and isinstance(message["content"], str):
                message["content"] = re.sub(r"\A\[[^\]\n]*\]\n", "", message["content"])
        return replayed


@fault("sep-drops-pictures", "SEP-4", after="NousResearch/hermes-agent#30798")
class DropsPictures(ComposedAdapter):
    """Content parts replay as their text; what was not text is gone."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Keep the text of lists."""
        replayed = super().replay(transcript, channel_prompt, limits)
        for message in replayed["history"]:
            if isinstance(message["content"], list):
                message["content"] = text_of(message["content"])
        return replayed


@fault("sep-encodes-arguments-twice", "SEP-4")
class EncodesArgumentsTwice(ComposedAdapter):
    """The arguments of tool calls are made JSON once more, so that the model sees a text where an object was."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Encode them."""
        replayed = super().replay(transcript, channel_prompt, limits)
        for message in replayed["history"]:
            for call in message.get("tool_calls", []):
                call["function"]["arguments"] = json.dumps(call["function"]["arguments"])
        return replayed


@fault("sep-counts-on-another-list", "SEP-4", after="NousResearch/hermes-agent#394")
class CountsOnAnotherList(ComposedAdapter):
    """The history is cut at a length that was counted with the bookkeeping rows: the newest answer falls out."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Cut at that length."""
        replayed = super().replay(transcript, channel_prompt, limits)
        meta = sum(row["role"] in ("system", "session_meta") for row in transcript)
        if meta and replayed["history"] and replayed["history"][-1]["role"] == "assistant":
            replayed["history"].pop()
        return replayed


@fault("sep-moves-results-to-calls-by-sorting", "SEP-4")
class SortsByRole(ComposedAdapter):
    """Where a result has to follow its call the history is sorted: requests first, answers behind them."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Sort where a row stood between call and result."""
        replayed = super().replay(transcript, channel_prompt, limits)
        split = any(_observed(row) and "tool_calls" in transcript[at - 1] for at, row in enumerate(transcript) if at)
        if split and _marked(self, channel_prompt):
            replayed["history"].sort(key=lambda message: message["role"] != "user")
        return replayed


# -- SEP-5 -----------------------------------------------------------------------------------------------------------


class _JoinsOtherwise(ComposedAdapter):
    """Replaces what separation does with two rows of one role that it brings together."""

    def pair(self, one: Message, other: Message) -> list[Message]:
        """What becomes of the two."""
        return [separation.joined(one, other)]

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Withhold the rows here, and put together what is left."""
        replayed = super().replay(transcript, channel_prompt, limits)
        if not _marked(self, channel_prompt):
            return replayed
        left = [row for row in transcript if not _observed(row)]
        messages = super().replay(left, None, limits)["history"]
        history: list[Message] = []
        apart = False
        for row in transcript:
            if _observed(row):
                apart = True
            elif row["role"] not in ("system", "session_meta"):
                message = messages.pop(0)
                meets = apart and history and history[-1]["role"] == message["role"] != "tool"
                history[len(history) - bool(meets) :] = self.pair(history[-1], message) if meets else [message]
                apart = False
        return {"history": history, "block": replayed["block"]}


@fault("sep-leaves-neighbours", "SEP-5", after="NousResearch/hermes-agent#104245")
class LeavesNeighbours(_JoinsOtherwise):
    """Rows are withheld, and what is left is not looked at again: two answers or two requests stand side by side."""

    def pair(self, one: Message, other: Message) -> list[Message]:
        """Both."""
        return [one, other]

    def turn(
        self, transcript: Rows, message: Any, channel_prompt: str | None, limits: Limits, model: Model
    ) -> list[Row]:
        """Take a turn that does not repair either."""
        with patch.object(turn, "alternating", list):
            return super().turn(transcript, message, channel_prompt, limits, model)


@fault("sep-joins-requests-only", "SEP-5")
class JoinsRequestsOnly(_JoinsOtherwise):
    """Requests that come together are joined; answers, which nobody thought of, are not."""

    def pair(self, one: Message, other: Message) -> list[Message]:
        """One message of requests."""
        return super().pair(one, other) if one["role"] == "user" else [one, other]


@fault("sep-joins-no-calls", "SEP-5")
class JoinsNoCalls(_JoinsOtherwise):
    """Answers that come together are joined, unless the second asks for a tool: then they stand side by side."""

    def pair(self, one: Message, other: Message) -> list[Message]:
        """One message without calls."""
        return [one, other] if "tool_calls" in other else super().pair(one, other)


@fault("sep-keeps-the-last-of-two", "SEP-5")
class KeepsTheLastOfTwo(_JoinsOtherwise):
    """Of two requests that come together the later one is taken for a correction and replaces the earlier one."""

    def pair(self, one: Message, other: Message) -> list[Message]:
        """The later one."""
        return [other]


@fault("sep-glues-texts", "SEP-5", after="NousResearch/hermes-agent#45560")
class GluesTexts(_JoinsOtherwise):
    """Two requests that come together are joined by a blank, so that they read as one sentence."""

    def pair(self, one: Message, other: Message) -> list[Message]:
        """Joined by a blank."""
        if isinstance(one["content"], str) and isinstance(other["content"], str):
            return [{**other, "content": f"{one['content']} {other['content']}"}]
        return super().pair(one, other)


@fault("sep-leaves-a-place-holder", "SEP-5", after="HCF-STUDIOS/openhermit#276")
class LeavesAPlaceHolder(ComposedAdapter):
    """A row that is withheld leaves three dots in its place, also between a tool call and its result."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Leave them between calls and results."""
        replayed = super().replay(transcript, channel_prompt, limits)
        if _marked(self, channel_prompt) and any(_observed(row) for row in transcript):
            for index, message in reversed(list(enumerate(replayed["history"]))):
                if message["role"] == "tool" and index:
                    replayed["history"].insert(index, {"role": "user", "content": "..."})
                    break
        return replayed


# -- SEP-6 -----------------------------------------------------------------------------------------------------------


@fault("sep-believes-any-flag", "SEP-6")
class BelievesAnyFlag(ComposedAdapter):
    """A row with the flag is withheld whoever wrote it, so that an answer with a stray flag moves into the block."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Withhold answers too."""
        flagged = [_users(row) if row["role"] == "assistant" and row.get("observed") else row for row in transcript]
        return super().replay(flagged if _marked(self, channel_prompt) else transcript, channel_prompt, limits)


@fault("sep-believes-a-field", "SEP-6")
class BelievesAField(ComposedAdapter):
    """A row that has the field `observed` is withheld, whatever the field says."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Read any value as true."""
        return super().replay(
            changed(transcript, lambda row: {"observed": True} if "observed" in row else {}), channel_prompt, limits
        )


@fault("sep-believes-a-label", "SEP-6", after="openclaw/openclaw#95279")
class BelievesALabel(ComposedAdapter):
    """A request with the line above a summary in it is taken for one that a pass has stored, and withheld."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Look for the line."""
        pattern = re.compile(re.escape(label(0)).replace("0", r"\d+"))

        def looks(row: Row) -> dict[str, Any]:
            found = row["role"] == "user" and pattern.search(text_of(row.get("content")))
            return {"observed": True} if found else {}

        return super().replay(changed(transcript, looks), channel_prompt, limits)


# -- SEP-7 -----------------------------------------------------------------------------------------------------------


@fault("sep-covers-by-position", "SEP-7", after="NousResearch/hermes-agent#104245")
class CoversByPosition(ComposedAdapter):
    """A summary hides every row that was stored before it, also those that it does not speak for."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Forget the watermarks."""
        return super().replay(
            changed(
                transcript, lambda row: {"summary": {"covered": row["summary"]["covered"]}} if "summary" in row else {}
            ),
            channel_prompt,
            limits,
        )


@fault("sep-skips-what-a-newer-summary-hides", "SEP-7")
class SkipsTheSummary(ComposedAdapter):
    """Rows that the newest summary covers are hidden, and where verbatim rows follow it, the summary is not shown."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Blank the summary where a row follows."""
        replayed = super().replay(transcript, channel_prompt, limits)
        if replayed["block"] and transcript and _observed(transcript[-1]) and "summary" not in transcript[-1]:
            bodies = [text_of(row.get("content")) for row in transcript if "summary" in row]
            for body in bodies:
                first, _, rest = replayed["block"].partition(body.splitlines()[0])
                replayed["block"] = first + rest
        return replayed


@fault("sep-drops-without-a-note", "SEP-7")
class DropsWithoutANote(ComposedAdapter):
    """Rows that do not fit are dropped, and nothing says so."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Take the note out."""
        replayed = super().replay(transcript, channel_prompt, limits)
        if replayed["block"]:
            replayed["block"] = re.sub(r"(?m)^\[\.\.\. \d+ older .*\n", "", replayed["block"])
        return replayed


@fault("sep-counts-one-too-few", "SEP-7")
class CountsOneTooFew(ComposedAdapter):
    """The note is counted before the last row is dropped to make room for the note itself."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Count one less."""
        replayed = super().replay(transcript, channel_prompt, limits)
        if replayed["block"]:
            replayed["block"] = re.sub(
                r"(?m)(?<=^\[\.\.\. )\d+(?= older)", lambda found: str(int(found[0]) - 1), replayed["block"]
            )
        return replayed


@fault("sep-merges-by-dropping", "SEP-7")
class MergesByDropping(ComposedAdapter):
    """Without a marker, of user rows that stand side by side only the newest is replayed."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Keep the newest."""
        rows = list(transcript)
        if not _marked(self, channel_prompt):
            rows = [
                row
                for at, row in enumerate(rows)
                if row["role"] != "user" or [r["role"] for r in rows[at + 1 : at + 2]] != ["user"]
            ]
        return super().replay(rows, channel_prompt, limits)


@fault("sep-replays-system-rows", "SEP-7")
class ReplaysSystemRows(ComposedAdapter):
    """Stored system rows replay as system messages at the start of the history."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Keep them."""
        replayed = super().replay(transcript, channel_prompt, limits)
        stored: list[Message] = [
            {"role": "system", "content": text_of(row.get("content"))} for row in transcript if row["role"] == "system"
        ]
        return {"history": stored + replayed["history"], "block": replayed["block"]}


@fault("sep-loses-what-a-tool-interrupts", "SEP-7")
class LosesWhatAToolInterrupts(ComposedAdapter):
    """To keep a result by its call, a row between the two is thrown out before anybody asks whether it was observed."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Throw it out."""
        rows = [
            row
            for at, row in enumerate(transcript)
            if not (_observed(row) and [r["role"] for r in transcript[at + 1 : at + 2]] == ["tool"])
        ]
        return super().replay(rows, channel_prompt, limits)


@fault("sep-looks-at-the-last-fifty", "SEP-7", after="openclaw/openclaw#99257")
class LooksAtTheLastFifty(ComposedAdapter):
    """The block knows the last fifty observed messages, and nothing says that there were others."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Take the others out."""
        observed = [index for index, row in enumerate(transcript) if _observed(row) and "summary" not in row]
        older = set(observed[:-50]) if _marked(self, channel_prompt) else set()
        return super().replay([row for at, row in enumerate(transcript) if at not in older], channel_prompt, limits)


# -- SEP-8 -----------------------------------------------------------------------------------------------------------


@fault("sep-copies-one-level", "SEP-8", after="NousResearch/hermes-agent#48677")
class CopiesOneLevel(ReferenceAdapter):
    """Messages are new, but their lists of parts and of tool calls are those of the stored rows."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Take the rows' own lists."""
        replayed = super().replay(transcript, channel_prompt, limits)
        for message in replayed["history"]:
            for row in transcript:
                if isinstance(row.get("content"), list) and row["content"] == message["content"]:
                    message["content"] = row["content"]
                if "tool_calls" in row and row["tool_calls"] == message.get("tool_calls"):
                    message["tool_calls"] = row["tool_calls"]
        return replayed


@fault("sep-cleans-in-place", "SEP-8", after="NousResearch/hermes-agent#48677")
class CleansInPlace(ComposedAdapter):
    """The flag is popped from the rows themselves, which the store writes back later."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Pop it."""
        replayed = super().replay(deepcopy(transcript), channel_prompt, limits)
        for row in transcript:
            row.pop("observed", None)
        return replayed


# -- SEP-9 -----------------------------------------------------------------------------------------------------------


@fault("sep-passes-tool-rows-through", "SEP-9")
class PassesToolRowsThrough(ComposedAdapter):
    """Rows with tool calls or results replay as they are stored, the store's own fields included."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Pass them through."""
        replayed = super().replay(transcript, channel_prompt, limits)
        numbers = {row["tool_call_id"]: row["seq"] for row in transcript if "tool_call_id" in row and "seq" in row}
        for message in replayed["history"]:
            if message["role"] == "tool":
                stored: dict[str, Any] = {"seq": numbers.get(message["tool_call_id"], 0)}
                message.update(stored)  # type: ignore[typeddict-item]
        return replayed


# -- SEP-10 ----------------------------------------------------------------------------------------------------------


class _ReadsOtherwise(ComposedAdapter):
    """Replaces what counts as the text of an observed row."""

    def read(self, content: Any) -> str:
        """The text of a content."""
        return text_of(content)

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Separate rows of such texts."""
        rows = changed(transcript, lambda row: {"content": self.read(row.get("content"))} if _observed(row) else {})
        return super().replay(rows if _marked(self, channel_prompt) else transcript, channel_prompt, limits)


@fault("sep-prints-lists", "SEP-10", after="NousResearch/hermes-agent#30798")
class PrintsLists(_ReadsOtherwise):
    """The content of an observed row is made text the way the program prints it."""

    def read(self, content: Any) -> str:
        """As printed."""
        return str(content) if content else ""


@fault("sep-says-none", "SEP-10")
class SaysNone(_ReadsOtherwise):
    """An observed row whose content is null shows as None."""

    def read(self, content: Any) -> str:
        """None in words."""
        return "None" if content is None else text_of(content)


@fault("sep-strips-any-content", "SEP-10", after="NousResearch/hermes-agent#30798")
class StripsAnyContent(_ReadsOtherwise):
    """Blanks are stripped from the content of an observed row before anybody asks whether it is text."""

    def read(self, content: Any) -> str:
        """Stripped."""
        return str(content.strip()) if content is not None else ""


@fault("sep-reads-the-first-text-part", "SEP-10")
class ReadsTheFirstTextPart(_ReadsOtherwise):
    """Of a list of parts the first text part is the text; a second one is not read."""

    def read(self, content: Any) -> str:
        """The first."""
        if isinstance(content, list):
            return next((str(part["text"]) for part in content if part["type"] == "text"), "")
        return text_of(content)
