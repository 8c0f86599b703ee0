"""The reason why an image cannot be locked.

Rule of this file: a LockProblem is a code of the findings' table and its values, never the text of an exception of a
library: those quote URLs and headers, and with them credentials.
"""

from typing import Any

from krm_function.findings import Finding, finding

MISSING = "CC1202"  # the one problem after which the next source is asked
MALFORMED = "CC1204"


class LockProblem(Exception):
    """Why an image cannot be locked."""

    def __init__(self, code: str, **values: Any) -> None:
        """Remember the code, with its variant, and what to fill in; `image` is filled in later."""
        super().__init__(code)
        self.variant = code
        self.values = values

    @property
    def code(self) -> str:
        """The code without the variant."""
        return self.variant.partition(".")[0]

    @property
    def about_registry(self) -> bool:
        """Whether it is about a registry or the network, and so about every image there."""
        return self.code >= "CC1250"

    @property
    def key(self) -> tuple[str, ...]:
        """Two problems that differ in the image alone have the same key."""
        return (self.variant, *(f"{name}={value}" for name, value in sorted(self.values.items())))

    def finding(self, image: str) -> Finding:
        """Make the finding about this image."""
        return finding(self.variant, image=image, **self.values)


def malformed(code: str, what: str, **values: Any) -> LockProblem:
    """Return the problem of content that matches its digest and is malformed.

    code: MALFORMED and a variant. what: which part of the image.
    """
    return LockProblem(code, what=what, **values)
