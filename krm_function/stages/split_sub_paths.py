"""Split sub paths: an emptyDir that is mounted by subPath only becomes one emptyDir for each subPath.

Rule of this file: which volumes, and their names; what forbids it, and what a pod becomes, is in
model/rewriting/split_volume.py. With a refusal of one volume the others are split.
"""

from collections.abc import Iterator

from krm_function.api.volume_rules import DIVIDE
from krm_function.findings import Finding, finding
from krm_function.model.draft import Draft
from krm_function.model.edits import Outcome
from krm_function.model.lookup import maps
from krm_function.model.pods import indexes_named
from krm_function.model.rewriting.split_volume import Split, has_limit, is_split, refused, split, sub_paths
from krm_function.model.rewriting.volume_names import free_name, taken_names
from krm_function.model.rule_choice import RuleChoice
from krm_function.model.workload import Workload


def split_sub_paths(workload: Workload, *, divide: bool) -> Outcome:
    """Split the volumes of one workload. divide: a sizeLimit is divided, else CC0836."""
    draft = Draft(workload)
    findings: list[Finding] = []
    for volume in _candidates(workload):
        cause = refused(draft.workload, volume, divide=divide)
        if cause is not None:
            index = indexes_named(workload.pod_spec.get("volumes"), volume)[0]
            path = (*workload.spec_path, "volumes", index)
            findings.append(finding(cause.code, workload.ref, path, volume=volume, **cause.values))
            continue
        taken = taken_names(draft.workload)
        names: dict[str, str] = {}
        for part in sub_paths(draft.workload, volume):
            names[part] = free_name(volume, part, taken)
            taken.add(names[part])
        split(draft, Split(volume, names))
    return Outcome(tuple(draft.edits), tuple(findings))


def split_choices(workload: Workload) -> Iterator[RuleChoice]:
    """Yield what the rule would do for a workload, for each of its volumes that it would split."""
    for volume in _candidates(workload):
        if refused(workload, volume, divide=True) is None:
            count = len(sub_paths(workload, volume))
            limited = has_limit(workload, volume)
            size = ", each with its part of the sizeLimit" if limited else ""
            made = "one emptyDir without subPath" if count == 1 else f"{count} emptyDirs, one for each subPath{size}"
            yield RuleChoice("splitSubPaths", DIVIDE if limited else True, f"emptyDir {volume} becomes {made}")


def _candidates(workload: Workload) -> list[str]:
    names = [str(volume.get("name")) for volume in maps(workload.pod_spec.get("volumes"))]
    return [name for name in dict.fromkeys(names) if is_split(workload, name)]
