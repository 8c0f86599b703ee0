"""Read what a policy needs of a workload besides the pod spec: names, namespace, annotations, labels.

Rule of this file: nothing that a pipeline tool wrote for itself may reach a digest, else kustomize and Helm give the
same pod different policies. For a bare Pod the object's metadata is the pod's, so the filter matters.
Source: docs/facts/krm-functions.md#bookkeeping-annotations.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.owned import ANNOTATIONS
from krm_function.model.pod_names import PodName, kata_pattern, name_pattern, pod_name
from krm_function.model.workload import INITDATA, Workload
from krm_function.record import NamedTuple
from krm_function.schema.types import a_type, type_name

NOTHING: Mapping[tuple[str, str], str] = {}

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
    claim_templates: dict[str, str]  # of a StatefulSet's volumeClaimTemplates: name -> volumeMode, "" if not given
    of_the_cluster: tuple[str, ...] = ()  # annotations that the cluster has added, which are in no policy
    controlled: Mapping[tuple[str, str], str] = NOTHING  # of a custom resource: labels and annotations with markers

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
    """Read a workload, except for its pod spec, which `field_coverage.coverage_findings` checks."""
    metadata = mapping(workload.object.get("metadata"))
    findings: list[Finding] = []
    spec = workload.pod_spec
    account = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
    names, other_names = _names(workload, metadata, findings)
    made = PodMetadata(
        workload.ref,
        spec,
        workload.spec_path,
        names,
        other_names,
        str(metadata.get("namespace") or ""),
        str(account),
        _annotations(workload, findings),
        workload.labels,
        _claim_templates(workload),
        tuple(key for key in workload.annotations if key in _OF_THE_CLUSTER),
    )
    return made, findings


def _names(
    workload: Workload, metadata: dict[str, Any], findings: list[Finding]
) -> tuple[tuple[PodName, ...], tuple[str, ...]]:
    """Return how the pods are named, and the patterns that other policies of the same workload may have for that."""
    job_spec = mapping(dig(workload.object, workload.template[:-1]))
    is_indexed = job_spec.get("completionMode") == "Indexed"
    forms: list[PodName] = []
    others: list[str] = []
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
        others += [name_pattern(form), kata_pattern(kind, name, is_generated=is_generated)]
        if not is_generated:
            others.append(kata_pattern(kind, escape_regex(name)))
    return tuple(forms[:1]), tuple(others)


def _claim_templates(workload: Workload) -> dict[str, str]:
    templates = mapping(workload.object.get("spec")).get("volumeClaimTemplates")
    return {
        str(mapping(entry.get("metadata")).get("name")): str(mapping(entry.get("spec")).get("volumeMode") or "")
        for entry in maps(templates)
    }


def _annotations(workload: Workload, findings: list[Finding]) -> dict[str, str]:
    """Return the pod's annotations that enter the policy, sorted, because an orchestrator may have sorted them, too."""
    out = {}
    for key, value in sorted(workload.annotations.items()):
        if key == INITDATA or is_bookkeeping(key):
            continue
        path = (*workload.metadata_path, "annotations", key)
        if not isinstance(value, str):
            actual = a_type(type_name(value))
            findings.append(
                finding(
                    "CC0207.quotes", workload.ref, path, key=f"annotation {key}", expected="a string", actual=actual
                )
            )
        elif key.startswith(_RUNTIME):
            findings.append(finding("CC0604.runtime-annotation", workload.ref, path, field=f"annotation {key}"))
        out[key] = str(value)
    return out
