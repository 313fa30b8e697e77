"""Reading a block without knowing how it is rendered: which rows it shows, and what it says before them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import event

from observed_context_conformance.checking import Adapter, quote
from observed_context_conformance.port import Description, Row
from observed_context_conformance.strategies.limits import OFF
from observed_context_conformance.strategies.rows import Planted, PlantedSummary, Reading, planted

PROBE_ROWS, PROBE_SHOWN = 7, 2
"""How `note_patterns` makes an adapter drop rows: the number of dropped rows is no other number there."""


def reached(condition: object, situation: str) -> None:
    """Mark with `event()` that an example reached a situation."""
    if condition:
        event(situation)


def rows_of(entries: Sequence[Planted | PlantedSummary]) -> list[Row]:
    """What the port takes."""
    return [entry.row for entry in entries]


def shown(block: str | None, rows: Sequence[Planted]) -> list[Planted]:
    """Those of `rows` of which anything is in the block."""
    return [row for row in rows if row.stands_in(block)]


def block_said(block: str | None) -> str:
    """The block for a report, or null."""
    return "null" if block is None else quote(block)


def traces(entries: Sequence[Planted | PlantedSummary]) -> str:
    """The rows by the names of their traces, for a report."""
    return ", ".join(entry.traces[0] for entry in entries) or "none"


def lead(block: str | None, rows: Sequence[Planted]) -> str:
    """What stands before the first trace of any of `rows`: summary, note, and what opens that row's line."""
    block = block or ""
    found = [block.find(trace) for row in rows for trace in row.traces]
    return block[: min((at for at in found if at >= 0), default=len(block))]


def in_order(block: str, entries: Sequence[Planted | PlantedSummary]) -> bool:
    """Whether the traces that are in the block stand in the order of `entries`."""
    places = [block.find(trace) for entry in entries for trace in entry.traces if trace in block]
    return places == sorted(places)


def holds_number(text: str, number: int) -> bool:
    """Whether the text holds this number as a whole one: 12 is not in 120."""
    return re.search(rf"(?<!\d){number}(?!\d)", text) is not None


def readings(description: Description) -> tuple[Reading, ...]:
    """How the adapter's watermark may be read (ASM-3): as it declares, and either way when it declares nothing."""
    stored = description.get("options", {}).get("watermark")
    return (stored,) if stored else ("explicit", "positional")


def note_patterns(adapter: Adapter) -> list[re.Pattern[str]]:
    """The lines in which this adapter says how many rows it dropped, with any number in the number's place.

    They are learned from a block of a few rows under a row limit. An adapter that has no note has none of them.
    """
    rows = [planted(index) for index in range(PROBE_ROWS)]
    block = adapter.assemble(rows_of(rows), {"max_chars": 0, "max_rows": PROBE_SHOWN})
    number = PROBE_ROWS - PROBE_SHOWN
    found = [line for line in lead(block, rows).split("\n") if holds_number(line, number)]
    return [re.compile(re.sub(rf"(?<!\d){number}(?!\d)", r"\\d+", re.escape(line))) for line in found]


def notes(text: str, patterns: Sequence[re.Pattern[str]]) -> list[str]:
    """The lines of the text that read like a note."""
    return [line for line in text.split("\n") if any(pattern.fullmatch(line) for pattern in patterns)]


def label_lines(adapter: Adapter, summary: PlantedSummary, row: Planted) -> list[str]:
    """The lines that this adapter puts before a summary's body.

    Args:
        adapter: the adapter under test.
        summary: a summary.
        row: a row after it.
    """
    block = adapter.assemble([summary.row, row.row], OFF) or ""
    body = block.find(summary.traces[0])
    return [line for line in block[: max(body, 0)].split("\n") if line.strip()]


def line_with(block: str | None, trace: str) -> str | None:
    """The whole line of the block that holds `trace`."""
    return next((line for line in lines_of(block) if trace in line), None)


def lines_of(block: str | None) -> list[str]:
    """The lines of the block; one that ends with CR LF is a line as well."""
    return [line.removesuffix("\r") for line in (block or "").split("\n")]
