"""Place: the findings about where pods may run, and what a placement tells."""

from typing import Any

import pytest

from krm_function.findings import Finding, Ref
from krm_function.kubernetes.nodes import Node, Taint
from krm_function.kubernetes.placement import Refusal, first_and_more, place, replicas_of
from krm_function.kubernetes.quantity import NANO
from krm_function.kubernetes.runtime_classes import RuntimeClass
from krm_function.kubernetes.workload import Workload, workloads_of
from tests.wording import wording
from tests.world import an_object, pod_spec

CLASS = RuntimeClass("kata-snp", "kata-handler", {"memory": "1Gi"}, {"tee": "snp"})
SNP = Node("snp-1", {"tee": "snp"}, allocatable={"cpu": 4 * NANO, "memory": 8 * 2**30 * NANO})
TDX = Node("tdx-1", {"tee": "tdx"}, allocatable=SNP.allocatable)


def workload(kind: str = "Deployment", spec: dict[str, Any] | None = None, **more: Any) -> Workload:
    value = an_object(kind, spec=spec, **more)
    return workloads_of(value, (), Ref(value["apiVersion"], kind, "shop", "web"))[0]


def said(findings: tuple[Finding, ...]) -> list[str]:
    return [found.code for found in findings]


def test_a_pod_that_fits_somewhere_needs_no_word() -> None:
    placed = place(workload(), CLASS, [TDX, SNP])
    assert placed[1] == ()
    assert placed[0].fitting == ("snp-1",)
    assert placed[0].refusals == (Refusal(("tdx-1",), ("label tee is tdx, not snp",)),)
    assert placed[0].requests == {"cpu": NANO // 2, "memory": (2**30 + 200 * 2**20) * NANO}


def test_a_pod_that_fits_nowhere_is_an_error_that_names_the_closest_node() -> None:
    cordoned = TDX._replace(name="tdx-0", unschedulable=True)
    (found,) = place(workload(), CLASS, [cordoned, TDX])[1]
    assert (found.code, found.severity, found.path) == ("CC0311", "error", ("spec", "template", "spec"))
    assert found.message == wording("CC0311", count="2 nodes", node="tdx-1", reasons="label tee is tdx, not snp")


def test_a_tainted_node_with_the_device_is_closer_than_one_without_a_device() -> None:
    tainted = SNP._replace(
        name="snp-gpu-1",
        taints=(Taint("gpu", "true", "NoSchedule"), Taint("team", "ml", "NoSchedule")),
        allocatable={**(SNP.allocatable or {}), "nvidia.com/pgpu": NANO},
    )
    container = {"name": "c", "resources": {"limits": {"nvidia.com/pgpu": 1}}}
    needing = workload(spec=pod_spec(containers=[container]))
    placed = place(needing, CLASS, [SNP, SNP._replace(name="snp-2"), tainted])[0]
    assert [refusal.nodes for refusal in placed.refusals] == [("snp-gpu-1",), ("snp-1", "snp-2")]


def test_what_admission_refuses_is_asked_of_no_node() -> None:
    spec = pod_spec(nodeSelector={"tee": "tdx"})
    placed = place(workload(spec=spec), CLASS, [SNP, TDX])
    assert (placed[0].refused, placed[0].fits, placed[1]) == (True, (), ())
    overhead = pod_spec(overhead={"memory": "2Gi"})
    assert place(workload(spec=overhead), CLASS, [SNP])[0].refused


@pytest.mark.parametrize(("replicas", "codes"), [(7, []), (8, []), (9, ["CC0312"])])
def test_more_replicas_than_empty_nodes_could_ever_hold(replicas: int, codes: list[str]) -> None:
    """By CPU eight each, by memory six: two nodes hold twelve; a third of another pool does not count."""
    cpu = SNP._replace(allocatable={"cpu": 2 * NANO, "memory": 2**50 * NANO})
    placed = place(workload(replicas=replicas), CLASS, [cpu, cpu._replace(name="snp-2"), TDX])
    assert said(placed[1]) == codes


def test_nothing_is_said_about_room_when_one_node_does_not_tell() -> None:
    unknown = SNP._replace(name="snp-2", allocatable=None)
    assert place(workload(replicas=99), CLASS, [SNP, unknown])[1] == ()


def test_a_daemon_runs_once_a_node() -> None:
    placed = place(workload("DaemonSet"), CLASS, [SNP])
    assert (placed[0].replicas, placed[1]) == (None, ())


TAINTED = SNP._replace(name="snp-2", taints=(Taint("gpu", "", "NoSchedule"),))
GPU = {"key": "gpu", "operator": "Exists"}
TOLERANT = CLASS._replace(tolerations=(GPU,))


def test_the_template_of_a_daemon_set_decides_which_nodes_get_a_pod() -> None:
    """The cluster of the review: a selector and a toleration that only the class has make pods in the wrong places."""
    placed = place(workload("DaemonSet"), TOLERANT, [SNP, TAINTED, TDX])
    assert placed[0].fitting == ("snp-1",)
    assert placed[0].pending == (Refusal(("tdx-1",), ("label tee is tdx, not snp",)),)
    assert Refusal(("snp-2",), ("taint gpu:NoSchedule, tolerated by the class only",)) in placed[0].refusals
    (found,) = placed[1]
    assert found.code == "CC0312"
    assert "creates a pod for tdx-1, which would stay Pending" in found.message


def test_a_daemon_set_with_the_scheduling_in_its_template_runs_where_its_class_says() -> None:
    spec = pod_spec(nodeSelector={"tee": "snp"}, tolerations=[GPU])
    placed = place(workload("DaemonSet", spec), TOLERANT, [SNP, TAINTED, TDX])
    assert (placed[0].fitting, placed[0].pending, placed[1]) == (("snp-1", "snp-2"), (), ())


def test_a_daemon_set_that_gets_a_pod_nowhere_runs_nowhere() -> None:
    (found,) = place(workload("DaemonSet"), TOLERANT, [TAINTED])[1]
    assert (found.code, found.message.rpartition("taint ")[2]) == (
        "CC0311",
        "gpu:NoSchedule, tolerated by the class only",
    )


def test_a_node_without_the_handler_is_named() -> None:
    bare = SNP._replace(name="snp-2", handlers=frozenset({"", "runc"}))
    ready = SNP._replace(name="snp-3", handlers=frozenset({"", "kata-handler"}))
    other = TDX._replace(handlers=frozenset({"runc"}))
    (found,) = place(workload(), CLASS, [SNP, bare, ready, other])[1]
    assert (found.code, found.severity) == ("CC0313", "warning")
    assert "kata-handler is not installed on snp-2;" in found.message


@pytest.mark.parametrize(
    ("cls", "spec", "told"),
    [
        (CLASS._replace(node_selector={}), {}, ["CC0313"]),
        (CLASS, {}, []),
        (CLASS._replace(node_selector={}), {"nodeSelector": {"tee": "snp"}}, []),
        (CLASS._replace(node_selector={}), {"nodeName": "snp-1"}, []),
        (None, {}, []),
    ],
)
def test_nodes_that_name_no_handlers_are_told_where_nothing_chooses_nodes(
    cls: RuntimeClass | None, spec: Any, told: list[str]
) -> None:
    """A node without `status.runtimeHandlers` may be a plain one: a pod that nothing keeps off may land there."""
    plain = SNP._replace(handlers=None)
    placed = place(workload(spec=pod_spec(**spec)), cls, [plain])
    assert said(placed[1]) == told
    assert all("may be placed on snp-1," in found.message for found in placed[1])


def test_without_a_class_only_the_pod_is_asked() -> None:
    assert place(workload(), None, [SNP, TDX])[0].fitting == ("snp-1", "tdx-1")


@pytest.mark.parametrize(
    ("kind", "spec", "replicas"),
    [
        ("Deployment", {}, 1),
        ("Deployment", {"replicas": 3}, 3),
        ("Deployment", {"replicas": 0}, 0),
        ("StatefulSet", {"replicas": 2}, 2),
        ("Job", {"parallelism": 4}, 4),
        ("Job", {"parallelism": 4, "completions": 2}, 2),
        ("Job", {"parallelism": 4, "completions": 9}, 4),
        ("Job", {"completions": 9}, 1),
        ("Pod", {}, 1),
        ("DaemonSet", {}, None),
        ("Deployment", {"replicas": "3"}, 1),
        ("Deployment", {"replicas": True}, 1),
    ],
)
def test_how_many_pods_run_at_once(kind: str, spec: dict[str, Any], replicas: int | None) -> None:
    assert replicas_of(workload(kind, **spec)) == replicas


def test_a_cron_job_says_it_in_its_job() -> None:
    one = workload("CronJob")
    one.object["spec"]["jobTemplate"]["spec"]["parallelism"] = 5
    assert replicas_of(one) == 5


def test_long_lists_are_cut() -> None:
    assert first_and_more(list("abcde")) == "a, b, c, d, e"
    assert first_and_more(list("abcdef")) == "a, b, c, d and 2 more"
