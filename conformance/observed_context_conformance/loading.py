"""From the name of an adapter to the object: built-in names, or `package.module:attribute`."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

from observed_context_conformance.raised import staying

BUILT_IN: dict[str, str] = {
    "reference": "observed_context_conformance.adapters.reference:create",
    "hermes-agent": "observed_context_conformance.adapters.hermes_agent:create",
}
"""Adapters that travel with the kit, by their short names."""


class AdapterLoadError(Exception):
    """The name leads to no adapter; the message says what is wrong with it and what to do."""


def start_adapter(command: str) -> Any:
    """The adapter behind a command line, which speaks the protocol of `spec/protocol.md`.

    Raises:
        AdapterLoadError: the command cannot be started, or what starts is no adapter.
    """
    # Imported here: what only serves an adapter must not need what the kit needs.
    from observed_context_conformance.stdio.process import ProcessAdapter, ProcessError  # noqa: PLC0415

    try:
        return ProcessAdapter(command)
    except ProcessError as error:
        raise AdapterLoadError(str(error)) from error


def load_adapter(name: str) -> Any:
    """The adapter that `name` stands for: a built-in name, or `package.module:attribute`.

    The attribute is a class or a function without arguments that makes the adapter, or the adapter itself. The current
    directory is importable, so `my_adapter:Adapter` finds `my_adapter.py` beside you.

    Raises:
        AdapterLoadError: there is no such module or attribute, or making the adapter raised.
    """
    target = BUILT_IN.get(name, name)
    module_name, colon, attribute = target.partition(":")
    if not colon or not module_name or not attribute:
        known = ", ".join(BUILT_IN)
        raise AdapterLoadError(
            f"{name!r} names no adapter. Give package.module:attribute (my_adapter:Adapter), or one of: {known}."
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        with staying():
            module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise AdapterLoadError(
                f"there is no module {error.name!r}: run this where it can be imported from, or install it here."
            ) from error
        raise AdapterLoadError(f"importing {module_name} failed: {error}. Is what it needs installed here?") from error
    except (Exception, SystemExit) as error:
        raise AdapterLoadError(f"importing {module_name} raised {type(error).__name__}: {error}") from error
    try:
        found = getattr(module, attribute)
    except AttributeError:
        raise AdapterLoadError(f"the module {module_name} has no {attribute!r}.") from None
    if not inspect.isclass(found) and not inspect.isroutine(found):
        return found
    try:
        with staying():
            return found()
    except (Exception, SystemExit) as error:
        raise AdapterLoadError(f"{target}() raised {type(error).__name__}: {error}") from error
