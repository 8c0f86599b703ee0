"""The tables of a measurement: how many distinct workloads are refused in each stage, by code; and what was proven."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from benchmarks.corpora.proof import Proof
from krm_function.findings import Finding

HOST_FILES = ("CC0807", "CC0808", "CC0805", "CC0810")
STAGES = ("as it is", "after adopt", "after edits")


class Measured(NamedTuple):
    """One distinct workload: its errors by stage. keys: whether adopt needed keys of an object named."""

    errors: tuple[tuple[Finding, ...], tuple[Finding, ...], tuple[Finding, ...]]
    with_gpu: bool
    keys: bool

    @property
    def host_files(self) -> bool:
        """Whether it is refused in the end of `adopt` for a file system of the host."""
        return any(found.code in HOST_FILES for found in self.errors[1])


class Totals(NamedTuple):
    """What one directory gave."""

    name: str
    applications: int
    problems: Counter[str]
    workloads: list[Measured]
    proofs: list[Proof]


def text_of(totals: Iterable[Totals]) -> str:
    """Write all tables."""
    every = list(totals)
    return "".join(f"{line}\n" for line in _lines(every))


def _lines(every: list[Totals]) -> Iterator[str]:
    yield f"{'':<44}{'applications':>13}{'workloads':>11}" + "".join(f"{stage:>13}" for stage in STAGES)
    for one in every:
        yield _row(one.name, one.applications, one.workloads)
    workloads = [each for one in every for each in one.workloads]
    yield _row("all", sum(one.applications for one in every), workloads)
    yield _row("with a GPU", 0, [one for one in workloads if one.with_gpu])
    yield _row("with a GPU, no host file system left", 0, [o for o in workloads if o.with_gpu and not o.host_files])
    yield f"after adopt with keys of an object of the cluster that somebody named: {sum(one.keys for one in workloads)}"
    yield ""
    yield f"{'workloads refused with':<44}{'':>24}" + "".join(f"{stage:>13}" for stage in STAGES)
    counts = [_codes(workloads, stage) for stage in range(3)]
    for code in sorted({code for count in counts for code in count}, key=lambda code: (-counts[0][code], code)):
        yield f"  {code:<42}{'':>24}" + "".join(f"{count[code]:>13}" for count in counts)
    yield ""
    yield from _proven([each for one in every for each in one.proofs])
    for problem, count in sum((one.problems for one in every), Counter()).most_common():
        yield f"left out, {problem}: {count}"


def _row(name: str, applications: int, workloads: list[Measured]) -> str:
    count = len(workloads)
    shares = "".join(f"{_share(sum(bool(one.errors[stage]) for one in workloads), count):>13}" for stage in range(3))
    return f"{name[-43:]:<44}{applications or '':>13}{count:>11}{shares}"


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.0f} %)" if whole else "-"


def _codes(workloads: list[Measured], stage: int) -> Counter[str]:
    return Counter(code for one in workloads for code in {found.code for found in one.errors[stage]})


def _proven(proofs: list[Proof]) -> Iterator[str]:
    rendered = [one for one in proofs if one.renders is not None]
    yield f"applications untouched where nothing asks: {sum(one.untouched for one in proofs)} of {len(proofs)}"
    yield f"applications rendered: {sum(bool(one.renders) for one in rendered)} of {len(rendered)}"
    done = [one for one in rendered if one.renders]
    yield f"rendered again, the same bytes: {sum(bool(one.again) for one in done)} of {len(done)}"
    yield f"undone byte for byte: {sum(bool(one.undone) for one in done)} of {len(done)}"
    for code, count in Counter(" ".join(one.said.split()[:2]) for one in rendered if one.said).most_common():
        yield f"  not rendered, {code}: {count}"


def json_of(totals: Iterable[Totals]) -> str:
    """Write what the tables say, for programs."""
    data = [
        {
            "name": one.name,
            "applications": one.applications,
            "workloads": len(one.workloads),
            "refused": [sum(bool(each.errors[stage]) for each in one.workloads) for stage in range(3)],
            "codes": [dict(sorted(_codes(one.workloads, stage).items())) for stage in range(3)],
        }
        for one in totals
    ]
    return json.dumps(data, indent=2) + "\n"
