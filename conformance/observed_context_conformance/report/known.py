"""The ledger of known failures: a file of the adapter's own repository that can only shrink by itself."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit

from observed_context_conformance.catalogue import UnknownRequirementError, load_catalogue
from observed_context_conformance.checking import Outcome, Verdict
from observed_context_conformance.schemas import problem


class LedgerError(Exception):
    """The file of known failures cannot be read; the message names the file, the place and the mend."""


@dataclass(frozen=True)
class Known:
    """One known failure.

    Attributes:
        requirement: the id that fails.
        signatures: `check-name: slug` of every failing check of it, sorted.
        reason: why, in a sentence or two.
        cause: the place in the adapter's code, if it is known.
        link: where it is discussed, if it is.
    """

    requirement: str
    signatures: tuple[str, ...]
    reason: str
    cause: str | None = None
    link: str | None = None


@dataclass(frozen=True)
class Ledger:
    """The known failures of one adapter.

    Attributes:
        path: the file.
        entries: by requirement.
    """

    path: Path
    entries: dict[str, Known]

    def lists(self, outcome: Outcome) -> bool:
        """Whether this failure is listed, with this signature."""
        entry = self.entries.get(outcome.requirement)
        return entry is not None and outcome.signature in entry.signatures


def failing(outcomes: Iterable[Outcome]) -> dict[str, tuple[str, ...]]:
    """For each requirement that fails, the signatures of its failing checks, sorted."""
    found: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.verdict in (Verdict.FAIL, Verdict.ERROR) and outcome.signature is not None:
            found.setdefault(outcome.requirement, []).append(outcome.signature)
    return {requirement: tuple(sorted(signatures)) for requirement, signatures in found.items()}


def read_ledger(path: Path) -> Ledger:
    """The ledger in a TOML file.

    Raises:
        LedgerError: it is missing, no TOML, not valid by `spec/schema/known.json`, names an unknown requirement, or
            lists one twice.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LedgerError(
            f"{path} does not exist. Write the first one with --grow-known, then give each entry its reason."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(f"{path} cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise LedgerError(f"{path} is not TOML: {error}") from error
    if not content:
        return Ledger(path, {})  # a file that somebody has only begun
    wrong = problem("known.json", content)
    if wrong is not None:
        raise LedgerError(f"{path} is not a file of known failures: {wrong}")
    entries: dict[str, Known] = {}
    for item in content["known"]:
        requirement = item["requirement"]
        try:
            load_catalogue()[requirement]
        except UnknownRequirementError as error:
            raise LedgerError(f"{path}: {error}") from error
        if requirement in entries:
            raise LedgerError(f"{path} lists {requirement} twice: put all its signatures into one entry.")
        entries[requirement] = Known(
            requirement,
            tuple(sorted(item["signatures"])),
            item["reason"],
            item.get("cause"),
            item.get("link"),
        )
    return Ledger(path, entries)


def disagreements(ledger: Ledger, outcomes: Iterable[Outcome], selected: frozenset[str]) -> list[str]:
    """What the ledger and the run do not agree on; each a sentence that says what to do. Empty when the ratchet holds.

    Args:
        ledger: the known failures.
        outcomes: what ran.
        selected: the requirements that the run was about; entries of others are left alone.
    """
    outcomes = list(outcomes)
    fails = failing(outcomes)
    tested = {outcome.requirement for outcome in outcomes if outcome.verdict is not Verdict.NOT_APPLICABLE}
    name = ledger.path.name
    sentences: list[str] = []
    for requirement, signatures in fails.items():
        entry = ledger.entries.get(requirement)
        if entry is None:
            sentences.append(
                f"{requirement} fails and is not in {name}: mend it, or record it on purpose with --grow-known."
            )
        elif entry.signatures != signatures:
            missing = [s for s in signatures if s not in entry.signatures]
            gone = [s for s in entry.signatures if s not in signatures]
            changes = [f"now also or instead: {'; '.join(missing)}"] if missing else []
            changes += [f"no longer: {'; '.join(gone)}"] if gone else []
            sentences.append(
                f"{requirement} fails for another reason than {name} records ({', '.join(changes)}): "
                "look at it anew, then change the entry's signatures and reason."
            )
    for requirement in ledger.entries:
        if requirement not in selected or requirement in fails:
            continue
        if requirement in tested:
            sentences.append(f"{requirement} passes now: take its entry out of {name} (--shrink-known does it).")
        else:
            sentences.append(
                f"{requirement} is in {name} but was not tested: bring the capability back, or take the entry out."
            )
    sentences += [
        f"{entry.requirement} in {name} has no reason: write one."
        for entry in ledger.entries.values()
        if not entry.reason.strip()
    ]
    return sentences


def rewrite(path: Path, outcomes: Iterable[Outcome], *, grow: bool, shrink: bool) -> list[str]:
    """Bring the file up to date, keeping comments and order; returns what was changed, a line each.

    Args:
        path: the file; with `grow` it may not exist yet.
        outcomes: what ran.
        grow: add unlisted failures, and new signatures of listed ones, with a reason still to be written.
        shrink: take out entries and signatures that were tested and do not fail.

    Raises:
        LedgerError: the file cannot be read.
    """
    outcomes = list(outcomes)
    fails = failing(outcomes)
    tested = {outcome.requirement for outcome in outcomes if outcome.verdict is not Verdict.NOT_APPLICABLE}
    if path.exists() or not grow:
        read_ledger(path)
        document = tomlkit.parse(path.read_text(encoding="utf-8"))
    else:
        document = tomlkit.document()
    entries: Any = document.get("known", [])
    changes: list[str] = []
    for entry in list(entries):
        requirement = str(entry["requirement"])
        signatures = set(map(str, entry["signatures"]))
        now = set(fails.get(requirement, ()))
        keep = set(signatures)
        if grow and now:
            keep |= now
        if shrink and requirement in tested:
            keep &= now
        if not keep:
            entries.remove(entry)
            changes.append(f"{requirement} is taken out: it passes")
        elif keep != signatures:
            entry["signatures"] = sorted(keep)
            changes.append(f"{requirement} has other signatures: look at its reason again")
    listed = {str(entry["requirement"]) for entry in entries}
    new = [requirement for requirement in fails if requirement not in listed] if grow else []
    if new and not entries:
        document.pop("known", None)  # an empty plain array cannot take tables
    text = tomlkit.dumps(document)
    for requirement in new:
        entry = {"requirement": requirement, "signatures": list(fails[requirement]), "reason": ""}
        # What is there ends with its entries, so that a new one can follow as text, an empty line before it.
        text = f"{text.rstrip()}\n\n{tomlkit.dumps({'known': [entry]})}".lstrip()
        changes.append(f"{requirement} is added: write its reason")
    path.write_text(text, encoding="utf-8")
    return changes
