"""Objects of a live cluster, through the `kubernetes` client: an optional extra, for `--cluster` of `plan` and `check`.

Rule of this file: the nodes, or each kind in each namespace, are listed once, the pods last and one by one, since there
may be more of them than memory; nothing is stored there, no retry storm; and nothing of a kubeconfig but the name of
its context ever reaches a message. Secrets are never asked for. What the cluster answers
is believed in nothing: connection.py bounds it, answer.py looks at its shape.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from krm_function.findings import Finding, finding
from krm_function.model.kinds import KINDS
from krm_function.record import NamedTuple

if TYPE_CHECKING:
    from krm_function.cli.cluster.answer import Lists
    from krm_function.cli.cluster.connection import ApiServer

FORBIDDEN = 403
CONFIG_MAP = ("v1", "ConfigMap")


class ClusterClasses(NamedTuple):
    """The RuntimeClass objects by name. objects: None if the cluster does not show them, and why in `findings`."""

    objects: Mapping[str, Any] | None = None
    findings: tuple[Finding, ...] = ()


class ClusterNodes(NamedTuple):
    """document: a NodeList as plain data, None if the cluster does not show it, and why is in `findings`.

    context: the name of the kubeconfig context it came from. server: to ask for more, None if it does not answer.
    """

    document: Any = None
    classes: ClusterClasses = ClusterClasses()
    context: str = ""
    findings: tuple[Finding, ...] = ()
    server: "ApiServer | None" = None


def read_cluster_nodes() -> ClusterNodes:
    """Read the nodes of the current context of the kubeconfig, or of the cluster this runs in. Never raises."""
    asked = ask_cluster(lambda lists: (_nodes(lists), _runtime_classes(lists)))
    (document, findings), classes = asked.answer or ((None, ()), ClusterClasses())
    return ClusterNodes(document, classes, asked.context, (*asked.findings, *findings), asked.server)


def _nodes(lists: "Lists") -> tuple[Any, tuple[Finding, ...]]:
    """Return the nodes; without the right to list them, which not every user of a namespace has, a finding."""
    from krm_function.cli.cluster.answer import Listing
    from krm_function.cli.cluster.connection import RefusalError

    nodes = Listing("v1", "Node", "the nodes")
    try:
        return {"apiVersion": "v1", "kind": "NodeList", "items": list(lists.objects(nodes))}, ()
    except RefusalError as problem:
        if problem.status != FORBIDDEN:
            raise
        return None, (finding("CC1134", answer=problem.values["answer"]),)


class TakesPods(Protocol):
    """What is given one pod after another."""

    def add(self, pod: Any) -> None:
        """Take one pod, which is not kept."""


class ClusterObjects(NamedTuple):
    """objects: the workloads and ConfigMaps of some namespaces as plain data; None if the cluster does not answer.

    pods: what took their pods. context: the name of the kubeconfig context. server: to ask for more.
    """

    objects: tuple[Any, ...] | None = None
    pods: Any = None
    classes: ClusterClasses = ClusterClasses()
    context: str = ""
    findings: tuple[Finding, ...] = ()
    server: "ApiServer | None" = None


def read_cluster_objects(
    namespaces: Iterable[str],
    taker: Callable[[tuple[Any, ...]], TakesPods],
    more: Iterable[tuple[str, str]] = (),
) -> ClusterObjects:
    """Read the objects of the current context. Never raises.

    more: apiVersion and kind of the custom resources that are read as well. taker: makes, of all other objects, what
    takes the pods.
    """
    names, others = list(namespaces), list(more)

    def read(lists: "Lists") -> tuple[tuple[Any, ...], TakesPods, ClusterClasses]:
        objects = tuple(_objects(lists, names, others))
        pods = taker(objects)
        for name in names:
            for pod in lists.objects(_listing("v1", "Pod", name)):
                pods.add(pod)
        return objects, pods, _runtime_classes(lists)

    asked = ask_cluster(read)
    objects, pods, classes = asked.answer or (None, None, ClusterClasses())
    return ClusterObjects(objects, pods, classes, asked.context, asked.findings, asked.server)


def _objects(lists: "Lists", namespaces: Iterable[str], more: Iterable[tuple[str, str]]) -> Iterator[Any]:
    """Yield each object but the pods as `kubectl get -o yaml` has it."""
    kinds = [(version, kind) for kind, (version, *_) in KINDS.items() if kind != "Pod"]
    for namespace in namespaces:
        for version, kind in (*kinds, *more, CONFIG_MAP):
            yield from lists.objects(_listing(version, kind, namespace))


def _listing(version: str, kind: str, namespace: str) -> Any:
    from krm_function.cli.cluster.answer import Listing

    return Listing(version, kind, f"the {kind}s of namespace {namespace}", namespace)


def _runtime_classes(lists: "Lists") -> ClusterClasses:
    """Return the RuntimeClasses; without the right to list them, which fewer users have, None and a finding."""
    from krm_function.cli.cluster.answer import Listing
    from krm_function.cli.cluster.connection import RefusalError

    classes = Listing("node.k8s.io/v1", "RuntimeClass", "the RuntimeClasses")
    try:
        return ClusterClasses({one["metadata"]["name"]: one for one in lists.objects(classes)})
    except RefusalError as problem:
        if problem.status != FORBIDDEN:
            raise
        return ClusterClasses(None, (finding("CC1121", answer=problem.values["answer"]),))


class Asked(NamedTuple):
    """answer: None if there is none, and why in `findings`."""

    answer: Any = None
    context: str = ""
    findings: tuple[Finding, ...] = ()
    server: "ApiServer | None" = None


def ask_cluster(ask: Callable[["Lists"], Any]) -> Asked:
    """Return the answer and the name of the context; or a finding. ask: is given what lists objects."""
    try:
        from kubernetes import client, config

        from krm_function.cli.cluster.answer import Lists
        from krm_function.cli.cluster.connection import ApiServer, RefusalError
    except ImportError:
        from krm_function.cli.install.extras import not_installed

        return Asked(findings=(not_installed("--cluster", "kubernetes", "cluster"),))
    import logging

    logging.getLogger("urllib3").setLevel(logging.ERROR)  # its retries would go to standard error
    configuration = client.Configuration()
    try:
        context = _context(config, configuration)
        server = ApiServer(client.ApiClient(configuration))
    except config.ConfigException:
        return _unanswered("CC1003.no-context")
    except Exception as problem:  # noqa: BLE001 (the client trusts a kubeconfig, so a broken one can raise anything)
        return _unanswered("CC1003.kubeconfig", error=type(problem).__name__)
    try:
        return Asked(ask(Lists(server)), context, (), server)
    except RefusalError as problem:
        return _unanswered(problem.code, **problem.values)


def _context(config: Any, configuration: Any) -> str:
    """Configure the client; the name of the context. The client's own `load_config` would print to standard output."""
    try:
        config.load_kube_config(client_configuration=configuration)
    except config.ConfigException:
        config.load_incluster_config(client_configuration=configuration)
        return "in-cluster"
    _, active = config.list_kube_config_contexts()
    return str(active["name"])


def _unanswered(code: str, **values: Any) -> Asked:
    return Asked(findings=(finding(code, **values),))
