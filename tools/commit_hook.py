"""The build backend's hook: a wheel or source distribution that is built in a clone knows the commit of it.

Rule of this file: only a commit that is exactly what is built is noted, so none of a tree with changes, none of a
repository that merely lies around the tree, and none where there is no git. A commit that the release workflow has
written (tools/stamp.py) stays, and so does that of an unpacked source distribution.
"""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NOTED = "krm_function/__init__.py"
EMPTY = '\n__commit__ = ""'


def commit_of(root: str) -> str:
    """Return the commit that a directory is, without any change; "" if it is none."""
    top = _git(root, "rev-parse", "--show-toplevel", "HEAD").split()
    if len(top) != 2 or os.path.realpath(top[0]) != os.path.realpath(root):
        return ""
    return "" if _git(root, "status", "--porcelain") else top[1]


class CommitHook(BuildHookInterface[Any]):
    """Puts the package's `__init__.py` with the commit in the place of the one in the tree."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file to what is built, in the same place with a commit or without. version: of the build."""
        if version == "editable":
            return
        text = (Path(self.root) / NOTED).read_text(encoding="utf-8")
        commit = commit_of(self.root) if EMPTY in text else ""
        self.directory_of_note = tempfile.TemporaryDirectory()
        path = Path(self.directory_of_note.name) / "__init__.py"
        path.write_text(text.replace(EMPTY, f'{EMPTY[:-1]}{commit}"'), encoding="utf-8")
        path.chmod(0o644)
        build_data["force_include"][str(path)] = NOTED

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the file again."""
        if hasattr(self, "directory_of_note"):
            self.directory_of_note.cleanup()


def _git(root: str, *arguments: str) -> str:
    """Return what git says, "" where there is no git or it refuses."""
    try:
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
