"""Do secrets stay out of what goes to the summariser? (RED) What `redact` shows by itself."""

from __future__ import annotations

import time
from collections.abc import Iterable
from random import Random

from hypothesis import event as reached
from hypothesis import strategies as st

from observed_context_conformance.checking import Adapter, check, expect, given, quote
from observed_context_conformance.secrets import Record, load_secrets
from observed_context_conformance.strategies import innocent, plants, texts
from observed_context_conformance.strategies import secrets as made
from observed_context_conformance.strategies.plants import Plant
from observed_context_conformance.strategies.secrets import Secret

REACH = {
    "no_fresh_secret_survives": {"anywhere": 0.2, "between blanks": 0.05, "on lines of its own": 0.05},
    "redacting_twice_changes_nothing": {"a secret": 0.3, "no secret": 0.1},
}

SHARE = 2
"""One in so many of the secrets of RED-6 has to be caught."""

HOSTILE = {
    "ordinary talk": "the build is red, see https://ci.acme.io/job/42?page=2 before lunch\n[10:02] mira: I will\n",
    "one letter": "a",
    "blanks": " ",
    "empty lines": "\n",
    "digits": "0123456789",
    "Base64 without an end": "QUJDRGVmZ2hp",
    "quotes": "\"'",
    "backslashes": "\\",
    "open brackets": '{"a":[',
    "passwords": "password: Wombat#7fKq2x\n",
    "names of secrets": "password=",
    "names of secrets, quoted": 'password="',
    "beginnings of URLs": "https://a:b",
    "beginnings of keys": "-----BEGIN PRIVATE KEY-----\n",
    "beginnings of tokens": "eyJ",
    "headers": "authorization:",
    "invisible characters": "a\u200b",
    "escapes": "%25",
}
"""What is repeated to make a text: talk, and what brings rules that are not bounded to a standstill."""

SIZES = (10_000, 100_000)
LARGE = ("ordinary talk", "one letter")
"""Texts that are tried with a megabyte, too."""

GROWTH = 20
NOTICEABLE = 1.0
PATIENCE = 5.0
TRIES = 3


# -- RED-1 -----------------------------------------------------------------------------------------------------------


@check("RED-1", calls=("redact",))
def no_secret_of_the_corpus_survives(adapter: Adapter) -> None:
    """Each secret of the kinds that must not cross, in the sentence in which the corpus has it."""
    records = [record for record in load_secrets() if record.level == "must"]
    missed = _missed(adapter, records)
    if missed:
        _show(adapter, missed)
    expect(not missed, "secrets-survive", expected=f"none of {len(records)} secrets left", got=_count(missed, records))


@check("RED-1", calls=("redact",), examples=400)
@given(secret=made.secrets(), data=st.data())
def no_fresh_secret_survives(adapter: Adapter, secret: Secret, data: st.DataObject) -> None:
    """A secret that was never seen before, of each of these kinds, among words of several languages."""
    plant = data.draw(plants.plants(st.just(secret)), label="plant")
    reached(secret.stands)
    _expect_gone(plant, adapter.redact(plant.text))


@check("RED-1", calls=("redact",), examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def no_kind_of_secret_survives(adapter: Adapter, seed: int) -> None:
    """One fresh secret of each kind in turn: many kinds are written in several ways."""
    for kind, make in made.MUST.items():
        adapter.begin_example()
        plant = plants.planted(make(Random(f"{kind} {seed}")), plants.SENTENCES[0], ("", ""), "")
        _expect_gone(plant, adapter.redact(plant.text))


@check("RED-1", calls=("redact",))
@given(plant=plants.gatherings())
def no_secret_hides_another(adapter: Adapter, plant: Plant) -> None:
    """Several secrets in one text, and the same one twice."""
    _expect_gone(plant, adapter.redact(plant.text))


@check("RED-1", calls=("redact",))
@given(plant=st.one_of(plants.names(), plants.media().map(lambda pair: pair[1]), plants.summaries()))
def no_secret_survives_in_a_name_a_file_or_a_summary(adapter: Adapter, plant: Plant) -> None:
    """Tokens where no sentence surrounds them: display names, file names, paths, URLs, earlier summaries."""
    _expect_gone(plant, adapter.redact(plant.text))


# -- RED-6 -----------------------------------------------------------------------------------------------------------


@check("RED-6", calls=("redact",))
def half_of_the_secrets_said_in_words_are_caught(adapter: Adapter) -> None:
    """At least half of the corpus's tier `context`: passwords and codes in sentences, keys without a mark of their own.

    Half, because no redactor catches all of them without maiming ordinary text, and one that was made for source code
    catches none: what is asked for is that somebody has thought of how people talk. A failure says how many.
    """
    _expect_half(adapter, "context")


@check("RED-6", calls=("redact",))
def half_of_the_disguised_secrets_are_caught(adapter: Adapter) -> None:
    """At least half of the corpus's tier `evasion`: tokens that are escaped, encoded, respelled, cut or split."""
    _expect_half(adapter, "evasion")


@check("RED-6", calls=("redact",), examples=30)
@given(token=made.tokens())
def half_of_the_disguises_of_a_token_are_seen_through(adapter: Adapter, token: Secret) -> None:
    """A fresh token in each of eighteen disguises: at least nine of them do not help it."""
    hidden = {disguise: plants.disguised(token, disguise) for disguise in plants.DISGUISES}
    missed = [name for name, plant in hidden.items() if plant.survivor(adapter.redact(plant.text)) is not None]
    reached(f"{len(hidden) - len(missed)} of {len(hidden)} seen through")
    expect(
        len(missed) * SHARE <= len(hidden),
        "disguises-help",
        expected=f"at least {len(hidden) // SHARE} of {len(hidden)} disguises seen through",
        got=f"{len(hidden) - len(missed)}; what helped: {', '.join(missed)}",
    )


# -- RED-7 -----------------------------------------------------------------------------------------------------------


@check("RED-7", calls=("redact",))
def sentences_without_a_secret_pass_unchanged(adapter: Adapter) -> None:
    """The corpus's negatives: what looks dangerous and is not."""
    records = [record for record in load_secrets() if record.level == "negative"]
    changed = [record for record in records if adapter.redact(record.text) != record.text]
    if changed:
        _show(adapter, changed)
    expect(
        not changed,
        "ordinary-text-is-changed",
        expected=f"{len(records)} sentences unchanged",
        got=f"{len(changed)} changed: {', '.join(dict.fromkeys(record.kind for record in changed))}",
    )


@check("RED-7", calls=("redact",), examples=250)
@given(text=innocent.chats())
def fresh_text_without_a_secret_passes_unchanged(adapter: Adapter, text: str) -> None:
    """Hashes, ids, numbers and program text that were never seen before."""
    after = adapter.redact(text)
    expect(after == text, "ordinary-text-is-changed", expected=quote(text), got=quote(after))


@check("RED-7", calls=("redact",))
@given(plant=plants.plants())
def words_beside_a_secret_survive(adapter: Adapter, plant: Plant) -> None:
    """Who takes away the whole message with the secret has no summary left."""
    _words_survive(adapter, plant, "words-beside-are-lost")


@check("RED-7", calls=("redact",))
@given(plant=plants.gatherings())
def words_between_secrets_survive(adapter: Adapter, plant: Plant) -> None:
    """What is said between two secrets is no part of either."""
    _words_survive(adapter, plant, "words-between-are-lost")


def _words_survive(adapter: Adapter, plant: Plant, slug: str) -> None:
    after = adapter.redact(plant.text)
    lost = [words for words in plant.beside if words not in after]
    expect(not lost, slug, expected=f"{quote(lost[0] if lost else '')} in the result", got=quote(after))


# -- RED-8 -----------------------------------------------------------------------------------------------------------


_DOUBTFUL = (
    "the docs say Authorization: Basic authentication",
    "authorization: token refreshes hourly",
    "cookie: chocolate",
    "password: -",
    "seed words: none yet",
    "your code is: later",
)
"""Whether there is a secret in them may be seen either way."""


def _texts(secret: bool) -> st.SearchStrategy[str]:
    if secret:
        return st.one_of(plants.plants(), plants.gatherings()).map(lambda plant: plant.text)
    return st.one_of(innocent.chats(), texts.messages(), st.sampled_from(_DOUBTFUL))


@check("RED-8", calls=("redact",))
@given(text=st.booleans().flatmap(_texts))
def redacting_twice_changes_nothing(adapter: Adapter, text: str) -> None:
    """What stands in the place of a secret is not taken for one."""
    once = adapter.redact(text)
    reached("no secret" if once == text else "a secret")
    twice = adapter.redact(once)
    expect(twice == once, "changes-again", expected=quote(once), got=quote(twice))


@check("RED-8", calls=("redact",))
@given(first=plants.plants(), second=plants.plants(), between=st.sampled_from(("\n", " ", "password: ", "token=", '"')))
def redacted_text_can_stand_in_a_text(adapter: Adapter, first: Plant, second: Plant, between: str) -> None:
    """A summary that holds what stands for a secret comes back in the next pass, beside new secrets."""
    once = adapter.redact(f"{adapter.redact(first.text)}{between}{second.text}")
    twice = adapter.redact(once)
    expect(twice == once, "changes-again", expected=quote(once), got=quote(twice))


@check("RED-8", calls=("redact",))
def time_grows_with_the_length(adapter: Adapter) -> None:
    """Ten times the text takes at most twenty times as long, for talk and for text that was made to stall.

    Of several calls the quickest counts, since other programs can only make a call slower. Less than a quarter of a
    second is quick enough whatever the ratio. Where ten times the time would be more than a call may take, nothing is
    concluded.
    """
    for name, piece in HOSTILE.items():
        for size in SIZES if name in LARGE else SIZES[:1]:
            promise = f"{size:,} characters ({name}) redacted within {PATIENCE:g} s"
            before = min(_seconds(adapter, _text(piece, size), PATIENCE, promise) for _ in range(TRIES))
            if before * 10 > PATIENCE:
                break
            allowed = max(NOTICEABLE, GROWTH * before)
            promise = f"at most {GROWTH} times the {before * 1000:.0f} ms that {size:,} characters ({name}) take"
            longer = _text(piece, 10 * size)
            after = _seconds(adapter, longer, 2 * allowed, promise)
            if after > allowed:
                after = min(_seconds(adapter, longer, 2 * allowed, promise) for _ in range(TRIES))
            expect(
                after <= allowed, "grows-too-fast", expected=promise, got=f"{after * 1000:.0f} ms for {len(longer):,}"
            )


def _seconds(adapter: Adapter, text: str, limit: float, promise: str) -> float:
    """How long a call takes.

    Raises:
        Violation: longer than `limit` and than a second.
    """
    adapter.begin_example()
    started = time.perf_counter()
    # The same word whether it comes late or is not waited for: which of the two depends on the machine.
    with adapter.within(max(limit, 1.0), "grows-too-fast", expected=promise):
        adapter.redact(text)
    return time.perf_counter() - started


def _text(piece: str, size: int) -> str:
    return (piece * (size // len(piece) + 1))[:size]


# -- what several checks share ---------------------------------------------------------------------------------------


def _missed(adapter: Adapter, records: Iterable[Record]) -> list[Record]:
    return [record for record in records if record.survivor(adapter.redact(record.text)) is not None]


def _count(missed: list[Record], records: list[Record]) -> str:
    kinds = ", ".join(dict.fromkeys(record.kind for record in missed))
    caught = len(records) - len(missed)
    return f"{caught} of {len(records)} caught ({100 * caught // len(records)} %); left: {kinds}"


def _show(adapter: Adapter, records: list[Record]) -> None:
    """Make the call with the shortest of the sentences the only one that a report shows."""
    adapter.begin_example()
    adapter.redact(min(records, key=lambda record: len(record.text)).text)


def _expect_gone(plant: Plant, after: str) -> None:
    left = plant.survivor(after)
    kinds = " or ".join(plant.kinds)
    expect(left is None, "secret-survives", expected=f"nothing left of {kinds}", got=f"{quote(left)} in {quote(after)}")


def _expect_half(adapter: Adapter, tier: str) -> None:
    records = [record for record in load_secrets() if record.level == "should" and record.tier == tier]
    missed = _missed(adapter, records)
    enough = len(missed) * SHARE <= len(records)
    if not enough:
        _show(adapter, missed)
    expect(enough, "too-few-caught", expected=f"at least half of {len(records)} caught", got=_count(missed, records))
