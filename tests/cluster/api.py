"""A client of the API server: JSON over one TLS connection for each thread, and no rule of Kubernetes."""

import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote

Json = dict[str, Any]

# kind -> the path of its group and version, and its resource
RESOURCES = {
    "Namespace": ("/api/v1", "namespaces"),
    "Node": ("/api/v1", "nodes"),
    "RuntimeClass": ("/apis/node.k8s.io/v1", "runtimeclasses"),
    "Pod": ("/api/v1", "pods"),
    "Service": ("/api/v1", "services"),
    "ServiceAccount": ("/api/v1", "serviceaccounts"),
    "ConfigMap": ("/api/v1", "configmaps"),
    "Secret": ("/api/v1", "secrets"),
    "PersistentVolume": ("/api/v1", "persistentvolumes"),
    "PersistentVolumeClaim": ("/api/v1", "persistentvolumeclaims"),
    "ReplicationController": ("/api/v1", "replicationcontrollers"),
    "Deployment": ("/apis/apps/v1", "deployments"),
    "DaemonSet": ("/apis/apps/v1", "daemonsets"),
    "ReplicaSet": ("/apis/apps/v1", "replicasets"),
    "StatefulSet": ("/apis/apps/v1", "statefulsets"),
    "Job": ("/apis/batch/v1", "jobs"),
    "CronJob": ("/apis/batch/v1", "cronjobs"),
    "Role": ("/apis/rbac.authorization.k8s.io/v1", "roles"),
    "ResourceQuota": ("/api/v1", "resourcequotas"),
    "LimitRange": ("/api/v1", "limitranges"),
    "PriorityClass": ("/apis/scheduling.k8s.io/v1", "priorityclasses"),
    "MutatingWebhookConfiguration": ("/apis/admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations"),
    "MutatingAdmissionPolicy": ("/apis/admissionregistration.k8s.io/v1", "mutatingadmissionpolicies"),
    "MutatingAdmissionPolicyBinding": ("/apis/admissionregistration.k8s.io/v1", "mutatingadmissionpolicybindings"),
    "RoleBinding": ("/apis/rbac.authorization.k8s.io/v1", "rolebindings"),
}


class Refused(Exception):
    """The API server did not do what a test needs; no AssertionError, which a test may be expected to raise."""


class Answer(NamedTuple):
    """Status code and body."""

    code: int
    value: Any

    @property
    def message(self) -> str:
        """What a Status says."""
        return str(self.value.get("message", "")) if isinstance(self.value, dict) else ""

    def ok(self) -> Any:
        """The body of a call that has to succeed."""
        if self.code >= 300:
            raise Refused(f"{self.code}: {self.message}")
        return self.value


class Api:
    """The API server of one control plane."""

    def __init__(self, port: int, authority: str, token: str) -> None:
        self.port = port
        self._context = ssl.create_default_context(cafile=authority)
        self._headers = {"Authorization": f"Bearer {token}"}
        self._mine = threading.local()

    def __call__(self, method: str, path: str, body: Any = None, form: str = "application/json") -> Answer:
        """Send one request; a connection that the server has closed is opened again, once."""
        data = None if body is None else json.dumps(body)
        for last in (False, True):
            if not hasattr(self._mine, "connection"):
                made = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=self._context)
                self._mine.connection = made
            try:
                self._mine.connection.request(method, path, data, {**self._headers, "Content-Type": form})
                reply = self._mine.connection.getresponse()
                text = reply.read()
                return Answer(reply.status, json.loads(text) if text[:1] == b"{" else text.decode())
            except (http.client.HTTPException, OSError):
                self.close()
                if last:
                    raise
        raise AssertionError

    def close(self) -> None:
        """Close the connection of this thread."""
        if hasattr(self._mine, "connection"):
            self._mine.connection.close()
            del self._mine.connection

    def create(self, value: Json, query: str = "") -> Answer:
        """Create an object; query: `?dryRun=All`."""
        namespace = value["metadata"].get("namespace", "")
        return self("POST", collection(value["kind"], namespace) + query, value)

    def get(self, kind: str, name: str, namespace: str = "") -> Answer:
        """Get an object."""
        return self("GET", one(kind, name, namespace))

    def items(self, kind: str, namespace: str = "") -> list[Json]:
        """Every object of a kind, of one namespace or of all."""
        found: list[Json] = self("GET", collection(kind, namespace)).ok()["items"]
        return found

    def patch(self, kind: str, name: str, body: Json, namespace: str = "", part: str = "") -> Answer:
        """Merge some fields into an object. part: `/status`."""
        return self("PATCH", one(kind, name, namespace) + part, body, "application/merge-patch+json")

    def delete(self, kind: str, name: str, namespace: str = "") -> Answer:
        """Delete an object now."""
        return self("DELETE", one(kind, name, namespace), delete_now())

    def delete_all(self, kind: str, namespace: str) -> Answer:
        """Delete every object of a kind in a namespace now."""
        return self("DELETE", collection(kind, namespace), delete_now())


def collection(kind: str, namespace: str = "") -> str:
    """The path of the objects of a kind."""
    base, resource = RESOURCES[kind]
    return f"{base}/namespaces/{namespace}/{resource}" if namespace else f"{base}/{resource}"


def one(kind: str, name: str, namespace: str = "") -> str:
    """The path of an object."""
    return f"{collection(kind, namespace)}/{quote(name)}"


def delete_now() -> Json:
    """No grace period, and the garbage collector takes what the object owns."""
    return {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "propagationPolicy": "Background"}


def until(what: str, found: Callable[[], Any], seconds: float = 60) -> Any:
    """The first answer that is not falsy; an error that says what was waited for."""
    end = time.monotonic() + seconds
    while not (answer := found()):
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} seconds for {what}")
        time.sleep(0.05)
    return answer
