"""The annotations and labels that Contrast and its runtime read, and their allowed values."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

from krm_function.findings import Cause, Finding, Path, Ref, finding
from krm_function.kubernetes.objects import mapping
from krm_function.kubernetes.workload import COORDINATOR, ID_BLOCKS, INITDATA, POD_ROLE, PREFIX, Workload
from krm_function.record import NamedTuple
from krm_function.schema.check import nearest

# --- The annotation and label keys that Contrast reads, and the kind of metadata in which it reads each
#
# Rule: docs/facts/contrast.md#annotations as data. A key of Contrast's domain that is not in this table has no effect,
# so it is a typo; nor has a key in metadata that the table does not list for it.


TOTAL = 256 * 1024  # bytes of an object's keys and values together (docs/facts/kubernetes.md#limits)

KeyLocation = Literal["pod annotation", "pod label", "Service annotation", "namespace label"]


class KnownKey(NamedTuple):
    """One key. places: where it has an effect. value: a description of its allowed values."""

    key: str
    places: tuple[KeyLocation, ...]
    value: str


KNOWN: Mapping[str, KnownKey] = MappingProxyType(
    {
        entry.key: entry
        for entry in (
            KnownKey(PREFIX + "skip-initializer", ("pod annotation",), '"true", and nothing else'),
            KnownKey(
                PREFIX + "servicemesh-ingress",
                ("pod annotation",),
                "empty, DISABLED, or name#port#disableTLS joined by ##",
            ),
            KnownKey(PREFIX + "servicemesh-egress", ("pod annotation",), "name#listenIP:port#host:port joined by ##"),
            KnownKey(PREFIX + "servicemesh-admin-interface-port", ("pod annotation",), "a port"),
            KnownKey(PREFIX + "secure-pv", ("pod annotation",), "device-name:mount-name"),
            KnownKey(PREFIX + "workload-secret-id", ("pod annotation",), "the workload secret's ID"),
            KnownKey(PREFIX + "image-store-size", ("pod annotation",), "a quantity, 0 for none"),
            # A label since July 2026; releases before read it as an annotation of the pod template, and the node
            # installer still carries it there.
            KnownKey(POD_ROLE, ("pod label", "pod annotation"), COORDINATOR),
            KnownKey(PREFIX + "platform", ("pod annotation",), "informational, on the node installer"),
            KnownKey(PREFIX + "expose-service", ("Service annotation",), '"true"'),
            KnownKey(PREFIX + "sync-ticket", ("namespace label",), "Contrast's own CI"),
        )
    }
)

# Spellings seen in the wild: Contrast's own documentation has some of them (docs/facts/contrast.md#annotations).
MISSPELT: Mapping[str, str] = MappingProxyType(
    {
        PREFIX + misspelt: PREFIX + right
        for misspelt, right in (
            ("service-mesh-ingress", "servicemesh-ingress"),
            ("service-mesh-egress", "servicemesh-egress"),
            ("service-mesh-admin-interface-port", "servicemesh-admin-interface-port"),
            ("service-mesh-admin-port", "servicemesh-admin-interface-port"),
            ("servicemesh-admin-port", "servicemesh-admin-interface-port"),
            ("mesh-ingress", "servicemesh-ingress"),
            ("mesh-egress", "servicemesh-egress"),
            ("ingress", "servicemesh-ingress"),
            ("egress", "servicemesh-egress"),
            ("skip-init", "skip-initializer"),
            ("secure-volume", "secure-pv"),
            ("secret-id", "workload-secret-id"),
            ("imagestore-size", "image-store-size"),
            ("role", "pod-role"),
        )
    }
)


# Those that the rule `objectAnnotations` moves from the object; the role moves from an annotation to a label.
MOVABLE = tuple(key for key, entry in KNOWN.items() if "pod annotation" in entry.places and key != POD_ROLE)


def annotations_size(annotations: Mapping[str, Any]) -> int:
    """Count the bytes that Kubernetes compares with TOTAL."""
    return sum(_bytes(str(key)) + _bytes(str(value)) for key, value in annotations.items())


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def is_contrast_key(key: str) -> bool:
    """Tell whether a key is in Contrast's domain; letter case is ignored, so that misspelt keys are found, too."""
    return key.lower().startswith(PREFIX)


def is_known(key: str, place: KeyLocation) -> bool:
    """Tell whether the key has an effect in this place."""
    return key in KNOWN and place in KNOWN[key].places


def correct_location(key: str) -> str:
    """Return where a known key belongs, as the end of "move it to ...". Raises KeyError for an unknown key."""
    match KNOWN[key].places[0]:
        case "pod annotation":
            return "the annotations of the pod template"
        case "pod label":
            return "the labels of the pod template"
        case "Service annotation":
            return "the annotations of the Service"
        case "namespace label":
            return "the labels of the Namespace"


def unread(ref: Ref, path: Path, kind: str, key: str, place: str, *, by_rule: bool = False) -> Finding:
    """Make the finding about a key that has no effect at its place. kind: annotation or label.

    by_rule: whether the configuration could move it.
    """
    if key in KNOWN:
        code = "CC0202.rule" if by_rule else "CC0202"
        return finding(code, ref, path, what=kind, key=key, place=place, where=correct_location(key))
    near = suggest_key(key)
    return finding("CC0203.near" if near else "CC0203", ref, path, what=kind, key=key, near=near)


def suggest_key(key: str) -> str:
    """Return the known key that an unknown one misspells, or ""."""
    folded = key.lower().replace("_", "-")
    names = {key.removeprefix(PREFIX): key for key in KNOWN}  # the common prefix would hide the difference
    return MISSPELT.get(folded) or names.get(nearest(folded.removeprefix(PREFIX), names), "")


def outer_metadata(workload: Workload) -> Iterator[tuple[Path, str]]:
    """Yield the metadata around a pod template that Contrast does not read, and its owner: a CronJob has two."""
    if workload.template_path != workload.root:
        yield (*workload.root, "metadata"), f"the {workload.ref.kind} itself"
    if workload.ref.kind == "CronJob":
        yield (*workload.root, "spec", "jobTemplate", "metadata"), "the job template"


def misplaced(workload: Workload) -> dict[str, tuple[Path, str]]:
    """Return the annotations that the rule would move: key -> the path of the annotations it is in, and its value."""
    movable: dict[str, tuple[Path, str]] = {}
    if workload.ref.part:
        return movable
    for metadata, _ in outer_metadata(workload):
        path = (*metadata, "annotations")
        annotations = mapping(workload.at(path))
        for key in MOVABLE:
            value = annotations.get(key)
            if isinstance(value, str) and key not in movable and key not in workload.annotations:
                movable[key] = (path, value)
    if workload.annotations.get(POD_ROLE) == COORDINATOR and POD_ROLE not in workload.labels:
        movable[POD_ROLE] = ((*workload.metadata_path, "annotations"), COORDINATOR)
    return movable


# --- The annotations that configure the runtime of a node, and the few that a pod may have
#
# Rule: a key that is not in ALLOWED is refused, whatever it means: a kernel, a parameter or an agent's option in the
# input would make another VM than the one that the release measured. Source:
# docs/facts/contrast.md#annotations-of-kata.


KATA = "io.katacontainers."
HYPERVISOR = f"{KATA}config.hypervisor."
HANDLER = "io.containerd.cri.runtime-handler"  # https://github.com/containerd/containerd/blob/v2.0.0/docs/cri/config.md
DEFAULT_MEMORY = f"{HYPERVISOR}default_memory"  # in MiB
ALLOWED = frozenset((INITDATA, DEFAULT_MEMORY))  # the maker of policies checks the first
_CODES = {
    f"{HYPERVISOR}default_vcpus": "CC0230.vcpus",
    f"{KATA}config.agent.policy": "CC0230.policy",
    HANDLER: "CC0230.handler",
}


def refusal(key: str) -> str:
    """Return CC0230, with a variant for some, for a key that no pod may have; "" for an allowed key."""
    folded = key.lower()
    if folded != HANDLER and not folded.startswith(KATA):
        return ""
    if key in ALLOWED or key.startswith(tuple(f"{prefix}_" for prefix in ID_BLOCKS)):
        return ""
    return _CODES.get(folded, "CC0230")


# --- Parse the service mesh annotations
#
# Rule: one split per separator, no backtracking, every text capped. Contrast passes any text on to the
# proxy, which then fails inside the VM; here a value that is not valid as a whole is refused. Sources:
# docs/facts/contrast.md#annotations, docs/facts/contrast.md#service-mesh.
#
#     ingress    "" (all ports, TLS) | DISABLED | in ("##" in)*      in  = name "#" port "#" disableTLS
#     egress     out ("##" out)*                                     out = name "#" listenIP ":" port "#" host ":" port
#     admin      port


INGRESS = PREFIX + "servicemesh-ingress"
EGRESS = PREFIX + "servicemesh-egress"
ADMIN_PORT = PREFIX + "servicemesh-admin-interface-port"
KEYS = (INGRESS, EGRESS, ADMIN_PORT)
DISABLED = "DISABLED"
LONGEST = 16 * 1024  # characters of a value
NAME = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,126}[A-Za-z0-9])?"
OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
LOOPBACK = rf"127\.{OCTET}\.{OCTET}\.{OCTET}"
HOST = r"[A-Za-z0-9_]+(?:-+[A-Za-z0-9_]+)*(?:\.[A-Za-z0-9_]+(?:-+[A-Za-z0-9_]+)*)*\.?"
IPV6 = r"\[[0-9A-Fa-f:.]{2,45}\]"


def asks_for_mesh(annotations: Mapping[str, Any]) -> bool:
    """Tell whether a pod with these annotations gets the service mesh, unless it is the coordinator."""
    return any(key in annotations for key in KEYS)


Problems = tuple[tuple[str, Cause], ...]
"""Problems: the key of an annotation, and CC0204 with a variant, or CC0205; never its value."""


def read_mesh(annotations: Mapping[str, Any]) -> tuple[int | None, Problems]:
    """Read the mesh annotations of one pod template: the admin port, None without one, and every problem."""
    problems: list[tuple[str, Cause]] = []

    def text(key: str, longest: int = LONGEST) -> str | None:
        value = annotations.get(key)
        if key not in annotations:
            return None
        if not isinstance(value, str):
            problems.append((key, Cause("CC0204.string")))
        elif len(value) > longest:
            problems.append((key, Cause("CC0204.length", {"limit": longest})))
        else:
            return value
        return None

    port, of_texts = _read_texts(text(INGRESS), text(EGRESS), text(ADMIN_PORT))
    return port, (*problems, *of_texts)


@lru_cache(maxsize=64)
def _read_texts(ingress: str | None, egress: str | None, admin: str | None) -> tuple[int | None, Problems]:
    """Read the three texts, None for an absent or non-text one. Cached: several stages read them for every pod."""
    problems: list[tuple[str, Cause]] = []
    ports: set[int] = set()
    if ingress is not None and ingress != DISABLED:
        incoming, causes = _read_ingress(_split_entries(ingress))
        problems += [(INGRESS, cause) for cause in causes]
        ports |= incoming
    if egress is not None:
        outgoing, causes = _read_egress(_split_entries(egress))
        problems += [(EGRESS, cause) for cause in causes]
        ports |= outgoing
    port = None
    if admin is not None:
        port = _parse_port(admin)
        if port is None:
            problems.append((ADMIN_PORT, Cause("CC0204.admin-port")))
        if port in ports:
            problems.append((ADMIN_PORT, Cause("CC0204.admin-port-used", {"port": port})))
    return port, tuple(problems)


def _split_entries(value: str) -> list[str]:
    return value.split("##") if value else []


def _read_ingress(entries: list[str]) -> tuple[set[int], list[Cause]]:
    """Return the ports of the entries without a problem, and all problems."""
    used: set[int] = set()
    problems: list[Cause] = []
    names: set[str] = set()
    ports: set[int] = set()
    for number, entry in enumerate(entries, 1):
        parts = entry.split("#", 3)
        if entry == DISABLED:
            problems.append(_entry_cause("CC0204.disabled", number))
            continue
        if len(parts) != 3:
            problems.append(_entry_cause("CC0204.ingress", number))
            continue
        name, port, disable_tls = parts[0], _parse_port(parts[1]), {"true": True, "false": False}.get(parts[2])
        causes = _check_name(name, names, number)
        if port is None:
            causes.append(_entry_cause("CC0204.port", number))
        elif port in ports:
            causes.append(_entry_cause("CC0204.port-twice", number, port=port))
        if disable_tls is None:
            causes.append(_entry_cause("CC0204.disable-tls", number))
        problems += causes
        if port is not None and disable_tls is not None:
            ports.add(port)
            if not causes:
                used.add(port)
    return used, problems


def _read_egress(entries: list[str]) -> tuple[set[int], list[Cause]]:
    """Return the local ports of the entries without a problem, and all problems."""
    used: set[int] = set()
    problems: list[Cause] = [] if entries else [Cause("CC0205")]
    names: set[str] = set()
    listeners: set[str] = set()
    for number, entry in enumerate(entries, 1):
        parts = entry.split("#", 3)
        if len(parts) != 3:
            problems.append(_entry_cause("CC0204.egress", number))
            continue
        name, listener, remote = parts
        listen, _, text = listener.rpartition(":")
        port = _parse_port(text)
        causes = _check_name(name, names, number)
        if not re.fullmatch(LOOPBACK, listen):
            causes.append(_entry_cause("CC0204.listen-address", number))
        if port is None:
            causes.append(_entry_cause("CC0204.listen-port", number))
        if listener in listeners:
            causes.append(_entry_cause("CC0204.listen-twice", number))
        causes += _check_remote(remote, number)
        listeners.add(listener)
        problems += causes
        if port is not None and not causes:
            used.add(port)
    return used, problems


def _entry_cause(code: str, entry: int, **values: int) -> Cause:
    return Cause(code, {"entry": entry, **values})


def _check_name(name: str, names: set[str], entry: int) -> list[Cause]:
    """Return the problems of an entry's name, and add it to `names`."""
    if not re.fullmatch(NAME, name):
        return [_entry_cause("CC0204.name", entry)]
    if name in names:
        return [_entry_cause("CC0204.name-twice", entry)]
    names.add(name)
    return []


def _check_remote(remote: str, entry: int) -> list[Cause]:
    host, colon, port = remote.rpartition(":")
    causes = [] if colon and _parse_port(port) is not None else [_entry_cause("CC0204.remote-port", entry)]
    host = host if colon else remote
    numeric = re.fullmatch(r"[0-9.]+", host) is not None
    pattern = rf"{OCTET}(?:\.{OCTET}){{3}}" if numeric else HOST
    if len(host) > 253 or not (re.fullmatch(pattern, host) or re.fullmatch(IPV6, host)):
        causes.append(_entry_cause("CC0204.remote-host", entry))
    return causes


def _parse_port(text: str) -> int | None:
    if len(text) > 5 or not text.isascii() or not text.isdecimal() or text.startswith("0"):
        return None
    return int(text) if int(text) <= 65535 else None
