"""Layers entry by entry, and what containerd's own code makes of them: tools/containerd, one process for a test run."""

import base64
import io
import json
import subprocess
import tarfile
from collections.abc import Sequence
from threading import Event
from types import TracebackType
from typing import NamedTuple, Self

from krm_function.lock.layers import Layer, accounts, scan
from krm_function.lock.media import Budget, Descriptor, LockProblem
from tests.lock.content import digest
from tools.real import tool

FILES = ("/etc/passwd", "/etc/group")


class Entry(NamedTuple):
    """One member. kind: the type flag as text; value: the content of a file, the target of a link."""

    name: str
    kind: str = "0"
    value: str = ""


def packed(entries: Sequence[Entry]) -> bytes:
    """The archive, in the order of the entries."""
    out = io.BytesIO()
    for entry in entries:
        member = tarfile.TarInfo(entry.name)
        member.type = entry.kind.encode()
        member.mode = 0o755
        data = entry.value.encode() if entry.kind in "0g" else b""
        if entry.kind in "12":
            member.linkname = entry.value
        if entry.kind == "g":
            data = b"13 comment=a\n"
        member.size = len(data)
        out.write(member.tobuf(tarfile.USTAR_FORMAT, "utf-8", "surrogateescape"))
        out.write(data.ljust(-(-len(data) // 512) * 512, b"\0"))
    return out.getvalue() + bytes(1024)


def ours(layers: Sequence[bytes]) -> tuple[str | None, str | None] | LockProblem:
    """Both files as the lock has them, or why it refuses."""
    parts = [Descriptor("", digest(data), number) for number, data in enumerate(layers)]

    def reader(part: Descriptor, watched: frozenset[str]) -> Layer:
        return scan([layers[part.size]], watched, 1 << 24, Budget(600, Event()))

    try:
        made = accounts(parts, [digest(data) for data in layers], reader)
    except LockProblem as problem:
        return problem
    return made[:2]


class Unpacker:
    """containerd's archive.Apply into a new directory each time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([tool("containerd")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def unpacked(self, layers: Sequence[bytes]) -> tuple[str | None, str | None] | str:
        """Both files, or the error with which a pod with this image would not start."""
        question = {"layers": [base64.b64encode(layer).decode() for layer in layers], "files": FILES}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question).encode() + b"\n")
        self._process.stdin.flush()
        said = json.loads(self._process.stdout.readline())
        if "error" in said:
            return str(said["error"])
        passwd, group = (
            None if one is None else base64.b64decode(one).decode("utf-8", "backslashreplace") for one in said["files"]
        )
        return passwd, group

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()
