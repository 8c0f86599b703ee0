"""Parse the documents of rendered output that may have to do with Contrast.

Rule of this file: a document is left unparsed only if nothing in it can be Contrast's. All names of Contrast's contain
one of two words; YAML can hide a word only by an escape or a tag, so a text that has one of those is parsed, too.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from krm_function.findings import Finding, Path, finding
from krm_function.input_checks.copies import with_copies
from krm_function.input_checks.unsealed import check_handler
from krm_function.model.finding_position import yaml_finding
from krm_function.model.lookup import dig
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.model.workload import ORIGINAL
from krm_function.record import NamedTuple
from krm_function.yamltext import YamlError, read_value
from krm_function.yamltext.edit.undo_read import read_undo

LOOKED_AT = frozenset(("List", "RuntimeClass", "ConfigMap", "Secret"))  # beside those with pods
CONTRAST = "contrast"  # every name by which a pod can ask for Contrast has this in it, but for LEGACY
LEGACY = "kata-cc-isolation"
ESCAPES = re.compile("!|\\\\[xuU\r\n\x85\u2028\u2029]")  # a tag, a numeric escape, a word over two lines


class Output(NamedTuple):
    """The resources, of which some were parsed, and the findings of parsing."""

    resources: tuple[Resource, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def parsed(self) -> Iterator[Resource]:
        """The resources that were parsed."""
        return (resource for resource in self.resources if resource.document is not None)

    def objects(self) -> Iterator[tuple[Resource, Path, Any]]:
        """Yield every object with its resource and the path to it."""
        for resource in self.parsed:
            for root, value in objects(resource.value):
                yield resource, root, value


def parse_output(resources: Sequence[Resource]) -> Output:
    """Parse what may have to do with Contrast. CC1118: there is no document at all."""
    every: list[Resource] = []
    findings: list[Finding] = []
    for position, resource in enumerate(resources):
        every.append(resource)
        if not resource.may_have_pods and not resource.may_be(LOOKED_AT) and not _may_name_contrast(resource.text):
            continue
        try:
            every[-1] = resource.given()._replace(position=position)
        except YamlError as problem:
            findings.append(yaml_finding(problem, resource))
    if not findings and not any(map(_is_document, resources)):
        findings.append(finding("CC1118"))
    return Output(with_copies(every), tuple(findings))


def _may_name_contrast(text: str) -> bool:
    """Tell whether a text may hold a name of Contrast's."""
    folded = text.lower()
    return CONTRAST in folded or LEGACY in folded or ESCAPES.search(text) is not None


def _is_document(resource: Resource) -> bool:
    """Tell whether a text holds more than comments."""
    if resource.kind or resource.api_version or resource.name:
        return True
    try:
        return read_value(resource.text) is not None
    except YamlError:
        return True


def object_findings(output: Output) -> list[Finding]:
    """Check objects by themselves: an undo record that cannot be read, a wrong handler of a RuntimeClass."""
    findings: list[Finding] = []
    for resource, root, value in output.objects():
        ref, path = reference(value), (*root, "metadata", "annotations", ORIGINAL)
        if resource.document is not None and dig(resource.value, path) is not None:
            try:
                read_undo(resource.document, path)
            except YamlError as problem:
                findings.append(yaml_finding(problem, resource, ref, path))
        if ref.kind == "RuntimeClass":
            findings += map(resource.placed, check_handler(ref, root, value))
    return findings
