"""How a command reads the files that its options name: plainly, or with a memory of their digests (attest/).

Rule of this file: each file is read once, through the reader of the call, so that a digest is that of what was used.
"""

from typing import TYPE_CHECKING, Protocol

from krm_function.hosts.files import read_file

if TYPE_CHECKING:
    from krm_function.provenance.statement_parts import Role


class ReadFile(Protocol):
    """Reads one file, as `hosts.files.read_file` does. root: the directory in which it has to be, "" for any."""

    def __call__(self, path: str, root: str = "", /) -> bytes:
        """Return its content. Raises FileProblem."""


class Read(Protocol):
    """The same, for the option that names the file."""

    def __call__(self, role: "Role", path: str, root: str = "", /) -> bytes:
        """Return its content. Raises FileProblem."""


def read_plainly(_role: "Role", path: str, root: str = "") -> bytes:
    """Read a file. Raises FileProblem."""
    return read_file(path, root)
