"""The whole gateway of hermes-agent: its `GatewayRunner` and its Telegram adapter, with the kit's world around them.

Updates go to the adapter's handlers, dispatched messages to the runner, turns to its own threads and agents. Replaced
are the ends: the model (`hermes_model`), what the adapter sends, and where the database is. Settings of an operator
that differ from the defaults:

- a message that comes while the bot answers waits for its turn (`display.busy_input_mode: queue`; the default breaks
  off the answer);
- texts that arrive within 0.03 s are joined, not within 0.2 s (`HERMES_TELEGRAM_TEXT_BATCH_DELAY_SECONDS`);
- sessions get no titles, which a model would have to write (`auxiliary.title_generation`, from 0.19 on);
- retry and undo are done without asking back (`approvals.destructive_slash_confirm: false`);
- everybody is authorised (`GATEWAY_ALLOW_ALL_USERS`).

Retry and undo are the commands `/retry` and `/undo` of a member of the chat. A search is what the package's
`SessionDB.search_messages` finds; it has no way to search in one chat.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import itertools
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from observed_context_conformance.adapters.hermes_model import NAME, ModelServer
from observed_context_conformance.adapters.hermes_platform import handler_for, telegram_adapter
from observed_context_conformance.adapters.hermes_rows import stored_row
from observed_context_conformance.adapters.hermes_telegram import command, deliveries

_MOMENT = 0.001
"""How long the event loop sleeps at a time while threads of the package are at work, in seconds."""

_BATCH = 0.03
"""How long the package waits for the rest of a text, in seconds: longer than messages take that the kit delivers at
the same moment.
"""

_NUMBERS = itertools.count(1)


class Gateway:
    """One account's gateway on one storage.

    Args:
        settings: the port's settings.
        environment: the kit's world.
        server: where the package finds its model.
    """

    def __init__(self, settings: dict[str, Any], environment: Any, server: ModelServer) -> None:
        self._settings = settings
        self._environment = environment
        self._loop = asyncio.get_running_loop()
        before = self._loop.time()
        time.sleep(_MOMENT)
        # On the kit's own loop it does not: there timers come when nothing else is left to do.
        self._time_passes = self._loop.time() > before
        self._key = f"gateway-{next(_NUMBERS)}"
        self._over = False
        self._asking = 0
        self._answered = asyncio.Event()
        self._stack = contextlib.ExitStack()
        self._stack.enter_context(server.serving(self._key, self._model))
        self._url = server.url
        self._telegram: Any = importlib.import_module("telegram")
        self._base: Any = importlib.import_module("gateway.platforms.base")
        self._adapter, self._bot = telegram_adapter(settings)
        self._runner = self._make_runner(Path(environment.storage))
        self._connect()

    # -- the port -------------------------------------------------------------------------------------------------

    async def receive(self, event: dict[str, Any]) -> None:
        """Give the update of a message to its handler; back when no turn runs any more that it is part of."""
        prompt = self._settings["channel_prompt"]
        self._adapter.config.extra["channel_prompts"] = {} if prompt is None else {event["chat"]["id"]: prompt}
        for delivery in deliveries(event, self._settings):
            self._bot.medium = delivery.medium
            await self._handle(delivery.update)
        await self._rest(event["chat"]["id"])

    def transcript(self, chat: str, topic: str | None) -> list[dict[str, Any]]:
        """The active rows of the sessions of a chat and topic, in the order of the database."""
        rows = []
        for entry in self._entries(chat, topic):
            for columns in self._database.get_messages(entry.session_id):
                rows.append(stored_row(columns) | {"seq": columns["id"], "session": entry.session_key})
        return sorted(rows, key=lambda row: int(row["seq"]))

    def search(self, text: str, chat: str | None) -> list[dict[str, Any]]:
        """What the package's search finds, as far as a hit tells: role and snippet."""
        places = {entry.session_id: entry.origin for entry in self._all_entries() if entry.origin is not None}
        hits = []
        for hit in self._database.search_messages(f'"{text}"'):
            place = places.get(hit["session_id"])
            if place is not None:
                snippet = str(hit["snippet"]).replace(">>>", "").replace("<<<", "")
                row = {"role": hit["role"], "content": snippet, "seq": hit["id"]}
                hits.append({"chat": str(place.chat_id), "topic": place.thread_id, "row": row})
        return hits

    async def retry(self, chat: str, topic: str | None) -> None:
        """`/retry`."""
        await self._command("/retry", chat, topic)

    async def undo(self, chat: str, topic: str | None) -> None:
        """`/undo`."""
        await self._command("/undo", chat, topic)

    async def internal(self, chat: str, topic: str | None, text: str) -> None:
        """A turn of the package's own making in the session of the chat: no person, no channel prompt."""
        entry = next(iter(self._entries(chat, topic)), None)
        if entry is None:
            return
        event = self._base.MessageEvent(text=text, source=entry.origin, internal=True)
        await self._adapter.handle_message(event)
        await self._rest(chat)

    async def drain(self) -> None:
        """Back when no turn runs any more."""
        await self._rest(None)

    async def close(self) -> None:
        """End, once no turn runs any more."""
        await self._rest(None)
        self.end()

    def end(self) -> None:
        """End at once: nothing reaches the storage, the model or a chat from now on."""
        if self._over:
            return
        self._over = True
        self._stack.close()
        for task in list(self._adapter._background_tasks):
            with contextlib.suppress(RuntimeError):  # its loop is closed
                task.cancel()
        for database in self._databases:
            database.close()

    # -- how ------------------------------------------------------------------------------------------------------

    def _make_runner(self, storage: Path) -> Any:
        run: Any = importlib.import_module("gateway.run")
        config: Any = importlib.import_module("gateway.config")
        titles: Any = importlib.import_module("agent.title_generator")
        state: Any = importlib.import_module("hermes_state")
        self._platform = config.Platform.TELEGRAM
        made = config.GatewayConfig(platforms={self._platform: self._adapter.config}, sessions_dir=storage / "sessions")
        titles.maybe_auto_title = lambda *arguments, **options: None
        usual, state.DEFAULT_DB_PATH = state.DEFAULT_DB_PATH, storage / "state.db"
        try:
            runner = run.GatewayRunner(made)
        finally:
            state.DEFAULT_DB_PATH = usual
        self._store = runner.session_store
        self._database = self._store._db
        other = runner._session_db
        self._databases = [self._database, getattr(other, "_db", other)]
        for database in self._databases:
            database.append_message = self._announcing(database.append_message)
        resolve = runner._resolve_turn_agent_config

        def resolved(*arguments: Any, **options: Any) -> Any:
            route = resolve(*arguments, **options)
            route["model"] = NAME
            runtime = {"provider": "custom", "api_mode": "chat_completions"}
            route["runtime"].update(runtime, base_url=self._url, api_key=self._key)
            return route

        runner._resolve_turn_agent_config = resolved
        runner._busy_input_mode = runner._busy_text_mode = "queue"
        return runner

    def _connect(self) -> None:
        async def send(chat_id: Any, content: str, *rest: Any, **options: Any) -> Any:
            topic = (options.get("metadata") or {}).get("thread_id")
            await self._environment.send(str(chat_id), None if topic is None else str(topic), content)
            return self._base.SendResult(success=True, message_id="1")

        async def nothing(*rest: Any, **options: Any) -> None:
            """Menus and typing are for Telegram."""

        self._adapter.set_message_handler(self._runner._handle_message)
        self._adapter.set_session_store(self._store)
        self._adapter._text_batch_delay_seconds = _BATCH
        vars(self._adapter).update(send=send, send_typing=nothing, _ensure_forum_commands=nothing)
        self._runner.adapters[self._platform] = self._adapter

    def _announcing(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def announced(*arguments: Any, **options: Any) -> Any:
            try:
                self._environment.writing("row")
            except Exception as failure:
                raise sqlite3.OperationalError(str(failure)) from failure
            return write(*arguments, **options)

        return announced

    def _model(self, payload: list[dict[str, Any]]) -> dict[str, Any]:
        """Ask the kit, from a thread of the server."""

        async def ask() -> dict[str, Any]:
            self._asking += 1
            try:
                answer: dict[str, Any] = await self._environment.model(payload)
                return answer
            finally:
                self._asking -= 1
                self._answered.set()

        return asyncio.run_coroutine_threadsafe(ask(), self._loop).result()

    async def _handle(self, update: dict[str, Any]) -> None:
        made = self._telegram.Update.de_json(update, self._bot)
        handler = handler_for(self._adapter, made)
        if handler is not None:
            await handler(made, None)

    async def _command(self, text: str, chat: str, topic: str | None) -> None:
        await self._handle(command(text, chat, topic, self._settings))
        await self._rest(chat)

    async def _rest(self, chat: str | None) -> None:
        """Return when nothing is under way in a chat (None: in any)."""
        while running := list(self._running(chat)):
            if self._is_at_work():
                # Whoever watches the loop is not to take it for idle.
                time.sleep(_MOMENT)
                await asyncio.sleep(0)
            else:
                self._answered.clear()
                answered = asyncio.ensure_future(self._answered.wait())
                await asyncio.wait([*running, answered], return_when=asyncio.FIRST_COMPLETED)
                answered.cancel()

    def _is_at_work(self) -> bool:
        """Whether threads of the package are at work, or its timers, where time passes by itself."""
        sessions = sum(not task.done() for task in self._adapter._session_tasks.values())
        batches = any(not task.done() for task in self._adapter._pending_text_batch_tasks.values())
        return sessions > self._asking or (batches and self._time_passes)

    def _running(self, chat: str | None) -> Iterator[asyncio.Task[Any]]:
        tasks = [*self._adapter._pending_text_batch_tasks.items(), *self._adapter._session_tasks.items()]
        for key, task in tasks:
            if not task.done() and (chat is None or chat in key.split(":")):
                yield task

    def _all_entries(self) -> list[Any]:
        self._store._ensure_loaded()
        return list(self._store._entries.values())

    def _entries(self, chat: str, topic: str | None) -> list[Any]:
        return [
            entry
            for entry in self._all_entries()
            if entry.origin is not None and str(entry.origin.chat_id) == chat and entry.origin.thread_id == topic
        ]
