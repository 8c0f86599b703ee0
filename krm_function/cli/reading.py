"""How a command reads the files that its options name: plainly, or with a memory of their digests (attest.py).

Rule of this file: each file is read once, through the reader of the call, so that a digest is that of what was used.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from krm_function.hosts.files import read_file

if TYPE_CHECKING:
    from krm_function.provenance.records import Role

Read = Callable[["Role", str], bytes]  # of which option, path -> content. Raises FileProblem


def read_plainly(_role: "Role", path: str) -> bytes:
    """Read a file. Raises FileProblem."""
    return read_file(path)
