"""Recognise Helm hooks, which Helm keeps apart from the other objects of a release.

Rule of this file: the annotation alone makes an object a hook, whatever else it has.
"""

from typing import Any

from krm_function.kubernetes.lookup import dig

HOOK = "helm.sh/hook"


def hook_of(value: Any) -> str:
    """Return the value of a Helm hook's annotation, "" for an object that is no hook."""
    found = dig(value, ("metadata", "annotations", HOOK))
    return found if isinstance(found, str) else ""
