"""The corpus of secrets, the judgement whether one survives, and the generators of fresh ones."""

from __future__ import annotations

import re
from binascii import crc32
from random import Random

import adapters_for_tests as toys
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observed_context_conformance.checking import Adapter, Verdict, load_checks, run_check
from observed_context_conformance.data import fixtures_dir, spec_dir
from observed_context_conformance.secrets import Record, load_secrets, survivor
from observed_context_conformance.strategies import plants
from observed_context_conformance.strategies import secrets as made
from observed_context_conformance.strategies.plants import Plant
from observed_context_conformance.strategies.secrets import Secret

TOKEN = "kq7ZpX2mWv9RtB4nLc8D"


# -- the corpus ------------------------------------------------------------------------------------------------------


@pytest.fixture(params=load_secrets(), ids=lambda record: f"{record.id} {record.kind}")
def record(request: pytest.FixtureRequest) -> Record:
    """Each record."""
    made_record: Record = request.param
    return made_record


def test_the_corpus_is_complete() -> None:
    records = load_secrets()
    assert len({record.id for record in records}) == len(records) == 193
    assert sum(record.level == "negative" for record in records) == 83


def test_a_record_holds_its_secrets_unless_it_is_a_negative(record: Record) -> None:
    assert bool(record.secrets) == (record.level != "negative")
    assert "{{" not in "".join(record.secrets)
    if record.secrets:
        assert record.survivor(record.text) is not None
        assert record.survivor(record.around) is None


def test_no_secret_stands_in_the_file() -> None:
    written = (fixtures_dir() / "secrets" / "secrets.jsonl").read_text(encoding="utf-8")
    whole = [secret for record in load_secrets() for secret in record.secrets if len(secret) >= 12]
    assert whole
    assert not [secret for secret in whole if secret in written]


def test_the_chapter_lists_the_kinds_that_must_not_cross() -> None:
    chapter = (spec_dir() / "redaction.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(\w+)` \|", chapter, re.MULTILINE))
    assert listed == {record.kind for record in load_secrets() if record.level == "must"}


# -- the judgement ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("nothing of it", None),
        (f"all of it: {TOKEN}.", TOKEN),
        (f"twelve: {TOKEN[3:15]}", TOKEN[3:15]),
        (f"eleven: {TOKEN[3:14]}", None),
        (f"the first six and the last four: {TOKEN[:6]}...{TOKEN[-4:]}", TOKEN[-4:]),
        (f"the first eleven: {TOKEN[:11]}...", None),
        ("full-width: " + "".join(chr(ord(c) + 0xFEE0) for c in TOKEN), TOKEN),
        (f"with an invisible space: {TOKEN[:9]}\u200b{TOKEN[9:]}", TOKEN),
        (f"over two lines: {TOKEN[:9]}\r\n{TOKEN[9:]}", TOKEN),
        (f"in capitals: {TOKEN.upper()}", None),
    ],
)
def test_what_counts_as_left(text: str, left: str | None) -> None:
    assert survivor([TOKEN], text) == left


def test_half_of_a_short_secret_counts() -> None:
    assert survivor(["730418"], "your code: 730***") == "730"
    assert survivor(["730418"], "your code: 73****") is None


def test_what_was_said_beside_the_secret_does_not_count() -> None:
    assert survivor(["hunter-2025"], "[redacted], as in 2025", around=", as in 2025") is None
    assert survivor(["hunter-2025"], "[redacted]-2025, as in 2025", around=", as in 2025") == "2025"


def test_each_spelling_of_a_secret_counts() -> None:
    assert survivor(["a%2Fb%2Fc%2Fd%2Fe", "a/b/c/d/e/f/g"], "it is a/b/c/d/e/f/g") == "a/b/c/d/e/f/g"


# -- both sides of the checks ----------------------------------------------------------------------------------------


class ReturnsTheTextAsItIs(toys.Describes):
    """Takes nothing out."""

    def redact(self, text: str) -> str:
        """All of it."""
        return text


class ReturnsNothing(toys.Describes):
    """Takes everything out."""

    def redact(self, text: str) -> str:
        """None of it."""
        return ""


def _failing(adapter: toys.Describes) -> set[str]:
    """The checks of redaction that fail, those of speed aside."""
    tested = [check for check in load_checks() if check.area == "RED" and check.calls == ("redact",)]
    under_test = Adapter(adapter)
    outcomes = [run_check(check, under_test) for check in tested if not check.name.startswith(("vector_", "time_"))]
    assert {outcome.verdict for outcome in outcomes} <= {Verdict.PASS, Verdict.FAIL}
    return {outcome.check for outcome in outcomes if outcome.verdict is Verdict.FAIL}


def test_who_takes_nothing_out_fails_where_secrets_are_planted() -> None:
    assert _failing(ReturnsTheTextAsItIs()) == {
        "no_secret_of_the_corpus_survives",
        "no_fresh_secret_survives",
        "no_kind_of_secret_survives",
        "no_secret_hides_another",
        "no_secret_survives_in_a_name_a_file_or_a_summary",
        "half_of_the_secrets_said_in_words_are_caught",
        "half_of_the_disguised_secrets_are_caught",
        "half_of_the_disguises_of_a_token_are_seen_through",
    }


def test_who_takes_everything_out_fails_where_there_is_something_to_keep() -> None:
    assert _failing(ReturnsNothing()) == {
        "sentences_without_a_secret_pass_unchanged",
        "fresh_text_without_a_secret_passes_unchanged",
        "words_beside_a_secret_survive",
        "words_between_secrets_survive",
    }


# -- fresh secrets ---------------------------------------------------------------------------------------------------


def test_there_is_a_fresh_secret_of_every_kind_that_must_not_cross() -> None:
    kinds = {record.kind for record in load_secrets() if record.level == "must"}
    places = {kind for kind in kinds if kind.startswith("surface_")} | {"md_table"}
    assert set(made.MUST) - {"anthropic_api_key"} == kinds - places


@pytest.mark.parametrize("kind", made.MUST)
def test_a_fresh_secret_is_written_and_new(kind: str) -> None:
    several = [made.MUST[kind](Random(seed)) for seed in range(20)]
    assert len({secret.values for secret in several}) == len(several)
    for secret in several:
        assert secret.kind == kind
        assert all(value in secret.written for value in secret.values)
    known = {value for record in load_secrets() for value in record.secrets}
    assert not known & {value for secret in several for value in secret.values}


@given(st.integers(0, 2**32 - 1))
def test_checksums_are_right(seed: int) -> None:
    token = made.MUST["github_pat_classic"](Random(seed)).written
    number = 0
    for digit in token[-6:]:
        number = number * 62 + made.BASE62.index(digit)
    assert number == crc32(token[4:-6].encode())


@given(
    st.one_of(
        plants.plants(),
        plants.gatherings(),
        plants.names(),
        plants.media().map(lambda pair: pair[1]),
        plants.summaries(),
        plants.split().map(lambda pair: pair[1]),
        st.builds(plants.disguised, made.tokens(), st.sampled_from(tuple(plants.DISGUISES))),
    )
)
def test_a_plant_is_seen_and_its_surroundings_are_not(plant: Plant) -> None:
    assert plant.survivor(plant.text) is not None
    assert plant.survivor(plant.around) is None
    assert all(words in plant.text for words in plant.beside)


@given(plants.across(200))
def test_a_plant_across_a_position_stands_on_both_sides_of_it(plant: Plant) -> None:
    start = plant.text.index(plant.values[0])
    assert start < 200 < start + len(plant.values[0])


@given(made.secrets(["env_lower"]), st.sampled_from(plants.SENTENCES), st.sampled_from(plants.ENDS))
def test_what_needs_a_line_of_its_own_has_one(secret: Secret, sentence: tuple[str, str], end: str) -> None:
    lines = plants.planted(secret, sentence, ("", ""), end).text.split("\n")
    assert lines[0] == sentence[0]
    assert lines[-1] == sentence[1]
