"""The places of a container's file system that a host must not choose, since what stands there decides what runs.

Rule of this file: a row has its public reason. What a container's own command names is not in it; the stage
`host_mounts` finds that. Parts of a path may be patterns. A tree is guarded with all that is below it.
"""

from functools import lru_cache
from typing import Literal

from krm_function.model.mount_points import covers, touches
from krm_function.record import NamedTuple

Extent = Literal["file", "tree"]


class Place(NamedTuple):
    """A guarded place. code: of the finding that says what stands there."""

    path: str
    extent: Extent
    code: str


SECRETS = "/contrast"
_LOADER, _SHELL, _PYTHON = "CC0820.loader", "CC0820.shell", "CC0820.python"

PLACES = (
    Place(SECRETS, "tree", "CC0820.secrets"),  # docs/facts/contrast.md#initializer
    # ld.so(8), ldconfig(8); musl: "Dynamic linker" of its manual. The loader itself, and the C library of every program
    *(
        Place(path, "file", _LOADER)
        for path in (
            *("/etc/ld.so.preload", "/etc/ld.so.conf", "/etc/ld.so.cache", "/etc/ld-musl-*.path"),
            *("/lib/ld-*", "/lib32/ld-*", "/lib64/ld-*", "/lib/x86_64-linux-gnu/ld-*"),
            *("/lib/libc.*", "/lib64/libc.*", "/lib/x86_64-linux-gnu/libc.*"),
        )
    ),
    Place("/etc/ld.so.conf.d", "tree", _LOADER),
    # bash(1) "FILES", dash(1), zsh(1) "FILES"
    *(
        Place(path, "file", _SHELL)
        for path in (
            *("/etc/profile", "/etc/bash.bashrc", "/etc/bashrc", "/etc/zshenv", "/etc/zsh/zshenv"),
            *("/root/.profile", "/root/.bash_profile", "/root/.bash_login", "/root/.bashrc", "/root/.zshenv"),
        )
    ),
    Place("/etc/profile.d", "tree", _SHELL),
    # https://docs.python.org/3/library/site.html
    *(
        Place(f"{base}/{name}customize.*", "file", _PYTHON)
        for base in ("/usr/lib/python3*", "/usr/local/lib/python3*", "/usr/local/lib/python3*/site-packages")
        for name in ("site", "user")
    ),
)


@lru_cache(maxsize=1024)
def guarded_place(mount: str) -> Place | None:
    """Return the first guarded place about which a mount decides, None if there is none."""
    for place in PLACES:
        if touches(mount, place.path) if place.extent == "tree" else covers(mount, place.path):
            return place
    return None
