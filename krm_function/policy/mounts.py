"""The mounts, storages and devices of a container."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.contrast.gpus import gpu_name
from krm_function.contrast.injected import IMAGE_STORE
from krm_function.contrast.owned import CONTAINERS
from krm_function.findings import Cause, Finding, Path, dotted
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.policy.initdata import container_name
from krm_function.policy.pod_metadata import QUOTED_KEY, PodMetadata, escape_regex, is_bookkeeping, problem
from krm_function.policy.settings import Settings
from krm_function.record import NamedTuple

# --- Compute the mounts and storages of a pod's volumes for one container
#
# Rule: a volume is in one of three places.
#
#   the VM        emptyDir: a storage of the request, and a mount of it
#   the guest     a hostPath in /dev or /sys: the shim uses the guest's directory
#   the host      everything the kubelet mounts or fills on the node: a bind mount out of the shared directory. The host
#                 can read and change its files; `host_visible_volumes` warns of all that are not API objects
#
# What docs/facts does not cover is a finding. So is a part of an emptyDir: the kubelet would make it a directory of the
# node, and data meant to stay in the VM would be written there.


Json = dict[str, Any]
Wrong = tuple[str, Cause]  # a field of the volumeMount, "" for the whole, and CC0604 or CC0601 with a variant

# the runtime's name of mountPropagation, which it writes between rbind and ro|rw
PROPAGATION = {"None": "rprivate", "HostToContainer": "rslave", "Bidirectional": "rshared"}

CLAIM = "persistentVolumeClaim"
SETTLED = frozenset({"configMap", "secret"})  # their mounts are in the settings
FILES = SETTLED | {"projected", "downwardAPI"}  # always read-only
ALL_ANNOTATIONS = "metadata.annotations"  # a fieldPath: all that the pod has, as lines of a file
_IN_THE_VM = ("/dev", "/sys")
_STORAGE = ("driver", "driver_options", "source", "fstype", "options", "mount_point", "fs_group", "shared")

BASE = re.compile(r"[A-Za-z0-9._-]+\Z")


def mount(destination: str, source: str, kind: str, options: list[str]) -> Json:
    """Build one element of OCI.Mounts."""
    return {"destination": destination, "source": source, "type_": kind, "options": options}


def base_name(path: str) -> str:
    """Return the last component of a path; "" for the root."""
    return path.rstrip("/").rpartition("/")[2]


def volumes(
    container: Mapping[str, Any], pod: PodMetadata, settings: Settings, at: Path, findings: list[Finding]
) -> tuple[list[list[Json]], list[Json]]:
    """Return the mounts of a container's volumeMounts, and their storages. `at`: its path from the pod spec.

    The mounts are in the order of the volumes; each is the list of alternatives among which the host may choose.
    """
    out: list[list[Json]] = []
    storages: list[Json] = []
    volume_mounts = list(enumerate(container.get("volumeMounts") or ()))
    volumes_by_name = _volumes_by_name(pod) if volume_mounts else {}
    for name, volume in volumes_by_name.items():
        for index, entry in volume_mounts:
            if entry["name"] == name:
                mount_path = (*at, "volumeMounts", index)
                alternatives = _mount_volume(storages, volume, entry, pod, settings)
                if isinstance(alternatives, list):
                    out.append(alternatives)
                else:
                    field, cause = alternatives
                    field_path = (*mount_path, field) if field else mount_path
                    findings.append(problem(pod, field_path, cause.code, **cause.values))
    for index, entry in volume_mounts:
        if entry["name"] not in volumes_by_name:
            findings.append(problem(pod, (*at, "volumeMounts", index, "name"), "CC0604.volume"))
    return out, storages


def host_visible_volumes(pod: PodMetadata) -> list[Finding]:
    """Return a warning for each mounted volume whose files the host can read and change; no policy can prevent it."""
    mounted = {entry["name"] for _, container in pod.containers for entry in container.get("volumeMounts") or ()}
    if not mounted:
        return []
    paths: dict[str, Path] = {
        volume["name"]: ("volumes", index) for index, volume in enumerate(pod.spec.get("volumes") or ())
    }
    out = []
    for name, volume in _volumes_by_name(pod).items():
        source = _volume_kind(volume)
        if source == "hostPath" and in_the_vm(volume[source]["path"]):
            continue
        if name in mounted and source != "emptyDir" and source not in FILES:
            out.append(problem(pod, paths.get(name, ()), "CC0630", volume=name, source=source))
    return out


def _volumes_by_name(pod: PodMetadata) -> dict[str, Json]:
    # A StatefulSet's claim replaces a volume of the same name
    out: dict[str, Json] = {
        name: {"name": name, CLAIM: {}, "volumeMode": mode} for name, mode in pod.claim_templates.items()
    }
    for volume in pod.spec.get("volumes") or ():
        out.setdefault(volume["name"], volume)
    return out


def _volume_kind(volume: Json) -> str:
    # A volume without a source is an emptyDir
    return next((key for key, value in volume.items() if key not in _NO_SOURCE and value is not None), "emptyDir")


_NO_SOURCE = ("name", "volumeMode")


def in_the_vm(path: str) -> bool:
    """Tell whether the path of a hostPath volume is a directory or device of the guest."""
    return path in _IN_THE_VM or path.startswith(("/dev/", "/sys/"))


def _mount_volume(
    storages: list[Json], volume: Json, entry: Json, pod: PodMetadata, settings: Settings
) -> list[Json] | Wrong:
    """Return the alternative mounts of one volumeMount, or why the policy does not cover it."""
    fault = _find_wrong_field(volume, entry, pod)
    if fault:
        return fault
    path, base = entry["mountPath"], base_name(entry["mountPath"])
    source = _volume_kind(volume)
    source_fields = volume.get(source) or {}
    part = next((key for key in ("subPath", "subPathExpr") if entry.get(key)), None)
    options = _bind_options(source, source_fields, entry, settings)
    if source == "emptyDir":
        if part:
            return part, Cause("CC0604.part-of-empty-dir")
        return _mount_empty_dir(storages, source_fields, entry, options, pod, settings)
    if source in SETTLED and not part:
        return _mount_object_volume(storages, path, base, _propagation_option(entry), settings)
    if source in SETTLED and part and settings.kata_config["enable_configmap_secret_storages"]:
        return part, Cause("CC0604.part-of-storage")
    if source == "hostPath" and not _is_plain_path(source_fields["path"]):
        return "", Cause("CC0604.host-path")
    if source == "hostPath" and in_the_vm(source_fields["path"]):
        in_guest = mount(path, source_fields["path"].rstrip("/"), "bind", options)
        return (part, Cause("CC0604.part-in-vm")) if part else [in_guest]
    if _volume_mode(volume, source_fields) == "Block":
        return "", Cause("CC0604.block")
    return [mount(path, f"$(sfprefix){escape_regex(base)}$", "bind", options)]


def _find_wrong_field(volume: Json, entry: Json, pod: PodMetadata) -> Wrong | None:
    """Return a field that no mount may have: an odd path or propagation, a second source, an unstable field."""
    base = base_name(entry["mountPath"])
    if not entry["mountPath"].startswith("/") or not BASE.match(base) or base in {".", ".."}:
        return "mountPath", Cause("CC0604.mount-name")
    if not _propagation_option(entry):
        return "mountPropagation", Cause("CC0604.propagation", {"known": ", ".join(PROPAGATION)})
    sources = [key for key, value in volume.items() if key not in _NO_SOURCE and value is not None]
    if len(sources) > 1:
        return "", Cause("CC0601.sources", {"sources": ", ".join(sources)})
    source = _volume_kind(volume)
    fields = _downward_fields(source, volume.get(source) or {})
    unstable = next((field_path for field_path in fields if _is_unstable(field_path, pod)), None)
    return ("", Cause("CC0601.field-path", {"field_path": unstable})) if unstable else None


def _propagation_option(entry: Json) -> str:
    """Return "" for an unknown mountPropagation."""
    return PROPAGATION.get(entry.get("mountPropagation") or "None", "")


def _bind_options(source: str, source_fields: Json, entry: Json, settings: Settings) -> list[str]:
    """Mounts of the node's files are never writable."""
    propagates = source != "emptyDir" or settings.profile.propagates
    read_only = entry.get("readOnly") or source_fields.get("readOnly") or source in FILES
    return ["rbind", _propagation_option(entry) if propagates else PROPAGATION["None"], "ro" if read_only else "rw"]


def _is_plain_path(path: str) -> bool:
    return path.startswith("/") and not {".", ".."} & set(path.split("/")) and "//" not in path


def _downward_fields(source: str, source_fields: Json) -> list[str]:
    sources = {
        "downwardAPI": [source_fields],
        "projected": [projection.get("downwardAPI") or {} for projection in source_fields.get("sources") or ()],
    }
    items = [item for projection in sources.get(source, ()) for item in projection.get("items") or ()]
    return [item["fieldRef"]["fieldPath"] for item in items if item.get("fieldRef")]


def _is_unstable(field_path: str, pod: PodMetadata) -> bool:
    """Tell whether a field has an annotation that is in no policy and that tools change in a running cluster."""
    if field_path == ALL_ANNOTATIONS:
        return bool(pod.of_the_cluster)
    quoted_key = re.match(QUOTED_KEY, field_path)
    return quoted_key is not None and quoted_key[1] == "annotations" and is_bookkeeping(quoted_key[2])


def _volume_mode(volume: Json, source_fields: Json) -> str:
    claim = (source_fields.get("volumeClaimTemplate") or {}).get("spec") or {}
    return str(volume.get("volumeMode") or claim.get("volumeMode") or "")


def _mount_object_volume(
    storages: list[Json], path: str, base: str, propagation: str, settings: Settings
) -> list[Json]:
    template = settings.volumes["configMap"]
    options = template["options"]
    if propagation != "rprivate":
        options = [propagation if option == "rprivate" else option for option in options]
    stored = settings.kata_config["enable_configmap_secret_storages"]
    if stored and settings.profile.binds_images:
        base = escape_regex(base)  # such storages are counted: no name may fit another's pattern
    target = f"{template['mount_point']}{base}$"
    if stored:
        source = f"{template['mount_source']}{base}$"
        storages.append(_make_storage(template, driver_options=[], source=source, mount_point=target))
    return [mount(path, target, template["mount_type"], options)]


def _mount_empty_dir(
    storages: list[Json], volume: Json, entry: Json, options: list[str], pod: PodMetadata, settings: Settings
) -> list[Json] | Wrong:
    path, name, medium = entry["mountPath"], entry["name"], volume.get("medium") or ""
    group = (pod.spec.get("securityContext") or {}).get("fsGroup")
    if medium == "Memory":
        template = settings.volumes["emptyDir_memory"]
        target, extra = f"{template['mount_point']}{name}$", [f"fsgid={group}"] if group else []
        storages.append(_make_storage(template, mount_point=target, options=[*template["options"], *extra]))
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
    storage = _make_storage(template)
    if group:
        storage["fs_group"] = {"group_id": group, "group_change_policy": 0}
    storages.append(storage)
    return [mount(path, template["mount_source"], template["mount_type"], options)]


def _make_storage(template: Json, **changes: Any) -> Json:
    """Write the members in genpolicy's order."""
    members = {**template, **changes, "fs_group": None}
    return {name: members[name] for name in _STORAGE}


# --- Compute the mounts and storages of a container: containerd's, the settings', volumes, and VOLUMEs of its image
#
# Rule: at a mountPath of the pod, the runtime's own mount of the same destination is not allowed as well.
# Volumes as block devices are in policy/mounts.py.


_SHM = "/dev/shm"  # noqa: S108 - a mount of the guest


class Mounts(NamedTuple):
    """The allowed mounts of a container, and the storages of the VM that they use."""

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
    out = _runtime_mounts(privileged=privileged, pause=pause)
    _add_settings_mounts(out, container, settings, pause=pause)
    message = container.get("terminationMessagePath") or ""
    if message and not (message.startswith("/") and BASE.match(base_name(message))):
        findings.append(problem(pod, (*at, "terminationMessagePath"), "CC0604.mount-name"))
    storages: list[Json] = []
    if not pause:
        volume_mounts, storages = volumes(container, pod, settings, at, findings)
        for first, *alternatives in volume_mounts:
            put_mount(out, first)
            out += alternatives
    if pause and settings.profile.refuses_volumes:
        pass  # the VM has the sandbox's image built in
    elif settings.profile.refuses_volumes or settings.volumes["image_volume"] is None:
        findings += _uncovered_image_volumes(container, image, pod, at)
    else:
        _add_image_volumes(out, image, settings.volumes["image_volume"], pod, at, findings)
    return Mounts(out, storages), findings


def _uncovered_image_volumes(
    container: Mapping[str, Any], image: Mapping[str, Any], pod: PodMetadata, at: Path
) -> Iterator[Finding]:
    """Yield a finding for each VOLUME of the image without a volumeMount: a host could put files there.

    Paths are compared as texts, as in Contrast's generator: neither `/data/` nor a path below it is `/data`.
    """
    declared = image.get("Volumes")
    if not declared:
        return  # most images
    names = {volume["name"] for volume in pod.spec.get("volumes") or ()}
    mounted = {entry["mountPath"] for entry in container.get("volumeMounts") or () if entry["name"] in names}
    for path in sorted(set(declared) - mounted):
        values = {"image": container.get("image", ""), "volume": path, "container": dotted(at)}
        yield problem(pod, (*at, "image"), "CC0643", **values)


def _add_image_volumes(
    out: list[Json], image: Mapping[str, Any], template: Json, pod: PodMetadata, at: Path, findings: list[Finding]
) -> None:
    """Add a mount as in the settings for each VOLUME of the image; the host creates the directory."""
    for path in sorted(image.get("Volumes") or ()):
        destination = re.sub("/+", "/", path)
        if all(present["destination"] != destination for present in out):
            base = base_name(destination)
            if not BASE.match(base):
                findings.append(problem(pod, (*at, "image"), "CC0604.image-volume", volume=path))
            source = f"{template['mount_source']}{base}$"
            out.append(mount(destination, source, template["fstype"], template["options"]))


def _runtime_mounts(*, privileged: bool, pause: bool) -> list[Json]:
    """Return new objects at each call, because settings may change one in place."""
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


def _add_settings_mounts(out: list[Json], container: Mapping[str, Any], settings: Settings, *, pause: bool) -> None:
    read_only = (container.get("securityContext") or {}).get("readOnlyRootFilesystem")
    default_destinations = settings.mount_destinations
    paths = {entry["mountPath"] for entry in container.get("volumeMounts") or ()}
    present = {entry["destination"]: entry for entry in out}
    for template in (settings.pause_container if pause else settings.other_container)["Mounts"]:
        original = template["destination"]
        if original not in default_destinations and original not in paths:
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
    """Add a mount. It replaces one with the same destination, because the runtime omits its own then."""
    for index, present in enumerate(mounts):
        if present["destination"] == mount["destination"]:
            mounts[index] = mount
            return
    mounts.append(mount)


# --- Compute the devices of a container: block volumes and passed-through GPUs
#
# Rule: a GPU is an entry with a path pattern and without a device node, since the host chooses which it
# is.


MOST = 1024  # GPUs of a container: each becomes an entry of the policy; no machine has so many
_BLOCK = ("persistentVolumeClaim", "ephemeral", "iscsi")


def devices(
    container: Mapping[str, Any], pod: PodMetadata, settings: Settings, at: Path
) -> tuple[list[str], int, list[Finding]]:
    """Return the device paths of a container's block volumes, the number of its GPUs, and findings."""
    findings: list[Finding] = []
    prefix = settings.devices["vfio"]["device_path"]
    volumes = {volume["name"]: volume for volume in pod.spec.get("volumes") or ()}
    paths = []
    for index, entry in enumerate(container.get("volumeDevices") or ()):
        path, name = entry["devicePath"], entry["name"]
        volume = {"persistentVolumeClaim": {}} if name in pod.claim_templates else volumes.get(name)
        code = ""
        if path.startswith(prefix):
            code = "CC0604.device-gpu"
        elif not path.startswith("/"):
            code = "CC0604.device-path"
        elif volume is None:
            code = "CC0604.volume"
        elif not any(volume.get(source) is not None for source in _BLOCK):
            code = "CC0604.no-device"
        if code:
            field = "devicePath" if code in ("CC0604.device-gpu", "CC0604.device-path") else "name"
            findings.append(problem(pod, (*at, "volumeDevices", index, field), code, prefix=prefix))
        paths.append(path)
    return paths, _count_gpus(container, pod, settings, at, findings), findings


def _count_gpus(
    container: Mapping[str, Any], pod: PodMetadata, settings: Settings, at: Path, findings: list[Finding]
) -> int:
    """GPUs are counted in limits only, as whole numbers."""
    limits = (container.get("resources") or {}).get("limits") or {}
    count = 0
    keys = settings.devices["vfio"]["nvidia"]["pgpu_resource_keys"]
    findings += [
        problem(pod, (*at, "resources", "limits", key), "CC0631", resource=key)
        for key in limits
        if "/" in key and not gpu_name(key, tuple(keys))  # check_gpus and resolve report GPUs
    ]
    for key in keys:
        value = limits.get(key)
        if value is None:
            continue
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST:
            count += value
        else:
            findings.append(problem(pod, (*at, "resources", "limits", key), "CC0604.gpus"))
    return count


def device(path: str, kind: str = "") -> Json:
    """Build one element of the devices of a container."""
    return {"id": "", "type_": kind, "vm_path": "", "container_path": path, "options": []}


def add_gpus(container: Json, count: int, settings: Settings) -> None:
    """Add GPUs to a container's policy, and the annotations that announce them."""
    vfio = settings.devices["vfio"]
    container["devices"] += [device(vfio["device_path"], vfio["nvidia"]["gpu_gk_device_type"]) for _ in range(count)]
    if count:
        announce_gpus(container, settings)


def announce_gpus(container: Json, settings: Settings) -> None:
    """Allow the annotations that announce GPUs; the rules check their number."""
    vfio = settings.devices["vfio"]
    announced = {vfio["anno_key_regex"]: vfio["nvidia"]["gpu_anno_value_regex"]}
    container["runtime_anno_patterns"] = announced | container["runtime_anno_patterns"]


# --- Find the containers to which the runtime announces all GPUs of their pod, and let their policies allow it
#
# The runtime of a Contrast node looks at the variables of the process, wherever they come from:
#
#     NVIDIA_VISIBLE_DEVICES of the process   GPUs that are announced to the container
#     all                                     all of the pod, whether it asks for some or not
#     any other value, or none                those that it asks for
#     a value that is not known here          no policy: CC0632
#
# Contrast's pages give each container that asks for a GPU the variable. Where it does not have it, it is CC0418, an
# info, because the runtime announces what a container asks for anyway; where it has another value, CC0419, a warning.
#
# Rule: `all` to the letter, in pods with a GPU, and in no injected container. In the data such a container
# has the pattern of the annotations, and of the variable this one value: rules/contrast-node.rego reads both.
# Source: docs/facts/contrast-node.md#gpus-that-containers-share.


VARIABLE = "NVIDIA_VISIBLE_DEVICES"
ALL = f"{VARIABLE}=all"
INJECTED = frozenset((*CONTAINERS, IMAGE_STORE))
ANNOTATION = "cdi.k8s.io/vfio0"  # announces a GPU


class VisibleGpus(NamedTuple):
    """A container: its policy, its name, its path from the pod spec, and the variable's value in its process.

    value: None without the variable; with a marker where it is not known. asks: the number of GPUs in its limits.
    """

    policy: Json
    name: str
    at: Path
    value: str | None
    asks: int = 0


def share_gpus(containers: list[VisibleGpus], pod: PodMetadata, settings: Settings) -> list[Finding]:
    """Change the policies of the containers that all GPUs of the pod are announced to; return findings."""
    findings: list[Finding] = []
    for container in containers:
        if container.name in INJECTED:
            continue
        code = ""
        if container.value is None:
            code = "CC0418" if container.asks else ""
        elif "\0" in container.value:
            code = "CC0632"
        elif f"{VARIABLE}={container.value}" == ALL:
            announce_gpus(container.policy, settings)
            process = container.policy["OCI"]["Process"]
            # the process has the pod's value where the image has another
            process["Env"] = [text for text in process["Env"] if text == ALL or not text.startswith(f"{VARIABLE}=")]
        elif container.asks:
            code = "CC0419"
        findings += [problem(pod, container.at, code, container=container.name)] if code else []
    return findings


def shares_gpus(container: Any) -> bool:
    """Tell whether a container of policy data, of any shape, may learn of all GPUs of its pod, as the rules decide."""
    env = dig(container, ("OCI", "Process", "Env"))
    values = {text for text in (env if isinstance(env, list) else ()) if str(text).startswith(f"{VARIABLE}=")}
    return values == {ALL} and any(
        _is_announcement(key) for key in mapping(mapping(container).get("runtime_anno_patterns"))
    )


def _is_announcement(pattern: str) -> bool:
    try:
        return re.search(pattern, ANNOTATION) is not None
    except re.error:
        return False


def shared_gpu_notes(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for the plan about each container that all GPUs of the pod are announced to."""
    prefix = dig(data, ("devices", "vfio", "device_path"))
    for container in maps(data.get("containers")):
        if shares_gpus(container):
            name = container_name(container)
            gpu_count = sum(1 for device in maps(container.get("devices")) if device.get("container_path") == prefix)
            asks = f"asks for {gpu_count}" if gpu_count else "asks for none itself"
            yield f"container {name} gets all GPUs of the pod, by {ALL}; it {asks}"
