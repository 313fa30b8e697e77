"""What a whole gateway is given: a directory that outlives it, models, a clock, a chat, and a say before each write."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from observed_context_conformance.environment.clock import Clock
from observed_context_conformance.environment.model import Model
from observed_context_conformance.environment.summariser import Summariser, answers
from observed_context_conformance.port import Message, Prompt

Written = Literal["row", "summary"]


class WriteFailure(Exception):  # noqa: N818 - named for what happens, not for what it is
    """What `writing` raises when the kit makes a write fail."""


@contextmanager
def fresh_storage() -> Iterator[str]:
    """The path of an empty directory, removed afterwards. A gateway opened again on it is a restart."""
    # In memory where there is such a place: a gateway syncs every row to disk, and a check stores thousands.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
    with tempfile.TemporaryDirectory(prefix="observed-context-", dir=memory, ignore_cleanup_errors=True) as path:
        yield path


class GatewayEnvironment:
    """The `environment` of the port's `gateway`.

    `storage`, `config`, `model`, `summarize`, `clock`, `send` and `writing` are what an adapter sees; the other
    attributes are the kit's. The same environment serves a gateway and the one that is opened after it.

    Attributes:
        storage: path of the directory.
        config: as for `limits()`.
        clock: seconds.
        models: the model behind `model`; script and payloads are there.
        summariser: the summariser behind `summarize`.
        sent: chat, topic and text of each answer that was sent, in order.
        writes: the durable writes that the gateway announced, those that failed included.
    """

    def __init__(self, storage: str, config: Any) -> None:
        self.storage = storage
        self.config = config
        self.clock = Clock()
        self.models = Model()
        self.summariser = Summariser(answers("They talked about lunch."))
        self.sent: list[tuple[str, str | None, str]] = []
        self.writes: list[Written] = []
        self._failing: list[Written] = []

    async def model(self, payload: list[Message]) -> Message:
        """One request to the model.

        Raises:
            ModelFailure: the script says so.
        """
        return await self.models.ask(payload)

    async def summarize(self, prompt: Prompt) -> str | None:
        """One request to the summariser; it may raise anything."""
        return await self.summariser.ask(prompt)

    async def send(self, chat: str, topic: str | None, text: str) -> None:
        """Deliver an answer to a chat."""
        self.sent.append((chat, topic, text))

    def writing(self, what: Written) -> None:
        """The gateway is about to write something durable.

        Raises:
            WriteFailure: the kit wants this write to fail.
        """
        self.writes.append(what)
        if what in self._failing:
            self._failing.remove(what)
            raise WriteFailure("the disk is full")

    def fail_write(self, what: Written) -> None:
        """Make the next write of this kind fail."""
        self._failing.append(what)
