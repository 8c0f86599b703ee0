"""`contrast-krm why`: why a pod does not start, and the remedy.

Rule of this file: it reads and writes nothing but standard output; exit code 0 for a running pod, 1 for a cause.
"""

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from krm_function.check.output import parse_output
from krm_function.cli.exits import exit_code
from krm_function.cli.inputs import read_inputs
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_findings, add_output_format, add_paths
from krm_function.cli.streams import write_out
from krm_function.findings import Finding, Ref, has_errors
from krm_function.kubernetes.kinds import CATALOGUED, KINDS
from krm_function.kubernetes.pod_kinds import shipped
from krm_function.operations.diagnosis import diagnosis_json, diagnosis_text, state_of, why
from krm_function.operations.evidence import gather, parse_address

DESCRIPTION = (
    "Reads the cluster with --cluster, or else the output of `kubectl get "
    "pod,rs,deploy,sts,ds,job,svc,cm,events -o yaml`. Exit code 1 if a cause is found, 0 if the pod runs."
)


def add_arguments(parser: Parser) -> None:
    """Add the pod, its source, output, findings."""
    parser.add_argument(
        "pod",
        metavar="POD",
        help="pod/NAME, KIND/NAME or KIND/NAMESPACE/NAME, such as deploy/web: for a workload, its pod in the "
        "worst state",
    )
    add_paths(parser, content="objects of the cluster")
    parser.add_argument(
        "--cluster",
        action="store_true",
        help="read the cluster of the current kubeconfig context (needs contrast-krm[cluster])",
    )
    parser.add_argument("--namespace", metavar="NAME", default="", help="namespace of the pod (--cluster: default)")
    add_output_format(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print why a pod does not start."""
    if options.cluster and options.paths:
        options.parser.error("--cluster and files exclude each other")
    objects, findings = _read_cluster(options) if options.cluster else _read_files(options)
    if not objects and has_errors(findings):
        return print_findings(findings, options.format, options.report)
    evidence = gather(objects, options.pod, options.namespace)
    if isinstance(evidence, Finding):
        return print_findings((*findings, evidence), options.format, options.report)
    causes = why(evidence)
    form = diagnosis_json if options.output == "json" else diagnosis_text
    write_out(form(evidence.ref, state_of(evidence), causes).encode("utf-8"))
    problems = findings if has_errors(causes) else ()  # a pod that runs needs no further objects
    return max(print_findings(problems, options.format, options.report), exit_code(causes))


def _read_files(options: Namespace) -> tuple[list[Any], tuple[Any, ...]]:
    inputs = read_inputs(options.paths)
    parsed = parse_output(inputs.resources, all_kinds=True)
    return [item.value for item in parsed.objects()], (*inputs.findings, *parsed.findings)


def _read_cluster(options: Namespace) -> tuple[list[Any], tuple[Any, ...]]:
    from krm_function.operations.live_objects import read_namespaces

    kind, group, namespace, _ = parse_address(options.pod, options.namespace)
    groups = [name for name in CATALOGUED.get(kind, ()) if group in ("", name) and (group or kind not in KINDS)]
    entries = [entry for name in groups if (entry := shipped(name, kind))]
    custom = [(f"{entry.group}/{version}", kind) for entry in entries for version in entry.versions]

    def choose(objects: Sequence[Any]) -> Ref | None:
        evidence = gather(objects, options.pod, options.namespace)
        return None if isinstance(evidence, Finding) or evidence.pod is None else evidence.ref

    read = read_namespaces((namespace or "default",), custom, choose)
    return list(read.objects or ()), read.findings
