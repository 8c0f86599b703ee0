"""Early exit for post-render and the function: detect input without Contrast workloads before importing the pipeline.

Rule of this file: the answer is the pipeline's, only earlier. `True` means that a render whose configuration
has no errors would have no findings and return the same bytes; whatever is not certain is `False`, and the pipeline
decides. The tests compare both.
"""

from __future__ import annotations

from krm_function.contrast.class_in_text import may_name_contrast
from krm_function.kubernetes.kinds import CATALOGUED, KINDS_BY_CONTENT, template_paths
from krm_function.text.libyaml import CParser, DocumentStartEvent, StreamEndEvent, YAMLError
from krm_function.text.plain_values import NotPlain, plain_value
from krm_function.text.separators import odd_separator

TYPE_CHECKING = False  # importing typing would take as long as all that is done here
if TYPE_CHECKING:
    from typing import Any

LARGEST = 2_000_000  # bytes: above, the pipeline is not slower
_DEEP = 100  # nested collections, as in yamltext.Limits
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))  # plain, these are no strings


def passes_through(data: bytes) -> bool:
    """Tell whether a stream can be read and has nothing that can be Contrast's."""
    if not data or len(data) > LARGEST or b"contrast" in data or data.startswith(b"\xef\xbb\xbf"):
        return False
    try:
        text = data.decode("utf-8")
    except ValueError:
        return False
    return is_unrelated(text)


def is_unrelated(text: str, *, item: bool = False) -> bool:
    """Tell whether a stream, or an item of a list, can be read and has nothing that can be Contrast's."""
    if "contrast" in text or "\r" in text or odd_separator(text) or may_name_contrast(text):
        return False
    try:
        pull = CParser(text).get_event
        while (kind := type(pull())) is not StreamEndEvent:
            if kind is not DocumentStartEvent:
                continue
            document = plain_value(pull(), pull, _DEEP, _plain_scalar)
            if item and isinstance(document, list) and len(document) == 1:  # behind the dash of the item
                (document,) = document
            if not _is_unrelated(document):
                return False
    except (YAMLError, ValueError, NotPlain):
        return False
    return True


def _plain_scalar(text: str) -> str | bool | None:
    """Return a plain scalar that is surely a string, None for an empty one, False for another type."""
    if not text:
        return None
    return text if text[0] in _LETTERS and text.lower() not in _WORDS else False


def _is_unrelated(document: Any) -> bool:
    """Tell whether a document is surely not Contrast's, and nothing about which the pipeline may have findings."""
    if document is None:
        return True
    if not isinstance(document, dict):
        return False
    kind, version = document.get("kind", ""), document.get("apiVersion", "")
    if not isinstance(kind, str) or not isinstance(version, str):
        return False
    if kind in KINDS_BY_CONTENT or "items" in document or version.rpartition("/")[0] in CATALOGUED.get(kind, ()):
        return False
    if kind.startswith("Contrast") or version.lower().startswith("contrast"):  # configuration
        return False
    return not any(_may_name_class(document, template) for template in template_paths(kind, document))


def _may_name_class(document: Any, template: tuple[str | int, ...]) -> bool:
    """Tell whether a pod template may name a runtime class: it does, or its pod spec is not a map."""
    pod = document
    for part in (*template, "spec"):
        pod = pod.get(part, {}) if isinstance(pod, dict) else pod[part] if isinstance(part, int) else None
    return not isinstance(pod, dict) or "runtimeClassName" in pod
