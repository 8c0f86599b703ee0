"""Tools that cannot be built from a pin here and are taken from PATH, if they are exactly the program we know.

kpt: the module proxy serves v1.0.0-beta.61, but Go's checksum database does not know it and cannot vouch for it; we do
not switch that check off. The release binary of 1.0.0-beta.56 (package google-cloud-cli-kpt) is taken instead, by the
digest of its bytes. `CONTRAST_KRM_KPT` names another place for the same bytes.
"""

import hashlib
import os
import shutil
from typing import NamedTuple

from tools.cache import ToolError


class Found(NamedTuple):
    """One known program: its version and the SHA-256 of its bytes by platform."""

    name: str
    version: str
    variable: str
    sha256: tuple[str, ...]
    remedy: str


FOUND = (
    Found(
        "kpt",
        "1.0.0-beta.56",
        "CONTRAST_KRM_KPT",
        ("669ea9b583b2bbe16f5928f7b43ccae36a05e975cbc881c3304ad600bc010db4",),  # linux/amd64
        "install google-cloud-cli-kpt 528.0.0 or put the release binary on PATH",
    ),
)


def locate(known: Found) -> str:
    """Return the program's path; raise ToolError if it is missing or another one."""
    path = os.environ.get(known.variable) or shutil.which(known.name)
    if not path or not os.access(path, os.X_OK):
        raise ToolError(f"{known.name} {known.version}: not on PATH; {known.remedy}")
    path = os.path.realpath(path)
    with open(path, "rb") as program:
        digest = hashlib.file_digest(program, "sha256").hexdigest()
    if digest not in known.sha256:
        raise ToolError(f"{known.name}: {path} is not version {known.version} as we know it; {known.remedy}")
    return path
