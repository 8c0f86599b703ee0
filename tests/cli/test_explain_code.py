"""`explain CODE`: what a finding means, in the terminal; and where findings say that this is to be found."""

import json
import re
from pathlib import Path

import pytest

from krm_function import findings
from krm_function.findings import Finding, finding, row, table
from krm_function.report.explain_code import explanation_data, explanation_text
from krm_function.report.findings import render_json, render_sarif
from tests.cli.conftest import Shop
from tests.failures.world import World
from tests.hosts.running import called
from tests.wording import wording
from tools.findings_page import markdown

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/findings.md").read_text()
SECTIONS = dict(re.findall(r"^### (CC\d{4})\n(.*?)(?=^### |\Z|^<!-- end)", PAGE, re.MULTILINE | re.DOTALL))
PUBLISHED = "https://docs.example.com/v1"


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that knows where its documentation is."""
    monkeypatch.setattr(findings, "DOCUMENTATION", PUBLISHED)


def words(text: str) -> list[str]:
    return text.split()


def test_a_code_is_explained_as_on_its_page() -> None:
    for code in table():
        about = row(code)
        ran = called("explain", code, env={"COLUMNS": "80"})
        assert (ran.code, ran.err) == (0, "")
        text = ran.out.decode()
        assert words(text)[:2] == [code, f"{about.severity}:"]
        assert " ".join(words(about.meaning)) in " ".join(words(text))
        section = SECTIONS[code]
        assert markdown(about.meaning, code=True) in section
        for line in about.example:
            assert f"\n  {line}\n" in text
            assert f"\n    {line}\n" in section
        for part in (about.remedy, *(part for variant in about.variants.values() for part in variant)):
            assert " ".join(words(part)) in " ".join(words(text))
            assert markdown(part) in section


@pytest.mark.parametrize("width", [40, 80, 100])
def test_no_line_but_those_of_an_example_is_wider_than_the_terminal(width: int) -> None:
    for code in table():
        about = row(code)
        for line in explanation_text(about, width).splitlines():
            assert len(line) <= width or line[2:] in about.example or " " not in line.strip(), (code, line)


def test_letters_may_be_small() -> None:
    assert called("explain", "cc0304").out == called("explain", "CC0304").out


def test_json_has_the_same() -> None:
    said = json.loads(called("explain", "CC0604", "-o", "json").out)
    assert said == explanation_data(row("CC0604"))
    assert (said["version"], said["code"], said["severity"]) == (1, "CC0604", "error")
    assert {"problem": "is missing", "remedy": "add {key}"} in said["variants"]
    assert "documentation" not in said


@pytest.mark.parametrize(
    ("code", "near"), [("CC0399", "CC03"), ("CC304", "CC"), ("cc03O4", "CC03"), ("CC0", ""), ("CC99999", "CC")]
)
def test_a_code_that_is_none_gets_a_suggestion_that_is_one(code: str, near: str) -> None:
    ran = called("explain", code)
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.startswith(f"error CC0909: CODE: {wording('CC0909.no-code', text=code.upper())}\n  hint: ")
    (hinted,) = re.findall(r"CC\d{4}", ran.err.partition("hint: ")[2])
    assert hinted in table()
    assert hinted.startswith(near)
    assert called("explain", hinted).code == 0


def test_a_code_reads_no_files(tmp_path: Path) -> None:
    ran = called("explain", "CC0304", str(tmp_path / "none.yaml"))
    assert (ran.code, ran.out) == (2, b"")
    assert "takes no files and no words" in ran.err
    assert called("explain", "CC0604", str(tmp_path / "none.yaml")).code == 2


def test_the_line_below_the_findings_names_a_command_that_works(shop: Shop) -> None:
    world = World()
    world.container["image"] = "registry.example.com/shop/web:1.0"
    shop.change(world)
    run = shop.generate("--report", "report.txt")
    last = run.stderr.splitlines()[-1]
    assert last == "more: contrast-krm explain CC0502"
    assert last in (shop.directory / "report.txt").read_text()
    assert shop(*last.removeprefix("more: contrast-krm ").split()).code == 0


def test_mistakes_of_the_command_line_need_no_explanation() -> None:
    assert "more:" not in called("explain", "CC0399").err
    assert "more:" not in called("generate", "/nonexistent").err


ERROR = finding("CC0503", image="web:1", problem="it has two digests")


@pytest.mark.usefixtures("published")
def test_a_build_that_knows_its_documentation_links_to_it(shop: Shop) -> None:
    url = f"{PUBLISHED}/reference/findings.md#cc0503"
    assert json.loads(render_json([ERROR]))["findings"][0]["documentation"] == url
    (rule,) = json.loads(render_sarif([ERROR]))["runs"][0]["tool"]["driver"]["rules"]
    assert rule["helpUri"] == url
    assert url in rule["help"]["text"]
    assert explanation_text(row("CC0503"), 80).endswith(f"\n{url}\n")
    ran = called("check", stdin=b"kind: Pod\nspec: {runtimeClassName: contrast-cc-nope}\n")
    assert f"more: {PUBLISHED}/reference/findings.md" in ran.err


def test_a_build_that_knows_none_has_no_address() -> None:
    assert findings.DOCUMENTATION == "", "the release workflow sets it"
    (rule,) = json.loads(render_sarif([ERROR]))["runs"][0]["tool"]["driver"]["rules"]
    assert "helpUri" not in rule
    assert rule["help"]["text"].endswith("; see contrast-krm explain CC0503")
    assert rule["fullDescription"]["text"] == row("CC0503").meaning


def everything_said(code: str) -> str:
    about = row(code)
    made = Finding(code, about.severity, about.sentence, about.hint)
    return "".join((render_json([made]), render_sarif([made], infos=True), explanation_text(about, 80)))


OTHERS = {"CC0108"}  # names a page until its hint names commands


def test_no_finding_names_a_file_of_the_repository() -> None:
    for code in sorted(set(table()) - OTHERS):
        assert not re.search(r"\bdocs/|\.md\b", everything_said(code))


def test_another_number_is_no_typing_error(shop: Shop) -> None:
    run = shop("explain", "CC9999")
    assert run.code == 2
    assert "use a code from a message" in run.stderr
    assert "did you mean" not in run.stderr
