"""Find what a cluster has left of an earlier render: pods, and workloads that would make some.

Rule of this file: pure; what has ended does not count, nor a ReplicaSet that makes no pods. An initdata that
cannot be read counts as left.
"""

from collections.abc import Collection, Iterable
from typing import Any

from krm_function.findings import Ref
from krm_function.model.lookup import dig
from krm_function.model.objects import reference
from krm_function.model.platforms import Platform
from krm_function.model.pod_kinds import SHIPPED
from krm_function.model.runtime_class_names import parse_runtime_class
from krm_function.model.workload import INITDATA
from krm_function.policy import digest, from_annotation

ENDED = ("Succeeded", "Failed")  # phases of a pod
OVER = ("Complete", "Failed")  # conditions of a Job


def earlier(objects: Iterable[Any], old: Collection[str], classes: Collection[str]) -> list[Ref]:
    """Return what has one of the old policies, or one of Contrast's classes that is none of these.

    old: digests. classes: names of the RuntimeClasses of this render.
    """
    out = []
    for value in objects:
        ref = reference(value)
        templates = [dig(value, path) for path in SHIPPED.paths(ref, value)]
        if not _has_ended(ref.kind, value) and any(_is_earlier(one, old, classes) for one in templates):
            out.append(ref)
    return out


def _is_earlier(template: Any, old: Collection[str], classes: Collection[str]) -> bool:
    name = str(dig(template, ("spec", "runtimeClassName")) or "")
    if isinstance(parse_runtime_class(name), Platform) and name not in classes:
        return True
    value = dig(template, ("metadata", "annotations", INITDATA))
    if not isinstance(value, str):
        return False
    try:
        return digest(from_annotation(value)) in old
    except ValueError:
        return True


def _has_ended(kind: str, value: Any) -> bool:
    status = dig(value, ("status",))
    match kind:
        case "Pod":
            return dig(status, ("phase",)) in ENDED
        case "ReplicaSet":
            return dig(value, ("spec", "replicas")) == 0 and not dig(status, ("replicas",))
        case "Job":
            conditions = dig(status, ("conditions",))
            listed = conditions if isinstance(conditions, list) else []
            return any(dig(one, ("type",)) in OVER and dig(one, ("status",)) == "True" for one in listed)
        case _:
            return False
