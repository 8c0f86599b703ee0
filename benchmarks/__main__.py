"""`make bench`: ours against named peers, in turn, as ratios of whole processes, and whether we keep what we promise.

Rule of this file: A B A B …, wall time of the whole process, median of the ratios, and beside it the ratio of the least
processor times; nothing here fails a test. Figures of one run on one machine are not comparable with those of another,
their ratios nearly are. Peers read the same bytes.
"""

import argparse
import os
import tempfile
from collections.abc import Iterable, Iterator

from benchmarks import verdict
from benchmarks.cases import Case, against, large, sections
from benchmarks.measure import compare
from benchmarks.promises import promises
from benchmarks.untimed import seen

_HEAD = f"{'':<58} {'ours ms':>9} {'peer ms':>9} {'ratio':>7} {'cpu':>7}  peer"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="no input above 1 MB or 1000 workloads, fewer runs")
    parser.add_argument("--promises", action="store_true", help="only what is promised")
    parser.add_argument("--only", default="", metavar="WORDS", help="only the lines whose name holds these words")
    before = "only against an older tree of ours, with a .venv of its own"
    parser.add_argument("--before", default="", metavar="TREE", help=before)
    arguments = parser.parse_args()
    if arguments.before and not os.path.exists(os.path.join(arguments.before, ".venv", "bin", "contrast-krm")):
        parser.error(f"{arguments.before} has no .venv: make -C {arguments.before} .venv/installed")
    with tempfile.TemporaryDirectory() as directory:
        if arguments.before:
            cases = against(directory, arguments.before, quick=arguments.quick)
            show("against an older tree", cases, arguments.only)
            return
        for title, cases in () if arguments.promises else sections(directory, quick=arguments.quick):
            show(title, cases, arguments.only)
        print(f"\nwhat is promised\n{verdict.HEAD}")
        for promise in promises(directory, quick=arguments.quick):
            if arguments.only in promise.name:
                left_out = arguments.quick and promise.large
                print(verdict.shown(promise, None if left_out else promise.measure()), flush=True)


def show(title: str, cases: Iterable[Case], only: str = "") -> None:
    """Print a part of the table, each line when it is measured."""
    print(f"\n{title}\n{_HEAD}")
    for case in cases:
        if only in case.name:
            for row in rows(case):
                print(row, flush=True)


def rows(case: Case) -> Iterator[str]:
    """A line for each peer, and one for memory."""
    for peer in case.peers:
        found = compare(case.ours, peer, case.runs)
        times = f"{found.ours * 1000:>9.1f} {found.peer * 1000:>9.1f} {found.ratio:>7.3f} {found.cpu_ratio:>7.3f}"
        yield f"{case.name:<58} {times}  {peer.name}"
    if large(case.ours):
        yield f"{case.name:<58} peak memory {seen(case.ours).peak / case.ours.size():.1f} times the input"


if __name__ == "__main__":
    main()
