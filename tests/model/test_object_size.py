"""Sizes of objects near the limits of `kubectl apply` and of etcd."""

from typing import Any

import pytest

from krm_function.findings import Ref
from krm_function.render.write import LAST_APPLIED, NEARLY, STORED, check_object_size
from tests.world import an_object, pod_spec, run

REF = Ref("apps/v1", "Deployment", "shop", "web")


def sized(length: int, letter: str = "a") -> dict[str, Any]:
    return {"metadata": {"annotations": {"a": "b"}}, "spec": letter * length}


@pytest.mark.parametrize("letter", ["a", "<", "ü", "\u2028"])
def test_the_size_is_that_of_the_annotation_as_go_writes_it(letter: str) -> None:
    written = {"a": 1, "<": 6, "ü": 2, "\u2028": 6}[letter]
    around = len('{"metadata":{"annotations":{"a":"b"}},"spec":""}\n') + len("ab") + len(LAST_APPLIED)
    (said,) = check_object_size(REF, ("metadata",), sized(250_000 // written, letter))
    size = around + 250_000 // written * written
    assert said.message.startswith(f"Deployment/web takes {size} of the 262144 bytes that kubectl apply can keep")


@pytest.mark.parametrize(("length", "code"), [(200_000, ""), (240_000, "CC0715"), (STORED * NEARLY // 100, "CC0715")])
def test_the_warning_comes_from_nine_tenths_on(length: int, code: str) -> None:
    found = list(check_object_size(REF, ("metadata",), sized(length)))
    assert [one.code for one in found] == [code] * bool(code)
    assert all(one.severity == "warning" for one in found)
    assert ["etcd takes" in one.message for one in found] == [length > 1_000_000] * bool(code)


@pytest.mark.parametrize(
    ("count", "value", "says"),
    [(100, "{:0>100}", ""), (3000, "{:0>100}", "that kubectl apply can keep"), (9000, "{:0>200}", "that etcd takes")],
    ids=["small", "apply", "etcd"],
)
def test_a_render_warns_of_a_workload_that_is_too_large(count: int, value: str, says: str) -> None:
    """As a chart with very many variables makes one."""
    spec = pod_spec()
    spec["containers"][0]["env"] = [{"name": f"V{n}", "value": value.format(n)} for n in range(count)]
    found = [one for one in run(an_object("Pod", spec=spec, name="p")).findings if one.code == "CC0715"]
    assert [says in one.message for one in found] == [True] * bool(says)
