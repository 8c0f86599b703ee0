"""`contrast-krm guard`: admission policies for a cluster, for the one who owns it.

Rule of this file: what is printed depends on the configuration alone, or with --sealed on rendered output alone; no
cluster is asked.
"""

from argparse import Namespace
from typing import TYPE_CHECKING

from krm_function.cli.parser import Parser, add_config, add_findings

if TYPE_CHECKING:
    from krm_function.findings import Finding
    from krm_function.operations.guard_cel import Json

DESCRIPTION = (
    "Prints ValidatingAdmissionPolicies with their bindings: the API server then refuses placeholders, Contrast pods "
    "without a policy, and plain pods in namespaces with the label guard.contrast-krm.dev/pods: confidential. They "
    "belong to the whole cluster: apply them once. They stop honest mistakes, not whoever operates the API server."
)
NAME = "sealed-containers"


def add_arguments(parser: Parser) -> None:
    """Add configuration, what is printed, output, findings."""
    add_config(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--warn", action="store_true", help="warn, and write into the audit log, but refuse nothing")
    what.add_argument(
        "--sealed",
        metavar="FILE",
        action="append",
        default=[],
        help="print ConfigMaps instead, with the containers of this rendered output, for the policy that compares "
        "them; apply them with it (file, directory or -; repeatable)",
    )
    parser.add_argument(
        "--name", metavar="NAME", default=NAME, help=f"name of these ConfigMaps, one of each release (default: {NAME})"
    )
    parser.add_argument("-o", "--output", metavar="FILE", default="", help="write this file (default: standard output)")
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print the objects as YAML documents. Raises FileProblem."""
    from krm_function.cli.messages import print_findings
    from krm_function.cli.streams import write_out
    from krm_function.findings import has_errors
    from krm_function.hosts.stream import Stream, encode_stream
    from krm_function.hosts.write_files import write_file

    objects, findings = _sealed(options) if options.sealed else _policies(options)
    if not has_errors(findings):
        data = encode_stream(Stream(()), (), objects)
        if options.output:
            write_file(options.output, data)
        else:
            write_out(data)
    return print_findings(findings, options.format, options.report)


def _policies(options: Namespace) -> "tuple[tuple[Json, ...], tuple[Finding, ...]]":
    """Return the policies for the kinds that are known with the configuration."""
    from krm_function.cli.configuration import configured_kinds
    from krm_function.operations.guard import guard

    kinds, findings = configured_kinds(options.config)
    made = guard(kinds, warn=options.warn)
    return made.objects, (*findings, *made.findings)


def _sealed(options: Namespace) -> "tuple[tuple[Json, ...], tuple[Finding, ...]]":
    """Return the ConfigMaps about rendered output."""
    from krm_function.check.output import parse_output
    from krm_function.cli.configuration import configured_kinds
    from krm_function.cli.inputs import read_inputs
    from krm_function.findings import finding
    from krm_function.kubernetes.lookup import is_dns_subdomain
    from krm_function.kubernetes.objects import reference
    from krm_function.kubernetes.resource import knowing
    from krm_function.kubernetes.workload import workloads_of
    from krm_function.operations.guard import config_maps

    if not is_dns_subdomain(options.name):
        return (), (finding("CC1372", name=options.name),)
    kinds, problems = configured_kinds(options.config)
    inputs = read_inputs(options.sealed)
    output = parse_output(knowing(inputs.resources, kinds))
    workloads = [
        workload
        for resource, root, _, value in output.objects()
        for workload in workloads_of(value, root, reference(value), resource)
    ]
    objects = config_maps(workloads, options.name)
    nothing = () if objects else (finding("CC1371"),)
    return objects, (*problems, *inputs.findings, *output.findings, *nothing)
