"""Defects of gating: each takes a message for the bot's that is not, or the other way round."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from observed_context import gating
from observed_context import patterns as judging
from observed_context.gating import said
from observed_context.patterns import matches_any
from observed_context.shapes import Bot, Decision, Event, Mention, Settings
from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.faults import fault


def _with(event: Event, **changes: Any) -> Event:
    return {**event, **changes}  # type: ignore[typeddict-item]


def _set(settings: Settings, **changes: Any) -> Settings:
    return {**settings, **changes}  # type: ignore[typeddict-item]


# -- GATE-1 ----------------------------------------------------------------------------------------------------------


@fault("gate-drops-captions", "GATE-1")
class DropsCaptions(ReferenceAdapter):
    """A message whose words are in a caption is dropped, because only texts are looked at before observing."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        decision = super().gate(event, settings)
        return {"action": "ignore"} if decision["action"] == "observe" and event["caption"] else decision


@fault("gate-drops-wordless-media", "GATE-1", after="NousResearch/hermes-agent#73661")
class DropsWordlessMedia(ReferenceAdapter):
    """A photo without a word counts as an empty message and is dropped."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        decision = super().gate(event, settings)
        return {"action": "ignore"} if decision["action"] == "observe" and not said(event) else decision


@fault("gate-knows-itself-by-name", "GATE-1", after="openclaw/openclaw extensions/telegram/src/group-history-window.ts")
class KnowsItselfByName(ReferenceAdapter):
    """The bot recognises its own messages by the display name, so that a member with that name is never heard."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        if event["sender"]["name"] == settings["bot"]["handle"]:
            return {"action": "ignore"}
        return super().gate(event, settings)


@fault("gate-drops-anonymous-senders", "GATE-1")
class DropsAnonymousSenders(ReferenceAdapter):
    """A message without a sender id, as an anonymous administrator writes it, is dropped."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return super().gate(event, settings) if event["sender"]["id"] else {"action": "ignore"}


@fault("gate-answers-a-lone-placeholder", "GATE-1", after="openclaw/openclaw#96738")
class AnswersALonePlaceholder(ReferenceAdapter):
    """The character that stands for a mention is taken for one of the bot where the platform did not say of whom."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        unsaid = not event["mentions"] and "\ufffc" in said(event)
        return super().gate(_with(event, mentions=[{"id": settings["bot"]["id"]}]) if unsaid else event, settings)


@fault("gate-drops-what-mentions-a-person", "GATE-1")
class DropsWhatMentionsAPerson(ReferenceAdapter):
    """A message that mentions somebody is taken for a private matter and dropped."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        decision = super().gate(event, settings)
        return {"action": "ignore"} if decision["action"] == "observe" and event["mentions"] else decision


# -- GATE-2 ----------------------------------------------------------------------------------------------------------


@fault("gate-needs-a-span", "GATE-2")
class NeedsASpan(ReferenceAdapter):
    """A mention that gives an id and no place in the text is not seen."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        placed = [mention for mention in event["mentions"] or [] if "offset" in mention]
        kept = event["mentions"] if not event["mentions"] else placed or [{"id": "0"}]
        return super().gate(_with(event, mentions=kept), settings)


@fault("gate-reads-the-mentions-text", "GATE-2", after="openclaw/openclaw#96738")
class ReadsTheMentionsText(ReferenceAdapter):
    """The text of a mention is compared with the handle; where it shows another name, the id is not seen."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        def bare(mention: Mention) -> Mention:
            return {key: mention[key] for key in ("offset", "length")} if "offset" in mention else mention  # type: ignore

        mentions = event["mentions"] and [bare(mention) for mention in event["mentions"]]
        return super().gate(_with(event, mentions=mentions), settings)


@fault("gate-ignores-replies", "GATE-2", after="openclaw/openclaw#127308")
class IgnoresReplies(ReferenceAdapter):
    """An answer to a message of the bot is no address; only one platform's adapter was told that it is."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return super().gate(_with(event, reply_to=None), settings)


@fault("gate-hears-replies-on-one-platform", "GATE-2", after="openclaw/openclaw#127308")
class HearsRepliesOnOnePlatform(ReferenceAdapter):
    """Whether an answer to the bot is for it was decided in one platform's code; elsewhere nobody asks."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return super().gate(event if event["platform"] == "telegram" else _with(event, reply_to=None), settings)


@fault("gate-knows-itself-by-its-device", "GATE-2", after="openclaw/openclaw#15783")
class KnowsItselfByItsDevice(ReferenceAdapter):
    """The bot's own id is kept with the number of its device behind it, and no mention of the account equals that."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        mentions = event["mentions"] and [
            {**mention, "id": f"{mention['id']}:2"} if mention.get("id") == settings["bot"]["id"] else mention
            for mention in event["mentions"]
        ]
        return super().gate(_with(event, mentions=mentions), settings)


@fault("gate-needs-structural-mentions", "GATE-2")
class NeedsStructuralMentions(ReferenceAdapter):
    """A handle in the text never counts, so that on a platform without structural mentions nobody can call the bot."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return super().gate(event if event["mentions"] else _with(event, mentions=[{"id": "0"}]), settings)


@fault("gate-matches-patterns-at-the-start", "GATE-2")
class MatchesPatternsAtTheStart(ReferenceAdapter):
    """A mention pattern is tried at the start of the text only."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        anchored = [pattern if pattern.startswith("^") else f"^{pattern}" for pattern in settings["mention_patterns"]]
        return super().gate(event, _set(settings, mention_patterns=anchored))


@fault("gate-observes-first", "GATE-2")
class ObservesFirst(ReferenceAdapter):
    """The observing path runs before the addressed one and takes replies to the bot."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        decision = super().gate(event, settings)
        if decision["action"] == "dispatch" and event["reply_to"] and gating.is_observed(event, settings):
            return {"action": "observe"}
        return decision


# -- GATE-3 ----------------------------------------------------------------------------------------------------------


@fault("gate-takes-direct-chats-for-groups", "GATE-3")
class TakesDirectChatsForGroups(ReferenceAdapter):
    """A direct message whose chat is on the allowlist goes through the rules of a group and is observed."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        chat = {**event["chat"], "kind": "group"}
        if event["chat"]["kind"] == "direct" and event["chat"]["id"] in (settings["allowed_chats"] or []):
            return super().gate(_with(event, chat=chat), settings)
        return super().gate(event, settings)


@fault("gate-observes-unauthorised-direct-messages", "GATE-3")
class ObservesUnauthorisedDirectMessages(ReferenceAdapter):
    """A direct message that names nobody is stored as context where `observe` is on."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        decision = super().gate(event, settings)
        if event["chat"]["kind"] != "direct" or not settings["observe"] or decision["action"] == "ignore":
            return decision
        return decision if gating.is_addressed(event, settings) else {"action": "observe"}


# -- GATE-4 ----------------------------------------------------------------------------------------------------------


@fault("gate-compares-ids-as-substrings", "GATE-4")
class ComparesIdsAsSubstrings(ReferenceAdapter):
    """The allowlist is one text in which the id is looked for, so that part of a listed id is on it."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        if event["chat"]["id"] in ",".join(settings["allowed_chats"] or []):
            settings = _set(settings, allowed_chats=[event["chat"]["id"]])
        return super().gate(event, settings)


@fault("gate-takes-no-list-for-all", "GATE-4", after="NousResearch/hermes-agent#38710")
class TakesNoListForAll(ReferenceAdapter):
    """An empty allowlist is taken for "no restriction", so that every group may use the bot."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        if not settings["allowed_chats"]:
            settings = _set(settings, allowed_chats=[event["chat"]["id"]])
        return super().gate(event, settings)


@fault("gate-takes-a-missing-list-for-all", "GATE-4")
class TakesAMissingListForAll(ReferenceAdapter):
    """An empty allowlist admits nobody, but a missing one admits everybody."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        if settings["allowed_chats"] is None:
            settings = _set(settings, allowed_chats=[event["chat"]["id"]])
        return super().gate(event, settings)


@fault("gate-observes-open-groups", "GATE-4")
class ObservesOpenGroups(ReferenceAdapter):
    """With the policy `open` every group is recorded, because admitting and observing ask the same question."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        if settings["group_policy"] == "open":
            settings = _set(settings, allowed_chats=[event["chat"]["id"]])
        return super().gate(event, settings)


@fault("gate-lists-only-what-is-observed", "GATE-4", after="sipeed/picoclaw#3082")
class ListsOnlyWhatIsObserved(ReferenceAdapter):
    """The allowlist is asked before observing, not before dispatching: anybody anywhere may call the bot."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return super().gate(event, _set(settings, group_policy="open"))


# -- GATE-5, GATE-6 --------------------------------------------------------------------------------------------------


@fault("gate-dispatches-with-observe-off", "GATE-5")
class DispatchesWithObserveOff(ReferenceAdapter):
    """What is not observed falls through to dispatch, so that the bot answers everything once `observe` is off."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        observed = super().gate(event, _set(settings, observe=True))["action"] == "observe"
        return {"action": "dispatch"} if observed and not settings["observe"] else super().gate(event, settings)


@fault("gate-reads-replies-only-when-observing", "GATE-5")
class ReadsRepliesOnlyWhenObserving(ReferenceAdapter):
    """The code that recognises an answer to the bot belongs to the observing path and is off with it."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return super().gate(event if settings["observe"] else _with(event, reply_to=None), settings)


@fault("gate-observe-off-still-observes", "GATE-5")
class ObserveOffStillObserves(ReferenceAdapter):
    """The switch is read where rows are shown and not where they are stored."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return super().gate(event, _set(settings, observe=True))


@fault("gate-observes-free-response-groups", "GATE-6", after="NousResearch/hermes-agent#38750")
class ObservesFreeResponseGroups(ReferenceAdapter):
    """Observing does not know free-response groups: what names nobody there is stored and not answered."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return super().gate(event, _set(settings, free_response_chats=[]))


@fault("gate-requires-a-mention-when-observing", "GATE-6")
class RequiresAMentionWhenObserving(ReferenceAdapter):
    """`observe` implies `require_mention`, whatever the operator set."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return super().gate(event, _set(settings, require_mention=settings["require_mention"] or settings["observe"]))


# -- GATE-7, GATE-8 --------------------------------------------------------------------------------------------------

_SOMEBODY = {"id": "1", "name": "Somebody", "is_bot": False}


@fault("gate-knows-itself-by-the-flag", "GATE-7", after="Mininglamp-OSS/openclaw-channel-octo#57")
class KnowsItselfByTheFlag(ReferenceAdapter):
    """Own messages are recognised only where the platform also flags them as a bot's."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        own = event["sender"]["id"] == settings["bot"]["id"] and not event["sender"]["is_bot"]
        return super().gate(_with(event, sender=_SOMEBODY) if own else event, settings)


@fault("gate-answers-its-own-mention", "GATE-7")
class AnswersItsOwnMention(ReferenceAdapter):
    """Mentions are looked at before the sender, so that an own message that names the bot wakes it."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        stranger = super().gate(_with(event, sender=_SOMEBODY), settings)
        named = f"@{settings['bot']['handle']}" in said(event).lower()
        return stranger if stranger["action"] == "dispatch" and named else super().gate(event, settings)


@fault("gate-observes-itself", "GATE-7")
class ObservesItself(ReferenceAdapter):
    """Own messages are kept from being dispatched, but the observing path stores them."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        if event["sender"]["id"] == settings["bot"]["id"] and gating.is_observed(event, settings):
            return {"action": "observe"}
        return super().gate(event, settings)


@fault("gate-takes-channels-for-groups", "GATE-8")
class TakesChannelsForGroups(ReferenceAdapter):
    """A newsletter that is on the allowlist is a group like any other."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        if event["chat"]["kind"] == "newsletter":
            event = _with(event, chat={**event["chat"], "kind": "group"})
        return super().gate(event, settings)


@fault("gate-dispatches-what-is-no-group", "GATE-8")
class DispatchesWhatIsNoGroup(ReferenceAdapter):
    """Whatever is no group counts as a direct message, status posts among it."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        if event["chat"]["kind"] == "status":
            event = _with(event, chat={**event["chat"], "kind": "direct"})
        return super().gate(event, settings)


# -- GATE-9 ----------------------------------------------------------------------------------------------------------


class _OtherHandleSearch(ReferenceAdapter, ABC):
    """Finds the handle in text by another rule."""

    @abstractmethod
    def found(self, handle: str, text: str) -> bool: ...

    def gate(self, event: Event, settings: Settings) -> Decision:
        names = gating._names

        def search(event: Event, bot: Bot) -> bool:
            return names(event, bot) if event["mentions"] else self.found(bot["handle"], said(event))

        with patch.object(gating, "_names", search):
            return super().gate(event, settings)


@fault("gate-looks-for-the-handle-anywhere", "GATE-9", after="NousResearch/hermes-agent#11901")
class LooksForTheHandleAnywhere(_OtherHandleSearch):
    """A text that contains the handle names the bot, so that a longer handle wakes it."""

    def found(self, handle: str, text: str) -> bool:
        return f"@{handle}" in text.lower()


@fault("gate-looks-at-the-first-place-only", "GATE-9", after="openclaw/openclaw#29179")
class LooksAtTheFirstPlaceOnly(_OtherHandleSearch):
    """The first place at which the handle stands decides; a later one of its own is not seen."""

    def found(self, handle: str, text: str) -> bool:
        start = text.lower().find(f"@{handle}".lower())
        whole = gating._handle(handle).search(text)
        return whole is not None and whole.start() == start


@fault("gate-uses-word-boundaries", "GATE-9", after="openclaw/openclaw#89864")
class UsesWordBoundaries(_OtherHandleSearch):
    r"""The handle is wrapped in the word boundaries of regular expressions, which see none beside Chinese text."""

    def found(self, handle: str, text: str) -> bool:
        return re.search(rf"(?<!\w)@{handle}\b(?![.-]\w)", text, re.IGNORECASE) is not None


@fault("gate-ends-handles-at-dots", "GATE-9", after="openclaw/openclaw#129555")
class EndsHandlesAtDots(_OtherHandleSearch):
    """A dot or a hyphen ends a handle, though handles may go on after it."""

    def found(self, handle: str, text: str) -> bool:
        return re.search(rf"(?<![A-Za-z0-9_.-])@{handle}(?![A-Za-z0-9_])", text, re.IGNORECASE) is not None


@fault("gate-takes-every-dot-into-the-handle", "GATE-9")
class TakesEveryDotIntoTheHandle(_OtherHandleSearch):
    """A dot or hyphen after the handle always belongs to it, the full stop of a sentence too."""

    def found(self, handle: str, text: str) -> bool:
        return re.search(rf"(?<![A-Za-z0-9_.-])@{handle}(?![A-Za-z0-9_.-])", text, re.IGNORECASE) is not None


@fault("gate-forgets-the-left-side", "GATE-9", after="marmot-protocol/mdk#1893")
class ForgetsTheLeftSide(_OtherHandleSearch):
    """Only the end of the handle is looked at: a mail address whose host begins like the handle names the bot."""

    def found(self, handle: str, text: str) -> bool:
        return re.search(rf"@{handle}(?![A-Za-z0-9_]|[.-][A-Za-z0-9_])", text, re.IGNORECASE) is not None


@fault("gate-minds-the-case-of-handles", "GATE-9")
class MindsTheCaseOfHandles(_OtherHandleSearch):
    """A handle in capitals is not the bot's."""

    def found(self, handle: str, text: str) -> bool:
        whole = gating._handle(handle).search(text)
        return whole is not None and f"@{handle}" in text


# -- GATE-10 ---------------------------------------------------------------------------------------------------------


@fault("gate-reads-the-text-beside-mentions", "GATE-10", after="openclaw/openclaw#36829")
class ReadsTheTextBesideMentions(ReferenceAdapter):
    """The text is searched for the handle although the platform marked other mentions in it."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        decision = super().gate(event, settings)
        bare = super().gate(_with(event, mentions=None), settings)
        return bare if decision["action"] == "observe" else decision


@fault("gate-trusts-an-empty-list", "GATE-10")
class TrustsAnEmptyList(ReferenceAdapter):
    """An empty list of mentions means that nobody is mentioned, whatever the text says."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return super().gate(_with(event, mentions=[{"id": "0"}]) if event["mentions"] == [] else event, settings)


@fault("gate-lets-the-span-beat-the-id", "GATE-10")
class LetsTheSpanBeatTheId(ReferenceAdapter):
    """A mention of somebody else whose text reads like the bot's handle is taken for the bot's."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        spans: list[Any] = [
            {"offset": mention["offset"], "length": mention["length"]}
            for mention in event["mentions"] or []
            if "offset" in mention
        ]
        mentions = [*(event["mentions"] or []), *spans] or event["mentions"]
        return super().gate(_with(event, mentions=mentions), settings)


@fault("gate-takes-every-placeholder-for-itself", "GATE-10", after="openclaw/openclaw#96738")
class TakesEveryPlaceholderForItself(ReferenceAdapter):
    """Where the text shows a placeholder in the place of a mention it is taken for the bot's, whoever was mentioned."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        mentions = event["mentions"] and [
            {"id": settings["bot"]["id"]} if "offset" in mention and "\ufffc" in said(event) else mention
            for mention in event["mentions"]
        ]
        return super().gate(_with(event, mentions=mentions), settings)


@fault("gate-compares-the-beginning-of-a-span", "GATE-10", after="openclaw/openclaw#129555")
class ComparesTheBeginningOfASpan(ReferenceAdapter):
    """A structural mention whose text begins with the bot's handle is the bot's, also when the handle is longer."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        size = len(settings["bot"]["handle"]) + 1
        mentions = event["mentions"] and [
            {**mention, "length": min(mention["length"], size)}
            if "offset" in mention and "id" not in mention
            else mention
            for mention in event["mentions"]
        ]
        return super().gate(_with(event, mentions=mentions), settings)


@fault("gate-lets-a-mention-hide-the-rest", "GATE-10")
class LetsAMentionHideTheRest(ReferenceAdapter):
    """A message that mentions a person is for that person: neither a reply to the bot nor a pattern counts any more."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        if event["mentions"] and not any(gating._is_of(one, said(event), settings["bot"]) for one in event["mentions"]):
            return super().gate(_with(event, reply_to=None), _set(settings, mention_patterns=[]))
        return super().gate(event, settings)


# -- GATE-11, GATE-12 ------------------------------------------------------------------------------------------------


class _OtherMatching(ReferenceAdapter, ABC):
    """Matches patterns in another way."""

    @abstractmethod
    def matches(self, patterns: list[str], text: str) -> bool: ...

    def gate(self, event: Event, settings: Settings) -> Decision:
        with patch.object(gating, "matches_any", self.matches):
            return super().gate(event, settings)


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


@fault("gate-minds-the-case-of-patterns", "GATE-11")
class MindsTheCaseOfPatterns(_OtherMatching):
    """A wake word in capitals does not wake the bot."""

    def matches(self, patterns: list[str], text: str) -> bool:
        return any(re.search(pattern, text[:300]) for pattern in patterns if _compiles(pattern))


@fault("gate-lowers-the-text-only", "GATE-11")
class LowersTheTextOnly(_OtherMatching):
    """The text is put into small letters before matching, the pattern is not: one with a capital never matches."""

    def matches(self, patterns: list[str], text: str) -> bool:
        return any(re.search(pattern, text[:300].lower()) for pattern in patterns if _compiles(pattern))


@fault("gate-raises-on-a-bad-pattern", "GATE-11")
class RaisesOnABadPattern(_OtherMatching):
    """A pattern with a lost bracket raises on every message."""

    def matches(self, patterns: list[str], text: str) -> bool:
        compiled = [re.compile(pattern, re.IGNORECASE) for pattern in patterns]
        return any(pattern.search(text[:300]) for pattern in compiled)


@fault("gate-joins-patterns", "GATE-11", after="openclaw/openclaw#115484")
class JoinsPatterns(_OtherMatching):
    """All patterns are joined into one: a bad one makes all of them bad, and they are skipped together."""

    def matches(self, patterns: list[str], text: str) -> bool:
        joined = "|".join(patterns)
        return bool(patterns) and _compiles(joined) and re.search(joined, text[:300], re.IGNORECASE) is not None


@fault("gate-stops-at-a-bad-pattern", "GATE-11", after="openclaw/openclaw#115484")
class StopsAtABadPattern(_OtherMatching):
    """Patterns are tried in turn, and a bad one ends the turn: those after it are never tried."""

    def matches(self, patterns: list[str], text: str) -> bool:
        try:
            return any(re.search(pattern, text[:300], re.IGNORECASE) for pattern in patterns)
        except re.error:
            return False


@fault("gate-takes-a-bad-pattern-for-a-match", "GATE-11")
class TakesABadPatternForAMatch(_OtherMatching):
    """A pattern that cannot be read counts as matching, to be on the safe side."""

    def matches(self, patterns: list[str], text: str) -> bool:
        return any(not _compiles(one) or re.search(one, text[:300], re.IGNORECASE) for one in patterns)


@fault("gate-refuses-whatever-repeats", "GATE-2")
class RefusesWhateverRepeats(_OtherMatching):
    """For fear of a stall every pattern that repeats a class of characters is refused: such as `hey.*kit`."""

    def matches(self, patterns: list[str], text: str) -> bool:
        return matches_any([one for one in patterns if not re.search(r"[].\w][*+{]", one)], text)


@fault("gate-refuses-optional-groups", "GATE-2")
class RefusesOptionalGroups(_OtherMatching):
    """A part in brackets that may be missing is taken for one that may be repeated, and the pattern is refused."""

    def matches(self, patterns: list[str], text: str) -> bool:
        return matches_any([one for one in patterns if not re.search(r"\)\)?[^|()]*\)\?", one)], text)


@fault("gate-refuses-words-said-thrice", "GATE-2")
class RefusesWordsSaidThrice(_OtherMatching):
    """A group that is repeated is refused, also where it may stand there three times at most."""

    def matches(self, patterns: list[str], text: str) -> bool:
        return matches_any([one for one in patterns if not re.search(r"\)[*+{]", one)], text)


@fault("gate-forgets-word-boundaries", "GATE-1")
class ForgetsWordBoundaries(_OtherMatching):
    """A matcher without word boundaries takes them as given, and the word `kit` matches in `kitchen`."""

    def matches(self, patterns: list[str], text: str) -> bool:
        return matches_any([one.replace(r"\b", "") for one in patterns], text)


@fault("gate-backtracks", "GATE-12", after="openclaw/openclaw#115484")
class Backtracks(_OtherMatching):
    """Patterns of operators run without a limit: nested repetitions stop the gate for all chats."""

    def matches(self, patterns: list[str], text: str) -> bool:
        return any(re.search(one, text, re.IGNORECASE) for one in patterns if _compiles(one))


@fault("gate-fears-nested-repetitions-alone", "GATE-12")
class FearsNestedRepetitionsAlone(_OtherMatching):
    """Repeated groups are refused, and five repetitions in a row, which take for ever in their own way, are not."""

    def matches(self, patterns: list[str], text: str) -> bool:
        flat = [one for one in patterns if _compiles(one) and not re.search(r"\)[*+{]", one)]
        return any(re.search(one, text, re.IGNORECASE) for one in flat)


class _JudgesOtherwise(_OtherMatching, ABC):
    """Judges what a pattern may cost in another way."""

    part: str

    def matches(self, patterns: list[str], text: str) -> bool:
        """As the reference does, with nothing remembered."""
        with patch.object(judging, self.part, self.judged(getattr(judging, self.part))):
            compiled = [judging._compiled.__wrapped__(one) for one in patterns]
        return any(one is not None and one.search(text, 0, judging.TEXT_LIMIT) for one in compiled)

    @abstractmethod
    def judged(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What takes the place of `part`."""


@fault("gate-counts-nothing-behind-a-lookahead", "GATE-12")
class CountsNothingBehindALookahead(_JudgesOtherwise):
    """A pattern's cost is counted, and a lookahead, which takes no room itself, sets that of the rest to nothing."""

    part = "_node_cost"

    def judged(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def cost(node: Any, rest: Any) -> tuple[int, int]:
            steps, ways = original(node, rest)
            return steps, 0 if node[0].name == "ASSERT" else ways

        return cost


@fault("gate-compares-the-ends-of-ranges", "GATE-12")
class ComparesTheEndsOfRanges(_JudgesOtherwise):
    """Of two repetitions in a row only those are feared that share an end of their ranges; `[a-z]*[b-y]*` do not."""

    part = "_in"

    def judged(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def admits(item: Any, char: str) -> bool:
            return ord(char) in item[1] if item[0].name == "RANGE" else bool(original(item, char))

        return admits


@fault("gate-searches-joiners-squared", "GATE-12", after="openclaw/openclaw#115278")
class SearchesJoinersSquared(ReferenceAdapter):
    """The handle is searched with joiners after it, in a way that is worse than quadratic in their number."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        handle = "[\u200d\ufe0f]*".join(f"@{settings['bot']['handle']}")
        re.search(rf"{handle}[\u200d\ufe0f]*[\u200d]*\u200d*\Z", said(event))
        return super().gate(event, settings)


# -- GATE-13 ---------------------------------------------------------------------------------------------------------


@fault("gate-prefers-the-wake-word", "GATE-13", after="NousResearch/hermes-agent#28535")
class PrefersTheWakeWord(ReferenceAdapter):
    """A wake word counts although another bot is named, and both bots answer."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return super().gate(event, settings if event["reply_to"] else _set(settings, other_bots=[]))


@fault("gate-prefers-the-reply", "GATE-13", after="NousResearch/hermes-agent#20373")
class PrefersTheReply(ReferenceAdapter):
    """An answer to this bot counts although it names another one."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return super().gate(event, _set(settings, other_bots=[]) if event["reply_to"] else settings)


@fault("gate-reads-other-bots-in-text-only", "GATE-13")
class ReadsOtherBotsInTextOnly(ReferenceAdapter):
    """Another bot is recognised by its handle in plain text and not by a structural mention."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return super().gate(event, _set(settings, other_bots=[]) if event["mentions"] else settings)


@fault("gate-drops-what-is-for-another-bot", "GATE-13")
class DropsWhatIsForAnotherBot(ReferenceAdapter):
    """A message for another bot is neither answered nor observed."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        decision = super().gate(event, settings)
        named = any(gating._names(event, other) for other in settings["other_bots"])
        return {"action": "ignore"} if named and decision["action"] == "observe" else decision


@fault("gate-yields-to-another-bot", "GATE-13")
class YieldsToAnotherBot(ReferenceAdapter):
    """A message that names this bot and another one is left to the other one."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        decision = super().gate(event, settings)
        named = any(gating._names(event, other) for other in settings["other_bots"])
        return {"action": "observe"} if named and decision["action"] == "dispatch" else decision


# -- GATE-14 ---------------------------------------------------------------------------------------------------------


@fault("gate-remembers-message-ids", "GATE-14")
class RemembersMessageIds(ReferenceAdapter):
    """The gate drops what it has seen before, which is the store's business."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()

    def gate(self, event: Event, settings: Settings) -> Decision:
        key = (event["chat"]["id"], event["id"])
        if key in self._seen:
            return {"action": "ignore"}
        self._seen.add(key)
        return super().gate(event, settings)


@fault("gate-keeps-old-settings", "GATE-14")
class KeepsOldSettings(ReferenceAdapter):
    """The allowlist of the call before still counts."""

    def __init__(self) -> None:
        self._allowed: list[str] = []

    def gate(self, event: Event, settings: Settings) -> Decision:
        known, self._allowed = self._allowed, list(settings["allowed_chats"] or [])
        return super().gate(event, _set(settings, allowed_chats=[*self._allowed, *known]))


@fault("gate-learns-once-who-it-is", "GATE-14", after="NousResearch/hermes-agent#50780")
class LearnsOnceWhoItIs(ReferenceAdapter):
    """The bot's identity is taken from the first call, as if it were learned on connecting, and kept."""

    def __init__(self) -> None:
        self._bot: Bot | None = None

    def gate(self, event: Event, settings: Settings) -> Decision:
        self._bot = self._bot or {**settings["bot"]}
        return super().gate(event, _set(settings, bot=self._bot))


@fault("gate-answers-once-in-a-conversation", "GATE-14")
class AnswersOnceInAConversation(ReferenceAdapter):
    """After an addressed message the next message of that chat is dispatched too, as if the talk went on."""

    def __init__(self) -> None:
        self._talking: set[str] = set()

    def gate(self, event: Event, settings: Settings) -> Decision:
        decision = super().gate(event, settings)
        talking = event["chat"]["id"] in self._talking
        self._talking.discard(event["chat"]["id"])
        if decision["action"] == "dispatch" and not talking:
            self._talking.add(event["chat"]["id"])
        return {"action": "dispatch"} if talking and decision["action"] == "observe" else decision


@fault("gate-tidies-the-text-in-place", "GATE-14")
class TidiesTheTextInPlace(ReferenceAdapter):
    """The text is put into small letters for matching, in the event itself."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        event["text"] = event["text"].lower()
        return super().gate(event, settings)


@fault("gate-sorts-the-allowlist-in-place", "GATE-14")
class SortsTheAllowlistInPlace(ReferenceAdapter):
    """The allowlist is sorted for a faster search, in the settings themselves."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        if settings["allowed_chats"]:
            settings["allowed_chats"].sort()
        return super().gate(event, settings)


# -- GATE-15 to GATE-17 ----------------------------------------------------------------------------------------------


@fault("gate-reads-the-quotation", "GATE-15")
class ReadsTheQuotation(ReferenceAdapter):
    """The quoted text is searched together with the message, as some platforms deliver the two in one."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        if event["reply_to"] and not event["mentions"]:
            event = _with(event, text=f"{event['reply_to']['text']}\n{said(event)}", caption=None)
        return super().gate(event, settings)


@fault("gate-matches-patterns-in-the-quotation", "GATE-15")
class MatchesPatternsInTheQuotation(ReferenceAdapter):
    """Mentions are looked for in the message alone, but patterns in the quotation too."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        decision = super().gate(event, settings)
        if decision["action"] == "observe" and event["reply_to"]:
            quoted = _with(event, text=event["reply_to"]["text"], caption=None, mentions=[{"id": "0"}])
            return super().gate(quoted, settings)
        return decision


@fault("gate-takes-every-reply-for-its-own", "GATE-15")
class TakesEveryReplyForItsOwn(ReferenceAdapter):
    """An answer to a message that names the bot counts as an answer to the bot."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        if event["reply_to"] and f"@{settings['bot']['handle']}" in event["reply_to"]["text"].lower():
            event = _with(event, reply_to={**event["reply_to"], "sender_id": settings["bot"]["id"]})
        return super().gate(event, settings)


@fault("gate-searches-no-handle-in-captions", "GATE-16")
class SearchesNoHandleInCaptions(ReferenceAdapter):
    """A handle under a photo is not looked for."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        if event["caption"] is not None and not event["mentions"]:
            event = _with(event, caption=event["caption"].replace("@", "("))
        return super().gate(event, settings)


@fault("gate-matches-no-pattern-in-captions", "GATE-16")
class MatchesNoPatternInCaptions(ReferenceAdapter):
    """Mentions count in a caption, mention patterns do not."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return super().gate(event, settings if event["caption"] is None else _set(settings, mention_patterns=[]))


@fault("gate-looks-up-spans-in-the-text", "GATE-16")
class LooksUpSpansInTheText(ReferenceAdapter):
    """The spans of a caption are looked up in the text, which is empty."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        if event["caption"] is not None and event["mentions"]:
            kept = [mention for mention in event["mentions"] if "id" in mention] or [{"id": "0"}]
            event = _with(event, mentions=kept)
        return super().gate(event, settings)


class _OtherCounting(ReferenceAdapter, ABC):
    """Finds the text of a span by counting something else."""

    @abstractmethod
    def span(self, text: str, offset: int, length: int) -> str: ...

    def gate(self, event: Event, settings: Settings) -> Decision:
        def is_of(mention: Mention, text: str, bot: Bot) -> bool:
            if "id" in mention:
                return mention["id"] == bot["id"]
            return self.span(text, mention["offset"], mention["length"]).lower() == f"@{bot['handle']}".lower()

        with patch.object(gating, "_is_of", is_of):
            return super().gate(event, settings)


@fault("gate-counts-code-points", "GATE-17")
class CountsCodePoints(_OtherCounting):
    """Spans are counted in characters, so that an emoji before the mention moves it."""

    def span(self, text: str, offset: int, length: int) -> str:
        return text[offset : offset + length]


@fault("gate-counts-bytes", "GATE-17")
class CountsBytes(_OtherCounting):
    """Spans are counted in the bytes of the encoded text."""

    def span(self, text: str, offset: int, length: int) -> str:
        return text.encode()[offset : offset + length].decode(errors="replace")


@fault("gate-finds-the-handle-near-the-span", "GATE-17")
class FindsTheHandleNearTheSpan(_OtherCounting):
    """Where a span holds something else, the characters at the same count of code points are tried as well."""

    def span(self, text: str, offset: int, length: int) -> str:
        units = text.encode("utf-16-le")[2 * offset : 2 * (offset + length)].decode("utf-16-le", "replace")
        shifted = text[offset : offset + length]
        return shifted if shifted.startswith("@") else units


# -- GATE-18 ---------------------------------------------------------------------------------------------------------


@fault("gate-answers-bots", "GATE-18", after="NousResearch/hermes-agent#13083")
class AnswersBots(ReferenceAdapter):
    """An answer of another bot to this one is a request, and the two go on for ever."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return super().gate(_with(event, sender={**event["sender"], "is_bot": False}), settings)


@fault("gate-knows-only-listed-bots", "GATE-18", after="Mininglamp-OSS/openclaw-channel-octo#57")
class KnowsOnlyListedBots(ReferenceAdapter):
    """The platform's flag is not read; a bot is one that the settings list."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        listed = event["sender"]["id"] in [bot["id"] for bot in settings["other_bots"]]
        return super().gate(_with(event, sender={**event["sender"], "is_bot": listed}), settings)


@fault("gate-ignores-bots", "GATE-18")
class IgnoresBots(ReferenceAdapter):
    """Everything that a bot writes is dropped, so that half of a conversation is missing from the context."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        return {"action": "ignore"} if event["sender"]["is_bot"] else super().gate(event, settings)


@fault("gate-lets-bots-use-wake-words", "GATE-18", after="NousResearch/hermes-agent#29676")
class LetsBotsUseWakeWords(ReferenceAdapter):
    """Replies of bots do not count, but a wake word in what a bot says does."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        heard = event["reply_to"] is None and matches_any(settings["mention_patterns"], said(event))
        return super().gate(_with(event, sender={**event["sender"], "is_bot": False}) if heard else event, settings)
