"""Generators of observed rows and summary rows: adversarial lists, and planted rows that can be found in any block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from observed_context_conformance.checking import declared
from observed_context_conformance.port import Content, Part, Row, Watermark
from observed_context_conformance.strategies import texts

CLOCKS = ("missing", "equal", "rising", "falling", "shuffled", "mixed")
"""How the times of a list of rows run beside its `seq`; `mixed` has gaps, other zones and years that are wrong."""

RELATIONS = ("agreeing", "behind", "between", "zero", "missing", "null")
"""Where a watermark stands: at the row before its summary, at an older row, between two rows, at 0, or nowhere."""

PLAIN = ("words", "lines", "cjk", "astral")
"""Kinds of text that nothing in a block has a reason to disarm."""

KINDS = (*PLAIN, "joined", "marks", "brackets", "forged", "parts")
"""All kinds of text of a planted row: `PLAIN`, clusters, what looks like a cut, markup, forged lines, content parts."""

SIZES = (0, 1, 7, 30, 55, 80, 81, 120, 200)
"""How many characters a planted row holds between its traces."""

CLUSTERS = {
    "a family": "👩‍👩‍👧‍👦",
    "a skin tone": "👍🏽",
    "a joined skin tone": "👩🏽‍🚀",
    "a flag": "🇩🇪",
    "a flag of the last letter": "🇳🇿",
    "a flag of the first letter": "🇦🇺",
    "stacked accents": "ქ\u0301\u0323\u0302",
    "jamo": "\u1112\u1161\u11ab",
    "a syllable and its end": "\uac00\u11a8",
    "a closed syllable and its end": "\uac01\u11a8",
    "a syllable and a vowel": "\uac00\u1160",
    "old jamo": "\ua960\ud7b0\ud7cb",
    "the last jamo": "\u115f\u11a7\u11ff",
    "the last old jamo": "\ua97c\ud7c6\ud7fb",
    "the last syllable and its end": "\ud7a3\u11ff",
    "a vowel sign": "\u0915\u093f",
    "a variation selector": "❤\ufe0f",
    "a keycap": "#\ufe0f\u20e3",
    "tags": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
}
"""One grapheme cluster of several code points for each way to make one."""

Reading = Literal["explicit", "positional"]

# No pattern holds a digit (numbers in a block are the note's and the label's), and none holds a trace.
_PATTERNS = {
    "words": "the demo is on friday and we still need a room for it, ",
    "lines": "first this\nthen that\n\nand so on\n",
    "cjk": "请看看这个，谢谢。",
    "astral": "😀🚀𝕂",
    "joined": "👩‍👩‍👧e\u0301🇩🇪\u200d\u202e",
    "marks": "... [...] [cut] … [... cut ...]\n",
    "brackets": "[a|b](c){d}<e>\\|`#*\t\r",
    "parts": "with a picture ",
}
_CONSONANTS = "BCDFGHJKLMNPQRSTVWX"
_PEOPLE = ("Ana", "Ben", "Zoë (you)", "李雷", "O'Neill, Jr.")


@dataclass(frozen=True)
class Planted:
    """An observed row with traces that a block cannot show by accident.

    Attributes:
        row: the row.
        traces: texts of this row and no other, in their order: in the name, at the head of the text, at its tail.
        lines: the lines of the text, stripped, where nothing has a reason to disarm them; otherwise its traces.
    """

    row: Row
    traces: tuple[str, ...]
    lines: tuple[str, ...]

    def stands_in(self, block: str | None) -> bool:
        """Whether anything of the row is in the block."""
        return any(trace in (block or "") for trace in self.traces)


@dataclass(frozen=True)
class PlantedSummary:
    """A summary row with traces at the head and the tail of its body. The body holds no digit."""

    row: Row
    traces: tuple[str, ...]

    def stands_in(self, block: str | None) -> bool:
        """Whether anything of the summary's body is in the block."""
        return any(trace in (block or "") for trace in self.traces)


@dataclass(frozen=True)
class Conversation:
    """Planted rows and summaries in ascending `seq`."""

    entries: tuple[Planted | PlantedSummary, ...]

    @property
    def rows(self) -> list[Row]:
        """What the port takes."""
        return [entry.row for entry in self.entries]

    @property
    def summaries(self) -> list[PlantedSummary]:
        """The summaries, oldest first."""
        return [entry for entry in self.entries if isinstance(entry, PlantedSummary)]

    def uncovered(self, reading: Reading) -> list[Planted]:
        """The rows that the newest summary does not speak for, when its watermark is read so (ASM-3)."""
        newest = max((at for at, entry in enumerate(self.entries) if isinstance(entry, PlantedSummary)), default=-1)
        through = self.entries[newest].row["summary"].get("covers_through") if newest >= 0 else None
        left = []
        for at, entry in enumerate(self.entries):
            by_number = reading == "explicit" and through is not None
            covered = entry.row["seq"] <= cast(int, through) if by_number else at < newest
            if isinstance(entry, Planted) and not covered:
                left.append(entry)
        return left


def _text_part(text: str) -> Part:
    return {"type": "text", "text": text}


def _picture() -> Part:
    return {"type": "image_url", "image_url": {"url": "https://media.invalid/picture"}}


_ABSENT: dict[str, dict[str, Content]] = {
    "empty": {"content": ""},
    "null": {"content": None},
    "no parts": {"content": []},
    "picture": {"content": [_picture()]},
    "missing": {},
}
_FORMS = ("one part", "with a picture", "several parts", *("text",) * 8, *_ABSENT)


# -- adversarial rows ------------------------------------------------------------------------------------------------


def observed_rows(*, min_size: int = 0, max_size: int = 8) -> SearchStrategy[list[Row]]:
    """Observed rows as a store may hold them: any text and times, forged attribution, list, empty and missing content.

    Args:
        min_size: the fewest rows.
        max_size: the most rows.
    """
    contents = st.lists(_contents(), min_size=min_size, max_size=max_size)
    return st.builds(_stored, contents, st.integers(0, 3), st.integers(1, 3), st.sampled_from(CLOCKS))


def summary_rows() -> SearchStrategy[Row]:
    """One summary row, `seq` 40, with any body and any watermark up to its own `seq`, null and missing."""
    bodies = st.one_of(texts.messages(blank=False), texts.structure(), _attributed())
    through = st.one_of(st.none(), st.sampled_from((0, 1, 2, 5, 8, 40)))
    return st.builds(_summary, bodies, st.integers(0, 12_000), through, st.booleans())


def rows_with_summary(*, max_size: int = 8) -> SearchStrategy[list[Row]]:
    """Observed rows with one or two summary rows in any place.

    Args:
        max_size: the most observed rows.
    """
    observed = observed_rows(max_size=max_size)
    places = st.lists(st.tuples(st.integers(0, max_size), summary_rows()), min_size=1, max_size=2)
    return st.builds(_with_summaries, observed, places)


def _contents() -> SearchStrategy[dict[str, Content]]:
    """The `content` of a row, as the field or as no field at all."""
    text = st.one_of(_attributed(), texts.messages())

    @st.composite
    def build(draw: DrawFn) -> dict[str, Content]:
        # A weighted choice: one_of() would spread over the many branches of the texts.
        kind = draw(st.sampled_from(_FORMS))
        if kind in _ABSENT:
            return dict(_ABSENT[kind])
        if kind == "text":
            return {"content": draw(text)}
        parts = [_text_part(draw(text)), _picture(), _text_part(kind)]
        return {"content": parts[: 1 + _FORMS.index(kind) % 3]}

    return build()


def _attributed() -> SearchStrategy[str]:
    names = st.one_of(st.sampled_from(_PEOPLE), texts.names(max_size=60))
    ids = st.one_of(st.just("unknown"), texts.ids())
    return st.builds(lambda name, id_, text: f"[{name}|{id_}]\n{text}", names, ids, texts.messages(max_size=600))


def _stored(contents: Sequence[dict[str, Content]], start: int, step: int, clock: str) -> list[Row]:
    return [
        cast(Row, {"seq": start + step * index, "role": "user", "observed": True, **content, **_time(clock, index)})
        for index, content in enumerate(contents)
    ]


def _with_summaries(rows: list[Row], summaries: Sequence[tuple[int, Row]]) -> list[Row]:
    rows = list(rows)
    for place, summary in summaries:
        rows.insert(place % (len(rows) + 1), summary)
    # Watermarks keep their numbers, so that they point at, before, between and beyond the rows.
    return [cast(Row, {**row, "seq": 2 * index}) for index, row in enumerate(rows)]


def _summary(body: str, covered: int, through: int | None, says: bool) -> Row:
    watermark: Watermark = {"covered": covered}
    if says:
        watermark["covers_through"] = through
    return {"seq": 40, "role": "user", "observed": True, "content": body, "summary": watermark}


def _time(clock: str, index: int) -> dict[str, str | None]:
    minute = {"equal": 0, "rising": index, "falling": 59 - index, "shuffled": index * 17, "mixed": index * 17}
    if clock == "missing":
        return {} if index % 2 else {"time": None}
    stamp = f"T12:{minute[clock] % 60:02}:00"
    if clock != "mixed":
        return {"time": f"2026-03-14{stamp}Z"}
    mixed: tuple[dict[str, str | None], ...] = (
        {"time": f"2026-03-14{stamp}+05:45"},
        {},
        {"time": f"1970-01-01{stamp}Z"},
        {"time": None},
        {"time": f"2026-03-14{stamp}.250-03:30"},
        {"time": f"2099-12-31{stamp}Z"},
    )
    return mixed[index % len(mixed)]


# -- planted rows ----------------------------------------------------------------------------------------------------


def planted(
    index: int, *, kind: str = "words", size: int = 7, seq: int | None = None, clock: str = "rising"
) -> Planted:
    """One planted row.

    Args:
        index: gives the row its traces; 0 to 360, another one for each row of a list.
        kind: one of `KINDS`.
        size: characters between the traces of the text.
        seq: the row's `seq`; `index` when not given.
        clock: one of `CLOCKS`.
    """
    code = _code(index)
    name, head, tail = f"name{code}", f"head{code}", f"tail{code}"
    attribution = f"[{name}|{1001 + index}]\n"
    filler = f" {_filler(kind, size)}" if size else ""
    text = f"{head}{filler} {tail}"
    content: Content = attribution + text
    if kind == "parts":
        content = [_text_part(f"{attribution}{head}{filler}"), _picture(), _text_part(tail)]
    row: Row = {"seq": index if seq is None else seq, "role": "user", "observed": True, "content": content}
    row = cast(Row, {**row, **_time(clock, index)})
    lines = tuple(line.strip() for line in text.split("\n") if line.strip()) if kind in PLAIN else (head, tail)
    return Planted(row, (name, head, tail), lines)


def lettered(index: int, size: int) -> Planted:
    """One row without an attribution line, `size` times a letter of its own: whatever is shown of it is a trace."""
    letter = chr(0x4E00 + index)
    row: Row = {"seq": index, "role": "user", "observed": True, "content": letter * size}
    return Planted(row, (letter,), (letter * size,))


def planted_summary(
    index: int, *, size: int = 30, seq: int = 0, covered: int = 300, watermark: dict[str, int | None] | None = None
) -> PlantedSummary:
    """One planted summary row; its body is filled with the letter `ю`, which no other row holds.

    Args:
        index: gives the summary its traces; another one for each summary of a list.
        size: how many `ю` stand between the traces.
        seq: the row's `seq`.
        covered: how many messages it says it covers.
        watermark: the field `covers_through`, or empty for none.
    """
    head, tail = f"headZ{_CONSONANTS[index]}", f"tailZ{_CONSONANTS[index]}"
    row: Row = {"seq": seq, "role": "user", "observed": True, "content": f"{head} {'ю' * size} {tail}"}
    row["summary"] = cast(Watermark, {"covered": covered, **(watermark or {})})
    return PlantedSummary(row, (head, tail))


@st.composite
def planted_rows(
    draw: DrawFn,
    *,
    min_size: int = 1,
    max_size: int = 9,
    kinds: Sequence[str] = KINDS,
    sizes: Sequence[int] = SIZES,
) -> list[Planted]:
    """A list of planted rows in ascending `seq`, with gaps, and times of any kind.

    Args:
        draw: given by Hypothesis.
        min_size: the fewest rows.
        max_size: the most rows.
        kinds: what the texts are made of, out of `KINDS`.
        sizes: how many characters stand between the traces.
    """
    shape = st.tuples(st.sampled_from(kinds), st.sampled_from(sizes))
    shapes = draw(st.lists(shape, min_size=min_size, max_size=max_size))
    start, step, clock = draw(st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from(CLOCKS)))
    return [
        planted(index, kind=kind, size=size, seq=start + step * index, clock=clock)
        for index, (kind, size) in enumerate(shapes)
    ]


@st.composite
def conversations(
    draw: DrawFn,
    *,
    min_size: int = 0,
    max_size: int = 7,
    summaries: Sequence[int] = (1, 2),
    relations: Sequence[str] = RELATIONS,
    kinds: Sequence[str] = KINDS,
    sizes: Sequence[int] = SIZES,
    clocks: Sequence[str] = CLOCKS,
) -> Conversation:
    """Planted rows with planted summaries in any place among them.

    An older summary never covers more than the newest one, as compaction writes them.

    Args:
        draw: given by Hypothesis.
        min_size: the fewest rows, summaries aside.
        max_size: the most rows, summaries aside.
        summaries: how many summaries there may be.
        relations: where the newest summary's watermark may stand, out of `RELATIONS`.
        kinds: what the texts of rows are made of, out of `KINDS`.
        sizes: how many characters stand between the traces of rows, and of summaries.
        clocks: how the times of the rows may run, out of `CLOCKS`.
    """
    shape = st.tuples(st.sampled_from(kinds), st.sampled_from(sizes))
    shapes = draw(st.lists(shape, min_size=min_size, max_size=max_size))
    count, relation, size = draw(st.tuples(*(st.sampled_from(choice) for choice in (summaries, relations, sizes))))
    places = sorted(draw(st.lists(st.integers(0, len(shapes)), min_size=count, max_size=count)))
    start, step, clock = draw(st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from(clocks)))
    behind = draw(st.integers(0, max(0, places[-1] - 1))) if places else 0

    # Rows and summaries share one sequence; `numbers` are the seqs of the rows.
    numbers = [start + step * (index + sum(place <= index for place in places)) for index in range(len(shapes))]
    entries: list[Planted | PlantedSummary] = [
        planted(index, kind=kind, size=size_, seq=numbers[index], clock=clock)
        for index, (kind, size_) in enumerate(shapes)
    ]
    through = _through(relation, numbers[: places[-1]], behind, step) if places else {}
    for index, place in enumerate(places):
        newest = index == count - 1
        summary = planted_summary(
            index,
            size=size,
            seq=start + step * (place + index),
            covered=300 + index,
            watermark=through if newest else {"covers_through": 0},
        )
        entries.insert(place + index, summary)
    return Conversation(tuple(entries))


def _through(relation: str, numbers: Sequence[int], behind: int, step: int) -> dict[str, int | None]:
    if relation in ("missing", "null"):
        return {} if relation == "missing" else {"covers_through": None}
    if relation == "zero" or not numbers:
        return {"covers_through": 0}
    if relation == "agreeing":
        return {"covers_through": numbers[-1]}
    return {"covers_through": numbers[behind] + (step - 1 if relation == "between" else 0)}


def _filler(kind: str, size: int) -> str:
    pattern = _PATTERNS.get(kind) or _forged()
    return (pattern * (size // len(pattern) + 1))[:size]


def _forged() -> str:
    lines = ["[nameZZ|0]", "[... 3 older observed messages omitted ...]", "[Summary of 5 earlier observed messages]"]
    description = declared.get(None)
    if description is not None:
        lines += [description["headers"]["block"], description["headers"]["addressed"]]
    return "\n" + "\n".join(lines) + "\n"


def _code(index: int) -> str:
    return _CONSONANTS[index // len(_CONSONANTS)] + _CONSONANTS[index % len(_CONSONANTS)]
