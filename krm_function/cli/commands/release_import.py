"""`contrast-krm release import`: files of a Contrast release in, a ContrastRelease out.

Rule of this file: all files make one release, or nothing is printed or written.
"""

import os
import re
from argparse import Namespace
from collections.abc import Sequence

from krm_function.cli.configuration import as_configuration, from_resources
from krm_function.cli.messages import print_findings
from krm_function.cli.new_files import missing_schemas, write_all
from krm_function.cli.parser import Parser, add_findings, add_output_file
from krm_function.cli.streams import read_in, write_out
from krm_function.config.json_schema import DIRECTORY, schema_file
from krm_function.config.release import VERSION, Release, parse_release
from krm_function.config.release_files import Fact, facts_of
from krm_function.config.release_text import (
    KIND,
    Combined,
    Existing,
    combine,
    existing,
    known_facts,
    missing,
    new_text,
    updated_text,
)
from krm_function.contrast.manifest import PRODUCTS
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import FileProblem, read_file
from krm_function.hosts.stream import decode_stream
from krm_function.hosts.write_files import is_stream, sweep
from krm_function.kubernetes.resource import yaml_finding
from krm_function.record import NamedTuple
from krm_function.report.findings import on_one_line
from krm_function.text.errors import YamlError

DESCRIPTION = (
    "Takes the output of `contrast --version`, runtime-*.yml, coordinator.yml, a manifest.json of `contrast generate`, "
    "resources that it changed, image replacements, and the CLI's reference values. Prints the result, unless -o is "
    "given."
)
LAST_VCPU = 220


def add_arguments(parser: Parser) -> None:
    """Add files, output, values that the files lack, findings."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="files of one release, in any order, or -")
    add_output_file(parser, "write this file; an existing ContrastRelease is updated and keeps its comments")
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
    findings = [*_check_usage(options)]
    current, problems = read_before(options.output)
    findings += problems
    imported: list[Fact] = []
    for file in options.files:
        facts = facts_of(_read_release_file(file), "standard input" if file == "-" else file, options.vcpus)
        imported += facts.facts
        findings += facts.findings
    if not has_errors(findings):
        combined = combine(imported, current.facts, options.release)
        findings += combined.findings
        if not has_errors(findings):
            return _finish(combined, current, options, findings)
    return print_findings(findings, options.format, options.report)


# --- The file that an import updates, and checks before it writes
#
# Rule: the parser of every render reads the new text before it is written, so a render accepts each imported file.


class Before(NamedTuple):
    """The file to update, if it exists. document: its ContrastRelease."""

    data: bytes = b""
    document: Existing | None = None
    facts: tuple[Fact, ...] = ()


def read_before(path: str) -> tuple[Before, Sequence[Finding]]:
    """Return the content of the output file. Raises FileProblem, also if its directory does not exist."""
    if not os.path.isdir(directory := os.path.dirname(path) or "."):
        raise FileProblem(path, f"there is no directory {directory}", writing=True)
    if not path or not os.path.lexists(path) or is_stream(path):
        return Before(), ()
    data = read_file(path)
    try:
        document = existing(data)
        read, problems = from_resources(decode_stream(data, path).resources)
    except YamlError as problem:
        return Before(), [as_configuration(yaml_finding(problem, path))]
    except ValueError as problem:
        return Before(), [finding("CC0909.releases", option="--output", file=path, error=str(problem))]
    if document is None:
        return Before(), [finding("CC0909.no-release", option="--output", file=path)]
    findings = [*problems]
    for release in read:
        if isinstance(release.value, dict) and release.value.get("kind") == KIND:
            findings += parse_release(release._replace(file=path))[1]
    value, chunk = document
    facts = () if has_errors(findings) else known_facts(value, path, chunk.line)
    return Before(data, document, facts), findings


def parsed(data: bytes, combined: Combined) -> tuple[Release | None, list[Finding]]:
    """Return the release as a render would read it; a problem names the file that its value came from."""
    read, _ = from_resources(decode_stream(data).resources)
    (document,) = [document for document in read if document.value["kind"] == KIND]
    release, problems = parse_release(document._replace(locate=None))
    findings = []
    for problem in problems:
        facts = (fact for fact in combined.facts.values() if _is_about(fact, problem))
        fact = next(facts, None)
        place = {"file": fact.file, "line": fact.line} if fact else {"line": 0}
        findings.append(problem._replace(**place))
    return release, findings


def _is_about(fact: Fact, problem: Finding) -> bool:
    """Tell whether a finding at `spec.platforms.x.referenceValues.snp.0.APEIP` is about a fact with these names."""
    names = [part for part in problem.path if part not in {"spec", "referenceValues"}]
    of_fact = [part for part in fact.path if part not in {*PRODUCTS, ""}]
    if "snp" in names or "tdx" in names:
        names = [part for place, part in enumerate(names) if not (isinstance(part, int) and place == 3)]
    return bool(names) and of_fact[: len(names)] == names[: len(of_fact)]


# --- A call of `release import`


def _finish(combined: Combined, current: Before, options: Namespace, findings: list[Finding]) -> int:
    as_stream = not options.output or is_stream(options.output)
    schema = "" if as_stream else schema_file(KIND)
    new = current.document is None
    data = (
        new_text(combined, schema)
        if current.document is None
        else updated_text(combined, current.data, current.document)
    )
    release, problems = parsed(data, combined)
    findings += problems
    findings += missing(release) if release else ()
    if release is None or has_errors(findings):
        return print_findings(findings, options.format, options.report)
    images = f"{len(release.images)} image{'' if len(release.images) == 1 else 's'}"
    summary = f"release {release.version}: {', '.join(release.platforms) or 'no platform'}; {images}\n"
    if not options.output:
        write_out(data)
    elif as_stream:
        write_all({options.output: data})
    elif data == current.data:
        sweep([options.output])
        summary += f"{on_one_line(options.output)} says so already\n"
    else:
        copies = missing_schemas(os.path.dirname(options.output), [KIND]) if new else {}
        write_all(copies | {options.output: data}, old={} if new else {options.output: current.data})
        summary += f"{'wrote' if new else 'updated'} {on_one_line(options.output)}\n"
        if copies:
            where = os.path.join(os.path.dirname(options.output), DIRECTORY)
            summary += f"created {on_one_line(where)}: its JSON Schema, for editors\n"
    return print_findings(findings, options.format, options.report, summary)


def _check_usage(options: Namespace) -> list[Finding]:
    findings: list[Finding] = []
    if options.release and not re.fullmatch(VERSION, options.release):
        findings.append(finding("CC0909.version", option="--release"))
    if options.vcpus and not 1 <= options.vcpus <= LAST_VCPU:
        findings.append(finding("CC0909.vcpus", option="--vcpus", limit=LAST_VCPU))
    return findings


def _read_release_file(path: str) -> bytes:
    """Read one file. Raises FileProblem, also for a directory: a manifest.json in it would be ignored."""
    if path == "-":
        return read_in()
    if os.path.isdir(path):
        raise FileProblem(path, "is a directory; name the files in it")
    return read_file(path)
