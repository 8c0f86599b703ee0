"""The nodes of `plan` and `upgrade`, and the cluster queries of `plan` and `check`, which `operations` implements."""

from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
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

# --- The cluster queries of `plan` and `check`
#
# Rule: the options are declared beside those of a render, and the module that implements them belongs to `operations`.
# It is loaded by name, and only for --cluster: it needs an extra and the network.


LIVE_CLUSTER = "krm_function.operations.cluster_checks"


class ClusterClasses(NamedTuple):
    """The RuntimeClass objects by name. objects: None if the cluster does not show them; `findings` has the reason."""

    objects: Mapping[str, Any] | None = None
    findings: tuple[Finding, ...] = ()


class ClusterNodes(NamedTuple):
    """document: a NodeList as plain data, None if the cluster does not show it; `findings` has the reason.

    context: the kubeconfig context that was used. server: for further queries, None if it does not answer.
    """

    document: Any = None
    classes: ClusterClasses = ClusterClasses()
    context: str = ""
    findings: tuple[Finding, ...] = ()
    server: Any = None


class LiveOutput(Protocol):
    """Rendered output, and the cluster's version of it."""

    @property
    def digests(self) -> frozenset[str]:
        """Return the policy digests of all Contrast workloads that the cluster has in these namespaces."""

    def compared(self, beside: int) -> tuple[tuple[Finding, ...], str]:
        """Return the findings about differences in the cluster, and a line that names what was compared.

        beside: the number of policies in the manifest whose workloads only the cluster has.
        """


class Cluster(Protocol):
    """The module that queries the cluster of the current kubeconfig context. None of its functions raises."""

    def read_nodes(self) -> ClusterNodes:
        """Read the nodes and the RuntimeClasses."""

    def planned_classes(
        self, rendered: "Rendered", resources: Sequence[Resource], live: Mapping[str, Any]
    ) -> "tuple[Mapping[str, RuntimeClass], list[Finding]]":
        """Return the classes that admission will use, without those that this deployment applies; and findings.

        resources: the input of the render. live: the RuntimeClass objects of the cluster by name.
        """

    def planned_pods(self, rendered: "Rendered", resources: Sequence[Resource], server: Any) -> list[Finding]:
        """Send the pods of each rendered workload to the server as dry runs, and return findings about its answers."""

    def read_live(self, resources: Sequence[Resource], config: "Config | None") -> LiveOutput:
        """Read the cluster's objects in the namespaces of some output. config: None without one."""


def live_cluster() -> Cluster:
    """Load the module for --cluster. Raises ModuleNotFoundError without its extra."""
    return cast("Cluster", import_module(LIVE_CLUSTER))


# --- Where `plan` reads its nodes: files that --nodes names, a live cluster, or Nodes among the resources
#
# Rule: one source wins, so that no node is counted twice. A named source without a node is an error, because the plan
# would silently show less.


class KnownNodes(NamedTuple):
    """The nodes, or None if no source was given. source: its label for messages.

    classes: the RuntimeClass objects of a cluster by name, None without a cluster or if it does not show them. server:
    the cluster's.
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
        live = KnownNodes()
        if cluster.document is not None:
            live = _require_nodes("--cluster", source, _read_nodes(cluster.document))
        findings = (*live.findings, *cluster.findings, *classes.findings)
        return live._replace(findings=findings, classes=classes.objects, server=cluster.server)
    if options.nodes:
        if "-" in options.nodes and (not options.paths or "-" in options.paths):
            return KnownNodes(findings=(finding("CC0909.stdin-resources", option="--nodes"),))
        read = read_inputs(options.nodes)
        nodes, problems = _read_resources(read.resources)
        source = ", ".join("standard input" if name == "-" else name for name in options.nodes)
        return _require_nodes("--nodes", source, (nodes, [*read.findings, *problems]))
    nodes, problems = _read_resources(inputs.resources)
    return KnownNodes(tuple(nodes) if nodes else None, "the resources" if nodes else "", tuple(problems))


def _require_nodes(option: str, source: str, read: tuple[list[Node], list[Finding]]) -> KnownNodes:
    nodes, problems = read
    if not nodes and not problems:
        problems = [finding("CC0909.no-node", option=option)]
    return KnownNodes(tuple(nodes), source, tuple(problems))


def _read_resources(resources: Iterable[Resource]) -> tuple[list[Node], list[Finding]]:
    nodes: list[Node] = []
    findings: list[Finding] = []
    for resource in resources:
        if not resource.may_be((*NODE_KINDS, "List")):
            continue
        try:
            document = parse(resource.text, line=resource.line)
        except YamlError as problem:
            if resource.kind in NODE_KINDS:  # the render reports a broken List
                findings.append(yaml_finding(problem, resource))
            continue
        read, problems = _read_nodes(document.value, document, resource.file)
        nodes += read
        findings += problems
    names = [node.name for node in nodes]
    twice = sorted({name for name in names if names.count(name) > 1})
    findings += [finding("CC0314.twice", _make_ref(name), ("metadata", "name")) for name in twice]
    return nodes, findings


def _read_nodes(value: Any, document: Document | None = None, file: str = "") -> tuple[list[Node], list[Finding]]:
    nodes, problems = read_nodes(value)
    findings = []
    for name, path, cause in problems:
        line, column = locate(document, path) if document is not None and file else (0, 0)
        about_node = finding(cause.code, _make_ref(name), path, **cause.values)
        findings.append(about_node._replace(line=line, column=column, file=file if line else ""))
    return list(nodes), findings


def _make_ref(name: str) -> Ref:
    return Ref("v1", "Node", "", name)
