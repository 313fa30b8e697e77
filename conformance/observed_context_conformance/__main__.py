"""The entry of the command line, which says what to do where the kit stands without what it needs."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; 2 when something that it needs is not installed."""
    try:
        from observed_context_conformance.cli import main as run  # noqa: PLC0415
    except ModuleNotFoundError as error:
        print(
            f"error: the command line needs {error.name}, which is not installed here. "
            "To serve an adapter, the kit needs nothing else:\n"
            "    python -m observed_context_conformance.serve package.module:attribute",
            file=sys.stderr,
        )
        sys.exit(2)
    run()


if __name__ == "__main__":
    main()
