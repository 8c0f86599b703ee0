"""The Secret of a Helm release: what the post-renderer says of its size is what real Helm sends to the API server."""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from helm_plugin.release_size import LIMIT, NEARLY, may_be_large, release_size
from tests.hosts.hosts import CHART, COMMAND, CONFIG, POST_RENDER, put, quickstart
from tests.hosts.many_workloads import many_workloads
from tests.hosts.running import Machine, called

GROUPS = {
    "apps/v1": ["Deployment", "StatefulSet", "DaemonSet"],
    "batch/v1": ["Job", "CronJob"],
    "node.k8s.io/v1": ["RuntimeClass"],
    "rbac.authorization.k8s.io/v1": ["Role", "RoleBinding"],
}
CORE = ["ConfigMap", "Namespace", "Pod", "Secret", "Service", "ServiceAccount"]


CLUSTER_WIDE = {"Namespace", "RuntimeClass"}


def plural(kind: str) -> str:
    return f"{kind.lower()}{'es' if kind.endswith('s') else 's'}"


def discovery(version: str, kinds: list[str]) -> dict[str, object]:
    resources = [
        {"name": plural(kind), "kind": kind, "namespaced": kind not in CLUSTER_WIDE, "verbs": ["create"]}
        for kind in kinds
    ]
    return {"kind": "APIResourceList", "groupVersion": version, "resources": resources}


class Api(BaseHTTPRequestHandler):
    """As much of an API server as `helm install` asks: it has nothing, and accepts everything."""

    releases: ClassVar[list[bytes]] = []

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        group = path.removeprefix("/apis/")
        if path == "/version":
            self.answer({"major": "1", "minor": "34", "gitVersion": "v1.34.0"})
        elif path == "/api":
            self.answer({"kind": "APIVersions", "versions": ["v1"]})
        elif path == "/apis":
            versions = [{"groupVersion": name, "version": "v1"} for name in GROUPS]
            groups = [
                {"name": str(one["groupVersion"])[:-3], "versions": [one], "preferredVersion": one} for one in versions
            ]
            self.answer({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
        elif path == "/api/v1":
            self.answer(discovery("v1", CORE))
        elif group in GROUPS:
            self.answer(discovery(group, GROUPS[group]))
        elif path.endswith("/secrets"):
            self.answer({"kind": "SecretList", "apiVersion": "v1", "items": []})
        else:
            status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
            self.answer(status, 404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if body.startswith(b"k8s\0"):  # protobuf, in which Helm's base64 stands as it is
            self.releases.append(max(re.findall(rb"[A-Za-z0-9+/=]{1000,}", body), key=len))
            self.answer({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "release"}}, 201)
        else:
            self.answer(json.loads(body), 201)

    def answer(self, value: object, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing on standard error."""


@pytest.fixture
def api() -> Iterator[ThreadingHTTPServer]:
    Api.releases.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def chart_of(directory: Path, count: int) -> Path:
    """The quickstart beside a template of so many confidential workloads, each with values of its own."""
    shop = quickstart()
    many = many_workloads(count)
    put(directory / "chart", {"Chart.yaml": CHART})
    put(directory / "chart/templates", {**shop.resources, "many.yaml": many})
    put(directory / "config", shop.config)
    return directory


def install(machine: Machine, chart: Path, api: ThreadingHTTPServer, helm: str) -> None:
    """`helm install` with the post-renderer, against the made-up API server; leaves what it stored in Api.releases."""
    server = f"http://127.0.0.1:{api.server_port}"
    command = ["helm", "install", "shop", "chart", "-n", "shop", "--no-hooks", "--kube-apiserver", server]
    command += ["--disable-openapi-validation", *POST_RENDER, *(COMMAND if helm == "helm3" else ()), *CONFIG]
    machine.run(command, chart, helm=helm)  # fails with Helm 3, after it has stored the release


@pytest.mark.parametrize("helm", ["helm3", "helm4"])
def test_the_estimate_is_what_helm_stores_without_the_chart(
    krm_machine: Machine, tmp_path: Path, api: ThreadingHTTPServer, helm: str
) -> None:
    chart = chart_of(tmp_path, 12)
    template = ["helm", "template", "shop", "chart", "-n", "shop", "--no-hooks", *POST_RENDER]
    command = [*template, *(COMMAND if helm == "helm3" else ()), *CONFIG]
    output = krm_machine.run(command, chart, helm=helm).ok()
    install(krm_machine, chart, api, helm)
    stored = len(Api.releases[0])
    estimate = release_size([output])
    assert estimate <= stored < estimate * 1.1 + 8_000


def noise(size: int) -> bytes:
    """Bytes that do not compress, the same each time."""
    return hashlib.shake_128(b"noise").digest(size)


def large(size: int) -> bytes:
    """A ConfigMap that Helm stores in about so many bytes."""
    text = base64.b64encode(noise(size * 3 // 4)).decode()
    return f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: large}}\ndata: {{text: {text}}}\n".encode()


@pytest.mark.parametrize(("size", "warned"), [(LIMIT // 2, False), (LIMIT * 9 // 10, True)])
def test_an_output_that_nearly_fills_the_secret_is_a_warning(tmp_path: Path, size: int, *, warned: bool) -> None:
    shop = quickstart()
    put(tmp_path, shop.config)
    stream = b"".join(f"---\n{text}".encode() for text in shop.resources.values()) + large(size)
    ran = called("post-render", "--config", str(tmp_path), stdin=stream)
    assert release_size([ran.ok()]) >= size
    assert ("warning CC1004: Helm stores this output" in ran.err) == warned


def test_a_text_far_beyond_the_limit_is_not_packed_to_its_end() -> None:
    taken: list[int] = []

    def pieces() -> Iterator[bytes]:
        for index in range(100):
            taken.append(index)
            yield noise(LIMIT // 4)

    assert LIMIT < release_size(pieces()) < 2 * LIMIT
    assert len(taken) < 10


@pytest.mark.parametrize("size", [1, 1000, NEARLY * 3 // 4 - 1000])
def test_a_text_that_is_not_measured_is_small(size: int) -> None:
    assert not may_be_large(size)
    assert release_size([noise(size)]) < NEARLY
