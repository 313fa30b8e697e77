"""The conformance kit: tests anybody's handling of observed group context against the specification."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from observed_context_conformance.binding import conformance
    from observed_context_conformance.loading import load_adapter

__all__ = ["__version__", "conformance", "load_adapter"]

try:
    __version__ = version("observed-context")
except PackageNotFoundError:  # imported from a checkout that is not installed
    __version__ = "0"

_HOMES = {"conformance": "binding", "load_adapter": "loading"}


def __getattr__(name: str) -> Any:
    # Imported on first use: adapters that live in this package must not need pytest and Hypothesis to be loaded.
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
