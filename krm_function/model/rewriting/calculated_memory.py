"""The memory of a pod as a whole, written into spec.resources.

Truth table, of a pod's spec.resources:

    it has                             becomes
    nothing                            requests and limits of memory
    memory, in one of them or both     the calculated one in both
    anything else, such as cpu         as it was

Rule of this file: Contrast's own calculation replaces the whole of spec.resources, and loses a limit of cpu with it.
"""

import re
from typing import Any

from krm_function.model.draft import Draft
from krm_function.model.lookup import dig
from krm_function.model.workload import Workload

CODE = "CC0422"
FIELDS = ("requests", "limits")


def write_memory(draft: Draft, figure: str, reason: str) -> None:
    """Write a figure, of whole MiB, as request and limit of the pod."""
    path = (*draft.workload.spec_path, "resources")
    if not isinstance(draft.workload.at(path), dict):
        draft.edit("set", path, {field: {"memory": figure} for field in FIELDS}, CODE, reason)
        return
    for field in FIELDS:
        present = draft.workload.at((*path, field))
        if not isinstance(present, dict):
            draft.edit("set", (*path, field), {"memory": figure}, CODE, reason)
        elif present.get("memory") != figure:
            draft.edit("set", (*path, field, "memory"), figure, CODE, reason)


def written_memory(workload: Workload) -> str:
    """Return the figure that a rule has written into a pod, or a person in the same form; "" for none."""
    figures = {_memory(workload, field) for field in FIELDS}
    figure = figures.pop()
    return figure if not figures and isinstance(figure, str) and re.fullmatch("[1-9][0-9]{0,11}Mi", figure) else ""


def _memory(workload: Workload, field: str) -> Any:
    value = dig(workload.pod_spec, ("resources", field, "memory"))
    return value if isinstance(value, str) else None
