"""Write the tables of figures that pages show, made of what runs have recorded (`benchmarks/figures.py`).

python -m benchmarks.pages           write them
python -m benchmarks.pages --check   write nothing; exit 1 and name every page that is not as it would be written

Rule of this file: rows, limits and names come from the code, figures from the record; a cell is empty where no run has
measured the figure.
"""

import sys
from collections.abc import Iterable

from benchmarks.figures import Section, recorded
from benchmarks.promises import promises
from benchmarks.short_cuts import table
from benchmarks.verdict import Figure, limit, number, verdict
from tools.make_docs import with_blocks, write_stale


def parts_page() -> str:
    """Return where the time of ten workloads goes."""
    section = recorded("parts")
    rows = (f"| {name} | {starts:.1f} |" for name, starts in section.figures.items())
    return _with_run(("| part | starts of Python |", "|---|---|", *rows), section)


def promises_page() -> str:
    """Return what is promised, what a run has measured of it, and whether that is held."""
    section = recorded("promises")
    rows = ["| promise | in | limit | measured | least processor time | |", "|---|---|---|---|---|---|"]
    for promise in promises("", quick=False):
        found = section.figures.get(promise.name)
        cells = ["", "", "not measured"]
        if found is not None:
            figure = Figure(found[0], found[1])
            cells = [number(figure.value), "" if figure.cpu is None else number(figure.cpu), verdict(promise, figure)]
        rows.append(f"| {promise.name} | {promise.of} | {limit(promise)} | {' | '.join(cells)} |")
    return _with_run(rows, section)


def short_cuts_page() -> str:
    """Return what each short cut is worth in each column that a run has measured."""
    section = recorded("short cuts")
    return _with_run(table(section.figures), section)


def _with_run(rows: Iterable[str], section: Section) -> str:
    return "\n".join((*rows, "", section.run.shown()))


def main() -> int:
    """Write or check the pages."""
    pages = (
        ("../benchmarks/README.md", "promises", promises_page()),
        ("explanation/speed.md", "parts", parts_page()),
        ("explanation/speed.md", "short cuts", short_cuts_page()),
    )
    return write_stale(with_blocks(pages))


if __name__ == "__main__":
    sys.exit(main())
