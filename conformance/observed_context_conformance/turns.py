"""Turns of an adapter: the kit's model, and the transcript that one turn leaves to the next."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from observed_context_conformance.payloads import Payload, dumped, taken_apart
from observed_context_conformance.port import Addressed, Limits, Message, Row
from observed_context_conformance.strategies.limits import OFF
from observed_context_conformance.subject import Adapter, AdapterCrashed, Violation

Step = Literal["answer", "fail", "tool"]

SCRIPTS: dict[str, tuple[Step, ...]] = {
    "answers": (),
    "fails once": ("fail",),
    "asks for a tool": ("tool",),
    "asks for tools twice": ("tool", "tool"),
    "fails after a tool": ("tool", "fail"),
}
"""What the model does before it answers."""


class ProviderFailedError(Exception):
    """What the kit's model raises when it plays a provider that fails."""


class ScriptedModel:
    """A model that does what its script says, then answers.

    Args:
        script: what it does at its first requests.
        always_fails: it never answers.
    """

    def __init__(self, script: Sequence[Step] = (), *, always_fails: bool = False) -> None:
        self._script = list(script)
        self._always_fails = always_fails
        self._asked = 0

    def __call__(self, payload: list[Message]) -> Message:
        """One request.

        Raises:
            ProviderFailedError: the script says so.
        """
        self._asked += 1
        step = self._script.pop(0) if self._script else "answer"
        if self._always_fails or step == "fail":
            raise ProviderFailedError("the provider is not available (503)")
        if step == "tool":
            call = {"name": "look_up", "arguments": '{"what": "demo"}'}
            # Unique over all turns of a chat, as a provider's are: what stands twice in a payload looks like an error.
            identity = f"asked_{self._asked}_{zlib.crc32(dumped(payload).encode('utf-8', 'replace')):08x}"
            asked = {"id": identity, "type": "function", "function": call}
            return {"role": "assistant", "content": None, "tool_calls": [asked]}
        return {"role": "assistant", "content": "Noted, thank you."}


@dataclass(frozen=True)
class Turn:
    """One turn that an adapter ran.

    Attributes:
        rows: what it persisted; empty when it raised because the model failed.
        requests: the payload of each model request, at least one.
        payloads: the same, taken apart.
    """

    rows: list[Row]
    requests: list[list[Message]]
    payloads: list[Payload]

    @property
    def first(self) -> Payload:
        """The first request, taken apart."""
        return self.payloads[0]


def take_turn(
    adapter: Adapter,
    transcript: list[Row],
    message: Addressed,
    channel_prompt: str | None,
    *,
    limits: Limits = OFF,
    model: ScriptedModel | None = None,
) -> Turn:
    """Run one turn.

    Raises:
        Violation: the model was never asked, or was asked without any message.
        AdapterCrashed: the adapter raised for another reason than the model's failure.
    """
    rows: list[Row] = []
    try:
        rows = adapter.turn(transcript, message, channel_prompt, limits, model or ScriptedModel())
    except AdapterCrashed as crash:
        # A provider's failure may go up to the caller; then nothing is persisted.
        if not _because_of_model(crash):
            raise
    requests = adapter.calls[-1].requests
    if not requests or not all(any(item["role"] != "system" for item in request) for request in requests):
        raise Violation(
            "model-not-asked", expected="a turn that asks the model", got=f"{len(requests)} requests, or an empty one"
        )
    headers = adapter.description["headers"]
    return Turn(rows, requests, [taken_apart(request, message, headers) for request in requests])


@dataclass
class Conversation:
    """A chat over several turns. The kit keeps the transcript: what turns returned, and what was observed meanwhile.

    Attributes:
        transcript: the rows so far.
        observed: the token of each observed row.
        requested: the token of each addressed message whose turn persisted it, with the message.
        answered: the same, where the turn also persisted an answer.
    """

    adapter: Adapter
    channel_prompt: str | None
    limits: Limits = field(default_factory=lambda: OFF)
    transcript: list[Row] = field(default_factory=list)
    observed: list[str] = field(default_factory=list)
    requested: dict[str, str] = field(default_factory=dict)
    answered: dict[str, str] = field(default_factory=dict)
    _said: int = 0

    def observe(self, count: int = 1) -> None:
        """Somebody says something that is not for the bot."""
        for _ in range(count):
            self._said += 1
            mark = f"seen{self._said}z"
            self.observed.append(mark)
            self._append({"role": "user", "observed": True, "content": f"[Ben|1002]\n{mark} I would wait"})

    def address(self, model: ScriptedModel | None = None, *, meanwhile: int = 0) -> Turn:
        """Somebody addresses the bot; while the turn runs, `meanwhile` rows are observed, one after each row of it."""
        self._said += 1
        mark = f"said{self._said}z"
        message = f"[Ana|1001]\n{mark} what do you think?"
        turn = take_turn(self.adapter, self.transcript, message, self.channel_prompt, limits=self.limits, model=model)
        for row in turn.rows:
            self._append(row)
            if row["role"] == "user":
                self.requested[mark] = message
            self.observe(min(1, meanwhile))
            meanwhile = max(0, meanwhile - 1)
        self.observe(meanwhile)
        if turn.rows and turn.rows[-1]["role"] == "assistant" and mark in self.requested:
            self.answered[mark] = message
        return turn

    def _append(self, row: Row) -> None:
        self.transcript.append(cast(Row, {**row, "seq": len(self.transcript) + 1}))


def _because_of_model(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ProviderFailedError):
            return True
        error = error.__cause__ or error.__context__
    return False
