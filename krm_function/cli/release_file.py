"""The file of `release import`: read the ContrastRelease it has, and check the one to write.

Rule of this file: what is written has been read by the parser of every render first, so an import can leave no file
that a render would refuse.
"""

import os
from collections.abc import Sequence

from krm_function.cli.configuration import as_configuration, from_resources
from krm_function.config.release import Release, parse_release
from krm_function.config.release_files import Fact
from krm_function.config.release_text import KIND, Combined, Existing, existing, known_facts
from krm_function.contrast.manifest import PRODUCTS
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import read_file
from krm_function.hosts.stream import decode_stream
from krm_function.hosts.write_files import is_stream
from krm_function.kubernetes.resource import yaml_finding
from krm_function.record import NamedTuple
from krm_function.text.errors import YamlError


class Before(NamedTuple):
    """The file that is to be updated, as far as there is one. document: its ContrastRelease."""

    data: bytes = b""
    document: Existing | None = None
    facts: tuple[Fact, ...] = ()


def read_before(path: str) -> tuple[Before, Sequence[Finding]]:
    """Return what is in the output file."""
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
    (document,) = [one for one in read if one.value["kind"] == KIND]
    release, problems = parse_release(document._replace(locate=None))
    findings = []
    for problem in problems:
        fact = next((one for one in combined.facts.values() if _is_about(one, problem)), None)
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
