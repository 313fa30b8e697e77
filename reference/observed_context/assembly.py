"""Assembly: observed rows and the newest summary become one block that never outgrows its limits."""

import sys
from collections.abc import Sequence

from observed_context.lines import label, neutralise, neutralise_row, note
from observed_context.shapes import Limits, Row
from observed_context.text import MARK, boundary_before, cut, cut_end, encodable, is_blank, text_of

_LEAST_CUT = 64


def assemble(rows: Sequence[Row], limits: Limits) -> str | None:
    """Return the block: summary, omission note and the newest rows, oldest first; None when there is nothing (ASM-5).

    Rows are dropped oldest first and counted in the note (CAP-3, CAP-4). The summary gives way only down to half of
    `max_chars`, and holds no more than that half when a row is dropped (CAP-7). Before the newest row is dropped it is
    cut (CAP-6). Everything in the block is inside `max_chars`, line breaks included (CAP-1). The input is only read
    (ASM-6), and of the text of rows far beyond the bound no more than is shown.
    """
    bound = limits["max_chars"] or sys.maxsize  # CAP-5
    summary, pending = watermark(rows)
    head = "" if summary is None else _render_summary(summary, sys.maxsize)
    reserved = min(len(head), bound // 2)
    # Each piece costs its length and a line break; the first piece's line break is the 1.
    purse = bound + 1 - (reserved + 1 if head else 0)

    shown = _newest_that_fit(pending, limits["max_rows"], bound, purse)
    dropped = len(pending) - len(shown)
    if pending and not shown:
        room = purse - _note_cost(dropped - 1) - 1
        if room >= _LEAST_CUT:
            shown = [cut(_render(pending[-1], bound), room)]
            dropped -= 1
    if summary is not None:
        room = reserved if dropped else bound - sum(len(text) + 1 for text in shown)
        head = _render_summary(summary, room)
    pieces = [*filter(None, [head]), *([note(dropped)] if dropped else []), *shown]
    if not shown and sum(len(piece) + 1 for piece in pieces) > bound + 1:  # a bound too small for anything but the note
        pieces = [piece for piece in pieces[-1:] if len(piece) <= bound]
    return "\n".join(pieces) or None


def watermark(rows: Sequence[Row]) -> tuple[Row | None, list[Row]]:
    """Return the newest summary row, and the rows with text that it does not cover (ASM-2, ASM-3).

    A summary row is known by its `summary` field alone (ASM-4); one without text speaks for nothing. Rows come in the
    order of `seq` and stay in it (ASM-7). A row without `seq` is covered only by a summary without `covers_through`.
    """
    at = max((index for index, row in enumerate(rows) if is_summary(row) and _has_text(row)), default=None)
    summary = None if at is None else rows[at]
    through = summary["summary"].get("covers_through") if summary else None

    def is_covered(index: int, row: Row) -> bool:
        if through is not None:
            return "seq" in row and row["seq"] <= through
        return at is not None and index < at

    pending = (row for index, row in enumerate(rows) if not is_summary(row) and not is_covered(index, row))
    return summary, [row for row in pending if _has_text(row)]


def is_summary(row: Row) -> bool:
    """Whether a row is a summary row: it says so in its own field, whatever its text (ASM-4)."""
    return row.get("summary") is not None


def _has_text(row: Row) -> bool:
    return not is_blank(text_of(row.get("content")))


def _newest_that_fit(pending: Sequence[Row], max_rows: int, bound: int, purse: int) -> list[str]:
    """Return the texts of as many of the newest rows as fit, beside the note for the others (CAP-2, CAP-8)."""
    texts: list[str] = []
    used = fit = 0
    for row in reversed(pending[-max_rows:] if max_rows else pending):
        text = _render(row, bound)
        used += len(text) + 1
        if used > purse:
            break
        texts.append(text)
        # Not the first that fails ends it: with the last row the note goes, and all may fit where all but one did not.
        if used + _note_cost(len(pending) - len(texts)) <= purse:
            fit = len(texts)
    return texts[:fit][::-1]


def _note_cost(dropped: int) -> int:
    return len(note(dropped)) + 1 if dropped else 0


def _render(row: Row, bound: int) -> str:
    text = text_of(row.get("content"))
    if len(text) > 2 * bound:  # it will be cut, and only its two ends are seen: why read the rest
        # Whole graphemes of both, so that a long row of flags is still told apart by counting from its start (CAP-11).
        text = text[: boundary_before(text, bound)] + text[boundary_before(text, len(text) - bound - 1) :]
    return neutralise_row(encodable(text))


def _render_summary(row: Row, room: int) -> str:
    """Return a summary under its label (ASM-8), at most `room` long; nothing where not even the label has room."""
    first = label(row["summary"]["covered"]) + "\n"
    body = neutralise(encodable(text_of(row.get("content"))))
    if len(first) + len(body) > room < len(first) + len(MARK):
        return ""
    return first + cut_end(body, room - len(first))
