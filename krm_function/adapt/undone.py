"""Rewritings that an undo record takes back: make them again on the restored object, with the rendered pod's names.

Rule of this file: a record is untrusted input, so only the two forms of the object count. A rewriting is only made
again if nothing forbids it and all of its names are new; a difference that still remains does not come from a rewriting
(undo_rules). The result of a render must have them again: a record that takes back a rewriting which this render does
not make is not believed.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.adapt import gpu_names as renamed_gpu
from krm_function.adapt import image_volumes as image_volume
from krm_function.adapt import least_vcpus as least_cpu
from krm_function.adapt import moved_annotations as moved_annotation
from krm_function.adapt import node_caches as node_cache
from krm_function.adapt import pod_memory as calculated_memory
from krm_function.adapt import secure_pv as encrypted_claim
from krm_function.adapt import split_sub_paths as split_volume
from krm_function.adapt.choices import taken_names
from krm_function.adapt.secure_pv import BLOCK, FILE_SYSTEMS, MODE
from krm_function.contrast.annotations import MOVABLE, misplaced
from krm_function.contrast.gpus import gpu_name, is_passable
from krm_function.contrast.injected import SECRETS, SECURE_PV, VOLUME_OWNER, read_secure_pv
from krm_function.contrast.owned import CLAIM_KIND, VOLUMES, is_injected
from krm_function.contrast.vm_size import vcpus
from krm_function.findings import Path
from krm_function.kubernetes.objects import dig, mapping, maps, reference
from krm_function.kubernetes.pod_fields import type_findings
from krm_function.kubernetes.pod_kinds import SHIPPED, Kinds
from krm_function.kubernetes.workload import POD_ROLE, Draft, PodContainer, Workload, mounts_of
from krm_function.text.changes import ABSENT, same


def made_again(now: Any, original: Any, kinds: Kinds = SHIPPED) -> Any:
    """Return an object before its render with the rewritings that a render made; itself if it made none.

    now: the rendered object. original: the same with its record undone. kinds: those with pod templates.
    """
    ref = reference(original)
    for template in kinds.paths(ref, original):
        again = _remake(Workload(mapping(now), (), ref, template), Workload(mapping(original), (), ref, template))
        original = again.object if again is not None else original
    return original


def lost(now: Any, original: Any, new: Any, kinds: Kinds = SHIPPED) -> Path | None:
    """Return a path that a record takes back, and this render does not rewrite again; None if there is none.

    new: the object as this render made it of `original`.
    """
    if reference(now).kind == CLAIM_KIND:
        return None if same(dig(now, MODE), dig(new, MODE)) else MODE
    if made_again(now, original, kinds) is original:
        return None
    ref = reference(now)
    for template in kinds.paths(ref, new):
        present, rendered = (Workload(mapping(value), (), ref, template) for value in (now, new))
        for key in (*MOVABLE, POD_ROLE):  # and the one that the rule securePV writes
            path = (*present.metadata_path, moved_annotation.field_of(key), key)
            if not same(present.at(path), rendered.at(path)):
                return path
        if not same(_list_volumes(present), _list_volumes(rendered)):
            return (*present.spec_path, "volumes")
        if (place := _find_other_gpus(present, rendered)) is not None:
            return (*present.spec_path, *place)
        if not same(present.pod_spec.get("resources"), rendered.pod_spec.get("resources")):
            return (*present.spec_path, "resources")
        if _owner_image(present) and not _owner_image(rendered):
            return (*present.spec_path, "initContainers", VOLUME_OWNER)
        mounts, rendered_mounts = _group_mounts(present), _group_mounts(rendered)
        for (field, name), entries in rendered_mounts.items():
            if not same(entries, mounts.get((field, name), entries)):
                return (*present.spec_path, field, name, "volumeMounts")
    templates: Path = ("spec", "volumeClaimTemplates")
    return None if same(dig(now, templates), dig(new, templates)) else templates


def may_become_block(now: Any, original: Any) -> Path | None:
    """Compare the volumeMode of a claim object: a render makes a file system a block device."""
    return None if now == BLOCK and (original is ABSENT or original in FILE_SYSTEMS) else ()


def _list_volumes(workload: Workload) -> list[dict[str, Any]]:
    return [volume for volume in maps(workload.pod_spec.get("volumes")) if str(volume.get("name")) not in VOLUMES]


def _group_mounts(workload: Workload) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the mounts by container, without the mounts of secrets; without Contrast's containers."""
    of_user = (container for container in workload.all_containers if not is_injected(container))
    return {container.key: _list_own_mounts(container) for container in of_user}


def _list_own_mounts(container: PodContainer) -> list[dict[str, Any]]:
    return [mount for mount in container.mounts if mount.get("name") != SECRETS]


def _remake(now: Workload, original: Workload) -> Workload | None:
    """Make the rewritings of one pod again, in the order of a render (render/prepare.py); None for none.

    A pod of wrong types, or another object, has none: a render refuses it before it rewrites anything.
    """
    if type_findings(original) or not original.pod_spec:
        return None
    draft = Draft(original)
    for remake in (
        *(_remake_moves, _remake_cpu, _remake_gpu_names, _remake_caches),
        *(_remake_splits, _remake_claim, _remake_image_volumes, _remake_memory),
    ):
        remake(now, draft)
    return draft.workload if draft.edits else None


def _remake_moves(now: Workload, draft: Draft) -> None:
    """Move annotations: one has left the object, and is on the pod template with its value."""
    places = misplaced(draft.workload).items()
    keys = [
        key
        for key, (path, value) in places
        if key not in mapping(now.at(path))
        and now.at((*now.metadata_path, moved_annotation.field_of(key), key)) == value
    ]
    moved_annotation.move(draft, keys)


def _remake_gpu_names(now: Workload, draft: Draft) -> None:
    """Rename GPUs: a name that no policy passes is gone, and one that nodes may pass has come with its value."""
    present = {container.key: container for container in now.all_containers}
    for container in draft.workload.all_containers:
        current = present.get(container.key)
        names = _find_renamed(container, current) if current else {}
        if names and renamed_gpu.refused(container, names) is None:
            renamed_gpu.rename(draft, container, names)


def _find_renamed(original: PodContainer, now: PodContainer) -> dict[str, str]:
    """Return the names of GPUs that a container has lost, each with the first new one of the same value."""
    names: dict[str, str] = {}
    for field in renamed_gpu.FIELDS:
        old, new = (mapping(dig(container.container, ("resources", field))) for container in (original, now))
        come = [key for key in new if key not in old and is_passable(str(key))]
        gone = [key for key in old if key not in new and gpu_name(str(key)) in ("other", "part")]
        for name in gone:
            fitting = [key for key in come if same(old[name], new[key])]
            if fitting:
                names.setdefault(name, fitting[0])
    return names


def _find_other_gpus(present: Workload, rendered: Workload) -> Path | None:
    """Return the path of a container whose resources differ from the other pod's."""
    expected = {container.key: container.container.get("resources") for container in rendered.all_containers}
    for container in present.all_containers:
        resources = container.container.get("resources")
        if not is_injected(container) and not same(resources, expected.get(container.key, resources)):
            return *container.key, "resources"
    return None


def _remake_memory(now: Workload, draft: Draft) -> None:
    """Write the memory of the pod as a whole, if the rendered pod has a figure that a rule may have written."""
    figure = calculated_memory.written_memory(now)
    if figure:
        calculated_memory.write_memory(draft, figure, "")


def _remake_cpu(now: Workload, draft: Draft) -> None:
    """Write the cpu limit of the pod as a whole, if the rendered pod has one that is more than its VM had."""
    figure, count = least_cpu.written_cpu(now), vcpus(draft.workload)
    if figure and isinstance(count, int) and count < int(figure) + 1:
        least_cpu.write_cpu(draft, figure, "")


def _remake_caches(now: Workload, draft: Draft) -> None:
    present = maps(now.pod_spec.get("volumes"))
    for name in node_cache.host_paths(draft.workload):
        old = [volume for volume in maps(draft.workload.pod_spec.get("volumes")) if volume.get("name") == name]
        stays = any(same(volume, another) for volume in old for another in present)
        if not stays and len(old) == 1 and node_cache.refused(draft.workload, name) is None:
            node_cache.replace(draft, name)


def _remake_splits(now: Workload, draft: Draft) -> None:
    present = {str(volume.get("name")) for volume in maps(now.pod_spec.get("volumes"))}
    for entry in maps(draft.workload.pod_spec.get("volumes")):
        volume = str(entry.get("name"))
        if volume in present or not split_volume.is_split(draft.workload, volume):
            continue
        if split_volume.refused(draft.workload, volume, divide=True) is not None:
            continue
        names = _split_names(now, draft.workload, volume)
        if names is not None:
            split_volume.split(draft, volume, names)


def _split_names(now: Workload, original: Workload, volume: str) -> Mapping[str, str] | None:
    """Return the new volume of each subPath; None unless each is new and of one subPath."""
    names: dict[str, str] = {}
    mounted = {
        (container.key, str(mount.get("mountPath"))): str(mount.get("name"))
        for container in now.all_containers
        for mount in container.mounts
    }
    for mounted_at in mounts_of(original, volume):
        new_name = mounted.get((mounted_at.container.key, str(mounted_at.mount.get("mountPath"))), "")
        name = names.setdefault(split_volume.sub_path(mounted_at.mount), new_name)
        if not name or name != new_name:
            return None
    new = set(names.values())
    return names if len(new) == len(names) and not new & taken_names(original) else None


def _remake_claim(now: Workload, draft: Draft) -> None:
    secure_pv = read_secure_pv(now.annotations)
    if secure_pv is None or draft.workload.annotations.get(SECURE_PV):
        return
    device, share = secure_pv
    has_claim = device in encrypted_claim.claim_volumes(draft.workload) and share not in taken_names(draft.workload)
    if has_claim and encrypted_claim.refused(draft.workload, device) is None:
        image = "" if _owner_image(draft.workload) else _owner_image(now)
        encrypted_claim.encrypt(draft, encrypted_claim.EncryptedClaim(device, share, image))


def _owner_image(workload: Workload) -> str:
    """Return the image of the init container that gives an encrypted volume to the fsGroup, "" without one."""
    owners = (container.container for container in workload.all_containers if container.name == VOLUME_OWNER)
    return next((str(owner.get("image")) for owner in owners), "")


def _remake_image_volumes(now: Workload, draft: Draft) -> None:
    in_use = taken_names(draft.workload)
    for container in now.all_containers:
        for mount in [] if is_injected(container) else _list_own_mounts(container):
            name, path = mount.get("name"), mount.get("mountPath")
            if not isinstance(name, str) or not isinstance(path, str) or name in in_use:
                continue
            old = next((entry for entry in draft.workload.all_containers if entry.key == container.key), None)
            if old is not None and image_volume.refused(old, path) is None:
                image_volume.cover(draft, old, path, name)
                in_use.add(name)
