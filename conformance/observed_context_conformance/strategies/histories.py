"""Generators of what happens to a gateway: who writes where, what arrives twice, when it is restarted.

A history is a list of steps. A step is plain data; `chronicle` carries it out. Messages are not drawn: each gets a
token of its own when its turn comes (`otter01`, `falcon02`), so that it is found wherever it goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from observed_context_conformance.strategies import texts

Way = Literal["mention", "handle", "reply", "name"]
"""How a message addresses the bot: by a mention of its handle, by the handle in the text alone, by a reply to it, by a
mention that shows another name. The passive copy of the last two is the same text and does not show it."""

Ending = Literal["answers", "fails", "is killed"]
"""What becomes of a turn: the model answers, it fails however often it is asked, or the gateway is killed meanwhile."""


@dataclass(frozen=True)
class Person:
    """Somebody who writes."""

    id: str
    name: str

    @property
    def called(self) -> str:
        """The name in a story."""
        return self.name.lower()


@dataclass(frozen=True)
class Place:
    """A chat, or a topic in one.

    Attributes:
        chat: the chat's id; a direct chat has the id of its person.
        topic: the topic's id, or None.
        called: its name in a story.
        direct: it is a direct chat.
    """

    chat: str
    topic: str | None
    called: str
    direct: bool = False


ANA, BEN, ZOE = Person("1001", "Ana"), Person("1002", "Ben"), Person("1003", "Zoe")
PEOPLE = (ANA, BEN, ZOE)

GROUP = Place("-100123", None, "the group")
TOPIC = Place("-100123", "7", "topic 7 of the group")
OTHER_TOPIC = Place("-100123", "12", "topic 12 of the group")
OTHER_GROUP = Place("-100456", None, "the other group")
DIRECT = Place(ANA.id, None, "her direct chat", direct=True)
ROOMS = (GROUP, TOPIC, OTHER_TOPIC, OTHER_GROUP)
"""The places in which messages are observed."""
PLACES = (*ROOMS, DIRECT)


@dataclass(frozen=True)
class Say:
    """Somebody writes something that is not for the bot.

    Attributes:
        long: it is a long message, a few of which make a pass of compaction due where limits are tight.
        time: the platform's time of it; by default a minute after the message before.
    """

    place: Place
    who: Person
    long: bool = False
    time: str | None = None


@dataclass(frozen=True)
class Burst:
    """So many long messages are written, one after the other, by different people."""

    place: Place
    count: int


@dataclass(frozen=True)
class Ask:
    """Somebody addresses the bot."""

    place: Place
    who: Person
    way: Way = "mention"


@dataclass(frozen=True)
class AskWhile:
    """Somebody addresses the bot, and while it answers other things happen.

    Attributes:
        meanwhile: what is said meanwhile.
        ending: what becomes of the turn.
    """

    ask: Ask
    meanwhile: tuple[Say, ...]
    ending: Ending = "answers"


@dataclass(frozen=True)
class Again:
    """The platform delivers a message once more: the one that came so many messages ago."""

    back: int


@dataclass(frozen=True)
class Restart:
    """The gateway ends and is opened again on the same storage.

    Attributes:
        killed: it is not closed before.
    """

    killed: bool


@dataclass(frozen=True)
class Summarising:
    """From now on the summariser answers, fails (in one of the ways of `FAILURES`), or does not come back."""

    how: Literal["answers", "fails", "stalls"]
    failure: int = 0


@dataclass(frozen=True)
class BreakWrite:
    """The next write of this kind fails."""

    what: Literal["row", "summary"] = "row"


Step = Say | Burst | Ask | AskWhile | Again | Restart | Summarising | BreakWrite

# Strategies are made once: to make them while drawing costs more than to draw.

rooms: SearchStrategy[Place] = st.sampled_from(ROOMS)
"""A place in which messages are observed."""

places: SearchStrategy[Place] = st.sampled_from(PLACES)
"""Any place, a direct chat too."""

people: SearchStrategy[Person] = st.sampled_from(PEOPLE)
"""Who writes."""

ways: SearchStrategy[Way] = st.sampled_from(("mention", "handle", "reply", "name"))
"""How a message addresses the bot."""

says: SearchStrategy[Say] = st.builds(Say, rooms, people)
"""Something short is said in some room."""

asks: SearchStrategy[Ask] = st.builds(Ask, places, people, ways)
"""The bot is addressed somewhere."""

restarts: SearchStrategy[Restart] = st.builds(Restart, st.booleans())
"""A restart, with and without a word before."""

agains: SearchStrategy[Again] = st.builds(Again, st.integers(0, 6))
"""One of the last messages is delivered again."""

bursts: SearchStrategy[Burst] = st.builds(Burst, st.sampled_from((GROUP, TOPIC)), st.integers(3, 9))
"""Long messages in one of two rooms; two bursts are more than tight limits hold."""

floods: SearchStrategy[Burst] = st.builds(Burst, st.sampled_from((GROUP, TOPIC)), st.integers(6, 9))
"""So many long messages that, under tight limits, a pass of compaction is due at once."""

summarisings: SearchStrategy[Summarising] = st.builds(
    Summarising, st.sampled_from(("answers", "fails", "stalls")), st.integers(0, 9)
)
"""The summariser changes what it does."""


def _meanwhile(room: Place, who: Person, others: list[Person], ending: Ending) -> AskWhile:
    return AskWhile(Ask(room, who), tuple(Say(room, other) for other in others), ending)


meanwhiles: SearchStrategy[AskWhile] = st.builds(
    _meanwhile,
    rooms,
    people,
    st.lists(people, min_size=1, max_size=3),
    st.sampled_from(("answers", "fails", "is killed")),
)
"""The bot is addressed, and things are said in the same room while it answers."""

talk: SearchStrategy[list[Step]] = st.lists(st.one_of(says, says, asks), min_size=1, max_size=14)
"""People talk, in several places, and address the bot now and then."""

talk_with_restarts: SearchStrategy[list[Step]] = st.lists(
    st.one_of(says, says, asks, restarts), min_size=1, max_size=14
)
"""The same, with restarts."""

busy: SearchStrategy[list[Step]] = st.builds(
    lambda first, steps: [first, *steps],
    floods,
    st.lists(st.one_of(says, bursts, asks, restarts), max_size=5),
)
"""So much is said that, under tight limits, compaction runs."""

tight: SearchStrategy[dict[str, int]] = st.sampled_from(
    (
        {"max_chars": 1500, "max_rows": 0},
        {"max_chars": 4000, "max_rows": 3},
        {"max_chars": 9000, "max_rows": 5},
        {"max_chars": 0, "max_rows": 5},
    )
)
"""Limits under which a few long messages are too many; sometimes too many characters, sometimes too many rows."""

dated_says: SearchStrategy[Say] = st.builds(Say, rooms, people, time=texts.times())
"""Something short with a time as clocks give it that are wrong: out of order, in different zones."""

pairs: SearchStrategy[list[Place]] = st.lists(rooms, min_size=2, max_size=2, unique=True)
"""Two different rooms."""


def configured(limits: dict[str, int]) -> dict[str, dict[str, int]]:
    """The configuration that sets these limits."""
    return {"gateway": {f"observed_context_{name}": value for name, value in limits.items()}}


def everywhere(steps: Sequence[Step]) -> list[Place]:
    """The rooms in which something is said or asked in a history, in the order of `ROOMS`."""
    touched = {step.place for step in steps if isinstance(step, Say | Burst | Ask)}
    touched |= {step.ask.place for step in steps if isinstance(step, AskWhile)}
    return [room for room in ROOMS if room in touched]
