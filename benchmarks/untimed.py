"""One untimed run of ours: the most memory it held, and which original lines it changed or lost.

Rule of this file: the run hangs on a small process of its own, because Linux counts what the parent held to the child.
"""

import functools
import subprocess
import sys
import tempfile
from typing import IO, NamedTuple

from benchmarks import inputs
from benchmarks.lines import lost, values, within
from benchmarks.measure import Program, environment

_LAUNCHER = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(done.returncode)
"""


class Seen(NamedTuple):
    """What one run showed."""

    peak: int  # bytes
    resolved: int  # lines with a value that a render replaces by its purpose
    lost: int  # all other lines that changed or went
    first: str  # the first of these, or ""


@functools.cache
def seen(program: Program) -> Seen:
    """Run a program that must succeed, once."""
    command = [sys.executable, "-S", "-c", _LAUNCHER, *program.command]
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n") as output:
        with open(program.stdin, "rb") as source:
            done = subprocess.run(
                command, stdin=source, stdout=output, stderr=subprocess.PIPE, env=environment(), check=True
            )
        return _compared(program.stdin, output)._replace(peak=int(done.stderr) * 1024)


def _compared(source: str, output: IO[str]) -> Seen:
    release = values(inputs.CONFIG[0], inputs.PLATFORM)
    with open(source, encoding="utf-8", newline="\n") as file:
        wanted = [(line, release.resolved(line)) for line in file]
    resolved = sum(line != then for line, then in wanted)
    output.seek(0)
    if within((then for _, then in wanted), output):
        return Seen(0, resolved, 0, "")
    output.seek(0)
    places = lost([then for _, then in wanted], list(output))
    return Seen(0, resolved, len(places), f"line {places[0] + 1}: {wanted[places[0]][0].rstrip()}")
