"""Collect the configuration of a render out of all documents that may hold a part of it.

Rule of this file: no document of the group contrast-krm.dev is ignored. One that cannot be read is an error, since a
render without it would be another render.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from krm_function.api.contrast_generate import parse_generate
from krm_function.api.contrast_release import parse_release
from krm_function.api.document import CONFIG_KINDS, ConfigDocument, config_reference, is_config, located
from krm_function.api.image_lock import parse_image_lock
from krm_function.api.records import API_VERSION, Config, Generate, ImageFacts, Release
from krm_function.findings import Finding, Ref, finding, has_errors
from krm_function.model.lookup import mapping
from krm_function.schema.nearest import nearest

OTHER_MODE = {"render": "check", "check": "render"}


def options_in(document: ConfigDocument) -> dict[str, Any]:
    """Return the spec of a ContrastGenerate, or of a ConfigMap in its place, as written; {} for anything else."""
    config, _ = _configuration(document)
    value = mapping(config.value) if config else {}
    return mapping(value.get("spec")) if value.get("kind") == "ContrastGenerate" else {}


def collect(documents: Iterable[ConfigDocument], mode: str = "render") -> tuple[Config | None, tuple[Finding, ...]]:
    """Make the Config of a render; None when a finding is an error.

    mode: a ContrastGenerate of another mode is read, so that its faults are found, and then left to its own function.

    documents: of the group, or ConfigMaps with options; objects of other groups are skipped. The same object may come
    twice, as functionConfig and as item, and counts once. Without a ContrastGenerate its defaults hold; without a
    ContrastRelease there is no render; several ImageLocks are one when they agree.
    """
    findings: list[Finding] = []
    by_kind: dict[str, list[ConfigDocument]] = {kind: [] for kind in CONFIG_KINDS}
    for document in documents:
        config, problems = _configuration(document)
        findings += problems
        if config is not None and options_in(config).get("mode", mode) == OTHER_MODE[mode]:
            findings += parse_generate(config)[1]
        elif config is not None:
            same = by_kind[mapping(config.value)["kind"]]
            if not any(_identical(config, other) for other in same):
                same.append(config)
    for kind in ("ContrastGenerate", "ContrastRelease"):
        findings += [
            located(finding("CC0904", config_reference(document), kind=kind), document)
            for document in by_kind[kind][1:]
        ]
    generate: Generate | None = Generate()
    release: Release | None = None
    for document in by_kind["ContrastGenerate"][:1]:
        generate, problems = parse_generate(document)
        findings += problems
    for document in by_kind["ContrastRelease"][:1]:
        release, problems = parse_release(document)
        findings += problems
    images, problems = _images(by_kind["ImageLock"])
    findings += problems
    if not by_kind["ContrastRelease"]:
        findings.append(finding("CC0903"))
        if generate is not None and generate.workloads:
            selects = finding("CC0257", generate.ref, ("spec", "workloads"))
            findings += [located(selects, document) for document in by_kind["ContrastGenerate"][:1]]
    if generate is None or release is None or has_errors(findings):
        return None, tuple(findings)
    return Config(
        generate, release, images, _places((*by_kind["ContrastGenerate"], *by_kind["ContrastRelease"]))
    ), tuple(findings)


def _places(documents: Iterable[ConfigDocument]) -> Mapping[Ref, Callable[[Finding], Finding]]:
    """Return, by object, what gives a finding its position in the object's file."""
    return {
        config_reference(document)._replace(namespace=""): partial(located, document=document)
        for document in documents
        if document.file and document.locate
    }


def _configuration(document: ConfigDocument) -> tuple[ConfigDocument | None, tuple[Finding, ...]]:
    """Return the document if it is one of the three kinds, made from a ConfigMap if need be."""
    ref = config_reference(document)
    if ref.api_version == "v1" and ref.kind == "ConfigMap":
        from krm_function.api.config_map import from_config_map

        return from_config_map(document)
    if not is_config(ref.api_version) and ref.kind not in CONFIG_KINDS:
        return None, ()
    if ref.api_version != API_VERSION:
        found = finding("CC0907", ref, ("apiVersion",), found=ref.api_version or "(none)")
        return None, (located(found, document),)
    if ref.kind not in CONFIG_KINDS:
        suggestion = nearest(ref.kind, CONFIG_KINDS) or ", ".join(CONFIG_KINDS)
        found = finding("CC0905", ref, ("kind",), kind=ref.kind or "(none)", suggestion=suggestion)
        return None, (located(found, document),)
    return document, ()


def _identical(one: ConfigDocument, other: ConfigDocument) -> bool:
    """Tell whether two documents are one object that was passed twice, with annotations that the orchestrator added."""
    left, right = mapping(one.value), mapping(other.value)
    return (
        config_reference(one) == config_reference(other)
        and left.get("spec") == right.get("spec")
        and left.keys() == right.keys()
    )


def _images(documents: list[ConfigDocument]) -> tuple[dict[str, ImageFacts] | None, tuple[Finding, ...]]:
    """Join all ImageLocks in one map, None when there is no lock."""
    findings: list[Finding] = []
    merged: dict[str, ImageFacts] = {}
    for document in documents:
        images, problems = parse_image_lock(document)
        findings += problems
        for name, facts in (images or {}).items():
            if merged.setdefault(name, facts) != facts:
                findings.append(_conflict(document, name))
    return (merged if documents else None), tuple(findings)


def _conflict(document: ConfigDocument, name: str) -> Finding:
    ref = config_reference(document)
    values: dict[str, Any] = {
        "field": f"spec.images of {name}",
        "problem": "another ImageLock says something else",
        "remedy": "keep one of the two entries",
    }
    return located(finding("CC0901", ref, ("spec", "images", name), kind=ref.kind, name=ref.name, **values), document)
