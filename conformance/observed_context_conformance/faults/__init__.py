"""Deliberate defects: adapters that are wrong in exactly one way, each with the requirement that must catch it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True)
class Fault:
    """A defect made on purpose.

    Attributes:
        id: kebab-case, unique.
        requirement: the requirement whose checks must catch it.
        after: the public failure that it is modelled on (`owner/repo#number`), or None.
        description: one paragraph, in the present tense.
        make: a new adapter that has the defect.
    """

    id: str
    requirement: str
    after: str | None
    description: str
    make: Callable[[], Any]


_REGISTRY: dict[str, Fault] = {}


def fault(id: str, requirement: str, *, after: str | None = None) -> Callable[[Callable[[], Any]], Callable[[], Any]]:  # noqa: A002
    """Register an adapter class (or factory) as a fault; its docstring describes the defect.

    Raises:
        ValueError: the id is taken, or there is no docstring.
    """

    def decorate(make: Callable[[], Any]) -> Callable[[], Any]:
        description = " ".join((make.__doc__ or "").split())
        if id in _REGISTRY:
            raise ValueError(f"two faults are named {id}")
        if not description:
            raise ValueError(f"fault {id} has no docstring that describes it")
        _REGISTRY[id] = Fault(id, requirement, after, description, make)
        return make

    return decorate


@cache
def load_faults() -> tuple[Fault, ...]:
    """All faults of the kit, in the order of their modules and lines."""
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}")
    return tuple(_REGISTRY.values())
