"""Objects of a live cluster, read through the `kubernetes` client: an optional extra, for the options `--cluster`.

Rule of this file: it reads each list once, the pods last and one by one, since there may be more of them than memory.
It stores nothing in the cluster and makes no retry storm. Of a kubeconfig only the name of the context ever reaches a
message. It never asks for Secrets. It trusts no answer of the cluster: api_server.py bounds it and checks its shape.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from krm_function.check.running_pods import RunningPods, reduce_pod
from krm_function.cli.cluster import ClusterClasses, ClusterNodes
from krm_function.findings import Finding, Ref, finding
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import OWNERS, dig, maps, reference
from krm_function.kubernetes.pod_kinds import SHIPPED
from krm_function.operations.api_server import ApiServer, Listing, Lists, RefusalError
from krm_function.operations.evidence import API_SERVER
from krm_function.record import NamedTuple

FORBIDDEN = 403
NOT_FOUND = 404  # no such resource
CONFIG_MAP = ("v1", "ConfigMap")
POD = ("v1", "Pod")
OWNER_KINDS = tuple((version, kind) for kind, (version, *_) in KINDS.items() if kind != "Pod")
Unlisted = dict[tuple[str, str], RefusalError]  # kind and namespace of a list that the cluster refuses


class ClusterObjects(NamedTuple):
    """objects: the workloads and ConfigMaps of some namespaces as plain data; None if the cluster does not answer.

    pods: the receiver of their pods. context: the name of the kubeconfig context. findings: with the kinds that cannot
    be listed. server: for further requests.
    """

    objects: tuple[Any, ...] | None = None
    pods: Any = None
    classes: ClusterClasses = ClusterClasses()
    context: str = ""
    findings: tuple[Finding, ...] = ()
    server: ApiServer | None = None


def read_cluster_objects(
    namespaces: Iterable[str],
    taker: Callable[[tuple[Any, ...], Collection[tuple[str, str]]], RunningPods],
    custom: Iterable[tuple[str, str]] = (),
) -> ClusterObjects:
    """Read the objects of the current context. Never raises.

    custom: apiVersion and kind of further custom resources. taker: makes the receiver of pods from the other objects,
    and the kinds and namespaces of those that cannot be listed, to which Pods may be added later.
    """
    names, kinds, unlisted = list(namespaces), (*OWNER_KINDS, *custom, CONFIG_MAP), Unlisted()

    def read(lists: Lists) -> ClusterObjects:
        objects = tuple(value for name in names for kind in kinds for value in _list_kind(lists, kind, name, unlisted))
        pods = taker(objects, unlisted.keys())
        for name in names:
            for pod in _list_kind(lists, POD, name, unlisted):
                pods.add(pod)
        findings = _report_unlisted(names, unlisted)
        return ClusterObjects(objects, pods, runtime_classes(lists), findings=findings)

    return ask_cluster(read, ClusterObjects())


def _list_kind(
    lists: Lists, kind: tuple[str, str], namespace: str, unlisted: Unlisted, name: str = ""
) -> Iterator[Any]:
    """Yield the objects of a kind, and note in `unlisted` if the cluster refuses them. kind: apiVersion and kind.

    A cluster without the kind of a custom resource, whose group has a dot, has no such objects. name: of the only
    object, "" for all.
    """
    try:
        yield from lists.objects(listing_of(*kind, namespace)._replace(name=name))
    except RefusalError as problem:
        if problem.status not in (FORBIDDEN, NOT_FOUND):
            raise
        if problem.status == FORBIDDEN or "." not in kind[0]:
            unlisted[(kind[1], namespace)] = problem


def _report_unlisted(namespaces: Sequence[str], unlisted: Unlisted) -> tuple[Finding, ...]:
    """Return a finding for each namespace of which some kinds cannot be listed.

    Raises the first RefusalError of a cluster that shows neither a workload nor a pod.
    """
    if namespaces and all((kind, name) in unlisted for name in namespaces for _, kind in (*OWNER_KINDS, POD)):
        raise next(iter(unlisted.values()))
    names: dict[tuple[str, str], list[str]] = {}
    for (kind, namespace), problem in unlisted.items():
        names.setdefault((namespace, problem.values["answer"]), []).append(f"{kind}s")
    return tuple(
        finding("CC1180", names=", ".join(kinds), namespace=namespace, answer=answer)
        for (namespace, answer), kinds in names.items()
    )


def listing_of(version: str, kind: str, namespace: str) -> Listing:
    """Return the listing of a kind in a namespace."""
    return Listing(version, kind, f"the {kind}s of namespace {namespace}", namespace)


def runtime_classes(lists: Lists) -> ClusterClasses:
    """Return the RuntimeClasses; None and a finding without the right to list them, which fewer users have."""
    values, findings = list_if_allowed(lists, Listing("node.k8s.io/v1", "RuntimeClass", "the RuntimeClasses"), "CC1121")
    return ClusterClasses(None if values is None else {value["metadata"]["name"]: value for value in values}, findings)


def list_if_allowed(lists: Lists, listing: Listing, code: str) -> tuple[list[Any] | None, tuple[Finding, ...]]:
    """Return the objects of a list; None and a finding without the right to list them. code: of the finding."""
    try:
        return list(lists.objects(listing)), ()
    except RefusalError as problem:
        if problem.status != FORBIDDEN:
            raise
        return None, (finding(code, answer=problem.values["answer"]),)


Answer = TypeVar("Answer", ClusterObjects, ClusterNodes)


def ask_cluster(ask: Callable[[Lists], Answer], nothing: Answer) -> Answer:
    """Return an answer with its `context` and `server`, or `nothing` with the reason in its `findings`.

    ask: gets the lists of the cluster.
    """
    from kubernetes import client, config  # the heaviest of all, and it reads KUBECONFIG as it is loaded

    logging.getLogger("urllib3").setLevel(logging.ERROR)  # its retries would go to standard error
    configuration = client.Configuration()
    try:
        context = _load_context(config, configuration)
        server = ApiServer(client.ApiClient(configuration))
    except config.ConfigException:
        refusal = finding("CC1003.no-context")
    except Exception as problem:  # noqa: BLE001 (the client trusts a kubeconfig, so a broken one can raise anything)
        refusal = finding("CC1003.kubeconfig", error=type(problem).__name__)
    else:
        try:
            return ask(Lists(server))._replace(context=context, server=server)
        except RefusalError as problem:
            refusal = finding(problem.code, **problem.values)
    return nothing._replace(findings=(refusal,))


def _load_context(config: Any, configuration: Any) -> str:
    """Configure the client and return the name of the context. Its own `load_config` prints to standard output."""
    try:
        config.load_kube_config(client_configuration=configuration)
    except config.ConfigException:
        config.load_incluster_config(client_configuration=configuration)
        return "in-cluster"
    _, active = config.list_kube_config_contexts()
    return str(active["name"])


# --- The workloads and pods of some namespaces of a live cluster, and all that may show why a pod does not start
#
# Rule: of each pod only the parts stay that tell it from others, so that ten thousand take little memory; the pod in
# question is read once more. Of custom resources, it lists the kinds that own an object here, by ownerReferences, and
# those that the call names.


SERVICE = ("v1", "Service")
BESIDE = (("v1", "Event"), SERVICE, CONFIG_MAP)


def read_namespaces(
    namespaces: Iterable[str],
    custom: Iterable[tuple[str, str]] = (),
    choose: Callable[[Sequence[Any]], Ref | None] | None = None,
) -> ClusterObjects:
    """Read the workloads and reduced pods of some namespaces. Never raises.

    custom: apiVersion and kind of further custom resources. choose: returns the pod that is read whole, with the
    events, Services and manifests beside it.
    """
    names, unlisted = list(namespaces), Unlisted()

    def read(lists: Lists) -> ClusterObjects:
        objects: list[Any] = []
        kinds = (POD, *OWNER_KINDS, *(BESIDE if choose else ()))
        for name in names:
            owner_kinds = set(custom)
            for kind in kinds:
                for value in _list_kind(lists, kind, name, unlisted):
                    owner_kinds |= _find_custom_owners(value)
                    objects.append(reduce_pod(value) if kind == POD else value)
            objects += [value for kind in sorted(owner_kinds) for value in _list_kind(lists, kind, name, unlisted)]
        if choose and API_SERVER[0] not in names:
            objects += _list_kind(lists, SERVICE, API_SERVER[0], {}, API_SERVER[1])
        if choose and (ref := choose(objects)):
            objects = [value for value in objects if reference(value) != ref]
            objects += _list_kind(lists, POD, ref.namespace, unlisted, ref.name)
        return ClusterObjects(tuple(objects), findings=_report_unlisted(names, unlisted))

    return ask_cluster(read, ClusterObjects())


def _find_custom_owners(value: Any) -> set[tuple[str, str]]:
    owners = maps(dig(value, ("metadata", OWNERS)))
    owner_kinds = {(str(owner.get("apiVersion") or ""), str(owner.get("kind") or "")) for owner in owners}
    return {
        (version, kind) for version, kind in owner_kinds if kind not in KINDS and SHIPPED.of(Ref(version, kind, "", ""))
    }
