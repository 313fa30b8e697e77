"""The watermark: which rows the newest summary leaves to be shown."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast, overload

from observed_context.shapes import Row
from observed_context.text import is_blank, text_of


@dataclass(frozen=True)
class Verbatim(Sequence[Row]):
    """Rows with text, oldest first, and their texts: the ends of two lists, which may be long and are not copied.

    Attributes:
        rows: the rows; these are the ones from `first` on.
        texts: the text of each.
        first: where these begin in both.
        rendered: the texts are as the block shows them.
    """

    rows: Sequence[Row]
    texts: Sequence[str]
    first: int = 0
    rendered: bool = False

    def __len__(self) -> int:
        return len(self.rows) - self.first

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        at = range(self.first, len(self.rows))[index]
        return self.rows[at] if isinstance(at, int) else [self.rows[place] for place in at]


def watermark(rows: Sequence[Row]) -> tuple[Row | None, Verbatim]:
    """Return the newest summary row, and the rows with text that it does not cover (ASM-2, ASM-3).

    A summary row is known by its `summary` field alone (ASM-4); one without text speaks for nothing. Rows come in the
    order of `seq` and stay in it (ASM-7). A row without `seq` is covered only by a summary without `covers_through`.

    Only a look at each row tells whether it is a summary, and whether it has text. `Transcript` remembers both.
    """
    texts = _texts(rows)
    if texts is not None:
        return None, Verbatim(rows, texts)
    summary = next((row for row in reversed(rows) if is_summary(row) and has_text(row)), None)
    if summary is None:
        return None, verbatim([row for row in rows if not is_summary(row)])
    through = summary["summary"].get("covers_through")
    if through is None:
        last = max(index for index, row in enumerate(rows) if row is summary)
        return summary, verbatim([row for row in rows[last:] if not is_summary(row)])
    left = [row for row in rows if ("seq" not in row or row["seq"] > through) and row.get("summary") is None]
    return summary, verbatim(left)


def verbatim(rows: Sequence[Row]) -> Verbatim:
    """Return those of the rows that have text; there is no summary among them."""
    texts = _texts(rows)
    if texts is not None:
        return Verbatim(rows, texts)
    left = [row for row in rows if has_text(row)]
    return Verbatim(left, [text_of(row.get("content")) for row in left])


def _texts(rows: Sequence[Row]) -> list[str] | None:
    """Return the texts of rows all of which are to be shown, like those of nearly every list; None for another list.

    That is found out without a call for each row.
    """
    with suppress(KeyError, TypeError):  # no content, or content that is no text
        texts = cast(list[str], [row["content"] for row in rows if "summary" not in row])
        if len(texts) == len(rows) and all(texts) and not any(map(str.isspace, texts)):
            return texts
    return None


def is_summary(row: Row) -> bool:
    """Whether a row is a summary row: it says so in its own field, whatever its text (ASM-4)."""
    return row.get("summary") is not None


def has_text(row: Row) -> bool:
    """Whether a row has anything to show."""
    return not is_blank(text_of(row.get("content")))
