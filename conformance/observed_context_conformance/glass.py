"""The kit's callbacks as an adapter sees them: what it hands to them is checked against the schemas and kept."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from typing import Any

from observed_context_conformance.port import Prompt, Row, Store
from observed_context_conformance.schemas import problem


class MisuseError(Exception):
    """A callback was given something that its schema does not allow. Adapters may swallow it; the kit does not."""


class Glass:
    """What an adapter did through the callbacks of one call.

    Attributes:
        misuse: the first argument that broke a schema, in words, or None.
    """

    def __init__(self) -> None:
        self.misuse: str | None = None

    def store(self, store: Store) -> Store:
        """A store that has the methods of the port and nothing else."""
        return _StoreView(store, self)

    def summarize(self, summarize: Callable[[Prompt], str | None]) -> Callable[[Prompt], str | None]:
        """A summariser that is a plain function."""

        def through(prompt: Prompt) -> str | None:
            self.look("summarize", prompt=prompt)
            return summarize(copy.deepcopy(prompt))

        return through

    def summarize_async(self, summarize: Callable[[Prompt], Awaitable[str | None]]) -> Callable[[Prompt], Any]:
        """A summariser that is a coroutine function."""

        async def through(prompt: Prompt) -> str | None:
            self.look("summarize", prompt=prompt)
            return await summarize(copy.deepcopy(prompt))

        return through

    def look(self, callback: str, **arguments: Any) -> None:
        """Compare arguments with the schema of a callback.

        Raises:
            MisuseError: they do not satisfy it.
        """
        wrong = problem(f"calls.json#/$defs/{callback}/properties/arguments", arguments)
        if wrong is None:
            return
        message = f"what {callback}() was given is not valid: {wrong}"
        self.misuse = self.misuse or message
        raise MisuseError(message)


class _StoreView:
    """The three methods of the port's store."""

    def __init__(self, store: Store, glass: Glass) -> None:
        self._store = store
        self._glass = glass

    def load(self, session: str) -> list[Row]:
        self._glass.look("store.load", session=session)
        return self._store.load(session)

    def append(self, session: str, row: Row) -> int:
        self._glass.look("store.append", session=session, row=row)
        return self._store.append(session, row)

    def commit(self, session: str, row: Row, previous: int | None) -> int | None:
        self._glass.look("store.commit", session=session, row=row, previous=previous)
        return self._store.commit(session, row, previous)
