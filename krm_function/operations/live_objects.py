"""Objects of a live cluster, read through the `kubernetes` client: an optional extra, for the options `--cluster`.

Rule of this file: it reads each list once, the pods last and one by one, since there may be more of them than memory.
It stores nothing in the cluster and makes no retry storm. Of a kubeconfig only the name of the context ever reaches a
message. It never asks for Secrets. It trusts no answer of the cluster: api_server.py bounds it and checks its shape.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Protocol

from krm_function.cli.cluster import ClusterClasses
from krm_function.findings import Finding, Ref, finding
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import OWNERS, dig, maps
from krm_function.kubernetes.pod_kinds import SHIPPED
from krm_function.operations.api_server import ApiServer, Listing, Lists, RefusalError
from krm_function.record import NamedTuple

FORBIDDEN = 403
ABSENT = 404  # no such resource
CONFIG_MAP = ("v1", "ConfigMap")


class TakesPods(Protocol):
    """Receives one pod after another."""

    def add(self, pod: Any) -> None:
        """Take one pod, without keeping it."""


class ClusterObjects(NamedTuple):
    """objects: the workloads and ConfigMaps of some namespaces as plain data; None if the cluster does not answer.

    pods: the receiver of their pods. context: the name of the kubeconfig context. server: for further requests.
    """

    objects: tuple[Any, ...] | None = None
    pods: Any = None
    classes: ClusterClasses = ClusterClasses()
    context: str = ""
    findings: tuple[Finding, ...] = ()
    server: ApiServer | None = None


def read_cluster_objects(
    namespaces: Iterable[str],
    taker: Callable[[tuple[Any, ...]], TakesPods],
    custom: Iterable[tuple[str, str]] = (),
) -> ClusterObjects:
    """Read the objects of the current context. Never raises.

    custom: apiVersion and kind of further custom resources. taker: makes the receiver of pods from the other objects.
    """
    names, custom_kinds = list(namespaces), list(custom)

    def read(lists: Lists) -> tuple[tuple[Any, ...], TakesPods, ClusterClasses]:
        objects = tuple(_list_objects(lists, names, custom_kinds))
        pods = taker(objects)
        for name in names:
            for pod in lists.objects(listing_of("v1", "Pod", name)):
                pods.add(pod)
        return objects, pods, runtime_classes(lists)

    asked = ask_cluster(read)
    objects, pods, classes = asked.answer or (None, None, ClusterClasses())
    return ClusterObjects(objects, pods, classes, asked.context, asked.findings, asked.server)


def _list_objects(lists: Lists, namespaces: Iterable[str], custom: Collection[tuple[str, str]]) -> Iterator[Any]:
    """Yield each object except the pods, as `kubectl get -o yaml` prints it."""
    kinds = [(version, kind) for kind, (version, *_) in KINDS.items() if kind != "Pod"]
    for namespace in namespaces:
        for version, kind in (*kinds, *custom, CONFIG_MAP):
            try:
                yield from lists.objects(listing_of(version, kind, namespace))
            except RefusalError as problem:
                if problem.status != ABSENT or (version, kind) not in custom:
                    raise


def listing_of(version: str, kind: str, namespace: str) -> Listing:
    """Return the listing of a kind in a namespace."""
    return Listing(version, kind, f"the {kind}s of namespace {namespace}", namespace)


def runtime_classes(lists: Lists) -> ClusterClasses:
    """Return the RuntimeClasses; None and a finding without the right to list them, which fewer users have."""
    classes = Listing("node.k8s.io/v1", "RuntimeClass", "the RuntimeClasses")
    try:
        return ClusterClasses({value["metadata"]["name"]: value for value in lists.objects(classes)})
    except RefusalError as problem:
        if problem.status != FORBIDDEN:
            raise
        return ClusterClasses(None, (finding("CC1121", answer=problem.values["answer"]),))


class Asked(NamedTuple):
    """answer: None if there is none; then `findings` has the reason."""

    answer: Any = None
    context: str = ""
    findings: tuple[Finding, ...] = ()
    server: ApiServer | None = None


def ask_cluster(ask: Callable[[Lists], Any]) -> Asked:
    """Return the answer and the name of the context, or a finding. ask: gets the lists of the cluster."""
    from kubernetes import client, config  # the heaviest of all, and it reads KUBECONFIG as it is loaded

    logging.getLogger("urllib3").setLevel(logging.ERROR)  # its retries would go to standard error
    configuration = client.Configuration()
    try:
        context = _load_context(config, configuration)
        server = ApiServer(client.ApiClient(configuration))
    except config.ConfigException:
        return _refuse("CC1003.no-context")
    except Exception as problem:  # noqa: BLE001 (the client trusts a kubeconfig, so a broken one can raise anything)
        return _refuse("CC1003.kubeconfig", error=type(problem).__name__)
    try:
        return Asked(ask(Lists(server)), context, (), server)
    except RefusalError as problem:
        return _refuse(problem.code, **problem.values)


def _load_context(config: Any, configuration: Any) -> str:
    """Configure the client and return the name of the context. Its own `load_config` prints to standard output."""
    try:
        config.load_kube_config(client_configuration=configuration)
    except config.ConfigException:
        config.load_incluster_config(client_configuration=configuration)
        return "in-cluster"
    _, active = config.list_kube_config_contexts()
    return str(active["name"])


def _refuse(code: str, **values: Any) -> Asked:
    return Asked(findings=(finding(code, **values),))


# --- All objects of one namespace of a live cluster that may show why a pod does not start
#
# Rule: a kind that the role may not list, or that the cluster does not have, is left out. Of custom resources, it lists
# the kinds that own an object here, by ownerReferences, and the one that the call names.


POD = ("v1", "Pod")
BESIDE = (("v1", "Event"), ("v1", "Service"), CONFIG_MAP)
API_SERVER = ("default", "kubernetes")  # its Service gives variables to every pod


def read_namespaces(namespaces: Sequence[str], custom: Collection[tuple[str, str]] = ()) -> ClusterObjects:
    """Read the workloads, events, Services and manifests of some namespaces. Never raises.

    custom: apiVersion and kind of further custom resources.
    """
    asked = ask_cluster(
        lambda lists: tuple(value for name in namespaces for value in _list_namespace(lists, name, custom))
    )
    return ClusterObjects(asked.answer, context=asked.context, findings=asked.findings)


def _list_namespace(lists: Lists, namespace: str, custom: Collection[tuple[str, str]]) -> Iterator[Any]:
    def listed(version: str, kind: str) -> Iterator[Any]:
        try:
            yield from lists.objects(listing_of(version, kind, namespace))
        except RefusalError as problem:
            if problem.status not in (FORBIDDEN, ABSENT) or kind == "Pod":
                raise

    kinds = [(version, kind) for kind, (version, *_) in KINDS.items() if kind != "Pod"]
    kinds_of_owners = set(custom)
    for version, kind in (POD, *kinds, *BESIDE):
        for value in listed(version, kind):
            kinds_of_owners |= _find_custom_owners(value)
            yield value
    for version, kind in sorted(kinds_of_owners):
        yield from listed(version, kind)
    if namespace != API_SERVER[0]:
        try:
            services = lists.objects(listing_of("v1", "Service", API_SERVER[0]))
            yield from (service for service in services if service["metadata"]["name"] == API_SERVER[1])
        except RefusalError as problem:
            if problem.status != FORBIDDEN:
                raise


def _find_custom_owners(value: Any) -> set[tuple[str, str]]:
    owners = maps(dig(value, ("metadata", OWNERS)))
    owner_kinds = {(str(owner.get("apiVersion") or ""), str(owner.get("kind") or "")) for owner in owners}
    return {
        (version, kind) for version, kind in owner_kinds if kind not in KINDS and SHIPPED.of(Ref(version, kind, "", ""))
    }
