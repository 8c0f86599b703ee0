"""What is promised of speed, memory and bytes, and how each line of it is measured.

Rule of this file: a promise is something that a user feels; one line, one limit, one figure of this run. A pair that
the table has measured is not run again.
"""

import statistics

from benchmarks import inputs, peers
from benchmarks.cases import MEGABYTE, custom, listed, members, runs, sections, streamed, workloads
from benchmarks.measure import Program, compare, in_turn, least, median
from benchmarks.ours import assess, bare_post_render, plan
from benchmarks.untimed import seen
from benchmarks.verdict import Figure, Promise, each, growth

_START, _BUILD, _INPUT = "python -c pass", "kustomize build", "the input"


def promises(directory: str, *, quick: bool) -> tuple[Promise, ...]:
    """All lines, in the order of the list; nothing is made or measured before it is asked for."""

    def ratio(ours: Program, peer: Program) -> Figure:
        compared = compare(ours, peer, runs(ours, quick=quick))
        return Figure(compared.ratio, compared.cpu_ratio)

    def ten() -> Program:
        return workloads(directory, 10)

    def nothing() -> Program:
        return bare_post_render(directory, inputs.stream(inputs.ordinary(10_000)))

    def fifth() -> Figure:
        documents = inputs.mixed(MEGABYTE, 0.2)
        build = peers.kustomize(directory, inputs.stream(documents))
        return ratio(listed(directory, documents, policies=True), build)

    def assessed(count: int) -> Program:
        return assess(directory, inputs.stream(inputs.plain(count)))

    def planned() -> Program:
        return plan(directory, inputs.stream(inputs.plain(1000)), inputs.options(policies=True))

    def of_list(count: int) -> Program:
        return members(directory, count)

    def items() -> Program:
        return listed(directory, inputs.mixed(20 * MEGABYTE, 0.02), policies=False)

    def stream() -> Program:
        return streamed(directory, inputs.mixed(20 * MEGABYTE, 0.02))

    return (
        Promise(
            "nothing of Contrast's, 10 KB, as a stream, unconfigured",
            1.6,
            _START,
            lambda: ratio(nothing(), peers.interpreter(nothing().stdin)),
        ),
        Promise("10 workloads with policies", 10, _START, lambda: ratio(ten(), peers.interpreter(ten().stdin))),
        Promise("ResourceList 1 MB, 20% Contrast, with policies", 1, _BUILD, fifth),
        Promise("1000 workloads with policies, each", 5, "ms", lambda: _each(directory)),
        Promise("a workload among 10 000", 1.3, "one among 100", lambda: _growth(directory), large=True),
        *(_of_kind(directory, kind) for kind in ("Rollout", "LeaderWorkerSet", "JobSet")),
        Promise("160 workloads in a kind: List", 9, "20 of them", lambda: ratio(of_list(160), of_list(20))),
        Promise("assess of one workload", 6, _START, lambda: ratio(assessed(1), peers.interpreter(assessed(1).stdin))),
        Promise("assess of 1000 workloads", 1.2, "plan of them", lambda: ratio(assessed(1000), planned())),
        Promise("original lines changed or lost", 0, "lines", lambda: _lines(directory, quick=quick)),
        Promise("peak memory, stream 20 MB, 2% Contrast", 4, _INPUT, lambda: _peak(stream()), large=True),
        Promise("peak memory, ResourceList 20 MB, 2% Contrast", 4, _INPUT, lambda: _peak(items()), large=True),
    )


def _lines(directory: str, *, quick: bool) -> Figure:
    """Over every input of every table."""
    total = resolved = count = 0
    notes = []
    for _, cases in sections(directory, quick=quick):
        for case in cases:
            found = seen(case.ours)
            total, resolved, count = total + found.lost, resolved + found.resolved, count + 1
            if found.lost:
                notes.append(f"{case.name}: {found.lost} lines, the first is {found.first}")
    notes.append(f"{count} inputs; besides, {resolved} placeholders and images of the release were resolved in place")
    if quick:
        notes.append("the inputs of 20 MB and of 10 000 workloads are left out")
    return Figure(total, None, tuple(notes))


def _each(directory: str) -> Figure:
    """Milliseconds."""
    turns = in_turn((workloads(directory, 1000), workloads(directory, 0)), 5)
    many, none = zip(*turns, strict=True)
    wall = statistics.median(each(turn[0].wall, turn[1].wall, 1000) for turn in turns)
    return Figure(wall * 1000, each(least(many), least(none), 1000) * 1000)


def _of_kind(directory: str, kind: str) -> Promise:
    """By least processor time alone: the two differ by less than what a busy machine does to a clock."""

    def measure() -> Figure:
        programs = (workloads(directory, 0), *(custom(directory, one, 1000) for one in (kind, "Deployment")))
        none, ours, peer = map(least, zip(*in_turn(programs, 5), strict=True))
        ratio = each(ours, none, 1000) / each(peer, none, 1000)
        return Figure(ratio, ratio)

    return Promise(f"a pod template of 1000 in objects of kind {kind}", 1.1, "one in Deployments", measure)


def _growth(directory: str) -> Figure:
    """Run the short ones before and after the long one, so that each of them has twice its samples."""
    none, few, many = (workloads(directory, count) for count in (0, 100, 10_000))
    first, second, long, third, fourth = zip(*in_turn((none, few, many, few, none), 3), strict=True)
    small, hundred = first + fourth, second + third
    by_clock, by_cpu = (
        growth(figure(small), (figure(hundred), 100), (figure(long), 10_000)) for figure in (median, least)
    )
    return Figure(by_clock, by_cpu)


def _peak(program: Program) -> Figure:
    return Figure(seen(program).peak / program.size())
