"""An annotation of Contrast's that stands on the object, moved to the pod template, where it has its effect.

Truth table, first row that fits:

    the key has no effect on a pod template, or is no text       stays, and is CC0202 or CC0203
    it is the role of the coordinator                            stays: it is a label of the pod template
    the object is a Pod, or has several pod templates            stays: there is nowhere to move it, or no telling where
    the pod template has the key                                 stays: of the same value it does no harm
    any other                                                    moves, with its value
"""

from collections.abc import Container

from krm_function.model.annotations import misplaced
from krm_function.model.draft import Draft
from krm_function.yamltext.comparison import ABSENT

CODE = "CC0290"


def move(draft: Draft, keys: Container[str]) -> None:
    """Move those of the misplaced annotations that have one of these keys."""
    workload = draft.workload
    for key, (path, value) in misplaced(workload).items():
        if key not in keys:
            continue
        reason = "Contrast reads its annotations on the pod template alone"
        metadata = draft.workload.metadata_path
        for place in (metadata, (*metadata, "annotations")):
            if draft.workload.at(place) is None:
                draft.edit("set", place, {}, CODE, reason)
        draft.edit("set", (*metadata, "annotations", key), value, CODE, reason)
        draft.edit("remove", (*path, key), ABSENT, CODE, reason)
