"""Defects of the turn: what the model gets, what is stored, and what the next turn makes of it."""

import json
import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any
from unittest.mock import patch

from observed_context import lines, turn
from observed_context.shapes import Addressed, Limits, Message, Replayed, Row
from observed_context.text import text_of
from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.faults import fault
from observed_context_conformance.faults.composed import ComposedAdapter, Model, changed, rewritten, with_text

Rows = Sequence[Row]


def _observed(row: Row) -> bool:
    return row["role"] == "user" and row.get("observed") is True


def _last(payload: list[Message]) -> int:
    """Where the current message is."""
    return max(index for index, message in enumerate(payload) if message["role"] == "user")


def _put(payload: list[Message], index: int, content: Any) -> list[Message]:
    """The payload with another content in one message."""
    message: Message = {**payload[index], "content": content}
    return [*payload[:index], message, *payload[index + 1 :]]


# -- TURN-1 ----------------------------------------------------------------------------------------------------------


@fault("turn-heads-every-message", "TURN-1")
class HeadsEveryMessage(ComposedAdapter):
    """The line before the addressed message is there without a block, too."""

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Put it before texts."""
        if block or not isinstance(message, str):
            return super().wrap(message, block)
        return f"{lines.ADDRESSED_HEADER}\n{message}"


@fault("turn-trims-without-block", "TURN-1")
class TrimsWithoutBlock(ComposedAdapter):
    """A message is trimmed before anybody asks whether there is a block; with parts the last of them."""

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Trim it."""
        wrapped = super().wrap(message, block)
        if block:
            return wrapped
        if isinstance(wrapped, str):
            return wrapped.strip()
        return [{**part, "text": part["text"].strip()} if part["type"] == "text" else part for part in wrapped]


# -- TURN-2 ----------------------------------------------------------------------------------------------------------


@fault("turn-asks-first", "TURN-2")
class AsksFirst(ComposedAdapter):
    """The addressed message stands first and the block behind it."""

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Put the block behind."""
        if not block or not isinstance(message, str):
            return super().wrap(message, block)
        return f"{lines.ADDRESSED_HEADER}\n{message}\n\n{lines.BLOCK_HEADER}\n{block}"


@fault("turn-has-one-header", "TURN-2")
class HasOneHeader(ComposedAdapter):
    """The block has its header line; between the block and the message there is an empty line alone."""

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Leave the second line out."""
        wrapped = super().wrap(message, block)
        return wrapped.replace(f"{lines.ADDRESSED_HEADER}\n", "", 1) if isinstance(wrapped, str) and block else wrapped


@fault("turn-strips-the-trigger", "TURN-2", after="openclaw/openclaw#129555")
class StripsTheTrigger(ComposedAdapter):
    """Blanks in every line of the message are collapsed when the block is put before it."""

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Collapse them."""
        if not block or not isinstance(message, str):
            return super().wrap(message, block)
        return super().wrap(re.sub(r"[ \t]+", " ", message).strip(), block)


@fault("turn-cuts-the-whole-at-its-end", "TURN-2", after="Mininglamp-OSS/cc-channel-octo#120")
class CutsTheWholeAtItsEnd(ComposedAdapter):
    """Block and message are put together and then cut to the bound of the block, at the end, where the message is."""

    def turn(
        self, transcript: Rows, message: Addressed, channel_prompt: str | None, limits: Limits, model: Model
    ) -> list[Row]:
        """Take the turn under this bound."""
        self._bound = limits["max_chars"]
        return super().turn(transcript, message, channel_prompt, limits, model)

    def sent(self, payload: list[Message], message: Addressed, number: int) -> list[Message]:
        """Cut it."""
        at = _last(payload)
        content = payload[at]["content"]
        return _put(payload, at, content[: self._bound or None]) if isinstance(content, str) else payload


@fault("turn-signs-the-message", "TURN-2")
class SignsTheMessage(ComposedAdapter):
    """Behind the message stands a line that ends the block's frame, so that the message is not the last thing read."""

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Sign it."""
        wrapped = super().wrap(message, block)
        return f"{wrapped}\n[End]" if block and isinstance(wrapped, str) else wrapped


# -- TURN-3 ----------------------------------------------------------------------------------------------------------


@fault("turn-prefixes-every-text", "TURN-3")
class PrefixesEveryText(ComposedAdapter):
    """Each text part of a message gets the block, not the first alone."""

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Wrap all of them."""
        if not block or isinstance(message, str) or not any(part["type"] == "text" for part in message):
            return super().wrap(message, block)
        return [
            {**part, "text": super(PrefixesEveryText, self).wrap(part["text"], block)}
            if part["type"] == "text"
            else part
            for part in message
        ]


@fault("turn-drops-the-picture", "TURN-3", after="NousResearch/hermes-agent#30798")
class DropsThePicture(ComposedAdapter):
    """A message of parts is made text to put the block before it; the photo that the question is about is gone."""

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Keep the text."""
        return super().wrap(text_of(message) if block else message, block)


@fault("turn-adds-a-part", "TURN-3")
class AddsAPart(ComposedAdapter):
    """The prefix is always a text part of its own, so that a picture can stand between the question and its header."""

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Add it."""
        if not block or isinstance(message, str):
            return super().wrap(message, block)
        return [{"type": "text", "text": super().wrap("", block)}, *message]


@fault("turn-leaves-a-lone-picture-bare", "TURN-3", after="NousResearch/hermes-agent#48677")
class LeavesALonePictureBare(ComposedAdapter):
    """Where a message has no text part there is nothing to put the block before, and the model does not see it."""

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Leave it."""
        bare = isinstance(message, list) and not any(part["type"] == "text" for part in message)
        return super().wrap(message, None if bare else block)


@fault("turn-wraps-in-place", "TURN-3", after="NousResearch/hermes-agent#48677")
class WrapsInPlace(ReferenceAdapter):
    """The block is written into the text part of the very list that will be stored."""

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Write into the list."""
        wrapped = super().wrap(message, block)
        if isinstance(message, list) and isinstance(wrapped, list):
            message[:] = deepcopy(wrapped)
        return wrapped


# -- TURN-4 ----------------------------------------------------------------------------------------------------------


class _StoresOtherwise(ComposedAdapter):
    """Stores something else of the user's row than its turn says."""

    def stored(self, row: Row, sent: Addressed) -> Row:
        """The row of the user, given the message as it was sent."""
        return row

    def turn(
        self, transcript: Rows, message: Addressed, channel_prompt: str | None, limits: Limits, model: Model
    ) -> list[Row]:
        """Take the turn and store that."""
        requests: list[list[Message]] = []

        def recording(payload: list[Message]) -> Message:
            requests.append(deepcopy(payload))
            return model(payload)

        rows = super().turn(transcript, message, channel_prompt, limits, recording)
        sent: Any = requests[0][_last(requests[0])]["content"]
        return [self.stored(row, sent) if row["role"] == "user" else row for row in rows]


@fault("turn-stores-wrapped-parts", "TURN-4", after="NousResearch/hermes-agent#48677")
class StoresWrappedParts(_StoresOtherwise):
    """The guard that puts the bare message back knows text only; of a photo with a question the wrapped list stays."""

    def stored(self, row: Row, sent: Addressed) -> Row:
        """The list as it was sent."""
        return {**row, "content": sent} if isinstance(row.get("content"), list) else row


@fault("turn-keeps-a-side-car", "TURN-4", after="NousResearch/hermes-agent#79591")
class KeepsASideCar(_StoresOtherwise):
    """Next to the bare message the bytes that were sent are stored, as JSON in a cache field."""

    def stored(self, row: Row, sent: Addressed) -> Row:
        """The row with a cache."""
        return {**row, "extra": {"cache": {"request": json.dumps({"content": sent})}}}


@fault("turn-stores-trimmed", "TURN-4")
class StoresTrimmed(_StoresOtherwise):
    """The message is stored without the blanks at its ends."""

    def stored(self, row: Row, sent: Addressed) -> Row:
        """The text, trimmed."""
        content = row.get("content")
        return {**row, "content": content.strip()} if isinstance(content, str) else row


@fault("turn-counts-on-the-longer-list", "TURN-4", after="NousResearch/hermes-agent#394")
class CountsOnTheLongerList(ReferenceAdapter):
    """What is new is taken from behind as many messages as were stored; the model was sent fewer, and some are lost."""

    def turn(
        self, transcript: Rows, message: Addressed, channel_prompt: str | None, limits: Limits, model: Model
    ) -> list[Row]:
        """Lose as many as were withheld."""
        rows = super().turn(transcript, message, channel_prompt, limits, model)
        history = self.replay(transcript, channel_prompt, limits)["history"]
        return rows[max(0, len(transcript) - len(history)) :]


@fault("turn-stores-at-every-request", "TURN-4", after="NousResearch/hermes-agent#48677")
class StoresAtEveryRequest(ComposedAdapter):
    """The message is stored once for every request of its turn."""

    def turn(
        self, transcript: Rows, message: Addressed, channel_prompt: str | None, limits: Limits, model: Model
    ) -> list[Row]:
        """Store it as often as the model asked for tools."""
        rows = super().turn(transcript, message, channel_prompt, limits, model)
        return [*[deepcopy(rows[0]) for row in rows if "tool_calls" in row], *rows]


# -- TURN-5 ----------------------------------------------------------------------------------------------------------


@fault("turn-saves-early", "TURN-5", after="NousResearch/hermes-agent#48677")
class SavesEarly(ComposedAdapter):
    """A save before the first request puts the bare message into the list that is about to be sent."""

    def sent(self, payload: list[Message], message: Addressed, number: int) -> list[Message]:
        """Bare, always."""
        return _put(payload, _last(payload), message)


@fault("turn-unwraps-in-the-tool-loop", "TURN-5", after="NousResearch/hermes-agent#56303")
class UnwrapsInTheToolLoop(ComposedAdapter):
    """The first request has the wrapped message; those after a tool call are built of what is stored."""

    def sent(self, payload: list[Message], message: Addressed, number: int) -> list[Message]:
        """Bare where results follow."""
        return _put(payload, _last(payload), message) if payload[-1]["role"] == "tool" else payload


@fault("turn-unwraps-on-retry", "TURN-5", after="NousResearch/hermes-agent#48677")
class UnwrapsOnRetry(ComposedAdapter):
    """When a request fails the turn is saved, and the retry goes out with the bare message."""

    def sent(self, payload: list[Message], message: Addressed, number: int) -> list[Message]:
        """Bare in a second request that has no tool results."""
        return _put(payload, _last(payload), message) if number == 2 and payload[-1]["role"] == "user" else payload


@fault("turn-counts-its-requests", "TURN-5")
class CountsItsRequests(ComposedAdapter):
    """Each request after the first says its number above the block, so that no two have the same bytes."""

    def sent(self, payload: list[Message], message: Addressed, number: int) -> list[Message]:
        """Number it."""
        at = _last(payload)
        content = payload[at]["content"]
        return _put(payload, at, f"(step {number})\n{content}") if isinstance(content, str) and number > 1 else payload


# -- TURN-6 ----------------------------------------------------------------------------------------------------------


@fault("turn-marks-where-chatter-was", "TURN-6", after="openclaw/openclaw#119860")
class MarksWhereChatterWas(ComposedAdapter):
    """A request in the history says how many messages were observed before it."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Say so in the first of them."""
        replayed = super().replay(transcript, channel_prompt, limits)
        if replayed["block"]:
            count = sum(_observed(row) for row in transcript)
            for message in replayed["history"]:
                if message["role"] == "user" and isinstance(message["content"], str):
                    message["content"] = f"({count} more)\n{message['content']}"
                    break
        return replayed


@fault("turn-pins-the-summary", "TURN-6")
class PinsTheSummary(ComposedAdapter):
    """The first lines of the newest summary stand before the first answer in the history as well."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Pin it."""
        replayed = super().replay(transcript, channel_prompt, limits)
        summaries = [text_of(row.get("content")) for row in transcript if "summary" in row]
        for message in replayed["history"]:
            if summaries and message["role"] == "assistant" and isinstance(message["content"], str):
                message["content"] = f"({summaries[-1][:12]})\n{message['content']}"
                break
        return replayed


# -- TURN-7 ----------------------------------------------------------------------------------------------------------


@fault("turn-tells-the-system-prompt", "TURN-7", after="NousResearch/hermes-agent#5146")
class TellsTheSystemPrompt(ComposedAdapter):
    """The block is in the system prompt, as context of the turn."""

    def sent(self, payload: list[Message], message: Addressed, number: int) -> list[Message]:
        """Put the current message's prefix there too."""
        prefix = text_of(payload[_last(payload)]["content"]).removesuffix(text_of(message))
        return _put(payload, 0, f"{payload[0]['content']}\n{prefix}") if payload[0]["role"] == "system" else payload


@fault("turn-counts-in-the-system-prompt", "TURN-7", after="NousResearch/hermes-agent#24778")
class CountsInTheSystemPrompt(ComposedAdapter):
    """The system prompt says how long the block is that comes with this turn."""

    def sent(self, payload: list[Message], message: Addressed, number: int) -> list[Message]:
        """Count its lines."""
        count = len(text_of(payload[_last(payload)]["content"]).splitlines())
        return _put(payload, 0, f"{payload[0]['content']}\n{count} lines of context")


# -- TURN-8 ----------------------------------------------------------------------------------------------------------


@fault("turn-replays-what-it-sent", "TURN-8", after="NousResearch/hermes-agent#79591")
class ReplaysWhatItSent(ComposedAdapter):
    """A kept agent remembers each message as it was sent, and replays that instead of what is stored."""

    def __init__(self) -> None:
        self._sent: dict[str, str] = {}

    def sent(self, payload: list[Message], message: Addressed, number: int) -> list[Message]:
        """Replace earlier messages."""
        current = payload[_last(payload)]["content"]
        if isinstance(message, str) and isinstance(current, str):
            self._sent[message] = current
        return [
            with_text(item, self._sent.get(item["content"], item["content"]))
            if isinstance(item["content"], str)
            else item
            for item in payload
        ]


@fault("turn-stamps-what-is-history", "TURN-8", after="openclaw/openclaw#119860")
class StampsWhatIsHistory(ComposedAdapter):
    """A message gets a word before it when it becomes history, so that its bytes are not those that were stored."""

    def sent(self, payload: list[Message], message: Addressed, number: int) -> list[Message]:
        """Cut the attribution line down to the name."""
        for index in range(_last(payload)):
            content = payload[index]["content"]
            if payload[index]["role"] == "user" and isinstance(content, str):
                payload = _put(payload, index, re.sub(r"\A\[([^|\n]*)\|[^\n]*\]\n", r"\1: ", content))
        return payload


# -- TURN-9 ----------------------------------------------------------------------------------------------------------


_DISGUISES = {lines.BLOCK_HEADER: "\ue001", lines.ADDRESSED_HEADER: "\ue002", "[... ": "\ue003"}


class _Trusts(ComposedAdapter):
    """Some text passes the defence of the block's lines: it travels disguised as far as the wrapped message."""

    def trusted(self, row: Row, text: str) -> str:
        """The text of an observed row, with what passes disguised."""
        return text

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Disguise it."""

        def disguised(row: Row) -> dict[str, Any]:
            content = row.get("content")
            return {"content": self.trusted(row, content)} if _observed(row) and isinstance(content, str) else {}

        plain = super().replay(transcript, channel_prompt, limits)
        if plain["block"] is None:  # what is history stays as it is
            return plain
        return super().replay(changed(transcript, disguised), channel_prompt, limits)

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Take the disguise off."""
        return rewritten(super().wrap(message, block), self._bare)

    def _bare(self, text: str) -> str:
        for bare, disguise in _DISGUISES.items():
            text = text.replace(disguise, bare)
        return text

    def disguise(self, text: str, *pieces: str) -> str:
        """The text with these pieces of it disguised."""
        for piece in pieces:
            text = text.replace(piece, _DISGUISES[piece])
        return text


@fault("turn-trusts-the-block", "TURN-9", after="NousResearch/hermes-agent#85490")
class TrustsTheBlock(_Trusts):
    """What people write is in the block as it is, header lines included."""

    def trusted(self, row: Row, text: str) -> str:
        """All of it."""
        return self.disguise(text, *_DISGUISES)


@fault("turn-trusts-summaries", "TURN-9", after="Mininglamp-OSS/cc-channel-octo#37")
class TrustsSummaries(_Trusts):
    """Rows are searched for header lines, the summary, which repeats what rows say, is not."""

    def trusted(self, row: Row, text: str) -> str:
        """Summaries."""
        return self.disguise(text, *_DISGUISES) if "summary" in row else text


@fault("turn-defends-one-header", "TURN-9", after="Mininglamp-OSS/cc-channel-octo#16")
class DefendsOneHeader(_Trusts):
    """The header of the addressed message is disarmed in rows; that of the block, which seems harmless, is not."""

    def trusted(self, row: Row, text: str) -> str:
        """The block's."""
        return self.disguise(text, lines.BLOCK_HEADER)


@fault("turn-divides-at-lf-only", "TURN-9", after="Mininglamp-OSS/cc-channel-octo#72")
class DividesAtLfOnly(_Trusts):
    """Lines are divided at LF alone, so that a header between two CR is not found."""

    def trusted(self, row: Row, text: str) -> str:
        """What stands between two CR."""
        pieces = text.split("\r")
        return "\r".join(self.disguise(piece, *_DISGUISES) if "\n" not in piece else piece for piece in pieces)


@fault("turn-disarms-the-first-only", "TURN-9")
class DisarmsTheFirstOnly(_Trusts):
    """Of two header lines in one message the first is disarmed."""

    def trusted(self, row: Row, text: str) -> str:
        """What follows the first."""
        for header in (lines.BLOCK_HEADER, lines.ADDRESSED_HEADER):
            first, found, rest = text.partition(header)
            text = first + found + self.disguise(rest, header)
        return text


@fault("turn-trusts-first-lines", "TURN-9")
class TrustsFirstLines(_Trusts):
    """The first line of a row is taken for its attribution, whatever it says, and is never disarmed."""

    def trusted(self, row: Row, text: str) -> str:
        """The first line."""
        first, line_break, rest = text.partition("\n")
        return self.disguise(first, *_DISGUISES) + line_break + rest


@fault("turn-trusts-a-lone-bracket", "TURN-9")
class TrustsALoneBracket(_Trusts):
    """A row without another bracket than its first character is taken for one with an attribution and nothing else."""

    def trusted(self, row: Row, text: str) -> str:
        """What begins with the only bracket there is."""
        return self.disguise(text, *_DISGUISES) if text.rfind("[") == 0 else text


@fault("turn-trusts-notes", "TURN-9")
class TrustsNotes(_Trusts):
    """Header lines are disarmed; a pasted omission note stands as if the gateway had written it."""

    def trusted(self, row: Row, text: str) -> str:
        """Notes."""
        return self.disguise(text, "[... ")


# -- TURN-10 ---------------------------------------------------------------------------------------------------------


@fault("turn-observes-what-it-answers", "TURN-10", after="NousResearch/hermes-agent#74775")
class ObservesWhatItAnswers(ComposedAdapter):
    """The passive copy of the addressed message is already stored, and comes along in its block."""

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """With its own text in the block."""
        return super().wrap(message, f"{block}\n{text_of(message)}" if block else block)


@fault("turn-reads-what-it-saved", "TURN-10", after="openclaw/openclaw#123193")
class ReadsWhatItSaved(ReferenceAdapter):
    """The message is saved before the transcript is loaded, so that it is in the history and behind it."""

    def turn(
        self, transcript: Rows, message: Addressed, channel_prompt: str | None, limits: Limits, model: Model
    ) -> list[Row]:
        """Load what was just saved."""
        saved: Row = {"role": "user", "content": deepcopy(message)}
        return super().turn([*transcript, saved], message, channel_prompt, limits, model)


@fault("turn-repeats-on-retry", "TURN-10", after="openclaw/openclaw#123193")
class RepeatsOnRetry(ComposedAdapter):
    """When a request has failed the retry has the message twice: once of the failed one, once anew."""

    def sent(self, payload: list[Message], message: Addressed, number: int) -> list[Message]:
        """Twice in a second request that has no tool results."""
        if number == 1 or payload[-1]["role"] != "user":
            return payload
        return [*payload, {"role": "assistant", "content": "(failed)"}, payload[-1]]


# -- TURN-11 ---------------------------------------------------------------------------------------------------------


@fault("turn-leaves-old-neighbours", "TURN-11")
class LeavesOldNeighbours(ReferenceAdapter):
    """Rows that stood side by side in the transcript are sent side by side."""

    def turn(
        self, transcript: Rows, message: Addressed, channel_prompt: str | None, limits: Limits, model: Model
    ) -> list[Row]:
        """Repair nothing."""
        with patch.object(turn, "alternating", list):
            return super().turn(transcript, message, channel_prompt, limits, model)


@fault("turn-forgets-the-unanswered", "TURN-11")
class ForgetsTheUnanswered(ReferenceAdapter):
    """A request without an answer at the end of the history is dropped, so that two of the user do not meet."""

    def turn(
        self, transcript: Rows, message: Addressed, channel_prompt: str | None, limits: Limits, model: Model
    ) -> list[Row]:
        """Drop it."""
        alternating = turn.alternating

        def dropping(history: Sequence[Message]) -> list[Message]:
            return alternating(history[:-1] if history and history[-1]["role"] == "user" else history)

        with patch.object(turn, "alternating", dropping):
            return super().turn(transcript, message, channel_prompt, limits, model)


@fault("turn-repairs-under-a-marker-only", "TURN-11")
class RepairsUnderAMarkerOnly(ReferenceAdapter):
    """Neighbours are repaired where observed rows were withheld; without a marker nobody looks."""

    def turn(
        self, transcript: Rows, message: Addressed, channel_prompt: str | None, limits: Limits, model: Model
    ) -> list[Row]:
        """Repair there."""
        if any(marker in (channel_prompt or "") for marker in self.describe()["markers"].values()):
            return super().turn(transcript, message, channel_prompt, limits, model)
        with patch.object(turn, "alternating", list):
            return super().turn(transcript, message, channel_prompt, limits, model)


@fault("turn-parts-results", "TURN-11", after="NousResearch/hermes-agent#58891")
class PartsResults(ComposedAdapter):
    """Where several tools were called at once, the answer of the assistant lands between their results."""

    def sent(self, payload: list[Message], message: Addressed, number: int) -> list[Message]:
        """Swap the last result with what follows it."""
        for index in range(1, len(payload) - 1):
            roles = [item["role"] for item in payload[index - 1 : index + 2]]
            if roles == ["tool", "tool", "assistant"]:
                return [*payload[:index], payload[index + 1], payload[index], *payload[index + 2 :]]
        return payload


# -- TURN-12 ---------------------------------------------------------------------------------------------------------


@fault("turn-joins-on-loading", "TURN-12", after="NousResearch/hermes-agent#107070")
class JoinsOnLoading(ComposedAdapter):
    """The store joins user rows that stand side by side when it loads them, and the joined row is a request."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Join what is observed to the request before it."""
        rows: list[Row] = []
        for row in transcript:
            before = rows[-1] if rows else None
            if (
                before
                and _observed(row)
                and "summary" not in row
                and before["role"] == "user"
                and not _observed(before)
            ):
                text = f"{text_of(before.get('content'))}\n\n{text_of(row.get('content'))}"
                rows[-1] = {**before, "content": text}
            else:
                rows.append(row)
        return super().replay(rows, channel_prompt, limits)


@fault("turn-misses-the-meantime", "TURN-12", after="NousResearch/hermes-agent#73661")
class MissesTheMeantime(ComposedAdapter):
    """What was observed between a request and its answer is taken for part of that turn, and in no later block."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Leave out what stands behind a request and before an answer."""
        rows: list[Row] = []
        for index, row in enumerate(transcript):
            roles = [other["role"] for other in transcript[index + 1 :] if not _observed(other)]
            before = [other["role"] for other in rows if not _observed(other)]
            between = before[-1:] == ["user"] and roles[:1] == ["assistant"]
            if not (_observed(row) and "summary" not in row and between):
                rows.append(row)
        return super().replay(rows, channel_prompt, limits)


# -- TURN-13 ---------------------------------------------------------------------------------------------------------


@fault("turn-carries-blocks-along", "TURN-13", after="NousResearch/hermes-agent#79591")
class CarriesBlocksAlong(ReferenceAdapter):
    """A kept agent remembers the last block that it was sent, and the next one comes on top of it."""

    def __init__(self) -> None:
        self._before = ""

    def turn(
        self, transcript: Rows, message: Addressed, channel_prompt: str | None, limits: Limits, model: Model
    ) -> list[Row]:
        """Put the block of the turn before into this one's."""
        wrap, before = turn.wrap, self._before if len(transcript) > 1 else ""

        def wrapping(bare: Addressed, block: str | None) -> Addressed:
            self._before = block or ""
            return wrap(bare, "\n".join(filter(None, (before, block))) or None)

        with patch.object(turn, "wrap", wrapping):
            return super().turn(transcript, message, channel_prompt, limits, model)


@fault("turn-shows-recent-rows-again", "TURN-13")
class ShowsRecentRowsAgain(ComposedAdapter):
    """What was observed since the last answer stands at the end of the block once more, lest it be overlooked."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Show it again where something older is in the block."""
        replayed = super().replay(transcript, channel_prompt, limits)
        answers = [index for index, row in enumerate(transcript) if row["role"] == "assistant"]
        if replayed["block"] and answers:
            again = super().replay(transcript[answers[-1] :], channel_prompt, limits)["block"]
            replayed["block"] = "\n".join(filter(None, (replayed["block"], again)))
        return replayed


# -- TURN-14 ---------------------------------------------------------------------------------------------------------


@fault("turn-loads-a-flag-for-two", "TURN-14", after="NousResearch/hermes-agent#106551")
class LoadsAFlagForTwo(ComposedAdapter):
    """The store joins user rows that stand side by side, and the flag of the first is the flag of both."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Flag a request that directly follows an observed row."""
        flagged = [
            bool(index and row["role"] == "user" and _observed(transcript[index - 1]))
            for index, row in enumerate(transcript)
        ]
        rows = changed(transcript, lambda row: {})
        for row, flag in zip(rows, flagged, strict=True):
            if flag:
                row["observed"] = True
        return super().replay(rows, channel_prompt, limits)


@fault("turn-fuses-the-unanswered", "TURN-14", after="NousResearch/hermes-agent#107070")
class FusesTheUnanswered(ComposedAdapter):
    """A request that was not answered is put before the next message, and is asked anew together with it."""

    def sent(self, payload: list[Message], message: Addressed, number: int) -> list[Message]:
        """Put it there."""
        at = _last(payload)
        current, before = payload[at]["content"], payload[max(at - 2, 0) : at]
        if not isinstance(message, str) or [item["role"] for item in before] != ["user", "assistant"]:
            return payload
        if before[1]["content"] != turn.NO_ANSWER or not isinstance(current, str):
            return payload
        fused = f"{current.removesuffix(message)}{text_of(before[0]['content'])}\n\n{message}"
        return [*payload[: at - 2], {"role": "user", "content": fused}, *payload[at + 1 :]]


@fault("turn-joins-a-summary-to-the-request", "TURN-14", after="NousResearch/hermes-agent#106551")
class JoinsASummaryToTheRequest(ComposedAdapter):
    """A summary and a request that follows it are two user rows side by side, and become one message in the history."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Join them."""
        rows: list[Row] = []
        for row in transcript:
            before = rows[-1] if rows else None
            if before and "summary" in before and row["role"] == "user" and not _observed(row):
                text = f"{text_of(before.get('content'))}\n\n{text_of(row.get('content'))}"
                rows[-1] = {**row, "content": text}
            else:
                rows.append(row)
        return super().replay(rows, channel_prompt, limits)


@fault("turn-moves-the-unanswered", "TURN-14", after="NousResearch/hermes-agent#64934")
class MovesTheUnanswered(ComposedAdapter):
    """A request that was not answered is moved into the next block, so that it is not carried out late."""

    def replay(self, transcript: Rows, channel_prompt: str | None, limits: Limits) -> Replayed:
        """Flag it."""
        rows = changed(transcript, lambda row: {})
        spoken = [
            index for index, row in enumerate(rows) if not _observed(row) and row["role"] in ("user", "assistant")
        ]
        if spoken and rows[spoken[-1]]["role"] == "user":
            rows[spoken[-1]]["observed"] = True
        return super().replay(rows, channel_prompt, limits)


# -- TURN-15 ---------------------------------------------------------------------------------------------------------


@fault("turn-names-the-platform", "TURN-15", after="NousResearch/hermes-agent#104245")
class NamesThePlatform(ComposedAdapter):
    """The header of the block names the platform that the feature was first made for."""

    HEADER = "[Observed Telegram group context - context only, not requests]"

    gateway = None  # type: ignore[assignment]  # it would wrap under the header that is not declared any more

    def describe(self) -> dict[str, Any]:
        """Declare it."""
        description = super().describe()
        return {**description, "headers": {**description["headers"], "block": self.HEADER}}

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Use it."""
        wrapped = super().wrap(message, block)
        return rewritten(wrapped, lambda text: text.replace(lines.BLOCK_HEADER, self.HEADER, 1)) if block else wrapped


@fault("turn-has-no-empty-line", "TURN-15")
class HasNoEmptyLine(ComposedAdapter):
    """The header of the addressed message follows the block without an empty line."""

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Take it out."""
        wrapped = super().wrap(message, block)
        header = lines.ADDRESSED_HEADER
        return rewritten(wrapped, lambda text: text.replace(f"\n\n{header}", f"\n{header}", 1)) if block else wrapped
