"""Where the data is: inside the installed package, or at the root of the checkout that the package is imported from."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def _directory(name: str, checkout: str | None = None) -> Path:
    """The data of that name: below the installed package, or in the checkout, there perhaps elsewhere."""
    package = Path(__file__).resolve().parent
    candidates = (package / "_data" / name, package.parents[1] / (checkout or name))
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(
        f"there is no data directory {name}/ at {' or at '.join(map(str, candidates))}; install observed-context again"
    )


def spec_dir() -> Path:
    """The directory of the chapters; the schemas are in `schema/` below it.

    Raises:
        FileNotFoundError: the installation lacks its data.
    """
    return _directory("spec")


def fixtures_dir() -> Path:
    """The directory of the data that any language can read: vectors, corpora, recorded verdicts.

    Raises:
        FileNotFoundError: the installation lacks its data.
    """
    return _directory("fixtures")


def javascript_dir() -> Path:
    """The directory of the implementation in JavaScript.

    Raises:
        FileNotFoundError: the installation lacks its data.
    """
    return _directory("javascript", "reference/javascript")
