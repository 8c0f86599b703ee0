"""Which nodes take a pod: each filter alone, all together, and what a pod with nodeName skips."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.kubernetes.nodes import UNSCHEDULABLE, Node, Taint
from krm_function.kubernetes.placement import amount_text, demand, fits
from krm_function.kubernetes.quantity import NANO, nano
from krm_function.kubernetes.runtime_classes import RuntimeClass

CLASS = RuntimeClass(
    "kata-snp",
    "kata-snp",
    overhead={"memory": "682Mi", "sev-snp.amd.com/esids": "1"},
    node_selector={"tee": "snp"},
    tolerations=({"key": "tee", "operator": "Exists"},),
)


def sized(**amounts: str) -> dict[str, int]:
    return {name.replace("_", "/"): nano(amount) for name, amount in amounts.items()}


NODE = Node("a", {"tee": "snp"}, allocatable=sized(cpu="4", memory="2Gi") | {"sev-snp.amd.com/esids": 2 * NANO})


def reasons(
    spec: dict[str, Any], node: Node = NODE, cls: RuntimeClass | None = CLASS, kind: str = "Pod"
) -> tuple[str, ...]:
    return fits(demand(kind, spec, cls), node).reasons


def takes(cpu: str = "", memory: str = "", **more: str) -> dict[str, Any]:
    limits = {name: amount for name, amount in (("cpu", cpu), ("memory", memory), *more.items()) if amount}
    return {"containers": [{"resources": {"limits": limits}}]}


def test_the_class_speaks_for_the_pod() -> None:
    assert reasons({}) == ()
    assert reasons({}, NODE._replace(labels={})) == ("no label tee",)
    assert reasons({}, NODE._replace(labels={"tee": "tdx"})) == ("label tee is tdx, not snp",)
    assert reasons({}, NODE._replace(labels={"tee": "tdx"}), None) == ()
    assert reasons({}, NODE._replace(taints=(Taint("tee", "snp", "NoSchedule"),))) == ()


def test_the_pod_adds_its_own() -> None:
    affinity = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}]}
    spec = {
        "nodeSelector": {"disk": "ssd"},
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": affinity}},
    }
    assert reasons(spec) == ("no label disk", "affinity requires zone in (b)")
    assert reasons(spec, NODE._replace(labels={"tee": "snp", "disk": "ssd", "zone": "b"})) == ()


@pytest.mark.parametrize(
    ("kind", "taints", "cordon", "found"),
    [
        ("Pod", (Taint("gpu", "", "NoSchedule"),), False, ("taint gpu:NoSchedule",)),
        ("Pod", (Taint("gpu", "", "PreferNoSchedule"),), False, ()),
        ("Pod", (), True, ("cordoned",)),
        ("Pod", (UNSCHEDULABLE,), True, ("cordoned",)),
        ("Pod", (UNSCHEDULABLE,), False, ("cordoned",)),
        ("DaemonSet", (UNSCHEDULABLE,), True, ()),
        ("Pod", (Taint("node.kubernetes.io/not-ready", "", "NoExecute"),), False, ()),  # five minutes of patience
        (
            "Pod",
            (Taint("node.kubernetes.io/not-ready", "", "NoSchedule"),),
            False,
            ("taint node.kubernetes.io/not-ready:NoSchedule",),
        ),
    ],
)
def test_taints_and_cordons(kind: str, taints: tuple[Taint, ...], cordon: bool, found: tuple[str, ...]) -> None:
    assert reasons({}, NODE._replace(taints=taints, unschedulable=cordon), kind=kind) == found


def test_who_tolerates_everything_passes_a_cordon_too() -> None:
    assert reasons({"tolerations": [{"operator": "Exists"}]}, NODE._replace(unschedulable=True)) == ()


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        (takes(cpu="4"), ()),
        (takes(cpu="4001m"), ("4.001 cpu needed, node has 4",)),
        (takes(memory="1366Mi"), ()),  # with the overhead, exactly 2Gi
        (takes(memory="1367Mi"), ("2049Mi memory needed, node has 2Gi",)),
        (takes(**{"nvidia.com/pgpu": "1"}), ("1 nvidia.com/pgpu needed, node has 0",)),
        (takes(**{"nvidia.com/pgpu": "0"}), ()),
    ],
)
def test_resources(spec: dict[str, Any], found: tuple[str, ...]) -> None:
    assert reasons(spec) == found


def test_overhead_needs_room_as_well() -> None:
    assert reasons({}, NODE._replace(allocatable=sized(cpu="4", memory="4Gi"))) == (
        "1 sev-snp.amd.com/esids needed, node has 0",
    )
    assert reasons({"overhead": {"memory": "3Gi"}}) == ("3Gi memory needed, node has 2Gi",)


def test_a_node_that_does_not_say_what_it_holds_is_not_judged() -> None:
    answer = fits(demand("Pod", takes(cpu="1000"), CLASS), NODE._replace(allocatable=None))
    assert (answer.reasons, answer.capacity) == ((), None)


@pytest.mark.parametrize(
    ("spec", "allocatable", "room"),
    [
        (takes(cpu="1"), {}, 2),  # two key slots
        (takes(cpu="3"), {}, 1),
        (takes(cpu="1"), {"pods": NANO}, 1),
        ({}, {"sev-snp.amd.com/esids": 500 * NANO, "memory": nano("9999Gi")}, 110),
    ],
)
def test_room_is_what_the_scarcest_resource_allows(
    spec: dict[str, Any], allocatable: dict[str, int], room: int
) -> None:
    node = NODE._replace(allocatable={**(NODE.allocatable or {}), **allocatable})
    assert fits(demand("Pod", spec, CLASS), node).capacity == room


def test_a_full_node_takes_no_pod() -> None:
    assert "takes no pods" in reasons({}, NODE._replace(allocatable={**(NODE.allocatable or {}), "pods": 0}))


def test_node_name_passes_by_the_scheduler_but_not_by_the_kubelet() -> None:
    spec = {"nodeName": "a"}
    tainted = NODE._replace(taints=(Taint("gpu", "", "NoSchedule"),), unschedulable=True)
    assert reasons(spec, tainted) == ()
    assert reasons(spec, NODE._replace(taints=(Taint("gpu", "", "NoExecute"),))) == ("taint gpu:NoExecute",)
    assert reasons(spec, NODE._replace(labels={})) == ("no label tee",)
    assert reasons(spec, NODE._replace(name="b")) == ("nodeName is a",)
    assert reasons({**spec, **takes(cpu="5")}) == ("5 cpu needed, node has 4",)


@pytest.mark.parametrize(
    ("name", "amount", "text"),
    [
        ("cpu", "1500m", "1.5"),
        ("cpu", "10", "10"),
        ("memory", "682Mi", "682Mi"),
        ("memory", "16Gi", "16Gi"),
        ("memory", "1500Mi", "1.46Gi"),
        ("memory", "1", "1"),
        ("memory", "0", "0"),
        ("hugepages-2Mi", "4Mi", "4Mi"),
        ("nvidia.com/pgpu", "8", "8"),
    ],
)
def test_an_amount_for_people(name: str, amount: str, text: str) -> None:
    assert amount_text(name, nano(amount)) == text


quantities = st.integers(0, 10**13).map(lambda amount: amount * 1000)


@given(quantities, quantities)
def test_two_amounts_that_differ_for_the_scheduler_differ_for_people(wanted: int, has: int) -> None:
    node = NODE._replace(labels={}, allocatable={"memory": has})
    answer = fits(demand("Pod", {}, RuntimeClass("k", "k", overhead={"memory": f"{wanted}n"})), node)
    for reason in answer.reasons:
        first, second = reason.replace(" memory needed, node has", "").split()
        assert first != second


@given(st.integers(0, 5000), st.integers(0, 5000))
def test_more_room_never_takes_a_node_away(wanted: int, has: int) -> None:
    spec = takes(cpu=f"{wanted}m")
    smaller = NODE._replace(allocatable={**(NODE.allocatable or {}), "cpu": has * 10**6})
    larger = NODE._replace(allocatable={**(NODE.allocatable or {}), "cpu": (has + 1) * 10**6})
    assert bool(reasons(spec, smaller)) is (wanted > has)
    assert not reasons(spec, larger) or reasons(spec, smaller)
