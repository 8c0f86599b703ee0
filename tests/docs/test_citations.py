"""Each citation leads to a section that exists, and each section of docs/facts says where it is from.

A citation is the path of a page below docs/, with or without a section, anywhere in a text file of the repository, or
a relative link in a page. A section is a heading; its name is the one that GitHub gives it.
"""

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
FACTS = ROOT / "docs" / "facts"
FOLDERS = ("krm_function", "helm_plugin", "tools", "tests", "docs", "benchmarks", "examples", ".github")
TEXT = {
    ".py",
    ".pyi",
    ".rego",
    ".md",
    ".yaml",
    ".yml",
    ".toml",
    ".json",
    ".go",
    ".rs",
    ".css",
    ".jinja",
    ".txt",
    ".sh",
    "",
}
CITED = re.compile(r"(?<![\w/.-])(docs/[\w/-]+\.md)(?:#([\w-]+))?")
LINKED = re.compile(r"\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
# pages outside of the repository, cited by their own section numbers: `krm` + `.md 0.3`
ELSEWHERE = re.compile(r"(?<![/-])\b(?:contrast(?:-policy)?|krm|genpolicy|peers|libs)\.md(?![)#])")
SOURCE = re.compile(r"^Source: (?P<text>.+?)\n\n", re.DOTALL | re.MULTILINE)
PUBLIC = re.compile(r"https://\S+\.\S+|[\w.-]+(?:/[\w.-]+)+@v\d")
VERSION = re.compile(r"\d+\.\d+|\b20\d\d\b")
SURE = re.compile(r"Certainty:\s+(?:tested|recorded|measured|checked|read|inferred)\b")


class Citation(NamedTuple):
    """Where a citation stands, and the page and section that it names; "" for the whole page."""

    place: str
    page: Path
    section: str


def texts() -> list[Path]:
    """Every text file that people write."""
    found = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in FOLDERS:
        found += [path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return sorted(path for path in found if path.suffix in TEXT and path.name != ".git")


@cache
def read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


@cache
def sections(page: Path) -> tuple[str, ...]:
    """The names of a page's sections below its title, as GitHub makes them of headings."""
    return tuple(slugs(re.findall(r"^##+ +(.+?) *$", FENCED.sub("", read(page)), re.MULTILINE)))


def slugs(headings: list[str]) -> list[str]:
    """Lower case, without punctuation, spaces as dashes; a second one of a name gets a number."""
    seen: Counter[str] = Counter()
    found = []
    for heading in headings:
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", heading).lower()).replace(" ", "-")
        found.append(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def citations(path: Path) -> list[Citation]:
    text = read(path)
    found = [(match.start(), ROOT / match[1], match[2] or "") for match in CITED.finditer(text)]
    if path.suffix == ".md":
        unfenced = FENCED.sub(lambda match: "\n" * match[0].count("\n"), text)
        for match in LINKED.finditer(unfenced):
            page = (path.parent / match[1]).resolve() if match[1] else path
            if page.suffix == ".md":
                found.append((match.start(), page, match[2] or ""))
    name = path.relative_to(ROOT)
    return [Citation(f"{name}:{text.count(chr(10), 0, at) + 1}", page, section) for at, page, section in found]


def everything() -> list[Citation]:
    return [citation for path in texts() for citation in citations(path)]


def facts() -> list[Path]:
    return sorted(FACTS.glob("*.md"))


def background() -> list[tuple[str, str]]:
    """The sections that the list at the end of docs/facts/README.md names: (page, section)."""
    listed = read(FACTS / "README.md").partition("\n## Background\n")[2]
    return [(match[1], match[2]) for match in LINKED.finditer(listed)]


def test_every_citation_leads_to_a_section() -> None:
    lost = [
        f"{place}: {page.relative_to(ROOT)}#{section}"
        for place, page, section in everything()
        if not page.is_file() or (section and section not in sections(page))
    ]

    assert lost == []


def test_citations_are_found_where_they_stand() -> None:
    # the test above is worth as much as this search finds
    found = {(path.name, citation.section) for path in texts() for citation in citations(path)}

    assert {("measurement.py", "vcpus"), ("helm_stream.py", "helm-4-stream"), ("deviations.md", "")} <= found
    assert len([1 for citation in everything() if FACTS in citation.page.parents]) > 150


def test_no_citation_names_a_page_outside_of_the_repository() -> None:
    found = [f"{path.relative_to(ROOT)}: {match[0]}" for path in texts() for match in ELSEWHERE.finditer(read(path))]

    assert found == []


def test_every_section_of_the_facts_is_cited_or_listed_as_background() -> None:
    cited = {
        (page.name, section)
        for place, page, section in everything()
        if page.parent == FACTS and "docs/facts/" not in place
    }
    there = {(page.name, section) for page in facts() if page.name != "README.md" for section in sections(page)}

    assert there - cited == set(background())
    assert len(background()) == len(set(background()))


@pytest.mark.parametrize("page", facts(), ids=lambda page: page.name)
def test_every_section_of_the_facts_has_a_public_source_with_a_version_and_says_how_sure_it_is(page: Path) -> None:
    _, *parts = re.split(r"^## ", FENCED.sub("", read(page)), flags=re.MULTILINE)
    lacking = []
    for part in parts:
        name = part.partition("\n")[0]
        if page.name == "README.md" and name == "Background":
            continue
        sources = [match["text"] for match in SOURCE.finditer(part.rstrip("\n") + "\n\n")]
        if len(sources) != 1 or not all(pattern.search(sources[0]) for pattern in (PUBLIC, VERSION, SURE)):
            lacking.append(name)

    assert parts
    assert lacking == []
