"""What an adapter raises: how an end of the process becomes an exception, and where an exception stood.

Standard library only: what serves an adapter uses it too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb
from typing import NoReturn

_KIT = Path(__file__).parent
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+(?=[>,])")


@contextmanager
def staying() -> Iterator[None]:
    """Keep whoever is called in the body from ending this process: `os._exit` raises `SystemExit` there.

    A child process that is forked meanwhile ends as it wants to.
    """
    ours, leave = os.getpid(), os._exit

    def stay(status: int) -> NoReturn:
        if os.getpid() != ours:
            leave(status)
        raise SystemExit(f"os._exit({status})")

    os._exit = stay
    try:
        yield
    finally:
        os._exit = leave


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
