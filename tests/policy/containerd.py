"""containerd's own answer to who a process of an image runs as: tools/containerd, one process for a test run."""

import json
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from tools.real import tool


class Found(NamedTuple):
    """User and groups of a process as containerd writes them into the OCI runtime specification."""

    uid: int
    gid: int
    groups: frozenset[int]


class Containerd:
    """WithUser and WithAdditionalGIDs of containerd, on a directory with the two files of an image."""

    def __init__(self, root: Path) -> None:
        self._root = root
        (root / "etc").mkdir()
        self._process = subprocess.Popen(
            [tool("containerd")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def unpack(self, passwd: str | None, group: str | None) -> None:
        """Write the two files; None: there is none."""
        for name, text in (("passwd", passwd), ("group", group)):
            path = self._root / "etc" / name
            path.unlink(missing_ok=True)
            if text is not None:
                path.write_bytes(text.encode())

    def look(self, user: str, member: str | None) -> Found | str:
        """Who a process is for a user string and, None with Strict, the user whose groups are added; or an error."""
        said = self._said({"root": str(self._root), "user": user, "member": member})
        if "error" in said:
            return str(said["error"])
        return Found(said["uid"], said["gid"], frozenset(said["groups"]) | frozenset(said["more"] or ()))

    def _said(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        said: dict[str, Any] = json.loads(self._process.stdout.readline())
        return said

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()
