"""A model that keeps every payload that it was given, and answers by a script: a text, a tool call, a failure."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

from observed_context_conformance.environment.gate import Gate
from observed_context_conformance.port import Message

Step = Callable[[], Message]
"""One answer of the model; it may raise."""


class ModelFailure(Exception):  # noqa: N818 - named for what happens, not for what it is
    """What the model raises when the kit makes it fail."""


def says(text: str) -> Step:
    """It answers with `text`."""
    return lambda: {"role": "assistant", "content": text}


def calls_tool(name: str, arguments: str = "{}", *, call_id: str = "call_1") -> Step:
    """It asks for a tool. `arguments` is a JSON object as text."""
    return lambda: {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}],
    }


def fails_once(message: str = "503: overloaded") -> Step:
    """It fails, this once."""

    def step() -> Message:
        raise ModelFailure(message)

    return step


class Model:
    """The model of a check.

    As a plain function (`model(payload)`) for `turn`; `ask` is the same for asyncio, and can stall.

    Attributes:
        payloads: what it was given, request by request, as copies.
        script: what it does next; when it is used up, it says `otherwise`.
    """

    def __init__(self, script: Sequence[Step] = (), *, otherwise: str = "All right.") -> None:
        self.payloads: list[list[Message]] = []
        self.script = list(script)
        self._otherwise = says(otherwise)
        self._gate = Gate()

    def __call__(self, payload: list[Message]) -> Message:
        """Answer the next request.

        Raises:
            ModelFailure: the script says so.
        """
        self._note(payload)
        return self._respond()

    async def ask(self, payload: list[Message]) -> Message:
        """Answer the next request, as a coroutine; while it stalls, not before `release()`.

        Raises:
            ModelFailure: the script says so.
        """
        self._note(payload)
        await self._gate.passing()
        return self._respond()

    def stall(self) -> None:
        """From now on `ask` does not answer."""
        self._gate.close()

    def release(self) -> None:
        """Stop stalling: those who wait get their answers as soon as their loop runs."""
        self._gate.open()

    def _note(self, payload: list[Message]) -> None:
        self.payloads.append(copy.deepcopy(payload))

    def _respond(self) -> Message:
        step = self.script.pop(0) if self.script else self._otherwise
        return step()
