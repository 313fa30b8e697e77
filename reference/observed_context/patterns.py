"""Mention patterns that operators write, and the judgement whether one could stall the gate.

The standard library's matcher backtracks and cannot be stopped, so a pattern is judged before it is used: an upper
bound of the steps it takes on a text of `TEXT_LIMIT` characters, from the pattern's own parse tree. The tree comes from
`re._parser`: it is private, but the only reader that reads patterns exactly as `re` does; if it ever goes, patterns are
skipped with a warning and nothing else changes.
"""

import importlib
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, TypeAlias

TEXT_LIMIT = 12_000
_STEPS_LIMIT = 1_000_000_000  # about half a second, in which not all of them are taken
_PATTERN_LIMIT = 300
_FIRSTS_LIMIT = 40
_GROUP_REPEATS = 100

Node: TypeAlias = tuple[Any, Any]

_CATEGORIES = {
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
_PROBES = "".join(map(chr, range(128))) + "\xa0é٣钉😀"
_SINGLE = {"LITERAL", "NOT_LITERAL", "ANY", "IN"}
_LEADING_REPEAT = re.compile(r"(?:\.|\\[dswDSW]|[^\W_]|\[[^]^[\\]+\])(?=[*+])")
_log = logging.getLogger(__name__)


class _TooCostlyError(Exception):
    """The pattern could take time that grows faster than the text is worth."""


def matches_any(patterns: Iterable[str], text: str) -> bool:
    """Whether one of the patterns matches, case aside, in the first `TEXT_LIMIT` characters (GATE-11, GATE-12).

    A pattern that is invalid, or that could stall, is reported once and skipped. Never raises.
    """
    compiled = map(_compiled, patterns)
    return any(pattern is not None and pattern.search(text, 0, TEXT_LIMIT) for pattern in compiled)


@lru_cache(maxsize=1_024)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        _judge(pattern)
        # A leading repeat needs no try inside a run of what it repeats: the one at the start of the run finds as much.
        leading = _LEADING_REPEAT.match(pattern)
        return re.compile(f"(?<!{leading[0]}){pattern}" if leading else pattern, re.IGNORECASE)
    except Exception as error:  # an operator's text: whatever it does to the compiler, the gate goes on
        _log.warning("mention pattern %.100r skipped: %s", pattern, error or type(error).__name__)
        return None


def _judge(pattern: str) -> None:
    if len(pattern) > _PATTERN_LIMIT:
        raise _TooCostlyError(f"longer than {_PATTERN_LIMIT} characters")
    tree = importlib.import_module("re._parser").parse(pattern, re.IGNORECASE)
    nodes: list[Node] = list(tree)
    anchored = bool(nodes) and _is_start(nodes[0]) and not tree.state.flags & re.MULTILINE
    # Tried once for each run of what it repeats: the runs, and the places between them, are no longer than the text.
    leading = bool(nodes) and "REPEAT" in nodes[0][0].name and _LEADING_REPEAT.match(pattern)
    steps, _ = _cost(nodes, [])
    if steps * (1 if anchored else 2 if leading else TEXT_LIMIT) > _STEPS_LIMIT:
        raise _TooCostlyError(
            "could take too long; make its repeats fewer, shorter, or followed by what they cannot match"
        )


def _is_start(node: Node) -> bool:
    return node[0].name == "AT" and node[1].name in {"AT_BEGINNING", "AT_BEGINNING_STRING"}


def _cost(nodes: Sequence[Node], follow: Sequence[Node]) -> tuple[int, int]:
    """Bound the steps of trying nodes at one place, and the ways in which they can match there."""
    steps, ways = 0, 1
    for index, node in enumerate(nodes):
        node_steps, node_ways = _node_cost(node, [*nodes[index + 1 :], *follow])
        steps += ways * node_steps
        ways *= node_ways
    return steps, ways


def _node_cost(node: Node, rest: Sequence[Node]) -> tuple[int, int]:
    match node[0].name, node[1]:
        case (("LITERAL" | "NOT_LITERAL" | "ANY" | "IN" | "AT"), _):
            return 1, 1
        case "SUBPATTERN", (*_, body):
            return _cost(body, rest)
        case (("ASSERT" | "ASSERT_NOT"), (_, body)):
            return _cost(body, [])[0], 1
        case "BRANCH", (_, bodies):
            return _branch_cost(bodies, rest)
        case (("MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT"), (low, high, body)):
            return _repeat_cost(low, min(high, TEXT_LIMIT), body, rest)
        case name, _:
            raise _TooCostlyError(f"{name.lower()} is not supported")


def _branch_cost(bodies: Sequence[Sequence[Node]], rest: Sequence[Node]) -> tuple[int, int]:
    costs = [_cost(body, rest) for body in bodies]
    if _may_meet(*([*body, *rest] for body in bodies)):
        return sum(steps for steps, _ in costs), sum(ways for _, ways in costs)
    return len(costs) + max(steps for steps, _ in costs), max(ways for _, ways in costs)


def _repeat_cost(low: int, high: int, body: Sequence[Node], rest: Sequence[Node]) -> tuple[int, int]:
    if high <= 1:
        steps, ways = _cost(body, rest)
        return steps, ways + _may_meet([*body, *rest], rest)
    singles = _singles(body)
    grouped = len(body) > 1 or body[0] is not singles[0]
    if grouped and high > _GROUP_REPEATS:
        raise _TooCostlyError(f"a group repeated more than {_GROUP_REPEATS} times")
    # Only one number of repeats can lead on where nothing follows, or nothing that the repeat itself could match.
    settled = low >= high or not rest or not _may_meet(singles[:1], rest)
    return len(singles) * high, 1 if settled else high - low + 1


def _singles(body: Sequence[Node]) -> list[Node]:
    """Return the single characters that a repeat repeats; anything else repeated may take exponential time."""
    nodes = list(body)
    if len(nodes) == 1 and nodes[0][0].name == "SUBPATTERN":
        return _singles(nodes[0][1][-1])
    if not nodes or any(node[0].name not in _SINGLE for node in nodes):
        raise _TooCostlyError("repeats something other than plain characters")
    return nodes


def _first(nodes: Sequence[Node]) -> tuple[list[Node], bool]:
    """Return the single characters that may come first, and whether nodes can match without any."""
    firsts: list[Node] = []
    found: list[Node]
    for node in nodes:
        match node[0].name, node[1]:
            case (("AT" | "ASSERT" | "ASSERT_NOT"), _):
                found, empty = [], True
            case "SUBPATTERN", (*_, body):
                found, empty = _first(body)
            case "BRANCH", (_, bodies):
                branches = [_first(body) for body in bodies]
                found, empty = [one for ones, _ in branches for one in ones], any(empty for _, empty in branches)
            case (("MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT"), (low, _, body)):
                found, empty = _first(body)
                empty = empty or not low
            case _:
                found, empty = [node], False
        firsts += found
        if not empty:
            return firsts, False
    return firsts, True


def _may_meet(*sequences: Sequence[Node]) -> bool:
    """Whether one character may begin two of the sequences; yes when that is not known."""
    firsts, empties = zip(*map(_first, sequences), strict=True)
    if any(empties) or sum(map(len, firsts)) > _FIRSTS_LIMIT:
        return True
    probes = chain(_PROBES, *(_ends(one) for ones in firsts for one in ones))
    return any(sum(any(_admits(one, char) for one in ones) for ones in firsts) > 1 for char in probes)


def _ends(single: Node) -> Iterator[str]:
    """Yield the characters that a node names; with `_PROBES` they are enough to find what two nodes share."""
    items = single[1] if single[0].name == "IN" else [single]
    for item in items:
        codes = item[1] if item[0].name == "RANGE" else [item[1]] if "LITERAL" in item[0].name else []
        yield from map(chr, codes)


def _admits(single: Node, char: str) -> bool:
    cases = {char, char.lower(), char.upper()}
    match single[0].name, single[1]:
        case "LITERAL", code:
            return chr(code) in cases or chr(code).lower() in cases
        case "NOT_LITERAL", code:
            return chr(code) not in cases
        case "IN", items:
            negated = items[0][0].name == "NEGATE"
            return any(negated != any(_in(item, case) for item in items) for case in cases)
    return True


def _in(item: Node, char: str) -> bool:
    match item[0].name, item[1]:
        case "LITERAL", code:
            return chr(code) == char
        case "RANGE", (low, high):
            return bool(low <= ord(char) <= high)
        case "CATEGORY", category:
            return re.match(_CATEGORIES[category.name], char) is not None
    return False
