"""Inject: add the initializer, the service mesh and the image store, then pin images, in Contrast's order.

Source: docs/facts/contrast.md#order.

Rule of this file: all or nothing for each pod, and only what is missing is added. An injected container that has its
position and content already is not edited; one that differs is removed and inserted again. The coordinator gets the
image store and pinned images, never the initializer or the mesh. Users and groups that the pod sets for all of its
containers are not for the injected ones, which state those of their images: policy/users.py.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.config.generate import Generate
from krm_function.config.image_lock import ImageFacts
from krm_function.config.release import Release
from krm_function.contrast.annotations import KNOWN
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
    MeshConfig,
    asks_for_initializer,
    image_store_volume,
    initializer,
    memory_volume,
    pvc_holder,
    read_secure_pv,
    secrets_mount,
    service_mesh,
)
from krm_function.contrast.mesh_annotations import ADMIN_PORT, EGRESS, INGRESS, asks_for_mesh, read_mesh
from krm_function.contrast.profiles import states_users
from krm_function.findings import Cause, Finding, finding, has_errors
from krm_function.kubernetes.lookup import mapping, maps
from krm_function.kubernetes.mount_points import mount_point, touches
from krm_function.kubernetes.quantity import nano
from krm_function.kubernetes.resource import Outcome
from krm_function.kubernetes.workload import (
    PREFIX,
    Draft,
    Workload,
    claim_names,
    indexes_named,
    sets_user,
    volume_sources,
)
from krm_function.record import NamedTuple
from krm_function.schema.table import EMPTY
from krm_function.text.changes import ABSENT, same

STORE_SIZE = PREFIX + "image-store-size"
DEVICES = ("persistentVolumeClaim", "iscsi")


class InjectionPlan(NamedTuple):
    """What is injected into one pod, decided before anything is edited."""

    initializer: bool
    mesh: bool
    mesh_annotated: bool
    store: bool
    store_size: str

    @property
    def own(self) -> frozenset[str]:
        """Names of the init containers that are injected into this pod."""
        chosen = {INITIALIZER: self.initializer, SERVICE_MESH: self.mesh, PVC_HOLDER: self.store}
        return frozenset(name for name, wanted in chosen.items() if wanted)


class Injection:
    """One pod under injection: the edits so far, the configuration, and findings that do not forbid it."""

    def __init__(
        self, workload: Workload, options: Generate, release: Release, images: Mapping[str, ImageFacts]
    ) -> None:
        """Start without edits."""
        self.draft = Draft(workload)
        self.release = release
        self.findings: list[Finding] = []
        self._images = images
        self._always = states_users(options.policy.profile)

    def with_user(self, container: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """Return an injected container with the user that it states, and what to add to the reason of its edit."""
        workload = self.draft.workload
        if not (self._always or sets_user(mapping(workload.pod_spec.get("securityContext")))):
            return container, ""
        from krm_function.policy.users import with_user

        made, said, findings = with_user(container, workload, self._images, always=self._always)
        self.findings += findings
        return made, said


def inject(
    workload: Workload,
    options: Generate,
    release: Release,
    coordinator_namespace: str,
    images: Mapping[str, ImageFacts] = EMPTY,
) -> Outcome:
    """Inject everything that one workload needs, whose types are those of a pod. Findings are about the pod afterwards.

    release: its images are applied once, by whole string; its memory is what the containers get. images: what is known
    of images, by the reference exactly as the pod names it. With any error, nothing at all is edited.
    """
    wanted = _injection_plan(workload, options)
    findings = tuple(_problems(workload, wanted))
    if has_errors(findings):
        return Outcome(findings=findings)
    injection = Injection(workload, options, release, images)
    pinned: set[str] = set()  # init containers that are written with the image of the release
    if wanted.initializer:
        _add_initializer(injection, wanted, f"coordinator-ready.{coordinator_namespace or 'default'}")
        pinned.add(INITIALIZER)
    if wanted.mesh:
        _add_mesh(injection)
        pinned.add(SERVICE_MESH)
    if wanted.store and _add_image_store(injection, wanted):
        pinned.add(PVC_HOLDER)
    _replace_images(injection.draft, release, pinned)
    return Outcome(tuple(injection.draft.edits), tuple(injection.findings))


def _injection_plan(workload: Workload, options: Generate) -> InjectionPlan:
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


# --- what prevents an injection


def _problems(workload: Workload, wanted: InjectionPlan) -> Iterator[Finding]:
    """Find everything that forbids an injection, before the first edit, so that no pod is ever half injected."""
    for each in workload.all_containers:
        if not each.is_init and each.name in wanted.own:
            yield finding("CC0208", workload.ref, (*each.path, "name"), what="container", name=each.name)
    if wanted.initializer or wanted.mesh:
        yield from _not_empty_dir(workload, SECRETS)
    if wanted.initializer:
        yield from _taken_mount_paths(workload, wanted)
        if workload.annotations.get(SECURE_PV):
            yield from _secure_pv_problems(workload)
    if wanted.mesh:
        for key, cause in read_mesh(workload.annotations).problems:
            if key == ADMIN_PORT:
                yield _annotation_problem(workload, key, cause)
    if wanted.store and not _is_positive(wanted.store_size):
        yield _annotation_problem(workload, STORE_SIZE, Cause("CC0204.size"))


def _annotation_problem(workload: Workload, key: str, cause: Cause) -> Finding:
    path = (*workload.metadata_path, "annotations", key)
    return finding(cause.code, workload.ref, path, key=key, grammar=KNOWN[key].value, **cause.values)


def _is_positive(quantity: str) -> bool:
    try:
        return nano(quantity) > 0
    except ValueError:
        return False


def _wrong_source(workload: Workload, name: str, allowed: tuple[str, ...]) -> Iterator[Finding]:
    """Find volumes of this name whose source is not one of `allowed`."""
    volumes = maps(workload.pod_spec.get("volumes"))
    for index in indexes_named(volumes, name):
        found = volume_sources(volumes[index])
        if len(found) != 1 or found[0] not in allowed:
            path = (*workload.spec_path, "volumes", index)
            actual = " and ".join(found)
            yield finding("CC0805", workload.ref, path, volume=name, expected=" or ".join(allowed), actual=actual)


def _not_empty_dir(workload: Workload, name: str) -> Iterator[Finding]:
    """Find what forbids a volume of this name: another source, or a claim template that replaces it."""
    yield from _wrong_source(workload, name, ("emptyDir",))
    if name in claim_names(workload):
        path = (*workload.root, "spec", "volumeClaimTemplates", claim_names(workload).index(name))
        actual = "a volumeClaimTemplate"
        yield finding("CC0805", workload.ref, path, volume=name, expected="emptyDir", actual=actual)


def _taken_mount_paths(workload: Workload, wanted: InjectionPlan) -> Iterator[Finding]:
    """Find mounts of other volumes at the path of the secrets, above or below: they would hide some of them."""
    for each in workload.all_containers:
        if each.is_init and each.name in wanted.own:
            continue
        for index, mount in enumerate(each.mounts):
            place = mount_point(str(mount.get("mountPath") or "/"))
            if mount["name"] != SECRETS and touches(place, SECRETS_PATH):
                path = (*each.path, "volumeMounts", index, "mountPath")
                yield finding("CC0812", workload.ref, path, container=each.name, volume=mount["name"], place=place)


def _secure_pv_problems(workload: Workload) -> Iterator[Finding]:
    """Check `secure-pv` and the volumes that it names (docs/facts/contrast.md#initializer, step 1)."""
    whole = workload.annotations[SECURE_PV]
    value = whole if len(whole) <= LONGEST_NAME else "annotation"  # whatever was pasted there: it is not repeated

    def problem(code: str, **values: Any) -> Finding:
        path = (*workload.metadata_path, "annotations", SECURE_PV)
        return finding(code, workload.ref, path, value=value, **values)

    parsed = read_secure_pv(workload.annotations)
    if parsed is None:
        yield problem("CC0806.form")
        return
    if indexes_named(workload.pod_spec.get("volumes"), parsed.device):
        yield from _wrong_source(workload, parsed.device, DEVICES)
    elif parsed.device not in claim_names(workload):
        yield problem("CC0806.device", device=parsed.device)
    if parsed.mount in {parsed.device, SECRETS}:
        yield problem("CC0806.mount", mount=parsed.mount)
    else:
        yield from _not_empty_dir(workload, parsed.mount)


# --- the steps


def _ensure_volume(draft: Draft, volume: dict[str, Any], code: str, reason: str) -> None:
    """Append a volume unless the pod has one of its name."""
    path = (*draft.workload.spec_path, "volumes")
    present = maps(draft.workload.at(path))
    if not indexes_named(present, volume["name"]):
        draft.put(path, len(present), volume, code, reason)


def _place_container(draft: Draft, container: dict[str, Any], index: int, code: str, reason: str) -> None:
    """Make `container` the only one of its name in initContainers, at this index among the others; -1 is the end."""
    path = (*draft.workload.spec_path, "initContainers")
    name = container["name"]
    present = draft.workload.at(path) or []
    others = [entry for entry in present if entry["name"] != name]
    index = len(others) if index < 0 else index
    if not same(present, [*others[:index], container, *others[index:]]):
        draft.drop(path, name, "CC0809", f"the {name} of the input makes room for the one of this release")
        draft.put(path, index, container, code, reason)


def _add_initializer(injection: Injection, wanted: InjectionPlan, host: str) -> None:
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
    _mount_secrets(draft, wanted)
    image = release.images.get(INITIALIZER_IMAGE, INITIALIZER_IMAGE)
    memory = release.memory.secure_pv if secure_pv else release.memory.initializer
    container = initializer(image, host, secure_pv, memory, mesh_disabled=not wanted.mesh_annotated)
    container, user = injection.with_user(container)
    reason = "attests the pod to the coordinator before anything else starts"
    if secure_pv:
        reason = f"{reason}, and opens the encrypted volume {secure_pv.device}"
    # The image store must be there before the first image is pulled, so its holder stays first in every render.
    others = [entry["name"] for entry in pod.init_containers if entry["name"] != INITIALIZER]
    first = 1 if wanted.store and others[:1] == [PVC_HOLDER] else 0
    _place_container(draft, container, first, "CC0801", reason + user)


def _mount_secrets(draft: Draft, wanted: InjectionPlan) -> None:
    """Add the mount as the last one of every container that is not injected, and remove others of that volume."""
    mount = secrets_mount()
    for each in draft.workload.all_containers:
        if each.is_init and each.name in wanted.own:
            continue
        path = (*each.path, "volumeMounts")
        present = each.mounts
        kept = [entry for entry in present if entry["name"] != SECRETS]
        if same(present, [*kept, mount]):
            continue
        reason = f"container {each.name} reads its certificates and secrets here"
        draft.put(path, len(present), mount, "CC0804", reason)
        for index in reversed(indexes_named(present, SECRETS)):
            draft.edit("remove", (*path, index), ABSENT, "CC0804", "the secrets are mounted once, at /contrast")


def _add_mesh(injection: Injection) -> None:
    """Add the mesh proxy as the last init container, and the volume it reads (docs/facts/contrast.md#service-mesh)."""
    draft, release = injection.draft, injection.release
    annotations = draft.workload.annotations
    admin, ingress, egress = (str(annotations.get(key, "")) for key in (ADMIN_PORT, INGRESS, EGRESS))
    port = read_mesh(annotations).mesh.admin_port or 0
    _ensure_volume(draft, memory_volume(SECRETS), "CC0802", "the service mesh reads its certificate here")
    image = release.images.get(SERVICE_MESH_IMAGE, SERVICE_MESH_IMAGE)
    container = service_mesh(image, MeshConfig(admin, ingress, egress, port), release.memory.service_mesh)
    container, user = injection.with_user(container)
    _place_container(draft, container, -1, "CC0802", f"a service mesh annotation asks for the proxy{user}")


def _add_image_store(injection: Injection, wanted: InjectionPlan) -> bool:
    """Add the holder of the image store and its volume; True if the holder is new, as one that the pod has stays.

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
    volume = image_store_volume(wanted.store_size)
    _ensure_volume(draft, volume, "CC0803", f"images are stored on an encrypted device of {wanted.store_size}")
    return missing


def _replace_images(draft: Draft, release: Release, pinned: set[str]) -> None:
    """Replace whole image strings by the release's, once; the containers in `pinned` have their images already.

    Source: docs/facts/contrast.md#image-replacements.
    """
    for each in draft.workload.all_containers:
        image = each.container.get("image")
        if not isinstance(image, str) or (each.is_init and each.name in pinned):
            continue
        after = release.images.get(image, image)
        if after != image:
            draft.edit("set", (*each.path, "image"), after, "CC0506", f"the release pins {image}")
