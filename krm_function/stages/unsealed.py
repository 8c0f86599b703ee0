"""Unsealed: refuse what asks for a Contrast runtime class in an object whose pods no render ever seals.

Rule of this file: whatever asks for a class of Contrast's is sealed or refused; `generate` and `check` ask this one
function. A kind is one of the eight by its group and version as well: `apps/v1beta1` is as foreign as a custom
resource. ConfigMap and Secret hold nothing but text, and are no pod by any reading.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.krm.group_version import plain_api_version
from krm_function.model.class_in_text import may_ask_for_contrast
from krm_function.model.finding_position import with_position, yaml_finding
from krm_function.model.kinds import KINDS
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.model.runtime_class_names import contrast_names_in
from krm_function.model.workload import dig, mapping
from krm_function.yamltext import Document, YamlError, parse

TEXT_KINDS = ("ConfigMap", "Secret")


def unsealed(resources: Sequence[Resource], documents: Mapping[int, Document]) -> tuple[Finding, ...]:
    """Return CC1109 for each class that is asked for in vain. documents: what was parsed before, by position.

    A document that cannot be parsed and may ask for a class is an error, too.
    """
    findings: list[Finding] = []
    for index, resource in enumerate(resources):
        if _holds_text(resource) or not may_ask_for_contrast(resource.text):
            continue
        document = documents.get(index)
        if document is None:
            try:
                document = parse(resource.text, line=resource.line)
            except YamlError as problem:
                findings.append(yaml_finding(problem, resource))
                continue
        for root, value in objects(document.value):
            for path, name in unsealed_classes(document.value, root):
                findings.append(with_position(unsealed_finding(reference(value), path, name), resource, document))
    return tuple(findings)


def unsealed_classes(document: Any, root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the path and the name of each class of Contrast's in one object, if no render seals an object of its kind.

    Members of a list are objects of their own.
    """
    value = dig(document, root)
    ref = reference(value)
    if _is_sealable(ref.api_version, ref.kind) or (ref.api_version == "v1" and ref.kind in TEXT_KINDS):
        return
    for key, part in mapping(value).items():
        if key != "items" or not isinstance(part, list):
            yield from contrast_names_in({key: part}, root)


def unsealed_finding(ref: Ref, path: Path, name: str) -> Finding:
    """Make the finding of a class that is asked for in vain."""
    return finding("CC1109", ref, path, kind=f"{ref.api_version} {ref.kind}".strip(), name=name)


def _is_sealable(api_version: str, kind: str) -> bool:
    return kind in KINDS and plain_api_version(api_version) == KINDS[kind][0]


def _holds_text(resource: Resource) -> bool:
    """Whether a resource is certainly of a kind that holds nothing but text."""
    return resource.certain and resource.kind in TEXT_KINDS and plain_api_version(resource.api_version) == "v1"
