"""Objects of a live cluster, and where `plan` reads its nodes from."""

from argparse import Namespace
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from krm_function.cli.inputs import Inputs, read_inputs
from krm_function.findings import Finding, Ref, finding
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.lookup import dig, maps
from krm_function.kubernetes.nodes import KINDS as NODE_KINDS
from krm_function.kubernetes.nodes import UNKNOWN, Node, read_nodes
from krm_function.kubernetes.objects import OWNERS
from krm_function.kubernetes.pod_kinds import SHIPPED
from krm_function.kubernetes.resource import Resource, yaml_finding
from krm_function.record import NamedTuple
from krm_function.text.errors import YamlError
from krm_function.text.parse import Document, locate, parse

if TYPE_CHECKING:
    from krm_function.cli.api_server import ApiServer, Lists


# --- Objects of a live cluster, through the `kubernetes` client: an optional extra, for `--cluster` of `plan` and
# `check`
#
# Rule: the nodes, or each kind in each namespace, are listed once, the pods last and one by one, since
# there may be more of them than memory; nothing is stored there, no retry storm; and nothing of a kubeconfig but the
# name of its context ever reaches a message. Secrets are never asked for. What the cluster answers is believed in
# nothing: cli/api_server.py bounds it, answer.py looks at its shape.


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
    from krm_function.cli.api_server import Listing, RefusalError

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
    from krm_function.cli.api_server import Listing

    return Listing(version, kind, f"the {kind}s of namespace {namespace}", namespace)


def _runtime_classes(lists: "Lists") -> ClusterClasses:
    """Return the RuntimeClasses; without the right to list them, which fewer users have, None and a finding."""
    from krm_function.cli.api_server import Listing, RefusalError

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

        from krm_function.cli.api_server import ApiServer, Lists, RefusalError
    except ImportError:
        from krm_function.cli.build import not_installed

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


# --- Everything of one namespace of a live cluster that says why a pod does not start
#
# Rule: lists alone, as cluster_objects.py reads them; a kind that the role does not show is left out, and
# Secrets are never asked for. Custom resources are listed of the kinds that own something here, by their
# ownerReferences.


POD = ("v1", "Pod")
BESIDE = (("v1", "Event"), ("v1", "Service"), CONFIG_MAP)
API_SERVER = ("default", "kubernetes")  # its Service gives variables to every pod


def read_namespace(namespace: str) -> ClusterObjects:
    """Read the workloads, events, Services and manifests of a namespace. Never raises."""
    asked = ask_cluster(lambda lists: tuple(_namespace_objects(lists, namespace)))
    return ClusterObjects(asked.answer, context=asked.context, findings=asked.findings)


def read_namespaces(namespaces: Sequence[str], more: Collection[tuple[str, str]]) -> ClusterObjects:
    """Read the same of several namespaces. Never raises. more: apiVersion and kind of custom resources to list."""
    asked = ask_cluster(
        lambda lists: tuple(one for name in namespaces for one in _namespace_objects(lists, name, more))
    )
    return ClusterObjects(asked.answer, context=asked.context, findings=asked.findings)


def _namespace_objects(lists: "Lists", namespace: str, more: Collection[tuple[str, str]] = ()) -> Iterator[Any]:
    from krm_function.cli.api_server import Listing, RefusalError

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


# --- Where `plan` reads its nodes from: files that --nodes names, a live cluster, or Nodes among the resources
#
# Rule: one source wins, so that no node is counted twice; and a source that was named and holds no node is
# an error, because the plan would silently show less.


class KnownNodes(NamedTuple):
    """The nodes, or None if no source was given. source: its label for messages.

    classes: the RuntimeClass objects of a cluster by name, None if none was asked or it does not show them. server: of
    a cluster that was asked.
    """

    nodes: tuple[Node, ...] | None = None
    source: str = ""
    findings: tuple[Finding, ...] = ()
    classes: Mapping[str, Any] | None = None
    server: "ApiServer | None" = None


def known_nodes(options: Namespace, inputs: Inputs) -> KnownNodes:
    """Return the nodes of one call. Raises FileProblem."""
    if options.cluster:
        cluster = read_cluster_nodes()
        if cluster.server is None:
            return KnownNodes(findings=cluster.findings)
        source, classes = f"context {cluster.context}", cluster.classes
        live = KnownNodes() if cluster.document is None else _named("--cluster", source, _read(cluster.document))
        findings = (*live.findings, *cluster.findings, *classes.findings)
        return live._replace(findings=findings, classes=classes.objects, server=cluster.server)
    if options.nodes:
        if "-" in options.nodes and (not options.paths or "-" in options.paths):
            return KnownNodes(findings=(finding("CC0909.stdin-resources", option="--nodes"),))
        read = read_inputs(options.nodes)
        nodes, problems = _from(read.resources)
        source = ", ".join("standard input" if name == "-" else name for name in options.nodes)
        return _named("--nodes", source, (nodes, [*read.findings, *problems]))
    nodes, problems = _from(inputs.resources)
    return KnownNodes(tuple(nodes) if nodes else None, "the resources" if nodes else "", tuple(problems))


def with_facts(known: KnownNodes, options: Namespace) -> KnownNodes:
    """Return the nodes with what the files of --node-facts say of their machines. Raises FileProblem."""
    if not options.node_facts:
        return known
    if "-" in options.node_facts:
        return known._replace(findings=(*known.findings, finding("CC0909.stdin-resources", option="--node-facts")))
    if known.nodes is None:  # a cluster that shows none has said so
        alone = () if options.cluster else (finding("CC0909.facts-alone", option="--node-facts"),)
        return known._replace(findings=(*known.findings, *alone))
    read = read_inputs(options.node_facts)
    nodes, problems = _from(read.resources)
    facts = _named("--node-facts", "", (nodes, [*read.findings, *problems]))
    said = {node.name: node.firmware for node in facts.nodes or ()}
    together = (node._replace(firmware=node.firmware.beside(said.get(node.name, UNKNOWN))) for node in known.nodes)
    return known._replace(nodes=tuple(together), findings=(*known.findings, *facts.findings))


def _named(option: str, source: str, read: tuple[list[Node], list[Finding]]) -> KnownNodes:
    """Return the nodes of a source that an option names."""
    nodes, problems = read
    if not nodes and not problems:
        problems = [finding("CC0909.no-node", option=option)]
    return KnownNodes(tuple(nodes), source, tuple(problems))


def _from(resources: Iterable[Resource]) -> tuple[list[Node], list[Finding]]:
    """Return the nodes among some resources; what is no Node is left alone."""
    nodes: list[Node] = []
    findings: list[Finding] = []
    for resource in resources:
        if not resource.may_be((*NODE_KINDS, "List")):
            continue
        try:
            document = parse(resource.text, line=resource.line)
        except YamlError as problem:
            if resource.kind in NODE_KINDS:  # a broken List is a finding of the render
                findings.append(yaml_finding(problem, resource))
            continue
        read, problems = _read(document.value, document, resource.file)
        nodes += read
        findings += problems
    names = [node.name for node in nodes]
    twice = sorted({name for name in names if names.count(name) > 1})
    findings += [finding("CC0314.twice", _ref(name), ("metadata", "name")) for name in twice]
    return nodes, findings


def _read(value: Any, document: Document | None = None, file: str = "") -> tuple[list[Node], list[Finding]]:
    read = read_nodes(value)
    where = partial(locate, document) if document is not None else None
    return list(read.nodes), list(_problems(read.problems, where, file))


def _problems(problems: Iterable[Any], where: Any, file: str) -> Iterator[Finding]:
    for name, path, cause in problems:
        line, column = where(path) if where is not None and file else (0, 0)
        about_node = finding(cause.code, _ref(name), path, **cause.values)
        yield about_node._replace(line=line, column=column, file=file if line else "")


def _ref(name: str) -> Ref:
    return Ref("v1", "Node", "", name)
