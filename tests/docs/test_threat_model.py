"""Every threat of the threat model names tests that exist, and every adversarial test stands there."""

import re

from tests.hosts.running import ROOT

PAGE = ROOT / "docs/explanation/threat-model.md"
CHAPTER = PAGE.read_text().partition("## Threats")[2].partition("\n## ")[0]
ROWS = [line for line in CHAPTER.splitlines() if line.startswith("| ")][1:]
LINK = re.compile(r"\]\((\.\./[^)]+)\)")


def test_every_threat_names_tests_that_exist() -> None:
    assert len(ROWS) > 10
    for row in ROWS:
        threat, answer, tests = row.strip("| ").split(" | ")
        assert threat
        assert answer
        linked = LINK.findall(tests)
        assert linked, row
        assert all((PAGE.parent / link).resolve().is_file() for link in linked), row


def test_every_adversarial_test_is_the_test_of_a_threat() -> None:
    linked = {(PAGE.parent / link).resolve() for row in ROWS for link in LINK.findall(row)}
    assert set((ROOT / "tests/adversary").glob("test_*.py")) <= linked
