"""Node objects as nodes that have joined would look, and the pods on them gone when they go."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.cluster.api import Api, Json, until

PODS = {"pods": "110"}


@contextmanager
def made_up_nodes(api: Api, nodes: Sequence[Json]) -> Iterator[list[Json]]:
    """Create nodes for a block: labels, taints, `unschedulable` and `allocatable` as given; the objects as stored."""
    try:
        for node in nodes:
            join(api, node)
        yield [api.get("Node", node["metadata"]["name"]).ok() for node in nodes]
    finally:
        for node in nodes:
            api.delete("Node", node["metadata"]["name"])


def join(api: Api, node: Json) -> None:
    """Create one node that is ready. The API server taints a new one as not ready, so its taints are set afterwards."""
    name, spec = node["metadata"]["name"], node.get("spec") or {}
    status: Json = dict(node.get("status") or {})
    status["allocatable"] = status["capacity"] = {**PODS, **status.get("allocatable", {})}
    status["conditions"] = [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}]
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, **(node["metadata"].get("labels") or {})}}
    api.create({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {}}).ok()
    api.patch("Node", name, {"status": status}, part="/status").ok()
    wanted = {"taints": spec.get("taints") or None, "unschedulable": spec.get("unschedulable")}
    until(f"the taints of {name}", lambda: _has(api, name, wanted))


def _has(api: Api, name: str, wanted: Json) -> bool:
    """Set taints and cordon, and whether they are as wanted; the node controller may write them at the same time."""
    answer: Any = api.patch("Node", name, {"spec": wanted}).ok()
    return all((answer["spec"].get(key) or None) == (value or None) for key, value in wanted.items())
