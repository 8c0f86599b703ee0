"""`check --cluster` and dry runs: what the API server would make of each pod, and what it refuses."""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.cli.test_check_cluster import Admit, check, cluster
from tests.failures.running import Run
from tests.wording import wording

__all__ = ["check"]
WEBHOOK = {
    "metadata": {"name": "istio-sidecar-injector"},
    "webhooks": [
        {
            "name": "sidecar.istio.io",
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
            "namespaceSelector": {"matchLabels": {"istio-injection": "enabled"}},
        },
        {
            "name": "elsewhere.istio.io",
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
            "namespaceSelector": {"matchLabels": {"istio-injection": "never"}},
        },
        {
            "name": "services.istio.io",
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["services"]}],
        },
    ],
}
SHOP = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"istio-injection": "enabled"}}}


OTHER = cluster()["shop/deployments/recommendations"]["spec"]["template"]["metadata"]["annotations"]


def is_web(pod: Any) -> bool:
    return str(pod["metadata"]["generateName"]) == "web-"


def changed(edit: Callable[[Any], object]) -> Admit:
    """Change the pods of web; all others are made as they are asked for."""

    def admit(pod: Any) -> tuple[int, Any]:
        if is_web(pod):
            edit(pod)
        return 201, pod

    return admit


def refused(status: int, message: str) -> Admit:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message}
    return lambda pod: (status, body) if is_web(pod) else (201, pod)


def as_the_server_adds(pod: Any) -> tuple[int, Any]:
    """What each API server writes into a pod, and harmless plugins, with a kube-api-access volume and pull secrets."""
    pod = copy.deepcopy(pod)
    spec = pod["spec"]
    pod["metadata"]["annotations"]["openshift.io/scc"] = "restricted-v2"
    pod["metadata"] |= {"name": f"{pod['metadata']['generateName']}x2b4c", "uid": "1"}
    spec |= {
        "serviceAccountName": "default",
        "priority": 1000,
        "priorityClassName": "all",
        "preemptionPolicy": "PreemptLowerPriority",
        "imagePullSecrets": [{"name": "registry"}],
        "tolerations": [
            *spec.get("tolerations", []),
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"},
        ],
        "overhead": {"memory": "682Mi"},
        "enableServiceLinks": True,
        "terminationGracePeriodSeconds": 30,
        "schedulerName": "default-scheduler",
        "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}],
    }
    token = {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}
    root = {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}}
    spec.setdefault("volumes", []).append(
        {"name": "kube-api-access-x2b4c", "projected": {"defaultMode": 420, "sources": [token, root]}}
    )
    mount = {
        "name": "kube-api-access-x2b4c",
        "readOnly": True,
        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
    }
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        container.setdefault("volumeMounts", []).append(mount)
        container.setdefault("resources", {}).setdefault("limits", {}).setdefault("memory", "512Mi")
        container["imagePullPolicy"] = "Always"
    return 201, pod


def test_what_each_server_adds_is_no_difference(check: Callable[..., Run]) -> None:
    ran = check(cluster(), admit=as_the_server_adds)
    assert ran.code == 0, ran.stderr
    assert "CC113" not in ran.stderr


def sidecar(pod: Any) -> None:
    pod["spec"]["containers"].append({"name": "istio-proxy", "image": "istio/proxyv2:1"})


def variable(pod: Any) -> None:
    pod["spec"]["containers"][0].setdefault("env", []).append({"name": "HTTP_PROXY", "value": "http://secret"})


def volume(pod: Any) -> None:
    pod["spec"].setdefault("volumes", []).append({"name": "shim", "hostPath": {"path": "/shim"}})
    pod["spec"]["containers"][0].setdefault("volumeMounts", []).append({"name": "shim", "mountPath": "/shim"})


def cpu(pod: Any) -> None:
    pod["metadata"]["annotations"]["kubernetes.io/limit-ranger"] = "LimitRanger plugin set: cpu limit for container web"
    pod["spec"]["containers"][0].setdefault("resources", {}).setdefault("limits", {})["cpu"] = "7"


def no_mount(pod: Any) -> None:
    del pod["spec"]["containers"][0]["volumeMounts"]


def no_class(pod: Any) -> None:
    del pod["spec"]["runtimeClassName"]


def no_policy(pod: Any) -> None:
    pod["metadata"]["annotations"].clear()


def other_policy(pod: Any) -> None:
    pod["metadata"]["annotations"] |= OTHER


@pytest.mark.parametrize(
    ("edit", "fields"),
    [
        (sidecar, "containers istio-proxy"),
        (variable, "web: env"),
        (volume, "web: volumeMounts"),
        (cpu, "its vCPUs, "),
        (no_mount, "web: "),
        (no_class, "runtimeClassName, none in place of contrast-cc-metal-qemu-snp-18a1a065"),
        (no_policy, "its policy, which is gone"),
        (other_policy, "its policy (there is a different one)"),
    ],
)
def test_a_pod_that_admission_changes_is_an_error_that_names_the_field(
    check: Callable[..., Run], edit: Callable[[Any], None], fields: str
) -> None:
    ran = check(cluster(), admit=changed(edit))
    assert ran.code == 1
    assert f"error CC1130 shop/web: {wording('CC1130.changed-unknown', fields=fields)}" in ran.stderr
    assert ran.stderr.count("error ") == 1
    assert "secret" not in ran.stderr.replace("Secret", "")


def test_it_names_the_webhooks_that_are_asked_for_such_pods(check: Callable[..., Run]) -> None:
    objects = cluster()
    objects["v1/mutatingwebhookconfigurations/istio-sidecar-injector"] = WEBHOOK
    objects["v1/namespaces/shop"] = SHOP
    ran = check(objects, admit=changed(sidecar))
    asked = "such pods are subject to webhook sidecar.istio.io of istio-sidecar-injector\n"
    assert asked in ran.stderr
    ran = check(objects, admit=changed(cpu))
    assert "of istio-sidecar-injector, a LimitRange of the namespace\n" in ran.stderr


def test_a_policy_is_named_if_it_is_bound(check: Callable[..., Run]) -> None:
    objects = cluster()
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
    for name in ("add-proxy", "unbound"):
        spec = {"matchConstraints": {"resourceRules": rules}}
        objects[f"v1/mutatingadmissionpolicies/{name}"] = {"metadata": {"name": name}, "spec": spec}
    binding = {"metadata": {"name": "b"}, "spec": {"policyName": "add-proxy"}}
    objects["v1/mutatingadmissionpolicybindings/b"] = binding
    ran = check(objects, admit=changed(variable))
    assert "web: env; such pods are subject to MutatingAdmissionPolicy add-proxy\n" in ran.stderr


def template_of(value: Any) -> Any:
    spec = value["spec"]
    return (spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec)["template"]


def owners(kind: str, name: str, edit: Callable[[Any], None]) -> Admit:
    """Change the template of the objects of a kind that are asked for with this name."""

    def admit(value: Any) -> tuple[int, Any]:
        if value["kind"] == kind and value["metadata"]["generateName"] == f"{name}-":
            edit(template_of(value))
        return 201, value

    return admit


@pytest.mark.parametrize(
    ("kind", "name"),
    [("Deployment", "web"), ("StatefulSet", "db"), ("CronJob", "nightly-report"), ("Job", "nightly-report")],
)
def test_a_workload_that_admission_changes_is_an_error_although_its_pods_pass(
    check: Callable[..., Run], kind: str, name: str
) -> None:
    """As the autogen rules of Kyverno do; and the Jobs of a CronJob."""
    ran = check(cluster(), admit_owner=owners(kind, name, sidecar))
    fields = wording("CC1130.changed-unknown", fields="containers istio-proxy")
    assert f"error CC1130 shop/{name}: {fields}" in ran.stderr
    assert (ran.code, ran.stderr.count("error ")) == (1, 1), ran.stderr


def test_it_names_the_webhooks_that_are_asked_for_the_workload(check: Callable[..., Run]) -> None:
    objects = cluster()
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}
    webhook = {"name": "autogen.example.com", "rules": [rule]}
    objects["v1/mutatingwebhookconfigurations/w"] = {"metadata": {"name": "w"}, "webhooks": [webhook]}
    ran = check(objects, admit_owner=owners("Deployment", "web", sidecar))
    assert "such pods are subject to webhook autogen.example.com of w\n" in ran.stderr
    ran = check(objects, admit_owner=owners("StatefulSet", "db", sidecar))
    assert "autogen.example.com" not in ran.stderr


def test_a_workload_that_is_refused_is_an_error_in_the_words_of_the_server(check: Callable[..., Run]) -> None:
    words = 'admission webhook "x.example.com" denied the request: no'
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": words}
    ran = check(cluster(), admit_owner=lambda value: (403, body) if value["kind"] == "StatefulSet" else (201, value))
    lines = [line for line in ran.stderr.splitlines() if line.startswith("error ")]
    assert lines
    assert all(line.endswith(wording("CC1130.object", words=words)) for line in lines), lines


def test_without_the_right_to_create_workloads_their_own_templates_are_asked_for(check: Callable[..., Run]) -> None:
    words = 'deployments.apps is forbidden: User "x" cannot create resource "deployments"'
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": words}

    def admit_owner(value: Any) -> tuple[int, Any]:
        return (403, body) if value["kind"] == "Deployment" else (201, value)

    ran = check(cluster(), admit=changed(sidecar), admit_owner=admit_owner)
    assert "warning CC1131: " in ran.stderr
    assert "this user may not create workloads of these kinds in namespace shop\n" in ran.stderr
    assert "error CC1130 shop/web: " in ran.stderr
    ran = check(cluster(), admit=refused(403, NO_RIGHT), admit_owner=admit_owner)
    assert "Deployment/web: this user may not create pods in namespace shop\n" in ran.stderr


NO_RIGHT = 'pods is forbidden: User "x" cannot create resource "pods" in API group "" in the namespace "shop"'
QUOTA = (
    'pods "web-" is forbidden: exceeded quota: q, requested: limits.cpu=1, used: limits.cpu=9, limited: limits.cpu=9'
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "message", "says", "code"),
    [
        (
            403,
            'pods "web-" is forbidden: violates PodSecurity "baseline:latest": non-default capabilities',
            'error CC1130 shop/web: the API server refuses its pods: pods "web-" is forbidden: violates PodSecurity',
            1,
        ),
        (
            403,
            NO_RIGHT,
            f"warning CC1131: {wording('CC1131', names='Deployment/web', problem='this us')}",
            0,
        ),
        (404, 'namespaces "shop" not found', f"Deployment/web: {wording('CC1131.namespace', namespace='shop')}", 0),
        (
            400,
            'admission webhook "x.example.com" does not support dry run',
            wording("CC1131.side-effects", words='admission webhook "x.example.com" does not support dry run'),
            0,
        ),
        (403, QUOTA, "error CC1130 shop/web: the API server refuses its pods: pods", 1),
        (
            500,
            'Internal error occurred: failed calling webhook "x.example.com": connection refused',
            "error CC1130 shop/web: the API server refuses its pods: Internal error occurred",
            1,
        ),
        (500, "etcdserver: leader changed", "it did not answer for namespace shop: HTTP status 500", 0),
        (401, "Unauthorized", "it did not answer for namespace shop: HTTP status 401", 0),
        (409, "the object has been modified", "it did not answer for namespace shop: HTTP status 409", 0),
        (429, "too many requests", "it did not answer for namespace shop: HTTP status 429", 0),
        (503, "", "it did not answer for namespace shop: HTTP status 503", 0),
    ],
)
def test_what_the_server_refuses_is_told_in_its_own_words(
    check: Callable[..., Run], status: int, message: str, says: str, code: int
) -> None:
    ran = check(cluster(), admit=refused(status, message))
    assert says in ran.stderr
    assert ran.code == code


def test_a_quota_that_the_running_pods_fill_is_no_error(check: Callable[..., Run]) -> None:
    objects = cluster()
    web = objects["shop/deployments/web"] = copy.deepcopy(objects["shop/deployments/web"])
    web["status"] = {"replicas": web["spec"]["replicas"]}
    ran = check(objects, admit=refused(403, QUOTA))
    assert (ran.code, "CC113" in ran.stderr) == (0, False), ran.stderr
    web["status"] = {"replicas": 1}
    ran = check(objects, admit=refused(403, QUOTA))
    assert f"warning CC1131: {wording('CC1131', names='Deployment/web', problem='a quota has')}" in ran.stderr
    assert ran.code == 0


def test_values_of_variables_are_masked_in_the_words_of_the_server(check: Callable[..., Run]) -> None:
    def admit(pod: Any) -> tuple[int, Any]:
        values = [one["value"] for each in pod["spec"]["containers"] for one in each.get("env", ()) if one.get("value")]
        said = f'Pod "web-" is invalid: spec.x: Invalid value: "CANARY": no; and {" ".join(values)}'
        return (422, {"kind": "Status", "message": said}) if is_web(pod) and values else (201, pod)

    ran = check(cluster(), admit=admit)
    env = [one for each in web_containers() for one in each.get("env", ())]
    assert [one for one in env if len(one.get("value", "")) >= 4], "the example has one"
    assert "Invalid value: (masked)" in ran.stderr
    assert "CANARY" not in ran.stderr
    assert not [one["name"] for one in env if len(one.get("value", "")) >= 4 and one["value"] in ran.stderr]


def web_containers() -> list[Any]:
    found: list[Any] = cluster()["shop/deployments/web"]["spec"]["template"]["spec"]["containers"]
    return found


def test_what_comes_with_the_deployment_and_is_not_there_yet_is_left_out(
    check: Callable[..., Run], tmp_path: Any
) -> None:
    """A class that is absent is a finding of its own; a service account of the output will be there."""

    def admit(pod: Any) -> tuple[int, Any]:
        name = pod["spec"].get("runtimeClassName")
        if name:
            message = f'pods "x" is forbidden: pod rejected: RuntimeClass "{name}" not found'
            return 403, {"kind": "Status", "message": message}
        return 201, pod

    objects = cluster()
    ran = check(objects, admit=admit)
    assert ran.code == 0, ran.stderr


@pytest.mark.slow
def test_answers_that_are_none_end_the_asking(check: Callable[..., Run]) -> None:
    answers: tuple[Any, ...] = ([], "x", {"kind": "PodList"}, {"kind": "Pod", "spec": []}, {"kind": "Pod", "spec": {}})
    for answer in answers:
        ran = check(cluster(), admit=partial(_always, answer))
        assert "Traceback" not in ran.stderr
        assert ran.code == int(answer == answers[-1])


def _always(answer: Any, _: Any) -> tuple[int, Any]:
    return 201, answer
