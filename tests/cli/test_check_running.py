"""`check --cluster` and the pods that run: each judged by its own policy, a rollout in one line, hints of its host."""

import copy
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import yaml

from krm_function.findings import row
from krm_function.operations.live import APPLY, REPAIR
from tests.cli.test_check_cluster import POLICY, RENDERED, Objects, check, cluster, plural
from tests.cli.test_live_objects import Json, live, made
from tests.failures.running import Run
from tests.hosts.running import EXAMPLES
from tests.wording import wording

__all__ = ["check"]
NO_NODE = "0/5 nodes are available: 5 node(s) were unschedulable."


def stored(objects: Iterable[Json]) -> Objects:
    return {f"shop/{plural(one['kind'])}/{one['metadata']['name']}": one for one in objects}


def with_pods() -> Objects:
    """The cluster with the pods of each workload, running."""
    objects = cluster()
    for one in live():
        if one["kind"] == "Pod":
            one["status"] = {"phase": "Running"}
        if one["metadata"].get("namespace") == "shop":
            objects[f"shop/{plural(one['kind'])}/{one['metadata']['name']}"] = one
    return objects


def pods(objects: Objects, name: str) -> list[Json]:
    return [one for key, one in objects.items() if key.startswith("shop/pods/") and name in key]


def warnings(ran: Run) -> list[str]:
    return [line for line in ran.stderr.splitlines() if line.startswith("warning CC11")]


def errors(ran: Run) -> list[str]:
    return [line for line in ran.stderr.splitlines() if line.startswith("error ")]


def test_pods_that_run_as_sealed_pass_and_are_counted(check: Callable[..., Run]) -> None:
    objects = with_pods()
    ran = check(objects)
    assert ran.code == 0, ran.stderr
    confidential = [one for one in pods(objects, "") if "runtimeClassName" in one["spec"]]
    assert f"6 workloads and {len(confidential)} pods, manifest" in ran.stderr
    assert warnings(ran) == []


@pytest.mark.parametrize(
    "path", ["/deployments", "/replicasets", "/statefulsets", "/cronjobs", "/jobs", "/configmaps", "/pods"]
)
def test_nothing_is_missing_or_unknown_because_a_kind_cannot_be_listed(check: Callable[..., Run], path: str) -> None:
    ran = check(with_pods(), refused=path)
    (line,) = errors(ran)
    assert line.startswith("error CC1180: "), ran.stderr
    assert ran.code == 1
    assert warnings(ran) == []


def earlier(template: Json) -> Json:
    """The template of an earlier render: with the policy of another workload, and its containers."""
    older = yaml.safe_load_all((EXAMPLES / "strict/expected/rendered.yaml").read_text())
    web = next(one for one in older if one and one["metadata"]["name"] == "web")
    older_template: Json = web["spec"]["template"]
    older_template["metadata"]["labels"] = template["metadata"].get("labels", {})
    return older_template


def rolling(objects: Objects) -> None:
    """An old ReplicaSet with two pods that serve, and a new pod that finds no node."""
    web = objects["shop/deployments/web"]
    old = made(web, "ReplicaSet", "547467bcb6", earlier(web["spec"]["template"]))
    old["spec"]["replicas"] = 2
    objects |= stored([old])
    for name in ("7r8n6", "x2b4c"):
        pod = made(old, "Pod", name, old["spec"]["template"])
        pod["status"] = {"phase": "Running"}
        objects |= stored([pod])
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": NO_NODE}
    (new,) = pods(objects, "web-7cb")
    new["status"] = {"phase": "Pending", "conditions": [condition]}


def test_a_rollout_in_progress_is_one_line_for_its_owner(check: Callable[..., Run]) -> None:
    objects = with_pods()
    rolling(objects)
    ran = check(objects)
    said = f"2 pods of an earlier render run, 1 of this one is Pending: {NO_NODE}"
    assert warnings(ran) == [f"warning CC1133 shop/web: rollout of Deployment/web not finished: {said}"]
    assert (ran.code, errors(ran)) == (0, []), ran.stderr
    hints = [line for line in ran.stderr.splitlines() if "hint:" in line]
    assert not [line for line in hints if "delete" in line or "replace" in line]


def test_a_deployment_that_can_make_no_pod_says_why(check: Callable[..., Run]) -> None:
    objects = with_pods()
    for pod in pods(objects, "web-"):
        del objects[f"shop/pods/{pod['metadata']['name']}"]
    message = 'pods "web-x" is forbidden: violates PodSecurity'
    condition = {"type": "ReplicaFailure", "status": "True", "message": message}
    objects["shop/deployments/web"]["status"] = {"conditions": [condition]}
    said = f"rollout of Deployment/web not finished: one more cannot be made: {message}"
    assert warnings(check(objects)) == [f"warning CC1133 shop/web: {said}"]


def sidecar(pod: Json) -> None:
    pod["spec"]["containers"].append({"name": "istio-proxy", "image": "istio/proxyv2:1"})


def variable(pod: Json) -> None:
    pod["spec"]["containers"][0].setdefault("env", []).append({"name": "HTTP_PROXY", "value": "http://proxy"})


def cpu(pod: Json) -> None:
    pod["spec"]["containers"][0].setdefault("resources", {}).setdefault("limits", {})["cpu"] = "7"


def no_class(pod: Json) -> None:
    del pod["spec"]["runtimeClassName"]


def no_policy(pod: Json) -> None:
    del pod["metadata"]["annotations"][POLICY]


def image(pod: Json) -> None:
    """`kubectl set image pod/web-...`."""
    container = next(one for one in pod["spec"]["containers"] if one["name"] == "web")
    container["image"] = "registry.example.com/web:2"


@pytest.mark.parametrize(
    ("edit", "fields"),
    [
        (image, "web: image"),
        (sidecar, "containers istio-proxy"),
        (variable, "web: env"),
        (cpu, "its vCPUs, "),
        (no_class, "runtimeClassName, none in place of"),
        (no_policy, "its policy, which is gone"),
    ],
)
def test_a_pod_that_was_changed_on_its_way_in_is_found(
    check: Callable[..., Run], edit: Callable[[Json], None], fields: str
) -> None:
    objects = with_pods()
    (pod,) = pods(objects, "web-")
    edit(pod)
    (said,) = errors(check(objects))
    name = pod["metadata"]["name"]
    assert said.startswith(f"error CC1132 shop/web: {wording('CC1132.admitted', fields=fields, pods=f'pod {name}')}")


@pytest.mark.parametrize(
    ("name", "code"), [("web-7", "CC1120"), ("db-0", "CC1132"), ("nightly-report-", "CC1120")], ids=str
)
def test_a_pod_whose_policy_was_replaced_later_is_found(check: Callable[..., Run], name: str, code: str) -> None:
    """By `kubectl annotate pod`, or by a binding with annotations."""
    objects = with_pods()
    pod = pods(objects, name)[0]
    other = objects["shop/deployments/payments"]["spec"]["template"]["metadata"]["annotations"][POLICY]
    pod["metadata"]["annotations"][POLICY] = other
    ran = check(objects)
    (line,) = errors(ran)
    assert line.startswith(f"error {code} shop/"), line


WRITTEN_BY_OTHERS = {
    "cni.projectcalico.org/podIP": "10.1.2.3/32",
    "cni.projectcalico.org/podIPs": "10.1.2.3/32",
    "cni.projectcalico.org/containerID": "0123456789abcdef",
    "k8s.v1.cni.cncf.io/network-status": "[]",
    "k8s.ovn.org/pod-networks": "{}",
    "ovn.kubernetes.io/allocated": "true",
    "vpc.amazonaws.com/pod-ips": "10.1.2.3",
    "openshift.io/scc": "restricted-v2",
    "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
    "policies.kyverno.io/last-applied-patches": "label: added",
    "vpaUpdates": "Pod resources updated by web",
    "vpaObservedContainers": "web",
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "true",
    "controller.kubernetes.io/pod-deletion-cost": "10",
    "prometheus.io/scrape": "true",
    "leaderworkerset.sigs.k8s.io/exclusive-topology": "rack",
    "kubernetes.io/limit-ranger": "",
}


@pytest.mark.parametrize(
    ("field", "key", "value"),
    [
        *(("metadata", "annotations", {key: value}) for key, value in WRITTEN_BY_OTHERS.items()),
        ("metadata", "labels", {"example.com/team": "a"}),
        ("metadata", "finalizers", ["example.com/cleanup"]),
        ("spec", "tolerations", [{"key": "a", "operator": "Exists"}]),
        ("spec", "priority", 1000),
        ("spec", "priorityClassName", "usual"),
        ("spec", "schedulingGates", [{"name": "kueue.x-k8s.io/admission"}]),
        ("spec", "readinessGates", [{"conditionType": "target-health.elbv2.k8s.aws/a"}]),
        ("spec", "imagePullSecrets", [{"name": "registry"}]),
        ("status", "conditions", [{"type": "example.com/gate", "status": "True"}]),
    ],
    ids=str,
)
def test_a_field_that_reaches_no_node_may_differ(
    check: Callable[..., Run], field: str, key: str, value: object
) -> None:
    objects = with_pods()
    (pod,) = pods(objects, "web-")
    present = pod[field].get(key)
    pod[field][key] = {**(present or {}), **value} if isinstance(value, dict) else value
    ran = check(objects)
    assert (ran.code, errors(ran)) == (0, []), ran.stderr


def test_an_annotation_that_reaches_the_node_may_not_differ(check: Callable[..., Run]) -> None:
    objects = with_pods()
    (pod,) = pods(objects, "web-")
    name = "io.katacontainers.config.hypervisor.default_memory"
    pod["metadata"]["annotations"][name] = "4096"
    (line,) = errors(check(objects))
    assert line.startswith("error CC1132 shop/web")
    assert name in line


def test_a_pod_with_a_name_that_its_policy_refuses_is_found(check: Callable[..., Run]) -> None:
    """Of pods that are alike, that one alone."""
    objects = with_pods()
    (pod,) = pods(objects, "web-")
    other = copy.deepcopy(pod)
    other["metadata"] |= {"name": pod["metadata"]["name"].replace("-", "x"), "uid": "other"}
    objects |= stored([other])
    (said,) = errors(check(objects))
    assert said.startswith("error CC1132 shop/web: ")
    assert f"pod {other['metadata']['name']}: metadata.name, {other['metadata']['name']} in place of ^web-" in said


def test_a_debug_container_is_named(check: Callable[..., Run]) -> None:
    objects = with_pods()
    (pod,) = pods(objects, "web-")
    pod["spec"]["ephemeralContainers"] = [{"name": "debugger-x", "image": "busybox"}]
    ran = check(objects)
    assert len(errors(ran)) == 1
    assert "got the debug containers debugger-x, which their policy does not have" in errors(ran)[0]


def test_who_wrote_a_pod_is_named_as_far_as_it_tells(check: Callable[..., Run]) -> None:
    objects = with_pods()
    (pod,) = pods(objects, "web-")
    variable(pod)
    pod["metadata"]["managedFields"] = [
        {"manager": "kube-controller-manager", "time": "2026-11-22T12:00:00Z", "fieldsV1": {"f:spec": {}}},
        {"manager": "kubelet", "time": "2026-11-22T12:00:09Z", "fieldsV1": {"f:status": {}}},
        {"manager": "kubectl-edit", "time": "2026-11-22T12:00:05Z", "fieldsV1": {"f:spec": {}}},
    ]
    assert errors(check(objects))[0].endswith("web: env; last written by kubectl-edit")


def test_what_has_ended_or_goes_is_no_pod_that_runs(check: Callable[..., Run]) -> None:
    objects = with_pods()
    (pod,) = pods(objects, "web-")
    variable(pod)
    pod["metadata"]["deletionTimestamp"] = "2026-11-22T12:00:00Z"
    assert check(objects).code == 0
    del pod["metadata"]["deletionTimestamp"]
    pod["status"]["phase"] = "Failed"
    assert check(objects).code == 0


def test_a_pod_with_a_policy_that_its_owner_never_had_is_no_rollout(check: Callable[..., Run]) -> None:
    """Anybody can write an ownerReference."""
    objects = with_pods()
    (pod,) = pods(objects, "web-")
    template = earlier(objects["shop/deployments/web"]["spec"]["template"])
    pod["metadata"]["annotations"] = template["metadata"]["annotations"]
    pod["spec"] = template["spec"]
    ran = check(objects)
    assert len(errors(ran)) == 1
    assert "belongs neither to this output nor to another release" in errors(ran)[0]


def test_pods_of_an_unknown_controller_are_one_finding(check: Callable[..., Run]) -> None:
    objects = with_pods()
    (pod,) = pods(objects, "web-")
    owner = {"apiVersion": "argoproj.io/v1", "kind": "Rollout", "name": "web", "uid": "1", "controller": True}
    for name in ("a", "b", "c"):
        more = copy.deepcopy(pod)
        more["metadata"] |= {"name": f"canary-{name}", "ownerReferences": [owner]}
        objects |= stored([more])
    assert [line.partition(" runs it")[0] for line in errors(check(objects))] == [
        "error CC1120 shop/canary-a: the cluster"
    ]


def test_what_is_said_of_a_template_is_not_said_again_of_each_pod(check: Callable[..., Run]) -> None:
    objects = with_pods()
    for key in [
        key for key in objects if "/web" in key and key.split("/")[1] in {"deployments", "replicasets", "pods"}
    ]:
        value = objects[key]
        spec = value["spec"] if value["kind"] == "Pod" else value["spec"]["template"]["spec"]
        spec["containers"][0]["image"] = "registry.example.com/evil@sha256:" + "0" * 64
    ran = check(objects)
    assert [line[:21] for line in errors(ran)] == ["error CC1120 shop/web"]


HOSTS: dict[str, Json] = {
    "kubectl": {},
    "helm": {"annotations": {"meta.helm.sh/release-name": "shop"}},
    "kpt": {"annotations": {"config.k8s.io/owning-inventory": "1"}},
    "gitops": {"labels": {"kustomize.toolkit.fluxcd.io/name": "shop"}},
}


@pytest.mark.parametrize("host", HOSTS)
def test_the_hint_is_that_of_the_host(check: Callable[..., Run], host: str) -> None:
    objects = cluster()
    web = objects["shop/deployments/web"] = copy.deepcopy(objects["shop/deployments/web"])
    for field, values in HOSTS[host].items():
        web["metadata"].setdefault(field, {}).update(values)
    variable(web["spec"]["template"])
    ran = check(objects)
    assert f"hint: {REPAIR[host]}\n" in ran.stderr
    del objects["shop/configmaps/contrast-manifest"]
    assert f"hint: {APPLY[host]}\n" in check(objects).stderr


def test_no_hint_says_to_delete_or_replace_what_serves() -> None:
    every = [*REPAIR.values(), *APPLY.values()]
    for code in ("CC1120", "CC1130", "CC1131", "CC1132", "CC1133", "CC1134"):
        every += [row(code).hint, *(variant.hint for variant in row(code).variants.values() if variant.hint)]
    assert len(every) > 20
    assert not [hint for hint in every if "delete" in hint]
    replaces = [hint for hint in every if "replace" in hint]
    assert len(replaces) == 2, "a RuntimeClass, and what not to do with Helm 4"


def as_a_file(tmp_path: Path, *values: Json) -> Path:
    (tmp_path / "rendered.yaml").write_text(yaml.safe_dump_all(values))
    return tmp_path / "rendered.yaml"


def test_a_manifest_that_no_host_applies_is_not_expected_in_the_cluster(
    check: Callable[..., Run], tmp_path: Path
) -> None:
    values = list(yaml.safe_load_all(RENDERED.read_text()))
    local = next(one for one in values if one["metadata"]["name"] == "contrast-manifest")
    local["metadata"]["annotations"]["config.kubernetes.io/local-config"] = "true"
    objects = cluster()
    del objects["shop/configmaps/contrast-manifest"]
    ran = check(objects, rendered=as_a_file(tmp_path, *values))
    assert (ran.code, ", which no host applies" in ran.stderr) == (0, True), ran.stderr
    local["metadata"]["annotations"]["config.kubernetes.io/local-config"] = "false"
    assert check(objects, rendered=as_a_file(tmp_path, *values)).code == 1


def test_a_part_of_a_manifest_may_be_what_the_cluster_alone_has(check: Callable[..., Run], tmp_path: Path) -> None:
    """A second Helm release has the manifest of both, and not the workloads of the first."""
    values = list(yaml.safe_load_all(RENDERED.read_text()))
    second = [one for one in values if one["metadata"]["name"] != "recommendations"]
    file = as_a_file(tmp_path, *second)
    ran = check(cluster(), rendered=file)
    assert ran.code == 0, ran.stderr
    assert "1 of whose policies belong to workloads that the cluster alone has" in ran.stderr
    objects = cluster()
    del objects["shop/deployments/recommendations"]
    ran = check(objects, rendered=file)
    assert (ran.code, "error CC1105: " in ran.stderr) == (1, True)
