"""Stray annotations: report annotations of Contrast's domain on objects that have no pod, where nothing reads them.

Rule of this file: an annotation that a Contrast workload of the input has on its pod template, with the same value, is
no mistake: kustomize's commonAnnotations writes it to every object. Source: docs/facts/contrast.md#annotations.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from krm_function.findings import Finding
from krm_function.model.annotations import is_contrast_key, is_known, unread
from krm_function.model.kinds import KINDS
from krm_function.model.lookup import dig, mapping
from krm_function.model.objects import objects, reference
from krm_function.model.pod_kinds import Kinds
from krm_function.model.resource import Resource
from krm_function.model.workload import PREFIX, Workload
from krm_function.yamltext import YamlError


def stray_annotations(resources: Iterable[Resource], workloads: Iterable[Workload]) -> tuple[Finding, ...]:
    """Return CC0202 or CC0203 for each annotation that has no effect where it stands.

    Objects that an earlier render added are skipped.
    """
    common = {item for workload in workloads for item in workload.annotations.items() if isinstance(item[1], str)}
    findings: list[Finding] = []
    for resource in resources:
        certain_pod = resource.certain and resource.kind in KINDS
        if PREFIX not in resource.text or resource.state == "added" or certain_pod:
            continue
        try:
            findings += resource.all_placed(_stray(resource.value, resource.kinds, common))
        except YamlError:
            continue  # nothing reads this document, or its reader reports the problem
    return tuple(findings)


def _stray(document: Any, kinds: Kinds, common: set[tuple[str, str]]) -> Iterator[Finding]:
    for root, value in objects(document):
        ref = reference(value)
        if ref.kind in KINDS or kinds.of(ref):
            continue  # stages/pod_checks.py, if it is Contrast's
        for key, text in mapping(dig(value, ("metadata", "annotations"))).items():
            known = ref.kind == "Service" and is_known(str(key), "Service annotation")
            if is_contrast_key(str(key)) and not known and not (isinstance(text, str) and (key, text) in common):
                path = (*root, "metadata", "annotations", key)
                yield unread(ref, path, "annotation", str(key), f"a {ref.kind or 'nameless kind'}, which has no pod")
