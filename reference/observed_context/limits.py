"""The limits on the block, read from a configuration that may hold anything."""

import logging

from observed_context.shapes import Limits

DEFAULT_MAX_CHARS = 512_000
DEFAULT_MAX_ROWS = 4_000

_log = logging.getLogger(__name__)


def limits_from(config: object) -> Limits:
    """Return the limits of a configuration: `gateway.observed_context_max_chars` and `…_max_rows` (LIM-1).

    Each key stands alone (LIM-2); a configuration of another shape gives the defaults (LIM-4). Never raises.
    """
    section = config.get("gateway") if isinstance(config, dict) else None
    if not isinstance(section, dict):
        section = {}
    return {
        "max_chars": _limit(section, "observed_context_max_chars", DEFAULT_MAX_CHARS),
        "max_rows": _limit(section, "observed_context_max_rows", DEFAULT_MAX_ROWS),
    }


def _limit(section: dict[object, object], key: str, default: int) -> int:
    # LIM-3. 3.0 is a fraction here: a configuration that says so means something else than a count.
    value = section.get(key)
    if value is None:
        return default
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        try:
            return int(value)
        except ValueError:  # more digits than Python reads: no number that anybody meant
            pass
    _log.warning("gateway.%s is not a number of at least 0; using %d", key, default)
    return default
