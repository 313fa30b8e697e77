"""Gating: is this message for the bot?"""

import re
from functools import lru_cache

from observed_context.patterns import matches_any
from observed_context.shapes import Bot, Decision, Event, Mention, Settings

_NOT_CONVERSATION = {"broadcast", "status", "newsletter"}


def gate(event: Event, settings: Settings) -> Decision:
    """Decide whether a message is dispatched to the bot, observed, or ignored (GATE-1 to GATE-18)."""
    chat, bot = event["chat"], settings["bot"]
    if chat["kind"] in _NOT_CONVERSATION:  # GATE-8
        return {"action": "ignore"}
    if event["sender"]["id"] == bot["id"]:  # GATE-7
        return {"action": "ignore"}
    if chat["kind"] == "direct":  # GATE-3
        return {"action": "dispatch"}
    if settings["group_policy"] != "open" and not _is_allowed(event, settings):  # GATE-4
        return {"action": "ignore"}
    if not _needs_mention(event, settings) or is_addressed(event, settings):  # GATE-6, GATE-2
        return {"action": "dispatch"}
    return {"action": "observe" if is_observed(event, settings) else "ignore"}  # GATE-1, GATE-5


def is_observed(event: Event, settings: Settings) -> bool:
    """Whether messages of the event's chat that are not for the bot are stored (GATE-1, GATE-4, GATE-5, GATE-6)."""
    return settings["observe"] and _is_allowed(event, settings) and _needs_mention(event, settings)


def is_addressed(event: Event, settings: Settings) -> bool:
    """Whether a group message is for the bot: a mention, a reply to the bot or a pattern (GATE-2)."""
    if _names(event, settings["bot"]):
        return True
    if any(_names(event, other) for other in settings["other_bots"]):  # GATE-13
        return False
    if event["sender"]["is_bot"]:  # GATE-18
        return False
    reply = event["reply_to"]
    if (
        reply is not None and reply["sender_id"] == settings["bot"]["id"]
    ):  # GATE-15: who was answered, not what was quoted
        return True
    return matches_any(settings["mention_patterns"], said(event))


def said(event: Event) -> str:
    """Return what the sender wrote: the text, or the caption where there is one (GATE-16)."""
    return event["text"] if event["caption"] is None else event["caption"]


def _is_allowed(event: Event, settings: Settings) -> bool:
    return event["chat"]["kind"] == "group" and event["chat"]["id"] in (settings["allowed_chats"] or [])


def _needs_mention(event: Event, settings: Settings) -> bool:
    return settings["require_mention"] and event["chat"]["id"] not in settings["free_response_chats"]


def _names(event: Event, bot: Bot) -> bool:
    """Whether the message mentions a bot: structurally where the platform can, else in the text (GATE-10)."""
    if event["mentions"]:
        return any(_is_of(mention, said(event), bot) for mention in event["mentions"])
    return _handle(bot["handle"]).search(said(event)) is not None


def _is_of(mention: Mention, text: str, bot: Bot) -> bool:
    if "id" in mention:
        return mention["id"] == bot["id"]
    # GATE-17: two bytes for each UTF-16 code unit; a span that splits a pair just does not match.
    units = text.encode("utf-16-le", "surrogatepass")[2 * mention["offset"] :][: 2 * mention["length"]]
    return units.decode("utf-16-le", "replace").lower() == f"@{bot['handle']}".lower()


@lru_cache(maxsize=1_024)
def _handle(handle: str) -> re.Pattern[str]:
    # GATE-9. Case is ignored in the handle only: with it, [a-z] would also match letters beyond ASCII.
    return re.compile(rf"(?<![A-Za-z0-9_.-])(?i:@{re.escape(handle)})(?![A-Za-z0-9_]|[.-][A-Za-z0-9_])")
