"""A GPU under the name of nodes that pass it to VMs, in the place of another name.

Truth table, first row that fits:

    a container's limits or requests                the resource is renamed
    do not have it                                  nothing to do
    have the new name as well                       refused: the two cannot be one
    have another resource that gets the same name   refused: the two cannot be one
    any other                                       yes, with its value, in limits and requests alike
"""

from collections.abc import Mapping

from krm_function.findings import Cause
from krm_function.model.draft import Draft
from krm_function.model.lookup import dig, mapping
from krm_function.model.workload import PodContainer
from krm_function.yamltext.comparison import ABSENT

CODE = "CC0412"
FIELDS = ("limits", "requests")


def refused(container: PodContainer, names: Mapping[str, str]) -> Cause | None:
    """Return why the resources of a container are not renamed; None if they are, or there are none."""
    for field in FIELDS:
        present = mapping(dig(container.container, ("resources", field)))
        taken = {str(name) for name in present if name not in names}
        for name in (one for one in names if one in present):
            if names[name] in taken:
                return Cause("CC0413", {"resource": name, "name": names[name]})
            taken.add(names[name])
    return None


def rename(draft: Draft, container: PodContainer, names: Mapping[str, str]) -> None:
    """Write the new names into one container."""
    for field in FIELDS:
        path = (*container.path, "resources", field)
        for before, value in mapping(dig(container.container, ("resources", field))).items():
            after = names.get(before)
            if after is not None:
                reason = f"{before} is {after} on nodes that pass GPUs to VMs"
                draft.edit("set", (*path, after), value, CODE, reason)
                draft.edit("remove", (*path, before), ABSENT, CODE, reason)
