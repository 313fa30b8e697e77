"""Observed group context for chat gateways: the smallest implementation that satisfies the specification.

Pure functions in one module per idea: `gating`, `rows`, `addressing`, `separation`, `assembly`, `limits`, `turn`.
Data are plain dicts and lists of the shapes in `shapes`; nothing passed in is changed, and no result shares a mutable
part with it.
"""

__version__ = "0.1.0"
