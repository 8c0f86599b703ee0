"""Placeholders in text: name those that stand within a text, which somebody else makes an object of.

A chart in a ConfigMap, a patch of Flux, a profile of an operator: what is made of it is not in the input, so its pods
are not sealed. Whether it is a mistake is not known, so it is a warning, of `check` and `assess`.

Rule of this file: a text of data, or one of several words. What is all of a value is a finding of its own, as in
unsealed.py, but for the data of a ConfigMap, which that leaves alone.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from krm_function.findings import Finding, Path, finding
from krm_function.model.class_in_text import PLACEHOLDERS
from krm_function.model.lookup import dig, mapping
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.model.runtime_class_names import is_placeholder
from krm_function.model.workload import EMITTED, LOCAL_CONFIG
from krm_function.yamltext import YamlError

TEXTS = {"ConfigMap": ("data",), "Secret": ("stringData",)}  # of v1: where text is
OWN_GROUP = "contrast-krm.dev/"
SCHEMA = "apiextensions.k8s.io/"
NAME = re.compile(r"(?<![A-Za-z0-9-])(?:contrast-cc[a-z0-9-]*|kata-cc-isolation)(?![A-Za-z0-9])")


def placeholders_in_text(resources: Iterable[Resource]) -> tuple[Finding, ...]:
    """Return CC0285 for each text of an input with a placeholder in it."""
    found: list[Finding] = []
    for resource in resources:
        if not any(word in resource.text for word in PLACEHOLDERS):
            continue
        try:
            parsed = resource.parsed()
        except YamlError:
            continue  # its reader reports the problem
        for root, value in objects(parsed.value):
            found += map(parsed.placed, _in_object(root, value))
    return tuple(found)


def _in_object(root: Path, value: Any) -> Iterator[Finding]:
    ref = reference(value)
    annotations = mapping(dig(value, ("metadata", "annotations")))
    if (
        EMITTED in annotations
        or annotations.get(LOCAL_CONFIG) == "true"
        or ref.api_version.startswith((OWN_GROUP, SCHEMA))
    ):
        return
    is_text = ref.api_version == "v1" and ref.kind in TEXTS
    for field in TEXTS[ref.kind] if is_text else [key for key in mapping(value) if key not in ("metadata", "items")]:
        for path, text in _texts(mapping(value).get(field), (field,)):
            names = [name for name in NAME.findall(text) if is_placeholder(name)]
            if names and (is_text or text.strip() != names[0]):
                yield finding("CC0285", ref, root + path, kind=ref.kind, name=names[0])


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield every text in a value with its path, but for commands and variables of pods."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _texts(part, (*path, index))
    elif isinstance(value, dict):
        for key, part in value.items():
            if key not in ("containers", "initContainers", "annotations", "labels"):
                yield from _texts(part, (*path, str(key)))
