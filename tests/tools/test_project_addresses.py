"""One repository address: what an internal error, the package and the pages for contributors say."""

import tomllib
from pathlib import Path

from krm_function.cli.main import ISSUES
from tests.failures.running import spawned

ROOT = Path(__file__).parents[2]
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]


def test_an_internal_error_says_where_to_report_it(tmp_path: Path) -> None:
    """A module that fails for no reason stands for a bug."""
    (tmp_path / "json.py").write_text("raise ZeroDivisionError\n")
    done = spawned("check", "-", data=b"a: 1\n", PYTHONPATH=str(tmp_path), PYTHONDONTWRITEBYTECODE="1")
    assert done.code == 70, done.stderr
    assert "internal error: ZeroDivisionError at json.py:1" in done.stderr
    assert ISSUES in done.stderr


def test_the_address_of_issues_is_the_one_of_the_package() -> None:
    assert URLS["Issues"] == ISSUES
    assert ISSUES.removesuffix("/issues") == URLS["Source"]


def test_every_page_for_contributors_names_the_same_repository() -> None:
    for page in ("SECURITY.md", ".github/ISSUE_TEMPLATE/config.yml", ".github/pull_request_template.md"):
        assert f"{URLS['Source']}" in (ROOT / page).read_text(), page
