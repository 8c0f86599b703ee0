"""Rule of this file: a change of a request that is allowed stands in this table, with the reason why it may be.

Reviewed row by row against what Kata's and Contrast's own rules look at. A change that stands here and is denied, or is
allowed and does not stand here, fails the tests. `ways`, `place` and `profile` are regular expressions for the whole
text.
"""

import functools
import re
from typing import NamedTuple

from krm_function.contrast import profiles


class Free(NamedTuple):
    """Changes that are allowed: which request, where, how, why, and by which profile."""

    entry_point: str
    place: str
    ways: str
    reason: str
    profile: str = ".*"


ANY = ".*"
ORDER = "(repeat|swap).*"
TEXT = "alter|prefix|suffix|newline|case|empty|drop"
AROUND = "prefix|suffix|newline"
CREATE = "CreateContainerRequest"
EXEC = "ExecProcessRequest"
TERMINATION = r"OCI\.Annotations\['io.kubernetes.container.terminationMessage"
KATA, CONTRAST = (re.escape(profile.name) for profile in (profiles.KATA, profiles.CONTRAST))
OPEN = "HOSTNAME|NODE|CPUS"  # variables of which a policy knows no more than the form, in the pods of these tests

TABLE = (
    # names that the host gives, and that say nothing of what runs
    Free(CREATE, "container_id", "alter|prefix|suffix|newline|empty", "the host names containers", KATA),
    Free(CREATE, r"OCI\.Version", TEXT, "Contrast: of the node's runtime", CONTRAST),
    Free(f"{CREATE}|{EXEC}", "exec_id|stdin_port|stdout_port|stderr_port", ANY, "a channel, not a process"),
    Free(
        "RemoveContainerRequest",
        "container_id",
        "alter|prefix|suffix|newline|empty",
        "the agent's patch then fails",
        KATA,
    ),
    Free("RemoveContainerRequest", "timeout", ANY, "how long the agent waits"),
    Free("StartContainerRequest", "container_id", ANY, "Kata: the agent knows what it can start", KATA),
    Free(CREATE, r"OCI\.Hostname", ANY, "Kubernetes' name of the pod; a process may not rely on it"),
    Free(CREATE, r"OCI\.Annotations\['io.kubernetes.cri.sandbox-id'\]", "alter", "any id of that form", KATA),
    Free(
        CREATE,
        r"OCI\.Annotations\['io.kubernetes.cri.(sandbox-(uid|cpu-\w+|memory)|podsandbox.image-name)'\]",
        TEXT,
        "Kata: the runtime's own, any value",
    ),
    Free(CREATE, r"OCI\.Annotations\['io.katacontainers.pkg.oci.bundle_path'\]", TEXT, "Kata: known key, any value"),
    Free(
        CREATE,
        r"OCI\.Annotations\['io.kubernetes.container.terminationMessagePath'\]",
        "case|suffix|drop",
        "a path",
        KATA,
    ),
    Free(
        CREATE,
        r"OCI\.Annotations\['io.kubernetes.container.terminationMessagePolicy'\]",
        "drop",
        "for the kubelet",
        KATA,
    ),
    # limits and scheduling: availability is the host's anyway
    Free(CREATE, r"OCI\.Linux\.CgroupsPath", ANY, "where the host counts resources", KATA),
    Free(CREATE, r"OCI\.Linux\.Resources\.(CPU|Memory|HugepageLimits)", ANY, "limits are the host's to set"),
    Free(f"{CREATE}|{EXEC}", r"(OCI\.Process|process)\.(OOMScoreAdj|Rlimits|ConsoleSize)", ANY, "limits, and a window"),
    Free(CREATE, r"OCI\.Process\.ApparmorProfile", ANY, "the guest has no AppArmor"),
    # lists that are sets
    Free(CREATE, r"OCI\.Process\.Capabilities\.\w+", ORDER, "a set"),
    Free(f"{CREATE}|{EXEC}", r"(OCI\.Process|process)\.User\.AdditionalGids", ORDER, "a set"),
    Free(
        f"{CREATE}|{EXEC}",
        r"(OCI\.Process|process)\.Env",
        f"{ORDER}|drop.*|none",
        "each variable is one of the policy's",
    ),
    Free(CREATE, r"OCI\.Linux\.(MaskedPaths|ReadonlyPaths)", f"{ORDER}|add.*", "more may be hidden, never less"),
    Free(CREATE, r"OCI\.Linux\.MaskedPaths", "drop more", "what this node hides beyond the policy", CONTRAST),
    Free(CREATE, r"OCI\.Linux\.MaskedPaths\[more\]", ANY, "what this node hides beyond the policy", CONTRAST),
    Free(CREATE, r"OCI\.Mounts\[cgroup\]\.options", ORDER, "a set"),
    # values that only the node knows
    Free(f"{CREATE}|{EXEC}", r"(OCI\.Process|process)\.Env\[HOSTNAME\]", "suffix|newline", "any value"),
    Free(f"{CREATE}|{EXEC}", r"(OCI\.Process|process)\.Env\[NODE\]", "suffix", "the name of another node"),
    Free(CREATE, r"OCI\.Process\.Env", f"add ({OPEN})", "any value of that form"),
    # Kata's own gaps, kept for equal verdicts; the threat model names them
    Free(CREATE, r"storages\[(image_guest_pull|pause)\]\.(source|driver_options(\[\])?)", ANY, "any image", KATA),
    Free(CREATE, "storages", "(drop|repeat) (image_guest_pull|pause)", "none or several images to pull", KATA),
    Free(CREATE, r"storages\[image_guest_pull\]\.source", "alter|prefix", "the digest says which image", CONTRAST),
    Free(CREATE, "storages", "swap.*", "any order"),
    Free(CREATE, r"storages\[ephemeral\]\.source", AROUND, "Kata: found anywhere in the text"),
    Free(CREATE, r"OCI\.Root\.Path", AROUND, "Kata: found anywhere in the text", KATA),
    Free(CREATE, r"OCI\.Mounts\[(?!bind).*\]\.source", AROUND, "Kata: found anywhere in the text"),
    Free(CREATE, r"OCI\.Annotations\['io.kubernetes.cri.image-name'\]", TEXT, "Kata: known key, any value"),
    Free(CREATE, r"OCI\.Mounts", "(drop|swap).*|none", "Kata: a mount of the policy may be left out; any order"),
    Free(CREATE, r"OCI\.Linux\.Sysctl\['.+'\]", "drop", "Kata: a sysctl of the policy may be left out"),
    Free(CREATE, "devices", "(drop|repeat) blk|none|swap.*", "Kata: all may be left out; any order"),
    Free(CREATE, r"devices\[blk\]\.(id|type_|vm_path|options)", ANY, "Kata: a device is known by its path inside"),
    Free(CREATE, r"devices\[vfio-pci-gk\]\.options", "repeat", "Kata: addresses of the host, any"),
    Free(CREATE, r"OCI\.Linux\.Devices", "(drop|repeat).*|none", "Kata: a device may be left out, or named twice"),
    Free(CREATE, r"OCI\.Linux\.Devices\[\]\.(Type|Major|Minor|FileMode|UID|GID)", ANY, "the agent sets them itself"),
    Free(CREATE, r"OCI\.Linux\.Namespaces", "(drop|repeat|swap) cgroup", "the agent makes its own", KATA),
    Free(CREATE, r"OCI\.Linux\.Namespaces\[cgroup\]\.Path", ANY, "the agent makes its own", KATA),
    Free(CREATE, r"OCI\.Linux\.Namespaces\[mount\]\.Type", "case", "two runtimes spell it in two ways"),
    Free(CREATE, r"OCI\.Linux\.Namespaces", "swap network", "any place; the rest keeps its order", KATA),
    Free(EXEC, r"process\.User\.Username", ANY, "Kata: the agent goes by the number"),
    # files and network: what they hold is never trusted
    Free("CopyFileRequest", "file_size|file_mode|dir_mode|uid|gid|offset", ANY, "what a file of the host holds"),
    Free("CopyFileRequest", "path", "suffix|newline", "another name in the same directory"),
    Free("CreateSandboxRequest", "hostname|dns.*|sandbox_id", ANY, "names"),
    Free("CreateSandboxRequest", "storages", "(drop|repeat).*|none", "Kata: each is one of the policy's"),
    Free(
        "UpdateInterfaceRequest",
        r"interface\.(device|devicePath|type_|mtu|IPAddresses.*)",
        ANY,
        "the network is the host's, but for loopback",
    ),
    Free("UpdateInterfaceRequest", r"interface\.(name|hwAddr)", ANY, "but for loopback"),
    Free("UpdateRoutesRequest", r"routes\.Routes", ANY, "but for loopback"),
    Free("UpdateRoutesRequest", r"routes\.Routes\[\]\.(dest|gateway|scope|family|flags|mtu)", ANY, "but for loopback"),
    Free("UpdateRoutesRequest", r"routes\.Routes\[\]\.(source|device)", ANY, "but for loopback"),
    Free("AddARPNeighborsRequest", r"neighbors\.ARPNeighbors", ANY, "but for loopback"),
    Free("AddARPNeighborsRequest", r"neighbors\.ARPNeighbors\[\]\.lladdr", ANY, "but for loopback"),
    Free("AddARPNeighborsRequest", r"neighbors\.ARPNeighbors\[\]\.toIPAddress\.family", ANY, "but for loopback"),
    Free("AddARPNeighborsRequest", r"neighbors\.ARPNeighbors\[\]\.device", ANY, "but for loopback"),
    Free("AddARPNeighborsRequest", r"neighbors\.ARPNeighbors\[\]\.toIPAddress\.address", ANY, "but for loopback"),
)
# of requests that pin the state, which is empty before them
FIRST = (
    Free(CREATE, r"OCI\.Linux\.Namespaces", "drop network", "the first container says which", KATA),
    Free(CREATE, r"OCI\.Linux\.Namespaces\[network\]\.Path", ANY, "the first container says which network", KATA),
)
LINK = (Free("CopyFileRequest", "symlink_target", "(?!object|case).*", "a name in the same directory"),)
NO_LINK = (Free("CopyFileRequest", "symlink_target", ANY, "not a link"),)


def reason(rows: tuple[Free, ...], profile: str, entry_point: str, place: str, way: str) -> str:
    """Why the change is allowed; empty: it must be denied."""
    return next((row.reason for row in rows if fits(row, profile, entry_point, place, way)), "")


def fits(row: Free, profile: str, entry_point: str, place: str, way: str) -> bool:
    """Whether a row is about a change."""
    pairs = ((row.profile, profile), (row.entry_point, entry_point), (row.place, place), (row.ways, way))
    return all(_matches(pattern, text) for pattern, text in pairs)


@functools.cache
def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text) is not None
