"""A small program at the other end of the pipe that misbehaves in one way: `python rude.py MANNER`."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import adapters_for_tests as toys

MANNER = sys.argv[1]
ASKED = 0


def say(message: dict[str, Any]) -> None:
    """Write one message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def limits(number: int) -> None:
    """Answer the call of `limits` in the manner that was asked for."""
    global ASKED  # noqa: PLW0603
    ASKED += 1
    if MANNER == "hangs":
        time.sleep(3600)
    if MANNER == "leaves":
        sys.exit(3)
    if MANNER == "crashes at the third call" and ASKED == 3:
        print("Segmentation fault, more or less", file=sys.stderr, flush=True)
        sys.exit(139)
    if MANNER == "prints":
        print("Loading configuration ...", flush=True)
    if MANNER == "writes an endless line":
        for _ in range(50):
            sys.stdout.write("x" * (1 << 20))
        sys.stdout.flush()
    if MANNER == "writes broken JSON":
        print('{"jsonrpc":"2.0","id":', flush=True)
    if MANNER == "answers with another id":
        number += 1000
    if MANNER == "answers nobody":
        say({"id": 4711, "result": None})
    if MANNER == "answers without a result":
        say({"id": number})
    if MANNER == "raises":
        error = {"code": -32000, "message": "'gateway'", "data": {"kind": "KeyError", "where": "limits.js:3 in read"}}
        say({"id": number, "error": error})
        return
    say({"id": number, "result": {"max_chars": 512_000, "max_rows": 4_000}})


for line in sys.stdin:
    request = json.loads(line)
    method = request["method"]
    if method == "initialize" and MANNER == "says nothing":
        time.sleep(3600)
    elif method == "initialize":
        methods = "limits" if MANNER == "names no methods" else ["describe", "limits"]
        if MANNER == "has a scheduler that does nothing":
            methods = ["describe", "scheduler", "scheduler.appended", "scheduler.drain"]
        say(
            {
                "id": request["id"],
                "result": {"protocol": "7.0" if MANNER == "is from the future" else "1.0", "methods": methods},
            }
        )
    elif method == "describe":
        say({"id": request["id"], "result": toys.DESCRIPTION})
    elif method.startswith("scheduler"):
        say({"id": request["id"], "result": None})
    elif "id" in request:
        limits(request["id"])
