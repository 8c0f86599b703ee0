"""Where `plan` reads its nodes from: files that --nodes names, a live cluster, or Nodes among the resources.

Rule of this file: one source wins, so that no node is counted twice; and a source that was named and holds no node is
an error, because the plan would silently show less.
"""

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from krm_function.cli.files.inputs import Inputs, read_inputs
from krm_function.findings import Finding, Ref, finding
from krm_function.model.finding_position import yaml_finding
from krm_function.model.resource import Resource
from krm_function.placement.firmware import UNKNOWN
from krm_function.placement.node import KINDS, Node, read_nodes
from krm_function.record import NamedTuple
from krm_function.yamltext import Document, YamlError, locate, parse

if TYPE_CHECKING:
    from krm_function.cli.cluster.connection import ApiServer


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
        from krm_function.cli.cluster.cluster_objects import read_cluster_nodes

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
        if not resource.may_be((*KINDS, "List")):
            continue
        try:
            document = parse(resource.text, line=resource.line)
        except YamlError as problem:
            if resource.kind in KINDS:  # a broken List is a finding of the render
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
