"""Which limits does a configuration set? (LIM)"""

from __future__ import annotations

import os
from typing import Any
from unittest.mock import patch

from hypothesis import event as reached
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from observed_context_conformance.checking import Adapter, check, expect, given, not_applicable, quote

REACH = {
    "a_good_value_is_taken": {"0": 0.02, "digits in a string": 0.1},
    "a_bad_value_is_the_default": dict.fromkeys(
        ("negative", "boolean", "fraction", "text", "list", "object"),
        0.02,
    ),
}

DEFAULTS = {"max_chars": 512_000, "max_rows": 4_000}

_KEYS = st.sampled_from(("max_chars", "max_rows"))


def _key(limit: str) -> str:
    return f"observed_context_{limit}"


def _config(**values: Any) -> dict[str, Any]:
    """A configuration with these limits, and with other things in it."""
    ours = {_key(limit): value for limit, value in values.items()}
    return {
        "gateway": {"name": "home", **ours, "port": 8080},
        "model": {"max_chars": 9, "observed_context_max_chars": 8},
    }


def _shown(config: Any) -> str:
    """A configuration as a reader needs it: without what is there only to be passed over."""
    section = config.get("gateway") if isinstance(config, dict) else None
    if not isinstance(section, dict):
        return quote(config)
    return quote({key: value for key, value in section.items() if key.startswith("observed")})


def _expect_limit(adapter: Adapter, config: Any, limit: str, wanted: int, slug: str) -> None:
    got = _read(adapter, config, limit)
    if got == 0 and wanted != 0:
        slug = "unlimited"
    expect(got == wanted, slug, expected=f"{limit} {wanted} for {_shown(config)}", got=f"{limit} {got}")


def _read(adapter: Adapter, config: Any, limit: str) -> int:
    with adapter.must_not_raise("raised", expected=f"limits, and no exception, for {_shown(config)}"):
        limits = adapter.limits(config)
    return limits["max_chars"] if limit == "max_chars" else limits["max_rows"]


_numbers = st.one_of(st.integers(0, 10), st.integers(0, 2_000_000))
_good: SearchStrategy[tuple[Any, int]] = st.one_of(
    _numbers.map(lambda number: (number, number)),
    _numbers.map(lambda number: (str(number), number)),
)
_BAD_TEXTS = (
    *("", "3k", "-5", "+5", "5.5", "1e3", "0x10", "1_000", "1,000", "5 rows", "ten"),
    *("unlimited", "none", "null", "off", "true", "inf", "nan", "-1", "⑤"),
)
_bad: SearchStrategy[tuple[str, Any]] = st.one_of(
    st.tuples(st.just("text"), st.sampled_from(_BAD_TEXTS)),
    st.tuples(st.just("negative"), st.one_of(st.integers(-3, -1), st.integers(-10_000_000, -1))),
    st.tuples(st.just("boolean"), st.booleans()),
    st.tuples(st.just("fraction"), st.sampled_from((0.5, -0.5, 2.5, 1e-9, 3999.999, -2.5))),
    st.tuples(st.just("list"), st.sampled_from(([], [300], [300, 400], [[]]))),
    st.tuples(st.just("object"), st.sampled_from(({}, {"value": 300}, {"max": 300}))),
)


# -- LIM-1, LIM-2 ----------------------------------------------------------------------------------------------------


@check("LIM-1", calls=("limits",))
@given(chars=_numbers, rows=_numbers)
def limits_are_read_from_their_keys(adapter: Adapter, chars: int, rows: int) -> None:
    """`gateway.observed_context_max_chars` and `gateway.observed_context_max_rows` set the limits."""
    config = _config(max_chars=chars, max_rows=rows)
    _expect_limit(adapter, config, "max_chars", chars, "max-chars")
    _expect_limit(adapter, config, "max_rows", rows, "max-rows")


@check("LIM-1", calls=("limits",))
def the_defaults_are_those_of_the_specification(adapter: Adapter) -> None:
    """Where nothing is configured the limits are 512,000 characters and 4,000 rows."""
    empty: dict[str, Any] = {"gateway": {}}
    for config in (empty, _config()):
        for limit, default in DEFAULTS.items():
            _expect_limit(adapter, config, limit, default, f"default-of-{limit.replace('_', '-')}")


@check("LIM-2", calls=("limits",), after=("LIM-1",))
@given(bad=_bad, bad_limit=_KEYS, good=_numbers)
def a_bad_value_leaves_the_other_key_alone(adapter: Adapter, bad: tuple[str, Any], bad_limit: str, good: int) -> None:
    """A slip in one of the two values does not reset the other one."""
    other = "max_rows" if bad_limit == "max_chars" else "max_chars"
    config = _config(**{bad_limit: bad[1], other: good})
    _expect_limit(adapter, config, other, good, "the-other-reset")
    _expect_limit(adapter, config, bad_limit, DEFAULTS[bad_limit], "not-its-own-default")


@check("LIM-2", calls=("limits",), after=("LIM-1",), examples=40)
@given(limit=_KEYS, value=_numbers, null=st.booleans())
def a_missing_value_leaves_the_other_key_alone(adapter: Adapter, limit: str, value: int, null: bool) -> None:
    """Where one of the two keys is set, the other one has its own default."""
    other = "max_rows" if limit == "max_chars" else "max_chars"
    config = _config(**{limit: value, **({other: None} if null else {})})
    _expect_limit(adapter, config, limit, value, "the-other-reset")
    _expect_limit(adapter, config, other, DEFAULTS[other], "not-its-own-default")


# -- LIM-3 -----------------------------------------------------------------------------------------------------------


@check("LIM-3", calls=("limits",), after=("LIM-1",))
@given(limit=_KEYS, good=_good)
def a_good_value_is_taken(adapter: Adapter, limit: str, good: tuple[Any, int]) -> None:
    """A non-negative integer is taken as it is, and so is one that a tool has put into quotes; 0 stays 0."""
    value, number = good
    if number == 0:
        reached("0")
    if isinstance(value, str):
        reached("digits in a string")
    _expect_limit(adapter, _config(**{limit: value}), limit, number, "not-taken")


@check("LIM-3", calls=("limits",), after=("LIM-1",), examples=150)
@given(limit=_KEYS, bad=_bad)
def a_bad_value_is_the_default(adapter: Adapter, limit: str, bad: tuple[str, Any]) -> None:
    """What is no limit gives the default and no exception; the one thing it must not mean is "no limit"."""
    kind, value = bad
    reached(kind)
    _expect_limit(adapter, _config(**{limit: value}), limit, DEFAULTS[limit], f"{kind}-not-the-default")


# These values have no JSON: they are in a check of their own, so that it alone is at stake where data crosses a pipe.
@check("LIM-3", calls=("limits",), after=("LIM-1",))
@given(limit=_KEYS, value=st.sampled_from((float("inf"), float("-inf"), float("nan"))))
def infinity_and_nan_are_the_default(adapter: Adapter, limit: str, value: float) -> None:
    """`.inf` and `.nan`, which configuration files can hold, are no limits and raise nothing."""
    _expect_limit(adapter, _config(**{limit: value}), limit, DEFAULTS[limit], "not-the-default")


@check("LIM-3", calls=("limits",), after=("LIM-1",))
@given(limit=_KEYS, size=st.sampled_from((400, 5000)))
def endless_digits_are_a_limit(adapter: Adapter, limit: str, size: int) -> None:
    """A string with more digits than any number needs raises nothing and is not read as "no limit"."""
    read = _read(adapter, _config(**{limit: "9" * size}), limit)
    expect(read != 0, "unlimited", expected=f"a limit for a string of {size} digits", got=f"{limit} 0")


# -- LIM-4 -----------------------------------------------------------------------------------------------------------

_SHAPES: tuple[Any, ...] = (
    *(None, {}, [], "x", "", 5, 2.5, True, False, [{}], [["gateway", {}]]),
    *({"gateway": wrong} for wrong in (None, [], [_key("max_chars")], "x", "", 5, True, {"observed_context": None})),
    {"observed_context_max_chars": 9, "observed_context_max_rows": 9},
    {"gateway": {_key("max_chars"): None, _key("max_rows"): None}},
)


@check("LIM-4", calls=("limits",), examples=2 * len(_SHAPES))
@given(config=st.sampled_from(_SHAPES))
def without_a_configuration_the_defaults_hold(adapter: Adapter, config: Any) -> None:
    """Whatever stands in the place of a configuration, the gateway starts, and with the defaults."""
    for limit, default in DEFAULTS.items():
        _expect_limit(adapter, config, limit, default, "not-the-default")


_VARIABLES = tuple(
    f"{prefix}{limit}"
    for limit in ("MAX_CHARS", "MAX_ROWS")
    for prefix in (
        *("OBSERVED_CONTEXT_", "GATEWAY_OBSERVED_CONTEXT_", "GATEWAY__OBSERVED_CONTEXT_", "TELEGRAM_OBSERVED_CONTEXT_"),
        *("WHATSAPP_OBSERVED_CONTEXT_", "HERMES_OBSERVED_CONTEXT_", "OPENCLAW_OBSERVED_CONTEXT_"),
    )
)


@check("LIM-4", calls=("limits",), after=("LIM-1",))
def environment_variables_change_nothing(adapter: Adapter) -> None:
    """A limit is what the configuration file says, not what an environment variable makes of it."""
    if not adapter.in_this_process:
        not_applicable("the environment of another process cannot be changed while it runs")
    for value in ("7", "0", "x"):
        for config, chars in ((_config(), DEFAULTS["max_chars"]), (_config(max_chars=1234), 1234)):
            adapter.begin_example()
            with patch.dict(os.environ, dict.fromkeys(_VARIABLES, value)):
                got = (_read(adapter, config, "max_chars"), _read(adapter, config, "max_rows"))
            wanted = (chars, DEFAULTS["max_rows"])
            why = f"max_chars and max_rows {wanted}, with variables like {_VARIABLES[0]} set to {value}"
            expect(got == wanted, "environment-read", expected=why, got=f"{got}")
