"""The inputs, and what reads each: the parts of the table before the promises.

Rule of this file: a case is made when it is its turn, in a directory that all share.
"""

from collections.abc import Iterator
from typing import NamedTuple

from benchmarks import inputs, peers
from benchmarks.measure import Program
from benchmarks.ours import bare_post_render, function, older, post_render

MEGABYTE = 1_000_000
SIZES = {"10 KB": 10_000, "1 MB": MEGABYTE, "20 MB": 20 * MEGABYTE}
SHARES = (0.02, 0.2, 1.0)


class Case(NamedTuple):
    """One input and what reads it."""

    name: str
    ours: Program
    peers: tuple[Program, ...]
    runs: int


def large(program: Program) -> bool:
    """Whether an input is one of 20 MB."""
    return program.size() > 10 * MEGABYTE


def runs(program: Program, *, quick: bool) -> int:
    """How often a program and its peers run: where one takes half a minute, three times."""
    return 3 if large(program) else 7 if quick else 15


def sections(directory: str, *, quick: bool) -> Iterator[tuple[str, Iterator[Case]]]:
    """Yield the table's parts."""
    yield "start to finish against the interpreter and kustomize", _starts(directory, quick=quick)
    yield "cost of a workload with a policy", _scaling(directory, quick=quick)
    yield "odd forms against the ordinary one, 5 MB", _forms(directory, quick=quick)
    yield "throughput without policies", _throughput(directory, quick=quick)


def against(directory: str, tree: str, *, quick: bool) -> Iterator[Case]:
    """Every input of the tables, and a `kind: List`, against an older tree on the same bytes."""
    for _, cases in sections(directory, quick=quick):
        for case in cases:
            yield case._replace(peers=(older(tree, case.ours),))
    for count in (20, 160):
        ours = members(directory, count)
        yield Case(f"{count} workloads in a kind: List", ours, (older(tree, ours),), runs(ours, quick=quick))


def _starts(directory: str, *, quick: bool) -> Iterator[Case]:
    bare = inputs.options(policies=True)
    cases = [("nothing of Contrast's, 10 KB", inputs.ordinary(10_000), "")]
    cases += [(f"{count} workloads of one container", inputs.plain(count), "") for count in (1, 10, 100)]
    own = "with mesh, ID block, owner key"
    cases += [(f"{count} workloads {own}", inputs.meshed(count), inputs.quickstart(count)) for count in (1, 10, 100)]
    for name, documents, text in cases:
        ours = (
            function(directory, text or inputs.resource_list(documents, bare))
            if "workloads" in name
            else unrelated(directory)
        )
        without = peers.kustomize(directory, inputs.stream(documents))
        yield Case(name, ours, (peers.interpreter(ours.stdin), without), runs(ours, quick=quick))
    name, text = "nothing of Contrast's, 10 KB, as a stream", inputs.stream(inputs.ordinary(10_000))
    streamed = post_render(directory, text, f"{bare}  workloads: optional\n")
    yield Case(name, streamed, (peers.interpreter(streamed.stdin),), runs(streamed, quick=quick))
    streamed = bare_post_render(directory, text)
    yield Case(f"{name}, unconfigured", streamed, (peers.interpreter(streamed.stdin),), runs(streamed, quick=quick))


def _scaling(directory: str, *, quick: bool) -> Iterator[Case]:
    """Each against 100 workloads: divide the ratio by the factor to see whether the cost stays flat."""
    hundred = workloads(directory, 100)
    for count in (1000,) if quick else (1000, 10_000):
        many = workloads(directory, count)
        yield Case(f"{count} workloads against 100", many, (hundred._replace(name="100 workloads"),), 3)
    without = function(directory, inputs.resource_list(inputs.plain(200), inputs.options(policies=False)))
    name = "200 workloads against 200 without policies"
    yield Case(name, workloads(directory, 200), (without._replace(name="no policies"),), 5)


def _forms(directory: str, *, quick: bool) -> Iterator[Case]:
    """Odd forms, each against as many bytes, or documents, of the form that everybody writes."""
    options = inputs.options(policies=False)
    lines = inputs.stream(inputs.mixed(5 * MEGABYTE, 0.02))
    coordinator = inputs.stream(inputs.coordinator())
    variables = coordinator + inputs.variables(100_000)
    for name, odd, usual in (
        ("lines that end in CR LF", lines.replace("\n", "\r\n"), lines),
        ("100 000 variables of a container", variables, inputs.stream(inputs.mixed(len(variables), 1.0))),
        (
            "20 000 documents whose kind is an alias",
            coordinator + inputs.config_maps(20_000, kind="*kind"),
            coordinator + inputs.config_maps(20_000, kind="ConfigMap"),
        ),
    ):
        ours, peer = (post_render(directory, text, options) for text in (odd, usual))
        yield Case(name, ours, (peer._replace(name="the ordinary form"),), runs(ours, quick=quick))


def _throughput(directory: str, *, quick: bool) -> Iterator[Case]:
    for size, characters in SIZES.items():
        if quick and characters > MEGABYTE:
            continue
        for share in SHARES:
            documents = inputs.mixed(characters, share)
            ours = listed(directory, documents, policies=False)
            against = [peers.kpt_cat(ours.stdin), peers.pyyaml(ours.stdin)]
            if characters <= MEGABYTE:  # kustomize needs minutes for 20 MB
                against.append(peers.kustomize(directory, inputs.stream(documents)))
            yield Case(f"ResourceList {size}, {share:.0%} Contrast", ours, tuple(against), runs(ours, quick=quick))
            ours = streamed(directory, documents)
            against = [peers.pyyaml(ours.stdin), peers.goyaml(ours.stdin)]
            if characters <= MEGABYTE:
                against.append(peers.ruamel(ours.stdin))
            yield Case(f"stream {size}, {share:.0%} Contrast", ours, tuple(against), runs(ours, quick=quick))


def workloads(directory: str, count: int) -> Program:
    """Ours on that many workloads of one container, with policies and a lock that holds all images."""
    return listed(directory, inputs.plain(count), policies=True)


def unrelated(directory: str) -> Program:
    """Ours on a configured ResourceList without Contrast workloads."""
    optional = f"{inputs.options(policies=True)}  workloads: optional\n"
    return function(directory, inputs.resource_list(inputs.ordinary(10_000), optional))


def custom(directory: str, kind: str, templates: int) -> Program:
    """Ours on objects of a kind of the catalogue that have that many templates together, with policies."""
    return listed(directory, inputs.custom(kind, templates), policies=True)


def listed(directory: str, documents: list[str], *, policies: bool) -> Program:
    """Ours on a ResourceList."""
    return function(directory, inputs.resource_list(documents, inputs.options(policies=policies)))


def streamed(directory: str, documents: list[str]) -> Program:
    """Ours on a stream, without policies."""
    return post_render(directory, inputs.stream(documents), inputs.options(policies=False))


def members(directory: str, count: int) -> Program:
    """Ours on that many workloads in one `kind: List`, without policies."""
    return post_render(directory, inputs.list_document(inputs.plain(count)), inputs.options(policies=False))
