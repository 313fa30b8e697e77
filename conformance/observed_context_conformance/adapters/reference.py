"""The reference as an adapter: each method of the port is one call into `observed_context`."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import observed_context
from observed_context import (
    addressing,
    assembly,
    compaction,
    gateway,
    gating,
    limits,
    lines,
    redaction,
    rows,
    scheduling,
    separation,
    transcript,
    turn,
)
from observed_context.shapes import Addressed, Decision, Event, Framed, Limits, Message, Replayed, Row, Settings
from observed_context_conformance.adapters.reference_stored import StoredSession


class ReferenceAdapter:
    """The reference implementation behind the port; faults are made by overriding one of its methods."""

    def describe(self) -> dict[str, Any]:
        """Return what the reference declares of itself."""
        return {
            "name": "reference",
            "version": observed_context.__version__,
            "spec": "1.0",
            "profile": "block",
            "markers": dict(addressing.MARKERS),
            "headers": {"block": lines.BLOCK_HEADER, "addressed": lines.ADDRESSED_HEADER},
            "options": {"watermark": "explicit", "image_tool": rows.IMAGE_TOOL},
        }

    def gate(self, event: Event, settings: Settings) -> Decision:
        """Decide whether a message is dispatched, observed or ignored."""
        return gating.gate(event, settings)

    def row(self, event: Event, settings: Settings) -> Row:
        """Return the row that an observed message leaves."""
        del settings  # what is stored of a message does not depend on them
        return rows.observed_row(event)

    def address(self, event: Event, settings: Settings) -> Framed:
        """Return an addressed message framed for its turn."""
        return addressing.address(event, settings)

    def replay(self, transcript: Sequence[Row], channel_prompt: str | None, limits: Limits) -> Replayed:
        """Return a transcript as history and block."""
        return separation.replay(transcript, channel_prompt, limits)

    def assemble(self, rows: Sequence[Row], limits: Limits) -> str | None:
        """Return the block, or None."""
        return assembly.assemble(rows, limits)

    def limits(self, config: object) -> Limits:
        """Return the limits that a configuration sets."""
        return limits.limits_from(config)

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Return an addressed message as the model sees it."""
        return turn.wrap(message, block)

    def turn(
        self,
        transcript: Sequence[Row],
        message: Addressed,
        channel_prompt: str | None,
        limits: Limits,
        model: Callable[[list[Message]], Message],
    ) -> list[Row]:
        """Take a turn and return the rows to store."""
        return turn.take_turn(transcript, message, channel_prompt, limits, model)

    def compact(
        self, store: compaction.Store, session: str, limits: Limits, summarize: compaction.Summarize
    ) -> Row | None:
        """Run one pass of compaction and return the summary row, or None."""
        return compaction.compact(store, session, limits, summarize)

    def redact(self, text: str) -> str:
        """Return a text without its secrets."""
        return redaction.redact(text)

    def scheduler(
        self,
        store: compaction.Store,
        limits: Limits,
        summarize: Callable[[list[Message]], Awaitable[str | None]],
        clock: Callable[[], float],
    ) -> scheduling.Scheduler:
        """Return what starts passes in the background."""
        return scheduling.Scheduler(store, limits, summarize, clock)

    def gateway(self, settings: Settings, environment: gateway.Environment) -> gateway.Gateway:
        """Return a whole gateway."""
        return gateway.Gateway(settings, environment)

    def bench_rows(self, rows: Sequence[Row]) -> transcript.Transcript:
        """Hold rows in memory as the reference holds them; the benchmarks assemble these, too."""
        return transcript.Transcript(rows)

    def bench_store(self, directory: str, past: int, live: Sequence[Row]) -> StoredSession:
        """Store rows as the reference stores them; the benchmarks read and append there."""
        return StoredSession(directory, past, live)


def create() -> ReferenceAdapter:
    """Return the reference adapter."""
    return ReferenceAdapter()
