"""`contrast-krm release show`: prints a ContrastRelease, for people and for machines.

Rule of this file: it shows exactly what the parser of every render has read.
"""

from argparse import Namespace

from krm_function.cli.configuration import from_resources
from krm_function.cli.inputs import read_inputs
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_findings, add_output_format, add_paths
from krm_function.cli.streams import write_out
from krm_function.config.release import parse_release, profile_of
from krm_function.config.release_text import missing
from krm_function.findings import finding, has_errors
from krm_function.report.release_forms import release_json, release_text

DESCRIPTION = ""


def add_arguments(parser: Parser) -> None:
    """Add inputs, output, findings."""
    add_paths(parser)
    add_output_format(parser)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print a summary of the one ContrastRelease of the input."""
    inputs = read_inputs(options.paths)
    documents, problems = from_resources(inputs.resources)
    findings = [*inputs.findings, *problems]
    releases = []
    for document in documents:
        if isinstance(document.value, dict) and document.value.get("kind") == "ContrastRelease":
            release, problems = parse_release(document)
            findings += problems
            releases += [release] if release else []
    if not has_errors(findings):
        if len(releases) == 1:
            text = release_json(releases[0]) if options.output == "json" else release_text(releases[0])
            write_out(text.encode())
            findings += [*missing(releases[0]), *profile_of(releases[0])[1]]
        else:
            hint = "name the file that has it; `contrast-krm release import` makes one"
            none = finding("CC0903")._replace(hint=hint)
            findings.append(finding("CC0904", kind="ContrastRelease") if releases else none)
    return print_findings(findings, options.format, options.report)
