"""Pods without the fields that genpolicy 4.1 does not know and ends at: docs/facts/kata.md#pod-fields.

Rule of this file: what a pod has besides stays as it is, so that a pod of ours becomes one that both generators read.
"""

import copy
from collections.abc import Mapping
from typing import Any

from krm_function.kubernetes.objects import mapping, maps
from krm_function.policy.expansion import CONTROLLED

Json = dict[str, Any]


def _any(names: str) -> Json:
    return dict.fromkeys(names.split())


EXEC = {"exec": None}
PROBE = {
    **EXEC,
    **_any("httpGet tcpSocket grpc initialDelaySeconds timeoutSeconds periodSeconds"),
    "failureThreshold": None,
}
SECURITY = _any(
    "readOnlyRootFilesystem allowPrivilegeEscalation privileged capabilities runAsUser runAsGroup seccompProfile"
)
# a shape: None keeps all; a map keeps its names; a list has one shape for its entries
CONTAINER: Json = {
    **_any("name image imagePullPolicy env envFrom resources ports command args restartPolicy stdin tty"),
    **_any("terminationMessagePath terminationMessagePolicy"),
    **dict.fromkeys(("livenessProbe", "readinessProbe", "startupProbe"), PROBE),
    "lifecycle": {"postStart": EXEC, "preStop": EXEC},
    "securityContext": SECURITY,
    "volumeMounts": [_any("mountPath name mountPropagation readOnly")],
    "volumeDevices": [_any("devicePath name")],
}
POD: Json = {
    "containers": [CONTAINER],
    "initContainers": [CONTAINER],
    "securityContext": _any("runAsUser runAsGroup fsGroup supplementalGroups sysctls"),
    "volumes": [
        {
            "name": None,
            "emptyDir": _any("medium sizeLimit"),
            "hostPath": _any("path type"),
            "persistentVolumeClaim": _any("claimName"),
            "configMap": _any("name items optional"),
            "secret": _any("secretName defaultMode items optional"),
            "azureFile": _any("secretName shareName readOnly"),
            "downwardAPI": {"items": [_any("path fieldRef")]},
        }
    ],
    **_any("nodeSelector restartPolicy runtimeClassName imagePullSecrets affinity nodeName serviceAccountName"),
    **_any("terminationGracePeriodSeconds tolerations hostname hostNetwork shareProcessNamespace dnsPolicy"),
}
FIELD_PATHS = ("metadata.", "status.hostIP", "status.podIP", "spec.nodeName", "spec.serviceAccountName")
UNKNOWN = ("status.hostIPs", "status.podIPs", *(f"metadata.labels['{key}']" for _, key in CONTROLLED))


def reduced(spec: Json) -> Json:
    """Drop the fields of a pod spec that genpolicy does not know, and the volumes of which nothing is left."""
    out: Json = _kept(POD, copy.deepcopy(spec))
    volumes = [one for one in maps(out.get("volumes")) if len(one) > 1]
    if "volumes" in out:
        out["volumes"] = volumes
    known = {one["name"] for one in volumes}
    claims = {one["name"] for one in volumes if "persistentVolumeClaim" in one}
    for container in containers(out):
        for key, names in (("volumeMounts", known), ("volumeDevices", claims)):
            if key in container:
                container[key] = [one for one in maps(container[key]) if one.get("name") in names]
        if "envFrom" in container:
            container["envFrom"] = [one for one in maps(container["envFrom"]) if not _is_optional(one)]
        if "env" in container:
            container["env"] = [one for one in maps(container["env"]) if _is_known(mapping(one.get("valueFrom")))]
            for entry in container["env"]:
                field = mapping(mapping(entry.get("valueFrom")).get("resourceFieldRef"))
                for key in ("containerName", "divisor"):
                    field.pop(key, None)
    return out


def containers(spec: Json) -> list[Json]:
    """All containers of a pod spec, in the order in which it names them."""
    return [*maps(spec.get("initContainers")), *maps(spec.get("containers"))]


def _is_known(source: Mapping[str, Any]) -> bool:
    path = mapping(source.get("fieldRef")).get("fieldPath")
    if _is_optional(source):
        return False
    return path is None or (str(path).startswith(FIELD_PATHS) and path not in UNKNOWN)


def _is_optional(source: Mapping[str, Any]) -> bool:
    """Whether a reference may lead nowhere, at which genpolicy ends."""
    return any(mapping(one).get("optional") for one in source.values())


def _kept(shape: Any, value: Any) -> Any:
    if isinstance(shape, dict) and isinstance(value, dict):
        return {key: _kept(shape[key], one) for key, one in value.items() if key in shape}
    if isinstance(shape, list) and isinstance(value, list):
        return [_kept(shape[0], one) for one in value]
    return value
