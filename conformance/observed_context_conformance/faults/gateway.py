"""Defects of the whole gateway: messages that come twice, failures, restarts, other rooms, retry and undo, search."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from observed_context import gateway
from observed_context.addressing import address
from observed_context.gateway import Environment, Gateway
from observed_context.gating import gate
from observed_context.rows import observed_row
from observed_context.sessions import anonymous_session, place, shared_session
from observed_context.shapes import Event, Limits, Message, Row, Settings
from observed_context.store import Hit, Store, Turn, _message
from observed_context.text import text_of
from observed_context.turn import answer, payload_of
from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.faults import fault

OFF: Limits = {"max_chars": 0, "max_rows": 0}


class _Whole(ReferenceAdapter):
    """The reference with another gateway, or with another store in it."""

    def __init__(self, hosts: type[Gateway], keeps: type[Store]) -> None:
        self._hosts = hosts
        self._keeps = keeps

    def gateway(self, settings: Settings, environment: Environment) -> Gateway:
        """Open it."""
        with patch.object(gateway, "Store", self._keeps):
            return self._hosts(settings, environment)


def hosts(made: type[Gateway]) -> Callable[[], ReferenceAdapter]:
    """The reference with this gateway, as a fault with its docstring."""
    return _described(lambda: _Whole(made, Store), made)


def keeps(made: type[Store]) -> Callable[[], ReferenceAdapter]:
    """The reference with this store, as a fault with its docstring."""
    return _described(lambda: _Whole(Gateway, made), made)


def _described(make: Callable[[], ReferenceAdapter], by: type[Any]) -> Callable[[], ReferenceAdapter]:
    make.__doc__ = by.__doc__
    return make


def _is_observed(event: Event, settings: Settings) -> bool:
    return gate(event, settings)["action"] == "observe"


def _key(event: Event) -> tuple[str, str]:
    return event["chat"]["id"], event["id"]


def _renamed(event: Event, suffix: object) -> Event:
    """The event under an id that the store does not know yet."""
    return {**event, "id": f"{event['id']}.{suffix}"}


class _Counts(Gateway):
    """Knows how often a gateway was opened on this storage."""

    def __init__(self, settings: Settings, environment: Environment) -> None:
        super().__init__(settings, environment)
        with open(os.path.join(environment.storage, "opened"), "a+", encoding="utf-8") as file:
            self.opened = file.write("x") and file.tell()


class _Marks(Store):
    """Knows the last seq that was there when it was opened."""

    def __init__(self, path: str, writing: Callable[[Any], None]) -> None:
        super().__init__(path, writing)
        self.opened_at: int = self._db.execute("SELECT coalesce(max(seq), 0) FROM rows").fetchone()[0]


# -- GWY-1 -----------------------------------------------------------------------------------------------------------


@fault("gwy-apologises-in-the-chat", "GWY-1", after="NousResearch/hermes-agent#38710")
@hosts
class ApologisesInTheChat(Gateway):
    """When an observed message cannot be stored, the group is told so."""

    def _observe(self, event: Event) -> None:
        row = observed_row(event)
        try:
            self._store.observe(row["session"], row)
        except Exception:
            self.sorry = asyncio.ensure_future(
                self._environment.send(event["chat"]["id"], event["topic"], "Sorry, something went wrong.")
            )


@fault("gwy-warms-up-the-model", "GWY-1")
@hosts
class WarmsUpTheModel(_Counts):
    """The first message after a restart, observed or not, makes an empty request to the model, to fill its cache."""

    cold = True

    async def receive(self, event: Event) -> None:
        if self.opened > 1 and self.cold:
            self.cold = False
            await self._environment.model([{"role": "user", "content": "Hello."}])
        await super().receive(event)


@fault("gwy-acknowledges-in-topics", "GWY-1")
@hosts
class AcknowledgesInTopics(Gateway):
    """In a topic an observed message is acknowledged as read."""

    async def receive(self, event: Event) -> None:
        await super().receive(event)
        if event["topic"] is not None and _is_observed(event, self._settings):
            await self._environment.send(event["chat"]["id"], event["topic"], "\N{EYES}")


@fault("gate-dispatches-the-ignored", "GATE-4")
@hosts
class DispatchesTheIgnored(Gateway):
    """The gateway knows two kinds of decisions: what is not observed has a turn."""

    async def receive(self, event: Event) -> None:
        if _is_observed(event, self._settings):
            self._observe(event)
        else:
            await self._dispatch(event)


# -- GWY-2 -----------------------------------------------------------------------------------------------------------


@fault("gwy-forgets-ids-at-a-restart", "GWY-2", after="openclaw/openclaw#8140")
@hosts
class ForgetsIdsAtARestart(_Counts):
    """Which messages were delivered is known until the next restart only."""

    async def receive(self, event: Event) -> None:
        await super().receive(_renamed(event, self.opened))


@fault("gwy-knows-the-last-id-only", "GWY-2", after="vstorm-co/agenticos#167")
@hosts
class KnowsTheLastIdOnly(_Counts):
    """A second delivery is recognised when it follows the first one directly."""

    last: tuple[str, str] | None = None
    number = 0

    async def receive(self, event: Event) -> None:
        if _key(event) != self.last:
            self.number += 1
        self.last = _key(event)
        await super().receive(_renamed(event, f"{self.opened}.{self.number}"))


@fault("gwy-stores-a-topic-twice", "GWY-2")
@hosts
class StoresATopicTwice(_Counts):
    """What is observed in a topic is stored anew with each delivery; ids are compared in groups without topics."""

    number = 0

    async def receive(self, event: Event) -> None:
        self.number += 1
        again = event["topic"] is not None and _is_observed(event, self._settings)
        await super().receive(_renamed(event, f"{self.opened}.{self.number}") if again else event)


@fault("gwy-marks-an-id-when-its-turn-ends", "GWY-2", after="NousResearch/hermes-agent#10496")
@hosts
class MarksAnIdWhenItsTurnEnds(Gateway):
    """A message counts as delivered when its turn is over; a copy that comes before that gets a turn as well."""

    def __init__(self, settings: Settings, environment: Environment) -> None:
        super().__init__(settings, environment)
        self.running: set[tuple[str, str]] = set()

    async def receive(self, event: Event) -> None:
        if _key(event) in self.running:
            await super().receive(_renamed(event, "again"))
            return
        self.running.add(_key(event))
        try:
            await super().receive(event)
        finally:
            self.running.discard(_key(event))


@fault("gwy-compares-ids-without-their-chat", "GWY-2", after="NousResearch/hermes-agent#7448")
@hosts
class ComparesIdsWithoutTheirChat(Gateway):
    """A message is taken for a second delivery when another chat had its id before."""

    def __init__(self, settings: Settings, environment: Environment) -> None:
        super().__init__(settings, environment)
        self.chats: dict[str, str] = {}

    async def receive(self, event: Event) -> None:
        chat = event["chat"]["id"]
        if self.chats.setdefault(event["id"], chat) == chat:
            await super().receive(event)


@fault("gwy-takes-equal-words-for-a-second-delivery", "GWY-2", after="joshuaswarren/remnic#2785")
@keeps
class TakesEqualWordsForASecondDelivery(Store):
    """Whoever says the same words twice in a room is taken to be delivered twice, whatever the ids of the messages."""

    def observe(self, session: str, row: Row) -> int | None:
        same = "SELECT 1 FROM rows WHERE session = ? AND observed AND json_extract(row, '$.content') = ?"
        if self._db.execute(same, [session, row["content"]]).fetchone():
            return None
        return super().observe(session, row)


# -- GWY-3 -----------------------------------------------------------------------------------------------------------


@fault("gwy-passive-copy-takes-the-turn", "GWY-3", after="openclaw/openclaw#34937")
@hosts
class PassiveCopyTakesTheTurn(Gateway):
    """An observed message marks its id as delivered, and the addressed copy that follows is dropped."""

    def __init__(self, settings: Settings, environment: Environment) -> None:
        super().__init__(settings, environment)
        self.seen: set[tuple[str, str]] = set()

    async def receive(self, event: Event) -> None:
        if _is_observed(event, self._settings):
            self.seen.add(_key(event))
        elif _key(event) in self.seen:
            return
        await super().receive(event)


@fault("gwy-passive-copy-stays", "GWY-3", after="NousResearch/hermes-agent#74775")
@keeps
class PassiveCopyStays(Store):
    """The observed row of a message stays when its addressed copy comes: the request stands in its own block."""

    def address(self, session: str, row: Row, channel_prompt: str | None) -> Turn | None:
        with self._transaction():
            message = _message(session, row)
            if self._db.execute("SELECT 1 FROM rows WHERE message = ? AND addressed", [message]).fetchone():
                return None
            seq = self._insert(session, row, message=message, addressed=True, prompt=channel_prompt)
        return Turn(seq, session, row["content"], channel_prompt)


@fault("gwy-passive-copy-is-observed-afterwards", "GWY-3", after="chenhg5/cc-connect#1822")
@keeps
class PassiveCopyIsObservedAfterwards(Store):
    """Where the addressed copy comes first, the passive one is observed nevertheless and is in later blocks."""

    def observe(self, session: str, row: Row) -> int | None:
        with self._transaction():
            message = _message(session, row)
            known = "SELECT 1 FROM rows WHERE message = ? AND NOT addressed"
            if self._db.execute(known, [message]).fetchone():
                return None
            return self._insert(session, row, message=message)


@fault("gwy-passive-copy-returns-after-a-restart", "GWY-3")
@keeps
class PassiveCopyReturnsAfterARestart(Store):
    """That an observed row gave way to its addressed copy is kept in memory; after a restart it is back."""

    def __init__(self, path: str, writing: Callable[[Any], None]) -> None:
        super().__init__(path, writing)
        self._db.execute("UPDATE rows SET withdrawn = 0 WHERE observed")


@fault("gwy-reads-its-own-message-back", "GWY-3", after="openclaw/openclaw#123193")
@keeps
class ReadsItsOwnMessageBack(Store):
    """What a turn reads of the transcript holds its own message, which stands before the current message once more."""

    def before(self, turn: Turn) -> list[Row]:
        return [*super().before(turn), *self._rows("seq = ?", [turn.seq])]


# -- GWY-4 -----------------------------------------------------------------------------------------------------------


@fault("gwy-shares-observed-rows-between-topics", "GWY-4", after="NousResearch/hermes-agent#1417")
@hosts
class SharesObservedRowsBetweenTopics(Gateway):
    """What is observed in one topic is stored for all topics of its chat."""

    async def receive(self, event: Event) -> None:
        if _is_observed(event, self._settings):
            event = {**event, "topic": None}
        await super().receive(event)


@fault("gwy-shows-the-group-in-a-direct-chat", "GWY-4", after="librefang/librefang#5227")
@keeps
class ShowsTheGroupInADirectChat(Store):
    """Who writes to the bot directly gets what was observed in the groups as context."""

    def before(self, turn: Turn) -> list[Row]:
        rows = super().before(turn)
        is_group = place(turn.session)[2].startswith("-")
        return rows if is_group else [*rows, *self._rows("observed ORDER BY seq", [])]


@fault("gwy-shares-the-current-session", "GWY-4")
@hosts
class SharesTheCurrentSession(Gateway):
    """The session of the turn that runs is an attribute of the gateway; turns of two chats at once overwrite it."""

    current: Turn

    async def _take(self, turn: Turn) -> None:
        self.current = turn
        payload = payload_of(self._store.before(turn), turn.message, turn.channel_prompt, self._limits)
        answers = await answer(payload, self._environment.model)
        self._store.answer(self.current, answers)
        _, _, chat, topic = place(self.current.session)
        await self._environment.send(chat, topic, text_of(answers[-1].get("content")) if answers else "")


@fault("gwy-chatter-during-a-turn-is-a-request", "GWY-4", after="NousResearch/hermes-agent#73661")
@hosts
class ChatterDuringATurnIsARequest(Gateway):
    """What is said while the bot answers is stored without its flag, so that the next turn replays it as a request."""

    def _observe(self, event: Event) -> None:
        lock = self._locks.get(shared_session(event))
        if lock is None or not lock.locked():
            super()._observe(event)
            return
        row = observed_row(event)
        self._store.instruct(row["session"], {"role": "user", "content": row["content"]}, None)


@fault("gwy-loses-chatter-of-a-killed-turn", "GWY-4", after="makecindy/cindy#1945")
@hosts
class LosesChatterOfAKilledTurn(Gateway):
    """What is said while the bot answers is kept in memory until it has answered."""

    def __init__(self, settings: Settings, environment: Environment) -> None:
        super().__init__(settings, environment)
        self.held: list[Event] = []

    def _observe(self, event: Event) -> None:
        lock = self._locks.get(shared_session(event))
        if lock is not None and lock.locked():
            self.held.append(event)
        else:
            super()._observe(event)

    async def _take(self, turn: Turn) -> None:
        await super()._take(turn)
        while self.held:
            super()._observe(self.held.pop(0))


@fault("gwy-follow-up-misses-chatter", "GWY-4", after="NousResearch/hermes-agent#73661")
@hosts
class FollowUpMissesChatter(Gateway):
    """A request that waits while the bot answers another one is shown what was observed when that one began."""

    def __init__(self, settings: Settings, environment: Environment) -> None:
        super().__init__(settings, environment)
        self.known: dict[str, list[Row]] = {}

    async def _take(self, turn: Turn) -> None:
        lock = self._locks.setdefault(turn.session, asyncio.Lock())
        waits = lock.locked()
        async with lock:
            rows = self._store.before(turn)
            if waits:
                rows = [row for row in rows if not row.get("observed")] + self.known[turn.session]
            self.known[turn.session] = [row for row in rows if row.get("observed")]
            payload = payload_of(rows, turn.message, turn.channel_prompt, self._limits)
            answers = await answer(payload, self._environment.model)
            self._store.answer(turn, answers)
        _, _, chat, topic = place(turn.session)
        await self._environment.send(chat, topic, text_of(answers[-1].get("content")) if answers else "")


@fault("gwy-spends-rows-on-a-failed-turn", "GWY-4", after="makecindy/cindy#1945")
@hosts
class SpendsRowsOnAFailedTurn(Gateway):
    """What a block holds is taken out of the room while the model is asked, and put back only if it answers."""

    async def _take(self, turn: Turn) -> None:
        shown = [row["seq"] for row in self._store.load(turn.session)]
        await super()._take(turn)
        if not self._store._rows("turn = ?", [turn.seq]):
            spent = ", ".join(map(str, shown))
            self._store._db.execute(f'UPDATE rows SET session = \'["", "", "", null]\' WHERE seq IN ({spent})')


@fault("gwy-cleans-the-last-user-row", "GWY-4", after="NousResearch/hermes-agent#72356")
@keeps
class CleansTheLastUserRow(Store):
    """At the end of a turn its bare message is written over the last user row, which may be a summary or chatter."""

    def answer(self, turn: Turn, rows: Sequence[Row]) -> None:
        last = "SELECT max(seq) FROM rows WHERE session = ? AND json_extract(row, '$.role') = 'user'"
        clean = f"UPDATE rows SET row = json_set(row, '$.content', ?) WHERE seq = ({last})"
        self._db.execute(clean, [turn.message, turn.session])
        super().answer(turn, rows)


@fault("gwy-refuses-rows-during-a-pass", "GWY-4", after="NousResearch/hermes-agent#87484")
@hosts
class RefusesRowsDuringAPass(Gateway):
    """While a pass of compaction is running no row is taken: the transcript is locked."""

    def _observe(self, event: Event) -> None:
        if not self._scheduler._tasks:
            super()._observe(event)


@fault("gwy-archives-what-it-never-read", "GWY-4", after="NousResearch/hermes-agent#93160")
@keeps
class ArchivesWhatItNeverRead(Store):
    """A pass archives every row that is there when it ends, those among them that the summariser was not given."""

    def commit(self, session: str, row: Row, previous: int | None) -> int | None:
        seq = super().commit(session, row, previous)
        if seq is not None:
            live = "UPDATE rows SET withdrawn = 1 WHERE session = ? AND observed AND covered IS NULL"
            self._db.execute(live, [session])
        return seq


@fault("gwy-shows-each-message-once", "GWY-4", after="openclaw/openclaw#99143")
@keeps
class ShowsEachMessageOnce(Store):
    """A turn sees what was observed since the turn before, and nothing older."""

    def before(self, turn: Turn) -> list[Row]:
        last = self._db.execute(
            "SELECT max(seq) FROM rows WHERE session = ? AND addressed AND seq < ?", [turn.session, turn.seq]
        ).fetchone()[0]
        return [row for row in super().before(turn) if not row.get("observed") or row["seq"] > (last or 0)]


@fault("gwy-keeps-what-it-has-sent", "GWY-4", after="NousResearch/hermes-agent#79591")
@hosts
class KeepsWhatItHasSent(Gateway):
    """A session's agent is kept, and its history holds earlier messages as they were sent, with their block."""

    def __init__(self, settings: Settings, environment: Environment) -> None:
        super().__init__(settings, environment)
        self.kept: dict[str, list[Message]] = {}

    async def _take(self, turn: Turn) -> None:
        *_, current = payload_of(self._store.before(turn), turn.message, turn.channel_prompt, self._limits)
        kept = self.kept.setdefault(turn.session, [])
        answers = await answer([*kept, current], self._environment.model)
        kept += [current, {"role": "assistant", "content": text_of(answers[-1]["content"]) if answers else "None."}]
        self._store.answer(turn, answers)


@fault("gwy-covers-what-was-not-summarised", "GWY-4", after="NousResearch/hermes-agent#104245")
@keeps
class CoversWhatWasNotSummarised(Store):
    """A summary covers all that is stored when it is, the rows that were kept verbatim among it."""

    def commit(self, session: str, row: Row, previous: int | None) -> int | None:
        last = self._db.execute("SELECT max(seq) FROM rows WHERE session = ? AND observed", [session]).fetchone()[0]
        return super().commit(session, {**row, "summary": {**row["summary"], "covers_through": last}}, previous)


@fault("gwy-lends-a-summary-to-other-rooms", "GWY-4", after="NousResearch/hermes-agent#38788")
@keeps
class LendsASummaryToOtherRooms(Store):
    """A room without a summary of its own gets the newest one of any room."""

    def before(self, turn: Turn) -> list[Row]:
        rows = super().before(turn)
        if any("summary" in row for row in rows):
            return rows
        lent = self._rows("covered IS NOT NULL ORDER BY seq DESC LIMIT 1", [])
        for row in lent:
            row["summary"]["covers_through"] = 0  # it covers nothing here
        return rows + lent


# -- GWY-5 -----------------------------------------------------------------------------------------------------------


@fault("gwy-raises-into-the-platform", "GWY-5", after="NousResearch/hermes-agent#72680")
@hosts
class RaisesIntoThePlatform(Gateway):
    """What the store raises goes up to the platform's handler."""

    def _observe(self, event: Event) -> None:
        row = observed_row(event)
        self._store.observe(row["session"], row)


@fault("gwy-stops-observing-after-a-failure", "GWY-5", after="NousResearch/hermes-agent#66256")
@keeps
class StopsObservingAfterAFailure(Store):
    """After a failed write the store counts as gone, and nothing is observed any more."""

    gone = False

    def observe(self, session: str, row: Row) -> int | None:
        if self.gone:
            return None
        self.gone = True
        seq = super().observe(session, row)
        self.gone = False
        return seq


@fault("gwy-gives-up-after-two-failures", "GWY-5", after="NousResearch/hermes-agent#73905")
@keeps
class GivesUpAfterTwoFailures(Store):
    """A second failed write makes the store give up for as long as the gateway runs."""

    failures = 0

    def observe(self, session: str, row: Row) -> int | None:
        if self.failures > 1:
            return None
        self.failures += 1
        seq = super().observe(session, row)
        self.failures -= 1
        return seq


@fault("gwy-stops-hearing-after-a-failure", "GWY-5")
@hosts
class StopsHearingAfterAFailure(Gateway):
    """After a failed write addressed messages are not heard any more."""

    deaf = False

    def _observe(self, event: Event) -> None:
        row = observed_row(event)
        try:
            self._store.observe(row["session"], row)
        except Exception:
            self.deaf = True

    async def _dispatch(self, event: Event) -> None:
        if not self.deaf:
            await super()._dispatch(event)


@fault("gwy-marks-an-id-before-it-is-stored", "GWY-5", after="NousResearch/hermes-agent#49843")
@hosts
class MarksAnIdBeforeItIsStored(Gateway):
    """A message counts as delivered before its row is written; when the write fails, its second delivery is refused."""

    def __init__(self, settings: Settings, environment: Environment) -> None:
        super().__init__(settings, environment)
        self.delivered: set[tuple[str, str]] = set()

    def _observe(self, event: Event) -> None:
        if _key(event) not in self.delivered:
            self.delivered.add(_key(event))
            super()._observe(event)


@fault("gwy-leaves-the-transaction-open", "GWY-5")
@keeps
class LeavesTheTransactionOpen(Store):
    """A failed write leaves its transaction open; all later rows are in it, and a restart takes them back."""

    broken = False

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.broken = True
            raise
        if not self.broken:
            self._db.execute("COMMIT")


@fault("gwy-stays-locked-after-a-failed-summary", "GWY-5")
@keeps
class StaysLockedAfterAFailedSummary(Store):
    """A session is locked while its summary is stored; when that fails it stays so, and takes no rows any more."""

    def __init__(self, path: str, writing: Callable[[Any], None]) -> None:
        super().__init__(path, writing)
        self.locked: set[str] = set()

    def commit(self, session: str, row: Row, previous: int | None) -> int | None:
        self.locked.add(session)
        seq = super().commit(session, row, previous)
        self.locked.discard(session)
        return seq

    def observe(self, session: str, row: Row) -> int | None:
        return None if session in self.locked else super().observe(session, row)


# -- GWY-6 -----------------------------------------------------------------------------------------------------------


@fault("gwy-writes-when-it-is-closed", "GWY-6", after="NousResearch/hermes-agent#72704")
@keeps
class WritesWhenItIsClosed(Store):
    """Rows are in memory until the gateway is closed; when it is killed, they are lost."""

    def __init__(self, path: str, writing: Callable[[Any], None]) -> None:
        super().__init__(":memory:", writing)
        self.path = path
        if os.path.exists(path):
            with sqlite3.connect(path) as stored:
                stored.backup(self._db)

    def close(self) -> None:
        with sqlite3.connect(self.path) as stored:
            self._db.backup(stored)
        super().close()


@fault("gwy-keeps-the-window-in-memory", "GWY-6", after="openclaw/openclaw#143665")
@keeps
class KeepsTheWindowInMemory(_Marks):
    """Rows are stored, and the block is made of those that came since the gateway was opened."""

    def load(self, session: str) -> list[Row]:
        return [row for row in super().load(session) if row["seq"] > self.opened_at]


@fault("gwy-keeps-summaries-in-memory", "GWY-6", after="makecindy/cindy#843")
@keeps
class KeepsSummariesInMemory(_Marks):
    """After a restart the block does not know the summaries of before and shows rows that they cover."""

    def before(self, turn: Turn) -> list[Row]:
        newest, _ = self._watermark(turn.session)
        if newest is None or newest > self.opened_at:
            return super().before(turn)
        rows = [row for row in super().before(turn) if not row.get("observed")]
        return rows + self._rows("session = ? AND observed AND covered IS NULL ORDER BY seq", [turn.session])


# -- GWY-7 -----------------------------------------------------------------------------------------------------------


@fault("gwy-sorts-by-time", "GWY-7", after="google/adk-go#1232")
@keeps
class SortsByTime(Store):
    """A transcript is sorted by the platform's times."""

    def transcript(self, chat: str, topic: str | None) -> list[Row]:
        return sorted(super().transcript(chat, topic), key=lambda row: row.get("time") or "")


@fault("gwy-starts-counting-again", "GWY-7")
@keeps
class StartsCountingAgain(_Marks):
    """After a restart rows are numbered from the beginning again."""

    def transcript(self, chat: str, topic: str | None) -> list[Row]:
        rows = super().transcript(chat, topic)
        new = [row for row in rows if row["seq"] > self.opened_at]
        return [row for row in rows if row not in new] + [{**row, "seq": row["seq"] - self.opened_at} for row in new]


@fault("gwy-takes-its-own-time", "GWY-7", after="NousResearch/hermes-agent#118105")
@hosts
class TakesItsOwnTime(Gateway):
    """A time that is not in UTC is replaced by the time of storing."""

    def _observe(self, event: Event) -> None:
        is_utc = event["time"].endswith(("Z", "+00:00"))
        super()._observe(event if is_utc else {**event, "time": "2026-03-29T10:00:00Z"})


@fault("gwy-stores-a-request-with-its-answer", "GWY-7", after="NousResearch/hermes-agent#48677")
@keeps
class StoresARequestWithItsAnswer(Store):
    """An addressed message gets its place when it has been answered, behind what was said meanwhile."""

    def answer(self, turn: Turn, rows: Sequence[Row]) -> None:
        with self._transaction():
            last = self._db.execute("SELECT max(seq) + 1 FROM rows").fetchone()[0]
            self._db.execute("UPDATE rows SET seq = ? WHERE seq = ?", [last, turn.seq])
        super().answer(replace(turn, seq=last), rows)


# -- GWY-8 -----------------------------------------------------------------------------------------------------------


@fault("gwy-takes-covered-rows-out-of-the-index", "GWY-8", after="NousResearch/hermes-agent#93160")
@keeps
class TakesCoveredRowsOutOfTheIndex(Store):
    """What a summary covers is archived, and no search finds it any more."""

    def commit(self, session: str, row: Row, previous: int | None) -> int | None:
        seq = super().commit(session, row, previous)
        if seq is not None:
            through = row["summary"].get("covers_through")
            covered = "SELECT seq FROM rows WHERE session = ? AND observed AND seq <= ?"
            self._db.execute(f"DELETE FROM words WHERE rowid IN ({covered})", [session, through])
        return seq


@fault("gwy-indexes-in-memory", "GWY-8")
@keeps
class IndexesInMemory(Store):
    """After a restart the index is empty, and only new messages are found."""

    def __init__(self, path: str, writing: Callable[[Any], None]) -> None:
        super().__init__(path, writing)
        self._db.execute("DELETE FROM words")


@fault("gwy-finds-a-topic-in-its-chat", "GWY-8")
@keeps
class FindsATopicInItsChat(Store):
    """A hit does not say in which topic it was found."""

    def search(self, text: str, chat: str | None) -> list[Hit]:
        return [{**hit, "topic": None} for hit in super().search(text, chat)]


# -- GWY-9 -----------------------------------------------------------------------------------------------------------


@fault("gwy-waits-for-the-summary", "GWY-9", after="openclaw/openclaw#137294")
@hosts
class WaitsForTheSummary(Gateway):
    """A turn begins when no pass of compaction is running."""

    async def _take(self, turn: Turn) -> None:
        await self._scheduler.drain()
        await super()._take(turn)


@fault("gwy-no-turn-after-a-failed-pass", "GWY-9")
@hosts
class NoTurnAfterAFailedPass(Gateway):
    """A summariser that raises makes the gateway give up the next turn as well."""

    down = False

    def __init__(self, settings: Settings, environment: Environment) -> None:
        world = SimpleNamespace(**{name: getattr(environment, name) for name in ("storage", "config", "model")})
        world.clock, world.send, world.writing = environment.clock, environment.send, environment.writing
        world.summarize = self._noting(environment.summarize)
        super().__init__(settings, world)

    def _noting(self, summarize: Callable[..., Awaitable[str | None]]) -> Callable[..., Awaitable[str | None]]:
        async def through(prompt: Any) -> str | None:
            try:
                return await summarize(prompt)
            except Exception:
                self.down = True
                raise

        return through

    async def _take(self, turn: Turn) -> None:
        if self.down:
            self.down = False
            return
        await super()._take(turn)


@fault("gwy-caps-after-the-first-summary", "GWY-9", after="NousResearch/hermes-agent#104245")
@hosts
class CapsAfterTheFirstSummary(Gateway):
    """The block is kept within its limits from the first summary on; before that compaction is trusted to do it."""

    async def _take(self, turn: Turn) -> None:
        limits = self._limits
        if not any("summary" in row for row in self._store.load(turn.session)):
            self._limits = OFF
        try:
            await super()._take(turn)
        finally:
            self._limits = limits


@fault("gwy-lifts-the-row-limit-while-a-pass-runs", "GWY-9")
@hosts
class LiftsTheRowLimitWhileAPassRuns(Gateway):
    """While a pass of compaction is running the number of rows is not limited: it will be soon."""

    async def _take(self, turn: Turn) -> None:
        limits = self._limits
        if self._scheduler._tasks:
            self._limits = {**limits, "max_rows": 0}
        try:
            await super()._take(turn)
        finally:
            self._limits = limits


class _Mute:
    """An environment to which nothing is sent."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def __getattr__(self, name: str) -> Any:
        return getattr(self._environment, name)

    async def send(self, chat: str, topic: str | None, text: str) -> None:
        """Nobody is told."""


@fault("gwy-keeps-its-answers", "GWY-9")
@hosts
class KeepsItsAnswers(Gateway):
    """While a pass of compaction runs, answers are stored, and not sent."""

    async def _take(self, turn: Turn) -> None:
        told = self._environment
        if self._scheduler._tasks:
            self._environment = _Mute(told)
        try:
            await super()._take(turn)
        finally:
            self._environment = told


@fault("sch-is-not-told-of-what-is-observed", "SCH-2")
@hosts
class IsNotToldOfWhatIsObserved(Gateway):
    """The scheduler works and the gateway has one, but tells it of second deliveries alone: no pass ever starts."""

    def _observe(self, event: Event) -> None:
        row = observed_row(event)
        with suppress(Exception):
            if self._store.observe(row["session"], row) is None:
                self._scheduler.appended(row["session"], len(text_of(row["content"])))


# -- GWY-10 ----------------------------------------------------------------------------------------------------------


@fault("gwy-internal-turn-clears-the-flags", "GWY-10", after="NousResearch/hermes-agent gateway/observed_context.py")
@hosts
class InternalTurnClearsTheFlags(Gateway):
    """A turn without the marker stores the transcript as it replayed it: observed rows have lost their flag."""

    async def internal(self, chat: str, topic: str | None, text: str) -> None:
        await super().internal(chat, topic, text)
        cleared = "UPDATE rows SET observed = 0, row = json_remove(row, '$.observed') WHERE chat = ? AND topic IS ?"
        self._store._db.execute(cleared, [chat, topic])


@fault("gwy-internal-turn-clears-the-flags-of-a-topic", "GWY-10")
@hosts
class InternalTurnClearsTheFlagsOfATopic(Gateway):
    """A turn without the marker in a topic stores the topic's transcript as it replayed it; groups are left alone."""

    async def internal(self, chat: str, topic: str | None, text: str) -> None:
        await super().internal(chat, topic, text)
        cleared = "UPDATE rows SET observed = 0, row = json_remove(row, '$.observed') WHERE chat = ? AND topic = ?"
        self._store._db.execute(cleared, [chat, topic])


@fault("gwy-internal-turn-uses-rows-up", "GWY-10")
@hosts
class InternalTurnUsesRowsUp(Gateway):
    """What a turn without the marker has replayed counts as seen, and is in no later block."""

    async def internal(self, chat: str, topic: str | None, text: str) -> None:
        await super().internal(chat, topic, text)
        self._store._db.execute('UPDATE rows SET session = \'["", "", "", null]\' WHERE chat = ? AND observed', [chat])


@fault("gwy-internal-turn-leaves-its-prompt", "GWY-10")
@hosts
class InternalTurnLeavesItsPrompt(Gateway):
    """The channel prompt belongs to the session: the turn after an internal one runs under that one's prompt."""

    def __init__(self, settings: Settings, environment: Environment) -> None:
        super().__init__(settings, environment)
        self.left: set[tuple[str, str | None]] = set()

    async def internal(self, chat: str, topic: str | None, text: str) -> None:
        await super().internal(chat, topic, text)
        self.left.add((chat, topic))

    async def _take(self, turn: Turn) -> None:
        _, _, chat, topic = place(turn.session)
        if (chat, topic) in self.left:
            self.left.discard((chat, topic))
            turn = replace(turn, channel_prompt=None)
        await super()._take(turn)


@fault("gwy-internal-turn-needs-a-conversation", "GWY-10")
@hosts
class InternalTurnNeedsAConversation(Gateway):
    """An internal turn looks for the session of the last message, and raises in a chat where there was none yet."""

    async def internal(self, chat: str, topic: str | None, text: str) -> None:
        if self._store.last_session(chat, topic) is None:
            raise LookupError(chat)
        await super().internal(chat, topic, text)


# -- GWY-11 ----------------------------------------------------------------------------------------------------------


@fault("gwy-acts-on-the-last-user-row", "GWY-11", after="NousResearch/hermes-agent#73396")
@keeps
class ActsOnTheLastUserRow(Store):
    """The last request is the last row of role user, whoever it was for."""

    def last_addressed(self, chat: str, topic: str | None) -> Turn | None:
        rows = [row for row in self.transcript(chat, topic) if row["role"] == "user" and "summary" not in row]
        return (
            Turn(rows[-1]["seq"], rows[-1]["session"], rows[-1]["content"], _prompt(self, rows[-1])) if rows else None
        )


def _prompt(store: Store, row: Row) -> str | None:
    """The prompt of a row's session, as its last turn had it."""
    found = store._db.execute(
        "SELECT prompt FROM rows WHERE session = ? AND addressed ORDER BY seq DESC LIMIT 1", [row["session"]]
    ).fetchone()
    return found[0] if found else None


@fault("gwy-takes-chatter-where-nobody-asked", "GWY-11")
@keeps
class TakesChatterWhereNobodyAsked(Store):
    """Where nobody has addressed the bot, the last observed message is the last request."""

    def last_addressed(self, chat: str, topic: str | None) -> Turn | None:
        found = super().last_addressed(chat, topic)
        rows = self.transcript(chat, topic)
        return found or (Turn(rows[-1]["seq"], rows[-1]["session"], rows[-1]["content"], None) if rows else None)


@fault("gwy-acts-on-another-topic", "GWY-11")
@keeps
class ActsOnAnotherTopic(Store):
    """The last request is that of the chat, in whichever topic it was."""

    def last_addressed(self, chat: str, topic: str | None) -> Turn | None:
        found = self._db.execute(
            "SELECT topic FROM rows WHERE chat = ? AND addressed AND NOT withdrawn ORDER BY seq DESC LIMIT 1", [chat]
        ).fetchone()
        return super().last_addressed(chat, found[0]) if found else None


@fault("gwy-undo-counts-rows", "GWY-11", after="NousResearch/hermes-agent#115493")
@hosts
class UndoCountsRows(Gateway):
    """An undo takes the last two rows back: a request and its answer, if nobody has said anything since."""

    def undo(self, chat: str, topic: str | None) -> None:
        last = "SELECT seq FROM rows WHERE chat = ? AND topic IS ? AND NOT withdrawn ORDER BY seq DESC LIMIT 2"
        self._store._db.execute(f"UPDATE rows SET withdrawn = 1 WHERE seq IN ({last})", [chat, topic])


@fault("gwy-undo-takes-all-that-follows", "GWY-11", after="NousResearch/hermes-agent#71138")
@hosts
class UndoTakesAllThatFollows(Gateway):
    """An undo cuts the transcript off before the request; what was observed since is gone with it."""

    def undo(self, chat: str, topic: str | None) -> None:
        turn = self._store.last_addressed(chat, topic)
        if turn is not None:
            cut = "UPDATE rows SET withdrawn = 1 WHERE session = ? AND seq >= ?"
            self._store._db.execute(cut, [turn.session, turn.seq])


@fault("gwy-undo-lasts-until-a-restart", "GWY-11")
@keeps
class UndoLastsUntilARestart(Store):
    """What was taken back is back after a restart."""

    def __init__(self, path: str, writing: Callable[[Any], None]) -> None:
        super().__init__(path, writing)
        self._db.execute("UPDATE rows SET withdrawn = 0 WHERE addressed OR turn IS NOT NULL")


@fault("gwy-undo-leaves-the-answer", "GWY-11")
@keeps
class UndoLeavesTheAnswer(Store):
    """An undo takes the request back; the answer stays and seems to answer the request before."""

    def withdraw(self, turn: Turn, *, answers_only: bool = False) -> None:
        if answers_only:
            super().withdraw(turn, answers_only=True)
        else:
            self._db.execute("UPDATE rows SET withdrawn = 1 WHERE seq = ?", [turn.seq])


@fault("gwy-retry-takes-chatter-along", "GWY-11")
@keeps
class RetryTakesChatterAlong(Store):
    """A retry runs everything that was said since the request as well."""

    def last_addressed(self, chat: str, topic: str | None) -> Turn | None:
        turn = super().last_addressed(chat, topic)
        if turn is None:
            return None
        since = self._rows("session = ? AND observed AND seq > ? ORDER BY seq", [turn.session, turn.seq])
        return replace(turn, message="\n".join([turn.message, *(text_of(row["content"]) for row in since)]))


class _Retried(Gateway):
    """Runs the last request again in another way."""

    async def retry(self, chat: str, topic: str | None) -> None:
        turn = self._store.last_addressed(chat, topic)
        if turn is not None:
            self._store.withdraw(turn, answers_only=True)
            await self._take(self.again(turn))

    def again(self, turn: Turn) -> Turn:
        """The turn to take."""
        return turn


@fault("gwy-retry-forgets-the-channel-prompt", "GWY-11")
@hosts
class RetryForgetsTheChannelPrompt(_Retried):
    """A request is run again without its channel prompt and the marker in it, so that nothing separates any more."""

    def again(self, turn: Turn) -> Turn:
        return replace(turn, channel_prompt=None)


@fault("gwy-retry-has-a-session-of-its-own", "GWY-11")
@hosts
class RetryHasASessionOfItsOwn(_Retried):
    """A retry runs in a new session of the same chat: the model knows nothing of what was said in the room."""

    def again(self, turn: Turn) -> Turn:
        return replace(turn, session=anonymous_session(*place(turn.session)[2:]))


@fault("gwy-retry-takes-the-request-back", "GWY-11")
@hosts
class RetryTakesTheRequestBack(Gateway):
    """A retry takes the request back as an undo does, and its new answer stands in the transcript without it."""

    async def retry(self, chat: str, topic: str | None) -> None:
        turn = self._store.last_addressed(chat, topic)
        if turn is not None:
            self._store.withdraw(turn)
            await self._take(turn)


@fault("gwy-retry-answers-in-silence", "GWY-11")
@hosts
class RetryAnswersInSilence(Gateway):
    """The answer of a retry replaces the first one in the transcript, and the chat never hears of it."""

    async def retry(self, chat: str, topic: str | None) -> None:
        told, self._environment = self._environment, _Mute(self._environment)
        try:
            await super().retry(chat, topic)
        finally:
            self._environment = told


@fault("gwy-undo-takes-all-answers", "GWY-11")
@keeps
class UndoTakesAllAnswers(Store):
    """An undo takes back the last request, and with its own answer those of all requests before it."""

    def withdraw(self, turn: Turn, *, answers_only: bool = False) -> None:
        super().withdraw(turn, answers_only=answers_only)
        if not answers_only:
            self._db.execute("UPDATE rows SET withdrawn = 1 WHERE session = ? AND turn IS NOT NULL", [turn.session])


# -- GWY-12 ----------------------------------------------------------------------------------------------------------


@fault("gwy-search-ignores-the-chat", "GWY-12")
@keeps
class SearchIgnoresTheChat(Store):
    """A search looks into all chats, whichever one was named."""

    def search(self, text: str, chat: str | None) -> list[Hit]:
        return super().search(text, None)


@fault("gwy-search-falls-back-to-all-chats", "GWY-12")
@keeps
class SearchFallsBackToAllChats(Store):
    """A search that finds nothing in its chat looks into all others."""

    def search(self, text: str, chat: str | None) -> list[Hit]:
        return super().search(text, chat) or super().search(text, None)


@fault("gwy-hits-have-no-flag", "GWY-12")
@keeps
class HitsHaveNoFlag(Store):
    """A hit holds what was said and by whom, and not that it was observed."""

    def search(self, text: str, chat: str | None) -> list[Hit]:
        hits = super().search(text, chat)
        for hit in hits:
            hit["row"].pop("observed", None)
        return hits


@fault("gwy-hits-in-groups-are-all-observed", "GWY-12")
@keeps
class HitsInGroupsAreAllObserved(Store):
    """Every hit in a group is said to be observed, requests as well."""

    def search(self, text: str, chat: str | None) -> list[Hit]:
        hits = super().search(text, chat)
        return [{**hit, "row": {**hit["row"], "observed": hit["chat"].startswith("-")}} for hit in hits]


# -- GWY-13 ----------------------------------------------------------------------------------------------------------


@fault("gwy-joins-bursts-by-chat", "GWY-13", after="NousResearch/hermes-agent#85490")
@hosts
class JoinsBurstsByChat(Gateway):
    """What follows an addressed message within half a second is taken for the rest of it, whoever wrote it."""

    def __init__(self, settings: Settings, environment: Environment) -> None:
        super().__init__(settings, environment)
        self.waiting: dict[tuple[str, str | None], Event] = {}

    async def receive(self, event: Event) -> None:
        key = (event["chat"]["id"], event["topic"])
        if key in self.waiting:
            self.waiting[key]["text"] += f"\n{event['text']}"
            return
        if not _is_observed(event, self._settings):
            self.waiting[key] = event
            await asyncio.sleep(0.5)
            event = self.waiting.pop(key)
        await super().receive(event)


@fault("gwy-joins-what-waits", "GWY-13", after="CherryHQ/cherry-studio#18054")
@hosts
class JoinsWhatWaits(Gateway):
    """Messages that wait while the bot answers become one request when it has."""

    def __init__(self, settings: Settings, environment: Environment) -> None:
        super().__init__(settings, environment)
        self.waiting: dict[str, list[str]] = {}

    async def _dispatch(self, event: Event) -> None:
        session = address(event, self._settings)["session"]
        lock = self._locks.setdefault(session, asyncio.Lock())
        waiting = self.waiting.setdefault(session, [])
        waiting.append(event["text"])
        if len(waiting) > 1:
            return
        async with lock:
            pass
        text, self.waiting[session] = "\n".join(waiting), []
        await super()._dispatch({**event, "text": text})
