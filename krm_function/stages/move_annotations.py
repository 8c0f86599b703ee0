"""Move annotations: those of Contrast's that older pages have on the object go to its pod template, by rule.

Rule of this file: only with `objectAnnotations: move`; without it they are an error (stages/pod_checks.py). What moves
is in model/rewriting/moved_annotation.py.
"""

from collections.abc import Iterator

from krm_function.model.annotations import misplaced
from krm_function.model.draft import Draft
from krm_function.model.edits import Edit
from krm_function.model.listed_names import listed
from krm_function.model.pod_types import type_findings
from krm_function.model.rewriting.moved_annotation import move
from krm_function.model.rule_choice import RuleChoice
from krm_function.model.workload import PREFIX, Workload


def move_annotations(workload: Workload) -> tuple[Edit, ...]:
    """Return the edits of one workload; none for one of wrong types, which is refused."""
    keys = misplaced(workload)
    if not keys or type_findings(workload):
        return ()
    draft = Draft(workload)
    move(draft, keys)
    return tuple(draft.edits)


def annotation_choices(workload: Workload) -> Iterator[RuleChoice]:
    """Yield what the rule would do for a workload."""
    keys = misplaced(workload)
    if keys and not type_findings(workload):
        names = listed([key.removeprefix(PREFIX) for key in keys])
        yield RuleChoice("moveAnnotations", "move", f"what the object says of {names} holds for its pods")
