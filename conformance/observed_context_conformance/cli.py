"""The command line: `observed-context check`, `bench`, `requirements`, `explain`, `faults`, `new`, `serve`."""

from __future__ import annotations

import difflib
import json
import os
import time
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import track
from rich.text import Text

from observed_context_conformance import __version__
from observed_context_conformance.bench.command import FAIL_OVER, Plan, subject_of
from observed_context_conformance.bench.command import bench as measure
from observed_context_conformance.bench.measuring import EFFORT
from observed_context_conformance.bench.results import SavedError
from observed_context_conformance.catalogue import SPEC_VERSION, CatalogueError, Requirement, load_catalogue
from observed_context_conformance.checking import Effort, load_checks
from observed_context_conformance.faults import load_faults
from observed_context_conformance.faults.matrix import run_matrix, trial_json
from observed_context_conformance.loading import AdapterLoadError, load_adapter, start_adapter
from observed_context_conformance.plugin import validated
from observed_context_conformance.report.explanation import counted, plain
from observed_context_conformance.report.known import LedgerError, read_ledger, rewrite
from observed_context_conformance.report.machine import report_json
from observed_context_conformance.report.matrix import print_matrix
from observed_context_conformance.report.terminal import print_result
from observed_context_conformance.report.verdict import Selection
from observed_context_conformance.serve import main as serve_adapter
from observed_context_conformance.session import Run, SessionError, run_session
from observed_context_conformance.starting import StartError, begin, first_command
from observed_context_conformance.subject import CALL_SECONDS, AdapterUnusableError

USAGE_ERROR = 2

app = typer.Typer(
    name="observed-context",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _refuse(message: str) -> NoReturn:
    Console(stderr=True).print(Text.assemble(("error", "bold red"), f": {message}"), soft_wrap=True)
    raise typer.Exit(USAGE_ERROR)


def _writable(path: Path | None) -> None:
    """Refuse before the run, not after it, what could not be written at its end."""
    if path is None:
        return
    if not path.absolute().parent.is_dir():
        _refuse(f"{path} cannot be written: the directory {path.absolute().parent} does not exist.")
    if path.is_dir():
        _refuse(f"{path} cannot be written: it is a directory.")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        _refuse(f"{path} cannot be written: permission denied.")


Areas = Annotated[
    list[str] | None, typer.Option("--area", metavar="AREA", help="Only this area, such as CAP; repeatable.")
]
Ids = Annotated[
    list[str] | None,
    typer.Option("--requirement", metavar="ID", help="Only this requirement, such as CAP-1; repeatable."),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"observed-context {__version__}, specification {SPEC_VERSION}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """Tests how a chat gateway stores what is not for its bot, and shows it to the model later as context."""


Deadline = Annotated[
    float, typer.Option("--deadline", min=0.1, metavar="SECONDS", help="How long one call of the adapter may take.")
]


@app.command()
def check(
    adapter: Annotated[
        str | None, typer.Argument(help="package.module:attribute, or a built-in name: reference, hermes-agent.")
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            "--command",
            metavar="COMMAND",
            help="Instead of ADAPTER: a command that speaks the protocol of spec/protocol.md.",
        ),
    ] = None,
    area: Areas = None,
    requirement: Ids = None,
    level: Annotated[
        list[str] | None, typer.Option("--level", metavar="LEVEL", help="Only this level, MUST or SHOULD; repeatable.")
    ] = None,
    known: Annotated[
        Path | None,
        typer.Option(
            "--known", metavar="FILE", help="Known failures of the adapter (TOML); any disagreement fails the run."
        ),
    ] = None,
    grow_known: Annotated[
        bool, typer.Option("--grow-known", help="Add what fails and is not listed to the file of --known.")
    ] = False,
    shrink_known: Annotated[
        bool, typer.Option("--shrink-known", help="Take what passes now out of the file of --known.")
    ] = False,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON.")] = None,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Draw other examples; 0 is the verdict's own.")] = 0,
    effort: Annotated[
        float, typer.Option("--effort", min=0.01, help="Multiply the number of examples of each check.")
    ] = 1.0,
    workers: Annotated[
        int | None,
        typer.Option("-n", "--workers", min=1, help="Processes to spread the checks over; one a core when not given."),
    ] = None,
    deadline: Deadline = CALL_SECONDS,
) -> None:
    """Check an adapter against the specification and print the verdict.

    Exit code: 0 conformant (with --known: fails as recorded), 1 not, 2 wrong usage or no adapter, 3 nothing was tested.
    """
    if (adapter is None) == (command is None):
        _refuse("give either an adapter (package.module:attribute) or --command 'program arguments'.")
    name = adapter or command or ""
    _writable(json_file)
    _writable(junit)
    if (grow_known or shrink_known) and known is None:
        _refuse("--grow-known and --shrink-known change the file of --known; name it.")
    if grow_known or shrink_known:
        _writable(known)
    try:
        selection = validated(Selection(tuple(area or ()), tuple(requirement or ()), tuple(level or ())))
        may_be_missing = grow_known and known is not None and not known.exists()
        ledger = read_ledger(known) if known is not None and not may_be_missing else None
        target = start_adapter(command) if command is not None else load_adapter(name)
    except (CatalogueError, LedgerError, AdapterLoadError) as error:
        _refuse(str(error))

    started = datetime.now(UTC)
    clock = time.perf_counter()
    run = Run(
        name,
        target,
        command=command,
        call_seconds=deadline,
        selection=selection,
        effort=Effort(seed, effort),
        ledger=ledger,
        junit=junit,
        workers=workers,
    )
    try:
        result = run_session(run, Console(stderr=True))
    except AdapterUnusableError as error:
        _refuse(str(error))
    except SessionError as error:
        _refuse(f"the kit itself failed; please report this.\n{error}")

    console = Console(highlight=False)
    print_result(console, result)
    if json_file is not None:
        report = report_json(result, started=started.isoformat(timespec="seconds"), seconds=time.perf_counter() - clock)
        json_file.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if known is not None and (grow_known or shrink_known) and not result.interrupted:
        outcomes = [outcome for r in result.results for outcome in r.outcomes]
        changes = rewrite(known, outcomes, grow=grow_known, shrink=shrink_known)
        console.print(f"{known}: {'; '.join(changes) or 'nothing to change'}.", markup=False, soft_wrap=True)
    console.print(f"{time.perf_counter() - clock:.1f} s", style="dim")
    raise typer.Exit(result.exit_code)


@app.command()
def bench(
    adapter: Annotated[
        list[str] | None,
        typer.Argument(help="package.module:attribute, or a built-in name; several are shown together."),
    ] = None,
    command: Annotated[
        list[str] | None,
        typer.Option("--command", metavar="COMMAND", help="An adapter that speaks the protocol of spec/protocol.md."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="All sizes, up to a million rows: four minutes, 2 GB.")] = False,
    save: Annotated[Path | None, typer.Option("--save", metavar="FILE", help="Keep the results.")] = None,
    compare: Annotated[
        Path | None, typer.Option("--compare", metavar="FILE", help="Compare the ratios with those of a --save.")
    ] = None,
    fail_over: Annotated[
        float, typer.Option("--fail-over", min=1.0, metavar="TIMES", help="So many times the saved ratio is slower.")
    ] = FAIL_OVER,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE.svg", help="Draw cost against size, adapters side by side.")
    ] = None,
    deadline: Deadline = CALL_SECONDS,
) -> None:
    """Measure what an adapter's calls cost beside the least that any has to do, and how the cost grows.

    Exit code: 0 nothing is slower, 1 something is or could not be measured, 2 wrong usage or no adapter, 3 no results.
    """
    _writable(save)
    _writable(plot)
    if plot is not None and plot.suffix.lower() != ".svg":
        _refuse(f"{plot} cannot be written: the picture is an SVG; name it {plot.with_suffix('.svg')}.")
    if not adapter and not command:
        _refuse("name an adapter (package.module:attribute), or give --command 'program arguments'.")
    try:
        subjects = [subject_of(name, load_adapter(name)) for name in adapter or ()]
        subjects += [subject_of(one, start_adapter(one)) for one in command or ()]
        effort = replace(EFFORT, deadline=deadline)
        plan = Plan(full=full, save=save, compare=compare, fail_over=fail_over, plot=plot, effort=effort)
        console = Console(highlight=False)
        raise typer.Exit(measure(subjects, plan, console, Console(stderr=True)))
    except (AdapterLoadError, AdapterUnusableError, SavedError) as error:
        _refuse(str(error))
    except SessionError as error:
        _refuse(f"the kit itself failed; please report this.\n{error}")


@app.command()
def requirements(
    area: Areas = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """List the requirements of the specification, with the number of checks of each."""
    try:
        selection = validated(Selection(areas=tuple(area or ())))
    except CatalogueError as error:
        _refuse(str(error))
    counts: dict[str, int] = {}
    for made in load_checks():
        counts[made.requirement] = counts.get(made.requirement, 0) + 1
    chosen = [r for r in load_catalogue() if selection.takes(r)]
    console = Console(highlight=False)
    if as_json:
        data = [
            {
                "id": r.id,
                "level": r.level,
                "title": plain(r.title),
                "statement": r.statement,
                "checks": counts.get(r.id, 0),
            }
            for r in chosen
        ]
        typer.echo(json.dumps(data, indent=1, ensure_ascii=False))
        return
    titles = {a.code: a.title for a in load_catalogue().areas}
    for code, group in groupby(chosen, key=lambda r: r.area):
        console.print(Text(f"{code}  {titles[code]}", style="bold"))
        for r in group:
            checks = counted(counts[r.id], "check") if r.id in counts else "no check"
            console.print(Text(f"  {r.id:8} {r.level:6} {plain(r.title)} ({checks})"), soft_wrap=True)


@app.command()
def explain(
    requirement: Annotated[str, typer.Argument(help="The id of a requirement, such as CAP-1.")],
) -> None:
    """Print what the specification says of one requirement, and which checks test it."""
    try:
        found = load_catalogue()[requirement.strip().upper()]
    except CatalogueError as error:
        _refuse(str(error))
    console = Console(highlight=False)
    console.print(Text(f"{found.id} ({found.level}) {plain(found.title)}", style="bold"))
    console.print(Markdown(_chapter_entry(found)))
    console.print()
    console.print(Text("Checks", style="bold"))
    checks = [made for made in load_checks() if made.requirement == found.id]
    for made in checks:
        console.print(
            Text(f"  {made.name}  (needs {', '.join(made.calls)}; {counted(made.examples, 'example')})"), soft_wrap=True
        )
        for line in " ".join(made.doc.split()).split("\n"):
            console.print(Text(f"    {line}", style="dim"), soft_wrap=True)
    if not checks:
        console.print("  none yet")


@app.command()
def faults(
    area: Areas = None,
    fault: Annotated[
        list[str] | None, typer.Option("--fault", metavar="ID", help="Only this fault; repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Draw other examples; 0 is the verdict's own.")] = 0,
    workers: Annotated[
        int | None, typer.Option("-n", "--workers", min=1, help="Processes; one a core when not given.")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the matrix as JSON.")] = None,
) -> None:
    """Try the checks on adapters that are wrong in exactly one way, and print which check catches which.

    Exit code: 0 every fault is caught, 1 one is not, or one reddens what it does not touch, 2 wrong usage.
    """
    _writable(json_file)
    try:
        selection = validated(Selection(areas=tuple(area or ())))
    except CatalogueError as error:
        _refuse(str(error))
    known = {made.id for made in load_faults()}
    names = [name.strip().lower() for name in fault or ()]
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=3)
            _refuse(f"there is no fault {name!r}{'; did you mean ' + ' or '.join(close) + '?' if close else '.'}")
    chosen = [
        made
        for made in load_faults()
        if selection.takes(load_catalogue()[made.requirement]) and (not names or made.id in names)
    ]
    if not chosen:
        wanted = " ".join(["fault", " or ".join(names)]).strip()
        _refuse(f"nothing to try: {selection} has no {wanted}.")
    count = workers or os.cpu_count() or 1
    running = run_matrix(chosen, seed=seed, workers=min(count, len(chosen)))
    trials = list(track(running, "trying faults", len(chosen), console=Console(stderr=True), transient=True))
    print_matrix(Console(highlight=False), trials, seed=seed)
    if json_file is not None:
        json_file.write_text(json.dumps([trial_json(t) for t in trials], indent=1) + "\n", encoding="utf-8")
    raise typer.Exit(0 if all(t.catches and not t.leaks for t in trials) else 1)


@app.command()
def new(
    directory: Annotated[Path, typer.Argument(help="Where to write the files; made if it is not there.")],
    language: Annotated[str, typer.Option("--language", help="python or javascript.")] = "python",
) -> None:
    """Write the starting point of an adapter, which gets a first verdict as it is."""
    try:
        files = begin(language, directory)
    except StartError as error:
        _refuse(str(error))
    console = Console(highlight=False)
    for file in files:
        console.print(f"wrote {file}", markup=False, soft_wrap=True)
    console.print(f"check it: cd {directory} && {first_command(language)}", markup=False, soft_wrap=True)


@app.command()
def serve(
    adapter: Annotated[str, typer.Argument(help="package.module:attribute, or a built-in name.")],
) -> None:
    """Serve a Python adapter over standard input and output, for `check --command`.

    Where the kit's dependencies are not installed: python -m observed_context_conformance.serve ADAPTER.
    """
    raise typer.Exit(serve_adapter([adapter]))


def _chapter_entry(requirement: Requirement) -> str:
    parts = [requirement.statement, f"**Why.** {requirement.why}"]
    if requirement.example is not None:
        parts.append(f"**Example.** {requirement.example}")
    joint = " or " if requirement.any_port else ", "
    parts.append(f"**Port.** {joint.join(f'`{port}`' for port in requirement.ports)}")
    seen = [f"`{s.reference}`" + (f" ({s.remark})" if s.remark else "") for s in requirement.seen]
    parts.append(f"**Seen.** {'; '.join(seen) or 'nothing public yet'}")
    parts.append(f"*Chapter:* `spec/{requirement.chapter}`")
    return "\n\n".join(parts)


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
