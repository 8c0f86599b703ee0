"""Outputs that are named like files and are none: descriptors, such as /dev/stdout, and devices, such as /dev/null.

Rule of this file: only paths that stand for a descriptor of this process, and character devices, count; a shell's
`>(command)` is such a path. They are written to and never replaced, renamed or read. Any other pipe is no output: to
open one waits for its reader.
"""

import os
from stat import S_ISCHR

NAMED = {"/dev/stdout": 1, "/dev/stderr": 2}
DIRECTORIES = ("/dev/fd", "/proc/self/fd")


def is_stream(path: str) -> bool:
    """Tell whether an output of this path is written to as it is."""
    return _descriptor(path) is not None or _is_device(path)


def write_stream(path: str, data: bytes) -> None:
    """Write all of the data. Raises OSError."""
    known = _descriptor(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_NOCTTY) if known is None else known
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        if known is None:
            os.close(descriptor)


def _descriptor(path: str) -> int | None:
    """Return the number of the descriptor that a path stands for."""
    directory, _, name = path.rpartition("/")
    if directory in DIRECTORIES and name.isascii() and name.isdecimal() and len(name) < 10:
        return int(name)
    return NAMED.get(path)


def _is_device(path: str) -> bool:
    try:
        return S_ISCHR(os.stat(path).st_mode)
    except OSError:
        return False
