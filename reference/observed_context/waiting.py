"""Code that may wait, used where nothing waits: one implementation for callers with and without an event loop."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

A = TypeVar("A")
T = TypeVar("T")


def asynchronous(function: Callable[[A], T]) -> Callable[[A], Awaitable[T]]:
    """Return a plain function as one whose result is awaited."""

    async def call(argument: A) -> T:
        return function(argument)

    return call


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that waits for nothing but `asynchronous` functions; needs no event loop.

    Raises:
        RuntimeError: it waits for something else.
    """
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise RuntimeError("the coroutine waits, and there is no event loop to wait in")
