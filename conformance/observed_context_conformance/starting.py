"""The starting point of an adapter: files that get a first verdict before anything is written."""

from __future__ import annotations

import shutil
from pathlib import Path

from observed_context_conformance.data import javascript_dir

_HERE = Path(__file__).parent / "skeletons"


class StartError(Exception):
    """The starting point cannot be written; the message says what is in the way."""


def skeleton(language: str) -> dict[str, Path]:
    """The files of a starting point: under which name, and from where.

    Raises:
        StartError: there is none in this language.
    """
    if language == "python":
        return {"adapter.py": _HERE / "adapter.py"}
    if language == "javascript":
        # The pipe is the JavaScript implementation's own, so that a starting point speaks all of the protocol.
        return {"adapter.mjs": javascript_dir() / "skeleton.mjs", "serve.mjs": javascript_dir() / "serve.mjs"}
    raise StartError(f"there is no starting point in {language!r}; there are python and javascript.")


def first_command(language: str) -> str:
    """The command that checks a starting point from its own directory."""
    target = "adapter:Adapter" if language == "python" else "--command 'node adapter.mjs'"
    return f"observed-context check {target}"


def begin(language: str, directory: Path) -> list[Path]:
    """Write a starting point into a directory, which is made if it is not there; returns the files.

    Raises:
        StartError: there is none in this language, or a file of that name is there already.
    """
    files = skeleton(language)
    if directory.exists() and not directory.is_dir():
        raise StartError(f"{directory} is a file; name a directory.")
    for name in files:
        if (directory / name).exists():
            raise StartError(f"{directory / name} is there already; name another directory.")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return [Path(shutil.copyfile(source, directory / name)) for name, source in files.items()]
    except OSError as error:
        raise StartError(f"{directory} cannot be written: {error}") from error
