"""Generators of stored transcripts: rows of every kind, in the orders in which separation goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, cast

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from observed_context_conformance.port import Content, Description, Part, Row
from observed_context_conformance.strategies import texts

ORDERS = ("OUA", "UOA", "UOO", "AOA", "OOU", "UOU")
"""The row orders that break naive separation: O observed, U addressed message, A answer."""

CALLS = ("UTA", "UtA", "UMA", "UmA", "AOT", "UOtOA")
"""Orders with tool calls: T one call and its result, M several; t and m the same with observed rows before a result."""

ANSWERED = ("UA", "OUA", "UOA", "UAO", "OUOAO", "UOTOA", "UtA", "UMA", "UmOA", "UTtA")
"""Orders in which every addressed message is answered, so that the rows that are not observed alternate."""

SUMMARISED = ("OS", "OOSO", "UASO", "SUA", "OUSA")
"""Orders with a summary row (S)."""

BOOKKEPT = ("B", "UBA", "OBO", "ABA")
"""Orders with a bookkeeping row (B)."""

FLAGLESS = ("UA", "UUA", "AA", "UTA", "UMA", "UBA")
"""Orders without an observed row."""

EVERYTHING = (*ORDERS * 6, *CALLS * 2, *ANSWERED, *SUMMARISED, *BOOKKEPT * 2, "UUA", "AA", "O", "U")
"""All of these, the breaking ones most often."""

SLOT = "{}"
"""Where the row's token stands in a text of `plain_texts()` or `hostile_texts()`."""

Role = Literal["user", "assistant", "tool", "system", "session_meta"]

_BOOKKEEPING: tuple[Role, ...] = ("system", "session_meta")
_TIMES: tuple[Callable[[int], int] | None, ...] = (None, lambda _: 0, lambda index: index, lambda index: 59 - index)
"""The minute of the n-th row: no time at all, equal, rising, falling."""

_PLAIN = (
    *("{}", "{} lunch at noon?", "the build is red again {}", "see you at five\n{} or six", "{}\n\nafter a gap"),
    *("  {} indented", "wir sehen uns um zwölf {}", "明天见 {}", "{} 👍🏽 👩‍👩‍👧 done", "no {} `code` *bold* <b>"),
)
_NAMES = ("Ana", "Ben", "Zoë", "李雷", "Ana (work)", "O'Neill")
_WITH_TEXT = ("text",) * 7
_WITH_PARTS = ("parts", "two texts", "picture", "voice")
_WITHOUT_TEXT = ("empty", "null", "missing", "blank", "no parts", "picture alone")
"""Forms of a content, those with text repeated so that they prevail."""


# -- reading rows ----------------------------------------------------------------------------------------------------


def token(row: Row) -> str:
    """The text that stands in this row's content and in no other's, unless the content has no room for one."""
    return f"tok{row['seq']}z"


def second_token(row: Row) -> str:
    """What stands in the second text part of a row that has two."""
    return f"more{row['seq']}z"


def row_text(row: Row) -> str:
    """The text of a row: its content, or the text parts of it on lines of their own; empty when there is none."""
    content = row.get("content")
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part["type"] == "text")
    return content or ""


def has_text(row: Row) -> bool:
    """Whether a row has anything but blanks to show."""
    return bool(row_text(row).strip())


def is_bookkeeping(row: Row) -> bool:
    """Whether a row is for the gateway alone."""
    return row["role"] in ("system", "session_meta")


def is_withheld(row: Row) -> bool:
    """Whether a row is kept out of the history under a marker; summary rows are."""
    return row["role"] == "user" and row.get("observed") is True


def is_summary(row: Row) -> bool:
    """Whether a row is a summary row."""
    return "summary" in row


def kept(transcript: list[Row]) -> list[Row]:
    """The rows that belong to the history under a marker."""
    return [row for row in transcript if not is_bookkeeping(row) and not is_withheld(row)]


def unflagged(transcript: list[Row]) -> list[Row]:
    """The same transcript with every `observed` field taken away."""
    return [cast(Row, {key: value for key, value in row.items() if key != "observed"}) for row in transcript]


def letters(transcript: list[Row]) -> str:
    """The kinds of the rows: O observed, S summary, U addressed, A answer, T answer with tool calls, R tool result."""
    found = ""
    for row in transcript:
        if is_bookkeeping(row):
            continue
        if is_withheld(row):
            found += "S" if is_summary(row) else "O"
        elif row["role"] == "user":
            found += "U"
        else:
            found += "R" if row["role"] == "tool" else "T" if "tool_calls" in row else "A"
    return found


def situations(transcript: list[Row]) -> list[str]:
    """What a check may want to say that it reached, as texts for `event()`."""
    order = letters(transcript)
    found = [f"order {pattern}" for pattern in ORDERS if pattern in order]
    # T R R: the second result belongs to the same call; a letter O before an R splits a sequence.
    if "OR" in order:
        found.append("a tool sequence is split by an observed row")
    if "TRR" in order.replace("O", ""):
        found.append("several tool calls at once")
    if "S" in order:
        found.append("a summary row")
    if any(isinstance(row.get("content"), list) for row in transcript):
        found.append("content parts")
    if any(is_withheld(row) and not has_text(row) for row in transcript):
        found.append("an observed row without text")
    if any(is_bookkeeping(row) for row in transcript):
        found.append("a bookkeeping row")
    if any(row.get("observed") and row["role"] in ("assistant", "tool") for row in transcript):
        found.append("an assistant or tool row with the flag")
    return found


def covered(transcript: list[Row], description: Description) -> list[Row]:
    """The observed rows that the newest summary speaks for.

    Where the adapter does not declare how its watermark is stored, a row counts as covered when either reading covers
    it: what an adapter did not say it cannot be held to.
    """
    newest = max((index for index, row in enumerate(transcript) if is_summary(row)), default=None)
    if newest is None:
        return []
    through = transcript[newest]["summary"].get("covers_through")
    stored = description.get("options", {}).get("watermark")
    found = []
    for index, row in enumerate(transcript):
        by_position = index < newest and (through is None or stored != "explicit")
        by_watermark = through is not None and stored != "positional" and row["seq"] <= through
        if is_withheld(row) and not is_summary(row) and (by_position or by_watermark):
            found.append(row)
    return found


# -- texts -----------------------------------------------------------------------------------------------------------


def plain_texts() -> SearchStrategy[str]:
    """What people write; `SLOT` stands where the row's token goes."""
    return st.one_of(st.sampled_from(_PLAIN), st.sampled_from(texts.WORDS).map(lambda words: f"{SLOT} {words}"))


def forged_texts(
    lines: SearchStrategy[str] | None = None, breaks: Sequence[str] = texts.LINE_BREAKS
) -> SearchStrategy[str]:
    """Text with a line of its own that poses as one of the gateway's, and `SLOT` on another line.

    Args:
        lines: the lines; by default everything that `texts.structure()` knows.
        breaks: the line breaks around it.
    """

    def forge(line: str, line_break: str, first: bool) -> str:
        line = line.replace(SLOT, "")
        return line_break.join((line, SLOT, line)) if first else line_break.join((f"ok {SLOT}", line, "delete all"))

    return st.builds(forge, texts.structure() if lines is None else lines, st.sampled_from(breaks), st.booleans())


def hostile_texts() -> SearchStrategy[str]:
    """What people write, and what they write to pose as the gateway or as somebody else."""
    return st.one_of(plain_texts(), forged_texts())


# -- transcripts -----------------------------------------------------------------------------------------------------


def transcripts(
    orders: Iterable[str] = EVERYTHING,
    *,
    written: SearchStrategy[str] | None = None,
    addressed: SearchStrategy[str] | None = None,
    blank: bool = True,
    parts: bool = True,
    odd_flags: bool = True,
    max_size: int = 4,
) -> SearchStrategy[list[Row]]:
    """A transcript: one to `max_size` of the `orders`, one after the other, in ascending `seq`.

    Every row that has text holds its `token()` in it exactly once; calls have their results; the newest summary has the
    highest watermark.

    Args:
        orders: row orders in the letters O, U, A, T, t, M, m, S and B (see `ORDERS` and the constants after it).
        written: texts of observed rows and summaries; hostile by default.
        addressed: texts of all other rows; hostile by default.
        blank: some rows of users and answers have no text: empty, null, missing, an empty list, a picture alone.
        parts: some contents are lists of parts.
        odd_flags: some rows carry `observed` where it means nothing: false on addressed rows, true on answers.
        max_size: how many orders at most.
    """
    forms = (*_WITH_TEXT, *(_WITH_PARTS if parts else ()), *(_WITHOUT_TEXT if blank else ()))
    return _transcripts(
        tuple(orders),
        written=hostile_texts() if written is None else written,
        addressed=hostile_texts() if addressed is None else addressed,
        forms=forms,
        odd_flags=odd_flags,
        max_size=max_size,
    )


@st.composite
def _transcripts(
    draw: DrawFn,
    orders: tuple[str, ...],
    *,
    written: SearchStrategy[str],
    addressed: SearchStrategy[str],
    forms: tuple[str, ...],
    odd_flags: bool,
    max_size: int,
) -> list[Row]:
    sequence = "".join(draw(st.lists(st.sampled_from(orders), min_size=1, max_size=max_size)))
    times = draw(st.sampled_from(_TIMES))
    writer = _Writer(draw, written, addressed, forms, odd_flags=odd_flags)
    for letter in sequence:
        writer.add(letter)
    for index, row in enumerate(writer.rows):
        if times is not None:
            row["time"] = f"2026-03-01T12:{times(index) % 60:02}:00+00:00"
    return writer.rows


class _Writer:
    """Writes the rows of a transcript, one after the other."""

    def __init__(
        self,
        draw: DrawFn,
        written: SearchStrategy[str],
        addressed: SearchStrategy[str],
        forms: tuple[str, ...],
        *,
        odd_flags: bool,
    ) -> None:
        self.rows: list[Row] = []
        self._draw = draw
        self._written = written
        self._addressed = addressed
        self._forms = st.sampled_from(forms)
        self._flags = st.sampled_from((False, False, False, True) if odd_flags else (False,))
        self._first, self._step = draw(st.integers(0, 3)), draw(st.integers(1, 2))
        self._kinds: dict[str, Callable[[], None]] = {
            "O": self._observed,
            "U": self._question,
            "A": self._answer,
            "T": lambda: self._tools(1, split=False),
            "t": lambda: self._tools(1, split=True),
            "M": lambda: self._tools(2, split=False),
            "m": lambda: self._tools(2, split=True),
            "S": self._summary,
            "B": self._bookkeeping,
        }

    def add(self, letter: str) -> None:
        """Append the row or rows of one letter."""
        self._kinds[letter]()

    def _observed(self) -> None:
        row = self._row("user")
        row["observed"] = True
        row["message_id"] = str(100 + len(self.rows))
        attribution = f"[{self._draw(st.sampled_from(_NAMES))}|{1001 + len(self.rows) % 3}]\n"
        self._fill(row, self._draw(self._forms), attribution + self._draw(self._written))

    def _question(self) -> None:
        row = self._row("user")
        if self._draw(self._flags):
            row["observed"] = False
        # Framed as ATT-1 asks: by its text an addressed row looks like an observed one.
        self._fill(row, self._draw(self._forms), "[Ana|1001]\n" + self._draw(self._addressed))

    def _answer(self) -> None:
        row = self._row("assistant")
        if self._draw(self._flags):
            row["observed"] = True
        form = self._draw(self._forms)
        # Assistants send no pictures and no voice notes.
        self._fill(row, "text" if form in ("picture", "picture alone", "voice") else form, self._draw(self._addressed))

    def _tools(self, calls: int, *, split: bool) -> None:
        flag = self._draw(self._flags)
        call = self._row("assistant")
        names = [f"call_{call['seq']}_{n}" for n in range(calls)]
        call["content"] = f"{token(call)} let me look" if self._draw(st.booleans()) else None
        call["tool_calls"] = [_tool_call(name) for name in names]
        self.rows.append(call)
        for name in names:
            if split and name == names[-1]:
                self._observed()
            result = self._row("tool")
            result["tool_call_id"] = name
            result["name"] = "look_up"
            result["content"] = f'{{"found": "{token(result)}"}}'
            if flag:
                result["observed"] = True
            self.rows.append(result)

    def _summary(self) -> None:
        before = [row for row in self.rows if is_withheld(row) and not is_summary(row)]
        marks = [row["summary"].get("covers_through") or 0 for row in self.rows if is_summary(row)]
        through = self._draw(st.sampled_from((*(row["seq"] for row in before), None)))
        if through is not None:
            through = max((through, *marks))
        row = self._row("user")
        row["observed"] = True
        row["summary"] = {"covers_through": through, "covered": max(1, len(before))}
        row["content"] = ("So far: " + self._draw(self._written)).replace(SLOT, token(row))
        self.rows.append(row)

    def _bookkeeping(self) -> None:
        row = self._row(self._draw(st.sampled_from(_BOOKKEEPING)))
        row["content"] = f"session note {token(row)}"
        if self._draw(self._flags):
            row["observed"] = True
        self.rows.append(row)

    def _row(self, role: Role) -> Row:
        return {"seq": self._first + self._step * len(self.rows), "role": role}

    def _fill(self, row: Row, form: str, text: str) -> None:
        if form != "missing":
            row["content"] = _content(form, text.replace(SLOT, token(row)), token(row))
        self.rows.append(row)


def _content(form: str, text: str, mark: str) -> Content:
    contents: dict[str, Content] = {
        "text": text,
        "parts": [{"type": "text", "text": text}],
        "two texts": [{"type": "text", "text": text}, {"type": "text", "text": mark.replace("tok", "more")}],
        "picture": [_picture("shared"), {"type": "text", "text": text}],
        "voice": [
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "ogg"}},
            {"type": "text", "text": text},
        ],
        "empty": "",
        "blank": " \n ",
        "no parts": [],
        "picture alone": [_picture(mark)],
    }
    return contents.get(form)


def _picture(name: str) -> Part:
    return {"type": "image_url", "image_url": {"url": f"https://example.invalid/{name}.jpg"}}


def _tool_call(name: str) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": "look_up", "arguments": '{"path": "/tmp/a", "n": 1}'}}
