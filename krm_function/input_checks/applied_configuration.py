"""Find configuration that would be applied to a cluster: an object of ours that no host takes out of its output.

Rule of this file: kustomize and kpt keep an object out of a cluster if it has the annotation
`config.kubernetes.io/local-config: "true"`, and nothing else tells them to. No cluster has our kinds, so that one of
them stops an apply half way. Source: docs/facts/krm-functions.md#bookkeeping-annotations.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from krm_function.api.document import CONFIG_KINDS
from krm_function.api.records import GROUP
from krm_function.findings import Finding, finding
from krm_function.model.lookup import dig
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.model.workload import LOCAL_CONFIG
from krm_function.yamltext import YamlError

ANNOTATION = ("metadata", "annotations", LOCAL_CONFIG)


def applied_configuration(resources: Iterable[Resource]) -> tuple[Finding, ...]:
    """Return CC0912 for each object of our kinds that a host would apply."""
    findings: list[Finding] = []
    for resource in resources:
        if not resource.may_be(CONFIG_KINDS) or GROUP not in resource.text:
            continue
        try:
            findings += resource.all_placed(_applied(resource.value))
        except YamlError:
            continue  # an error of reading it
    return tuple(findings)


def _applied(document: Any) -> Iterator[Finding]:
    for root, value in objects(document):
        ref = reference(value)
        of_ours = ref.kind in CONFIG_KINDS and ref.api_version.startswith(GROUP)
        if of_ours and dig(value, ANNOTATION) != "true":
            yield finding("CC0912", ref, (*root, "metadata"), kind=ref.kind)
