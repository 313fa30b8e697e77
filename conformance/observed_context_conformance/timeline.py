"""A scheduler under test at work: its store, its summariser, its clock, and what the kit knows of each session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from observed_context_conformance.environment import Behaviour, Clock, MemoryStore, Request, Summariser, answers
from observed_context_conformance.ledger import Chat
from observed_context_conformance.port import Limits
from observed_context_conformance.scheduled import Scheduler
from observed_context_conformance.strategies.stored import Said, summary_text
from observed_context_conformance.subject import Adapter

COOLDOWN = 300.0
"""How long a session rests after a failed pass, in seconds (SCH-4)."""

ANSWERS = answers(summary_text(0))


@dataclass
class Timeline:
    """A scheduler and its world.

    Attributes:
        adapter: the adapter under test.
        limits: of the scheduler.
        store: where the sessions are.
        summariser: answers unless told otherwise.
        clock: the scheduler's.
        chats: the sessions so far.
        scheduler: the proxy of the scheduler.
        waiting: how many calls of `appended` have not come back at once.
    """

    adapter: Adapter
    limits: Limits
    store: MemoryStore = field(default_factory=lambda: MemoryStore(first=1, step=2))
    summariser: Summariser = field(default_factory=lambda: Summariser(ANSWERS))
    clock: Clock = field(default_factory=Clock)
    chats: list[Chat] = field(default_factory=list)
    scheduler: Scheduler = field(init=False)
    waiting: int = 0
    _arriving: list[Said] = field(default_factory=list)
    _told: str = ""

    def __post_init__(self) -> None:
        self.scheduler = self._open()

    def _open(self) -> Scheduler:
        return self.adapter.scheduler(self.store, self.limits, self.summariser.ask, self.clock)

    def chat(self) -> Chat:
        """A new session."""
        made = Chat(self.adapter, self.limits, self.store, first=10_000 * len(self.chats))
        self.chats.append(made)
        return made

    # -- what happens ---------------------------------------------------------------------------------------------

    def append(self, chat: Chat, size: int) -> None:
        """A message arrives, and the scheduler is told."""
        message = chat.arrive(size)
        asked = len(self.summariser.requests)
        self.waiting += not self.scheduler.appended(chat.session, message.size)
        self._tell_of(chat, message)
        if len(self.summariser.requests) > asked:
            self.tell("the summariser is asked")

    def fill(self, chat: Chat, size: int, until: Callable[[], bool]) -> bool:
        """Messages arrive until it is so, or twice `max_chars` have come: no scheduler may wait for longer."""
        total = 0
        while not until() and total < 2 * self.limits["max_chars"]:
            self.append(chat, size)
            total += size
        return until()

    def fill_until_asked(self, chat: Chat, size: int = 1_500) -> bool:
        """Messages arrive until the summariser is asked about them."""
        known = len(self.summariser.requests)
        return self.fill(
            chat, size, lambda: any(self.about(chat, request) for request in self.summariser.requests[known:])
        )

    def drain(self) -> None:
        """Wait until no pass is running; a summariser that stalls answers as soon as the wait has begun."""
        asked = len(self.summariser.requests)
        if self.summariser.is_stalling:
            self.tell("the summariser will answer while the scheduler is drained")
        self.scheduler.drain(self.summariser.release)
        self.tell("the scheduler is drained")
        if len(self.summariser.requests) > asked:
            self.tell("the summariser is asked")

    def advance(self, seconds: float) -> None:
        """Time passes."""
        self.clock.advance(seconds)
        self.scheduler.settle()
        self.tell(f"{seconds:g} seconds pass")

    def behave(self, behaviour: Behaviour) -> None:
        """The summariser does something else from now on."""
        self.summariser.behaviour = behaviour
        self.tell(f"from now on the summariser {behaviour.story}")

    def stall(self, chat: Chat | None = None) -> None:
        """The summariser does not answer from now on, or not about this session."""
        about = "" if chat is None else f" about {self.room(chat)}"
        self.summariser.stall(None if chat is None else lambda text: any(said.stands_in(text) for said in chat.said))
        self.tell(f"from now on the summariser does not answer{about}")

    def release(self) -> None:
        """The summariser answers again, as soon as anything runs."""
        self.summariser.release()
        self.scheduler.settle()
        self.tell("the summariser answers again")

    def restart(self) -> None:
        """The process ends, and another one begins on the same store."""
        self.scheduler.close()
        self.scheduler = self._open()
        self.tell("the gateway is restarted")

    def tell(self, line: str) -> None:
        """Add a line to the story."""
        self.adapter.story.append(line)

    # -- how it stands --------------------------------------------------------------------------------------------

    @property
    def trigger(self) -> int:
        """Half of `max_chars`: pending characters from which a pass may start (SCH-1)."""
        return self.limits["max_chars"] // 2

    def about(self, chat: Chat, request: Request) -> bool:
        """Whether a request holds messages of a session."""
        return any(message.stands_in(request.text) for message in chat.said)

    def asked_about(self, chat: Chat) -> int:
        """How many requests hold messages of a session."""
        return sum(self.about(chat, request) for request in self.summariser.requests)

    def loads(self, chat: Chat) -> int:
        """How often a session was loaded."""
        return self.store.loads.count(chat.session)

    def overlap(self) -> tuple[Request, Request] | None:
        """Two requests that wait for their answers and hold the same message: two passes over one session."""
        waiting = self.summariser.open_requests
        for index, request in enumerate(waiting):
            for other in waiting[index + 1 :]:
                if any(m.stands_in(request.text) and m.stands_in(other.text) for chat in self.chats for m in chat.said):
                    return request, other
        return None

    def room(self, chat: Chat) -> str:
        """A session, as a story calls it."""
        return f"room {self.chats.index(chat) + 1}"

    def _tell_of(self, chat: Chat, message: Said) -> None:
        """One line for all messages that arrive one after the other."""
        goes_on = self._arriving and self._arriving[0].row["session"] == chat.session
        if goes_on and self.adapter.story and self.adapter.story[-1] == self._told:
            self.adapter.story.pop()
        else:
            self._arriving = []
        self._arriving.append(message)
        first, last = (said.number - chat.first + 1 for said in (self._arriving[0], self._arriving[-1]))
        names = f"message {first} arrives" if first == last else f"messages {first} to {last} arrive"
        where = "" if len(self.chats) == 1 else f" in {self.room(chat)}"
        self._told = f"{names}{where} ({sum(said.size for said in self._arriving):,} characters)"
        self.tell(self._told)
