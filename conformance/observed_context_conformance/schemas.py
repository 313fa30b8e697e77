"""The JSON Schemas of `spec/schema/`, ready to validate what crosses the port."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema
from jsonschema.exceptions import best_match
from referencing import Registry, Resource

from observed_context_conformance.data import spec_dir


@cache
def _registry() -> Registry[Any]:
    contents = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((spec_dir() / "schema").glob("*.json"))]
    return Registry().with_resources((content["$id"], Resource.from_contents(content)) for content in contents)


@cache
def validator(reference: str) -> jsonschema.Draft202012Validator:
    """The validator of a file of `spec/schema/`, with an optional fragment (`row.json`, `calls.json#/$defs/gate`).

    Raises:
        jsonschema.exceptions.SchemaError: our own schema is broken.
        referencing.exceptions.Unresolvable: there is no such schema.
    """
    base = "https://observed-context.invalid/schema/"
    return jsonschema.Draft202012Validator({"$ref": base + reference}, registry=_registry())


def problem(reference: str, value: object) -> str | None:
    """What is wrong with `value`, in one line that names the place, or None when it satisfies the schema."""
    checker = validator(reference)
    if checker.is_valid(value):
        return None
    error = best_match(checker.iter_errors(value))
    if error is None:  # is_valid and iter_errors agree unless the value changed in between
        return None
    message = error.message if len(error.message) <= 300 else error.message[:300] + " ..."
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path).lstrip(".")
    return f"{place}: {message}" if place else message
