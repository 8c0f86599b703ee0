"""Reading Node objects: what is there, what is left out, and what is wrong."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.findings import finding
from krm_function.kubernetes.nodes import Node, Taint, read_nodes
from krm_function.kubernetes.quantity import NANO, nano


def node(**parts: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "labels": {"tee": "snp"}}, **parts}


def test_a_node_as_kubectl_prints_it() -> None:
    value = node(
        spec={"unschedulable": True, "taints": [{"key": "gpu", "value": "h100", "effect": "NoSchedule"}]},
        status={
            "capacity": {"cpu": "64"},
            "allocatable": {"cpu": "63500m", "memory": "251Gi", "nvidia.com/pgpu": "4"},
            "runtimeHandlers": [{"name": ""}, {"name": "kata", "features": {}}],
        },
    )
    assert read_nodes(value)[0] == (
        Node(
            "a",
            {"tee": "snp"},
            (Taint("gpu", "h100", "NoSchedule"),),
            unschedulable=True,
            allocatable={"cpu": nano("63.5"), "memory": nano("251Gi"), "nvidia.com/pgpu": 4 * NANO},
            handlers=frozenset({"", "kata"}),
        ),
    )


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "NodeList", "items": [node(), node()]},
        {"kind": "NodeList", "items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]},
        {"kind": "List", "items": [node(), {"kind": "Pod"}, node()]},
        {"kind": "List", "items": [{"kind": "NodeList", "items": [node()]}, node()]},
    ],
)
def test_lists_of_nodes(document: Any) -> None:
    read = read_nodes(document)
    assert (len(read[0]), read[1]) == (2, ())


def test_what_is_left_out_is_unknown() -> None:
    assert read_nodes(node())[0] == (Node("a", {"tee": "snp"}),)


def test_capacity_stands_in_for_allocatable() -> None:
    assert read_nodes(node(status={"capacity": {"cpu": 4}}))[0][0].allocatable == {"cpu": 4 * NANO}


@pytest.mark.parametrize(
    ("parts", "path", "problem"),
    [
        ({"metadata": {}}, ("metadata", "name"), "must be a string"),
        ({"metadata": {"name": "a", "labels": {"x": True}}}, ("metadata", "labels", "x"), "must be a string"),
        ({"metadata": {"name": "a", "labels": []}}, ("metadata", "labels"), "must be a map"),
        ({"spec": {"unschedulable": "yes"}}, ("spec", "unschedulable"), "must be true or false"),
        ({"spec": {"taints": {}}}, ("spec", "taints"), "must be a list"),
        ({"spec": {"taints": [{"effect": "NoSchedule"}]}}, ("spec", "taints", 0, "key"), "must be a string"),
        (
            {"spec": {"taints": [{"key": "a", "value": 1, "effect": "NoSchedule"}]}},
            ("spec", "taints", 0, "value"),
            "string",
        ),
        ({"spec": {"taints": [{"key": "a", "effect": "noschedule"}]}}, ("spec", "taints", 0, "effect"), "NoExecute"),
        (
            {"status": {"allocatable": {"cpu": "many"}}},
            ("status", "allocatable", "cpu"),
            "is not a Kubernetes quantity",
        ),
        ({"status": {"allocatable": "many"}}, ("status", "allocatable"), "must be a map"),
    ],
)
def test_what_is_wrong_is_located(parts: dict[str, Any], path: tuple[Any, ...], problem: str) -> None:
    ((_, place, cause),) = read_nodes({"kind": "NodeList", "items": [node(**parts)]})[1]
    assert place == ("items", 0, *path)
    assert problem in finding(cause.code, **cause.values).message


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "items", "metadata", "name", "labels", "spec", "taints", "status", "allocatable"]),
            inner | st.sampled_from(["Node", "NodeList", "List"]),
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(anything)
def test_any_document_is_read_without_an_exception(document: Any) -> None:
    for one in read_nodes(document)[0]:
        assert one.name
