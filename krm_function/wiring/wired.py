"""The input and the result of wiring the function into a host's file.

Rule of this file: records only.
"""

from krm_function.findings import Finding
from krm_function.record import NamedTuple


class Files(NamedTuple):
    """The configuration files of a deployment, as its host's file names them."""

    generate: str
    release: str
    lock: str


class Wired(NamedTuple):
    """A host's file with the function in it. added: what was added, a phrase each."""

    text: str
    added: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
