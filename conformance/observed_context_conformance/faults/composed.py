"""The reference with a turn made of the adapter's own `replay` and `wrap`, so that a defect of one shows in both."""

from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

from observed_context import turn
from observed_context.shapes import Addressed, Limits, Message, Row
from observed_context_conformance.adapters.reference import ReferenceAdapter

Model = Callable[[list[Message]], Message]


class ComposedAdapter(ReferenceAdapter):
    """Overriding `replay` or `wrap` changes the payload of `turn` too; `sent` sees every request on its way out."""

    def turn(
        self,
        transcript: Sequence[Row],
        message: Addressed,
        channel_prompt: str | None,
        limits: Limits,
        model: Model,
    ) -> list[Row]:
        """Take a turn with this adapter's separation and wrapping."""
        numbers = iter(range(1, 1_000_000))

        def through(payload: list[Message]) -> Message:
            return model(self.sent(payload, message, next(numbers)))

        wrap = turn.wrap

        def wrapped(message: Addressed, block: str | None) -> Addressed:
            # The reference's own `wrap` is behind this adapter's, under the name that is replaced here.
            with patch.object(turn, "wrap", wrap):
                return self.wrap(message, block)

        with patch.multiple(turn, replay=self.replay, wrap=wrapped):
            return super().turn(transcript, message, channel_prompt, limits, through)

    def sent(self, payload: list[Message], message: Addressed, number: int) -> list[Message]:
        """What reaches the model instead of `payload`, in the turn's request of that number."""
        del message, number
        return payload


def with_text(message: Message, text: str) -> Message:
    """The message with another text."""
    return {**message, "content": text}


def rewritten(content: Addressed, change: Callable[[str], str]) -> Addressed:
    """The content with `change` made in each of its texts."""
    if isinstance(content, str):
        return change(content)
    return [{**part, "text": change(part["text"])} if part["type"] == "text" else part for part in content]


def changed(rows: Sequence[Row], change: Callable[[Row], dict[str, Any]]) -> list[Row]:
    """The rows, each with what `change` says of it."""
    return [{**row, **change(row)} for row in rows]  # type: ignore[typeddict-item]
