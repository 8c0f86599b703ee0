"""Workloads for the tests of the policy room."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import References
from krm_function.contrast.profiles import DEFAULT, Profile
from krm_function.findings import Finding, Ref
from krm_function.kubernetes.workload import Workload, workloads_of
from krm_function.policy.initdata import HEAD, pretty
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import Policy, seal
from krm_function.policy.settings import default_settings
from krm_function.schema.table import EMPTY
from tests import quick_yaml as yaml

Json = dict[str, Any]

INITIALIZER: Json = {
    "name": "contrast-initializer",
    "image": "ghcr.io/edgelesssys/contrast/initializer:v1@sha256:" + "1" * 64,
    "env": [{"name": "COORDINATOR_HOST", "value": "coordinator-ready.default"}],
    "volumeMounts": [{"name": "contrast-secrets", "mountPath": "/contrast"}],
    "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}},
    "resources": {"requests": {"memory": "50Mi"}, "limits": {"memory": "50Mi"}},
}
CRYPT_INITIALIZER: Json = {
    **INITIALIZER,
    "env": [*INITIALIZER["env"], {"name": "CRYPTSETUP_DEVICE", "value": "/dev/csi0"}],
    "volumeDevices": [{"name": "state", "devicePath": "/dev/csi0"}],
    "volumeMounts": [
        {"name": "contrast-secrets", "mountPath": "/contrast"},
        {"name": "share", "mountPath": "/state", "mountPropagation": "Bidirectional"},
    ],
    "securityContext": {"privileged": True},
    "startupProbe": {"exec": {"command": ["/bin/test", "-f", "/done"]}, "failureThreshold": 20, "periodSeconds": 5},
    "restartPolicy": "Always",
}
MESH: Json = {
    "name": "contrast-service-mesh",
    "image": "ghcr.io/edgelesssys/contrast/service-mesh-proxy:v1@sha256:" + "2" * 64,
    "restartPolicy": "Always",
    "args": ["-l", "debug"],
    "env": [
        {"name": "CONTRAST_ADMIN_PORT", "value": "9901"},
        {"name": "CONTRAST_EGRESS_PROXY_CONFIG", "value": "db#127.0.0.1:5432#db:5432"},
    ],
    "ports": [{"name": "contrast-admin", "containerPort": 9901}],
    "volumeMounts": [{"name": "contrast-secrets", "mountPath": "/contrast"}],
    "securityContext": {"privileged": True, "capabilities": {"add": ["NET_ADMIN"]}},
    "startupProbe": {
        "exec": {"command": ["test", "-f", "/ready"]},
        "initialDelaySeconds": 1,
        "periodSeconds": 5,
        "failureThreshold": 5,
    },
}
HOLDER: Json = {
    "name": "pvc-holder",
    "image": "ghcr.io/edgelesssys/contrast/initializer:v1@sha256:" + "1" * 64,
    "command": ["/bin/sh", "-c", "sleep inf"],
    "restartPolicy": "Always",
    "securityContext": {"privileged": True},
    "resources": {"requests": {"memory": "50Mi"}, "limits": {"memory": "50Mi"}},
    "volumeDevices": [{"name": "image-store", "devicePath": "/dev/image_store"}],
}
SECRETS: Json = {"name": "contrast-secrets", "emptyDir": {"medium": "Memory"}}
IMAGE_STORE: Json = {
    "name": "image-store",
    "ephemeral": {
        "volumeClaimTemplate": {
            "spec": {
                "volumeMode": "Block",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "10Gi"}},
            }
        }
    },
}
APP: Json = {
    "name": "app",
    "image": "registry.example.com/shop/web:1.2@sha256:" + "3" * 64,
    "command": ["/web"],
    "args": ["--name=$(POD_NAME)", "--price=$$(POD_NAME)", "it's"],
    "env": [
        {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "CPUS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
        {"name": "MODE", "value": "a=b"},
        {"name": "GREETING", "value": "gr\u00fc\u00df dich \U0001f600"},
        {"name": "COLOUR", "valueFrom": {"configMapKeyRef": {"name": "look", "key": "colour"}}},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "token"}}},
    ],
    "envFrom": [{"prefix": "LOOK_", "configMapRef": {"name": "look"}}],
    "ports": [{"containerPort": 8080}],
    "livenessProbe": {"exec": {"command": ["/web", "health"]}},
    "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}},
    "lifecycle": {"preStop": {"exec": {"command": ["/web", "stop"]}}},
    "securityContext": {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False},
    "volumeMounts": [
        {"name": "scratch", "mountPath": "/scratch"},
        {"name": "look", "mountPath": "/etc/look", "readOnly": True},
        {"name": "keys", "mountPath": "/etc/keys"},
        {"name": "share", "mountPath": "/data", "mountPropagation": "HostToContainer"},
        {"name": "contrast-secrets", "mountPath": "/contrast"},
    ],
}
CONFIG_MAP: Json = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "look", "namespace": "shop"},
    "data": {"colour": "red", "size": "$(MODE)"},
}
SECRET: Json = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "keys", "namespace": "shop"},
    "data": {"token": "czNjcjN0"},
}
IMAGE = ImageFacts(
    "sha256:0",
    {"Env": ["PATH=/bin"], "Entrypoint": ["/entry"], "Cmd": ["serve"], "WorkingDir": "/work"},
    passwd="",
    group="",
)
DIGEST = "@sha256:" + "4" * 64


def rich() -> Workload:
    """A pod with everything that is covered: all injected containers and an app that uses most fields."""
    return workload(
        {
            "runtimeClassName": "contrast-cc-metal-qemu-snp-0123abcd",
            "initContainers": [HOLDER, CRYPT_INITIALIZER, MESH],
            "containers": [APP],
            "volumes": [
                {"name": "scratch", "emptyDir": {"sizeLimit": "1Gi"}},
                {"name": "look", "configMap": {"name": "look", "defaultMode": 420}},
                {"name": "keys", "secret": {"secretName": "keys"}},
                {"name": "share", "emptyDir": {"medium": "Memory"}},
                {"name": "state", "persistentVolumeClaim": {"claimName": "state"}},
                SECRETS,
                IMAGE_STORE,
            ],
        }
    )


EXAMPLE = Path(__file__).parents[2] / "examples" / "every-field"
FILE_SYSTEMS: dict[str, Json] = {
    "claim": {"persistentVolumeClaim": {"claimName": "files", "readOnly": True}},
    "host": {"hostPath": {"path": "/srv/shop"}},
    "fuse": {"hostPath": {"path": "/dev/fuse", "type": "CharDevice"}},
    "csi": {"csi": {"driver": "secrets-store.csi.k8s.io", "readOnly": True}},
    "nfs": {"nfs": {"server": "nfs.example.com", "path": "/shop", "readOnly": True}},
    "iscsi": {"iscsi": {"targetPortal": "192.0.2.1", "iqn": "iqn.2001-04.com.example:shop", "readOnly": True}},
    "fc": {"fc": {"wwids": ["3600508b400105e210000900000490000"], "readOnly": True}},
    "flex": {"flexVolume": {"driver": "example.com/flex", "readOnly": True}},
    "azure-file": {"azureFile": {"secretName": "azure", "shareName": "shop", "readOnly": True}},
    "azure-disk": {"azureDisk": {"diskName": "shop", "diskURI": "/disks/shop", "readOnly": True}},
    "aws": {"awsElasticBlockStore": {"volumeID": "vol-0", "readOnly": True}},
    "cinder": {"cinder": {"volumeID": "shop", "readOnly": True}},
    "gce": {"gcePersistentDisk": {"pdName": "shop", "readOnly": True}},
    "portworx": {"portworxVolume": {"volumeID": "shop", "readOnly": True}},
    "vsphere": {"vsphereVolume": {"volumePath": "[shop] disk.vmdk"}},
}


def every_field() -> tuple[Workload, References, dict[str, ImageFacts]]:
    """The pod of examples/every-field, with the volumes that Contrast refuses mounted in it as well."""
    documents = [
        document
        for name in ("resources/every-field.yaml", "resources/settings.yaml", "config/images.yaml")
        for document in yaml.safe_load_all((EXAMPLE / name).read_text())
    ]
    stateful = next(document for document in documents if document["kind"] == "StatefulSet")
    spec = stateful["spec"]["template"]["spec"]
    spec["volumes"] += [{"name": name, **source} for name, source in FILE_SYSTEMS.items()]
    spec["containers"][0]["volumeMounts"] += [{"name": name, "mountPath": f"/mnt/{name}"} for name in FILE_SYSTEMS]
    lock = next(document for document in documents if document["kind"] == "ImageLock")["spec"]["images"]
    facts = {
        name: ImageFacts(image["digest"], image["config"], image.get("passwd"), image.get("group"))
        for name, image in lock.items()
    }
    return of(stateful), References(documents), facts


def simple(**container: Any) -> Workload:
    """A Deployment with one container, whose fields may be given."""
    return workload({"containers": [{"name": "app", "image": "app:1", **container}]})


def workload(
    spec: Json, kind: str = "Deployment", metadata: Json | None = None, template_metadata: Json | None = None
) -> Workload:
    """A workload around a pod spec. An image of it that is named by its tag alone gets a digest."""
    paths = {"Pod": "v1", "ReplicationController": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}
    document: Json = {
        "apiVersion": paths.get(kind, "apps/v1"),
        "kind": kind,
        "metadata": copy.deepcopy(metadata or {"name": "web", "namespace": "shop"}),
    }
    spec = copy.deepcopy(spec)
    for key in ("initContainers", "containers"):
        for entry in spec.get(key) or () if isinstance(spec.get(key), list) else ():
            if isinstance(entry.get("image"), str):
                entry["image"] = pinned(entry["image"])
    pod = {"metadata": copy.deepcopy(template_metadata or {"labels": {"app": "web"}}), "spec": spec}
    if kind == "Pod":
        document["metadata"] |= pod["metadata"]
        document["spec"] = pod["spec"]
    elif kind == "CronJob":
        document["spec"] = {"jobTemplate": {"spec": {"template": pod}}}
    else:
        document["spec"] = {"template": pod}
    return of(document)


def pinned(image: str) -> str:
    """A reference with a digest, its own if it has one."""
    return image if "@" in image else image + DIGEST


def of(document: Json) -> Workload:
    """The workload of a document."""
    metadata = document["metadata"]
    ref = Ref(document["apiVersion"], document["kind"], metadata.get("namespace", ""), metadata.get("name", ""))
    return workloads_of(document, (), ref)[0]


def images(subject: Workload, **config: Any) -> dict[str, ImageFacts]:
    """Facts for every image of a pod."""
    facts = IMAGE._replace(config={**IMAGE.config, **config})
    return {entry["image"]: facts for entry in subject.init_containers + subject.containers if "image" in entry}


def sealing(
    subject: Workload,
    references: References | None = None,
    profile: Profile = DEFAULT,
    files: Mapping[str, str] = EMPTY,
    **config: Any,
) -> tuple[Policy | None, tuple[Finding, ...]]:
    """Seal with our own settings and rules."""
    known = references or References([CONFIG_MAP, SECRET])
    return seal(subject, images(subject, **config), known, default_settings(profile), load_rules(profile), files)


def sealed(
    subject: Workload,
    references: References | None = None,
    profile: Profile = DEFAULT,
    files: Mapping[str, str] = EMPTY,
    **config: Any,
) -> Policy:
    """Seal what must be sealable."""
    made, findings = sealing(subject, references, profile, files, **config)
    assert made is not None, findings
    return made


def container(subject: Workload, index: int = 1, references: References | None = None, **config: Any) -> Any:
    """One container of the policy; 0 is pause."""
    return sealed(subject, references, **config).data["containers"][index]


def refused(
    subject: Workload, references: References | None = None, profile: Profile = DEFAULT, **config: Any
) -> list[tuple[str, str]]:
    """The codes and dotted places of what is wrong."""
    from krm_function.findings import dotted

    made, findings = sealing(subject, references, profile, **config)
    assert made is None
    assert all(found.severity == "error" and found.ref == subject.ref for found in findings)
    prefix = len(subject.spec_path)
    return [
        (found.code, dotted(found.path[prefix:] if found.path[:prefix] == subject.spec_path else found.path))
        for found in findings
    ]


def rego_document(rules: str, data: Mapping[str, Any]) -> str:
    """Join rules and policy data to a policy document."""
    return f"{rules}\n{HEAD}{pretty(dict(data))}"
