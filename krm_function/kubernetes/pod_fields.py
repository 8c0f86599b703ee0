"""Every field of a pod spec: its type, what a policy does with it, and wrong types in a workload."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from krm_function.findings import Finding, Path, Ref, dotted, finding, has_errors
from krm_function.kubernetes.lookup import mapping
from krm_function.kubernetes.workload import PREFIX, Workload
from krm_function.schema.check import Fault, expected, faults
from krm_function.schema.values import ANY_TEXT, Anything, Field, Flag, ListOf, MapOf, Number, Only, Record, Spec, Text

# --- Table of every field of a pod spec: its type, and what a policy does with it
#
# Rule: a field of the Kubernetes API (1.37, and what earlier releases had) is in the table or it is
# unknown; nothing of a pod is ever passed over in silence. A second engineer reads a decision here, not out of the
# code; the three uses are explained in policy/pod_metadata.py. The tests compare the table with the fields of the API
# itself.
#
# The table is here because types are checked without a policy, too: `type_findings` finds wrong ones in every
# pod, `policy.pod_metadata` finds what a policy does not cover. Sources: docs/facts/kata.md#pod-fields,
# docs/facts/kata.md#volumes.


Use = Literal["policy", "inert", "refused"]


def _policy(spec: Spec, *, required: bool = False) -> Field:
    return Field(spec, required=required, marks=("policy",))


def _inert(spec: Spec) -> Field:
    return Field(spec, marks=("inert",))


def _refused(*harmless: Any) -> Field:
    return Field(Only(harmless), marks=("refused",))


NAME = Text("a name", empty=False)
ANY_MAP = Record({}, closed=False)
TEXT_BY_KEY = MapOf(Anything(), ANY_TEXT, nulls=True)

INERT = _inert(Anything())
INERT_TEXT = _inert(ANY_TEXT)
INERT_NUMBER = _inert(Number())
INERT_FLAG = _inert(Flag())
INERT_MAP = _inert(ANY_MAP)
INERT_MAPS = _inert(ListOf(ANY_MAP))
TEXT = _policy(ANY_TEXT)
NAMED = _policy(NAME, required=True)
NEEDED = _policy(ANY_TEXT, required=True)
TEXTS = _policy(ListOf(ANY_TEXT))
NUMBER = _policy(Number())
FLAG = _policy(Flag())
REFUSED = _refused()
GONE = REFUSED  # a volume that no kubelet mounts any more

TYPES: dict[str, Record] = {}
"""Every type by its name, each after the types of its fields."""


def _type(name: str, fields: dict[str, Field]) -> Record:
    TYPES[name] = made = Record(fields)
    return made


def _disk(*inert: str) -> dict[str, Field]:
    """Make the fields of a volume that the kubelet mounts on the node; the host controls its files."""
    return {"readOnly": FLAG, **dict.fromkeys(inert, INERT)}


def _files(*inert: str) -> dict[str, Field]:
    """Make the fields of a volume that the kubelet fills; no policy covers its files (docs/facts/kata.md#volumes)."""
    return dict.fromkeys(("defaultMode", "defaultUser", *inert), INERT)


VSPHERE_VOLUME = _type(
    "VsphereVolume", dict.fromkeys(("fsType", "storagePolicyID", "storagePolicyName", "volumePath"), INERT)
)
PORTWORX = _type("Portworx", _disk("fsType", "volumeID"))
NFS = _type("Nfs", _disk("path", "server"))
ISCSI = _type(
    "Iscsi",
    _disk(
        "chapAuthDiscovery",
        "chapAuthSession",
        "fsType",
        "initiatorName",
        "iqn",
        "iscsiInterface",
        "lun",
        "portals",
        "secretRef",
        "targetPortal",
    ),
)
GCE_PERSISTENT_DISK = _type("GcePersistentDisk", _disk("fsType", "partition", "pdName"))
FLEX_VOLUME = _type("FlexVolume", _disk("driver", "fsType", "options", "secretRef"))
FIBRE_CHANNEL = _type("FibreChannel", _disk("fsType", "lun", "targetWWNs", "wwids"))
CSI = _type("Csi", _disk("driver", "fsType", "nodePublishSecretRef", "volumeAttributes"))
CINDER = _type("Cinder", _disk("fsType", "secretRef", "volumeID"))
AZURE_FILE = _type("AzureFile", _disk("secretName", "shareName"))
AZURE_DISK = _type("AzureDisk", _disk("cachingMode", "diskName", "diskURI", "fsType", "kind"))
AWS_ELASTIC_BLOCK_STORE = _type("AwsElasticBlockStore", _disk("fsType", "partition", "volumeID"))
CLAIM_SPEC = _type(
    "ClaimSpec",
    {
        "accessModes": INERT,
        "dataSource": INERT,
        "dataSourceRef": INERT,
        "resources": INERT,
        "selector": INERT,
        "storageClassName": INERT,
        "volumeAttributesClassName": INERT,
        "volumeMode": TEXT,
        "volumeName": INERT,
    },
)
CLAIM_TEMPLATE = _type("ClaimTemplate", {"metadata": INERT, "spec": _policy(CLAIM_SPEC)})
EPHEMERAL = _type("Ephemeral", {"volumeClaimTemplate": _policy(CLAIM_TEMPLATE)})
PERSISTENT_VOLUME_CLAIM = _type("PersistentVolumeClaim", _disk("claimName"))
HOST_PATH = _type("HostPath", {"path": NEEDED, "type": INERT})
EMPTY_DIR = _type("EmptyDir", {"medium": TEXT, "mode": _refused(0o777), "sizeLimit": INERT})
PROJECTION = _type(
    "Projection",
    dict.fromkeys(
        ("clusterTrustBundle", "configMap", "downwardAPI", "podCertificate", "secret", "serviceAccountToken"), INERT
    ),
)
PROJECTED = _type("Projected", {**_files(), "sources": _policy(ListOf(PROJECTION))})
DOWNWARD_API = _type("DownwardAPI", _files("items"))
SECRET_VOLUME = _type("SecretVolume", _files("items", "optional", "secretName"))
CONFIG_MAP_VOLUME = _type("ConfigMapVolume", _files("items", "name", "optional"))
VOLUME = _type(
    "Volume",
    {
        "awsElasticBlockStore": _policy(AWS_ELASTIC_BLOCK_STORE),
        "azureDisk": _policy(AZURE_DISK),
        "azureFile": _policy(AZURE_FILE),
        "cephfs": GONE,
        "cinder": _policy(CINDER),
        "configMap": _policy(CONFIG_MAP_VOLUME),
        "csi": _policy(CSI),
        "downwardAPI": _policy(DOWNWARD_API),
        "emptyDir": _policy(EMPTY_DIR),
        "ephemeral": _policy(EPHEMERAL),
        "fc": _policy(FIBRE_CHANNEL),
        "flexVolume": _policy(FLEX_VOLUME),
        "flocker": GONE,
        "gcePersistentDisk": _policy(GCE_PERSISTENT_DISK),
        "gitRepo": GONE,
        "glusterfs": GONE,
        "hostPath": _policy(HOST_PATH),
        "image": REFUSED,  # a policy cannot say which image, and how a shim hands one over is not known
        "iscsi": _policy(ISCSI),
        "name": NAMED,
        "nfs": _policy(NFS),
        "persistentVolumeClaim": _policy(PERSISTENT_VOLUME_CLAIM),
        "photonPersistentDisk": GONE,
        "portworxVolume": _policy(PORTWORX),
        "projected": _policy(PROJECTED),
        "quobyte": GONE,
        "rbd": GONE,
        "scaleIO": GONE,
        "secret": _policy(SECRET_VOLUME),
        "storageos": GONE,
        "vsphereVolume": _policy(VSPHERE_VOLUME),
    },
)
EXEC_ACTION = _type("ExecAction", {"command": TEXTS})
HANDLER = _type("Handler", {"exec": _policy(EXEC_ACTION), "httpGet": INERT, "sleep": INERT, "tcpSocket": INERT})
LIFECYCLE = _type("Lifecycle", {"postStart": _policy(HANDLER), "preStop": _policy(HANDLER), "stopSignal": INERT_TEXT})
PROBE = _type(
    "Probe",
    {
        "exec": _policy(EXEC_ACTION),
        "failureThreshold": INERT_NUMBER,
        "grpc": INERT,
        "httpGet": INERT,
        "initialDelaySeconds": INERT_NUMBER,
        "periodSeconds": INERT_NUMBER,
        "successThreshold": INERT_NUMBER,
        "tcpSocket": INERT,
        "terminationGracePeriodSeconds": INERT_NUMBER,
        "timeoutSeconds": INERT_NUMBER,
    },
)
VOLUME_MOUNT = _type(
    "VolumeMount",
    {
        "bindMountOptions": _refused([]),
        "mountPath": NEEDED,
        "mountPropagation": TEXT,
        "name": NAMED,
        "readOnly": FLAG,
        "recursiveReadOnly": _refused("Disabled"),
        "subPath": TEXT,
        "subPathExpr": TEXT,
    },
)
VOLUME_DEVICE = _type("VolumeDevice", {"devicePath": NEEDED, "name": NAMED})
RESOURCE_REQUIREMENTS = _type(
    "ResourceRequirements", {"claims": _refused([]), "limits": _policy(ANY_MAP), "requests": INERT_MAP}
)
ENV_SOURCE = _type("EnvSource", {"name": NEEDED, "optional": FLAG})
ENV_FROM_SOURCE = _type(
    "EnvFromSource", {"configMapRef": _policy(ENV_SOURCE), "prefix": TEXT, "secretRef": _policy(ENV_SOURCE)}
)
RESOURCE_SELECTOR = _type("ResourceSelector", {"containerName": INERT, "divisor": INERT, "resource": INERT})
FIELD_SELECTOR = _type("FieldSelector", {"apiVersion": INERT, "fieldPath": NEEDED})
KEY_SELECTOR = _type("KeySelector", {"key": NEEDED, "name": NEEDED, "optional": FLAG})
ENV_VAR_SOURCE = _type(
    "EnvVarSource",
    {
        "configMapKeyRef": _policy(KEY_SELECTOR),
        "fieldRef": _policy(FIELD_SELECTOR),
        "fileKeyRef": REFUSED,  # a file of an emptyDir, which the kubelet cannot read inside the VM
        "resourceFieldRef": _policy(RESOURCE_SELECTOR),
        "secretKeyRef": _policy(KEY_SELECTOR),
    },
)
ENV_VAR = _type("EnvVar", {"name": NAMED, "value": TEXT, "valueFrom": _policy(ENV_VAR_SOURCE)})
SYSCTL = _type("Sysctl", {"name": NEEDED, "value": NEEDED})
CAPABILITIES = _type("Capabilities", {"add": TEXTS, "drop": TEXTS})
SECURITY_CONTEXT = _type(
    "SecurityContext",
    {
        "allowPrivilegeEscalation": FLAG,
        "appArmorProfile": INERT,
        "capabilities": _policy(CAPABILITIES),
        "privileged": FLAG,
        "procMount": _refused("Default", ""),  # Unmasked needs hostUsers: false
        "readOnlyRootFilesystem": FLAG,
        "runAsGroup": NUMBER,
        "runAsNonRoot": FLAG,
        "runAsUser": NUMBER,
        "seLinuxOptions": _refused({}),
        "seccompProfile": INERT,
        "windowsOptions": _refused({}),
    },
)
POD_SECURITY_CONTEXT = _type(
    "PodSecurityContext",
    {
        "appArmorProfile": INERT,  # the profile is the host's; the guest has none
        "fsGroup": NUMBER,
        "fsGroupChangePolicy": INERT_TEXT,  # no effect on emptyDir, configMap and secret volumes
        "runAsGroup": NUMBER,
        "runAsNonRoot": FLAG,
        "runAsUser": NUMBER,
        "seLinuxChangePolicy": INERT_TEXT,
        "seLinuxOptions": _refused({}),
        "seccompProfile": INERT,
        "supplementalGroups": _policy(ListOf(Number())),
        "supplementalGroupsPolicy": TEXT,
        "sysctls": _policy(ListOf(SYSCTL)),
        "windowsOptions": _refused({}),
    },
)
PORT = Record(
    {
        "containerPort": INERT_NUMBER,
        "hostIP": INERT_TEXT,
        "hostPort": INERT_NUMBER,
        "name": INERT_TEXT,
        "protocol": INERT_TEXT,
    },
    closed=False,
)
CONTAINER = _type(
    "Container",
    {
        "args": TEXTS,
        "command": TEXTS,
        "env": _policy(ListOf(ENV_VAR)),
        "envFrom": _policy(ListOf(ENV_FROM_SOURCE)),
        "image": NEEDED,
        "imagePullPolicy": INERT_TEXT,
        "lifecycle": _policy(LIFECYCLE),
        "livenessProbe": _policy(PROBE),
        "name": NAMED,
        "ports": _inert(ListOf(PORT)),
        "readinessProbe": _policy(PROBE),
        "resizePolicy": INERT,
        "resources": _policy(RESOURCE_REQUIREMENTS),
        "restartPolicy": INERT_TEXT,  # Always on an init container makes it a sidecar; its container is the same
        "restartPolicyRules": INERT,
        "securityContext": _policy(SECURITY_CONTEXT),
        "startupProbe": _policy(PROBE),
        "stdin": INERT_FLAG,  # what may be written to it is WriteStreamRequest's matter
        "stdinOnce": INERT_FLAG,
        "terminationMessagePath": TEXT,
        "terminationMessagePolicy": INERT_TEXT,
        "tty": FLAG,
        "volumeDevices": _policy(ListOf(VOLUME_DEVICE)),
        "volumeMounts": _policy(ListOf(VOLUME_MOUNT)),
        "workingDir": TEXT,
    },
)
POD_SPEC = _type(
    "PodSpec",
    {
        "activeDeadlineSeconds": INERT_NUMBER,
        "affinity": INERT,
        "automountServiceAccountToken": INERT_FLAG,  # the token's mount is allowed in every workload container
        "containers": _policy(ListOf(CONTAINER), required=True),
        "dnsConfig": INERT,
        "dnsPolicy": INERT_TEXT,
        "enableServiceLinks": FLAG,  # whether `$(DB_SERVICE_HOST)` may be an address: policy/expansion.py
        "ephemeralContainers": _refused([]),
        "evictionResponders": INERT,
        "hostAliases": INERT,  # /etc/hosts is a file of the host in any case
        "hostIPC": _refused(False),  # it is not defined whose, the VM's or the node's
        "hostNetwork": FLAG,
        "hostPID": _refused(False),
        "hostUsers": _refused(True),  # false needs mappings of users, which the rules never allow
        "hostname": INERT_TEXT,  # HOSTNAME may have any value
        "hostnameOverride": INERT_TEXT,
        "imagePullSecrets": INERT,
        "initContainers": _policy(ListOf(CONTAINER)),
        "nodeName": INERT_TEXT,
        "nodeSelector": _inert(TEXT_BY_KEY),
        "os": _refused({"name": "linux"}, {}),
        "overhead": INERT_MAP,
        "preemptionPolicy": INERT_TEXT,
        "priority": INERT_NUMBER,
        "priorityClassName": INERT_TEXT,
        "readinessGates": INERT,
        "resourceClaims": _refused([]),  # docs/facts/kubernetes.md#resource-claims
        "resources": _inert(
            Record({"limits": INERT_MAP, "requests": INERT_MAP}, closed=False)
        ),  # of the pod as a whole: cpu, memory and hugepages only
        "restartPolicy": INERT_TEXT,
        "runtimeClassName": INERT,
        "schedulerName": INERT_TEXT,
        "schedulingGates": INERT,
        "schedulingGroup": INERT,
        "securityContext": _policy(POD_SECURITY_CONTEXT),
        "serviceAccount": TEXT,
        "serviceAccountName": TEXT,
        "setHostnameAsFQDN": INERT_FLAG,
        "shareProcessNamespace": FLAG,
        "subdomain": INERT_TEXT,
        "terminationGracePeriodSeconds": INERT_NUMBER,
        "tolerations": INERT_MAPS,
        "topologySpreadConstraints": INERT,
        "volumes": _policy(ListOf(VOLUME)),
        "workloadRef": INERT,  # 1.35 only
    },
)


# --- Find wrong types in a workload, which Kubernetes would refuse to decode, before anything else reads the pod
#
# Rule: if it finds nothing, later readers may trust the types of the table in `pod_fields`. Null counts as
# absent, as in Kubernetes, except where something must have a name. The policy reports unknown and refused fields.


UNREADABLE = ("CC0206", "CC0207")  # no containers, or values of a wrong type
METADATA = Record(
    {"namespace": Field(ANY_TEXT), "annotations": Field(TEXT_BY_KEY), "labels": Field(TEXT_BY_KEY)}, closed=False
)
CLAIM = Record(
    {
        "metadata": Field(Record({"name": NAMED}, closed=False)),
        "spec": Field(Record({"volumeMode": Field(ANY_TEXT)}, closed=False)),
    },
    closed=False,
)
CLAIMS = ListOf(CLAIM)


def type_findings(workload: Workload) -> tuple[Finding, ...]:
    """Return CC0207 for every field of the wrong type in metadata, pod template and a StatefulSet's claim templates."""
    return tuple(_findings(workload))


def _findings(workload: Workload) -> Iterator[Finding]:
    own = (*workload.root, "metadata")
    for path in (own,) if workload.template_path == workload.root else (own, workload.metadata_path):
        metadata = workload.at(path)
        yield from _wrong(metadata, path, METADATA, workload.ref)
        yield from _nulls(mapping(metadata), path, workload.ref)
    yield from _wrong(workload.at(workload.spec_path), workload.spec_path, POD_SPEC, workload.ref)
    if workload.ref.kind == "StatefulSet" and not workload.made_by:
        path = (*workload.root, "spec", "volumeClaimTemplates")
        yield from _wrong(workload.at(path), path, CLAIMS, workload.ref)


def _wrong(value: Any, path: Path, spec: Spec, ref: Ref) -> Iterator[Finding]:
    for fault in faults(spec, value) if value is not None else ():
        if fault.kind == "type" or _is_name(fault):
            yield type_finding(fault, path, ref)


def _nulls(metadata: Mapping[str, Any], path: Path, ref: Ref) -> Iterator[Finding]:
    """Find nulls under the keys of Contrast's domain: they could mean "" or nothing."""
    for field in METADATA.fields:
        for key, value in mapping(metadata.get(field)).items():
            if value is None and str(key).startswith(PREFIX):
                yield _finding((*path, field, key), (field, key), ref, "a string", "null")


def _is_name(fault: Fault) -> bool:
    """Tell whether a name is missing or empty."""
    if fault.kind == "missing" and isinstance(fault.spec, Record):
        return fault.spec.fields[str(fault.path[-1])].spec is NAME
    return fault.spec is NAME


def type_finding(fault: Fault, root: Path, ref: Ref | None) -> Finding:
    """Make CC0207 for a fault in a value at `root`: of the wrong type, or a name that is missing or empty."""
    inside = fault.path if fault.path and isinstance(fault.path[0], str) else (*root[-1:], *fault.path)
    if fault.kind == "type":
        return _finding(root + fault.path, inside, ref, expected(fault.spec), fault.found)
    return _finding(root + fault.path, inside, ref, "a string", "null" if fault.kind == "missing" else "an empty one")


def _finding(path: Path, inside: Path, ref: Ref | None, wanted: str, found: str) -> Finding:
    code = "CC0207.quotes" if wanted == "a string" else "CC0207"
    return finding(code, ref, path, key=dotted(inside), expected=wanted, actual=found)


# --- Tell which findings about a workload that has errors only repeat one of them
#
# Rule: every stage looks at a workload, also at one with errors, so that a person sees all errors in one
# round. A later stage stumbles over what an earlier one has refused, so its findings there are left out:
#
#     an error is about               a later finding is left out at
#     a place in the pod spec         that place and everything below it
#     a volume, or a mount of it      that volume and every mount of it in any container
#     two containers of one name      the name of a container, and where a container is taken for Contrast's own


OF_VOLUMES = ("CC0601", "CC0605", "CC0805", "CC0807", "CC0808", "CC0810", "CC083")  # about a volume, or its source
_CLAIM_TEMPLATES = "volumeClaimTemplates"
SAME_NAME = "CC0208"
BY_NAME = "CC0507"  # the image of a container with one of Contrast's names


def news(later: Iterable[Finding], known: Sequence[Finding], workload: Workload) -> tuple[Finding, ...]:
    """Return the later findings that repeat none of the errors that are known; paths are those of the workload."""
    errors = [found for found in known if has_errors([found])]
    covered = {place for found in errors for place in _places(found, workload)}
    named = any(found.code == SAME_NAME for found in errors)
    return tuple(
        found
        for found in later
        if not (named and (found.code == BY_NAME or found.path[-1:] == ("name",)))
        and not any(place in covered for path in _seen_as(found.path, workload) for place in _prefixes(path))
    )


def _places(found: Finding, workload: Workload) -> Iterable[Path]:
    """Yield the places that an error makes unfit for later stages; the whole pod spec is none."""
    if len(found.path) > len(workload.spec_path):
        yield found.path
    if found.code.startswith(OF_VOLUMES):
        yield from (path for path in _seen_as(found.path, workload) if path != found.path)


def _seen_as(path: Path, workload: Workload) -> Iterable[Path]:
    """Yield a path, and the volume that it is about, by its name."""
    yield path
    spec = workload.spec_path
    for field, name in (("volumes", ("name",)), ("volumeMounts", ("name",)), (_CLAIM_TEMPLATES, ("metadata", "name"))):
        if field in path:
            entry = path[: path.index(field) + 2]
            found = workload.at((*entry, *name)) if len(entry) > path.index(field) + 1 else None
            if isinstance(found, str):
                yield (*spec, "volumes", found)


def _prefixes(path: Path) -> Iterable[Path]:
    return (path[:length] for length in range(1, len(path) + 1))
