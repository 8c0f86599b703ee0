"""Instructions of four inputs, against those that figures.json records: `python -m benchmarks.instructions`.

Rule of this file: time on a clock lets ten per cent pass unseen; valgrind counts the same instructions in every run, to
0.01 %. Another Python or another machine has other counts, so figures of another Python are not compared.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile

from benchmarks import inputs
from benchmarks.cases import MEGABYTE, streamed, unrelated, workloads
from benchmarks.figures import record, recorded
from benchmarks.measure import Program, environment, sample
from benchmarks.ours import bare_post_render

MOST = 0.01  # growth since the recorded figures: a loop over all documents for seven words adds 1.8 % to 2 MB
_COUNT = re.compile(r"I\s+refs:\s+([\d,]+)")


def main() -> int:
    """Print a line for each input; 1 if one costs more than `MOST` above the recorded figure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions", description=__doc__)
    parser.add_argument("--write", action="store_true", help="record the figures in figures.json")
    arguments = parser.parse_args()
    if not shutil.which("valgrind"):
        print("instructions: left out, valgrind is not installed")
        return 0
    with tempfile.TemporaryDirectory() as directory:
        programs = {
            "nothing of Contrast's, 10 KB": bare_post_render(directory, inputs.stream(inputs.ordinary(10_000))),
            "nothing of Contrast's, 10 KB, as a ResourceList": unrelated(directory),
            "10 workloads with policies": workloads(directory, 10),
            "stream 2 MB, 2% Contrast": streamed(directory, inputs.mixed(2 * MEGABYTE, 0.02)),
        }
        figures = {name: count(program) for name, program in programs.items()}
    if arguments.write:
        record("instructions", "python -m benchmarks.instructions --write", figures)
        return 0
    before = recorded("instructions")
    python = ".".join(map(str, sys.version_info[:3]))
    if not before.run.python.endswith(f" {python}"):
        print(f"instructions: not compared, the recorded figures are of {before.run.python}")
        return 0
    grown = 0
    for name, figure in figures.items():
        growth = figure / before.figures[name] - 1
        grown += growth > MOST
        print(f"{name:<58} {figure / 1e6:>9.1f} million, {growth:+.2%}")
    if grown:
        print(f"instructions: more than {MOST:.0%} above the figures of {before.run.commit}..HEAD")
    return int(grown > 0)


def count(program: Program) -> int:
    """Return the instructions of one run that must succeed, after one that compiles."""
    sample(program)
    command = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", sys.executable)
    with open(program.stdin, "rb") as source:
        done = subprocess.run(
            (*command, *program.command),
            stdin=source,
            capture_output=True,
            text=True,
            check=True,
            env={**environment(), "PYTHONHASHSEED": "0"},
        )
    counted = _COUNT.search(done.stderr)
    if counted is None:
        raise ValueError(f"valgrind printed no count: {done.stderr[-500:]}")
    return int(counted[1].replace(",", ""))


if __name__ == "__main__":
    sys.exit(main())
