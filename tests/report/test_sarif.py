"""SARIF 2.1.0: what code hosts read, judged by the schema of the standard."""

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.findings import Finding, Origin, Ref, every_row, finding, row
from krm_function.report.findings import render_sarif
from tests.cli.conftest import Shop
from tests.failures.world import World, canaries
from tests.report.test_forms import ALL, CONTROL, ERROR, FILE, INFO, WARNING, WEB, evil

SCHEMA = Path(__file__).parent / "data" / "sarif-2.1.0-rtm.5.json"
SHA256 = "2d99159ae54a3eea97f81781cff48780548657c35949f4b7f25e99a2ba4de4f8"
VALIDATOR = jsonschema.Draft4Validator(json.loads(SCHEMA.read_text()))


def sarif(findings: list[Finding], *, infos: bool = False) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(render_sarif(findings, infos=infos))
    assert [error.message for error in VALIDATOR.iter_errors(made)] == []
    return made


def test_the_schema_is_the_one_that_was_published() -> None:
    assert hashlib.sha256(SCHEMA.read_bytes()).hexdigest() == SHA256
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate({"version": "2.1.0"})


def test_nothing_to_say_is_a_run_without_results() -> None:
    (run,) = sarif([])["runs"]
    assert run["results"] == []
    assert run["tool"]["driver"]["name"] == "contrast-krm"


def test_results_have_rule_level_place_and_remedy() -> None:
    placed = ERROR._replace(file="web app.yaml", line=12, column=3)
    (run,) = sarif([placed, FILE, WARNING, INFO])["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["CC0101", "CC0502", "CC0310"]
    assert [result["level"] for result in run["results"]] == ["error", "error", "warning"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    (location,) = run["results"][1]["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "web%20app.yaml"},
        "region": {"startLine": 12, "startColumn": 3},
    }
    (logical,) = location["logicalLocations"]
    assert logical["fullyQualifiedName"] == "Deployment/shop/web spec.containers[0].image"
    assert run["results"][1]["message"]["text"] == f"image web:1 is not pinned; hint: {ERROR.hint}"


def test_infos_are_notes_for_those_who_ask() -> None:
    (run,) = sarif(ALL, infos=True)["runs"]
    assert [result["level"] for result in run["results"]][-1] == "note"


def test_a_file_that_an_object_comes_from_has_an_escaped_address_and_no_line() -> None:
    placed = ERROR._replace(line=3, column=4, origin=Origin("shop/a b%2F#x.yaml"))
    (result,) = sarif([placed])["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "shop/a%20b%252F%23x.yaml"}}
    (result,) = sarif([placed._replace(origin=Origin("../x.yaml"))])["runs"][0]["results"]
    assert "physicalLocation" not in result["locations"][0]


def test_a_result_is_known_again_when_lines_move() -> None:
    prints = [
        sarif([ERROR._replace(file="a.yaml", line=line)])["runs"][0]["results"][0]["partialFingerprints"]
        for line in (1, 9)
    ]
    assert prints[0] == prints[1]
    assert prints[0] != sarif([WARNING])["runs"][0]["results"][0]["partialFingerprints"]


def test_every_code_makes_a_valid_result() -> None:
    for code in every_row():

        class Values(dict[str, str]):
            def __missing__(self, key: str) -> str:
                return "value"

        kind = row(code)
        made = Finding(
            code, kind.severity, kind.sentence.format_map(Values()), kind.hint.format_map(Values()), WEB, ("a", 0)
        )
        assert sarif([made], infos=True)["runs"][0]["results"]


@given(st.lists(st.builds(Ref, st.text(), st.text(), st.text(), st.text()), max_size=3), st.text(), st.integers(0, 9))
def test_whatever_the_input_calls_its_objects_the_output_is_valid(refs: list[Ref], text: str, line: int) -> None:
    found = [
        finding("CC0502.tag", ref, ("spec", text, 0), image=text)._replace(file=text, line=line, column=line)
        for ref in refs
    ]
    sarif(found)


def test_nothing_from_the_input_controls_a_terminal() -> None:
    assert not CONTROL.search(render_sarif(evil(), infos=True))


def test_the_command_line_writes_it_and_reports_it(shop: Shop) -> None:
    world = World()
    world.container["image"] = "registry.example.com/shop/web:1.0"
    shop.change(world)
    run = shop.generate("--format", "sarif", "--report", "said.sarif")
    assert run.code == 1
    for text in (run.stderr, (shop.directory / "said.sarif").read_text()):
        made = json.loads(text)
        VALIDATOR.validate(made)
        result = made["runs"][0]["results"][0]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "deployment/resources.yaml"
        assert not list(canaries(text))
