"""`python -m benchmarks.short_cuts`: what a render costs without each short cut, as a ratio to the render with it.

Rule of this file: a short cut stays where its removal costs a tenth of one of these renders, or a tenth more memory.
All variants run in turn, A B C A B C ..., each in a process of its own; the ratio is that of the least processor times.
Output, messages and exit code of every variant must be those of the program as it is.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmarks import inputs
from benchmarks.cases import MEGABYTE
from benchmarks.figures import record
from benchmarks.left_out import SHORT_CUTS, ShortCut
from benchmarks.measure import Program, environment, in_turn, least
from benchmarks.ours import bare_post_render, function, post_render

_CHILD = """
import sys
PATCHES, INSTEAD = {patches!r}, {instead!r}

class Finder:
    @staticmethod
    def find_spec(name, path, target=None):
        if name not in PATCHES and name not in INSTEAD:
            return None
        from importlib.machinery import PathFinder
        spec = PathFinder.find_spec(name, path)
        run = spec.loader.exec_module
        def exec_module(module):
            if name in INSTEAD:
                exec(INSTEAD[name], module.__dict__)
            else:
                run(module)
                exec(PATCHES[name], module.__dict__)
        spec.loader.exec_module = exec_module
        return spec

sys.meta_path.insert(0, Finder)
from krm_function.cli import main
sys.exit(main())
"""
_AS_IT_IS = ShortCut("as it is", "")
_SIZES = {
    "ten workloads": lambda: inputs.plain(10),
    "1 MB, 2 % Contrast": lambda: inputs.mixed(MEGABYTE, 0.02),
    "3 MB, 2 % Contrast": lambda: inputs.mixed(3 * MEGABYTE, 0.02),
    "1 MB, all Contrast": lambda: inputs.mixed(MEGABYTE, 1.0),
}
_ALL_WITHOUT_POLICIES = "1 MB, all Contrast, without policies"
_CONFIGURED = "100 KB, nothing of Contrast's, configured"
_UNCONFIGURED = "100 KB, nothing of Contrast's, unconfigured"
NAMES = (*_SIZES, _ALL_WITHOUT_POLICIES, _CONFIGURED, _UNCONFIGURED)  # of the columns


class Column(NamedTuple):
    """Some renders of about one size; the figure of a short cut is the largest of its ratios."""

    name: str
    programs: tuple[Program, ...]


def main() -> None:
    """Print each ratio when it is measured, and the table; with --write, record them for the pages."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.short_cuts", description=__doc__)
    parser.add_argument("--runs", type=int, default=15, metavar="N", help="of each variant and input (default: 15)")
    parser.add_argument("--only", default="", metavar="WORDS", help="only short cuts whose name holds these words")
    help_of_column = "only this input (repeatable): " + "; ".join(NAMES).replace("%", "%%")
    parser.add_argument("--column", action="append", choices=NAMES, metavar="NAME", help=help_of_column)
    parser.add_argument("--write", action="store_true", help="record the figures for the pages, in figures.json")
    chosen = parser.parse_args()
    if chosen.write and chosen.only:
        parser.error("--write records a whole table: leave out --only")
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as directory:
        for column in columns(directory, chosen.column or NAMES):
            figures[column.name] = ratios_of(
                column, [each for each in SHORT_CUTS if chosen.only in each.name], chosen.runs
            )
    print(*table(figures), sep="\n")
    if chosen.write:
        left_out = [name for name in NAMES if name not in figures]
        part = f" (without {'; '.join(left_out)})" if left_out else ""
        record("short cuts", f"python -m benchmarks.short_cuts --runs {chosen.runs}{part}", figures)


def ratios_of(column: Column, short_cuts: Sequence[ShortCut], runs: int) -> dict[str, float]:
    """Measure a column: short cut -> the largest of its ratios."""
    largest = {}
    found = [measured(program, short_cuts, runs) for program in column.programs]
    for short_cut, ratios in zip(short_cuts, zip(*found, strict=True), strict=True):
        largest[short_cut.name] = round(max(ratios), 3)
        shown = " ".join(f"{ratio:.3f}" for ratio in ratios)
        print(f"{column.name:<40} {short_cut.name:<36} {shown}", file=sys.stderr, flush=True)
    return largest


def table(figures: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield the rows, as Markdown. figures: column -> short cut -> ratio; what was not measured stays empty."""
    yield f"| short cut | what it is | {' | '.join(NAMES)} |"
    yield "|---|---|" + "---|" * len(NAMES)
    for each in SHORT_CUTS:
        ratios = (figures.get(name, {}).get(each.name) for name in NAMES)
        cells = ("" if ratio is None else f"{ratio:.2f}" for ratio in ratios)
        yield f"| {each.name} | {each.what} | {' | '.join(cells)} |"


def columns(directory: str, names: Sequence[str]) -> Iterator[Column]:
    """Yield the inputs, as a stream and as a ResourceList, with policies; the last two are of an unrelated chart."""
    options, bare = (inputs.options(policies=policies) for policies in (True, False))
    for name in (name for name in NAMES if name in names):
        if name in _SIZES:
            documents = _SIZES[name]()
            listed = function(directory, inputs.resource_list(documents, options))
            yield Column(name, (post_render(directory, inputs.stream(documents), options), listed))
            continue
        unrelated = inputs.stream(inputs.ordinary(100_000))
        if name == _ALL_WITHOUT_POLICIES:
            program = post_render(directory, inputs.stream(inputs.mixed(MEGABYTE, 1.0)), bare)
        elif name == _CONFIGURED:
            program = post_render(directory, unrelated, f"{options}  workloads: optional\n")
        else:
            program = bare_post_render(directory, unrelated)
        yield Column(name, (program,))


def measured(program: Program, short_cuts: Sequence[ShortCut], runs: int) -> list[float]:
    """Return the ratio without each short cut to all as it is. Raises ValueError when anything else comes out."""
    variants = (_AS_IT_IS, *short_cuts)
    programs = tuple(without(program, short_cut) for short_cut in variants)
    wanted = answer(programs[0])
    for short_cut, variant in zip(variants, programs, strict=True):
        if answer(variant) != wanted:
            raise ValueError(f"without {short_cut.name} something else comes out")
    # as it is, first and last in each turn: what runs before a process warms or cools the machine for it
    first, *others, last = (least(samples) for samples in zip(*in_turn((*programs, programs[0]), runs), strict=True))
    return [seconds / min(first, last) for seconds in others]


def without(program: Program, short_cut: ShortCut) -> Program:
    """Return the same call without a short cut."""
    child = _CHILD.format(patches=dict(short_cut.patches), instead=dict(short_cut.instead))
    return program._replace(name=short_cut.name, command=(sys.executable, "-c", child, *program.command[1:]))


def answer(program: Program) -> tuple[bytes, bytes, int]:
    """Return standard output, standard error and exit code."""
    with open(program.stdin, "rb") as source:
        done = subprocess.run(program.command, stdin=source, capture_output=True, check=False, env=environment())
    return done.stdout, done.stderr, done.returncode


if __name__ == "__main__":
    main()
