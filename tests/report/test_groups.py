"""Findings of one cause are told once to readers; programs get each."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.findings import Finding, Ref, finding, row, table
from krm_function.report.explain_code import explanation_text, fitting
from krm_function.report.findings import (
    NAMED,
    grouped,
    krm_results,
    read_report,
    render_github,
    render_json,
    render_sarif,
    render_text,
    sentence,
)
from tests.cli.conftest import Shop
from tests.failures.world import World
from tests.wording import wording

SPEC = ("spec", "template", "spec")


def missing(name: str, image: str = "registry.example.com/web:1.0", line: int = 0) -> Finding:
    ref = Ref("apps/v1", "Deployment", "shop", name)
    return finding("CC0504", ref, SPEC, image=image, line=line, file="app.yaml" if line else "")


def many(count: int) -> list[Finding]:
    return [missing(f"web-{number:02}", line=number + 1) for number in range(count)]


def test_one_cause_at_several_places_has_one_sentence_and_one_remedy() -> None:
    text = render_text(many(3))
    assert text.count("is not in the ImageLock") == text.count("hint:") == 1
    assert text.startswith("error CC0504 shop/web-00 spec.template.spec and 2 more: image ")
    assert "  also: shop/web-02 spec.template.spec (app.yaml:3)\n" in text


def test_another_image_is_another_cause() -> None:
    assert len(grouped([missing("web"), missing("web", "registry.example.com/db:1.0")])) == 2


def test_places_after_the_fifth_are_counted_and_v_and_the_report_name_them() -> None:
    assert render_text(many(NAMED)).count("  also: shop/") == NAMED - 1
    told = render_text(many(12))
    assert told.count("  also: shop/") == NAMED - 1
    assert "  also: 7 more, which -v names\n" in told
    assert render_text(many(12), whole=True).count("  also: shop/") == 11


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 40)), max_size=40))
def test_nothing_is_lost_in_groups(drawn: list[tuple[str, int]]) -> None:
    findings = [missing(f"web-{number}", image) for image, number in drawn]
    groups = grouped(findings)
    assert {one for group in groups for one in (group.first, *group.rest)} == set(findings)
    assert sum(1 + len(group.rest) for group in groups) == len(set(findings))


def test_programs_get_each_finding() -> None:
    assert len(json.loads(render_json(many(9)))["findings"]) == 9
    assert len(render_github(many(9)).splitlines()) == 9
    assert len(krm_results(many(9))) == 9


def test_sarif_has_one_result_that_relates_to_the_other_places() -> None:
    (result,) = json.loads(render_sarif(many(7)))["runs"][0]["results"]
    assert len(result["locations"]) == 1
    assert [one["id"] for one in result["relatedLocations"]] == [1, 2, 3, 4, 5, 6]
    assert "(and at 6 more places)" in result["message"]["text"]


def fingerprint(findings: list[Finding]) -> Any:
    (result,) = json.loads(render_sarif(findings))["runs"][0]["results"]
    return result["partialFingerprints"]


def test_a_fingerprint_stays_when_lines_move_or_a_place_is_added() -> None:
    assert fingerprint([missing("web", line=1)]) == fingerprint([missing("web", line=9)])
    assert fingerprint(many(7)) == fingerprint(many(8))
    assert fingerprint([missing("web")]) != fingerprint([missing("db")])


def test_a_place_is_written_once() -> None:
    path = (*SPEC, "containers", 0, "volumeMounts", 0, "subPath")
    found = finding(
        "CC0604.value", missing("web").ref, path, field="containers[0].volumeMounts[0].subPath", error="is x"
    )
    assert sentence(found) == "is x"
    assert render_text([found]).count("volumeMounts[0]") == 1
    assert render_github([found]).count("volumeMounts[0]") == 1
    elsewhere = found._replace(path=SPEC)
    assert sentence(elsewhere) == elsewhere.message


def test_a_place_of_a_configuration_is_written_once() -> None:
    path = ("spec", "platform")
    ref = Ref("contrast-krm.dev/v1alpha1", "ContrastGenerate", "", "contrast")
    found = Finding("CC0901", "error", "ContrastGenerate contrast: spec.platform: is x", "", ref, path)
    assert sentence(found) == "ContrastGenerate contrast: is x"


# `explain CODE` with the user's own report


def change_to_a_fault(shop: Shop) -> None:
    world = World()
    world.container["env"] = [{"name": "A=B", "value": "x"}]
    shop.change(world)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "json"])
def test_explain_takes_the_problem_out_of_the_report(shop: Shop, form: str) -> None:
    change_to_a_fault(shop)
    run = shop.generate("--report", "report", "--format", form)
    assert "CC0604" in run.stderr
    told = shop("explain", "CC0604", "--report", "report").stdout.decode()
    assert told.index("In the report, once:") < told.index("cannot be used in a policy")
    assert f"- {wording('CC0604.variable')}\n  remedy: correct the name\n" in told
    assert wording("CC0604.capability") not in told
    whole = shop("explain", "CC0604").stdout.decode()
    assert len(whole.splitlines()) > 3 * len(told.splitlines())


def test_explain_takes_words(shop: Shop) -> None:
    told = shop("explain", "CC0604", "lone", "surrogate").stdout.decode()
    assert told.count("\n- ") == 1
    assert "remove the lone surrogate" in told


def test_a_file_that_is_no_report_is_named(shop: Shop) -> None:
    change_to_a_fault(shop)
    for text, words in (
        ("x: 1\n", "no findings"),
        ("{", "no findings"),
        ('{"findings": 1}', "no findings"),
        ('{"version": 1, "findings": []}', "does not contain CC0604"),
        ("error CC0304 shop/web: x\n", "does not contain CC0604"),
        ("[" * 100_000, "no findings"),
        ('{"findings":' + "[" * 100_000, "no findings"),
    ):
        shop.write("report", text)
        run = shop("explain", "CC0604", "--report", "report")
        assert (run.code, run.stdout) == (2, b""), text[:40]
        assert words in run.stderr
    assert shop("explain", "CC0604", "--report", "none").code == 3


def test_a_finding_of_each_code_is_read_back() -> None:
    for code in table():
        found = Finding(code, "error", "a: b", "do: c", Ref("v1", "Pod", "shop", "web"), ("spec", "x"))
        for text in (render_text([found]), render_json([found])):
            assert [(one.place, one.sentence, one.hint) for one in read_report(text, code)] == [
                ("shop/web spec.x", "a: b", "do: c")
            ]


def test_words_that_say_nothing_choose_all_problems() -> None:
    about = row("CC0604")
    assert fitting(about, (), ()) == about
    assert "Words in braces" in explanation_text(about, 80)
