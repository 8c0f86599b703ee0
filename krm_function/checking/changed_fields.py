"""Name the fields of an object that a cluster has otherwise or no longer: what it has in addition is not looked at.

Rule of this file: whatever the API server writes by itself is an addition, so this needs no list of defaults. What is
empty or false may be missing there, and an amount is its value: the server writes 1024Mi as 1Gi.
"""

from typing import Any

from krm_function.findings import Path
from krm_function.model.quantity import equal
from krm_function.yamltext.comparison import ABSENT, Alike, differing_paths

AMOUNTS: dict[Path, Alike] = {
    **{("**", name, "*"): equal for name in ("limits", "requests")},
    **{("**", name): equal for name in ("sizeLimit", "divisor")},
}


def changed_fields(ours: Any, theirs: Any) -> list[Path]:
    """Return the deepest paths of ours at which theirs is otherwise; a list of another length is one as a whole."""
    return differing_paths(ours, theirs, AMOUNTS, pairs=_of_one_length, equal=_kept)


def _of_one_length(ours: list[Any], theirs: list[Any]) -> bool:
    return len(ours) == len(theirs)


def _kept(ours: Any, theirs: Any) -> bool:
    if ours is ABSENT or (not ours and theirs in (None, ABSENT)):
        return True
    return not isinstance(ours, dict | list) and type(ours) is type(theirs) and bool(ours == theirs)
