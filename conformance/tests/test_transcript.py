"""Rows in a `Transcript` make the same block as the same rows in a list, whatever stands in them."""

from __future__ import annotations

import copy
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from observed_context import lines
from observed_context.assembly import assemble, watermark
from observed_context.shapes import Limits, Row
from observed_context.transcript import Transcript

_STRUCTURE = [lines.BLOCK_HEADER, lines.ADDRESSED_HEADER, lines.note(3), lines.label(7)]
_BITS = [
    "[",
    "]",
    "|",
    "[Ana|1]",
    "[Sam|2]\n",
    "\n",
    "\r\n",
    "\u2028",
    " ",
    "\u200f",
    "hi",
    "\ud83d",
    "\ude00",
    "👩\u200d👩",
    "今",
    "ſ",
]

texts = st.lists(st.sampled_from([*_BITS, *_STRUCTURE, *map(str.upper, _STRUCTURE)]), max_size=8).map("".join)
contents = st.one_of(
    texts,
    st.tuples(texts, st.integers(2, 80)).map(lambda drawn: drawn[0] * drawn[1]),
    st.none(),
    texts.map(lambda text: [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": "x"}}]),
)
summaries = st.one_of(
    st.none(),
    st.none(),
    st.none(),
    st.fixed_dictionaries(
        {"covered": st.integers(0, 99)}, optional={"covers_through": st.none() | st.integers(-1, 30)}
    ),
)
limits = st.fixed_dictionaries(
    {"max_chars": st.sampled_from([0, 5, 64, 256, 300, 1000, 5000]), "max_rows": st.sampled_from([0, 1, 2, 5, 20])}
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Row]:
    """Rows in ascending `seq`, some of which are summaries."""
    drawn = draw(st.lists(st.tuples(st.integers(1, 3), contents, summaries), max_size=30))
    made: list[dict[str, Any]] = []
    for step, content, summary in drawn:
        row = {"seq": step + (made[-1]["seq"] if made else 0), "role": "user", "observed": True, "content": content}
        made.append(row | ({} if summary is None else {"summary": summary}))
    return cast("list[Row]", made)


@settings(max_examples=300, deadline=None)
@given(rows=conversations(), bounds=limits)
def test_a_transcript_is_assembled_as_a_list_is(rows: list[Row], bounds: Limits) -> None:
    before = copy.deepcopy(rows)
    transcript = Transcript(rows)
    assert assemble(transcript, bounds) == assemble(rows, bounds)
    assert list(transcript) == rows == before


@settings(max_examples=200, deadline=None)
@given(rows=conversations())
def test_a_transcript_knows_what_is_covered(rows: list[Row]) -> None:
    summary, left = watermark(rows)
    held_summary, held_left = watermark(Transcript(rows))
    assert held_summary is summary
    assert list(held_left) == list(left)
    assert list(held_left[::-1]) == list(left)[::-1]


def test_a_row_that_comes_later_is_there() -> None:
    transcript = Transcript()
    assert assemble(transcript, {"max_chars": 0, "max_rows": 0}) is None
    transcript.append({"seq": 4, "role": "user", "observed": True, "content": "[Ana|1]\nhi"})
    transcript.append(
        {
            "seq": 9,
            "role": "user",
            "observed": True,
            "content": "so far",
            "summary": {"covers_through": 4, "covered": 1},
        }
    )
    transcript.append({"seq": 10, "role": "user", "observed": True, "content": "[Ben|2]\nho"})
    assert assemble(transcript, {"max_chars": 0, "max_rows": 0}) == f"{lines.label(1)}\nso far\n[Ben|2]\nho"
    assert (len(transcript), transcript[0]["seq"], [row["seq"] for row in transcript[1:]]) == (3, 4, [9, 10])
