"""Is this message for the bot? (GATE)"""

from __future__ import annotations

from hypothesis import event as reached
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from observed_context_conformance.checking import Adapter, check, expect, given, quote
from observed_context_conformance.port import Bot, Event, Mention, Sender, Settings
from observed_context_conformance.strategies import events as ev
from observed_context_conformance.strategies import texts
from observed_context_conformance.strategies.events import BOT, Body, Scene

REACH = {
    "what_is_not_for_the_bot_is_observed": {
        "a caption": 0.05,
        "attachments alone": 0.05,
        "a person is mentioned": 0.05,
        "an answer to a person": 0.02,
        "policy open": 0.1,
    },
    "a_mention_by_id_is_dispatched": {"with a span": 0.1, "without a span": 0.1},
    "a_direct_message_is_never_observed": {"its chat is on the allowlist": 0.1, "observe on": 0.1},
    "a_group_off_the_allowlist_is_ignored": {"addressed": 0.2, "the id is part of an id on the list": 0.2},
    "without_an_allowlist_every_group_is_ignored": {"empty": 0.1, "missing": 0.1, "addressed": 0.1},
    "an_open_group_off_the_allowlist_is_not_observed": {"addressed": 0.1, "not addressed": 0.1},
    "observe_off_changes_nothing_but_observing": {
        "with observe on: observe": 0.02,
        "with observe on: dispatch": 0.05,
        "with observe on: ignore": 0.02,
    },
    "where_no_mention_is_needed_all_is_dispatched": {
        "free-response group": 0.05,
        "require_mention off": 0.05,
        "not addressed": 0.1,
    },
    "the_bots_own_messages_are_ignored": {"names itself": 0.05, "where no mention is needed": 0.1},
    "one_way_publications_are_ignored": {"broadcast": 0.1, "status": 0.1, "newsletter": 0.1, "addressed": 0.1},
    "a_handle_that_stands_alone_is_found": {"beside text without blanks": 0.2, "beside a dot or hyphen": 0.05},
    "a_longer_handle_is_not_the_bots": {"longer at the end": 0.2, "longer at the front": 0.2},
    "the_id_of_a_mention_decides": {"a placeholder": 0.1, "the bot's handle": 0.1},
    "a_message_that_names_another_bot_is_not_dispatched": {"a reply to the bot": 0.1, "a pattern matches": 0.1},
    "a_mention_after_rare_characters_is_found": {"in a caption": 0.1},
    "a_bot_does_not_address_by_implication": {"a reply to the bot": 0.2, "a pattern matches": 0.1},
}


def _action(adapter: Adapter, scene: Scene) -> str:
    return adapter.gate(*scene)["action"]


def _expect_dispatch(adapter: Adapter, scene: Scene, why: str) -> None:
    action = _action(adapter, scene)
    expect(action == "dispatch", "not-dispatched", expected=f"dispatch: {why}", got=f"{action} for {_text(scene)}")


def _expect_not_addressed(adapter: Adapter, scene: Scene, why: str) -> None:
    action = _action(adapter, scene)
    expect(action != "dispatch", "dispatched", expected=f"no dispatch: {why}", got=f"{action} for {_text(scene)}")


def _text(scene: Scene) -> str:
    return quote(ev.said(scene.event))


def _gated(observe: SearchStrategy[bool] | None = None) -> SearchStrategy[Settings]:
    """Settings of mention-gated groups, whether they are observed or not."""
    return ev.settings(observe=observe, require_mention=st.just(True), free_response_chats=st.just([]))


def _addressed_scenes(bodies: SearchStrategy[Body]) -> SearchStrategy[Scene]:
    return ev.scenes(ev.events(bodies), _gated())


_often_observing = st.one_of(ev.observing(), ev.settings())


def _is_addressed(event: Event) -> bool:
    """Whether one of our own generators made this event for the bot; it knows their forms, not every form."""
    mentions = event["mentions"] or []
    text = ev.said(event).casefold()
    return (
        f"@{BOT['handle']}" in text
        or any(mention.get("id") == BOT["id"] for mention in mentions)
        or (event["reply_to"] is not None and event["reply_to"]["sender_id"] == BOT["id"])
        or any(call in text for call in ev.CALLS)
    )


# -- GATE-1, GATE-2 --------------------------------------------------------------------------------------------------


@check("GATE-1", calls=("gate",))
@given(scene=ev.observed())
def what_is_not_for_the_bot_is_observed(adapter: Adapter, scene: Scene) -> None:
    """A message of an observed group that addresses nobody, or only a person, is observed: that is the feature."""
    event, settings = scene
    if event["caption"] is not None:
        reached("a caption")
    if not ev.said(event):
        reached("attachments alone")
    if event["mentions"]:
        reached("a person is mentioned")
    if event["reply_to"]:
        reached("an answer to a person")
    reached(f"policy {settings['group_policy']}")
    action = _action(adapter, scene)
    expect(action == "observe", "not-observed", expected="observe", got=f"{action} for {_text(scene)}")


_names_of_the_bot = st.sampled_from((BOT["handle"], f"@{BOT['handle']}", BOT["handle"].upper(), BOT["id"], "Ana"))


@check("GATE-1", calls=("gate",), examples=40)
@given(
    scene=ev.plain_scenes(
        ev.plain(texts.words()), ev.senders(id=st.sampled_from(("1001", None)), name=_names_of_the_bot)
    )
)
def a_person_is_not_the_bot_by_name(adapter: Adapter, scene: Scene) -> None:
    """A member who calls himself like the bot, or who is known by no id, is not the bot: what he says is observed."""
    sender = scene.event["sender"]
    action = _action(adapter, scene)
    who = f"a message by {quote(sender['name'])}, id {sender['id']}"
    expect(action == "observe", "not-observed", expected="observe", got=f"{action} for {who}")


@check("GATE-1", calls=("gate",), examples=20)
@given(
    before=st.one_of(st.just(""), texts.words()),
    after=texts.words(),
    mentions=st.sampled_from((None, [])),
    platform=ev.platforms(),
)
def a_placeholder_alone_names_nobody(
    adapter: Adapter, before: str, after: str, mentions: list[Mention] | None, platform: str
) -> None:
    """The character that stands for a mention says nothing of whom, where the platform does not say it either."""
    event, settings = ev.plain_scene(ev.body(f"{before} \ufffc {after}".strip(), mentions=mentions))
    action = _action(adapter, Scene({**event, "platform": platform}, settings))
    expect(
        action == "observe",
        "not-observed",
        expected="observe: nobody is named",
        got=f"{action} for {quote(event['text'])}",
    )


@check("GATE-2", calls=("gate",), examples=40)
@given(scene=_addressed_scenes(st.one_of(ev.by_mention(st.just("id")), ev.by_mention(st.just("both")))))
def a_mention_by_id_is_dispatched(adapter: Adapter, scene: Scene) -> None:
    """A mention that the platform gives by the bot's id makes a turn, whether it says where it stands or not."""
    mention = (scene.event["mentions"] or [{}])[0]
    reached("with a span" if "offset" in mention else "without a span")
    _expect_dispatch(adapter, scene, "the bot is mentioned by its id")


@check("GATE-2", calls=("gate",), examples=40)
@given(scene=_addressed_scenes(ev.by_mention(st.just("span"))))
def a_mention_by_span_is_dispatched(adapter: Adapter, scene: Scene) -> None:
    """A mention that the platform gives by its place in the text makes a turn when the bot's handle stands there."""
    _expect_dispatch(adapter, scene, "the span holds the bot's handle")


@check("GATE-2", calls=("gate",), examples=40)
@given(scene=_addressed_scenes(ev.by_id_under_another_name()))
def a_mention_under_another_name_is_dispatched(adapter: Adapter, scene: Scene) -> None:
    """A mention by the bot's id makes a turn though the text shows a display name or a placeholder in its place."""
    _expect_dispatch(adapter, scene, "the bot is mentioned by its id, whatever the text shows")


@check("GATE-2", calls=("gate",), examples=40)
@given(scene=_addressed_scenes(ev.by_handle()))
def a_handle_in_text_is_dispatched(adapter: Adapter, scene: Scene) -> None:
    """Where the platform gives no structural mentions, the bot's handle in the text makes a turn."""
    _expect_dispatch(adapter, scene, f"@{BOT['handle']} stands in the text")


@check("GATE-2", calls=("gate",), examples=40)
@given(scene=_addressed_scenes(ev.by_reply()))
def a_reply_to_the_bot_is_dispatched(adapter: Adapter, scene: Scene) -> None:
    """An answer to one of the bot's own messages makes a turn, whatever it says."""
    _expect_dispatch(adapter, scene, "it answers a message of the bot")


@check("GATE-2", calls=("gate",), examples=30)
@given(scene=_addressed_scenes(ev.by_pattern()))
def a_pattern_match_is_dispatched(adapter: Adapter, scene: Scene) -> None:
    """A message that matches one of the operator's mention patterns makes a turn."""
    _expect_dispatch(adapter, scene, "a mention pattern matches")


_EVERYDAY = (
    (r"\bkit\b", "is Kit awake?", "the kitchen is open"),
    ("^kit", "kit lunch?", "our kit is here"),
    ("kit[,:!?]*$", "are you there, kit?!", "kit, who is there"),
    ("kit|robot|assistant", "ask the assistant", "ask the assistance"),
    ("(hey|ok|hi),? kit", "ok, kit what now", "hey you, kitten"),
    ("(hey|hi)( dear)? kit", "hi dear kit", "hi dearest kit"),
    ("(?:please|pls) kit", "pls kit", "please, kit"),
    ("(the|our) (bot|helper)s?[ ,]", "ask our bots, quickly", "ask my bots, quickly"),
    (r"hey\s+kit", "hey   kit", "heykit"),
    (r"ki+t\b", "kiiiit!", "kt"),
    ("k.t[0-9]{1,3}", "ask kat42", "ask k42"),
    ("kit.{0,20}help", "kit, I need help", "I need help, kit"),
    (r"(kit|robot)[,:]\s*\w+", "robot: lunch", "robot lunch"),
    (r"[^a-z]kit\W", "dear (kit)", "starkit ok"),
    (".*kit, please", "dear kit, please", "dear kit please"),
    (r"^\W*kit\W", "... kit, are you there", "x kit, are you there"),
    (".kit", ".kit status", "kit status"),
    ("((hey|ok) )?kit[,:]", "ok kit, news?", "ok kitten, news"),
    ("(ha){1,3} kit", "hahaha kit", "ha, kit"),
    ("^.*(kit|robot)[,:] .*$", "hey robot: hi", "hey robots: hi"),
)
"""Patterns that any dialect of regular expressions knows and none takes long to match; a text that matches, one not."""

_everyday = st.sampled_from(_EVERYDAY)


def _under(pattern: str, text: str) -> Scene:
    event, settings = ev.plain_scene(ev.body(text))
    return Scene(event, {**settings, "mention_patterns": [pattern]})


@check("GATE-2", calls=("gate",), examples=2 * len(_EVERYDAY))
@given(case=_everyday)
def patterns_as_operators_write_them_match(adapter: Adapter, case: tuple[str, str, str]) -> None:
    """Alternatives, optional parts, boundaries and plain repetitions are no reason to refuse a mention pattern."""
    pattern, text, _ = case
    _expect_dispatch(adapter, _under(pattern, text), f"the pattern {pattern} matches")


@check("GATE-1", calls=("gate",), examples=2 * len(_EVERYDAY))
@given(case=_everyday)
def what_no_pattern_matches_is_observed(adapter: Adapter, case: tuple[str, str, str]) -> None:
    """A message that only comes near a mention pattern is not for the bot."""
    pattern, _, text = case
    scene = _under(pattern, text)
    action = _action(adapter, scene)
    got = f"{action} for {quote(text)} with the pattern {pattern}"
    expect(action == "observe", "not-observed", expected="observe: no pattern matches", got=got)


# -- GATE-3, GATE-4 --------------------------------------------------------------------------------------------------


@check("GATE-3", calls=("gate",), examples=60)
@given(event=ev.events(chat=ev.chats("direct")), settings=_often_observing, listed=st.booleans())
def a_direct_message_is_never_observed(adapter: Adapter, event: Event, settings: Settings, listed: bool) -> None:
    """Whoever writes to the bot in private is not overheard, even where the id of the chat is on the allowlist."""
    if listed:
        settings = ev.admit(event, settings)
        reached("its chat is on the allowlist")
    if settings["observe"]:
        reached("observe on")
    action = adapter.gate(event, settings)["action"]
    expect(action != "observe", "observed", expected="anything but observe", got=action)


def _near(chat: str) -> SearchStrategy[str]:
    """An id that is not `chat` but shares most of its characters."""
    return st.sampled_from((f"{chat}0", f"{chat}77", chat[:-1], chat.lstrip("-"), f"-100{chat[1:]}"))


@st.composite
def _off_the_list(draw: st.DrawFn) -> Scene:
    event, settings = draw(_arriving), draw(_with_a_list)
    listed = [*draw(st.lists(_near(event["chat"]["id"]), min_size=1, max_size=2)), *(settings["allowed_chats"] or [])]
    return Scene(event, {**settings, "allowed_chats": [id for id in listed if id != event["chat"]["id"]]})  # noqa: A001


_arriving = ev.events()
_with_a_list = ev.settings(
    group_policy=st.just("allowlist"),
    allowed_chats=st.lists(texts.chat_ids(), min_size=1, max_size=2),
    free_response_chats=st.just([]),
)


@check("GATE-4", calls=("gate",), examples=80)
@given(scene=_off_the_list())
def a_group_off_the_allowlist_is_ignored(adapter: Adapter, scene: Scene) -> None:
    """What is said in a group that the operator did not list leaves nothing; ids are compared whole."""
    event, settings = scene
    if _is_addressed(event):
        reached("addressed")
    if any(event["chat"]["id"] in listed for listed in settings["allowed_chats"] or []):
        reached("the id is part of an id on the list")
    action = _action(adapter, scene)
    got = f"{action} in {event['chat']['id']}, which is not among {settings['allowed_chats']}"
    expect(action == "ignore", f"{action}-off-the-list", expected="ignore", got=got)


@check("GATE-4", calls=("gate",), examples=50)
@given(
    event=ev.events(),
    settings=ev.settings(
        group_policy=st.just("allowlist"),
        allowed_chats=st.sampled_from(([], None)),
        free_response_chats=st.just([]),
    ),
)
def without_an_allowlist_every_group_is_ignored(adapter: Adapter, event: Event, settings: Settings) -> None:
    """An empty or missing allowlist admits no group: a slip in the configuration leads to silence."""
    reached("missing" if settings["allowed_chats"] is None else "empty")
    if _is_addressed(event):
        reached("addressed")
    action = adapter.gate(event, settings)["action"]
    got = f"{action} with allowed_chats {settings['allowed_chats']}"
    expect(action == "ignore", f"{action}-without-a-list", expected="ignore", got=got)


@check("GATE-4", calls=("gate",), examples=50)
@given(
    event=ev.events(),
    settings=ev.settings(
        group_policy=st.just("open"),
        require_mention=st.just(True),
        allowed_chats=st.sampled_from(([], None, ["-1", "-1000"])),
        free_response_chats=st.just([]),
    ),
)
def an_open_group_off_the_allowlist_is_not_observed(adapter: Adapter, event: Event, settings: Settings) -> None:
    """Who opens the bot to every group has not agreed to record every group: there it is dispatch or ignore."""
    wanted = "dispatch" if _is_addressed(event) else "ignore"
    reached("addressed" if wanted == "dispatch" else "not addressed")
    action = adapter.gate(event, settings)["action"]
    got = f"{action} for {quote(ev.said(event))}"
    expect(action == wanted, f"{action}-in-an-open-group", expected=f"{wanted}, the group is not listed", got=got)


# -- GATE-5 to GATE-8 ------------------------------------------------------------------------------------------------


@check("GATE-5", calls=("gate",))
@given(
    event=ev.events(st.one_of(ev.unaddressed(), ev.addressed(), ev.by_reply(), ev.by_pattern())),
    settings=ev.settings(require_mention=st.sampled_from((True, True, False)), free_response_chats=st.just([])),
    listed=st.sampled_from((True, True, False)),
)
def observe_off_changes_nothing_but_observing(adapter: Adapter, event: Event, settings: Settings, listed: bool) -> None:
    """The same message with `observe` on and off: observed becomes ignored, every other decision stays."""
    if listed:
        settings = ev.admit(event, settings)
    on = adapter.gate(event, {**settings, "observe": True})["action"]
    off = adapter.gate(event, {**settings, "observe": False})["action"]
    reached(f"with observe on: {on}")
    wanted = "ignore" if on == "observe" else on
    expect(off == wanted, f"{off}-with-observe-off", expected=f"{wanted}, for with observe on it is {on}", got=off)


@check("GATE-6", calls=("gate",), examples=60)
@given(
    scene=ev.scenes(configured=_often_observing),
    way=st.sampled_from(("free-response group", "require_mention off", "both")),
)
def where_no_mention_is_needed_all_is_dispatched(adapter: Adapter, scene: Scene, way: str) -> None:
    """In a group where every message is for the bot none may be withheld from it as mere context."""
    event, settings = scene
    settings = {
        **settings,
        "require_mention": way == "free-response group",
        "free_response_chats": [] if way == "require_mention off" else [event["chat"]["id"]],
    }
    reached(way)
    if not _is_addressed(event):
        reached("not addressed")
    _expect_dispatch(adapter, Scene(event, settings), f"no mention is needed ({way})")


_own = st.just(BOT["id"])


@check("GATE-7", calls=("gate",), examples=60)
@given(
    event=ev.events(
        chat=st.one_of(ev.chats(), ev.chats(), ev.chats("direct")),
        sender=st.one_of(ev.senders(id=_own, is_bot=True), ev.senders(id=_own, is_bot=False)),
    ),
    settings=_often_observing,
    free=st.booleans(),
)
def the_bots_own_messages_are_ignored(adapter: Adapter, event: Event, settings: Settings, free: bool) -> None:
    """What the bot wrote itself comes back from many platforms; it is neither a request nor news."""
    settings = ev.admit(event, settings)
    if free:
        settings["free_response_chats"] = [event["chat"]["id"]]
    if free or not settings["require_mention"]:
        reached("where no mention is needed")
    if f"@{BOT['handle']}" in ev.said(event).casefold():
        reached("names itself")
    action = adapter.gate(event, settings)["action"]
    got = f"{action} for a message by sender id {BOT['id']}, the bot's own"
    expect(action == "ignore", f"{action}-of-its-own-message", expected="ignore", got=got)


@check("GATE-8", calls=("gate",), examples=60)
@given(
    event=ev.events(chat=st.one_of(ev.chats("broadcast"), ev.chats("status"), ev.chats("newsletter"))),
    settings=_often_observing,
    listed=st.booleans(),
)
def one_way_publications_are_ignored(adapter: Adapter, event: Event, settings: Settings, listed: bool) -> None:
    """Nobody talks to the bot in a broadcast, a status post or a newsletter, whatever the lists say."""
    kind = event["chat"]["kind"]
    reached(kind)
    if _is_addressed(event):
        reached("addressed")
    if listed:
        settings = {**ev.admit(event, settings), "free_response_chats": [event["chat"]["id"]]}
    action = adapter.gate(event, settings)["action"]
    expect(
        action == "ignore", f"{action}-of-a-publication", expected="ignore", got=f"{action} in a chat of kind {kind}"
    )


# -- GATE-9, GATE-10 -------------------------------------------------------------------------------------------------

_ALONE_BEFORE = (
    "",
    "hi ",
    "(",
    "[",
    '"',
    "'",
    "!",
    ",",
    ":",
    "*",
    "请",
    "お願い",
    "，",
    "😀",
    "\n",
    "\u3000",
    "- ",
    ". ",
)
_ALONE_AFTER = ("", " ok", "!", "?", ",", ":", ")", "]", '"', "'s turn", "看看", "さん", "，", "😀", "\n", "\u3000")
_DOTS_AFTER = (".", "...", ". Next", ".)", "-", " -x", "- yes", "-, yes", ".\n", "-看")
_WORD_BEFORE = ("me", "mail bob", "x7", "_", "(me")
_WORD_AFTER = ("ty", "s", "2", "_", "_two", "_bot")
_MARK_BEFORE = ("-", ".", "a.", "hi-")
_MARK_AFTER = ("-two", "-2", "-_", ".dev", ".example.org", ".7", "-two.dev")


_alone = st.tuples(st.sampled_from(_ALONE_BEFORE), ev.handles(), st.sampled_from(_ALONE_AFTER + _DOTS_AFTER)).map(
    "".join
)


def _part_of_more(before: tuple[str, ...], after: tuple[str, ...]) -> SearchStrategy[str]:
    """The handle, with something at its front or at its end that makes it a part of something longer."""
    return st.one_of(
        st.tuples(st.sampled_from(before), ev.handles(), st.sampled_from(_ALONE_AFTER)).map("".join),
        st.tuples(st.sampled_from(_ALONE_BEFORE), ev.handles(), st.sampled_from(after)).map("".join),
    )


_in_a_word = _part_of_more(_WORD_BEFORE, _WORD_AFTER)
_beside_a_mark = _part_of_more(_MARK_BEFORE, _MARK_AFTER)


@check("GATE-9", calls=("gate",), after=("GATE-2",))
@given(scene=ev.plain_scenes(ev.plain(_alone)))
def a_handle_that_stands_alone_is_found(adapter: Adapter, scene: Scene) -> None:
    """The handle counts beside punctuation, emoji and scripts without blanks, in capitals or not."""
    before, _, after = ev.said(scene.event).casefold().partition(f"@{BOT['handle']}")
    if before and not before[-1].isspace() and after and not after[0].isspace():
        reached("beside text without blanks")
    if after[:1] in ("-", "."):
        reached("beside a dot or hyphen")
    _expect_dispatch(adapter, scene, f"@{BOT['handle']} stands alone")


@check("GATE-9", calls=("gate",))
@given(scene=ev.plain_scenes(ev.plain(_in_a_word)))
def a_longer_handle_is_not_the_bots(adapter: Adapter, scene: Scene) -> None:
    """A handle, a name or an address of which the bot's handle is only a part is somebody else's."""
    before, _, after = ev.said(scene.event).casefold().partition(f"@{BOT['handle']}")
    if before.endswith(_WORD_BEFORE):
        reached("longer at the front")
    if after in _WORD_AFTER:
        reached("longer at the end")
    _expect_not_addressed(adapter, scene, f"@{BOT['handle']} is only a part of what stands there")


@check("GATE-9", calls=("gate",), examples=50)
@given(scene=ev.plain_scenes(ev.plain(_beside_a_mark)))
def a_handle_with_hyphens_or_dots_is_one_handle(adapter: Adapter, scene: Scene) -> None:
    """Hyphens and dots belong to handles and addresses: `@kit-two` and `@kit.dev` are others than `@kit`."""
    _expect_not_addressed(adapter, scene, f"@{BOT['handle']} is only a part of what stands there")


@check("GATE-9", calls=("gate",), after=("GATE-2",), examples=50)
@given(
    scene=ev.plain_scenes(
        ev.plain(
            st.lists(_in_a_word | _beside_a_mark, min_size=1, max_size=3).map(
                lambda parts: f"{' '.join(parts)} @{BOT['handle']} ok"
            )
        )
    )
)
def a_later_place_counts_as_well(adapter: Adapter, scene: Scene) -> None:
    """A longer handle earlier in the text does not hide the bot's own handle after it."""
    _expect_dispatch(adapter, scene, f"the last @{BOT['handle']} stands alone")


_talking_about = st.sampled_from(
    (
        "`@kit_bot` is the bot",
        "see https://chat.example/@kit_bot ok",
        "he said '@kit_bot is it up?'",
        "ask @kit_bot maybe",
    )
)


@check("GATE-10", calls=("gate",), examples=50)
@given(
    scene=ev.plain_scenes(
        st.builds(
            ev.marked,
            st.one_of(st.just(""), texts.words()),
            st.just("@ana_k"),
            _talking_about,
            texts.ids(),
            st.sampled_from(("id", "span", "both")),
        )
    )
)
def where_others_are_mentioned_the_text_does_not_decide(adapter: Adapter, scene: Scene) -> None:
    """Where the platform marked a mention of somebody else, an unmarked handle of the bot is talk about the bot."""
    _expect_not_addressed(adapter, scene, "the only structural mention is of somebody else")


_shown_of_another = st.one_of(ev.handles(), st.sampled_from(("\ufffc", "@\ufffc")))


@check("GATE-10", calls=("gate",), examples=40)
@given(
    scene=ev.plain_scenes(
        st.builds(ev.marked, texts.words(), _shown_of_another, texts.words(), texts.ids(), st.just("both"))
    )
)
def the_id_of_a_mention_decides(adapter: Adapter, scene: Scene) -> None:
    """A structural mention of another id is not ours, even when its text reads like the bot's handle or like nothing.

    Some platforms put a placeholder in the place of every mention.
    """
    reached("a placeholder" if "\ufffc" in ev.said(scene.event) else "the bot's handle")
    _expect_not_addressed(adapter, scene, "the mention is of another id")


@check("GATE-10", calls=("gate",), examples=40)
@given(
    scene=ev.plain_scenes(
        st.builds(ev.marked, texts.words(), st.just("@kit_bot_two"), texts.words(), texts.ids(), st.just("span"))
    )
)
def the_span_of_a_mention_decides(adapter: Adapter, scene: Scene) -> None:
    """A structural mention whose span holds a longer handle is not ours."""
    _expect_not_addressed(adapter, scene, "the span holds another handle")


@check("GATE-10", calls=("gate",), examples=60)
@given(scene=ev.plain_scenes(st.one_of(ev.by_handle(), ev.plain(_in_a_word), ev.plain())))
def an_empty_list_of_mentions_counts_as_none(adapter: Adapter, scene: Scene) -> None:
    """With an empty list of mentions the text decides, exactly as it does where the platform gives none."""
    event, settings = scene
    without = adapter.gate({**event, "mentions": None}, settings)["action"]
    empty = adapter.gate({**event, "mentions": []}, settings)["action"]
    reached(without)
    got = f"{empty} for {_text(scene)}"
    expect(empty == without, "differs-from-null", expected=f"{without}, as with mentions null", got=got)


@st.composite
def _beside_a_person(draw: st.DrawFn) -> Body:
    """A person is mentioned structurally, and the message answers the bot or matches a pattern."""
    answers = draw(st.booleans())
    words = "yes" if answers else draw(st.sampled_from((ev.CALLS[0], ev.CALLS[2])))
    made = ev.marked("", "@ana_k", words, "1002", draw(st.sampled_from(("id", "span", "both"))))
    return {**made, "reply_to": {"id": "5", "sender_id": BOT["id"], "text": "ok?"} if answers else None}


@check("GATE-10", calls=("gate",), after=("GATE-2",))
@given(scene=ev.plain_scenes(_beside_a_person()))
def a_mention_of_a_person_hides_no_reply_or_pattern(adapter: Adapter, scene: Scene) -> None:
    """Replies and patterns are no mentions: they count as before when the message also mentions a person."""
    why = "it answers the bot" if scene.event["reply_to"] else "a mention pattern matches"
    reached(why)
    _expect_dispatch(adapter, scene, why)


# -- GATE-11, GATE-12 ------------------------------------------------------------------------------------------------

_INVALID = ("(oops", "[a-", "*kit", "kit)", "+", "(?P<n", "[z-a]", "kit\\")
"""No dialect of regular expressions takes them."""


@check("GATE-11", calls=("gate",), after=("GATE-2",))
@given(
    scene=ev.plain_scenes(st.just(ev.body("hello"))),
    case=st.sampled_from(
        (
            ("hey kit", "HEY KIT, news?"),
            ("HEY KIT", "hey kit, news?"),
            ("Hey Kit", "well, heY kIT!"),
            ("^kit[:,]", "Kit: news?"),
            ("[a-f]+ kit", "ABC KIT"),
            ("привет кит", "Привет Кит!"),
        )
    ),
    caption=st.booleans(),
)
def patterns_ignore_case(adapter: Adapter, scene: Scene, case: tuple[str, str], caption: bool) -> None:
    """A wake word counts in capitals, in small letters and in both, in the pattern as in the text."""
    pattern, text = case
    event: Event = {**scene.event, "text": "" if caption else text, "caption": text if caption else None}
    settings: Settings = {**scene.settings, "mention_patterns": [pattern]}
    _expect_dispatch(adapter, Scene(event, settings), f"the pattern {pattern} matches")


@check("GATE-11", calls=("gate",), after=("GATE-2",), examples=60)
@given(
    scene=ev.plain_scenes(st.one_of(ev.by_pattern(), ev.plain(texts.words()))),
    broken=st.lists(st.sampled_from(_INVALID), min_size=1, max_size=3, unique=True),
    first=st.booleans(),
)
def an_invalid_pattern_is_skipped(adapter: Adapter, scene: Scene, broken: list[str], first: bool) -> None:
    """One lost bracket in one pattern neither raises nor switches the other patterns off, wherever it stands."""
    event, settings = scene
    patterns = [*broken, *ev.PATTERNS] if first else [*ev.PATTERNS, *broken]
    scene = Scene(event, {**settings, "mention_patterns": patterns})
    with adapter.must_not_raise("raised", expected=f"no exception with the pattern {broken[0]}"):
        action = _action(adapter, scene)
    matches = event["text"] in ev.CALLS
    reached("a valid pattern matches" if matches else "no pattern matches")
    if matches:
        expect(action == "dispatch", "others-skipped", expected="dispatch: a valid pattern matches", got=action)
    else:
        expect(action != "dispatch", "matches-all", expected="no dispatch: no valid pattern matches", got=action)


_SIZE = 10_000
_HOSTILE = (
    ("(a+)+$", "a" * (_SIZE - 1) + "!"),
    ("^(a|a)*$", "a" * (_SIZE - 1) + "!"),
    ("(.*a){25}b", "a" * _SIZE),
    ("^(([a-z])+.)+[A-Z]([a-z])+$", "a" * _SIZE),
    (r"(\w+\s?)+:", "hello " * (_SIZE // 6)),
    ("(x+x+)+y", "x" * _SIZE),
    ("(a*)*b", "a" * _SIZE),
    ("(a|b|ab)*c", "ab" * (_SIZE // 2)),
    ("(?:a?){40}a{40}b", "a" * _SIZE),
    ("(a{1,90}){1,90}b", "a" * _SIZE),
    ("a*a*a*a*a*b", "a" * _SIZE),
    ("aa*a*b", "a" * _SIZE),
    (".*.*.*=.*", "x" * _SIZE),
    (".*,.*,.*,.*,.*!", "," * _SIZE),
    (r"\d+\d+\d+x", "7" * _SIZE),
    (r"\s*kit\s*\s*\s*!", f"kit{' ' * (_SIZE - 3)}"),
    (r"^\w*[a-z]*[^0-9]*\w*!", "k" * _SIZE),
    ("(?=(a+)+$)kit", "a" * (_SIZE - 1) + "!"),
    ("([Kk]|k)*it", "k" * _SIZE),
    ("(kit|ki|k|i|t)+!", "kit" * (_SIZE // 3)),
    ("aa*a*b^", "a" * _SIZE),
    ("a?a*a*a*b", "a" * _SIZE),
    ("(?=a)a*a*a*b", "a" * _SIZE),
    ("(?:x*)(?=x*y)", "x" * _SIZE),
    ("((a)a*){1,90}b", "a" * _SIZE),
    ("![^x1]*[^y1]*[^z1]*w", "!" * _SIZE),
    ("[a-z]*[b-y]*[c-x]*!", "m" * _SIZE),
    ("[a-z]*a[a-z]*a[a-z]*a!", "a" * _SIZE),
    ("hey kit", f"@{BOT['handle']}\u200d" + "\u200d" * (_SIZE - 10) + "x"),
    ("hey kit", "@" * _SIZE),
    ("hey kit", f"@{BOT['handle']}-" * (_SIZE // 9) + "x"),
)


@check("GATE-12", calls=("gate",))
def hostile_patterns_and_texts_do_not_stall(adapter: Adapter) -> None:
    """A decision on 10,000 characters takes under a second, though the pattern invites an exponential search."""
    adapter.gate(*ev.plain_scene(ev.body("hello")))  # whatever is done once is done now
    for number, (pattern, text) in enumerate(_HOSTILE, start=1):
        scene = ev.plain_scene(ev.body(text), id=str(number))
        settings: Settings = {**scene.settings, "mention_patterns": [pattern]}
        adapter.begin_example()
        with adapter.within(1.0, "too-slow", expected=f"a decision within a second with the pattern {pattern}"):
            adapter.gate(scene.event, settings)


# -- GATE-13 to GATE-15 ----------------------------------------------------------------------------------------------


@check("GATE-13", calls=("gate",), examples=60)
@given(scene=ev.plain_scenes(ev.naming_another_bot(implied=st.just(True))))
def a_message_that_names_another_bot_is_not_dispatched(adapter: Adapter, scene: Scene) -> None:
    """A message that names another bot and not this one is for that one, though it answers ours or says a wake word."""
    reached("a reply to the bot" if scene.event["reply_to"] else "a pattern matches")
    _expect_not_addressed(adapter, scene, "another bot is named, this one is not")


@check("GATE-13", calls=("gate",), after=("GATE-1",), examples=60)
@given(scene=ev.plain_scenes(ev.naming_another_bot()))
def a_message_that_names_another_bot_is_observed(adapter: Adapter, scene: Scene) -> None:
    """What is said to another bot of an observed group is part of what was said there."""
    action = _action(adapter, scene)
    expect(action == "observe", "not-observed", expected="observe", got=f"{action} for {_text(scene)}")


@check("GATE-13", calls=("gate",), after=("GATE-2",), examples=40)
@given(scene=ev.plain_scenes(ev.naming_another_bot(ours_too=True)))
def a_message_that_names_both_bots_is_for_both(adapter: Adapter, scene: Scene) -> None:
    """Another bot's name does not cancel ours."""
    _expect_dispatch(adapter, scene, "this bot is named too")


def _cases() -> list[Scene]:
    """Messages of every kind in one chat, under settings that differ: what one leaves behind, another would meet."""
    ana: Sender = {"id": "1001", "name": "Ana", "is_bot": False}
    bodies: tuple[tuple[Body, Sender], ...] = (
        (ev.body("hello"), ana),
        (ev.body("hello @kit_bot"), ana),
        (ev.body("hello", mentions=[{"id": BOT["id"]}]), ana),
        (ev.body("hello", reply_to={"id": "5", "sender_id": BOT["id"], "text": "ok?"}), ana),
        (ev.body(ev.CALLS[0]), ana),
        (ev.body("hello"), {**ana, "id": BOT["id"]}),
        (ev.body("hello"), {**ana, "id": "1002", "name": "Ben"}),
    )
    common = ev.plain_settings()
    configured: tuple[Settings, ...] = (
        common,
        {**common, "observe": False},
        {**common, "allowed_chats": []},
        {**common, "require_mention": False},
        {**common, "mention_patterns": []},
        {**common, "bot": {"id": "9009", "handle": "new_bot"}},
    )
    return [
        Scene(ev.plain_scene(said, sender, str(number)).event, settings)
        for number, (said, sender) in enumerate(bodies, start=1)
        for settings in configured
        if settings is common or number <= 2
    ]


# Nothing is drawn here: an adapter with a memory answers an example differently when it is repeated to shrink it.
@check("GATE-14", calls=("gate",))
def the_decision_depends_on_nothing_else(adapter: Adapter) -> None:
    """The same message under the same settings gets the same answer, whatever was asked in between."""
    cases = _cases()
    for case in cases:
        for other in cases:
            adapter.begin_example()
            first, _, again = (_action(adapter, scene) for scene in (case, other, case))
            expect(again == first, "changes-its-mind", expected=f"{first}, as the first time", got=again)


_IDENTITIES: tuple[Bot, ...] = (BOT, {"id": "9009", "handle": "new_bot"}, BOT)


# Nothing is drawn here either.
@check("GATE-14", calls=("gate",), after=("GATE-2",))
def who_the_bot_is_stands_in_the_settings(adapter: Adapter) -> None:
    """The bot is the one that the settings of this call name, whichever one those of an earlier call named."""
    for number, bot in enumerate(_IDENTITIES, start=1):
        for other in _IDENTITIES[:2]:
            for said in (
                ev.body("hello", mentions=[{"id": other["id"]}]),
                ev.body(f"hello @{other['handle']}"),
                ev.body("hello", reply_to={"id": "5", "sender_id": other["id"], "text": "ok?"}),
            ):
                event, settings = ev.plain_scene(said, id=str(number))
                adapter.begin_example()
                action = _action(adapter, Scene(event, {**settings, "bot": bot}))
                ours = other == bot
                expect(
                    (action == "dispatch") is ours,
                    "another-identity",
                    expected=f"{'dispatch' if ours else 'no dispatch'}: the bot is {bot['handle']}, "
                    f"the message is for {other['handle']}",
                    got=action,
                )


@check("GATE-14", calls=("gate",), examples=40)
@given(scene=ev.scenes(configured=ev.settings()))
def event_and_settings_are_left_as_they_were(adapter: Adapter, scene: Scene) -> None:
    """Whoever comes after the gate finds the event and the settings unchanged."""
    adapter.gate(*scene)
    expect(not adapter.calls[-1].changed_input, "input-changed", expected="unchanged arguments", got="changed ones")


_quoting = st.builds(
    lambda said, reply: ev.body(said["text"], caption=said["caption"], media=said["media"], reply_to=reply),
    st.one_of(ev.plain(), ev.captioned(ev.plain())),
    ev.replies(text=st.one_of(ev.by_handle().map(lambda quoted: quoted["text"]), st.sampled_from(ev.CALLS))),
)
"""An answer to somebody else whose quotation, and nothing else, names the bot."""


@check("GATE-15", calls=("gate",))
@given(scene=ev.plain_scenes(_quoting))
def a_quoted_mention_is_no_mention(adapter: Adapter, scene: Scene) -> None:
    """An answer to somebody else quotes what was said to the bot before; it says nothing to the bot itself."""
    quoted = scene.event["reply_to"]["text"] if scene.event["reply_to"] else ""
    reached("a pattern in the quotation" if quoted in ev.CALLS else "a handle in the quotation")
    _expect_not_addressed(adapter, scene, f"only the quotation {quote(quoted)} names the bot")


# -- GATE-16 to GATE-18 ----------------------------------------------------------------------------------------------


@check("GATE-16", calls=("gate",), after=("GATE-2",))
@given(
    scene=ev.plain_scenes(
        st.one_of(ev.captioned(ev.by_mention()), ev.captioned(ev.by_handle()), ev.captioned(ev.by_pattern()))
    )
)
def a_caption_addresses_like_a_text(adapter: Adapter, scene: Scene) -> None:
    """A photo with the bot's name under it is a question to the bot."""
    event = scene.event
    reached("a structural mention" if event["mentions"] else "a pattern" if ev.said(event) in ev.CALLS else "a handle")
    _expect_dispatch(adapter, scene, "the caption addresses the bot")


_rare = st.lists(st.sampled_from((*texts.ASTRAL, "ok ", "请")), min_size=1, max_size=6).map("".join).map("😀{} ".format)


@check("GATE-17", calls=("gate",), after=("GATE-2",), examples=60)
@given(
    scene=ev.plain_scenes(
        st.one_of(ev.by_mention(st.just("span"), _rare), ev.captioned(ev.by_mention(st.just("span"), _rare)))
    )
)
def a_mention_after_rare_characters_is_found(adapter: Adapter, scene: Scene) -> None:
    """Emoji and rare characters count two UTF-16 units each; before a mention they do not move it."""
    reached("in a text" if scene.event["caption"] is None else "in a caption")
    _expect_dispatch(adapter, scene, "the span, counted in UTF-16, holds the bot's handle")


def _shifted(rare: str, count: int) -> Body:
    """The span is Ana's; counted in code points it would be the bot's."""
    ana = "@ana_lee"
    text = f"{rare * count}{ana}{' ' * (count - len(ana))}@{BOT['handle']}"
    return ev.body(text, mentions=[{"offset": 2 * count, "length": len(ana)}])


@check("GATE-17", calls=("gate",))
@given(scene=ev.plain_scenes(st.builds(_shifted, st.sampled_from(("😀", "𠮷", "🚲")), st.integers(9, 14))))
def a_span_is_not_counted_in_code_points(adapter: Adapter, scene: Scene) -> None:
    """A mention of somebody else stays one, though its span counted in code points would hold the bot's handle."""
    _expect_not_addressed(adapter, scene, "the span, counted in UTF-16, holds @ana_lee")


def _by_a_bot(bodies: SearchStrategy[Body]) -> SearchStrategy[Scene]:
    known = st.sampled_from([bot["id"] for bot in ev.OTHER_BOTS])
    return ev.plain_scenes(bodies, ev.senders(id=st.one_of(texts.ids(), known), is_bot=True))


@check("GATE-18", calls=("gate",), examples=60)
@given(scene=_by_a_bot(st.one_of(ev.by_reply(), ev.by_pattern())))
def a_bot_does_not_address_by_implication(adapter: Adapter, scene: Scene) -> None:
    """A reply or a wake word of another bot is no request: two bots would answer each other for ever."""
    reached("a reply to the bot" if scene.event["reply_to"] else "a pattern matches")
    action = _action(adapter, scene)
    slug = "dispatched" if action == "dispatch" else "not-observed"
    expect(
        action == "observe",
        slug,
        expected="observe: a bot wrote it and mentions nobody",
        got=f"{action} for {_text(scene)}",
    )


@check("GATE-18", calls=("gate",), after=("GATE-1",), examples=60)
@given(scene=_by_a_bot(ev.unaddressed()))
def a_bot_is_observed_like_anybody_else(adapter: Adapter, scene: Scene) -> None:
    """What another bot says in an observed group, to nobody in particular, is part of what was said there."""
    action = _action(adapter, scene)
    expect(action == "observe", "not-observed", expected="observe", got=f"{action} for {_text(scene)}")
