r"""Narrow the policy data of a pod for profile strict, so that they allow this pod only.

Rule of this file: it starts from the data of profile contrast-1.25 and only restricts them. What cannot be bound is a
finding, because the host would choose it. The rules in rules/strict.rego read the members that are added here:

    required_mounts        destinations that must not be missing: the pod mounts them
    required_variables     names that must not be missing: the pod or its image sets them
    block_volumes          destination of a mount -> volume on a block device, whose mount has no source
    runtime_anno_patterns  the annotations of the runtime, which contrast-1.25 allows with any name and value
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from krm_function.findings import Finding, Path, dotted, finding
from krm_function.policy.pod_metadata import PodMetadata, escape_regex
from krm_function.policy.variable_expansion import TOKENS

Json = dict[str, Any]

CONTAINER = "io.kubernetes.cri.container-name"

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
    spec = {entry["name"]: (at, entry) for at, entry in _entries(pod)}
    out = []
    for policy in containers:
        at, container = spec.get(policy["OCI"]["Annotations"].get(CONTAINER), ((), {}))
        process = policy["OCI"]["Process"]
        findings += _unbound(process.get("Env", ()), process.get("Args", ()), pod, at)
        wanted = {mount["mountPath"] for mount in container.get("volumeMounts") or ()}
        mounts = [{**mount, "source": escaped(mount["source"])} for mount in policy["OCI"]["Mounts"]]
        storages = [
            {**storage, "source": escaped(storage["source"]), "mount_point": escaped(storage["mount_point"])}
            for storage in policy["storages"]
        ]
        narrow = {
            "OCI": {**policy["OCI"], "Mounts": mounts},
            "storages": storages,
            "runtime_anno_patterns": {**policy["runtime_anno_patterns"], **RUNTIME_ANNOTATIONS},
            "required_mounts": sorted({mount["destination"] for mount in mounts} & wanted),
            "block_volumes": _block_volumes(mounts, container),
            "required_variables": _required(process.get("Env", ())) if container else [],
        }
        out.append({**policy, **narrow})
    return out, findings


def escaped(pattern: str) -> str:
    r"""Escape the last name of a path pattern; return any other text unchanged.

    >>> escaped("$(sfprefix)resolv.conf$")
    '$(sfprefix)resolv\\.conf$'
    """
    named = _NAMED.fullmatch(pattern) if pattern.startswith(("^", "$(")) else None
    if named is None:
        return pattern
    return f"{named[1]}{escape_regex(named[2].replace(_ESCAPE, ''))}$"


def _entries(pod: PodMetadata) -> Iterator[tuple[Path, Json]]:
    for key in ("initContainers", "containers"):
        for index, container in enumerate(pod.spec.get(key) or ()):
            yield (key, index), container


def _block_volumes(mounts: list[Json], container: Json) -> dict[str, str]:
    """Map the destinations of volumes on block devices to the names of the volumes."""
    names = {entry["mountPath"]: entry["name"] for entry in container.get("volumeMounts") or ()}
    return {one["destination"]: names[one["destination"]] for one in mounts if not one["source"]}


def _required(env: Sequence[str]) -> list[str]:
    """Return the variable names that every kubelet version sets; some omit names that a shell could not use."""
    names = [variable.partition("=")[0] for variable in env]
    return [name for name in names if _SHELL_NAME.fullmatch(name)]


def _unbound(env: Sequence[str], args: Sequence[str], pod: PodMetadata, at: Path) -> list[Finding]:
    """Return CC0640 for each value that the document does not determine in full, so that the host could choose it."""
    texts = [(variable.partition("=")[0], variable.partition("=")[2], "sandbox-namespace") for variable in env]
    texts += [("an argument", argument, "sandbox-name") for argument in args]
    return [
        finding("CC0640", pod.ref, pod.spec_path + at, container=dotted(at), what=what, token=found[0])
        for what, text, exact in texts
        for found in _TOKEN.finditer(text)
        if found[0] == _UNKNOWN or (found[1] != exact and found[0] != text)
    ]
