"""Telegram as the package meets it: its own adapter, with a bot behind it that can get the event's files."""

from __future__ import annotations

import importlib
import re
from typing import Any

from observed_context_conformance.adapters.hermes_telegram import FILE_SIZE, number

_TELEGRAM_MODULES = ("plugins.platforms.telegram.adapter", "gateway.platforms.telegram")
"""Where the Telegram adapter is: from 0.18 on, and before."""

_IMAGE = b"\xff\xd8\xff\xe0\x00\x10JFIF".ljust(FILE_SIZE, b"\0")
_NO_TEXT = b"\xff" * FILE_SIZE
_PICTURE = re.compile(r"\.(jpe?g|png|gif|webp|bmp)$", re.IGNORECASE)
"""The end of a file name that promises a picture; a document with such a name is one."""

_NAMES = {
    "image": "photos/file_0.jpg",
    "voice": "voice/file_0.oga",
    "audio": "music/file_0.mp3",
    "video": "videos/file_0.mp4",
    "document": "documents/file_0",
}
"""How Telegram names the files of each kind on its servers."""


def telegram_adapter(settings: dict[str, Any]) -> tuple[Any, Bot]:
    """The package's Telegram adapter as these settings configure it, and its bot."""
    config: Any = importlib.import_module("gateway.config")
    made: Any = _telegram_module().TelegramAdapter(
        config.PlatformConfig(enabled=True, token="1:T", extra=_extra(settings))
    )
    bot = made._bot = Bot(number(settings["bot"]["id"]), settings["bot"]["handle"])
    return made, bot


def handler_for(adapter: Any, update: Any, *, observing: bool = False) -> Any:
    """The handler that `TelegramAdapter.connect` registers for such an update; None when there is none.

    The package observes no commands; with `observing`, when a row is asked for whatever the message is, a command is a
    text.
    """
    filters: Any = importlib.import_module("telegram.ext.filters")
    if filters.COMMAND.check_update(update):
        return adapter._handle_text_message if observing else adapter._handle_command
    if filters.TEXT.check_update(update):
        return adapter._handle_text_message
    files = filters.PHOTO | filters.VIDEO | filters.AUDIO | filters.VOICE | filters.Document.ALL
    media = files | filters.Sticker.ALL
    return adapter._handle_media_message if media.check_update(update) else None


class Bot:
    """Telegram's side of the bot: who it is, and the files that it can get.

    Attributes:
        medium: the attachment behind the next file id.
    """

    def __init__(self, identity: int, handle: str) -> None:
        self.id = identity
        self.username = handle
        self.medium: dict[str, Any] | None = None
        self._telegram: Any = importlib.import_module("telegram")

    async def get_file(self, file_id: str, *rest: Any, **options: Any) -> _File:
        """The file, or what the library raises when the download fails."""
        if self.medium is None or self.medium["error"] is not None:
            raise self._telegram.error.NetworkError((self.medium or {}).get("error") or "no such file")
        return _File(self.medium)

    async def send_message(self, *rest: Any, **options: Any) -> None:
        """Nothing reaches a chat."""


class _File:
    """A file on Telegram's servers."""

    def __init__(self, medium: dict[str, Any]) -> None:
        self.file_path = f"https://api.telegram.org/file/bot1:T/{_NAMES[medium['kind']]}"
        pictured = medium["kind"] == "image" or (medium["kind"] == "document" and _PICTURE.search(medium["name"] or ""))
        self._bytes = _IMAGE if pictured else _NO_TEXT

    async def download_as_bytearray(self, *rest: Any, **options: Any) -> bytearray:
        """Its content: something of the right kind."""
        return bytearray(self._bytes)


def _telegram_module() -> Any:
    for name in _TELEGRAM_MODULES:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as missing:
            if not name.startswith(str(missing.name)):
                raise
    raise ModuleNotFoundError(
        f"no Telegram adapter where hermes-agent has had it so far: {', '.join(_TELEGRAM_MODULES)}"
    )


def _extra(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings as the package's configuration has them.

    `allowed_chats` are the groups that it answers in (none named: all of them), `group_allowed_chats` those that it
    observes in.
    """
    allowed = list(settings["allowed_chats"] or [])
    return {
        "require_mention": settings["require_mention"],
        "observe_unmentioned_group_messages": settings["observe"],
        "allowed_chats": allowed if settings["group_policy"] == "allowlist" else [],
        "group_allowed_chats": allowed,
        "free_response_chats": list(settings["free_response_chats"]),
        "mention_patterns": list(settings["mention_patterns"]),
    }
