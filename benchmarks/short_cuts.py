"""`python -m benchmarks.short_cuts`: what a render costs without each short cut, as a ratio to the render with it.

Rule of this file: a short cut stays where its removal costs a tenth of one of these renders. All variants run in turn, A B
C A B C ..., in processes of their own; the ratio is that of the least processor times. Output, messages and exit code of
every variant must be those of the program as it is.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks import inputs
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
NOTHING = ShortCut("as it is", "")


class Input(NamedTuple):
    """What is rendered, and how."""

    name: str
    program: Program


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.short_cuts", description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument(
        "--only", default="", metavar="WORDS", help="only short cuts whose name holds one of these words, by semicolons"
    )
    parser.add_argument(
        "--inputs", default="", metavar="WORDS", help="only inputs whose name holds one of these words, by semicolons"
    )
    chosen = parser.parse_args()
    short_cuts = [each for each in SHORT_CUTS if _named(each.name, chosen.only)]
    with tempfile.TemporaryDirectory() as directory:
        for each in made(directory):
            if _named(each.name, chosen.inputs):
                print(f"\n{each.name}, {each.program.size()} bytes", flush=True)
                for short_cut, ratio, base in measured(each.program, short_cuts, chosen.runs):
                    print(f"{short_cut.name:<30} {ratio:>7.3f}  {base * 1000:.0f} ms", flush=True)


def _named(name: str, words: str) -> bool:
    return any(word in name for word in words.split(";"))


def made(directory: str) -> Iterator[Input]:
    """The inputs, each when it is its turn."""
    sealed, plain = inputs.options(policies=True), inputs.options(policies=False)
    for name, documents in (
        ("ten workloads", inputs.plain(10)),
        ("1 MB, 2 %", inputs.mixed(1_000_000, 0.02)),
        ("3 MB, 2 %", inputs.mixed(3_000_000, 0.02)),
        ("1 MB, 20 %", inputs.mixed(1_000_000, 0.2)),
        ("3 MB, 20 %", inputs.mixed(3_000_000, 0.2)),
        ("1 MB, nothing of Contrast's", inputs.ordinary(1_000_000)),
        ("3 MB, nothing of Contrast's", inputs.ordinary(3_000_000)),
    ):
        yield Input(f"{name}, stream", post_render(directory, inputs.stream(documents), sealed))
        yield Input(f"{name}, list", function(directory, inputs.resource_list(documents, sealed)))
    for count in (10, 100):
        yield Input(f"{count} with mesh, ID block and owner key", function(directory, inputs.quickstart(count)))
    yield Input(
        "ten workloads without policies, stream", post_render(directory, inputs.stream(inputs.plain(10)), plain)
    )
    for size in (10, 100, 1000, 2000):
        documents = inputs.ordinary(size * 1000)
        yield Input(f"{size} KB configured", post_render(directory, inputs.stream(documents), sealed))
        yield Input(f"{size} KB unconfigured", bare_post_render(directory, inputs.stream(documents)))


def measured(program: Program, short_cuts: Sequence[ShortCut], runs: int) -> Iterator[tuple[ShortCut, float, float]]:
    """Each short cut, the ratio without it to all as it is, and the seconds of the latter. Raises for other output."""
    variants = (NOTHING, *short_cuts)
    programs = tuple(without(program, short_cut) for short_cut in variants)
    wanted = said(programs[0])
    for short_cut, variant in zip(variants, programs, strict=True):
        if said(variant) != wanted:
            raise AssertionError(f"another output without {short_cut.name}: {said(variant)[1].decode()[-600:]}")
    times = [least(samples) for samples in zip(*in_turn(programs, runs), strict=True)]
    for short_cut, seconds in zip(short_cuts, times[1:], strict=True):
        yield short_cut, seconds / times[0], times[0]


def without(program: Program, short_cut: ShortCut) -> Program:
    """The same call without a short cut."""
    child = _CHILD.format(patches=dict(short_cut.patches), instead=dict(short_cut.instead))
    return program._replace(name=short_cut.name, command=(sys.executable, "-c", child, *program.command[1:]))


def said(program: Program) -> tuple[bytes, bytes, int]:
    """Standard output, standard error and exit code."""
    with open(program.stdin, "rb") as source:
        done = subprocess.run(program.command, stdin=source, capture_output=True, check=False, env=environment())
    return done.stdout, done.stderr, done.returncode


if __name__ == "__main__":
    main()
