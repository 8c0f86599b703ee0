"""Tell of what classes a pod is: what in it decides whether a confidential render takes it.

Each class is a function in a table. It returns the details that put a workload into the class, none if it is not in it.
Two workloads of a class have the same shape if kind, fields of the security contexts and details are the same.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import dig

Json = Mapping[str, Any]


class Workload(NamedTuple):
    """A workload of a package. images: facts by reference; objects: the ConfigMaps, Secrets and claims of the input."""

    object: Json
    images: Json
    objects: frozenset[tuple[str, str]]

    @property
    def name(self) -> str:
        """Kind/name."""
        return f"{self.object['kind']}/{self.object['metadata']['name']}"

    @property
    def pod(self) -> Json:
        """The pod spec."""
        spec: Json = dig(self.object, (*KINDS[self.object["kind"]][1], "spec"))
        return spec

    @property
    def containers(self) -> list[Json]:
        """All containers, init containers first."""
        return [*(self.pod.get("initContainers") or ()), *self.pod["containers"]]

    @property
    def volumes(self) -> dict[str, tuple[str, Any]]:
        """The source of each volume and of each claim template, by its name; "" for none."""
        found = {}
        for volume in self.pod.get("volumes") or ():
            source = next((key for key in volume if key != "name"), "")
            found[volume["name"]] = (source, volume.get(source))
        for claim in self.object["spec"].get("volumeClaimTemplates") or ():
            found[claim["metadata"]["name"]] = ("volumeClaimTemplate", claim["spec"])
        return found

    @property
    def mounts(self) -> list[tuple[Json, str, Any]]:
        """Every mount with the source of its volume."""
        mounts = [mount for one in self.containers for mount in one.get("volumeMounts") or ()]
        return [(mount, *self.volumes[mount["name"]]) for mount in mounts]

    def user(self, container: Json) -> str:
        """The user of the container's image; "" if the pod names another."""
        contexts = (container.get("securityContext") or {}, self.pod.get("securityContext") or {})
        if any("runAsUser" in context for context in contexts):
            return ""
        facts = self.images[container["image"]]
        user = str(facts["config"].get("User") or "root")
        return f"{user} in wheel" if user == "root" and "wheel:x:10:root" in facts["group"] else user

    def shape(self, details: frozenset[str]) -> tuple[Any, ...]:
        """What makes two pods of a class different ones."""
        contexts = [self.pod, *self.containers]
        fields = tuple(tuple(sorted(one.get("securityContext") or ())) for one in contexts)
        return (self.object["kind"], fields, details)


def _user(wanted: Callable[[str], bool]) -> Callable[[Workload], Iterator[str]]:
    def found(workload: Workload) -> Iterator[str]:
        for container in workload.containers:
            if wanted(workload.user(container)):
                yield f"{workload.user(container)} {container['name']}"

    return found


def _mounted(*sources: str) -> Callable[[Workload], Iterator[str]]:
    def found(workload: Workload) -> Iterator[str]:
        for mount, source, _ in workload.mounts:
            if source in sources:
                yield f"{source} {' '.join(sorted(mount))}"

    return found


def _claims(workload: Workload) -> Iterator[str]:
    for mount, source, spec in workload.mounts:
        if source == "volumeClaimTemplate" and spec.get("volumeMode") != "Block":
            yield f"{source} {' '.join(sorted(mount))}"


def _from_cluster(source: str, kind: str) -> Callable[[Workload], Iterator[str]]:
    def found(workload: Workload) -> Iterator[str]:
        for container in workload.containers:
            for variable in container.get("env") or ():
                of = (variable.get("valueFrom") or {}).get(source)
                if of and (kind, of["name"]) not in workload.objects:
                    yield f"{source} {of['name']} {of.get('optional')}"
            for entry in container.get("envFrom") or ():
                of = entry.get(source)
                if of and (kind, of["name"]) not in workload.objects:
                    yield f"envFrom {of['name']} {of.get('optional')}"

    return found


def _env_from(workload: Workload) -> Iterator[str]:
    for source, kind in (("secretRef", "Secret"), ("configMapRef", "ConfigMap")):
        yield from _from_cluster(source, kind)(workload)


def _non_root(workload: Workload) -> Iterator[str]:
    context = workload.pod.get("securityContext") or {}
    if context.get("runAsNonRoot"):
        yield " ".join(f"{key} {context[key]}" for key in sorted(context))


def _null_empty_dir(workload: Workload) -> Iterator[str]:
    for mount, source, spec in workload.mounts:
        if not source or (source == "emptyDir" and spec is None):
            yield f"{source} {mount['mountPath']}"


def _sub_path(workload: Workload) -> Iterator[str]:
    for mount, source, _ in workload.mounts:
        yield from (f"{key} of {source}" for key in ("subPath", "subPathExpr") if key in mount)


def _init(sidecar: bool) -> Callable[[Workload], Iterator[str]]:
    def found(workload: Workload) -> Iterator[str]:
        for container in workload.pod.get("initContainers") or ():
            if (container.get("restartPolicy") == "Always") == sidecar:
                yield " ".join(sorted(container))

    return found


def _run_inside(workload: Workload) -> Iterator[str]:
    probes = ("livenessProbe", "readinessProbe", "startupProbe")
    for container in workload.containers:
        handlers = {key: container[key] for key in probes if key in container} | dict(container.get("lifecycle") or {})
        yield from (f"{key} {' '.join(sorted(handler))}" for key, handler in handlers.items())


def _expansion(workload: Workload) -> Iterator[str]:
    for container in workload.containers:
        texts = [*(container.get("command") or ()), *(container.get("args") or ())]
        texts += [str(one.get("value", "")) for one in container.get("env") or ()]
        yield from (text for text in texts if "$(" in text)


def _odd_resources(workload: Workload) -> Iterator[str]:
    for container in workload.containers:
        for key, value in ((container.get("resources") or {}).get("limits") or {}).items():
            if not isinstance(value, str) or value[-1:] not in "i0123456789" or not value[:1].isdecimal():
                yield f"{key} {value!r}"


def _of_pod(*fields: str) -> Callable[[Workload], Iterator[str]]:
    def found(workload: Workload) -> Iterator[str]:
        yield from (f"{field} {workload.pod[field]}" for field in fields if workload.pod.get(field))

    return found


def _no_namespace(workload: Workload) -> Iterator[str]:
    if "namespace" not in workload.object["metadata"]:
        yield "no namespace"


def _host_ports(workload: Workload) -> Iterator[str]:
    for container in workload.containers:
        yield from (f"{port}" for port in container.get("ports") or ())


def _shared_empty_dir(workload: Workload) -> Iterator[str]:
    """Whether an emptyDir is mounted by subPath at several places, and how."""
    paths: dict[str, list[str]] = {}
    for mount, source, _ in workload.mounts:
        if source == "emptyDir":
            paths.setdefault(mount["name"], []).append(mount.get("subPath", ""))
    yield from (" ".join(sorted(found)) for found in paths.values() if len(found) > 1 and any(found))


def _image_volume(workload: Workload) -> Iterator[str]:
    for container in workload.containers:
        places = {mount["mountPath"] for mount in container.get("volumeMounts") or ()}
        volumes = workload.images[container["image"]]["config"].get("Volumes") or ()
        yield from (place for place in volumes if place not in places)


def _claim_with_object(workload: Workload) -> Iterator[str]:
    for mount, source, spec in workload.mounts:
        if source == "persistentVolumeClaim" and ("PersistentVolumeClaim", spec["claimName"]) in workload.objects:
            yield f"{spec['claimName']} at {mount['mountPath']}"


def _gpu(workload: Workload) -> Iterator[str]:
    for container in workload.containers:
        limits = (container.get("resources") or {}).get("limits") or {}
        yield from (f"{key} {limits[key]}" for key in limits if key.startswith(("nvidia.com/", "amd.com/")))


def _gpu_share(workload: Workload) -> Iterator[str]:
    yield from (one for one in _gpu(workload) if "gpumem" in one or "gpucores" in one)


def _bucket(workload: Workload) -> Iterator[str]:
    for _, source, spec in workload.mounts:
        if source == "csi" and "gcsfuse" in spec["driver"]:
            yield spec["driver"]


def _big_image(workload: Workload) -> Iterator[str]:
    for container in workload.containers:
        layers = workload.images[container["image"]].get("layers") or ()
        if sum(one["uncompressedSize"] for one in layers) > BIG:
            yield f"{container['image']} {(container.get('resources') or {}).get('limits')}"


BIG = 16 << 30
CLASSES: dict[str, Callable[[Workload], Iterator[str]]] = {
    # the pod names no user, and the image's is ...
    "user-root-in-wheel": _user(lambda user: user == "root in wheel"),
    "user-65532": _user(lambda user: user.startswith("65532")),
    "user-1000-1000": _user(lambda user: user == "1000:1000"),
    "user-1000-2000": _user(lambda user: user == "1000:2000"),
    "user-by-name": _user(lambda user: user[:1].isalpha() and not user.startswith("root")),
    "pod-runs-as-non-root": _non_root,
    # variables of objects that only the cluster has
    "secret-of-the-cluster": _from_cluster("secretKeyRef", "Secret"),
    "config-map-of-the-cluster": _from_cluster("configMapKeyRef", "ConfigMap"),
    "all-of-an-object-of-the-cluster": _env_from,
    # file systems of the host
    "claim": _mounted("persistentVolumeClaim"),
    "claim-template": _claims,
    "host-path": _mounted("hostPath"),
    "nfs-or-csi": _mounted("nfs", "csi"),
    # other volumes
    "null-empty-dir": _null_empty_dir,
    "downward-api": _mounted("downwardAPI", "projected"),
    "object-as-volume": _mounted("configMap", "secret"),
    "sub-path": _sub_path,
    "shared-empty-dir": _shared_empty_dir,
    "image-volume": _image_volume,
    "claim-with-object": _claim_with_object,
    # containers
    "gpu": _gpu,
    "init-container": _init(sidecar=False),
    "native-sidecar": _init(sidecar=True),
    "probe-or-hook": _run_inside,
    "expansion": _expansion,
    "odd-resources": _odd_resources,
    "ports": _host_ports,
    # pods
    "host-network": _of_pod("hostNetwork"),
    "shared-process-namespace": _of_pod("shareProcessNamespace"),
    "scheduling": _of_pod("tolerations", "affinity", "topologySpreadConstraints", "nodeSelector"),
    "no-namespace": _no_namespace,
}

RARE: dict[str, Callable[[Workload], Iterator[str]]] = {  # of which one workload tells enough
    "gpu-share": _gpu_share,
    "bucket": _bucket,
    "big-image": _big_image,
}


def classes(workload: Workload) -> dict[str, tuple[Any, ...]]:
    """The classes of a workload, each with its shape."""
    found = {name: frozenset(details(workload)) for name, details in (CLASSES | RARE).items()}
    return {name: workload.shape(details) for name, details in found.items() if details}
