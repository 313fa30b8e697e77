"""The adapter for hermes-agent, a gateway from PyPI with an observe mode for Telegram: it drives the released package.

Every decision is the package's own. An event is delivered as Telegram delivers it (`hermes_telegram`), to the handler
that the package registers for such an update; what the handler does is the answer:

- `gate`: whether it dispatches, observes, or does neither;
- `row`: the handler with the decision to observe, then what `SessionStore.load_transcript` gives back;
- `address`: the handler with the decision to dispatch, then the event that it hands to the gateway;
- `replay`, `wrap`: `gateway.run._build_gateway_agent_history`, `._wrap_current_message_with_observed_context`;
- `turn`: its `AIAgent` on a transcript in its session store (`hermes_turn`);
- `redact`: `agent.redact.redact_sensitive_text`;
- `gateway`: its `GatewayRunner` (`hermes_gateway`).

An account is a gateway with a home of its own, hence with sessions of its own: the names of sessions begin with the
account. A downloaded file lies where the package puts it; in a row the path that the event gives stands instead, and
after it the sender's file name, where the package has that in its path and there is more in it than letters.

Tried with 0.16.0 to 0.19.0; the environment for it is made by `.ci/hermes`.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import logging
import re
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from observed_context_conformance.adapters.hermes_environment import isolate
from observed_context_conformance.adapters.hermes_gateway import Gateway
from observed_context_conformance.adapters.hermes_model import Model, ModelServer
from observed_context_conformance.adapters.hermes_platform import handler_for, telegram_adapter
from observed_context_conformance.adapters.hermes_rows import loaded_row, message, transcript_entry
from observed_context_conformance.adapters.hermes_telegram import Delivery, deliveries
from observed_context_conformance.adapters.hermes_turn import Turns

_SPEC = "1.0"
_LISTENERS = 64
"""How many settings keep their adapter."""

_MADE_UP = re.compile(r".*/(?:[a-z]+_)?[0-9a-f]{12}(?=[_.]|$)_?", re.DOTALL)
"""The part of a cached file's path that the package makes up: its directory and a random number."""

_PLAIN = re.compile(r"[\w./:~-]+", re.ASCII)
"""A path or URL that says nothing but where; any other is not the package's doing, and is left out."""

_PLAIN_QUERY = re.compile(r"\w+=\w{1,12}(&\w+=\w{1,12})*", re.ASCII)
"""The same of a URL's query. The package never sees a URL, so it cannot be asked what it takes out of one."""

_HARMLESS = re.compile(r"[\w. -]*")
"""The end of a cached file's path as it is when nobody means harm by a file name."""

_LOGGERS = ("agent", "gateway", "hermes_cli", "hermes_state", "plugins", "tools")
"""Where the package logs; its warnings are for a log file, not for the terminal of a check."""


def create() -> HermesAgent:
    """The adapter for the installed hermes-agent.

    Raises:
        ModuleNotFoundError: hermes-agent or python-telegram-bot is not installed beside the kit.
    """
    for module, package in (("gateway", "hermes-agent"), ("telegram", "python-telegram-bot")):
        if importlib.util.find_spec(module) is None:
            raise ModuleNotFoundError(
                f"{package} is not installed here. It pins what it depends on, so give it an environment of its own: "
                "run .ci/hermes, or install hermes-agent==0.19.0, python-telegram-bot==22.6 and this kit there"
            )
    return HermesAgent(isolate())


class HermesAgent:
    """The port's methods on top of the package. One object serves any number of calls.

    Args:
        home: the package's home directory, as `isolate` made it.
    """

    def __init__(self, home: Path) -> None:
        for name in _LOGGERS:
            logging.getLogger(name).addHandler(logging.NullHandler())
        self._run: Any = importlib.import_module("gateway.run")
        config: Any = importlib.import_module("gateway.config")
        session: Any = importlib.import_module("gateway.session")
        self._store: Any = session.SessionStore(sessions_dir=home / "sessions", config=config.GatewayConfig())
        self._listeners: OrderedDict[str, _Listener] = OrderedDict()
        self._server = ModelServer()
        self._turns = Turns(self._store, self._server)
        self._gateways: dict[str, Gateway] = {}
        self._redact: Any = importlib.import_module("agent.redact")
        # The first turn of a process takes seconds, which no call should be charged with.
        self._turns.take([], "Hello.", None, lambda payload: {"role": "assistant", "content": "Hello."})

    def describe(self) -> dict[str, Any]:
        """The package and the release that is installed."""
        return {
            "name": "hermes-agent",
            "version": importlib.metadata.version("hermes-agent"),
            "spec": _SPEC,
            "profile": "block",
            "markers": {"telegram": self._run._TELEGRAM_OBSERVED_CONTEXT_PROMPT_MARKER},
            "headers": {
                "block": self._run._OBSERVED_GROUP_CONTEXT_HEADER,
                "addressed": self._run._CURRENT_ADDRESSED_MESSAGE_HEADER,
            },
        }

    async def gate(self, event: dict[str, Any], settings: dict[str, Any]) -> dict[str, str]:
        """What the handler of such an update does. Of an album, the first update decides that the text is in."""
        listener = self._listener(event, settings)
        await listener.receive(deliveries(event, settings)[0])
        if listener.dispatched:
            return {"action": "dispatch"}
        return {"action": "observe" if listener.observed else "ignore"}

    async def row(self, event: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any] | None:
        """The row of an observed message as it comes back from the package's store; None when none was stored."""
        listener = self._listener(event, settings)
        written = _Written(self._store)
        listener.adapter.set_session_store(written)
        made = deliveries(event, settings)
        for delivery in made:
            await listener.receive(delivery, decision="observe")
        if written.entry is None:
            return None
        stored = self._store.load_transcript(written.entry.session_id)
        self._forget(written.entry)
        if not stored:
            return None
        row = loaded_row(stored[0], f"{event['account']}/{written.entry.session_key}")
        # An album is several messages, hence several rows, which the package joins when it loads them, from 0.19 on.
        row["content"] = "\n\n".join(entry["content"] for entry in stored)
        for seen, delivery in zip(listener.observed, made, strict=False):
            row["content"] = _at_the_events_path(row["content"], seen, delivery)
        return row

    async def address(self, event: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any] | None:
        """The event that the handler gives to the gateway; None when it gives none."""
        listener = self._listener(event, settings)
        made = deliveries(event, settings)[0]
        await listener.receive(made, decision="dispatch")
        if not listener.dispatched:
            return None
        framed = listener.dispatched[0]
        return {
            "message": _at_the_events_path(framed.text, framed, made),
            "channel_prompt": framed.channel_prompt,
            "session": f"{event['account']}/{self._store._generate_session_key(framed.source)}",
            "sender": framed.source.user_id,
        }

    def replay(
        self, transcript: list[dict[str, Any]], channel_prompt: str | None, limits: dict[str, int]
    ) -> dict[str, Any]:
        """History and block. The package has no cap and no summaries: limits are unused, a summary row is a text."""
        rows = [transcript_entry(row) for row in transcript]
        history, block = self._run._build_gateway_agent_history(rows, channel_prompt=channel_prompt)
        return {"history": [message(entry) for entry in history], "block": block}

    def wrap(self, message: Any, block: str | None) -> Any:
        """The addressed message as the model sees it."""
        return self._run._wrap_current_message_with_observed_context(message, block)

    def turn(
        self,
        transcript: list[dict[str, Any]],
        message: Any,
        channel_prompt: str | None,
        limits: dict[str, int],
        model: Model,
    ) -> list[dict[str, Any]]:
        """The rows that a turn persists; limits are unused."""
        return self._turns.take(transcript, message, channel_prompt, model)

    def redact(self, text: str) -> str:
        """The package's redaction as its summariser uses it, whatever the display preference says."""
        return str(self._redact.redact_sensitive_text(text, force=True))

    async def gateway(self, settings: dict[str, Any], environment: Any) -> Gateway:
        """A gateway. The one that was opened on this storage before is over, and so are those that nobody can call."""
        for storage, other in list(self._gateways.items()):
            if storage == environment.storage or other.abandoned:
                self._gateways.pop(storage).end()
        made = self._gateways[environment.storage] = Gateway(settings, environment, self._server)
        return made

    def _forget(self, entry: Any) -> None:
        """Remove a session, so that the next row of its chat is alone in it and the store does not grow."""
        self._store._db.delete_session(entry.session_id)
        self._store._entries.pop(entry.session_key, None)

    def _listener(self, event: dict[str, Any], settings: dict[str, Any]) -> _Listener:
        key = json.dumps(settings, sort_keys=True)
        listener = self._listeners.get(key)
        if listener is None:
            listener = self._listeners[key] = _Listener(settings)
            if len(self._listeners) > _LISTENERS:
                self._listeners.popitem(last=False)
        self._listeners.move_to_end(key)
        listener.begin(event["chat"]["id"], settings["channel_prompt"])
        return listener


class _Listener:
    """The package's Telegram adapter under one configuration, with an ear at its exits.

    Attributes:
        adapter: the package's object.
        dispatched: the events that it gave to the gateway since `begin`.
        observed: the events that it observed since `begin`; None for one that it builds itself.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self._telegram: Any = importlib.import_module("telegram")
        self.adapter, self._bot = telegram_adapter(settings)
        self.dispatched: list[Any] = []
        self.observed: list[Any] = []
        self._storing = False
        self._listen()

    def begin(self, chat: str, channel_prompt: str | None) -> None:
        """Forget the last event; the prompt of a chat is configured by the chat's id."""
        self.dispatched, self.observed = [], []
        self.adapter.config.extra["channel_prompts"] = {} if channel_prompt is None else {chat: channel_prompt}

    async def receive(self, delivery: Delivery, decision: str | None = None) -> None:
        """Give one update to the handler that the package registers for it.

        Args:
            delivery: the update.
            decision: `observe` or `dispatch` where that is not asked but given; a row is stored only then.
        """
        self._bot.medium = delivery.medium
        update = self._telegram.Update.de_json(delivery.update, self._bot)
        overridden: dict[str, Callable[..., bool]] = {}
        if decision is not None:
            overridden["_should_process_message"] = lambda message, **options: decision == "dispatch"
            overridden["_should_observe_unmentioned_group_message"] = lambda message: decision == "observe"
        self._storing = decision == "observe"
        vars(self.adapter).update(overridden)
        try:
            handler = handler_for(self.adapter, update, observing=self._storing)
            if handler is not None:
                await handler(update, None)
        finally:
            for name in overridden:
                del vars(self.adapter)[name]

    def _listen(self) -> None:
        observe = self.adapter._observe_unmentioned_group_message

        def observed(message: Any, kind: Any, update_id: Any = None, event: Any = None) -> None:
            self.observed.append(event)
            if self._storing:
                observe(message, kind, update_id=update_id, event=event)

        def dispatched(event: Any) -> None:
            self.dispatched.append(event)

        async def handled(event: Any) -> None:
            self.dispatched.append(event)

        async def queued(group: str, event: Any) -> None:
            self.dispatched.append(event)

        async def no_menu(message: Any) -> None:
            """Menus are sent to Telegram."""

        vars(self.adapter).update(
            _observe_unmentioned_group_message=observed,
            _enqueue_text_event=dispatched,
            _enqueue_photo_event=lambda batch, event: dispatched(event),
            _queue_media_group_event=queued,
            _ensure_forum_commands=no_menu,
            handle_message=handled,
        )


class _Written:
    """The package's store, remembering the session that was written to.

    Attributes:
        entry: the session's entry, None when nothing was written.
    """

    def __init__(self, store: Any) -> None:
        self._store = store
        self.entry: Any = None

    def get_or_create_session(self, source: Any) -> Any:
        """The store's, remembered."""
        self.entry = self._store.get_or_create_session(source)
        return self.entry

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def _at_the_events_path(text: str, seen: Any, delivery: Delivery) -> str:
    if seen is None or delivery.medium is None:
        return text
    known, _, query = (delivery.medium["path"] or delivery.medium["url"] or "").partition("?")
    if not _PLAIN.fullmatch(known):
        return text
    if _PLAIN_QUERY.fullmatch(query):
        known = f"{known}?{query}"
    for cached in seen.media_urls:
        made_up = _MADE_UP.match(cached)
        if made_up is not None:
            # What follows is an extension or the sender's file name; it stays where it could do harm.
            rest = cached[made_up.end() :]
            text = text.replace(cached, known if _HARMLESS.fullmatch(rest) else known + rest)
    return text
