"""The annotations and labels that Contrast and its runtime read, and what they may hold."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.kubernetes.lookup import mapping
from krm_function.kubernetes.workload import ID_BLOCKS, INITDATA, POD_ROLE, PREFIX, Workload
from krm_function.record import NamedTuple
from krm_function.schema.nearest import nearest

# --- The annotation and label keys that Contrast reads, and the kind of metadata in which it reads each
#
# Rule: docs/facts/contrast.md#annotations as data. A key of Contrast's domain that is not in this table
# has no effect, so it is a typo; a key in metadata that the table does not list for it has no effect either.


TOTAL = 256 * 1024  # bytes of an object's keys and values together (docs/facts/kubernetes.md#limits)

KeyLocation = Literal["pod annotation", "pod label", "Service annotation", "namespace label"]


class KnownKey(NamedTuple):
    """One key. places: where it has an effect. value: what it may hold, in words."""

    key: str
    places: tuple[KeyLocation, ...]
    value: str


KNOWN: Mapping[str, KnownKey] = MappingProxyType(
    {
        known.key: known
        for known in (
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
            KnownKey(PREFIX + "pod-role", ("pod label", "pod annotation"), "coordinator"),
            KnownKey(PREFIX + "platform", ("pod annotation",), "informational, on the node installer"),
            KnownKey(PREFIX + "expose-service", ("Service annotation",), '"true"'),
            KnownKey(PREFIX + "sync-ticket", ("namespace label",), "Contrast's own CI"),
        )
    }
)

# Spellings seen in the wild: Contrast's own documentation has some of them (docs/facts/contrast.md#annotations).
MISSPELT: Mapping[str, str] = MappingProxyType(
    {
        PREFIX + wrong: PREFIX + right
        for wrong, right in (
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


# Those that the rule `objectAnnotations` moves; the role is a label today.
MOVABLE = tuple(key for key, known in KNOWN.items() if "pod annotation" in known.places and key != POD_ROLE)


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


def unread(ref: Ref, path: Path, what: str, key: str, place: str, *, by_rule: bool = False) -> Finding:
    """Make the finding about a key that has no effect where it stands. what: annotation or label.

    by_rule: whether the configuration could move it.
    """
    if key in KNOWN:
        code = "CC0202.rule" if by_rule else "CC0202"
        return finding(code, ref, path, what=what, key=key, place=place, where=correct_location(key))
    near = suggest_key(key)
    return finding("CC0203.near" if near else "CC0203", ref, path, what=what, key=key, near=near)


def suggest_key(key: str) -> str:
    """Return the known key of which an unknown one is a misspelling, or ""."""
    folded = key.lower().replace("_", "-")
    names = {key.removeprefix(PREFIX): key for key in KNOWN}  # the common prefix would hide the difference
    return MISSPELT.get(folded) or names.get(nearest(folded.removeprefix(PREFIX), names), "")


def outer_metadata(workload: Workload) -> Iterator[tuple[Path, str]]:
    """Yield the metadata around a pod template that Contrast does not read, and whose it is: a CronJob has two."""
    if workload.template_path != workload.root:
        yield (*workload.root, "metadata"), f"the {workload.ref.kind} itself"
    if workload.ref.kind == "CronJob":
        yield (*workload.root, "spec", "jobTemplate", "metadata"), "the job template"


def misplaced(workload: Workload) -> dict[str, tuple[Path, str]]:
    """Return the annotations that the rule would move: key -> the annotations in which it stands, and its value."""
    found: dict[str, tuple[Path, str]] = {}
    if workload.ref.part:
        return found
    for metadata, _ in outer_metadata(workload):
        path = (*metadata, "annotations")
        annotations = mapping(workload.at(path))
        for key in MOVABLE:
            value = annotations.get(key)
            if isinstance(value, str) and key not in found and key not in workload.annotations:
                found[key] = (path, value)
    return found


# --- The annotations of a pod by which the runtime of a node is told how to start it, and the few that a pod may have
#
# Rule: what is not in ALLOWED is refused, whatever it means: a kernel, a parameter or an agent's option of
# the input would make another VM than the one that the release measured.
# Source: docs/facts/contrast.md#annotations-of-kata.


KATA = "io.katacontainers."
HYPERVISOR = f"{KATA}config.hypervisor."
HANDLER = "io.containerd.cri.runtime-handler"  # https://github.com/containerd/containerd/blob/v2.0.0/docs/cri/config.md
DEFAULT_MEMORY = f"{HYPERVISOR}default_memory"  # in MiB
ALLOWED = frozenset((INITDATA, DEFAULT_MEMORY))  # the first is checked by what makes policies
_CODES = {
    f"{HYPERVISOR}default_vcpus": "CC0230.vcpus",
    f"{KATA}config.agent.policy": "CC0230.policy",
    HANDLER: "CC0230.handler",
}


def refusal(key: str) -> str:
    """Return CC0230, with a variant for some, for a key that no pod may have; "" for one that it may have."""
    folded = key.lower()
    if folded != HANDLER and not folded.startswith(KATA):
        return ""
    if key in ALLOWED or key.startswith(tuple(f"{one}_" for one in ID_BLOCKS)):
        return ""
    return _CODES.get(folded, "CC0230")
