from typing import Any

import pytest

from krm_function.krm import Field, File, MisuseError, ResourceRef, Result, Results
from krm_function.krm.result import dotted, one_line

WEB = ResourceRef("apps/v1", "Deployment", "web", "shop")


def test_full_v1_form() -> None:
    result = Result(
        "too many", "warning", WEB, Field("spec.replicas", 5, 3), File("a/deploy.yaml", 2), {"owner": "shop"}
    )
    assert result.to_data() == {
        "message": "too many",
        "severity": "warning",
        "resourceRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "shop"},
        "field": {"path": "spec.replicas", "currentValue": 5, "proposedValue": 3},
        "file": {"path": "a/deploy.yaml", "index": 2},
        "tags": {"owner": "shop"},
    }


def test_absent_parts_are_left_out() -> None:
    assert Result("m").to_data() == {"message": "m", "severity": "error"}
    assert Result("m", "info", ResourceRef("v1", "Node", "n"), Field("spec"), File("f")).to_data() == {
        "message": "m",
        "severity": "info",
        "resourceRef": {"apiVersion": "v1", "kind": "Node", "name": "n"},
        "field": {"path": "spec"},
        "file": {"path": "f"},
    }


def test_false_and_zero_are_values_of_a_field() -> None:
    assert Result("m", "error", WEB, Field("f", False, 0)).to_data()["field"] == {
        "path": "f",
        "currentValue": False,
        "proposedValue": 0,
    }


@pytest.mark.parametrize(
    ("result", "line"),
    [
        (Result("broken"), "[error] broken"),
        (Result("look", "warning", WEB), "[warning] apps/v1/Deployment/shop/web: look"),
        (Result("look", "info", WEB, Field("a.b")), "[info] apps/v1/Deployment/shop/web a.b: look"),
        (Result("x", "info", ResourceRef("v1", "Node", "n")), "[info] v1/Node/n: x"),
        (Result("x", file=File("a.yaml")), "[error] a.yaml: x"),
        (Result("a\nb", "info", ResourceRef("v1", "Node", "n\x1b[2J")), "[info] v1/Node/n\\x1b[2J: a b"),
    ],
)
def test_line_as_kpt_prints_it(result: Result, line: str) -> None:
    assert str(result) == line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é ☃", "plain é ☃"),
        ("a\nb", "a b"),
        ("a\r\n\n   b\n", "a b"),
        ("bell\x07", "bell\\x07"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("right\u202eleft", "right\\u202eleft"),
        ("line\u2028separator", "line separator"),
        ("half\ud800", "half\\ud800"),
        ("tab\tstays visible", "tab\\tstays visible"),
        ("\n", ""),
    ],
)
def test_one_line(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_dotted() -> None:
    assert dotted(("spec", "containers", 3, "resources", "limits", "cpu")) == "spec.containers[3].resources.limits.cpu"
    assert dotted(("metadata", "annotations", "a.b/c")) == 'metadata.annotations["a.b/c"]'
    assert dotted((0, "a")) == "[0].a"


def test_sorted_by_severity_then_file_then_text() -> None:
    results = Results()
    results.info("i")
    results.warning("b")
    results.append(Result("a", "warning", file=File("z.yaml")))
    results.append(Result("z", "warning", file=File("a.yaml", 1)))
    results.append(Result("y", "warning", file=File("a.yaml", 10)))
    results.warning("a")
    results.error("2 of 3")
    assert [entry["message"] for entry in results.to_data()] == ["2 of 3", "a", "b", "z", "y", "a", "i"]
    assert results.lines(infos=False)[0] == "[error] 2 of 3"
    assert len(results.lines(infos=False)) == 6
    assert next(iter(results)).message == "i"
    results.sort()
    assert next(iter(results)).message == "2 of 3"


def test_a_percent_sign_is_itself() -> None:
    results = Results()
    results.info("100% done")
    assert next(iter(results)).message == "100% done"


def test_exit_code() -> None:
    results = Results([Result("w", "warning"), Result("i", "info")])
    assert (results.failed, results.exit_code) == (False, 0)
    results.error("e")
    assert (results.failed, results.exit_code) == (True, 1)
    results.bug = True
    assert results.exit_code == 70


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (Result("m", field=Field("spec")), "a field needs a resource_ref"),
        (Result("m", "fatal"), "unknown severity"),  # type: ignore[arg-type]
        (Result("m", "error", ResourceRef("v1", "Pod", "")), "needs kind and name"),
        (Result("m", "error", ResourceRef("v1", "", "p")), "needs kind and name"),
    ],
)
def test_results_the_specification_forbids(result: Result, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Results().append(result)


def in_itself() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"] = value["b"] = value
    return value


@pytest.mark.parametrize("value", [in_itself(), {1, 2}, [b"x"], {1: 2}], ids=["in itself", "set", "bytes", "key"])
@pytest.mark.parametrize("field", ["current_value", "proposed_value"])
def test_values_of_a_result_are_plain_data(field: str, value: Any) -> None:
    shown = Field("spec", **{field: value})
    with pytest.raises(MisuseError, match="Value"):
        Results().append(Result("m", resource_ref=WEB, field=shown))
