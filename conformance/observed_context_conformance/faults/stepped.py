"""The reference with a pass of compaction that is made of steps, so that a defect is one step done otherwise."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from observed_context import compaction
from observed_context.compaction import Backlog, Outcome, Store
from observed_context.shapes import Limits, Message, Row
from observed_context.waiting import asynchronous, at_once
from observed_context_conformance.adapters.reference import ReferenceAdapter

Ask = Callable[[list[Message]], Awaitable[str | None]]


class SteppedAdapter(ReferenceAdapter):
    """A pass as in the reference: load, see what overflows, ask, make the row, commit."""

    def compact(self, store: Store, session: str, limits: Limits, summarize: compaction.Summarize) -> Row | None:
        """Run one pass and return the summary row, or None."""
        return at_once(self.run_pass(store, session, limits, asynchronous(summarize))).row

    async def run_pass(self, store: Store, session: str, limits: Limits, summarize: Ask) -> Outcome:
        """Run one pass and say what came of it."""
        try:
            return await self.steps(store, session, limits, summarize)
        except Exception:
            return Outcome("failed")

    async def steps(self, store: Store, session: str, limits: Limits, summarize: Ask) -> Outcome:
        """The steps of a pass."""
        backlog = self.backlog_of(self.load(store, session), limits)
        if not self.is_due(backlog, limits):
            return Outcome("nothing", backlog)
        rows, texts = self.pass_of(backlog)
        answer = await summarize(self.prompt_of(backlog, texts, limits))
        row = self.summary_row(backlog, rows, answer, limits)
        seq = self.commit(store, session, row, backlog)
        if seq is None:
            return Outcome("nothing", backlog)
        return Outcome("done", backlog, {**row, "seq": seq}, more=len(rows) < backlog.overflow)

    def load(self, store: Store, session: str) -> list[Row]:
        """What a pass works on."""
        return store.load(session)

    def backlog_of(self, rows: Sequence[Row], limits: Limits) -> Backlog:
        """What is covered, kept, and overflows."""
        return compaction.backlog_of(rows, limits)

    def is_due(self, backlog: Backlog, limits: Limits) -> bool:
        """Whether a pass runs."""
        return compaction.is_due(backlog, limits)

    def pass_of(self, backlog: Backlog) -> tuple[list[Row], list[str]]:
        """The rows of the pass, and their texts in the prompt."""
        return compaction.pass_of(backlog)

    def prompt_of(self, backlog: Backlog, texts: Sequence[str], limits: Limits) -> list[Message]:
        """The prompt."""
        return compaction.prompt_of(backlog, texts, limits)

    def summary_row(self, backlog: Backlog, rows: Sequence[Row], answer: str | None, limits: Limits) -> Row:
        """The row to store."""
        return compaction.summary_row(backlog, rows, answer, limits)

    def commit(self, store: Any, session: str, row: Row, backlog: Backlog) -> int | None:
        """Store it."""
        seq: int | None = store.commit(session, row, backlog.newest)
        return seq
