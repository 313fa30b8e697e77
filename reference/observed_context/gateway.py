"""The gateway: messages in, answers out, and between them everything that the other modules do."""

import asyncio
import inspect
import logging
import os
from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol
from weakref import WeakValueDictionary

from observed_context.addressing import address
from observed_context.gating import gate
from observed_context.limits import limits_from
from observed_context.rows import observed_row
from observed_context.scheduling import Scheduler
from observed_context.sessions import anonymous_session, place
from observed_context.shapes import Event, Message, Row, Settings
from observed_context.store import Hit, Store, Turn
from observed_context.text import is_blank, text_of
from observed_context.turn import answer, payload_of

_log = logging.getLogger(__name__)


class Environment(Protocol):
    """What a gateway works with.

    Attributes:
        storage: path of a directory that outlives the gateway.
        config: the configuration that holds the limits.
    """

    storage: str
    config: Any

    def model(self, payload: list[Message]) -> Awaitable[Message]:
        """Answer a payload; may raise."""

    def summarize(self, prompt: list[Message]) -> Awaitable[str | None]:
        """Answer a summariser's prompt; may raise."""

    def clock(self) -> float:
        """Return the time in seconds."""

    def send(self, chat: str, topic: str | None, text: str) -> Awaitable[None]:
        """Send an answer to a chat; may raise."""

    def writing(self, what: Literal["row", "summary"]) -> None:
        """Take note that something durable is about to be written; raises to prevent it."""


class Gateway:
    """One account's gateway, on one event loop. Opened again on the same storage it goes on where it was (GWY-6)."""

    def __init__(self, settings: Settings, environment: Environment) -> None:
        self._settings = settings
        self._environment = environment
        self._limits = limits_from(environment.config)
        self._store = Store(os.path.join(environment.storage, "transcripts.sqlite3"), environment.writing)
        summarize = _awaited(environment.summarize)
        self._scheduler = Scheduler(self._store, self._limits, summarize, environment.clock)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def receive(self, event: Event) -> None:
        """Take a message from the platform; returns when it is stored, answered or given up. Never raises (GWY-5)."""
        action = gate(event, self._settings)["action"]
        if action == "observe":
            self._observe(event)
        elif action == "dispatch":
            await self._dispatch(event)

    def transcript(self, chat: str, topic: str | None) -> list[Row]:
        """Return the stored rows of a chat and topic in order of arrival."""
        return self._store.transcript(chat, topic)

    def search(self, text: str, chat: str | None) -> list[Hit]:
        """Return the stored rows that hold all words of a text; their `observed` says what they are (GWY-8, GWY-12)."""
        return self._store.search(text, chat)

    async def retry(self, chat: str, topic: str | None) -> None:
        """Answer the last addressed message again, in place of the answer that it got (GWY-11)."""
        turn = self._store.last_addressed(chat, topic)
        if turn is not None:
            self._store.withdraw(turn, answers_only=True)
            await self._take(turn)

    def undo(self, chat: str, topic: str | None) -> None:
        """Take back the last addressed message and its answer (GWY-11)."""
        turn = self._store.last_addressed(chat, topic)
        if turn is not None:
            self._store.withdraw(turn)

    async def internal(self, chat: str, topic: str | None, text: str) -> None:
        """Take a turn that nobody addressed, under the operator's prompt alone (GWY-10)."""
        session = self._store.last_session(chat, topic) or anonymous_session(chat, topic)
        turn = self._store.instruct(session, {"role": "user", "content": text}, self._settings["channel_prompt"])
        await self._take(turn)

    async def drain(self) -> None:
        """Wait until nothing runs in the background."""
        await self._scheduler.drain()

    async def close(self) -> None:
        """End, and release the storage; a pass that is running is given up."""
        await self._scheduler.close()
        self._store.close()

    def _observe(self, event: Event) -> None:
        """Store the observed row (GWY-1): no model, nothing sent, nothing waited for."""
        row = observed_row(event)
        try:
            stored = self._store.observe(row["session"], row)
        except Exception as error:
            _log.warning("an observed message could not be stored: %s", type(error).__name__)
            return
        if stored is not None:
            self._scheduler.appended(row["session"], len(text_of(row["content"])))

    async def _dispatch(self, event: Event) -> None:
        framed = address(event, self._settings)
        row: Row = {
            "role": "user",
            "content": framed["message"],
            "message_id": event["id"],
            "time": event["time"],
        }
        try:
            turn = self._store.address(framed["session"], row, framed["channel_prompt"])
        except Exception as error:  # not stored, so that the platform's next delivery of it gets its turn
            _log.warning("an addressed message could not be stored: %s", type(error).__name__)
            return
        if turn is not None:
            await self._take(turn)

    async def _take(self, turn: Turn) -> None:
        """Take a stored message's turn: one at a time in a session, each message for itself (GWY-13)."""
        lock = self._locks.setdefault(turn.session, asyncio.Lock())
        async with lock:
            try:
                payload = payload_of(self._store.before(turn), turn.message, turn.channel_prompt, self._limits)
            except Exception as error:
                _log.warning("a transcript could not be read: %s", type(error).__name__)
                return
            answers = await answer(payload, _awaited(self._environment.model))
            try:
                self._store.answer(turn, answers)
            except Exception as error:  # the answer is there all the same, and somebody waits for it
                _log.warning("an answer could not be stored: %s", type(error).__name__)
            text = text_of(answers[-1].get("content")) if answers else ""
            if is_blank(text):
                return
            _, _, chat, topic = place(turn.session)
            try:
                await _awaited(self._environment.send)(chat, topic, text)
            except Exception as error:
                _log.warning("an answer could not be sent: %s", type(error).__name__)


def _awaited(function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    """Return a function, plain or asynchronous, as an asynchronous one."""

    async def call(*arguments: Any) -> Any:
        result = function(*arguments)
        return await result if inspect.isawaitable(result) else result

    return call
