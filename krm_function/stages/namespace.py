"""Namespace: give the configured namespace to the workloads that name none, and report objects without one.

Rule of this file: a workload that names a namespace keeps it, and objects of other kinds are never edited. Source:
docs/facts/kubernetes.md#namespaces.

    metadata.namespace    the configuration has one       it has none
    a name                it stays                        it stays
    absent, null, ""      the configured one is written   CC0210, once for all such workloads
    of another type       CC0207 (model/pod_types)        CC0207
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.model.edits import Edit
from krm_function.model.kinds import CATALOGUED, KINDS, KINDS_BY_CONTENT
from krm_function.model.listed_names import listed
from krm_function.model.lookup import dig, mapping
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.model.workload import EMITTED, LOCAL_CONFIG, Workload
from krm_function.yamltext import YamlError
from krm_function.yamltext.comparison import ABSENT

NAMESPACE: Path = ("metadata", "namespace")
# Kinds of Kubernetes itself that belong to a namespace and that people deploy; the pods' own are in KINDS.
NAMESPACED = frozenset(
    (
        *("ConfigMap", "Secret", "Service", "ServiceAccount", "PersistentVolumeClaim", "ResourceQuota", "LimitRange"),
        *("Role", "RoleBinding", "Ingress", "NetworkPolicy", "PodDisruptionBudget", "HorizontalPodAutoscaler"),
        *KINDS,
        *CATALOGUED,
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
    resources: Iterable[Resource], workloads: Iterable[Workload], namespace: str
) -> tuple[Finding, ...]:
    """Return one warning if workloads name no namespace: CC0210 if none is configured; else CC0211 for other objects.

    workloads: as they stand in the input.
    """
    unnamed = list({one.place: one.ref for one in workloads if not _names_namespace(one.object)}.values())
    if not unnamed:
        return ()
    if not namespace:
        return (finding("CC0210", names=_names(unnamed)),)
    others = [ref for ref in _others(resources) if ref not in unnamed]
    return (finding("CC0211", names=_names(others), namespace=namespace),) if others else ()


def _names_namespace(value: Any) -> bool:
    return dig(value, NAMESPACE) not in (None, "")


def _others(resources: Iterable[Resource]) -> Iterator[Ref]:
    """Yield the objects of the input that name no namespace and come into one when they are applied."""
    kinds = NAMESPACED | KINDS_BY_CONTENT
    for resource in resources:
        if not resource.may_be(kinds):
            continue
        try:
            value = resource.value
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
