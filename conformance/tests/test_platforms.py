"""A strategy follows the adapter under test, also where one process tests several."""

from __future__ import annotations

from typing import Any

from adapters_for_tests import DESCRIPTION, ReadsLimits

from observed_context_conformance.checking import Adapter, Check, given, run_check
from observed_context_conformance.strategies.events import platforms

DRAWN: list[str] = []


class SpeaksSlack(ReadsLimits):
    """Declares another platform."""

    def describe(self) -> dict[str, Any]:
        """One marker."""
        return DESCRIPTION | {"markers": {"slack": "observed Slack channel context"}}


@given(platform=platforms())
def draws(_: Adapter, platform: str) -> None:
    DRAWN.append(platform)


CHECK = Check("draws", "LIM-1", (), (), 3, "It draws.", draws, draws.__dict__["strategies"])


def test_platforms_are_those_of_the_adapter_under_test() -> None:
    DRAWN.clear()
    for adapter in (ReadsLimits(), SpeaksSlack(), ReadsLimits()):
        run_check(CHECK, Adapter(adapter))
    assert list(dict.fromkeys(DRAWN)) == ["irc", "slack"]
    assert DRAWN[-1] == "irc"
