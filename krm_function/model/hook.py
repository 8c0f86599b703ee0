"""Helm hooks, which Helm keeps apart from the other objects of a release.

Rule of this file: the annotation alone makes an object a hook, whatever else it has.
"""

from typing import Any

from krm_function.model.workload import dig

HOOK = "helm.sh/hook"


def hook_of(value: Any) -> str:
    """The annotation of a Helm hook, "" for an object that is none."""
    found = dig(value, ("metadata", "annotations", HOOK))
    return found if isinstance(found, str) else ""
