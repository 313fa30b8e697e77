"""The port: what an adapter may offer, and the plain data that crosses it.

An adapter is any object with a `describe()` and some of the methods of `Port`. It imports nothing from here: the types
below are for our own code and for those who like to annotate theirs. The authority on the data is `spec/schema/`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, NotRequired, Protocol, TypedDict

Role = Literal["system", "user", "assistant", "tool"]
Part = dict[str, Any]
Content = str | list[Part] | None
Addressed = str | list[Part]


class Chat(TypedDict):
    """Where a message was written."""

    id: str
    kind: Literal["direct", "group", "broadcast", "status", "newsletter"]
    name: str | None


class Sender(TypedDict):
    """Who wrote a message."""

    id: str | None
    name: str | None
    is_bot: bool


class Mention(TypedDict, total=False):
    """A structural mention: by id, by span (UTF-16 code units), or both."""

    id: str
    offset: int
    length: int


class Reply(TypedDict):
    """The message that another one answers."""

    id: str
    sender_id: str | None
    text: str


class Medium(TypedDict):
    """An attachment."""

    kind: Literal["image", "voice", "audio", "document", "video"]
    path: str | None
    url: str | None
    name: str | None
    error: str | None


class Event(TypedDict):
    """One inbound message (`spec/schema/event.json`)."""

    platform: str
    account: str
    chat: Chat
    topic: str | None
    id: str
    sender: Sender
    time: str
    text: str
    caption: str | None
    mentions: list[Mention] | None
    reply_to: Reply | None
    media: list[Medium]


class Bot(TypedDict):
    """A bot: its id on the platform and its handle without the leading @."""

    id: str
    handle: str


class Settings(TypedDict):
    """What the operator configured (`spec/schema/settings.json`)."""

    bot: Bot
    observe: bool
    require_mention: bool
    group_policy: Literal["allowlist", "open"]
    allowed_chats: list[str] | None
    free_response_chats: list[str]
    mention_patterns: list[str]
    other_bots: list[Bot]
    channel_prompt: str | None


class Message(TypedDict):
    """One message of a model request (`spec/schema/message.json`)."""

    role: Role
    content: Content
    tool_calls: NotRequired[list[dict[str, Any]]]
    tool_call_id: NotRequired[str]
    name: NotRequired[str]


class Watermark(TypedDict):
    """What a summary row speaks for."""

    covers_through: NotRequired[int | None]
    covered: int


class Row(TypedDict):
    """One stored entry of a transcript (`spec/schema/row.json`)."""

    role: Literal["system", "user", "assistant", "tool", "session_meta"]
    seq: NotRequired[int]
    content: NotRequired[Content]
    observed: NotRequired[bool]
    message_id: NotRequired[str | None]
    time: NotRequired[str | None]
    session: NotRequired[str]
    summary: NotRequired[Watermark]
    tool_calls: NotRequired[list[dict[str, Any]]]
    tool_call_id: NotRequired[str]
    name: NotRequired[str]
    extra: NotRequired[dict[str, Any]]


class Limits(TypedDict):
    """The hard cap: code points and verbatim rows; 0 switches a limit off."""

    max_chars: int
    max_rows: int


class Headers(TypedDict):
    """The two lines that frame the block."""

    block: str
    addressed: str


class Options(TypedDict, total=False):
    """Declared options."""

    watermark: Literal["explicit", "positional"]
    image_tool: str | None


class Description(TypedDict):
    """What an adapter says of itself (`spec/schema/description.json`)."""

    name: str
    version: str
    spec: str
    profile: Literal["block", "ambient"]
    markers: dict[str, str]
    headers: Headers
    options: NotRequired[Options]


class Decision(TypedDict):
    """The result of `gate`."""

    action: Literal["dispatch", "observe", "ignore"]


class Framed(TypedDict):
    """The result of `address`."""

    message: Addressed
    channel_prompt: str | None
    session: str
    sender: str | None


class Replayed(TypedDict):
    """The result of `replay`."""

    history: list[Message]
    block: str | None


Model = Callable[[list[Message]], Message]
Prompt = str | list[Message]
Summarize = Callable[[Prompt], str | None]


class Store(Protocol):
    """The kit's store, as `compact` and `scheduler` see it. Any method may raise."""

    def load(self, session: str) -> list[Row]:
        """All rows of a session, ascending by seq."""

    def append(self, session: str, row: Row) -> int:
        """Store a row; returns the seq that it got."""

    def commit(self, session: str, row: Row, previous: int | None) -> int | None:
        """Store a summary row if the newest one still has seq `previous` (None: there is none); None if it has not."""


class Port(Protocol):
    """Every method of the port, for those who annotate; an adapter may leave out any but `describe`."""

    def describe(self) -> Description:
        """Say what the adapter is and which options it takes."""

    def gate(self, event: Event, settings: Settings) -> Decision:
        """Decide whether a message is for the bot (GATE)."""

    def row(self, event: Event, settings: Settings) -> Row:
        """Make the observed row of a message (ROW, MED)."""

    def address(self, event: Event, settings: Settings) -> Framed:
        """Frame an addressed message (ATT)."""

    def replay(self, transcript: list[Row], channel_prompt: str | None, limits: Limits) -> Replayed:
        """Split a stored transcript into history and block (SEP)."""

    def assemble(self, rows: list[Row], limits: Limits) -> str | None:
        """Make the block of observed rows and summary rows (ASM, CAP)."""

    def limits(self, config: Any) -> Limits:
        """Read the limits out of a configuration (LIM)."""

    def wrap(self, message: Addressed, block: str | None) -> Addressed:
        """Put the block before an addressed message (TURN)."""

    def turn(
        self, transcript: list[Row], message: Addressed, channel_prompt: str | None, limits: Limits, model: Model
    ) -> list[Row]:
        """Run an addressed turn and return the rows that it persists (TURN)."""

    def compact(self, store: Store, session: str, limits: Limits, summarize: Summarize) -> Row | None:
        """Run one pass of compaction; the summary row as stored, or None (CMP)."""

    def redact(self, text: str) -> str:
        """Take the secrets out of a text (RED)."""

    def scheduler(
        self,
        store: Store,
        limits: Limits,
        summarize: Callable[[Prompt], Awaitable[str | None]],
        clock: Callable[[], float],
    ) -> Any:
        """An object with `appended(session, chars)` and `drain()` (SCH)."""

    def gateway(self, settings: Settings, environment: Any) -> Any:
        """An object with `receive`, `transcript`, `search`, `drain`, `close` (GWY)."""


# The requirement that a call breaks when its result does not even have the right shape.
SHAPE_OF: dict[str, str] = {
    "gate": "GATE-14",
    "row": "ROW-1",
    "address": "ATT-1",
    "replay": "SEP-9",
    "assemble": "ASM-1",
    "limits": "LIM-1",
    "wrap": "TURN-2",
    "turn": "TURN-4",
    "compact": "CMP-10",
    "redact": "RED-8",
    "scheduler": "SCH-6",
    "gateway": "GWY-6",
}

METHODS: tuple[str, ...] = tuple(SHAPE_OF)
