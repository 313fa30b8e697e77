"""Makes Hypothesis draw the same examples wherever and whenever a verdict is made, and each of them anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis.internal.conjecture import providers
from hypothesis.internal.conjecture.engine import ConjectureRunner


@contextmanager
def same_draws_everywhere() -> Iterator[None]:
    """Keep Hypothesis from drawing constants that it finds in the source of whatever modules happen to be loaded.

    That habit serves a program's own tests. Here it would make the verdict depend on how the kit is installed, on the
    language of the adapter, and on which of its modules came in first. Hypothesis has no setting for it, hence the
    reach into its inside; `tests/test_determinism.py` fails when it no longer works.

    And keep it from following each example with up to five near copies of it. In hundreds of examples they find what
    needs equal values. In the few dozen of a verdict they leave ten that differ: whole situations went unseen, and
    where equal values matter our generators draw them on purpose.
    """
    inside: Any = providers
    runner: Any = ConjectureRunner
    before = inside._get_local_constants, runner.generate_mutations_from
    nothing = inside.Constants()
    inside._get_local_constants = lambda: nothing
    runner.generate_mutations_from = lambda self, data: None
    try:
        yield
    finally:
        inside._get_local_constants, runner.generate_mutations_from = before
