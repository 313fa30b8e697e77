"""A turn of hermes-agent: its store, its history, its `AIAgent`, and the kit's model behind HTTP.

The sequence is that of the package's own gateway (`gateway.run.GatewayRunner._run_agent`): the rows are in the session
store, `SessionStore.load_transcript` loads them, `_build_gateway_agent_history` divides them,
`_wrap_current_message_with_observed_context` puts the block before the message, and
`AIAgent.run_conversation` runs the turn; the bare message goes with it as `persist_user_message` when there is a block.
What the turn persisted is read back from the store, every column of it.

The agent is made anew for every turn. So does the gateway when anything was stored since the turn before, an observed
message for instance: it then discards the agent that it kept.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import itertools
from typing import Any

from observed_context_conformance.adapters.hermes_model import NAME, Model, ModelServer
from observed_context_conformance.adapters.hermes_rows import columns_of, stored_row

_ITERATIONS = 10
"""Model requests in one turn: more than any script of the kit asks for."""


class Turns:
    """Runs turns against one session store; each in a session of its own, which is removed afterwards."""

    def __init__(self, store: Any, server: ModelServer) -> None:
        self._store = store
        self._server = server
        self._run: Any = importlib.import_module("gateway.run")
        self._agents: Any = importlib.import_module("run_agent")
        loop: Any = importlib.import_module("agent.conversation_loop")
        # How often it tries again is the package's decision; how long it pauses before is nothing to wait for.
        loop.jittered_backoff = lambda *arguments, **options: 0.0
        self._numbers = itertools.count(1)
        self._columns = frozenset(inspect.signature(store._db.append_message).parameters)

    def take(
        self, transcript: list[dict[str, Any]], message: Any, channel_prompt: str | None, model: Model
    ) -> list[dict[str, Any]]:
        """Run one turn; the rows that it persisted."""
        session = f"kit-{next(self._numbers)}"
        self._store._db.create_session(session, "telegram")
        try:
            return self._take(session, transcript, message, channel_prompt, model)
        finally:
            self._store._db.delete_session(session)

    def _take(
        self, session: str, transcript: list[dict[str, Any]], message: Any, channel_prompt: str | None, model: Model
    ) -> list[dict[str, Any]]:
        for row in transcript:
            self._store._db.append_message(session, **columns_of(row, self._columns))
        before = {columns["id"] for columns in self._store._db.get_messages(session)}
        history, block = self._run._build_gateway_agent_history(
            self._store.load_transcript(session), channel_prompt=channel_prompt
        )
        wrapped = self._run._wrap_current_message_with_observed_context(message, block)
        options = {"persist_user_message": message} if block else {}
        # It tells its troubles on standard output as well.
        with self._server.serving(session, model), contextlib.redirect_stdout(io.StringIO()):
            agent = self._agent(session, channel_prompt)
            agent.run_conversation(wrapped, conversation_history=history, task_id=session, **options)
        return [stored_row(row) for row in self._store._db.get_messages(session) if row["id"] not in before]

    def _agent(self, session: str, channel_prompt: str | None) -> Any:
        return self._agents.AIAgent(
            base_url=self._server.url,
            api_key=session,
            provider="custom",
            api_mode="chat_completions",
            model=NAME,
            max_iterations=_ITERATIONS,
            tool_delay=0,
            enabled_toolsets=[],
            quiet_mode=True,
            ephemeral_system_prompt=channel_prompt,
            # Somebody who listens: otherwise it draws a spinner, and waits for its last frame.
            thinking_callback=lambda text: None,
            session_id=session,
            session_db=self._store._db,
            platform="telegram",
            skip_context_files=True,
            skip_memory=True,
        )
