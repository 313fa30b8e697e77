"""Adapters in other processes: the same verdict as in this one, and the right one for every rudeness."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import adapters_for_tests as toys
import pytest
from hypothesis import strategies as st

from observed_context_conformance.adapters.reference import create
from observed_context_conformance.checking import Check, Verdict, load_checks, run_check
from observed_context_conformance.environment import Clock, MemoryStore, Summariser, answers
from observed_context_conformance.report.machine import outcome_json
from observed_context_conformance.stdio import process
from observed_context_conformance.stdio.process import ProcessAdapter, ProcessError
from observed_context_conformance.stdio.wire import WireError, decode, encode
from observed_context_conformance.subject import Adapter, AdapterUnusableError

HERE = Path(__file__).parent
SERVE = f"{sys.executable} -m observed_context_conformance.serve"


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let child processes import the adapters of these tests."""
    monkeypatch.setenv("PYTHONPATH", str(HERE))


@pytest.fixture
def started() -> Iterator[Callable[[str], ProcessAdapter]]:
    """Start adapters, and stop them in the end."""
    open_ones: list[ProcessAdapter] = []

    def start(command: str) -> ProcessAdapter:
        made = ProcessAdapter(command)
        open_ones.append(made)
        return made

    yield start
    for made in open_ones:
        made.close()


def rude(manner: str) -> str:
    """The command line of a rude program."""
    return f"{sys.executable} {HERE / 'rude.py'} '{manner}'"


def alive(pid: int) -> bool:
    """Whether there is such a process, and it is more than a memory."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def asks_often(adapter: Adapter, config: int) -> None:
    """Call `limits` and look at nothing: whatever fails is the pipe's doing."""
    adapter.limits(config)


ASKS = Check("asks_often", "LIM-4", ("limits",), (), 20, "", asks_often, {"config": st.integers(0, 1000)})


def asks_once(config: Any) -> Check:
    """A check that calls `limits` once."""
    return Check("asks_once", "LIM-4", ("limits",), (), 1, "", lambda adapter: adapter.limits(config), {})


@pytest.mark.parametrize(
    ("manner", "kind", "message"),
    [
        ("hangs", "limits-hung", "did not return within"),
        ("leaves", "limits-broke-the-pipe", "left with exit code 3"),
        ("crashes at the third call", "limits-broke-the-pipe", "left with exit code 139"),
        ("prints", "limits-broke-the-pipe", "a line that is not JSON: 'Loading configuration ...'"),
        ("writes an endless line", "limits-broke-the-pipe", "a line of more than 16 MB"),
        ("writes broken JSON", "limits-broke-the-pipe", "a line that is not JSON"),
        ("answers with another id", "limits-broke-the-pipe", "answered a request that nobody made"),
        ("answers nobody", "limits-broke-the-pipe", "answered a request that nobody made: id 4711"),
        ("answers without a result", "limits-broke-the-pipe", "exactly one of result and error"),
        ("raises", "limits-raised-KeyError", "limits.js:3 in read"),
    ],
)
def test_rudeness_is_an_error_that_says_what_happened(
    started: Callable[[str], ProcessAdapter], manner: str, kind: str, message: str
) -> None:
    adapter = Adapter(started(rude(manner)), call_seconds=1.0)
    begun = time.monotonic()
    outcome = run_check(ASKS, adapter)
    assert outcome.verdict is Verdict.ERROR
    assert outcome.signature is not None
    assert outcome.signature.endswith(f": {kind}")
    assert message in (outcome.got or "")
    assert time.monotonic() - begun < 10


def test_a_process_that_cannot_say_that_it_rests_is_waited_for(started: Callable[[str], ProcessAdapter]) -> None:
    adapter = Adapter(started(rude("has a scheduler that does nothing")))
    store = MemoryStore()
    summariser, clock = Summariser(answers("They talk about lunch.")), Clock()
    scheduler = adapter.scheduler(store, {"max_chars": 9_000, "max_rows": 0}, summariser.ask, clock)
    assert scheduler.appended("s", 5_000)
    scheduler.drain()


def test_what_it_wrote_to_its_error_stream_is_kept(started: Callable[[str], ProcessAdapter]) -> None:
    outcome = run_check(ASKS, Adapter(started(rude("crashes at the third call"))))
    assert "Segmentation fault, more or less" in outcome.words


@pytest.mark.parametrize("later", ["", "async "])
def test_sys_exit_in_a_call_is_that_calls_error(
    started: Callable[[str], ProcessAdapter], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: str
) -> None:
    (tmp_path / "leaves.py").write_text(
        "import sys\n"
        "import adapters_for_tests as toys\n"
        "class Leaves(toys.Describes):\n"
        f"    {later}def limits(self, config):\n"
        "        sys.exit(3)\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{HERE}:{tmp_path}")
    outcome = run_check(ASKS, Adapter(started(f"{SERVE} leaves:Leaves")))
    assert outcome.signature == "asks_often: limits-raised-SystemExit"
    assert outcome.got == "limits() raised SystemExit: 3 (leaves.py:5 in limits)"


def test_what_describe_raised_is_told_by_its_own_name(started: Callable[[str], ProcessAdapter]) -> None:
    target = started(f"{SERVE} adapters_for_tests:RaisesInDescribe")
    with pytest.raises(AdapterUnusableError, match=r"describe\(\) raised RuntimeError: no configuration found"):
        Adapter(target)


def test_after_a_hang_the_next_check_gets_a_new_process(started: Callable[[str], ProcessAdapter]) -> None:
    target = started(f"{SERVE} adapters_for_tests:HangsOnNothing")
    adapter = Adapter(target, call_seconds=0.5)
    assert run_check(asks_once(None), adapter).verdict is Verdict.ERROR
    assert run_check(asks_once({"gateway": {}}), adapter).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("/no/such/program", "cannot start"),
        (f"{sys.executable} -c 'import sys; sys.exit(\"no licence\")'", "left with exit code 1. It wrote: no licence"),
        (rude("is from the future"), "speaks protocol '7.0', this kit speaks 1.0"),
        (rude("names no methods"), 'without "methods"'),
        (f"{SERVE} adapters_for_tests:Missing", "has no 'Missing'"),
        ("'unbalanced", "cannot start"),
        ("", "the command is empty"),
        (" ", "the command is empty"),
        ("cat", "sent the request back instead of an answer"),
        (
            f"{sys.executable} -c 'import sys; sys.exit(chr(10).join([*map(str, range(30)), str(99)]))'",
            "It wrote: 0 / 1 / 2 / 3 / 4 / ... / 28 / 29 / 99",
        ),
    ],
)
def test_what_is_no_adapter_is_refused_at_once(command: str, message: str) -> None:
    with pytest.raises(ProcessError) as caught:
        ProcessAdapter(command)
    assert message in str(caught.value)


def test_a_process_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "START_SECONDS", 0.5)
    with pytest.raises(ProcessError, match=r"did not answer initialize within 0\.5 s"):
        ProcessAdapter(rude("says nothing"))


def test_no_process_is_left_behind(started: Callable[[str], ProcessAdapter]) -> None:
    adapter = started(f"{SERVE} adapters_for_tests:ReadsLimits")
    pid = adapter._pipe._process.pid  # type: ignore[union-attr]
    os.kill(pid, 0)
    adapter.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@contextlib.contextmanager
def _hearing_ctrl_c() -> Iterator[None]:
    """What is started here hears Ctrl-C, also when a shell has put these tests in the background, deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupted_run_keeps_its_results_and_leaves_no_process(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    (tmp_path / "slow.py").write_text(
        "import os, time\n"
        "import adapters_for_tests as toys\n"
        f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')\n"
        "class Slow(toys.ReadsLimits):\n"
        "    def wrap(self, message, block):\n"
        "        time.sleep(3600)\n"
    )
    command = [sys.executable, "-m", "observed_context_conformance.cli", "check", "--deadline", "300", "-n", "1"]
    command += ["--command", f"{SERVE} slow:Slow", "--area", "LIM", "--area", "TURN", "--json", "r.json"]
    env = {**os.environ, "PYTHONPATH": f"{HERE}:{tmp_path}"}
    with _hearing_ctrl_c():
        ran = subprocess.Popen(
            command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    assert ran.stderr is not None
    for line in ran.stderr:
        if line.startswith("LIM"):
            break
    time.sleep(0.5)
    ran.send_signal(signal.SIGINT)
    output, _ = ran.communicate(timeout=30)
    assert ran.returncode == 1
    assert "INTERRUPTED: 4 requirements pass" in output
    assert (tmp_path / "r.json").exists()
    for pid in map(int, pids.read_text().split()):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_served_adapter_leaves_when_the_kit_is_gone(tmp_path: Path) -> None:
    (tmp_path / "asks.py").write_text(
        "import adapters_for_tests as toys\n"
        "class Asks(toys.Describes):\n"
        "    def turn(self, transcript, message, channel_prompt, limits, model):\n"
        "        while True:\n"
        "            try:\n"
        "                model([{'role': 'user', 'content': message}])\n"
        "            except Exception:\n"
        "                pass\n"
    )
    script = (
        "import os, signal\n"
        "from observed_context_conformance.stdio.process import ProcessAdapter\n"
        f"adapter = ProcessAdapter({f'{SERVE} asks:Asks'!r})\n"
        "print(adapter._pipe._process.pid, flush=True)\n"
        "limits = {'max_chars': 0, 'max_rows': 0}\n"
        "adapter.turn([], 'hi', None, limits, lambda payload: os.kill(os.getpid(), signal.SIGKILL))\n"
    )
    env = {**os.environ, "PYTHONPATH": f"{HERE}:{tmp_path}"}
    ran = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and alive(int(ran.stdout)):
        time.sleep(0.05)
    assert not alive(int(ran.stdout))


def test_a_print_of_a_served_adapter_does_not_reach_the_pipe(
    started: Callable[[str], ProcessAdapter], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loud.py").write_text(
        "import os\n"
        "import adapters_for_tests as toys\n"
        "print('at import')\n"
        "class Loud(toys.ReadsLimits):\n"
        "    def limits(self, config):\n"
        "        print('a print')\n"
        "        os.system('echo a child')\n"
        "        return super().limits(config)\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{HERE}:{tmp_path}")
    target = started(f"{SERVE} loud:Loud")
    assert Adapter(target).limits(None) == {"max_chars": 512_000, "max_rows": 4_000}
    time.sleep(0.1)
    assert {"at import", "a print", "a child"} <= set(target.last_words())


def test_serving_needs_the_standard_library_alone() -> None:
    script = (
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        top = name.partition('.')[0]\n"
        "        if top in {'hypothesis', 'pytest', 'jsonschema', 'rich', 'typer', 'tomlkit', 'referencing'}:\n"
        "            raise ImportError(top)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "from observed_context_conformance import serve\n"
        "from observed_context_conformance.loading import load_adapter\n"
        "load_adapter('reference')\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


# -- parity ----------------------------------------------------------------------------------------------------------


def without_times(outcome: Any) -> dict[str, Any]:
    """An outcome without what may differ."""
    return {key: value for key, value in outcome_json(outcome).items() if key != "seconds"}


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Adapter, Adapter]]:
    """The reference in this process, and the same behind a pipe."""
    remote = ProcessAdapter(f"{SERVE} reference")
    yield Adapter(create()), Adapter(remote)
    remote.close()


# What looks into the adapter's memory cannot look into another process.
IN_PROCESS_ONLY = {"SCH-9"}


@pytest.mark.parametrize("check", [c for c in load_checks() if c.strategies or c.examples > 1], ids=lambda c: c.name)
def test_in_process_and_behind_the_pipe_get_the_same_outcome(both: tuple[Adapter, Adapter], check: Any) -> None:
    if check.requirement in IN_PROCESS_ONLY:
        assert run_check(check, both[1]).verdict in (Verdict.NOT_APPLICABLE, Verdict.PASS)
        return
    here, there = (without_times(run_check(check, adapter)) for adapter in both)
    assert here == there


# -- the wire --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "written"),
    [(math.inf, "1e999"), (-math.inf, "-1e999"), (math.nan, "null"), ("é\n", '"\\u00e9\\n"'), (True, "true")],
)
def test_values_travel_as_json(value: object, written: str) -> None:
    line = encode({"jsonrpc": "2.0", "id": 1, "result": [value]})
    assert line.endswith(b'"result":[' + written.encode() + b"]}\n")
    assert line.count(b"\n") == 1


@pytest.mark.parametrize(
    "line",
    [
        b"hello",
        b"[]",
        b"{}",
        b'{"jsonrpc":"2.0"}',
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","id":1,"result":1,"error":{}}',
        b'{"jsonrpc":"2.0","id":1,"error":"no"}',
        b'{"jsonrpc":"2.0","method":5}',
        b'{"jsonrpc":"2.0","id":1,"method":"model","params":[1]}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_what_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(WireError):
        decode(line)


def test_a_result_that_is_no_json_is_the_adapters_error(started: Callable[[str], ProcessAdapter]) -> None:
    target = started(f"{SERVE} adapters_for_tests:ReturnsASet")
    outcome = run_check(ASKS, Adapter(target))
    assert outcome.verdict is Verdict.ERROR
    assert "cannot be written as JSON" in (outcome.got or "")


def test_the_toys_of_these_tests_are_adapters() -> None:
    assert Adapter(toys.HangsOnNothing()).offers("limits")
