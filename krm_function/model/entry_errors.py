"""Why a text of an entry cannot be written for an object.

Rule of this file: nothing is imported, so that texts and the rules that they name can both raise these.
"""


class MissingFieldError(ValueError):
    """A field that a text needs is not in the object, or is neither a text nor a number."""


class NotDerivedError(MissingFieldError):
    """A rule does not know what the controller writes for this object. reason, instead: as in a finding."""

    def __init__(self, reason: str, instead: str) -> None:
        """Keep both."""
        super().__init__(reason)
        self.reason, self.instead = reason, instead
