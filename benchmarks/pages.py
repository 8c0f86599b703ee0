"""The tables of figures that pages show, made of what runs have recorded (`benchmarks/figures.py`).

Rule of this file: rows, limits and names come from the code, figures from the record; what no run has measured is shown
as an empty cell. `tools/make_docs.py` puts the tables between the markers of their pages.
"""

from collections.abc import Callable, Iterable

from benchmarks.figures import FILE, Section, recorded
from benchmarks.parts import IMPORT, own_modules
from benchmarks.promises import promises
from benchmarks.short_cuts import table
from benchmarks.verdict import Figure, limit, number, verdict


def parts_page(path: str = FILE, count: Callable[[], int] = own_modules) -> str:
    """Return where the time of ten workloads goes, with the modules counted as they are now."""
    section = recorded("parts", path)
    rows = ["| part | starts of Python |", "|---|---|"]
    for name, starts in section.figures.items():
        label = f"{name}, {count()} of them" if name == IMPORT else name
        rows.append(f"| {label} | {starts:.1f} |")
    return _with_run(rows, section)


def promises_page(path: str = FILE) -> str:
    """Return what is promised, what a run has measured of it, and whether that is held."""
    section = recorded("promises", path)
    rows = ["| promise | in | limit | measured | least processor time | |", "|---|---|---|---|---|---|"]
    for promise in promises("", quick=False):
        found = section.figures.get(promise.name)
        cells = ["", "", "not measured"]
        if found is not None:
            figure = Figure(found[0], found[1])
            cells = [number(figure.value), "" if figure.cpu is None else number(figure.cpu), verdict(promise, figure)]
        rows.append(f"| {promise.name} | {promise.of} | {limit(promise)} | {' | '.join(cells)} |")
    return _with_run(rows, section)


def short_cuts_page(path: str = FILE) -> str:
    """Return what each short cut is worth in each column that a run has measured."""
    section = recorded("short cuts", path)
    return _with_run(table(section.figures), section)


def _with_run(rows: Iterable[str], section: Section) -> str:
    return "\n".join((*rows, "", section.run.shown()))
