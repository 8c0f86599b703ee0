"""Compute the mounts and storages of a pod's volumes for one container.

Rule of this file: a volume is in one of three places.

    the VM        emptyDir: a storage of the request, and a mount of it
    the guest     a hostPath in /dev or /sys: the shim uses the guest's directory
    the host      everything the kubelet mounts or fills on the node: a bind mount out of the shared directory. The host
                  can read and change its files; `host_visible_volumes` warns of all that are not API objects

What docs/facts does not cover is a finding. So is a part of an emptyDir: the kubelet would make it a directory of the
node, and data meant to stay in the VM would be written there.
"""

import re
from collections.abc import Mapping
from typing import Any

from krm_function.findings import Cause, Finding, Path, finding
from krm_function.policy.pod_metadata import QUOTED_KEY, PodMetadata, escape_regex, is_bookkeeping
from krm_function.policy.problems import problem
from krm_function.policy.settings import Settings

Json = dict[str, Any]
Wrong = tuple[str, Cause]  # a field of the volumeMount, "" for the whole, and CC0604 or CC0601 with a variant

# the runtime's name of mountPropagation, which it writes between rbind and ro|rw
PROPAGATION = {"None": "rprivate", "HostToContainer": "rslave", "Bidirectional": "rshared"}

CLAIM = "persistentVolumeClaim"
SETTLED = frozenset({"configMap", "secret"})  # their mounts are in the settings
FILES = SETTLED | {"projected", "downwardAPI"}  # always read-only
ALL_ANNOTATIONS = "metadata.annotations"  # a fieldPath: all that the pod has, as lines of a file
_IN_THE_VM = ("/dev", "/sys")

BASE = re.compile(r"[A-Za-z0-9._-]+\Z")


def mount(destination: str, source: str, kind: str, options: list[str]) -> Json:
    """Build one element of OCI.Mounts."""
    return {"destination": destination, "source": source, "type_": kind, "options": options}


def base_name(path: str) -> str:
    """Return the last component of a path, "" if there is none."""
    return path.rstrip("/").rpartition("/")[2]


def volumes(
    container: Mapping[str, Any], pod: PodMetadata, settings: Settings, at: Path, findings: list[Finding]
) -> tuple[list[list[Json]], list[Json]]:
    """Return the mounts of a container's volumeMounts, and their storages. `at`: its path from the pod spec.

    The mounts are in the order of the volumes; each is the list of alternatives among which the host may choose.
    """
    out: list[list[Json]] = []
    storages: list[Json] = []
    wanted = list(enumerate(container.get("volumeMounts") or ()))
    known = _volumes_by_name(pod) if wanted else {}
    for name, volume in known.items():
        for index, entry in wanted:
            if entry["name"] == name:
                here = (*at, "volumeMounts", index)
                made = _mounted(storages, volume, entry, pod, settings)
                if isinstance(made, list):
                    out.append(made)
                else:
                    field, cause = made
                    findings.append(problem(pod, (*here, field) if field else here, cause.code, **cause.values))
    for index, entry in wanted:
        if entry["name"] not in known:
            here = (*at, "volumeMounts", index, "name")
            findings.append(problem(pod, here, "CC0604.volume"))
    return out, storages


def host_visible_volumes(pod: PodMetadata) -> list[Finding]:
    """Return a warning for each mounted volume whose files the host can read and change; no policy can prevent it."""
    mounted = {
        entry["name"]
        for key in ("initContainers", "containers")
        for container in pod.spec.get(key) or ()
        for entry in container.get("volumeMounts") or ()
    }
    if not mounted:
        return []
    paths: dict[str, Path] = {
        volume["name"]: (*pod.spec_path, "volumes", index) for index, volume in enumerate(pod.spec.get("volumes") or ())
    }
    out = []
    for name, volume in _volumes_by_name(pod).items():
        source = _source(volume)
        if source == "hostPath" and in_the_vm(volume[source]["path"]):
            continue
        if name in mounted and source != "emptyDir" and source not in FILES:
            out.append(finding("CC0630", pod.ref, paths.get(name, pod.spec_path), volume=name, source=source))
    return out


def _volumes_by_name(pod: PodMetadata) -> dict[str, Json]:
    """Return the volumes by name. A StatefulSet's claim replaces a volume of its name."""
    out: dict[str, Json] = {
        name: {"name": name, CLAIM: {}, "volumeMode": mode} for name, mode in pod.claim_templates.items()
    }
    for volume in pod.spec.get("volumes") or ():
        out.setdefault(volume["name"], volume)
    return out


def _source(volume: Json) -> str:
    """Return the kind of a volume; emptyDir for one without a source."""
    return next((key for key, value in volume.items() if key not in _NO_SOURCE and value is not None), "emptyDir")


_NO_SOURCE = ("name", "volumeMode")


def in_the_vm(path: str) -> bool:
    """Tell whether the path of a hostPath volume is a directory or device of the guest."""
    return path in _IN_THE_VM or path.startswith(("/dev/", "/sys/"))


def _mounted(
    storages: list[Json], volume: Json, entry: Json, pod: PodMetadata, settings: Settings
) -> list[Json] | Wrong:
    """Return the alternative mounts of one volumeMount, or what of it is wrong or not covered."""
    wrong = _wrong_mount(volume, entry, pod)
    if wrong:
        return wrong
    path, base = entry["mountPath"], base_name(entry["mountPath"])
    source = _source(volume)
    own = volume.get(source) or {}
    part = next((key for key in ("subPath", "subPathExpr") if entry.get(key)), None)
    options = _options(source, own, entry, settings)
    if source == "emptyDir":
        if part:
            return part, Cause("CC0604.part-of-empty-dir")
        return _empty_dir(storages, own, entry, options, pod, settings)
    if source in SETTLED and not part:
        return _object_volume(storages, path, base, _propagation(entry), settings)
    if source in SETTLED and part and settings.kata_config["enable_configmap_secret_storages"]:
        return part, Cause("CC0604.part-of-storage")
    if source == "hostPath" and not _is_plain_path(own["path"]):
        return "", Cause("CC0604.host-path")
    if source == "hostPath" and in_the_vm(own["path"]):
        return (part, Cause("CC0604.part-in-vm")) if part else [mount(path, own["path"].rstrip("/"), "bind", options)]
    if _mode(volume, own) == "Block":
        return "", Cause("CC0604.block")
    return [mount(path, f"$(sfprefix){escape_regex(base)}$", "bind", options)]


def _wrong_mount(volume: Json, entry: Json, pod: PodMetadata) -> Wrong | None:
    """Return what no mount of any source may have: an odd path or propagation, two sources, an unstable field."""
    base = base_name(entry["mountPath"])
    if not entry["mountPath"].startswith("/") or not BASE.match(base) or base in {".", ".."}:
        return "mountPath", Cause("CC0604.mount-name")
    if not _propagation(entry):
        return "mountPropagation", Cause("CC0604.propagation", {"known": ", ".join(PROPAGATION)})
    sources = [key for key, value in volume.items() if key not in _NO_SOURCE and value is not None]
    if len(sources) > 1:
        return "", Cause("CC0601.sources", {"sources": ", ".join(sources)})
    source = _source(volume)
    unstable = next((one for one in _downward_fields(source, volume.get(source) or {}) if _is_unstable(one, pod)), None)
    return ("", Cause("CC0601.field-path", {"field_path": unstable})) if unstable else None


def _propagation(entry: Json) -> str:
    """Return the option of a mount's propagation, "" for a word that is none."""
    return PROPAGATION.get(entry.get("mountPropagation") or "None", "")


def _options(source: str, own: Json, entry: Json, settings: Settings) -> list[str]:
    """Return the options of a bind mount; of the node's files, none is writable."""
    propagates = source != "emptyDir" or settings.profile.propagates
    read_only = entry.get("readOnly") or own.get("readOnly") or source in FILES
    return ["rbind", _propagation(entry) if propagates else PROPAGATION["None"], "ro" if read_only else "rw"]


def _is_plain_path(path: str) -> bool:
    """Tell whether a path is absolute and has no `.`, `..` or empty part."""
    return path.startswith("/") and not {".", ".."} & set(path.split("/")) and "//" not in path


def _downward_fields(source: str, own: Json) -> list[str]:
    """Return the field paths whose values are files of a volume."""
    sources = {"downwardAPI": [own], "projected": [one.get("downwardAPI") or {} for one in own.get("sources") or ()]}
    items = [item for one in sources.get(source, ()) for item in one.get("items") or ()]
    return [item["fieldRef"]["fieldPath"] for item in items if item.get("fieldRef")]


def _is_unstable(field_path: str, pod: PodMetadata) -> bool:
    """Tell whether a field is an annotation that is in no policy and that tools change in a running cluster.

    Or all annotations, and such a one is among them.
    """
    if field_path == ALL_ANNOTATIONS:
        return bool(pod.of_the_cluster)
    found = re.match(QUOTED_KEY, field_path)
    return found is not None and found[1] == "annotations" and is_bookkeeping(found[2])


def _mode(volume: Json, own: Json) -> str:
    """Return the volumeMode of a claim of the pod or its StatefulSet; "" if it is not given."""
    claim = (own.get("volumeClaimTemplate") or {}).get("spec") or {}
    return str(volume.get("volumeMode") or claim.get("volumeMode") or "")


def _object_volume(storages: list[Json], path: str, base: str, propagation: str, settings: Settings) -> list[Json]:
    """Return the mount of a whole ConfigMap or Secret, as in the settings."""
    template = settings.volumes["configMap"]
    options = template["options"]
    if propagation != "rprivate":
        options = [propagation if option == "rprivate" else option for option in options]
    stored = settings.kata_config["enable_configmap_secret_storages"]
    if stored and settings.profile.binds_images:
        base = escape_regex(base)  # such storages are counted: no name may fit another's pattern
    target = f"{template['mount_point']}{base}$"
    if stored:
        storages.append(_storage(template, f"{template['mount_source']}{base}$", target, [], template["options"]))
    return [mount(path, target, template["mount_type"], options)]


def _empty_dir(
    storages: list[Json], volume: Json, entry: Json, options: list[str], pod: PodMetadata, settings: Settings
) -> list[Json] | Wrong:
    """Return the mounts of an emptyDir: in memory, on a block device or in the shared directory."""
    path, name, medium = entry["mountPath"], entry["name"], volume.get("medium") or ""
    group = (pod.spec.get("securityContext") or {}).get("fsGroup")
    if medium == "Memory":
        template = settings.volumes["emptyDir_memory"]
        extra = [f"fsgid={group}"] if group else []
        target = f"{template['mount_point']}{name}$"
        driver_options = template["driver_options"]
        storages.append(_storage(template, template["source"], target, driver_options, [*template["options"], *extra]))
        return [mount(path, f"{template['mount_source']}{name}$", template["mount_type"], options)]
    if medium:
        return "", Cause("CC0601.medium", {"medium": medium})
    kind = settings.cluster_config["emptydir_type"]
    if kind == "shared-fs":
        return [
            mount(path, f"^$(cpath)/sandbox-[0-9a-f]{{16}}-{escape_regex(name)}$", "bind", options),
            mount(path, f"$(sfprefix){escape_regex(base_name(path))}$", "bind", options),
        ]
    template = settings.volumes["emptyDir_encrypted" if kind == "block-encrypted" else "emptyDir_plain"]
    storage = _storage(
        template, template["source"], template["mount_point"], template["driver_options"], template["options"]
    )
    if group:
        storage["fs_group"] = {"group_id": group, "group_change_policy": 0}
    storages.append(storage)
    return [mount(path, template["mount_source"], template["mount_type"], options)]


def _storage(template: Json, source: str, mount_point: str, driver_options: list[str], options: list[str]) -> Json:
    return {
        "driver": template["driver"],
        "driver_options": driver_options,
        "source": source,
        "fstype": template["fstype"],
        "options": options,
        "mount_point": mount_point,
        "fs_group": None,
        "shared": template["shared"],
    }
