"""What the reference's redaction does beyond the port: rows that belong together, and the way back from a reading."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observed_context.redaction import redact, redact_rows
from observed_context.redaction.views import View, joined, revealed
from observed_context_conformance.strategies import plants, texts
from observed_context_conformance.strategies import secrets as made
from observed_context_conformance.strategies.plants import Plant

GITHUB = made.MUST["github_pat_classic"](Random(1)).written


def test_a_secret_is_named_in_its_place() -> None:
    assert redact(f"use {GITHUB}, please") == "use [redacted: github token], please"


def test_rows_stay_rows_and_say_who_wrote_them() -> None:
    rows = [f"[Ana|7]\nfirst half {GITHUB[:17]}", f"[Ana|7]\n{GITHUB[17:]} is the rest", "[Ben|8]\nok"]
    assert redact_rows(rows) == [
        "[Ana|7]\nfirst half [redacted: github token]",
        "[Ana|7]\n[redacted: github token] is the rest",
        "[Ben|8]\nok",
    ]


def test_somebody_else_may_speak_between_the_halves() -> None:
    rows = [f"[Ana|7]\n{GITHUB[:17]}", "[Ben|8]\nwhat is that?", f"[Ana|7]\n{GITHUB[17:]}"]
    assert redact_rows(rows)[1:] == ["[Ben|8]\nwhat is that?", "[Ana|7]\n[redacted: github token]"]


def test_a_name_in_one_row_may_have_its_value_in_the_next() -> None:
    assert redact_rows(["[Ana|7]\npassword:", "[Ana|7]\nWombat#9x"])[1] == "[Ana|7]\n[redacted: password]"


def test_the_next_row_is_not_taken_for_the_rest_of_a_whole_token() -> None:
    rows = [GITHUB, "thanks a lot", "b4by steps"]
    assert redact_rows(rows)[1:] == rows[1:]


def test_a_private_key_over_rows_leaves_their_attribution() -> None:
    lines = made.MUST["pem_rsa_multiline"](Random(1)).written.split("\n")
    rows = ["[Ana|7]\n" + "\n".join(lines[:3]), "[Ana|7]\n" + "\n".join(lines[3:]), "[Ben|8]\noh no"]
    assert redact_rows(rows) == [
        "[Ana|7]\n[redacted: private key]",
        "[Ana|7]\n[redacted: private key]",
        "[Ben|8]\noh no",
    ]


@given(plants.split())
def test_most_of_a_split_token_is_found(case: tuple[tuple[str, ...], Plant]) -> None:
    rows, _ = case
    assert len(redact_rows(rows)) == len(rows)


@given(texts.messages())
def test_rows_that_have_nothing_to_do_with_each_other_are_redacted_alike(text: str) -> None:
    assert redact_rows([text, text]) == [redact(text), redact(text)]


@pytest.mark.parametrize("reading", [revealed, joined])
@given(text=st.text(st.sampled_from("ab-_9 \n\\u0061%3D&amp;\u200bｇ𝗯é"), max_size=40))
def test_every_reading_knows_the_way_back(reading: object, text: str) -> None:
    view = reading(View(text))  # type: ignore[operator]
    ends = [view.origin(position, position + 1) for position in range(len(view.text))]
    assert all(0 <= start < end <= len(text) for start, end in ends)
    assert ends == sorted(ends)
    for position, (start, end) in enumerate(ends):
        if end - start == 1 and text[start].isascii():
            assert view.text[position] == text[start]
