"""Where the specification and the fixtures are: inside the installed package, or at the root of a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def _directory(name: str) -> Path:
    package = Path(__file__).resolve().parent
    for candidate in (package / "_data" / name, package.parents[1] / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"the directory {name}/ is neither in the installed package nor beside it; install observed-context again")


def spec_dir() -> Path:
    """The chapters and schemas of the specification."""
    return _directory("spec")


def fixtures_dir() -> Path:
    """Vectors, corpora and recorded verdicts."""
    return _directory("fixtures")
