"""Every field of a pod spec, and what the policy does with it: the one table of coverage.

Rule of this file: a field of the Kubernetes API (1.37, and what earlier releases had) is in the table or it is unknown;
nothing of a pod is ever passed over in silence. Three uses:

    policy    read by the generator: it changes policy_data
    inert     cannot change what the host asks of the guest beyond what the rules allow anyway, nor can anything in it
    refused   could change it in a way that cannot be derived: CC0601, unless it has the value Kubernetes assumes
              anyway (`harmless`), e.g. hostPID: false

A second engineer reads a decision here, not out of the code. The tests compare the table with the fields of the API
itself. Sources: docs/facts/kata.md#pod-fields, docs/facts/kata.md#volumes.
"""

from typing import Any, Literal

from krm_function.record import NamedTuple

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
GONE = REFUSED  # a volume that no kubelet mounts any more


def _disk(*inert: str) -> dict[str, Field]:
    """A volume that the kubelet mounts on the node. Where its files come from is the host's matter, see volumes.py."""
    return {"readOnly": FLAG, **dict.fromkeys(inert, INERT)}


def _files(*inert: str) -> dict[str, Field]:
    """A volume that the kubelet fills. What its files hold is no part of a policy (docs/facts/kata.md#volumes)."""
    return dict.fromkeys(("defaultMode", "defaultUser", *inert), INERT)


TYPES: dict[str, dict[str, Field]] = {
    "PodSpec": {
        "activeDeadlineSeconds": INERT,
        "affinity": INERT,
        "automountServiceAccountToken": INERT,  # the token's mount is allowed in every workload container
        "containers": Field("policy", "[Container]", required=True),
        "dnsConfig": INERT,
        "dnsPolicy": INERT,
        "enableServiceLinks": FLAG,  # whether `$(DB_SERVICE_HOST)` may be an address: see tokens.py
        "ephemeralContainers": _refused([]),
        "evictionResponders": INERT,
        "hostAliases": INERT,  # /etc/hosts is a file of the host in any case
        "hostIPC": _refused(False),  # nobody says which host's, the VM's or the node's
        "hostNetwork": FLAG,
        "hostPID": _refused(False),
        "hostUsers": _refused(True),  # false needs mappings of users, which the rules never allow
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
        "schedulingGroup": INERT,
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
        "workloadRef": INERT,  # 1.35 only
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
        "runAsNonRoot": FLAG,
        "runAsUser": NUMBER,
        "seLinuxChangePolicy": INERT,
        "seLinuxOptions": _refused({}),
        "seccompProfile": INERT,
        "supplementalGroups": _policy("[integer]"),
        "supplementalGroupsPolicy": TEXT,
        "sysctls": _policy("[Sysctl]"),
        "windowsOptions": _refused({}),
    },
    "SecurityContext": {
        "allowPrivilegeEscalation": FLAG,
        "appArmorProfile": INERT,
        "capabilities": _policy("Capabilities"),
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
    "Capabilities": {"add": TEXTS, "drop": TEXTS},
    "Sysctl": {"name": NEEDED, "value": NEEDED},
    "EnvVar": {"name": NEEDED, "value": TEXT, "valueFrom": _policy("EnvVarSource")},
    "EnvVarSource": {
        "configMapKeyRef": _policy("KeySelector"),
        "fieldRef": _policy("FieldSelector"),
        "fileKeyRef": REFUSED,  # a file of an emptyDir, which the kubelet cannot read inside the VM
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
        "bindMountOptions": _refused([]),
        "mountPath": NEEDED,
        "mountPropagation": TEXT,
        "name": NEEDED,
        "readOnly": FLAG,
        "recursiveReadOnly": _refused("Disabled"),
        "subPath": TEXT,
        "subPathExpr": TEXT,
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
        "awsElasticBlockStore": _policy("AwsElasticBlockStore"),
        "azureDisk": _policy("AzureDisk"),
        "azureFile": _policy("AzureFile"),
        "cephfs": GONE,
        "cinder": _policy("Cinder"),
        "configMap": _policy("ConfigMapVolume"),
        "csi": _policy("Csi"),
        "downwardAPI": _policy("DownwardAPI"),
        "emptyDir": _policy("EmptyDir"),
        "ephemeral": _policy("Ephemeral"),
        "fc": _policy("FibreChannel"),
        "flexVolume": _policy("FlexVolume"),
        "flocker": GONE,
        "gcePersistentDisk": _policy("GcePersistentDisk"),
        "gitRepo": GONE,
        "glusterfs": GONE,
        "hostPath": _policy("HostPath"),
        "image": REFUSED,  # a policy cannot say which image, and nobody has seen how a shim hands one over
        "iscsi": _policy("Iscsi"),
        "name": NEEDED,
        "nfs": _policy("Nfs"),
        "persistentVolumeClaim": _policy("PersistentVolumeClaim"),
        "photonPersistentDisk": GONE,
        "portworxVolume": _policy("Portworx"),
        "projected": _policy("Projected"),
        "quobyte": GONE,
        "rbd": GONE,
        "scaleIO": GONE,
        "secret": _policy("SecretVolume"),
        "storageos": GONE,
        "vsphereVolume": _policy("VsphereVolume"),
    },
    "ConfigMapVolume": _files("items", "name", "optional"),
    "SecretVolume": _files("items", "optional", "secretName"),
    "DownwardAPI": _files("items"),
    "Projected": {**_files(), "sources": _policy("[Projection]")},
    "Projection": dict.fromkeys(
        ("clusterTrustBundle", "configMap", "downwardAPI", "podCertificate", "secret", "serviceAccountToken"), INERT
    ),
    "EmptyDir": {"medium": TEXT, "mode": _refused(0o777), "sizeLimit": INERT},
    "HostPath": {"path": NEEDED, "type": INERT},
    "PersistentVolumeClaim": _disk("claimName"),
    "Ephemeral": {"volumeClaimTemplate": _policy("ClaimTemplate")},
    "ClaimTemplate": {"metadata": INERT, "spec": _policy("ClaimSpec")},
    "ClaimSpec": {
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
    "AwsElasticBlockStore": _disk("fsType", "partition", "volumeID"),
    "AzureDisk": _disk("cachingMode", "diskName", "diskURI", "fsType", "kind"),
    "AzureFile": _disk("secretName", "shareName"),
    "Cinder": _disk("fsType", "secretRef", "volumeID"),
    "Csi": _disk("driver", "fsType", "nodePublishSecretRef", "volumeAttributes"),
    "FibreChannel": _disk("fsType", "lun", "targetWWNs", "wwids"),
    "FlexVolume": _disk("driver", "fsType", "options", "secretRef"),
    "GcePersistentDisk": _disk("fsType", "partition", "pdName"),
    "Iscsi": _disk(
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
    "Nfs": _disk("path", "server"),
    "Portworx": _disk("fsType", "volumeID"),
    "VsphereVolume": dict.fromkeys(("fsType", "storagePolicyID", "storagePolicyName", "volumePath"), INERT),
}
