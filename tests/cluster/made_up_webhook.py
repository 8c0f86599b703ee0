"""A mutating webhook over HTTPS on a port of this machine, as a service mesh or a platform team runs one.

Rule of this file: it does to each pod what a test has told it, by JSON patch; its certificate is of the control plane's
own authority, which the API server is told to believe.
"""

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.cluster.api import Api, Json, until

NAME = "sidecar.example.com"
CONFIGURATION = "injector"
Patch = Callable[[Json], list[Json]]  # a pod -> operations of a JSON patch


def sidecar(pod: Json) -> list[Json]:
    """What a service mesh adds: a container, an init container, a volume."""
    init = {"op": "add", "path": "/spec/initContainers", "value": []}
    return [
        *([] if pod["spec"].get("initContainers") else [init]),
        {"op": "add", "path": "/spec/containers/-", "value": {"name": "istio-proxy", "image": "istio/proxyv2:1"}},
        {"op": "add", "path": "/spec/initContainers/-", "value": {"name": "istio-init", "image": "istio/proxyv2:1"}},
    ]


def variable(_: Json) -> list[Json]:
    """A variable of the first container, whose list of variables may be missing."""
    return [{"op": "add", "path": "/spec/containers/0/env", "value": [{"name": "HTTP_PROXY", "value": "http://p"}]}]


def volume(_: Json) -> list[Json]:
    """A volume of the node, and its mount."""
    source = {"name": "shim", "hostPath": {"path": "/shim"}}
    return [
        {"op": "add", "path": "/spec/volumes/-", "value": source},
        {"op": "add", "path": "/spec/containers/0/volumeMounts/-", "value": {"name": "shim", "mountPath": "/shim"}},
    ]


@contextmanager
def made_up_webhook(api: Api, certificates: Path, patch: Patch, *, side_effects: str = "None") -> Iterator[None]:
    """Run the webhook for a block, for namespaces with the label `injection: enabled`."""

    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = review["request"]
            response: Json = {"uid": request["uid"], "allowed": True}
            operations = json.dumps(patch(request["object"])).encode()
            response |= {"patchType": "JSONPatch", "patch": base64.b64encode(operations).decode()}
            body = json.dumps({**{key: review[key] for key in ("apiVersion", "kind")}, "response": response}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "server.crt", certificates / "server.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    authority = base64.b64encode((certificates / "ca.crt").read_bytes()).decode()
    url = f"https://127.0.0.1:{server.server_port}/mutate"
    try:
        api.create(_configuration(url, authority, side_effects)).ok()
        yield
    finally:
        api.delete("MutatingWebhookConfiguration", CONFIGURATION)
        server.shutdown()
        server.server_close()


def _configuration(url: str, authority: str, side_effects: str) -> Json:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    webhook = {
        "name": NAME,
        "clientConfig": {"url": url, "caBundle": authority},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"injection": "enabled"}},
        "sideEffects": side_effects,
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 10,
    }
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration"}
    return {**head, "metadata": {"name": CONFIGURATION}, "webhooks": [webhook]}


def until_asked(api: Api, namespace: str, changed: Callable[[Json], bool]) -> None:
    """Wait until the API server has seen the configuration: it changes pods of a namespace."""
    spec = {"containers": [{"name": "c", "image": "i", "volumeMounts": []}], "volumes": []}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe", "namespace": namespace}, "spec": spec}
    until("the admission of pods", lambda: changed(api.create(pod, "?dryRun=All").value))
