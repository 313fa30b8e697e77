"""A summariser that answers, fails, stalls or talks nonsense as the kit wants, and keeps every prompt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from observed_context_conformance.environment.gate import Gate
from observed_context_conformance.port import Message, Prompt

Answer = str | None

FENCE = "\x00"
"""Stands between the messages of a prompt in its flat form. The kit plants no text that holds it."""


class SummariserFailure(Exception):  # noqa: N818 - named for what happens, not for what it is
    """What the summariser raises when the kit makes it fail."""


@dataclass
class Request:
    """One request to the summariser.

    Attributes:
        prompt: as the adapter gave it.
        text: the same as one text.
        answer: what was answered; None as well when it failed.
        done: the summariser has answered or failed.
        answered: it answered something.
    """

    prompt: Prompt
    text: str
    answer: Answer = None
    done: bool = False

    @property
    def answered(self) -> bool:
        """Whether the summariser answered with something."""
        return self.done and self.answer is not None


@dataclass(frozen=True)
class Behaviour:
    """What a summariser does with a request.

    Attributes:
        story: in words, after "the summariser": "answers", "raises TimeoutError".
        respond: the answer to a prompt in its flat form; it may raise.
        usable: the answer is a summary; otherwise the pass fails.
    """

    story: str
    respond: Callable[[str], Answer]
    usable: bool


def answers(text: str, story: str = "answers") -> Behaviour:
    """It answers with `text`."""
    return Behaviour(story, lambda _: text, usable=True)


def echoes() -> Behaviour:
    """It answers with the prompt that it was given: the strongest probe for what must not come back."""
    return Behaviour("repeats what it was given", lambda prompt: prompt.replace(FENCE, "\n"), usable=True)


def fails(error: Callable[[], Exception]) -> Behaviour:
    """It raises a new `error()`."""

    def respond(_: str) -> Answer:
        raise error()

    return Behaviour(f"raises {type(error()).__name__}", respond, usable=False)


def is_silent(answer: Answer) -> Behaviour:
    """It answers with nothing: None, an empty text, or blanks."""
    story = "answers nothing" if not answer else "answers blanks"
    return Behaviour(story, lambda _: answer, usable=False)


def only_thinks(answer: str) -> Behaviour:
    """It answers with `<think>…</think>` and nothing after it."""
    return Behaviour("answers with its reasoning alone", lambda _: answer, usable=False)


FAILURES: tuple[Behaviour, ...] = (
    fails(lambda: SummariserFailure("the summariser is down")),
    fails(lambda: TimeoutError("no answer in 60 s")),
    fails(lambda: ConnectionError("connection reset")),
    fails(lambda: ValueError("503: try again later")),
    fails(lambda: KeyError("choices")),
    is_silent(None),
    is_silent(""),
    is_silent("  \n\t \n"),
    only_thinks("<think>The members talk about lunch. I will list the facts.</think>"),
    only_thinks("\n<think>\nFirst, who said what?\n\nAna wants soup.\n</think>\n\n"),
)
"""Every way in which a pass fails because of its summariser."""


class Summariser:
    """The summariser of a check.

    As a plain function (`summariser(prompt)`) it answers at once; `ask` is the same for asyncio, and can stall.

    Attributes:
        behaviour: what it does with the next request; change it at any time.
        requests: all requests so far.
        meanwhile: called while each plain request is being answered, with the request; None: nothing happens meanwhile.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.requests: list[Request] = []
        self.meanwhile: Callable[[Request], object] | None = None
        self._gate = Gate()
        self._held: Callable[[str], bool] = _any

    def __call__(self, prompt: Prompt) -> Answer:
        """Answer as a plain function, which blocks its caller until `meanwhile` is over."""
        request = self._note(prompt)
        if self.meanwhile is not None:
            self.meanwhile(request)
        return self._respond(request)

    async def ask(self, prompt: Prompt) -> Answer:
        """Answer as a coroutine; while it stalls, not before `release()`."""
        request = self._note(prompt)
        try:
            if self._held(request.text):
                await self._gate.passing()
        except BaseException:
            request.done = True
            raise
        return self._respond(request)

    def stall(self, held: Callable[[str], bool] | None = None) -> None:
        """From now on `ask` does not answer; with `held`, only where that is true of the prompt in its flat form."""
        self._held = held or _any
        self._gate.close()

    @property
    def is_stalling(self) -> bool:
        """Whether `ask` holds answers back."""
        return self._gate.is_closed

    def release(self) -> None:
        """Stop stalling: those who wait get their answers as soon as their loop runs."""
        self._gate.open()

    @property
    def open_requests(self) -> list[Request]:
        """The requests that wait for an answer."""
        return [request for request in self.requests if not request.done]

    @property
    def texts(self) -> list[str]:
        """The prompts so far, each as one text."""
        return [request.text for request in self.requests]

    def _note(self, prompt: Prompt) -> Request:
        request = Request(prompt, flat(prompt))
        self.requests.append(request)
        return request

    def _respond(self, request: Request) -> Answer:
        try:
            request.answer = self.behaviour.respond(request.text)
        finally:
            request.done = True
        return request.answer


def _any(_: str) -> bool:
    return True


def flat(prompt: Prompt) -> str:
    """A prompt as one text; before each message of a list stand its role and `FENCE`, on a line of their own."""
    if isinstance(prompt, str):
        return prompt
    return "\n".join(f"{FENCE}{message['role']}{FENCE}\n{_content(message)}" for message in prompt)


def _content(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part["text"]) for part in content if part.get("type") == "text")
    return content or ""
