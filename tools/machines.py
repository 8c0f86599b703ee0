"""The kinds of machines that a release has programs for, all of Linux."""

from typing import NamedTuple


class Machine(NamedTuple):
    """A kind of machine: as Linux and wheels name it, as Go and OCI images do, and `e_machine` of its ELF files."""

    name: str
    go: str
    elf: int


X86, ARM = Machine("x86_64", "amd64", 62), Machine("aarch64", "arm64", 183)
MACHINES = {one.name: one for one in (X86, ARM)}
OTHERS = {X86.name: ARM, ARM.name: X86}
