"""The proxy of a gateway: what it returns, what it waits for, and what it makes of a gateway that misbehaves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from adapters_for_tests import Describes

from observed_context_conformance.environment import GatewayEnvironment, fresh_storage
from observed_context_conformance.hosted import Gateway
from observed_context_conformance.port import Event, Settings
from observed_context_conformance.strategies.events import body, event_of, plain_settings
from observed_context_conformance.subject import Adapter, AdapterCrashed, AdapterHung, ShapeError

SETTINGS: Settings = plain_settings()
HELLO: Event = event_of(
    body("hello"),
    platform="irc",
    account="main",
    chat={"id": "-1001", "kind": "group", "name": None},
    topic=None,
    id="1",
    sender={"id": "1001", "name": "Ana", "is_bot": False},
    time="2026-03-01T12:00:00Z",
)


class Toy:
    """A gateway that does what one of its methods is made to do."""

    def __init__(self, environment: Any) -> None:
        self.env = environment
        self.texts: list[str] = []

    async def receive(self, event: Any) -> None:
        """Keep the text, and spoil the event."""
        self.texts.append(event.pop("text"))

    def transcript(self, chat: str, topic: str | None) -> Any:
        """One row for each text."""
        return [{"role": "user", "content": text} for text in self.texts]

    def search(self, text: str, chat: str | None) -> Any:
        """Nothing is found."""
        return []

    async def drain(self) -> None:
        """Nothing runs."""

    async def close(self) -> None:
        """Nothing is open."""


class Asks(Toy):
    """Asks the model for each message."""

    async def receive(self, event: Any) -> None:
        """Wait for the answer, then send it."""
        answer = await self.env.model([{"role": "user", "content": event["text"]}])
        await self.env.send(event["chat"]["id"], event["topic"], answer["content"])


class Raises(Toy):
    """Raises for each message."""

    async def receive(self, event: Any) -> None:
        """Never returns."""
        raise KeyError("chat")


class Sleeps(Toy):
    """Waits for what never happens, also when it is closed."""

    async def receive(self, event: Any) -> None:
        """Never returns."""
        await asyncio.get_running_loop().create_future()

    async def close(self) -> None:
        """Never returns."""
        await asyncio.get_running_loop().create_future()


class Pauses(Toy):
    """Waits a minute before it deals with a message."""

    async def receive(self, event: Any) -> None:
        """Keep the text afterwards."""
        await asyncio.sleep(60)
        await super().receive(event)


class Misuses(Toy):
    """Sends the model something that is no message, and swallows the complaint."""

    async def receive(self, event: Any) -> None:
        """Returns as if nothing had happened."""
        try:
            await self.env.model(["hello"])
        except Exception:
            return


class TidiesUp(Toy):
    """Writes a last row when its message is cancelled."""

    tried: ClassVar[list[str]] = []

    async def receive(self, event: Any) -> None:
        """Wait until it is cancelled."""
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            try:
                self.env.writing("row")
            except ConnectionError as error:
                self.tried.append(str(error))


class ReturnsNonsense(Toy):
    """Its transcript is none."""

    def transcript(self, chat: str, topic: str | None) -> Any:
        """Nonsense."""
        return [{"role": "narrator"}]


@pytest.fixture
def environment() -> Iterator[GatewayEnvironment]:
    with fresh_storage() as storage:
        yield GatewayEnvironment(storage, {})


def opened(kind: type[Toy], environment: GatewayEnvironment) -> Gateway:
    class Hosts(Describes):
        def gateway(self, settings: Any, environment: Any) -> Toy:
            return kind(environment)

    return Adapter(Hosts(), call_seconds=1.0).gateway(SETTINGS, environment)


def test_a_message_is_delivered_and_stays_the_kits(environment: GatewayEnvironment) -> None:
    gateway = opened(Toy, environment)
    gateway.receive(HELLO)
    assert gateway.transcript("-1001", None) == [{"role": "user", "content": "hello"}]
    assert HELLO["text"] == "hello"
    gateway.drain()
    gateway.close()


def test_a_message_waits_while_the_kit_holds_the_model_up(environment: GatewayEnvironment) -> None:
    gateway = opened(Asks, environment)
    environment.models.stall()
    (delivery,) = gateway.begin(HELLO)
    assert not delivery.done
    assert environment.sent == []
    environment.models.release()
    gateway.finish(delivery)
    assert delivery.done
    assert environment.sent == [("-1001", None, "All right.")]


def test_a_pause_takes_no_time(environment: GatewayEnvironment) -> None:
    gateway = opened(Pauses, environment)
    gateway.receive(HELLO)
    assert len(gateway.transcript("-1001", None)) == 1


def test_a_long_pause_is_not_cut_short_while_the_kit_holds_something_up(environment: GatewayEnvironment) -> None:
    (delivery,) = opened(Pauses, environment).begin(HELLO)
    assert not delivery.done


def test_what_it_raises_is_named_after_the_call(environment: GatewayEnvironment) -> None:
    gateway = opened(Raises, environment)
    with pytest.raises(AdapterCrashed, match=r"gateway\.receive\(\) raised KeyError"):
        gateway.receive(HELLO)
    with pytest.raises(AdapterCrashed, match=r"gateway\.receive\(\) raised KeyError"):
        gateway.begin(HELLO)


def test_a_message_without_end_has_hung(environment: GatewayEnvironment) -> None:
    gateway = opened(Sleeps, environment)
    with pytest.raises(AdapterHung):
        gateway.receive(HELLO)


def test_closing_raises_nothing(environment: GatewayEnvironment) -> None:
    gateway = opened(Sleeps, environment)
    gateway.close()
    gateway.close()


def test_misuse_of_the_environment_is_not_swallowed(environment: GatewayEnvironment) -> None:
    with pytest.raises(ShapeError, match="what model"):
        opened(Misuses, environment).receive(HELLO)
    assert environment.models.payloads == []


def test_a_transcript_is_validated(environment: GatewayEnvironment) -> None:
    with pytest.raises(ShapeError, match="narrator") as caught:
        opened(ReturnsNonsense, environment).transcript("-1001", None)
    assert caught.value.requirement == "GWY-6"


def test_a_killed_gateway_writes_nothing_any_more(environment: GatewayEnvironment) -> None:
    gateway = opened(TidiesUp, environment)
    gateway.begin(HELLO)
    gateway.kill()
    assert TidiesUp.tried == ["this gateway has been killed"]
    assert environment.writes == []


def test_optional_methods_are_told_apart(environment: GatewayEnvironment) -> None:
    gateway = opened(Toy, environment)
    assert gateway.offers("search")
    assert not gateway.offers("retry")
