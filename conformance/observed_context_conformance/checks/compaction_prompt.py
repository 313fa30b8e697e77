"""Checks of compaction (CMP): what the summariser is given, and how messages stand in it."""

from __future__ import annotations

import re

from hypothesis import event
from hypothesis import strategies as st

from observed_context_conformance.checking import Adapter, check, expect, given, quote
from observed_context_conformance.environment import (
    FENCE,
)
from observed_context_conformance.ledger import Chat
from observed_context_conformance.port import Limits
from observed_context_conformance.strategies.stored import (
    Backlog,
    Said,
    due_backlogs,
    is_due,
    limits_of,
    said,
    summary_text,
    summary_words,
)

ROW_CHARS = 6_000
"""What one row may take of a prompt, in characters (CMP-7)."""

PASS_CHARS = 160_000
"""What the rows of one pass may take together, in characters (CMP-7)."""


CALM: Limits = {"max_chars": 1_000, "max_rows": 0}
"""Under these a pass is due from two overflowing rows with 4,000 characters on."""


# -- CMP-3: each pass builds on the last ------------------------------------------------------------------------------


@check("CMP-3", calls=("compact",), examples=40)
@given(backlog=due_backlogs(limits=limits_of(chars=(1000, 4000, 10_000))), meanwhile=st.integers(0, 2))
def a_later_pass_is_given_the_previous_summary_and_what_is_new(
    adapter: Adapter, backlog: Backlog, meanwhile: int
) -> None:
    """Three passes in a row; every message and every summary has words that nothing else holds."""
    chat = Chat(adapter, backlog.limits)
    for number in range(3):
        chat.arrive_all(backlog.sizes)
        previous, covered = chat.summary, chat.covered()
        labels = _labels(chat, summary_text(number - 1)) if previous else []
        ended = chat.run(chat.interrupted(meanwhile))
        again = [message for message in covered if message.stands_in(ended.prompt)]
        expect(
            not again,
            "covered-row-again",
            expected="only rows that are not covered yet are in the prompt",
            got=f"{chat.name(again[0])} is in it, which the summary covers" if again else "",
        )
        twice = [m for m in chat.said if ended.prompt.count(m.head) > 1 or ended.prompt.count(m.tail) > 1]
        expect(
            not twice,
            "row-twice",
            expected="each row is in the prompt once",
            got=f"{chat.name(twice[0])} is in it more than once" if twice else "",
        )
        if previous is None or not ended.requests:
            continue
        event("a pass after a pass")
        lacking = [word for word in summary_words(number - 1) if word not in ended.prompt]
        expect(
            not lacking,
            "previous-summary-missing",
            expected="the prompt holds the body of the previous summary",
            got=f"{quote(lacking)} of it is not in the prompt",
        )
        before = ended.prompt.partition(summary_text(number - 1))[0].rstrip()
        fed_back = [label for label in labels if before.endswith(label)]
        expect(
            not fed_back,
            "label-in-prompt",
            expected="the prompt holds the previous summary without its label or wrapper",
            got=f"{quote(fed_back)} stands before it",
        )


def _labels(chat: Chat, body: str) -> list[str]:
    """What stands before the body of the newest summary: in its row, and in the block."""
    rows = [
        chat.summary["content"] if chat.summary else None,
        chat.block() if chat.adapter.offers("assemble") else None,
    ]
    labels = [text.partition(body)[0].rstrip() for text in rows if isinstance(text, str) and body in text]
    # One or two words ("Summary:") may introduce anything.
    return [label for label in labels if len(label.split()) >= 3]


# -- CMP-7: the prompt is bounded -------------------------------------------------------------------------------------


@check("CMP-7", calls=("compact",), examples=12)
@given(size=st.sampled_from((6_100, 6_500, 9_000, 12_001, 30_000)), place=st.integers(0, 2))
def a_row_takes_at_most_6000_characters_and_its_cut_is_marked(adapter: Adapter, size: int, place: int) -> None:
    """A long row is filled with a letter of its own; without a mark its prompt reads like that of a short one."""
    prompts = []
    for length in (3_000, size):
        chat = Chat(adapter, {"max_chars": 2_000, "max_rows": 0})
        for number in range(3):
            chat.arrive(length if number == place else 2_500, filler=_LETTERS[number])
        chat.arrive_all((300, 300))
        ended = chat.succeed()
        prompts.append((chat, ended.prompt))
    chat, prompt = prompts[1]
    taken = prompt.count(_LETTERS[place])
    expect(
        taken <= ROW_CHARS,
        "row-too-long",
        expected=f"a row of {size:,} characters takes at most {ROW_CHARS:,} characters of the prompt",
        got=f"{taken:,} characters of it are there",
    )
    whole, cut = (_collapsed(chat, prompt, _LETTERS[place]) for chat, prompt in prompts)
    expect(
        whole != cut,
        "cut-not-marked",
        expected="something in the prompt says that the row was cut",
        got="the prompt reads like that of a short row",
    )


_LETTERS = "".join(chr(0x4E00 + number) for number in range(200))


def _collapsed(chat: Chat, prompt: str, letter: str) -> str:
    """The prompt without the words of its messages, blanks, and repetitions of the letter that fills one of them."""
    for message in chat.said:
        prompt = prompt.replace(message.head, "").replace(message.tail, "")
    prompt = "".join(prompt.split())
    while letter * 2 in prompt:
        prompt = prompt.replace(letter * 2, letter)
    return prompt


@check("CMP-7", calls=("compact",), examples=2)
@given(size=st.sampled_from((5_900, 8_000)))
def a_pass_takes_at_most_160000_characters_and_leaves_the_rest_for_the_next(adapter: Adapter, size: int) -> None:
    """Thirty-four long rows, and passes until they are worked off."""
    chat = Chat(adapter, {"max_chars": 4_000, "max_rows": 0})
    for number in range(34):
        chat.arrive(size, filler=_LETTERS[number])
    chat.tell(f"{len(chat.said)} messages arrive, {size * len(chat.said):,} characters in all")
    for _ in range(40):
        ended = chat.run()
        taken = sum(ended.prompt.count(_LETTERS[number]) for number in range(len(chat.said)))
        expect(
            taken <= PASS_CHARS,
            "pass-too-long",
            expected=f"the rows of one pass take at most {PASS_CHARS:,} characters of its prompts",
            got=f"they take {taken:,}",
        )
        unread = [message for message in chat.covered() if message.number not in chat.given]
        expect(
            not unread,
            "elided",
            expected="rows that do not fit into a pass stay uncovered and wait for the next one",
            got=f"{chat.listed(unread)} counts as covered and was in no prompt",
        )
        if not is_due(chat.sizes(), chat.limits) or chat.positional:
            return  # a positional summary cannot leave anything for later
    expect(
        False,
        "never-worked-off",
        expected=f"{len(chat.said)} rows of {size:,} characters are summarised in a few passes",
        got=f"after {chat.passes} passes {chat.overflowing()}",
    )


# -- CMP-9: messages are data -----------------------------------------------------------------------------------------


# A summariser may be told in any language; what is not in one of these is believed.
_NEVER = re.compile(
    r"\b(not|nothing|none|never|no|don't|ignore|disregard|rather than|instead of|untrusted|data only|"
    r"nicht\w*|kein\w*|nie|ne|pas|jamais|rien|no|nada|nunca|não|non|mai)\b",
    re.IGNORECASE,
)
_FOLLOW = re.compile(
    r"\b(instru\w+|command\w*|orders?|requests?|directives?|follow\w*|obey\w*|execut\w*|carr(y|ied) out|act(ed)? on|"
    r"data only|anweis\w+|befehl\w*|befolg\w*|istruzion\w*|ordres?)\b",
    re.IGNORECASE,
)


@check("CMP-9", calls=("compact",))
def the_prompt_says_that_nothing_in_the_messages_is_to_be_followed(adapter: Adapter) -> None:
    """Some sentence beside the messages says so, in any of a few languages; other scripts are believed."""
    chat = Chat(adapter, CALM)
    chat.arrive_all([2_500, 2_500, 400])
    frame = _frame(chat, chat.succeed().prompt)
    sentences = re.split(r"[.!?;]|\n\s*\n", frame)
    told = any(_NEVER.search(sentence) and _FOLLOW.search(sentence) for sentence in sentences)
    foreign = sum(character.isalpha() and not character.isascii() for character in frame) >= 20
    expect(
        told or foreign,
        "no-instruction",
        expected="beside the messages the prompt says that they are data, and that nothing in them is to be followed",
        got=f"beside the messages it says {quote(frame, 400)}",
    )


@check("CMP-9", calls=("compact",))
def each_message_in_the_prompt_is_attributed_to_its_sender(adapter: Adapter) -> None:
    """Beside each message stands its sender's name or id."""
    chat = Chat(adapter, CALM)
    chat.arrive_all([1_500] * 5 + [400])
    prompt = chat.succeed().prompt
    places = _places(chat, prompt)
    for index, (start, end, message) in enumerate(places):
        after = places[index - 1][1] if index else 0
        until = places[index + 1][0] if index + 1 < len(places) else len(prompt)
        around = prompt[after:start] + prompt[end:until]
        expect(
            not message.sender.isascii() or message.sender in around or message.identity in around,
            "sender-missing",
            expected=f"beside a message the prompt says who wrote it, {message.sender} or {message.identity}",
            got=f"around {chat.name(message)} it says {quote(around)}",
        )


@check("CMP-9", calls=("compact",))
def no_message_in_the_prompt_can_pass_for_two(adapter: Adapter) -> None:
    """A message repeats, letter for letter, what the adapter writes between two messages."""
    _, prompt, places = _prompt_with(adapter, None)
    boundary = prompt[places[0][1] : places[1][0]]
    chat, prompt, places = _prompt_with(adapter, boundary)
    expect(
        _forged(chat, prompt) != prompt[places[0][1] : places[1][0]],
        "message-passes-for-two",
        expected=f"what stands between two messages cannot be forged by one: {UNFORGEABLE}",
        got=f"message 3 says {quote(boundary)}, and the prompt has it word for word",
    )


@check("CMP-9", calls=("compact",))
def no_message_in_the_prompt_can_end_the_messages(adapter: Adapter) -> None:
    """A message repeats, letter for letter, what the adapter writes after the last message."""
    _, prompt, places = _prompt_with(adapter, None)
    ending = _ending(prompt, places)
    if not ending.strip():
        return  # the messages end where the prompt does
    chat, prompt, places = _prompt_with(adapter, ending)
    expect(
        _forged(chat, prompt) != _ending(prompt, places),
        "message-ends-the-messages",
        expected=f"what stands after the last message cannot be forged by one: {UNFORGEABLE}",
        got=f"message 3 says {quote(ending)}, and the prompt has it word for word",
    )


UNFORGEABLE = "it is escaped or quoted in messages, or cannot be known beforehand"


Places = list[tuple[int, int, Said]]


def _places(chat: Chat, prompt: str) -> Places:
    """Where the words of each message begin and end in a prompt, in the order of the prompt."""
    found = [
        (prompt.index(message.head), prompt.index(message.tail) + len(message.tail), message)
        for message in chat.said
        if message.head in prompt and message.tail in prompt
    ]
    return sorted(found, key=lambda place: place[0])


def _frame(chat: Chat, prompt: str) -> str:
    """The prompt without its messages."""
    for start, end, _ in reversed(_places(chat, prompt)):
        prompt = prompt[:start] + prompt[end:]
    return prompt


def _prompt_with(adapter: Adapter, text: str | None) -> tuple[Chat, str, Places]:
    """The prompt for a few messages, of which the third holds `text` between its words."""
    chat = Chat(adapter, CALM)
    for number in range(14):
        if number == 2 and text is not None:
            chat.say(said(number, 0, between=text.replace(FENCE, ""), session=chat.session))
            chat.tell(f"message 3 says {quote(text)}")
        else:
            chat.arrive(400)
    chat.tell(f"{len(chat.said)} messages have arrived")
    prompt = chat.succeed().prompt
    places = _places(chat, prompt)
    expect(
        len(places) >= 4,
        "messages-missing",
        expected="the oldest messages are in the prompt",
        got=f"{len(places)} of {len(chat.said)} are there whole",
    )
    return chat, prompt, places


def _ending(prompt: str, places: Places) -> str:
    """What stands after the last message, to the end of the first line with something on it."""
    rest = prompt[places[-1][1] :]
    match = re.match(r"\s*\S[^\n]*\n?(\s*\S[^\n]*)?", rest)
    return match[0] if match else ""


def _forged(chat: Chat, prompt: str) -> str:
    """What stands in the prompt between the words of the third message."""
    forger = chat.said[2]
    start = prompt.find(forger.head) + len(forger.head)
    return prompt[start : prompt.find(forger.tail)]


REACH = {"a_later_pass_is_given_the_previous_summary_and_what_is_new": {"a pass after a pass": 0.9}}
