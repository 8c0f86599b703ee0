"""`contrast-krm manifest prune`: the manifest without what `manifest.keep: previous` has kept of the render before.

Rule of this file: what is pruned is what a render without `keep` does not have; there is no second rule of what is old.
With --cluster nothing is printed while the cluster has a pod of the earlier render, or a workload that would make one.
"""

from argparse import Namespace
from typing import Any

from krm_function.cli.inputs import read_inputs
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_config, add_findings, add_namespace, add_paths
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
    "Renders without spec.manifest.keep and prints that manifest.json. With --cluster it prints no manifest while a "
    "pod of the earlier render is left."
)
NAMED = 10  # pods in a sentence


def add_arguments(parser: Parser) -> None:
    """Add inputs, configuration, the cluster, findings."""
    add_config(parser)
    add_namespace(parser)
    add_paths(parser, what="the input of the render, or rendered output")
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
        wrong = finding("CC0734.keep", config.generate.ref, ("spec", "manifest", "keep"))
        return print_findings((*findings, wrong), options.format, options.report)
    before = render(inputs.resources, config, findings)
    manifest = config.generate.manifest._replace(keep="none")
    after = render(inputs.resources, config._replace(generate=config.generate._replace(manifest=manifest)), findings)
    told: tuple[Finding, ...] = tuple(one for one in after.findings if one.severity != "info")
    if before.failed or after.failed:
        return print_findings(told, options.format, options.report)
    kept, left = (mapping(decode(one.manifest).get("Policies")) for one in (before, after))
    if options.cluster:
        told += _left_in_the_cluster(after, kept.keys() - left.keys())
    if not has_errors(told):
        write_out(after.manifest)
    summary = f"pruned {len(kept) - len(left)} of {len(kept)} policies\n" if not has_errors(told) else ""
    return print_findings(told, options.format, options.report, summary)


def _left_in_the_cluster(after: Any, old: set[str]) -> tuple[Any, ...]:
    """Return CC0733 for what is left of the earlier render, or why the cluster does not say."""
    from krm_function.operations.live_objects import read_namespaces

    texts = [text for text in after.texts if text is not None]
    workloads = [one for text in texts for one in select(parse(text).value).workloads]
    names = sorted({one.ref.namespace or "default" for one in workloads})
    read = read_namespaces(names, {(one.ref.api_version, one.ref.kind) for one in workloads if one.made_by})
    if read.objects is None or has_errors(read.findings):
        return read.findings
    found = earlier(read.objects, old, {one.runtime_class for one in workloads})
    if not found:
        return ()
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    named = ", ".join(f"{ref.kind}/{ref.namespace}/{ref.name}" for ref in found[:NAMED])
    return (finding("CC0733", count=len(found), names=named + more),)
