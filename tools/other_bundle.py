"""`python -m tools.other_bundle DIRECTORY`: the bundle for the other kind of machine, out of this one's, in DIRECTORY.

    what is compiled                    is exchanged by
    CPython                             that of the same Go module, tools/python314, for the other machine
    shared objects of the libraries     those of the other machine's wheels, by the hashes of requirements/run.txt
    the launcher                        tools/launcher, which Go builds for any machine

Rule of this file: everything else is the same file. CPython's library differs only in what a bundle leaves out, and
byte-code depends on CPython's version alone (docs/facts/python.md#a-cpython-that-can-be-moved). Each compiled file of
the result says in its head for which machine it is, and one of this machine is an error.
"""

import gzip
import os
import platform
import shutil
import sys
import tarfile
import tempfile

from krm_function.cli.build import LAUNCHER, LIBRARY, PYTHON
from tools import bundle, golang
from tools.cache import ToolError, say
from tools.interpreters import VERSIONS, install_one
from tools.machines import OTHERS, Machine

NAME = bundle.NAME.replace(platform.machine(), OTHERS[platform.machine()].name)


def build(directory: str) -> str:
    """Make the archive beside that of this machine; its path. Raises ToolError."""
    here = platform.machine()
    there = OTHERS[here]
    with tempfile.TemporaryDirectory() as work:
        with tarfile.open(os.path.join(directory, f"{bundle.NAME}.tar.gz")) as archive:
            archive.extractall(work, filter="data")
        own, made, stage = (os.path.join(work, name) for name in (bundle.NAME, NAME, "stage"))
        shutil.copytree(own, made, symlinks=True)
        _python(there, os.path.join(work, "modules"), os.path.join(made, PYTHON, "bin", "python3"))
        program = install_one(bundle.VERSION).program
        bundle.libraries(program, bundle.wheel_in(directory), stage, there.name)
        _exchange(os.path.join(made, LIBRARY), stage, here, there.name)
        _launcher(there, os.path.join(made, LAUNCHER))
        _notice(os.path.join(made, "NOTICE"), here, there.name)
        check(made, there)
        bundle.write_sums(made)
        return bundle.pack(os.path.join(own, PYTHON, "bin", "python3"), made, directory)


def _python(machine: Machine, modules: str, program: str) -> None:
    """Put the machine's CPython in place of this one's."""
    place = golang.source(golang.Tool(VERSIONS[bundle.VERSION], ()), modules)
    data = os.path.join(place, "python", "internal", "data", f"linux-{machine.go}", "bin")
    with gzip.open(os.path.join(data, f"python{bundle.VERSION}.gz")) as packed, open(program, "wb") as file:
        shutil.copyfileobj(packed, file)


def _exchange(library: str, stage: str, here: str, there: str) -> None:
    """Put shared objects of the other machine, and what is said of their wheels, in place of this one's."""
    for folder, _, names in os.walk(library):
        for name in names:
            if ".so" not in name and not folder.endswith(".dist-info"):
                continue
            os.unlink(os.path.join(folder, name))
            other = os.path.join(os.path.relpath(folder, library), name.replace(here, there))
            if not os.path.exists(os.path.join(stage, other)):
                raise ToolError(f"no wheel for {there} has {other}")
            shutil.copyfile(os.path.join(stage, other), os.path.join(library, other))


def _notice(path: str, here: str, there: str) -> None:
    """Write the names of the exchanged files; they are of the same versions."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(here, there))


def _launcher(machine: Machine, path: str) -> None:
    """Build the launcher for the machine."""
    launcher = golang.Tool("launcher", ())
    wanted = golang.pin(launcher)
    with golang.shared_modules():
        golang.build(launcher, wanted, golang.toolchain(wanted.go), path, machine.go)


def check(made: str, machine: Machine) -> None:
    """Raise ToolError for a compiled file that is not of the machine."""
    for folder, _, names in os.walk(made):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                head = file.read(20)
            if head.startswith(b"\x7fELF") and int.from_bytes(head[18:20], "little") != machine.elf:
                raise ToolError(f"{name} is not for {machine.name}")


def main(arguments: list[str]) -> int:
    """Make the archive; 0, or 1 with one line that says what is wrong."""
    if len(arguments) != 1:
        print("usage: python -m tools.other_bundle DIRECTORY", file=sys.stderr)
        return 2
    try:
        print(build(arguments[0]))
    except (ToolError, OSError, tarfile.TarError) as error:
        say(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
