"""Rename a GPU to the name that nodes use when they pass GPUs to VMs."""

from collections.abc import Iterator, Mapping

from krm_function.adapt.choices import RuleChoice
from krm_function.contrast.gpus import asked_gpus
from krm_function.findings import Cause, Finding, finding
from krm_function.kubernetes.objects import dig, mapping
from krm_function.kubernetes.pod_fields import type_findings
from krm_function.kubernetes.resource import Outcome
from krm_function.kubernetes.workload import Draft, PodContainer, Workload
from krm_function.text.changes import ABSENT

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
        present_names = {str(name) for name in present if name not in names}
        for name in (source for source in names if source in present):
            if names[name] in present_names:
                return Cause("CC0413", {"resource": name, "name": names[name]})
            present_names.add(names[name])
    return None


def rename(draft: Draft, container: PodContainer, names: Mapping[str, str]) -> None:
    """Write the new names into one container."""
    for field in FIELDS:
        path = (*container.path, "resources", field)
        for old_name, value in mapping(dig(container.container, ("resources", field))).items():
            new_name = names.get(old_name)
            if new_name is not None:
                reason = f"{old_name} is {new_name} on nodes that pass GPUs to VMs"
                draft.edit("set", (*path, new_name), value, CODE, reason)
                draft.edit("remove", (*path, old_name), ABSENT, CODE, reason)


# --- Rename GPUs: a resource that the configuration names gets the name of the nodes that pass GPUs to VMs
#
# Rule: the named resources and no others.


def rename_gpus(workload: Workload, names: Mapping[str, str]) -> Outcome:
    """Rewrite the resources of one workload. names: resource -> new name."""
    draft = Draft(workload)
    findings: list[Finding] = []
    for container in workload.all_containers:
        cause = refused(container, names)
        if cause is None:
            rename(draft, container, names)
        else:
            at = (*container.path, "resources", "limits")
            findings.append(finding(cause.code, workload.ref, at, container=container.name, **cause.values))
    return Outcome(tuple(draft.edits), tuple(findings))


def gpu_choices(workload: Workload, passed: tuple[str, ...]) -> Iterator[RuleChoice]:
    """Yield the rule for each GPU of a workload that no policy passes. passed: names of the GPUs that one passes."""
    if not passed or type_findings(workload):
        return  # the next lines trust the types
    name = passed[0]
    for container in workload.all_containers:
        for gpu in asked_gpus(container.container, passed):
            if gpu.kind in ("other", "part") and refused(container, {gpu.name: name}) is None:
                whole = ", in place of a part of one" if gpu.kind == "part" else ""
                consequence = (
                    f"each {gpu.name} becomes {name}: a whole GPU of the pod's VM, which no other pod has{whole}"
                )
                yield RuleChoice("renameGPUs", {gpu.name: name}, consequence)
