"""Tests of the checks with effects: honest adapters of every shape pass, and stories are told."""

from __future__ import annotations

from typing import Any

import compactors
import pytest
import schedulers

from observed_context_conformance.checking import Adapter, Check, Effort, Verdict, load_checks, run_check
from observed_context_conformance.faults import load_faults
from observed_context_conformance.faults.stepped import SteppedAdapter
from observed_context_conformance.strategies.stored import overflow, said, word

QUICK = Effort(factor=0.1)


def checks(*modules: str) -> list[Check]:
    return [made for made in load_checks() if made.body.__module__.rpartition(".")[2] in modules]


COMPACTION = checks(
    "compaction", "compaction_prompt", "compaction_history", "compaction_sessions", "redaction_compaction"
)
SCHEDULING = checks("scheduling", "scheduling_history")


@pytest.mark.parametrize("made", COMPACTION, ids=lambda made: made.name)
@pytest.mark.parametrize("honest", [*compactors.HONEST, SteppedAdapter], ids=lambda honest: honest.__name__)
def test_no_check_fails_an_honest_compactor(honest: type[Any], made: Check) -> None:
    outcome = run_check(made, Adapter(honest()), QUICK)
    assert outcome.verdict is Verdict.PASS, (outcome.expected, outcome.got, *outcome.story)


@pytest.mark.parametrize("made", SCHEDULING, ids=lambda made: made.name)
@pytest.mark.parametrize("honest", schedulers.HONEST, ids=lambda honest: honest.__name__)
def test_no_check_fails_an_honest_scheduler(honest: type[Any], made: Check) -> None:
    adapter = Adapter(honest())
    outcome = run_check(made, adapter, QUICK)
    adapter.close()
    assert outcome.verdict is Verdict.PASS, (outcome.expected, outcome.got, *outcome.story)


def test_a_lost_message_is_shown_as_a_story() -> None:
    fault = next(fault for fault in load_faults() if fault.id == "cmp-position-is-the-watermark")
    check = next(made for made in COMPACTION if made.name == "every_message_was_summarised_or_is_shown_or_is_counted")
    outcome = run_check(check, Adapter(fault.make()))
    assert outcome.verdict is Verdict.FAIL
    assert outcome.story[0].startswith("messages 1 to ")
    assert "pass 1 starts; the summariser answers" in outcome.story
    assert outcome.story[-1] == "the pass stores a summary without a watermark"
    assert len(outcome.story) < 8


def test_a_scheduler_that_misuses_the_store_is_told_so() -> None:
    class StoresNonsense(schedulers.SchedulesByPolling):
        def summary_row(self, body: str, through: int, covered: int) -> dict[str, Any]:
            return {"role": "nobody"}

        def scheduler(self, store: Any, limits: Any, summarize: Any, clock: Any) -> Any:
            made = super().scheduler(store, limits, summarize, clock)
            made._compactor = self
            return made

    check = next(made for made in SCHEDULING if made.requirement == "SCH-2")
    adapter = Adapter(StoresNonsense())
    outcome = run_check(check, adapter, QUICK)
    adapter.close()
    assert outcome.verdict is Verdict.FAIL
    assert outcome.signature is not None
    assert outcome.signature.endswith("scheduler-shape")
    assert "store.commit" in (outcome.got or "")


def test_words_are_unlike_each_other() -> None:
    words = [word(number) for number in range(50_000)]
    assert len(set(words)) == len(words)
    assert all(len(made) == 8 and made.isalpha() for made in words)


@pytest.mark.parametrize("form", ["line", "lines", "astral", "parts"])
@pytest.mark.parametrize("size", [60, 400, 6_000])
def test_a_message_is_as_long_as_it_says(form: Any, size: int) -> None:
    made = said(3, size, form=form)
    content = made.row["content"]
    text = content if isinstance(content, str) else (content or [])[0]["text"]
    assert len(text) == made.size == size
    assert made.stands_in(text)


def test_overflow_is_what_the_newest_rows_leave() -> None:
    limits = {"max_chars": 1_000, "max_rows": 3}
    assert overflow([100] * 10, limits).rows == 7  # type: ignore[arg-type]
    assert overflow([200] * 10, limits).rows == 8  # type: ignore[arg-type]
    assert overflow([200] * 10, limits).chars == 1_600  # type: ignore[arg-type]
    assert overflow([250, 250], limits, 1).rows == 1  # type: ignore[arg-type]
    assert overflow([900], {"max_chars": 0, "max_rows": 0}).rows == 0
