"""`contrast-krm upgrade`: from the present Contrast release to another one, as waves with commands.

Rule of this file: it runs and writes nothing, and asks a cluster only with --cluster, for the progress of each wave.
"""

import os
import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from krm_function.cli.cluster import known_nodes
from krm_function.cli.configuration import from_files
from krm_function.cli.inputs import Inputs, read_inputs
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_findings, add_output_format, add_paths, add_render
from krm_function.cli.render_inputs import configured
from krm_function.cli.streams import write_out
from krm_function.config.collect import Config
from krm_function.config.release import Release, parse_release
from krm_function.config.wiring import KPTFILE, KUSTOMIZATIONS
from krm_function.findings import Finding, Ref, finding, has_errors
from krm_function.hosts.files import CHART
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import dig, mapping, reference
from krm_function.kubernetes.resource import Resource
from krm_function.kubernetes.workload import Workload, has_frozen_template
from krm_function.operations.upgrade import (
    HOSTS,
    Change,
    ClusterState,
    HostName,
    Places,
    change_between,
    progress,
    upgrade_json,
    upgrade_text,
    waves,
)
from krm_function.render.prepare import prepare

DESCRIPTION = (
    "The upgrade goes from the ContrastRelease of the configuration to the one of --to. Runtime, classes, "
    "manifest, coordinator and workloads follow each other so that a pod that restarts is never refused."
)


def add_arguments(parser: Parser) -> None:
    """Add inputs, configuration, the next release, hosts, the cluster, output, findings."""
    add_render(parser)
    add_paths(parser, content="the input of the render, or rendered output")
    parser.add_argument(
        "--to", metavar="FILE", required=True, help="the next ContrastRelease, as contrast-krm release import writes it"
    )
    parser.add_argument(
        "--from",
        dest="before",
        metavar="FILE",
        default="",
        help="the current ContrastRelease, once the configuration has the next one (default: the configuration's)",
    )
    parser.add_argument(
        "--host",
        choices=tuple(HOSTS),
        action="append",
        default=[],
        help="the tool whose commands to print (repeatable; default: the tools whose files are found, else all)",
    )
    nodes = parser.add_mutually_exclusive_group()
    nodes.add_argument(
        "--nodes",
        metavar="FILE",
        action="append",
        default=[],
        help="output of `kubectl get nodes -o yaml` (repeatable), to see which nodes have the next runtime",
    )
    nodes.add_argument(
        "--cluster",
        action="store_true",
        help="also show which waves are done in the cluster of the current kubeconfig context",
    )
    add_output_format(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the plan. Raises FileProblem."""
    inputs = read_inputs(options.paths)
    config, findings = configured(options, inputs)
    following, problems = _read_release(options.to)
    present, present_problems = _read_release(options.before) if options.before else (config and config.release, [])
    prepared = prepare(inputs.resources, config, findings, live=True)
    errors = (
        *(
            problem
            for problem in prepared.log.reported(config)
            if problem.severity == "error" or problem.code == "CC0122"
        ),
        *present_problems,
        *problems,
    )
    if config is None or present is None or following is None or has_errors(errors):
        return print_findings(errors, options.format, options.report)
    workloads = [_place(workload, config) for workload in prepared.injected.workloads] if prepared.injected else []
    platforms = {workload.ref.whole: workload.platform for workload in workloads if workload.platform}
    coordinator = next((workload.ref.whole for workload in workloads if workload.is_chosen), None)
    change, told = change_between(present, following, list(platforms.items()), coordinator)
    change = change._replace(jobs=tuple(workload.ref for workload in workloads if has_frozen_template(workload)))
    if has_errors(told):
        return print_findings((*errors, *told), options.format, options.report)
    places, directories = places_of(options, inputs, config, change)
    hosts = list(options.host) or found_hosts(directories, inputs.resources)
    cluster, asked = _read_cluster(options, inputs, change, places)
    seen, early = progress(change, cluster)
    planned = tuple(waves(change, places, hosts))
    form = upgrade_json if options.output == "json" else upgrade_text
    again = (
        f"contrast-krm upgrade rendered.yaml {places.config} --from {places.earlier} --to {places.release} --cluster"
    )
    write_out(form(change, planned, seen, again).encode("utf-8"))
    return print_findings((*errors, *told, *asked, *early), options.format, options.report)


def _read_release(path: str) -> tuple[Release | None, list[Finding]]:
    documents, problems = from_files([path])
    findings = [*problems]
    releases = []
    for document in documents:
        if isinstance(document.value, dict) and document.value.get("kind") == "ContrastRelease":
            release, release_problems = parse_release(document)
            findings += release_problems
            releases += [release] if release else []
    if not has_errors(findings) and len(releases) != 1:
        findings.append(
            finding("CC0904", kind="ContrastRelease", file=path) if releases else finding("CC0903", file=path)
        )
    return (releases[0] if len(releases) == 1 else None), findings


def _place(workload: Workload, config: Config) -> Workload:
    """Return a workload with the namespace that the configuration gives to one without."""
    ref = workload.ref
    return workload._replace(ref=ref._replace(namespace=ref.namespace or config.generate.namespace))


def _read_cluster(
    options: Namespace, inputs: Inputs, change: Change, places: Places
) -> tuple[ClusterState, tuple[Finding, ...]]:
    nodes = known_nodes(options, inputs)
    state = ClusterState(nodes.nodes, nodes.classes, None, places.namespace)
    if not options.cluster or nodes.server is None:
        return state, nodes.findings
    from krm_function.operations.live_objects import read_namespaces

    custom = {(ref.api_version, ref.kind) for ref in change.workloads if ref.kind not in KINDS}
    read = read_namespaces(sorted({ref.namespace or places.namespace for ref in change.workloads}), custom)
    return state._replace(objects=read.objects), (*nodes.findings, *read.findings)


# --- Find the hosts of a deployment, by the files beside its configuration and input
#
#     there is                                                  hosts
#     kustomization.yaml, .yml, Kustomization                   kustomize
#     Kptfile                                                   kpt
#     Chart.yaml, or the comment of Helm in the input           helm3, helm4
#     an object of argoproj.io; of *.toolkit.fluxcd.io          argo-cd; flux
#     none of these                                             all
#
# Rule: only names of files and headers of documents count.


HELM = "# Source: "  # what helm template writes in front of each document
OF_COORDINATOR = ("StatefulSet", "ServiceAccount", "Role", "RoleBinding", "Service")  # of a release's coordinator.yml
GROUPS: tuple[tuple[str, HostName], ...] = (("argoproj.io/", "argo-cd"), (".toolkit.fluxcd.io/", "flux"))


def found_hosts(directories: Sequence[str], resources: Sequence[Resource]) -> list[HostName]:
    """Return the hosts in the order of the table of hosts."""
    used = {*_find_by_files(directories), *_find_by_resources(resources)}
    return [name for name in HOSTS if name in used] or [*HOSTS]


def directory_with(names: Sequence[str], directories: Sequence[str]) -> str:
    """Return the first directory with a file of one of these names, "" if there is none."""
    files = ((directory, os.path.join(directory, name)) for directory in directories for name in names)
    return next((directory for directory, path in files if os.path.isfile(path)), "")


def _find_by_files(directories: Sequence[str]) -> Iterator[HostName]:
    if directory_with(KUSTOMIZATIONS, directories):
        yield "kustomize"
    if directory_with((KPTFILE,), directories):
        yield "kpt"
    if directory_with((CHART,), directories):
        yield from ("helm3", "helm4")


def _find_by_resources(resources: Sequence[Resource]) -> Iterator[HostName]:
    for resource in resources:
        if not resource.file and any(line.startswith(HELM) for line in resource.text.splitlines()[:3]):
            yield from ("helm3", "helm4")
        for group, name in GROUPS:
            if resource.certain and group in resource.api_version and resource.kind not in ("Rollout", "Workflow"):
                yield name


# --- The words of a call of `upgrade`, for the commands that it prints: paths, files of the configuration, names
#
# Rule: every word is quoted for a shell; an unknown one is a word in capitals, which the reader replaces.


def places_of(options: Namespace, inputs: Inputs, config: Config, change: Change) -> tuple[Places, list[str]]:
    """Return the words of a call, and the directories that it names."""
    paths_of_call = [*options.config, *options.paths]
    directories = [
        path if os.path.isdir(path) else os.path.dirname(path) or "." for path in paths_of_call if path != "-"
    ]
    files = {
        str(document.value.get("kind")): document.file
        for document in from_files(options.config)[0]
        if isinstance(document.value, dict)
    }
    files |= {
        resource.kind: resource.file for resource in inputs.resources if resource.file and resource.kind not in files
    }
    spaces = sorted({ref.namespace for ref in change.workloads if ref.namespace})
    holder = _find_object(inputs, change.coordinator)
    quoted = [shlex.quote(path) for path in options.config]
    places = Places(
        paths=shlex.join(options.paths) or "RESOURCES",
        config=" ".join(f"--config {path}" for path in quoted) or "--config CONFIG",
        configured=tuple(quoted) or ("CONFIG",),
        generate=shlex.quote(files.get("ContrastGenerate") or "contrast.yaml"),
        release=shlex.quote(files.get("ContrastRelease") or "release.yaml"),
        lock=shlex.quote(files.get("ImageLock") or "images.yaml"),
        next_release=shlex.quote(options.to),
        namespace=shlex.quote(
            (change.coordinator.namespace if change.coordinator else (spaces or [""])[0]) or "default"
        ),
        directory=shlex.quote(directory_with((*KUSTOMIZATIONS, KPTFILE), directories) or "OVERLAY"),
        chart=shlex.quote(directory_with((CHART,), directories) or "CHART"),
        label=shlex.quote(label) if holder and (label := _find_label(inputs, holder[0])) else "",
        earlier=shlex.quote(options.before) if options.before else "earlier-release.yaml",
        emits=config.generate.runtime_classes == "emit",
    )
    if holder and holder[1] and _holds_coordinator_alone(inputs, holder):
        places = places._replace(coordinator_file=shlex.quote(holder[1]))
    return places, directories


def _list_values(inputs: Inputs) -> Iterator[tuple[Any, str]]:
    return ((item.value, resource.file) for resource in inputs.resources for item in resource.objects)


def _find_object(inputs: Inputs, ref: Ref | None) -> tuple[Any, str] | None:
    items = ((item, reference(item[0])) for item in (_list_values(inputs) if ref else ()))
    return next(
        (item for item, found_ref in items if ref and (found_ref.kind, found_ref.name) == (ref.kind, ref.name)), None
    )


def _holds_coordinator_alone(inputs: Inputs, holder: tuple[Any, str]) -> bool:
    """Tell whether a file has only objects of the kinds and names of a release's coordinator.yml."""
    name = reference(holder[0]).name
    refs = [reference(value) for value, file in _list_values(inputs) if file == holder[1]]
    return all(ref.kind in OF_COORDINATOR and ref.name in {name, f"{name}-ready"} for ref in refs)


def _find_label(inputs: Inputs, holder: Any) -> str:
    """Return a label that only the coordinator's own object has, "" if there is none."""
    other_labels: Sequence[Any] = [
        mapping(dig(value, ("metadata", "labels")))
        for value, _ in _list_values(inputs)
        if reference(value).kind in KINDS and reference(value) != reference(holder)
    ]
    for key, value in mapping(dig(holder, ("metadata", "labels"))).items():
        if isinstance(value, str) and not any(labels.get(key) == value for labels in other_labels):
            return f"{key}={value}"
    return ""
