"""The JSON shapes that cross the port, as types; `spec/schema/` holds the same for programs."""

from typing import Any, Literal, NotRequired, Required, TypeAlias, TypedDict

Part: TypeAlias = dict[str, Any]
Content: TypeAlias = str | list[Part] | None
Addressed: TypeAlias = str | list[Part]
Action: TypeAlias = Literal["dispatch", "observe", "ignore"]
Role: TypeAlias = Literal["user", "assistant", "tool", "system", "session_meta"]


class Chat(TypedDict):
    """Where a message was written."""

    id: str
    kind: Literal["direct", "group", "broadcast", "status", "newsletter"]
    name: str | None


class Sender(TypedDict):
    """Who wrote a message; the name is the sender's own choice."""

    id: str | None
    name: str | None
    is_bot: bool


class Mention(TypedDict, total=False):
    """Whom a message mentions: by id, by a span in UTF-16 code units, or both."""

    id: str
    offset: int
    length: int


class ReplyTo(TypedDict):
    """The message that a message answers."""

    id: str
    sender_id: str | None
    text: str


class Medium(TypedDict):
    """One attachment."""

    kind: Literal["image", "voice", "audio", "document", "video"]
    path: str | None
    url: str | None
    name: str | None
    error: str | None


class Event(TypedDict):
    """An inbound message."""

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
    reply_to: ReplyTo | None
    media: list[Medium]


class Bot(TypedDict):
    """A bot's id and its handle without the leading @."""

    id: str
    handle: str


class Settings(TypedDict):
    """What the operator configured for one account of the bot."""

    bot: Bot
    observe: bool
    require_mention: bool
    group_policy: Literal["allowlist", "open"]
    allowed_chats: list[str] | None
    free_response_chats: list[str]
    mention_patterns: list[str]
    other_bots: list[Bot]
    channel_prompt: str | None


class Summary(TypedDict):
    """What a summary row covers: the highest `seq` it speaks for, and how many messages stand behind it."""

    covers_through: NotRequired[int | None]
    covered: int


class Row(TypedDict, total=False):
    """One stored entry of a transcript."""

    seq: int
    role: Required[Role]
    content: Content
    observed: bool
    message_id: str | None
    time: str | None
    session: str
    summary: Summary
    tool_calls: list[dict[str, Any]]
    tool_call_id: str
    name: str
    extra: dict[str, Any]


class Message(TypedDict):
    """One message of a model request."""

    role: Literal["system", "user", "assistant", "tool"]
    content: Content
    tool_calls: NotRequired[list[dict[str, Any]]]
    tool_call_id: NotRequired[str]
    name: NotRequired[str]


class Limits(TypedDict):
    """The hard cap on the block; 0 switches a limit off."""

    max_chars: int
    max_rows: int


class Decision(TypedDict):
    """What the gate decides."""

    action: Action


class Framed(TypedDict):
    """An addressed message, ready for its turn."""

    message: Addressed
    channel_prompt: str | None
    session: str
    sender: str | None


class Replayed(TypedDict):
    """A transcript as the model sees it: history, and the block or null."""

    history: list[Message]
    block: str | None
