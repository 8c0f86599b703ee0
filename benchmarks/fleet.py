"""`python -m benchmarks.fleet`: a thousand packages on one machine, each rendered by processes of its own.

Rule of this file: the processes are those that the hosts start. Porch's function-runner hands a ResourceList to the
program; Argo CD's sidecar runs the lines of examples/argo-cd/plugin.yaml in the directory of the application. A pool of
a fixed number of workers takes them in turn. What the host itself needs, for git, the network and Kubernetes, is not
measured.
"""

import argparse
import hashlib
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import yaml

from benchmarks.inputs import QUICKSTART, ROOT, resource_list, written
from tools.real import tool

EXAMPLES = os.path.join(ROOT, "examples")
KUSTOMIZE = os.path.join(EXAMPLES, "kustomize")
PLUGIN = os.path.join(EXAMPLES, "argo-cd", "plugin.yaml")
BIN = os.path.dirname(sys.executable)
SLICE = 20  # packages that are rendered a second time, to compare
MINUTES = 10  # in which the arithmetic has all packages rendered


class Package(NamedTuple):
    """What one render is: a command, its directory, and the file on its standard input ("": none)."""

    command: tuple[str, ...]
    directory: str
    stdin: str = ""


class Measured(NamedTuple):
    """wall: seconds for all. cpu: seconds of processor for all. latencies: seconds of each, sorted."""

    packages: int
    workers: int
    wall: float
    cpu: float
    latencies: tuple[float, ...]
    digests: tuple[str, ...]


def porch(directory: str, count: int) -> list[Package]:
    """Make packages as Porch sends them: the quickstart's resources in an own namespace, and its configuration."""
    program = os.path.join(BIN, "contrast-krm")
    texts = []
    for name in sorted(os.listdir(os.path.join(QUICKSTART, "resources"))):
        with open(os.path.join(QUICKSTART, "resources", name), encoding="utf-8") as file:
            texts += [text for text in file.read().split("\n---\n") if text.strip()]
    with open(os.path.join(QUICKSTART, "config", "contrast.yaml"), encoding="utf-8") as file:
        listed = resource_list(texts, file.read())
    return [
        Package((program,), directory, written(directory, in_namespace(listed, number), f"{number}.yaml"))
        for number in range(count)
    ]


def argo_cd(directory: str, count: int) -> list[Package]:
    """Applications as the sidecar has them: the example's overlays, `confidential` with a namespace of its own."""
    with open(PLUGIN, encoding="utf-8") as file:
        generate = yaml.safe_load(file)["spec"]["generate"]
    packages = []
    for number in range(count):
        own = os.path.join(directory, f"application{number}")
        shutil.copytree(KUSTOMIZE, own, ignore=shutil.ignore_patterns("expected", "README.md"))
        overlay = os.path.join(own, "confidential")
        path = os.path.join(overlay, "kustomization.yaml")
        with open(path, encoding="utf-8") as file:
            text = in_namespace(file.read(), number)
        written(overlay, text, "kustomization.yaml")
        packages.append(Package((*generate["command"], *generate["args"]), overlay))
    return packages


def in_namespace(text: str, number: int) -> str:
    """Return the text with another namespace than the example's."""
    return text.replace("namespace: shop\n", f"namespace: shop-{number}\n").replace(
        "name: shop\n", f"name: shop-{number}\n"
    )


HOSTS: dict[str, Callable[[str, int], list[Package]]] = {"porch": porch, "argo-cd": argo_cd}


def measure(packages: Sequence[Package], workers: int) -> Measured:
    """Render them all. Raises CalledProcessError for one that fails or prints nothing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        done = list(pool.map(render, packages))
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    seconds, digests = zip(*done, strict=True)
    return Measured(len(packages), workers, wall, cpu, tuple(sorted(seconds)), tuple(digests))


def render(package: Package) -> tuple[float, str]:
    """Seconds on the clock, and the digest of what was printed."""
    path = os.pathsep.join((BIN, os.path.dirname(tool("kustomize")), os.defpath))
    start = time.perf_counter()
    with open(package.stdin or os.devnull, "rb") as source:
        done = subprocess.run(
            package.command,
            cwd=package.directory,
            env={"PATH": path, "HOME": package.directory},
            stdin=source,
            capture_output=True,
            check=False,
        )
    seconds = time.perf_counter() - start
    if done.returncode or not done.stdout:
        raise subprocess.CalledProcessError(done.returncode, package.command, done.stdout, done.stderr)
    return seconds, hashlib.sha256(done.stdout).hexdigest()


def report(host: str, found: Measured) -> str:
    """Return the lines of one host."""
    each = found.cpu / found.packages
    half, most = found.latencies[found.packages // 2], found.latencies[found.packages * 99 // 100]
    rate = found.packages / found.wall
    lines = [
        f"{host}: {found.packages} packages, {found.workers} workers: {found.wall:.1f} s, {rate:.1f} packages a second",
        f"  processor: {each:.3f} s a package, {1 / each:.1f} packages a second and core",
        f"  one package: median {half:.2f} s, 99 % within {most:.2f} s",
    ]
    sizes = (10_000, 100_000)
    return "\n".join((*lines, *(f"  {size} in {MINUTES} minutes: {cores(size, each)} cores" for size in sizes)))


def cores(count: int, each: float) -> int:
    """How many cores render that many packages in MINUTES, if one takes `each` seconds of processor."""
    return math.ceil(count * each / (MINUTES * 60))


def main() -> None:
    """Print the figures of the hosts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fleet", description=__doc__)
    parser.add_argument("--packages", type=int, default=1000, metavar="N", help="how many (default: 1000)")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="renders at a time (default: 2)")
    parser.add_argument("--host", choices=HOSTS, action="append", help="only this one (repeatable)")
    arguments = parser.parse_args()
    for host in arguments.host or HOSTS:
        with tempfile.TemporaryDirectory() as directory:
            packages = HOSTS[host](directory, arguments.packages)
            measure(packages[: arguments.workers], arguments.workers)  # byte-code and file cache
            found = measure(packages, arguments.workers)
            again = measure(packages[:SLICE], 1)
        print(report(host, found), flush=True)
        if len(set(found.digests)) != found.packages or again.digests != found.digests[:SLICE]:
            sys.exit(f"{host}: two packages gave the same output, or one gave two")


if __name__ == "__main__":
    main()
