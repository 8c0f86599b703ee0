"""Table of every field of a pod spec: its type, and what a policy does with it.

Rule of this file: a field of the Kubernetes API (1.37, and what earlier releases had) is in the table or it is unknown;
nothing of a pod is ever passed over in silence. A second engineer reads a decision here, not out of the code; the three
uses are explained in policy/field_coverage.py. The tests compare the table with the fields of the API itself.

The table is part of the model because types are checked without a policy, too: `pod_types` finds wrong ones in every
pod, `policy.field_coverage` finds what a policy does not cover. Sources: docs/facts/kata.md#pod-fields,
docs/facts/kata.md#volumes.
"""

from typing import Any, Literal

from krm_function.schema.kinds import ANY_TEXT, Anything, Field, Flag, ListOf, MapOf, Number, Only, Record, Spec, Text

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
    """Make the fields of a volume that the kubelet mounts on the node; the host controls its files, see volumes.py."""
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
        "enableServiceLinks": FLAG,  # whether `$(DB_SERVICE_HOST)` may be an address: policy/variable_expansion.py
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
