"""Defects of addressing: a turn in the wrong words, under the wrong prompt, in the wrong session, or by nobody."""

import json
import re
from abc import ABC, abstractmethod
from typing import Any
from unittest.mock import patch

from observed_context import addressing, gating, rows, sessions
from observed_context.gating import is_observed, said
from observed_context.shapes import Event, Framed, Row, Sender, Settings
from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.faults import fault


def _with(framed: Framed, **changes: Any) -> Framed:
    return {**framed, **changes}  # type: ignore[typeddict-item]


def _as_if(settings: Settings, **changes: Any) -> Settings:
    return {**settings, **changes}  # type: ignore[typeddict-item]


def _observing(event: Event, settings: Settings) -> Settings:
    """The settings under which the event's group would be an observed one."""
    return _as_if(
        settings,
        observe=True,
        require_mention=True,
        free_response_chats=[],
        allowed_chats=[*(settings["allowed_chats"] or []), event["chat"]["id"]],
    )


def _is_listed(event: Event, settings: Settings) -> bool:
    return event["chat"]["id"] in (settings["allowed_chats"] or [])


# -- ATT-1 -----------------------------------------------------------------------------------------------------------


@fault("address-names-nobody", "ATT-1")
class NamesNobody(ReferenceAdapter):
    """The turn of an observed group holds the bare words, and the model does not know who speaks."""

    def address(self, event: Event, settings: Settings) -> Framed:
        return _with(super().address(event, settings), message=said(event))


@fault("address-names-by-its-own-rule", "ATT-1", after="NousResearch/hermes-agent#72296")
class NamesByItsOwnRule(ReferenceAdapter):
    """Rows are attributed with care and turns by another piece of code that trusts the display name."""

    def address(self, event: Event, settings: Settings) -> Framed:
        def line(sender: Sender) -> str:
            return f"[{sender['name'] or sender['id'] or 'unknown'}|{sender['id'] or 'unknown'}]"

        with patch.object(rows, "attribution", line):
            return super().address(event, settings)


@fault("address-takes-every-slash-for-a-command", "ATT-1")
class TakesEverySlashForACommand(ReferenceAdapter):
    """Whatever begins with a slash stays bare: `/2 of us` is said by nobody."""

    def address(self, event: Event, settings: Settings) -> Framed:
        with patch.object(addressing, "_COMMAND", re.compile("/")):
            return super().address(event, settings)


@fault("address-strips-every-handle", "ATT-1", after="NousResearch/hermes-agent#104253")
class StripsTooMuch(ReferenceAdapter):
    """Taking the mention out takes the word after it out as well."""

    def address(self, event: Event, settings: Settings) -> Framed:
        framed = super().address(event, settings)
        handle = re.escape(settings["bot"]["handle"])
        return _with(framed, message=re.sub(rf"@{handle}[,:]?\s*\S+", "", str(framed["message"])))


class _StripsOtherwise(ReferenceAdapter, ABC):
    """Takes the bot's mention out of the text in a way of its own."""

    @abstractmethod
    def stripped(self, text: str, handle: str) -> str: ...

    def address(self, event: Event, settings: Settings) -> Framed:
        framed = super().address(event, settings)
        line, found, text = str(framed["message"]).partition("\n")
        if not found or not is_observed(event, settings):
            return framed
        return _with(framed, message=f"{line}\n{self.stripped(text, settings['bot']['handle'])}")


@fault("address-strips-the-beginning-of-a-handle", "ATT-1", after="NousResearch/hermes-agent#104253")
class StripsTheBeginningOfAHandle(_StripsOtherwise):
    """The bot's handle is taken out wherever it stands, also where it is the beginning of somebody else's."""

    def stripped(self, text: str, handle: str) -> str:
        return text.replace(f"@{handle}", "").strip()


@fault("address-tidies-up-after-stripping", "ATT-1", after="openclaw/openclaw#129555")
class TidiesUpAfterStripping(_StripsOtherwise):
    """Where the mention is taken out, blanks are collapsed, in every line: tables and code lose their alignment."""

    def stripped(self, text: str, handle: str) -> str:
        plain = re.sub(rf"@{handle}(?![\w.-])", "", text)
        return text if plain == text else re.sub(r"[ \t]+", " ", plain).strip()


@fault("address-takes-the-quotation-along", "ATT-1", after="sipeed/picoclaw#3082")
class TakesTheQuotationAlong(ReferenceAdapter):
    """What a message answers is quoted in it, and an outsider's words enter the turn under the sender's name."""

    def address(self, event: Event, settings: Settings) -> Framed:
        framed = super().address(event, settings)
        reply = event["reply_to"]
        return _with(framed, message=f"{framed['message']}\n> {reply['text']}") if reply else framed


@fault("address-forgets-the-marker", "ATT-1")
class ForgetsTheMarker(ReferenceAdapter):
    """The marker is added only where the operator wrote a prompt for the chat."""

    def address(self, event: Event, settings: Settings) -> Framed:
        framed = super().address(event, settings)
        return framed if settings["channel_prompt"] else _with(framed, channel_prompt=None)


@fault("address-marks-for-one-platform", "ATT-1", after="NousResearch/hermes-agent#104245")
class MarksForOnePlatform(ReferenceAdapter):
    """The prompt carries the marker of the platform for which the feature was first written, on every platform."""

    def address(self, event: Event, settings: Settings) -> Framed:
        framed = super().address(event, settings)
        own, first = addressing.MARKERS[event["platform"]], addressing.MARKERS["telegram"]
        return _with(framed, channel_prompt=(framed["channel_prompt"] or "").replace(own, first))


@fault("address-keeps-senders-apart", "ATT-1")
class KeepsSendersApart(ReferenceAdapter):
    """A turn of an observed group runs in the sender's own session, where nothing was observed."""

    def address(self, event: Event, settings: Settings) -> Framed:
        return _with(super().address(event, settings), session=sessions.own_session(event))


# -- ATT-2 -----------------------------------------------------------------------------------------------------------


@fault("address-frames-free-response-groups", "ATT-2", after="NousResearch/hermes-agent#38750")
class FramesFreeResponseGroups(ReferenceAdapter):
    """With `observe` on, free-response groups are framed like observed ones: a prefix, a marker, one session."""

    def address(self, event: Event, settings: Settings) -> Framed:
        free = event["chat"]["id"] in settings["free_response_chats"]
        return super().address(event, _observing(event, settings) if free else settings)


@fault("address-attributes-in-direct-messages", "ATT-2")
class AttributesInDirectMessages(ReferenceAdapter):
    """Every message is attributed, in a direct message too."""

    def address(self, event: Event, settings: Settings) -> Framed:
        framed = super().address(event, settings)
        direct = event["chat"]["kind"] == "direct"
        return _with(framed, message=rows.attributed(event)) if direct else framed


@fault("address-marks-every-group", "ATT-2")
class MarksEveryGroup(ReferenceAdapter):
    """The marker is in the prompt of every group while `observe` is on, listed or not."""

    def address(self, event: Event, settings: Settings) -> Framed:
        framed = super().address(event, settings)
        if event["chat"]["kind"] != "group" or not settings["observe"]:
            return framed
        marked = super().address(event, _observing(event, settings))
        return _with(framed, channel_prompt=marked["channel_prompt"])


@fault("address-shares-open-groups", "ATT-2")
class SharesOpenGroups(ReferenceAdapter):
    """In a group that is admitted only because every group is, strangers share one session."""

    def address(self, event: Event, settings: Settings) -> Framed:
        framed = super().address(event, settings)
        shared = settings["group_policy"] == "open" and not is_observed(event, settings)
        return _with(framed, session=sessions.shared_session(event)) if shared else framed


@fault("address-forgets-that-observe-is-off", "ATT-2")
class ForgetsThatObserveIsOff(ReferenceAdapter):
    """Turns are framed by the allowlist alone, whether observing is on or off."""

    def address(self, event: Event, settings: Settings) -> Framed:
        return super().address(event, _as_if(settings, observe=True))


@fault("address-frames-where-no-mention-is-required", "ATT-2")
class FramesWhereNoMentionIsRequired(ReferenceAdapter):
    """A listed group is framed like an observed one although every message in it is for the bot."""

    def address(self, event: Event, settings: Settings) -> Framed:
        return super().address(event, _as_if(settings, require_mention=True))


@fault("address-believes-the-allowlist", "ATT-2")
class BelievesTheAllowlist(ReferenceAdapter):
    """A chat whose id is on the allowlist is framed like an observed group, and a direct message may be on it."""

    def address(self, event: Event, settings: Settings) -> Framed:
        with patch.object(gating, "_is_allowed", _is_listed):
            return super().address(event, settings)


# -- ATT-3 -----------------------------------------------------------------------------------------------------------


class _OtherKeys(ReferenceAdapter, ABC):
    """Makes the keys of shared sessions in another way, of rows and turns alike."""

    @abstractmethod
    def key(self, event: Event) -> str: ...

    def row(self, event: Event, settings: Settings) -> Row:
        return {**super().row(event, settings), "session": self.key(event)}

    def address(self, event: Event, settings: Settings) -> Framed:
        framed = super().address(event, settings)
        shared = framed["session"] == sessions.shared_session(event)
        return _with(framed, session=self.key(event)) if shared else framed


@fault("session-joins-without-a-separator", "ATT-3")
class JoinsWithoutASeparator(_OtherKeys):
    """The parts of the key are written one after the other, so that two places give one text."""

    def key(self, event: Event) -> str:
        return "".join([event["platform"], event["account"], event["chat"]["id"], event["topic"] or ""])


@fault("session-forgets-the-topic", "ATT-3")
class ForgetsTheTopic(_OtherKeys):
    """All topics of a group are one session."""

    def key(self, event: Event) -> str:
        return json.dumps([event["platform"], event["account"], event["chat"]["id"]])


@fault("session-forgets-the-account", "ATT-3", after="NousResearch/hermes-agent#84592")
class ForgetsTheAccount(_OtherKeys):
    """Two accounts of the operator in the same group share a session."""

    def key(self, event: Event) -> str:
        return json.dumps([event["platform"], event["chat"]["id"], event["topic"]])


@fault("session-forgets-the-platform", "ATT-3", after="NousResearch/hermes-agent#41764")
class ForgetsThePlatform(_OtherKeys):
    """A chat of one platform shares its session with the chat of another one that happens to have the same id."""

    def key(self, event: Event) -> str:
        return json.dumps([event["account"], event["chat"]["id"], event["topic"]])


@fault("session-sorts-its-parts", "ATT-3")
class SortsItsParts(_OtherKeys):
    """The parts of the key are sorted, so that a chat and a topic may change places."""

    def key(self, event: Event) -> str:
        place = sorted([event["chat"]["id"].removeprefix("-100"), event["topic"] or ""])
        return json.dumps([event["platform"], event["account"], *place])


@fault("session-rotates-with-the-day", "ATT-3", after="NousResearch/hermes-agent#34089")
class RotatesWithTheDay(_OtherKeys):
    """Each day begins a session of its own, and what was observed the day before is left behind in the old one."""

    def key(self, event: Event) -> str:
        return sessions.shared_session(event) + event["time"][:10]


@fault("session-goes-by-the-senders-name", "ATT-3", after="NousResearch/hermes-agent#1417")
class GoesByTheSendersName(_OtherKeys):
    """The sender's display name is part of the key."""

    def key(self, event: Event) -> str:
        return sessions.shared_session(event) + (event["sender"]["name"] or "")


@fault("row-goes-into-a-session-of-its-own", "ATT-3")
class GoesIntoASessionOfItsOwn(ReferenceAdapter):
    """Rows are stored in the session of who wrote them, where no turn looks for them."""

    def row(self, event: Event, settings: Settings) -> Row:
        return {**super().row(event, settings), "session": sessions.own_session(event)}


@fault("row-forgets-the-topic", "ATT-3")
class RowForgetsTheTopic(ReferenceAdapter):
    """Turns run in the session of their topic, and rows of all topics are stored in that of the chat."""

    def row(self, event: Event, settings: Settings) -> Row:
        row = super().row(event, settings)
        whole: Any = {**event, "topic": None}
        return {**row, "session": sessions.shared_session(whole)}


# -- ATT-4, ATT-5 ----------------------------------------------------------------------------------------------------


@fault("address-prefixes-commands", "ATT-4", after="NousResearch/hermes-agent#31090")
class PrefixesCommands(ReferenceAdapter):
    """A command in an observed group is attributed like any message, and is no command any more."""

    def address(self, event: Event, settings: Settings) -> Framed:
        framed = super().address(event, settings)
        return _with(framed, message=rows.attributed(event)) if is_observed(event, settings) else framed


@fault("address-anonymises-commands", "ATT-4", after="NousResearch/hermes-agent#61308")
class AnonymisesCommands(ReferenceAdapter):
    """In the chat's shared session there is no sender, and nobody can be asked whether the command is allowed."""

    def address(self, event: Event, settings: Settings) -> Framed:
        framed = super().address(event, settings)
        return _with(framed, sender=None) if is_observed(event, settings) else framed


@fault("address-knows-commands-in-small-letters", "ATT-4")
class KnowsCommandsInSmallLetters(ReferenceAdapter):
    """`/Help`, as a telephone's keyboard writes it, is attributed and goes to the model as text."""

    def address(self, event: Event, settings: Settings) -> Framed:
        with patch.object(addressing, "_COMMAND", re.compile("/[a-z]")):
            return super().address(event, settings)


@fault("address-drops-what-follows-a-command", "ATT-4", after="NousResearch/hermes-agent#39935")
class DropsWhatFollowsACommand(ReferenceAdapter):
    """Taking the handle out of a command takes its arguments out as well."""

    def address(self, event: Event, settings: Settings) -> Framed:
        framed = super().address(event, settings)
        return _with(framed, message=re.sub(r"^(/\w+)@\w+.*", r"\1", str(framed["message"]), flags=re.DOTALL))


@fault("address-replaces-the-prompt", "ATT-5")
class ReplacesThePrompt(ReferenceAdapter):
    """The sentence with the marker takes the place of what the operator wrote."""

    def address(self, event: Event, settings: Settings) -> Framed:
        observed = is_observed(event, settings)
        return super().address(event, _as_if(settings, channel_prompt=None) if observed else settings)


@fault("address-keeps-one-line-of-the-prompt", "ATT-5")
class KeepsOneLineOfThePrompt(ReferenceAdapter):
    """Of the operator's prompt the first line is kept."""

    def address(self, event: Event, settings: Settings) -> Framed:
        first = (settings["channel_prompt"] or "").partition("\n")[0]
        return super().address(event, _as_if(settings, channel_prompt=first or None))


@fault("address-puts-the-chats-name-into-the-prompt", "ATT-5")
class PutsTheChatsNameIntoThePrompt(ReferenceAdapter):
    """The prompt tells the model the name of the chat, which its members choose: the marker is a name away."""

    def address(self, event: Event, settings: Settings) -> Framed:
        framed = super().address(event, settings)
        where = f"You are in the chat {event['chat']['name']}."
        prompt = framed["channel_prompt"]
        return _with(framed, channel_prompt=f"{prompt}\n\n{where}" if prompt else where)


@fault("address-believes-a-marker-in-the-text", "ATT-5", after="openclaw/openclaw#95279")
class BelievesAMarkerInTheText(ReferenceAdapter):
    """A message that quotes the marker opts in: its prompt gets the marker wherever it was written."""

    def address(self, event: Event, settings: Settings) -> Framed:
        claims = addressing.MARKERS[event["platform"]] in said(event)
        framed = super().address(event, settings)
        if not claims or is_observed(event, settings):
            return framed
        return _with(framed, channel_prompt=addressing.MARKERS[event["platform"]])


@fault("address-tells-who-is-speaking-in-the-prompt", "ATT-5")
class TellsWhoIsSpeakingInThePrompt(ReferenceAdapter):
    """The prompt of every turn names the sender, by the display name as it is."""

    def address(self, event: Event, settings: Settings) -> Framed:
        framed = super().address(event, settings)
        return _with(framed, channel_prompt=f"{framed['channel_prompt'] or ''}\n\nSpeaking: {event['sender']['name']}")
