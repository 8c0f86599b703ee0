"""What a statement is made of: the files of a call with their digests, its options, and the program.

Rule of this file: records only. A name is the one that the caller gave, `-` for a standard stream; a digest is the
SHA-256 of the bytes that were read or written, 64 lower-case hexadecimal digits.
"""

import os
from collections.abc import Mapping
from typing import Literal

from krm_function.record import NamedTuple

Command = Literal["generate", "post-render"]
Role = Literal[
    "input",
    "config",
    "policy",
    "settings",
    "image-replacements",
    "add-workload-owner-key",
    "add-seedshare-owner-key",
    "manifest",
    "genpolicy",
]
Option = Literal[
    "add-seedshare-owner-key",
    "add-workload-owner-key",
    "disable-updates",
    "genpolicy",
    "image-replacements",
    "in-place",
    "inject-image-store",
    "manifest",
    "namespace",
    "policy",
    "reference-values",
    "settings",
    "skip-initializer",
    "skip-service-mesh",
]

STREAM = "-"  # the name of standard input and of standard output


class Artefact(NamedTuple):
    """A file, or the bytes of a standard stream."""

    name: str
    sha256: str


class Material(NamedTuple):
    """A file that was read. role: the option that named it; `input` for what is rendered."""

    role: Role
    name: str
    sha256: str


class Tool(NamedTuple):
    """The program. commit: "" if it is not known. build: as `contrast-krm version` names it."""

    version: str
    commit: str
    build: str


class Call(NamedTuple):
    """One call of a command.

    paths, config: as named on the command line. options: those that were given. release, profile: of the configuration,
    "" where there is none. engine: what makes the policies.
    """

    command: Command
    paths: tuple[str, ...]
    config: tuple[str, ...]
    options: Mapping[Option, bool | str | list[str]]
    release: str
    profile: str
    engine: Literal["native", "genpolicy", "none", ""]


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of some bytes in hexadecimal digits."""
    from hashlib import sha256

    return sha256(data).hexdigest()


def unicode_name(name: str) -> str:
    r"""Write a file name as Unicode: each byte that is no UTF-8 becomes \xNN."""
    return os.fsencode(name or STREAM).decode("utf-8", "backslashreplace")
