"""`contrast-krm release import`: files of a Contrast release in, a ContrastRelease out.

Rule of this file: what is printed or written has been read by the parser of every render first, so an import can leave
no file that a render would refuse.
"""

import os
import re
from argparse import Namespace
from collections.abc import Sequence

from krm_function.api import Release, parse_release
from krm_function.api.modeline import schema_file
from krm_function.api.release import VERSION
from krm_function.cli.configuration import as_configuration, from_resources
from krm_function.cli.say import complain
from krm_function.cli.schema_copies import missing_schemas, write_all
from krm_function.cli.streams import write_out
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import FileProblem, read_file
from krm_function.hosts.leftovers import sweep
from krm_function.hosts.stream import decode_stream
from krm_function.model.located import yaml_finding
from krm_function.record import NamedTuple
from krm_function.release import Combined, Fact, combine, existing, facts_of, missing, new_text, updated_text
from krm_function.release.known import known_facts
from krm_function.release.text import KIND, Existing
from krm_function.report.order import escape
from krm_function.yamltext import YamlError

LAST_VCPU = 220


class Before(NamedTuple):
    """The file that is to be updated, as far as there is one. document: its ContrastRelease."""

    data: bytes = b""
    document: Existing | None = None
    facts: tuple[Fact, ...] = ()


def run_release_import(options: Namespace) -> int:
    """Make or update a ContrastRelease. Raises FileProblem."""
    findings = [*_usage(options)]
    before, problems = _before(options.output)
    findings += problems
    told: list[Fact] = []
    for file in options.files:
        facts = facts_of(_read(file), file, options.vcpus)
        told += facts.facts
        findings += facts.findings
    if not has_errors(findings):
        combined = combine(told, before.facts, options.release)
        findings += combined.findings
        if not has_errors(findings):
            return _finish(combined, before, options, findings)
    return complain(findings, options.format, options.report)


def _finish(combined: Combined, before: Before, options: Namespace, findings: list[Finding]) -> int:
    """Check, write and tell."""
    schema = schema_file(KIND) if options.output else ""
    new = before.document is None
    data = (
        new_text(combined, schema) if before.document is None else updated_text(combined, before.data, before.document)
    )
    release, problems = _parsed(data, combined)
    findings += problems
    if release is None:
        return complain(findings, options.format, options.report)
    findings += missing(release)
    said = f"release {release.version}: {_names(release)}; {_count(len(release.images))}\n"
    if not options.output:
        write_out(data)
    elif data == before.data:
        sweep([options.output])
        said += f"{escape(options.output)} says so already\n"
    else:
        copies = missing_schemas(os.path.dirname(options.output), [KIND]) if new else {}
        write_all(copies | {options.output: data})
        said += f"{'wrote' if new else 'updated'} {escape(options.output)}\n"
    return complain(findings, options.format, options.report, said)


def _count(images: int) -> str:
    return f"{images} image{'' if images == 1 else 's'}"


def _names(release: Release) -> str:
    return ", ".join(release.platforms) or "no platform"


def _usage(options: Namespace) -> list[Finding]:
    findings: list[Finding] = []
    if options.release and not re.fullmatch(VERSION, options.release):
        findings.append(finding("CC0909.version", option="--release"))
    if options.vcpus and not 1 <= options.vcpus <= LAST_VCPU:
        findings.append(finding("CC0909.vcpus", option="--vcpus", limit=LAST_VCPU))
    return findings


def _before(path: str) -> tuple[Before, Sequence[Finding]]:
    """What is in the output file."""
    if not path or not os.path.lexists(path):
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
    for one in read:
        if isinstance(one.value, dict) and one.value.get("kind") == KIND:
            findings += parse_release(one._replace(file=path))[1]
    facts = () if has_errors(findings) else known_facts(document.value, path, document.line)
    return Before(data, document, facts), findings


def _read(path: str) -> bytes:
    """One file. Raises FileProblem, also for a directory: a manifest.json in it would be passed over."""
    if os.path.isdir(path):
        raise FileProblem(path, "is a directory; name the files in it")
    return read_file(path)


def _parsed(data: bytes, combined: Combined) -> tuple[Release | None, list[Finding]]:
    """The release as a render would read it; a fault is told of the file that it came from."""
    read, _ = from_resources(decode_stream(data).resources)
    (document,) = [one for one in read if one.value["kind"] == KIND]
    release, problems = parse_release(document._replace(locate=None))
    findings = []
    for problem in problems:
        fact = next((one for one in combined.facts.values() if _is_about(one, problem)), None)
        place = {"file": fact.file, "line": fact.line} if fact else {"line": 0}
        findings.append(problem._replace(**place))
    return release, findings


def _is_about(fact: Fact, problem: Finding) -> bool:
    """Whether a finding at `spec.platforms.x.referenceValues.snp.0.APEIP` is about a fact with these names."""
    names = [part for part in problem.path if part not in {"spec", "referenceValues"}]
    wanted = [part for part in fact.path if part not in {"Milan", "Genoa", ""}]
    if "snp" in names or "tdx" in names:
        names = [part for place, part in enumerate(names) if not (isinstance(part, int) and place == 3)]
    return bool(names) and wanted[: len(names)] == names[: len(wanted)]
