"""The kit's own ledger of a gateway: carries out the steps of a history, keeps what was said and what the model saw."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from observed_context_conformance.environment import (
    FAILURES,
    Behaviour,
    GatewayEnvironment,
    ModelFailure,
    fails_once,
    flat,
    fresh_storage,
)
from observed_context_conformance.environment.gateway import Written
from observed_context_conformance.hosted import Delivery, Hit
from observed_context_conformance.payloads import Payload, dumped, taken_apart, text_of
from observed_context_conformance.port import Event, Mention, Message, Prompt, Reply, Row, Settings
from observed_context_conformance.strategies.events import BOT
from observed_context_conformance.strategies.histories import (
    ANA,
    GROUP,
    OTHER_GROUP,
    PEOPLE,
    Again,
    Ask,
    AskWhile,
    BreakWrite,
    Burst,
    Person,
    Place,
    Restart,
    Say,
    Step,
    Summarising,
    Way,
    configured,
)
from observed_context_conformance.subject import Adapter, AdapterCrashed, Violation

LONG = 900
"""Characters of a long message."""

GIVES_UP = 12
"""How often the model fails where a turn is to fail: more often than anybody asks again."""

COMMON = "lunch"
"""A word that every observed message holds."""

_FILLER = "and then they talk about lunch and nothing else, "
_ANIMALS = (
    *("otter", "falcon", "heron", "badger", "lynx", "puffin", "walrus", "gecko", "raven", "bison", "magpie", "newt"),
    *("sparrow", "turtle", "moose", "stork", "weasel", "camel", "lobster", "tapir", "robin", "jackal", "finch", "mole"),
    *("pelican", "hyena", "squid", "ferret", "quail", "zebra", "donkey", "iguana", "swift", "hornet", "perch", "yak"),
)
_TOKEN = re.compile(r"[a-z]+\d\d")
_SUMMARY = "Summary by scribe"
_NUMBER = re.compile(r"\d[\d,]*")
_DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass
class Said:
    """A message that was written.

    Attributes:
        token: a word of its own; it is in this message and in no other text.
        event: as the platform delivers it.
        place: where it was written.
        addressed: it is for the bot.
        dealt_with: `receive` has come back for it; a message for which it never did may be lost or not.
    """

    token: str
    event: Event
    place: Place
    addressed: bool
    dealt_with: bool = False


@dataclass
class Turn:
    """What came of a message that is for the bot.

    Attributes:
        said: the message.
        requests: the payloads in which it is the addressed message.
        payloads: the same, taken apart.
        waits: `receive` did not come back, because the kit held something up.
    """

    said: Said
    requests: list[list[Message]]
    payloads: list[Payload]
    waits: bool = False

    @property
    def first(self) -> Payload:
        """The first request.

        Raises:
            Violation: there is none.
        """
        if not self.payloads:
            raise Violation("model-not-asked", expected=f"a turn for {self.said.token}", got="no request to the model")
        return self.payloads[0]

    @property
    def block(self) -> str:
        """The block of the first request; empty when there is none."""
        return self.first.block or ""

    @property
    def everything(self) -> str:
        """The whole first request, to look for tokens in."""
        self.first  # noqa: B018 - raises when there is none
        return dumped(self.requests[0])

    @property
    def history(self) -> str:
        """The messages before the current one."""
        return dumped(self.first.history)


class Chronicle:
    """A gateway, and all that happens to it.

    Attributes:
        environment: the world around it.
        gateway: the proxy of the gateway that runs now.
        said: the messages so far, in order of arrival.
        under_way: messages that were delivered while the kit held something up.
    """

    def __init__(
        self,
        adapter: Adapter,
        storage: str,
        *,
        platform: str | None = None,
        limits: dict[str, int] | None = None,
        ids_for_each_chat: bool = False,
    ) -> None:
        self._adapter = adapter
        self._platform = platform or min(adapter.description["markers"])
        self._ids_for_each_chat = ids_for_each_chat
        self._ids: dict[str, int] = defaultdict(int)
        self._texts: dict[str, str] = {}
        self.environment = _World(storage, {} if limits is None else configured(limits))
        self.environment.overhear(self._tell_request, self._tell_summary)
        self.gateway = adapter.gateway(_settings(), self.environment)
        self.said: list[Said] = []
        self.under_way: list[tuple[Said, Delivery]] = []

    # -- steps ----------------------------------------------------------------------------------------------------

    def do(self, step: Step) -> Turn | None:
        """Carry out a step; the turn, when it is one."""
        match step:
            case Say():
                self.say(step.place, step.who, long=step.long, time=step.time)
            case Burst():
                self.burst(step.place, step.count)
            case Ask():
                return self.ask(step.place, step.who, step.way)
            case AskWhile():
                return self.ask_while(step)
            case Again():
                earlier = [said for said in self.said if said.dealt_with]
                if step.back < len(earlier):
                    self.again(earlier[-1 - step.back])
            case Restart():
                self.restart(killed=step.killed)
            case Summarising():
                self.summarising(step)
            case BreakWrite():
                self.break_writes(step.what)
        return None

    def say(self, place: Place, who: Person, *, long: bool = False, time: str | None = None) -> Said:
        """Somebody writes something that is not for the bot."""
        said = self.write(place, who, long=long, time=time)
        dated = f" (dated {time})" if time else ""
        self.tell(f"{who.called} writes to {place.called}{dated}: {self._shown(said)}")
        self._deliver(said)
        return said

    def burst(self, place: Place, count: int) -> list[Said]:
        """Long messages are written, by different people in turn."""
        burst = [self.write(place, PEOPLE[index % len(PEOPLE)], long=True) for index in range(count)]
        self.tell(f"{count} messages of {LONG} characters are written to {place.called}: {tokens(burst)}")
        for said in burst:
            self._deliver(said)
        return burst

    def ask(self, place: Place, who: Person, way: Way = "mention") -> Turn:
        """Somebody addresses the bot; while the summariser is held up, only as long as that takes without it."""
        said = self.request(place, who, way)
        self.tell(f"{self._author(said)} asks the bot in {place.called}: {self._shown(said)}")
        return self.take(said)

    def take(self, said: Said) -> Turn:
        """Deliver a message that is for the bot, and see what the model was sent."""
        self._deliver(said)
        turn = self.turn_of(said)
        if not turn.requests:
            self.tell("the model is sent nothing")
        return turn

    def ask_while(self, step: AskWhile) -> Turn:
        """Somebody addresses the bot, things are said while it answers, and then the turn ends one way or another."""
        said = self.request(step.ask.place, step.ask.who, step.ask.way)
        self.environment.stall_model()
        self.tell(f"{self._author(said)} asks the bot in {said.place.called}: {self._shown(said)}")
        self._begin(said)
        self.tell("the model does not answer yet")
        for other in step.meanwhile:
            self.do(other)
        if step.ending == "is killed":
            self.restart(killed=True)
        else:
            self.let_answer(fails=step.ending == "fails")
        return self.turn_of(said)

    def let_answer(self, *, fails: bool = False) -> None:
        """The model answers those who wait, or fails, and whatever waited for that comes to its end."""
        script = self.environment.models.script
        script[:] = [fails_once()] * (GIVES_UP if fails else 0)
        self.tell("the model fails" if fails else "the model answers")
        self.environment.release_model()
        self.finish()
        script.clear()

    def begin(self, *messages: Said) -> None:
        """Messages are delivered at the same moment, some of them for the bot; what the kit holds up goes on later."""
        for said in messages:
            verb = "asks the bot" if said.addressed else "writes"
            self.tell(f"at the same moment {self._author(said)} {verb} in {said.place.called}: {self._shown(said)}")
        self._begin(*messages)

    def again(self, said: Said) -> None:
        """The platform delivers a message once more."""
        self.tell(f"the platform delivers {said.token} again")
        self._deliver(said)

    def restart(self, *, killed: bool) -> None:
        """The gateway ends, and another one is opened on its storage."""
        self.tell("the gateway is killed and started again" if killed else "the gateway is closed and opened again")
        stalled = self.environment.summariser_stalls
        if killed:
            self.gateway.kill()
            self.under_way.clear()
        else:
            self.environment.release_summariser()
            self.finish()
            self.gateway.shut()
        self.environment.release_model()
        self.environment.release_summariser()
        if stalled:
            self.environment.stall_summariser()
        self.gateway = self._adapter.gateway(_settings(), self.environment)

    def summarising(self, step: Summarising) -> None:
        """The summariser changes what it does."""
        self.environment.release_summariser()
        self.gateway.settle()
        failure = FAILURES[step.failure % len(FAILURES)]
        self.environment.summariser.behaviour = failure if step.how == "fails" else self.environment.summarises
        if step.how == "stalls":
            self.environment.stall_summariser()
        doing = {"answers": "answers", "fails": failure.story, "stalls": "does not come back"}[step.how]
        self.tell(f"from now on the summariser {doing}")

    def break_writes(self, what: Written, times: int = 1) -> None:
        """The next writes of a kind fail."""
        self.tell(f"the next write of a {what} fails" if times == 1 else f"the next {times} writes of a {what} fail")
        for _ in range(times):
            self.environment.fail_write(what)

    def finish(self) -> None:
        """Everything that was delivered comes to its end."""
        while self.under_way:
            said, delivery = self.under_way.pop(0)
            with _model_may_fail():
                self.gateway.finish(delivery)
            said.dealt_with = True

    def retry(self, place: Place) -> list[list[Message]]:
        """The last addressed message is run again; the requests that this makes."""
        self.tell(f"somebody says: retry, in {place.called}")
        asked = len(self.environment.models.payloads)
        self.gateway.retry(place.chat, place.topic)
        return self.environment.models.payloads[asked:]

    def undo(self, place: Place) -> None:
        """The last addressed message is taken back."""
        self.tell(f"somebody says: undo, in {place.called}")
        self.gateway.undo(place.chat, place.topic)

    def internal(self, place: Place, text: str) -> None:
        """A turn runs that nobody has asked for, without a marker in its channel prompt."""
        self.tell(f"an internal turn runs in {place.called}")
        self.gateway.internal(place.chat, place.topic, text)

    # -- messages -------------------------------------------------------------------------------------------------

    def write(self, place: Place, who: Person, *, long: bool = False, time: str | None = None) -> Said:
        """A message that is not for the bot; nothing is delivered."""
        token = self._token()
        text = f"{token} {COMMON}"
        if long:
            text = f"{text} {_FILLER * (LONG // len(_FILLER))}"[: LONG - 1].rstrip() + "."
        return self._said(token, place, who, text, addressed=False, time=time)

    def request(self, place: Place, who: Person, way: Way = "mention") -> Said:
        """A message that is for the bot; nothing is delivered. In a direct chat it is that person's."""
        token = self._token()
        if place.direct:
            return self._said(token, place, ANA, f"{token}?", addressed=True)
        shown = {"mention": f"@{BOT['handle']}", "handle": f"@{BOT['handle']}", "reply": "", "name": "@Assistant"}[way]
        mentions: list[Mention] = [{"id": BOT["id"], "offset": 0, "length": len(shown)}]
        reply: Reply = {"id": "900", "sender_id": BOT["id"], "text": "All right."}
        return self._said(
            token,
            place,
            who,
            f"{shown}, {token}?" if shown else f"{token}?",
            addressed=True,
            mentions=mentions if way in ("mention", "name") else None,
            reply_to=reply if way == "reply" else None,
        )

    def passive(self, said: Said) -> Said:
        """The copy of a message in which nothing shows that it is for the bot."""
        return replace(said, event={**said.event, "mentions": None, "reply_to": None}, dealt_with=False)

    def deliver(self, said: Said) -> None:
        """The platform delivers a message."""
        self._deliver(said)

    # -- what is known --------------------------------------------------------------------------------------------

    def observed(self, place: Place) -> list[Said]:
        """The messages of a place that were not for the bot, in order of arrival, as far as they were dealt with."""
        return [said for said in self.said if said.place == place and not said.addressed and said.dealt_with]

    def elsewhere(self, place: Place) -> list[Said]:
        """The messages of all other places."""
        return [said for said in self.said if said.place != place]

    def touched(self) -> list[Place]:
        """The places in which something was written."""
        found: list[Place] = []
        for said in self.said:
            if said.place not in found:
                found.append(said.place)
        return found

    def transcript(self, place: Place) -> list[Row]:
        """The stored rows of a place."""
        return self.gateway.transcript(place.chat, place.topic)

    def search(self, text: str, chat: str | None) -> list[Hit]:
        """What a search finds."""
        self.tell(f'somebody searches {"all chats" if chat is None else _called(chat)} for "{text}"')
        return self.gateway.search(text, chat)

    def turn_of(self, said: Said) -> Turn:
        """What has come so far of a message that is for the bot."""
        requests = self.environment.models.payloads
        requests = [request for request in requests if said.token in self.addressed_part(request)]
        sender = said.event["sender"]
        bare = said.event["text"] if said.place.direct else f"[{sender['name']}|{sender['id']}]\n{said.event['text']}"
        headers = self._adapter.description["headers"]
        payloads = [taken_apart(request, bare, headers) for request in requests]
        return Turn(said, requests, payloads, waits=not said.dealt_with)

    def requests_for(self, said: Said) -> int:
        """How many requests had this message as the addressed one."""
        return sum(said.token in self.addressed_part(request) for request in self.environment.models.payloads)

    def tokens_in(self, text: str) -> list[str]:
        """The tokens of messages in a text, in its order."""
        return [found for found in _TOKEN.findall(text) if found in self._texts]

    def addressed_part(self, request: list[Message]) -> str:
        """What stands behind the header of the addressed message in a request; without a header its last message."""
        lines = text_of(_current(request)).split("\n")
        header = self._adapter.description["headers"]["addressed"]
        at = max((index for index, line in enumerate(lines) if line == header), default=-1)
        return "\n".join(lines[at + 1 :])

    @contextmanager
    def may_refuse(self) -> Iterator[None]:
        """Let the gateway say, by raising, that it cannot do what it is told."""
        try:
            yield
        except AdapterCrashed as crash:
            self.tell(f"it refuses: {crash}")

    def left_out(self, block: str) -> int:
        """The number in a block's omission note, which stands before the first message; 0 without a note."""
        first = min((block.find(token) for token in self.tokens_in(block)), default=len(block))
        lines = [line for line in block[:first].split("\n") if not re.search(r"summar|\|\d+\]$", line, re.IGNORECASE)]
        return max((int(number.replace(",", "")) for line in lines for number in _NUMBER.findall(line)), default=0)

    def summarised(self) -> str:
        """All prompts that the summariser has answered with a summary."""
        requests = self.environment.summariser.requests
        return "\n".join(request.text for request in requests if _SUMMARY in (request.answer or ""))

    def tell(self, line: str) -> None:
        """Add a line to the adapter's story."""
        self._adapter.story.append(line)

    # -- how ------------------------------------------------------------------------------------------------------

    def _token(self) -> str:
        number = len(self._texts) + 1
        return f"{_ANIMALS[(number - 1) % len(_ANIMALS)]}{number:02}"

    def _said(
        self,
        token: str,
        place: Place,
        who: Person,
        text: str,
        *,
        addressed: bool,
        mentions: list[Mention] | None = None,
        reply_to: Reply | None = None,
        time: str | None = None,
    ) -> Said:
        self._texts[token] = text
        counter = place.chat if self._ids_for_each_chat else ""
        self._ids[counter] += 1
        moment = (_DAY + timedelta(minutes=len(self._texts))).strftime("%Y-%m-%dT%H:%M:%SZ")
        event: Event = {
            "platform": self._platform,
            "account": "main",
            "chat": {
                "id": place.chat,
                "kind": "direct" if place.direct else "group",
                "name": None if place.direct else "Garden club",
            },
            "topic": place.topic,
            "id": str(self._ids[counter]),
            "sender": {"id": who.id, "name": who.name, "is_bot": False},
            "time": time or moment,
            "text": text,
            "caption": None,
            "mentions": mentions,
            "reply_to": reply_to,
            "media": [],
        }
        return Said(token, event, place, addressed)

    def _deliver(self, said: Said) -> None:
        """Deliver a message and wait for it; but not for what the kit holds up."""
        if self.environment.holds_up:
            self._begin(said)
            return
        self._enter(said)
        with _model_may_fail():
            self.gateway.receive(said.event)
        said.dealt_with = True

    def _begin(self, *messages: Said) -> None:
        for said in messages:
            self._enter(said)
        for said, delivery in zip(messages, self.gateway.begin(*(said.event for said in messages)), strict=True):
            if delivery.done:
                said.dealt_with = True
            else:
                self.under_way.append((said, delivery))

    def _enter(self, said: Said) -> None:
        if all(said.token != earlier.token for earlier in self.said):
            self.said.append(said)

    def _tell_request(self, request: list[Message]) -> None:
        line = f"the model is sent: {self._request(request)}"
        if self._adapter.story[-1:] != [line]:  # it may be asked the same again and again
            self.tell(line)

    def _tell_summary(self, prompt: str, answer: str | None) -> None:
        given = " ".join(self.tokens_in(prompt))
        self.tell(f"the summariser is given {given}" + (" and answers" if answer else " and fails"))

    def _request(self, request: list[Message]) -> str:
        """A request in words: the tokens of its parts."""
        *before, last = [item for item in request if item["role"] != "system"] or [{"role": "user", "content": ""}]
        message = self.addressed_part(request)
        block = text_of(last["content"]).removesuffix(message)
        summaries = [f"summary{number}" for number in re.findall(rf"{_SUMMARY} (\d\d)", block)]
        parts = {
            "history": self.tokens_in("\n".join(text_of(item["content"]) for item in before)),
            "block": [*summaries, *self.tokens_in(block)],
            "message": self.tokens_in(message),
        }
        return "; ".join(f"{name} {' '.join(found)}" for name, found in parts.items() if found) or "no message of these"

    def _shown(self, said: Said) -> str:
        text = said.event["text"]
        return f'"{text}"' if len(text) < 80 else f'"{text[:30]} ..." ({len(text)} characters)'

    def _author(self, said: Said) -> str:
        return (said.event["sender"]["name"] or "").lower()


class _World(GatewayEnvironment):
    """The environment of a chronicle: answers and summaries can be told apart.

    Attributes:
        summarises: the summariser as it answers: with a text that holds a number of its own.
        failed: how many writes were made to fail.
        summariser_stalls: the kit holds up the summariser.
    """

    def __init__(self, storage: str, config: Any) -> None:
        super().__init__(storage, config)
        self.summarises = Behaviour("answers", self._summary, usable=True)
        self.summariser.behaviour = self.summarises
        self.failed = 0
        self._asked: Callable[[list[Message]], None] = _nothing
        self._summarised: Callable[[str, str | None], None] = _nothing
        self.summariser_stalls = False
        self._model_stalls = False
        self._summaries = 0

    async def model(self, payload: list[Message]) -> Message:
        """Answer with the number of the message that is asked: `Answer 02.` for `falcon02`."""
        self._asked(payload)
        answer = await super().model(payload)
        if isinstance(answer["content"], str):
            numbers = re.findall(r"[a-z](\d\d)\b", text_of(_current(payload)))
            answer["content"] = answer_to(numbers[-1] if numbers else "00")
        return answer

    async def summarize(self, prompt: Prompt) -> str | None:
        """As its parent, and tells of it."""
        answer = None
        try:
            answer = await super().summarize(prompt)
        finally:
            self._summarised(flat(prompt), answer)
        return answer

    def overhear(self, asked: Callable[[list[Message]], None], summarised: Callable[[str, str | None], None]) -> None:
        """Have each request to the model told, and each request to the summariser with its answer."""
        self._asked = asked
        self._summarised = summarised

    def writing(self, what: Written) -> None:
        """As its parent, and counts what fails."""
        try:
            super().writing(what)
        except Exception:
            self.failed += 1
            raise

    def mend(self) -> None:
        """No write fails any more."""
        self._failing.clear()

    def stall_summariser(self) -> None:
        """Hold the summariser up."""
        self.summariser_stalls = True
        self.summariser.stall()

    def release_summariser(self) -> None:
        """Let it go on."""
        self.summariser_stalls = False
        self.summariser.release()

    def stall_model(self) -> None:
        """Hold the model up."""
        self._model_stalls = True
        self.models.stall()

    def release_model(self) -> None:
        """Let it go on."""
        self._model_stalls = False
        self.models.release()

    @property
    def holds_up(self) -> bool:
        """Whether the kit holds up the summariser or the model."""
        return self.summariser_stalls or self._model_stalls

    def _summary(self, prompt: str) -> str:
        del prompt
        self._summaries += 1
        return f"{_SUMMARY} {self._summaries:02}: they talk about lunch."


@contextmanager
def chronicle(
    adapter: Adapter,
    *,
    platform: str | None = None,
    limits: dict[str, int] | None = None,
    ids_for_each_chat: bool = False,
) -> Iterator[Chronicle]:
    """A gateway of the adapter on fresh storage, closed afterwards.

    Args:
        adapter: the adapter under test.
        platform: one for which it declares a marker; by default the first.
        limits: the configured limits; by default the configuration is empty.
        ids_for_each_chat: each chat numbers its messages from 1; otherwise no two messages have the same id.
    """
    with fresh_storage() as storage:
        made = Chronicle(adapter, storage, platform=platform, limits=limits, ids_for_each_chat=ids_for_each_chat)
        try:
            yield made
        finally:
            made.environment.overhear(_nothing, _nothing)  # the story is over
            made.environment.release_model()
            made.environment.release_summariser()
            made.gateway.close()


def answer_to(number: str) -> str:
    """What the model answers to the message with this number in its token."""
    return f"Answer {number}."


def tokens(messages: Sequence[Said]) -> str:
    """Messages by their tokens."""
    return " ".join(said.token for said in messages) or "none"


def rows_of(said: Said, rows: Sequence[Row]) -> list[Row]:
    """The rows of a user that hold a message; summaries are none."""
    return [
        row
        for row in rows
        if row["role"] == "user" and "summary" not in row and said.token in text_of(row.get("content"))
    ]


@contextmanager
def _model_may_fail() -> Iterator[None]:
    """What a turn raises because the model failed may go up to the platform."""
    try:
        yield
    except AdapterCrashed as crash:
        if not _because_of_model(crash):
            raise


def _because_of_model(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ModelFailure):
            return True
        error = error.__cause__ or error.__context__
    return False


def _current(payload: Sequence[Message]) -> Any:
    """The content of the last message of the user; what follows it belongs to the turn that runs."""
    return next((item["content"] for item in reversed(payload) if item["role"] == "user"), "")


def _nothing(*_: object) -> None:
    """Tell nobody."""


def _called(chat: str) -> str:
    return {GROUP.chat: GROUP.called, OTHER_GROUP.chat: OTHER_GROUP.called}.get(chat, "a direct chat")


def _settings() -> Settings:
    return {
        "bot": BOT,
        "observe": True,
        "require_mention": True,
        "group_policy": "allowlist",
        "allowed_chats": [GROUP.chat, OTHER_GROUP.chat],
        "free_response_chats": [],
        "mention_patterns": [],
        "other_bots": [],
        "channel_prompt": None,
    }
