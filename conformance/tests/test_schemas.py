"""The schemas are valid and closed; the instances in `fixtures/schema/` are taken, or refused for the stated reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from jsonschema.exceptions import ValidationError

from observed_context_conformance.data import fixtures_dir, spec_dir
from observed_context_conformance.schemas import validator

# Places that are open on purpose, each documented in its schema.
OPEN = {
    "description.json/properties/markers",  # one text for each platform
    "report.json/properties/broken_checks",  # one text for each check
    "report.json/$defs/counts",  # one count for each standing; the names are restricted
    "report.json/$defs/outcome/properties/events",  # one count for each situation
    "report.json/$defs/call/properties/arguments",  # whatever was passed; calls.json has it
    "report.json/$defs/call/properties/requests/items/items",  # whatever was sent; message.json has it
    "row.json/properties/extra",  # the adapter's own
    "vectors.json/$defs/vector/properties/arguments",  # calls.json has them
}

ANNOTATIONS = {"description", "title"}


def schema_files() -> list[Path]:
    return sorted((spec_dir() / "schema").glob("*.json"))


@cache
def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def entries() -> dict[str, Any]:
    """The entries of all instance files, by the schema that they are for."""
    found: dict[str, Any] = {}
    for path in sorted((fixtures_dir() / "schema").glob("*.json")):
        for entry in read(path):
            assert entry.keys() == {"schema", "valid", "invalid"}, f"{path.name} has an entry with other keys"
            assert entry["schema"].partition("#")[0] == path.name, f"{path.name} holds an entry of {entry['schema']}"
            assert entry["schema"] not in found, f"{path.name} has two entries for {entry['schema']}"
            found[entry["schema"]] = entry
    return found


def required_entries() -> list[str]:
    """The schemas that must have instances: each file; of `calls.json` arguments and result of each call."""
    names = []
    for path in schema_files():
        if path.name == "calls.json":
            sides = ("arguments", "result")
            names += [f"calls.json#/$defs/{call}/properties/{side}" for call in read(path)["$defs"] for side in sides]
        else:
            names.append(path.name)
    return names


def subschemas(schema: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """All schemas within a schema, with their places."""
    if isinstance(schema, dict):
        yield place, schema
        for keyword, value in schema.items():
            if keyword in ("properties", "$defs"):
                for name, inner in value.items():
                    yield from subschemas(inner, f"{place}/{keyword}/{name}")
            elif keyword in ("items", "additionalProperties", "propertyNames"):
                yield from subschemas(value, f"{place}/{keyword}")
            elif keyword in ("oneOf", "anyOf", "allOf"):
                for number, inner in enumerate(value):
                    yield from subschemas(inner, f"{place}/{keyword}/{number}")


def takes_objects(schema: dict[str, Any]) -> bool:
    return "object" in schema.get("type", ()) or "properties" in schema


def all_errors(errors: Iterator[ValidationError] | list[ValidationError]) -> Iterator[ValidationError]:
    """The errors, and those within the branches of a `oneOf`."""
    for error in errors:
        yield error
        yield from all_errors(error.context or [])


def pointer(error: ValidationError) -> str:
    return "".join(f"/{step}" for step in error.absolute_path)


@pytest.mark.parametrize("path", schema_files(), ids=lambda path: path.name)
def test_schema_is_valid_and_names_itself(path: Path) -> None:
    schema = read(path)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"].endswith(f"/schema/{path.name}")
    assert schema["title"]
    assert schema["description"]


@pytest.mark.parametrize("path", schema_files(), ids=lambda path: path.name)
def test_objects_are_closed(path: Path) -> None:
    # In calls.json a definition groups two schemas; what makes it look like one itself is closed as well.
    places = {place for place, schema in subschemas(read(path), path.name) if takes_objects(schema)}
    closed = {
        place
        for place, schema in subschemas(read(path), path.name)
        if takes_objects(schema) and schema.get("additionalProperties") is False
    }
    expected = {place for place in OPEN if place.startswith(f"{path.name}/")}
    assert places - closed == expected


def test_the_configuration_of_limits_is_open() -> None:
    calls = read(spec_dir() / "schema" / "calls.json")["$defs"]
    config = calls["limits"]["properties"]["arguments"]["properties"]["config"]
    assert config.keys() <= ANNOTATIONS


def test_every_schema_has_instances() -> None:
    missing = [name for name in required_entries() if name not in entries()]
    assert not missing, f"write instances in fixtures/schema/ for {missing}"


@pytest.mark.parametrize("name", sorted(entries()))
def test_instances_are_enough(name: str) -> None:
    entry = entries()[name]
    assert entry["valid"], "there is no valid instance"
    assert entry["invalid"] or takes_everything(name), "there is no invalid instance"


def takes_everything(name: str) -> bool:
    file, _, fragment = name.partition("#")
    schema = read(spec_dir() / "schema" / file)
    for step in fragment.split("/")[1:]:
        schema = schema[step]
    return set(schema) <= ANNOTATIONS


def cases(kind: str) -> list[Any]:
    return [
        pytest.param(name, instance, id=f"{name}-{number}")
        for name, entry in sorted(entries().items())
        for number, instance in enumerate(entry[kind], 1)
    ]


@pytest.mark.parametrize(("name", "instance"), cases("valid"))
def test_valid_instance_is_taken(name: str, instance: Any) -> None:
    assert [f"{pointer(error)}: {error.message}" for error in validator(name).iter_errors(instance)] == []


@pytest.mark.parametrize(("name", "case"), cases("invalid"))
def test_invalid_instance_is_refused_for_its_reason(name: str, case: dict[str, Any]) -> None:
    assert case.keys() == {"why", "at", "keyword", "instance"}
    assert case["why"].endswith(".")
    errors = list(validator(name).iter_errors(case["instance"]))
    assert len(errors) == 1, "it is refused for another reason as well"
    assert (case["at"], case["keyword"]) in {(pointer(error), error.validator) for error in all_errors(errors)}


@pytest.mark.parametrize("name", sorted(entries()))
def test_reasons_are_given_once(name: str) -> None:
    reasons = [case["why"] for case in entries()[name]["invalid"]]
    assert len(reasons) == len(set(reasons))
