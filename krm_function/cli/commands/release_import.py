"""`contrast-krm release import`: files of a Contrast release in, a ContrastRelease out.

Rule of this file: one release is made of all files, or nothing is printed or written.
"""

import os
import re
from argparse import Namespace

from krm_function.cli.messages import print_findings
from krm_function.cli.new_files import missing_schemas, write_all
from krm_function.cli.parser import Parser, add_findings
from krm_function.cli.release_file import Before, parsed, read_before
from krm_function.cli.streams import write_out
from krm_function.config.json_schema import DIRECTORY, schema_file
from krm_function.config.release import VERSION, Release
from krm_function.config.release_files import Fact, facts_of
from krm_function.config.release_text import KIND, Combined, combine, missing, new_text, updated_text
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import FileProblem, read_file
from krm_function.hosts.write_files import is_stream, sweep
from krm_function.report.findings import on_one_line

DESCRIPTION = (
    "Takes runtime-*.yml, coordinator.yml, an image-replacements file, a manifest.json of `contrast generate`, the "
    "CLI's reference values, and an older ContrastRelease. Prints the result, unless -o is given."
)
LAST_VCPU = 220


def add_arguments(parser: Parser) -> None:
    """Add files, output, what the files do not say, findings."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="files of one release, in any order")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="",
        help="write this file; a ContrastRelease that is there is updated, its comments stay",
    )
    parser.add_argument(
        "--release", metavar="VERSION", default="", help="the release's version, if the images do not show it"
    )
    parser.add_argument(
        "--vcpus",
        metavar="N",
        type=int,
        default=0,
        help="the manifest.json was made for TDX pods with N vCPUs: take its RTMR0 for them",
    )
    add_findings(parser)


def run(options: Namespace) -> int:
    """Make or update a ContrastRelease. Raises FileProblem."""
    findings = [*_usage(options)]
    before, problems = read_before(options.output)
    findings += problems
    imported: list[Fact] = []
    for file in options.files:
        facts = facts_of(_read(file), file, options.vcpus)
        imported += facts.facts
        findings += facts.findings
    if not has_errors(findings):
        combined = combine(imported, before.facts, options.release)
        findings += combined.findings
        if not has_errors(findings):
            return _finish(combined, before, options, findings)
    return print_findings(findings, options.format, options.report)


def _finish(combined: Combined, before: Before, options: Namespace, findings: list[Finding]) -> int:
    """Check the text, write it, and print what was done."""
    as_stream = not options.output or is_stream(options.output)
    schema = "" if as_stream else schema_file(KIND)
    new = before.document is None
    data = (
        new_text(combined, schema) if before.document is None else updated_text(combined, before.data, before.document)
    )
    release, problems = parsed(data, combined)
    findings += problems
    if release is None:
        return print_findings(findings, options.format, options.report)
    findings += missing(release)
    summary = f"release {release.version}: {_names(release)}; {_count(len(release.images))}\n"
    if not options.output:
        write_out(data)
    elif as_stream:
        write_all({options.output: data})
    elif data == before.data:
        sweep([options.output])
        summary += f"{on_one_line(options.output)} says so already\n"
    else:
        copies = missing_schemas(os.path.dirname(options.output), [KIND]) if new else {}
        write_all(copies | {options.output: data})
        summary += f"{'wrote' if new else 'updated'} {on_one_line(options.output)}\n"
        if copies:
            where = os.path.join(os.path.dirname(options.output), DIRECTORY)
            summary += f"made {on_one_line(where)}: its JSON Schema, for editors\n"
    return print_findings(findings, options.format, options.report, summary)


def _count(images: int) -> str:
    return f"{images} image{'' if images == 1 else 's'}"


def _names(release: Release) -> str:
    return ", ".join(release.platforms) or "no platform"


def _usage(options: Namespace) -> list[Finding]:
    """Return what is wrong with the options."""
    findings: list[Finding] = []
    if options.release and not re.fullmatch(VERSION, options.release):
        findings.append(finding("CC0909.version", option="--release"))
    if options.vcpus and not 1 <= options.vcpus <= LAST_VCPU:
        findings.append(finding("CC0909.vcpus", option="--vcpus", limit=LAST_VCPU))
    return findings


def _read(path: str) -> bytes:
    """Read one file. Raises FileProblem, also for a directory: a manifest.json in it would be passed over."""
    if os.path.isdir(path):
        raise FileProblem(path, "is a directory; name the files in it")
    return read_file(path)
