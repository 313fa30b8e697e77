"""A gate that holds coroutines up until the kit lets them pass."""

from __future__ import annotations

import asyncio


class Gate:
    """Open at first. While it is closed, `passing()` waits."""

    def __init__(self) -> None:
        self._closed = False
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def is_closed(self) -> bool:
        """Whether those who come now have to wait."""
        return self._closed

    def close(self) -> None:
        """Hold up everybody who comes from now on."""
        self._closed = True

    def open(self) -> None:
        """Let everybody pass, as soon as their loop runs."""
        self._closed = False
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    async def passing(self) -> None:
        """Return when the gate is open."""
        if not self._closed:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await future
        finally:
            self._waiting.remove(future)
