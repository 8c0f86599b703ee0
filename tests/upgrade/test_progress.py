"""How far an upgrade is, by the handlers of nodes, classes, templates and pods."""

import copy

import pytest

from krm_function.findings import Ref
from krm_function.kubernetes.nodes import Node
from krm_function.operations.upgrade import Change, ClusterState, PlatformChange, progress
from tests.diagnosis.objects import Json, deployment, pod, replica_set, status

OLD, NEW = (f"contrast-cc-metal-qemu-snp-{number}8a1a065" for number in "12")
WEB = Ref("apps/v1", "Deployment", "shop", "web")
CHANGE = Change(
    "v1.25.0",
    "v1.26.0",
    (PlatformChange("metal-qemu-snp", OLD, NEW, measured=True, workloads=(WEB,)),),
    (),
    ("", ""),
    (WEB,),
)


def node(name: str, *handlers: str) -> Node:
    return Node(name, {}, handlers=frozenset(handlers) if handlers else None)


def of(release: str, *values: Json) -> list[Json]:
    """Some objects, of a release."""
    made = copy.deepcopy([*values])
    for value in made:
        spec = value["spec"] if value["kind"] == "Pod" else value["spec"]["template"]["spec"]
        spec["runtimeClassName"] = release
    return made


RUNNING = status(pod(), {"phase": "Running"})
STATES: dict[str, tuple[ClusterState, dict[str, str]]] = {
    "nothing is shown": (ClusterState(), {}),
    "before it begins": (
        ClusterState([node("a", OLD), node("b", OLD)], [OLD], of(OLD, deployment(), replica_set(), RUNNING)),
        {"runtime": "open", "classes": "open", "workloads": "open"},
    ),
    "a node without the new handler": (
        ClusterState([node("a", OLD, NEW), node("b", OLD)], [OLD, NEW], []),
        {"runtime": "open", "classes": "done", "workloads": "open"},
    ),
    "a node of another kind does not count": (
        ClusterState([node("a", OLD, NEW), node("c", "runc")], [OLD, NEW], []),
        {"runtime": "done", "classes": "done"},
    ),
    "nodes that do not say": (ClusterState([node("a")], None, None), {"runtime": "unknown", "classes": "unknown"}),
    "the template is new, a pod is old": (
        ClusterState([node("a", OLD, NEW)], [OLD, NEW], [*of(NEW, deployment()), *of(OLD, replica_set(), RUNNING)]),
        {"runtime": "done", "workloads": "open"},
    ),
    "an old ReplicaSet that is empty, and a pod that has ended": (
        ClusterState(
            [node("a", OLD, NEW)],
            [OLD, NEW],
            [
                *of(NEW, deployment()),
                *of(OLD, {**replica_set(), "spec": {**replica_set()["spec"], "replicas": 0}}),
                *of(OLD, status(pod(), {"phase": "Failed"})),
            ],
        ),
        {"workloads": "done"},
    ),
}


@pytest.mark.parametrize("name", STATES)
def test_a_wave_is_done_if_the_cluster_shows_it(name: str) -> None:
    cluster, wanted = STATES[name]
    seen, early = progress(CHANGE, cluster)
    assert {wave: seen[wave].state for wave in wanted} == wanted
    assert bool(seen) == bool(wanted)
    assert early == []


def test_pods_that_are_wanted_before_their_runtime_is_there_are_an_error() -> None:
    objects = of(NEW, deployment())
    for nodes, classes, waves in (
        ([node("a", OLD)], [OLD], ["runtime", "classes"]),
        ([node("a", OLD, NEW), node("b", OLD)], [OLD], ["classes"]),  # some node has it: the pod has a place
        ([node("a", OLD, NEW), node("b", OLD)], [OLD, NEW], []),
        (None, None, []),
    ):
        _, early = progress(CHANGE, ClusterState(nodes, classes, objects))
        assert [one.code for one in early] == ["CC1379"] * len(waves)
        assert all(f"wave {wave} is not finished" in one.message for wave, one in zip(waves, early, strict=True))
