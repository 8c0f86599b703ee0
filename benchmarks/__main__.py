"""`make bench`: start to finish of one render against the bare interpreter, in turn, as ratios of whole processes.

Rule of this file: A B A B …, wall time of the whole process, median of the ratios; nothing here fails a test. Figures
of one run on one machine are not comparable with those of another, their ratios nearly are.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks.inputs import resource_list

RUNS = 15


def seconds(command: list[str], stdin: str) -> float:
    """Wall time of one process that must succeed."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with open(stdin, "rb") as source:
        start = time.perf_counter()
        subprocess.run(command, stdin=source, stdout=subprocess.DEVNULL, env=environment, check=True)
        return time.perf_counter() - start


def compare(name: str, ours: list[str], peer: list[str], stdin: str) -> str:
    """One row: medians in milliseconds, and the median ratio."""
    seconds(ours, stdin), seconds(peer, stdin)  # warm up: byte-code and file cache
    pairs = [(seconds(ours, stdin), seconds(peer, stdin)) for _ in range(RUNS)]
    medians = [statistics.median(column) * 1000 for column in zip(*pairs, strict=True)]
    ratio = statistics.median(mine / theirs for mine, theirs in pairs)
    return f"{name:<44} {medians[0]:>9.1f} {medians[1]:>9.1f} {ratio:>7.2f}"


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(prog="make bench", description=__doc__).parse_args()
    tool = os.path.join(os.path.dirname(sys.executable), "contrast-krm")
    bare = [sys.executable, "-c", "pass"]
    print(f"{'ours against `python -c pass`':<44} {'ours ms':>9} {'peer ms':>9} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as directory:
        empty = os.path.join(directory, "empty.yaml")
        with open(empty, "w", encoding="utf-8") as file:
            file.write("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n")
        print(compare("empty ResourceList", [tool], bare, empty))
        for workloads in (1, 10, 100):
            path = os.path.join(directory, f"{workloads}.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(resource_list(workloads))
            print(compare(f"{workloads} workloads with mesh, ID block and policy", [tool], bare, path))


if __name__ == "__main__":
    main()
