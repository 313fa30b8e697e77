"""The vectors themselves: valid data, whose `valid` result meets the expectations and whose `wrong` one does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import adapters_for_tests as toys
import pytest

from observed_context_conformance.adapters.reference import create
from observed_context_conformance.catalogue import load_catalogue
from observed_context_conformance.port import Description
from observed_context_conformance.schemas import problem
from observed_context_conformance.vectors import Vector, VectorError, load_vectors

DECLARED: Description = create().describe()


@pytest.fixture(params=load_vectors(), ids=lambda vector: vector.id)
def vector(request: pytest.FixtureRequest) -> Vector:
    """Each vector, with the placeholders replaced."""
    made: Vector = request.param
    return made.settled_for(DECLARED)


def test_arguments_satisfy_the_schema(vector: Vector) -> None:
    assert problem(f"calls.json#/$defs/{vector.call}/properties/arguments", vector.arguments) is None


def test_the_requirement_is_about_this_call(vector: Vector) -> None:
    assert vector.call in load_catalogue()[vector.requirement].ports


def test_the_valid_result_meets_the_expectations(vector: Vector) -> None:
    assert problem(f"calls.json#/$defs/{vector.call}/properties/result", vector.valid) is None
    assert vector.broken(vector.valid) is None


def test_the_wrong_result_does_not(vector: Vector) -> None:
    assert vector.broken(vector.wrong) is not None


def test_the_description_says_what_holds(vector: Vector) -> None:
    assert "should" not in vector.description.lower()
    assert vector.description.endswith(".")


def test_nothing_is_left_of_a_placeholder(vector: Vector) -> None:
    assert not any(f"${name}" in json.dumps(vector.arguments) for name in ("PLATFORM", "MARKER", "BLOCK", "ADDRESSED"))


PLAIN: dict[str, Any] = {
    "id": "a",
    "requirement": "LIM-1",
    "description": "The defaults are in force.",
    "arguments": {"config": None},
    "expect": [{"at": "/max_rows", "is": 4000}],
    "valid": {"max_chars": 512000, "max_rows": 4000},
    "wrong": {"max_chars": 512000, "max_rows": 0},
}


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([PLAIN, PLAIN], "'a' appears twice"),
        ([PLAIN | {"surprise": 1}], "Additional properties"),
        ([PLAIN | {"expect": [{"at": ""}]}], "does not have enough properties"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, vectors: list[Any], message: str) -> None:
    (tmp_path / "limits.json").write_text(json.dumps({"call": "limits", "vectors": vectors}))
    with pytest.raises(VectorError, match=r"limits\.json") as caught:
        load_vectors(tmp_path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("matcher", "value", "holds"),
    [
        ({"is": True}, 1, False),
        ({"is": None}, None, True),
        ({"is_not": "observe"}, "ignore", True),
        ({"starts_with": "[A"}, "[Ana|1]", True),
        ({"starts_with": "[A"}, None, False),
        ({"ends_with": "x"}, "abx", True),
        ({"contains": ["a", "b"]}, "ab", True),
        ({"contains": ["a", "c"]}, "ab", False),
        ({"lacks": ["a", "c"]}, "ab", False),
        ({"lacks": ["a"]}, None, True),
        ({"in_order": ["a", "b"]}, "b a", False),
        ({"in_order": ["a", "a"]}, "a", False),
        ({"has_line": ["b"]}, "a\nb", True),
        ({"has_line": ["b"]}, "a b", False),
        ({"lacks_line": ["b"]}, "a\nb", False),
        ({"max_length": 2}, "abc", False),
        ({"max_length": 2}, [1, 2], True),
    ],
)
def test_matchers(matcher: dict[str, Any], value: object, holds: bool) -> None:
    made = Vector("a", "LIM-1", "limits", "", {}, ({"at": "", **matcher},), None, None)
    assert (made.broken(value) is None) is holds


def test_placeholders_are_what_the_adapter_declares() -> None:
    made = Vector("a", "LIM-1", "limits", "", {"x": ["$MARKER on $PLATFORM"]}, (), None, None)
    assert made.settled_for(toys.DESCRIPTION).arguments == {"x": ["observed IRC channel context on irc"]}  # type: ignore[arg-type]
