"""Name the fields of an object that a cluster has otherwise or no longer: what it has in addition is not looked at.

Rule of this file: whatever the API server writes by itself is an addition, so this needs no list of defaults. What is
empty or false may be missing there, and an amount is its value: the server writes 1024Mi as 1Gi.
"""

from collections.abc import Iterator
from typing import Any

from krm_function.findings import Path
from krm_function.model.quantity import equal

AMOUNTS = frozenset(("limits", "requests", "sizeLimit", "divisor"))


def changed_fields(ours: Any, theirs: Any, path: Path = ()) -> Iterator[Path]:
    """Return the deepest paths of ours at which theirs is otherwise; a list of another length is one as a whole."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key, value in ours.items():
            yield from changed_fields(value, theirs.get(key), (*path, key))
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, value in enumerate(ours):
            yield from changed_fields(value, theirs[index], (*path, index))
    elif not _same(ours, theirs, path):
        yield path


def _same(ours: Any, theirs: Any, path: Path) -> bool:
    if theirs is None and not ours:
        return True
    if AMOUNTS.intersection(path[-2:]):
        return equal(ours, theirs)
    return type(ours) is type(theirs) and bool(ours == theirs)
