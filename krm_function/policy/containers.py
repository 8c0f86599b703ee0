"""Assemble policy_data.containers, and narrow them for profile strict."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import References
from krm_function.findings import Finding, Path, dotted
from krm_function.policy.container_process import (
    Process,
    capabilities,
    exec_commands,
    no_new_privileges,
    pause_process,
    process,
    unknown_capabilities,
)
from krm_function.policy.expansion import TOKENS
from krm_function.policy.image_storage import SANDBOX, image_storage, is_pinned, unpinned
from krm_function.policy.initdata import CONTAINER_NAME, container_name
from krm_function.policy.mounts import VARIABLE, Mounts, VisibleGpus, add_gpus, device, devices, mounts, share_gpus
from krm_function.policy.pod_metadata import PodMetadata, escape_regex, problem
from krm_function.policy.settings import Settings
from krm_function.policy.users import (
    Identity,
    effective_identity,
    guest_pull_refusal,
    identity,
    numeric,
    security_value,
    unresolved_user,
)

# --- Narrow the policy data of a pod for profile strict, so that they allow this pod only
#
# Rule: it starts from the data of profile contrast-1.25 and only restricts them. What cannot be bound is a
# finding, because the host would choose it. The rules in rules/strict.rego read the members that are added here:
#
#     required_mounts        destinations that must not be missing: the pod mounts them
#     required_variables     names that must not be missing: the pod or its image sets them
#     block_volumes          destination of a mount -> volume on a block device, whose mount has no source
#     runtime_anno_patterns  the annotations of the runtime, which contrast-1.25 allows with any name and value


Json = dict[str, Any]

# Annotations that containerd writes into every specification. Those with a meaning in the VM are bound by the rules.
RUNTIME_ANNOTATIONS = {
    r"^io\.kubernetes\.cri\.sandbox-uid$": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    r"^io\.kubernetes\.cri\.sandbox-(cpu-period|cpu-quota|cpu-shares|memory)$": "^-?[0-9]+$",
    r"^io\.kubernetes\.cri\.podsandbox\.image-name$": "^[A-Za-z0-9][A-Za-z0-9._/:@-]*$",
}

_TOKEN = re.compile(r"\$\((" + "|".join(TOKENS) + r")\)")
_UNKNOWN = "$(todo-annotation)"
_ESCAPE = "\\"
_SHELL_NAME = re.compile(r"[A-Za-z_.-][A-Za-z0-9_.-]*")
# a path pattern: a shared directory, random characters or any directory, then the name
_NAMED = re.compile(r"(.*(?:\$\(sfprefix\)|\{16\}-|/))([^/]*)\$", re.DOTALL)


def narrowed(containers: list[Json], pod: PodMetadata) -> tuple[list[Json], list[Finding]]:
    """Return the containers of a policy, bound to the pod, and findings. The arguments are not changed."""
    findings: list[Finding] = []
    spec = {entry["name"]: (at, entry) for at, entry in pod.containers}
    out = []
    for policy in containers:
        at, container = spec.get(container_name(policy), ((), {}))
        process = policy["OCI"]["Process"]
        findings += _find_unbound_values(process.get("Env", ()), process.get("Args", ()), pod, at)
        mount_paths = {mount["mountPath"] for mount in container.get("volumeMounts") or ()}
        mounts = [{**mount, "source": escaped(mount["source"])} for mount in policy["OCI"]["Mounts"]]
        storages = [
            {**storage, "source": escaped(storage["source"]), "mount_point": escaped(storage["mount_point"])}
            for storage in policy["storages"]
        ]
        narrow = {
            "OCI": {**policy["OCI"], "Mounts": mounts},
            "storages": storages,
            "runtime_anno_patterns": {**policy["runtime_anno_patterns"], **RUNTIME_ANNOTATIONS},
            "required_mounts": sorted({mount["destination"] for mount in mounts} & mount_paths),
            "block_volumes": _block_volumes(mounts, container),
            "required_variables": _required_names(process.get("Env", ())) if container else [],
        }
        out.append({**policy, **narrow})
    return out, findings


def escaped(pattern: str) -> str:
    r"""Escape the last name of a path pattern; return any other text unchanged.

    >>> escaped("$(sfprefix)resolv.conf$")
    '$(sfprefix)resolv\\.conf$'
    """
    path_match = _NAMED.fullmatch(pattern) if pattern.startswith(("^", "$(")) else None
    if path_match is None:
        return pattern
    return f"{path_match[1]}{escape_regex(path_match[2].replace(_ESCAPE, ''))}$"


def _block_volumes(mounts: list[Json], container: Json) -> dict[str, str]:
    names = {entry["mountPath"]: entry["name"] for entry in container.get("volumeMounts") or ()}
    return {mount["destination"]: names[mount["destination"]] for mount in mounts if not mount["source"]}


def _required_names(env: Sequence[str]) -> list[str]:
    """Return the variable names that every kubelet version sets; some omit names that a shell could not use."""
    names = [variable.partition("=")[0] for variable in env]
    return [name for name in names if _SHELL_NAME.fullmatch(name)]


def _find_unbound_values(env: Sequence[str], args: Sequence[str], pod: PodMetadata, at: Path) -> list[Finding]:
    """Return CC0640 for each value that the host could choose, because the document does not determine it."""
    texts = [(variable.partition("=")[0], variable.partition("=")[2], "sandbox-namespace") for variable in env]
    texts += [("an argument", argument, "sandbox-name") for argument in args]
    return [
        problem(pod, at, "CC0640", container=dotted(at), what=place, token=token[0])
        for place, text, exact in texts
        for token in _TOKEN.finditer(text)
        if token[0] == _UNKNOWN or (token[1] != exact and token[0] != text)
    ]


# --- Assemble policy_data.containers: pause, init containers from last to first, containers
#
# Rule: it only assembles. An empty Args, Env, Cwd, Annotations or Sysctl is omitted, because the rules
# distinguish an absent member from an empty one.


PAUSE_SECURITY: Json = {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False}

NOBODY = Identity(65534, 65534, (65534,))  # for an unknown identity, in data that are not sealed

_MASKED = [
    *("/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats"),
    *("/proc/sched_debug", "/proc/scsi", "/sys/firmware"),
]
_READONLY = ["/proc/asound", "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]
_RUNTIME_ANNOTATIONS = {
    r"^io\.kubernetes\.container\.terminationMessagePath$": "^/.*$",
    r"^io\.kubernetes\.container\.terminationMessagePolicy$": "^(File|FallbackToLogsOnError)$",
}
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def containers(
    pod: PodMetadata,
    images: Mapping[str, ImageFacts],
    pause: ImageFacts,
    references: References,
    settings: Settings,
    *,
    other_gpus: bool = False,
) -> tuple[list[Json], list[Finding]]:
    """Return the policies of all containers of a pod, pause first. `images` must have every image of the pod.

    other_gpus: whether containers that were left out of `pod` ask for GPUs.
    """
    findings: list[Finding] = []
    first = len(pod.spec.get("initContainers") or ())
    in_order = [*reversed(pod.containers[:first]), *pod.containers[first:]]
    _check_sandbox_group(pod, findings)
    out = [_pause_policy(pod, pause, [entry for _, entry in in_order], settings, findings)]
    gpus = 0
    visible: list[VisibleGpus] = []
    for at, entry in in_order:
        paths, gpu_count, problems = devices(entry, pod, settings, at)
        findings += problems
        gpus += gpu_count
        policy, value = _workload_container_policy(
            entry, at, pod, images[entry["image"]], references, settings, findings, paths
        )
        out.append(policy)
        visible.append(VisibleGpus(policy, entry["name"], at, value, gpu_count))
        add_gpus(policy, gpu_count, settings)
    if settings.profile.sandbox_gpus:
        add_gpus(out[0], gpus, settings)
    if settings.profile.shared_gpus and (gpus or other_gpus):
        findings += share_gpus(visible, pod, settings)
    if settings.profile.narrowed:
        out, problems = narrowed(out, pod)
        findings += problems
    return out, findings


def _pause_policy(
    pod: PodMetadata, image: ImageFacts, workload_containers: list[Json], settings: Settings, findings: list[Finding]
) -> Json:
    template = settings.pause_container
    context = pod.spec.get("securityContext") or {}
    privileged = any((entry.get("securityContext") or {}).get("privileged") for entry in workload_containers)
    pause_mounts, problems = mounts({}, image.config, pod, settings, (), pause=True, privileged=privileged)
    findings += problems
    annotations = _merge_annotations(pod, template["Annotations"])
    annotations.setdefault("nerdctl/network-namespace", f"^/var/run/netns/cni-{_UUID}$")
    return _container_policy(
        process=pause_process(image.config, template["Process"]),
        terminal=bool(image.config.get("Tty")),
        user=identity(image, {}, context, pause=True),
        security=PAUSE_SECURITY,
        annotations=annotations,
        container_mounts=pause_mounts,
        image=SANDBOX,
        template=template,
        pod=pod,
        settings=settings,
    )


def _workload_container_policy(
    container: Json,
    at: Path,
    pod: PodMetadata,
    image: ImageFacts,
    references: References,
    settings: Settings,
    findings: list[Finding],
    device_paths: list[str],
) -> tuple[Json, str | None]:
    """Return the policy of a container, and the value of NVIDIA_VISIBLE_DEVICES in its process."""
    template = settings.other_container
    security = container.get("securityContext") or {}
    narrowed = settings.profile.narrowed
    run, problems = process(container, image.config, pod, references, at, template["Process"], effective=narrowed)
    findings += problems
    container_mounts, problems = mounts(
        container, image.config, pod, settings, at, privileged=bool(security.get("privileged"))
    )
    findings += problems
    user = _container_identity(container, at, pod, image, settings, findings)
    _check_non_root(pod, at, container, image, user, findings)
    for key, index, name in unknown_capabilities(security, settings.shared["common"]):
        capability_path = (*at, "securityContext", "capabilities", key, index)
        findings.append(problem(pod, capability_path, "CC0604.capability", name=name.upper().removeprefix("CAP_")))
    annotations = _merge_annotations(pod, template["Annotations"])
    reference = container["image"]
    if settings.profile.binds_images and not is_pinned(reference):
        findings.append(problem(pod, (*at, "image"), unpinned(reference), image=reference))
    name = reference if ":" in reference else f"{reference}:latest"
    annotations.setdefault("io.kubernetes.cri.image-name", name)
    annotations["io.kubernetes.cri.sandbox-namespace"] = pod.namespace
    annotations.setdefault(CONTAINER_NAME, container["name"])
    terminal = container.get("tty")
    out = _container_policy(
        process=run,
        terminal=bool(image.config.get("Tty")) if terminal is None else terminal,
        user=user,
        security=security,
        annotations=annotations,
        container_mounts=container_mounts,
        image=reference,
        template=template,
        pod=pod,
        settings=settings,
        device_paths=device_paths,
    )
    out["sandbox_pidns"] = bool(pod.spec.get("shareProcessNamespace"))
    out["exec_commands"] = exec_commands(container, pod, at, findings)
    out["runtime_anno_patterns"] = dict(_RUNTIME_ANNOTATIONS)
    return out, run.values.get(VARIABLE)


def _container_policy(
    *,
    process: Process,
    terminal: bool,
    user: Identity,
    security: Json,
    annotations: dict[str, str],
    container_mounts: Mounts,
    image: str,
    template: Json,
    pod: PodMetadata,
    settings: Settings,
    device_paths: list[str] | None = None,
) -> Json:
    """Write the members in genpolicy's order."""
    paths = device_paths or []
    run: Json = {"Terminal": terminal, "User": user.data}
    if process.args:
        run["Args"] = process.args
    if process.env:
        run["Env"] = process.env
    if process.cwd:
        run["Cwd"] = process.cwd
    run["Capabilities"] = capabilities(security, settings.shared["common"])
    run["NoNewPrivileges"] = no_new_privileges(security)
    root = {"Path": template["Root"]["Path"], "Readonly": bool(security.get("readOnlyRootFilesystem"))}
    oci: Json = {
        "Version": settings.kata_config["oci_version"],
        "Process": run,
        "Root": root,
        "Mounts": container_mounts.mounts,
    }
    if annotations:
        oci["Annotations"] = annotations
    oci["Linux"] = _linux_policy(template["Linux"], paths, pod, privileged=bool(security.get("privileged")))
    return {
        "OCI": oci,
        "storages": [*container_mounts.storages, image_storage(image)]
        if settings.profile.binds_images
        else container_mounts.storages,
        "devices": [device(path) for path in paths],
        "sandbox_pidns": False,
        "exec_commands": [],
        "runtime_anno_patterns": {},
    }


def _container_identity(
    container: Json, at: Path, pod: PodMetadata, image: ImageFacts, settings: Settings, findings: list[Finding]
) -> Identity:
    security, context = container.get("securityContext") or {}, pod.spec.get("securityContext") or {}
    if settings.profile.image_identity:
        answer = effective_identity(image, security, context)
        if isinstance(answer, Identity):
            return answer
        findings.append(problem(pod, at, answer.code, of=dotted(at), **answer.values))
        return NOBODY
    user = identity(image, security, context)
    name = unresolved_user(image, security, context)
    if name:
        findings.append(problem(pod, at, "CC0604.user-number", of=dotted(at), user=name))
    refused = guest_pull_refusal(user, image, security, context) if settings.cluster_config["guest_pull"] else None
    if refused:
        security_path = (*at, "securityContext") if container.get("securityContext") else at
        findings.append(problem(pod, security_path, refused.code, of=dotted(at), **refused.values))
    return user


def _check_sandbox_group(pod: PodMetadata, findings: list[Finding]) -> None:
    """Append a finding if the pod names a group and no user, which containerd refuses for the sandbox.

    A container may: the kubelet adds the image's user (docs/facts/kubernetes.md#security-context).
    """
    context = pod.spec.get("securityContext") or {}
    if context.get("runAsGroup") is not None and context.get("runAsUser") is None:
        findings.append(problem(pod, ("securityContext", "runAsGroup"), "CC0604.sandbox-group"))


def _check_non_root(
    pod: PodMetadata, at: Path, container: Json, image: ImageFacts, identity: Identity, findings: list[Finding]
) -> None:
    """Append a finding if the kubelet does not start a container because of runAsNonRoot.

    It does not start one that would be root, nor one whose user is only in the image, by name.
    """
    security, context = container.get("securityContext") or {}, pod.spec.get("securityContext") or {}
    container_value = security.get("runAsNonRoot")
    if not (context.get("runAsNonRoot") if container_value is None else container_value):
        return
    field: Path = ("securityContext", "runAsNonRoot")
    where = field if container_value is None else (*at, *field)
    user = str(image.config.get("User") or "").partition(":")[0]
    if identity.uid == 0:
        findings.append(problem(pod, where, "CC0604.root", container=container["name"]))
    elif user and numeric(user) is None and security_value("runAsUser", security, context) is None:
        refusal = problem(pod, where, "CC0604.named-user", container=container["name"], user=user, uid=identity.uid)
        findings.append(refusal)


def sysctl_name(name: str) -> str:
    """Return a kernel parameter's name with dots instead of slashes, as the kubelet passes it on."""
    first = next((char for char in name if char in "./"), ".")
    return name if first == "." else name.translate(str.maketrans("./", "/."))


def _merge_annotations(pod: PodMetadata, defaults: Mapping[str, str]) -> dict[str, str]:
    """Merge annotations of the pod, the settings and the pod's name pattern; the first of a key counts."""
    out = {**pod.annotations}
    for key, value in defaults.items():
        out.setdefault(key, value)
    if pod.name_pattern:
        out.setdefault("io.kubernetes.cri.sandbox-name", f"^{pod.name_pattern}$")
    if "io.kubernetes.cri.sandbox-namespace" in out:
        out["io.kubernetes.cri.sandbox-namespace"] = pod.namespace
    return out


def _linux_policy(template: Json, paths: list[str], pod: PodMetadata, *, privileged: bool) -> Json:
    out: Json = {
        "Namespaces": [{"Type": name, "Path": ""} for name in ("ipc", "uts", "mount")],
        "MaskedPaths": template["MaskedPaths"] or ([] if privileged else _MASKED),
        "ReadonlyPaths": template["ReadonlyPaths"] or ([] if privileged else _READONLY),
        "Devices": [{"Type": "", "Path": path} for path in (*paths, *(entry["Path"] for entry in template["Devices"]))],
    }
    sysctls = (pod.spec.get("securityContext") or {}).get("sysctls") or ()
    sysctl = template["Sysctl"] | {sysctl_name(entry["name"]): entry["value"] for entry in sysctls}
    if sysctl:
        out["Sysctl"] = sysctl
    return out
