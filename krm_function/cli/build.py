"""Which build of the program this is, and its files."""

import json
import os
import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from typing import Any, Literal

import krm_function
from krm_function.findings import DOCUMENTATION, Finding, finding
from krm_function.record import NamedTuple

# --- The files of the running program: its own packages, and every distribution it depends on
#
# Rule: the list comes from the metadata of the installed distributions, so the copy is what was tested; nothing is
# downloaded. Extras in EXTRAS are copied if they are installed. Bytecode is left out, because it is compiled again.


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
    for name in _collect_dependencies(program):
        members += _list_files(distribution(name))
    return sorted(set(members))


def _program_files() -> Iterator[Member]:
    """Yield the files of this program's packages: an editable install has them in a source tree."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(krm_function.__file__)))
    for package in PACKAGES:
        for directory, below, names in os.walk(os.path.join(root, package)):
            below[:] = [name for name in below if name != CACHE]
            for name in names:
                path = os.path.join(directory, name)
                yield Member(os.path.relpath(path, root), path)


def _program_metadata(program: Distribution) -> Iterator[Member]:
    directory = f"{PROGRAM.replace('-', '_')}-{program.version}.dist-info"
    for name in OWN_METADATA:
        source = str(program.locate_file(f"{directory}/{name}"))
        if os.path.isfile(source):
            yield Member(f"{directory}/{name}", source)


def _collect_dependencies(program: Distribution) -> list[str]:
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
            if _normalise(name) in needed:
                continue
            try:
                installed = distribution(name)
            except PackageNotFoundError:
                if marker:  # not for this Python or system, or of an extra that is not installed
                    continue
                raise
            needed[_normalise(name)] = None
            waiting.append(installed)
    return list(needed)


def _normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _list_files(installed: Distribution) -> Iterator[Member]:
    if not installed.files:
        raise NotCopied(f"{installed.name} does not say which files it has; install it with pip")
    for file in installed.files:
        if ".." not in file.parts and CACHE not in file.parts and not file.name.endswith(".pyc"):
            yield Member(str(file), str(file.locate()))


# --- A bundle: this program, its dependencies and its own Python, in one folder that the launcher finds
#
#     ROOT/contrast-krm         the launcher, a program that needs nothing but the C library (tools/launcher)
#     ROOT/start.py             what the launcher gives to the Python
#     ROOT/python/              CPython; its program is bin/python3
#     ROOT/lib/                 the code and its libraries, as `contrast-krm install` copies them
#     ROOT/share/               completions of shells
#     ROOT/LICENSE, ROOT/NOTICE the license of this program; the parts, with their versions and licenses
#     ROOT/SHA256SUMS           the digest of every other file, as `sha256sum --check` reads it
#
# Rule: the program runs as a bundle if its code and the Python that runs it are in one folder under these names; no
# variable and no file decides that. tools/bundle.py makes the folder.


LAUNCHER = "contrast-krm"
PYTHON = "python"
LIBRARY = "lib"
SUMS = "SHA256SUMS"


def bundle_root() -> str:
    """Return the folder of the running bundle, "" if the program is not a bundle."""
    root, library = os.path.split(os.path.dirname(os.path.dirname(os.path.realpath(krm_function.__file__))))
    inside = library == LIBRARY and os.path.realpath(sys.prefix) == os.path.join(root, PYTHON)
    return root if inside and os.path.isfile(os.path.join(root, SUMS)) else ""


def bundle_files(root: str) -> list[Member]:
    """Return every file of a bundle, and no other files in that folder. Raises OSError."""
    with open(os.path.join(root, SUMS), encoding="utf-8") as sums:
        names = [SUMS, *(line.rstrip("\n").partition("  ")[2] for line in sums)]
    return [Member(name, os.path.join(root, name)) for name in sorted(names)]


# --- Which build of the program this is, and of which commit
#
# Truth table, first row that holds:
#
#     condition                                               kind       commit
#     it runs from a bundle (see above)                       bundle     the one that the build wrote
#     it is below lib/ of a `contrast-krm install`            copy       the one that the build wrote
#     its environment is where the Dockerfile makes it        image      the one that the build wrote
#     the release workflow has written commit and address     release    that one
#     pip has noted a repository                              git        the one that pip noted
#     pip has noted an editable directory                     editable   not known
#     pip has noted anything else, or nothing                 package    the one that the build wrote
#     there are no notes of any installer                     source     not known
#
# A build writes the commit where it is made in a clone without changes (tools/build_hook.py).
#
# Source: https://packaging.python.org/en/latest/specifications/direct-url/.


NOTE = "direct_url.json"
IMAGE = "/opt/contrast-krm"

BuildKind = Literal["bundle", "image", "copy", "release", "git", "editable", "package", "source"]


class Build(NamedTuple):
    """The version, the kind, and the commit: 40 hexadecimal digits, "" if not known."""

    version: str
    kind: BuildKind
    commit: str = ""


def this_build() -> Build:
    """Return the build of the running program."""
    version, commit = krm_function.__version__, krm_function.__commit__
    if bundle_root():
        return Build(version, "bundle", commit)
    if _is_copy(os.path.dirname(os.path.dirname(os.path.abspath(krm_function.__file__)))):
        return Build(version, "copy", commit)
    if sys.prefix == IMAGE:
        return Build(version, "image", commit)
    if commit and DOCUMENTATION:
        return Build(version, "release", commit)
    try:
        note = distribution(PROGRAM).read_text(NOTE)
    except PackageNotFoundError:
        return Build(version, "source")
    return _read_note(version, note, commit)


def _is_copy(directory: str) -> bool:
    parent, name = os.path.split(directory)
    return os.path.basename(parent) == "lib" and name.startswith(f"{PROGRAM}-")


def _read_note(version: str, note: str | None, written: str) -> Build:
    """Return the build that pip has noted.

    note: the text of direct_url.json, None if there is none. written: the commit of the build, "" if not known.
    """
    try:
        noted: Any = json.loads(note or "{}")
    except ValueError:
        noted = {}
    match noted:
        case {"vcs_info": {"commit_id": str() as commit}}:
            return Build(version, "git", commit)
        case {"dir_info": {"editable": True}}:
            return Build(version, "editable")
        case _:
            return Build(version, "package", written)


# --- The Python packages that single commands need, and the extra of this distribution that installs them
#
# Rule: a render does not need them. Each is imported late, where it is used. All commands pass through one place, which
# catches a missing package before anything is written, and names the command that installs it.


NEEDED_EXTRAS = {  # package -> extra, and the part of the command line that needs it
    "urllib3": ("lock", "lock"),
    "tqdm": ("lock", "lock"),
    "backports": ("lock", "lock"),
    "kubernetes": ("cluster", "--cluster"),
    "jinja2": ("html", "--output"),
    "jsonpatch": ("settings", "--settings"),
    "shtab": ("completion", "completion"),
}
SHARED = ("urllib3", "backports")  # the extra `cluster` installs the former, too; newer Pythons need no backports


MANAGED = {  # a file in the environment of the program that manages it -> the command that adds an extra
    "pipx_metadata.json": "pipx install --force",
    "uv-receipt.toml": "uv tool install",
}


def missing_extra(error: ModuleNotFoundError, *, cluster: bool = False) -> Finding | None:
    """Return the finding for a package that an extra installs; None for any other module, whose absence is a bug.

    cluster: whether the call has --cluster, whose client imports urllib3.
    """
    package = (error.name or "").partition(".")[0]
    if cluster and package == "urllib3":
        package = "kubernetes"
    if package not in NEEDED_EXTRAS:
        return None
    extra, option = NEEDED_EXTRAS[package]
    if this_build().kind in {"bundle", "copy"}:  # there is no pip
        return finding("CC0909.package-copy", option=option, package=package, extra=extra)
    install = next((command for file, command in MANAGED.items() if os.path.isfile(os.path.join(sys.prefix, file))), "")
    if install:  # it replaces the whole environment
        installed = [of for name, (of, _) in NEEDED_EXTRAS.items() if name not in SHARED and find_spec(name)]
        extra = ",".join(dict.fromkeys((*installed, extra)))
    return finding("CC0909.package", option=option, package=package, extra=extra, install=install or "pip install")
