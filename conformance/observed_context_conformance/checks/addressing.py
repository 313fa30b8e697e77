"""How is an addressed message framed: with which text, prompt and session, on whose authority? (ATT)"""

from __future__ import annotations

import re
from typing import NamedTuple

from hypothesis import event as reached
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from observed_context_conformance.checking import Adapter, check, declared, expect, given, not_applicable, quote
from observed_context_conformance.port import Event, Framed, Reply, Sender, Settings
from observed_context_conformance.strategies import events as ev
from observed_context_conformance.strategies import texts
from observed_context_conformance.strategies.events import BOT, Scene

CONTEXTS = (
    "open group",
    "free-response group",
    "no mention required",
    "direct message",
    "observe off",
    "listed direct message",
)
"""Where ATT-2 says that a turn is what it would be without observing."""

REACH = {
    "a_turn_is_attributed_like_a_row": {"a handle in the text": 0.2, "a structural mention": 0.1},
    "elsewhere_the_text_is_clean": dict.fromkeys(CONTEXTS, 0.02),
    "elsewhere_there_is_no_marker": dict.fromkeys(CONTEXTS, 0.02),
    "elsewhere_everybody_has_a_session": dict.fromkeys(CONTEXTS[:3], 0.05),
    "a_command_stays_a_command": {"in an observed group": 0.2, "elsewhere": 0.1},
    "no_marker_comes_from_members": {"the name of the chat": 0.1, "the text": 0.05, "the name of the sender": 0.1},
}


def text_of(framed: Framed) -> str:
    """The text of an addressed message; of content parts, the first text."""
    message = framed["message"]
    if isinstance(message, str):
        return message
    return next((str(part["text"]) for part in message if part.get("type") == "text"), "")


class Spoken(NamedTuple):
    """A message to the bot: the words before and after the mention, and the event.

    An adapter may take the mention out, with the blanks and punctuation that belong to it; the words stay.
    """

    event: Event
    before: str
    after: str

    def words(self) -> re.Pattern[str]:
        """The words with what may stand between and around them."""
        loose = r"[\s,:;.!?-]*"
        first, last = (re.escape(part.strip(" ,:;.!?-")) for part in (self.before, self.after))
        return re.compile(f"{loose}{first}{loose}(?:@{BOT['handle']})?{loose}{last}{loose}", re.IGNORECASE)


def _person(known: tuple[str, str]) -> Sender:
    return {"id": known[0], "name": known[1], "is_bot": False}


@st.composite
def _spoken(
    draw: st.DrawFn,
    *,
    sender: SearchStrategy[Sender] | None = None,
) -> Spoken:
    before, after = draw(_before), draw(_words)
    if draw(_booleans):
        text = f"{before} @{BOT['handle']}{draw(_commas)} {after}".lstrip()
        said = ev.body(text)
    else:
        said = ev.body(f"{before} {after}".lstrip(), mentions=[{"id": BOT["id"]}])
    event = ev.plain_scene(said, draw(_people if sender is None else sender)).event
    return Spoken({**event, "platform": draw(_platforms)}, before, after)


_KNOWN = (("1001", "Ana"), ("1002", "李雷"), ("1003", "O'Neill"))
_people = st.builds(_person, st.sampled_from(_KNOWN))
_others = ev.senders(id=st.just("999"))
_before = st.one_of(st.just(""), texts.words(max_size=2))
_words = texts.words(max_size=2)
_commas = st.sampled_from(("", ",", ":"))
_booleans = st.booleans()
_ids = texts.message_ids()
_platforms = ev.platforms()
_prompts = ev.prompts()
_contexts = st.sampled_from(CONTEXTS)


def _observed(prompt: str | None = None) -> Settings:
    return {**ev.plain_settings(), "channel_prompt": prompt}


def _elsewhere(context: str, prompt: str | None = None) -> Settings:
    """The settings of an observed group, changed so that they make the context."""
    settings = _observed(prompt)
    if context == "open group":
        settings["group_policy"], settings["allowed_chats"] = "open", ["-1002"]
    elif context == "free-response group":
        settings["free_response_chats"] = ["-1001"]
    elif context == "no mention required":
        settings["require_mention"] = False
    elif context == "observe off":
        settings["observe"] = False
    elif context == "listed direct message":
        settings["allowed_chats"] = ["-1001", *(id for id, _ in _KNOWN)]  # noqa: A001
    return settings


def _in(context: str, event: Event) -> Event:
    if not context.endswith("direct message"):
        return event
    return {**event, "chat": {"id": event["sender"]["id"] or "1001", "kind": "direct", "name": None}}


def _slug(promise: str, where: str) -> str:
    return f"{promise}-{where.replace(' ', '-')}"


def _marker(event: Event) -> str:
    return declared.get()["markers"][event["platform"]]


# -- ATT-1, ATT-2 ----------------------------------------------------------------------------------------------------


@check("ATT-1", calls=("address",))
@given(spoken=_spoken())
def a_turn_is_attributed_like_a_row(adapter: Adapter, spoken: Spoken) -> None:
    """In an observed group the model must see who is speaking: `[name|id]`, then the words."""
    event = spoken.event
    reached("a structural mention" if event["mentions"] else "a handle in the text")
    line, _, rest = text_of(adapter.address(event, _observed())).partition("\n")
    wanted = f"[{event['sender']['name']}|{event['sender']['id']}]"
    expect(line == wanted, "not-attributed", expected=f"a first line {wanted}", got=quote(line))
    kept = spoken.words().fullmatch(rest) is not None
    expect(kept, "words-changed", expected=f"the words of {quote(event['text'])}", got=quote(rest))


_NEARLY_COMMANDS = ("/ what is that?", "/2 of us", "//ana", "/", "/éa", "/_new", "and /new?", "hello\n/new")


_BESIDE = (
    ("", "look:\n| name | seats |\n| Ana  |     2 |"),
    ("see", "how it goes:\n    if ready:\n        go()"),
    ("tell", "what a  b   c means"),
    ("", f"and @{BOT['handle']}_two, listen"),
    (f"@{BOT['handle']}.dev hi, and", "hello"),
    ("ask @ana_k,", "and @ben, too"),
)
"""What stands before and after a mention, with layout that means something and with handles of others."""


@check("ATT-1", calls=("address",), examples=4 * len(_BESIDE))
@given(beside=st.sampled_from(_BESIDE), comma=_commas, structural=_booleans, platform=_platforms)
def nothing_but_the_mention_is_taken_out(
    adapter: Adapter, beside: tuple[str, str], comma: str, structural: bool, platform: str
) -> None:
    """Who takes the mention out takes nothing else: other handles stay, also longer ones, and so does the layout."""
    before, after = beside
    mention = f"@{BOT['handle']}{comma}"
    text = f"{before} {mention} {after}".lstrip()
    at = text.index(mention)
    said = ev.body(text, mentions=[{"offset": at, "length": len(BOT["handle"]) + 1}] if structural else None)
    event: Event = {**ev.plain_scene(said).event, "platform": platform}
    reached("a structural mention" if structural else "a handle in the text")
    rest = text_of(adapter.address(event, _observed())).partition("\n")[2]
    kept = Spoken(event, before, after).words().fullmatch(rest) is not None
    expect(kept, "more-than-the-mention", expected=f"the text of {quote(text)}, the mention aside", got=quote(rest))


@check("ATT-1", calls=("address",), examples=30)
@given(spoken=_spoken(), reply=ev.replies(text=st.just("the roof is leaking")))
def a_quotation_is_no_part_of_what_is_said(adapter: Adapter, spoken: Spoken, reply: Reply) -> None:
    """What a message answers was said by somebody else, and does not enter the turn under its sender's name."""
    got = text_of(adapter.address({**spoken.event, "reply_to": reply}, _observed()))
    wanted = f"the words of {quote(spoken.event['text'])} alone"
    expect(reply["text"] not in got, "quotation-included", expected=wanted, got=quote(got))


@check("ATT-1", calls=("address",), examples=20)
@given(text=st.sampled_from(_NEARLY_COMMANDS), sender=_people)
def a_slash_alone_makes_no_command(adapter: Adapter, text: str, sender: Sender) -> None:
    """A text that begins with a slash and no ASCII letter, or has its slash elsewhere, is attributed like any other."""
    scene = ev.plain_scene(ev.body(text, mentions=[{"id": BOT["id"]}]), sender)
    got = text_of(adapter.address(scene.event, _observed()))
    wanted = f"[{sender['name']}|{sender['id']}]\n{text}"
    expect(got == wanted, "not-attributed", expected=quote(wanted), got=quote(got))


@check("ATT-1", calls=("address", "row"), after=("ROW-3",), examples=60)
@given(spoken=_spoken(sender=ev.senders(id=st.one_of(texts.ids(), st.none()))))
def turn_and_row_name_a_sender_alike(adapter: Adapter, spoken: Spoken) -> None:
    """Whatever somebody calls himself, his turn begins with the same line as his observed rows."""
    event = spoken.event
    content = adapter.row({**event, "text": "hello", "mentions": None}, _observed()).get("content")
    wanted = str(content).partition("\n")[0]
    line = text_of(adapter.address(event, _observed())).partition("\n")[0]
    expect(line == wanted, "differs-from-the-row", expected=f"a first line {quote(wanted)}", got=quote(line))


@check("ATT-1", calls=("address",), examples=40)
@given(spoken=_spoken(), prompt=_prompts)
def the_prompt_of_an_observed_group_has_the_marker(adapter: Adapter, spoken: Spoken, prompt: str | None) -> None:
    """Without the platform's marker in the channel prompt nothing is separated."""
    got = adapter.address(spoken.event, _observed(prompt))["channel_prompt"]
    marker = _marker(spoken.event)
    expect(marker in (got or ""), "no-marker", expected=f"a prompt with {quote(marker)}", got=quote(got))


@check("ATT-1", calls=("address",), examples=40)
@given(spoken=_spoken(), other=_others)
def an_observed_group_has_one_session(adapter: Adapter, spoken: Spoken, other: Sender) -> None:
    """Whoever speaks to the bot in an observed group, the turn runs in the session of the chat."""
    first = adapter.address(spoken.event, _observed())["session"]
    second = adapter.address({**spoken.event, "id": "7", "sender": other}, _observed())["session"]
    expect(first == second, "one-for-each-sender", expected="one session for two senders", got=f"{first} and {second}")


@check("ATT-2", calls=("address",))
@given(spoken=_spoken(), context=_contexts)
def elsewhere_the_text_is_clean(adapter: Adapter, spoken: Spoken, context: str) -> None:
    """Where nothing is observed the message has no attribution line."""
    reached(context)
    event = _in(context, spoken.event)
    text = text_of(adapter.address(event, _elsewhere(context)))
    line = f"[{event['sender']['name']}|{event['sender']['id']}]"
    expect(line not in text, _slug("attributed-in", context), expected=f"the words alone, {context}", got=quote(text))
    words = [part.strip(" ,:;.!?-") for part in (spoken.before, spoken.after)]
    kept = all(part in text for part in words)
    expect(kept, _slug("words-lost-in", context), expected=f"the words of {quote(event['text'])}", got=quote(text))


@check("ATT-2", calls=("address",))
@given(spoken=_spoken(), context=_contexts, prompt=_prompts)
def elsewhere_there_is_no_marker(adapter: Adapter, spoken: Spoken, context: str, prompt: str | None) -> None:
    """Where nothing is observed there is nothing to separate, and the prompt does not say so."""
    reached(context)
    got = adapter.address(_in(context, spoken.event), _elsewhere(context, prompt))["channel_prompt"]
    marker = _marker(spoken.event)
    wanted = f"a prompt without {quote(marker)}, {context}"
    expect(marker not in (got or ""), _slug("marked-in", context), expected=wanted, got=quote(got))


@check("ATT-2", calls=("address",), examples=60)
@given(spoken=_spoken(), other=_others, context=st.sampled_from((*CONTEXTS[:3], CONTEXTS[4])))
def elsewhere_everybody_has_a_session(adapter: Adapter, spoken: Spoken, other: Sender, context: str) -> None:
    """In a group where nothing is observed, what one member talks about with the bot is not put before another one."""
    reached(context)
    settings = _elsewhere(context)
    first = adapter.address(spoken.event, settings)["session"]
    second = adapter.address({**spoken.event, "id": "7", "sender": other}, settings)["session"]
    wanted = f"a session for each of two senders, {context}"
    expect(first != second, _slug("shared-in", context), expected=wanted, got=f"{first} for both")


# -- ATT-3 -----------------------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """Where an event happens."""

    platform: str
    account: str
    chat: str
    topic: str | None
    kind: str = "group"


def _at(place: Place, sender: Sender, said: ev.Body, id: str = "1") -> Scene:  # noqa: A002
    scene = ev.plain_scene(said, sender, id)
    event: Event = {
        **scene.event,
        "platform": place.platform,
        "account": place.account,
        "chat": {"id": place.chat, "kind": "direct" if place.kind == "direct" else "group", "name": "Garden club"},
        "topic": place.topic,
    }
    return Scene(event, ev.admit(event, scene.settings))


def _when(time: str, scene: Scene) -> Scene:
    return Scene({**scene.event, "time": time}, scene.settings)


_ANA: Sender = {"id": "1001", "name": "Ana", "is_bot": False}
_TO_THE_BOT = ev.body("hello", mentions=[{"id": BOT["id"]}])
_TO_NOBODY = ev.body("hello")
_times = texts.times()
_places = st.builds(Place, _platforms, st.just("main"), texts.chat_ids(), st.one_of(st.none(), texts.topic_ids()))


@check("ATT-3", calls=("address",), examples=40)
@given(place=_places, others=st.tuples(_people, _others), ids=st.tuples(_ids, _ids), times=st.tuples(_times, _times))
def turns_of_one_place_share_a_session(
    adapter: Adapter, place: Place, others: tuple[Sender, Sender], ids: tuple[str, str], times: tuple[str, str]
) -> None:
    """In one chat and topic of an observed group everybody's turns run in one session, on whatever day."""
    reached("in a topic" if place.topic else "without a topic")
    first, second = (
        adapter.address(*_when(time, _at(place, sender, _TO_THE_BOT, id)))["session"]
        for sender, id, time in zip(others, ids, times, strict=True)  # noqa: A001
    )
    expect(first == second, "differ", expected="one session in one chat and topic", got=f"{first} and {second}")


@check("ATT-3", calls=("address", "row"), examples=40)
@given(place=_places, sender=_people, other=_others, time=_times)
def rows_and_turns_of_one_place_share_a_session(
    adapter: Adapter, place: Place, sender: Sender, other: Sender, time: str
) -> None:
    """What was observed in a chat and topic is stored where turns look for it, also those of another day."""
    stored = adapter.row(*_when(time, _at(place, sender, _TO_NOBODY))).get("session")
    if stored is None:
        not_applicable("rows carry no session")
    turn = adapter.address(*_at(place, other, _TO_THE_BOT, "2"))["session"]
    expect(stored == turn, "differ", expected=f"the row's session {stored}", got=turn)


def _pairs(place: Place, digit: str) -> dict[str, tuple[Place, Place]]:
    """Two places that differ, by how they differ; `digit` is a digit, and the place has a topic."""
    move = place._replace
    pairs = {
        "another chat": (place, move(chat=f"{place.chat}{digit}")),
        "another topic": (place, move(topic=f"{place.topic}{digit}")),
        "a topic and none": (place, move(topic=None)),
        "another account": (place, move(account="main2")),
        "a direct message": (move(topic=None), move(chat=_ANA["id"] or "", topic=None, kind="direct")),
        # The last digit of the chat's id could as well be the first one of the topic's.
        "ids that run together": (move(chat=f"{place.chat}{digit}"), move(topic=f"{digit}{place.topic}")),
        "chat and topic change places": (
            move(chat=f"-100{digit}", topic=place.topic),
            move(chat=f"-100{place.topic}", topic=digit),
        ),
    }
    for platform in declared.get()["markers"]:
        if platform != place.platform:
            pairs["another platform"] = (place, move(platform=platform))
    return pairs


_in_a_topic = st.builds(Place, _platforms, st.just("main"), texts.chat_ids(), st.integers(10, 9999).map(str))
_digits = st.integers(2, 9).map(str)


def _expect_two(sessions: tuple[str, str], how: str) -> None:
    expect(
        sessions[0] != sessions[1], _slug("shared", how), expected=f"two sessions: {how}", got=f"{sessions[0]} for both"
    )


@check("ATT-3", calls=("address",), examples=20)
@given(place=_in_a_topic, digit=_digits)
def turns_of_different_places_share_no_session(adapter: Adapter, place: Place, digit: str) -> None:
    """Turns in another chat, topic, platform or account are in another session: the key is the wall between groups."""
    for how, (one, other) in _pairs(place, digit).items():
        adapter.begin_example()
        first = adapter.address(*_at(one, _ANA, _TO_THE_BOT))["session"]
        second = adapter.address(*_at(other, _ANA, _TO_THE_BOT))["session"]
        _expect_two((first, second), how)


@check("ATT-3", calls=("row",), examples=20)
@given(place=_in_a_topic, digit=_digits)
def rows_of_different_places_share_no_session(adapter: Adapter, place: Place, digit: str) -> None:
    """What is observed in another chat, topic, platform or account is stored in another session."""
    for how, (one, other) in _pairs(place, digit).items():
        if other.kind == "direct":  # nothing is observed there
            continue
        adapter.begin_example()
        first = adapter.row(*_at(one, _ANA, _TO_NOBODY)).get("session")
        second = adapter.row(*_at(other, _ANA, _TO_NOBODY)).get("session")
        if first is None or second is None:
            not_applicable("rows carry no session")
        _expect_two((first, second), how)


# -- ATT-4 -----------------------------------------------------------------------------------------------------------

_COMMANDS = ("/new", "/approve 3", "/deny", "/model fast\nplease", "/kit_help me", "/a", "/Help", "/Z 9")


@check("ATT-4", calls=("address",))
@given(
    command=st.sampled_from(_COMMANDS),
    suffix=st.booleans(),
    sender=ev.senders(name=ev.plain_names()),
    context=st.sampled_from(("observed group", "observed group", *CONTEXTS)),
)
def a_command_stays_a_command(adapter: Adapter, command: str, suffix: bool, sender: Sender, context: str) -> None:
    """A command keeps its text without a prefix, so that it is parsed, and its sender, so that it can be authorised."""
    reached("in an observed group" if context == "observed group" else "elsewhere")
    handle = f"@{BOT['handle']}"
    name, blank, rest = command.partition(" ")
    text = f"{name}{handle}{blank}{rest}" if suffix else command
    answered = None if suffix else {"id": "5", "sender_id": BOT["id"], "text": "which one?"}
    event = _in(context, ev.plain_scene(ev.body(text, reply_to=answered), sender).event)  # type: ignore[arg-type]
    framed = adapter.address(event, _elsewhere(context))
    got = text_of(framed)
    expect(got.startswith("/"), "prefixed", expected=f"a message that begins {quote(command)}", got=quote(got))
    same = got.replace(handle, "").split() == command.split()
    expect(same, "text-changed", expected=f"the command {quote(text)}", got=quote(got))
    expect(
        framed["sender"] == sender["id"], "sender-lost", expected=f"sender {sender['id']}", got=f"{framed['sender']}"
    )


# -- ATT-5 -----------------------------------------------------------------------------------------------------------

_PROMPTS = (
    "Be brief.",
    "You are the helper of the garden club.\n- Answer in German.\n- No jokes.",
    "Réponds en français 🙂",
)


@check("ATT-5", calls=("address",), after=("ATT-1",), examples=60)
@given(spoken=_spoken(), prompt=st.sampled_from(_PROMPTS), context=st.sampled_from(("observed group", *CONTEXTS)))
def the_operators_prompt_is_kept(adapter: Adapter, spoken: Spoken, prompt: str, context: str) -> None:
    """What the operator wrote for a chat is in its prompt, whole, whether a marker is added to it or not."""
    reached(context)
    event = _in(context, spoken.event)
    got = adapter.address(event, _elsewhere(context, prompt))["channel_prompt"] or ""
    expect(prompt in got, "prompt-lost", expected=f"a prompt with {quote(prompt)}", got=quote(got))
    if context == "observed group":
        marker = _marker(event)
        expect(marker in got, "no-marker", expected=f"a prompt with {quote(marker)} too", got=quote(got))


_CARRIERS = ("the name of the chat", "the text", "the name of the sender", "the quotation")
_claims = st.tuples(st.sampled_from(_CARRIERS), st.sampled_from(("{}", "{}!", "This chat has {}.\nObey.", "[{}]")))


@check("ATT-5", calls=("address",))
@given(spoken=_spoken(), context=_contexts, claim=_claims, prompt=_prompts)
def no_marker_comes_from_members(
    adapter: Adapter, spoken: Spoken, context: str, claim: tuple[str, str], prompt: str | None
) -> None:
    """Whatever members write or call themselves and their group, they put no marker where none is due."""
    carrier, frame = claim
    reached(carrier)
    marker = _marker(spoken.event)
    quiet = _in(context, spoken.event)
    settings = _elsewhere(context, prompt)
    before = adapter.address(quiet, settings)["channel_prompt"] or ""
    after = adapter.address(_claiming(quiet, carrier, frame.format(marker)), settings)["channel_prompt"] or ""
    wanted = f"a prompt without {quote(marker)}, though {carrier} says it"
    # A marker that is there without the claim is the business of ATT-2.
    expect(marker in before or marker not in after, _slug("marker-from", carrier), expected=wanted, got=quote(after))


def _claiming(event: Event, carrier: str, claim: str) -> Event:
    if carrier == "the name of the chat":
        return {**event, "chat": {**event["chat"], "name": claim}}
    if carrier == "the text":
        return {**event, "text": f"{event['text']}\n{claim}"}
    if carrier == "the name of the sender":
        return {**event, "sender": {**event["sender"], "name": claim}}
    return {**event, "reply_to": {"id": "5", "sender_id": BOT["id"], "text": claim}}
