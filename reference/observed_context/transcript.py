"""A session's observed rows in memory, each looked at once, when it comes: a block then costs what it shows."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import overload

from observed_context.lines import neutralise_row
from observed_context.shapes import Row
from observed_context.text import encodable, text_of
from observed_context.watermark import Verbatim, has_text, is_summary


class Transcript(Sequence[Row]):
    """Observed rows and summary rows of one session, in ascending `seq`. They are not to be changed afterwards.

    `assemble` takes it as it takes a list. In a list of a million rows it has to look for the newest summary and for
    rows without text; here it need not, and the rows that do not fit cost nothing.
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        """Hold rows, each with its `seq`."""
        self._rows: list[Row] = []
        self._summary: Row | None = None
        self._before = 0  # how many of the lists below stand before the summary
        self._shown: list[Row] = []
        self._texts: list[str] = []
        self._seqs: list[int] = []
        for row in rows:
            self.append(row)

    def append(self, row: Row) -> None:
        """Take the next row; it has a `seq`."""
        self._rows.append(row)
        if not has_text(row):
            return
        if is_summary(row):
            self._summary, self._before = row, len(self._shown)
            return
        self._shown.append(row)
        self._texts.append(neutralise_row(encodable(text_of(row.get("content")))))
        self._seqs.append(row["seq"])

    def watermark(self) -> tuple[Row | None, Verbatim]:
        """Return what `watermark` returns for a list of these rows."""
        first = 0
        if self._summary is not None:
            through = self._summary["summary"].get("covers_through")
            first = self._before if through is None else bisect_right(self._seqs, through)
        return self._summary, Verbatim(self._shown, self._texts, first, rendered=True)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        return self._rows[index]
