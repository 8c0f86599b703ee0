"""`python -m benchmarks.forms [DIST]`: what each form of installation costs, out of what was built into DIST (`dist`).

Rule of this file: a form is one entry of FORMS, which installs it into a directory of its own and says how it is
called, or why it is not measured. All run in turn, `python -c pass` among them, and the figures are ratios to that:
the median of the turns, and in brackets that of the least times. Sizes are what has to be fetched, and what lies on the
disk afterwards. Libraries have the versions of requirements/run.txt; pip fetches them from where it finds packages.
"""

import glob
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.inputs import quickstart, written
from benchmarks.measure import Program, in_turn
from benchmarks.peers import interpreter

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.dirname(sys.executable)
LIBRARIES = ("pyyaml", "cryptography", "cffi", "pycparser")  # of a wheel without extras
QUICK = os.path.join(ROOT, "examples", "quickstart")
CALLS = {
    "--version": ("--version",),
    "quickstart as files": ("generate", os.path.join(QUICK, "resources"), "--config", os.path.join(QUICK, "config")),
    "as a ResourceList": ("fn",),
}
RUNS = 30


class Installed(NamedTuple):
    """How a form is called, the directory that holds all of it, and the files that were fetched for it."""

    command: tuple[str, ...]
    place: str
    fetched: Sequence[str]


class Form(NamedTuple):
    """install(dist, directory): out of the files in dist, into a new directory. Raises LookupError with the reason."""

    name: str
    install: Callable[[str, str], Installed]


def in_environment(dist: str, directory: str) -> Installed:
    """Install the wheel in a virtual environment, by pip."""
    wheels = _wheels(dist, directory)
    _run(sys.executable, "-m", "venv", os.path.join(directory, "venv"))
    python = os.path.join(directory, "venv", "bin", "python")
    _run(python, "-m", "pip", "install", "--quiet", "--no-index", *wheels)
    _run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "pip")
    return Installed((os.path.join(directory, "venv", "bin", "contrast-krm"),), os.path.join(directory, "venv"), wheels)


def by_pipx(dist: str, directory: str) -> Installed:
    """Install the wheel by pipx, without the pip that its environments share."""
    wheels = _wheels(dist, directory)
    variables = {"PIPX_HOME": os.path.join(directory, "pipx"), "PIPX_BIN_DIR": os.path.join(directory, "bin")}
    variables |= {f"PIPX_{name}_DIR": os.path.join(directory, name.lower()) for name in ("MAN", "COMPLETION")}
    variables["PIP_FIND_LINKS"] = os.path.join(directory, "wheels")
    _run(os.path.join(BIN, "pipx"), "install", "--backend", "pip", wheels[0], **variables)
    place = os.path.join(directory, "pipx", "venvs", "contrast-krm")
    return Installed((os.path.join(directory, "bin", "contrast-krm"),), place, wheels)


def by_uv(dist: str, directory: str) -> Installed:
    """Install the wheel by `uv tool install`."""
    wheels = _wheels(dist, directory)
    variables = {"UV_TOOL_DIR": os.path.join(directory, "tools"), "UV_TOOL_BIN_DIR": os.path.join(directory, "bin")}
    _run(os.path.join(BIN, "uv"), "tool", "install", *_uv(directory), wheels[0], **variables)
    place = os.path.join(directory, "tools", "contrast-krm")
    return Installed((os.path.join(directory, "bin", "contrast-krm"),), place, wheels)


def by_uvx(dist: str, directory: str) -> Installed:
    """Call the wheel by `uvx`, whose cache is warm after the first call."""
    wheels = _wheels(dist, directory)
    command = (os.path.join(BIN, "uvx"), *_uv(directory), "--from", wheels[0], "contrast-krm")
    _run(*command, "--version")
    return Installed(command, os.path.join(directory, "cache"), wheels)


def bundle(dist: str, directory: str) -> Installed:
    """Unpack the bundle."""
    archive = _one(os.path.join(dist, "contrast-krm-*-linux-*.tar.gz"), "make bundle")
    with tarfile.open(archive) as packed:
        packed.extractall(directory, filter="data")
    place = _one(os.path.join(directory, "*"), "")
    return Installed((os.path.join(place, "contrast-krm"),), place, (archive,))


FORMS = (
    Form("wheel in a virtual environment", in_environment),
    Form("wheel by pipx", by_pipx),
    Form("wheel by uv tool install", by_uv),
    Form("wheel by uvx, cache warm", by_uvx),
    Form("bundle", bundle),
)


def _wheels(dist: str, directory: str) -> list[str]:
    """Return the wheel, and those of its libraries, fetched into the directory."""
    wheel = _one(os.path.join(dist, "contrast_krm-*.whl"), "make dist")
    wheels = os.path.join(directory, "wheels")
    with open(os.path.join(ROOT, "requirements", "run.txt"), encoding="utf-8") as file:
        lock = [line.split()[0] for line in file if line.startswith(tuple(f"{name}==" for name in LIBRARIES))]
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps")
    _run(*pip, "--only-binary", ":all:", "--dest", wheels, *lock)
    return [wheel, *sorted(glob.glob(os.path.join(wheels, "*.whl")))]


def _uv(directory: str) -> tuple[str, ...]:
    found = ("--no-index", "--find-links", os.path.join(directory, "wheels"))
    return (*found, "--offline", "--python", sys.executable, "--cache-dir", os.path.join(directory, "cache"))


def _one(pattern: str, command: str) -> str:
    found = glob.glob(pattern)
    if len(found) != 1:
        raise LookupError(f"{len(found)} files {os.path.basename(pattern)}; run `{command}`")
    return os.path.abspath(found[0])


def _run(*command: str, **variables: str) -> None:
    subprocess.run(command, env={**os.environ, **variables}, check=True, capture_output=True)


def size(path: str) -> float:
    """MB of a file, or of all files below a directory, each counted once."""
    below = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
    seen = {(status.st_dev, status.st_ino): status.st_size for status in map(os.lstat, below or [path])}
    return sum(seen.values()) / 1e6


def rows(dist: str, directory: str) -> list[str]:
    """Return the table, as Markdown."""
    installed: dict[str, Installed] = {}
    left_out = []
    for number, form in enumerate(FORMS):
        place = os.path.join(directory, str(number))
        os.mkdir(place)
        try:
            installed[form.name] = form.install(dist, place)
        except LookupError as reason:
            left_out.append(f"not measured: {form.name}: {reason}")
    ratios: dict[str, list[str]] = {name: [] for name in installed}
    stdin = written(directory, quickstart(1))
    bare = interpreter(stdin)
    for arguments in CALLS.values():
        programs = [Program(name, (*one.command, *arguments), stdin) for name, one in installed.items()]
        in_turn((bare, *programs), 2)  # warm up
        turns = [[each.wall for each in turn] for turn in in_turn((bare, *programs), RUNS)]
        for place_in_turn, program in enumerate(programs, 1):
            median = statistics.median(turn[place_in_turn] / turn[0] for turn in turns)
            least = min(turn[place_in_turn] for turn in turns) / min(turn[0] for turn in turns)
            ratios[program.name].append(f"{median:.1f} ({least:.1f})")
    table = [f"| form | {' | '.join(CALLS)} | MB fetched | MB on disk |", "|---|---|---|---|---|---|"]
    for name, one in installed.items():
        fetched = sum(map(size, one.fetched))
        table.append(f"| {name} | {' | '.join(ratios[name])} | {fetched:.1f} | {size(one.place):.0f} |")
    return [*table, *left_out]


def main() -> None:
    """Print the table."""
    dist = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "dist")
    with tempfile.TemporaryDirectory() as directory:
        print(*rows(dist, directory), sep="\n")


if __name__ == "__main__":
    main()
