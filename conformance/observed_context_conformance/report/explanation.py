"""Explains one failure to a reader with ten seconds: the requirement, the smallest example, expected, got."""

from __future__ import annotations

import re
import textwrap

from observed_context_conformance.catalogue import Requirement
from observed_context_conformance.checking import Outcome, Verdict
from observed_context_conformance.report.conversation import draw_calls

WIDTH = 110
WORDS_SHOWN = 12
SEEN_SHOWN = 3


def plain(markdown: str) -> str:
    """A sentence of a chapter without its markup, on one line."""
    return " ".join(re.sub(r"\*\*|[*`]", "", markdown).split())


def counted(number: int, what: str) -> str:
    """So many of something that has a regular plural."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def explain_outcome(requirement: Requirement, outcome: Outcome, repeat: str | None = None) -> str:
    """The explanation of a failed or erroneous check, as plain text.

    Args:
        requirement: what it tests.
        outcome: how it ended; its verdict is fail or error.
        repeat: the command that repeats just this, or None.
    """
    word = "ERROR" if outcome.verdict is Verdict.ERROR else "FAIL"
    lines = [f"{word} {requirement.id} ({requirement.level}) {plain(requirement.sentence)}"]
    lines.append(f"  check     {outcome.check}")
    if outcome.blocked_by is not None:
        lines.append(f"  blocked   by {outcome.blocked_by}: mend that first")
    story = [*outcome.story, *draw_calls(outcome.calls)]
    if story:
        lines.append("  smallest example")
        lines += [_clipped(f"    {line}") for line in story]
    lines += _labelled("expected", outcome.expected or "")
    lines += _labelled("got", outcome.got or "")
    if outcome.words:
        lines.append("  its error stream")
        lines += [_clipped(f"    {line}") for line in outcome.words[-WORDS_SHOWN:]]
    for seen in requirement.seen[:SEEN_SHOWN]:
        lines += _labelled("seen", f"{seen.reference} ({plain(seen.remark)})" if seen.remark else seen.reference)
    if len(requirement.seen) > SEEN_SHOWN:
        more = len(requirement.seen) - SEEN_SHOWN
        lines += _labelled("", f"and in {more} more places: observed-context explain {requirement.id}")
    if repeat is not None:
        lines.append(f"  repeat    {repeat}")
    return "\n".join(lines)


def _labelled(label: str, text: str) -> list[str]:
    wrapped = textwrap.wrap(text, WIDTH - 12, break_long_words=False, break_on_hyphens=False) or [""]
    return [f"  {label if i == 0 else '':9} {line}" for i, line in enumerate(wrapped)]


def _clipped(line: str) -> str:
    # A drawn line is a picture; what is cut here is whole in the JSON report.
    return line if len(line) <= 2 * WIDTH else line[: 2 * WIDTH - 4] + " ..."
