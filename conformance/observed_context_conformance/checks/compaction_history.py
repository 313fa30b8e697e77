"""Checks of compaction (CMP) over time: passes that fail, messages that arrive meanwhile, and nothing lost."""

from __future__ import annotations

from hypothesis import event
from hypothesis import strategies as st

from observed_context_conformance.checking import Adapter, check, expect, given, quote
from observed_context_conformance.environment import FAILURES, Summariser, answers, only_thinks
from observed_context_conformance.ledger import Chat
from observed_context_conformance.port import Limits
from observed_context_conformance.strategies.stored import (
    Arrive,
    Backlog,
    Step,
    due_backlogs,
    histories,
    limits_of,
    summary_text,
)

CALM: Limits = {"max_chars": 1_000, "max_rows": 0}
"""Under these a pass is due from two overflowing rows with 4,000 characters on."""

THINKING = "The members talk about lunch. First, who said what?"

# -- CMP-4: failures --------------------------------------------------------------------------------------------------


@check("CMP-4", calls=("compact",), examples=8)
@given(backlog=due_backlogs(limits=limits_of(chars=(1000, 4000))), compacted=st.booleans(), meanwhile=st.booleans())
def a_failing_summariser_leaves_the_transcript_as_it_was(
    adapter: Adapter, backlog: Backlog, compacted: bool, meanwhile: bool
) -> None:
    """Failures of every kind in a row, then a pass that succeeds and begins where they began."""
    chat = Chat(adapter, backlog.limits)
    chat.arrive_all(backlog.sizes)
    if compacted:
        chat.run()
        chat.arrive_all(backlog.sizes)
    oldest = chat.verbatim()[0]
    for failure in FAILURES:
        with adapter.must_not_raise("raises", expected="compact() returns null when the summariser fails"):
            ended = chat.run(chat.interrupted(meanwhile, failure))
        expect(
            not ended.stored,
            "stored-after-a-failure",
            expected=f"nothing is stored when the summariser {failure.story}",
            got=f"{quote(list(ended.stored))} was stored",
        )
        expect(
            ended.row is None,
            "reported-after-a-failure",
            expected=f"compact() returns null when the summariser {failure.story}",
            got=f"it returned {quote(ended.row)}",
        )
    ended = chat.run()
    expect(
        oldest.stands_in(ended.prompt),
        "failure-moved-the-watermark",
        expected=f"after a failed pass the next one begins where it began, with {chat.name(oldest)}",
        got=f"{chat.name(oldest)} is not in its prompt" if ended.requests else "the summariser is not asked",
    )


@check("CMP-4", calls=("compact",))
def reasoning_without_its_opening_or_its_end_is_no_summary(adapter: Adapter) -> None:
    """Two sections, one whose opening tag stood in the prompt, and one that was cut off: nothing comes after them."""
    chat = Chat(adapter, CALM)
    chat.arrive_all([2_500, 2_500, 400])
    for answer in (
        f"<think>{THINKING}</think>\n\n<think>\nAna wants soup.\n</think>\n",
        f"{THINKING}\n</think>\n",
        f"<think>\n{THINKING}",
    ):
        ended = chat.run(Summariser(only_thinks(answer)))
        expect(
            not ended.stored,
            "stored-reasoning",
            expected=f"nothing is stored when the summariser answers {quote(answer)}, which is reasoning alone",
            got=f"{quote(list(ended.stored))} was stored",
        )


@check("CMP-4", calls=("compact",))
def an_answer_after_reasoning_is_a_summary(adapter: Adapter) -> None:
    """After none, after one section, after two, and after one whose opening tag stood in the prompt."""
    for thinking in (
        "",
        f"<think>{THINKING}</think>\n\n",
        f"<think>\n{THINKING}\n</think>\n<think>Ana wants soup.</think>\n",
        f"{THINKING}\n</think>\n",
    ):
        chat = Chat(adapter, CALM)
        chat.arrive_all([2_500, 2_500, 400])
        answer = summary_text(0)
        ended = chat.run(Summariser(answers(thinking + answer, "answers" + " after some reasoning" * bool(thinking))))
        content = str(ended.stored[-1].get("content")) if ended.stored else ""
        expect(
            answer in content,
            "answer-lost",
            expected=f"{quote(answer)} is stored when the summariser answers {quote(thinking + answer)}",
            got=f"{quote(content)} is stored" if ended.stored else "nothing is stored",
        )


# -- CMP-5: nothing is lost -------------------------------------------------------------------------------------------


@check("CMP-5", calls=("compact", "assemble"), after=("ASM-2", "ASM-3", "CAP-4"), examples=100)
@given(limits=limits_of(chars=(1000, 2000, 4000, 10_000)), history=histories())
def every_message_was_summarised_or_is_shown_or_is_counted(
    adapter: Adapter, limits: Limits, history: list[Step]
) -> None:
    """The kit keeps the ledger: after each step of a history, every message is in one of the three places."""
    chat = Chat(adapter, limits)
    for step in history:
        _take(chat, step)
        block = chat.block()
        missing, noted = chat.missing(block), chat.noted(block)
        expect(
            len(missing) <= noted,
            "message-lost",
            expected="each message was given to the summariser in a pass that succeeded, or is in the next block, "
            "or is counted in its note",
            got=f"{chat.listed(missing)} {'is' if len(missing) == 1 else 'are'} nowhere; "
            + (f"the note counts {noted}" if noted else "there is no note"),
        )


@check("CMP-5", calls=("compact",), examples=60)
@given(limits=limits_of(chars=(1000, 2000, 4000, 10_000)), history=histories())
def a_summary_covers_only_what_the_summariser_has_read(adapter: Adapter, limits: Limits, history: list[Step]) -> None:
    """The same without a block: what a watermark covers was in a prompt that was answered, in a pass that succeeded."""
    chat = Chat(adapter, limits)
    for step in history:
        _take(chat, step)
        unread = [message for message in chat.covered() if message.number not in chat.given]
        expect(
            not unread,
            "covers-what-was-not-read",
            expected="the newest summary covers only messages that the summariser was given in a pass that succeeded",
            got=f"it covers {chat.listed(unread)}, which no such prompt held",
        )


def _take(chat: Chat, step: Step) -> None:
    if isinstance(step, Arrive):
        if step.other:
            chat.interlude()
        chat.arrive_all([step.size] * step.count, "mixed")
        return
    summariser = chat.interrupted(step.meanwhile, step.behaviour)
    # Where position is the watermark, nothing can come between the last look and the write.
    for _ in range(0 if chat.positional else step.before_write):
        chat.store.at("write", lambda: chat.tell(f"{chat.name(chat.arrive(120))} arrives before the summary is stored"))
    if step.store_fails is not None:
        chat.store.fail(step.store_fails)
        chat.tell(f"the store will fail at the next {step.store_fails}")
    ended = chat.run(summariser, may_raise=step.store_fails is not None)
    event("a pass stored a summary" if ended.stored else "a pass stored nothing")
    if ended.stored and chat.passes > 1:
        event("a later pass stored a summary")
    if ended.requests and (step.meanwhile or step.before_write):
        event("messages arrived during a pass")
    if ended.requests and not ended.stored:
        event("a pass failed")


# -- CMP-6: what arrives during a pass --------------------------------------------------------------------------------


@check("CMP-6", calls=("compact",), examples=40)
@given(backlog=due_backlogs(), messages=st.integers(1, 4), again=st.booleans(), long=st.booleans())
def messages_that_arrive_while_the_summariser_runs_stay_verbatim(
    adapter: Adapter, backlog: Backlog, messages: int, again: bool, long: bool
) -> None:
    """They stand above the watermark, and in the next block where the adapter makes blocks."""
    chat = Chat(adapter, backlog.limits)
    chat.arrive_all(backlog.sizes)
    if again:
        chat.run(chat.interrupted(messages))
        chat.arrive_all(backlog.sizes)
    if long:
        chat.arrive_all([max(chat.limits["max_chars"], 100)])  # with a newest row like this one nothing is kept
    known = len(chat.said)
    ended = chat.run(chat.interrupted(messages))
    late = chat.said[known:]
    event("messages arrived during a pass that succeeded" if ended.stored and late else "nothing of the kind")
    covered = {message.number for message in chat.covered()}
    expect(
        not any(message.number in covered for message in late),
        "late-message-covered",
        expected="messages that arrive while the summariser runs are not covered by the summary",
        got=f"{chat.listed([message for message in late if message.number in covered])} counts as covered",
    )
    if not adapter.offers("assemble"):
        return
    block = chat.block()
    hidden = [message for message in late if not message.stands_in(block)]
    expect(
        not hidden or chat.noted(block),
        "late-message-not-shown",
        expected="messages that arrive while the summariser runs stand in the next block",
        got=f"{chat.listed(hidden)} is not in it",
    )


REACH = {
    "every_message_was_summarised_or_is_shown_or_is_counted": {
        "a pass stored a summary": 0.3,
        "a later pass stored a summary": 0.1,
        "messages arrived during a pass": 0.2,
        "a pass failed": 0.1,
    },
    "messages_that_arrive_while_the_summariser_runs_stay_verbatim": {
        "messages arrived during a pass that succeeded": 0.5
    },
}
