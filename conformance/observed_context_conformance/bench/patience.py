"""How long a call that is measured may take: a look at the clock now and then, which costs the calls nothing."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

CASE_SECONDS = 120.0
"""How long a case at a size may take altogether; a million rows have to be stored first."""

LOOK_SECONDS = 0.25


class Expired(BaseException):
    """A call has not come back. Not an `Exception`, so that the adapter does not take it for a failure of its own."""


@contextmanager
def within(seconds: float, done: Callable[[], int]) -> Iterator[None]:
    """Interrupt the body when `done` has not changed for so long, where the platform can (POSIX, main thread).

    Raises:
        Expired: in the body.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    seen, since = done(), time.monotonic()

    def look(_signal: int, _frame: FrameType | None) -> None:
        nonlocal seen, since
        now = done()
        if now != seen:
            seen, since = now, time.monotonic()
        elif time.monotonic() - since > seconds:
            raise Expired(f"it did not return within {seconds:g} s")

    handler = signal.signal(signal.SIGALRM, look)
    timer = signal.setitimer(signal.ITIMER_REAL, min(seconds, LOOK_SECONDS), LOOK_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *timer)
