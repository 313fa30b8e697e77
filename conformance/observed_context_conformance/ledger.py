"""The kit's own ledger of a session: what was said, what the summariser was given, what a summary speaks for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from observed_context_conformance.checking import expect
from observed_context_conformance.environment import Behaviour, MemoryStore, Request, Summariser, answers
from observed_context_conformance.port import Limits, Row
from observed_context_conformance.strategies.stored import (
    FORMS,
    OTHER_ROWS,
    Form,
    Forms,
    Said,
    overflow,
    said,
    summary_text,
)
from observed_context_conformance.subject import Adapter, AdapterCrashed

_SESSIONS = itertools.count(1)


def fresh_session() -> str:
    """A session's key that no example has used before: an adapter may remember sessions."""
    return f"irc:main:#room{next(_SESSIONS)}"


@dataclass(frozen=True)
class Ended:
    """A pass that has ended.

    Attributes:
        row: what `compact` returned.
        requests: its requests to the summariser.
        stored: the rows that it stored.
        crash: what it raised, when the caller allowed that.
    """

    row: Row | None
    requests: tuple[Request, ...]
    stored: tuple[Row, ...]
    crash: AdapterCrashed | None = None

    @property
    def prompt(self) -> str:
        """All prompts of the pass, one below the other."""
        return "\n\x00\x00\n".join(request.text for request in self.requests)

    @property
    def read(self) -> str:
        """The prompts that the summariser has answered, one below the other."""
        return "\n\x00\x00\n".join(request.text for request in self.requests if request.answered)


@dataclass
class Chat:
    """One session of an adapter under test.

    Attributes:
        adapter: the adapter.
        limits: for its passes and its block.
        store: where the session is stored, with others maybe.
        session: its key.
        said: the observed messages, in order of arrival.
        seqs: the seq of each of them.
        given: the numbers of those that a pass which succeeded has given to the summariser.
        first: the number of its first message, and of its first summary.
        passes: how many passes have been run.
    """

    adapter: Adapter
    limits: Limits
    store: MemoryStore = field(default_factory=lambda: MemoryStore(first=0, step=3))
    session: str = field(default_factory=fresh_session)
    first: int = 0
    said: list[Said] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    given: set[int] = field(default_factory=set)
    passes: int = 0

    # -- what happens ---------------------------------------------------------------------------------------------

    def arrive(self, size: int, form: Form = "line", filler: str | None = None) -> Said:
        """An observed message arrives."""
        message = said(self.first + len(self.said), size, form=form, filler=filler, session=self.session)
        self.say(message)
        return message

    def say(self, message: Said) -> None:
        """This observed message arrives."""
        self.seqs.append(self.store.put(self.session, message.row))
        self.said.append(message)

    def arrive_all(self, sizes: Sequence[int], forms: Forms = "line") -> None:
        """Messages of these sizes arrive, in this order."""
        for size in sizes:
            self.arrive(size, FORMS[len(self.said) % len(FORMS)] if forms == "mixed" else forms)
        if sizes:
            self.tell(f"{_messages(self.said[-len(sizes) :])} ({sum(sizes):,} characters)")

    def interlude(self) -> None:
        """Rows arrive that are not observed messages with a text."""
        for row in OTHER_ROWS:
            self.store.put(self.session, row)
        self.tell("an addressed turn is stored, a bookkeeping row, and an observed message without text")

    def run(self, summariser: Summariser | None = None, *, may_raise: bool = False) -> Ended:
        """One pass runs to its end.

        Args:
            summariser: by default one that answers with `next_summary`.
            may_raise: what the adapter raises is noted instead of raised.
        """
        summariser = summariser or Summariser(answers(self.next_summary))
        asked, stored = len(summariser.requests), len(self.store.written)
        row, crash = None, None
        self.tell(f"pass {self.passes + 1} starts; the summariser {summariser.behaviour.story}")
        try:
            row = self.adapter.compact(self.store, self.session, self.limits, summariser)
        except AdapterCrashed as error:
            if not may_raise:
                raise
            crash = error
        finally:
            self.passes += 1
            self.store.undisturbed()
        seqs = {seq for session, seq in self.store.written[stored:] if session == self.session}
        rows = tuple(row for row in self.store.rows(self.session) if row["seq"] in seqs)
        ended = Ended(row, tuple(summariser.requests[asked:]), rows, crash)
        self._enter(ended)
        return ended

    def succeed(self, summariser: Summariser | None = None) -> Ended:
        """One pass runs that is due and has no reason to fail.

        Raises:
            Violation: it stored nothing.
        """
        due = self.overflowing()
        ended = self.run(summariser)
        expect(ended.stored, "no-pass-when-due", expected=f"a summary is stored: {due}", got="nothing was stored")
        return ended

    def interrupted(self, messages: int, behaviour: Behaviour | None = None) -> Summariser:
        """A summariser during whose work messages arrive, once."""
        summariser = Summariser(behaviour or answers(self.next_summary))

        def meanwhile(_: Request) -> None:
            summariser.meanwhile = None
            for _number in range(messages):
                self.tell(f"{self.name(self.arrive(120))} arrives meanwhile")

        summariser.meanwhile = meanwhile
        return summariser

    def _enter(self, ended: Ended) -> None:
        if any("summary" in row for row in ended.stored):
            self.given |= {message.number for message in self.said if message.stands_in(ended.read)}
            self.tell(f"the pass stores a summary {_watermark(ended.stored[-1])}")
        else:
            self.tell("the pass stores nothing")

    def tell(self, line: str) -> None:
        """Add a line to the adapter's story."""
        self.adapter.story.append(line)

    @property
    def next_summary(self) -> str:
        """A summary with words that no other pass of a chat has had."""
        return summary_text(self.first + self.passes)

    # -- how it stands --------------------------------------------------------------------------------------------

    @property
    def positional(self) -> bool:
        """Whether the adapter's summaries cover all that was stored before them."""
        return self.adapter.description.get("options", {}).get("watermark") == "positional"

    @property
    def summary(self) -> Row | None:
        """The newest summary row."""
        return self.store.newest_summary(self.session)

    def covered(self) -> list[Said]:
        """The messages that the newest summary speaks for, by its watermark (ASM-3)."""
        summary = self.summary
        if summary is None:
            return []
        through = None if self.positional else summary["summary"].get("covers_through")
        last = summary["seq"] if through is None else through
        return [message for message, seq in zip(self.said, self.seqs, strict=True) if seq <= last]

    def verbatim(self) -> list[Said]:
        """The messages that it does not speak for."""
        covered = {message.number for message in self.covered()}
        return [message for message in self.said if message.number not in covered]

    def sizes(self) -> list[int]:
        """The sizes of those."""
        return [message.size for message in self.verbatim()]

    def block(self) -> str | None:
        """The next block, by the adapter's own `assemble`."""
        rows = [row for row in self.store.rows(self.session) if row.get("observed")]
        return self.adapter.assemble(rows, self.limits)

    def missing(self, block: str | None) -> list[Said]:
        """The messages that no summariser has been given in a pass that succeeded, and that the block does not show."""
        return [message for message in self.said if message.number not in self.given and not message.stands_in(block)]

    def noted(self, block: str | None) -> int:
        """The number in the omission note of a block; 0 without a note.

        The note stands before the first verbatim row (CAP-4). Its wording is free, and so is that of a summary's label,
        which has the number of messages behind the summary.
        """
        before = []
        for line in (block or "").split("\n"):
            if any(message.sender in line or message.stands_in(line) for message in self.said):
                break
            before.append(line)
        numbers = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", "\n".join(before))]
        summary = self.summary
        if summary is not None and summary["summary"]["covered"] in numbers:
            numbers.remove(summary["summary"]["covered"])
        return max(numbers, default=0)

    def overflowing(self) -> str:
        """What overflows, in words."""
        over = overflow(self.sizes(), self.limits)
        return f"{over.rows} rows with {over.chars:,} characters overflow"

    def name(self, message: Said) -> str:
        """A message, as a story calls it."""
        return f"message {message.number - self.first + 1}"

    def listed(self, messages: Sequence[Said]) -> str:
        """Some messages, as a story calls them."""
        names = [self.name(message) for message in messages]
        return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _messages(messages: Sequence[Said]) -> str:
    first, last = messages[0].number + 1, messages[-1].number + 1
    return f"message {first} arrives" if first == last else f"messages {first} to {last} arrive"


def _watermark(row: Row) -> str:
    through = row.get("summary", {}).get("covers_through")
    return "without a watermark" if through is None else f"that covers through seq {through}"
