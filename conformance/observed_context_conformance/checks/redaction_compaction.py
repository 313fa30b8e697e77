"""Do secrets stay out of what goes to the summariser? (RED) What shows in a pass of compaction."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import permutations
from random import Random
from unittest.mock import patch

from hypothesis import assume, event
from hypothesis import strategies as st

from observed_context_conformance.checking import Adapter, check, expect, given, quote
from observed_context_conformance.environment import FAILURES, Behaviour, StoreFailure, Summariser, answers
from observed_context_conformance.ledger import Chat, Ended
from observed_context_conformance.port import Limits, Watermark
from observed_context_conformance.secrets import RUN, TAIL, load_secrets, survivor
from observed_context_conformance.strategies import plants
from observed_context_conformance.strategies.plants import Plant
from observed_context_conformance.strategies.secrets import MUST
from observed_context_conformance.strategies.stored import Said, said, summary_text, word

SMALL: Limits = {"max_chars": 1_000, "max_rows": 0}
"""Under these nearly every message goes to the summariser."""


def _leak(values: Iterable[str], text: str, around: str) -> str | None:
    """What of the secrets is left in a text: a run of twelve characters, or half of a shorter one (RED-1)."""
    left = survivor(values, text, around)
    return left if left and len(left) > TAIL else None


def _say(chat: Chat, between: str, sender: str | None = None) -> Said:
    """A message arrives that says exactly this."""
    message = said(len(chat.said), between=f" {between} ", sender=sender, session=chat.session)
    chat.say(message)
    return message


def _fill_up(chat: Chat) -> None:
    """Ordinary messages arrive until a pass is due, however long the others were."""
    chat.arrive_all([1_500] * 4)


def _part(prompt: str, message: Said) -> str:
    """What a prompt holds of a message; all of it when the message's own words are not there."""
    start, end = prompt.find(message.head), prompt.find(message.tail)
    return prompt[start : end + len(message.tail)] if 0 <= start < end else prompt


# -- RED-1 -----------------------------------------------------------------------------------------------------------


@check("RED-1", calls=("compact",), examples=3)
@given(seed=st.integers(0, 2**32 - 1))
def no_secret_of_any_kind_reaches_the_summariser(adapter: Adapter, seed: int) -> None:
    """A message for each kind that must not cross, with a fresh secret of that kind, all in one pass."""
    rng, chat = Random(seed), Chat(adapter, SMALL)
    planted: list[tuple[Said, Plant]] = []
    for make in MUST.values():
        plant = plants.planted(
            make(rng), rng.choice(plants.SENTENCES), rng.choice(plants.WRAPPERS), rng.choice(plants.ENDS)
        )
        planted.append((_say(chat, plant.text), plant))
    _fill_up(chat)
    chat.tell(f"{len(planted)} messages arrive, each with a secret of another kind, and four others")
    prompt = chat.succeed().prompt
    leaks = {
        plant.kinds[0]: left
        for message, plant in planted
        if (left := _leak(plant.values, _part(prompt, message), plant.around))
    }
    expect(not leaks, "secrets-in-prompt", expected="none of them in the prompt", got=_listed(leaks, len(planted)))


@check("RED-1", calls=("compact",))
def no_secret_of_the_corpus_reaches_the_summariser(adapter: Adapter) -> None:
    """A message for each sentence of the corpus whose secret must not cross, all in one pass."""
    chat = Chat(adapter, SMALL)
    records = [record for record in load_secrets() if record.level == "must"]
    planted = [(_say(chat, record.text), record) for record in records]
    _fill_up(chat)
    chat.tell(f"{len(planted)} messages arrive, each a sentence of the corpus, and four others")
    prompt = chat.succeed().prompt
    leaks = {
        f"{record.kind} ({record.id})": left
        for message, record in planted
        if (left := _leak(record.secrets, _part(prompt, message), record.around))
    }
    expect(not leaks, "secrets-in-prompt", expected="none of them in the prompt", got=_listed(leaks, len(planted)))


def _listed(leaks: dict[str, str], of: int) -> str:
    shown = [f"{kind}: {quote(left, 40)}" for kind, left in list(leaks.items())[:4]]
    return f"{len(leaks)} of {of} are: {'; '.join(shown)}"


@check("RED-1", calls=("compact",), examples=40)
@given(text=plants.plants(), name=plants.names(), medium=plants.media(), summary=plants.summaries())
def no_secret_reaches_the_summariser_wherever_it_stands(
    adapter: Adapter, text: Plant, name: Plant, medium: tuple[object, Plant], summary: Plant
) -> None:
    """A secret in a text, in a sender's name, in a media reference, and in the summary of an older version."""
    chat, (_, file) = Chat(adapter, SMALL), medium
    _apart(text, name, file, summary)
    _keep(chat, summary.text)
    _say(chat, text.text)
    _say(chat, "hello", sender=name.text)
    _say(chat, f"look\n[document: {file.text}]\n")
    chat.tell("messages arrive with secrets in a text, in a name and in a media reference")
    _fill_up(chat)
    prompt = chat.succeed().prompt
    for place, plant in (("text", text), ("name", name), ("media-reference", file), ("previous-summary", summary)):
        left = _leak(plant.values, prompt, plant.around)
        expect(
            not left,
            f"secret-in-{place}",
            expected=f"the secret in the {place.replace('-', ' ')} ({plant.kinds[0]}) is not in the prompt",
            got=f"{quote(left)} of it is",
        )


def _apart(*several: Plant) -> None:
    """Every place holds secrets of its own, so that what is found says where it came from."""
    for plant, other in permutations(several, 2):
        assume(not survivor(plant.values, other.text))


def _keep(chat: Chat, body: str) -> None:
    """An old message is stored, and a summary of it that was written before anybody thought of secrets."""
    old = chat.arrive(100)
    covers: Watermark = {"covered": 1} if chat.positional else {"covered": 1, "covers_through": chat.seqs[-1]}
    chat.store.put(chat.session, {"role": "user", "observed": True, "content": body, "summary": covers})
    chat.given.add(old.number)
    chat.tell("there is a summary of an older version, which holds a secret")


# -- RED-2 -----------------------------------------------------------------------------------------------------------

LONG = 9_000
"""A row of so many characters is cut by every adapter (CMP-7)."""


@check("RED-2", calls=("compact",), after=("RED-1",), examples=15)
@given(data=st.data())
def a_secret_across_the_cut_of_a_row_leaks_nothing(adapter: Adapter, data: st.DataObject) -> None:
    """Where a row is cut is found out with words; then a secret is laid across each of these places."""
    chat, message = _with_a_long_row(adapter, _words(LONG))
    prompt = chat.succeed().prompt
    content = str(message.row["content"])
    for place in _cuts(content, prompt):
        within = place - content.index(message.head) - len(message.head) - 1
        plant = data.draw(plants.across(within), label=f"across character {place}")
        chat, _ = _with_a_long_row(adapter, _padded(plant.text, LONG))
        chat.tell(f"its text holds a secret ({plant.kinds[0]}) across character {place:,}")
        left = _leak(plant.values, chat.succeed().prompt, plant.around)
        event("a secret across a cut")
        expect(
            not left,
            "part-of-a-secret",
            expected=f"no part of a secret that lies across character {place:,}, where long rows are cut",
            got=f"{quote(left)} of {plant.kinds[0]} is in the prompt",
        )


def _with_a_long_row(adapter: Adapter, between: str) -> tuple[Chat, Said]:
    chat = Chat(adapter, SMALL)
    message = _say(chat, between)
    chat.arrive_all([400] * 2)
    chat.tell(f"one of the messages has {message.size:,} characters")
    return chat, message


def _words(size: int, first: int = 1_000_000) -> str:
    """So many characters of words, each of which comes once."""
    return " ".join(word(first + number) for number in range(size // 9))


def _padded(text: str, size: int) -> str:
    filler = " the demo is on friday and we still need a room for it,"
    return text + (filler * (size // len(filler) + 1))[: max(0, size - len(text))]


def _cuts(text: str, shown: str) -> list[int]:
    """The places in `text`, a text of words, where `shown` stops or starts again."""
    places, there = [], True
    for match in re.finditer(r"\b[a-z]{8}\b", text):
        if (match[0] in shown) != there:
            there = not there
            places.append(match.start() + 4 if not there else match.start() - 4)
    return places


@check("RED-2", calls=("compact",), after=("RED-1",))
def a_secret_across_the_end_of_a_pass_leaks_nothing(adapter: Adapter) -> None:
    """More rows than go into one pass: when the last of them is cut to fit, a secret is laid across that cut."""
    texts = [_words(4_800, 2_000_000 + 1_000 * number) for number in range(36)]
    prompt = _pass_over(adapter, texts)
    last = next((number for number, text in enumerate(texts) if _cuts(text, prompt)), None)
    if last is None or not any(name in prompt for name in texts[last].split()):
        return  # the pass ends between two rows
    place = _cuts(texts[last], prompt)[0]
    for kind in ("github_pat_classic", "url_userinfo", "terraform_cloud"):
        secret = MUST[kind](Random(len(kind)))
        inside = secret.written.index(secret.values[0]) + RUN + 2
        text = f"{_padded('', place - inside - 1)} {secret.written} "
        prompt = _pass_over(adapter, [*texts[:last], _padded(text, len(texts[last])), *texts[last + 1 :]])
        adapter.story.append(f"message {last + 1} holds a secret across the place where the pass ends")
        left = _leak(secret.values, prompt, "")
        expect(
            not left,
            "part-of-a-secret",
            expected="no part of a secret that lies across the place where a pass ends",
            got=f"{quote(left)} of {secret.kind} is in the prompt",
        )


def _pass_over(adapter: Adapter, texts: Iterable[str]) -> str:
    """The prompt of a pass over messages with these texts."""
    chat = Chat(adapter, SMALL)
    for text in texts:
        _say(chat, text)
    chat.tell(f"{len(chat.said)} messages arrive ({sum(message.size for message in chat.said):,} characters)")
    return chat.run().prompt


@check("RED-2", calls=("compact",), after=("RED-3",), examples=60)
@given(data=st.data())
def a_secret_across_the_cut_of_a_summary_leaks_nothing(adapter: Adapter, data: st.DataObject) -> None:
    """A long answer is cut before it is stored; a secret is laid across the place where it is."""
    answer = _words(5_000)
    limits: Limits = {"max_chars": 4_000, "max_rows": 0}
    content = _stored(_answered(adapter, limits, answer))
    for place in _cuts(answer, content):
        plant = data.draw(plants.across(place), label=f"across character {place}")
        ended = _answered(adapter, limits, _padded(plant.text, 5_000))
        left = _leak(plant.values, _stored(ended), plant.around)
        event("a secret across a cut")
        expect(
            not left,
            "part-of-a-secret",
            expected=f"no part of a secret that lies across character {place:,} of an answer, where it is cut",
            got=f"{quote(left)} of {plant.kinds[0]} is in the stored summary",
        )


def _answered(adapter: Adapter, limits: Limits, answer: str) -> Ended:
    """A pass whose summariser answers this."""
    chat = Chat(adapter, limits)
    chat.arrive_all([1_000] * 8)
    return chat.succeed(Summariser(answers(answer, f"answers with {len(answer):,} characters")))


def _stored(ended: Ended) -> str:
    """What a pass stored, all fields, as one text."""
    return "\n".join(str(value) for row in ended.stored for value in row.values())


# -- RED-3 -----------------------------------------------------------------------------------------------------------


@check("RED-3", calls=("compact",), examples=60)
@given(plant=st.one_of(plants.plants(), plants.summaries()))
def a_secret_in_the_answer_is_not_stored(adapter: Adapter, plant: Plant) -> None:
    """The summariser answers with a secret that it knows from elsewhere."""
    ended = _answered(adapter, {"max_chars": 8_000, "max_rows": 0}, f"{summary_text(0)} {plant.text}")
    adapter.story.append(f"the answer holds a secret ({plant.kinds[0]})")
    for where, text in (("stored", _stored(ended)), ("returned", repr(ended.row))):
        left = _leak(plant.values, text, plant.around)
        expect(
            not left,
            f"secret-{where}",
            expected=f"a secret in the answer ({plant.kinds[0]}) is redacted before the summary is {where}",
            got=f"{quote(left)} of it is in the row",
        )


# -- RED-4 -----------------------------------------------------------------------------------------------------------

_PREFERENCE = re.compile(r"redact|mask|sanitiz|scrub|secret|sensitive|privacy|debug|verbose|log_?level", re.IGNORECASE)
_OFF = re.compile(
    r"(^|_)(no|not|disable\w*|skip|without|unsafe|show|reveal|allow|debug|verbose|unmasked|raw)(_|$)", re.IGNORECASE
)


class _Obliging(dict[str, str]):
    """An environment in which every preference that is asked for says: show me everything."""

    def __missing__(self, key: str) -> str:
        if not _PREFERENCE.search(key):
            raise KeyError(key)
        if "level" in key.lower():
            return "DEBUG"
        return "1" if _OFF.search(key) else "0"

    def get(self, key: str, default: object = None) -> object:  # type: ignore[override]
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        return dict.__contains__(self, key) or (isinstance(key, str) and bool(_PREFERENCE.search(key)))


@contextmanager
def _preferring_to_see_everything() -> Iterator[None]:
    """Environment variables and log levels of somebody who wants to see all."""
    root, disabled = logging.getLogger(), logging.root.manager.disable
    level, handlers = root.level, root.handlers
    environment = _Obliging(os.environ)
    logging.disable(logging.NOTSET)
    root.setLevel(logging.DEBUG)
    root.handlers = [logging.NullHandler()]
    try:
        with patch.object(os, "environ", environment):
            yield
    finally:
        root.handlers = handlers
        root.setLevel(level)
        logging.disable(disabled)


@check("RED-4", calls=("compact",), after=("RED-1", "RED-3"), examples=15)
@given(asked=plants.plants(), answered=plants.plants())
def no_preference_opens_the_boundary(adapter: Adapter, asked: Plant, answered: Plant) -> None:
    """Log levels at DEBUG, and every environment variable that is asked about masking says no."""
    chat = Chat(adapter, {"max_chars": 8_000, "max_rows": 0})
    _apart(asked, answered)
    _say(chat, asked.text)
    chat.arrive_all([2_000] * 5)
    chat.tell("a message holds a secret, and so will the answer; every preference says that nothing is to be masked")
    with _preferring_to_see_everything():
        ended = chat.succeed(Summariser(answers(f"{summary_text(0)} {answered.text}")))
    for place, plant, text in (("prompt", asked, ended.prompt), ("summary", answered, _stored(ended))):
        left = _leak(plant.values, text, plant.around)
        expect(
            not left,
            f"secret-in-{place}",
            expected=f"no secret in the {place}, whatever display and logging preferences say",
            got=f"{quote(left)} of {plant.kinds[0]} is in it",
        )


# -- RED-5 -----------------------------------------------------------------------------------------------------------


@check("RED-5", calls=("compact",), after=("RED-1",), examples=20)
@given(text=plants.plants(), name=plants.names(), summary=plants.summaries(), which=st.integers(0, 2))
def a_failing_pass_tells_no_secret(adapter: Adapter, text: Plant, name: Plant, summary: Plant, which: int) -> None:
    """The summariser fails, or quotes its prompt while it fails, or the store does; logs are read at every level."""
    chat = Chat(adapter, SMALL)
    _apart(text, name, summary)
    _keep(chat, summary.text)
    _say(chat, text.text)
    _say(chat, "hello", sender=name.text)
    _fill_up(chat)
    summariser = Summariser((FAILURES[0], _quoting(), answers(summary_text(0)))[which])
    if which == 2:
        chat.store.at("write", _disk_full)
        chat.tell("the store will not take the summary")
    with _records() as records:
        ended = chat.run(summariser, may_raise=True)
    told = "\n".join((*records, *adapter.last_words()))
    raised = "\n".join(_chain(ended.crash))
    event("something was logged" if told else "nothing was logged")
    for place, plant in (("text", text), ("name", name), ("previous summary", summary)):
        for where, words in (("log", told), ("exception", raised)):
            left = _leak(plant.values, words, plant.around)
            expect(
                not left,
                f"secret-in-{where}",
                expected=f"a failing pass leaves no secret in the {where} ({plant.kinds[0]} in a {place})",
                got=f"{quote(left)} of it is in the {where}",
            )


def _quoting() -> Behaviour:
    """A summariser whose error holds the prompt that it was given."""

    def respond(prompt: str) -> str | None:
        raise ValueError(f"400 invalid request: {prompt}")

    return Behaviour("raises an error that quotes the prompt", respond, usable=False)


def _disk_full() -> None:
    raise StoreFailure("the disk is full")


@contextmanager
def _records() -> Iterator[list[str]]:
    """Every log record that is made meanwhile, at any level, with its traceback."""
    kept: list[str] = []
    formatter = logging.Formatter("%(name)s %(levelname)s %(message)s")

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            kept.append(formatter.format(record))

    root, disabled = logging.getLogger(), logging.root.manager.disable
    level, handlers = root.level, root.handlers
    logging.disable(logging.NOTSET)
    root.setLevel(logging.DEBUG)
    root.handlers = [Keeper()]
    try:
        yield kept
    finally:
        root.handlers = handlers
        root.setLevel(level)
        logging.disable(disabled)


def _chain(error: BaseException | None) -> Iterator[str]:
    """The texts of an exception, of its causes and of its contexts."""
    while error is not None:
        yield f"{error!s} {error!r}"
        error = error.__cause__ or error.__context__


REACH = {
    "a_secret_across_the_cut_of_a_row_leaks_nothing": {"a secret across a cut": 0.9},
    "a_secret_across_the_cut_of_a_summary_leaks_nothing": {"a secret across a cut": 0.9},
}
