"""What an object weighs with everything that it holds, as far as that belongs to the adapter."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType

_APART = (type, ModuleType, CodeType, BuiltinFunctionType)
"""Belongs to the program, not to what it remembers."""


def weight(root: object, apart: Iterable[object] = ()) -> int:
    """Bytes of `root` and all that can be reached from it.

    Args:
        root: where to begin.
        apart: objects of the kit's own, which are left out with what only they hold.
    """
    gc.collect()
    seen = {id(item) for item in apart}
    waiting = [root]
    total = 0
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, _APART):
            continue
        seen.add(id(item))
        total += sys.getsizeof(item, 0)
        waiting.extend(_held_by(item))
    return total


def _held_by(item: object) -> list[object]:
    if isinstance(item, FunctionType):  # its globals are a module
        return [*(item.__closure__ or ()), *(item.__defaults__ or ()), item.__dict__]
    return gc.get_referents(item)
