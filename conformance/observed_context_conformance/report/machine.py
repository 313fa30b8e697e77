"""The report for programs: JSON that satisfies `spec/schema/report.json`.

Only `started` and `seconds` differ between two runs.
"""

from __future__ import annotations

import math
from typing import Any

from observed_context_conformance import __version__
from observed_context_conformance.catalogue import SPEC_VERSION
from observed_context_conformance.checking import Outcome, Verdict
from observed_context_conformance.raised import steady
from observed_context_conformance.report.verdict import UNTESTED, RequirementResult, Result
from observed_context_conformance.subject import Call


def report_json(result: Result, *, started: str, seconds: float) -> dict[str, Any]:
    """The whole run as plain JSON. What was not tested comes first.

    Args:
        result: the run.
        started: when, ISO 8601 with offset.
        seconds: how long it took.
    """
    return {
        "kit": {"name": "observed-context", "version": __version__},
        "spec": SPEC_VERSION,
        "adapter": {"name": result.adapter, "methods": list(result.methods), "description": result.description},
        "configuration": {
            "seed": result.effort.seed,
            "effort": result.effort.factor,
            "areas": list(result.selection.areas),
            "requirements": list(result.selection.requirements),
            "levels": list(result.selection.levels),
            "known": result.ledger,
        },
        "started": started,
        "seconds": round(seconds, 3),
        "claim": result.claim.value,
        "exit_code": result.exit_code,
        "interrupted": result.interrupted,
        "totals": result.totals,
        "not_tested": [
            {"requirement": r.requirement.id, "standing": r.standing.value, "reason": r.reason or ""}
            for r in result.results
            if r.standing in UNTESTED
        ],
        "problems": list(result.problems),
        "broken_checks": dict(result.broken_checks),
        "requirements": [_requirement(r) for r in result.results],
    }


def _requirement(result: RequirementResult) -> dict[str, Any]:
    return {
        "id": result.requirement.id,
        "level": result.requirement.level,
        "standing": result.standing.value,
        "reason": result.reason,
        "blocked_by": result.blocked_by,
        "declared": list(result.declared),
        "ran": [outcome.check for outcome in result.outcomes],
        "checks": [outcome_json(outcome) for outcome in result.outcomes],
    }


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """One check's outcome as plain JSON; `outcome_from` reads it back."""
    return {
        "check": outcome.check,
        "requirement": outcome.requirement,
        "verdict": outcome.verdict.value,
        "signature": outcome.signature,
        "expected": outcome.expected,
        "got": outcome.got,
        "reason": outcome.reason,
        "blocked_by": outcome.blocked_by,
        "story": list(outcome.story),
        "calls": [_call(call) for call in outcome.calls],
        "words": list(outcome.words),
        "examples": outcome.examples,
        "seconds": round(outcome.seconds, 4),
        "events": dict(outcome.events),
    }


def outcome_from(data: dict[str, Any]) -> Outcome:
    """The outcome that `outcome_json` wrote."""
    return Outcome(
        **{
            **data,
            "verdict": Verdict(data["verdict"]),
            "story": tuple(data["story"]),
            "calls": tuple(Call(**call) for call in data["calls"]),
            "words": tuple(data["words"]),
        }
    )


def _call(call: Call) -> dict[str, Any]:
    return {
        "method": call.method,
        "arguments": _finite(call.arguments),
        "result": _finite(call.result),
        "raised": call.raised,
        "changed_input": call.changed_input,
        "shares_input": call.shares_input,
        "requests": _finite(call.requests),
    }


def _finite(value: Any) -> Any:
    # Configurations may hold infinities; JSON has no word for them.
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return steady(repr(value))
