"""Text as the model gets it: the text of any content, always encodable, cut where a reader would cut."""

import unicodedata

MARK = " [... cut ...] "
_NEAR = 32


def text_of(content: object) -> str:
    """Return the text of any content: a string as it is, the text parts of a list on lines of their own (SEP-10)."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))


def is_blank(text: str) -> bool:
    """Whether a text has nothing to show."""
    return not text or text.isspace()


def encodable(text: str) -> str:
    """Return the text with halves of a surrogate pair put together, or replaced where one is missing (CAP-10)."""
    if is_encodable(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def is_encodable(text: str) -> bool:
    """Whether no half of a surrogate pair stands in a text."""
    if text.isascii():
        return True
    try:
        text.encode("utf-32-le")  # of the encodings that refuse halves the fastest here
    except UnicodeEncodeError:
        return False
    return True


def cut(text: str, room: int) -> str:
    """Return at most `room` characters of a text: all of it, or head and tail around a visible mark (CAP-6, CAP-11)."""
    if len(text) <= room:
        return text
    space = max(room - len(MARK), 0)
    head = boundary_before(text, space - space // 2)
    tail = boundary_after(text, len(text) - space // 2)
    return (text[:head] + MARK + text[tail:])[: max(room, 0)]


def cut_end(text: str, room: int) -> str:
    """Return at most `room` characters of a text: all of it, or its head and a visible mark (CAP-7, CAP-11)."""
    if len(text) <= room:
        return text
    if room <= len(MARK):  # no mark where there is hardly room for it
        return text[: max(room, 0)]
    return text[: boundary_before(text, room - len(MARK))] + MARK.rstrip()


def boundary_before(text: str, index: int) -> int:
    """Return the last grapheme boundary at or before `index`, or `index` itself when none is near."""
    return next((at for at in range(index, max(index - _NEAR, -1), -1) if _is_boundary(text, at)), index)


def boundary_after(text: str, index: int) -> int:
    """Return the first grapheme boundary at or after `index`, or `index` itself when none is near."""
    return next((at for at in range(index, min(index + _NEAR, len(text)) + 1) if _is_boundary(text, at)), index)


def _is_boundary(text: str, index: int) -> bool:
    # The rules of Unicode's UAX #29 as far as the standard library knows the properties.
    if index <= 0 or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    if before == "\r" and after == "\n":
        return False
    if before == "\u200d" or _extends(after):
        return False
    if unicodedata.combining(before) == 9:  # a virama ties the next letter to its own
        return not after.isalpha()
    if _is_regional(before) and _is_regional(after):
        run = 0
        while run < index and _is_regional(text[index - 1 - run]):
            run += 1
        return run % 2 == 0
    return _hangul(after) not in _HANGUL_FOLLOWERS.get(_hangul(before), "")


def _extends(char: str) -> bool:
    # Combining marks and variation selectors, joiners, skin tones, and the tags of regional flags.
    return (
        unicodedata.category(char).startswith("M")
        or char in "\u200c\u200d"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
    )


def _is_regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


# Leading consonants, vowels, trailing consonants, and syllables without (s) or with (S) a trailing consonant.
_HANGUL_FOLLOWERS = {"L": "LVsS", "V": "VT", "s": "VT", "T": "T", "S": "T"}


def _hangul(char: str) -> str:
    if "\uac00" <= char <= "\ud7a3":
        return "S" if (ord(char) - 0xAC00) % 28 else "s"
    if "\u1100" <= char <= "\u115f" or "\ua960" <= char <= "\ua97c":
        return "L"
    if "\u1160" <= char <= "\u11a7" or "\ud7b0" <= char <= "\ud7c6":
        return "V"
    return "T" if "\u11a8" <= char <= "\u11ff" or "\ud7cb" <= char <= "\ud7fb" else "-"
