"""Vectors: hand-made inputs with what must hold of the result, as data that any language can read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from observed_context_conformance.data import fixtures_dir
from observed_context_conformance.port import Description
from observed_context_conformance.schemas import problem


class VectorError(Exception):
    """A file of vectors cannot be used; the message names the file and the mend."""


@dataclass(frozen=True)
class Vector:
    """One input of a pure call, and what must hold of the result.

    Attributes:
        id: kebab-case, unique over all files.
        requirement: the id that it shows.
        call: the port method.
        description: what holds, in the present tense.
        arguments: the call's arguments, with placeholders.
        expect: matchers, each with a JSON pointer `at` and one condition; all must hold.
        valid: a result that meets them.
        wrong: a tempting result that does not.
    """

    id: str
    requirement: str
    call: str
    description: str
    arguments: dict[str, Any]
    expect: tuple[dict[str, Any], ...]
    valid: Any
    wrong: Any

    def settled_for(self, description: Description) -> Vector:
        """This vector with the placeholders replaced by what an adapter declares."""
        platform = min(description["markers"])
        texts = {
            "$PLATFORM": platform,
            "$MARKER": description["markers"][platform],
            "$BLOCK_HEADER": description["headers"]["block"],
            "$ADDRESSED_HEADER": description["headers"]["addressed"],
            "$IMAGE_TOOL": description.get("options", {}).get("image_tool") or "no tool",
        }
        settled = _replaced([self.arguments, list(self.expect), self.valid, self.wrong], texts)
        arguments, expect, valid, wrong = settled
        return Vector(self.id, self.requirement, self.call, self.description, arguments, tuple(expect), valid, wrong)

    def broken(self, result: object) -> tuple[str, str] | None:
        """What was expected and what came instead, of the first matcher that does not hold; None when all do."""
        for matcher in self.expect:
            value = _at(result, matcher["at"])
            kind = next(key for key in matcher if key != "at")
            if not _HOLDS[kind](value, matcher[kind]):
                place = f" at {matcher['at']}" if matcher["at"] else ""
                wanted = json.dumps(matcher[kind], ensure_ascii=False)
                return f"{kind.replace('_', ' ')} {wanted}{place}", json.dumps(value, ensure_ascii=False)
        return None


@cache
def load_vectors(directory: Path | None = None) -> tuple[Vector, ...]:
    """All vectors of `fixtures/vectors/`, by file name and position.

    Raises:
        VectorError: a file is not valid by `spec/schema/vectors.json`, or an id or description appears twice.
    """
    found: list[Vector] = []
    seen: set[str] = set()
    for path in sorted((directory or fixtures_dir() / "vectors").glob("*.json")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise VectorError(f"{path.name} is not JSON: {error}") from error
        wrong = problem("vectors.json", content)
        if wrong is not None:
            raise VectorError(f"{path.name} is not valid by spec/schema/vectors.json: {wrong}")
        for item in content["vectors"]:
            for name in (item["id"], item["description"]):
                if name in seen:
                    raise VectorError(f"{path.name}: {name!r} appears twice; ids and descriptions are unique")
                seen.add(name)
            vector = {**item, "expect": tuple(item["expect"])}
            found.append(Vector(call=content["call"], **vector))
    return tuple(found)


def _replaced(value: Any, texts: dict[str, str]) -> Any:
    if isinstance(value, str):
        for placeholder, text in texts.items():
            value = value.replace(placeholder, text)
        return value
    if isinstance(value, list):
        return [_replaced(item, texts) for item in value]
    if isinstance(value, dict):
        return {key: _replaced(item, texts) for key, item in value.items()}
    return value


def _at(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _in_order(value: str, texts: list[str]) -> bool:
    position = 0
    for text in texts:
        found = value.find(text, position)
        if found < 0:
            return False
        position = found + len(text)
    return True


def _same(value: object, wanted: object) -> bool:
    # JSON tells true from 1; Python does not. Python tells 1 from 1.0; JSON does not.
    return json.dumps(_whole(value), sort_keys=True) == json.dumps(_whole(wanted), sort_keys=True)


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return value


def _text(holds: Callable[[str, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda value, wanted: isinstance(value, str) and holds(value, wanted)


_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "is": _same,
    "is_not": lambda value, wanted: not _same(value, wanted),
    "starts_with": _text(lambda value, wanted: value.startswith(wanted)),
    "ends_with": _text(lambda value, wanted: value.endswith(wanted)),
    "contains": _text(lambda value, wanted: all(text in value for text in wanted)),
    # A text that is not there lacks everything.
    "lacks": lambda value, wanted: value is None or (isinstance(value, str) and not any(t in value for t in wanted)),
    "in_order": _text(_in_order),
    "has_line": _text(lambda value, wanted: set(wanted) <= set(value.split("\n"))),
    "lacks_line": _text(lambda value, wanted: not set(wanted) & set(value.split("\n"))),
    "max_length": lambda value, wanted: value is None or len(value) <= wanted,
}
