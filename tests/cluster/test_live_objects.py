"""`check` of a live cluster: content with what Kubernetes and kubectl add, and not with what somebody changed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from krm_function.config.generate import ManifestOptions
from tests.cluster.api import Api, Json, until
from tests.cluster.control_plane import ControlPlane
from tests.cluster.made_up_nodes import made_up_nodes
from tests.hosts.running import called
from tests.world import HANDLERS, an_object, config, coordinator, good, pod_spec, values

TCB = {"BootloaderVersion": 9, "TEEVersion": 0, "SNPVersion": 21, "MicrocodeVersion": 72}
RENDER = config(manifest=ManifestOptions(reference_values={"snp": ({"MinimumTCB": TCB},)}))
CLASS = HANDLERS["metal-qemu-snp"]
NODE = {"metadata": {"name": "live-1"}, "status": {"allocatable": {"cpu": "63", "memory": "251Gi"}}}


@pytest.fixture
def healthy(api: Api, cluster: ControlPlane, namespace: str) -> Iterator[str]:
    """A coordinator, a Deployment and a CronJob with one Job, applied by kubectl; all pods run."""
    selector: Json = {"selector": {"matchLabels": {"app": "web"}}, "replicas": 2}
    given = [
        _coordinator(namespace),
        an_object("Deployment", "web", namespace, **selector),
        an_object("CronJob", "nightly", namespace, pod_spec(restartPolicy="Never"), schedule="0 3 * * *"),
    ]
    with _with_class(api), made_up_nodes(api, [NODE]):
        _apply(cluster, given)
        done = cluster.kubectl("create", "job", "nightly-29384215", "--from=cronjob/nightly", "-n", namespace)
        assert done.returncode == 0, done.stderr
        until("the pods", lambda: _phases(api, namespace) == ["Running"] * 3 + ["Succeeded"])
        yield namespace


def _coordinator(namespace: str) -> Json:
    value = coordinator(namespace=namespace)
    value["spec"]["selector"] = {"matchLabels": {"app": "coordinator"}}
    return value


@contextmanager
def _with_class(api: Api) -> Iterator[None]:
    head: Json = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": CLASS}, "handler": CLASS}
    api.create({**head, "overhead": {"podFixed": {"memory": "682Mi"}}}).ok()
    try:
        yield
    finally:
        api.delete("RuntimeClass", CLASS)


def _apply(cluster: ControlPlane, given: list[Json], *flags: str) -> None:
    """Render some objects and apply them with kubectl."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": values(good(*given, to=RENDER))})
    done = cluster.kubectl("apply", *flags, "-f", "-", stdin=text)
    assert done.returncode == 0, done.stderr


def _phases(api: Api, namespace: str) -> list[str]:
    return sorted(pod["status"]["phase"] for pod in api.items("Pod", namespace))


def errors(cluster: ControlPlane, namespace: str, *every: str) -> list[tuple[str, str]]:
    """The errors of `kubectl get KINDS -o yaml | contrast-krm check`: code and workload. every: kinds, or kind/name."""
    stream = ""
    for kinds in every:
        done = cluster.kubectl("get", kinds, "-n", namespace, "-o", "yaml", "--show-managed-fields")
        assert done.returncode == 0, done.stderr
        stream += f"---\n{done.stdout}"
    ran = called("check", "--format", "json", "-", stdin=stream.encode())
    found = [one for one in json.loads(ran.err)["findings"] if one["severity"] == "error"]
    return [(one["code"], one.get("ref", {}).get("name") or one["message"]) for one in found]


OWNERS = "statefulsets,deployments,cronjobs,configmaps"


@pytest.mark.parametrize(
    "kinds",
    [OWNERS, f"{OWNERS},replicasets,jobs", f"{OWNERS},replicasets,jobs,pods", "all,configmaps"],
)
def test_check_passes_on_a_healthy_cluster(cluster: ControlPlane, healthy: str, kinds: str) -> None:
    assert errors(cluster, healthy, kinds) == []


def test_pods_whose_owners_are_not_in_the_input_count_by_themselves(cluster: ControlPlane, healthy: str) -> None:
    """Anybody can write an ownerReference: only an owner that is there, with the same policy, vouches for a pod."""
    assert "CC0705" in {code for code, _ in errors(cluster, healthy, f"{OWNERS},pods")}


@pytest.mark.parametrize("flag", ["--server-side", "--server-side=false"])
def test_check_passes_on_a_bare_pod_as_kubectl_applied_it(
    api: Api, cluster: ControlPlane, namespace: str, flag: str
) -> None:
    with _with_class(api):
        _apply(cluster, [_coordinator(namespace), an_object("Pod", "alone", namespace)], flag)
        assert errors(cluster, namespace, "statefulsets,configmaps", "pod/alone") == []


def test_check_passes_after_a_restart_of_a_deployment(cluster: ControlPlane, healthy: str) -> None:
    done = cluster.kubectl("rollout", "restart", "deployment/web", "-n", healthy)
    assert done.returncode == 0, done.stderr
    assert errors(cluster, healthy, OWNERS) == []


CHANGES = {
    "image": ("set", "image", "deployment/web", "web=registry.example.com/other:1@sha256:" + "a" * 64),
    "variable": ("set", "env", "deployment/web", "-c", "web", "PASSWORD=open"),
    "cpu": ("set", "resources", "deployment/web", "-c", "web", "--limits=cpu=7"),
    "command": ("patch", "cronjob/nightly", "--type=json", "-p"),
}
PATCH = [
    {"op": "add", "path": "/spec/jobTemplate/spec/template/spec/containers/0/command", "value": ["/bin/sh"]},
]


@pytest.mark.parametrize("change", CHANGES)
def test_check_finds_what_somebody_changed(cluster: ControlPlane, healthy: str, change: str) -> None:
    more = (json.dumps(PATCH),) if change == "command" else ()
    done = cluster.kubectl(*CHANGES[change], *more, "-n", healthy)
    assert done.returncode == 0, done.stderr
    found = errors(cluster, healthy, OWNERS)
    assert [code for code, _ in found] == ["CC1103"]


@pytest.mark.parametrize("change", ["scale", "server-side", "label", "pause"])
def test_check_is_not_interested_in_what_no_policy_holds(cluster: ControlPlane, healthy: str, change: str) -> None:
    commands = {
        "scale": ("scale", "deployment/web", "--replicas=3"),
        "server-side": ("apply", "--server-side", "--force-conflicts", "-f", "-"),
        "label": ("label", "deployment/web", "team=shop"),
        "pause": ("rollout", "pause", "deployment/web"),
    }
    namespace = () if change == "server-side" else ("-n", healthy)
    stdin = cluster.kubectl("get", "deployment/web", "-n", healthy, "-o", "json").stdout if not namespace else ""
    value = json.loads(stdin) if stdin else {}
    value.get("metadata", {}).pop("managedFields", None)
    value.get("metadata", {}).pop("resourceVersion", None)
    done = cluster.kubectl(*commands[change], *namespace, stdin=json.dumps(value))
    assert done.returncode == 0, done.stderr
    assert errors(cluster, healthy, OWNERS) == []
