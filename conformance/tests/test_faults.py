"""The matrix tells the truth about a fault, and the floor: what adapters pass that do not do the work."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.catalogue import load_catalogue
from observed_context_conformance.checking import RED, Effort, Verdict, load_checks, run_check
from observed_context_conformance.faults import Fault, cheats, fault, load_faults
from observed_context_conformance.faults.cheats import CHEATS, DATA, EMPTY
from observed_context_conformance.faults.matrix import changed_methods, examples_to_catch, only_gross, try_fault
from observed_context_conformance.subject import Adapter


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Broken adapters have a lot to say."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def made(make: Callable[[], Any], requirement: str = "LIM-1") -> Fault:
    """A fault that is in no catalogue."""
    return Fault("planted", requirement, None, "Planted.", make)


def test_a_caught_fault_names_checks_and_examples() -> None:
    class OneMore(ReferenceAdapter):
        def limits(self, config: Any) -> Any:
            return {name: value + 1 for name, value in super().limits(config).items()}

    trial = try_fault(made(OneMore))
    assert trial.catches
    assert all(catch.examples >= 1 for catch in trial.catches)
    assert trial.gross
    assert trial.leaks == ()
    assert only_gross([trial]) == ["LIM-1"]
    assert examples_to_catch([trial]) == (1, 1)


def test_the_reference_itself_is_a_fault_that_nobody_catches() -> None:
    trial = try_fault(made(ReferenceAdapter))
    assert trial.catches == ()
    assert trial.missed_by
    assert not trial.gross
    assert trial.reddens == ()


def test_a_fault_that_changes_more_than_it_says_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
    class ChangesTheModule(ReferenceAdapter):
        def gate(self, event: Any, settings: Any) -> Any:
            return {"action": "observe"}

        def __init__(self) -> None:
            monkeypatch.setattr(ReferenceAdapter, "wrap", lambda self, message, block: "x")

    trial = try_fault(made(ChangesTheModule, "GATE-2"), position=0)
    assert "TURN" in {requirement.partition("-")[0] for requirement in trial.leaks}


def test_changed_methods_are_those_that_differ_from_the_reference() -> None:
    class Changes(ReferenceAdapter):
        def wrap(self, message: Any, block: Any) -> Any:
            return message

    assert changed_methods(Changes()) == {"wrap"}
    assert changed_methods(ReferenceAdapter()) == set()


def test_every_fault_is_described_and_points_to_a_public_place_or_none() -> None:
    for known in load_faults():
        assert known.requirement in load_catalogue()
        assert known.description.endswith((".", "?", ")"))
        assert known.after is None or "/" in known.after, known.id


def test_faults_have_a_name_and_a_description(monkeypatch: pytest.MonkeyPatch) -> None:
    class Undescribed:
        pass

    with pytest.raises(ValueError, match="has no docstring"):
        fault("undescribed", "LIM-1")(Undescribed)
    taken = load_faults()[0]
    with pytest.raises(ValueError, match="two faults are named"):
        fault(taken.id, "LIM-1")(ReferenceAdapter)


EXACTLY: dict[str, str] = {
    # what is wrong: all that fails for it
    "gate-uses-word-boundaries": "GATE-9",
    "gate-tidies-the-text-in-place": "GATE-14",
    "row-leaves-brackets": "ROW-3 ATT-1",
    "media-drops-what-failed": "MED-2 MED-5",
    "address-prefixes-commands": "ATT-4",
    "sep-takes-half-a-marker": "SEP-3",
    "sep-glues-texts": "SEP-5",
    "sep-believes-a-label": "SEP-6",
    "sep-drops-without-a-note": "SEP-7",
    "asm-same-text-once": "ASM-1",
    "asm-watermark-zero-is-none": "ASM-3",
    "asm-believes-every-line": "ASM-9",
    "cap-one-over": "CAP-1 CAP-6",
    "cap-note-counts-covered-rows": "CAP-4 CAP-12",
    "cap-cuts-between-code-points": "CAP-11",
    "limits-fall-together": "LIM-2",
    "turn-keeps-a-side-car": "TURN-4",
    "turn-trusts-the-block": "TURN-9",
}


@pytest.mark.parametrize("name", EXACTLY)
def test_a_defect_fails_the_requirements_that_name_it_and_no_other(name: str) -> None:
    target = next(known for known in load_faults() if known.id == name).make()
    changed = changed_methods(target)
    adapter = Adapter(target)
    outcomes = [run_check(c, adapter, Effort(factor=0.5, shrink=False)) for c in load_checks() if changed & {*c.calls}]
    failed = {o.blocked_by or o.requirement for o in outcomes if o.verdict in RED}
    assert failed == set(EXACTLY[name].split())


def _touches(make: Callable[[], Any]) -> set[str]:
    """The calls whose checks a cheat is tried on."""
    if not issubclass(make, ReferenceAdapter):  # type: ignore[arg-type]
        return {*EMPTY, "scheduler", "gateway"}
    return set(changed_methods(make())) or set(DATA)


@pytest.mark.parametrize("make", CHEATS, ids=lambda make: make.__name__)
def test_the_floor(make: Callable[[], Any], snapshot: SnapshotAssertion) -> None:
    """What a cheat passes of the requirements that its tricks touch. It may shrink; growing needs a good reason."""
    adapter = Adapter(make(), call_seconds=2.0)
    touched = _touches(make)
    found: dict[str, set[Verdict]] = {}
    for check in load_checks():
        if set(check.calls) & touched:
            outcome = run_check(check, adapter, Effort(factor=0.2, shrink=False))
            found.setdefault(check.requirement, set()).add(outcome.verdict)
    passed = [r.id for r in load_catalogue() if Verdict.PASS in found.get(r.id, ()) and not found[r.id] & {*RED}]
    tested = [r for r, verdicts in found.items() if verdicts != {Verdict.NOT_APPLICABLE}]
    assert {"passes": passed, "of": len(tested)} == snapshot
    page = (Path(cheats.__file__).parent / "README.md").read_text()
    told = re.search(rf"^\| `{make.__name__}`: .+ \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    assert told, "not on the page"
    assert told.groups() == (str(len(passed)), str(len(tested)))
