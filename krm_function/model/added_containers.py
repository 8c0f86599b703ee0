"""What the controller of a custom resource adds to a pod, and of that its init containers: name, image, limits.

Rule of this file: what a template does not have is in its pod all the same, so whoever counts containers asks here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_function.model.lookup import maps
from krm_function.model.template_texts import applies
from krm_function.model.workload import Workload

Json = dict[str, Any]
LIKE = ("image", "imagePullPolicy", "env", "volumeMounts", "securityContext")  # what one has of the first container


def added_init_containers(workload: Workload) -> list[Json]:
    """Return the init containers that come behind those of the template; one with `like` has what the first has."""
    entries = maps(workload.made_by.adds.get("initContainers")) if workload.made_by else []
    if not entries:
        return []
    first = next(iter(workload.containers), {})
    shared = {key: first[key] for key in LIKE if key in first}
    return [{**shared, **one} if "like" in one else one for one in that_apply(entries, workload)]


def not_replaced(own: Iterable[Json], added: Sequence[Json]) -> list[Json]:
    """Return the init containers of a template that stay beside added ones; of a name, one without `like` replaces."""
    replaced = {one.get("name") for one in added if "like" not in one}
    return [one for one in own if one.get("name") not in replaced]


def applied(adds: Mapping[str, Any], workload: Workload) -> dict[str, list[Json]]:
    """Return of the lists of what a controller adds the entries whose conditions hold for a workload."""
    return {key: list(that_apply(entries, workload)) for key, entries in adds.items() if isinstance(entries, list)}


def that_apply(entries: object, workload: Workload) -> Iterator[Json]:
    """Yield the entries of a list, added, refused or warned of, whose conditions hold for a workload."""
    for one in maps(entries):
        if applies(one, workload.object, workload.template):
            yield one
