"""Cheats: adapters that do not do the work, and yet pass something. What they pass is the floor of a verdict."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from observed_context_conformance.adapters.reference import ReferenceAdapter

EMPTY: dict[str, Any] = {
    "gate": {"action": "ignore"},
    "row": {"role": "user"},
    "address": {"message": "", "channel_prompt": None, "session": "s", "sender": None},
    "replay": {"history": [], "block": None},
    "assemble": None,
    "limits": {"max_chars": 0, "max_rows": 0},
    "wrap": "",
    "turn": [],
    "compact": None,
    "redact": "",
}
"""For each call the emptiest result that its schema allows."""

DATA = ("gate", "row", "address", "replay", "assemble", "limits", "wrap", "redact")
"""The calls that take and give nothing but data."""


class _Cheat:
    """Says of itself what the reference says."""

    def describe(self) -> Any:
        """The reference's description."""
        return ReferenceAdapter().describe()


class ReturnsNothing(_Cheat):
    """Answers every call with null."""

    def __getattr__(self, name: str) -> Any:
        if name in EMPTY:
            return lambda *_: None
        raise AttributeError(name)


class ReturnsTheEmptiest(_Cheat):
    """Answers every call with the emptiest result that the schema allows."""

    def __getattr__(self, name: str) -> Any:
        if name in EMPTY:
            return lambda *_: copy.deepcopy(EMPTY[name])
        raise AttributeError(name)


class Echoes(_Cheat):
    """Answers every call with its first argument."""

    def __getattr__(self, name: str) -> Any:
        if name in EMPTY:
            return lambda first, *_: first
        raise AttributeError(name)


class ObservesAll(ReferenceAdapter):
    """Observes every message."""

    def gate(self, event: Any, settings: Any) -> Any:
        """Observe."""
        return {"action": "observe"}


class DispatchesAll(ReferenceAdapter):
    """Answers every message."""

    def gate(self, event: Any, settings: Any) -> Any:
        """Dispatch."""
        return {"action": "dispatch"}


class NeverHasABlock(ReferenceAdapter):
    """Stores everything and shows nothing."""

    def assemble(self, rows: Any, limits: Any) -> Any:
        """No block."""
        return None

    def replay(self, transcript: Any, channel_prompt: Any, limits: Any) -> Any:
        """The right history, and no block."""
        return {**super().replay(transcript, channel_prompt, limits), "block": None}


class ShowsTheNewestRow(ReferenceAdapter):
    """Its block is the newest row, whatever else there is."""

    def assemble(self, rows: Any, limits: Any) -> Any:
        """The newest row that has text."""
        texts = [row["content"] for row in rows if isinstance(row.get("content"), str) and row["content"].strip()]
        return texts[-1] if texts else None


class HidesExceptions(ReferenceAdapter):
    """Half of its calls fail inside, and it answers with the emptiest result instead of saying so."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in DATA:
            return found

        def hidden(*arguments: Any) -> Any:
            if len(repr(arguments)) % 2:
                return copy.deepcopy(EMPTY[name])
            return found(*arguments)

        return hidden


class ClaimsEverything(_Cheat):
    """Claims every capability and answers nonsense of a random shape."""

    def __getattr__(self, name: str) -> Any:
        if name in (*EMPTY, "scheduler", "gateway"):
            return lambda *arguments: {"answer": [len(arguments), name]}
        raise AttributeError(name)


class ChangesItsInput(ReferenceAdapter):
    """Gives the right answers, and leaves a mark in everything that it was given."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in DATA:
            return found

        def marking(*arguments: Any) -> Any:
            result = found(*arguments)
            for argument in arguments:
                if isinstance(argument, dict):
                    argument["seen"] = True
                elif isinstance(argument, list):
                    argument.append({"role": "user"})
            return result

        return marking


class RemembersTheLastAnswer(ReferenceAdapter):
    """Answers every second call with what the call before it got."""

    def __init__(self) -> None:
        self._last: dict[str, Any] = {}
        self._calls = 0

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in DATA:
            return found

        def remembering(*arguments: Any) -> Any:
            self._calls += 1
            if self._calls % 2 and name in self._last:
                return copy.deepcopy(self._last[name])
            self._last[name] = found(*arguments)
            return copy.deepcopy(self._last[name])

        return remembering


class KnowsOnlyAscii(ReferenceAdapter):
    """Right for ASCII; everything else is lost on the way in."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return (lambda *arguments: found(*_ascii(list(arguments)))) if name in DATA else found


def _ascii(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("ascii", "ignore").decode()
    if isinstance(value, list):
        return [_ascii(item) for item in value]
    if isinstance(value, dict):
        return {key: _ascii(item) for key, item in value.items()}
    return value


CHEATS: tuple[Callable[[], Any], ...] = (
    ReturnsNothing,
    ReturnsTheEmptiest,
    Echoes,
    ObservesAll,
    DispatchesAll,
    NeverHasABlock,
    ShowsTheNewestRow,
    HidesExceptions,
    ClaimsEverything,
    ChangesItsInput,
    RemembersTheLastAnswer,
    KnowsOnlyAscii,
)
"""All of them, the laziest first."""
