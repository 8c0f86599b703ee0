"""A GPU under the name of nodes that pass it to VMs, in the place of another name."""

from collections.abc import Iterator, Mapping

from krm_function.adapt.choices import RuleChoice
from krm_function.contrast.gpus import asked_gpus
from krm_function.findings import Cause, Finding, finding
from krm_function.kubernetes.objects import dig, mapping
from krm_function.kubernetes.pod_fields import type_findings
from krm_function.kubernetes.resource import Outcome
from krm_function.kubernetes.workload import Draft, PodContainer, Workload
from krm_function.text.changes import ABSENT

# --- A GPU under the name of nodes that pass it to VMs, in the place of another name
#
# Truth table, first row that fits:
#
#     a container's limits or requests                the resource is renamed
#     do not have it                                  nothing to do
#     have the new name as well                       refused: the two cannot be one
#     have another resource that gets the same name   refused: the two cannot be one
#     any other                                       yes, with its value, in limits and requests alike


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


# --- Rename GPUs: a resource that the configuration names gets the name of the nodes that pass GPUs to VMs
#
# Rule: the named resources and no others. What forbids it is in adapt/gpu_names.py.


def rename_gpus(workload: Workload, names: Mapping[str, str]) -> Outcome:
    """Rewrite the resources of one workload. names: resource -> new name."""
    draft = Draft(workload)
    findings: list[Finding] = []
    for each in workload.all_containers:
        cause = refused(each, names)
        if cause is None:
            rename(draft, each, names)
        else:
            at = (*each.path, "resources", "limits")
            findings.append(finding(cause.code, workload.ref, at, container=each.name, **cause.values))
    return Outcome(tuple(draft.edits), tuple(findings))


def gpu_choices(workload: Workload, passed: tuple[str, ...]) -> Iterator[RuleChoice]:
    """Yield what the rule would do for each GPU of a workload that no policy passes. passed: names of those it does."""
    if not passed or type_findings(workload):
        return  # what follows trusts the types
    name = passed[0]
    for each in workload.all_containers:
        for one in asked_gpus(each.container, passed):
            if one.kind in ("other", "part") and refused(each, {one.name: name}) is None:
                whole = ", in place of a part of one" if one.kind == "part" else ""
                said = f"each {one.name} becomes {name}: a whole GPU of the pod's VM, which no other pod has{whole}"
                yield RuleChoice("renameGPUs", {one.name: name}, said)
