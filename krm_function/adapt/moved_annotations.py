"""Move an annotation of Contrast's from the object to the pod template, where it has an effect."""

from collections.abc import Container, Iterator

from krm_function.adapt.choices import RuleChoice
from krm_function.contrast.annotations import misplaced
from krm_function.kubernetes.objects import listed
from krm_function.kubernetes.pod_fields import type_findings
from krm_function.kubernetes.resource import Edit
from krm_function.kubernetes.workload import POD_ROLE, PREFIX, Draft, Workload
from krm_function.text.changes import ABSENT

# Truth table, first row that fits:
#
#   the key has no effect on a pod template, or is no text       stays, and is CC0202 or CC0203
#   it is the coordinator's role, on the pod template            moves to its labels: an annotation until Contrast 1.20
#   it is the role of a pod, anywhere else                       stays: it is a label of the pod template
#   the object is a Pod, or has several pod templates            stays: there is nowhere to move it, or no telling where
#   the pod template has the key                                 stays: of the same value it does no harm
#   any other                                                    moves, with its value


CODE = "CC0290"


def field_of(key: str) -> str:
    """Return the field of the pod template's metadata in which Contrast reads a key that moves."""
    return "labels" if key == POD_ROLE else "annotations"


def move(draft: Draft, keys: Container[str]) -> None:
    """Move the misplaced annotations that have one of these keys."""
    workload = draft.workload
    for key, (path, value) in misplaced(workload).items():
        if key not in keys:
            continue
        reason = "Contrast reads its annotations on the pod template alone, and the role from its labels"
        metadata = draft.workload.metadata_path
        field = field_of(key)
        for place in (metadata, (*metadata, field)):
            if draft.workload.at(place) is None:
                draft.edit("set", place, {}, CODE, reason)
        draft.edit("set", (*metadata, field, key), value, CODE, reason)
        draft.edit("remove", (*path, key), ABSENT, CODE, reason)


# --- Move annotations: those of Contrast's that older pages have on the object go to its pod template, by rule
#
# Rule: only with `objectAnnotations: move`; without it they are an error (render/pod_checks.py).


def move_annotations(workload: Workload) -> tuple[Edit, ...]:
    """Return the edits of one workload; none for a workload with wrong types, which is refused."""
    keys = misplaced(workload)
    if not keys or type_findings(workload):
        return ()
    draft = Draft(workload)
    move(draft, keys)
    return tuple(draft.edits)


def annotation_choices(workload: Workload) -> Iterator[RuleChoice]:
    """Yield the rule for a workload that it would change."""
    keys = misplaced(workload)
    if keys and not type_findings(workload):
        names = listed([key.removeprefix(PREFIX) for key in keys])
        yield RuleChoice("moveAnnotations", "move", f"{names} now apply to the pods, which did not read them before")
