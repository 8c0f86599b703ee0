"""An edit is data: where, what stood there, what stands there now, under which rule and why.

Rule of this file: every stage answers with edits and findings and changes nothing itself. `plan`, `explain`, `diff`,
`uninject` and the KRM results all read these records.
"""

from typing import Any

from krm_function.findings import Finding, Path, Ref
from krm_function.record import NamedTuple
from krm_function.yamltext import Change, Op


class Absent:
    """The type of ABSENT: no value, which is not the same as null."""

    def __repr__(self) -> str:
        """Name it in a test's output."""
        return "ABSENT"


ABSENT = Absent()


class Edit(NamedTuple):
    """One change to one object. `path` starts at the root of the document the object stands in."""

    op: Op
    path: Path
    before: Any
    after: Any
    code: str
    reason: str

    @property
    def change(self) -> Change:
        """The part of the edit that the text needs."""
        return self.change_in(())

    def change_in(self, root: Path) -> Change:
        """The same with a path that starts at the object `root` of the document."""
        return Change(self.path[len(root) :], self.op, None if self.op == "remove" else self.after)


class Outcome(NamedTuple):
    """What a stage says about one workload."""

    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()


class ObjectEdits(NamedTuple):
    """All edits of one object: resource says which document, root where in it the object stands."""

    resource: int
    root: Path
    ref: Ref
    edits: tuple[Edit, ...]
