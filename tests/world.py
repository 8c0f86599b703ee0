"""The world of most tests: pods as plain data, the configuration to render them with, and renders of them."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from krm_function.config.collect import Config
from krm_function.config.generate import Generate
from krm_function.config.image_lock import ImageFacts
from krm_function.config.release import PlatformRelease, Release
from krm_function.contrast.manifest import decode
from krm_function.findings import Finding, Ref
from krm_function.hosts.stream import decode_stream
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import objects, reference
from krm_function.kubernetes.resource import Resource
from krm_function.kubernetes.workload import EMITTED, INITDATA, PREFIX, Workload, workloads_of
from krm_function.render.pipeline import render
from krm_function.render.read import ReadResources
from krm_function.render.rendered import Rendered
from krm_function.text.parse import Document, parse
from krm_function.text.writer import dump

Json = dict[str, Any]

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

SEED = bytes(range(1, 0x31)).hex()  # of the vectors in docs/facts/contrast-manifest.md#launch-digest
APEIP = "0080b004"
TDX_RTMRS = tuple(digit * 96 for digit in "5678")
RTMR0 = {"1": "5" * 96, "2": "9" * 96, "3": "1" * 96}
SCRIPT = f"example.com/script@sha256:{'b' * 64}"
FACTS = ImageFacts(
    "", {"Env": ["PATH=/bin"], "Entrypoint": ["/entry"], "Cmd": ["serve"], "WorkingDir": "/work"}, "", ""
)
LOCK: dict[str, ImageFacts] = dict.fromkeys((WEB, SCRIPT, INITIALIZER, MESH, COORDINATOR), FACTS)


def snp(platform: str = "metal-qemu-snp", products: Sequence[str] = ("Milan", "Genoa")) -> PlatformRelease:
    entries = tuple({"ProductName": product, "TrustedMeasurement": SEED, "APEIP": APEIP} for product in products)
    return PlatformRelease(HANDLERS[platform], {"memory": "682Mi"}, snp=entries)


def tdx(platform: str = "metal-qemu-tdx") -> PlatformRelease:
    entry = {"MrTd": "4" * 96, "Rtmrs": list(TDX_RTMRS)}
    table = RTMR0 if platform == "metal-qemu-tdx" else {}
    return PlatformRelease(HANDLERS[platform], {"memory": "682Mi"}, tdx=(entry,), rtmr0_by_vcpu=table)


PLATFORMS: dict[str, PlatformRelease] = {name: snp(name) if "snp" in name else tdx(name) for name in HANDLERS}
RELEASE = Release("v1.25.0", "v1.25.0", PLATFORMS, IMAGES)
ON = Generate(image_store=True)


def config(release: Release = RELEASE, images: Mapping[str, ImageFacts] | None = LOCK, **options: Any) -> Config:
    """A configuration; options are those of Generate."""
    return Config(Generate(**{"platform": "metal-qemu-snp", "runtime_classes": "off", **options}), release, images)


def pod_spec(**fields: Any) -> Json:
    """A pod spec with one container `web`; None removes a field."""
    spec = {"runtimeClassName": "contrast-cc", "containers": [_container("500m")], **fields}
    return deepcopy({key: value for key, value in spec.items() if value is not None})


def _container(cpu: str) -> Json:
    return {"name": "web", "image": WEB, "resources": {"limits": {"cpu": cpu, "memory": "200Mi"}}}


def pod_template(
    annotations: Mapping[str, Any] | None = None, labels: Mapping[str, Any] | None = None, **spec: Any
) -> Json:
    """The pod template of docs/facts/contrast.md#worked-example; `spec` overrides fields of the pod spec."""
    metadata: Json = {"labels": {"app": "web", **(labels or {})}}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"metadata": metadata, "spec": pod_spec(**{"containers": [_container("1500m")], **spec})}


def an_object(
    kind: str = "Deployment",
    name: str = "web",
    namespace: str = "shop",
    spec: Json | None = None,
    annotations: Mapping[str, Any] | None = None,
    labels: Mapping[str, Any] | None = None,
    **more: Any,
) -> Json:
    """A workload of any kind. annotations and labels are those of its pod template; `more` joins the object's spec."""
    template: Json = {"metadata": {"labels": {"app": name, **(labels or {})}}, "spec": deepcopy(spec or pod_spec())}
    if annotations:
        template["metadata"]["annotations"] = dict(annotations)
    return _around(template, kind, {"name": name} | ({"namespace": namespace} if namespace else {}), more)


def _around(template: Json, kind: str, metadata: Json, more: Json) -> Json:
    version, path, *_ = KINDS[kind]
    value: Json = {"apiVersion": version, "kind": kind, "metadata": metadata}
    if kind == "Pod":
        return value | {"metadata": {**metadata, **template["metadata"]}, "spec": template["spec"]}
    for key in reversed(path[1:]):
        template = {str(key): template}
    return value | {"spec": {**more, **template}}


def workload(
    kind: str = "Deployment", template: Json | None = None, root: tuple[str | int, ...] = (), **more: Any
) -> Workload:
    """A workload of one of the eight kinds around a template; root puts it into a List."""
    value = _around(deepcopy(template or pod_template()), kind, {"name": "web"}, more)
    return workloads_of(value, root, Ref(value["apiVersion"], kind, "", "web"))[0]


def annotated(**annotations: Any) -> Workload:
    """The worked example with annotations; underscores stand for hyphens."""
    return workload(template=pod_template({PREFIX + key.replace("_", "-"): text for key, text in annotations.items()}))


def coordinator_workload(**spec: Any) -> Workload:
    """A coordinator as in coordinator.yml."""
    container = {"name": "coordinator", "image": "ghcr.io/edgelesssys/contrast/coordinator:latest"}
    return workload("StatefulSet", pod_template(labels={ROLE: "coordinator"}, containers=[container], **spec))


def first_workload(document: Any) -> Workload:
    """The first object of a document as a workload."""
    root, value = next(objects(document))
    return workloads_of(value, root, reference(value))[0]


def names(workload: Workload, field: str = "initContainers") -> list[str]:
    """Names of a list of the pod spec."""
    return [entry["name"] for entry in workload.pod_spec.get(field, [])]


def coordinator(name: str = "coordinator", namespace: str = "shop", **fields: Any) -> Json:
    container = {"name": "coordinator", "image": "ghcr.io/edgelesssys/contrast/coordinator:latest"}
    spec = pod_spec(**{"containers": [container], **fields})
    return an_object("StatefulSet", name, namespace, spec, labels={ROLE: "coordinator"}, serviceName=name)


def a_list(*values: Any) -> Json:
    return {"apiVersion": "v1", "kind": "List", "items": list(values)}


def stream(*values: Any) -> tuple[Resource, ...]:
    """Plain data as the resources of one stream; text stands for itself."""
    texts = [value if isinstance(value, str) else dump(value) for value in values]
    return decode_stream("".join(f"---\n{text}" for text in texts).encode()).resources


def documents(source: ReadResources) -> dict[int, Document]:
    """What was read, by position, without what a render added."""
    return _documents(one for one in source.resources if one.state != "added")


def added(source: ReadResources) -> dict[int, Document]:
    """What was read of objects that a render added, by position."""
    return _documents(one for one in source.resources if one.state == "added")


def _documents(resources: Iterable[Resource]) -> dict[int, Document]:
    return {one.position: one.document for one in resources if one.document is not None}


def run(*values: Any, findings: tuple[Finding, ...] = (), to: Config | None = None) -> Rendered:
    """Render plain data."""
    return render(stream(*values), to or config(), findings)


def good(*values: Any, to: Config | None = None) -> Rendered:
    """Render what must render."""
    made = run(*values, to=to)
    assert [found for found in made.findings if found.severity == "error"] == []
    return made


def again(made: Rendered, to: Config | None = None) -> Rendered:
    """Render what a render made."""
    texts = [text.removeprefix("---\n") for text in made.texts if text is not None]
    return good(*texts, *made.added, to=to)


def values(made: Rendered) -> list[Any]:
    """All objects that leave a render, Lists taken apart."""
    wholes = [parse(text).value for text in made.texts if text is not None] + list(made.added)
    return [value for whole in wholes for _, value in objects(whole)]


def named(made: Rendered, name: str, kind: str = "") -> Workload:
    """A workload as it leaves a render."""
    found = [value for value in values(made) if reference(value).name == name and reference(value).kind in KINDS]
    found = [value for value in found if not kind or value["kind"] == kind]
    assert len(found) == 1
    return workloads_of(found[0], (), reference(found[0]))[0]


def digests(made: Rendered) -> dict[str, str]:
    """Workload name -> digest in the plan."""
    return {one.ref.name: one.digest for one in made.plan if one.digest}


def manifest(made: Rendered) -> Json:
    return decode(made.manifest)


def codes(made: Rendered, severity: str = "error") -> list[str]:
    return [found.code for found in made.findings if found.severity == severity]


def said(made: Rendered) -> list[tuple[str, str]]:
    """Code and workload of every error."""
    errors = [found for found in made.findings if found.severity == "error"]
    return sorted((found.code, found.ref.name if found.ref else "") for found in errors)


def emitted(made: Rendered) -> list[Any]:
    """Objects that renders added."""
    return [one for one in values(made) if EMITTED in one["metadata"].get("annotations", {})]


def initdata(workload: Workload) -> str:
    return str(workload.annotations[INITDATA])
