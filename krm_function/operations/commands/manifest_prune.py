"""`contrast-krm manifest prune`: the manifest without the parts that `manifest.keep: previous` kept of the last render.

Rule of this file: it prunes exactly the parts that a render without `keep` does not have; there is no second rule for
them. With --cluster nothing is printed while the cluster has a pod of the earlier render, or a workload that would make
one.
"""

from argparse import Namespace
from typing import Any

from krm_function.cli.inputs import read_inputs
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_findings, add_paths, add_render
from krm_function.cli.render_inputs import configured
from krm_function.cli.streams import write_out
from krm_function.contrast.manifest import decode
from krm_function.findings import Finding, finding, has_errors
from krm_function.kubernetes.objects import mapping
from krm_function.operations.live import earlier
from krm_function.render.pipeline import render
from krm_function.render.select import select
from krm_function.text.parse import parse

DESCRIPTION = (
    "Renders without spec.manifest.keep and prints that manifest.json. With --cluster it prints nothing "
    "while a pod of the earlier render is left."
)
NAMED = 10  # pods in a sentence


def add_arguments(parser: Parser) -> None:
    """Add inputs, configuration, the cluster, findings."""
    add_render(parser)
    add_paths(parser, content="the input of the render, or rendered output")
    parser.add_argument(
        "--cluster",
        action="store_true",
        help="only if the cluster of the current kubeconfig context has no pod of the earlier render left",
    )
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the pruned manifest."""
    inputs = read_inputs(options.paths)
    config, findings = configured(options, inputs)
    if config is None or has_errors(findings):
        return print_findings(findings, options.format, options.report)
    if config.generate.manifest.keep == "none":
        refusal = finding("CC0734.keep", config.generate.ref, ("spec", "manifest", "keep"))
        return print_findings((*findings, refusal), options.format, options.report)
    with_earlier = render(inputs.resources, config, findings)
    manifest = config.generate.manifest._replace(keep="none")
    pruned = render(inputs.resources, config._replace(generate=config.generate._replace(manifest=manifest)), findings)
    told: tuple[Finding, ...] = tuple(problem for problem in pruned.findings if problem.severity != "info")
    if with_earlier.failed or pruned.failed:
        return print_findings(told, options.format, options.report)
    all_policies, own_policies = (
        mapping(decode(rendered.manifest).get("Policies")) for rendered in (with_earlier, pruned)
    )
    if options.cluster:
        told += _find_leftovers(pruned, all_policies.keys() - own_policies.keys())
    if not has_errors(told):
        write_out(pruned.manifest)
    summary = (
        f"pruned {len(all_policies) - len(own_policies)} of {len(all_policies)} policies\n"
        if not has_errors(told)
        else ""
    )
    return print_findings(told, options.format, options.report, summary)


def _find_leftovers(pruned: Any, old: set[str]) -> tuple[Any, ...]:
    """Return CC0733 for pods and workloads of the earlier render, or why the cluster does not show them."""
    from krm_function.operations.live_objects import read_namespaces

    texts = [text for text in pruned.texts if text is not None]
    workloads = [workload for text in texts for workload in select(parse(text).value).workloads]
    names = sorted({workload.ref.namespace or "default" for workload in workloads})
    read = read_namespaces(
        names, {(workload.ref.api_version, workload.ref.kind) for workload in workloads if workload.made_by}
    )
    if read.objects is None or has_errors(read.findings):
        return read.findings
    refs = earlier(read.objects, old, {workload.runtime_class for workload in workloads})
    if not refs:
        return ()
    and_more = f" and {len(refs) - NAMED} more" if len(refs) > NAMED else ""
    addresses = ", ".join(f"{ref.kind}/{ref.namespace}/{ref.name}" for ref in refs[:NAMED])
    return (finding("CC0733", count=len(refs), names=addresses + and_more),)
