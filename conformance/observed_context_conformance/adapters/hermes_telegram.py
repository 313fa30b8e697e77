"""The kit's events in the form in which Telegram's servers deliver them: updates of the Bot API, as JSON.

What the platform cannot express becomes the nearest thing that it can:

- `broadcast`, `status` and `newsletter` are posts of a channel; bots see nothing else of that kind. A post
  has no `from`: whoever wrote it, it is the channel's.
- A sender without an id is a message without `from`, posted in the name of a chat (`sender_chat`) that bears the name.
- A mention by id is a `mention` where its span holds that bot's handle, and else a `text_mention`, which names the id.
  Telegram always has a span: without one in the event it is the handle's, if the text has it, or the first character.
- Null or no mentions: an update without mention entities, as some clients and bridges produce them. (Telegram's own
  servers would mark a handle in plain text; then the event has a span for it.)
- A topic is a forum topic; the group is then a forum.
- One message carries one attachment. Several are an album: one update each, the caption with the first.
- A photo has no file name. An image with one is what "send as file" makes: a document with an image type.
- A caption without an attachment is a text. A message with neither text nor attachment is a sticker.
- Whole seconds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_HANDLE = re.compile(r"@[A-Za-z0-9_]+")
_COMMAND = re.compile(r"/[A-Za-z][A-Za-z0-9_]*(@[A-Za-z0-9_]+)?")
_MIME = {"image": "image/jpeg", "voice": "audio/ogg", "audio": "audio/mpeg", "video": "video/mp4"}
_DOCUMENT_MIME = "application/octet-stream"
_STICKER = {"type": "regular", "width": 512, "height": 512, "is_animated": True, "is_video": False}
FILE_SIZE = 1024
"""What the updates say an attachment weighs, in bytes: below every limit."""


@dataclass(frozen=True)
class Delivery:
    """One update, and the attachment behind its file id.

    Attributes:
        update: Bot API JSON.
        medium: the event's attachment that the update carries, or None.
    """

    update: dict[str, Any]
    medium: dict[str, Any] | None


def deliveries(event: dict[str, Any], settings: dict[str, Any]) -> list[Delivery]:
    """The updates that deliver `event`: one, or one for each attachment of an album.

    Raises:
        ValueError: an id is no decimal number, as ids are on Telegram.
    """
    media: list[dict[str, Any] | None] = list(event["media"]) or [None]
    made = []
    for position, medium in enumerate(media):
        message = _message(event, settings, medium, position)
        if len(media) > 1:
            message["media_group_id"] = str(event["id"])
        key = "message" if event["chat"]["kind"] in ("direct", "group") else "channel_post"
        made.append(Delivery({"update_id": message["message_id"], key: message}, medium))
    return made


def command(text: str, chat: str, topic: str | None, settings: dict[str, Any]) -> dict[str, Any]:
    """The update of a command for the bot that a member of a chat sends; a chat with a negative id is a group."""
    direct = not chat.startswith("-")
    event: dict[str, Any] = {
        "id": "1000000",
        "time": "2026-01-01T00:00:00+00:00",
        "chat": {"id": chat, "kind": "direct" if direct else "group", "name": None},
        "topic": topic,
        "sender": {"id": chat if direct else "1001", "name": "Ana", "is_bot": False},
        "text": text if direct else f"{text}@{settings['bot']['handle']}",
        "caption": None,
        "mentions": None,
        "reply_to": None,
        "media": [],
    }
    return deliveries(event, settings)[0].update


def number(text: str) -> int:
    """An id as Telegram has it."""
    return int(text)


def user(identity: str, name: str | None, settings: dict[str, Any], *, is_bot: bool = False) -> dict[str, Any]:
    """A user. One that is a bot of these settings has its handle; one without a name is a deleted account."""
    bots = {bot["id"]: bot["handle"] for bot in [settings["bot"], *settings["other_bots"]]}
    made: dict[str, Any] = {"id": number(identity), "is_bot": is_bot or identity in bots, "first_name": name or ""}
    if identity in bots:
        made["username"] = bots[identity]
    return made


def _message(
    event: dict[str, Any], settings: dict[str, Any], medium: dict[str, Any] | None, position: int
) -> dict[str, Any]:
    message: dict[str, Any] = {
        "message_id": number(event["id"]) + position,
        "date": int(datetime.fromisoformat(event["time"]).timestamp()),
        "chat": _chat(event),
        **_author(event, settings),
    }
    if event["topic"] is not None:
        message.update(message_thread_id=number(event["topic"]), is_topic_message=True)
    if event["reply_to"] is not None:
        message["reply_to_message"] = _quoted(event, settings)

    text = event["text"] if event["caption"] is None else event["caption"]
    if medium is not None:
        message.update(_attachment(medium, position))
        if event["caption"] is not None and position == 0:
            message.update(caption=text, caption_entities=_entities(event, settings, text))
    elif text:
        message.update(text=text, entities=_entities(event, settings, text))
    else:
        message["sticker"] = {**_file(0), **_STICKER}
    return message


def _chat(event: dict[str, Any]) -> dict[str, Any]:
    chat, name = event["chat"], event["chat"]["name"]
    made: dict[str, Any] = {"id": number(chat["id"])}
    if chat["kind"] == "direct":
        return made | {"type": "private", "first_name": event["sender"]["name"] or name or ""}
    if chat["kind"] == "group":
        made |= {"type": "supergroup", "title": name or ""}
        return made | {"is_forum": True} if event["topic"] is not None else made
    return made | {"type": "channel", "title": name or ""}


def _author(event: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    sender, chat = event["sender"], event["chat"]
    if chat["kind"] in ("direct", "group"):
        if sender["id"] is not None:
            return {"from": user(sender["id"], sender["name"], settings, is_bot=sender["is_bot"])}
        if sender["name"] is None:
            return {}
        return {"sender_chat": {"id": number(chat["id"]), "type": "channel", "title": sender["name"]}}
    return {"sender_chat": _chat(event)}


def _quoted(event: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    reply = event["reply_to"]
    made: dict[str, Any] = {
        "message_id": number(reply["id"]),
        "date": int(datetime.fromisoformat(event["time"]).timestamp()),
        "chat": _chat(event),
    }
    if reply["sender_id"] is not None:
        made["from"] = user(reply["sender_id"], "Quoted", settings)
    if reply["text"]:
        made |= {"text": reply["text"], "entities": _plain_mentions(reply["text"])}
    return made


def _entities(event: dict[str, Any], settings: dict[str, Any], text: str) -> list[dict[str, Any]]:
    made = [_mention(mention, settings, text) for mention in event["mentions"] or []]
    command = _COMMAND.match(text)
    if command is not None:
        made.insert(0, {"type": "bot_command", "offset": 0, "length": command.end()})
    return made


def _mention(mention: dict[str, Any], settings: dict[str, Any], text: str) -> dict[str, Any]:
    identity = mention.get("id")
    if identity is None:
        return {"type": "mention", "offset": mention["offset"], "length": mention["length"]}
    bots = {bot["id"]: f"@{bot['handle']}".casefold() for bot in [settings["bot"], *settings["other_bots"]]}
    handles = [found for found in _plain_mentions(text) if _covered(text, found) == bots.get(identity)]
    span = {key: mention[key] for key in ("offset", "length")} if "offset" in mention else None
    if span is None and handles:
        return handles[0]
    if span is not None and _covered(text, span) == bots.get(identity):
        return {"type": "mention", **span}
    return {
        "type": "text_mention",
        "user": user(identity, "Mentioned", settings),
        **(span or {"offset": 0, "length": 1}),
    }


def _plain_mentions(text: str) -> list[dict[str, Any]]:
    return [
        {"type": "mention", "offset": _units(text[: found.start()]), "length": _units(found.group())}
        for found in _HANDLE.finditer(text)
    ]


def _covered(text: str, span: dict[str, Any]) -> str:
    start, end = span["offset"], span["offset"] + span["length"]
    units = text.encode("utf-16-le", "surrogatepass")[2 * start : 2 * end]
    return units.decode("utf-16-le", "replace").casefold()


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _attachment(medium: dict[str, Any], position: int) -> dict[str, Any]:
    kind, name = medium["kind"], medium["name"]
    file = _file(position)
    named = {} if name is None else {"file_name": name}
    if kind == "image" and name is None:
        return {"photo": [{**file, "width": 64, "height": 64}]}
    if kind in ("image", "document"):
        return {"document": {**file, **named, "mime_type": _MIME.get(kind, _DOCUMENT_MIME)}}
    if kind == "voice":
        return {"voice": {**file, "duration": 1, "mime_type": _MIME[kind]}}
    size = {"width": 64, "height": 64} if kind == "video" else {}
    return {kind: {**file, **named, **size, "duration": 1, "mime_type": _MIME[kind]}}


def _file(position: int) -> dict[str, Any]:
    return {"file_id": f"file-{position}", "file_unique_id": f"unique-{position}", "file_size": FILE_SIZE}
