"""`contrast-krm upgrade`: the way from the present Contrast release to another one, as waves with commands.

Rule of this file: it runs and writes nothing, and asks a cluster only with --cluster, for what each wave has reached.
"""

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from krm_function.cli.parser import Parser, add_config, add_findings, add_namespace, add_output_format, add_paths

if TYPE_CHECKING:
    from krm_function.cli.inputs import Inputs
    from krm_function.config.collect import Config
    from krm_function.config.release import Release
    from krm_function.findings import Finding
    from krm_function.operations.upgrade import Change, ClusterState, Places
    from krm_function.render.prepare import Prepared

DESCRIPTION = (
    "The way is from the ContrastRelease of the configuration to that of --to. Runtime, classes, manifest, coordinator "
    "and workloads follow each other so that no pod that restarts is refused."
)
NAMES = ("kubectl", "kustomize", "helm3", "helm4", "kpt", "argo-cd", "flux")


def add_arguments(parser: Parser) -> None:
    """Add inputs, configuration, the next release, hosts, the cluster, output, findings."""
    add_config(parser)
    add_namespace(parser)
    add_paths(parser, what="the input of the render, or rendered output")
    parser.add_argument(
        "--to", metavar="FILE", required=True, help="the next ContrastRelease, as contrast-krm release import writes it"
    )
    parser.add_argument(
        "--from",
        dest="before",
        metavar="FILE",
        default="",
        help="the present ContrastRelease, once the configuration has the next one (default: the configuration's)",
    )
    parser.add_argument(
        "--host",
        choices=NAMES,
        action="append",
        default=[],
        help="whose commands to print (repeatable; default: of those whose files are found, else of all)",
    )
    nodes = parser.add_mutually_exclusive_group()
    nodes.add_argument(
        "--nodes",
        metavar="FILE",
        action="append",
        default=[],
        help="what `kubectl get nodes -o yaml` printed (repeatable): which of them have the next runtime",
    )
    nodes.add_argument(
        "--cluster",
        action="store_true",
        help="also say which waves are done in the cluster of the current kubeconfig context",
    )
    add_output_format(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the plan. Raises FileProblem."""
    from krm_function.cli.inputs import read_inputs
    from krm_function.cli.messages import print_findings
    from krm_function.cli.render_inputs import configured
    from krm_function.cli.streams import write_out
    from krm_function.cli.upgrade_places import found_hosts, places_of
    from krm_function.findings import has_errors
    from krm_function.operations.upgrade import change_between, progress, upgrade_json, upgrade_text, waves
    from krm_function.render.prepare import prepare

    inputs = read_inputs(options.paths)
    config, findings = configured(options, inputs)
    after, problems = _release(options.to)
    before, wrong = _release(options.before) if options.before else (config and config.release, [])
    prepared = prepare(inputs.resources, config, findings, live=True)
    found = (*(one for one in prepared.log.located(config) if one.severity == "error"), *wrong, *problems)
    if config is None or before is None or after is None or has_errors(found):
        return print_findings(found, options.format, options.report)
    workloads, coordinator = _workloads(prepared, config)
    change, told = change_between(before, after, workloads, coordinator)
    if has_errors(told):
        return print_findings((*found, *told), options.format, options.report)
    places, directories = places_of(options, inputs, config, change)
    hosts = list(options.host) or found_hosts(directories, inputs.resources)
    cluster, asked = _cluster(options, inputs, change, places)
    seen, early = progress(change, cluster)
    planned = waves(change, places, hosts)
    form = upgrade_json if options.output == "json" else upgrade_text
    again = f"contrast-krm upgrade rendered.yaml {places.config} --from {places.before} --to {places.release} --cluster"
    write_out(form(change, planned, seen, again).encode("utf-8"))
    return print_findings((*found, *told, *asked, *early), options.format, options.report)


def _release(path: str) -> "tuple[Release | None, list[Finding]]":
    """Return the only ContrastRelease of a file. Raises FileProblem."""
    from krm_function.cli.configuration import from_files
    from krm_function.config.release import parse_release
    from krm_function.findings import finding, has_errors

    documents, problems = from_files([path])
    findings = [*problems]
    releases = []
    for document in documents:
        if isinstance(document.value, dict) and document.value.get("kind") == "ContrastRelease":
            release, wrong = parse_release(document)
            findings += wrong
            releases += [release] if release else []
    if not has_errors(findings) and len(releases) != 1:
        findings.append(
            finding("CC0904", kind="ContrastRelease", file=path) if releases else finding("CC0903", file=path)
        )
    return (releases[0] if len(releases) == 1 else None), findings


def _workloads(prepared: "Prepared", config: "Config") -> "tuple[list[tuple[Any, str]], Any]":
    """Return each workload with its platform, and the coordinator."""
    injected = prepared.injected
    if injected is None:
        return [], None
    named = [(workload.ref.whole, workload.platform) for workload in injected.workloads if workload.platform]
    chosen = next((workload.ref.whole for workload in injected.workloads if workload.is_chosen), None)
    spaces = config.generate.namespace
    return [(_placed(ref, spaces), platform) for ref, platform in dict(named).items()], chosen and _placed(
        chosen, spaces
    )


def _placed(ref: Any, namespace: str) -> Any:
    return ref if ref.namespace or not namespace else ref._replace(namespace=namespace)


def _cluster(
    options: Namespace, inputs: "Inputs", change: "Change", places: "Places"
) -> "tuple[ClusterState, tuple[Finding, ...]]":
    """Return what a cluster, or a file of nodes, shows of the waves."""
    from krm_function.cli.cluster import known_nodes, read_namespaces
    from krm_function.operations.upgrade import ClusterState

    nodes = known_nodes(options, inputs)
    state = ClusterState(nodes.nodes, nodes.classes, None, places.namespace)
    if not options.cluster or nodes.server is None:
        return state, nodes.findings
    from krm_function.kubernetes.kinds import KINDS

    custom = {(ref.api_version, ref.kind) for ref in change.workloads if ref.kind not in KINDS}
    read = read_namespaces(sorted({ref.namespace or places.namespace for ref in change.workloads}), custom)
    return state._replace(objects=read.objects), (*nodes.findings, *read.findings)
