"""`contrast-krm manifest keep`: a manifest as the base of the next render, which keeps its policies.

Rule of this file: the ContrastGenerate gains two fields, or loses one; nothing else is written.
"""

from argparse import Namespace

from krm_function.cli.inputs import manifest_among, read_rendered_output
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_findings, add_paths
from krm_function.config.edit import with_kept_base, without_keep
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import read_file
from krm_function.hosts.write_files import NewFile, write_files
from krm_function.report.findings import on_one_line

DESCRIPTION = (
    "Writes spec.manifest.base and keep: previous into the ContrastGenerate of a file, so that pods of the earlier "
    "render may restart while the next one rolls out; --end takes keep out again."
)


def add_arguments(parser: Parser) -> None:
    """Add rendered output, the file to change, findings."""
    add_paths(parser, content="rendered output, such as what is deployed")
    parser.add_argument(
        "--in", dest="into", metavar="FILE", required=True, help="the file with the ContrastGenerate to change"
    )
    parser.add_argument("--end", action="store_true", help="remove keep; the base stays")
    add_findings(parser)


def run(options: Namespace) -> int:
    """Change the file. Raises FileProblem."""
    if options.end and options.paths:
        options.parser.error("--end reads no rendered output")
    findings: tuple[Finding, ...] = ()
    manifest = ""
    if not options.end:
        output = read_rendered_output(options.paths)
        manifest, problems = manifest_among(output)
        findings = (*output.findings, *problems)
    if has_errors(findings):
        return print_findings(findings, options.format, options.report)
    data = read_file(options.into)
    try:
        changed = without_keep(data) if options.end else with_kept_base(data, manifest)
    except ValueError as problem:
        refusal = finding("CC0909.add-to", option="--in", file=options.into, error=str(problem))
        return print_findings((*findings, refusal), options.format, options.report)
    write_files([NewFile(options.into, changed, old=data)])
    done = "spec.manifest.keep is gone from" if options.end else "spec.manifest.base and keep: previous are in"
    return print_findings(findings, options.format, options.report, f"{on_one_line(f'{done} {options.into}')}\n")
