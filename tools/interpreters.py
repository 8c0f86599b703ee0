"""Other CPythons than the one that runs the tests: native ones with the locked dependencies, and one in WebAssembly.

Each comes out of a Go module that carries a whole CPython for Linux and macOS, built like the other tools
(`tools/python312` and so on), checked by its go.sum, and unpacked into the cache once. Its libraries are the wheels of
`requirements/run.txt`, by their hashes. What a program does not need is left out: copies of the shared library make up
half of it. What nothing carries a native one of is taken as Pyodide, CPython for WebAssembly, from npm.
"""

import hashlib
import os
import shutil
import sys
import tarfile
from typing import NamedTuple

from tools.cache import HERE, ToolError, cache, fresh, locked, run, say
from tools.npm import Package, fetched, node
from tools.real import tool

REQUIREMENTS = os.path.join(os.path.dirname(HERE), "requirements", "run.txt")
VERSIONS = {"3.12": "python312", "3.13": "python313", "3.14": "python314"}  # version: the tool that carries it

WASM = "3.15"  # no native one and no wheel of PyYAML yet
PYODIDE = Package(
    "pyodide",
    "315.0.0-alpha.2",  # CPython 3.15.0rc1
    "t2S0rr9u1B2XHfooqGbOPT7EelM3kWkj1pJBgtVCn9Am6a1ByuU5FPq0wJHeapgyUM+r8MTx/1YRTXo3DaG2KA==",
)


class Interpreter(NamedTuple):
    """A CPython: its version, its program, and the directory of the libraries that were installed for it."""

    version: str
    program: str
    libraries: str


def interpreter(version: str) -> Interpreter:
    """Return an interpreter out of the cache. Raises ToolError if it is not there."""
    place = _place(version)
    program = _program(os.path.join(place, "python"), version)
    if not os.access(program, os.X_OK):
        raise ToolError(f"Python {version}: not unpacked for its present pin; run `make tools`")
    return Interpreter(version, program, os.path.join(place, "libraries"))


def pyodide() -> tuple[str, str]:
    """Return the program of Node and the directory of Pyodide. Raises ToolError if that is not there."""
    place = _pyodide_place()
    if not os.path.exists(place):
        raise ToolError("pyodide: not unpacked for its present pin; run `make tools`")
    return node()[0], place


def install() -> None:
    """Unpack the interpreters that are missing, out of tools that are built. Raises ToolError."""
    _install_pyodide()
    for version in VERSIONS:
        install_one(version)


def install_one(version: str) -> Interpreter:
    """Unpack one native interpreter unless it is there, out of its tool, which is built. Raises ToolError."""
    place = _place(version)
    if not os.path.exists(place):
        with locked():
            if not os.path.exists(place):
                say(f"unpacking Python {version} and installing its libraries")
                with fresh(place) as made:
                    _unpack(version, os.path.join(made, "python"))
                    _install_libraries(_program(os.path.join(made, "python"), version), os.path.join(made, "libraries"))
    return interpreter(version)


def _install_pyodide() -> None:
    place = _pyodide_place()
    if os.path.exists(place):
        return
    with locked():
        if not os.path.exists(place):
            say(f"installing {PYODIDE.name} {PYODIDE.version} from npm")
            with fresh(os.path.dirname(place)) as made:
                path = fetched(PYODIDE, made)
                with tarfile.open(path) as archive:
                    archive.extractall(made, filter="data")
                os.unlink(path)


def _pyodide_place() -> str:
    digest = hashlib.sha256(repr(PYODIDE).encode()).hexdigest()[:16]
    return os.path.join(cache(), f"pyodide-{digest}", "package")


def _place(version: str) -> str:
    """Return the directory of an interpreter, named after what decides its content."""
    carrier = os.path.basename(os.path.dirname(os.path.realpath(tool(VERSIONS[version]))))
    with open(REQUIREMENTS, "rb") as file:
        digest = hashlib.sha256(carrier.encode() + file.read()).hexdigest()[:16]
    return os.path.join(cache(), f"interpreter-{version}-{digest}")


def _program(home: str, version: str) -> str:
    return os.path.join(home, "bin", f"python{version}")


def _unpack(version: str, home: str) -> None:
    done = run([tool(VERSIONS[version]), home], HERE, os.environ)
    if done.returncode != 0:
        raise ToolError(f"Python {version}: cannot be unpacked: {done.stderr.strip()}")
    wanted = (f"python{version}", f"libpython{version}.so.1.0", f"libpython{version}.dylib")
    for directory in ("bin", "lib"):
        for entry in os.scandir(os.path.join(home, directory)):
            if entry.name not in wanted:
                shutil.rmtree(entry) if entry.is_dir(follow_symlinks=False) else os.unlink(entry)


def _install_libraries(program: str, into: str) -> None:
    """Install with the pip that runs us, under the other interpreter, whose version the lock's markers ask about."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", program, "install", "--quiet"]
    wheels = ["--only-binary", ":all:", "--target", into, "--require-hashes", "-r", REQUIREMENTS]
    done = run([*pip, *wheels], HERE, os.environ)
    if done.returncode != 0:
        raise ToolError(f"{os.path.basename(program)}: pip could not install its libraries: {done.stderr.strip()}")
