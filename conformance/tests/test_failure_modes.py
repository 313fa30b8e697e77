"""The page of public mistakes tells the truth: its faults are in the catalogue, under the requirements it names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from observed_context_conformance import faults
from observed_context_conformance.catalogue import load_catalogue
from observed_context_conformance.faults import load_faults

PAGE = Path(faults.__file__).with_name("failure-modes.md")
HEAD = ["what goes wrong", "seen in", "requirement", "faults"]
REFERENCE = re.compile(r"[\w.-]+/[\w.-]+(#\d+| [\w./-]+\.\w+| \(.+\))")


class Mistake(NamedTuple):
    """A row of the page."""

    title: str
    seen: list[str]
    requirements: list[str]
    faults: list[str]


def _mistakes() -> list[Mistake]:
    """The rows of all tables of the page."""
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("|") and not line.startswith("|--")
    ]
    return [
        Mistake(title, seen.split(", "), requirement.split(", "), re.findall("`([^`]+)`", named))
        for title, seen, requirement, named in (row for row in rows if row != HEAD)
    ]


MISTAKES = _mistakes()


def test_the_page_has_rows_and_no_two_of_one_title() -> None:
    titles = [mistake.title for mistake in MISTAKES]
    assert len(titles) > 50
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.title)
def test_each_fault_of_a_row_is_in_the_catalogue_under_a_requirement_of_the_row(mistake: Mistake) -> None:
    known = {fault.id: fault for fault in load_faults()}
    assert mistake.faults
    assert set(mistake.faults) <= known.keys()
    assert {known[name].requirement for name in mistake.faults} == set(mistake.requirements)
    assert all(requirement in load_catalogue() for requirement in mistake.requirements)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.title)
def test_each_row_says_where_that_was_seen(mistake: Mistake) -> None:
    assert mistake.seen == ["nothing public"] or all(map(REFERENCE.fullmatch, mistake.seen))
