"""Defects of limits: a slip in a configuration that switches the valve off, or resets what was right."""

import math
import os
from abc import ABC, abstractmethod
from typing import Any

from observed_context.limits import DEFAULT_MAX_CHARS, DEFAULT_MAX_ROWS
from observed_context.shapes import Limits
from observed_context_conformance.adapters.reference import ReferenceAdapter
from observed_context_conformance.faults import fault

_CHARS = "observed_context_max_chars"
_ROWS = "observed_context_max_rows"


def _section(config: Any) -> dict[Any, Any]:
    section = config.get("gateway") if isinstance(config, dict) else None
    return section if isinstance(section, dict) else {}


class _OtherReading(ReferenceAdapter, ABC):
    """Reads a value that the reference would refuse in a way of its own."""

    @abstractmethod
    def read(self, value: Any, default: int) -> int | None:
        """The limit, or None where the reference is to judge."""

    def limits(self, config: object) -> Limits:
        found = super().limits(config)
        section = _section(config)
        chars = self.read(section.get(_CHARS), DEFAULT_MAX_CHARS)
        rows = self.read(section.get(_ROWS), DEFAULT_MAX_ROWS)
        return {
            "max_chars": found["max_chars"] if chars is None else chars,
            "max_rows": found["max_rows"] if rows is None else rows,
        }


# -- LIM-1, LIM-2 ----------------------------------------------------------------------------------------------------


@fault("limits-have-other-defaults", "LIM-1")
class HaveOtherDefaults(ReferenceAdapter):
    """Without a value the row limit is 400."""

    def limits(self, config: object) -> Limits:
        found = super().limits(config)
        return {**found, "max_rows": found["max_rows"] if _ROWS in _section(config) else 400}


@fault("limits-read-another-key", "LIM-1")
class ReadAnotherKey(ReferenceAdapter):
    """The character limit is read from a key without the prefix that the documentation names."""

    def limits(self, config: object) -> Limits:
        section = _section(config)
        return super().limits({"gateway": {_CHARS: section.get("max_chars"), _ROWS: section.get(_ROWS)}})


@fault("limits-read-the-first-section", "LIM-1")
class ReadTheFirstSection(ReferenceAdapter):
    """The key is looked for in every section, and a key of another program's section is taken for it."""

    def limits(self, config: object) -> Limits:
        sections = [part for part in config.values() if isinstance(part, dict)] if isinstance(config, dict) else []
        merged: dict[Any, Any] = {}
        for part in sections:
            merged |= part
        return super().limits({"gateway": merged})


@fault("limits-have-a-floor", "LIM-1")
class HaveAFloor(ReferenceAdapter):
    """Character limits under 1,000 are raised to it, which the operator did not ask for."""

    def limits(self, config: object) -> Limits:
        found = super().limits(config)
        return {**found, "max_chars": max(found["max_chars"], 1000) if found["max_chars"] else 0}


@fault("limits-fall-together", "LIM-2", after="NousResearch/hermes-agent#104245")
class FallTogether(ReferenceAdapter):
    """Both values are read in one try: a bad one sends both back to their defaults."""

    def limits(self, config: object) -> Limits:
        found, section = super().limits(config), _section(config)
        for key, limit, default in ((_CHARS, "max_chars", DEFAULT_MAX_CHARS), (_ROWS, "max_rows", DEFAULT_MAX_ROWS)):
            value = section.get(key)
            if value is not None and value != default and found[limit] == default:  # type: ignore[literal-required]
                return {"max_chars": DEFAULT_MAX_CHARS, "max_rows": DEFAULT_MAX_ROWS}
        return found


@fault("limits-share-a-default", "LIM-2")
class ShareADefault(ReferenceAdapter):
    """A bad row limit falls back to the default of characters."""

    def limits(self, config: object) -> Limits:
        found = super().limits(config)
        bad = _section(config).get(_ROWS) is not None and found["max_rows"] == DEFAULT_MAX_ROWS
        return {**found, "max_rows": DEFAULT_MAX_CHARS if bad else found["max_rows"]}


@fault("limits-need-both-keys", "LIM-2")
class NeedBothKeys(ReferenceAdapter):
    """One key alone is not enough: without the other one both limits are the defaults."""

    def limits(self, config: object) -> Limits:
        section = _section(config)
        both = section.get(_CHARS) is not None and section.get(_ROWS) is not None
        return super().limits(config if both else None)


# -- LIM-3 -----------------------------------------------------------------------------------------------------------


@fault("limits-take-true-for-one", "LIM-3", after="NousResearch/hermes-agent#104245")
class TakeTrueForOne(_OtherReading):
    """A boolean is an integer in the programming language, and is taken for one."""

    def read(self, value: Any, default: int) -> int | None:
        return int(value) if isinstance(value, bool) else None


@fault("limits-take-negative-for-unlimited", "LIM-3", after="NousResearch/hermes-agent#104245")
class TakeNegativeForUnlimited(_OtherReading):
    """A negative number switches the limit off."""

    def read(self, value: Any, default: int) -> int | None:
        return 0 if isinstance(value, int) and value < 0 else None


@fault("limits-raise-on-infinity", "LIM-3", after="NousResearch/hermes-agent#104245")
class RaiseOnInfinity(_OtherReading):
    """Infinity is converted to an integer, which raises."""

    def read(self, value: Any, default: int) -> int | None:
        if isinstance(value, float) and not value.is_integer() and abs(value) > 1e300:
            return int(value)
        return None


@fault("limits-take-infinity-for-unlimited", "LIM-3")
class TakeInfinityForUnlimited(_OtherReading):
    """Infinity means that there is no limit."""

    def read(self, value: Any, default: int) -> int | None:
        return 0 if isinstance(value, float) and value == float("inf") else None


@fault("limits-compare-with-nan", "LIM-3")
class CompareWithNan(_OtherReading):
    """NaN is not below 0, so it passes the test for negative numbers and comes out as nothing at all."""

    def read(self, value: Any, default: int) -> int | None:
        return 0 if isinstance(value, float) and math.isnan(value) else None


@fault("limits-cut-fractions", "LIM-3")
class CutFractions(_OtherReading):
    """A fraction is cut to an integer: half a row is no row, and no row is no limit."""

    def read(self, value: Any, default: int) -> int | None:
        return int(value) if isinstance(value, float) and 0 <= value < 1e300 else None


@fault("limits-read-numbers-generously", "LIM-3")
class ReadNumbersGenerously(_OtherReading):
    """A text is whatever the programming language can make a number of: signs, underscores and more."""

    def read(self, value: Any, default: int) -> int | None:
        try:
            return max(int(value), 0) if isinstance(value, str) and len(value) < 100 else None
        except ValueError:
            return None


@fault("limits-take-words-for-unlimited", "LIM-3")
class TakeWordsForUnlimited(_OtherReading):
    """Words like `none` and `off` switch the limit off."""

    def read(self, value: Any, default: int) -> int | None:
        return 0 if value in ("unlimited", "none", "null", "off") else None


@fault("limits-take-nothing-for-zero", "LIM-3")
class TakeNothingForZero(_OtherReading):
    """An empty text or list counts as 0, which means "no limit"."""

    def read(self, value: Any, default: int) -> int | None:
        return 0 if value in ("", [], {}) else None


@fault("limits-take-zero-for-missing", "LIM-3", after="openclaw/openclaw#151911")
class TakeZeroForMissing(_OtherReading):
    """0 counts as "not set" and gives the default, so that no limit can be switched off."""

    def read(self, value: Any, default: int) -> int | None:
        return default if value in (0, "0") else None


@fault("limits-refuse-quotes", "LIM-3")
class RefuseQuotes(_OtherReading):
    """A number that a tool has put into quotes is refused."""

    def read(self, value: Any, default: int) -> int | None:
        return default if isinstance(value, str) else None


@fault("limits-raise-on-lists", "LIM-3")
class RaiseOnLists(_OtherReading):
    """A list is handed to the conversion, which raises what nobody catches."""

    def read(self, value: Any, default: int) -> int | None:
        return int(value) if isinstance(value, list) else None  # type: ignore[call-overload]


@fault("limits-raise-on-endless-digits", "LIM-3")
class RaiseOnEndlessDigits(_OtherReading):
    """A text of digits is converted without a thought of how many there are, and the language refuses."""

    def read(self, value: Any, default: int) -> int | None:
        return int(value) if isinstance(value, str) and value.isdecimal() else None


@fault("limits-forget-what-does-not-fit", "LIM-3")
class ForgetWhatDoesNotFit(_OtherReading):
    """A number that does not fit into 64 bits becomes 0."""

    def read(self, value: Any, default: int) -> int | None:
        return 0 if isinstance(value, str) and value.isdecimal() and len(value) > 19 else None


# -- LIM-4 -----------------------------------------------------------------------------------------------------------


@fault("limits-raise-on-an-empty-file", "LIM-4")
class RaiseOnAnEmptyFile(ReferenceAdapter):
    """An empty configuration file is parsed to null, and null has no keys."""

    def limits(self, config: object) -> Limits:
        config["gateway"] if config is None else None  # type: ignore[index]
        return super().limits(config)


@fault("limits-raise-on-a-null-section", "LIM-4")
class RaiseOnANullSection(ReferenceAdapter):
    """A section that is there and empty is taken for a set of keys."""

    def limits(self, config: object) -> Limits:
        if isinstance(config, dict):
            config.get("gateway", {}).get(_CHARS)
        return super().limits(config)


@fault("limits-search-texts", "LIM-4")
class SearchTexts(ReferenceAdapter):
    """A section that is a list of key names counts as switching the limits off."""

    def limits(self, config: object) -> Limits:
        section = config.get("gateway") if isinstance(config, dict) else None
        found = super().limits(config)
        return {**found, "max_chars": 0} if isinstance(section, list) and _CHARS in section else found


@fault("limits-take-keys-of-the-top", "LIM-4")
class TakeKeysOfTheTop(ReferenceAdapter):
    """Keys outside of their section are read as well."""

    def limits(self, config: object) -> Limits:
        top = config if isinstance(config, dict) and "gateway" not in config else None
        return super().limits({"gateway": top} if top else config)


@fault("limits-read-the-environment", "LIM-4", after="NousResearch/hermes-agent#104245")
class ReadTheEnvironment(ReferenceAdapter):
    """An environment variable changes a limit that the configuration file sets."""

    def limits(self, config: object) -> Limits:
        found = super().limits(config)
        set_there = os.environ.get("GATEWAY_OBSERVED_CONTEXT_MAX_CHARS", "")
        return {**found, "max_chars": int(set_there)} if set_there.isdecimal() else found


@fault("limits-default-to-the-environment", "LIM-4")
class DefaultToTheEnvironment(ReferenceAdapter):
    """An environment variable takes the place of the default."""

    def limits(self, config: object) -> Limits:
        found = super().limits(config)
        set_there = os.environ.get("OBSERVED_CONTEXT_MAX_ROWS", "")
        return (
            {**found, "max_rows": int(set_there)} if set_there.isdecimal() and _ROWS not in _section(config) else found
        )
