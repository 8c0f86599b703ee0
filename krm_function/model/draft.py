"""Collect the edits of one workload, and apply each as it is made.

Rule of this file: each edit is made on the result of those before it, so that the list can be applied in order.
"""

from typing import Any

from krm_function.findings import Path
from krm_function.model.edits import Edit
from krm_function.model.pods import indexes_named
from krm_function.model.workload import Workload
from krm_function.yamltext import Op
from krm_function.yamltext.comparison import ABSENT


class Draft:
    """The edits so far, and the workload after them. All paths start at the document."""

    def __init__(self, workload: Workload) -> None:
        """Start without edits."""
        self.workload = workload
        self.edits: list[Edit] = []

    def edit(self, op: Op, path: Path, after: Any, code: str, reason: str) -> None:
        """Make one edit; the parent of `path` must exist."""
        before = ABSENT
        if op != "insert":
            parent, last = self.workload.at(path[:-1]), path[-1]
            before = parent[last] if isinstance(last, int) or last in parent else ABSENT
        made = Edit(op, path, before, after, code, reason)
        self.edits.append(made)
        self.workload = self.workload.after((made,))

    def add(self, edits: tuple[Edit, ...]) -> None:
        """Take edits that were made on the workload as it is now."""
        self.edits += edits
        self.workload = self.workload.after(edits)

    def put(self, path: Path, index: int, entry: Any, code: str, reason: str) -> None:
        """Insert an entry into a list, which is made if it is absent or null."""
        if self.workload.at(path) is None:
            self.edit("set", path, [entry], code, reason)
        else:
            self.edit("insert", (*path, index), entry, code, reason)

    def drop(self, path: Path, name: str, code: str, reason: str) -> None:
        """Remove all entries of this name from a list, the last one first."""
        for index in reversed(indexes_named(self.workload.at(path), name)):
            self.edit("remove", (*path, index), ABSENT, code, reason)
