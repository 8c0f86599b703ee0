"""Which build of the program this is, and of which commit.

Truth table, first row that holds:

    what is known                                           kind       commit
    its own Python stands beside it (cli/install/bundle.py) bundle     that which the build wrote
    it is below lib/ of a `contrast-krm install`            copy       that which the build wrote
    its environment is where the Dockerfile makes it        image      that which the build wrote
    the release workflow has written commit and address     release    that
    pip has noted a repository                              git        the one that pip noted
    pip has noted an editable directory                     editable   not known
    pip has noted anything else, or nothing                 package    that which the build wrote
    there are no notes of any installer                     source     not known

A build writes the commit where it is made in a clone without changes (tools/commit_hook.py).

Source: https://packaging.python.org/en/latest/specifications/direct-url/.
"""

import json
import os
import sys
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any, Literal

import krm_function
from krm_function.cli.install.bundle import bundle_root
from krm_function.findings.documentation import DOCUMENTATION
from krm_function.record import NamedTuple

PROGRAM = "contrast-krm"
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
    return _noted(version, note, commit)


def _is_copy(directory: str) -> bool:
    parent, name = os.path.split(directory)
    return os.path.basename(parent) == "lib" and name.startswith(f"{PROGRAM}-")


def _noted(version: str, note: str | None, written: str) -> Build:
    """Return the build as pip has noted it.

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
