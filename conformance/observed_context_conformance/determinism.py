"""Makes Hypothesis draw the same examples wherever and whenever a verdict is made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis.internal.conjecture import providers


@contextmanager
def same_draws_everywhere() -> Iterator[None]:
    """Keep Hypothesis from drawing constants that it finds in the source of whatever modules happen to be loaded.

    That habit serves a program's own tests. Here it would make the verdict depend on how the kit is installed, on the
    language of the adapter, and on which of its modules came in first. Hypothesis has no setting for it, hence the
    reach into its inside; `tests/test_determinism.py` fails when it no longer works.
    """
    inside: Any = providers
    before = inside._get_local_constants
    nothing = inside.Constants()
    inside._get_local_constants = lambda: nothing
    try:
        yield
    finally:
        inside._get_local_constants = before
