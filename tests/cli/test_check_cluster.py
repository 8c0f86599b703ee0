"""`check --cluster`: what a cluster has otherwise than a committed render, object by object."""

import copy
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from tests.cli.test_plan import kubeconfig
from tests.failures.running import Run, Zygote
from tests.hosts.running import EXAMPLES

RENDERED = EXAMPLES / "quickstart/expected/rendered.yaml"
Objects = dict[str, Any]


class Api(BaseHTTPRequestHandler):
    """As much of the API server as answers for one object at a time."""

    objects: ClassVar[Objects] = {}
    status = 200

    def do_GET(self) -> None:
        found = self.objects.get("/".join(self.path.split("/")[-3:]))
        self.send_response(self.status if found or self.status != 200 else 404)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(found or {"kind": "Status"}).encode())

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


def cluster() -> Objects:
    """The rendered quickstart by namespace, plural and name."""
    values = yaml.safe_load_all(RENDERED.read_text())
    return {
        f"{one['metadata'].get('namespace')}/{one['kind'].lower()}s/{one['metadata']['name']}": one for one in values
    }


@pytest.fixture
def check(tmp_path: Path, call: Zygote) -> Iterator[Callable[..., Run]]:
    answer = type("Answer", (Api,), {})
    server = HTTPServer(("127.0.0.1", 0), answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def run(objects: Objects, status: int = 200) -> Run:
        vars(Api)["objects"].clear()
        vars(Api)["objects"].update(objects)
        answer.status = status  # type: ignore[attr-defined]
        variables = kubeconfig(tmp_path, server.server_port)
        return call("check", "--cluster", str(RENDERED), directory=tmp_path, variables=variables)

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


def another_render(objects: Objects) -> None:
    key = "io.katacontainers.config.hypervisor.cc_init_data"
    other = objects["shop/deployments/recommendations"]["spec"]["template"]["metadata"]["annotations"][key]
    web(objects)["metadata"]["annotations"][key] = other


def another_image(objects: Objects) -> None:
    web(objects)["spec"]["containers"][0]["image"] = "registry.example.com/evil@sha256:" + "0" * 64


def another_class(objects: Objects) -> None:
    web(objects)["spec"]["runtimeClassName"] = "runc"


def no_policy(objects: Objects) -> None:
    del web(objects)["metadata"]["annotations"]["io.katacontainers.config.hypervisor.cc_init_data"]


def absent(objects: Objects) -> None:
    del objects["shop/deployments/web"]


def another_manifest(objects: Objects) -> None:
    key = "shop/configmaps/contrast-manifest"
    objects[key] = {**objects[key], "data": {"manifest.json": "{}"}}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (another_render, "CC1120 shop/web: the cluster runs it with policy "),
        (another_image, "CC1103 shop/web spec.template.spec: the pod is not what its policy describes: web: image"),
        (another_class, "CC1120 shop/web: the cluster runs it with runtime class runc"),
        (no_policy, "CC1120 shop/web: the policy that the cluster runs it with cannot be read"),
        (absent, "CC1120 shop/web: the cluster has no such object"),
        (another_manifest, "CC1120 shop/contrast-manifest: the cluster has another manifest than this output"),
    ],
)
def test_what_the_cluster_has_otherwise_is_named(
    check: Callable[..., Run], change: Callable[[Objects], None], says: str
) -> None:
    objects = cluster()
    change(objects)
    ran = check(objects)
    assert ran.code == 1
    assert f"error {says}" in ran.stderr


def test_a_cluster_that_refuses_is_an_error(check: Callable[..., Run]) -> None:
    ran = check(cluster(), 403)
    assert "error CC1003: the cluster cannot be asked: it answered 403 Forbidden" in ran.stderr
    assert "CANARY" not in ran.stderr
    assert ran.code == 3
