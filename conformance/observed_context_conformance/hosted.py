"""An adapter's gateway under test, on an event loop of its own that runs only while the kit runs it."""

from __future__ import annotations

import copy
import gc
import inspect
import weakref
from asyncio import Task
from collections.abc import Callable
from typing import Any, TypedDict, cast

from observed_context_conformance.environment.gateway import GatewayEnvironment, Written
from observed_context_conformance.environment.loop import KitLoop
from observed_context_conformance.glass import Glass, MisuseError
from observed_context_conformance.port import Event, Message, Prompt, Row
from observed_context_conformance.stdio.process import RemoteObject

Guard = Callable[[str, dict[str, Any], Callable[[], Any]], Any]
"""Records a call of a name with arguments, makes it, and turns what goes wrong into the verdicts of `subject`."""

AHEAD = 3600.0
"""How far timers may run ahead, in seconds, for what has to come to an end: a pause, a `drain()` that polls."""

SHORTLY = 10.0
"""The same, while the kit holds something up: enough to wait for the rest of a message, not for a time-out."""


class Hit(TypedDict):
    """One result of a search."""

    chat: str
    topic: str | None
    row: Row


class Delivery:
    """A message that was handed to the gateway."""

    def __init__(self, task: Task[Any]) -> None:
        self._task = task

    @property
    def done(self) -> bool:
        """Whether `receive` has come back, or has raised."""
        return self._task.done()

    async def end(self) -> None:
        """Wait until it has come back; what it raised is raised."""
        await self._task

    def result(self) -> None:
        """Raise what it raised, if it is over."""
        if self._task.done():
            self._task.result()


class Gateway:
    """The proxy that checks talk to.

    Every method raises `AdapterCrashed` when the adapter raises, `AdapterHung` when it does not come to an end, and
    `ShapeError` when it returns what the schema does not allow or when a callback was misused.
    """

    def __init__(
        self,
        make: Callable[[Any], Any],
        environment: GatewayEnvironment,
        glass: Glass,
        guard: Guard,
        seconds: float,
    ) -> None:
        self._guard = guard
        self._seconds = seconds
        self._loop = KitLoop(environment.clock)
        self._world = _World(environment, glass)
        try:
            self._target = guard("gateway", {}, lambda: self._until(lambda: make(self._world)))
        except BaseException:
            self._loop.end()
            raise

    def offers(self, method: str) -> bool:
        """Whether it has this method; some are optional."""
        return callable(getattr(self._target, method, None))

    # -- messages -------------------------------------------------------------------------------------------------

    def receive(self, event: Event) -> None:
        """Deliver a message, wait until it is dealt with, and let the background go on until everything waits."""

        def call() -> None:
            self._until(lambda: self._target.receive(copy.deepcopy(event)), AHEAD)
            self._settle()

        self._guard("gateway.receive", {"event": event}, call)

    def begin(self, *events: Event) -> list[Delivery]:
        """Deliver messages at the same moment, and let everything go on until it waits, be it for the kit."""

        async def deliver(event: Event) -> None:
            result = self._target.receive(copy.deepcopy(event))
            if inspect.isawaitable(result):
                await result

        def call() -> list[Delivery]:
            deliveries = [Delivery(self._loop.create_task(deliver(event))) for event in events]
            self._settle(SHORTLY)
            for delivery in deliveries:
                delivery.result()
            return deliveries

        return cast("list[Delivery]", self._guard("gateway.receive", {"event": list(events)}, call))

    def finish(self, delivery: Delivery) -> None:
        """Wait until a message is dealt with, and let the background go on until everything waits."""

        def call() -> None:
            self._until(delivery.end, AHEAD)
            self._settle()

        self._guard("gateway.receive", {}, call)

    # -- what it knows --------------------------------------------------------------------------------------------

    def transcript(self, chat: str, topic: str | None) -> list[Row]:
        """The stored rows of a chat and topic."""
        arguments = {"chat": chat, "topic": topic}
        return cast("list[Row]", self._ask("transcript", arguments))

    def search(self, text: str, chat: str | None) -> list[Hit]:
        """Full-text search, in one chat or in all."""
        return cast("list[Hit]", self._ask("search", {"text": text, "chat": chat}))

    # -- what it is told to do ------------------------------------------------------------------------------------

    def retry(self, chat: str, topic: str | None) -> None:
        """Run the last addressed message again."""
        self._ask("retry", {"chat": chat, "topic": topic})

    def undo(self, chat: str, topic: str | None) -> None:
        """Take back the last addressed message and its answer."""
        self._ask("undo", {"chat": chat, "topic": topic})

    def internal(self, chat: str, topic: str | None, text: str) -> None:
        """Run a turn whose channel prompt has no marker."""
        self._ask("internal", {"chat": chat, "topic": topic, "text": text})

    def settle(self) -> None:
        """Let the background go on until everything waits."""
        self._guard("gateway", {}, self._settle)

    def drain(self) -> None:
        """Wait until nothing runs in the background. Nothing may hold up the summariser meanwhile."""
        self._ask("drain", {})

    # -- how it ends ----------------------------------------------------------------------------------------------

    def shut(self) -> None:
        """Close it, as before an update."""
        self._ask("close", {})
        self._loop.end()

    def kill(self) -> None:
        """Let it end without a word, as when the machine loses power: from now on it can do nothing any more."""
        self._world.over = True
        self._loop.end()
        if isinstance(self._target, RemoteObject):
            self._target.forget()
            self._target = None
            return
        # What it holds open is released, as the end of a process would release it; as a rule nobody else holds it.
        alive = weakref.ref(self._target) if hasattr(self._target, "__weakref__") else lambda: True
        self._target = None
        if alive():
            gc.collect()

    def close(self) -> None:
        """Close it if it still runs. Raises nothing, whatever the adapter does."""
        if self._loop.is_closed():
            return
        try:
            self.shut()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # it hangs, for one; whoever closes it now has his verdict already
            self._loop.end()

    # -- how a call is made ---------------------------------------------------------------------------------------

    def _ask(self, method: str, arguments: dict[str, Any]) -> Any:
        def call() -> Any:
            result = self._until(lambda: getattr(self._target, method)(*arguments.values()), AHEAD)
            self._settle()
            return result

        return self._guard(f"gateway.{method}", arguments, call)

    def _until(self, work: Callable[[], Any], timers: float = 0.0) -> Any:
        return self._loop.until(work, seconds=self._seconds, timers=timers)

    def _settle(self, timers: float = 2.0) -> None:
        self._loop.settle(seconds=self._seconds, timers=timers)


class _World:
    """The environment as the adapter sees it: what it hands over is checked, and nothing else of the kit is in reach.

    Attributes:
        over: the gateway has been killed; whatever it still tries fails.
    """

    def __init__(self, environment: GatewayEnvironment, glass: Glass) -> None:
        self.storage = environment.storage
        self.config = copy.deepcopy(environment.config)
        self.clock = environment.clock
        self.over = False
        self._environment = environment
        self._glass = glass

    async def model(self, payload: list[Message]) -> Message:
        """One request to the model."""
        self._alive()
        self._glass.look("model", payload=payload)
        return await self._environment.model(payload)

    async def summarize(self, prompt: Prompt) -> str | None:
        """One request to the summariser."""
        self._alive()
        self._glass.look("summarize", prompt=prompt)
        return await self._environment.summarize(copy.deepcopy(prompt))

    async def send(self, chat: str, topic: str | None, text: str) -> None:
        """Deliver an answer to a chat."""
        self._alive()
        if not (isinstance(chat, str) and isinstance(topic, str | None) and isinstance(text, str)):
            self._misused(f"send() takes a chat, a topic or None, and a text, not {chat!r}, {topic!r} and {text!r}")
        await self._environment.send(chat, topic, text)

    def writing(self, what: Written) -> None:
        """Say that something durable is about to be written."""
        self._alive()
        if what not in ("row", "summary"):
            self._misused(f'writing() takes "row" or "summary", not {what!r}')
        self._environment.writing(what)

    def _alive(self) -> None:
        if self.over:
            raise ConnectionError("this gateway has been killed")

    def _misused(self, message: str) -> None:
        self._glass.misuse = self._glass.misuse or message
        raise MisuseError(message)
