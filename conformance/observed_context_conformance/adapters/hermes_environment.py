"""The surroundings in which the package hermes-agent runs: a home of its own, no credentials, no network."""

from __future__ import annotations

import atexit
import fcntl
import ipaddress
import os
import shutil
import socket
import ssl
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

_CONFIG = """\
security:
  tirith_enabled: false  # otherwise the full gateway downloads a program when it starts
agent:
  environment_probe: false  # a line about this machine's Python comes into the system prompt as soon as it is known
approvals:
  destructive_slash_confirm: false
display:
  busy_input_mode: queue
model:
  default: kit-model
  provider: custom
  context_length: 128000  # otherwise it asks several services how long
  supports_vision: true  # otherwise it turns pictures into text before they reach the model
"""


@cache
def isolate() -> Path:
    """Prepare this process for the first import of the package, which reads all of this while it is imported.

    The environment loses what would configure the package (`HERMES_*`, `TELEGRAM_*`, `*_API_KEY`), `HERMES_HOME` is a
    fresh directory that is removed at exit, and every connection that does not stay on this machine is refused.

    Returns:
        The home directory.
    """
    for name in list(os.environ):
        if name.startswith(("HERMES_", "TELEGRAM_")) or name.endswith("_API_KEY"):
            del os.environ[name]
    home = _home()
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    os.environ["HERMES_HOME"] = str(home)
    # Who is in a chat may address the bot there; which chats it listens to is for the settings of each adapter to say.
    os.environ["GATEWAY_ALLOW_ALL_USERS"], os.environ["TELEGRAM_GROUP_ALLOWED_CHATS"] = "true", "*"
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    (home / "config.yaml").write_text(_CONFIG, encoding="utf-8")
    _refuse_the_network()
    # Nothing here speaks TLS, but every HTTP client reads all certificates, which takes longer than a turn.
    setattr(ssl, "create_default_context", cache(ssl.create_default_context))  # noqa: B010 - mypy forbids the other way
    return home


def _home() -> Path:
    """An empty directory of this process.

    Its name is the same from run to run, for the package tells the model where it lives. Whoever is killed cannot clean
    up; so the next one that gets the name does.
    """
    # In memory where there is such a place: the package syncs every row to disk.
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else tempfile.gettempdir()
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    number = 0
    while True:
        number += 1
        home = Path(parent) / f"observed-context-hermes-{os.getuid()}-{worker}-{number}"
        home.mkdir(mode=0o700, exist_ok=True)
        if home.is_symlink() or home.stat().st_uid != os.getuid():
            continue
        lock = os.open(home / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # held until the process ends
        except OSError:
            os.close(lock)
            continue
        for left in home.iterdir():
            if left.is_dir():
                shutil.rmtree(left)
            elif left.name != ".lock":
                left.unlink()
        return home


def _refuse_the_network() -> None:
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _require_loopback(self.family, address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _require_loopback(self.family, address)
        return connect_ex(self, address)

    def guarded_getaddrinfo(host: Any, *rest: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name is not None and not _is_loopback(str(name)):
            raise socket.gaierror(socket.EAI_FAIL, f"no name is looked up during a conformance check: {name}")
        return getaddrinfo(host, *rest, **options)

    setattr(socket.socket, "connect", guarded_connect)  # noqa: B010 - mypy forbids the plain assignment to a method
    setattr(socket.socket, "connect_ex", guarded_connect_ex)  # noqa: B010
    socket.getaddrinfo = guarded_getaddrinfo


def _require_loopback(family: int, address: Any) -> None:
    if family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(str(address[0])):
        raise ConnectionRefusedError(f"the network is out of bounds during a conformance check: {address[0]}")


def _is_loopback(host: str) -> bool:
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
