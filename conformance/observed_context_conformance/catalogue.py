"""The catalogue: every requirement of the specification, read from its chapters by the grammar in `spec/README.md`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Literal, cast

from observed_context_conformance.data import spec_dir

SPEC_VERSION = "1.0"

Level = Literal["MUST", "SHOULD", "MAY"]
LEVELS: tuple[Level, ...] = ("MUST", "SHOULD", "MAY")

# In reading order: the file name without `.md`, and the area whose requirements it holds.
CHAPTERS: dict[str, str] = {
    "gating": "GATE",
    "rows": "ROW",
    "media": "MED",
    "addressing": "ATT",
    "separation": "SEP",
    "assembly": "ASM",
    "cap": "CAP",
    "limits": "LIM",
    "turn": "TURN",
    "compaction": "CMP",
    "scheduling": "SCH",
    "redaction": "RED",
    "ambient": "AMB",
    "gateway": "GWY",
}

# Pages of the specification that hold no requirements.
PAGES = ("README.md", "protocol.md")

PORTS: tuple[str, ...] = (
    "describe",
    "gate",
    "row",
    "address",
    "replay",
    "assemble",
    "limits",
    "wrap",
    "turn",
    "compact",
    "scheduler",
    "redact",
    "gateway",
    "ambient",
)

NOTHING_PUBLIC = "nothing public yet"

_PARTS = ("Why", "Example", "Port", "Seen")
_OPTIONAL = frozenset({"Example"})

_TITLE = re.compile(r"# (?P<title>\S.*) \((?P<area>[A-Z]+)\)")
_HEADING = re.compile(r"(?P<marks>#{1,6})(?: |$)")
_ENTRY = re.compile(r"### (?P<id>(?P<area>[A-Z]+)-(?P<number>[1-9]\d*)) \((?P<level>[^()]*)\) (?P<title>\S.*)")
_PART = re.compile(r"\*\*(?P<name>[A-Z][a-z]+)\.\*\*(?: (?P<rest>.*))?")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")
_REFERENCE = re.compile(
    r"`(?P<repository>[\w.-]+/[\w.-]+)(?:#(?P<number>[1-9]\d*)| (?P<path>[\w./-]+))`(?: \((?P<remark>[^()]+)\))?"
)
_SENTENCE_END = re.compile(r"[.!?][)\"']*(?=\s|$)")


class CatalogueError(Exception):
    """The specification is not what the kit can work with."""


class ChapterError(CatalogueError):
    """A chapter breaks the grammar.

    Attributes:
        file: the chapter's path.
        line: where, counted from 1.
        fault: what is wrong there.
        mend: what to do about it.
    """

    def __init__(self, file: Path, line: int, fault: str, mend: str) -> None:
        super().__init__(f"{file}:{line}: {fault}; {mend}")
        self.file = file
        self.line = line
        self.fault = fault
        self.mend = mend


class UnknownRequirementError(CatalogueError):
    """No requirement has this id.

    Attributes:
        wanted: the id that was looked up.
        close: ids that look like it, the closest first.
    """

    def __init__(self, wanted: str, known: tuple[str, ...]) -> None:
        self.wanted = wanted
        self.close = tuple(difflib.get_close_matches(wanted.strip().upper(), known, n=3, cutoff=0.7))
        hint = f"did you mean {' or '.join(self.close)}?" if self.close else "spec/README.md lists them all"
        super().__init__(f"there is no requirement {wanted!r}; {hint}")


@dataclass(frozen=True)
class Seen:
    """A public place where a requirement was broken.

    Attributes:
        repository: `owner/repo` on GitHub.
        number: of the issue or pull request, or None.
        path: of the file, or None; exactly one of the two is given.
        remark: what happened there, or None.
    """

    repository: str
    number: int | None
    path: str | None
    remark: str | None

    @property
    def reference(self) -> str:
        """As it is written in the chapter: `owner/repo#number` or `owner/repo path`."""
        return f"{self.repository}#{self.number}" if self.path is None else f"{self.repository} {self.path}"

    @property
    def url(self) -> str:
        """Where it can be read. An issue's address leads on to a pull request of that number."""
        place = f"issues/{self.number}" if self.path is None else f"blob/HEAD/{self.path}"
        return f"https://github.com/{self.repository}/{place}"


@dataclass(frozen=True)
class Requirement:
    """One requirement.

    Attributes:
        id: `AREA-number`, permanent.
        area: the area's code.
        number: within the area.
        level: MUST, SHOULD or MAY.
        title: a few words, Markdown.
        statement: the normative text, Markdown.
        why: what goes wrong without it, Markdown.
        example: Markdown, or None.
        ports: the port methods by which it can be checked.
        any_port: True when any of `ports` is enough, False when all are needed.
        seen: public places where it was broken.
        chapter: name of the file that holds it.
        line: of its heading in that file.
    """

    id: str
    area: str
    number: int
    level: Level
    title: str
    statement: str
    why: str
    example: str | None
    ports: tuple[str, ...]
    any_port: bool
    seen: tuple[Seen, ...]
    chapter: str
    line: int

    @property
    def sentence(self) -> str:
        """The first sentence of the statement on one line, without emphasis and links; code keeps its backticks."""
        return _first_sentence(_plain(self.statement.split("\n\n", 1)[0]))

    @property
    def anchor(self) -> str:
        """The fragment by which its heading is linked, as GitHub makes it."""
        heading = f"{self.id} ({self.level}) {self.title}".lower()
        return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


@dataclass(frozen=True)
class Area:
    """A group of requirements about one thing, kept in one chapter.

    Attributes:
        code: as in `GATE-1`.
        title: its name in words.
        chapter: name of the file.
        requirements: in the order of the chapter.
    """

    code: str
    title: str
    chapter: str
    requirements: tuple[Requirement, ...]


@dataclass(frozen=True)
class Catalogue:
    """All areas in reading order, with their requirements."""

    areas: tuple[Area, ...]

    @cached_property
    def _by_id(self) -> dict[str, Requirement]:
        return {requirement.id: requirement for area in self.areas for requirement in area.requirements}

    def __getitem__(self, requirement_id: str) -> Requirement:
        """The requirement of that id.

        Raises:
            UnknownRequirementError: there is none; the message names close matches.
        """
        try:
            return self._by_id[requirement_id]
        except KeyError:
            raise UnknownRequirementError(requirement_id, tuple(self._by_id)) from None

    def __contains__(self, requirement_id: object) -> bool:
        return requirement_id in self._by_id

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)


def version_of(text: str) -> tuple[int, int]:
    """Major and minor of a version of the specification, such as `1.0`."""
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def load_catalogue(directory: Path | None = None) -> Catalogue:
    """Read the chapters in `directory`, by default those of the installed specification. Each directory is read once.

    Raises:
        CatalogueError: a chapter breaks the grammar, or the directory holds none.
        FileNotFoundError: the installation lacks its specification.
    """
    return _load((directory or spec_dir()).resolve())


@cache
def _load(directory: Path) -> Catalogue:
    files = {path.stem: path for path in directory.glob("*.md") if path.name not in PAGES}
    for stem in sorted(files.keys() - CHAPTERS.keys()):
        raise ChapterError(
            files[stem], 1, "no area has a chapter of this name", f"name it one of {', '.join(CHAPTERS)}"
        )
    if not files:
        raise CatalogueError(f"{directory} holds no chapters; install observed-context again")
    return Catalogue(tuple(_Chapter(files[stem], code).area() for stem, code in CHAPTERS.items() if stem in files))


def index(catalogue: Catalogue) -> str:
    """The index of the requirements as `spec/README.md` holds it, in Markdown."""
    blocks = []
    for area in catalogue.areas:
        lines = [f"### [{area.title}]({area.chapter}): {area.code}", ""]
        lines += [f"- [{r.id}]({r.chapter}#{r.anchor}) {r.level}: {r.title}" for r in area.requirements]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


# -- reading one chapter -------------------------------------------------------------------------------------------


class _Chapter:
    """One chapter while it is read."""

    def __init__(self, path: Path, code: str) -> None:
        self.path = path
        self.code = code
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.prose = list(_outside_fences(self.lines))

    def area(self) -> Area:
        title = self._title()
        headings = [number for number, line in enumerate(self.lines, 1) if self._is_heading(number, line)]
        found: dict[str, Requirement] = {}
        for position, start in enumerate(headings):
            line = self.lines[start - 1]
            depth = len(line) - len(line.lstrip("#"))
            if depth > 3 or (depth == 1 and position > 0):
                raise self._error(
                    start, "a chapter has one # heading, ## for prose and ### for entries", "use one of these"
                )
            if depth != 3:
                continue
            end = headings[position + 1] - 1 if position + 1 < len(headings) else len(self.lines)
            entry = self._entry(start, end)
            if entry.id in found:
                first = found[entry.id].line
                raise self._error(
                    start, f"{entry.id} stands here and in line {first}", "ids are permanent: take the next free number"
                )
            found[entry.id] = entry
        if not found:
            raise self._error(1, "the chapter holds no entry", f"begin one with ### {self.code}-1 (MUST) Title")
        return Area(self.code, title, self.path.name, tuple(found.values()))

    def _error(self, line: int, fault: str, mend: str) -> ChapterError:
        return ChapterError(self.path, line, fault, mend)

    def _is_heading(self, number: int, line: str) -> bool:
        return self.prose[number - 1] and _HEADING.match(line) is not None

    def _title(self) -> str:
        match = _TITLE.fullmatch(self.lines[0]) if self.lines else None
        if match is None or match["area"] != self.code:
            raise self._error(1, "the first line is not the chapter's title", f"write # Name of the area ({self.code})")
        return match["title"]

    def _entry(self, start: int, end: int) -> Requirement:
        heading = _ENTRY.fullmatch(self.lines[start - 1])
        if heading is None:
            raise self._error(
                start,
                "this is no heading of an entry",
                f"write ### {self.code}-1 (MUST) Title, or use ## for a heading in prose",
            )
        identity = heading["id"]
        if heading["area"] != self.code:
            raise self._error(
                start,
                f"{identity} is not of this chapter's area {self.code}",
                "move the entry to the chapter of its area, or mend the id",
            )
        if heading["level"] not in LEVELS:
            raise self._error(
                start, f"{identity} has the level {heading['level']!r}", f"levels are {', '.join(LEVELS)}"
            )
        parts = self._parts(identity, start, end)
        ports, any_port = self._ports(identity, *parts["Port"])
        return Requirement(
            id=identity,
            area=self.code,
            number=int(heading["number"]),
            level=cast(Level, heading["level"]),
            title=heading["title"],
            statement=parts["Statement"][1],
            why=parts["Why"][1],
            example=parts["Example"][1] if "Example" in parts else None,
            ports=ports,
            any_port=any_port,
            seen=self._seen(identity, *parts["Seen"]),
            chapter=self.path.name,
            line=start,
        )

    def _parts(self, identity: str, start: int, end: int) -> dict[str, tuple[int, str]]:
        """The parts by name, each with the line where it begins and its text."""
        starts = [("Statement", start + 1, "")]
        for number in range(start + 1, end + 1):
            match = _PART.fullmatch(self.lines[number - 1]) if self.prose[number - 1] else None
            if match is None:
                continue
            name = match["name"]
            if name not in _PARTS:
                known = ", ".join(f"**{part}.**" for part in _PARTS)
                raise self._error(number, f"{identity} has an unknown part **{name}.**", f"the parts are {known}")
            if self.lines[number - 2].strip():
                raise self._error(number, f"**{name}.** does not begin a paragraph", "put an empty line before it")
            if name in {part for part, _, _ in starts}:
                raise self._error(number, f"{identity} has two parts **{name}.**", "make one of them")
            starts.append((name, number, match["rest"] or ""))

        names = [name for name, _, _ in starts[1:]]
        for name in _PARTS:
            if name not in names and name not in _OPTIONAL:
                raise self._error(
                    start, f"{identity} has no part **{name}.**", f"add it; the order is {', '.join(_PARTS)}"
                )
        ordered = [name for name in _PARTS if name in names]
        if names != ordered:
            wrong = next(number for (name, number, _), right in zip(starts[1:], ordered, strict=True) if name != right)
            raise self._error(
                wrong, f"the parts of {identity} are out of order", f"put them in the order {', '.join(ordered)}"
            )

        parts = {}
        for (name, number, rest), following in zip(
            starts, [*(begin for _, begin, _ in starts[1:]), end + 1], strict=True
        ):
            first = number if name == "Statement" else number + 1
            text = "\n".join([rest, *self.lines[first - 1 : following - 1]]).strip()
            if not text:
                raise self._error(number, f"{identity} has an empty part {name}", "write it, or take the entry out")
            parts[name] = (number, text)
        return parts

    def _ports(self, identity: str, line: int, text: str) -> tuple[tuple[str, ...], bool]:
        any_port = " or " in text
        names = []
        for item in re.split(" or " if any_port else ", ", " ".join(text.split())):
            match = re.fullmatch(r"`(\w+)`", item)
            if match is None or match[1] not in PORTS:
                raise self._error(
                    line,
                    f"{identity} names {item} as a port method",
                    f"put methods in backticks, all with commas or all with or between; they are {', '.join(PORTS)}",
                )
            names.append(match[1])
        return tuple(names), any_port

    def _seen(self, identity: str, line: int, text: str) -> tuple[Seen, ...]:
        joined = " ".join(text.split())
        if joined == NOTHING_PUBLIC:
            return ()
        references = []
        for item in re.split(r"; (?=`)", joined):
            match = _REFERENCE.fullmatch(item)
            if match is None:
                raise self._error(
                    line,
                    f"{identity} has a reference that cannot be read: {item}",
                    "write `owner/repo#number` or `owner/repo path` in backticks, a remark in parentheses after it, "
                    f"a semicolon between two; or the words {NOTHING_PUBLIC}",
                )
            number = int(match["number"]) if match["number"] else None
            references.append(Seen(match["repository"], number, match["path"], match["remark"]))
        return tuple(references)


def _outside_fences(lines: list[str]) -> Iterator[bool]:
    """For each line whether it stands outside fenced code; the fences themselves do not."""
    fence: str | None = None
    for line in lines:
        match = _FENCE.match(line)
        if fence is None:
            fence = match["fence"] if match else None
            yield match is None
        else:
            if match and match["fence"].startswith(fence) and not line.strip().strip(fence[0]):
                fence = None
            yield False


def _plain(markdown: str) -> str:
    """One paragraph without emphasis and links, on one line. What is code stays as it is."""
    pieces = re.split(r"(`+[^`]*`+)", " ".join(markdown.split()))
    for position in range(0, len(pieces), 2):
        piece = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", pieces[position])
        pieces[position] = re.sub(r"(?<!\w)(\*{1,3}|_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)", r"\2", piece)
    return "".join(pieces)


def _first_sentence(paragraph: str) -> str:
    # Code may hold full stops; blank it out before looking for the end of the sentence.
    blanked = re.sub(r"`+[^`]*`+", lambda code: "x" * len(code[0]), paragraph)
    end = _SENTENCE_END.search(blanked)
    return paragraph[: end.end()] if end else paragraph


if __name__ == "__main__":
    print(index(load_catalogue()), end="")
