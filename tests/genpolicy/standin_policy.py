"""The policy_data of the stand-in: what genpolicy 4.1 is documented to make of a pod, plain and as Contrast patches it.

It knows one image, IMAGE, which every reference means. Nothing here is shared with the generator under test.
"""

import re

from tests.genpolicy.standin_mounts import base, image_volumes, pulled, volumes
from tests.genpolicy.standin_pod import Json, Pod, Refused

PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
IMAGE: Json = {"Env": ["PATH=/bin"], "Entrypoint": ["/entry"], "WorkingDir": "/"}
SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]+"
NAMES = {
    "Pod": "{}",
    "Deployment": f"{{}}-{SUFFIX}-{SUFFIX}",
    "StatefulSet": "{}-[0-9]+",
    "Job": rf"{{}}(-[0-9]+)?-{SUFFIX}",
    "CronJob": rf"{{}}-[0-9]+(-[0-9]+)?-{SUFFIX}",
}
UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
FIELDS = {
    "metadata.name": "$(sandbox-name)",
    "metadata.uid": "$(pod-uid)",
    "status.hostIP": "$(host-ip)",
    "status.podIP": "$(pod-ip)",
    "spec.nodeName": "$(node-name)",
}


def policy_data(given: Pod) -> Json:
    """All of policy_data."""
    spec, settings = given.pod["spec"], given.settings
    wanted = [*spec.get("initContainers", [])[::-1], *spec["containers"]]
    requests = {**settings["request_defaults"]}
    requests["ExecProcessRequest"] = {
        key: value for key, value in requests["ExecProcessRequest"].items() if key != "commands"
    }
    storages = [{"fs_group": None, "shared": False, **one} for one in settings["sandbox"]["storages"]]
    cluster = {"cgroup_mount_extras_allowed": [], **settings["cluster_config"]}
    return {
        "containers": [_pause(given, wanted), *(_workload(given, one) for one in wanted)],
        "common": {key: value for key, value in settings["common"].items() if key != "image_layer_verification"},
        "sandbox": {"storages": storages},
        "request_defaults": requests,
        "devices": {"vfio": {"device_path": settings["devices"]["vfio"]["device_path"], "nvidia": {}}},
        "cluster_config": {key: value for key, value in cluster.items() if key != "pause_container_id_policy"},
    }


def _pause(given: Pod, others: list[Json]) -> Json:
    template = given.settings["pause_container"]
    privileged = any((one.get("securityContext") or {}).get("privileged") for one in others)
    user, group = (given.context.get(key, 65535) for key in ("runAsUser", "runAsGroup"))
    notes = _annotations(given, template)
    of_the_host = bool(given.pod["spec"].get("hostNetwork"))
    notes["nerdctl/network-namespace"] = f"^/var/run/netns/cni{'test' * of_the_host}-{UUID}$"
    process = {"Terminal": False, "User": _user(user, group, {group}), "Args": ["/pause"], "Env": [PATH]}
    security = {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False}
    out = _assembled(given, template, {**process, "Cwd": "/"}, notes, base({}, given, template, privileged), security)
    if of_the_host:
        linux = out["OCI"]["Linux"]
        linux["Namespaces"] = [one for one in linux["Namespaces"] if one["Type"] != "uts"]
    gpus = sum(_gpus(given, one) for one in others) if given.patched else 0
    out["devices"] = _vfio(given, gpus)
    out["runtime_anno_patterns"] = _gpu_pattern(given, gpus)
    if given.patched and given.settings["cluster_config"]["guest_pull"]:
        out["storages"].append(pulled("pause"))
    return out


def _workload(given: Pod, container: Json) -> Json:
    template = given.settings["other_container"]
    security = container.get("securityContext") or {}
    context = {**given.context, **security}
    group = context.get("runAsGroup", 0)
    groups: set[int] = {group, *(context.get("supplementalGroups") or [])}
    if context.get("fsGroup"):
        groups.add(context["fsGroup"])
    env = variables(container, given.objects, given)
    command: list[str] = container.get("command") or IMAGE["Entrypoint"]
    own: list[str] = container.get("args") or []
    args = _expanded(
        command + own,
        {name: value for name, _, value in (one.partition("=") for one in env)},
    )
    terminal = bool(container.get("tty"))
    around = [*IMAGE["Env"], *(["TERM=xterm"] if terminal else []), "HOSTNAME=$(host-name)"]
    process = {"Terminal": terminal, "User": _user(context.get("runAsUser", 0), group, groups), "Args": args}
    process |= {"Env": list(dict.fromkeys([*around, *env])), "Cwd": IMAGE["WorkingDir"]}
    notes = _annotations(given, template)
    image = container["image"]
    notes["io.kubernetes.cri.image-name"] = image if ":" in image else f"{image}:latest"
    notes["io.kubernetes.cri.container-name"] = container["name"]
    mounts = base(container, given, template, bool(security.get("privileged")))
    storages: list[Json] = []
    volumes(given, container, mounts, storages)
    image_volumes(given, container, mounts)
    out = _assembled(given, template, process, notes, mounts, security)
    paths = [one["devicePath"] for one in container.get("volumeDevices", [])]
    out["OCI"]["Linux"]["Devices"] = [{"Type": "", "Path": path} for path in paths]
    gpus = _gpus(given, container)
    out["devices"] = [_device(path, "") for path in paths] + _vfio(given, gpus)
    out["sandbox_pidns"] = bool(given.pod["spec"].get("shareProcessNamespace"))
    hooks = [container.get(key) for key in ("livenessProbe", "readinessProbe", "startupProbe")]
    hooks += [(container.get("lifecycle") or {}).get(key) for key in ("postStart", "preStop")]
    out["exec_commands"] = [one["exec"]["command"] for one in hooks if one and "exec" in one]
    out["runtime_anno_patterns"] = _gpu_pattern(given, gpus or _shared_gpus(given, container)) | {
        r"^io\.kubernetes\.container\.terminationMessagePath$": "^/.*$",
        r"^io\.kubernetes\.container\.terminationMessagePolicy$": "^(File|FallbackToLogsOnError)$",
    }
    out["storages"] = storages
    if given.patched and given.settings["cluster_config"]["guest_pull"]:
        out["storages"].append(pulled(container["image"]))
    return out


def _assembled(given: Pod, template: Json, process: Json, notes: Json, mounts: list[Json], security: Json) -> Json:
    common, privileged = given.settings["common"], bool(security.get("privileged"))
    linux = template.get("Linux") or {}
    sysctl = {**(linux.get("Sysctl") or {}), **{one["name"]: one["value"] for one in given.context.get("sysctls", [])}}
    masked = "acpi kcore keys latency_stats timer_list timer_stats sched_debug scsi"
    hidden = [] if privileged else [*(f"/proc/{name}" for name in masked.split()), "/sys/firmware"]
    frozen = [] if privileged else [f"/proc/{name}" for name in ["asound", "bus", "fs", "irq", "sys", "sysrq-trigger"]]
    names = _capabilities(common, security.get("capabilities") or {}, privileged=privileged)
    process["Capabilities"] = {
        **{key: [] for key in ("Ambient", "Inheritable")},
        **dict.fromkeys(("Bounding", "Effective", "Permitted"), names),
    }
    process["NoNewPrivileges"] = security.get("allowPrivilegeEscalation") is False
    return {
        "OCI": {
            "Version": given.settings["kata_config"]["oci_version"],
            "Process": process,
            "Root": {"Path": template["Root"]["Path"], "Readonly": bool(security.get("readOnlyRootFilesystem"))},
            "Mounts": mounts,
            "Annotations": notes,
            "Linux": {
                "Namespaces": [{"Type": name, "Path": ""} for name in ("ipc", "uts", "mount")],
                "MaskedPaths": linux.get("MaskedPaths") or hidden,
                "ReadonlyPaths": linux.get("ReadonlyPaths") or frozen,
                "Devices": [],
                **({"Sysctl": sysctl} if sysctl else {}),
            },
        },
        "storages": [],
        "devices": [],
        "sandbox_pidns": False,
        "exec_commands": [],
        "runtime_anno_patterns": {},
    }


def _capabilities(common: Json, asked: Json, *, privileged: bool) -> list[str]:
    names = [*common["privileged_caps" if privileged else "default_caps"]]
    dropped = {f"CAP_{name}" for name in asked.get("drop", [])}
    names = [] if "CAP_ALL" in dropped else [name for name in names if name not in dropped]
    names += [name for name in (f"CAP_{one}" for one in asked.get("add", [])) if name not in names]
    for token in ("default_caps", "privileged_caps"):
        if names == common[token]:
            return [f"$({token})"]
    return names


def _annotations(given: Pod, template: Json) -> Json:
    own = (given.pod.get("metadata") or {}).get("annotations") or {}
    out = {**(template.get("Annotations") or {}), **own}
    out["io.kubernetes.cri.sandbox-namespace"] = given.namespace
    name = given.object["metadata"].get("name")
    if name:
        pattern = NAMES.get(given.object["kind"], f"{{}}-{SUFFIX}").format(name)
        out["io.kubernetes.cri.sandbox-name"] = f"^{pattern}$"
    return out


def _user(user: int, group: int, groups: set[int]) -> Json:
    return {"UID": user, "GID": group, "AdditionalGids": sorted(groups), "Username": ""}


# --- variables


def _field(path: str, given: Pod | None) -> str:
    """What a field of the pod is in the policy."""
    found = re.fullmatch(r"metadata\.(annotations|labels)\['(.+)'\]", path)
    if path == "metadata.namespace" and given:
        return given.namespace or "$(sandbox-namespace)"
    if path == "spec.serviceAccountName":
        return "default"
    if found and given:
        value = ((given.pod.get("metadata") or {}).get(found[1]) or {}).get(found[2])
        if value is not None or found[1] == "annotations":
            return str(value if value is not None else "$(todo-annotation)")
    if path not in FIELDS:
        raise Refused(f"Unsupported field: {path}")
    return FIELDS[path]


def variables(container: Json, objects: dict[tuple[str, str], dict[str, str]], given: Pod | None = None) -> list[str]:
    """What a container's env and envFrom say, as NAME=VALUE. given: what its fields are looked up in."""
    out = []
    for entry in container.get("env", []):
        value, source = entry.get("value", ""), entry.get("valueFrom", {})
        for kind, key in (("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")):
            if key in source:
                found = objects.get((kind, source[key]["name"]))
                if found is None or source[key]["key"] not in found:
                    raise Refused(f"Couldn't get the value of env var {entry['name']}")
                value = found[source[key]["key"]]
        if "fieldRef" in source:
            value = _field(source["fieldRef"]["fieldPath"], given)
        if "resourceFieldRef" in source:
            value = "$(resource-field)"
        out.append(f"{entry['name']}={value}")
    for source in container.get("envFrom", []):
        for kind, key in (("ConfigMap", "configMapRef"), ("Secret", "secretRef")):
            if key in source:
                out += [f"{name}={value}" for name, value in sorted(objects[kind, source[key]["name"]].items())]
    return out


def _expanded(texts: list[str], values: dict[str, str]) -> list[str]:
    return [re.sub(r"\$\(([A-Z_]+)\)", lambda found: values.get(found[1], found[0]), text) for text in texts]


# --- devices


def _gpus(given: Pod, container: Json) -> int:
    limits = (container.get("resources") or {}).get("limits") or {}
    keys = given.settings["devices"]["vfio"]["nvidia"]["pgpu_resource_keys"]
    return sum(int(limits[key]) for key in keys if key in limits)


def _shared_gpus(given: Pod, container: Json) -> int:
    """Contrast's: whether the YAML of the container says that it is told of the GPUs of its pod."""
    wanted = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}
    return int(given.patched and wanted in container.get("env", []))


def _vfio(given: Pod, count: int) -> list[Json]:
    vfio = given.settings["devices"]["vfio"]
    return [_device(vfio["device_path"], vfio["nvidia"]["gpu_gk_device_type"]) for _ in range(count)]


def _gpu_pattern(given: Pod, count: int) -> Json:
    vfio = given.settings["devices"]["vfio"]
    return {vfio["anno_key_regex"]: vfio["nvidia"]["gpu_anno_value_regex"]} if count else {}


def _device(path: str, kind: str) -> Json:
    return {"id": "", "type_": kind, "vm_path": "", "container_path": path, "options": []}
