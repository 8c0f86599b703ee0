"""Say who wrote a part of an object last, as its managedFields have it.

Rule of this file: pure. Only entries about the spec count, and controllers of Kubernetes itself are not named, since
they write what they are told to. A name there is what a client says of itself.
Source: docs/facts/kubernetes.md#managed-fields.
"""

from typing import Any

from krm_function.model.lookup import mapping, maps

KUBERNETES = ("kube-controller-manager", "kube-scheduler", "kubelet", "k3s", "cloud-controller-manager")
LONGEST = 40  # characters of a name in a sentence


def writers(fields: Any) -> list[dict[str, Any]]:
    """Return what is needed of managedFields: manager and time of each entry about the spec."""
    return [
        {"manager": one.get("manager"), "time": one.get("time")}
        for one in maps(fields)
        if "f:spec" in mapping(one.get("fieldsV1"))
    ]


def last_writer(value: Any) -> str:
    """Name who wrote the spec of an object last, "" if nothing but Kubernetes is known to have."""
    entries = maps(mapping(mapping(value).get("metadata")).get("managedFields"))
    named = [(str(one.get("time") or ""), str(one.get("manager") or "")) for one in entries]
    others = [(time, name) for time, name in named if name and name not in KUBERNETES]
    return max(others)[1][:LONGEST] if others else ""
