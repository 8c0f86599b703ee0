"""`contrast-krm check`: verify rendered output against itself and its manifest, and against another render.

Rule of this file: a ResourceList on standard input is printed again, so that the command works in a pipe of KRM
functions: a host that reads an empty answer would delete everything.
"""

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from krm_function.check.check_output import Verdict, check_output, list_beside_summary
from krm_function.check.output import ManifestFile
from krm_function.cli.configuration import from_files_and_resources, overridden
from krm_function.cli.inputs import Inputs, ReadFile, output_of, read_inputs
from krm_function.cli.messages import Form, print_findings
from krm_function.cli.parser import Parser, add_findings, add_paths, add_render, add_strict
from krm_function.cli.sealed_policies import STRONGER_FINDING, weaker_findings
from krm_function.cli.streams import write_out
from krm_function.config.collect import Config, collect
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import read_file
from krm_function.hosts.functions import DecodedList, encode_failure
from krm_function.report.findings import krm_results, on_one_line

if TYPE_CHECKING:
    from krm_function.cli.attest import FilesRead

DESCRIPTION = (
    "Checks the resources that you will apply; needs no configuration. With a configuration it also "
    "renders again and compares, which finds changes that a policy cannot show, such as a removed command "
    "or a changed CPU limit on TDX."
)


def add_arguments(parser: Parser) -> None:
    """Add inputs, the manifest, the output to compare with, findings."""
    add_render(parser)
    add_paths(parser, content="rendered output")
    parser.add_argument("--manifest", metavar="FILE", default="", help="manifest.json, if it is not in the output")
    parser.add_argument(
        "--no-weaker",
        metavar="OLD",
        default="",
        help="earlier rendered output: every difference that makes a policy weaker is an error",
    )
    parser.add_argument(
        "--attestation",
        metavar="FILE",
        default="",
        help="also compare with a statement of --attest, bare, in an envelope or in a bundle; does not verify "
        "its signature",
    )
    parser.add_argument(
        "--verified",
        metavar="DIR",
        default="",
        help="also compare with the active manifest and initdata in the directory that contrast verify wrote",
    )
    parser.add_argument(
        "--input",
        metavar="PATH",
        action="append",
        default=[],
        help="file or directory that was rendered, to compare with --attestation (repeatable)",
    )
    parser.add_argument(
        "--cluster",
        action="store_true",
        help="also compare with the cluster of the current kubeconfig context (needs contrast-krm[cluster])",
    )
    add_strict(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Check rendered output."""
    if options.namespace and not options.config:
        options.parser.error("--namespace is for rendering again, under --config")
    if options.input and not options.attestation:
        options.parser.error("--input is for comparing with an attestation, under --attestation")
    inputs = read_inputs(options.paths)
    files_read = _files_read(options)
    config, findings = _read_config(
        options, inputs, files_read.reader("config") if files_read and options.config else read_file
    )
    file = ManifestFile(options.manifest, read_file(options.manifest)) if options.manifest else None
    live = None
    if options.cluster and not has_errors(findings):
        from krm_function.cli.cluster import live_cluster

        live = live_cluster().read_live(inputs.resources, config)
    elsewhere = live.digests if live else ()
    checked = Verdict() if has_errors(findings) else check_output(inputs.resources, file, config, elsewhere=elsewhere)
    findings += checked.findings
    line = ""
    if options.no_weaker and not has_errors(findings):
        findings += weaker_findings(options.no_weaker, output_of(inputs))
    if live and not has_errors(findings):
        compared, line = live.compared(checked.beside)
        findings += compared
    elif options.cluster:
        findings += (finding("CC1117.cluster"),)
        line = f"{findings[-1].message}\n"
    told = ""
    if files_read and not has_errors(inputs.findings):
        from krm_function.cli.attest import attestation_findings

        attested = attestation_findings(files_read, inputs.sources, inputs.resources, file, options.input)
        findings, told = _with_lines(findings, attested, options.format)
    if options.verified and (checked.manifest or not has_errors(findings)):
        from krm_function.cli.verified import verified_findings

        findings, compared_lines = _with_lines(
            findings, verified_findings(options.verified, checked.manifest), options.format
        )
        told += compared_lines
    for source in inputs.sources:
        if isinstance(source.decoded, DecodedList) and not source.file:
            write_out(encode_failure(source.decoded, krm_results(findings)))
    printed = list_beside_summary(findings, options.format.name)
    summary = checked.summary + line + told
    return print_findings(printed, options.format, options.report, summary, shown_info=STRONGER_FINDING)


def _read_config(options: Namespace, inputs: Inputs, read: ReadFile) -> tuple[Config | None, tuple[Finding, ...]]:
    """Return the configuration for rendering again, None unless the operator named one. read: reads its files."""
    if not options.config:
        return None, inputs.findings
    documents, findings = from_files_and_resources(options.config, inputs.resources, options.config_from, read)
    config, unmet = collect(documents)
    return overridden(config, options.namespace, strict=options.warnings_as_errors), inputs.findings + findings + unmet


def _files_read(options: Namespace) -> "FilesRead | None":
    if not options.attestation:
        return None
    from krm_function.cli.attest import FilesRead

    return FilesRead(options.attestation)


def _with_lines(
    findings: tuple[Finding, ...], compared: Sequence[Finding], form: Form
) -> tuple[tuple[Finding, ...], str]:
    """Add the findings of one option; in the text format, its infos become lines of the summary instead."""
    infos = [problem for problem in compared if problem.severity == "info" and form.name == "text"]
    lines = [f"{on_one_line(f'{problem.file}: {problem.message}')}\n" for problem in infos]
    return (*findings, *(problem for problem in compared if problem not in infos)), "".join(lines)
