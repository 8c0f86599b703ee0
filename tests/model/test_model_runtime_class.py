"""RuntimeClass objects and admission, against the rules told once more and slowly."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.kubernetes.runtime_classes import (
    DEPRECATED_NODE_LABELS,
    RuntimeClass,
    covers,
    merge_node_selector,
    merge_tolerations,
    overhead_agrees,
    overhead_problems,
    parse_runtime_class_object,
    toleration_problems,
)

FULL = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "contrast-cc-metal-qemu-snp-1a2b3c4d"},
    "handler": "contrast-cc-metal-qemu-snp-1a2b3c4d",
    "overhead": {"podFixed": {"memory": "682Mi", "cpu": 1, "sev-snp.amd.com/esids": 1}},
    "scheduling": {
        "nodeSelector": {"amd.feature.node.kubernetes.io/snp": "true"},
        "tolerations": [{"key": "cc", "operator": "Exists", "effect": "NoSchedule"}],
    },
}


def changed(path: tuple[str, ...], value: object) -> dict[str, Any]:
    def put(tree: Any, rest: tuple[str, ...]) -> Any:
        if not rest:
            return value
        inner = tree if isinstance(tree, dict) else {}
        return {**inner, rest[0]: put(inner.get(rest[0]), rest[1:])}

    made: dict[str, Any] = put(FULL, path)
    return made


def selector(**labels: str) -> RuntimeClass:
    return RuntimeClass("c", "c", node_selector=labels)


def test_a_class_is_read_with_everything_admission_needs() -> None:
    assert parse_runtime_class_object(FULL) == (
        RuntimeClass(
            "contrast-cc-metal-qemu-snp-1a2b3c4d",
            "contrast-cc-metal-qemu-snp-1a2b3c4d",
            {"memory": "682Mi", "cpu": 1, "sev-snp.amd.com/esids": 1},
            {"amd.feature.node.kubernetes.io/snp": "true"},
            ({"key": "cc", "operator": "Exists", "effect": "NoSchedule"},),
        ),
        (),
    )


def test_a_class_may_be_no_more_than_name_and_handler() -> None:
    assert parse_runtime_class_object(
        {"metadata": {"name": "a.b"}, "handler": "runc", "overhead": None, "scheduling": {}}
    ) == (
        RuntimeClass("a.b", "runc"),
        (),
    )


@pytest.mark.parametrize(
    "path, value, where, problem",
    [
        (("metadata", "name"), "A", ("metadata", "name"), "must be a DNS subdomain"),
        (("metadata", "name"), "a" * 254, ("metadata", "name"), "must be a DNS subdomain"),
        (("metadata",), [], ("metadata", "name"), "must be a DNS subdomain"),
        (("handler",), "a.b", ("handler",), "must be a DNS label of at most 63 characters"),
        (("handler",), "a" * 64, ("handler",), "must be a DNS label of at most 63 characters"),
        (("handler",), "-a", ("handler",), "must be a DNS label of at most 63 characters"),
        (("handler",), "a\n", ("handler",), "must be a DNS label of at most 63 characters"),
        (("handler",), None, ("handler",), "must be a DNS label of at most 63 characters"),
        (("metadata", "annotations"), True, ("metadata", "annotations"), "must be a map"),
        (("overhead",), 1, ("overhead",), "must be a map"),
        (("overhead", "podFixed"), [], ("overhead", "podFixed"), "must be a map"),
        (("overhead", "podFixed", "memory"), "x", ("overhead", "podFixed", "memory"), "is not a Kubernetes quantity"),
        (("overhead", "podFixed", "memory"), "-1", ("overhead", "podFixed", "memory"), "must not be negative"),
        (("overhead", "podFixed", "a/b"), "500m", ("overhead", "podFixed", "a/b"), "must be a whole number"),
        (
            ("overhead", "podFixed", "memorie"),
            1,
            ("overhead", "podFixed", "memorie"),
            "must be cpu, memory, ephemeral-storage or a name with a domain",
        ),
        (("overhead", "podFixed", "a b"), 1, ("overhead", "podFixed", "a b"), "is not a resource name"),
        (("scheduling",), "x", ("scheduling",), "must be a map"),
        (("scheduling", "nodeSelector", "a/b/c"), "x", ("scheduling", "nodeSelector", "a/b/c"), "is not a label key"),
        (("scheduling", "nodeSelector", "a"), "x y", ("scheduling", "nodeSelector", "a"), "is not a label value"),
        (("scheduling", "nodeSelector", "a"), True, ("scheduling", "nodeSelector", "a"), "must be a string"),
        (("scheduling", "tolerations"), {}, ("scheduling", "tolerations"), "must be a list"),
        (("scheduling", "tolerations"), ["x"], ("scheduling", "tolerations", 0), "must be a map"),
    ],
)
def test_what_the_api_server_would_refuse_is_a_problem(
    path: tuple[str, ...], value: object, where: tuple[str | int, ...], problem: str
) -> None:
    assert parse_runtime_class_object(changed(path, value)).problems == ((where, problem),)


def test_faulty_parts_are_left_out_of_the_class() -> None:
    value = changed(("scheduling", "nodeSelector", "bad key"), "x")
    value["scheduling"]["tolerations"] = ["x", {"operator": "Exists"}]

    read = parse_runtime_class_object(value)

    assert read.runtime_class.node_selector == {"amd.feature.node.kubernetes.io/snp": "true"}
    assert read.runtime_class.tolerations == ({"operator": "Exists"},)
    assert len(read.problems) == 2


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, {"scheduling": {"tolerations": [None]}}])
def test_a_class_of_any_shape_is_read(value: object) -> None:
    assert parse_runtime_class_object(value).problems


@pytest.mark.parametrize(
    "toleration, path, problem",
    [
        ({}, ("operator",), "must be Exists when key is empty, which means all keys"),
        ({"key": "a b", "operator": "Exists"}, ("key",), "is not a label key"),
        ({"key": "a", "operator": "Exists", "value": "x"}, ("value",), "must be empty when operator is Exists"),
        ({"key": "a", "operator": "Gt", "value": "1"}, ("operator",), "must be Equal or Exists"),
        ({"key": "a", "value": "x y"}, ("value",), "is not a label value"),
        ({"key": "a", "tolerationSeconds": 1}, ("effect",), "must be NoExecute when tolerationSeconds is set"),
        ({"key": "a", "effect": "NoExecute", "tolerationSeconds": "1"}, ("tolerationSeconds",), "must be an integer"),
        ({"key": "a", "effect": "Never"}, ("effect",), "must be NoSchedule, PreferNoSchedule or NoExecute"),
        ({"key": "a", "efect": "NoExecute"}, ("efect",), "is not a field of a toleration"),
        ({"key": 1}, ("key",), "must be a string"),
    ],
)
def test_a_toleration_that_kubernetes_refuses_is_a_problem(
    toleration: dict[str, Any], path: tuple[str | int, ...], problem: str
) -> None:
    assert toleration_problems([toleration]) == (((0, *path), problem),)


def test_tolerations_are_unique_on_all_but_seconds() -> None:
    one = {"key": "a", "operator": "Exists", "effect": "NoExecute"}

    assert toleration_problems([one, {**one, "tolerationSeconds": 3}]) == (((1,), "is there twice"),)
    assert toleration_problems([one, {**one, "effect": "NoSchedule"}]) == ()


def test_deprecated_labels_have_a_successor_that_is_not() -> None:
    assert len(DEPRECATED_NODE_LABELS) == 6
    assert not set(DEPRECATED_NODE_LABELS.values()) & DEPRECATED_NODE_LABELS.keys()


def test_a_pod_without_selector_takes_the_classs() -> None:
    assert merge_node_selector({}, selector(a="1")) == ({"a": "1"}, ())


def test_selectors_are_merged_key_by_key() -> None:
    assert merge_node_selector({"nodeSelector": {"x": "y", "a": "1"}}, selector(a="1", b="2")) == (
        {"x": "y", "a": "1", "b": "2"},
        (),
    )


def test_all_conflicts_are_named_in_order() -> None:
    merged, conflicts = merge_node_selector(
        {"nodeSelector": {"z": "1", "a": "1", "m": "1"}}, selector(z="2", m="1", a="2")
    )

    assert conflicts == (("a", "1", "2"), ("z", "1", "2"))
    assert merged == {"z": "1", "a": "1", "m": "1"}


LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xy"))


@given(LABELS, LABELS)
def test_merging_selectors_never_changes_what_the_pod_says(pod: dict[str, str], wanted: dict[str, str]) -> None:
    merged = merge_node_selector({"nodeSelector": pod}, selector(**wanted))

    assert {key: merged[0][key] for key in pod} == pod
    assert merged[0].keys() == pod.keys() | wanted.keys()
    assert [key for key, _, _ in merged[1]] == sorted(key for key in pod if wanted.get(key, pod[key]) != pod[key])


@pytest.mark.parametrize(
    "own, wanted, answer",
    [
        (None, {"memory": "1Mi"}, True),
        ({}, {"memory": "1Mi"}, True),
        (None, {}, True),
        ({}, {}, False),  # "Pod Overhead set without corresponding RuntimeClass defined Overhead"
        ({"cpu": "250m"}, {"cpu": 0.25}, True),
        ({"memory": "1Gi"}, {"memory": "1024Mi"}, True),
        ({"memory": "1Gi"}, {"memory": "1025Mi"}, False),
        ({"memory": "1Gi"}, {}, False),
        ({"memory": "1Gi"}, {"memory": "1Gi", "cpu": "1"}, False),
        ({"memory": "1Gi", "cpu": "1"}, {"memory": "1Gi"}, False),
        ({"memory": "x"}, {"memory": "x"}, False),
        ("1Gi", {"memory": "1Gi"}, False),
    ],
)
def test_overhead_agrees_as_admission_decides(own: object, wanted: dict[str, Any], answer: bool) -> None:
    assert overhead_agrees({"overhead": own}, RuntimeClass("c", "c", wanted)) is answer


# The rules of docs/facts/kubernetes.md#runtimeclass-admission once more, one sentence a line, on complete records.
Full = tuple[str, str, str, str, int | None]


def full(toleration: Mapping[str, Any]) -> Full:
    return (
        toleration.get("key", ""),
        toleration.get("operator", ""),
        toleration.get("value", ""),
        toleration.get("effect", ""),
        toleration.get("tolerationSeconds"),
    )


def slowly_covers(first: Full, second: Full) -> bool:
    key_fits = first[0] == second[0] or (first[0] == "" and first[1] == "Exists")
    effect_fits = first[3] in (second[3], "")
    limited = first[3] == "NoExecute" and first[4] is not None
    seconds_fit = not limited or (second[4] is not None and first[4] is not None and second[4] <= first[4])
    value_fits = {
        "Exists": True,
        "Equal": second[1] == "Equal" and first[2] == second[2],
        "": second[1] == "Equal" and first[2] == second[2],
    }.get(first[1], False)
    return first == second or (key_fits and effect_fits and seconds_fit and value_fits)


def slowly_merged(every: list[Full]) -> list[Full]:
    kept: list[int] = []
    for here in range(len(every)):
        covered_before = any(slowly_covers(every[index], every[here]) for index in kept)
        covered_later = any(
            every[index] != every[here] and slowly_covers(every[index], every[here])
            for index in range(here + 1, len(every))
        )
        if not covered_before and not covered_later:
            kept.append(here)
    return [every[index] for index in kept]


TOLERATIONS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "key": st.sampled_from(["", "a", "b"]),
            "operator": st.sampled_from(["", "Equal", "Exists", "Gt"]),
            "value": st.sampled_from(["", "x", "y"]),
            "effect": st.sampled_from(["", "NoSchedule", "NoExecute"]),
            "tolerationSeconds": st.sampled_from([0, 5, 60]),
        },
    ),
    max_size=5,
)


@given(TOLERATIONS, TOLERATIONS)
def test_tolerations_are_merged_as_the_rules_told_slowly_say(
    pod: list[dict[str, Any]], wanted: list[dict[str, Any]]
) -> None:
    merged = merge_tolerations({"tolerations": pod}, RuntimeClass("c", "c", tolerations=tuple(wanted)))

    assert [full(toleration) for toleration in merged] == slowly_merged([full(one) for one in pod + wanted])
    assert all(covers(one, two) == slowly_covers(full(one), full(two)) for one in pod for two in wanted)


@given(TOLERATIONS, TOLERATIONS)
def test_nothing_that_was_tolerated_is_lost(pod: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> None:
    merged = merge_tolerations({"tolerations": pod}, RuntimeClass("c", "c", tolerations=tuple(wanted)))

    assert all(any(covers(kept, one) for kept in merged) for one in pod + wanted)


def test_of_equal_tolerations_the_first_stays_and_its_map_is_untouched() -> None:
    first, second = {"key": "a", "operator": "Exists", "value": None}, {"key": "a", "operator": "Exists"}

    merged = merge_tolerations({"tolerations": [first]}, RuntimeClass("c", "c", tolerations=(second,)))

    assert merged == (first,)
    assert merged[0] is first


def test_an_empty_operator_is_not_recognised_as_equal_on_the_covered_side() -> None:
    short, long = {"key": "a", "value": "x"}, {"key": "a", "operator": "Equal", "value": "x"}

    assert covers(short, long)
    assert not covers(long, short)


@pytest.mark.parametrize("value", [None, "x", {}, ["x", None], [{"key": [], "effect": {}, "tolerationSeconds": "1"}]])
def test_a_pods_tolerations_of_any_shape_are_merged(value: object) -> None:
    every = {"operator": "Exists"}

    assert every in merge_tolerations({"tolerations": value}, RuntimeClass("c", "c", tolerations=(every,)))


@pytest.mark.parametrize(
    ("overhead", "problem"),
    [
        ({"hugepages-2Mi": "4Mi", "memory": "1Gi"}, None),
        ({"hugepages-2Mi": "4Mi", "cpu": "1"}, None),
        ({"hugepages-2Mi": "4Mi"}, "needs cpu or memory beside it"),
        ({"hugepages-2Mi": "3Mi", "cpu": "1"}, "must be a multiple of the page size"),
        ({"hugepages-x": "3Mi", "cpu": "1"}, "must be a multiple of the page size"),
        ({"requests.example.com/keys": "1"}, "must not begin with requests."),
        ({"example.com/keys": "1"}, None),
        ({"example.com/keys": "999999999n"}, None),  # a thousandth is the least that the server looks at
        ({"example.com/keys": "1001m"}, "must be a whole number"),
    ],
)
def test_overheads_are_valid_as_the_api_server_decides(overhead: dict[str, str], problem: str | None) -> None:
    assert [found[1] for found in overhead_problems(overhead)] == ([problem] if problem else [])
