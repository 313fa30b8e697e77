"""Rows: what is stored of an observed message, its attribution and its media references."""

import re
import unicodedata
from urllib.parse import quote, unquote

from observed_context.gating import said
from observed_context.sessions import shared_session
from observed_context.shapes import Event, Medium, Row, Sender
from observed_context.text import boundary_before

IMAGE_TOOL = "vision_analyze"

_ATTRIBUTION_LIMIT = 128
_STRUCTURAL = str.maketrans("[]|［］｜", "()/()/")
_JOINERS = "\u200c\u200d"  # invisible, but part of how names are written
_KINDS = {"voice": "voice note"}

_USERINFO = re.compile(r"^([^/?#]*//)[^/?#]*@")
_BOT_TOKEN = re.compile(r"/bot\d+:[^/?#]+")
_QUERY = re.compile(r"[?#].*", re.DOTALL)
_PARAMETER = re.compile(r"([?&#;])([^=&#;]*)(=?)([^&#;]*)")
_SECRET_NAME = re.compile(
    r"tok|sig|key|auth|pass|pwd|secret|cred|session|^sid$|policy|expires|^x-|jwt|code|hash|^(s[a-z]|o[he]|ex|is|hm)$",
    re.IGNORECASE,
)
_SECRET_LENGTH = 20


def observed_row(event: Event, image_tool: str | None = IMAGE_TOOL) -> Row:
    """Return the one row that an observed message leaves (ROW-1); calls nothing and nobody (ROW-5).

    It is no summary row, whatever the message says: only a `summary` field makes one, and there is none (ROW-4).
    """
    return {
        "role": "user",
        "observed": True,
        "content": attributed(event, image_tool),
        "message_id": event["id"],
        "time": event["time"],
        "session": shared_session(event),
    }


def attributed(event: Event, image_tool: str | None = IMAGE_TOOL) -> str:
    """Return the message under the line that says who wrote it (ROW-2)."""
    return f"{attribution(event['sender'])}\n{body(event, image_tool)}"


def body(event: Event, image_tool: str | None = IMAGE_TOOL) -> str:
    """Return the message text unchanged, and a reference for each attachment on a line of its own (ROW-2, MED-1)."""
    references = [reference(medium, image_tool) for medium in event["media"]]
    return "\n".join([said(event), *references] if said(event) else references)


def attribution(sender: Sender) -> str:
    """Return the line `[name|id]`: one line of at most 128 characters that names the true id (ROW-2, ROW-3, ROW-6)."""
    true_id = _plain(sender["id"] or "") or "unknown"
    name = _plain(sender["name"] or "") or true_id
    room = max(_ATTRIBUTION_LIMIT - len(f"[|{true_id}]"), 1)
    if len(name) > room:
        name = name[: boundary_before(name, room)]
    return f"[{name}|{true_id}]"


def _plain(text: str) -> str:
    """Return a text on one line, without what imitates structure or is not seen; empty if nothing would be seen."""
    kept = "".join(
        " " if char.isspace() else char
        for char in text.translate(_STRUCTURAL)
        if char.isspace() or char in _JOINERS or unicodedata.category(char)[0] != "C"
    )
    seen = any(unicodedata.category(char)[0] in "LNPS" for char in kept)
    return " ".join(kept.split()) if seen else ""


def reference(medium: Medium, image_tool: str | None = IMAGE_TOOL) -> str:
    """Return the line that stands for an attachment: its kind, and where it can be looked at (MED-1, MED-2, MED-5)."""
    kind = _KINDS.get(medium["kind"], medium["kind"])
    path, url = medium["path"], _without_credentials(medium["url"] or "")
    place = _inert(url or path or "") if kind == "video" else _inert(path or url or "")
    if medium["error"] is not None or not place:
        return f"[{kind} (unavailable: download failed)]"
    pointer = f" (look at it with {image_tool})" if kind == "image" and image_tool else ""
    return f"[{kind}: {place}]{pointer}"


def _inert(place: str) -> str:
    """Return a path or URL in which nothing ends the reference or is not seen (MED-3)."""
    return "".join(
        quote(char, safe="", errors="replace")
        if char in "[]\u2028\u2029" or unicodedata.category(char)[0] == "C"
        else char
        for char in place
    )


def _without_credentials(url: str) -> str:
    """Return a URL without userinfo and without parameters that sign or open something (MED-4)."""
    url = _BOT_TOKEN.sub("/bot", _USERINFO.sub(r"\1", url))
    return _QUERY.sub(lambda query: _PARAMETER.sub(_without_secret, query[0]).rstrip("?&#;"), url)


def _without_secret(parameter: re.Match[str]) -> str:
    start, name, sign, value = parameter.groups()
    if _SECRET_NAME.search(unquote(name)) or len(value or name) >= _SECRET_LENGTH:
        return start if start in "?#" else ""
    return f"{start}{name}{sign}{value}"
