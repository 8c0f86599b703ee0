"""What a result can be about.

Rule of this file: it is for type checkers only; no running program loads it.
"""

from typing import Protocol

from krm_function.krm.result import FieldPath, Result, Severity


class Describable(Protocol):
    """What a result can be about: a KubeObject, or a SubObject of one."""

    def result(self, message: str, severity: Severity = "error", path: FieldPath = ()) -> Result:
        """Make a result about it."""
