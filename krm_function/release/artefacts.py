"""Classify a release file by content, never by file name.

Rule of this file: a file of none of these kinds is an error, since the release would lack its facts.

    content                                                   is
    JSON object with ReferenceValues                          a manifest.json of `contrast generate`
    JSON object whose every key is a runtime handler          the CLI's reference values
    YAML with a RuntimeClass                                  runtime-<platform>.yml
    YAML with a coordinator StatefulSet                       coordinator.yml
    lines `image = replacement`                               an image-replacements file
"""

from krm_function.api.document import is_config
from krm_function.api.strict_json import load_object
from krm_function.findings import Finding, finding
from krm_function.manifest.decode import ManifestError, decode
from krm_function.model.finding_position import yaml_finding
from krm_function.model.lookup import mapping
from krm_function.model.objects import objects
from krm_function.release.coordinator_file import coordinator_facts, is_coordinator
from krm_function.release.facts import Fact, Facts
from krm_function.release.measurements import handler_facts, is_by_handler, manifest_facts
from krm_function.release.replacement_lines import looks_like_replacements, replacement_facts
from krm_function.release.runtime_file import runtime_facts
from krm_function.yamltext import YamlError, parse, split_stream
from krm_function.yamltext import decode as decode_text

BLANK = " \t\r\n"


def facts_of(data: bytes, file: str, vcpus: int = 0) -> Facts:
    """Return the facts of one file. vcpus: of the pods that a manifest was made for, 0 if not given."""
    try:
        text = decode_text(data).text
    except YamlError as problem:
        return Facts(findings=(yaml_finding(problem, file),))
    if text.lstrip(BLANK).startswith("{"):
        return _json(data, text, file, vcpus)
    if looks_like_replacements(text):
        return replacement_facts(text, file)
    return _yaml(text, file)


def _json(data: bytes, text: str, file: str, vcpus: int) -> Facts:
    try:
        value = load_object(text)
    except (ValueError, RecursionError) as problem:
        code = "CC1304.json" if isinstance(problem, ValueError) else "CC1304.depth"
        return _unknown(code, file, error=str(problem))
    if is_by_handler(value):
        return handler_facts(value, file)
    try:
        manifest = decode(data)
    except ManifestError as problem:
        return _unknown("CC1304.json", file, problem.line, error=str(problem))
    if "ReferenceValues" not in manifest:
        return _unknown("CC1304.object", file)
    return manifest_facts(manifest, file, vcpus)


def _yaml(text: str, file: str) -> Facts:
    facts: list[Fact] = []
    findings: list[Finding] = []
    recognised = False
    try:
        documents = [(chunk.line, parse(chunk.of(text), line=chunk.line)) for chunk in split_stream(text)]
    except YamlError as problem:
        return Facts(findings=(yaml_finding(problem, file),))
    for line, document in documents:
        for _, value in objects(document.value):
            read = _object(mapping(value), file, line)
            recognised = recognised or read is not None
            facts += read.facts if read else ()
            findings += read.findings if read else ()
    if not recognised:
        return _unknown("CC1304.nothing", file)
    return Facts(tuple(facts), tuple(findings))


def _object(value: dict[str, object], file: str, line: int) -> Facts | None:
    """Return the facts of one object; None if it is of no known form."""
    kind = value.get("kind")
    if kind == "ContrastRelease" and is_config(str(value.get("apiVersion", ""))):
        return _unknown("CC1304.release", file, line)
    if kind in {"RuntimeClass", "DaemonSet"}:
        return runtime_facts(value, file, line)
    return coordinator_facts(value, file, line) if is_coordinator(value) else None


def _unknown(code: str, file: str, line: int = 0, error: str = "") -> Facts:
    return Facts(findings=(finding(code, file=file, line=line, error=error),))
