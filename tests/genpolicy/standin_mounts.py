"""Mounts and storages of the stand-in's policies, plain and as Contrast patches genpolicy."""

import re

from tests.genpolicy.standin_pod import Json, Pod, Refused

VOLUME = "with-volume"  # in the name of an image that has a volume at /cache
PROPAGATION = {"HostToContainer": "rslave", "Bidirectional": "rshared"}


def _mount(destination: str, source: str, kind: str, *options: str) -> Json:
    return {"destination": destination, "source": source, "type_": kind, "options": list(options)}


def base(container: Json, given: Pod, template: Json, privileged: bool) -> list[Json]:
    """containerd's own mounts, and those of the settings."""
    access, safe, pause = "rw" if privileged else "ro", ("nosuid", "noexec", "nodev"), not container
    out = [
        _mount("/proc", "proc", "proc", *safe),
        _mount("/dev", "tmpfs", "tmpfs", "nosuid", "strictatime", "mode=755", "size=65536k"),
        _mount(
            "/dev/pts", "devpts", "devpts", *["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"]
        ),
        _mount("/dev/shm", "shm", "tmpfs", *safe, "mode=1777", "size=65536k"),  # noqa: S108
        _mount("/dev/mqueue", "mqueue", "mqueue", *safe),
        _mount("/sys", "sysfs", "sysfs", *safe, access),
    ]
    if not pause:
        out.append(_mount("/sys/fs/cgroup", "cgroup", "cgroup", *safe, "relatime", access))
    places = {entry["mountPath"] for entry in container.get("volumeMounts", [])}
    read_only = (container.get("securityContext") or {}).get("readOnlyRootFilesystem")
    for one in template["Mounts"]:
        original = one["destination"]
        if original not in given.settings["mount_destinations"] and original not in places:
            continue
        logs = original == "/dev/termination-log"
        destination = container.get("terminationMessagePath", original) if logs else original
        source = one.get("source") or f"$(sfprefix){destination.rpartition('/')[2]}$"
        options = [*one["options"]]
        if not pause and original in {"/etc/hostname", "/etc/resolv.conf"}:
            options.append("ro" if read_only else "rw")
        _put(out, _mount(destination, source, one["type_"], *options))
    return out


def _put(mounts: list[Json], mount: Json) -> None:
    for index, present in enumerate(mounts):
        if present["destination"] == mount["destination"]:
            mounts[index] = mount
            return
    mounts.append(mount)


def volumes(given: Pod, container: Json, mounts: list[Json], storages: list[Json]) -> None:
    """What a container mounts of the pod's volumes."""
    for volume in given.pod["spec"].get("volumes", []):
        for entry in container.get("volumeMounts", []):
            if entry["name"] == volume["name"]:
                _volume(given, volume, entry, mounts, storages)


def _volume(given: Pod, volume: Json, entry: Json, mounts: list[Json], storages: list[Json]) -> None:
    path, access = entry["mountPath"], "ro" if entry.get("readOnly") else "rw"
    last = path.rstrip("/").rpartition("/")[2]
    shared = f"$(sfprefix){re.escape(last)}$"
    propagation = PROPAGATION.get(entry.get("mountPropagation", ""), "rprivate")
    kind = next((key for key in volume if key != "name"), "emptyDir")
    if "subPath" in entry:
        raise Refused("Unsupported field: subPath")
    if kind == "emptyDir":
        # plain genpolicy does not look at mountPropagation here
        options = ("rbind", propagation if given.patched else "rprivate", access)
        _empty_dir(given, volume, path, options, mounts, storages)
    elif kind == "hostPath":
        host = volume[kind]["path"]
        inside = host in {"/dev", "/sys"} or host.startswith(("/dev/", "/sys/"))
        option = "rshared" if propagation == "rshared" else "rprivate"
        _put(mounts, _mount(path, host if inside else shared, "bind", "rbind", option, access))
    elif kind in {"persistentVolumeClaim", "azureFile"} or (kind == "ephemeral" and given.patched):
        _put(mounts, _mount(path, shared, "bind", "rbind", "rprivate", "rw"))
    elif kind in {"configMap", "secret"}:
        template = given.settings["volumes"]["configMap"]
        source = f"{template['mount_point']}{last}$"
        mounts.append(_mount(path, source, template["mount_type"], *template["options"]))
    elif kind in {"projected", "downwardAPI"}:
        source = shared if kind == "projected" else f"$(sfprefix){path.rpartition('/')[2]}$"
        _put(mounts, _mount(path, source, "bind", "rbind", "rprivate", "ro"))
    else:
        raise Refused(f"Unsupported field: volumes.{kind}")


def _empty_dir(
    given: Pod, volume: Json, path: str, options: tuple[str, ...], mounts: list[Json], storages: list[Json]
) -> None:
    group, name = given.context.get("fsGroup"), volume["name"]
    templates = given.settings["volumes"]
    if (volume.get("emptyDir") or {}).get("medium") == "Memory":
        template = templates["emptyDir_memory"]
        place = f"{template['mount_point']}{name}$"
        storage = _storage(template, place, [*template["options"], *([f"fsgid={group}"] if group else [])])
        mounts.append(_mount(path, f"{template['mount_source']}{name}$", "bind", *options))
    else:
        plain = given.settings["cluster_config"]["emptydir_type"] == "block-plain"
        template = templates["emptyDir_plain" if plain else "emptyDir_encrypted"]
        storage = _storage(template, template["mount_point"], template["options"])
        storage["fs_group"] = {"group_id": group, "group_change_policy": 0} if group else None
        mounts.append(_mount(path, "", "bind", *options))
    storages.append(storage)


def _storage(template: Json, place: str, options: list[str]) -> Json:
    copied = {key: template[key] for key in ("driver", "driver_options", "source", "fstype", "shared")}
    return {**copied, "options": options, "mount_point": place, "fs_group": None}


def image_volumes(given: Pod, container: Json, mounts: list[Json]) -> None:
    """The volumes of the image that nothing is mounted at: a directory of the host, or no policy."""
    paths = ["/cache"] if VOLUME in container["image"] else []
    known = {volume["name"] for volume in given.pod["spec"].get("volumes", [])}
    places = {one["mountPath"] for one in container.get("volumeMounts", []) if one["name"] in known}
    for path in paths:
        if given.patched and path not in places:
            raise Refused(f"container {container['name']}: nothing is mounted at the image's volume {path}")
        if not given.patched and all(one["destination"] != path for one in mounts):
            template = given.settings["volumes"]["image_volume"]
            source = f"{template['mount_source']}{path.rpartition('/')[2]}$"
            mounts.append(_mount(path, source, template["fstype"], *template["options"]))


def pulled(source: str) -> Json:
    """What binds an image."""
    return {
        "driver": "image_guest_pull",
        "driver_options": [],
        "source": source,
        "fstype": "overlay",
        "options": [],
        "mount_point": "^$(root_path)$",
        "fs_group": None,
        "shared": False,
    }
