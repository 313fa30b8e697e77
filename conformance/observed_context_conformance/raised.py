"""What an adapter raises: how an end of the process becomes an exception, and where an exception stood.

Standard library only: what serves an adapter uses it too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from traceback import walk_tb
from typing import NoReturn

_KIT = Path(__file__).parent
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+(?=[>,])")


class _Door:
    """Where `os._exit` is held shut, as long as one call needs it."""

    def __init__(self) -> None:
        self._leave = os._exit
        self._lock = Lock()
        self._calls = 0
        self._process = 0

    def shut(self) -> None:
        """Let nobody out of this process from now on; a child process that is forked meanwhile ends as it wants to."""
        with self._lock:
            self._calls += 1
            self._process = os.getpid()
            os._exit = self._stay

    def open(self) -> None:
        """Take back one `shut`."""
        with self._lock:
            self._calls -= 1
            if not self._calls:
                os._exit = self._leave

    def _stay(self, status: int) -> NoReturn:
        if os.getpid() != self._process:
            self._leave(status)
        raise SystemExit(f"os._exit({status})")


_door = _Door()


@contextmanager
def staying() -> Iterator[None]:
    """Keep whoever is called in the body from ending this process: `os._exit` raises `SystemExit` there.

    Calls may overlap, in several threads.
    """
    _door.shut()
    try:
        yield
    finally:
        _door.open()


def place_of(error: BaseException) -> str | None:
    """File name, line and function of the innermost frame that is not the kit's; None when there is none."""
    for frame, line in reversed(list(walk_tb(error.__traceback__))):
        file = Path(frame.f_code.co_filename)
        if not _is_the_kits(file):
            return f"{file.name}:{line} in {frame.f_code.co_name}"
    return None


def kind_of(error: BaseException) -> str:
    """The name of the exception; an adapter in another process tells it itself, as far as it knows it."""
    return getattr(error, "kind", None) or type(error).__name__


def steady(text: str) -> str:
    """A text without the addresses of objects, which differ in every run."""
    return _ADDRESS.sub("", text)


def _is_the_kits(file: Path) -> bool:
    # Its adapters and its faults are under test like anybody's.
    return file.is_relative_to(_KIT) and file.relative_to(_KIT).parts[0] not in ("adapters", "faults")
