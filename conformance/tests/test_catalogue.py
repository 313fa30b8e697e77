"""The chapters are complete and well formed, the index follows them, and broken chapters are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from observed_context_conformance.catalogue import (
    CHAPTERS,
    PAGES,
    PORTS,
    SPEC_VERSION,
    Catalogue,
    CatalogueError,
    ChapterError,
    Requirement,
    Seen,
    UnknownRequirementError,
    index,
    load_catalogue,
)
from observed_context_conformance.data import fixtures_dir, spec_dir

# The areas in reading order with the highest number of each. Ids are permanent: these numbers only grow.
HIGHEST = {
    "GATE": 18,
    "ROW": 6,
    "MED": 5,
    "ATT": 5,
    "SEP": 10,
    "ASM": 9,
    "CAP": 12,
    "LIM": 4,
    "TURN": 15,
    "CMP": 13,
    "SCH": 9,
    "RED": 8,
    "AMB": 13,
    "GWY": 13,
}

SHOULD = {
    *("GATE-12", "GATE-13", "GATE-18"),
    "ROW-6",
    *("MED-4", "MED-5"),
    *("ASM-8", "ASM-9"),
    *("CAP-7", "CAP-8", "CAP-11", "CAP-12"),
    "TURN-15",
    "CMP-11",
    *("SCH-8", "SCH-9"),
    *("RED-6", "RED-7"),
    "AMB-13",
    *("GWY-10", "GWY-12"),
}

every_requirement = pytest.mark.parametrize("requirement", load_catalogue(), ids=lambda requirement: requirement.id)


# -- the specification ---------------------------------------------------------------------------------------------


def test_areas_stand_in_reading_order() -> None:
    assert [area.code for area in load_catalogue().areas] == list(HIGHEST)


def test_every_area_has_a_chapter() -> None:
    assert {path.name for path in spec_dir().glob("*.md")} == {*(f"{stem}.md" for stem in CHAPTERS), *PAGES}


def test_ids_are_the_known_ones_in_order() -> None:
    known = [f"{area}-{number}" for area, highest in HIGHEST.items() for number in range(1, highest + 1)]
    assert [requirement.id for requirement in load_catalogue()] == known
    assert len(load_catalogue()) == len(known)


def test_levels_are_the_agreed_ones() -> None:
    levels = {requirement.id: requirement.level for requirement in load_catalogue()}
    assert levels == {each: "SHOULD" if each in SHOULD else "MUST" for each in levels}


@every_requirement
def test_first_sentence_stands_alone(requirement: Requirement) -> None:
    assert requirement.sentence.endswith(".")
    assert "\n" not in requirement.sentence
    assert "**" not in requirement.sentence
    assert len(requirement.sentence) <= 320
    assert requirement.sentence.split()[0] not in {"It", "This", "They", "These", "He", "That"}


@every_requirement
def test_title_is_a_heading_and_not_a_sentence(requirement: Requirement) -> None:
    assert not requirement.title.endswith(".")
    assert len(requirement.title) <= 70


@every_requirement
def test_reason_is_a_sentence(requirement: Requirement) -> None:
    assert re.search(r"\.$", requirement.why)


@every_requirement
def test_references_are_given_once_and_well_formed(requirement: Requirement) -> None:
    references = [seen.reference for seen in requirement.seen]
    assert len(references) == len(set(references))
    for seen in requirement.seen:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+(#[1-9]\d*| [\w./-]+\.\w+)", seen.reference)
        assert (seen.number is None) != (seen.path is None)
        assert seen.remark is None or not seen.remark.endswith(".")


def test_titles_are_unique_within_an_area() -> None:
    for area in load_catalogue().areas:
        titles = [requirement.title for requirement in area.requirements]
        assert len(titles) == len(set(titles))


def test_every_port_method_is_in_use() -> None:
    used = {port for requirement in load_catalogue() for port in requirement.ports}
    assert used == set(PORTS) - {"describe"}


def test_index_follows_the_chapters() -> None:
    readme = (spec_dir() / "README.md").read_text(encoding="utf-8")
    held = re.search(r"<!-- index: [^\n]* -->\n\n(.*?)\n<!-- end of index -->", readme, re.DOTALL)
    assert held is not None
    assert held[1] == index(load_catalogue()), (
        "run python -m observed_context_conformance.catalogue and put the output there"
    )


def test_version_is_the_one_in_the_readme() -> None:
    assert f"\nVersion {SPEC_VERSION}\n" in (spec_dir() / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(spec_dir().glob("*.md")), ids=lambda path: path.name)
def test_links_and_ids_in_the_prose_lead_somewhere(path: Path) -> None:
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        assert target.startswith("https://") or (path.parent / target).exists(), target
    for named in re.findall(rf"\b(?:{'|'.join(HIGHEST)})-\d+\b", text):
        assert named in load_catalogue()


def test_redaction_chapter_lists_the_kinds_that_must_not_cross() -> None:
    lines = (fixtures_dir() / "secrets" / "secrets.jsonl").read_text(encoding="utf-8").splitlines()
    kinds = {record["kind"] for record in map(json.loads, lines) if record["level"] == "must"}
    listed = re.findall(r"^\| `(\w+)` \|", (spec_dir() / "redaction.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(kinds)


# -- small chapters ------------------------------------------------------------------------------------------------

ENTRY = """\
### CAP-1 (MUST) The block stays within `max_chars`

The block is *never* longer than `max_chars`. Everything counts.

**Why.** Requests fail.

**Example.** Ten.

```
### CAP-9 (MUST) This is code

**Port.** So is this.
```

**Port.** `assemble`

**Seen.** `owner/repo#12` (it was longer); `owner/repo src/cap.py`
"""


def load(directory: Path, text: str, name: str = "cap.md") -> Catalogue:
    """The catalogue of a specification with one chapter."""
    (directory / name).write_text(text, encoding="utf-8")
    return load_catalogue(directory)


def chapter(*entries: str) -> str:
    return "\n".join(["# The cap (CAP)", "", "Prose.", "", *entries])


def test_entry_is_read_into_its_parts(tmp_path: Path) -> None:
    requirement = load(tmp_path, chapter(ENTRY))["CAP-1"]
    assert requirement == Requirement(
        id="CAP-1",
        area="CAP",
        number=1,
        level="MUST",
        title="The block stays within `max_chars`",
        statement="The block is *never* longer than `max_chars`. Everything counts.",
        why="Requests fail.",
        example="Ten.\n\n```\n### CAP-9 (MUST) This is code\n\n**Port.** So is this.\n```",
        ports=("assemble",),
        any_port=False,
        seen=(Seen("owner/repo", 12, None, "it was longer"), Seen("owner/repo", None, "src/cap.py", None)),
        chapter="cap.md",
        line=5,
    )
    assert requirement.sentence == "The block is never longer than `max_chars`."
    assert requirement.anchor == "cap-1-must-the-block-stays-within-max_chars"
    assert [seen.url for seen in requirement.seen] == [
        "https://github.com/owner/repo/issues/12",
        "https://github.com/owner/repo/blob/HEAD/src/cap.py",
    ]


def test_example_may_be_missing(tmp_path: Path) -> None:
    text = re.sub(r"\*\*Example.*?(?=\*\*Port\.\*\* `)", "", ENTRY, flags=re.DOTALL)
    assert load(tmp_path, chapter(text))["CAP-1"].example is None


def test_nothing_public_is_no_reference(tmp_path: Path) -> None:
    text = re.sub(r"(?<=Seen\.\*\* ).*", "nothing public yet", ENTRY)
    assert load(tmp_path, chapter(text))["CAP-1"].seen == ()


@pytest.mark.parametrize(
    ("written", "ports", "any_port"),
    [("`row`, `address`", ("row", "address"), False), ("`wrap` or `turn`", ("wrap", "turn"), True)],
)
def test_ports_are_all_needed_or_any(tmp_path: Path, written: str, ports: tuple[str, ...], any_port: bool) -> None:
    requirement = load(tmp_path, chapter(ENTRY.replace("`assemble`", written)))["CAP-1"]
    assert (requirement.ports, requirement.any_port) == (ports, any_port)


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("`@kit.dev` is found in `a. b`. More.", "`@kit.dev` is found in `a. b`."),
        ("A row has **one** line,\nas *the* [rows](rows.md) say. More.", "A row has one line, as the rows say."),
        ("A list follows:\n\n- one.", "A list follows:"),
        ("Names such as max_chars_now and 3.5 stay. More.", "Names such as max_chars_now and 3.5 stay."),
        ("It ends (here.) More.", "It ends (here.)"),
    ],
)
def test_first_sentence(tmp_path: Path, statement: str, sentence: str) -> None:
    text = ENTRY.replace("The block is *never* longer than `max_chars`. Everything counts.", statement)
    assert load(tmp_path, chapter(text))["CAP-1"].sentence == sentence


def test_prose_headings_end_an_entry(tmp_path: Path) -> None:
    requirement = load(tmp_path, chapter(ENTRY, "## Prose\n\n**Note.** Not of the entry.\n"))["CAP-1"]
    assert len(requirement.seen) == 2


def test_catalogue_is_read_once_and_knows_its_ids(tmp_path: Path) -> None:
    catalogue = load(tmp_path, chapter(ENTRY))
    assert load_catalogue(tmp_path) is catalogue
    assert "CAP-1" in catalogue
    assert "CAP-2" not in catalogue
    assert [(area.code, area.title, area.chapter) for area in catalogue.areas] == [("CAP", "The cap", "cap.md")]


# -- chapters that break the grammar -------------------------------------------------------------------------------

BROKEN = {
    "duplicate id": (chapter(ENTRY, ENTRY), 23, "CAP-1 stands here and in line 5"),
    "bad level": (chapter(ENTRY.replace("(MUST)", "(must)", 1)), 5, "CAP-1 has the level 'must'"),
    "another area": (chapter(ENTRY.replace("### CAP-1", "### LIM-1")), 5, "LIM-1 is not of this chapter's area CAP"),
    "no statement": (
        chapter(ENTRY.replace("The block is *never* longer than `max_chars`. Everything counts.", "")),
        6,
        "empty part Statement",
    ),
    "no why": (chapter(ENTRY.replace("**Why.** ", "")), 5, "CAP-1 has no part **Why.**"),
    "no port": (chapter(ENTRY.replace("**Port.** `assemble`", "")), 5, "CAP-1 has no part **Port.**"),
    "no seen": (chapter(re.sub(r"\*\*Seen.*", "", ENTRY)), 5, "CAP-1 has no part **Seen.**"),
    "empty part": (chapter(ENTRY.replace("Requests fail.", "")), 9, "CAP-1 has an empty part Why"),
    "out of order": (
        chapter(ENTRY.replace("**Why.** Requests fail.\n\n", "") + "\n**Why.** Requests fail.\n"),
        9,
        "the parts of CAP-1 are out of order",
    ),
    "part twice": (chapter(ENTRY + "\n**Why.** Again.\n"), 23, "CAP-1 has two parts **Why.**"),
    "unknown part": (chapter(ENTRY + "\n**Note.** Hm.\n"), 23, "CAP-1 has an unknown part **Note.**"),
    "part within a paragraph": (
        chapter(ENTRY.replace("\n\n**Why", "\n**Why")),
        8,
        "**Why.** does not begin a paragraph",
    ),
    "unknown port": (chapter(ENTRY.replace("`assemble`", "`render`")), 19, "CAP-1 names `render` as a port method"),
    "ports with both separators": (
        chapter(ENTRY.replace("`assemble`", "`wrap`, `row` or `turn`")),
        19,
        "CAP-1 names `wrap`, `row` as a port method",
    ),
    "unreadable reference": (
        chapter(ENTRY.replace("`owner/repo#12`", "owner/repo#12")),
        21,
        "CAP-1 has a reference that cannot be read: owner/repo#12 (it was longer)",
    ),
    "no title": (ENTRY, 1, "the first line is not the chapter's title"),
    "title of another area": (
        chapter(ENTRY).replace("(CAP)", "(LIM)", 1),
        1,
        "the first line is not the chapter's title",
    ),
    "second title": (chapter(ENTRY, "# Again"), 23, "a chapter has one # heading"),
    "heading too deep": (chapter(ENTRY, "#### Deep"), 23, "a chapter has one # heading"),
    "heading without an id": (chapter("### The cap\n"), 5, "this is no heading of an entry"),
    "number with a leading zero": (
        chapter(ENTRY.replace("### CAP-1", "### CAP-01")),
        5,
        "this is no heading of an entry",
    ),
    "no entry": (chapter(), 1, "the chapter holds no entry"),
}


@pytest.mark.parametrize(("text", "line", "fault"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_chapter_is_refused(tmp_path: Path, text: str, line: int, fault: str) -> None:
    with pytest.raises(ChapterError) as caught:
        load(tmp_path, text)
    error = caught.value
    assert fault in error.fault
    assert (error.file, error.line) == (tmp_path.resolve() / "cap.md", line)
    assert error.mend
    assert str(error) == f"{error.file}:{error.line}: {error.fault}; {error.mend}"


def test_unknown_chapter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ChapterError, match=r"caps\.md:1: no area has a chapter of this name; name it one of gating, "):
        load(tmp_path, chapter(ENTRY), "caps.md")


def test_directory_without_chapters_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="holds no chapters"):
        load_catalogue(tmp_path)


@pytest.mark.parametrize(
    ("wanted", "close"),
    [("CAP-111", "CAP-11"), ("cap-1", "CAP-1"), ("CMPP-3", "CMP-3"), ("TURN-16", "TURN-1")],
)
def test_unknown_requirement_suggests_what_is_close(wanted: str, close: str) -> None:
    with pytest.raises(UnknownRequirementError) as caught:
        load_catalogue()[wanted]
    assert close in caught.value.close
    assert str(caught.value).startswith(f"there is no requirement {wanted!r}; did you mean {caught.value.close[0]}")


def test_unknown_requirement_without_anything_close() -> None:
    with pytest.raises(
        UnknownRequirementError, match=r"there is no requirement 'xyzzy'; spec/README\.md lists them all"
    ):
        load_catalogue()["xyzzy"]
