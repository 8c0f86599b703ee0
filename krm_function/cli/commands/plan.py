"""`contrast-krm plan`: lists the changes of a render, a line per workload; no resource is written.

Rule of this file: the plan is the render's own record; nothing is computed twice.
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from krm_function.cli.cluster import KnownNodes, known_nodes, live_cluster
from krm_function.cli.inputs import Inputs, read_inputs
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_findings, add_paths, add_render, coloured, columns
from krm_function.cli.render_inputs import configured
from krm_function.cli.streams import write_out
from krm_function.config.collect import ACKNOWLEDGED, reported
from krm_function.contrast.node_labels import foreign_labels
from krm_function.contrast.platforms import PLATFORMS
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import find_files, same_file
from krm_function.hosts.write_files import write_file
from krm_function.kubernetes.placement import Placement, place
from krm_function.kubernetes.runtime_classes import RuntimeClass
from krm_function.render.pipeline import render
from krm_function.render.rendered import Rendered
from krm_function.report.findings import ansi, plain
from krm_function.report.plan import Plan, make_plan, plan_json
from krm_function.report.plan_text import WIDTH, plan_mermaid, plan_text

DESCRIPTION = (
    "Given nodes, also shows which nodes take each pod, and why the others do not; a pod that fits no node is an error."
)
FORMATS = ("text", "json", "mermaid", "html")
SUFFIXES = {".txt": "text", ".json": "json", ".mmd": "mermaid", ".html": "html"}


class OutputChoices:
    """The choices of --output for argparse, which iterates over them for messages and uses `in` to test a value."""

    def __iter__(self) -> Iterator[str]:
        return iter((*FORMATS, "FILE.html"))

    def __contains__(self, value: object) -> bool:
        return value in FORMATS or (isinstance(value, str) and value.endswith(tuple(SUFFIXES)))


def add_arguments(parser: Parser) -> None:
    """Add inputs, output, nodes, findings."""
    add_paths(parser, "PATH")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FORMAT|FILE",
        choices=OutputChoices(),
        action="append",
        default=[],
        help="text (default), json, mermaid or html, or a file whose name ends in .txt, .json, .mmd or .html",
    )
    nodes = parser.add_mutually_exclusive_group()
    nodes.add_argument(
        "--nodes",
        metavar="FILE",
        action="append",
        default=[],
        help="output of `kubectl get nodes -o yaml` (repeatable, - is standard input); replaces Nodes in PATH",
    )
    nodes.add_argument(
        "--cluster",
        action="store_true",
        help="read the nodes from the cluster of the current kubeconfig context (needs contrast-krm[cluster])",
    )
    add_render(parser, strict=True)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the plan or write it to a file; findings go to standard error as in a render."""
    chosen, file = format_and_file(options.output)
    inputs = read_inputs(options.paths)
    files = [path for path in options.nodes if path != "-"]
    read = [source.path for source in find_files([*options.config, *files])] if file else []
    if same_file(file, [*read, *(source.file for source in inputs.sources)]):
        return print_findings([finding("CC0909.input", option="--output")], options.format, options.report)
    node_list = known_nodes(options, inputs)
    if has_errors(node_list.findings):
        return print_findings(node_list.findings, options.format, options.report)
    config, findings = configured(options, inputs)
    rendered = render(inputs.resources, config, findings, live=True)
    classes, printed = _read_classes(rendered, node_list, inputs)
    placements, about = _place(rendered, node_list, classes)
    printed += about
    printed += _check_labels(rendered, node_list)
    if node_list.server is not None:
        printed += live_cluster().planned_pods(rendered, inputs.resources, node_list.server)
    printed = [*reported(config, printed)]
    plan = make_plan(rendered, node_list.nodes, placements, printed, node_list.source)
    text = _choose_writer(chosen, options, file=file)(plan).encode("utf-8")
    if file:
        write_file(file, text)
    else:
        write_out(text)
    return print_findings([*rendered.findings, *printed], options.format, options.report, shown_info=ACKNOWLEDGED)


def _choose_writer(chosen: str, options: Namespace, *, file: str) -> Callable[[Plan], str]:
    """Return the function that formats a plan. file: where the text goes, "" for standard output."""
    match chosen:
        case "json":
            return plan_json
        case "mermaid":
            return plan_mermaid
        case "html":
            from krm_function.report.plan_html import plan_html

            return plan_html
        case _:
            width = columns(WIDTH, file=bool(file))
            paint = ansi if not file and coloured(options.color, sys.stdout) else plain
            return partial(plan_text, width=width, paint=paint)


def _read_classes(
    rendered: Rendered, node_list: KnownNodes, inputs: Inputs
) -> tuple[Mapping[str, RuntimeClass], list[Finding]]:
    """Return a cluster's RuntimeClasses by name, without those that this deployment applies; and findings."""
    if node_list.classes is None:
        return {}, list(node_list.findings)
    classes, findings = live_cluster().planned_classes(rendered, inputs.resources, node_list.classes)
    return classes, [*node_list.findings, *findings]


def _place(
    rendered: Rendered, node_list: KnownNodes, classes: Mapping[str, RuntimeClass]
) -> tuple[dict[int, Placement], list[Finding]]:
    """Find the nodes for each workload that got its runtime class, by position. classes: of the cluster."""
    if node_list.nodes is None:
        return {}, []
    broken = {problem.ref for problem in rendered.findings if problem.severity == "error"}
    placements: dict[int, Placement] = {}
    findings: list[Finding] = []
    for index, workload in enumerate(rendered.plan):
        if workload.skipped or (workload.scheduled is None and workload.ref in broken):
            continue
        cls = classes.get(workload.runtime_class, workload.scheduled)
        placements[index], about = place(workload, cls, node_list.nodes)
        findings += map(workload.placed, about)
    return placements, findings


def _check_labels(rendered: Rendered, node_list: KnownNodes) -> list[Finding]:
    return [
        workload.placed(finding)
        for workload in rendered.plan
        if workload.platform
        for finding in foreign_labels(workload, PLATFORMS[workload.platform], node_list.nodes)
    ]


def format_and_file(values: Sequence[str]) -> tuple[str, str]:
    """Return the format and the file ("" for standard output) that the values name; the last of each counts."""
    chosen, file = "", ""
    for value in values:
        if value in FORMATS:
            chosen = value
        else:
            file = value
    by_suffix = next((name for suffix, name in SUFFIXES.items() if file.endswith(suffix)), "text")
    return chosen or by_suffix, file
