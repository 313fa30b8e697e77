"""Checks of compaction (CMP): two sessions in one store, and two passes over one session."""

from __future__ import annotations

import threading
from contextlib import suppress

from hypothesis import event
from hypothesis import strategies as st

from observed_context_conformance.checking import Adapter, check, expect, given, quote
from observed_context_conformance.environment import (
    MemoryStore,
    StoreFailure,
    flat,
)
from observed_context_conformance.ledger import Chat, fresh_session
from observed_context_conformance.port import Limits, Prompt, Row
from observed_context_conformance.strategies.stored import (
    Backlog,
    due_backlogs,
    limits_of,
    summary_text,
    summary_words,
)
from observed_context_conformance.subject import AdapterCrashed

CALM: Limits = {"max_chars": 1_000, "max_rows": 0}
"""Under these a pass is due from two overflowing rows with 4,000 characters on."""


# -- CMP-12: a pass keeps to its session ------------------------------------------------------------------------------


@check("CMP-12", calls=("compact",), examples=25)
@given(
    backlog=due_backlogs(limits=limits_of(chars=(1000, 4000))),
    suffix=st.sampled_from((":7", "0", " ", "/thread", "%")),
    order=st.lists(st.integers(0, 1), min_size=2, max_size=4),
)
def a_pass_reads_and_writes_its_own_session_only(
    adapter: Adapter, backlog: Backlog, suffix: str, order: list[int]
) -> None:
    """Two sessions with similar keys in one store, compacted in turns."""
    store, session = MemoryStore(step=2), fresh_session()
    chats = [
        Chat(adapter, backlog.limits, store, session),
        Chat(adapter, backlog.limits, store, session + suffix, first=1000),
    ]
    for index in (0, 1, *order):
        chat, other = chats[index], chats[1 - index]
        chat.tell(f"in session {quote(chat.session)}:")
        chat.arrive_all(backlog.sizes)
        loads, written = len(store.loads), len(store.written)
        ended = chat.run()
        touched = {*store.loads[loads:], *(session for session, _ in store.written[written:])}
        expect(
            touched <= {chat.session},
            "touches-another-session",
            expected=f"a pass over {quote(chat.session)} reads and writes that session",
            got=f"it touched {quote(sorted(touched - {chat.session}))}",
        )
        strange = [message for message in other.said if message.stands_in(ended.prompt)]
        memory = [word for number in range(other.passes) for word in summary_words(other.first + number)]
        expect(
            not strange and not any(word in ended.prompt for word in memory),
            "another-session-in-prompt",
            expected=f"nothing of {quote(other.session)} is in the prompt for {quote(chat.session)}",
            got="a message of it is" if strange else "a summary of it is",
        )


@check("CMP-12", calls=("compact", "assemble"), after=("CMP-5",), examples=12)
@given(backlog=due_backlogs(limits=limits_of(chars=(1000, 4000))), order=st.lists(st.integers(0, 1), max_size=3))
def what_another_session_has_compacted_hides_nothing(adapter: Adapter, backlog: Backlog, order: list[int]) -> None:
    """The same chat is observed by two accounts, and their sessions are compacted in turns: neither loses a message."""
    store, session = MemoryStore(step=2), fresh_session()
    chats = [
        Chat(adapter, backlog.limits, store, session),
        Chat(adapter, backlog.limits, store, session.replace(":main:", ":other:"), first=1000),
    ]
    for index in (0, 1, *order, 0, 1):
        chat = chats[index]
        chat.tell(f"in session {quote(chat.session)}:")
        chat.arrive_all(backlog.sizes)
        chat.run()
    for chat in chats:
        block = chat.block()
        missing, noted = chat.missing(block), chat.noted(block)
        expect(
            len(missing) <= noted,
            "message-lost",
            expected=f"each message of {quote(chat.session)} given to the summariser, in its block, or in the note",
            got=f"{chat.listed(missing)} in none, and the note counts {noted}",
        )


# -- CMP-13: two passes at once ---------------------------------------------------------------------------------------


PATIENCE = 0.2
"""How long one of two passes waits for the other, in seconds: an adapter may keep one until the other is over."""


class _Side:
    """One of two passes at once: its store and its summariser, each of which can wait for the other pass."""

    def __init__(self, store: MemoryStore, number: int) -> None:
        self._store = store
        self._number = number
        self.yields_to: _Side | None = None
        self.starts_after: threading.Event | None = None
        self.answers_after: threading.Event | None = None
        self.asked, self.wrote = threading.Event(), threading.Event()
        self.prompts: list[str] = []
        self.stored: list[int] = []

    def load(self, session: str) -> list[Row]:
        if self.starts_after is not None:
            self.starts_after.wait(PATIENCE)
        return self._store.load(session)

    def append(self, session: str, row: Row) -> int:
        seq = self._store.append(session, row)
        self._stored(seq)
        return seq

    def commit(self, session: str, row: Row, previous: int | None) -> int | None:
        if self.yields_to is not None and self.yields_to.wrote.is_set():
            raise StoreFailure("the transcript is locked")
        seq = self._store.commit(session, row, previous)
        if seq is not None:
            self._stored(seq)
        return seq

    def summarize(self, prompt: Prompt) -> str | None:
        self.prompts.append(flat(prompt))
        self.asked.set()
        if self.answers_after is not None:
            self.answers_after.wait(PATIENCE)
        return summary_text(self._number)

    def _stored(self, seq: int) -> None:
        self.stored.append(seq)
        self.wrote.set()


def _two_sides(adapter: Adapter, backlog: Backlog, *, overtaken: bool, compacted: bool) -> tuple[Chat, _Side, _Side]:
    """A chat with a backlog, and two passes that are going to be at work on it at the same time."""
    chat = Chat(adapter, CALM)
    chat.arrive_all(backlog.sizes)
    if compacted:
        chat.run()
        chat.arrive_all(backlog.sizes)
    first, second = _Side(chat.store, 8), _Side(chat.store, 9)
    second.starts_after = first.asked
    # Either the second overtakes the first, or it finds that the first is done while it waits for its own answer.
    first.answers_after = second.wrote if overtaken else second.asked
    second.answers_after = None if overtaken else first.wrote
    chat.tell("a pass starts, and another one while the summariser of the first is at work")
    return chat, first, second


def _not_both_stored(chat: Chat, first: _Side, second: _Side) -> None:
    event("both asked the summariser" if first.asked.is_set() and second.asked.is_set() else "one of them waited")
    both = [m for m in chat.said if m.stands_in("\n".join(first.prompts)) and m.stands_in("\n".join(second.prompts))]
    expect(
        not (first.stored and second.stored and both),
        "both-stored",
        expected="one of two passes that were given the same rows stores its summary, the other throws its own away",
        got=f"both stored one, and both had {chat.listed(both)}",
    )


@check("CMP-13", calls=("compact",), examples=8)
@given(backlog=due_backlogs(limits=st.just(CALM), most=6), overtaken=st.booleans(), compacted=st.booleans())
def two_passes_at_once_never_both_store_a_summary_of_the_same_rows(
    adapter: Adapter, backlog: Backlog, overtaken: bool, compacted: bool
) -> None:
    """The second starts while the summariser of the first is at work, and overtakes it or comes second."""
    chat, first, second = _two_sides(adapter, backlog, overtaken=overtaken, compacted=compacted)
    results = adapter.compact_at_once(chat.session, chat.limits, first, second)
    _not_both_stored(chat, first, second)
    for side, result in zip((first, second), results, strict=True):
        expect(
            (result["seq"] if result else None) == (side.stored[-1] if side.stored else None),
            "loser-reports-a-summary",
            expected="compact() returns the row that it stored, or null when another pass came first",
            got=f"it returned {quote(result)} and stored {quote(side.stored)}",
        )


@check("CMP-13", calls=("compact",), examples=6)
@given(backlog=due_backlogs(limits=st.just(CALM), most=6), overtaken=st.booleans(), compacted=st.booleans())
def a_store_that_fails_lets_no_second_summary_in(
    adapter: Adapter, backlog: Backlog, overtaken: bool, compacted: bool
) -> None:
    """The pass that comes second cannot find out that it is: `commit` raises. It has no other way to store its own."""
    chat, first, second = _two_sides(adapter, backlog, overtaken=overtaken, compacted=compacted)
    first.yields_to, second.yields_to = second, first
    chat.tell("whichever comes second finds the transcript locked")
    with suppress(AdapterCrashed):  # what it says of the failure is another matter
        adapter.compact_at_once(chat.session, chat.limits, first, second)
    _not_both_stored(chat, first, second)


REACH = {
    "two_passes_at_once_never_both_store_a_summary_of_the_same_rows": {"both asked the summariser": 0.3},
}
