"""Mounts and storages of a container (genpolicy.md 4.7-4.9): containerd's own, the settings', volumes, image volumes.

Rule of this file: covered are emptyDir, configMap and secret volumes. Volumes of other sources may exist as block
devices (devices.py); mounting one is a finding.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from krm_function.findings import Finding, Path
from krm_function.policy.problems import problem, uncovered
from krm_function.policy.settings import Settings
from krm_function.policy.subject import Subject, escape

Json = dict[str, Any]

# the runtime's name of mountPropagation, which it writes between rbind and ro|rw
PROPAGATION = {"None": "rprivate", "HostToContainer": "rslave", "Bidirectional": "rshared"}

_SHM = "/dev/shm"  # noqa: S108 - a mount of the guest

_BASE = re.compile(r"[A-Za-z0-9._-]+\Z")


class Mounts(NamedTuple):
    """What a container may mount, and the storages of the VM that are behind some of it."""

    mounts: list[Json]
    storages: list[Json]


def mounts(
    container: Mapping[str, Any],
    image: Mapping[str, Any],
    pod: Subject,
    settings: Settings,
    at: Path,
    *,
    pause: bool = False,
    privileged: bool = False,
) -> tuple[Mounts, list[Finding]]:
    """The mounts of one container. privileged: for pause, whether any container of the pod is."""
    findings: list[Finding] = []
    out = _base(privileged=privileged, pause=pause)
    _from_settings(out, container, settings, pause=pause)
    storages: list[Json] = []
    if not pause:
        _volumes(out, storages, container, pod, settings, at, findings)
    template = settings.volumes["image_volume"]
    for path in sorted(image.get("Volumes") or ()):
        destination = re.sub("/+", "/", path)
        if all(mount["destination"] != destination for mount in out):
            base = _last(destination)
            if not _BASE.match(base):
                what = f"has a volume {path} whose name a policy cannot hold"
                findings.append(problem(pod, (*at, "image"), what, "use another image"))
            source = f"{template['mount_source']}{base}$"
            out.append(_mount(destination, source, template["fstype"], template["options"]))
    return Mounts(out, storages), findings


def _mount(destination: str, source: str, kind: str, options: list[str]) -> Json:
    return {"destination": destination, "source": source, "type_": kind, "options": options}


def _base(*, privileged: bool, pause: bool) -> list[Json]:
    """The runtime's own mounts. Fresh for every container, since settings may replace one in place."""
    access = "rw" if privileged else "ro"
    safe = ["nosuid", "noexec", "nodev"]
    out = [
        _mount("/proc", "proc", "proc", safe),
        _mount("/dev", "tmpfs", "tmpfs", ["nosuid", "strictatime", "mode=755", "size=65536k"]),
        _mount(
            "/dev/pts", "devpts", "devpts", ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"]
        ),
        _mount(_SHM, "shm", "tmpfs", [*safe, "mode=1777", "size=65536k"]),
        _mount("/dev/mqueue", "mqueue", "mqueue", safe),
        _mount("/sys", "sysfs", "sysfs", [*safe, access]),
    ]
    if not pause:
        out.append(_mount("/sys/fs/cgroup", "cgroup", "cgroup", [*safe, "relatime", access]))
    return out


def _from_settings(out: list[Json], container: Mapping[str, Any], settings: Settings, *, pause: bool) -> None:
    read_only = (container.get("securityContext") or {}).get("readOnlyRootFilesystem")
    wanted = settings.mount_destinations
    paths = {mount["mountPath"] for mount in container.get("volumeMounts") or ()}
    for template in (settings.pause_container if pause else settings.other_container)["Mounts"]:
        original = template["destination"]
        if original not in wanted and original not in paths:
            continue
        destination = original
        if original == "/dev/termination-log":
            destination = container.get("terminationMessagePath") or original
        source, options = template["source"], template["options"]
        if template["type_"] == "bind" and not source:
            source = f"$(sfprefix){_last(destination)}$"
        present = next((mount for mount in out if mount["destination"] == original), None)
        if present is not None:
            present.update(type_=template["type_"], source=source, options=options)
            continue
        if not pause and original in {"/etc/hostname", "/etc/resolv.conf"}:
            options = [*options, "ro" if read_only else "rw"]
        out.append(_mount(destination, source, template["type_"], options))


def _volumes(
    out: list[Json],
    storages: list[Json],
    container: Mapping[str, Any],
    pod: Subject,
    settings: Settings,
    at: Path,
    findings: list[Finding],
) -> None:
    """Volumes in the order of the pod, and for each the container's mounts of it."""
    wanted = list(enumerate(container.get("volumeMounts") or ()))
    names = set()
    for volume in pod.spec.get("volumes") or ():
        names.add(volume["name"])
        for index, entry in wanted:
            if entry["name"] == volume["name"]:
                here = (*at, "volumeMounts", index)
                wrong = _volume(out, storages, volume, entry, pod, settings)
                if isinstance(wrong, str):
                    findings.append(uncovered(pod, here, f" of {wrong}"))
                elif wrong:
                    findings.append(problem(pod, (*here, wrong[0]), wrong[1], wrong[2]))
    for index, entry in wanted:
        if entry["name"] not in names:
            here = (*at, "volumeMounts", index)
            if entry["name"] in pod.claim_templates:
                findings.append(uncovered(pod, here, " of a volumeClaimTemplate"))
            else:
                findings.append(problem(pod, (*here, "name"), "names no volume of the pod", "correct the name"))


def _volume(
    out: list[Json], storages: list[Json], volume: Json, entry: Json, pod: Subject, settings: Settings
) -> str | tuple[str, str, str] | None:
    """Add one mount of one volume. Returns what is not covered, or (field, problem, remedy), or None."""
    path = entry["mountPath"]
    base = _last(path)
    if not path.startswith("/") or not _BASE.match(base) or base in {".", ".."}:
        return "mountPath", "has no last component a policy can hold", "use an absolute path of plain characters"
    propagation = PROPAGATION.get(entry.get("mountPropagation") or "None")
    if propagation is None:
        return "mountPropagation", "is not known", f"use one of {', '.join(PROPAGATION)}"
    options = ["rbind", propagation, "ro" if entry.get("readOnly") else "rw"]
    sources = [key for key, value in volume.items() if key != "name" and value is not None]
    if len(sources) > 1:
        return f"a volume with more than one source ({', '.join(sources)})"
    source = sources[0] if sources else "emptyDir"  # a volume without a source is an emptyDir
    if source == "emptyDir":
        return _empty_dir(out, storages, volume.get("emptyDir") or {}, entry, options, pod, settings)
    if source not in {"configMap", "secret"}:
        return f"a {source} volume"
    if propagation != "rprivate":
        return f"a {source} volume with mountPropagation"
    template = settings.volumes["configMap"]
    target = _joined(template["mount_point"], base)
    out.append(_mount(path, target, template["mount_type"], template["options"]))
    if settings.kata_config["enable_configmap_secret_storages"]:
        storages.append(_storage(template, _joined(template["mount_source"], base), target, [], template["options"]))
    return None


def _empty_dir(
    out: list[Json],
    storages: list[Json],
    volume: Json,
    entry: Json,
    options: list[str],
    pod: Subject,
    settings: Settings,
) -> str | None:
    path, name, medium = entry["mountPath"], entry["name"], volume.get("medium") or ""
    group = (pod.spec.get("securityContext") or {}).get("fsGroup")
    if medium == "Memory":
        template = settings.volumes["emptyDir_memory"]
        out.append(_mount(path, _joined(template["mount_source"], name), template["mount_type"], options))
        extra = [f"fsgid={group}"] if group else []
        target = _joined(template["mount_point"], name)
        driver_options = template["driver_options"]
        storages.append(_storage(template, template["source"], target, driver_options, [*template["options"], *extra]))
        return None
    if medium:
        return f"an emptyDir of medium {medium}"
    kind = settings.cluster_config["emptydir_type"]
    if kind == "shared-fs":
        out.append(_mount(path, f"^$(cpath)/sandbox-[0-9a-f]{{16}}-{escape(name)}$", "bind", options))
        out.append(_mount(path, f"$(sfprefix){escape(_last(path))}$", "bind", options))
        return None
    template = settings.volumes["emptyDir_encrypted" if kind == "block-encrypted" else "emptyDir_plain"]
    out.append(_mount(path, template["mount_source"], template["mount_type"], options))
    storage = _storage(
        template, template["source"], template["mount_point"], template["driver_options"], template["options"]
    )
    if group:
        storage["fs_group"] = {"group_id": group, "group_change_policy": 0}
    storages.append(storage)
    return None


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


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}{name}$"


def _last(path: str) -> str:
    """The last component of a path, "" if there is none."""
    return path.rstrip("/").rpartition("/")[2]
