"""Compute the mounts and storages of a container: containerd's, the settings', volumes, and VOLUMEs of its image.

Rule of this file: at a mountPath of the pod, the runtime's own mount of the same destination is not allowed as well.
Volumes as block devices are in devices.py.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.findings import Finding, Path, dotted, finding
from krm_function.policy.pod_metadata import PodMetadata
from krm_function.policy.problems import problem
from krm_function.policy.settings import Settings
from krm_function.policy.volumes import BASE, base_name, mount, volumes
from krm_function.record import NamedTuple

Json = dict[str, Any]

_SHM = "/dev/shm"  # noqa: S108 - a mount of the guest


class Mounts(NamedTuple):
    """The allowed mounts of a container, and the storages of the VM that some of them use."""

    mounts: list[Json]
    storages: list[Json]


def mounts(
    container: Mapping[str, Any],
    image: Mapping[str, Any],
    pod: PodMetadata,
    settings: Settings,
    at: Path,
    *,
    pause: bool = False,
    privileged: bool = False,
) -> tuple[Mounts, list[Finding]]:
    """Return the mounts of one container, and findings. privileged: for pause, whether any container of the pod is."""
    findings: list[Finding] = []
    out = _base(privileged=privileged, pause=pause)
    _from_settings(out, container, settings, pause=pause)
    message = container.get("terminationMessagePath") or ""
    if message and not (message.startswith("/") and BASE.match(base_name(message))):
        findings.append(problem(pod, (*at, "terminationMessagePath"), "CC0604.mount-name"))
    storages: list[Json] = []
    if not pause:
        wanted, storages = volumes(container, pod, settings, at, findings)
        for first, *others in wanted:
            put_mount(out, first)
            out += others
    if pause and settings.profile.refuses_volumes:
        pass  # the VM has the sandbox's image built in
    elif settings.profile.refuses_volumes or settings.volumes["image_volume"] is None:
        findings += _uncovered_image_volumes(container, image, pod, at)
    else:
        _from_image(out, image, settings.volumes["image_volume"], pod, at, findings)
    return Mounts(out, storages), findings


def _uncovered_image_volumes(
    container: Mapping[str, Any], image: Mapping[str, Any], pod: PodMetadata, at: Path
) -> Iterator[Finding]:
    """Yield a finding for each VOLUME of the image without a volumeMount: a host could put files there.

    Paths are compared as texts, as Contrast's generator does: `/data/` is not `/data`, nor is a path below it.
    """
    declared = image.get("Volumes")
    if not declared:
        return  # most images
    names = {volume["name"] for volume in pod.spec.get("volumes") or ()}
    mounted = {entry["mountPath"] for entry in container.get("volumeMounts") or () if entry["name"] in names}
    for path in sorted(set(declared) - mounted):
        here = (*pod.spec_path, *at, "image")
        yield finding("CC0643", pod.ref, here, image=container.get("image", ""), volume=path, container=dotted(at))


def _from_image(
    out: list[Json], image: Mapping[str, Any], template: Json, pod: PodMetadata, at: Path, findings: list[Finding]
) -> None:
    """Add a mount for each VOLUME of the image, as in the settings; the host creates the directory."""
    for path in sorted(image.get("Volumes") or ()):
        destination = re.sub("/+", "/", path)
        if all(present["destination"] != destination for present in out):
            base = base_name(destination)
            if not BASE.match(base):
                findings.append(problem(pod, (*at, "image"), "CC0604.image-volume", volume=path))
            source = f"{template['mount_source']}{base}$"
            out.append(mount(destination, source, template["fstype"], template["options"]))


def _base(*, privileged: bool, pause: bool) -> list[Json]:
    """Return the runtime's own mounts; new at each call, since settings may change one in place."""
    access = "rw" if privileged else "ro"
    safe = ["nosuid", "noexec", "nodev"]
    out = [
        mount("/proc", "proc", "proc", safe),
        mount("/dev", "tmpfs", "tmpfs", ["nosuid", "strictatime", "mode=755", "size=65536k"]),
        mount(
            "/dev/pts", "devpts", "devpts", ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"]
        ),
        mount(_SHM, "shm", "tmpfs", [*safe, "mode=1777", "size=65536k"]),
        mount("/dev/mqueue", "mqueue", "mqueue", safe),
        mount("/sys", "sysfs", "sysfs", [*safe, access]),
    ]
    if not pause:
        out.append(mount("/sys/fs/cgroup", "cgroup", "cgroup", [*safe, "relatime", access]))
    return out


def _from_settings(out: list[Json], container: Mapping[str, Any], settings: Settings, *, pause: bool) -> None:
    read_only = (container.get("securityContext") or {}).get("readOnlyRootFilesystem")
    wanted = settings.mount_destinations
    paths = {entry["mountPath"] for entry in container.get("volumeMounts") or ()}
    present = {entry["destination"]: entry for entry in out}
    for template in (settings.pause_container if pause else settings.other_container)["Mounts"]:
        original = template["destination"]
        if original not in wanted and original not in paths:
            continue
        destination = original
        if original == "/dev/termination-log":
            destination = container.get("terminationMessagePath") or original
        source, options = template["source"], template["options"]
        if template["type_"] == "bind" and not source:
            source = f"$(sfprefix){base_name(destination)}$"
        if original in present:
            present[original].update(type_=template["type_"], source=source, options=options)
            continue
        if not pause and original in {"/etc/hostname", "/etc/resolv.conf"}:
            options = [*options, "ro" if read_only else "rw"]
        out.append(mount(destination, source, template["type_"], options))
        present.setdefault(destination, out[-1])


def put_mount(mounts: list[Json], mount: Json) -> None:
    """Add a mount, or replace the one of the same destination, as the runtime omits its own then."""
    for index, present in enumerate(mounts):
        if present["destination"] == mount["destination"]:
            mounts[index] = mount
            return
    mounts.append(mount)
