"""`make bench`: ours against named peers, in turn, as ratios of whole processes.

Rule of this file: A B A B …, wall time of the whole process, median of the ratios; nothing here fails a test. Figures
of one run on one machine are not comparable with those of another, their ratios nearly are. Peers read the same bytes.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks import inputs, peers
from benchmarks.measure import Program, Row, compare, peak, shown

MEGABYTE = 1_000_000
SIZES = {"10 KB": 10_000, "1 MB": MEGABYTE, "20 MB": 20 * MEGABYTE}
SHARES = (0.02, 0.2, 1.0)


class Case(NamedTuple):
    """One input and what reads it."""

    name: str
    ours: Program
    peers: tuple[Program, ...]
    runs: int


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="no input above 1 MB, fewer runs")
    parser.add_argument("--only", default="", metavar="WORDS", help="only the cases whose name holds these words")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        for title, cases in sections(directory, quick=arguments.quick):
            print(f"\n{title}\n{'':<58} {'ours ms':>9} {'peer ms':>9} {'ratio':>7}  peer")
            for case in cases:
                if arguments.only in case.name:
                    for row in rows(case):
                        print(row, flush=True)


def rows(case: Case) -> Iterator[str]:
    """A line for each peer, and one for memory."""
    for peer in case.peers:
        yield shown(compare(Row(case.name, case.ours, peer), case.runs))
    if os.path.getsize(case.ours.stdin) > 10 * MEGABYTE:
        yield f"{case.name:<58} peak memory {peak(case.ours) / os.path.getsize(case.ours.stdin):.1f} times the input"


def sections(directory: str, *, quick: bool) -> Iterator[tuple[str, Iterator[Case]]]:
    """The table's parts."""
    runs = 7 if quick else 15
    yield "start to finish against the interpreter and kustomize", _starts(directory, runs)
    yield "cost of a workload with a policy", _scaling(directory, quick=quick)
    yield "throughput without policies", _throughput(directory, runs, quick=quick)


def _starts(directory: str, runs: int) -> Iterator[Case]:
    bare = inputs.options(policies=True)
    cases = [("nothing of Contrast's, 10 KB", inputs.ordinary(10_000), "")]
    cases += [(f"{count} workloads of one container", inputs.plain(count), "") for count in (1, 10, 100)]
    own = "with mesh, ID block, owner key"
    cases += [(f"{count} workloads {own}", inputs.meshed(count), inputs.quickstart(count)) for count in (1, 10, 100)]
    for name, documents, text in cases:
        ours = _function(directory, text or inputs.resource_list(documents, bare))
        without = peers.kustomize(directory, inputs.stream(documents))
        yield Case(name, ours, (peers.interpreter(ours.stdin), without), runs)
    streamed = _stream(directory, inputs.stream(inputs.ordinary(10_000)), bare)
    yield Case("nothing of Contrast's, 10 KB, as a stream", streamed, (peers.interpreter(streamed.stdin),), runs)


def _scaling(directory: str, *, quick: bool) -> Iterator[Case]:
    """Each against 100 workloads: divide the ratio by the factor to see whether the cost stays flat."""
    bare = inputs.options(policies=True)
    hundred = _function(directory, inputs.resource_list(inputs.plain(100), bare))
    for count in (1000,) if quick else (1000, 10_000):
        many = _function(directory, inputs.resource_list(inputs.plain(count), bare))
        yield Case(f"{count} workloads against 100", many, (hundred._replace(name="100 workloads"),), 3)
    without = _function(directory, inputs.resource_list(inputs.plain(200), inputs.options(policies=False)))
    ours = _function(directory, inputs.resource_list(inputs.plain(200), bare))
    yield Case("200 workloads against 200 without policies", ours, (without._replace(name="no policies"),), 5)


def _throughput(directory: str, runs: int, *, quick: bool) -> Iterator[Case]:
    bare = inputs.options(policies=False)
    for size, characters in SIZES.items():
        if quick and characters > MEGABYTE:
            continue
        large = characters > MEGABYTE
        for share in SHARES:
            documents = inputs.mixed(characters, share)
            listed, streamed = inputs.resource_list(documents, bare), inputs.stream(documents)
            ours = _function(directory, listed)
            against = [peers.kpt_cat(ours.stdin), peers.pyyaml(ours.stdin)]
            if not large:  # kustomize needs minutes for 20 MB
                against.append(peers.kustomize(directory, streamed))
            yield Case(f"ResourceList {size}, {share:.0%} Contrast", ours, tuple(against), 3 if large else runs)
            ours = _stream(directory, streamed, bare)
            against = [peers.pyyaml(ours.stdin)]
            if characters <= MEGABYTE:
                against.append(peers.ruamel(ours.stdin))
            yield Case(f"stream {size}, {share:.0%} Contrast", ours, tuple(against), 3 if large else runs)


def _function(directory: str, text: str) -> Program:
    return Program("contrast-krm", (_tool(),), inputs.written(directory, text))


def _stream(directory: str, text: str, options: str) -> Program:
    config = [*inputs.CONFIG, inputs.written(directory, options)]
    named = tuple(word for path in config for word in ("--config", path))
    return Program("contrast-krm", (_tool(), "post-render", *named), inputs.written(directory, text))


def _tool() -> str:
    return os.path.join(os.path.dirname(sys.executable), "contrast-krm")


if __name__ == "__main__":
    main()
