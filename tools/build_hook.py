"""The build backend's hook: a build in a clone knows the commit of it, and a wheel has the completions of shells.

Rule of this file: only a commit that is exactly what is built is noted, so none of a tree with changes, none of a
repository that merely lies around the tree, and none where there is no git. A commit that the release workflow has
written (tools/stamp.py) stays, and so does that of an unpacked source distribution. Completions are what the
command `completion` of the tree prints, so a build needs PyYAML and shtab.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NOTED = "krm_function/__init__.py"
EMPTY = '\n__commit__ = ""'
COMPLETIONS = {  # shell -> where its completion looks below a prefix
    "bash": "share/bash-completion/completions/contrast-krm",
    "zsh": "share/zsh/site-functions/_contrast-krm",
    "fish": "share/fish/vendor_completions.d/contrast-krm.fish",
}
PROGRAM = "from krm_function.cli import main; raise SystemExit(main())"


def commit_of(root: str) -> str:
    """Return the commit that a directory is, without any change; "" if it is none."""
    top = _git(root, "rev-parse", "--show-toplevel", "HEAD").split()
    if len(top) != 2 or os.path.realpath(top[0]) != os.path.realpath(root):
        return ""
    return "" if _git(root, "status", "--porcelain") else top[1]


class BuildHook(BuildHookInterface[Any]):
    """Puts the package's `__init__.py` with the commit in the place of the one in the tree, and adds completions."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to what is built. version: of the build."""
        if version == "editable":
            return
        text = (Path(self.root) / NOTED).read_text(encoding="utf-8")
        commit = commit_of(self.root) if EMPTY in text else ""
        self.temporary = tempfile.TemporaryDirectory()
        noted = text.replace(EMPTY, f'{EMPTY[:-1]}{commit}"')
        build_data["force_include"][self._written("__init__.py", noted.encode())] = NOTED
        if self.target_name == "wheel":
            for shell, place in COMPLETIONS.items():
                call = [sys.executable, "-B", "-c", PROGRAM, "completion", shell]
                script = subprocess.run(call, cwd=self.root, stdout=subprocess.PIPE, check=True).stdout
                build_data["shared_data"][self._written(shell, script)] = place

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the files again."""
        if hasattr(self, "temporary"):
            self.temporary.cleanup()

    def _written(self, name: str, content: bytes) -> str:
        path = Path(self.temporary.name) / name
        path.write_bytes(content)
        path.chmod(0o644)
        return str(path)


def _git(root: str, *arguments: str) -> str:
    """Return what git says, "" where there is no git or it refuses."""
    try:
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
