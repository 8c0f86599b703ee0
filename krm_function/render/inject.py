"""Inject: add the initializer, the service mesh and the image store, then pin images, in Contrast's order.

Source: docs/facts/contrast.md#order.

Rule of this file: all or nothing for each pod, and only missing parts are added. An injected container with the right
position and content is not edited; one that differs is removed and inserted again. The coordinator gets the image store
and pinned images, never the initializer or the mesh. Users and groups that the pod sets for all of its containers do
not apply to the injected ones, which state the users of their images: policy/users.py.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from krm_function.config.generate import Generate
from krm_function.config.image_lock import ImageFacts
from krm_function.config.release import Release
from krm_function.contrast.annotations import ADMIN_PORT, EGRESS, INGRESS, KNOWN, asks_for_mesh, read_mesh
from krm_function.contrast.injected import (
    IMAGE_STORE_SIZE,
    INITIALIZER,
    INITIALIZER_IMAGE,
    LONGEST_NAME,
    PVC_HOLDER,
    SECRETS,
    SECRETS_PATH,
    SECURE_PV,
    SERVICE_MESH,
    SERVICE_MESH_IMAGE,
    VOLUME_OWNER,
    asks_for_initializer,
    image_store_volume,
    initializer,
    memory_volume,
    pvc_holder,
    read_secure_pv,
    secrets_mount,
    service_mesh,
)
from krm_function.contrast.profiles import states_users
from krm_function.findings import Cause, Finding, finding, has_errors
from krm_function.kubernetes.objects import listed, mapping, maps
from krm_function.kubernetes.quantity import nano
from krm_function.kubernetes.resource import Outcome
from krm_function.kubernetes.workload import (
    PREFIX,
    Draft,
    Workload,
    claim_names,
    indexes_named,
    mount_point,
    sets_user,
    touches,
    volume_sources,
)
from krm_function.record import NamedTuple
from krm_function.schema.table import EMPTY
from krm_function.text.changes import ABSENT, same

STORE_SIZE = PREFIX + "image-store-size"
DEVICES = ("persistentVolumeClaim", "iscsi")


class InjectionPlan(NamedTuple):
    """The containers and volumes to inject into a pod, decided before any edit."""

    initializer: bool
    mesh: bool
    mesh_annotated: bool
    store: bool
    store_size: str

    @property
    def injected(self) -> frozenset[str]:
        """Names of the containers to inject."""
        chosen = {INITIALIZER: self.initializer, SERVICE_MESH: self.mesh, PVC_HOLDER: self.store}
        return frozenset(name for name, is_injected in chosen.items() if is_injected)


class Injection:
    """One pod under injection: the edits so far, the configuration, and findings that do not prevent it."""

    def __init__(
        self, workload: Workload, options: Generate, release: Release, images: Mapping[str, ImageFacts]
    ) -> None:
        self.draft = Draft(workload)
        self.release = release
        self.findings: list[Finding] = []
        self._images = images
        self._always = states_users(options.policy.profile)

    def with_user(self, container: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """Return an injected container with the user that it states, and an addition to the reason of its edit."""
        workload = self.draft.workload
        if not (self._always or sets_user(mapping(workload.pod_spec.get("securityContext")))):
            return container, ""
        from krm_function.policy.users import with_user

        result, reason, findings = with_user(container, workload, self._images, always=self._always)
        self.findings += findings
        return result, reason


def inject(
    workload: Workload,
    options: Generate,
    release: Release,
    coordinator_namespace: str,
    images: Mapping[str, ImageFacts] = EMPTY,
) -> Outcome:
    """Inject all parts that a workload needs, whose field types are checked. Findings are about the pod afterwards.

    release: its images are applied once, by whole string; the containers get its memory sizes. images: facts by the
    reference exactly as the pod names it. With any error, nothing is edited.
    """
    plan = _plan_injection(workload, options)
    findings = tuple(_find_problems(workload, plan))
    if has_errors(findings):
        return Outcome(findings=findings)
    injection = Injection(workload, options, release, images)
    pinned: set[str] = set()  # init containers that are written with the image of the release
    if plan.initializer:
        _add_initializer(injection, plan, f"coordinator-ready.{coordinator_namespace or 'default'}")
        pinned.add(INITIALIZER)
    if plan.mesh:
        _add_mesh(injection)
        pinned.add(SERVICE_MESH)
    if plan.store and _add_image_store(injection, plan):
        pinned.add(PVC_HOLDER)
    _replace_images(injection.draft, release, pinned)
    return Outcome(tuple(injection.draft.edits), tuple(injection.findings))


def find_missing_images(workloads: Iterable[Workload], options: Generate, release: Release) -> tuple[Finding, ...]:
    """Return CC0511 if the release lacks an image that is injected into one of these workloads."""
    plans = [_plan_injection(workload, options) for workload in workloads]
    injected = {
        INITIALIZER_IMAGE: any(plan.initializer or plan.store for plan in plans),
        SERVICE_MESH_IMAGE: any(plan.mesh for plan in plans),
    }
    missing = [image for image, is_injected in injected.items() if is_injected and image not in release.images]
    return (finding("CC0511", release.ref, ("spec", "images"), images=listed(missing)),) if missing else ()


def _plan_injection(workload: Workload, options: Generate) -> InjectionPlan:
    annotations = workload.annotations
    ordinary = not workload.is_coordinator
    annotated = asks_for_mesh(annotations)
    size = str(annotations.get(STORE_SIZE, IMAGE_STORE_SIZE))
    return InjectionPlan(
        initializer=ordinary and options.initializer and asks_for_initializer(annotations),
        mesh=ordinary and options.service_mesh and annotated,
        mesh_annotated=annotated,
        store=options.image_store and size != "0",
        store_size=size,
    )


# --- obstacles to an injection


def _find_problems(workload: Workload, plan: InjectionPlan) -> Iterator[Finding]:
    """Find every obstacle to an injection before the first edit, so that no pod is ever half injected."""
    for container in workload.all_containers:
        if not container.is_init and container.name in plan.injected:
            yield finding("CC0208", workload.ref, (*container.path, "name"), what="container", name=container.name)
    if plan.initializer or plan.mesh:
        yield from _check_empty_dir(workload, SECRETS)
    if plan.initializer:
        yield from _find_taken_mount_paths(workload, plan)
        if workload.annotations.get(SECURE_PV):
            yield from _check_secure_pv(workload)
    if plan.mesh:
        for key, cause in read_mesh(workload.annotations)[1]:
            if key == ADMIN_PORT:
                yield _report_annotation(workload, key, cause)
    if plan.store and not _is_positive(plan.store_size):
        yield _report_annotation(workload, STORE_SIZE, Cause("CC0204.size"))


def _report_annotation(workload: Workload, key: str, cause: Cause) -> Finding:
    path = (*workload.metadata_path, "annotations", key)
    return finding(cause.code, workload.ref, path, key=key, grammar=KNOWN[key].value, **cause.values)


def _is_positive(quantity: str) -> bool:
    try:
        return nano(quantity) > 0
    except ValueError:
        return False


def _find_wrong_source(workload: Workload, name: str, allowed: tuple[str, ...]) -> Iterator[Finding]:
    """Find volumes of this name whose source is not one of `allowed`."""
    volumes = maps(workload.pod_spec.get("volumes"))
    for index in indexes_named(volumes, name):
        sources = volume_sources(volumes[index])
        if len(sources) != 1 or sources[0] not in allowed:
            path = (*workload.spec_path, "volumes", index)
            actual = " and ".join(sources)
            yield finding("CC0805", workload.ref, path, volume=name, expected=" or ".join(allowed), actual=actual)


def _check_empty_dir(workload: Workload, name: str) -> Iterator[Finding]:
    """Find the obstacles to a volume of this name: another source, or a claim template that replaces it."""
    yield from _find_wrong_source(workload, name, ("emptyDir",))
    if name in claim_names(workload):
        path = (*workload.root, "spec", "volumeClaimTemplates", claim_names(workload).index(name))
        actual = "a volumeClaimTemplate"
        yield finding("CC0805", workload.ref, path, volume=name, expected="emptyDir", actual=actual)


def _find_taken_mount_paths(workload: Workload, plan: InjectionPlan) -> Iterator[Finding]:
    """Find mounts of other volumes at the path of the secrets, above or below: they would hide some of them."""
    for container in workload.all_containers:
        if container.is_init and container.name in plan.injected:
            continue
        for index, mount in enumerate(container.mounts):
            place = mount_point(str(mount.get("mountPath") or "/"))
            if mount["name"] != SECRETS and touches(place, SECRETS_PATH):
                path = (*container.path, "volumeMounts", index, "mountPath")
                yield finding("CC0812", workload.ref, path, container=container.name, volume=mount["name"], place=place)


def _check_secure_pv(workload: Workload) -> Iterator[Finding]:
    """Check `secure-pv` and the volumes that it names (docs/facts/contrast.md#initializer, step 1)."""
    annotation = workload.annotations[SECURE_PV]
    value = annotation if len(annotation) <= LONGEST_NAME else "annotation"  # it may be anything: do not repeat it

    def problem(code: str, **values: Any) -> Finding:
        path = (*workload.metadata_path, "annotations", SECURE_PV)
        return finding(code, workload.ref, path, value=value, **values)

    parsed = read_secure_pv(workload.annotations)
    if parsed is None:
        yield problem("CC0806.form")
        return
    if indexes_named(workload.pod_spec.get("volumes"), parsed.device):
        yield from _find_wrong_source(workload, parsed.device, DEVICES)
    elif parsed.device not in claim_names(workload):
        yield problem("CC0806.device", device=parsed.device)
    if parsed.mount in {parsed.device, SECRETS}:
        yield problem("CC0806.mount", mount=parsed.mount)
    else:
        yield from _check_empty_dir(workload, parsed.mount)


# --- the steps


def _ensure_volume(draft: Draft, volume: dict[str, Any], code: str, reason: str) -> None:
    path = (*draft.workload.spec_path, "volumes")
    present = maps(draft.workload.at(path))
    if not indexes_named(present, volume["name"]):
        draft.put(path, len(present), volume, code, reason)


def _place_container(draft: Draft, container: dict[str, Any], index: int, code: str, reason: str) -> None:
    """Make `container` the only one of its name in initContainers, at this index among the others; -1 is the end."""
    path = (*draft.workload.spec_path, "initContainers")
    name = container["name"]
    present = draft.workload.at(path) or []
    rest = [entry for entry in present if entry["name"] != name]
    index = len(rest) if index < 0 else index
    if not same(present, [*rest[:index], container, *rest[index:]]):
        draft.drop(path, name, "CC0809", f"the {name} of the input makes room for the one of this release")
        draft.put(path, index, container, code, reason)


def _add_initializer(injection: Injection, plan: InjectionPlan, host: str) -> None:
    """Add the initializer as the first init container, its volume, and a mount in every container that is not injected.

    With `secure-pv` it also gets the device and the volume to share. Source: docs/facts/contrast.md#initializer.
    """
    draft, release = injection.draft, injection.release
    pod = draft.workload
    secure_pv = read_secure_pv(pod.annotations)
    if secure_pv:
        volume = memory_volume(secure_pv.mount)
        _ensure_volume(draft, volume, "CC0801", f"secure-pv shares the volume {secure_pv.device} through it")
    _ensure_volume(draft, memory_volume(SECRETS), "CC0801", "the initializer leaves the pod's secrets here")
    _mount_secrets(draft, plan)
    image = release.images.get(INITIALIZER_IMAGE, INITIALIZER_IMAGE)
    memory = release.memory.secure_pv if secure_pv else release.memory.initializer
    container = initializer(image, host, secure_pv, memory, mesh_disabled=not plan.mesh_annotated)
    container, user = injection.with_user(container)
    reason = "attests the pod to the coordinator before anything else starts"
    if secure_pv:
        reason = f"{reason}, and opens the encrypted volume {secure_pv.device}"
    # The image store must be there before the first image is pulled, so its holder stays first in every render.
    names = [entry["name"] for entry in pod.init_containers if entry["name"] != INITIALIZER]
    first = 1 if plan.store and names[:1] == [PVC_HOLDER] else 0
    _place_container(draft, container, first, "CC0801", reason + user)


def _mount_secrets(draft: Draft, plan: InjectionPlan) -> None:
    """Add the mount as the last one of every container that no render adds, and remove others of that volume."""
    mount = secrets_mount()
    for container in draft.workload.all_containers:
        if container.is_init and container.name in (*plan.injected, VOLUME_OWNER):
            continue
        path = (*container.path, "volumeMounts")
        present = container.mounts
        rest = [entry for entry in present if entry["name"] != SECRETS]
        if same(present, [*rest, mount]):
            continue
        reason = f"container {container.name} reads its certificates and secrets here"
        draft.put(path, len(present), mount, "CC0804", reason)
        for index in reversed(indexes_named(present, SECRETS)):
            draft.edit("remove", (*path, index), ABSENT, "CC0804", "the secrets are mounted once, at /contrast")


def _add_mesh(injection: Injection) -> None:
    """Add the mesh proxy as the last init container, and the volume it reads (docs/facts/contrast.md#service-mesh)."""
    draft, release = injection.draft, injection.release
    annotations = draft.workload.annotations
    admin, ingress, egress = (str(annotations.get(key, "")) for key in (ADMIN_PORT, INGRESS, EGRESS))
    port, _ = read_mesh(annotations)
    _ensure_volume(draft, memory_volume(SECRETS), "CC0802", "the service mesh reads its certificate here")
    image = release.images.get(SERVICE_MESH_IMAGE, SERVICE_MESH_IMAGE)
    memory = release.memory.service_mesh
    container = service_mesh(image, memory, admin=admin, ingress=ingress, egress=egress, port=port or 0)
    container, user = injection.with_user(container)
    _place_container(draft, container, -1, "CC0802", f"a service mesh annotation asks for the proxy{user}")


def _add_image_store(injection: Injection, plan: InjectionPlan) -> bool:
    """Add the holder of the image store and its volume; False if the pod has a holder already, which stays.

    Source: docs/facts/contrast.md#image-store.
    """
    draft, release = injection.draft, injection.release
    path = (*draft.workload.spec_path, "initContainers")
    missing = not indexes_named(draft.workload.at(path), PVC_HOLDER)
    if missing:
        image = release.images.get(INITIALIZER_IMAGE, INITIALIZER_IMAGE)
        container, user = injection.with_user(pvc_holder(image, release.memory.pvc_holder))
        reason = f"holds the device of the image store before the first image is pulled{user}"
        draft.put(path, 0, container, "CC0803", reason)
    volume = image_store_volume(plan.store_size)
    _ensure_volume(draft, volume, "CC0803", f"images are stored on an encrypted device of {plan.store_size}")
    return missing


def _replace_images(draft: Draft, release: Release, pinned: set[str]) -> None:
    """Replace whole image strings by the release's, once; the containers in `pinned` have their images already.

    Source: docs/facts/contrast.md#image-replacements.
    """
    for container in draft.workload.all_containers:
        image = container.container.get("image")
        if not isinstance(image, str) or (container.is_init and container.name in pinned):
            continue
        pinned_image = release.images.get(image, image)
        if pinned_image != image:
            draft.edit("set", (*container.path, "image"), pinned_image, "CC0506", f"the release pins {image}")
