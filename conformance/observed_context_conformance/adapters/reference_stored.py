"""The reference's store with a long past, for the benchmarks: what a turn reads, and rows that arrive meanwhile."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence

from observed_context.limits import limits_from
from observed_context.separation import is_observed_row
from observed_context.shapes import Message, Row
from observed_context.store import Store, Turn
from observed_context.turn import payload_of

_CHAT = "-100123"
_SESSION = json.dumps(["telegram", "main", _CHAT, None])
_PROMPT = "observed Telegram group context"

# What is not read is made where it lies, which is faster than storing it row by row.
_PAST = """
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :past)
INSERT INTO rows (session, chat, message, observed, addressed, row)
SELECT :session, :chat, 'past ' || n, 1, 0, json_object(
    'role', 'user', 'observed', json('true'), 'message_id', 'past ' || n, 'time', '2026-11-29T12:00:00+00:00',
    'content', '[Ana|1001]' || char(10) || 'who brings the projector to room ' || n || ' at ' || n % 24 || ' today?'
) FROM numbers
"""
_WORDS = "INSERT INTO words (rowid, text) SELECT seq, json_extract(row, '$.content') FROM rows"


class StoredSession:
    """One session in a store: rows that a summary covers, live rows behind them, and a turn that is about to read."""

    def __init__(self, directory: str, past: int, live: Sequence[Row]) -> None:
        """Make the store; `live` holds observed rows, and requests with the answer behind each."""
        self._path = os.path.join(directory, "transcripts.sqlite3")
        self._store = Store(self._path, lambda what: None)
        with sqlite3.connect(self._path) as raw:
            raw.execute("PRAGMA synchronous = OFF")
            raw.execute(_PAST, {"past": past, "session": _SESSION, "chat": _CHAT})
            raw.execute(_WORDS)
        raw.close()
        summary: Row = {
            "role": "user",
            "observed": True,
            "content": "They need the projector every day, and have but one.",
            "summary": {"covers_through": past, "covered": past},
        }
        self._store.commit(_SESSION, summary, None)
        self._arrived = 0
        for row in live:
            self._take(row)
        request: Row = {"role": "user", "content": "[Ana|1001]\nwho has it now?", "message_id": "now"}
        turn = self._store.address(_SESSION, request, _PROMPT)
        assert turn is not None
        self._turn: Turn = turn
        self._limits = limits_from(None)

    def _take(self, row: Row) -> None:
        if is_observed_row(row):
            self._arrive(row)
        elif row["role"] == "user":
            turn = self._store.address(_SESSION, {**row, "message_id": f"live {row['seq']}"}, _PROMPT)
            assert turn is not None
            self._turn = turn
        else:
            self._store.answer(self._turn, [row])

    def _arrive(self, row: Row) -> None:
        self._arrived += 1
        self._store.observe(_SESSION, {**row, "message_id": f"new {self._arrived}"})

    def read(self) -> list[Message]:
        """Return the payload of the turn's first request."""
        turn = self._turn
        return payload_of(self._store.before(turn), turn.message, turn.channel_prompt, self._limits)

    def append(self, rows: Sequence[Row]) -> None:
        """Store observed rows while another connection is in the middle of reading."""
        reader = sqlite3.connect(self._path)
        try:
            reading = reader.execute("SELECT row FROM rows ORDER BY seq")
            reading.fetchone()
            for row in rows:
                self._arrive(row)
            reading.fetchone()
        finally:
            reader.close()

    def close(self) -> None:
        """Close the store."""
        self._store.close()
