"""Check pods: what Contrast checks before and after it changes pods, and what it leaves to the cluster.

Source: docs/facts/contrast.md#checks.

Rule of this file: it reports and never edits. Init containers count as containers everywhere: the host controls what
they mount and run just as much. `before` checks what the user wrote, `after` the pod with its injected containers.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.findings import Finding, Path, finding
from krm_function.measurement.vcpu_count import MAX_VCPUS, vcpus_text
from krm_function.model import annotations
from krm_function.model.cpu_limits import sandbox_vcpus, vcpus
from krm_function.model.gpu import gpu_count, gpu_problems
from krm_function.model.image import is_contrast_image, parse_image, printable_reference
from krm_function.model.injected.initializer import INITIALIZER, SKIP_INITIALIZER
from krm_function.model.injected.mesh_sidecar import SERVICE_MESH
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.mesh_annotations import read_mesh
from krm_function.model.pod_names import longest_name
from krm_function.model.pod_types import type_findings
from krm_function.model.pods import claim_names, claim_templates, indexes_named, volume_sources
from krm_function.model.runtime_annotations import refusal
from krm_function.model.workload import POD_ROLE, Workload

# Volume sources that stay inside the VM or are checked there; all others are a file system of the host's.
INSIDE = ("configMap", "downwardAPI", "emptyDir", "ephemeral", "projected", "secret")
COORDINATOR = "coordinator"
OF_RUNNING = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")


def check_before_injection(workload: Workload, release_images: Mapping[str, str]) -> tuple[Finding, ...]:
    """Check a workload as the user wrote it. release_images: what the render will replace, and thereby pin."""
    shape = type_findings(workload)
    if shape:
        return shape  # the readers below trust the types
    return (
        *_containers(workload),
        *_name(workload),
        *_twice(workload),
        *_init_containers(workload),
        *_annotations(workload),
        *_of_the_runtime(workload),
        *_opt_out(workload),
        *_mesh(workload),
        *_images(workload, release_images),
        *_processors(workload),
    )


def check_after_injection(workload: Workload, release_version: str) -> tuple[Finding, ...]:
    """Check a workload, whose types were checked before injection, with what was injected.

    release_version: the tag that Contrast's own images must have.
    """
    return (*_images(workload, {}), *_versions(workload, release_version), *_mounts(workload), *_claims(workload))


def check_rendered(workload: Workload) -> tuple[Finding, ...]:
    """Check a pod as it will be applied for what Kubernetes or Contrast would refuse; any tool may have rendered it."""
    shape = type_findings(workload)
    if shape:
        return shape
    return (
        *_containers(workload),
        *_name(workload),
        *_of_the_runtime(workload),
        *_images(workload, {}),
        *_mounts(workload),
        *_claims(workload),
        *_processors(workload),
    )


# --- before


def _containers(workload: Workload) -> Iterator[Finding]:
    """Check that there is a container, and that names are unique, as Kubernetes requires."""
    if not workload.containers:
        yield finding("CC0206", workload.ref, (*workload.spec_path, "containers"))
    containers = Counter(each.name for each in workload.all_containers)
    volumes = Counter(str(volume["name"]) for volume in maps(workload.pod_spec.get("volumes")))
    for what, names in (("container", containers), ("volume", volumes)):
        for name, count in names.items():
            if count > 1:
                yield finding("CC0208", workload.ref, workload.spec_path, what=what, name=name)


def _name(workload: Workload) -> Iterator[Finding]:
    """Check that the name leaves room for what a controller appends to it, or uses it for."""
    job_spec = mapping(dig(workload.object, workload.template[:-1]))
    completions = job_spec.get("completions") if job_spec.get("completionMode") == "Indexed" else 0
    limit, reason = longest_name(workload.ref.kind, completions if isinstance(completions, int) else 0)
    if workload.made_by:
        limit, reason = workload.made_by.longest_name, "its controller makes no pods of longer ones"
    name = dig(workload.object, ("metadata", "name"))
    length = len(name) if isinstance(name, str) else 0
    if 0 < limit < length:
        at = (*workload.root, "metadata", "name")
        kind = workload.ref.kind
        yield finding("CC0222", workload.ref, at, length=length, kind=kind, limit=limit, reason=reason)


def _twice(workload: Workload) -> Iterator[Finding]:
    """Find two mounts of a container at one path, which Kubernetes refuses, and variables that are set twice."""
    for each in workload.all_containers:
        places: set[str] = set()
        for index, mount in enumerate(each.mounts):
            place = str(mount.get("mountPath") or "")
            if place in places:
                path = (*each.path, "volumeMounts", index, "mountPath")
                yield finding("CC0261", workload.ref, path, container=each.name, place=place)
            places.add(place)
        names: set[str] = set()
        for index, variable in enumerate(maps(each.container.get("env"))):
            name = str(variable.get("name") or "")
            if name in names:
                yield finding("CC0262", workload.ref, (*each.path, "env", index), container=each.name, name=name)
            names.add(name)


def _init_containers(workload: Workload) -> Iterator[Finding]:
    """Find hooks and probes of an init container that is no sidecar: it has to end, so Kubernetes refuses them."""
    for each in workload.all_containers:
        if each.is_init and each.container.get("restartPolicy") != "Always":
            for field in OF_RUNNING:
                if each.container.get(field) is not None:
                    yield finding("CC0221", workload.ref, (*each.path, field), field=field, container=each.name)


def _annotations(workload: Workload) -> Iterator[Finding]:
    """Find keys of Contrast's domain that have no effect: misspelt ones, and ones in the wrong place."""
    for metadata, what, key in _keys(workload, workload.metadata_path):
        read = annotations.is_known(key, "pod annotation" if what == "annotation" else "pod label")
        old_role = key == POD_ROLE and what == "annotation" and workload.labels.get(key) != workload.annotations[key]
        if old_role or not read:
            place = f"the {what}s of the pod template"
            yield annotations.unread(workload.ref, (*metadata, f"{what}s", key), what, key, place)
    movable = annotations.misplaced(workload)
    for metadata, where in annotations.outer_metadata(workload):
        place = f"{where}, only on its pod template"
        for path, what, key in _keys(workload, metadata):
            # kustomize's commonAnnotations and labels write to the object and to its template alike: no harm done
            own = workload.annotations if what == "annotation" else workload.labels
            if key not in own or own[key] != workload.at((*path, f"{what}s", key)):
                by_rule = what == "annotation" and key in movable
                yield annotations.unread(workload.ref, (*path, f"{what}s", key), what, key, place, by_rule=by_rule)


def _of_the_runtime(workload: Workload) -> Iterator[Finding]:
    """Find annotations by which the runtime of the node would start another VM."""
    for key in workload.annotations:
        code = refusal(str(key))
        if code:
            yield finding(code, workload.ref, (*workload.metadata_path, "annotations", key), key=key)


def _keys(workload: Workload, metadata: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield the keys of Contrast's domain in one metadata: its path, annotation or label, the key."""
    for what in ("annotation", "label"):
        for key in mapping(workload.at((*metadata, f"{what}s"))):
            if annotations.is_contrast_key(str(key)):
                yield metadata, what, str(key)


def _opt_out(workload: Workload) -> Iterator[Finding]:
    """Find a skip-initializer that skips nothing; false says in words what is done."""
    if workload.annotations.get(SKIP_INITIALIZER, "true") not in {"true", "false"}:
        path = (*workload.metadata_path, "annotations", SKIP_INITIALIZER)
        yield finding("CC0204.skip", workload.ref, path, key=SKIP_INITIALIZER, grammar="")


def _mesh(workload: Workload) -> Iterator[Finding]:
    """Check the grammar of the service mesh annotations."""
    for key, cause in read_mesh(workload.annotations).problems:
        path = (*workload.metadata_path, "annotations", key)
        yield finding(cause.code, workload.ref, path, key=key, grammar=annotations.KNOWN[key].value, **cause.values)


def _processors(workload: Workload) -> Iterator[Finding]:
    """Check that the VM's vCPUs are in range and not fewer than its GPUs."""
    count = vcpus(workload)
    gpus = gpu_count(workload.pod_spec)
    path = workload.spec_path
    for at, cause in gpu_problems(workload.pod_spec):
        yield finding(cause.code, workload.ref, path + at, key=str(at[-1]), **cause.values)
    if isinstance(count, Finding):
        yield count
    elif not 1 <= count <= MAX_VCPUS:
        yield finding("CC0407", workload.ref, path, vcpus=vcpus_text(count))
    else:
        if count < gpus:
            yield finding("CC0406", workload.ref, path, gpus=gpus, vcpus=vcpus_text(count), cpus=gpus - 1)
        sandbox = sandbox_vcpus(workload)
        if sandbox != count:
            cpus = max(count, sandbox) - 1
            yield finding("CC0410", workload.ref, path, vcpus=count, sandbox=sandbox, cpus=cpus)


# --- before and after


def _images(workload: Workload, replaced: Mapping[str, str]) -> Iterator[Finding]:
    """Check that every image is present, valid and pinned; those in `replaced` will be pinned by the release."""
    for each in workload.all_containers:
        image: str = each.container.get("image") or ""
        path = (*each.path, "image")
        if not image:
            yield finding("CC0501", workload.ref, each.path, container=each.name)
            continue
        if is_contrast_image(image) and image in replaced:
            continue
        parsed = parse_image(image)
        if isinstance(parsed, str):
            yield finding("CC0503", workload.ref, path, image=printable_reference(image), problem=parsed)
        elif not parsed.pinned:
            yield finding("CC0502.tag", workload.ref, path, image=image)


# --- after


def _versions(workload: Workload, release: str) -> Iterator[Finding]:
    """Check that Contrast's own containers are of this release; a development release may mix."""
    if "dev" in release or "pre" in release:
        return
    names = {INITIALIZER, SERVICE_MESH} | ({COORDINATOR} if workload.is_coordinator else set())
    for each in workload.all_containers:
        image = each.container.get("image")
        parsed = parse_image(image) if isinstance(image, str) and each.name in names else ""
        if not isinstance(parsed, str) and parsed.tag and parsed.tag != release:
            path = (*each.path, "image")
            yield finding("CC0507", workload.ref, path, image=image, tag=parsed.tag, release=release)


def _mounts(workload: Workload) -> Iterator[Finding]:
    """Check that no container mounts a file system that the host controls; block devices are no mounts."""
    volumes = maps(workload.pod_spec.get("volumes"))
    claimed = claim_names(workload)
    for each in workload.all_containers:
        for index, mount in enumerate(each.mounts):
            name = mount["name"]
            path = (*each.path, "volumeMounts", index)
            values: dict[str, Any] = {"container": each.name, "volume": name}
            if name in claimed:  # takes the place of a volume of this name
                yield finding("CC0807", workload.ref, path, **values, source="volumeClaimTemplate")
                continue
            found = indexes_named(volumes, name)
            if not found:
                yield finding("CC0810", workload.ref, path, **values)
            for at in found:
                yield from _source(workload, each.name, path, volumes[at])


def _source(workload: Workload, container: str, path: Path, volume: Mapping[str, Any]) -> Iterator[Finding]:
    """Check the source of a mounted volume."""
    for source in volume_sources(volume):
        if source not in INSIDE:
            yield finding("CC0807", workload.ref, path, container=container, volume=volume["name"], source=source)


def _claims(workload: Workload) -> Iterator[Finding]:
    """Check that a StatefulSet's claims are block devices."""
    for index, claim in enumerate(claim_templates(workload)):
        if mapping(claim.get("spec")).get("volumeMode") != "Block":
            path = (*workload.root, "spec", "volumeClaimTemplates", index)
            name = mapping(claim.get("metadata")).get("name")
            yield finding("CC0808", workload.ref, path, name=name)
