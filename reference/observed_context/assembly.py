"""Assembly: observed rows and the newest summary become one block that never outgrows its limits."""

import sys
from collections.abc import Sequence

from observed_context.lines import all_plain, label, neutralise, neutralise_row, note, plain_ones
from observed_context.shapes import Limits, Row
from observed_context.text import MARK, boundary_before, cut, cut_end, encodable, is_encodable, text_of
from observed_context.transcript import Transcript
from observed_context.watermark import Verbatim, is_summary
from observed_context.watermark import watermark as watermark_of

__all__ = ["assemble", "is_summary", "watermark"]

_LEAST_CUT = 64
_AT_ONCE = 512  # rows: so many that what is done for all of them together costs little for each


def assemble(rows: Sequence[Row], limits: Limits) -> str | None:
    """Return the block: summary, omission note and the newest rows, oldest first; None when there is nothing (ASM-5).

    Rows are dropped oldest first and counted in the note (CAP-3, CAP-4). The summary gives way only down to half of
    `max_chars`, and holds no more than that half when a row is dropped (CAP-7). Before the newest row is dropped it is
    cut (CAP-6). Everything in the block is inside `max_chars`, line breaks included (CAP-1). The input is only read
    (ASM-6), and of the text of rows far beyond the bound no more than is shown.

    The time grows with the rows that can be shown. In a list, each of the others costs a look; in a `Transcript`,
    nothing.
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
            shown = [_cut(text_of(pending[-1].get("content")), bound, room)]
            dropped -= 1
    if summary is not None:
        room = reserved if dropped else bound - sum(len(text) + 1 for text in shown)
        head = _render_summary(summary, room)
    pieces = [*filter(None, [head]), *([note(dropped)] if dropped else []), *shown]
    if not shown and sum(len(piece) + 1 for piece in pieces) > bound + 1:  # a bound too small for anything but the note
        pieces = [piece for piece in pieces[-1:] if len(piece) <= bound]
    return "\n".join(pieces) or None


def watermark(rows: Sequence[Row]) -> tuple[Row | None, Verbatim]:
    """Return the newest summary row, and the rows with text that it does not cover (ASM-2, ASM-3)."""
    return rows.watermark() if isinstance(rows, Transcript) else watermark_of(rows)


def _newest_that_fit(rows: Verbatim, max_rows: int, bound: int, purse: int) -> list[str]:
    """Return the texts of as many of the newest rows as fit, beside the note for the others (CAP-2, CAP-8)."""
    most = min(len(rows), max_rows or len(rows))
    texts: list[str] = []  # newest first
    used = 0
    while len(texts) < most and used <= purse:
        end = len(rows.texts) - len(texts)
        more = rows.texts[end - min(_AT_ONCE, most - len(texts)) : end]
        together = "".join(more)
        if not (rows.rendered or (len(together) <= 2 * bound and is_encodable(together) and all_plain(more))):
            more = _rendered(more, together, bound)
            together = "".join(more)
        used += len(together) + len(more)
        texts += reversed(more)
    # Not the last that fails ends it: with the last row the note goes, and all may fit where all but one did not.
    while texts and used + _note_cost(len(rows) - len(texts)) > purse:
        used -= len(texts.pop()) + 1
    return texts[::-1]


def _note_cost(dropped: int) -> int:
    return len(note(dropped)) + 1 if dropped else 0


def _rendered(texts: Sequence[str], together: str, bound: int) -> list[str]:
    """Return texts as the block shows them. What is too long to be shown whole is not looked at."""
    if not is_encodable(together):
        texts = [encodable(text) for text in texts]
    return [
        text if plain or len(text) > 2 * bound else neutralise_row(text)
        for text, plain in zip(texts, plain_ones(texts), strict=True)
    ]


def _cut(text: str, bound: int, room: int) -> str:
    """Return a row's text, cut to `room`; of one beyond the bound no more is read than may be seen (CAP-6)."""
    if len(text) > 2 * bound:
        # Whole graphemes of both ends, so that a long row of flags is still told apart by counting from its start
        # (CAP-11).
        text = text[: boundary_before(text, bound)] + text[boundary_before(text, len(text) - bound - 1) :]
    return cut(neutralise_row(encodable(text)), room)


def _render_summary(row: Row, room: int) -> str:
    """Return a summary under its label (ASM-8), at most `room` long; nothing where not even the label has room."""
    first = label(row["summary"]["covered"]) + "\n"
    body = neutralise(encodable(text_of(row.get("content"))))
    if len(first) + len(body) > room < len(first) + len(MARK):
        return ""
    return first + cut_end(body, room - len(first))
