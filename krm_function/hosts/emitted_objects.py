"""Recognise objects that a render adds by their shape: RuntimeClasses, and ConfigMaps that hold a manifest.

Rule of this file: any author of the input can write the annotation `contrast-krm.dev/emitted`, and a render updates or
drops the object that has it. So it counts only on an object of a form that a render adds, for any release or
configuration, and that has no other content.
"""

from typing import Any

from krm_function.manifest.decode import ManifestError, decode
from krm_function.manifest.ordered_fields import FILE, MANIFEST
from krm_function.model.helm_hooks import hook_of
from krm_function.model.lookup import dig, mapping
from krm_function.model.objects import reference
from krm_function.model.owned import ADDED_OBJECTS
from krm_function.model.runtime_class_names import is_handler
from krm_function.model.runtime_class_objects import KIND
from krm_function.model.workload import ORIGINAL

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
    known = FIELDS.get((ref.api_version, ref.kind))
    if known is None:
        return "CC0116.kind"
    metadata = mapping(root.get("metadata"))
    if not known.issuperset(root) or not METADATA.issuperset(metadata):
        return "CC0116.fields"
    if ORIGINAL in mapping(metadata.get("annotations")):
        return "CC0116.original"
    if hook_of(root):
        return "CC0116.hook"
    return _no_runtime_class(root, ref.name) if ref.kind == KIND else _no_manifest(root)


def _no_runtime_class(root: dict[str, Any], name: str) -> str:
    """Return why a RuntimeClass is not Contrast's. A host may have given its name a prefix or suffix."""
    handler = root.get("handler")
    if not isinstance(handler, str) or not is_handler(handler) or handler not in name:
        return "CC0116.handler"
    overhead, scheduling = root.get("overhead", {}), root.get("scheduling", {})
    if not isinstance(overhead, dict) or not {"podFixed"}.issuperset(overhead):
        return "CC0116.overhead"
    if not isinstance(scheduling, dict) or not {"nodeSelector", "tolerations"}.issuperset(scheduling):
        return "CC0116.scheduling"
    return ""


def _no_manifest(root: dict[str, Any]) -> str:
    """Return why a ConfigMap does not hold a manifest and nothing else."""
    text = dig(root, ("data", FILE))
    if not isinstance(text, str) or len(mapping(root.get("data"))) != 1:
        return "CC0116.data"
    try:
        manifest = decode(text.encode())
    except (ManifestError, UnicodeEncodeError):
        return "CC0116.unreadable"
    named = all(isinstance(manifest.get(key), dict) for key in NEEDED)
    return "" if named and MANIFEST.fields.keys() >= manifest.keys() else "CC0116.no-manifest"
