"""The verdict for a person in a terminal: what was not tested, the table by area, each failure explained, the claim."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from observed_context_conformance import __version__
from observed_context_conformance.catalogue import SPEC_VERSION, Area, load_catalogue, version_of
from observed_context_conformance.checking import RED, Outcome, Verdict
from observed_context_conformance.report.explanation import explain_outcome, plain
from observed_context_conformance.report.verdict import UNTESTED, Claim, RequirementResult, Result, Standing

FAILING = (Standing.FAIL, Standing.ERROR)
_STYLES = {"FAIL": "bold red", "ERROR": "bold magenta", "WARN": "bold yellow", "KNOWN": "cyan"}


def print_result(console: Console, result: Result) -> None:
    """Print the whole verdict."""
    _head(console, result)
    _not_tested(console, result)
    _table(console, result)
    _failures(console, result)
    _known(console, result)
    _closing(console, result)


def _head(console: Console, result: Result) -> None:
    described = result.description
    console.print(f"observed-context {__version__}, specification {SPEC_VERSION}", highlight=False)
    console.print(
        f"adapter  {result.adapter}: {described['name']} {described['version']}, {described['profile']} profile",
        highlight=False,
        markup=False,
    )
    console.print(f"offers   {', '.join(result.methods) or 'nothing'}", highlight=False)
    if version_of(described["spec"]) > version_of(SPEC_VERSION):
        console.print(
            f"warning  the adapter implements specification {described['spec']}: what is newer than {SPEC_VERSION} "
            "is not tested",
            style="yellow",
            highlight=False,
            soft_wrap=True,
        )
    if not result.selection.everything:
        console.print(f"only     {result.selection}: a part of the specification, no claim over all", highlight=False)
    console.print()


def _not_tested(console: Console, result: Result) -> None:
    untested = [r for r in result.results if r.standing in UNTESTED]
    if not untested:
        return
    console.print("Not tested", style="bold")
    for (area, reason), group in groupby(untested, key=lambda r: (r.requirement.area, _why_untested(r))):
        ids = [r.requirement.id for r in group]
        shown = ids[0] if len(ids) == 1 else f"{ids[0]} to {ids[-1].partition('-')[2]}" if _run(ids) else ", ".join(ids)
        console.print(
            f"  {shown if len(ids) < 6 or _run(ids) else f'{len(ids)} of {area}'}: {reason}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
    console.print()


def _why_untested(result: RequirementResult) -> str:
    return (
        f"{result.standing.value}: {result.reason}" if result.standing is not Standing.NO_CHECK else result.reason or ""
    )


def _run(ids: list[str]) -> bool:
    numbers = [int(i.partition("-")[2]) for i in ids]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _table(console: Console, result: Result) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("Area", "", "MUST", "SHOULD", "not tested", "failing"):
        table.add_column(column, justify="right" if column in ("MUST", "SHOULD", "not tested") else "left")
    areas: dict[str, Area] = {area.code: area for area in load_catalogue().areas}
    for code, group in groupby(result.results, key=lambda r: r.requirement.area):
        members = list(group)
        failing = [_mark(r) for r in members if r.standing in FAILING or r.standing is Standing.EXPECTED_FAILURE]
        untested = sum(r.standing in UNTESTED for r in members)
        table.add_row(
            code,
            areas[code].title,
            _score(r for r in members if r.requirement.level == "MUST"),
            _score(r for r in members if r.requirement.level == "SHOULD"),
            str(untested) if untested else "-",
            Text(" ").join(failing),
        )
    console.print(table)
    console.print()


def _score(results: Iterable[RequirementResult]) -> str:
    tested = [r for r in results if r.standing not in UNTESTED]
    passed = sum(r.standing is Standing.PASS for r in tested)
    return f"{passed} of {len(tested)}" if tested else "-"


def _word(result: RequirementResult) -> str:
    if result.standing is Standing.EXPECTED_FAILURE:
        return "KNOWN"
    if result.standing is Standing.FAIL and result.requirement.level == "SHOULD":
        return "WARN"
    return "FAIL" if result.standing is Standing.FAIL else "ERROR"


def _mark(result: RequirementResult) -> Text:
    return Text(result.requirement.id, style=_STYLES[_word(result)])


def _failures(console: Console, result: Result) -> None:
    broken = [r for r in result.results if r.standing in FAILING]
    for failed in [r for r in broken if r.blocked_by is None]:
        _explained(console, result, failed)
        consequences = [r.requirement.id for r in broken if r.blocked_by == failed.requirement.id]
        if consequences:
            console.print(f"  blocks    {', '.join(consequences)}: look at them when this is mended", highlight=False)
        console.print()
    # A requirement can be blocked by one that was not selected, or in a circle: it is still red, and still explained.
    shown = {r.requirement.id for r in broken if r.blocked_by is None}
    for failed in [r for r in broken if r.blocked_by is not None and r.blocked_by not in shown]:
        _explained(console, result, failed)
        console.print()


def _explained(console: Console, result: Result, failed: RequirementResult) -> None:
    bad = [o for o in failed.outcomes if o.verdict in RED]
    first = _most_telling(bad, Verdict.ERROR if failed.standing is Standing.ERROR else Verdict.FAIL)
    # A command line has blanks in it, the name of an adapter has none.
    named = f"--command {shlex.quote(result.adapter)}" if " " in result.adapter else result.adapter
    repeat = f"observed-context check {named} --requirement {failed.requirement.id}"
    heading, _, body = explain_outcome(failed.requirement, first, repeat).partition("\n")
    word, _, rest = heading.partition(" ")
    word = _word(failed)
    console.print(Text.assemble((word, _STYLES[word]), " ", (rest, "bold")), soft_wrap=True)
    console.print(Text(body), soft_wrap=True)
    others = [o.signature for o in bad if o is not first and o.signature]
    for other in others:
        console.print(f"  also      {other}", highlight=False, markup=False, soft_wrap=True)


def _most_telling(outcomes: list[Outcome], headline: Verdict) -> Outcome:
    """Prefer what the headline says, a failure of its own over a consequence, a shrunk example over a vector."""

    def rank(o: Outcome) -> tuple[bool, bool, bool, str]:
        return o.verdict is not headline, o.blocked_by is not None, o.check.startswith("vector_"), o.check

    return min(outcomes, key=rank)


def _known(console: Console, result: Result) -> None:
    known = [r for r in result.results if r.standing is Standing.EXPECTED_FAILURE]
    if known:
        console.print(f"Known failures, as {result.ledger} records them", style="bold", highlight=False)
        for r in known:
            console.print(Text.assemble("  ", (r.requirement.id, _STYLES["KNOWN"]), f" {plain(r.requirement.title)}"))
        console.print()
    if result.problems:
        console.print(f"{result.ledger} and this run do not agree", style="bold red", highlight=False)
        for problem in result.problems:
            console.print(f"  {problem}", highlight=False, markup=False, soft_wrap=True)
        console.print()


def _closing(console: Console, result: Result) -> None:
    for name, text in result.broken_checks.items():
        console.print(
            f"The check {name} broke by itself; this is a defect of the kit, please report it:", style="bold red"
        )
        console.print(text, highlight=False, markup=False)
    counts = {s: sum(r.standing is s for r in result.results) for s in Standing}
    must = sum(r.standing in FAILING and r.requirement.level == "MUST" for r in result.results)
    should = sum(r.standing in FAILING and r.requirement.level == "SHOULD" for r in result.results)
    passed, recorded = counts[Standing.PASS], counts[Standing.EXPECTED_FAILURE]
    parts = ["1 requirement passes" if passed == 1 else f"{passed} requirements pass"]
    parts += [f"{must} MUST {_fail(must)}"] if must else []
    parts += [f"{should} SHOULD {_fail(should)} ({'a warning' if should == 1 else 'warnings'})"] if should else []
    parts += [f"{recorded} {_fail(recorded)} as recorded"] if recorded else []
    untested = sum(counts[s] for s in UNTESTED)
    parts += [f"{untested} not tested"] if untested else []
    words = {
        Claim.CONFORMANT: ("CONFORMANT", "bold green"),
        Claim.AS_RECORDED: ("AS RECORDED", "bold cyan"),
        Claim.NOT_CONFORMANT: ("NOT CONFORMANT", "bold red"),
        Claim.FILTERED: ("NOTHING WRONG in what was selected", "bold green"),
        Claim.NOTHING_TESTED: ("NOTHING TESTED", "bold red"),
        Claim.INTERRUPTED: ("INTERRUPTED", "bold red"),
    }
    word, style = words[result.claim]
    console.print(Text.assemble((word, style), f": {', '.join(parts)}."), soft_wrap=True)
    if result.claim is Claim.NOTHING_TESTED:
        console.print(_why_nothing(result), highlight=False, markup=False, soft_wrap=True)


def _fail(number: int) -> str:
    return "fails" if number == 1 else "fail"


def _why_nothing(result: Result) -> str:
    if not result.results:
        return f"Nothing was selected: this version of the specification has no requirement in {result.selection}."
    if all(r.requirement.area == "AMB" for r in result.results) and result.description["profile"] != "ambient":
        return "What was selected is for adapters of the ambient profile, and this one declares the block profile."
    return "The adapter offers no method that a selected check needs; see spec/README.md, 'Capabilities'."
