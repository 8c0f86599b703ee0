"""`check --cluster`: what a cluster has otherwise than a committed render, object by object."""

import copy
import json
import threading
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from krm_function.kubernetes.kinds import KINDS
from tests.cli.test_plan import kubeconfig
from tests.custom_resources.objects import OPTIONS, leader_worker_set, stream
from tests.failures.running import Run, Zygote
from tests.hosts.digests import digest
from tests.hosts.running import EXAMPLES, called
from tests.wording import wording

RENDERED = EXAMPLES / "quickstart/expected/rendered.yaml"
OTHER = EXAMPLES / "strict/expected/rendered.yaml"
CONFIG = str(EXAMPLES / "quickstart/config")
POLICY = "io.katacontainers.config.hypervisor.cc_init_data"
ADMISSION = ("MutatingWebhookConfiguration", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")
Objects = dict[str, Any]
Admit = Callable[[Any], tuple[int, Any]]  # a pod as it was sent -> a status and a body


def list_head(path: str) -> dict[str, str]:
    """The apiVersion and kind of what the API server answers at a path."""
    _, root, *rest = path.split("/")
    kinds = {
        plural(kind): kind for kind in (*KINDS, "ConfigMap", "Event", "Node", "RuntimeClass", "Service", *ADMISSION)
    }
    return {"apiVersion": "/".join(rest[: 1 if root == "api" else 2]), "kind": f"{kinds[rest[-1]]}List"}


class Api(BaseHTTPRequestHandler):
    """As much of the API server as answers for lists. refused: the part of a path that it does not show."""

    objects: ClassVar[Objects] = {}
    refused = "nothing"
    status = 403
    busy: ClassVar[list[int]] = []  # the status of the next requests
    admit: Any = staticmethod(lambda pod: (201, pod))
    admit_owner: Any = staticmethod(lambda value: (201, value))

    def is_busy(self) -> bool:
        if self.busy:
            self.send_response(self.busy.pop(0))
            self.send_header("Retry-After", "0")
            self.end_headers()
            return True
        return False

    def do_GET(self) -> None:
        if self.is_busy():
            return
        path = urlsplit(self.path).path
        where = "/".join(path.split("/")[-2:])
        if path.count("/") == 4 and "/namespaces/" in path:
            self.one(self.objects.get(f"v1/namespaces/{path.rpartition('/')[2]}"))
            return
        if path.count("/") == 7:
            self.one(self.objects.get("/".join(path.split("/")[-3:])))
            return
        if path.endswith("/leaderworkersets"):  # the cluster has no such kind
            self.one(None, 403 if self.refused in path else 404)
            return
        found = [value for name, value in self.objects.items() if name.startswith(f"{where}/")]
        if selector := parse_qs(urlsplit(self.path).query).get("fieldSelector"):
            found = [value for value in found if selector == [f"metadata.name={value['metadata']['name']}"]]
        self.send_response(self.status if self.refused in self.path else 200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        members = [{key: part for key, part in one.items() if key not in {"apiVersion", "kind"}} for one in found]
        self.wfile.write(json.dumps({**list_head(path), "items": members}).encode())

    def one(self, value: Any, otherwise: int = 404) -> None:
        self.send_response(200 if value else otherwise)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(value or {}).encode())

    def do_POST(self) -> None:
        """Make the object as it was sent, which nothing stores; or what `admit` makes of it."""
        assert "dryRun=All" in self.path
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = urlsplit(self.path).path
        if self.is_busy():
            return
        if path.endswith("/leaderworkersets"):  # the cluster has no such kind
            self.one(None, 403 if self.refused in path else 404)
            return
        version, kind = sent["apiVersion"], sent["kind"]
        assert path.startswith(f"/apis/{version}/" if "/" in version else f"/api/{version}/")
        assert (path.rpartition("/")[2], "name" in sent["metadata"]) == (plural(kind), False)
        status, value = (self.admit if kind == "Pod" else self.admit_owner)(sent)
        if status == 201 and kind == "Job":
            value = as_a_job(value)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


def as_a_job(value: Any) -> Any:
    """A Job as the API server stores it: it has a name, and its template has that as a label."""
    name, uid = f"{value['metadata']['generateName']}x2b4c", "0f1e2d3c"
    labels = {"job-name": name, "batch.kubernetes.io/job-name": name, "batch.kubernetes.io/controller-uid": uid}
    metadata = value["spec"]["template"].setdefault("metadata", {})
    metadata["labels"] = {**metadata.get("labels", {}), **labels}
    return {**value, "metadata": {**value["metadata"], "name": name, "uid": uid}}


def cluster() -> Objects:
    """The rendered quickstart by namespace, plural and name, and its RuntimeClasses."""
    values = [*yaml.safe_load_all(RENDERED.read_text()), *yaml.safe_load_all(_classes())]
    return {
        f"{one['metadata'].get('namespace') or 'v1'}/{plural(one['kind'])}/{one['metadata']['name']}": one
        for one in values
    }


@cache
def _classes() -> bytes:
    return called("release", "runtime-classes", "--config", CONFIG).ok()


def plural(kind: str) -> str:
    name = kind.lower()
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}{'es' if name.endswith('s') else 's'}"


@pytest.fixture
def check(tmp_path: Path, call: Zygote) -> Iterator[Callable[..., Run]]:
    answer = type("Answer", (Api,), {})
    server = HTTPServer(("127.0.0.1", 0), answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def run(
        objects: Objects,
        *more: str,
        refused: str = "nothing",
        admit: Admit = lambda pod: (201, pod),
        admit_owner: Admit = lambda value: (201, value),
        rendered: Path = RENDERED,
    ) -> Run:
        vars(Api)["objects"].clear()
        vars(Api)["objects"].update(objects)
        answer.refused = refused  # type: ignore[attr-defined]
        answer.admit = staticmethod(admit)  # type: ignore[attr-defined]
        answer.admit_owner = staticmethod(admit_owner)  # type: ignore[attr-defined]
        variables = kubeconfig(tmp_path, server.server_port)
        return call("check", "--cluster", str(rendered), *more, directory=tmp_path, variables=variables)

    yield run
    server.shutdown()
    server.server_close()


def web(objects: Objects) -> Any:
    objects["shop/deployments/web"] = copy.deepcopy(objects["shop/deployments/web"])
    return objects["shop/deployments/web"]["spec"]["template"]


def test_a_cluster_that_has_the_render_passes(check: Callable[..., Run]) -> None:
    objects = cluster()
    web(objects)["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"] = "2026-11-22"
    ran = check(objects)
    assert ran.code == 0, ran.stderr
    assert ran.stderr.startswith("checked 6 Contrast workloads")
    manifest = (RENDERED.parent / "manifest.json").read_bytes()
    compared = f"compared with the cluster of context dev: 6 workloads, manifest {sha256(manifest).hexdigest()[:16]}"
    assert f"{compared}, that their RuntimeClasses admit them\n" in ran.stderr
    assert f"{compared}, their RuntimeClasses\n" in check(objects, "--config", CONFIG).stderr


@pytest.mark.parametrize(("status", "count", "code"), [(429, 2, 0), (503, 2, 0), (503, 3, 3), (500, 1, 3)])
def test_a_busy_server_is_asked_again(check: Callable[..., Run], status: int, count: int, code: int) -> None:
    vars(Api)["busy"][:] = [status] * count
    try:
        ran = check(cluster())
    finally:
        vars(Api)["busy"].clear()
    assert ran.code == code, ran.stderr


def test_a_kind_that_the_cluster_does_not_have_is_missing(check: Callable[..., Run], tmp_path: Path) -> None:
    rendered = tmp_path / "llm.yaml"
    rendered.write_bytes(called("generate", "-", *OPTIONS, stdin=stream(leader_worker_set("llm")).encode()).ok())
    ran = check({}, rendered=rendered)
    assert ran.code == 1, ran.stderr
    assert "CC1120" in ran.stderr
    assert "also: shop/llm#leader" in ran.stderr


def another_render(objects: Objects) -> None:
    key = POLICY
    other = objects["shop/deployments/recommendations"]["spec"]["template"]["metadata"]["annotations"][key]
    web(objects)["metadata"]["annotations"][key] = other


def another_image(objects: Objects) -> None:
    web(objects)["spec"]["containers"][0]["image"] = "registry.example.com/evil@sha256:" + "0" * 64


def no_port(objects: Objects) -> None:
    """A policy does not have the ports."""
    del web(objects)["spec"]["containers"][0]["ports"]


def more_cpu(objects: Objects) -> None:
    """A limit where the render has none, as a LimitRange would set it."""
    web(objects)["spec"]["initContainers"][-1].setdefault("resources", {}).setdefault("limits", {})["cpu"] = "7"


def no_class(objects: Objects) -> None:
    del web(objects)["spec"]["runtimeClassName"]


def broken_policy(objects: Objects) -> None:
    web(objects)["metadata"]["annotations"][POLICY] = "of something else"


def one_more(objects: Objects) -> None:
    """A copy of a Deployment under another name; its policy is in the manifest."""
    objects["shop/deployments/by-hand"] = copy.deepcopy(objects["shop/deployments/web"])
    objects["shop/deployments/by-hand"]["metadata"]["name"] = "by-hand"


def no_runtime_class(objects: Objects) -> None:
    del objects["v1/runtimeclasses/contrast-cc-metal-qemu-tdx-18a1a065"]


def another_class(objects: Objects) -> None:
    web(objects)["spec"]["runtimeClassName"] = "runc"


def no_policy(objects: Objects) -> None:
    del web(objects)["metadata"]["annotations"][POLICY]


def absent(objects: Objects) -> None:
    del objects["shop/deployments/web"]


def another_manifest(objects: Objects) -> None:
    key = "shop/configmaps/contrast-manifest"
    objects[key] = {**objects[key], "data": {"manifest.json": "{}"}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (another_render, f"shop/web: the cluster has the object of another render: policy {digest('recommendations')}"),
        (
            another_image,
            f"shop/web: changed in the cluster since this render, under its policy {digest('web')}: web: im",
        ),
        (no_port, f"shop/web: changed in the cluster since this render, under its policy {digest('web')}: spec.cont"),
        (more_cpu, f"shop/web: changed in the cluster since this render, under its policy {digest('web')}: its vCPU"),
        (another_class, f"shop/web: {wording('CC1120.class', found='runc', wanted='contrast-cc-metal-q')}"),
        (no_class, f"shop/web: {wording('CC1120.no-class', wanted='contrast-')}"),
        (no_policy, f"shop/web: {wording('CC1120.no-policy', wanted=digest('web'))}"),
        (broken_policy, f"shop/web: {wording('CC1120.unreadable')}"),
        (absent, "shop/web: the cluster has no such object"),
        (another_manifest, "shop/contrast-manifest: the cluster has manifest 44136fa355b3678a, but here it is "),
        (
            one_more,
            "shop/by-hand: the cluster runs it with runtime class contrast-cc-metal-qemu-snp-18a1a065, w",
        ),
        (
            no_runtime_class,
            "contrast-cc-metal-qemu-tdx-18a1a065: the cluster has no such RuntimeClass, so it refuses p",
        ),
    ],
)
def test_what_the_cluster_has_otherwise_is_named(
    check: Callable[..., Run], change: Callable[[Objects], None], says: str
) -> None:
    objects = cluster()
    change(objects)
    ran = check(objects)
    assert ran.code == 1
    assert f"error CC1120 {says}" in ran.stderr
    assert ran.stderr.count("error ") == 1


def of_another_release(objects: Objects) -> None:
    """A manifest of the namespace knows its policy."""
    every = {one["metadata"]["name"]: one for one in yaml.safe_load_all(OTHER.read_text())}
    objects["shop/deployments/by-hand"] = every["web"] | {"metadata": {"name": "by-hand", "namespace": "shop"}}
    objects["shop/configmaps/other"] = every["contrast-manifest"] | {"metadata": {"name": "other", "namespace": "shop"}}


def going(objects: Objects) -> None:
    one_more(objects)
    objects["shop/deployments/by-hand"]["metadata"]["deletionTimestamp"] = "2026-11-22T12:00:00Z"


def scaled(objects: Objects) -> None:
    web(objects)
    objects["shop/deployments/web"]["spec"]["replicas"] = 9


def defaulted(objects: Objects) -> None:
    for container in web(objects)["spec"]["containers"]:
        container["terminationMessagePath"] = "/dev/termination-log"


@pytest.mark.parametrize("change", [of_another_release, going, scaled, defaulted])
def test_what_is_no_difference(check: Callable[..., Run], change: Callable[[Objects], None]) -> None:
    objects = cluster()
    change(objects)
    ran = check(objects)
    assert ran.code == 0, ran.stderr


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({"overhead": {"podFixed": {"memory": "1Gi"}}}, "overhead.podFixed"),
        ({"scheduling": {"nodeSelector": {"zone": "a"}}}, "scheduling.nodeSelector"),
        ({"scheduling": {"tolerations": [{"operator": "Exists"}]}}, "scheduling.nodeSelector, scheduling.tolerations"),
        ({"overhead": {"podFixed": {"memory": "715128832"}}}, ""),
    ],
)
def test_a_class_that_was_patched_differs_from_that_of_the_configuration(
    check: Callable[..., Run], part: Objects, field: str
) -> None:
    objects = cluster()
    name = "contrast-cc-metal-qemu-snp-18a1a065"
    objects[f"v1/runtimeclasses/{name}"] |= part
    ran = check(objects, "--config", CONFIG)
    said = f"error CC1120 {name}: the cluster's RuntimeClass differs from the render's in: {field}\n"
    assert (ran.code, said in ran.stderr) == (int(bool(field)), bool(field))


def test_a_class_that_admission_would_not_merge_is_an_error_without_configuration(check: Callable[..., Run]) -> None:
    objects = cluster()
    name = "contrast-cc-metal-qemu-snp-18a1a065"
    objects[f"v1/runtimeclasses/{name}"]["handler"] = "runc"
    assert f"error CC1116 {name} handler: RuntimeClass {name} has the handler runc" in check(objects).stderr


def test_without_the_right_to_see_classes_all_else_is_compared(check: Callable[..., Run]) -> None:
    ran = check(cluster(), refused="runtimeclasses")
    assert ran.code == 0
    assert f"warning CC1121: {wording('CC1121', answer='403 Forbidden')}" in ran.stderr
    assert "RuntimeClasses admit" not in ran.stderr


@pytest.mark.parametrize("status", [403, 404])
def test_a_kind_that_cannot_be_listed_is_named_and_all_else_is_compared(
    check: Callable[..., Run], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = cluster()
    more_cpu(objects)
    monkeypatch.setattr(Api, "status", status)
    ran = check(objects, refused="statefulsets")
    answer = {403: "403 Forbidden", 404: "404 Not Found"}[status]
    said = wording("CC1180", names="StatefulSets", namespace="shop", answer=answer)
    assert f"error CC1180: {said}\n" in ran.stderr
    assert "error CC1120 shop/web: " in ran.stderr
    assert (ran.code, ran.stderr.count("error ")) == (1, 2), ran.stderr
    assert "compared with the cluster of context dev: 4 workloads" in ran.stderr
    assert "CANARY" not in ran.stderr


def test_a_custom_resource_that_cannot_be_listed_is_not_missing(check: Callable[..., Run], tmp_path: Path) -> None:
    """The role `view` has no custom resources."""
    rendered = tmp_path / "llm.yaml"
    rendered.write_bytes(called("generate", "-", *OPTIONS, stdin=stream(leader_worker_set("llm")).encode()).ok())
    ran = check({}, rendered=rendered, refused="leaderworkersets")
    assert (
        f"error CC1180: {wording('CC1180', names='LeaderWorkerSets', namespace='shop', answer='403 Forb')}"
        in ran.stderr
    )
    assert "CC1120 shop/llm" not in ran.stderr


def test_a_cluster_that_shows_nothing_is_an_error_of_the_environment(check: Callable[..., Run]) -> None:
    ran = check(cluster(), refused="namespaces/shop")
    assert (ran.code, ran.stderr.count("error "), "error CC1003: " in ran.stderr) == (3, 1, True), ran.stderr
