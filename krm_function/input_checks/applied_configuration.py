"""Find configuration that would be applied to a cluster: an object of ours that no host takes out of its output.

Rule of this file: kustomize and kpt keep an object out of a cluster if it has the annotation
`config.kubernetes.io/local-config: "true"`, and nothing else tells them to. No cluster has our kinds, so that one of
them stops an apply half way. Source: docs/facts/krm-functions.md#bookkeeping-annotations.
"""

from collections.abc import Iterable

from krm_function.api import CONFIG_KINDS
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
            parsed = resource.parsed()
        except YamlError:
            continue  # an error of reading it
        for root, value in objects(parsed.value):
            ref = reference(value)
            if ref.kind not in CONFIG_KINDS or not ref.api_version.startswith(GROUP):
                continue
            if dig(value, ANNOTATION) != "true":
                findings.append(parsed.placed(finding("CC0912", ref, (*root, "metadata"), kind=ref.kind)))
    return tuple(findings)
