"""A workload's names and annotations as a policy needs them, and whether a policy covers its whole pod spec."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, cast

from krm_function.contrast.owned import ANNOTATIONS
from krm_function.findings import Finding, Path, Ref, dotted, finding
from krm_function.kubernetes.objects import ORDINARY, Hook, dig, mapping, read_hook
from krm_function.kubernetes.pod_fields import POD_SPEC, Use, type_finding
from krm_function.kubernetes.pod_names import PodName, kata_pattern, name_pattern, pod_name
from krm_function.kubernetes.workload import INITDATA, Workload, claim_templates
from krm_function.record import NamedTuple
from krm_function.schema.check import Fault, faults, nearest
from krm_function.schema.table import EMPTY
from krm_function.schema.values import Field, Only, Record, a_type, type_name

# --- Read what a policy needs of a workload besides the pod spec: names, namespace, annotations, labels
#
# Rule: nothing that a pipeline tool wrote for itself may reach a digest, else kustomize and Helm give the
# same pod different policies. For a bare Pod the object's metadata is the pod's, so the filter matters.
# Source: docs/facts/krm-functions.md#bookkeeping-annotations.


_BOOKKEEPING = (
    ANNOTATIONS,
    "config.kubernetes.io/",
    "internal.config.kubernetes.io/",
    "alpha.config.kubernetes.io/",
    "config.k8s.io/",
    "internal.config.k8s.io/",
    "kustomize.config.k8s.io/",
    "internal.kpt.dev/",
    "postrenderer.helm.sh/",
)
# keys that kubectl and an admission plugin write into live objects (docs/facts/kubernetes.md#limits)
_OF_THE_CLUSTER = frozenset(
    (
        "kubectl.kubernetes.io/last-applied-configuration",
        "kubectl.kubernetes.io/restartedAt",
        "kubernetes.io/limit-ranger",
    )
)
# keys that the container runtime writes: from a user they would redefine what the policy means
_RUNTIME = ("io.kubernetes.cri.", "io.katacontainers.pkg.oci.", "nerdctl/")

_ESCAPED = str.maketrans({sign: f"\\{sign}" for sign in r"\.+*?()|[]{}^$#&-~"})

# Patterns as text, of which few pods need any: `re` compiles each at its first use.
QUOTED_KEY = r"metadata\.(annotations|labels)\['([^']+)'\]\Z"  # of a fieldPath
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?\Z")


class PodMetadata(NamedTuple):
    """A workload as the generator reads it.

    names: how its pods are named; several for a custom resource, () if that is unknown. other_names: the patterns that
    other policies of it may have: of genpolicy, of an earlier version, of its generateName before it had a name.
    """

    ref: Ref
    spec: dict[str, Any]
    spec_path: Path
    names: tuple[PodName, ...]
    other_names: tuple[str, ...]
    namespace: str
    service_account: str
    annotations: dict[str, str]
    labels: dict[str, Any]
    claim_templates: dict[str, str]  # of `claim_templates`: name -> volumeMode, "" if not given
    of_the_cluster: tuple[str, ...] = ()  # annotations that the cluster has added, which are in no policy
    hook: Hook = ORDINARY
    controlled: Mapping[Any, str] = EMPTY  # of a custom resource: labels and annotations with markers

    @property
    def containers(self) -> list[tuple[Path, dict[str, Any]]]:
        """Its init containers, then the others, each with its path from the pod spec."""
        return [
            ((key, index), container)
            for key in ("initContainers", "containers")
            for index, container in enumerate(self.spec.get(key) or ())
        ]

    @cached_property
    def name_pattern(self) -> str:
        """The regex of the pod's name without its anchors, "" if the name is unknown."""
        patterns = [name_pattern(name) for name in self.names]
        return patterns[0] if len(patterns) == 1 else f"(?:{'|'.join(patterns)})" if patterns else ""


def is_bookkeeping(key: str) -> bool:
    """Tell whether an annotation belongs to a pipeline tool or to kubectl, and never to the pod."""
    return key in _OF_THE_CLUSTER or key.startswith(_BOOKKEEPING)


def escape_regex(text: str) -> str:
    r"""Escape `text` to a regex that matches only itself, with the escapes of Rust's `regex::escape`.

    >>> escape_regex("a.b-c_d")
    'a\\.b\\-c_d'
    """
    return text.translate(_ESCAPED)


def pod_metadata(workload: Workload) -> tuple[PodMetadata, list[Finding]]:
    """Read a workload, except for its pod spec, which `coverage_findings` checks."""
    metadata = mapping(workload.object.get("metadata"))
    findings: list[Finding] = []
    spec = workload.pod_spec
    account = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
    names, other_names = _read_names(workload, metadata, findings)
    pod = PodMetadata(
        workload.ref,
        spec,
        workload.spec_path,
        names,
        other_names,
        str(metadata.get("namespace") or ""),
        str(account),
        _policy_annotations(workload, findings),
        workload.labels,
        {
            str(mapping(entry.get("metadata")).get("name")): str(mapping(entry.get("spec")).get("volumeMode") or "")
            for entry in claim_templates(workload)
        },
        tuple(key for key in workload.annotations if key in _OF_THE_CLUSTER),
        read_hook(workload.object),
    )
    return pod, findings


def _read_names(
    workload: Workload, metadata: dict[str, Any], findings: list[Finding]
) -> tuple[tuple[PodName, ...], tuple[str, ...]]:
    """Return the forms of the pods' names, and the name patterns that other policies of the workload may have."""
    job_spec = mapping(dig(workload.object, workload.template[:-1]))
    is_indexed = job_spec.get("completionMode") == "Indexed"
    forms: list[PodName] = []
    other_patterns: list[str] = []
    for key in ("name", "generateName"):
        base, is_generated = metadata.get(key), key == "generateName"
        if not base:
            continue
        if not isinstance(base, str) or not _NAME.match(base + ("a" if is_generated else "")):
            at = (*workload.root, "metadata", key)
            findings.append(finding("CC0604.object-name", workload.ref, at, field=f"metadata.{key}"))
        if workload.made_by:
            continue
        kind, name = workload.ref.kind, str(base)
        form = pod_name(kind, name, is_generated=is_generated, is_indexed=is_indexed)
        forms.append(form)
        other_patterns += [name_pattern(form), kata_pattern(kind, name, is_generated=is_generated)]
        if not is_generated:
            other_patterns.append(kata_pattern(kind, escape_regex(name)))
    return tuple(forms[:1]), tuple(other_patterns)


def _policy_annotations(workload: Workload, findings: list[Finding]) -> dict[str, str]:
    """Sort the annotations, because an orchestrator may have sorted them, too."""
    out = {}
    for key, value in sorted(workload.annotations.items()):
        if key == INITDATA or is_bookkeeping(key):
            continue
        path, name = (*workload.metadata_path, "annotations", key), f"annotation {key}"
        if not isinstance(value, str):
            values: dict[str, Any] = {"key": name, "expected": "a string", "actual": a_type(type_name(value))}
            findings.append(finding("CC0207.quotes", workload.ref, path, **values))
        elif key.startswith(_RUNTIME):
            findings.append(finding("CC0604.runtime-annotation", workload.ref, path, field=name))
        out[key] = str(value)
    return out


# --- Make a located finding about one field of a pod spec
#
# Rule: paths start at the root of the document, names of fields at the pod spec, as Kubernetes writes
# them.


def problem(pod: PodMetadata, path: Path, code: str, *, of: str = "", **values: Any) -> Finding:
    """Make the finding about `path`, counted from the pod spec.

    code: CC0604 or CC0601 with a variant. of: a name of the field, in place of its path.
    """
    return finding(code, pod.ref, pod.spec_path + path, field=of or dotted(path), **values)


# --- Check that a policy covers every field of a pod spec, before the generator reads the pod
#
# Rule: it knows no field by name; the table model.pod_fields has the type of each field and one of three
# uses. After the check every field of a pod is known, covered and of its type. The uses:
#
#   policy    read by the generator: it changes policy_data
#   inert     cannot change the host's requests to the guest beyond what the rules allow anyway, nor can anything in it
#   refused   could change it in a way that cannot be derived: CC0601, unless it has the value Kubernetes assumes
#             anyway, e.g. hostPID: false


def use_of(field: Field) -> Use:
    """Return how a policy uses a field."""
    return cast("Use", field.marks[0])


def coverage_findings(spec: Any, path: Path, ref: Ref | None) -> list[Finding]:
    """Return findings for the fields of the pod spec at `path` that are ill-typed, refused, unknown or missing."""
    return [_make_finding(fault, path, ref) for fault in faults(POD_SPEC, spec)]


def _make_finding(fault: Fault, root: Path, ref: Ref | None) -> Finding:
    at, field = root + fault.path, dotted(fault.path)
    if fault.kind == "type":
        return type_finding(fault, root, ref)
    if fault.kind == "unknown":
        near = nearest(str(fault.path[-1]), fault.spec.fields) if isinstance(fault.spec, Record) else ""
        return finding("CC0605.near" if near else "CC0605", ref, at, field=field, near=near)
    if fault.kind == "missing":
        return finding("CC0604.missing", ref, at[:-1], field=field, key=fault.path[-1])
    if isinstance(fault.spec, Only):
        return finding("CC0601.field", ref, at, field=field)
    return finding("CC0604.value", ref, at, field=field, error=fault.problem)
