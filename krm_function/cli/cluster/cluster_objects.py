"""Objects of a live cluster, through the `kubernetes` client: an optional extra, for `--cluster` of `plan` and `check`.

Rule of this file: the nodes, or each kind in each namespace, are listed once; no write, no retry storm; and nothing of
a kubeconfig but the name of its context ever reaches a message. Secrets are never asked for. What the cluster answers
is believed in nothing: connection.py bounds it, answer.py looks at its shape.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from krm_function.findings import Finding, finding
from krm_function.model.kinds import KINDS
from krm_function.record import NamedTuple

if TYPE_CHECKING:
    from krm_function.cli.cluster.answer import Lists

FORBIDDEN = 403
CONFIG_MAP = ("v1", "ConfigMap")


class ClusterClasses(NamedTuple):
    """The RuntimeClass objects by name. objects: None if the cluster does not show them, and why in `findings`."""

    objects: Mapping[str, Any] | None = None
    findings: tuple[Finding, ...] = ()


class ClusterNodes(NamedTuple):
    """document: a NodeList as plain data. context: the name of the kubeconfig context it came from."""

    document: Any = None
    classes: ClusterClasses = ClusterClasses()
    context: str = ""
    findings: tuple[Finding, ...] = ()


def read_cluster_nodes() -> ClusterNodes:
    """Read the nodes of the current context of the kubeconfig, or of the cluster this runs in. Never raises."""
    answer, context, findings = _asked(lambda lists: (_nodes(lists), _runtime_classes(lists)))
    document, classes = answer or (None, ClusterClasses())
    return ClusterNodes(document, classes, context, findings)


def _nodes(lists: "Lists") -> Any:
    from krm_function.cli.cluster.answer import Listing

    nodes = Listing("v1", "Node", "the nodes")
    return {"apiVersion": "v1", "kind": "NodeList", "items": list(lists.objects(nodes))}


class ClusterObjects(NamedTuple):
    """objects: the workloads and ConfigMaps of some namespaces as plain data; None if the cluster does not answer.

    context: the name of the kubeconfig context.
    """

    objects: tuple[Any, ...] | None = None
    classes: ClusterClasses = ClusterClasses()
    context: str = ""
    findings: tuple[Finding, ...] = ()


def read_cluster_objects(namespaces: Iterable[str]) -> ClusterObjects:
    """Read the objects of the current context. Never raises."""
    names = list(namespaces)
    answer, context, findings = _asked(lambda lists: (tuple(_objects(lists, names)), _runtime_classes(lists)))
    objects, classes = answer or (None, ClusterClasses())
    return ClusterObjects(objects, classes, context, findings)


def _objects(lists: "Lists", namespaces: Iterable[str]) -> Iterator[Any]:
    """Yield each object as `kubectl get -o yaml` has it."""
    from krm_function.cli.cluster.answer import Listing

    kinds = [(version, kind) for kind, (version, *_) in KINDS.items()]
    for namespace in namespaces:
        for version, kind in (*kinds, CONFIG_MAP):
            yield from lists.objects(Listing(version, kind, f"the {kind}s of namespace {namespace}", namespace))


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


def _asked(ask: Callable[["Lists"], Any]) -> tuple[Any, str, tuple[Finding, ...]]:
    """Return the answer and the name of the context; or None, and a finding. ask: is given what lists objects."""
    try:
        from kubernetes import client, config

        from krm_function.cli.cluster.answer import Lists
        from krm_function.cli.cluster.connection import ApiServer, RefusalError
    except ImportError:
        from krm_function.cli.install.extras import not_installed

        return None, "", (not_installed("--cluster", "kubernetes", "cluster"),)
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
        return ask(Lists(server)), context, ()
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


def _unanswered(code: str, **values: Any) -> tuple[None, str, tuple[Finding, ...]]:
    return None, "", (finding(code, **values),)
