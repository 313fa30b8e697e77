"""Which areas of the specification exercise which module of the reference."""

AREAS: dict[str, tuple[str, ...]] = {
    "gating": ("GATE",),
    "patterns": ("GATE",),
    "rows": ("ROW", "MED"),
    "addressing": ("ATT",),
    "sessions": ("ATT", "ROW", "GWY"),
    "separation": ("SEP", "TURN"),
    "assembly": ("ASM", "CAP", "TURN-9"),
    "watermark": ("ASM", "CAP", "TURN-9"),
    "text": ("ASM", "CAP", "TURN-9"),
    "lines": ("ASM", "CAP", "TURN-9"),
    "limits": ("LIM",),
    "turn": ("TURN", "SEP"),
    "compaction": ("CMP", "SCH"),
    "scheduling": ("SCH", "GWY"),
    "redaction/__init__": ("RED",),
    "redaction/codes": ("RED",),
    "redaction/labels": ("RED",),
    "redaction/notation": ("RED",),
    "redaction/places": ("RED",),
    "redaction/shapes": ("RED",),
    "redaction/tokens": ("RED",),
    "redaction/values": ("RED",),
    "redaction/views": ("RED",),
    "store": ("GWY",),
    "gateway": ("GWY", "GATE-4", "SCH-2"),
}
"""By module: areas, and single requirements of others. `shapes` holds types alone, and no call of the port reaches
`transcript`.
"""


def exercises(module: str, requirement: str) -> bool:
    """Whether the checks of a requirement are run against mutants of a module."""
    return requirement in AREAS[module] or requirement.partition("-")[0] in AREAS[module]
