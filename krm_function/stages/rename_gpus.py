"""Rename GPUs: a resource that the configuration names gets the name of the nodes that pass GPUs to VMs.

Rule of this file: the named resources and no others. What forbids it is in model/rewriting/renamed_gpu.py.
"""

from collections.abc import Iterator, Mapping

from krm_function.findings import Finding, finding
from krm_function.model.draft import Draft
from krm_function.model.edits import Outcome
from krm_function.model.gpu_names import asked_gpus
from krm_function.model.pod_types import type_findings
from krm_function.model.rewriting.renamed_gpu import refused, rename
from krm_function.model.rule_choice import RuleChoice
from krm_function.model.workload import Workload


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
            if one.what in ("other", "part") and refused(each, {one.name: name}) is None:
                whole = ", in place of a part of one" if one.what == "part" else ""
                said = f"each {one.name} becomes {name}: a whole GPU of the pod's VM, which no other pod has{whole}"
                yield RuleChoice("renameGPUs", {one.name: name}, said)
