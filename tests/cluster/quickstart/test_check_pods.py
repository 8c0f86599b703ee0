"""What a cluster makes of the pods, and what runs: a webhook, an admission policy, plugins, debuggers, rollouts."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.api import Api, Json, until
from tests.cluster.made_up_webhook import CONFIGURATION, NAME, Patch, made_up_webhook, sidecar, variable, volume
from tests.cluster.quickstart.shop import CONFIG, RENDERED, Shop, alarms, ready
from tests.hosts.running import EXAMPLES, Ran

RESOURCES = str(EXAMPLES / "quickstart/resources")
PLAN = ("plan", RESOURCES, "--config", CONFIG, "--cluster", "-o", "json")


@pytest.fixture(scope="module", autouse=True)
def settled(applied: Shop) -> None:
    """Whatever another file has left."""
    applied.settle()


def plan(shop: Shop) -> Ran:
    return shop.machine.krm(*PLAN, KUBECONFIG=str(shop.cluster.kubeconfig))


def piped(shop: Shop) -> Ran:
    listed = shop.kubectl("get", "all,configmap", "-n", "shop", "-o", "yaml")
    return shop.machine.krm("check", "-", stdin=listed.encode())


def lines(ran: Ran, beginning: str) -> list[str]:
    return [line for line in ran.err.splitlines() if line.startswith(beginning)]


def admitted(ran: Ran) -> list[str]:
    """The findings of dry runs that are errors, one for each workload; what several share stands in one line."""
    said = []
    for line in lines(ran, "error CC1130"):
        place, _, message = line.partition(": ")
        said += [message] * (1 + int((re.findall(r" and (\d+) more$", place) or [0])[0]))
    return sorted(said)


def dry_run(shop: Shop, name: str = "web") -> Json:
    """What the server would make of a workload's pod, without the word of contrast-krm."""
    template = shop.api.get("Deployment", name, "shop").ok()["spec"]["template"]
    metadata = {**template["metadata"], "name": "probe", "namespace": "shop"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    return dict(shop.api.create(pod, "?dryRun=All").value)


@contextmanager
def labelled(shop: Shop, **labels: str) -> Iterator[None]:
    """The namespace with more labels for a block."""
    shop.api.patch("Namespace", "shop", {"metadata": {"labels": labels}}).ok()
    try:
        yield
    finally:
        shop.api.patch("Namespace", "shop", {"metadata": {"labels": dict.fromkeys(labels)}}).ok()


@contextmanager
def there(api: Api, *values: Json) -> Iterator[None]:
    """Some objects for a block."""
    try:
        for value in values:
            api.create(value).ok()
        yield
    finally:
        for value in values:
            api.delete(value["kind"], value["metadata"]["name"], value["metadata"].get("namespace", ""))


@contextmanager
def webhook(shop: Shop, patch: Patch) -> Iterator[None]:
    """A webhook that changes the pods of the namespace, as soon as the API server knows it."""
    with labelled(shop, injection="enabled"), made_up_webhook(shop.api, shop.cluster.kubeconfig.parent, patch):
        until("the webhook", lambda: _differs(shop))
        yield


def _differs(shop: Shop) -> bool:
    text = json.dumps(dry_run(shop))
    return any(word in text for word in ("istio-proxy", "HTTP_PROXY", "/shim"))


def test_without_any_of_that_nothing_is_said(applied: Shop) -> None:
    for ran in (plan(applied), applied.check(), piped(applied)):
        assert (alarms(ran), lines(ran, "error")) == ([], []), ran.err


@pytest.mark.parametrize(
    ("patch", "field"),
    [
        (sidecar, "containers istio-init, istio-proxy"),
        (variable, ": env"),
        (volume, ": volumeMounts"),
    ],
    ids=["sidecar", "variable", "volume"],
)
def test_a_webhook_that_changes_the_pods_is_named_before_and_its_pods_afterwards(
    applied: Shop, patch: Patch, field: str
) -> None:
    with webhook(applied, patch):
        asked = f"such pods are subject to webhook {NAME} of {CONFIGURATION}"
        for ran in (plan(applied), applied.check()):
            said = admitted(ran)
            assert ran.code == 1
            assert len(said) == 6, ran.err
            assert all(field in line and asked in line for line in said)
        restarted(applied)
    only_the_pods_are_named(applied, field, piped(applied))


def restarted(shop: Shop) -> None:
    """New pods of one workload, as the API server makes them now."""
    shop.kubectl("rollout", "restart", "deployment/payments", "-n", "shop")
    shop.kubectl("rollout", "status", "deployment/payments", "-n", "shop", "--timeout=50s")


def only_the_pods_are_named(shop: Shop, field: str, *others: Ran) -> None:
    """What changed the pods is gone: they run, and `check` looks at them, and not at templates alone.

    others: of the piped form. Of the vCPUs of a VM it has less to say: TDX has no ID block in the pod.
    """
    for ran in (shop.check(), *others):
        said = lines(ran, "error")
        assert ran.code == 1
        assert len(said) <= 2, "once for the workload"
        assert field in said[0]
    assert "error CC1132 shop/payments: not what was sealed, although the template is: pod" in shop.check().err
    restarted(shop)
    until("the end of the changed pods", lambda: shop.check().code == 0)


def admission_policy(group: str = "", resource: str = "pods", template: str = "") -> list[Json]:
    """A MutatingAdmissionPolicy that adds a variable, with its binding. template: the path of the pod in the object."""
    version = "admissionregistration.k8s.io/v1"
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [resource]}
    fields = f"{template}/spec/containers".removeprefix("/")
    expression = (
        f'JSONPatch{{op: "add", path: "/{fields}/0/env",'
        f' value: [Object.{fields.replace("/", ".")}.env{{name: "HTTP_PROXY", value: "http://proxy"}}]}}'
    )
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": f"[{expression}]"}}],
    }
    chosen = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "shop"}}}
    binding = {"policyName": "add-proxy", "matchResources": chosen}
    return [
        {"apiVersion": version, "kind": "MutatingAdmissionPolicy", "metadata": {"name": "add-proxy"}, "spec": spec},
        {
            "apiVersion": version,
            "kind": "MutatingAdmissionPolicyBinding",
            "metadata": {"name": "add-proxy"},
            "spec": binding,
        },
    ]


def test_an_admission_policy_is_named(applied: Shop) -> None:
    with there(applied.api, *admission_policy()):
        until("the policy", lambda: _differs(applied))
        said = admitted(plan(applied))
        assert len(said) == 6
        assert all("env; such pods are subject to MutatingAdmissionPolicy add-proxy" in line for line in said)
        assert admitted(applied.check()) == said
        restarted(applied)
    until("the end of the policy", lambda: not _differs(applied))
    only_the_pods_are_named(applied, ": env", piped(applied))


@pytest.mark.parametrize(
    ("group", "resource", "template"),
    [("apps", "deployments", "/spec/template"), ("batch", "jobs", "/spec/template")],
)
def test_an_admission_policy_on_workloads_is_named(applied: Shop, group: str, resource: str, template: str) -> None:
    """A CronJob's pods come from the Jobs that its controller creates."""
    with there(applied.api, *admission_policy(group, resource, template)):
        until("the policy", lambda: admitted(plan(applied)))
        said = admitted(plan(applied))
        assert all("env; such pods are subject to MutatingAdmissionPolicy add-proxy" in line for line in said)
        assert admitted(applied.check()) == said
    until("the end of the policy", lambda: not admitted(plan(applied)))


def of_namespace(kind: str, **parts: Any) -> Json:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": kind.lower(), "namespace": "shop"}, **parts}


def limit_range(**default: str) -> Json:
    return of_namespace("LimitRange", spec={"limits": [{"type": "Container", "default": default}]})


def test_a_limit_range_that_makes_other_vms_is_named(applied: Shop) -> None:
    with there(applied.api, limit_range(cpu="2")):
        until("the limit range", lambda: "limit-ranger" in json.dumps(dry_run(applied)))
        said = admitted(applied.check())
        assert said
        assert all("vCPUs" in line and "subject to a LimitRange of the namespace" in line for line in said)
        assert admitted(plan(applied)) == said
        restarted(applied)
    until("the end of the limit range", lambda: "limit-ranger" not in json.dumps(dry_run(applied)))
    only_the_pods_are_named(applied, "its vCPUs")


def test_what_pod_security_refuses_is_told_in_its_own_words(applied: Shop) -> None:
    level = {"pod-security.kubernetes.io/enforce": "baseline"}
    with labelled(applied, **level):
        until("the level", lambda: dry_run(applied).get("code") == 403)
        words = 'is forbidden: violates PodSecurity "baseline:latest": '
        for ran in (plan(applied), applied.check()):
            said = admitted(ran)
            assert said
            assert all("the API server refuses its pods: pods" in line and words in line for line in said)


def quota(**hard: str) -> Json:
    return of_namespace("ResourceQuota", spec={"hard": {key.replace("_", "."): value for key, value in hard.items()}})


def test_a_quota_that_wants_limits_is_told_and_a_full_one_is_not(applied: Shop) -> None:
    """CPU limits are asked of each container; the number of pods is used up by those that run."""
    with there(applied.api, quota(limits_cpu="100")):
        until("the quota", lambda: dry_run(applied).get("code") == 403)
        said = admitted(plan(applied))
        assert said
        assert all("must specify limits.cpu for:" in line for line in said)
        assert admitted(applied.check()) == said
    until("the end of the quota", lambda: dry_run(applied).get("code") != 403)
    count = len([pod for pod in applied.api.items("Pod", "shop") if pod["status"]["phase"] != "Succeeded"])
    with there(applied.api, quota(pods=str(count))):
        until("the quota", lambda: dry_run(applied).get("code") == 403)
        ran = applied.check()
        assert lines(ran, "error") == [], ran.err
    until("the end of the quota", lambda: dry_run(applied).get("code") != 403)


def test_what_no_policy_is_about_is_no_alarm(applied: Shop) -> None:
    """Memory, pull secrets, no token, a priority for all pods, an annotation of a CNI plugin."""
    account = {"automountServiceAccountToken": False, "imagePullSecrets": [{"name": "registry"}]}
    priority = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "usual"},
        "value": 1000,
        "globalDefault": True,
    }
    own: Json = {"metadata": {"labels": {}}, "automountServiceAccountToken": None, "imagePullSecrets": None}
    applied.api.patch("ServiceAccount", "default", account, "shop").ok()
    try:
        with there(applied.api, limit_range(memory="512Mi", **{"ephemeral-storage": "1Gi"}), priority):
            until("all of them", lambda: {"registry", "usual"} <= set(json.dumps(dry_run(applied)).split('"')))
            for ran in (plan(applied), applied.check()):
                assert alarms(ran) == [], ran.err
        with there(applied.api, limit_range(memory="512Mi"), priority):
            applied.kubectl("rollout", "restart", "deployment/web", "-n", "shop")
            applied.kubectl("rollout", "status", "deployment/web", "-n", "shop", "--timeout=50s")
            annotation = {"metadata": {"annotations": {"cni.projectcalico.org/podIP": "10.1.2.3/32"}}}
            names = [pod["metadata"]["name"] for pod in applied.api.items("Pod", "shop")]
            codes = {applied.api.patch("Pod", name, annotation, "shop").code for name in names}
            assert 200 in codes
            assert codes <= {200, 404}, "a pod of the old ReplicaSet may end between the list and its patch"
            for ran in (applied.check(), piped(applied)):
                assert lines(ran, "error") == [], ran.err
    finally:
        applied.api.patch("ServiceAccount", "default", own, "shop").ok()


def test_the_hint_for_what_kubectl_has_applied_leads_back(applied: Shop) -> None:
    """What was changed comes back with an apply, what was added goes with an undo; both without a pause."""
    web = ("deployment/web", "-n", "shop")
    applied.kubectl("set", "image", *web, "web=registry.example.com/evil@sha256:" + "0" * 64)
    ran = applied.check()
    (said,) = lines(ran, "error")
    assert said.endswith(": web: image; last written by kubectl-set")
    assert "hint: restore this output with kubectl apply; " in ran.err
    applied.kubectl("apply", "-f", str(RENDERED))
    applied.kubectl("rollout", "status", *web, "--timeout=50s")
    until("the way back", lambda: applied.check().code == 0)
    applied.kubectl("set", "env", *web, "-c", "web", "HTTP_PROXY=http://proxy")
    assert len(lines(applied.check(), "error")) == 1
    applied.kubectl("rollout", "undo", *web)
    applied.kubectl("rollout", "status", *web, "--timeout=50s")
    until("the way back", lambda: applied.check().code == 0)


def test_a_debug_container_is_named(applied: Shop) -> None:
    (pod, *_) = [one for one in applied.api.items("Pod", "shop") if one["metadata"]["name"].startswith("web-")]
    name = pod["metadata"]["name"]
    flags = ("--image=busybox:1", "--container=debugger", "--attach=false", "-n", "shop")
    applied.kubectl("debug", name, *flags)
    ran = applied.check()
    (said,) = lines(ran, "error")
    assert (
        said == f"error CC1132 shop/web: pod {name} got the debug containers debugger, which their policy does not have"
    )
    assert piped(applied).code == 1
    applied.kubectl("delete", "pod", name, "-n", "shop", "--now")
    until("its successor", lambda: applied.check().code == 0)


def test_a_rollout_is_one_line_and_nothing_that_serves_is_to_be_deleted(applied: Shop, tmp_path: Path) -> None:
    """All nodes are cordoned: the pods of the new render wait, those of the one before serve."""
    nodes = [one["metadata"]["name"] for one in applied.api.items("Node")]
    text = RENDERED.read_text()
    resources = tmp_path / "resources"
    _copy_with_another_value(resources)
    rendered = applied.machine.krm("generate", str(resources), "--config", CONFIG).ok()
    assert rendered.decode() != text
    file = tmp_path / "rendered.yaml"
    file.write_bytes(rendered)
    for node in nodes:
        applied.kubectl("cordon", node)
    try:
        applied.kubectl("apply", "-f", str(file))
        wanted = "rollout of Deployment/web not finished: "
        until("the pods of the new render", lambda: wanted in check(applied, file).err)
        until("the scheduler", lambda: "nodes are available" in check(applied, file).err)
        for ran in (check(applied, file), piped(applied)):
            assert lines(ran, "error") == [], ran.err
            said = [line for line in lines(ran, "warning CC1133") if "/web " in line]
            assert len(said) == 1
            assert "of an earlier render run" in said[0]
            assert "Pending: 0/" in said[0]
            assert not [line for line in ran.err.splitlines() if "hint" in line and "delete" in line]
    finally:
        for node in nodes:
            applied.kubectl("uncordon", node)
        applied.restore()
    until("the pods of the render before", lambda: ready(applied.api) and alarms(applied.check()) == [])


def _copy_with_another_value(directory: Path) -> None:
    """The resources of the example, with another value of the ConfigMap that web reads."""
    shutil.copytree(RESOURCES, directory)
    file = directory / "settings.yaml"
    text = file.read_text()
    changed = re.sub(r"(?m)^(  LOG_LEVEL: ).*$", r"\1trace", text)
    assert changed != text
    file.write_text(changed)


def check(shop: Shop, file: Path) -> Ran:
    return shop.machine.krm("check", "--cluster", str(file), KUBECONFIG=str(shop.cluster.kubeconfig))
