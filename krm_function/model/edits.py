"""Records of edits: the path, the value before and after, the code of the rule, and the reason.

Rule of this file: every stage answers with edits and findings and changes nothing itself. `plan`, `explain`, `diff`,
`uninject` and the KRM results all read these records.
"""

from typing import Any

from krm_function.findings import Finding, Path, Ref
from krm_function.record import NamedTuple
from krm_function.yamltext import Change, Op


class Edit(NamedTuple):
    """One change to one object. `path` starts at the root of the object's document."""

    op: Op
    path: Path
    before: Any
    after: Any
    code: str
    reason: str

    @property
    def change(self) -> Change:
        """The edit as a change of its document."""
        return self.change_in(())

    def change_in(self, root: Path) -> Change:
        """Return the edit as a change whose path starts at the object at `root` of the document."""
        return Change(self.path[len(root) :], self.op, None if self.op == "remove" else self.after)


class Outcome(NamedTuple):
    """The edits and findings of one stage for one workload."""

    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()


class ObjectEdits(NamedTuple):
    """All edits of one object of a resource. root: path from the document to the object, where their paths start."""

    root: Path
    ref: Ref
    edits: tuple[Edit, ...]
