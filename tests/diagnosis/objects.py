"""The objects of one Deployment as a cluster has them: the sealed workload of the quickstart, its ReplicaSet, a pod."""

import copy
import functools
import json
from typing import Any

import yaml

from tests.hosts.running import EXAMPLES, Ran, called

Json = dict[str, Any]

RENDERED = EXAMPLES / "quickstart" / "expected" / "rendered.yaml"
NAME = "web-7c5ddbdf54-x2v9k"
NOT_READY = [{"type": "Ready", "status": "False"}]
BOUND = [{"type": "PodScheduled", "status": "True"}, *NOT_READY]


def rendered(kind: str, name: str) -> Json:
    """An object of the quickstart as it is rendered."""
    return copy.deepcopy(next(one for one in _objects() if (one["kind"], one["metadata"]["name"]) == (kind, name)))


@functools.cache
def _objects() -> list[Json]:
    return [one for one in yaml.load_all(RENDERED.read_text(), yaml.CSafeLoader) if one]


def manifest() -> Json:
    """The ConfigMap with the manifest of the quickstart."""
    return rendered("ConfigMap", "contrast-manifest")


def owned(value: Json, kind: str, version: str, name: str, owner: Json) -> Json:
    """An object that a controller made, with its uid."""
    reference = {key: owner[key] for key in ("apiVersion", "kind")}
    reference |= {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], "controller": True}
    metadata = {"namespace": "shop", **copy.deepcopy(value.get("metadata") or {}), "name": name, "uid": f"uid-{name}"}
    metadata["ownerReferences"] = [reference]
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": copy.deepcopy(value["spec"])}


def deployment() -> Json:
    """The Deployment `web` of the cluster."""
    value = rendered("Deployment", "web")
    value["metadata"]["uid"] = "uid-web"
    return value


def replica_set(owner: Json | None = None) -> Json:
    """Its ReplicaSet."""
    of = owner or deployment()
    return owned({"spec": of["spec"]}, "ReplicaSet", "apps/v1", "web-7c5ddbdf54", of)


def pod(owner: Json | None = None, name: str = NAME) -> Json:
    """A pod of it, as admission leaves it: bound to a node, with the token of its ServiceAccount."""
    of = owner or replica_set()
    made = owned(of["spec"]["template"], "Pod", "v1", name, of)
    made["metadata"]["labels"]["pod-template-hash"] = "7c5ddbdf54"
    made["metadata"]["creationTimestamp"] = "2026-11-24T10:00:00Z"
    made["spec"]["nodeName"] = "snp-1"
    made["spec"].setdefault("volumes", []).append(
        {"name": "kube-api-access-abcde", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}
    )
    for key in ("initContainers", "containers"):
        for container in made["spec"].get(key, []):
            mount = {"name": "kube-api-access-abcde", "readOnly": True}
            mounts = container.setdefault("volumeMounts", [])
            mounts.append({**mount, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"})
    return made


def status(value: Json, given: Json) -> Json:
    """A pod with a status in the short form of statuses.yaml."""
    short = dict(given)
    every = [one for key in ("initContainers", "containers") for one in value["spec"].get(key, [])]
    states: dict[str, Json] = {}
    for name, (reason, message) in short.pop("waiting", {}).items():
        states[name] = {"state": {"waiting": {"reason": reason, "message": message}}, "ready": False}
    for name in short.pop("running", []):
        states[name] = {"state": {"running": {"startedAt": "2026-11-24T10:00:09Z"}}, "ready": False}
    for name, (reason, code) in short.pop("crashed", {}).items():
        waiting = {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}
        last = {"terminated": {"exitCode": code, "reason": reason}}
        states[name] = {"state": {"waiting": waiting}, "lastState": last, "restartCount": 4, "ready": False}
    lists: dict[str, list[Json]] = {}
    for key, to in (("initContainers", "initContainerStatuses"), ("containers", "containerStatuses")):
        for one in value["spec"].get(key, []):
            if one["name"] in states:
                lists.setdefault(to, []).append({"name": one["name"], "image": one["image"], **states[one["name"]]})
    assert sum(map(len, lists.values())) == len(states), f"{[one['name'] for one in every]}"
    conditions = NOT_READY if not states and "conditions" not in short and short.get("phase") != "Failed" else BOUND
    out = {**value, "status": {"phase": "Pending", "conditions": conditions, **lists, **short}}
    if any(one["type"] == "PodScheduled" and one["status"] == "False" for one in out["status"]["conditions"]):
        out["spec"] = {key: part for key, part in value["spec"].items() if key != "nodeName"}
    return out


def event(about: Json, reason: str, message: str, time: str = "2026-11-24T10:01:00Z") -> Json:
    """An event about an object."""
    name = about["metadata"]["name"]
    involved = {"kind": about["kind"], "namespace": "shop", "name": name, "uid": about["metadata"]["uid"]}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{abs(hash((reason, message, time))):x}", "namespace": "shop"},
        "involvedObject": involved,
        "reason": reason,
        "message": message,
        "lastTimestamp": time,
        "type": "Warning",
    }


def why(*objects: Json, of: str = f"pod/{NAME}", options: tuple[str, ...] = ()) -> Ran:
    """What the command says of the objects, as `kubectl get -o yaml` prints them."""
    listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    return called("why", of, *options, stdin=json.dumps(listed).encode())
