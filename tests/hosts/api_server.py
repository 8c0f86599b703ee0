"""An API server of a few lines: it takes every object, keeps it under the path where it was sent, and runs nothing.

Helm needs no more to install a release, and the paths say into which namespace an object came.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import urlsplit

# group and version -> resource, kind, whether it belongs to a namespace
RESOURCES: dict[str, list[tuple[str, str, bool]]] = {
    "v1": [
        ("namespaces", "Namespace", False),
        ("services", "Service", True),
        ("serviceaccounts", "ServiceAccount", True),
        ("configmaps", "ConfigMap", True),
        ("secrets", "Secret", True),
        ("pods", "Pod", True),
        ("persistentvolumeclaims", "PersistentVolumeClaim", True),
    ],
    "apps/v1": [("deployments", "Deployment", True), ("statefulsets", "StatefulSet", True)],
    "batch/v1": [("jobs", "Job", True), ("cronjobs", "CronJob", True)],
    "rbac.authorization.k8s.io/v1": [("roles", "Role", True), ("rolebindings", "RoleBinding", True)],
    "node.k8s.io/v1": [("runtimeclasses", "RuntimeClass", False)],
}
RELEASE: Any = {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "release"}}  # Helm's own, sent as protobuf
VERBS = ["create", "get", "list", "patch", "update", "delete"]


class Server(NamedTuple):
    """objects: what was sent, by the path of its collection and its name."""

    kubeconfig: Path
    objects: dict[str, Any]

    def names(self) -> set[str]:
        """`namespace/resource/name` of each object; the namespace is "" for an object that belongs to none."""
        parts = [path.split("/namespaces/", 1) for path in self.objects]
        return {inside[-1] if len(inside) == 2 else "/" + "/".join(inside[0].split("/")[-2:]) for inside in parts}


@contextmanager
def api_server(directory: Path) -> Iterator[Server]:
    """Serve on a free port of this machine until the end of the block."""
    objects: dict[str, Any] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path in (known := _discovery()):
                self._answer(200, known[path])
            elif path in objects:
                self._answer(200, objects[path])
            elif path.rpartition("/")[2] in {name for group in RESOURCES.values() for name, _, _ in group}:
                self._answer(200, {"kind": "List", "apiVersion": "v1", "metadata": {}, "items": []})
            else:
                self._answer(404, _status(404, "NotFound"))

        def do_POST(self) -> None:
            value = self._body()
            if value is not RELEASE:
                objects[f"{urlsplit(self.path).path}/{value['metadata']['name']}"] = value
            self._answer(201, value)

        def do_PATCH(self) -> None:
            value = objects[urlsplit(self.path).path] = self._body()
            self._answer(200, value)

        def do_PUT(self) -> None:
            self._body()
            self._answer(200, RELEASE)

        def _body(self) -> Any:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            return json.loads(data) if "json" in self.headers["Content-Type"] or data[:1] == b"{" else RELEASE

        def _answer(self, code: int, value: Any) -> None:
            data = json.dumps(value).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Server(_kubeconfig(directory, server.server_address[1]), objects)
    finally:
        server.shutdown()
        server.server_close()


def _kubeconfig(directory: Path, port: int) -> Path:
    path = directory / "kubeconfig"
    cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}
    context = {"name": "c", "context": {"cluster": "c", "user": ""}}
    head = {"apiVersion": "v1", "kind": "Config", "current-context": "c"}
    path.write_text(json.dumps({**head, "clusters": [cluster], "contexts": [context], "users": []}))
    return path


def _status(code: int, reason: str) -> Any:
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code}


def _discovery() -> dict[str, Any]:
    groups = [version.split("/") for version in RESOURCES if "/" in version]
    answers: dict[str, Any] = {
        "/version": {"major": "1", "minor": "36", "gitVersion": "v1.36.3"},
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": [
                {
                    "name": group,
                    "versions": [{"groupVersion": f"{group}/{version}", "version": version}],
                    "preferredVersion": {"groupVersion": f"{group}/{version}", "version": version},
                }
                for group, version in groups
            ],
        },
    }
    for version, resources in RESOURCES.items():
        answers[f"/{'apis' if '/' in version else 'api'}/{version}"] = {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": version,
            "resources": [
                {"name": name, "singularName": "", "kind": kind, "namespaced": namespaced, "verbs": VERBS}
                for name, kind, namespaced in resources
            ],
        }
    return answers
