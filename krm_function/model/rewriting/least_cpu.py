"""The cpu limit of a pod as a whole, by which its VM has more vCPUs than its containers ask for.

Truth table, of a pod's spec.resources.limits:

    it has                             becomes
    nothing, or no cpu                 the limit
    cpu                                the limit, which is more
    anything else, such as memory      as it was
"""

import re

from krm_function.model.draft import Draft
from krm_function.model.lookup import dig
from krm_function.model.workload import Workload

CODE = "CC0417"


def write_cpu(draft: Draft, figure: str, reason: str) -> None:
    """Write a figure, of whole CPUs, as the limit of the pod."""
    path = (*draft.workload.spec_path, "resources")
    if not isinstance(draft.workload.at(path), dict):
        draft.edit("set", path, {"limits": {"cpu": figure}}, CODE, reason)
    elif not isinstance(draft.workload.at((*path, "limits")), dict):
        draft.edit("set", (*path, "limits"), {"cpu": figure}, CODE, reason)
    else:
        draft.edit("set", (*path, "limits", "cpu"), figure, CODE, reason)


def written_cpu(workload: Workload) -> str:
    """Return the figure that a rule has written into a pod, or a person in the same form; "" for none."""
    figure = dig(workload.pod_spec, ("resources", "limits", "cpu"))
    return figure if isinstance(figure, str) and re.fullmatch("[1-9][0-9]{0,2}", figure) else ""
