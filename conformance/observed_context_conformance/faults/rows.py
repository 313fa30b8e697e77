"""Defects of rows: each stores something else than what was said, or by whom."""

import http.client
import re
import unicodedata
from abc import ABC, abstractmethod
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

from observed_context import rows
from observed_context.gating import said
from observed_context.shapes import Event, Row, Sender, Settings
from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.faults import fault

_attribution = rows.attribution
_plain = rows._plain
_category = unicodedata.category


def _with(row: Row, **changes: Any) -> Row:
    return {**row, **changes}  # type: ignore[typeddict-item]


class _OtherAttribution(ReferenceAdapter, ABC):
    """Writes the attribution line in another way."""

    @abstractmethod
    def line(self, sender: Sender) -> str: ...

    def row(self, event: Event, settings: Settings) -> Row:
        with patch.object(rows, "attribution", self.line):
            return super().row(event, settings)


class _OtherText(ReferenceAdapter, ABC):
    """Stores another text under the attribution line."""

    @abstractmethod
    def text(self, text: str) -> str: ...

    def row(self, event: Event, settings: Settings) -> Row:
        place = "text" if event["caption"] is None else "caption"
        changed: Any = {**event, place: self.text(said(event))}
        return super().row(changed, settings)


# -- ROW-1 -----------------------------------------------------------------------------------------------------------


@fault("row-forgets-the-flag", "ROW-1", after="NousResearch/hermes-agent#30171")
class ForgetsTheFlag(ReferenceAdapter):
    """The row is an ordinary user row, and after a reload it is a request."""

    def row(self, event: Event, settings: Settings) -> Row:
        row: Any = super().row(event, settings)
        return {key: value for key, value in row.items() if key != "observed"}  # type: ignore[return-value]


@fault("row-stamps-the-time-of-storing", "ROW-1", after="NousResearch/hermes-agent#118105")
class StampsTheTimeOfStoring(ReferenceAdapter):
    """The row carries the time at which it was stored."""

    def row(self, event: Event, settings: Settings) -> Row:
        return _with(super().row(event, settings), time=datetime.now(UTC).isoformat())


@fault("row-drops-the-offset", "ROW-1", after="NVIDIA-NeMo/labs-OO-Agents#59")
class DropsTheOffset(ReferenceAdapter):
    """The offset of the platform's time is cut off and UTC is written in its place."""

    def row(self, event: Event, settings: Settings) -> Row:
        return _with(super().row(event, settings), time=f"{event['time'][:19]}+00:00")


@fault("row-makes-up-a-message-id", "ROW-1")
class MakesUpAMessageId(ReferenceAdapter):
    """The message id has the chat's id in front of it, so that a second delivery is not recognised."""

    def row(self, event: Event, settings: Settings) -> Row:
        return _with(super().row(event, settings), message_id=f"{event['chat']['id']}:{event['id']}")


@fault("row-stores-parts", "ROW-1")
class StoresParts(ReferenceAdapter):
    """A message with attachments is stored as a list of content parts."""

    def row(self, event: Event, settings: Settings) -> Row:
        row = super().row(event, settings)
        return _with(row, content=[{"type": "text", "text": row.get("content")}]) if event["media"] else row


# -- ROW-2 -----------------------------------------------------------------------------------------------------------


@fault("row-leaves-out-the-id", "ROW-2")
class LeavesOutTheId(_OtherAttribution):
    """The line names the sender by the display name alone."""

    def line(self, sender: Sender) -> str:
        return f"[{_attribution(sender)[1:].partition('|')[0]}]"


@fault("row-calls-the-nameless-unknown", "ROW-2")
class CallsTheNamelessUnknown(_OtherAttribution):
    """Who has no display name is `unknown`, although the id is known."""

    def line(self, sender: Sender) -> str:
        return _attribution({**sender, "name": sender["name"] or "unknown"})


@fault("row-leaves-an-empty-name", "ROW-2")
class LeavesAnEmptyName(_OtherAttribution):
    """An empty display name is written as it is: only a missing one falls back to the id."""

    def line(self, sender: Sender) -> str:
        return f"[|{sender['id'] or 'unknown'}]" if sender["name"] == "" else _attribution(sender)


@fault("row-writes-none", "ROW-2")
class WritesNone(_OtherAttribution):
    """A missing id is written as the programming language shows it."""

    def line(self, sender: Sender) -> str:
        return _attribution({**sender, "id": sender["id"] or "None"})


@fault("row-forgets-the-caption", "ROW-2")
class ForgetsTheCaption(ReferenceAdapter):
    """The words under a photo are not stored."""

    def row(self, event: Event, settings: Settings) -> Row:
        worded: Any = event if event["caption"] is None else {**event, "caption": ""}
        return super().row(worded, settings)


@fault("row-takes-the-quotation-along", "ROW-2", after="sipeed/picoclaw#3082")
class TakesTheQuotationAlong(ReferenceAdapter):
    """What a message answers is stored above it, under the name of whoever answers, though another one said it."""

    def row(self, event: Event, settings: Settings) -> Row:
        row = super().row(event, settings)
        if event["reply_to"] is None:
            return row
        line, _, text = str(row.get("content")).partition("\n")
        return _with(row, content=f"{line}\n> {event['reply_to']['text']}\n{text}")


@fault("row-puts-the-text-beside-the-line", "ROW-2")
class PutsTheTextBesideTheLine(ReferenceAdapter):
    """The text follows the attribution on the same line."""

    def row(self, event: Event, settings: Settings) -> Row:
        row = super().row(event, settings)
        return _with(row, content=str(row.get("content")).replace("]\n", "]: ", 1))


# -- ROW-3, ROW-6 ----------------------------------------------------------------------------------------------------


class _OtherCleaning(_OtherAttribution):
    """Neutralises less of a name than it has to."""

    leaves = ""

    def line(self, sender: Sender) -> str:
        # What is left as it is gets through behind characters that nobody touches.
        kept = {ord(one): chr(0xF0000 + number) for number, one in enumerate(self.leaves)}
        back = {ord(hidden): chr(one) for one, hidden in kept.items()}

        def plain(text: str) -> str:
            return _plain(text.translate(kept))

        def hides(char: str) -> str:
            return "L" if ord(char) >= 0xF0000 else _category(char)

        with patch.object(rows, "_plain", plain), patch.object(unicodedata, "category", hides):
            return _attribution(sender).translate(back)


@fault("row-glues-the-name-in", "ROW-3", after="NousResearch/hermes-agent#72296")
class GluesTheNameIn(_OtherCleaning):
    """The display name goes into the line as it is."""

    leaves = "[]|\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\x1b\u202e"


@fault("row-cleans-line-feeds-only", "ROW-3")
class CleansLineFeedsOnly(_OtherCleaning):
    """Only LF and CR count as line breaks in a name; a reader takes U+2028 and its like for one as well."""

    leaves = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


@fault("row-leaves-brackets", "ROW-3", after="NousResearch/hermes-agent#56051")
class LeavesBrackets(_OtherCleaning):
    """Line breaks are taken out of a name, brackets are not."""

    leaves = "[]"


@fault("row-leaves-the-bar", "ROW-3", after="QwenLM/qwen-code#8233")
class LeavesTheBar(_OtherCleaning):
    """A vertical bar in a name stays, so that the name can show an id of its own choice."""

    leaves = "|"


@fault("row-leaves-bidirectional-characters", "ROW-3")
class LeavesBidirectionalCharacters(_OtherCleaning):
    """Characters that turn the direction of text stay in a name and turn the id around."""

    leaves = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@fault("row-leaves-control-characters", "ROW-3")
class LeavesControlCharacters(_OtherCleaning):
    """Control characters stay in a name, among them the one that begins a terminal's commands."""

    leaves = "\x01\x07\x08\x1b\x7f\x9b"


@fault("row-shows-the-name-again", "ROW-3")
class ShowsTheNameAgain(ReferenceAdapter):
    """A name that had to be changed is quoted in full below the line."""

    def row(self, event: Event, settings: Settings) -> Row:
        row = super().row(event, settings)
        name = event["sender"]["name"] or ""
        line, _, text = str(row.get("content")).partition("\n")
        changed = name and not line.startswith(f"[{name}|")
        return _with(row, content=f"{line}\n(calls himself {name})\n{text}") if changed else row


@fault("row-bounds-no-names", "ROW-6", after="NousResearch/hermes-agent#72296")
class BoundsNoNames(_OtherAttribution):
    """Names reach the row at any length."""

    def line(self, sender: Sender) -> str:
        with patch.object(rows, "_ATTRIBUTION_LIMIT", 1_000_000):
            return _attribution(sender)


@fault("row-bounds-the-name-only", "ROW-6")
class BoundsTheNameOnly(_OtherAttribution):
    """The name is cut at 128 characters, and the line is longer by the id and the brackets."""

    def line(self, sender: Sender) -> str:
        with patch.object(rows, "_ATTRIBUTION_LIMIT", 128 + len(f"[|{sender['id'] or 'unknown'}]")):
            return _attribution(sender)


@fault("row-cuts-the-id", "ROW-6")
class CutsTheId(_OtherAttribution):
    """The whole line is cut at its end, where the id is."""

    def line(self, sender: Sender) -> str:
        with patch.object(rows, "_ATTRIBUTION_LIMIT", 1_000_000):
            line = _attribution(sender)
        return line if len(line) <= 128 else f"{line[:127]}]"


# -- ROW-4 -----------------------------------------------------------------------------------------------------------


@fault("row-trims-the-text", "ROW-4")
class TrimsTheText(_OtherText):
    """Blanks at both ends of the text are cut off, the indentation of its first line among them."""

    def text(self, text: str) -> str:
        return text.strip()


@fault("row-normalises-line-breaks", "ROW-4")
class NormalisesLineBreaks(_OtherText):
    """Every kind of line break is stored as LF."""

    def text(self, text: str) -> str:
        return "\n".join(text.splitlines())


@fault("row-collapses-blanks", "ROW-4", after="NousResearch/hermes-agent#104253")
class CollapsesBlanks(_OtherText):
    """Runs of blanks are stored as one, which destroys tables and code."""

    def text(self, text: str) -> str:
        return re.sub(r"[ \t]+", " ", text)


@fault("row-defuses-the-text", "ROW-4")
class DefusesTheText(_OtherText):
    """Lines of the text that look like structure are changed before they are stored, and not where they are shown."""

    def text(self, text: str) -> str:
        return re.sub(r"(?m)^\[(.*\|.*)\]", r"(\1)", text)


@fault("row-clips-the-text", "ROW-4")
class ClipsTheText(_OtherText):
    """A text is clipped at 1,000 characters before it is stored."""

    def text(self, text: str) -> str:
        return text[:1000]


@fault("row-composes-characters", "ROW-4")
class ComposesCharacters(_OtherText):
    """Letters with marks are composed and look-alikes folded, so that the text is no longer what was written."""

    def text(self, text: str) -> str:
        return unicodedata.normalize("NFKC", text)


@fault("row-drops-joiners", "ROW-4")
class DropsJoiners(_OtherText):
    """Characters that take no room are dropped, and with them the joints of emoji and of whole scripts."""

    def text(self, text: str) -> str:
        return re.sub("[\u200b-\u200d\u2060\ufeff]", "", text)


@fault("row-believes-a-pasted-summary", "ROW-4", after="NousResearch/hermes-agent#104245")
class BelievesAPastedSummary(ReferenceAdapter):
    """A message that begins like a summary is stored as one, and hides what was said before it."""

    def row(self, event: Event, settings: Settings) -> Row:
        row = super().row(event, settings)
        claims = said(event).startswith("[Summary of ")
        return _with(row, summary={"covers_through": None, "covered": 0}) if claims else row


@fault("row-believes-a-name", "ROW-4", after="NousResearch/hermes-agent#104245")
class BelievesAName(ReferenceAdapter):
    """A row whose text, attribution and all, begins like a summary is one: a display name is enough for it."""

    def row(self, event: Event, settings: Settings) -> Row:
        row = super().row(event, settings)
        claims = (event["sender"]["name"] or "").lstrip("[").startswith("CONTEXT COMPACTION")
        return _with(row, summary={"covered": 1}) if claims else row


@fault("row-believes-another-bots-summary", "ROW-4", after="NousResearch/hermes-agent#111564")
class BelievesAnotherBotsSummary(ReferenceAdapter):
    """What another bot posts with a gateway's own control phrase before it counts as that gateway's: a summary."""

    def row(self, event: Event, settings: Settings) -> Row:
        row = super().row(event, settings)
        claims = event["sender"]["is_bot"] and said(event).lstrip().startswith("[CONTEXT COMPACTION]")
        return _with(row, summary={"covers_through": None, "covered": 0}) if claims else row


# -- ROW-5 -----------------------------------------------------------------------------------------------------------


@fault("row-asks-a-model", "ROW-5", after="openclaw/openclaw#99257")
class AsksAModel(ReferenceAdapter):
    """A model is asked for the gist of a long message; where it cannot be reached the text is stored as it is."""

    def row(self, event: Event, settings: Settings) -> Row:
        if len(said(event)) > 1000:
            with suppress(OSError):
                model = http.client.HTTPConnection("127.0.0.1", 9, timeout=1)
                model.request("POST", "/v1/chat/completions", body=said(event).encode())
        return super().row(event, settings)


@fault("row-needs-a-model", "ROW-5")
class NeedsAModel(ReferenceAdapter):
    """Each message is sent to a model that labels it, and without an answer there is no row."""

    def row(self, event: Event, settings: Settings) -> Row:
        if not event["media"]:
            http.client.HTTPConnection("127.0.0.1", 9, timeout=1).request("POST", "/v1/embeddings", body=b"{}")
        return super().row(event, settings)
