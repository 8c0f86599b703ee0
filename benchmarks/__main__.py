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
from benchmarks.figures import record
from benchmarks.measure import compare
from benchmarks.parts import parts
from benchmarks.promises import promises
from benchmarks.untimed import seen
from benchmarks.verdict import Promise

_HEAD = f"{'':<58} {'ours ms':>9} {'peer ms':>9} {'ratio':>7} {'cpu':>7}  peer"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="no input above 1 MB or 1000 workloads, fewer runs")
    parser.add_argument("--promises", action="store_true", help="only what is promised")
    parser.add_argument("--only", default="", metavar="WORDS", help="only the lines whose name holds these words")
    parser.add_argument("--write", action="store_true", help="record the figures for the pages, in figures.json")
    before = "only against an older tree of ours, with a .venv of its own"
    parser.add_argument("--before", default="", metavar="TREE", help=before)
    arguments = parser.parse_args()
    if arguments.before and not os.path.exists(os.path.join(arguments.before, ".venv", "bin", "contrast-krm")):
        parser.error(f"{arguments.before} has no .venv: make -C {arguments.before} .venv/installed")
    if arguments.write and (arguments.only or arguments.before):
        parser.error("--write records whole tables: leave out --only and --before")
    with tempfile.TemporaryDirectory() as directory:
        if arguments.before:
            cases = against(directory, arguments.before, quick=arguments.quick)
            show("against an older tree", cases, arguments.only)
            return
        for title, cases in () if arguments.promises else sections(directory, quick=arguments.quick):
            show(title, cases, arguments.only)
        figures = promised(promises(directory, quick=arguments.quick), arguments)
        if arguments.only:
            return
        found = parts(directory, 7 if arguments.quick else 25)
    print("\nparts of ten workloads, processor time, in starts of Python")
    print(*(f"{part.name:<58} {part.starts:>9.2f}" for part in found), sep="\n")
    if arguments.write:
        words = ("--quick" if arguments.quick else "", "--promises" if arguments.promises else "")
        command = " ".join(("python -m benchmarks", *filter(None, words)))
        record("promises", command, figures)
        record("parts", command, {part.name: round(part.starts, 3) for part in found})


def promised(lines: Iterable[Promise], arguments: argparse.Namespace) -> dict[str, tuple[float | None, ...]]:
    """Print each promise when it is measured, and return the figures of those that were."""
    print(f"\nwhat is promised\n{verdict.HEAD}")
    figures: dict[str, tuple[float | None, ...]] = {}
    for promise in lines:
        if arguments.only in promise.name:
            figure = None if arguments.quick and promise.large else promise.measure()
            print(verdict.shown(promise, figure), flush=True)
            if figure is not None:
                figures[promise.name] = tuple(None if each is None else round(each, 3) for each in figure[:2])
    return figures


def show(title: str, cases: Iterable[Case], only: str = "") -> None:
    """Print a part of the table, each line when it is measured."""
    print(f"\n{title}\n{_HEAD}")
    for case in cases:
        if only in case.name:
            for row in rows(case):
                print(row, flush=True)


def rows(case: Case) -> Iterator[str]:
    """Yield a line for each peer, and one for memory."""
    for peer in case.peers:
        found = compare(case.ours, peer, case.runs)
        times = f"{found.ours * 1000:>9.1f} {found.peer * 1000:>9.1f} {found.ratio:>7.3f} {found.cpu_ratio:>7.3f}"
        yield f"{case.name:<58} {times}  {peer.name}"
    if large(case.ours):
        yield f"{case.name:<58} peak memory {seen(case.ours).peak / case.ours.size():.1f} times the input"


if __name__ == "__main__":
    main()
