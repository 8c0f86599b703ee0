"""Every field of a pod spec: its type and its use by a policy; and wrong types in a workload."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from krm_function.findings import Finding, Path, Ref, dotted, finding, has_errors
from krm_function.kubernetes.objects import mapping
from krm_function.kubernetes.workload import PREFIX, Workload
from krm_function.schema.check import Fault, expected, faults
from krm_function.schema.values import ANY_TEXT, Anything, Field, Flag, ListOf, MapOf, Number, Only, Record, Spec, Text

# --- Table of every field of a pod spec: its type, and its use by a policy
#
# Rule: a field of the Kubernetes API (1.37, and what earlier releases had) is in the table or it is
# unknown; nothing of a pod is ever passed over in silence. Decisions can be read here, not out of the
# code; the three uses are explained in policy/pod_metadata.py. The tests compare the table with the fields of the API
# itself.
#
# The table is here because types are checked without a policy, too: `type_findings` finds wrong ones in every
# pod, `policy.pod_metadata` finds what a policy does not cover. Sources: docs/facts/kata.md#pod-fields,
# docs/facts/kata.md#volumes.


Use = Literal["policy", "inert", "refused"]
POLICY: tuple[Use, ...] = ("policy",)


def _inert_field(spec: Spec) -> Field:
    return Field(spec, marks=("inert",))


def _refused_field(*harmless: Any) -> Field:
    return Field(Only(harmless), marks=("refused",))


NAME = Text("a name", empty=False)
ANY_MAP = Record({}, closed=False)
TEXT_BY_KEY = MapOf(Anything(), ANY_TEXT, nulls=True)

INERT = _inert_field(Anything())
INERT_TEXT = _inert_field(ANY_TEXT)
INERT_NUMBER = _inert_field(Number())
INERT_FLAG = _inert_field(Flag())
INERT_MAP = _inert_field(ANY_MAP)
INERT_MAPS = _inert_field(ListOf(ANY_MAP))
TEXT = Field(ANY_TEXT, marks=POLICY)
NAMED = Field(NAME, required=True, marks=POLICY)
NEEDED = Field(ANY_TEXT, required=True, marks=POLICY)
TEXTS = Field(ListOf(ANY_TEXT), marks=POLICY)
NUMBER = Field(Number(), marks=POLICY)
FLAG = Field(Flag(), marks=POLICY)
REFUSED = _refused_field()
GONE = REFUSED  # a volume that no kubelet mounts any more

TYPES: dict[str, Record] = {}
"""Every type by its name, each after the types of its fields."""


def _disk_fields(*inert: str) -> dict[str, Field]:
    """Make the fields of a volume that the kubelet mounts on the node, with files under the host's control."""
    return {"readOnly": FLAG, **dict.fromkeys(inert, INERT)}


def _file_fields(*inert: str) -> dict[str, Field]:
    """Make the fields of a volume with files of the kubelet, which no policy covers (docs/facts/kata.md#volumes)."""
    return dict.fromkeys(("defaultMode", "defaultUser", *inert), INERT)


TYPES["VsphereVolume"] = VSPHERE_VOLUME = Record(
    dict.fromkeys(("fsType", "storagePolicyID", "storagePolicyName", "volumePath"), INERT)
)
TYPES["Portworx"] = PORTWORX = Record(_disk_fields("fsType", "volumeID"))
TYPES["Nfs"] = NFS = Record(_disk_fields("path", "server"))
TYPES["Iscsi"] = ISCSI = Record(
    _disk_fields(
        *("chapAuthDiscovery", "chapAuthSession", "fsType", "initiatorName", "iqn", "iscsiInterface", "lun", "portals"),
        *("secretRef", "targetPortal"),
    ),
)
TYPES["GcePersistentDisk"] = GCE_PERSISTENT_DISK = Record(_disk_fields("fsType", "partition", "pdName"))
TYPES["FlexVolume"] = FLEX_VOLUME = Record(_disk_fields("driver", "fsType", "options", "secretRef"))
TYPES["FibreChannel"] = FIBRE_CHANNEL = Record(_disk_fields("fsType", "lun", "targetWWNs", "wwids"))
TYPES["Csi"] = CSI = Record(_disk_fields("driver", "fsType", "nodePublishSecretRef", "volumeAttributes"))
TYPES["Cinder"] = CINDER = Record(_disk_fields("fsType", "secretRef", "volumeID"))
TYPES["AzureFile"] = AZURE_FILE = Record(_disk_fields("secretName", "shareName"))
TYPES["AzureDisk"] = AZURE_DISK = Record(_disk_fields("cachingMode", "diskName", "diskURI", "fsType", "kind"))
TYPES["AwsElasticBlockStore"] = AWS_ELASTIC_BLOCK_STORE = Record(_disk_fields("fsType", "partition", "volumeID"))
TYPES["ClaimSpec"] = CLAIM_SPEC = Record(
    {
        **dict.fromkeys(("accessModes", "dataSource", "dataSourceRef", "resources", "selector"), INERT),
        **dict.fromkeys(("storageClassName", "volumeAttributesClassName", "volumeName"), INERT),
        "volumeMode": TEXT,
    },
)
TYPES["ClaimTemplate"] = CLAIM_TEMPLATE = Record({"metadata": INERT, "spec": Field(CLAIM_SPEC, marks=POLICY)})
TYPES["Ephemeral"] = EPHEMERAL = Record({"volumeClaimTemplate": Field(CLAIM_TEMPLATE, marks=POLICY)})
TYPES["PersistentVolumeClaim"] = PERSISTENT_VOLUME_CLAIM = Record(_disk_fields("claimName"))
TYPES["HostPath"] = HOST_PATH = Record({"path": NEEDED, "type": INERT})
TYPES["EmptyDir"] = EMPTY_DIR = Record({"medium": TEXT, "mode": _refused_field(0o777), "sizeLimit": INERT})
TYPES["Projection"] = PROJECTION = Record(
    dict.fromkeys(
        ("clusterTrustBundle", "configMap", "downwardAPI", "podCertificate", "secret", "serviceAccountToken"), INERT
    ),
)
TYPES["Projected"] = PROJECTED = Record({**_file_fields(), "sources": Field(ListOf(PROJECTION), marks=POLICY)})
TYPES["DownwardAPI"] = DOWNWARD_API = Record(_file_fields("items"))
TYPES["SecretVolume"] = SECRET_VOLUME = Record(_file_fields("items", "optional", "secretName"))
TYPES["ConfigMapVolume"] = CONFIG_MAP_VOLUME = Record(_file_fields("items", "name", "optional"))
TYPES["Volume"] = VOLUME = Record(
    {
        "awsElasticBlockStore": Field(AWS_ELASTIC_BLOCK_STORE, marks=POLICY),
        "azureDisk": Field(AZURE_DISK, marks=POLICY),
        "azureFile": Field(AZURE_FILE, marks=POLICY),
        "cephfs": GONE,
        "cinder": Field(CINDER, marks=POLICY),
        "configMap": Field(CONFIG_MAP_VOLUME, marks=POLICY),
        "csi": Field(CSI, marks=POLICY),
        "downwardAPI": Field(DOWNWARD_API, marks=POLICY),
        "emptyDir": Field(EMPTY_DIR, marks=POLICY),
        "ephemeral": Field(EPHEMERAL, marks=POLICY),
        "fc": Field(FIBRE_CHANNEL, marks=POLICY),
        "flexVolume": Field(FLEX_VOLUME, marks=POLICY),
        "flocker": GONE,
        "gcePersistentDisk": Field(GCE_PERSISTENT_DISK, marks=POLICY),
        "gitRepo": GONE,
        "glusterfs": GONE,
        "hostPath": Field(HOST_PATH, marks=POLICY),
        "image": REFUSED,  # a policy cannot name the image, and the shim's way to pass one on is not known
        "iscsi": Field(ISCSI, marks=POLICY),
        "name": NAMED,
        "nfs": Field(NFS, marks=POLICY),
        "persistentVolumeClaim": Field(PERSISTENT_VOLUME_CLAIM, marks=POLICY),
        "photonPersistentDisk": GONE,
        "portworxVolume": Field(PORTWORX, marks=POLICY),
        "projected": Field(PROJECTED, marks=POLICY),
        "quobyte": GONE,
        "rbd": GONE,
        "scaleIO": GONE,
        "secret": Field(SECRET_VOLUME, marks=POLICY),
        "storageos": GONE,
        "vsphereVolume": Field(VSPHERE_VOLUME, marks=POLICY),
    },
)
TYPES["ExecAction"] = EXEC_ACTION = Record({"command": TEXTS})
TYPES["Handler"] = HANDLER = Record(
    {"exec": Field(EXEC_ACTION, marks=POLICY), "httpGet": INERT, "sleep": INERT, "tcpSocket": INERT}
)
TYPES["Lifecycle"] = LIFECYCLE = Record(
    {"postStart": Field(HANDLER, marks=POLICY), "preStop": Field(HANDLER, marks=POLICY), "stopSignal": INERT_TEXT}
)
TYPES["Probe"] = PROBE = Record(
    {
        "exec": Field(EXEC_ACTION, marks=POLICY),
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
TYPES["VolumeMount"] = VOLUME_MOUNT = Record(
    {
        "bindMountOptions": _refused_field([]),
        "mountPath": NEEDED,
        "mountPropagation": TEXT,
        "name": NAMED,
        "readOnly": FLAG,
        "recursiveReadOnly": _refused_field("Disabled"),
        "subPath": TEXT,
        "subPathExpr": TEXT,
    },
)
TYPES["VolumeDevice"] = VOLUME_DEVICE = Record({"devicePath": NEEDED, "name": NAMED})
TYPES["ResourceRequirements"] = RESOURCE_REQUIREMENTS = Record(
    {"claims": _refused_field([]), "limits": Field(ANY_MAP, marks=POLICY), "requests": INERT_MAP}
)
TYPES["EnvSource"] = ENV_SOURCE = Record({"name": NEEDED, "optional": FLAG})
TYPES["EnvFromSource"] = ENV_FROM_SOURCE = Record(
    {"configMapRef": Field(ENV_SOURCE, marks=POLICY), "prefix": TEXT, "secretRef": Field(ENV_SOURCE, marks=POLICY)}
)
TYPES["ResourceSelector"] = RESOURCE_SELECTOR = Record({"containerName": INERT, "divisor": INERT, "resource": INERT})
TYPES["FieldSelector"] = FIELD_SELECTOR = Record({"apiVersion": INERT, "fieldPath": NEEDED})
TYPES["KeySelector"] = KEY_SELECTOR = Record({"key": NEEDED, "name": NEEDED, "optional": FLAG})
TYPES["EnvVarSource"] = ENV_VAR_SOURCE = Record(
    {
        "configMapKeyRef": Field(KEY_SELECTOR, marks=POLICY),
        "fieldRef": Field(FIELD_SELECTOR, marks=POLICY),
        "fileKeyRef": REFUSED,  # a file of an emptyDir, which the kubelet cannot read inside the VM
        "resourceFieldRef": Field(RESOURCE_SELECTOR, marks=POLICY),
        "secretKeyRef": Field(KEY_SELECTOR, marks=POLICY),
    },
)
TYPES["EnvVar"] = ENV_VAR = Record({"name": NAMED, "value": TEXT, "valueFrom": Field(ENV_VAR_SOURCE, marks=POLICY)})
TYPES["Sysctl"] = SYSCTL = Record({"name": NEEDED, "value": NEEDED})
TYPES["Capabilities"] = CAPABILITIES = Record({"add": TEXTS, "drop": TEXTS})
TYPES["SecurityContext"] = SECURITY_CONTEXT = Record(
    {
        "allowPrivilegeEscalation": FLAG,
        "appArmorProfile": INERT,
        "capabilities": Field(CAPABILITIES, marks=POLICY),
        "privileged": FLAG,
        "procMount": _refused_field("Default", ""),  # Unmasked needs hostUsers: false
        "readOnlyRootFilesystem": FLAG,
        "runAsGroup": NUMBER,
        "runAsNonRoot": FLAG,
        "runAsUser": NUMBER,
        "seLinuxOptions": _refused_field({}),
        "seccompProfile": INERT,
        "windowsOptions": _refused_field({}),
    },
)
TYPES["PodSecurityContext"] = POD_SECURITY_CONTEXT = Record(
    {
        "appArmorProfile": INERT,  # the profile is the host's, not the guest's
        "fsGroup": NUMBER,
        "fsGroupChangePolicy": INERT_TEXT,  # no effect on emptyDir, configMap and secret volumes
        "runAsGroup": NUMBER,
        "runAsNonRoot": FLAG,
        "runAsUser": NUMBER,
        "seLinuxChangePolicy": INERT_TEXT,
        "seLinuxOptions": _refused_field({}),
        "seccompProfile": INERT,
        "supplementalGroups": Field(ListOf(Number()), marks=POLICY),
        "supplementalGroupsPolicy": TEXT,
        "sysctls": Field(ListOf(SYSCTL), marks=POLICY),
        "windowsOptions": _refused_field({}),
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
TYPES["Container"] = CONTAINER = Record(
    {
        "args": TEXTS,
        "command": TEXTS,
        "env": Field(ListOf(ENV_VAR), marks=POLICY),
        "envFrom": Field(ListOf(ENV_FROM_SOURCE), marks=POLICY),
        "image": NEEDED,
        "imagePullPolicy": INERT_TEXT,
        "lifecycle": Field(LIFECYCLE, marks=POLICY),
        "livenessProbe": Field(PROBE, marks=POLICY),
        "name": NAMED,
        "ports": _inert_field(ListOf(PORT)),
        "readinessProbe": Field(PROBE, marks=POLICY),
        "resizePolicy": INERT,
        "resources": Field(RESOURCE_REQUIREMENTS, marks=POLICY),
        "restartPolicy": INERT_TEXT,  # Always on an init container makes it a sidecar; its container is the same
        "restartPolicyRules": INERT,
        "securityContext": Field(SECURITY_CONTEXT, marks=POLICY),
        "startupProbe": Field(PROBE, marks=POLICY),
        "stdin": INERT_FLAG,  # WriteStreamRequest decides what may be written to it
        "stdinOnce": INERT_FLAG,
        "terminationMessagePath": TEXT,
        "terminationMessagePolicy": INERT_TEXT,
        "tty": FLAG,
        "volumeDevices": Field(ListOf(VOLUME_DEVICE), marks=POLICY),
        "volumeMounts": Field(ListOf(VOLUME_MOUNT), marks=POLICY),
        "workingDir": TEXT,
    },
)
TYPES["PodSpec"] = POD_SPEC = Record(
    {
        "activeDeadlineSeconds": INERT_NUMBER,
        "affinity": INERT,
        "automountServiceAccountToken": INERT_FLAG,  # the token's mount is allowed in every workload container
        "containers": Field(ListOf(CONTAINER), required=True, marks=POLICY),
        "dnsConfig": INERT,
        "dnsPolicy": INERT_TEXT,
        "enableServiceLinks": FLAG,  # whether `$(DB_SERVICE_HOST)` may be an address: policy/expansion.py
        "ephemeralContainers": _refused_field([]),
        "evictionResponders": INERT,
        "hostAliases": INERT,  # /etc/hosts is a file of the host in any case
        "hostIPC": _refused_field(False),  # it is not defined whose, the VM's or the node's
        "hostNetwork": _refused_field(False),  # a VM has no network of the node: docs/facts/kata.md#pod-fields
        "hostPID": _refused_field(False),
        "hostUsers": _refused_field(True),  # false needs mappings of users, which the rules never allow
        "hostname": INERT_TEXT,  # HOSTNAME may have any value
        "hostnameOverride": INERT_TEXT,
        "imagePullSecrets": INERT,
        "initContainers": Field(ListOf(CONTAINER), marks=POLICY),
        "nodeName": INERT_TEXT,
        "nodeSelector": _inert_field(TEXT_BY_KEY),
        "os": _refused_field({"name": "linux"}, {}),
        "overhead": INERT_MAP,
        "preemptionPolicy": INERT_TEXT,
        "priority": INERT_NUMBER,
        "priorityClassName": INERT_TEXT,
        "readinessGates": INERT,
        "resourceClaims": _refused_field([]),  # docs/facts/kubernetes.md#resource-claims
        "resources": _inert_field(
            Record({"limits": INERT_MAP, "requests": INERT_MAP}, closed=False)
        ),  # of the pod as a whole: cpu, memory and hugepages only
        "restartPolicy": INERT_TEXT,
        "runtimeClassName": INERT,
        "schedulerName": INERT_TEXT,
        "schedulingGates": INERT,
        "schedulingGroup": INERT,
        "securityContext": Field(POD_SECURITY_CONTEXT, marks=POLICY),
        "serviceAccount": TEXT,
        "serviceAccountName": TEXT,
        "setHostnameAsFQDN": INERT_FLAG,
        "shareProcessNamespace": FLAG,
        "subdomain": INERT_TEXT,
        "terminationGracePeriodSeconds": INERT_NUMBER,
        "tolerations": INERT_MAPS,
        "topologySpreadConstraints": INERT,
        "volumes": Field(ListOf(VOLUME), marks=POLICY),
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
    return tuple(_find_wrong_types(workload))


def _find_wrong_types(workload: Workload) -> Iterator[Finding]:
    for path in dict.fromkeys(((*workload.root, "metadata"), workload.metadata_path)):  # a Pod has one
        metadata = workload.at(path)
        yield from _find_faults(metadata, path, METADATA, workload.ref)
        yield from _find_nulls(mapping(metadata), path, workload.ref)
    yield from _find_faults(workload.at(workload.spec_path), workload.spec_path, POD_SPEC, workload.ref)
    if workload.ref.kind == "StatefulSet" and not workload.made_by:
        path = (*workload.root, "spec", "volumeClaimTemplates")
        yield from _find_faults(workload.at(path), path, CLAIMS, workload.ref)


def _find_faults(value: Any, path: Path, spec: Spec, ref: Ref) -> Iterator[Finding]:
    for fault in faults(spec, value) if value is not None else ():
        if fault.kind == "type" or _is_missing_name(fault):
            yield type_finding(fault, path, ref)


def _find_nulls(metadata: Mapping[str, Any], path: Path, ref: Ref) -> Iterator[Finding]:
    # A null under a key of Contrast's domain could mean "" or nothing
    for field in METADATA.fields:
        for key, value in mapping(metadata.get(field)).items():
            if value is None and str(key).startswith(PREFIX):
                yield _make_finding((*path, field, key), (field, key), ref, "a string", "null")


def _is_missing_name(fault: Fault) -> bool:
    if fault.kind == "missing" and isinstance(fault.spec, Record):
        return fault.spec.fields[str(fault.path[-1])].spec is NAME
    return fault.spec is NAME


def type_finding(fault: Fault, root: Path, ref: Ref | None) -> Finding:
    """Make CC0207 for a fault in a value at `root`: of the wrong type, or a name that is missing or empty."""
    inside = fault.path if fault.path and isinstance(fault.path[0], str) else (*root[-1:], *fault.path)
    if fault.kind == "type":
        return _make_finding(root + fault.path, inside, ref, expected(fault.spec), fault.actual)
    actual = "null" if fault.kind == "missing" else "an empty one"
    return _make_finding(root + fault.path, inside, ref, "a string", actual)


def _make_finding(path: Path, inside: Path, ref: Ref | None, expected_type: str, actual: str) -> Finding:
    code = "CC0207.quotes" if expected_type == "a string" else "CC0207"
    return finding(code, ref, path, key=dotted(inside), expected=expected_type, actual=actual)


# --- Tell which findings about a workload that has errors only repeat one of them
#
# Rule: every stage looks at a workload, also at one with errors, so that a person sees all errors in one
# round. A later stage fails again at a place that an earlier one has refused, so its findings there are left out:
#
#     an error is about               a later finding is left out at
#     a place in the pod spec         the place and everything below it
#     a volume, or a mount of it      that volume and every mount of it in any container
#     two containers of one name      the name of a container, and where a container counts as Contrast's own


# about a volume, or its source
OF_VOLUMES = ("CC0601", "CC0605", "CC0805", "CC0807", "CC0808", "CC0810", "CC083", "CC0844")
_CLAIM_TEMPLATES = "volumeClaimTemplates"
SAME_NAME = "CC0208"
BY_NAME = "CC0507"  # the image of a container with one of Contrast's names


def news(later: Iterable[Finding], earlier: Sequence[Finding], workload: Workload) -> tuple[Finding, ...]:
    """Return the later findings that do not repeat an `earlier` error; paths are the workload's."""
    errors = [problem for problem in earlier if has_errors([problem])]
    covered = {place for problem in errors for place in _unfit_places(problem, workload)}
    same_name = any(problem.code == SAME_NAME for problem in errors)
    return tuple(
        problem
        for problem in later
        if not (same_name and (problem.code == BY_NAME or problem.path[-1:] == ("name",)))
        and not any(place in covered for path in _with_volume(problem.path, workload) for place in _prefixes(path))
    )


def _unfit_places(error: Finding, workload: Workload) -> Iterable[Path]:
    """Yield the places that an error makes unfit for later stages, but never the whole pod spec."""
    if len(error.path) > len(workload.spec_path):
        yield error.path
    if error.code.startswith(OF_VOLUMES):
        yield from (path for path in _with_volume(error.path, workload) if path != error.path)


def _with_volume(path: Path, workload: Workload) -> Iterable[Path]:
    """Yield a path, and the name of its volume as a path."""
    yield path
    spec = workload.spec_path
    for field, name in (("volumes", ("name",)), ("volumeMounts", ("name",)), (_CLAIM_TEMPLATES, ("metadata", "name"))):
        if field in path:
            entry = path[: path.index(field) + 2]
            volume = workload.at((*entry, *name)) if len(entry) > path.index(field) + 1 else None
            if isinstance(volume, str):
                yield (*spec, "volumes", volume)


def _prefixes(path: Path) -> Iterable[Path]:
    return (path[:length] for length in range(1, len(path) + 1))
