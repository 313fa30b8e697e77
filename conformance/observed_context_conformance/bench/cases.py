"""What is measured: a table of cases, each a call on material of one kind, over several sizes."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from observed_context_conformance.bench import material
from observed_context_conformance.bench.material import DEFAULT, OFF
from observed_context_conformance.port import Description, Limits, Row

FEW, MANY, MOST = (100, 1_000, 10_000), (100, 1_000, 10_000, 100_000), (100, 1_000, 10_000, 100_000, 1_000_000)

EVENTS = 200
"""Messages that are gated in one go."""

APPENDS = 50
"""Rows that are stored in one go, while a read is in progress."""

LIVE = 400
"""Rows that a turn reads, however many are stored: observed ones that no summary covers, requests and answers."""

GIANT = 2_000_000
"""Characters."""

STEADY = 10_000
"""Rows in a list that a processor's cache holds, more or less."""

PART_ROWS, PART_CHARS = 1_000, 130_000
"""What the limit is measured with: the newest of the rows that are shown, up to so many, or so many characters."""


@dataclass(frozen=True)
class Work:
    """One case at one size, ready to be measured.

    Attributes:
        method: the method of the adapter.
        arguments: those of each call; the calls are made one after the other.
        shown: the rows whose texts have to come out, or the texts themselves: what the limit joins.
        there: all rows that there are, when more are there than are shown.
        amount: how much is done by all calls together, for the rate.
        target: what has the method, when it is not the adapter itself.
        limit: the limit, where it is another than joining what is shown.
    """

    method: str
    arguments: Sequence[tuple[Any, ...]]
    shown: Sequence[Row] | Sequence[str]
    there: Sequence[Row] | None = None
    amount: float = 0
    target: object | None = None
    limit: Callable[[], object] | None = None


class Stored(Protocol):
    """A session in an adapter's own store, behind which stand rows that a summary covers."""

    def read(self) -> object:
        """What a turn does between the addressed message and the first request to the model."""

    def append(self, rows: Sequence[Row]) -> object:
        """Store these observed rows, one after the other, while somebody is in the middle of reading."""

    def close(self) -> None:
        """Release the store."""


Make = Callable[["Subject", int], Iterator[Work]]
"""Makes the work of one size; the material is there until the iterator is closed."""


@dataclass(frozen=True)
class Subject:
    """The adapter that is measured.

    Attributes:
        name: as it was given.
        adapter: the object with the methods.
        description: what the adapter says of itself.
        piped: it is another process.
    """

    name: str
    adapter: Any
    description: Description
    piped: bool = False


@dataclass(frozen=True)
class Case:
    """A call on material of one kind.

    Attributes:
        call: the method of the port, or what stands for it.
        name: what it is called on; with `call` unique.
        make: makes the work of one size.
        sizes: what is measured unless more is asked for.
        full: what is measured when it is.
        unit: what the size counts.
        rate: what `Work.amount` counts, per second.
        needs: methods of the adapter without which there is nothing to measure.
        local: it cannot be measured through a pipe.
        waits: the call waits for a disk: its rate is by the clock on the wall.
        steady: up to this size a cost is the same in every run; beyond, it depends on where in memory the rows lie.
    """

    call: str
    name: str
    make: Make
    sizes: tuple[int, ...]
    full: tuple[int, ...]
    unit: str = "rows"
    rate: str | None = None
    needs: tuple[str, ...] = field(default=())
    local: bool = False
    waits: bool = False
    steady: int | None = None

    @property
    def id(self) -> str:
        """The name of the case in files: `assemble: chat, default limits`."""
        return f"{self.call}: {self.name}"


def text_of(row: Row) -> str:
    """The text of a row: its content, or the text parts of that."""
    content = row.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or () if part["type"] == "text")


def limit_of(work: Work) -> tuple[Callable[[], object], float]:
    """The least that any adapter does, and how often: it takes the texts out of the rows, and joins them.

    It is done with so many rows as a processor keeps at hand, and counted as often as there are more. With a million it
    would tell how fast the memory is, and that depends on the machine, and on what else it does.
    """
    if work.limit is not None:
        return work.limit, 1.0
    shown: Any = work.shown
    number = room = 0
    while number < min(len(shown), PART_ROWS) and room < PART_CHARS:
        number += 1
        room += len(shown[-number] if isinstance(shown[-number], str) else text_of(shown[-number]))
    return _joining(shown[len(shown) - number :]), len(shown) / number


def whole_of(work: Work) -> Callable[[], object]:
    """The same with all rows that there are, in one go: it is as slow as the memory, which others use as well."""
    return work.limit or _joining(work.shown if work.there is None else work.there)


def _joining(rows: Any) -> Callable[[], object]:
    if isinstance(rows[0], str):
        return lambda: "\n".join(rows)
    return lambda: "\n".join([text_of(row) for row in rows])


def window(rows: Sequence[Row], limits: Limits) -> list[Row]:
    """The newest rows that fit into the limits: those that have to be shown."""
    room, first = limits["max_chars"] or float("inf"), len(rows)
    most = limits["max_rows"] or len(rows)
    while first > 0 and len(rows) - first < most:
        room -= len(text_of(rows[first - 1])) + 1
        if room < -1:
            break
        first -= 1
    return list(rows[first:])


# -- assemble, wrap, replay --------------------------------------------------------------------------------------------


def _assembling(made: Callable[[int], list[Row]], limits: Limits) -> Make:
    def make(subject: Subject, size: int) -> Iterator[Work]:
        rows = made(size)
        yield Work("assemble", [(rows, limits)], window(rows, limits), rows)

    return make


def _holding(subject: Subject, size: int) -> Iterator[Work]:
    rows = material.rows(material.even_line, size)
    yield Work("assemble", [(subject.adapter.bench_rows(rows), DEFAULT)], window(rows, DEFAULT), rows)


def _giant(subject: Subject, size: int) -> Iterator[Work]:
    rows = material.with_giant(material.rows(material.chat_line, size), GIANT)
    text = text_of(rows[-1])[: DEFAULT["max_chars"]]
    yield Work("assemble", [(rows, DEFAULT)], [text[at : at + 1_000] for at in range(0, len(text), 1_000)], rows)


def _summarised(subject: Subject, size: int) -> Iterator[Work]:
    rows = material.with_summary(material.rows(material.chat_line, size))
    summary = next(row for row in rows if "summary" in row)
    through = cast(int, summary["summary"]["covers_through"])
    left = [row for row in rows if "summary" not in row and row["seq"] > through]
    yield Work("assemble", [(rows, DEFAULT)], [summary, *window(left, DEFAULT)], rows)


def _wrapping(line: Callable[..., str]) -> Make:
    def make(subject: Subject, size: int) -> Iterator[Work]:
        rows = material.rows(line, size)
        block = "\n".join(text_of(row) for row in rows)
        yield Work("wrap", [("[Ana|1001]\n@kit_bot who brings it?", block)], rows)

    return make


def _replaying(made: Callable[[int], list[Row]], marked: bool) -> Make:
    def make(subject: Subject, size: int) -> Iterator[Work]:
        rows = made(size)
        prompt = next(iter(subject.description["markers"].values())) if marked else None
        observed = [row for row in rows if marked and row.get("observed")]
        history = [row for row in rows if not (marked and row.get("observed"))]
        yield Work("replay", [(rows, prompt, DEFAULT)], [*history, *window(observed, DEFAULT)], rows)

    return make


# -- gate, redact, compact ---------------------------------------------------------------------------------------------


def _gating(mention: str) -> Make:
    def make(subject: Subject, size: int) -> Iterator[Work]:
        events = material.events(size, EVENTS, mention)
        arguments = [(event, material.SETTINGS) for event in events]
        yield Work("gate", arguments, [event["text"] for event in events], amount=EVENTS)

    return make


def _redacting(line: Callable[..., str]) -> Make:
    def make(subject: Subject, size: int) -> Iterator[Work]:
        lines = material.lines_of(line, size)
        text = "\n".join(lines)
        yield Work("redact", [(text,)], lines, amount=len(text) / 1e6)

    return make


class _Shelf:
    """A store that hands out its rows and forgets what it is given; it costs next to nothing."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows

    def load(self, session: str) -> list[Row]:
        return list(self._rows)

    def append(self, session: str, row: Row) -> int:
        return len(self._rows) + 1

    def commit(self, session: str, row: Row, previous: int | None) -> int | None:
        return len(self._rows) + 1


def _compacting(subject: Subject, size: int) -> Iterator[Work]:
    rows = material.rows(material.even_line, size)
    limits: Limits = {"max_chars": 20_000, "max_rows": 4_000}
    yield Work("compact", [(_Shelf(rows), "s", limits, lambda prompt: "They planned the demo.")], rows)


# -- the store ---------------------------------------------------------------------------------------------------------


@contextmanager
def _stored(subject: Subject, size: int) -> Iterator[tuple[Stored, list[Row], str]]:
    live = material.transcript(LIVE, addressed=20)
    with tempfile.TemporaryDirectory(prefix="observed-context-") as directory:
        stored: Stored = subject.adapter.bench_store(directory, size, live)
        try:
            yield stored, live, directory
        finally:
            stored.close()


def _reading(subject: Subject, size: int) -> Iterator[Work]:
    with _stored(subject, size) as (stored, live, _):
        yield Work("read", [()], live, amount=1, target=stored)


def _appending(subject: Subject, size: int) -> Iterator[Work]:
    rows = material.rows(material.chat_line, APPENDS)
    with _stored(subject, size) as (stored, _, directory), closing(_bare_table(directory)) as table:

        def inserted() -> None:
            for row in rows:
                table.execute("INSERT INTO texts VALUES (?)", [text_of(row)])

        yield Work("append", [(rows,)], rows, amount=APPENDS, target=stored, limit=inserted)


def _bare_table(directory: str) -> sqlite3.Connection:
    """A table of texts and nothing else; each INSERT is a transaction."""
    table = sqlite3.connect(os.path.join(directory, "bare.sqlite3"), isolation_level=None)
    table.execute("PRAGMA journal_mode = WAL")
    table.execute("CREATE TABLE texts (text TEXT)")
    return table


# -- the table ---------------------------------------------------------------------------------------------------------


def _rows(line: Callable[..., str]) -> Callable[[int], list[Row]]:
    return lambda size: material.rows(line, size)


def _assemble(
    name: str,
    line: Callable[..., str],
    limits: Limits,
    sizes: tuple[int, ...] = FEW,
    full: tuple[int, ...] = MOST,
    steady: int = STEADY,
) -> Case:
    return Case("assemble", name, _assembling(_rows(line), limits), sizes, full, needs=("assemble",), steady=steady)


_ROWS_CAP: Limits = {"max_chars": 0, "max_rows": 500}
_BOTH = tuple(sorted({*MOST, 4_000}))

CASES: tuple[Case, ...] = (
    _assemble("128 characters, default limits", material.even_line, DEFAULT, _BOTH, _BOTH),
    Case(
        "assemble",
        "the same, held by the adapter",
        _holding,
        _BOTH,
        _BOTH,
        needs=("assemble", "bench_rows"),
        local=True,
    ),
    _assemble("chat, no limits", material.chat_line, OFF, MANY),
    _assemble("chat, default limits", material.chat_line, DEFAULT, MANY),
    _assemble("chat, 500 rows at most", material.chat_line, _ROWS_CAP),
    _assemble("long texts", material.long_text, DEFAULT, steady=STEADY // 10),
    _assemble("Chinese and emoji", material.cjk_line, DEFAULT),
    _assemble("lines to escape", material.forged_lines, DEFAULT),
    Case("assemble", "one giant row", _giant, FEW, MOST, needs=("assemble",), steady=STEADY),
    Case("assemble", "half of it summarised", _summarised, FEW, MOST, needs=("assemble",), steady=STEADY),
    *(
        Case("replay", name, make, MANY, MOST, needs=("replay",), steady=STEADY)
        for name, make in (
            ("requests and answers in it", _replaying(lambda size: material.transcript(size, 10), marked=True)),
            ("no marker", _replaying(lambda size: material.transcript(size, 10), marked=False)),
            ("requests without answers", _replaying(material.unanswered, marked=True)),
        )
    ),
    Case("wrap", "a block of chat", _wrapping(material.chat_line), FEW, MANY, needs=("wrap",)),
    Case("wrap", "a block to escape", _wrapping(material.forged_lines), FEW, MANY, needs=("wrap",)),
    *(
        Case(
            "gate",
            name,
            _gating(mention),
            (100, 1_000, 10_000),
            (100, 1_000, 10_000, 100_000),
            unit="characters",
            rate="decisions/s",
            needs=("gate",),
        )
        for name, mention in (("not for the bot", ""), ("a mention in the middle", "@kit_bot "))
    ),
    *(
        Case(
            "redact",
            name,
            _redacting(line),
            (1_000, 10_000, 100_000),
            (1_000, 10_000, 100_000, 1_000_000),
            unit="characters",
            rate="MB/s",
            needs=("redact",),
        )
        for name, line in (
            ("chat", material.chat_line),
            ("secrets in it", material.secretive_line),
        )
    ),
    Case("compact", "an instant summariser", _compacting, FEW, MOST, needs=("compact",), local=True, steady=STEADY),
    Case(
        "turn",
        f"{LIVE} live rows",
        _reading,
        (10_000, 100_000, 1_000_000),
        (10_000, 100_000, 1_000_000),
        unit="stored rows",
        rate="reads/s",
        needs=("bench_store",),
        local=True,
        steady=100_000,
    ),
    Case(
        "append",
        "while somebody reads",
        _appending,
        (10_000, 100_000),
        (10_000, 100_000, 1_000_000),
        unit="stored rows",
        rate="rows/s",
        needs=("bench_store",),
        local=True,
        waits=True,
    ),
)
"""In the order in which they are measured and shown."""


def cases_of(subject: Subject, cases: Iterable[Case] = CASES) -> tuple[list[Case], dict[str, str]]:
    """The cases that can be measured, and why the others cannot, by the id of the case."""
    possible: list[Case] = []
    impossible: dict[str, str] = {}
    for case in cases:
        missing = [method for method in case.needs if not callable(getattr(subject.adapter, method, None))]
        if missing:
            impossible[case.id] = f"the adapter has no {missing[0]}()"
        elif subject.piped and case.local:
            impossible[case.id] = "not through a pipe"
        else:
            possible.append(case)
    return possible, impossible
