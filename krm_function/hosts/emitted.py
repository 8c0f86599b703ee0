"""Objects that a render adds: their shape, and the annotations that undo adding them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.contrast.manifest import FILE, MANIFEST, ManifestError, decode
from krm_function.contrast.owned import ADDED_OBJECTS
from krm_function.contrast.platforms import is_handler
from krm_function.kubernetes.objects import dig, hook_of, mapping, reference
from krm_function.kubernetes.resource import Resource
from krm_function.kubernetes.runtime_classes import KIND
from krm_function.kubernetes.workload import EMITTED, ORIGINAL

# --- Bookkeeping on emitted objects: a line end that was added before them, or a separator line after them
#
# Rule: these annotation values count only if only emitted objects follow, or come before;
# otherwise a host has moved objects since, and what was added stays.


AFTER_NEWLINE = "after-newline"  # value of EMITTED: a line end was added before this object
BEFORE_SEPARATOR = "before-separator"  # value of EMITTED: a separator line was added after this object


def annotated(value: Mapping[str, Any], key: str, text: str) -> dict[str, Any]:
    """Return a copy of an object with one annotation set."""
    metadata = value["metadata"]
    return {**value, "metadata": {**metadata, "annotations": {**metadata.get("annotations", {}), key: text}}}


def marked(value: Any, mark: str) -> Any:
    """Record in an emitted object what was added beside it, by one of these marks; return any other object as it is."""
    unmarked = dig(value, ("metadata", "annotations", EMITTED)) is None
    return value if unmarked else annotated(value, EMITTED, mark)


def without_added_separator(resources: Sequence[Resource]) -> list[Resource]:
    """Remove a recorded separator line from the first remaining text. Parameters as in `without_added_line_end`."""
    result = list(resources)
    marked = False
    for index, resource in enumerate(result):
        if (text := resource.output) is not None:
            if marked:
                result[index] = resource._replace(rendered=re.sub(r"\A---\r?\n", "", text))
            break
        marked = marked or _emitted_mark(resource) == BEFORE_SEPARATOR
    return result


def without_added_line_end(data: bytes, resources: Sequence[Resource]) -> bytes:
    """Remove a recorded line end from a stream or list whose emitted objects were removed.

    resources: including the removed ones.
    """
    for resource in reversed(resources):
        if resource.output is not None:
            break
        if _emitted_mark(resource) == AFTER_NEWLINE:
            return data.removesuffix(b"\n").removesuffix(b"\r")
    return data


def _emitted_mark(resource: Resource) -> Any:
    """Return None for a resource that no earlier render added."""
    return dig(resource.value, ("metadata", "annotations", EMITTED)) if resource.state == "added" else None


# --- Recognise objects that a render adds by their shape: RuntimeClasses, and ConfigMaps that hold a manifest
#
# Rule: any author of the input can write the annotation `contrast-krm.dev/emitted`, and a render updates
# or drops the object that has it. So it counts only on an object of a form that a render adds, for any release or
# configuration, and that has no other content.


NEEDED = ("Policies", "ReferenceValues")  # every manifest has these
# a host gives a name, namespace, labels and annotations of its own, an API server the rest
METADATA = frozenset(
    (
        *("name", "namespace", "labels", "annotations"),
        *("creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"),
    )
)
FIELDS = {key: frozenset(("apiVersion", "kind", "metadata", *fields)) for key, fields in ADDED_OBJECTS.items()}


def no_addition(value: Any) -> str:
    """Return why an object is not one that a render adds, as CC0116 with a variant; "" if it is one."""
    root = mapping(value)
    ref = reference(root)
    fields = FIELDS.get((ref.api_version, ref.kind))
    if fields is None:
        return "CC0116.kind"
    metadata = mapping(root.get("metadata"))
    if not fields.issuperset(root) or not METADATA.issuperset(metadata):
        return "CC0116.fields"
    if ORIGINAL in mapping(metadata.get("annotations")):
        return "CC0116.original"
    if hook_of(root):
        return "CC0116.hook"
    return _check_runtime_class(root, ref.name) if ref.kind == KIND else _check_manifest(root)


def _check_runtime_class(root: dict[str, Any], name: str) -> str:
    """Return why a RuntimeClass is not Contrast's. A host may have added a prefix or suffix to its name."""
    handler = root.get("handler")
    if not isinstance(handler, str) or not is_handler(handler) or handler not in name:
        return "CC0116.handler"
    overhead, scheduling = root.get("overhead", {}), root.get("scheduling", {})
    if not isinstance(overhead, dict) or not {"podFixed"}.issuperset(overhead):
        return "CC0116.overhead"
    if not isinstance(scheduling, dict) or not {"nodeSelector", "tolerations"}.issuperset(scheduling):
        return "CC0116.scheduling"
    return ""


def _check_manifest(root: dict[str, Any]) -> str:
    """Return why a ConfigMap does not hold a manifest and nothing else."""
    text = dig(root, ("data", FILE))
    if not isinstance(text, str) or len(mapping(root.get("data"))) != 1:
        return "CC0116.data"
    try:
        manifest = decode(text.encode())
    except (ManifestError, UnicodeEncodeError):
        return "CC0116.unreadable"
    complete = all(isinstance(manifest.get(key), dict) for key in NEEDED)
    return "" if complete and MANIFEST.fields.keys() >= manifest.keys() else "CC0116.no-manifest"
