"""Checks: how one is written, how the kit finds them, and how one is run against an adapter."""

from __future__ import annotations

import importlib
import json
import pkgutil
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any, NoReturn

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import statistics as hypothesis_statistics
from hypothesis.errors import Flaky, UnsatisfiedAssumption
from hypothesis.strategies import SearchStrategy

from observed_context_conformance.determinism import same_draws_everywhere
from observed_context_conformance.port import Description
from observed_context_conformance.raised import steady
from observed_context_conformance.subject import (
    Adapter,
    AdapterBroke,
    AdapterCrashed,
    AdapterHung,
    Call,
    ShapeError,
    Violation,
)

__all__ = [
    "Adapter",
    "Check",
    "Effort",
    "Outcome",
    "Verdict",
    "check",
    "declared",
    "expect",
    "given",
    "load_checks",
    "not_applicable",
    "quote",
    "run_check",
]

EXAMPLES = 100
"""Examples per check in a verdict, unless the check asks for another number."""

LACKS = "the adapter has no "
"""How the reason of a check that needs an absent method begins."""

OR = " or "
"""What stands between two of them."""

declared: ContextVar[Description] = ContextVar("declared")
"""The description of the adapter under test, for strategies that depend on it (its platforms, its headers)."""


class Verdict(StrEnum):
    """How one check ended."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    NOT_APPLICABLE = "not applicable"


RED = (Verdict.FAIL, Verdict.ERROR)
"""Verdicts that say that something is wrong."""


@dataclass(frozen=True)
class Check:
    """A test of one requirement.

    Attributes:
        name: what holds, in snake case; unique.
        requirement: the id that it tests.
        calls: the port methods that it needs.
        after: requirements without which its failure means nothing of its own.
        examples: how many examples a verdict tries; 1 when nothing is drawn.
        doc: its docstring.
    """

    name: str
    requirement: str
    calls: tuple[str, ...]
    after: tuple[str, ...]
    examples: int
    doc: str
    body: Callable[..., None] = field(repr=False)
    strategies: dict[str, SearchStrategy[Any]] = field(repr=False)

    @property
    def area(self) -> str:
        """The area of its requirement."""
        return self.requirement.partition("-")[0]


@dataclass(frozen=True)
class Outcome:
    """How one check ended, and why.

    Attributes:
        signature: `check-name: slug` of a failure or error, None otherwise. The same defect keeps its signature.
        expected: what the requirement asks for (fail), or what should have happened (error).
        got: what came instead.
        reason: why the check is not applicable.
        blocked_by: the requirement that has to be mended first, when the failure is a consequence of it.
        story: the smallest history that shows it, one line a step; empty for checks without one.
        calls: the calls of the smallest example that shows it.
        words: what the adapter wrote to its error stream before an error, the last lines.
        examples: how many examples ran.
        seconds: wall time.
        events: how many examples reached each situation that the check marks.
    """

    check: str
    requirement: str
    verdict: Verdict
    signature: str | None = None
    expected: str | None = None
    got: str | None = None
    reason: str | None = None
    blocked_by: str | None = None
    story: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    words: tuple[str, ...] = ()
    examples: int = 0
    seconds: float = 0.0
    events: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Effort:
    """How hard to look.

    Attributes:
        seed: examples are drawn from it; the same seed gives the same verdict.
        factor: multiplies the examples of each check.
        shrink: look for the smallest example of a failure; without it any will do.
    """

    seed: int = 0
    factor: float = 1.0
    shrink: bool = True


class _NotApplicable(BaseException):
    """Raised by a check that finds nothing to test. Not an `Exception`: Hypothesis lets it pass at once."""


# -- writing a check -----------------------------------------------------------------------------------------------


def given(**strategies: SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Draw the arguments of a check: Hypothesis's decorator, applied when the check runs, with its settings."""

    def decorate(body: Callable[..., None]) -> Callable[..., None]:
        body.__dict__["strategies"] = strategies
        return body

    return decorate


_REGISTRY: dict[str, Check] = {}


def check(
    requirement: str,
    *,
    calls: Iterable[str],
    after: Iterable[str] = (),
    examples: int = EXAMPLES,
) -> Callable[[Callable[..., None]], Check]:
    """Register a function as a check of `requirement`.

    Args:
        requirement: the id that it tests.
        calls: the port methods without which it is not applicable.
        after: requirements whose failure makes a failure of this one a consequence.
        examples: how many examples a verdict tries.

    Raises:
        ValueError: another check has this name.
    """

    def decorate(body: Callable[..., None]) -> Check:
        strategies = body.__dict__.get("strategies", {})
        made = Check(
            name=body.__name__,
            requirement=requirement,
            calls=tuple(calls),
            after=tuple(after),
            examples=examples if strategies else 1,
            doc=(body.__doc__ or "").strip(),
            body=body,
            strategies=strategies,
        )
        register(made)
        return made

    return decorate


def register(made: Check) -> None:
    """Add a check to those that a verdict runs.

    Raises:
        ValueError: another check has this name.
    """
    if made.name in _REGISTRY:
        raise ValueError(f"two checks are named {made.name}; names are part of signatures and must be unique")
    _REGISTRY[made.name] = made


def expect(condition: object, slug: str, *, expected: str, got: str) -> None:
    """Fail the check when `condition` is false.

    Raises:
        Violation: with the promise that was broken (`slug`, kebab-case), what was expected and what came.
    """
    if not condition:
        raise Violation(slug, expected=expected, got=got)


def not_applicable(reason: str) -> NoReturn:
    """End the check: for what this adapter declares, there is nothing to test."""
    raise _NotApplicable(reason)


def quote(text: object, limit: int = 160) -> str:
    """A piece of data as a reader can take it in: on one line, in quotes, cut in the middle when it is long."""
    shown = text if isinstance(text, str) else steady(json.dumps(text, ensure_ascii=False, default=repr))
    if len(shown) > limit:
        half = (limit - 5) // 2
        shown = f"{shown[:half]} ... {shown[-half:]}"
    escaped = shown.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped) + '"'


# -- finding the checks --------------------------------------------------------------------------------------------


@cache
def load_checks() -> tuple[Check, ...]:
    """All checks of the kit, in the order of their modules and lines."""
    package = importlib.import_module("observed_context_conformance.checks")
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"{package.__name__}.{module}")
    return tuple(_REGISTRY.values())


# -- running one ---------------------------------------------------------------------------------------------------


def run_check(made: Check, adapter: Adapter, effort: Effort | None = None) -> Outcome:
    """Run one check against one adapter. What the adapter does wrong is in the outcome; nothing of it is raised.

    Raises:
        Exception: a defect of the check itself.
    """
    effort = effort or Effort()
    missing = [method for method in made.calls if not adapter.offers(method)]
    if missing:
        names = OR.join(f"{method}()" for method in missing)
        return Outcome(made.name, made.requirement, Verdict.NOT_APPLICABLE, reason=LACKS + names)

    counted = _Counted()
    started = time.perf_counter()
    token = declared.set(adapter.description)
    try:
        result = _judge(made, adapter, effort, counted)
    finally:
        declared.reset(token)
    return Outcome(
        made.name,
        made.requirement,
        examples=counted.examples,
        seconds=time.perf_counter() - started,
        events=dict(sorted(counted.events.items())),
        **result,
    )


class _Counted:
    """Counts examples, and how many of them reached each situation."""

    def __init__(self) -> None:
        self.examples = 0
        self.events: Counter[str] = Counter()

    def note(self, statistics: Any) -> None:
        """Take over what Hypothesis counted while generating."""
        cases = statistics.get("generate-phase", {}).get("test-cases", [])
        self.examples = sum(case["status"] in ("valid", "interesting") for case in cases)
        for case in cases:
            self.events.update(case["events"])


def _judge(made: Check, adapter: Adapter, effort: Effort, counted: _Counted) -> dict[str, Any]:
    try:
        _execute(made, adapter, effort, counted)
    except _NotApplicable as nothing:
        return {"verdict": Verdict.NOT_APPLICABLE, "reason": str(nothing)}
    except (Violation, ShapeError, AdapterCrashed, AdapterHung, AdapterBroke, Flaky) as ended:
        verdict, slug, expected, got = _reading(ended)
        other = ended.requirement if isinstance(ended, ShapeError) else made.requirement
        return {
            "verdict": verdict,
            "signature": f"{made.name}: {slug}",
            "expected": expected,
            "got": got,
            "blocked_by": other if other != made.requirement else None,
            "story": tuple(adapter.story),
            "calls": tuple(adapter.calls),
            "words": adapter.last_words() if verdict is Verdict.ERROR else (),
        }
    return {"verdict": Verdict.PASS}


def _reading(ended: BaseException) -> tuple[Verdict, str, str, str]:
    """What an exception means: verdict, slug, what was expected, what came instead."""
    match ended:
        case Violation():
            return Verdict.FAIL, ended.slug, ended.expected, ended.got
        case ShapeError(method=method):
            wanted = f"a result that satisfies spec/schema/calls.json ({method})"
            return Verdict.FAIL, f"{method}-shape", wanted, ended.message
        case AdapterCrashed(method=method):
            return Verdict.ERROR, f"{method}-raised-{ended.kind}", f"{method}() returns", ended.told
        case AdapterHung(method=method):
            return Verdict.ERROR, f"{method}-hung", f"{method}() returns in time", str(ended)
        case AdapterBroke(method=method):
            return Verdict.ERROR, f"{method}-broke-the-pipe", f"{method}() is answered", str(ended)
    got = "an example failed, and passed when it was repeated: the adapter's answers depend on earlier calls"
    return Verdict.ERROR, "unstable", "the same answer to the same input", got


def _execute(made: Check, adapter: Adapter, effort: Effort, counted: _Counted) -> None:
    if not made.strategies:
        counted.examples = 1
        adapter.begin_example()
        made.body(adapter)
        return

    def example(**drawn: Any) -> None:
        adapter.begin_example()
        made.body(adapter, **drawn)

    example.__name__ = example.__qualname__ = made.name
    # The seed is explicit, so that a verdict is the same on every run and on every machine.
    seed = zlib.crc32(made.name.encode()) ^ effort.seed
    test = hypothesis.seed(seed)(verdict_settings(made, effort)(hypothesis.given(**made.strategies)(example)))
    collector: Any = hypothesis_statistics.collector
    with same_draws_everywhere(), collector.with_value(counted.note):
        try:
            test()
        except UnsatisfiedAssumption as unsatisfied:
            raise RuntimeError(f"check {made.name} rejects all that it draws") from unsatisfied


def verdict_settings(made: Check, effort: Effort) -> hypothesis.settings:
    """The Hypothesis settings under which a check runs."""
    return hypothesis.settings(
        max_examples=max(1, round(made.examples * effort.factor)),
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.target, *([Phase.shrink] if effort.shrink else [])),
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
    )
