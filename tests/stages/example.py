"""The worked example of docs/facts/contrast.md#worked-example, and how to change it."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from krm_function.config.generate import Generate
from krm_function.config.release import PlatformRelease, Release
from krm_function.findings import Ref
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import objects, reference
from krm_function.kubernetes.workload import PREFIX, Workload, workloads_of

DIGEST = "sha256:" + "a" * 64
WEB = f"example.com/web@{DIGEST}"
INITIALIZER = f"ghcr.io/edgelesssys/contrast/initializer:v1.25.0@sha256:{'1' * 64}"
MESH = f"ghcr.io/edgelesssys/contrast/service-mesh-proxy:v1.25.0@sha256:{'2' * 64}"
COORDINATOR = f"ghcr.io/edgelesssys/contrast/coordinator:v1.25.0@sha256:{'3' * 64}"
IMAGES = {
    "ghcr.io/edgelesssys/contrast/initializer:latest": INITIALIZER,
    "ghcr.io/edgelesssys/contrast/service-mesh-proxy:latest": MESH,
    "ghcr.io/edgelesssys/contrast/coordinator:latest": COORDINATOR,
}
HANDLERS = {
    name: f"contrast-cc-{name}-1a2b3c4d"
    for name in ("metal-qemu-snp", "metal-qemu-snp-gpu", "metal-qemu-tdx", "metal-qemu-tdx-gpu")
}
RELEASE = Release(
    "v1.25.0",
    "v1.25.0",
    {name: PlatformRelease(handler, {"memory": "682Mi"}) for name, handler in HANDLERS.items()},
    IMAGES,
)
INGRESS = PREFIX + "servicemesh-ingress"
EGRESS = PREFIX + "servicemesh-egress"
ADMIN = PREFIX + "servicemesh-admin-interface-port"
SKIP = PREFIX + "skip-initializer"
SECURE_PV = PREFIX + "secure-pv"
STORE_SIZE = PREFIX + "image-store-size"
ROLE = PREFIX + "pod-role"
SECRETS_MOUNT = {"name": "contrast-secrets", "mountPath": "/contrast", "readOnly": True}
WRITABLE_SECRETS_MOUNT = {"name": "contrast-secrets", "mountPath": "/contrast"}  # the initializer's
SECRETS_VOLUME = {"name": "contrast-secrets", "emptyDir": {"medium": "Memory"}}
ON = Generate(image_store=True)


def pod_template(
    annotations: Mapping[str, Any] | None = None, labels: Mapping[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    """A pod template with one container `web`; `spec` overrides fields of the pod spec, None removes them."""
    fields = {
        "runtimeClassName": "contrast-cc",
        "containers": [
            {"name": "web", "image": WEB, "resources": {"limits": {"cpu": "1500m", "memory": "200Mi"}}},
        ],
        **spec,
    }
    metadata: dict[str, Any] = {"labels": {"app": "web", **(labels or {})}}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"metadata": metadata, "spec": {key: value for key, value in fields.items() if value is not None}}


def workload(
    kind: str = "Deployment", template: dict[str, Any] | None = None, root: tuple[str | int, ...] = (), **spec: Any
) -> Workload:
    """A workload of one of the eight kinds around a template; root puts it into a List. `spec` is the object's own."""
    version, path, *_ = KINDS[kind]
    body = deepcopy(template or pod_template())
    value: dict[str, Any] = {"apiVersion": version, "kind": kind, "metadata": {"name": "web"}}
    if kind == "Pod":
        value["metadata"] |= body["metadata"]
        value["spec"] = body["spec"]
    else:
        for key in reversed(path[1:]):
            body = {str(key): body}
        value["spec"] = {**spec, **body}
    return workloads_of(value, root, Ref(version, kind, "", "web"))[0]


def annotated(**annotations: Any) -> Workload:
    """The example with annotations; underscores stand for hyphens."""
    return workload(template=pod_template({PREFIX + key.replace("_", "-"): text for key, text in annotations.items()}))


def coordinator(**spec: Any) -> Workload:
    """A coordinator as in coordinator.yml."""
    container = {"name": "coordinator", "image": "ghcr.io/edgelesssys/contrast/coordinator:latest"}
    return workload("StatefulSet", pod_template(labels={ROLE: "coordinator"}, containers=[container], **spec))


def found(document: Any) -> Workload:
    """The first object of a document as a workload."""
    root, value = next(objects(document))
    return workloads_of(value, root, reference(value))[0]


def names(workload: Workload, field: str = "initContainers") -> list[str]:
    """Names of a list of the pod spec."""
    return [entry["name"] for entry in workload.pod_spec.get(field, [])]
