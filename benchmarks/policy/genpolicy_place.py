"""Where two policies of a pod differ: one line of their comparison, about one container, and what may explain it."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from benchmarks.policy.genpolicy_fields import containers
from krm_function.config.references import References
from krm_function.contrast.profiles import Profile
from krm_function.kubernetes.objects import maps
from krm_function.kubernetes.workload import Workload
from krm_function.policy.compare import PAUSE
from krm_function.policy.compare_values import Difference
from krm_function.policy.initdata import container_name

Json = dict[str, Any]


class Place(NamedTuple):
    """One line of a comparison, about one container. theirs, ours: its policies; written: its part of the pod."""

    line: Difference
    theirs: Json
    ours: Json
    written: Json
    workload: Workload
    references: References
    profile: Profile


def places(
    lines: tuple[Difference, ...],
    data: tuple[Mapping[str, Any], Mapping[str, Any]],
    workload: Workload,
    references: References,
    profile: Profile,
) -> Iterator[Place]:
    """Each line about each of its containers. data: genpolicy's and ours."""
    sides = [{_name(entry): entry for entry in maps(one.get("containers"))} for one in data]
    written = {str(one.get("name")): one for one in containers(workload.pod_spec)}
    for line in lines:
        for name in line.container.split(", "):
            theirs, ours = (side.get(name, {}) for side in sides)
            yield Place(
                line._replace(container=name), theirs, ours, written.get(name, {}), workload, references, profile
            )


def _name(entry: Json) -> str:
    return container_name(entry) or PAUSE
