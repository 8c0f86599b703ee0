"""What the running program consists of: its own packages, and every distribution it depends on.

Rule of this file: the answer comes from the metadata of what is installed here, so the copy is what was tested; nothing
is downloaded. Of the extras, those in EXTRAS are copied if they are installed. Bytecode is left out, because it is
compiled again.
"""

import os
import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from krm_function.record import NamedTuple

PROGRAM = "contrast-krm"
PACKAGES = ("krm_function", "helm_plugin")
OWN_METADATA = ("METADATA", "licenses/LICENSE")  # an editable install has more, and it names places of this machine
CACHE = "__pycache__"
EXTRAS = frozenset(("lock", "html", "settings", "completion"))  # not the Kubernetes client, which has 126 MB
_EXTRA = re.compile(r"extra *== *['\"]([^'\"]+)['\"]")


class Member(NamedTuple):
    """One file of the copy. name: below the copy, with slashes."""

    name: str
    source: str


class NotCopied(Exception):
    """A distribution whose metadata lists no files."""


def installed_files() -> list[Member]:
    """Return every file, sorted by name. Raises NotCopied."""
    program = distribution(PROGRAM)
    members = [*_program_files(), *_program_metadata(program)]
    for name in _needed(program):
        members += _files(distribution(name))
    return sorted(set(members))


def _program_files() -> Iterator[Member]:
    """Yield the files of this program's packages, wherever they are: an editable install has them in a source tree."""
    import krm_function

    root = os.path.dirname(os.path.dirname(os.path.abspath(krm_function.__file__)))
    for package in PACKAGES:
        for directory, below, names in os.walk(os.path.join(root, package)):
            below[:] = [name for name in below if name != CACHE]
            for name in names:
                path = os.path.join(directory, name)
                yield Member(os.path.relpath(path, root), path)


def _program_metadata(program: Distribution) -> Iterator[Member]:
    """Yield the metadata by which the copy knows its own name, and the license."""
    directory = f"{PROGRAM.replace('-', '_')}-{program.version}.dist-info"
    for name in OWN_METADATA:
        source = str(program.locate_file(f"{directory}/{name}"))
        if os.path.isfile(source):
            yield Member(f"{directory}/{name}", source)


def _needed(program: Distribution) -> list[str]:
    """Return the names of all distributions that are needed, directly or not."""
    needed: dict[str, None] = {}
    waiting = [program]
    while waiting:
        wanting = waiting.pop()
        for line in wanting.requires or ():
            requirement, _, marker = line.partition(";")
            extra = _EXTRA.search(marker)
            if extra and (extra[1] not in EXTRAS or wanting is not program):
                continue
            name = re.split(r"[^A-Za-z0-9._-]", requirement.strip(), maxsplit=1)[0]
            if _normalised(name) in needed:
                continue
            try:
                installed = distribution(name)
            except PackageNotFoundError:
                if marker:  # not for this Python or system, or of an extra that is not installed
                    continue
                raise
            needed[_normalised(name)] = None
            waiting.append(installed)
    return list(needed)


def _normalised(name: str) -> str:
    """Return a name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _files(installed: Distribution) -> Iterator[Member]:
    """Yield the files of an installed distribution, without its scripts."""
    if not installed.files:
        raise NotCopied(f"{installed.name} does not say which files it has; install it with pip")
    for file in installed.files:
        if ".." not in file.parts and CACHE not in file.parts and not file.name.endswith(".pyc"):
            yield Member(str(file), str(file.locate()))
