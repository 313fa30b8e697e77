"""The key of the session that a message belongs to: the chat's, or one sender's in it."""

import json

from observed_context.shapes import Event


def shared_session(event: Event) -> str:
    """Return the key that everybody in a chat's topic shares (ATT-3)."""
    return _key(event)


def own_session(event: Event) -> str:
    """Return the key of the sender's own session in a chat's topic (ATT-2)."""
    return _key(event, event["sender"]["id"])


def anonymous_session(chat: str, topic: str | None) -> str:
    """Return a key for a chat's topic in which nothing was said yet, so that its platform is not known."""
    return json.dumps(["", "", chat, topic])


def place(session: str) -> tuple[str, str, str, str | None]:
    """Return platform, account, chat and topic of a session."""
    platform, account, chat, topic, *_ = json.loads(session)
    return platform, account, chat, topic


def _key(event: Event, *more: str | None) -> str:
    # Parts encoded as JSON: no two lists of ids give the same key, whatever the ids hold.
    return json.dumps([event["platform"], event["account"], event["chat"]["id"], event["topic"], *more])
