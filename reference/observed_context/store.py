"""The store: transcripts in one SQLite file, append-only, with full-text search; the embedded default."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, cast

from observed_context.sessions import place
from observed_context.shapes import Row
from observed_context.text import encodable, text_of

# `covers_through` and `covered` make a summary row, and nothing that a text says. `turn` is the user row that an answer
# belongs to. A message is at most once in the table as observed and once as addressed. Rows are withdrawn, not deleted:
# a message that was taken back must not come in again when the platform delivers it once more.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS rows (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    chat TEXT NOT NULL,
    topic TEXT,
    message TEXT,
    observed INTEGER NOT NULL,
    addressed INTEGER NOT NULL,
    turn INTEGER,
    withdrawn INTEGER NOT NULL DEFAULT 0,
    covers_through INTEGER,
    covered INTEGER,
    prompt TEXT,
    row TEXT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS once ON rows (message, addressed) WHERE message IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_session ON rows (session, observed, seq);
CREATE INDEX IF NOT EXISTS by_summary ON rows (session, seq) WHERE covered IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_place ON rows (chat, topic, seq);
CREATE INDEX IF NOT EXISTS by_turn ON rows (turn) WHERE turn IS NOT NULL;
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (text);
"""
_APART = {"seq", "session", "summary"}  # kept in columns of their own
_IDEOGRAPH = re.compile("([\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])")  # writing without spaces: each its own word


@dataclass(frozen=True)
class Turn:
    """An addressed or internal message as it was stored: `seq` and content of its row, session and channel prompt."""

    seq: int
    session: str
    message: Any
    channel_prompt: str | None


class Hit(TypedDict):
    """A row that a search found, and where."""

    chat: str
    topic: str | None
    row: Row


class Store:
    """Transcripts by session. Each method is one transaction; each may raise what `sqlite3` or `writing` raises."""

    def __init__(self, path: str, writing: Callable[[Literal["row", "summary"]], None]) -> None:
        """Open or make the file; `writing` is called before each row that is stored, and stops it by raising."""
        self._writing = writing
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    # -- writing --------------------------------------------------------------------------------------------------

    def observe(self, session: str, row: Row) -> int | None:
        """Store an observed row and return its seq; None when the message is known already (GWY-2, GWY-3)."""
        with self._transaction():
            message = _message(session, row)
            if self._db.execute("SELECT 1 FROM rows WHERE message = ?", [message]).fetchone():
                return None
            return self._insert(session, row, message=message)

    def address(self, session: str, row: Row, channel_prompt: str | None) -> Turn | None:
        """Store an addressed message and withdraw its observed copy (GWY-3); None when it had its turn (GWY-2)."""
        with self._transaction():
            message = _message(session, row)
            if self._db.execute("SELECT 1 FROM rows WHERE message = ? AND addressed", [message]).fetchone():
                return None
            self._db.execute("UPDATE rows SET withdrawn = 1 WHERE message = ?", [message])
            seq = self._insert(session, row, message=message, addressed=True, prompt=channel_prompt)
        return Turn(seq, session, row["content"], channel_prompt)

    def instruct(self, session: str, row: Row, channel_prompt: str | None) -> Turn:
        """Store the message of an internal turn, which nobody addressed."""
        with self._transaction():
            seq = self._insert(session, row, prompt=channel_prompt)
        return Turn(seq, session, row["content"], channel_prompt)

    def answer(self, turn: Turn, rows: Sequence[Row]) -> None:
        """Store the rows of a turn's answer."""
        with self._transaction():
            for row in rows:
                self._insert(turn.session, row, turn=turn.seq)

    def commit(self, session: str, row: Row, previous: int | None) -> int | None:
        """Store a summary row if the newest one still has seq `previous` and return its seq; else None (CMP-13)."""
        with self._transaction():
            newest, _ = self._watermark(session)
            return self._insert(session, row) if newest == previous else None

    def withdraw(self, turn: Turn, *, answers_only: bool = False) -> None:
        """Take a turn back, or its answers alone."""
        with self._transaction():
            self._db.execute("UPDATE rows SET withdrawn = 1 WHERE turn = ?", [turn.seq])
            if not answers_only:
                self._db.execute("UPDATE rows SET withdrawn = 1 WHERE seq = ?", [turn.seq])

    # -- reading --------------------------------------------------------------------------------------------------

    def load(self, session: str) -> list[Row]:
        """Return the newest summary row and the observed rows that it does not cover, in ascending seq."""
        newest, through = self._watermark(session)
        # A summary stands behind what it covers. So nothing before the watermark is read: `by_session` leads past it.
        return self._rows(
            "session = ? AND observed = 1 AND seq > ? AND (covered IS NULL OR seq = ?) ORDER BY seq",
            [session, -1 if through is None else through, newest],
        )

    def before(self, turn: Turn) -> list[Row]:
        """Return what a turn is to see: earlier turns, each with its answer behind it, and what `load` returns.

        Rows that were observed while the turn waited for its turn are among them (TURN-12); its own message is not
        (TURN-10).
        """
        history = self._rows(
            "session = ? AND observed = 0 AND coalesce(turn, seq) < ? ORDER BY coalesce(turn, seq), seq",
            [turn.session, turn.seq],
        )
        return history + self.load(turn.session)

    def transcript(self, chat: str, topic: str | None) -> list[Row]:
        """Return the rows of a chat and topic in order of arrival (GWY-7)."""
        return self._rows("chat = ? AND topic IS ? ORDER BY seq", [chat, topic])

    def search(self, text: str, chat: str | None) -> list[Hit]:
        """Return the rows that hold all words of a text, in one chat or in all (GWY-8, GWY-12)."""
        words = " ".join(f'"{word}"' for word in _indexed(text).replace('"', " ").split())
        if not words:
            return []
        found = self._rows(
            "seq IN (SELECT rowid FROM words WHERE words MATCH ?) AND (? IS NULL OR chat = ?) ORDER BY seq",
            [words, chat, chat],
        )
        return [{"chat": place(row["session"])[2], "topic": place(row["session"])[3], "row": row} for row in found]

    def last_addressed(self, chat: str, topic: str | None) -> Turn | None:
        """Return the last addressed message of a chat and topic that was not taken back (GWY-11)."""
        found = self._db.execute(
            "SELECT seq, session, row, prompt FROM rows WHERE chat = ? AND topic IS ? AND addressed AND NOT withdrawn"
            " ORDER BY seq DESC LIMIT 1",
            [chat, topic],
        ).fetchone()
        return found and Turn(found[0], found[1], json.loads(found[2])["content"], found[3])

    def last_session(self, chat: str, topic: str | None) -> str | None:
        """Return the session of the last row of a chat and topic."""
        found = self._db.execute(
            "SELECT session FROM rows WHERE chat = ? AND topic IS ? ORDER BY seq DESC LIMIT 1", [chat, topic]
        ).fetchone()
        return found and str(found[0])

    # -- how ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _insert(self, session: str, row: Row, **columns: Any) -> int:
        summary = row.get("summary")
        self._writing("row" if summary is None else "summary")
        _, _, chat, topic = place(session)
        values = {
            "session": session,
            "chat": chat,
            "topic": topic,
            "observed": row.get("observed", False),
            "addressed": False,
            "covers_through": summary and summary.get("covers_through"),
            "covered": summary and summary["covered"],
            "row": json.dumps({key: value for key, value in row.items() if key not in _APART}),
            **columns,
        }
        marks = ", ".join(f":{name}" for name in values)
        seq = self._db.execute(f"INSERT INTO rows ({', '.join(values)}) VALUES ({marks})", values).lastrowid
        assert seq is not None  # an INSERT that did not raise has one
        self._db.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", [seq, _indexed(text_of(row.get("content")))])
        return seq

    def _watermark(self, session: str) -> tuple[int | None, int | None]:
        found = self._db.execute(
            "SELECT seq, covers_through FROM rows WHERE session = ? AND covered IS NOT NULL ORDER BY seq DESC LIMIT 1",
            [session],
        ).fetchone()
        return found or (None, None)

    def _rows(self, condition: str, values: Sequence[Any]) -> list[Row]:
        query = f"SELECT seq, session, covers_through, covered, row FROM rows WHERE NOT withdrawn AND {condition}"
        rows: list[Row] = []
        for seq, session, through, covered, body in self._db.execute(query, values):
            row = cast(Row, {**json.loads(body), "seq": seq, "session": session})
            if covered is not None:
                row["summary"] = {"covers_through": through, "covered": covered}
            rows.append(row)
        return rows


def _message(session: str, row: Row) -> str:
    """Return what makes two messages the same: platform, account, chat and message id, not the topic."""
    platform, account, chat, _ = place(session)
    return json.dumps([platform, account, chat, row["message_id"]])


def _indexed(text: str) -> str:
    return _IDEOGRAPH.sub(r" \1 ", encodable(text))
