"""Requests of a pod as the scheduler adds them up."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.kubernetes.nodes import pod_requests
from krm_function.kubernetes.quantity import NANO, nano


def box(cpu: str = "", *, limit: str = "", always: bool = False, **more: Any) -> dict[str, Any]:
    resources: dict[str, Any] = {}
    if cpu:
        resources["requests"] = {"cpu": cpu}
    if limit:
        resources["limits"] = {"cpu": limit}
    return {"resources": resources, **({"restartPolicy": "Always"} if always else {}), **more}


def cpu(spec: dict[str, Any], overhead: dict[str, Any] | None = None) -> int:
    return pod_requests(spec, overhead or {}).get("cpu", 0)


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"containers": [box("1"), box("500m")]}, "1.5"),
        ({"containers": [box(limit="2")]}, "2"),  # where there is only a limit, it is the request
        ({"containers": [box("1", limit="2")]}, "1"),
        ({"containers": [box("1")], "initContainers": [box("3")]}, "3"),  # the peak of the init phase
        ({"containers": [box("1")], "initContainers": [box("500m"), box("600m")]}, "1"),  # one after the other
        ({"containers": [box("1")], "initContainers": [box("2", always=True)]}, "3"),  # a sidecar stays
        ({"containers": [box("1")], "initContainers": [box("2", always=True), box("3")]}, "5"),
        ({"containers": [box("1")], "initContainers": [box("3"), box("2", always=True)]}, "3"),  # it starts later
        ({"containers": [box("1")], "initContainers": [box("4"), box("1", always=True), box("2")]}, "4"),
        ({"containers": [box("1")], "resources": {"requests": {"cpu": "5"}}}, "5"),
        ({"containers": [box("4")], "resources": {"requests": {"cpu": "2"}}}, "2"),
        ({"containers": [box("1")], "resources": {"limits": {"cpu": "5"}}}, "1"),  # the containers say more precisely
        ({"containers": [box()], "resources": {"limits": {"cpu": "5"}}}, "5"),
        ({"containers": [box("x")]}, "0"),
        ({"containers": [box("-1")]}, "0"),
        ({}, "0"),
        ({"containers": "none", "initContainers": [3]}, "0"),
    ],
)
def test_the_sum(spec: dict[str, Any], wanted: str) -> None:
    assert cpu(spec) == nano(wanted)


def test_overhead_comes_on_top_of_everything() -> None:
    spec = {"containers": [box("1")], "resources": {"requests": {"cpu": "5"}}}
    assert cpu(spec, {"cpu": "250m"}) == nano("5250m")
    assert pod_requests(spec, {"memory": "682Mi", "sev-snp.amd.com/esids": 1}) == {
        "cpu": nano("5"),
        "memory": nano("682Mi"),
        "sev-snp.amd.com/esids": NANO,
    }


def test_extended_resources_are_counted_from_limits_and_never_taken_from_the_pod_level() -> None:
    spec = {
        "containers": [
            {"resources": {"limits": {"nvidia.com/pgpu": "1"}}},
            {"resources": {"limits": {"nvidia.com/pgpu": "2"}}},
        ],
        "resources": {"limits": {"nvidia.com/pgpu": "9"}, "requests": {"hugepages-2Mi": "4Mi"}},
    }
    assert pod_requests(spec, {}) == {"nvidia.com/pgpu": 3 * NANO, "hugepages-2Mi": nano("4Mi")}


amounts = st.integers(0, 4000).map(lambda milli: f"{milli}m")
containers = st.lists(st.builds(box, amounts), max_size=3)
inits = st.lists(st.builds(box, amounts, always=st.booleans()), max_size=4)


@given(containers, inits)
def test_the_sum_is_what_a_clock_would_see(regular: list[dict[str, Any]], init: list[dict[str, Any]]) -> None:
    """Play the start of a pod: at every moment what runs must fit, and at some moment nothing is left over."""

    def of(box: dict[str, Any]) -> int:
        return nano(box["resources"]["requests"]["cpu"])

    moments, sidecars = [], 0
    for one in init:
        moments.append(sidecars + of(one))
        sidecars += of(one) if one.get("restartPolicy") == "Always" else 0
    moments.append(sidecars + sum(map(of, regular)))
    assert cpu({"containers": regular, "initContainers": init}) == max(moments)
