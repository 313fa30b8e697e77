"""Generators of texts, names and files with made-up secrets in them, as they are and disguised."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from observed_context_conformance.port import Medium
from observed_context_conformance.secrets import survivor, without
from observed_context_conformance.strategies.secrets import Secret, secrets, tokens

SENTENCES = (
    ("could you take the lunch order after", "or is Tuesday better"),
    ("Mira hat im Garten gesagt, wir nehmen", "und fahren morgen los"),
    ("en la cocina pone", "pero mañana lo cambiamos"),
    ("dans le jardin il y a", "jusque samedi soir"),
    ("завтра попробуем", "если будет солнце"),
    ("明天 我们 试试", "然后 吃饭"),
    ("あした は", "を ためして ください"),
    ("غدا سنجرب", "بعد الغداء"),
    ("yarın bahçede", "deneyelim lütfen"),
    ("İzmir'de İyi olur, yarın", "deneyelim lütfen"),
    ("das 👩‍👩‍👧 Fest der 🏳️‍🌈 Gruppe ist mit", "und allen 👨‍👩‍👧‍👦 im Garten"),
)
"""Harmless words before and after a secret."""

ENDS = ("", ".", ",", "!", "?", ":", ";", ")", "…", " -")
"""What may follow a secret without a blank."""

WRAPPERS = (
    ("", ""),
    ("", ""),
    ("(", ")"),
    ('"', '"'),
    ("'", "'"),
    ("`", "`"),
    ("[", "]"),
    ("**", "**"),
    ("| key | ", " |"),
    ("> ", ""),
)
"""What may hold a secret."""


@dataclass(frozen=True)
class Plant:
    """A text with secrets in it.

    Attributes:
        text: the text.
        kinds: of its secrets.
        values: what may not survive.
        beside: harmless words of it, blanks around each.
    """

    text: str
    kinds: tuple[str, ...]
    values: tuple[str, ...]
    beside: tuple[str, ...]

    @property
    def around(self) -> str:
        """The text without its secrets."""
        return without(self.text, self.values)

    def survivor(self, text: str) -> str | None:
        """What survives of the secrets in what was made of the text; None when nothing does."""
        return survivor(self.values, text, self.around)


def plants(made: SearchStrategy[Secret] | None = None) -> SearchStrategy[Plant]:
    """A message with one secret, harmless words before and after it, in one of several languages."""
    return st.builds(
        planted,
        made if made is not None else secrets(),
        st.sampled_from(SENTENCES),
        st.sampled_from(WRAPPERS),
        st.sampled_from(ENDS),
    )


def gatherings() -> SearchStrategy[Plant]:
    """A text of several such messages, one of them twice now and then: what is said of one may not undo the other."""
    several = st.lists(plants(), min_size=2, max_size=4)
    return st.builds(_gathered, several, st.booleans(), st.sampled_from(("\n", "\n\n", "\r\n", "\n[Ana|7]\n")))


def names() -> SearchStrategy[Plant]:
    """A display name that is a token or holds one."""
    return st.builds(
        lambda secret, head: Plant(f"{head}{secret.written}", (secret.kind,), secret.values, ()),
        tokens(),
        st.sampled_from(("", "Ana ", "bot: ", "(")),
    )


def media() -> SearchStrategy[tuple[Medium, Plant]]:
    """An attachment with a secret in its file name, its path or its URL; and all three as one text."""
    return st.builds(_medium, tokens(), st.sampled_from(("name", "path", "url", "userinfo")))


def summaries() -> SearchStrategy[Plant]:
    """The body of an earlier summary that kept a secret."""
    return st.builds(
        lambda secret, text: Plant(text.format(secret.written), (secret.kind,), secret.values, ("garden", "Tuesday")),
        tokens(),
        st.sampled_from(
            (
                "Mira set up the bot ({}) in the garden and asked Tom to deploy on Tuesday .",
                "- garden party: Tuesday \n- key: {}\n- lunch",
            )
        ),
    )


def across(position: int, made: SearchStrategy[Secret] | None = None) -> SearchStrategy[Plant]:
    """A text with a secret across character `position`; where in the secret that falls is drawn, evenly."""
    return st.builds(
        _laid_across, st.just(position), made if made is not None else tokens(), st.floats(0, 1, exclude_max=True)
    )


def split() -> SearchStrategy[tuple[tuple[str, ...], Plant]]:
    """A token over two messages, somebody else's between them now and then; and the three of them as one text."""
    return st.builds(
        _split,
        tokens(),
        st.floats(0.2, 0.8),
        st.sampled_from(SENTENCES),
        st.sampled_from((None, "ok", "what is that?")),
    )


def planted(secret: Secret, sentence: tuple[str, str], wrapper: tuple[str, str], end: str) -> Plant:
    """The secret between the words of a sentence, where it may stand."""
    before, after = sentence
    match secret.stands:
        case "anywhere":
            text = f"{before} {wrapper[0]}{secret.written}{wrapper[1]}{end} {after}"
        case "between blanks":
            text = f"{before} {secret.written} {after}"
        case "on lines of its own":
            text = f"{before}\n{secret.written}\n{after}"
    return Plant(text, (secret.kind,), secret.values, (before, after))


def _gathered(several: Sequence[Plant], again: bool, between: str) -> Plant:
    texts = [plant.text for plant in several] + ([several[0].text] if again else [])
    return Plant(
        between.join(texts),
        tuple(kind for plant in several for kind in plant.kinds),
        tuple(value for plant in several for value in plant.values),
        tuple(word for plant in several for word in plant.beside),
    )


def _medium(secret: Secret, where: str) -> tuple[Medium, Plant]:
    made: Medium = {
        "kind": "document",
        "path": "/tmp/files/report.txt",
        "url": None,
        "name": "report.txt",
        "error": None,
    }
    value = secret.written
    match where:
        case "name":
            made["name"] = f"{value}.txt"
        case "path":
            made["path"] = f"/tmp/files/{value}.txt"
        case "url":
            made["path"], made["url"] = None, f"https://files.acme.io/x?token={value}"
        case "userinfo":
            made["path"], made["url"] = None, f"https://mira:{value}@files.acme.io/report.txt"
    text = " ".join(filter(None, (made["name"], made["path"], made["url"])))
    return made, Plant(text, (secret.kind,), secret.values, ())


def _laid_across(position: int, secret: Secret, share: float) -> Plant:
    inside = 1 + int(share * (len(secret.written) - 1))
    filler = " ".join(word for pair in SENTENCES for word in pair) + " "
    before = (filler * (position // len(filler) + 1))[: max(0, position - inside - 1)] + " "
    return Plant(f"{before}{secret.written} {SENTENCES[0][1]}", (secret.kind,), secret.values, (SENTENCES[0][1],))


def _split(
    secret: Secret, share: float, sentence: tuple[str, str], between: str | None
) -> tuple[tuple[str, ...], Plant]:
    cut = max(1, int(share * len(secret.written)))
    halves = (secret.written[:cut], secret.written[cut:])
    first, last = f"{sentence[0]} {halves[0]}", halves[1]
    rows = (first, last) if between is None else (first, between, last)
    return rows, Plant("\n".join(rows), (secret.kind,), halves, (sentence[0],))


# -- disguises ------------------------------------------------------------------------------------------------------


def _inserted(mark: str) -> Callable[[str], str]:
    return lambda token: f"{token[: len(token) // 2]}{mark}{token[len(token) // 2 :]}"


def _bold(character: str) -> str:
    if character.isalpha():
        first, base = (0x1D5D4, "A") if character.isupper() else (0x1D5EE, "a")
        return chr(first + ord(character) - ord(base))
    return chr(0x1D7EC + int(character)) if character.isdigit() else character


DISGUISES: dict[str, Callable[[str], str]] = {
    "zero-width space": _inserted("\u200b"),
    "word joiner": _inserted("\u2060"),
    "soft hyphen": _inserted("\u00ad"),
    "variation selector": _inserted("\ufe0f"),
    "full-width letters": lambda token: "".join(chr(ord(character) + 0xFEE0) for character in token),
    "bold letters": lambda token: "".join(map(_bold, token)),
    "look-alike letters": lambda token: token.translate(str.maketrans("aeopcx", "аеорсх")),
    "Markdown escapes": lambda token: token.replace("_", "\\_").replace("-", "\\-"),
    "percent escapes": lambda token: "".join(c if c.isalnum() else f"%{ord(c):02X}" for c in token),
    "JSON escapes": lambda token: "".join(f"\\u{ord(c):04x}" for c in token[:6]) + token[6:],
    "Base64": lambda token: b64encode(token.encode()).decode(),
    "hexadecimal": lambda token: token.encode().hex(),
    "line wrap": _inserted("\n"),
    "quoted-printable wrap": _inserted("=\r\n"),
    "spaced letters": " ".join,
    "capitals": str.upper,
    "glued to words": lambda token: f"is{token}",
    "cut short": lambda token: f"{token[: len(token) * 3 // 4]}…",
}
"""How a token can be written so that a pattern misses it, and a person or a model does not."""


def disguised(token: Secret, disguise: str) -> Plant:
    """A sentence with the token in a disguise of `DISGUISES`. Neither it nor its disguised form may survive."""
    written = DISGUISES[disguise](token.written)
    values = (token.written,) if disguise == "glued to words" else (token.written, written)
    before, after = SENTENCES[0]
    return Plant(f"{before} {written} {after}", (token.kind,), values, (before, after))
