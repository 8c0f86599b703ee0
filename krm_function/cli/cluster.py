"""The nodes of `plan` and `upgrade`, and what `plan` and `check` ask of a cluster, which `operations` answers."""

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from krm_function.cli.inputs import Inputs, read_inputs
from krm_function.findings import Finding, Ref, finding
from krm_function.kubernetes.nodes import KINDS as NODE_KINDS
from krm_function.kubernetes.nodes import Node, read_nodes
from krm_function.kubernetes.resource import Resource, yaml_finding
from krm_function.record import NamedTuple
from krm_function.text.errors import YamlError
from krm_function.text.parse import Document, locate, parse

if TYPE_CHECKING:
    from krm_function.config.collect import Config
    from krm_function.kubernetes.runtime_classes import RuntimeClass
    from krm_function.render.rendered import Rendered

# --- What `plan` and `check` ask of a cluster
#
# Rule: the options are declared beside those of a render, and the module that answers them belongs to `operations`. It
# is loaded by its name, and for --cluster alone: it needs an extra and the network.


LIVE_CLUSTER = "krm_function.operations.cluster_checks"


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
    server: Any = None


class LiveOutput(Protocol):
    """Rendered output, and what a cluster has of it."""

    @property
    def digests(self) -> frozenset[str]:
        """Of the policies of all Contrast workloads that the cluster has in these namespaces."""

    def compared(self, beside: int) -> tuple[tuple[Finding, ...], str]:
        """Return what the cluster has otherwise, and a line that names what was compared.

        beside: policies of the manifest whose workloads only the cluster has.
        """


class Cluster(Protocol):
    """The module that asks the cluster of the current kubeconfig context. None of its functions raises."""

    def read_nodes(self) -> ClusterNodes:
        """Read the nodes and the RuntimeClasses."""

    def planned_classes(
        self, rendered: "Rendered", resources: Sequence[Resource], live: Mapping[str, Any]
    ) -> "tuple[Mapping[str, RuntimeClass], list[Finding]]":
        """Return the classes that admission will use, without those that this deployment applies; and what is wrong.

        resources: the input of the render. live: the RuntimeClass objects of the cluster by name.
        """

    def planned_pods(self, rendered: "Rendered", resources: Sequence[Resource], server: Any) -> list[Finding]:
        """Return what the server, asked by dry runs, answers about the pods of each workload that was rendered."""

    def read_live(self, resources: Sequence[Resource], config: "Config | None") -> LiveOutput:
        """Read what the cluster has in the namespaces of some output. config: None without one."""


def live_cluster() -> Cluster:
    """Load what answers --cluster. Raises ModuleNotFoundError without its extra."""
    return cast("Cluster", import_module(LIVE_CLUSTER))


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
    server: Any = None


def known_nodes(options: Namespace, inputs: Inputs) -> KnownNodes:
    """Return the nodes of one call. Raises FileProblem."""
    if options.cluster:
        cluster = live_cluster().read_nodes()
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


def _named(option: str, source: str, read: tuple[list[Node], list[Finding]]) -> KnownNodes:
    nodes, problems = read
    if not nodes and not problems:
        problems = [finding("CC0909.no-node", option=option)]
    return KnownNodes(tuple(nodes), source, tuple(problems))


def _from(resources: Iterable[Resource]) -> tuple[list[Node], list[Finding]]:
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
    nodes, problems = read_nodes(value)
    where = partial(locate, document) if document is not None else None
    return list(nodes), list(_problems(problems, where, file))


def _problems(problems: Iterable[Any], where: Any, file: str) -> Iterator[Finding]:
    for name, path, cause in problems:
        line, column = where(path) if where is not None and file else (0, 0)
        about_node = finding(cause.code, _ref(name), path, **cause.values)
        yield about_node._replace(line=line, column=column, file=file if line else "")


def _ref(name: str) -> Ref:
    return Ref("v1", "Node", "", name)
