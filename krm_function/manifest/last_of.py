"""Choose among the manifests of several releases that share a coordinator.

Rule of this file: a manifest with another as its base may add policies and change nothing else. Where somebody adds an
owner key or a reference value to one of them, or formats it anew, there are two manifests.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.manifest.decode import ManifestError, decode
from krm_function.model.lookup import mapping
from krm_function.yamltext import same


def last_of(texts: Sequence[bytes]) -> bytes | None:
    """Return the manifest that has the policies of all the others, and all else as they do; None if none has.

    So are the manifests of several releases, each of which has the one before it as `manifest.base`.
    """
    if len(set(texts)) < 2:
        return texts[0] if texts else None
    try:
        decoded = {text: decode(text) for text in texts}
    except ManifestError:
        return None
    last = max(texts, key=lambda text: len(mapping(decoded[text].get("Policies"))))
    return last if all(_extends(decoded[last], decoded[text]) for text in decoded if text != last) else None


def _extends(last: Mapping[str, Any], first: Mapping[str, Any]) -> bool:
    """Tell whether two manifests differ in nothing but policies that only the last one has, and it has some."""
    ours, theirs = (mapping(one.get("Policies")) for one in (last, first))
    policies = {digest: value for digest, value in ours.items() if digest in theirs}
    return len(ours) > len(theirs) and same({**last, "Policies": policies}, {**first, "Policies": theirs})
