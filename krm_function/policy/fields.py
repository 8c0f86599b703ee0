"""Every field of a pod spec, and what the policy does with it: the one table of coverage.

Rule of this file: a field of the Kubernetes API (1.35) is in the table or it is unknown; nothing of a pod is ever
passed over in silence. Three uses:

    policy    read by the generator: it changes policy_data
    inert     cannot change what the host asks of the guest beyond what the rules allow anyway
    refused   could change it in a way that is not generated yet: CC0601, unless it has the value Kubernetes assumes
              anyway (`harmless`), e.g. hostPID: false

A second engineer reads a decision here, not out of the code. Sources: genpolicy.md 4 and Appendix D.
"""

from typing import Any, Literal, NamedTuple

from krm_function.findings import Finding, Path, Ref, dotted, finding
from krm_function.model.objects import a_type

Use = Literal["policy", "inert", "refused"]


class Field(NamedTuple):
    """One field: its use, its shape ("" is any, "[X]" a list of X) and the values of a refused one that say nothing."""

    use: Use
    shape: str = ""
    harmless: tuple[Any, ...] = ()
    required: bool = False


def _policy(shape: str, *, required: bool = False) -> Field:
    return Field("policy", shape, (), required)


def _refused(*harmless: Any) -> Field:
    return Field("refused", "", harmless)


INERT = Field("inert")
TEXT = _policy("string")
NEEDED = _policy("string", required=True)
TEXTS = _policy("[string]")
NUMBER = _policy("integer")
FLAG = _policy("boolean")
REFUSED = _refused()
DEVICE_ONLY = Field("policy", "map")  # a volume that may be used through volumeDevices only: see mounts.py

TYPES: dict[str, dict[str, Field]] = {
    "PodSpec": {
        "activeDeadlineSeconds": INERT,
        "affinity": INERT,
        "automountServiceAccountToken": INERT,  # the token's mount is allowed in every workload container
        "containers": Field("policy", "[Container]", required=True),
        "dnsConfig": INERT,
        "dnsPolicy": INERT,
        "enableServiceLinks": INERT,  # service variables are allowed by allow_env_regex
        "ephemeralContainers": _refused([]),
        "hostAliases": INERT,  # /etc/hosts is a file of the host in any case
        "hostIPC": _refused(False),
        "hostNetwork": FLAG,
        "hostPID": _refused(False),
        "hostUsers": _refused(True),
        "hostname": INERT,  # HOSTNAME may have any value
        "hostnameOverride": INERT,
        "imagePullSecrets": INERT,
        "initContainers": _policy("[Container]"),
        "nodeName": INERT,
        "nodeSelector": INERT,
        "os": _refused({"name": "linux"}, {}),
        "overhead": INERT,
        "preemptionPolicy": INERT,
        "priority": INERT,
        "priorityClassName": INERT,
        "readinessGates": INERT,
        "resourceClaims": _refused([]),  # a claim brings devices
        "resources": INERT,  # of the pod as a whole: cpu, memory and hugepages only
        "restartPolicy": INERT,
        "runtimeClassName": INERT,
        "schedulerName": INERT,
        "schedulingGates": INERT,
        "securityContext": _policy("PodSecurityContext"),
        "serviceAccount": TEXT,
        "serviceAccountName": TEXT,
        "setHostnameAsFQDN": INERT,
        "shareProcessNamespace": FLAG,
        "subdomain": INERT,
        "terminationGracePeriodSeconds": INERT,
        "tolerations": INERT,
        "topologySpreadConstraints": INERT,
        "volumes": _policy("[Volume]"),
        "workloadRef": INERT,
    },
    "Container": {
        "args": TEXTS,
        "command": TEXTS,
        "env": _policy("[EnvVar]"),
        "envFrom": _policy("[EnvFromSource]"),
        "image": NEEDED,
        "imagePullPolicy": INERT,
        "lifecycle": _policy("Lifecycle"),
        "livenessProbe": _policy("Probe"),
        "name": NEEDED,
        "ports": INERT,
        "readinessProbe": _policy("Probe"),
        "resizePolicy": INERT,
        "resources": _policy("ResourceRequirements"),
        "restartPolicy": INERT,  # Always on an init container makes it a sidecar; its container is the same
        "restartPolicyRules": INERT,
        "securityContext": _policy("SecurityContext"),
        "startupProbe": _policy("Probe"),
        "stdin": INERT,  # what may be written to it is WriteStreamRequest's matter
        "stdinOnce": INERT,
        "terminationMessagePath": TEXT,
        "terminationMessagePolicy": INERT,
        "tty": FLAG,
        "volumeDevices": _policy("[VolumeDevice]"),
        "volumeMounts": _policy("[VolumeMount]"),
        "workingDir": TEXT,
    },
    "PodSecurityContext": {
        "appArmorProfile": INERT,  # the profile is the host's; the guest has none
        "fsGroup": NUMBER,
        "fsGroupChangePolicy": INERT,  # no effect on emptyDir, configMap and secret volumes
        "runAsGroup": NUMBER,
        "runAsNonRoot": INERT,
        "runAsUser": NUMBER,
        "seLinuxChangePolicy": INERT,
        "seLinuxOptions": _refused({}),
        "seccompProfile": INERT,
        "supplementalGroups": _policy("[integer]"),
        "supplementalGroupsPolicy": _refused("Merge"),
        "sysctls": _policy("[Sysctl]"),
        "windowsOptions": _refused({}),
    },
    "SecurityContext": {
        "allowPrivilegeEscalation": FLAG,
        "appArmorProfile": INERT,
        "capabilities": _policy("Capabilities"),
        "privileged": FLAG,
        "procMount": _refused("Default", ""),
        "readOnlyRootFilesystem": FLAG,
        "runAsGroup": NUMBER,
        "runAsNonRoot": INERT,
        "runAsUser": NUMBER,
        "seLinuxOptions": _refused({}),
        "seccompProfile": INERT,
        "windowsOptions": _refused({}),
    },
    "Capabilities": {"add": TEXTS, "drop": TEXTS},
    "Sysctl": {"name": NEEDED, "value": NEEDED},
    "EnvVar": {"name": NEEDED, "value": TEXT, "valueFrom": _policy("EnvVarSource")},
    "EnvVarSource": {
        "configMapKeyRef": _policy("KeySelector"),
        "fieldRef": _policy("FieldSelector"),
        "fileKeyRef": REFUSED,
        "resourceFieldRef": _policy("ResourceSelector"),
        "secretKeyRef": _policy("KeySelector"),
    },
    "KeySelector": {"key": NEEDED, "name": NEEDED, "optional": FLAG},
    "FieldSelector": {"apiVersion": INERT, "fieldPath": NEEDED},
    "ResourceSelector": {"containerName": INERT, "divisor": INERT, "resource": INERT},
    "EnvFromSource": {"configMapRef": _policy("EnvSource"), "prefix": TEXT, "secretRef": _policy("EnvSource")},
    "EnvSource": {"name": NEEDED, "optional": FLAG},
    "ResourceRequirements": {"claims": _refused([]), "limits": _policy("map"), "requests": INERT},
    "VolumeDevice": {"devicePath": NEEDED, "name": NEEDED},
    "VolumeMount": {
        "mountPath": NEEDED,
        "mountPropagation": TEXT,
        "name": NEEDED,
        "readOnly": FLAG,
        "recursiveReadOnly": _refused("Disabled"),
        "subPath": _refused(""),
        "subPathExpr": _refused(""),
    },
    "Probe": {
        "exec": _policy("ExecAction"),
        "failureThreshold": INERT,
        "grpc": INERT,
        "httpGet": INERT,
        "initialDelaySeconds": INERT,
        "periodSeconds": INERT,
        "successThreshold": INERT,
        "tcpSocket": INERT,
        "terminationGracePeriodSeconds": INERT,
        "timeoutSeconds": INERT,
    },
    "Lifecycle": {"postStart": _policy("Handler"), "preStop": _policy("Handler"), "stopSignal": INERT},
    "Handler": {"exec": _policy("ExecAction"), "httpGet": INERT, "sleep": INERT, "tcpSocket": INERT},
    "ExecAction": {"command": TEXTS},
    "Volume": {
        "awsElasticBlockStore": REFUSED,
        "azureDisk": REFUSED,
        "azureFile": REFUSED,
        "cephfs": REFUSED,
        "cinder": REFUSED,
        "configMap": _policy("ConfigMapVolume"),
        "csi": REFUSED,
        "downwardAPI": REFUSED,
        "emptyDir": _policy("EmptyDir"),
        "ephemeral": DEVICE_ONLY,
        "fc": REFUSED,
        "flexVolume": REFUSED,
        "flocker": REFUSED,
        "gcePersistentDisk": REFUSED,
        "gitRepo": REFUSED,
        "glusterfs": REFUSED,
        "hostPath": REFUSED,
        "image": REFUSED,
        "iscsi": DEVICE_ONLY,
        "name": NEEDED,
        "nfs": REFUSED,
        "persistentVolumeClaim": DEVICE_ONLY,
        "photonPersistentDisk": REFUSED,
        "portworxVolume": REFUSED,
        "projected": REFUSED,
        "quobyte": REFUSED,
        "rbd": REFUSED,
        "scaleIO": REFUSED,
        "secret": _policy("SecretVolume"),
        "storageos": REFUSED,
        "vsphereVolume": REFUSED,
    },
    # what a mounted ConfigMap or Secret holds is no part of a policy (genpolicy.md 4.8)
    "ConfigMapVolume": {"defaultMode": INERT, "items": INERT, "name": INERT, "optional": INERT},
    "SecretVolume": {"defaultMode": INERT, "items": INERT, "optional": INERT, "secretName": INERT},
    "EmptyDir": {"medium": TEXT, "sizeLimit": INERT},
}


def check(spec: Any, path: Path, ref: Ref | None) -> list[Finding]:
    """Everything the table has to say about a pod spec at `path`. No finding: all shapes are as the table says."""
    out: list[Finding] = []
    _value(spec, "PodSpec", (), path, ref, out)
    return out


def _value(value: Any, shape: str, here: Path, root: Path, ref: Ref | None, out: list[Finding]) -> None:
    if shape == "string":
        good = isinstance(value, str)
    elif shape == "integer":
        good = isinstance(value, int) and not isinstance(value, bool)
    elif shape == "boolean":
        good = isinstance(value, bool)
    elif shape[0] == "[":
        good = isinstance(value, list)
        if good:
            for index, entry in enumerate(value):
                _value(entry, shape[1:-1], (*here, index), root, ref, out)
    else:
        good = isinstance(value, dict)
        if good and shape != "map":
            _map(value, shape, here, root, ref, out)
    if not good:
        expected = "list" if shape[0] == "[" else shape if shape in {"string", "integer", "boolean"} else "map"
        out.append(
            finding(
                "CC0207",
                ref,
                root + here,
                key=dotted(here) or "spec",
                expected=a_type(expected),
                actual=a_type(_kind(value)),
            )
        )


def _map(value: dict[str, Any], shape: str, here: Path, root: Path, ref: Ref | None, out: list[Finding]) -> None:
    known = TYPES[shape]
    for key, entry in value.items():
        field = known.get(key)
        if field is None:
            out.append(_unknown(str(key), known, (*here, str(key)), root, ref))
        elif entry is None or field.use == "inert":
            continue
        elif field.use == "refused":
            if not any(entry == good and type(entry) is type(good) for good in field.harmless):
                at = (*here, key)
                out.append(finding("CC0601", ref, root + at, field=dotted(at)))
        else:
            _value(entry, field.shape, (*here, key), root, ref, out)
    out += [
        finding("CC0604", ref, root + here, field=dotted((*here, key)), problem="is missing", remedy=f"add {key}")
        for key in _REQUIRED.get(shape, ())
        if value.get(key) is None
    ]


def _unknown(key: str, known: dict[str, Field], here: Path, root: Path, ref: Ref | None) -> Finding:
    import difflib

    near = difflib.get_close_matches(key, known, 1)
    remedy = f"did you mean {near[0]}?" if near else "remove it, or set policy.engine: none"
    return finding("CC0605", ref, root + here, field=dotted(here), remedy=remedy)


def _kind(value: Any) -> str:
    """A value's type in the words of YAML."""
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "list", dict: "map"}
    return names.get(type(value), "null" if value is None else type(value).__name__)


_REQUIRED = {
    shape: needed
    for shape, known in TYPES.items()
    if (needed := tuple(key for key, field in known.items() if field.required))
}
