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

The gateway lives on an event loop of its own, in a thread: it polls and has time-outs, which the kit's loop, whose time
stands still, cannot serve. A call of the port waits for it on the kit's loop, and keeps that one awake for as long as
the gateway is at work, so that whoever watches does not take it for idle.

Retry and undo are the commands `/retry` and `/undo` of a member of the chat. A search is what the package's
`SessionDB.search_messages` finds; it has no way to search in one chat.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import itertools
import sqlite3
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

from observed_context_conformance.adapters.hermes_model import NAME, ModelServer
from observed_context_conformance.adapters.hermes_platform import handler_for, telegram_adapter
from observed_context_conformance.adapters.hermes_rows import stored_row
from observed_context_conformance.adapters.hermes_telegram import command, deliveries

_MOMENT = 0.001
"""How long the kit's loop sleeps at a time while the gateway is at work, in seconds."""

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
        self._kit = asyncio.get_running_loop()
        self._stirred = asyncio.Event()
        self._key = f"gateway-{next(_NUMBERS)}"
        self._over = False
        self._asking = 0
        self._handling: set[object] = set()
        self._stack = contextlib.ExitStack()
        self._stack.enter_context(server.serving(self._key, self._model))
        self._url = server.url
        self._telegram: Any = importlib.import_module("telegram")
        self._base: Any = importlib.import_module("gateway.platforms.base")
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._live, name=self._key, daemon=True).start()
        asyncio.run_coroutine_threadsafe(self._start(Path(environment.storage)), self._loop).result()

    # -- the port -------------------------------------------------------------------------------------------------

    async def receive(self, event: dict[str, Any]) -> None:
        """Give the update of a message to its handler; back when no turn runs any more that it is part of."""
        prompt = self._settings["channel_prompt"]
        self._adapter.config.extra["channel_prompts"] = {} if prompt is None else {event["chat"]["id"]: prompt}
        await self._done(self._receive(event), event["chat"]["id"])

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
        await self._done(self._handle(command("/retry", chat, topic, self._settings)), chat)

    async def undo(self, chat: str, topic: str | None) -> None:
        """`/undo`."""
        await self._done(self._handle(command("/undo", chat, topic, self._settings)), chat)

    async def internal(self, chat: str, topic: str | None, text: str) -> None:
        """A turn of the package's own making in the session of the chat: no person, no channel prompt."""
        entry = next(iter(self._entries(chat, topic)), None)
        if entry is None:
            return
        event = self._base.MessageEvent(text=text, source=entry.origin, internal=True)
        await self._done(self._adapter.handle_message(event), chat)

    async def drain(self) -> None:
        """Back when no turn runs any more."""
        await self._done(asyncio.sleep(0), None)

    async def close(self) -> None:
        """End, once no turn runs any more."""
        await self._done(asyncio.sleep(0), None)
        self.end()

    def end(self) -> None:
        """End at once: nothing reaches the storage, the model or a chat from now on."""
        if self._over:
            return
        self._over = True
        self._stack.close()
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop)
        for database in self._databases:
            database.close()

    @property
    def abandoned(self) -> bool:
        """Whether nobody can call it any more."""
        return self._kit.is_closed()

    # -- how a call waits for it ----------------------------------------------------------------------------------

    async def _done(self, work: Coroutine[Any, Any, Any], chat: str | None) -> None:
        """Have `work` done on the gateway's loop, and return when nothing of a chat (None: of any) is under way."""
        self._handling.add(work)
        doing = asyncio.run_coroutine_threadsafe(self._finish(work, chat), self._loop)
        doing.add_done_callback(lambda _: self._stir())
        while not doing.done():
            self._stirred.clear()
            if self._is_at_work() or not any(self._running(chat)):
                time.sleep(_MOMENT)
                await asyncio.sleep(0)
            elif not doing.done():
                await self._stirred.wait()
        doing.result()

    def _stir(self) -> None:
        with contextlib.suppress(RuntimeError):  # the kit's loop is closed
            self._kit.call_soon_threadsafe(self._stirred.set)

    def _is_at_work(self) -> bool:
        """Whether it has anything to do before the kit's model answers."""
        sessions = sum(not task.done() for task in list(self._adapter._session_tasks.values()))
        batches = any(not task.done() for task in list(self._adapter._pending_text_batch_tasks.values()))
        return bool(self._handling) or batches or sessions > self._asking

    # -- on the gateway's loop ------------------------------------------------------------------------------------

    def _live(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    async def _start(self, storage: Path) -> None:
        self._adapter, self._bot = telegram_adapter(self._settings)
        self._runner = self._make_runner(storage)
        self._connect()

    async def _stop(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)
        self._loop.stop()

    async def _finish(self, work: Coroutine[Any, Any, Any], chat: str | None) -> None:
        try:
            await work
        finally:
            self._handling.discard(work)
            self._stir()
        while running := list(self._running(chat)):
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)

    async def _receive(self, event: dict[str, Any]) -> None:
        for delivery in deliveries(event, self._settings):
            self._bot.medium = delivery.medium
            await self._handle(delivery.update)

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
            sending = self._environment.send(str(chat_id), None if topic is None else str(topic), content)
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(sending, self._kit))
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
                self._stirred.set()

        return asyncio.run_coroutine_threadsafe(ask(), self._kit).result()

    async def _handle(self, update: dict[str, Any]) -> None:
        made = self._telegram.Update.de_json(update, self._bot)
        handler = handler_for(self._adapter, made)
        if handler is not None:
            await handler(made, None)

    def _running(self, chat: str | None) -> Iterator[asyncio.Task[Any]]:
        batches, sessions = self._adapter._pending_text_batch_tasks, self._adapter._session_tasks
        for key, task in [*batches.items(), *sessions.items()]:
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
