"""The ratchet of known failures: it holds, or it says in a sentence what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from observed_context_conformance.checking import Outcome, Verdict
from observed_context_conformance.report.known import LedgerError, disagreements, read_ledger, rewrite

LISTED = """\
# Looked at in spring.
adapter = "toy"

[[known]]
requirement = "CAP-1"
signatures = ["block_fits: too-long"]
reason = "The note is not counted."
link = "https://example.org/1"
"""

EVERYTHING = frozenset({"CAP-1", "CAP-2", "LIM-1"})


def ran(requirement: str, verdict: Verdict, signature: str | None = None, check: str = "block_fits") -> Outcome:
    """An outcome as a run leaves it."""
    return Outcome(check, requirement, verdict, signature=signature)


def ledger_file(tmp_path: Path, text: str = LISTED) -> Path:
    """A file of known failures."""
    path = tmp_path / "known.toml"
    path.write_text(text, encoding="utf-8")
    return path


FAILS_AS_LISTED = ran("CAP-1", Verdict.FAIL, "block_fits: too-long")


# The truth table: is it listed, does it fail, and what the run says of it.
@pytest.mark.parametrize(
    ("outcomes", "sentence"),
    [
        ([FAILS_AS_LISTED], None),
        ([ran("CAP-1", Verdict.PASS)], "CAP-1 passes now: take its entry out of known.toml"),
        ([FAILS_AS_LISTED, ran("CAP-2", Verdict.FAIL, "rows: many")], "CAP-2 fails and is not in known.toml"),
        ([FAILS_AS_LISTED, ran("CAP-2", Verdict.PASS)], None),
        ([ran("CAP-1", Verdict.NOT_APPLICABLE)], "CAP-1 is in known.toml but was not tested"),
        ([], "CAP-1 is in known.toml but was not tested"),
        ([ran("CAP-1", Verdict.FAIL, "block_fits: empty")], "CAP-1 fails for another reason than known.toml records"),
        ([ran("CAP-1", Verdict.ERROR, "block_fits: assemble-hung")], "now also or instead: block_fits: assemble-hung"),
        (
            [FAILS_AS_LISTED, ran("CAP-1", Verdict.FAIL, "vector_a: differs", "vector_a")],
            "now also or instead: vector_a: differs",
        ),
    ],
)
def test_the_ratchet(tmp_path: Path, outcomes: list[Outcome], sentence: str | None) -> None:
    ledger = read_ledger(ledger_file(tmp_path))
    found = disagreements(ledger, outcomes, EVERYTHING)
    if sentence is None:
        assert found == []
    else:
        assert len(found) == 1
        assert sentence in found[0]


def test_a_filtered_run_leaves_the_other_entries_alone(tmp_path: Path) -> None:
    ledger = read_ledger(ledger_file(tmp_path))
    assert disagreements(ledger, [ran("LIM-1", Verdict.PASS)], frozenset({"LIM-1"})) == []


def test_an_entry_without_a_reason_is_a_disagreement(tmp_path: Path) -> None:
    ledger = read_ledger(ledger_file(tmp_path, LISTED.replace("The note is not counted.", " ")))
    assert disagreements(ledger, [FAILS_AS_LISTED], EVERYTHING) == ["CAP-1 in known.toml has no reason: write one."]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("known = 1", "is not a file of known failures: known: 1 is not of type 'array'"),
        ("[[known", "is not TOML"),
        (LISTED.replace("CAP-1", "CAP-77"), "there is no requirement 'CAP-77'"),
        (LISTED + LISTED.split("\n\n", 1)[1], "lists CAP-1 twice"),
        (LISTED.replace("reason", "because"), "is not a file of known failures"),
        (LISTED.replace("block_fits: too-long", "too long"), "does not match"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(LedgerError, match=r"known\.toml") as caught:
        read_ledger(ledger_file(tmp_path, text))
    assert message in str(caught.value)


def test_a_missing_file_says_how_to_begin_one(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="--grow-known"):
        read_ledger(tmp_path / "none.toml")


def test_shrinking_takes_out_what_passes_and_keeps_comments(tmp_path: Path) -> None:
    path = ledger_file(tmp_path)
    assert rewrite(path, [ran("CAP-1", Verdict.PASS)], grow=False, shrink=True) == ["CAP-1 is taken out: it passes"]
    assert "Looked at in spring" in path.read_text()
    assert read_ledger(path).entries == {}


def test_shrinking_never_grows(tmp_path: Path) -> None:
    path = ledger_file(tmp_path)
    outcomes = [FAILS_AS_LISTED, ran("CAP-2", Verdict.FAIL, "rows: many", "rows")]
    assert rewrite(path, outcomes, grow=False, shrink=True) == []
    assert path.read_text() == LISTED


def test_shrinking_leaves_what_was_not_tested(tmp_path: Path) -> None:
    path = ledger_file(tmp_path)
    assert rewrite(path, [ran("CAP-1", Verdict.NOT_APPLICABLE)], grow=False, shrink=True) == []


def test_growing_begins_a_file_whose_entries_still_need_their_reasons(tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    assert rewrite(path, [FAILS_AS_LISTED], grow=True, shrink=False) == ["CAP-1 is added: write its reason"]
    ledger = read_ledger(path)
    assert ledger.entries["CAP-1"].signatures == ("block_fits: too-long",)
    assert disagreements(ledger, [FAILS_AS_LISTED], EVERYTHING) == ["CAP-1 in new.toml has no reason: write one."]


def test_growing_adds_to_what_is_there(tmp_path: Path) -> None:
    path = ledger_file(tmp_path)
    outcomes = [FAILS_AS_LISTED, ran("CAP-2", Verdict.FAIL, "rows: many", "rows")]
    assert rewrite(path, outcomes, grow=True, shrink=False) == ["CAP-2 is added: write its reason"]
    entries = read_ledger(path).entries
    assert list(entries) == ["CAP-1", "CAP-2"]
    assert entries["CAP-1"].reason == "The note is not counted."
    assert path.read_text() == LISTED + (
        '\n[[known]]\nrequirement = "CAP-2"\nsignatures = ["rows: many"]\nreason = ""\n'
    )


@pytest.mark.parametrize("text", ["", "# Begun in spring.\n", "known = []\n"])
def test_growing_an_empty_file(tmp_path: Path, text: str) -> None:
    path = ledger_file(tmp_path, text)
    assert read_ledger(path).entries == {}
    outcomes = [FAILS_AS_LISTED, ran("CAP-2", Verdict.FAIL, "rows: many", "rows")]
    rewrite(path, outcomes, grow=True, shrink=False)
    assert list(read_ledger(path).entries) == ["CAP-1", "CAP-2"]
    assert path.read_text().startswith(text if text.startswith("#") else "[[known]]")
    assert path.read_text().count("\n\n[[known]]") == (2 if text.startswith("#") else 1)
