"""Findings as text, JSON, GitHub annotations and KRM results: one order, one line each, no control characters."""

import json
import re
from itertools import permutations
from typing import Any

import pytest

from krm_function.findings import Finding, Origin, Ref, finding
from krm_function.krm import Results
from krm_function.report.findings import krm_results, on_one_line, ordered, render_github, render_json, render_text

WEB = Ref("apps/v1", "Deployment", "shop", "web")
EVIL = "a\x1b[31mred\x1b[0m\r\n\x07\u202egpj.exe\u2066\u2028\x85\x00::error::b%0A,c"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")

ERROR = finding("CC0502.tag", WEB, ("spec", "containers", 0, "image"), image="web:1")
LATER = finding("CC0502.tag", WEB, ("spec", "containers", 1, "image"), image="web:2")
FILE = finding("CC0101", line=3, column=7, file="a.yaml", problem="oops")
WARNING = finding("CC0310", WEB, ("spec", "nodeName"), node="node-1")
INFO = finding("CC0606", WEB, ("spec",), digest="abc")
ALL = [ERROR, LATER, FILE, WARNING, INFO]


def evil() -> list[Finding]:
    """A finding whose every part comes from somebody who is not our friend."""
    ref = Ref(EVIL, EVIL, EVIL, EVIL)
    found = finding("CC0502.tag", ref, ("spec", EVIL, 0), image=EVIL)
    return [
        found._replace(hint=EVIL),
        found._replace(ref=None, file=EVIL, line=1, column=2),
        found._replace(ref=ref._replace(name=""), severity="warning"),
    ]


@pytest.mark.parametrize("form", ["text", "json", "github", "krm"])
def test_nothing_from_the_input_controls_a_terminal(form: str) -> None:
    said = {
        "text": lambda: render_text(evil(), infos=True),
        "json": lambda: render_json(evil()),
        "github": lambda: render_github(evil(), infos=True),
        "krm": lambda: json.dumps(Results(krm_results(evil())).to_data(), ensure_ascii=False),
    }[form]()
    assert not CONTROL.search(said)
    assert "\\x1b[31m" in said or "\\u001b" in said


def test_text_has_one_line_for_each_part_whatever_the_input() -> None:
    lines = render_text(evil()).splitlines()
    assert all(line.startswith(("error CC0502", "warning CC0502", "  hint: ", "  at: ")) for line in lines)
    assert len(lines) == 6


def test_a_github_annotation_cannot_be_closed_from_inside() -> None:
    lines = render_github(evil()).splitlines()
    assert len(lines) == 3
    for line in lines:
        head, _, message = line.removeprefix("::").partition("::")
        assert re.fullmatch(r"(error|warning) ([a-z]+=[^,:]*)(,[a-z]+=[^,:]*)*", head)
        assert "%250A" in message
        assert not line.startswith("::error::")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("Grüße, 世界", "Grüße, 世界"),
        ("two\nlines", "two lines"),
        ("\x1b", "\\x1b"),
        ("\u202e", "\\u202e"),
        ("\U000e0001", "\\U000e0001"),
        ("\ud800", "\\ud800"),
        ("a\u00a0b", "a\\xa0b"),
    ],
)
def test_escaping_keeps_what_can_be_read(text: str, shown: str) -> None:
    assert on_one_line(text) == shown
    shown.encode()


def test_errors_come_first_and_nothing_twice_in_any_order_of_the_input() -> None:
    orders = {tuple(ordered([*some, some[0]])) for some in permutations(ALL)}
    assert orders == {(ERROR, LATER, FILE, WARNING, INFO)}


def test_text_shows_place_hint_and_position() -> None:
    placed = ERROR._replace(file="web.yaml", line=12, column=3)
    assert render_text([placed, FILE, WARNING, INFO]) == (
        "error CC0101 a.yaml:3:7: not valid YAML: oops\n"
        "  hint: fix the syntax at this place\n"
        "error CC0502 shop/web spec.containers[0].image: image web:1 is not pinned\n"
        "  at: web.yaml:12:3\n"
        f"  hint: {ERROR.hint}\n"
        f"warning CC0310 shop/web spec.nodeName: {WARNING.message}\n"
        "  hint: remove nodeName\n"
    )


def test_infos_are_only_told_to_those_who_ask() -> None:
    assert render_text([INFO]) == render_github([INFO]) == ""
    assert render_text([INFO], infos=True) == "info CC0606 shop/web spec: policy sealed, digest abc\n"
    assert render_github([INFO], infos=True) == "::notice title=CC0606 shop/web spec::policy sealed, digest abc\n"


def test_a_place_in_standard_input_is_named_so() -> None:
    assert render_text([FILE._replace(file="")]).startswith("error CC0101 <stdin>:3:7: ")


OF_A_STREAM = ERROR._replace(line=12, column=3, origin=Origin("shop/a%b, c.yaml", 1))


def test_a_file_that_an_object_comes_from_has_no_line_in_any_format() -> None:
    assert "\n  at: shop/a%b, c.yaml, document 2 (<stdin>:12:3)\n" in render_text([OF_A_STREAM])
    assert render_github([OF_A_STREAM]).startswith("::error file=shop/a%25b%2C c.yaml,title=CC0502 shop/web")
    (said,) = json.loads(render_json([OF_A_STREAM]))["findings"]
    assert (said["origin"], said["line"]) == ({"path": "shop/a%b, c.yaml", "index": 1}, 12)
    assert "file" not in said
    (result,) = Results(krm_results([OF_A_STREAM])).to_data()
    assert result["file"] == {"path": "shop/a%b, c.yaml", "index": 1}
    assert result["message"].startswith("CC0502 shop/a%b, c.yaml, document 2: image")


def test_a_path_that_leaves_its_directory_is_text_and_no_file_for_other_programs() -> None:
    outside = OF_A_STREAM._replace(origin=Origin("../../web.yaml"))
    assert "  at: ../../web.yaml (<stdin>:12:3)" in render_text([outside])
    assert render_github([outside]).startswith("::error title=")
    (result,) = Results(krm_results([outside])).to_data()
    assert "file" not in result


def test_json_has_a_version_and_leaves_out_what_is_not_known() -> None:
    assert json.loads(render_json([FILE, WARNING])) == {
        "version": 1,
        "findings": [
            {
                "code": "CC0101",
                "severity": "error",
                "message": "not valid YAML: oops",
                "hint": "fix the syntax at this place",
                "file": "a.yaml",
                "line": 3,
                "column": 7,
                "documentation": "contrast-krm explain CC0101",
            },
            {
                "code": "CC0310",
                "severity": "warning",
                "message": "nodeName pins the pod to node-1 and bypasses the runtime class's scheduling",
                "hint": "remove nodeName",
                "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
                "field": "spec.nodeName",
                "documentation": "contrast-krm explain CC0310",
            },
        ],
    }
    assert json.loads(render_json([])) == {"version": 1, "findings": []}


def test_github_gets_no_line_without_a_file() -> None:
    assert render_github([FILE._replace(file="")]).startswith("::error title=CC0101::")


def test_github_names_file_line_column_and_title() -> None:
    assert render_github([FILE]) == (
        "::error file=a.yaml,line=3,col=7,title=CC0101::not valid YAML: oops%0Ahint: fix the syntax at this place\n"
    )


# --- KRM results


def results(*findings: Finding) -> list[dict[str, Any]]:
    return Results(krm_results(findings)).to_data()


def test_results_have_the_form_of_version_1() -> None:
    assert results(WARNING, ERROR, INFO) == [
        {
            "message": f"CC0502 image web:1 is not pinned (hint: {ERROR.hint})",
            "severity": "error",
            "resourceRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "shop"},
            "field": {"path": "spec.containers[0].image"},
            "tags": {"code": "CC0502"},
        },
        {
            "message": f"CC0310 {WARNING.message} (hint: remove nodeName)",
            "severity": "warning",
            "resourceRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "shop"},
            "field": {"path": "spec.nodeName"},
            "tags": {"code": "CC0310"},
        },
    ]


def test_results_are_one_line_and_never_infos() -> None:
    assert results(INFO) == []
    for result in results(*evil()):
        assert "\n" not in result["message"]


def test_a_result_about_text_names_its_line() -> None:
    (result,) = results(FILE)
    assert result["message"].startswith("CC0101 line 3: not valid YAML: oops")
    assert result["file"] == {"path": "a.yaml"}
    assert "resourceRef" not in result
    assert "field" not in result


def test_a_result_about_an_object_without_a_name_says_which() -> None:
    (result,) = results(WARNING._replace(ref=WEB._replace(name="")))
    assert result["message"].startswith("CC0310 shop/(unnamed Deployment) spec.nodeName: nodeName pins")
    assert "resourceRef" not in result


@pytest.mark.parametrize("file", ["/etc/passwd", "../outside.yaml"])
def test_a_result_names_no_file_outside_of_the_package(file: str) -> None:
    (result,) = results(FILE._replace(file=file))
    assert "file" not in result
