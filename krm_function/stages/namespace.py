"""Namespace: give the configured namespace to the workloads that name none, and report objects without one.

Rule of this file: a workload that names a namespace keeps it, and objects of other kinds are never edited. Source:
docs/facts/kubernetes.md#namespaces.

    metadata.namespace    the configuration has one       it has none
    a name                it stays                        it stays
    absent, null, ""      the configured one is written   CC0210, once for all such workloads
    of another type       CC0207 (model/pod_types)        CC0207
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.model.edits import Edit
from krm_function.model.kinds import KINDS, KINDS_BY_CONTENT
from krm_function.model.listed_names import listed
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.model.workload import EMITTED, LOCAL_CONFIG, Workload, dig, mapping
from krm_function.yamltext import Document, YamlError, read_value
from krm_function.yamltext.comparison import ABSENT

NAMESPACE: Path = ("metadata", "namespace")
# Kinds of Kubernetes itself that belong to a namespace and that people deploy; the pods' own are in KINDS.
NAMESPACED = frozenset(
    (
        *("ConfigMap", "Secret", "Service", "ServiceAccount", "PersistentVolumeClaim", "ResourceQuota", "LimitRange"),
        *("Role", "RoleBinding", "Ingress", "NetworkPolicy", "PodDisruptionBudget", "HorizontalPodAutoscaler"),
        *KINDS,
    )
)


def in_namespace(workload: Workload, namespace: str) -> tuple[tuple[Edit, ...], Workload]:
    """Write the namespace into a workload that names none; also returns the workload after the edit."""
    metadata = workload.object.get("metadata", ABSENT)
    before = mapping(metadata).get("namespace", ABSENT)
    if not namespace or not (before is ABSENT or before is None or before == ""):
        return (), workload
    reason = f"the configuration gives {namespace} to workloads that name no namespace"
    path = (*workload.root, *NAMESPACE)
    edit = Edit("set", path, before, namespace, "CC0209", reason)
    if not isinstance(metadata, dict):
        edit = Edit("set", path[:-1], metadata, {"namespace": namespace}, "CC0209", reason)
    after = workload.after((edit,))
    return (edit,), after._replace(ref=after.ref._replace(namespace=namespace))


def namespace_findings(
    resources: Sequence[Resource],
    documents: Mapping[int, Document],
    workloads: Sequence[tuple[int, Workload]],
    namespace: str,
) -> tuple[Finding, ...]:
    """Return one warning if workloads name no namespace: CC0210 if none is configured; else CC0211 for other objects.

    documents: what was parsed before, by position of the resource. workloads: as they stand in the input, each with
    the position of its document.
    """
    unnamed = [workload.ref for _, workload in workloads if not _names_namespace(workload.object)]
    if not unnamed:
        return ()
    if not namespace:
        return (finding("CC0210", names=_names(unnamed)),)
    others = [ref for ref in _others(resources, documents) if ref not in unnamed]
    return (finding("CC0211", names=_names(others), namespace=namespace),) if others else ()


def _names_namespace(value: Any) -> bool:
    return dig(value, NAMESPACE) not in (None, "")


def _others(resources: Sequence[Resource], documents: Mapping[int, Document]) -> Iterator[Ref]:
    """Yield the objects of the input that name no namespace and come into one when they are applied."""
    kinds = NAMESPACED | KINDS_BY_CONTENT
    for index, resource in enumerate(resources):
        if not resource.may_be(kinds):
            continue
        try:
            value = documents[index].value if index in documents else read_value(resource.text)
        except YamlError:
            continue  # nothing reads this document, or its reader reports the problem
        for _, one in objects(value):
            ref = reference(one)
            if ref.kind in NAMESPACED and ref.name and not _names_namespace(one) and not _is_not_applied(one):
                yield ref


def _is_not_applied(value: Any) -> bool:
    """Tell whether an object is local to the package, or was added by a render and is made again by this one."""
    annotations = mapping(dig(value, ("metadata", "annotations")))
    return annotations.get(LOCAL_CONFIG) == "true" or EMITTED in annotations


def _names(refs: Sequence[Ref]) -> str:
    return listed([f"{ref.kind}/{ref.name or '(unnamed)'}" for ref in refs])
