"""Ajv, the validator that SchemaStore runs in its strict mode, as one script for Node.js out of an npm package.

`npm.py` fetches it; the one file that tests load is kept. Standard library only; it lies in the cache of `tools.cache`.
"""

import hashlib
import os
import tarfile

from tools.cache import ToolError, cache, fresh, locked, say
from tools.npm import Package, extract, fetched, node

AJV = Package(
    "ajv-dist",
    "8.17.1",
    "KzJwANMzTTR/RERGnkx+bHzmxIfMTPMMv7+cH1d6Lx9UQ7BZyhiieq4hnO5lRuBWOtYTUL8hyWs7RJYI/45Rtg==",
)
SCRIPT = "ajv7.min.js"  # JSON Schema up to draft 7


def ajv() -> tuple[str, str]:
    """Return the program of Node.js and the script. Raises ToolError if that is not there."""
    path = os.path.join(_place(), SCRIPT)
    if not os.path.exists(path):
        raise ToolError("ajv: not installed for its present pin; run `make tools`")
    return node()[0], path


def install() -> None:
    """Install the script unless it is there. Raises ToolError."""
    if os.path.exists(_place()):
        return
    with locked():
        if not os.path.exists(_place()):
            say(f"installing {AJV.name} {AJV.version} from npm")
            with fresh(_place()) as made:
                tarball = fetched(AJV, made)
                with tarfile.open(tarball) as archive:
                    extract(archive, f"package/dist/{SCRIPT}", os.path.join(made, SCRIPT))
                os.unlink(tarball)


def _place() -> str:
    """Return the directory of the script, named after its pin."""
    return os.path.join(cache(), f"ajv-{hashlib.sha256(repr(AJV).encode()).hexdigest()[:16]}")
