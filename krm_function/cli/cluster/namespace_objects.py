"""Everything of one namespace of a live cluster that says why a pod does not start.

Rule of this file: lists alone, as cluster_objects.py reads them; a kind that the role does not show is left out, and
Secrets are never asked for. Custom resources are listed of the kinds that own something here, by their ownerReferences.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from krm_function.cli.cluster.cluster_objects import CONFIG_MAP, FORBIDDEN, ClusterObjects, ask_cluster
from krm_function.findings import Ref
from krm_function.model.controller import OWNERS
from krm_function.model.kinds import KINDS
from krm_function.model.lookup import dig, maps
from krm_function.model.pod_kinds import SHIPPED

if TYPE_CHECKING:
    from krm_function.cli.cluster.answer import Lists

POD = ("v1", "Pod")
BESIDE = (("v1", "Event"), ("v1", "Service"), CONFIG_MAP)
API_SERVER = ("default", "kubernetes")  # its Service gives variables to every pod


def read_namespace(namespace: str) -> ClusterObjects:
    """Read the workloads, events, Services and manifests of a namespace. Never raises."""
    asked = ask_cluster(lambda lists: tuple(_objects(lists, namespace)))
    return ClusterObjects(asked.answer, context=asked.context, findings=asked.findings)


def read_namespaces(namespaces: Sequence[str], more: Collection[tuple[str, str]]) -> ClusterObjects:
    """Read the same of several namespaces. Never raises. more: apiVersion and kind of custom resources to list."""
    asked = ask_cluster(lambda lists: tuple(one for name in namespaces for one in _objects(lists, name, more)))
    return ClusterObjects(asked.answer, context=asked.context, findings=asked.findings)


def _objects(lists: "Lists", namespace: str, more: Collection[tuple[str, str]] = ()) -> Iterator[Any]:
    from krm_function.cli.cluster.answer import Listing
    from krm_function.cli.cluster.connection import RefusalError

    def listed(version: str, kind: str) -> Iterator[Any]:
        try:
            yield from lists.objects(Listing(version, kind, f"the {kind}s of namespace {namespace}", namespace))
        except RefusalError as problem:
            if problem.status != FORBIDDEN or kind == "Pod":
                raise

    kinds = [(version, kind) for kind, (version, *_) in KINDS.items() if kind != "Pod"]
    custom = set(more)
    for version, kind in (POD, *kinds, *BESIDE):
        for value in listed(version, kind):
            custom |= _custom_owners(value)
            yield value
    for version, kind in sorted(custom):
        yield from listed(version, kind)
    if namespace != API_SERVER[0]:
        try:
            there = lists.objects(Listing("v1", "Service", "the Services of namespace default", API_SERVER[0]))
            yield from (one for one in there if one["metadata"]["name"] == API_SERVER[1])
        except RefusalError as problem:
            if problem.status != FORBIDDEN:
                raise


def _custom_owners(value: Any) -> set[tuple[str, str]]:
    """Return apiVersion and kind of the owners of an object that are custom resources of the catalogue."""
    owners = maps(dig(value, ("metadata", OWNERS)))
    named = {(str(one.get("apiVersion") or ""), str(one.get("kind") or "")) for one in owners}
    return {(version, kind) for version, kind in named if kind not in KINDS and SHIPPED.of(Ref(version, kind, "", ""))}
