"""`check --cluster` of the committed quickstart: content with the cluster that has it, one sentence a drift."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.api import Api, until
from tests.cluster.conftest import add_namespace, remove_namespace
from tests.cluster.quickstart.shop import CONFIG, RENDERED, Shop
from tests.hosts.digests import digest, manifest_digest
from tests.hosts.hosts import WEB
from tests.hosts.running import EXAMPLES, Machine, Ran
from tests.wording import wording

SNP = "contrast-cc-metal-qemu-snp-18a1a065"
GPU = "contrast-cc-metal-qemu-snp-gpu-18a1a065"
TDX = "contrast-cc-metal-qemu-tdx-18a1a065"
INITDATA = "io.katacontainers.config.hypervisor.cc_init_data"
POLICY = f"metadata/annotations/{INITDATA}"
MESH = "contrast.edgeless.systems~1servicemesh-ingress"


@pytest.fixture
def drifting(applied: Shop) -> Iterator[Shop]:
    yield applied
    applied.restore()


def test_a_cluster_that_has_the_render_passes_and_it_says_what_was_compared(applied: Shop) -> None:
    ran = applied.check()
    assert (ran.code, "error" in ran.err) == (0, False), ran.err
    pods = len([one for one in applied.api.items("Pod", "shop") if one["spec"].get("runtimeClassName")])
    said = f"compared with the cluster of context here: 6 workloads and {pods} pods, manifest {manifest_digest()}, "
    assert f"{said}that their RuntimeClasses admit them\n" in ran.err
    ran = applied.check("--config", CONFIG)
    assert (ran.code, f"{said}their RuntimeClasses\n" in ran.err) == (0, True), ran.err


def template(kind: str, name: str, *changes: tuple[str, str, object]) -> Callable[[Shop], None]:
    """Change the pod template of a workload: operation, path in the template, value."""
    start = "/spec/jobTemplate/spec/template" if kind == "cronjob" else "/spec/template"
    body = [{"op": op, "path": f"{start}/{path}", **({"value": value} if value else {})} for op, path, value in changes]
    return lambda shop: shop.patch(f"{kind}/{name}", body)


def kubectl(*arguments: str) -> Callable[[Shop], None]:
    def call(shop: Shop) -> None:
        shop.kubectl(*arguments, "-n", "shop")

    return call


def other_policy(shop: Shop) -> None:
    """The one of another workload."""
    other = json.loads(shop.kubectl("get", "deployment/web", "-n", "shop", "-o", "json"))
    value = other["spec"]["template"]["metadata"]["annotations"][INITDATA]
    template("deployment", "recommendations", ("replace", POLICY, value))(shop)


def by_hand(shop: Shop) -> None:
    """A copy of a pod, with a policy of the manifest."""
    value = json.loads(shop.kubectl("get", "pod/coordinator-0", "-n", "shop", "-o", "json"))
    metadata = {"name": "by-hand", "namespace": "shop", "annotations": value["metadata"]["annotations"]}
    spec = {key: part for key, part in value["spec"].items() if key != "nodeName"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    shop.kubectl("create", "-f", "-", stdin=json.dumps(pod))


def manifest(shop: Shop) -> None:
    value = json.loads(shop.kubectl("get", "configmap/contrast-manifest", "-n", "shop", "-o", "json"))
    text = value["data"]["manifest.json"].replace('"SNPVersion": ', '"SNPVersion": 1')
    assert text != value["data"]["manifest.json"]
    shop.patch("configmap/contrast-manifest", [{"op": "replace", "path": "/data/manifest.json", "value": text}])


EVIL = "registry.example.com/evil@sha256:" + "0" * 64
ANOTHER = "the cluster has the object of another render: policy"
CHANGED = "changed in the cluster since this render, under its policy"
# Rounds of drifts that do not touch each other: what somebody does, and the beginning of the answer.
ROUNDS: dict[str, list[tuple[Callable[[Shop], None], str]]] = {
    "pods": [
        (
            template("deployment", "web", ("replace", "spec/containers/0/image", EVIL)),
            f"shop/web: {CHANGED} {digest('web')}: web: image",
        ),
        (
            template("deployment", "payments", ("add", "metadata/annotations/io.katacontainers.a", "b")),
            f"shop/payments: {CHANGED} {digest('payments')}",
        ),
        (  # which no policy shows: a command that is missing is that of the image
            template("cronjob", "nightly-report", ("remove", "spec/containers/0/command", None)),
            f"shop/nightly-report: {CHANGED} {digest('nightly-report')}: spec.containers[0].command",
        ),
        (
            template("statefulset", "db", ("add", "spec/containers/0/resources/limits/cpu", "7")),
            f"shop/db: {CHANGED} {digest('db')}",
        ),
        (
            kubectl("delete", "deployment/recommendations"),
            "shop/recommendations: the cluster has no such object",
        ),
        (
            manifest,
            "shop/contrast-manifest: the cluster has manifest ",
        ),
    ],
    "policies": [
        (
            other_policy,
            f"shop/recommendations: {ANOTHER} {digest('web')}, here {digest('recommendations')}",
        ),
        (
            template("deployment", "web", ("remove", POLICY, None)),
            f"shop/web: {wording('CC1120.no-policy', wanted=digest('web'))}",
        ),
        (
            template("deployment", "payments", ("remove", "spec/runtimeClassName", None)),
            f"shop/payments: {wording('CC1120.no-class', wanted=TDX)}",
        ),
        (
            template("statefulset", "db", ("replace", "spec/runtimeClassName", GPU)),
            f"shop/db: {wording('CC1120.class', found=GPU, wanted=SNP)}",
        ),
        (
            by_hand,
            f"shop/by-hand: the cluster runs it with runtime class {SNP}, which belongs neither to this output",
        ),
        (
            kubectl("delete", "configmap/contrast-manifest"),
            "shop/contrast-manifest: the cluster has no such object",
        ),
        (
            kubectl("delete", "runtimeclass", TDX),
            f"{TDX}: the cluster has no such RuntimeClass, so it refuses pods of Deployment/payments",
        ),
    ],
    "annotations": [
        (
            template("deployment", "web", ("remove", f"metadata/annotations/{MESH}", None)),
            f"shop/web: {CHANGED} {digest('web')}: annotation contrast.edgeless.systems/servicemesh-ingress",
        ),
        (
            kubectl("set", "env", "deployment/payments", "DEBUG=1"),
            f"shop/payments: {CHANGED} {digest('payments')}",
        ),
    ],
}


@pytest.mark.parametrize("name", ROUNDS)
def test_each_drift_has_one_answer(drifting: Shop, name: str) -> None:
    for change, _ in ROUNDS[name]:
        change(drifting)
    ran = drifting.check()
    errors = sorted(line for line in ran.err.splitlines() if line.startswith("error "))
    wanted = sorted(f"error CC1120 {said}" for _, said in ROUNDS[name])
    assert [line[: len(said)] for line, said in zip(errors, wanted, strict=True)] == wanted
    assert ran.code == 1
    drifting.restore()
    until("the pods that were made in between to go", lambda: drifting.check().code == 0)


def test_a_class_that_was_patched_shows_in_check_and_in_plan(drifting: Shop) -> None:
    scheduling = {"nodeSelector": {"zone": "a"}, "tolerations": [{"key": "zone", "operator": "Exists"}]}
    body = json.dumps({"scheduling": scheduling, "overhead": {"podFixed": {"memory": "1Gi"}}})
    drifting.kubectl("patch", "runtimeclass", SNP, "--type=merge", "-p", body)
    fields = "overhead.podFixed, scheduling.nodeSelector, scheduling.tolerations"
    ran = drifting.check("--config", CONFIG)
    assert ran.code == 1
    assert f"error CC1120 {SNP}: the cluster's RuntimeClass differs from the render's in: {fields}\n" in ran.err
    drifting.kubectl("delete", "runtimeclass", TDX)
    arguments = (str(EXAMPLES / "quickstart" / "resources"), "--config", CONFIG, "--cluster", "-o", "json")
    plan = drifting.machine.krm("plan", *arguments, KUBECONFIG=str(drifting.cluster.kubeconfig))
    assert f"{wording('CC0319.differs', fields=fields)}\n" in plan.err
    assert f"warning CC0319 {TDX}: the cluster has no such RuntimeClass, so it would refuse pods of D" in plan.err
    fitting = {one["name"]: one["nodes"]["fitting"] for one in json.loads(plan.out)["workloads"]}
    assert (fitting["web"], fitting["payments"]) == ([], ["tdx-1"])  # no node is in that zone


def test_what_no_policy_is_about_is_no_drift(drifting: Shop, request: pytest.FixtureRequest) -> None:
    """Also not for what kubectl prints of all that there is, which has a ReplicaSet of the change, with no pods."""

    def rolled_out(name: str) -> None:
        drifting.kubectl("rollout", "status", name, "-n", "shop", "--timeout=50s")

    drifting.kubectl("set", "env", "deployment/web", "-n", "shop", "DEBUG=1")
    rolled_out("deployment/web")
    drifting.kubectl("replace", "-f", str(RENDERED))
    rolled_out("deployment/web")
    drifting.kubectl("scale", "deployment/web", "-n", "shop", "--replicas=3")
    drifting.kubectl("rollout", "restart", "deployment/payments", "-n", "shop")
    drifting.kubectl("run", "by-hand", "-n", "shop", f"--image={WEB}")
    drifting.kubectl("create", "job", "nightly-report-29384215", "--from=cronjob/nightly-report", "-n", "shop")
    add_namespace(drifting.api, "elsewhere")  # of another deployment
    request.addfinalizer(lambda: remove_namespace(drifting.api, "elsewhere"))
    value = json.loads(drifting.kubectl("get", "deployment/web", "-n", "shop", "-o", "json"))
    drifting.api.create({**value, "metadata": {"name": "web", "namespace": "elsewhere"}}).ok()
    rolled_out("deployment/payments")
    rolled_out("deployment/web")
    ran = drifting.check("--config", CONFIG)
    assert ran.code == 0, ran.err
    listed = drifting.kubectl("get", "all,configmap", "-n", "shop", "-o", "yaml")
    ran = drifting.machine.krm("check", "-", stdin=listed.encode())
    assert ran.code == 0, ran.err


def _kubeconfig(shop: Shop, directory: Path, **user: str) -> Path:
    value = json.loads(shop.cluster.kubeconfig.read_text())
    value["users"][0]["user"] = user
    (directory / "kubeconfig").write_text(json.dumps(value))
    return directory / "kubeconfig"


def _token(api: Api, name: str) -> str:
    """A token of a service account of the shop."""
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = api("POST", f"/api/v1/namespaces/shop/serviceaccounts/{name}/token", request).ok()["status"]["token"]
    assert isinstance(token, str)
    return token


def test_somebody_who_may_only_view_the_namespace_can_compare_it(applied: Shop, tmp_path: Path) -> None:
    """The role `view` shows neither Secrets nor RuntimeClasses."""
    binding = ("rolebinding", "viewer", "-n", "shop")
    applied.kubectl("create", *binding, "--clusterrole=view", "--serviceaccount=shop:default")
    path = _kubeconfig(applied, tmp_path, token=_token(applied.api, "default"))

    def allowed() -> Ran | None:
        ran = applied.check(kubeconfig=path)
        return None if ran.code == 3 else ran

    ran: Ran = until("the role binding", allowed)
    applied.kubectl("delete", *binding)
    assert ran.code == 0, ran.err
    assert f"warning CC1121: {wording('CC1121', answer='403 Forbidden')}" in ran.err
    assert "warning CC1131: it is unknown how the API server changes the pods of " in ran.err
    assert "this user may not create pods in namespace shop\n" in ran.err


def test_a_cluster_that_shows_nothing_is_an_error_of_the_environment(applied: Shop, tmp_path: Path) -> None:
    token = _token(applied.api, "default")
    for secret, status in ((token, "403 Forbidden"), ("CANARY", "401 Unauthorized")):
        ran = applied.check(kubeconfig=_kubeconfig(applied, tmp_path, token=secret))
        assert (ran.code, secret in ran.err) == (3, False)
        said = wording("CC1003.status", answer=status, what="the ReplicationControllers of namespace shop")
        assert f"error CC1003: {wording('CC1003', problem=said)}\n" in ran.err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, wording("CC1003.no-context")),
        ("", wording("CC1003.no-context")),
        ("{", "the kubeconfig cannot be used ("),
        ("apiVersion: v1\nkind: Config\n", "there is no kubeconfig with a usable current context"),
    ],
    ids=["missing", "empty", "no-yaml", "no-context"],
)
def test_a_kubeconfig_that_does_not_work_is_an_error_of_the_environment(
    krm_machine: Machine, tmp_path: Path, text: str | None, says: str
) -> None:
    if text is not None:
        (tmp_path / "kubeconfig").write_text(text)
    ran = krm_machine.krm("check", "--cluster", str(RENDERED), KUBECONFIG=str(tmp_path / "kubeconfig"))
    assert (ran.code, f"error CC1003: {wording('CC1003', problem=says)}" in ran.err) == (3, True), ran.err
