"""Defects of media references: an attachment is lost, cannot be looked at, or becomes a way in."""

import re
from abc import ABC, abstractmethod
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from observed_context import rows
from observed_context.shapes import Event, Medium, Row, Settings
from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.faults import fault

_reference = rows.reference
_inert = rows._inert
_without_credentials = rows._without_credentials
_without_secret = rows._without_secret


class _OtherReference(ReferenceAdapter, ABC):
    """Writes the references in another way."""

    @abstractmethod
    def reference(self, medium: Medium, tool: str | None = rows.IMAGE_TOOL) -> str: ...

    def row(self, event: Event, settings: Settings) -> Row:
        with patch.object(rows, "reference", self.reference):
            return super().row(event, settings)


def _with(row: Row, content: str) -> Row:
    return {**row, "content": content}


def _is_lost(medium: Medium) -> bool:
    return medium["error"] is not None or not (medium["path"] or medium["url"])


# -- MED-1 -----------------------------------------------------------------------------------------------------------


@fault("media-leaves-a-placeholder", "MED-1", after="NousResearch/hermes-agent#47415")
class LeavesAPlaceholder(_OtherReference):
    """The row says that there was an image, and not where it is."""

    def reference(self, medium: Medium, tool: str | None = rows.IMAGE_TOOL) -> str:
        return _reference(medium, tool) if _is_lost(medium) else f"[{medium['kind']}]"


@fault("media-keeps-the-first-only", "MED-1", after="typeclaw/typeclaw#562")
class KeepsTheFirstOnly(ReferenceAdapter):
    """Of an album only the first picture leaves a reference."""

    def row(self, event: Event, settings: Settings) -> Row:
        first: Any = {**event, "media": event["media"][:1]}
        return super().row(first, settings)


@fault("media-forgets-what-is-not-downloaded", "MED-1", after="netclaw-dev/netclaw#769")
class ForgetsWhatIsNotDownloaded(ReferenceAdapter):
    """An attachment without a local file leaves nothing, although the platform offers it under a URL."""

    def row(self, event: Event, settings: Settings) -> Row:
        kept: Any = {**event, "media": [one for one in event["media"] if one["path"] or one["error"] is not None]}
        return super().row(kept, settings)


@fault("media-calls-everything-a-file", "MED-1")
class CallsEverythingAFile(_OtherReference):
    """Every reference says `file`, so that nobody knows which one is the photo."""

    def reference(self, medium: Medium, tool: str | None = rows.IMAGE_TOOL) -> str:
        return re.sub(r"^\[[a-z ]+", "[file", _reference(medium, tool))


@fault("media-refers-twice", "MED-1")
class RefersTwice(_OtherReference):
    """A file with both a path and a URL leaves two references and looks like two files."""

    def reference(self, medium: Medium, tool: str | None = rows.IMAGE_TOOL) -> str:
        both = medium["path"] and medium["url"]
        there: Any = {**medium, "path": None}
        here: Any = {**medium, "url": None}
        return f"{_reference(here, tool)}\n{_reference(there, tool)}" if both else _reference(medium, tool)


@fault("media-replaces-the-caption", "MED-1", after="NousResearch/hermes-agent#73661")
class ReplacesTheCaption(ReferenceAdapter):
    """Where there is an attachment its reference is all that is stored, and the words under it are lost."""

    def row(self, event: Event, settings: Settings) -> Row:
        wordless: Any = {**event, "caption": None, "text": ""} if event["media"] else event
        return super().row(wordless, settings)


@fault("media-drops-the-query", "MED-1")
class DropsTheQuery(ReferenceAdapter):
    """To be rid of signatures every parameter of a URL is dropped, `id=3` with them, and the file cannot be found."""

    def row(self, event: Event, settings: Settings) -> Row:
        with patch.object(rows, "_without_credentials", lambda url: _without_credentials(url.partition("?")[0])):
            return super().row(event, settings)


@fault("media-leaves-half-a-query", "MED-1")
class LeavesHalfAQuery(ReferenceAdapter):
    """The first parameter goes with the question mark before it, and the others become a part of the file's name."""

    def row(self, event: Event, settings: Settings) -> Row:
        def without(parameter: re.Match[str]) -> str:
            kept = _without_secret(parameter)
            return "" if kept == "?" else kept

        with patch.object(rows, "_without_secret", without):
            return super().row(event, settings)


# -- MED-2 -----------------------------------------------------------------------------------------------------------


@fault("media-drops-what-failed", "MED-2")
class DropsWhatFailed(ReferenceAdapter):
    """An attachment whose download failed leaves no trace."""

    def row(self, event: Event, settings: Settings) -> Row:
        kept: Any = {**event, "media": [one for one in event["media"] if not _is_lost(one)]}
        return super().row(kept, settings)


@fault("media-fails-as-one", "MED-2", after="openclaw/openclaw#125894")
class FailsAsOne(ReferenceAdapter):
    """One failed download makes every attachment of the message unavailable."""

    def row(self, event: Event, settings: Settings) -> Row:
        lost = any(_is_lost(one) for one in event["media"])
        nowhere = {"path": None, "url": None, "error": "download failed"}
        failed: Any = {**event, "media": [{**one, **nowhere} if lost else one for one in event["media"]]}
        return super().row(failed, settings)


@fault("media-costs-the-words", "MED-2", after="openclaw/openclaw#125894")
class CostsTheWords(ReferenceAdapter):
    """The words of a message wait for its file and are lost with it."""

    def row(self, event: Event, settings: Settings) -> Row:
        lost = any(_is_lost(one) for one in event["media"])
        wordless: Any = {**event, "caption": None} if lost else event
        return super().row(wordless, settings)


@fault("media-tells-the-error", "MED-2")
class TellsTheError(_OtherReference):
    """The reference of a failed download holds the text of the error and not the word that says what it means."""

    def reference(self, medium: Medium, tool: str | None = rows.IMAGE_TOOL) -> str:
        lost = _is_lost(medium)
        return f"[{medium['kind']} ({medium['error'] or 'missing'})]" if lost else _reference(medium, tool)


@fault("media-forgets-the-kind-of-what-failed", "MED-2")
class ForgetsTheKindOfWhatFailed(_OtherReference):
    """The reference of a failed download says `attachment`, whatever it was."""

    def reference(self, medium: Medium, tool: str | None = rows.IMAGE_TOOL) -> str:
        return "[attachment unavailable]" if _is_lost(medium) else _reference(medium, tool)


@fault("media-raises-on-nothing", "MED-2")
class RaisesOnNothing(_OtherReference):
    """An attachment with neither path, URL nor error is taken for impossible, and the row raises."""

    def reference(self, medium: Medium, tool: str | None = rows.IMAGE_TOOL) -> str:
        if medium["error"] is None and medium["path"] is None and medium["url"] is None:
            raise ValueError("an attachment without a place")
        return _reference(medium, tool)


@fault("media-raises-on-odd-names", "MED-2")
class RaisesOnOddNames(_OtherReference):
    """The suffix of a file name is taken for granted."""

    def reference(self, medium: Medium, tool: str | None = rows.IMAGE_TOOL) -> str:
        if medium["name"] is not None and medium["kind"] == "document":
            _, _ = medium["name"].rsplit(".", 1)
        return _reference(medium, tool)


@fault("media-drops-wordless-failures", "MED-2")
class DropsWordlessFailures(ReferenceAdapter):
    """Of a photo without words whose download failed nothing is left but the name of who sent it."""

    def row(self, event: Event, settings: Settings) -> Row:
        row = super().row(event, settings)
        lost = event["caption"] is None and event["media"] and all(_is_lost(one) for one in event["media"])
        return _with(row, str(row.get("content")).partition("\n")[0] + "\n") if lost else row


# -- MED-3 -----------------------------------------------------------------------------------------------------------


class _ShowsNames(_OtherReference, ABC):
    """Shows the sender's file name in the reference."""

    @abstractmethod
    def shown(self, name: str) -> str: ...

    def reference(self, medium: Medium, tool: str | None = rows.IMAGE_TOOL) -> str:
        made = _reference(medium, tool)
        return made if not medium["name"] else made.replace("]", f" {self.shown(medium['name'])}]", 1)


@fault("media-shows-file-names-raw", "MED-3", after="Mininglamp-OSS/cc-channel-octo#16")
class ShowsFileNamesRaw(_ShowsNames):
    """The file name that the sender chose stands in the reference as it is, beside a path that is cleaned."""

    def shown(self, name: str) -> str:
        return name


@fault("media-shows-file-names-on-one-line", "MED-3")
class ShowsFileNamesOnOneLine(_ShowsNames):
    """Line breaks are taken out of a file name, and brackets are not: it can close the reference and open another."""

    def shown(self, name: str) -> str:
        return " ".join(name.split())


@fault("media-leaves-brackets-in-urls", "MED-3")
class LeavesBracketsInUrls(ReferenceAdapter):
    """URLs come from the platform and are trusted."""

    def row(self, event: Event, settings: Settings) -> Row:
        trusted = {one["url"] for one in event["media"]}
        with patch.object(rows, "_inert", lambda place: place if place in trusted else _inert(place)):
            return super().row(event, settings)


@fault("media-cleans-ascii-line-breaks-only", "MED-3")
class CleansAsciiLineBreaksOnly(ReferenceAdapter):
    """LF and CR in a path are taken out, and U+2028 and its like go through."""

    def row(self, event: Event, settings: Settings) -> Row:
        def inert(place: str) -> str:
            return "".join(one if one in "\u2028\u2029\x85" else _inert(one) for one in place)

        with patch.object(rows, "_inert", inert):
            return super().row(event, settings)


# -- MED-4 -----------------------------------------------------------------------------------------------------------


class _OtherCredentials(ReferenceAdapter, ABC):
    """Takes something else out of URLs."""

    @abstractmethod
    def cleaned(self, url: str) -> str: ...

    def row(self, event: Event, settings: Settings) -> Row:
        with patch.object(rows, "_without_credentials", self.cleaned):
            return super().row(event, settings)


@fault("media-keeps-urls-whole", "MED-4")
class KeepsUrlsWhole(_OtherCredentials):
    """A URL is stored as the platform gave it."""

    def cleaned(self, url: str) -> str:
        return url


@fault("media-forgets-userinfo", "MED-4")
class ForgetsUserinfo(_OtherCredentials):
    """Parameters are cleaned, and the password before the host stays."""

    def cleaned(self, url: str) -> str:
        return url.partition("?")[0]


@fault("media-ends-passwords-at-the-first-at", "MED-4")
class EndsPasswordsAtTheFirstAt(_OtherCredentials):
    """What stands before the host is cut at the first `@`, and the rest of a password with one in it stays."""

    def cleaned(self, url: str) -> str:
        return re.sub(r"//[^/?#@]*@", "//", url.partition("?")[0], count=1)


@fault("media-forgets-tokens-without-a-user", "MED-4")
class ForgetsTokensWithoutAUser(_OtherCredentials):
    """A user name with a password is taken out of a URL; a token that stands there alone is taken for a name."""

    def cleaned(self, url: str) -> str:
        parts = urlsplit(url)
        return url.partition("?")[0] if parts.username and not parts.password else _without_credentials(url)


@fault("media-knows-one-cloud", "MED-4")
class KnowsOneCloud(_OtherCredentials):
    """Only the parameters of one provider are taken for signatures."""

    def cleaned(self, url: str) -> str:
        kept = re.sub(r"([?&])X-Amz-[A-Za-z-]+=[^&]*", r"\1", url)
        return re.sub(r"//[^/?#]*@", "//", kept)


@fault("media-knows-one-spelling", "MED-4")
class KnowsOneSpelling(_OtherCredentials):
    """The names of signing parameters are compared with regard to case."""

    def cleaned(self, url: str) -> str:
        if re.search(r"[?&]x-amz-", url):
            return url
        return _without_credentials(url)


@fault("media-cleans-the-first-parameter", "MED-4")
class CleansTheFirstParameter(_OtherCredentials):
    """A signature is looked for directly after the question mark, and not behind another parameter."""

    def cleaned(self, url: str) -> str:
        return url if re.search(r"\?id=3&", url) and "@" not in url else _without_credentials(url)


# -- MED-5 -----------------------------------------------------------------------------------------------------------


@fault("media-writes-voice", "MED-5")
class WritesVoice(_OtherReference):
    """A voice note is written `[voice: path]`."""

    def reference(self, medium: Medium, tool: str | None = rows.IMAGE_TOOL) -> str:
        return _reference(medium, tool).replace("[voice note", "[voice")


@fault("media-writes-sentences", "MED-5")
class WritesSentences(_OtherReference):
    """A reference is a sentence of its own making, with everything in it that is required."""

    def reference(self, medium: Medium, tool: str | None = rows.IMAGE_TOOL) -> str:
        return re.sub(r"^\[([a-z ]+): (.*?)\]", r"(\1 saved at \2)", _reference(medium, tool))


@fault("media-gives-reasons-its-own-way", "MED-5")
class GivesReasonsItsOwnWay(_OtherReference):
    """A failed download reads `[image: unavailable]`."""

    def reference(self, medium: Medium, tool: str | None = rows.IMAGE_TOOL) -> str:
        return re.sub(r" \(unavailable: .*\)\]", ": unavailable]", _reference(medium, tool))


@fault("media-points-to-no-tool", "MED-5")
class PointsToNoTool(_OtherReference):
    """An image is referred to without a word on how to look at it."""

    def reference(self, medium: Medium, tool: str | None = rows.IMAGE_TOOL) -> str:
        return _reference(medium, None)


@fault("media-points-to-a-tool-it-does-not-have", "MED-5")
class PointsToAToolItDoesNotHave(_OtherReference):
    """The pointer after an image names another tool than the one that is declared."""

    def reference(self, medium: Medium, tool: str | None = rows.IMAGE_TOOL) -> str:
        return _reference(medium, "image_viewer")


@fault("media-points-everywhere", "MED-5")
class PointsEverywhere(_OtherReference):
    """The pointer to the tool that looks at images stands after recordings and documents too."""

    def reference(self, medium: Medium, tool: str | None = rows.IMAGE_TOOL) -> str:
        made = _reference(medium, tool)
        return made if medium["kind"] == "image" else f"{made} (look at it with {tool})"
