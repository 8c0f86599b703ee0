"""`python -m benchmarks.image`: what the image of `make image` costs: its start, and its size.

Rule of this file: ratios are to `python -c pass` of the same Python, all in turn in one run: the median of the turns,
and in brackets the ratio of the least times. Inside is a container that is there already: what the program costs. By
podman is what a host waits for: a container for each call; there the measure is a Python of this machine.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from benchmarks.inputs import quickstart
from tools.engine import engine, environment
from tools.image import ARCHIVE, IMAGE, ROOT

QUICK = os.path.join(ROOT, "examples", "quickstart")
PYTHON = "/opt/contrast-krm/bin/python"
CALLS = {
    "--version": ("--version",),
    "quickstart as files": ("generate", f"{QUICK}/resources", "--config", f"{QUICK}/config"),
    "as a ResourceList": ("fn",),
}
PODMAN = ("podman", "run", "--rm", "--interactive", "--network=none", "--read-only", f"--volume={QUICK}:{QUICK}:ro")
RUNS = 30
SERVER = """
import subprocess, sys, time
calls, stdin, runs = eval(sys.stdin.buffer.read())
for turn in range(runs + 1):
    for call in calls:
        start = time.perf_counter()
        subprocess.run(call, input=stdin, stdout=subprocess.DEVNULL, check=True)
        print(time.perf_counter() - start)
"""


def inside(calls: Sequence[tuple[str, ...]], stdin: bytes) -> list[tuple[float, ...]]:
    """Seconds of each call by turn, in one container; the first turn is not counted."""
    asked = repr((list(calls), stdin, RUNS)).encode()
    command = [*PODMAN, f"--entrypoint={PYTHON}", IMAGE, "-c", SERVER]
    done = subprocess.run(command, env=environment(), input=asked, capture_output=True, check=True)
    times = list(map(float, done.stdout.split()))[len(calls) :]
    return [tuple(times[at : at + len(calls)]) for at in range(0, len(times), len(calls))]


def by_podman(calls: Sequence[tuple[str, ...]], stdin: bytes) -> list[tuple[float, ...]]:
    """Measure the same with a container for each call but the first, which is the measure."""

    def timed(command: Sequence[str]) -> float:
        start = time.perf_counter()
        subprocess.run(command, env=variables, input=stdin, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - start

    variables = environment()
    commands = [(sys.executable, "-c", "pass"), *((*PODMAN, IMAGE, *call[1:]) for call in calls[1:])]
    return [tuple(map(timed, commands)) for _ in range(RUNS + 1)][1:]


def ratios(turns: Sequence[Sequence[float]]) -> list[str]:
    """Of each call but the first to the first."""
    return [
        f"{statistics.median(turn[at] / turn[0] for turn in turns):.1f} "
        f"({min(turn[at] for turn in turns) / min(turn[0] for turn in turns):.1f})"
        for at in range(1, len(turns[0]))
    ]


def main() -> None:
    """Print the table."""
    forms: Mapping[str, Callable[[Sequence[tuple[str, ...]], bytes], list[tuple[float, ...]]]] = {
        "image, inside": inside,
        "image, by podman": by_podman,
    }
    calls = [(PYTHON, "-c", "pass"), *(("contrast-krm", *arguments) for arguments in CALLS.values())]
    fetched = os.path.getsize(ARCHIVE) / 1e6
    unpacked = int(engine("podman", "image", "inspect", "--format", "{{.Size}}", IMAGE)) / 1e6
    print(f"| form | {' | '.join(CALLS)} | MB fetched | MB on disk |", "|---|---|---|---|---|---|", sep="\n")
    stdin = quickstart(1).encode()
    for name, measure in forms.items():
        print(f"| {name} | {' | '.join(ratios(measure(calls, stdin)))} | {fetched:.1f} | {unpacked:.0f} |")


if __name__ == "__main__":
    main()
