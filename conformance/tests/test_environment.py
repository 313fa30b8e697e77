"""Tests of the world that the kit hands to adapters: what is recorded, what fails, what waits, what time does."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from observed_context_conformance.environment import (
    FAILURES,
    Clock,
    GatewayEnvironment,
    KitLoop,
    MemoryStore,
    Model,
    ModelFailure,
    StoreFailure,
    Summariser,
    SummariserFailure,
    WriteFailure,
    answers,
    calls_tool,
    echoes,
    fails_once,
    flat,
    fresh_storage,
    says,
)
from observed_context_conformance.environment.loop import Waits
from observed_context_conformance.glass import Glass, MisuseError
from observed_context_conformance.port import Row
from observed_context_conformance.weight import weight


def row(text: str) -> Row:
    return {"role": "user", "observed": True, "content": text}


def summary(text: str) -> Row:
    return {**row(text), "summary": {"covered": 1}}


# -- the store -------------------------------------------------------------------------------------------------------


def test_seqs_run_over_all_sessions_and_leave_gaps() -> None:
    store = MemoryStore(first=4, step=3)
    assert [store.append("a", row("x")), store.append("b", row("y")), store.put("a", row("z"))] == [4, 7, 10]
    assert [stored["seq"] for stored in store.load("a")] == [4, 10]
    assert (store.loads, store.written) == (["a"], [("a", 4), ("b", 7)])


def test_what_is_loaded_is_a_copy() -> None:
    store = MemoryStore()
    given = row("x")
    store.append("a", given)
    given["content"] = "changed"
    store.load("a")[0]["content"] = "changed"
    assert store.rows("a")[0]["content"] == "x"


def test_a_commit_wants_the_newest_summary_for_its_predecessor() -> None:
    store = MemoryStore()
    first = store.commit("a", summary("one"), None)
    assert first is not None
    assert store.commit("a", summary("two"), None) is None
    store.append("a", row("between"))
    assert store.commit("a", summary("three"), first) is not None
    assert [stored["content"] for stored in store.rows("a")] == ["one", "between", "three"]


def test_the_store_fails_once_where_it_is_told_to() -> None:
    store = MemoryStore()
    store.fail("write")
    with pytest.raises(StoreFailure):
        store.append("a", row("x"))
    store.append("a", row("y"))
    store.fail("load")
    with pytest.raises(StoreFailure):
        store.load("a")
    assert [stored["content"] for stored in store.load("a")] == ["y"]
    assert store.failures == 2


def test_others_can_step_in_at_every_point() -> None:
    store = MemoryStore()
    for point in ("load", "loaded", "write", "written"):
        store.at(point, lambda point=point: store.put("a", row(point)))  # type: ignore[arg-type, misc]
    seen = [stored["content"] for stored in store.load("a")]
    store.append("a", row("mine"))
    assert seen == ["load"]
    assert [stored["content"] for stored in store.rows("a")] == ["load", "loaded", "write", "mine", "written"]


def test_what_was_not_reached_can_be_forgotten() -> None:
    store = MemoryStore()
    store.fail("load")
    store.undisturbed()
    assert store.load("a") == []


# -- the summariser and the model --------------------------------------------------------------------------------------


def test_a_summariser_keeps_its_prompts_and_answers() -> None:
    summariser = Summariser(answers("a summary"))
    assert summariser([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]) == "a summary"
    (request,) = summariser.requests
    assert "Be brief." in request.text
    assert "hello" in request.text
    assert request.answered


def test_messages_in_a_prompt_cannot_be_forged() -> None:
    apart = flat([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])
    assert apart != flat([{"role": "user", "content": "a\nuser\nb"}])


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.story)
def test_failures_give_no_summary(failure: Any) -> None:
    summariser = Summariser(failure)
    try:
        answer = summariser("prompt")
    except Exception:
        answer = None
    assert not failure.usable
    assert not (answer or "").partition("</think>")[2].strip()
    assert answer is None or not answer.strip() or answer.strip().startswith("<think>")
    assert summariser.requests[0].done


def test_an_echo_says_what_it_was_given() -> None:
    assert Summariser(echoes())("tell nobody") == "tell nobody"


def test_messages_can_arrive_while_a_summariser_is_at_work() -> None:
    order = []
    summariser = Summariser(answers("done"))
    summariser.meanwhile = lambda request: order.append(request.done)
    summariser("prompt")
    assert order == [False]


def test_a_summariser_stalls_until_it_is_released() -> None:
    clock, summariser = Clock(), Summariser(answers("at last"))
    loop = KitLoop(clock)
    summariser.stall(lambda text: "slow" in text)
    assert loop.until(lambda: summariser.ask("fast"), seconds=5) == "at last"
    with pytest.raises(Waits):
        loop.until(lambda: summariser.ask("slow"), seconds=5)
    assert [request.text for request in summariser.open_requests] == ["slow"]
    summariser.release()
    loop.settle(seconds=5)
    assert summariser.open_requests == []
    loop.end()


def test_a_model_follows_its_script() -> None:
    model = Model([calls_tool("weather"), fails_once(), says("hello")], otherwise="bye")
    payload: list[Any] = [{"role": "user", "content": "hi"}]
    assert model(payload)["tool_calls"][0]["function"]["name"] == "weather"
    with pytest.raises(ModelFailure):
        model(payload)
    payload.append("changed")
    assert [model(payload)["content"] for _ in range(2)] == ["hello", "bye"]
    assert model.payloads[0] == [{"role": "user", "content": "hi"}]


# -- the loop ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def loop(clock: Clock) -> Any:
    made = KitLoop(clock)
    yield made
    made.end()


def test_nothing_runs_between_the_steps_of_the_kit(loop: KitLoop) -> None:
    done: list[str] = []

    async def later() -> None:
        done.append("ran")

    loop.until(lambda: loop.create_task(_thrice(later)), seconds=5)
    before = list(done)
    loop.create_task(later())
    assert done == before
    loop.settle(seconds=5)
    assert len(done) == len(before) + 1


async def _thrice(work: Callable[[], Any]) -> None:
    for _ in range(3):
        await work()


def test_plain_functions_and_coroutines_are_both_run_within_the_loop(loop: KitLoop) -> None:
    assert loop.until(asyncio.get_running_loop, seconds=5) is loop

    async def running() -> object:
        return asyncio.get_running_loop()

    assert loop.until(running, seconds=5) is loop


def test_what_was_raised_is_raised(loop: KitLoop) -> None:
    async def fails() -> None:
        raise SummariserFailure("no")

    with pytest.raises(SummariserFailure):
        loop.until(fails, seconds=5)


def test_hours_pass_in_no_time(loop: KitLoop) -> None:
    started = time.monotonic()
    loop.until(lambda: asyncio.sleep(3_000), seconds=5, timers=3_600)
    assert time.monotonic() - started < 1


def test_a_timer_waits_for_the_clock(loop: KitLoop, clock: Clock) -> None:
    over: list[bool] = []
    loop.call_later(60, over.append, True)
    loop.settle(seconds=5)
    assert not over
    clock.advance(61)
    loop.settle(seconds=5)
    assert over == [True]


def test_a_short_pause_in_the_background_is_no_wait(loop: KitLoop) -> None:
    over: list[bool] = []
    loop.call_later(1, over.append, True)
    loop.settle(seconds=5)
    assert over == [True]


def test_a_timeout_does_not_come_by_itself(loop: KitLoop) -> None:
    gate: asyncio.Future[None] = loop.create_future()
    with pytest.raises(Waits):
        loop.until(lambda: asyncio.wait_for(gate, 120), seconds=5)
    assert not gate.cancelled()


def test_threads_get_the_time_that_they_need(loop: KitLoop) -> None:
    def slow() -> str:
        time.sleep(0.2)
        return "done"

    assert loop.until(lambda: asyncio.to_thread(slow), seconds=5) == "done"
    seen: list[str] = []
    worker = threading.Thread(target=lambda: (time.sleep(0.02), seen.append("done")))
    worker.start()
    loop.settle(seconds=5)
    assert seen == ["done"]
    worker.join()


def test_an_end_cancels_what_waits(clock: Clock) -> None:
    loop = KitLoop(clock)
    ended: list[str] = []

    async def waits() -> None:
        try:
            await loop.create_future()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    with pytest.raises(Waits):
        loop.until(waits, seconds=5)
    loop.end()
    loop.end()
    assert ended == ["cancelled"]
    assert loop.is_closed()


# -- the whole gateway's world, and what stands between ------------------------------------------------------------


def test_storage_lasts_as_long_as_it_is_needed() -> None:
    with fresh_storage() as storage:
        assert os.listdir(storage) == []
    assert not os.path.exists(storage)


def test_a_gateway_is_told_of_failing_writes_and_records_what_it_sends() -> None:
    world = GatewayEnvironment("/nowhere", {"gateway": {}})
    world.fail_write("row")
    world.writing("summary")
    with pytest.raises(WriteFailure):
        world.writing("row")
    world.writing("row")
    assert world.writes == ["summary", "row", "row"]
    loop = KitLoop(world.clock)
    loop.until(lambda: world.send("-1001", None, "hello"), seconds=5)
    assert world.sent == [("-1001", None, "hello")]
    assert loop.until(lambda: world.model([{"role": "user", "content": "hi"}]), seconds=5)["role"] == "assistant"
    assert loop.until(lambda: world.summarize("prompt"), seconds=5)
    loop.end()


def test_a_clock_never_goes_back() -> None:
    clock = Clock(5)
    clock.advance(-3)
    clock.advance(2)
    assert clock() == 7


def test_the_glass_shows_no_more_than_the_port_and_remembers_misuse() -> None:
    glass = Glass()
    store = glass.store(MemoryStore())
    assert {name for name in dir(store) if not name.startswith("_")} == {"load", "append", "commit"}
    with pytest.raises(MisuseError):
        store.append("a", {"role": "user", "content": 5})  # type: ignore[typeddict-item]
    assert glass.misuse is not None
    assert "store.append" in glass.misuse


def test_weight_counts_what_grows_and_not_what_is_the_kits() -> None:
    class Holds:
        def __init__(self) -> None:
            self.store = MemoryStore()
            self.names: dict[str, int] = {}

    held = Holds()
    before = weight(held, [held.store])
    held.store.put("a", row("x" * 100_000))
    assert weight(held, [held.store]) == before
    held.names.update({f"session {number}": number for number in range(1_000)})
    assert weight(held, [held.store]) > before + 50_000
