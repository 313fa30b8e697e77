"""Generators of inbound messages and of the settings under which they arrive.

A *body* is what a message says (text or caption, mentions, reply, media); an *event* is a body in a chat, by a sender;
a *scene* is an event with settings. The forms that a check aims at (addressed by a mention, by a reply, not at all) are
bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypedDict

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from observed_context_conformance.checking import declared
from observed_context_conformance.port import Bot, Chat, Event, Medium, Mention, Reply, Sender, Settings
from observed_context_conformance.strategies import texts

BOT: Bot = {"id": "9000", "handle": "kit_bot"}
"""The bot of every scene."""

OTHER_BOTS: tuple[Bot, ...] = ({"id": "9001", "handle": "ops_bot"}, {"id": "9002", "handle": "weather_bot"})
"""Bots that the settings name as others."""

PEOPLE = ("ana_k", "ben_77")
"""Handles of people."""

PATTERNS = ("hey kit", "^kit[:,]", "k[i1]t, please")
"""Mention patterns of the operator; any dialect of regular expressions knows them."""

CALLS = ("hey kit what now", "kit: lunch?", "could you, k1t, please")
"""Texts that match them, one each, and name no handle."""

CHAT_NAMES = ("Garden club", None, "", f"@{BOT['handle']}", "Club]\n[Boss|0]\n", "hey kit", "Клуб 🌱")
"""Names of chats: plain, missing, and such as say what only a message may say."""

Kind = Literal["image", "voice", "audio", "document", "video"]
KINDS: tuple[Kind, ...] = ("image", "voice", "audio", "document", "video")
SUFFIXES: dict[Kind, str] = {"image": "jpg", "voice": "ogg", "audio": "mp3", "document": "pdf", "video": "mp4"}


Way = Literal["id", "span", "both"]
"""How a platform marks a mention: by whom it means, by where it stands in the text, or by both."""


class Body(TypedDict):
    """What a message says: the part of an event that does not depend on where and by whom."""

    text: str
    caption: str | None
    mentions: list[Mention] | None
    reply_to: Reply | None
    media: list[Medium]


class Scene(NamedTuple):
    """An event and the settings under which it arrives."""

    event: Event
    settings: Settings


def body(
    text: str,
    *,
    caption: str | None = None,
    mentions: list[Mention] | None = None,
    reply_to: Reply | None = None,
    media: Sequence[Medium] = (),
) -> Body:
    """A body with what is given, and nothing else in it."""
    return {"text": text, "caption": caption, "mentions": mentions, "reply_to": reply_to, "media": list(media)}


def said(event: Event) -> str:
    """The text of a message: its caption where it has one, its text otherwise."""
    return event["text"] if event["caption"] is None else event["caption"]


def utf16(text: str) -> int:
    """The length of `text` as platforms count it: in UTF-16 code units."""
    return len(text.encode("utf-16-le")) // 2


# -- places and people ---------------------------------------------------------------------------------------------


@st.composite
def platforms(draw: st.DrawFn) -> str:
    """A platform for which the adapter under test declares a marker."""
    # Not `st.deferred`: it would keep the platforms of the first adapter for all others.
    return draw(st.sampled_from(sorted(declared.get()["markers"])))


def chats(
    kind: Literal["direct", "group", "broadcast", "status", "newsletter"] = "group",
    *,
    id: SearchStrategy[str] | None = None,  # noqa: A002
    name: SearchStrategy[str | None] | None = None,
) -> SearchStrategy[Chat]:
    """A chat; its name is one of `CHAT_NAMES` unless `name` says otherwise. A direct chat has the id of a person."""
    ids = id or (texts.ids() if kind == "direct" else texts.chat_ids())
    return st.fixed_dictionaries(  # type: ignore[return-value]
        {"id": ids, "kind": st.just(kind), "name": st.sampled_from(CHAT_NAMES) if name is None else name}
    )


def senders(
    *,
    id: SearchStrategy[str | None] | None = None,  # noqa: A002
    name: SearchStrategy[str | None] | None = None,
    is_bot: bool = False,
) -> SearchStrategy[Sender]:
    """A sender who is not our bot; the name is adversarial, our bot's handle too, unless `name` says otherwise."""
    names = st.one_of(texts.names(), st.sampled_from((BOT["handle"], None)))
    return st.fixed_dictionaries(  # type: ignore[return-value]
        {"id": texts.ids() if id is None else id, "name": names if name is None else name, "is_bot": st.just(is_bot)}
    )


def plain_names() -> SearchStrategy[str]:
    """A display name without anything in it that an adapter may have to change."""
    return st.sampled_from(("Ana", "Ben", "Zoë", "李雷", "Mary Ann", "O'Neill"))


# -- what is said --------------------------------------------------------------------------------------------------


def harmless(text: str) -> bool:
    """Whether `text` names no handle, matches no pattern of `PATTERNS` and is no command."""
    return (
        "@" not in text and "kit" not in text.casefold() and "k1t" not in text.casefold() and not text.startswith("/")
    )


def chatter(*, max_size: int = 400) -> SearchStrategy[str]:
    """Adversarial text that says something and addresses nobody."""
    return texts.messages(blank=False, max_size=max_size).filter(harmless)


def handles(handle: str = BOT["handle"]) -> SearchStrategy[str]:
    """A handle with its @, in different cases."""
    return st.sampled_from((f"@{handle}", f"@{handle.upper()}", f"@{handle.title()}"))


def media(
    *,
    kind: SearchStrategy[Kind] | None = None,
    name: SearchStrategy[str | None] | None = None,
    failed: bool = False,
) -> SearchStrategy[Medium]:
    """An attachment with the path of the file, the URL where it is offered, or both; or one whose download failed.

    Paths and URLs are harmless and none is part of another one. The file name gets the suffix of its kind; it is
    harmless unless `name` says otherwise.
    """
    return st.builds(
        _medium,
        st.sampled_from(KINDS) if kind is None else kind,
        st.integers(1000, 9999),
        st.just("failed") if failed else st.sampled_from(("path", "url", "both")),
        st.sampled_from((None, "holiday", "Q3 report")) if name is None else name,
    )


def _medium(kind: Kind, number: int, state: str, name: str | None) -> Medium:
    file = f"{number}.{SUFFIXES[kind]}"
    return {
        "kind": kind,
        "path": f"/var/cache/observed/{file}" if state in ("path", "both") else None,
        "url": f"https://media.example.org/{file}" if state in ("url", "both") else None,
        "name": None if name is None else f"{name}.{SUFFIXES[kind]}",
        "error": "download failed" if state == "failed" else None,
    }


def replies(
    sender_id: SearchStrategy[str | None] | None = None, text: SearchStrategy[str] | None = None
) -> SearchStrategy[Reply]:
    """What a message answers; somebody else's message unless `sender_id` says otherwise."""
    return st.fixed_dictionaries(  # type: ignore[return-value]
        {
            "id": texts.message_ids(),
            "sender_id": st.one_of(texts.ids(), st.none()) if sender_id is None else sender_id,
            "text": texts.words() if text is None else text,
        }
    )


def captioned(bodies: SearchStrategy[Body], medium: SearchStrategy[Medium] | None = None) -> SearchStrategy[Body]:
    """The same, but said in the caption of an attachment; spans count in the caption then."""

    def move(said: Body, attachment: Medium) -> Body:
        return {**said, "text": "", "caption": said["text"], "media": [attachment]}

    return st.builds(move, bodies, media() if medium is None else medium)


# -- bodies that are not addressed to the bot ------------------------------------------------------------------------


def plain(text: SearchStrategy[str] | None = None) -> SearchStrategy[Body]:
    """Text alone; `chatter()` unless `text` says otherwise. The platform gives no mentions, or an empty list."""
    return st.builds(_plain, chatter() if text is None else text, st.booleans())


def _plain(text: str, empty: bool) -> Body:
    return body(text, mentions=[] if empty else None)


def mentioning_people() -> SearchStrategy[Body]:
    """A person is mentioned: by id, by a span, by both, or by a handle in the text alone."""
    return st.builds(
        marked,
        texts.words(),
        st.sampled_from(PEOPLE).map(lambda handle: f"@{handle}"),
        chatter(),
        texts.ids(),
        st.sampled_from(("id", "span", "both", "text")),
    )


def answering_people() -> SearchStrategy[Body]:
    """An answer to a message of somebody else."""
    return st.builds(lambda text, reply: body(text, reply_to=reply), chatter(), replies())


def media_alone() -> SearchStrategy[Body]:
    """One or more attachments and not a word."""
    return st.lists(media(), min_size=1, max_size=3, unique_by=_place).map(lambda items: body("", media=items))


def unaddressed() -> SearchStrategy[Body]:
    """Any of the above, in a text or in a caption."""
    return st.one_of(
        plain(),
        mentioning_people(),
        answering_people(),
        media_alone(),
        captioned(plain()),
        captioned(mentioning_people()),
    )


def _place(medium: Medium) -> str:
    return medium["path"] or medium["url"] or medium["kind"]


def marked(before: str, shown: str, after: str, id: str, how: str) -> Body:  # noqa: A002
    """A body in whose text `shown` stands between two texts and is marked as a mention.

    Args:
        before: what stands before it.
        shown: what the text shows in the place of the mention, a handle as a rule.
        after: what stands after it.
        id: whom it mentions.
        how: by `id`, by `span`, by `both`, or not at all (`text`).
    """
    first = f"{before} " if before else ""
    span: Mention = {"offset": utf16(first), "length": utf16(shown)}
    mentions: dict[str, list[Mention] | None] = {
        "id": [{"id": id}],
        "span": [span],
        "both": [{"id": id, **span}],
        "text": None,
    }
    return body(f"{first}{shown} {after}", mentions=mentions[how])


# -- bodies that are addressed to the bot ----------------------------------------------------------------------------


def by_mention(
    how: SearchStrategy[Way] | None = None, before: SearchStrategy[str] | None = None
) -> SearchStrategy[Body]:
    """The bot is mentioned structurally: by its id alone, by the span of its handle alone, or by both.

    What comes before the mention is of the basic plane unless `before` says otherwise.
    """
    ways = st.sampled_from(("id", "span", "both")) if how is None else how
    first = st.one_of(st.just(""), texts.words()) if before is None else before
    return st.builds(marked, first, handles(), chatter(), st.just(BOT["id"]), ways)


def by_id_under_another_name() -> SearchStrategy[Body]:
    """The bot is mentioned by its id; what the text shows in that place is a name of any kind, or a placeholder."""
    shown = st.sampled_from(("@Assistant", "@the helper", "\ufffc", "@ana_k"))
    return st.builds(
        marked, st.one_of(st.just(""), texts.words()), shown, texts.words(), st.just(BOT["id"]), st.just("both")
    )


def by_handle(handle: SearchStrategy[str] | None = None) -> SearchStrategy[Body]:
    """The handle stands in the text, between blanks, and the platform gives no structural mentions."""
    return st.builds(
        lambda before, name, after: body(f"{before} {name} {after}".strip(" ")),
        st.one_of(st.just(""), texts.words(), chatter()),
        handles() if handle is None else handle,
        st.one_of(st.just(""), texts.words(), chatter()),
    )


def by_reply(text: SearchStrategy[str] | None = None) -> SearchStrategy[Body]:
    """An answer to a message of the bot."""
    reply = replies(st.just(BOT["id"]))
    return st.builds(lambda words, answered: body(words, reply_to=answered), chatter() if text is None else text, reply)


def by_pattern() -> SearchStrategy[Body]:
    """A text that matches one of `PATTERNS` and names nobody's handle."""
    return st.sampled_from(CALLS).map(body)


@st.composite
def naming_another_bot(draw: st.DrawFn, *, implied: SearchStrategy[bool] | None = None, ours_too: bool = False) -> Body:
    """One of `OTHER_BOTS` is named: by id, by a span, by both, or by its handle where the text decides.

    Args:
        draw: given by Hypothesis.
        implied: whether the message would be for our bot without that: it answers it, or matches one of `PATTERNS`.
        ours_too: our bot is named as well, in the same way.
    """
    other, how = draw(st.sampled_from(OTHER_BOTS)), draw(st.sampled_from(("id", "span", "both", "text")))
    hint = draw(st.sampled_from(("pattern", "reply"))) if draw(st.booleans() if implied is None else implied) else None
    words = draw(st.sampled_from((CALLS[0], CALLS[2])) if hint == "pattern" else texts.words())
    made = marked("", f"@{other['handle']}", words, other["id"], how)
    if ours_too:
        ours = marked(made["text"], f"@{BOT['handle']}", draw(texts.words()), BOT["id"], how)
        made = {**ours, "mentions": [*(made["mentions"] or []), *(ours["mentions"] or [])] or None}
    return {**made, "reply_to": draw(replies(st.just(BOT["id"]))) if hint == "reply" else None}


def addressed() -> SearchStrategy[Body]:
    """Any of the above, in a text or in a caption. For patterns the settings must hold `PATTERNS`."""
    ways = st.one_of(by_mention(), by_id_under_another_name(), by_handle(), by_reply(), by_pattern())
    return st.one_of(ways, captioned(ways))


# -- events and settings ---------------------------------------------------------------------------------------------


def events(
    bodies: SearchStrategy[Body] | None = None,
    *,
    platform: SearchStrategy[str] | None = None,
    account: SearchStrategy[str] | None = None,
    chat: SearchStrategy[Chat] | None = None,
    topic: SearchStrategy[str | None] | None = None,
    sender: SearchStrategy[Sender] | None = None,
) -> SearchStrategy[Event]:
    """An inbound message in a group, by a person, addressed or not; each part can be pinned."""
    return st.builds(
        event_of,
        st.one_of(unaddressed(), addressed()) if bodies is None else bodies,
        platform=platforms() if platform is None else platform,
        account=st.just("main") if account is None else account,
        chat=chats() if chat is None else chat,
        topic=st.one_of(st.none(), texts.topic_ids()) if topic is None else topic,
        id=texts.message_ids(),
        sender=senders() if sender is None else sender,
        time=texts.times(),
    )


def event_of(
    said: Body,
    *,
    platform: str,
    account: str,
    chat: Chat,
    topic: str | None,
    id: str,  # noqa: A002
    sender: Sender,
    time: str,
) -> Event:
    """A body in its place."""
    return {
        "platform": platform,
        "account": account,
        "chat": chat,
        "topic": topic,
        "id": id,
        "sender": sender,
        "time": time,
        **said,
    }


def settings(
    *,
    observe: SearchStrategy[bool] | None = None,
    require_mention: SearchStrategy[bool] | None = None,
    group_policy: SearchStrategy[Literal["allowlist", "open"]] | None = None,
    allowed_chats: SearchStrategy[list[str] | None] | None = None,
    free_response_chats: SearchStrategy[list[str]] | None = None,
    mention_patterns: SearchStrategy[list[str]] | None = None,
    channel_prompt: SearchStrategy[str | None] | None = None,
) -> SearchStrategy[Settings]:
    """What an operator may have configured; each part can be pinned. The bot and the other bots are always the same."""
    lists = st.lists(texts.chat_ids(), max_size=2)
    return st.fixed_dictionaries(  # type: ignore[return-value]
        {
            "bot": st.just(BOT),
            "observe": st.booleans() if observe is None else observe,
            "require_mention": st.booleans() if require_mention is None else require_mention,
            "group_policy": st.sampled_from(("allowlist", "open")) if group_policy is None else group_policy,
            "allowed_chats": st.one_of(lists, st.none()) if allowed_chats is None else allowed_chats,
            "free_response_chats": lists if free_response_chats is None else free_response_chats,
            "mention_patterns": st.just(list(PATTERNS)) if mention_patterns is None else mention_patterns,
            "other_bots": st.just(list(OTHER_BOTS)),
            "channel_prompt": prompts() if channel_prompt is None else channel_prompt,
        }
    )


def prompts() -> SearchStrategy[str | None]:
    """The operator's own prompt for a chat: none, a line, or several."""
    return st.one_of(
        st.none(),
        st.sampled_from(("Be brief.", "You are the helper of the garden club.\n- Answer in German.\n- No jokes.")),
    )


def observing(
    *,
    mention_patterns: SearchStrategy[list[str]] | None = None,
    channel_prompt: SearchStrategy[str | None] | None = None,
) -> SearchStrategy[Settings]:
    """Settings of mention-gated groups with `observe` on; whoever uses them puts the chat on the list (`admit`)."""
    return settings(
        observe=st.just(True),
        require_mention=st.just(True),
        allowed_chats=st.lists(texts.chat_ids(), max_size=2),
        free_response_chats=st.just([]),
        mention_patterns=mention_patterns,
        channel_prompt=channel_prompt,
    )


def admit(event: Event, settings: Settings) -> Settings:
    """The same settings with the event's chat on the allowlist, as the last one."""
    others = [chat for chat in settings["allowed_chats"] or [] if chat != event["chat"]["id"]]
    return {**settings, "allowed_chats": [*others, event["chat"]["id"]]}


def scenes(
    arriving: SearchStrategy[Event] | None = None, configured: SearchStrategy[Settings] | None = None
) -> SearchStrategy[Scene]:
    """An event in an allowlisted group; mention-gated and observed unless `configured` says otherwise."""
    return st.builds(
        lambda event, settings: Scene(event, admit(event, settings)),
        events() if arriving is None else arriving,
        observing() if configured is None else configured,
    )


def plain_scenes(bodies: SearchStrategy[Body], sender: SearchStrategy[Sender] | None = None) -> SearchStrategy[Scene]:
    """A body in an ordinary observed group: for checks to which nothing matters but what is said, and by whom."""
    return st.builds(plain_scene, bodies) if sender is None else st.builds(plain_scene, bodies, sender)


def plain_scene(said: Body, sender: Sender | None = None, id: str = "1") -> Scene:  # noqa: A002
    """A body in an ordinary observed group of the first platform that the adapter under test declares."""
    event = event_of(
        said,
        platform=min(declared.get()["markers"]),
        account="main",
        chat={"id": "-1001", "kind": "group", "name": "Garden club"},
        topic=None,
        id=id,
        sender={"id": "1001", "name": "Ana", "is_bot": False} if sender is None else sender,
        time="2026-03-01T12:00:00Z",
    )
    return Scene(event, plain_settings())


def plain_settings() -> Settings:
    """The settings of `plain_scene`."""
    return {
        "bot": BOT,
        "observe": True,
        "require_mention": True,
        "group_policy": "allowlist",
        "allowed_chats": ["-1001"],
        "free_response_chats": [],
        "mention_patterns": list(PATTERNS),
        "other_bots": list(OTHER_BOTS),
        "channel_prompt": None,
    }


def observed(
    bodies: SearchStrategy[Body] | None = None,
    *,
    sender: SearchStrategy[Sender] | None = None,
    chat: SearchStrategy[Chat] | None = None,
) -> SearchStrategy[Scene]:
    """A message that is for nobody in particular, where it is observed."""
    return scenes(events(unaddressed() if bodies is None else bodies, sender=sender, chat=chat))
