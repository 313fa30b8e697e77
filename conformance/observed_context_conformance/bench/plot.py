"""The picture: cost against size, both logarithmic; a panel for each case, a line for each adapter and the limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from observed_context_conformance.bench.results import Measured, Result, short

COLUMNS = 3
WIDTH, HEIGHT = 330, 250
LEFT, RIGHT, TOP, BOTTOM = 56, 14, 40, 34

# Readable side by side also for those who do not tell red from green.
_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
_LIMIT = "#888888"
_STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#222}.title{font-weight:600}.axis{stroke:#999;fill:none}"
    ".grid{stroke:#e5e5e5;fill:none}polyline{fill:none;stroke-width:1.8}.limit{stroke-dasharray:4 3;stroke-width:1.2}"
)
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def svg_of(adapters: Sequence[Measured]) -> str:
    """The picture of what was measured, as SVG."""
    cases = list(dict.fromkeys(result.case for measured in adapters for result in measured.results))
    rows = -(-len(cases) // COLUMNS)
    legend = 24 + 18 * (len(adapters) + 1)
    height = legend + rows * HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {COLUMNS * WIDTH} {height}" width="{COLUMNS * WIDTH}">',
        f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>',
    ]
    names = [(f"{one.name}: {one.description}", _COLOURS[at % len(_COLOURS)], "") for at, one in enumerate(adapters)]
    for at, (name, colour, kind) in enumerate(
        [*names, ("the limit: the texts that are shown, joined", _LIMIT, "limit")]
    ):
        y = 20 + 18 * at
        parts.append(f'<polyline class="{kind}" stroke="{colour}" points="12,{y} 44,{y}"/>')
        parts.append(f'<text x="52" y="{y + 4}">{escape(name)}</text>')
    for at, case in enumerate(cases):
        x, y = at % COLUMNS * WIDTH, legend + at // COLUMNS * HEIGHT
        lines = [[result for result in measured.results if result.case == case] for measured in adapters]
        parts.append(f'<g transform="translate({x},{y})">{_panel(case, lines)}</g>')
    return "\n".join([*parts, "</svg>\n"])


def _panel(case: str, lines: Sequence[Sequence[Result]]) -> str:
    results = [result for line in lines for result in line]
    least = math.floor(math.log10(min(min(result.seconds, result.limit) for result in results if result.seconds > 0)))
    most = math.ceil(math.log10(max(max(result.seconds, result.limit) for result in results)))
    first = math.log10(min(result.size for result in results))
    last = math.log10(max(result.size for result in results))

    def x(size: float) -> float:
        return LEFT + (math.log10(size) - first) / max(last - first, 1e-9) * (WIDTH - LEFT - RIGHT)

    def y(seconds: float) -> float:
        share = (math.log10(max(seconds, 10**least)) - least) / max(most - least, 1)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    call, _, name = case.partition(": ")
    parts = [
        f'<text class="title" x="{LEFT}" y="16">{escape(call)}</text><text x="{LEFT}" y="30">{escape(name)}</text>'
    ]
    for power in range(least, most + 1):
        at = y(10**power)
        parts.append(f'<path class="grid" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{_power(power)}</text>')
    for size in sorted({result.size for result in results}):
        if math.log10(size).is_integer():
            parts.append(f'<path class="grid" d="M{x(size):.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
            parts.append(
                f'<text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{short(size)}</text>'
            )
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>')
    limits = {result.size: result.limit for result in results}
    parts.append(_line([(x(size), y(limit)) for size, limit in sorted(limits.items())], _LIMIT, "limit"))
    for at, line in enumerate(lines):
        points = [(x(result.size), y(result.seconds)) for result in line if result.seconds > 0]
        parts.append(_line(points, _COLOURS[at % len(_COLOURS)], ""))
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end">{escape(results[0].unit)}</text>')
    return "".join(parts)


def _line(points: Sequence[tuple[float, float]], colour: str, kind: str) -> str:
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="{colour}"/>' for x, y in points if not kind)
    return f'<polyline class="{kind}" stroke="{colour}" points="{line}"/>{dots}'


def _power(power: int) -> str:
    for unit, name in _UNITS:
        if 10**power >= unit * 0.999:
            return f"{10**power / unit:.0f} {name}"
    return f"1e{power} s"
