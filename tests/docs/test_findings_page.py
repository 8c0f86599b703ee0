"""docs/reference/findings.md: every code has its anchor, a meaning, an example and a remedy."""

import re
from pathlib import Path

import pytest

from krm_function import findings
from krm_function.findings import documentation_url, row, table
from tests.failures.world import canaries
from tools.findings_page import first_cases, sources

PATH = Path(__file__).parents[2] / "docs/reference/findings.md"
PAGE = PATH.read_text()
SECTIONS = dict(re.findall(r"^### (CC\d{4})\n(.*?)(?=^### |\Z|^<!-- end)", PAGE, re.MULTILINE | re.DOTALL))
SOURCES = sources()


def test_there_is_a_section_for_each_code_and_no_other() -> None:
    assert SECTIONS.keys() == table().keys()


def test_a_section_has_meaning_example_and_remedy() -> None:
    for code in table():
        section = SECTIONS[code]
        assert len(row(code).meaning) > 40
        assert row(code).meaning.endswith(".")
        example = re.search(r"^Example.*?:\n\n((?:    .*\n)+)", section, re.MULTILINE)
        assert example
        assert example[1].startswith(f"    {row(code).severity} {code}")
        assert ("Remedy: " in section) == (row(code).severity != "info")
        assert not list(canaries(section))


def test_an_example_of_values_is_needed_only_where_no_case_raises_the_code() -> None:
    for code in table():
        assert ("example" in SOURCES[code]) == (code not in first_cases())


def test_the_address_of_a_code_is_the_heading_of_its_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "DOCUMENTATION", f"https://example.com/{PATH.parents[1].name}")
    page, _, section = documentation_url("CC0206").partition("#")
    assert page == f"https://example.com/docs/{PATH.parent.name}/{PATH.name}"
    assert f"### {section.upper()}\n" in PAGE
