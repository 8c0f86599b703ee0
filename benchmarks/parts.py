"""Where the time of ten workloads goes: what each part of a render adds to a process that does all before it.

Rule of this file: every part is a process of its own, in turn with the others; a part costs the difference of two least
processor times. What a render imports is asked of a render, nothing is listed here.
"""

import subprocess
import sys
from typing import NamedTuple

from benchmarks import inputs
from benchmarks.cases import workloads
from benchmarks.measure import Program, environment, in_turn, least

CURVES = "cryptography.hazmat.primitives.asymmetric.ec"
WORKLOADS = 10  # of the table
MANY = 100  # workloads, to tell what a further one costs
_RENDER = "from krm_function.cli import main\nsys.argv = ['contrast-krm']\ncode = main()\n"
_NO_COLLECTOR = "import atexit, gc\ngc.disable()\natexit.register(gc.freeze)\n"  # as a render has it
_LOADED = (
    f"import sys\nbefore = set(sys.modules)\n{_RENDER}print('LOADED', *set(sys.modules) - before, file=sys.stderr)"
)


class Part(NamedTuple):
    """One row: what it is called, and its processor time in starts of the interpreter."""

    name: str
    starts: float


class Imports(NamedTuple):
    """The modules that a render loads, by whose they are. Each list can be imported in its order."""

    standard: tuple[str, ...]
    libyaml: tuple[str, ...]
    curves: tuple[str, ...]
    own: tuple[str, ...]


def imports() -> Imports:
    """Run a render and sort the modules that it has loaded by then."""
    source = inputs.resource_list(inputs.plain(WORKLOADS), inputs.options(policies=True))
    done = subprocess.run(
        (sys.executable, "-c", _LOADED), input=source, capture_output=True, text=True, env=environment(), check=True
    )
    names = sorted(done.stderr.rpartition("LOADED ")[2].split())

    def of(*packages: str) -> tuple[str, ...]:
        return tuple(name for name in names if name.partition(".")[0] in packages)

    standard = tuple(name for name in names if name.partition(".")[0] in sys.stdlib_module_names)
    return Imports(standard, of("yaml"), (CURVES,) if CURVES in names else (), of("krm_function"))


def parts(directory: str, runs: int) -> tuple[Part, ...]:
    """Measure every row of the table; the last two are all of ten workloads, and one more."""
    loaded = imports()
    standard, libyaml = _importing(loaded.standard), _importing(("krm_function.text.libyaml",))
    own, curves = _importing(loaded.own), _importing(loaded.curves)
    none, ten, many = (workloads(directory, count) for count in (0, WORKLOADS, MANY))
    whole = standard + libyaml + own + curves
    steps = ("pass", standard, standard + libyaml, standard + libyaml + own, whole, f"{whole}import sys\n{_RENDER}")
    programs = [Program("part", (sys.executable, "-c", f"{_NO_COLLECTOR}{code}"), none.stdin) for code in steps]
    in_turn((*programs, ten, many), 1)  # warm up
    times = [least(samples) for samples in zip(*in_turn((*programs, ten, many), runs), strict=True)]
    pass_, after_standard, after_libyaml, after_own, after_curves, after_none, all_, all_many = times
    costs = {
        "the interpreter itself": pass_,
        "modules of the standard library": after_standard - pass_,
        "libyaml": after_libyaml - after_standard,
        f"importing our own modules, {len(loaded.own)} of them": after_own - after_libyaml,
        "OpenSSL's curves, for ID blocks and owner keys": after_curves - after_own,
        "reading the configuration, a render of nothing": after_none - after_curves,
        "ten workloads": all_ - after_none,
        "all": all_,
        "each further workload": (all_many - all_) / (MANY - WORKLOADS),
    }
    return tuple(Part(name, seconds / pass_) for name, seconds in costs.items())


def _importing(modules: tuple[str, ...]) -> str:
    """Return code that imports some modules; names that `typing` only pretends to be modules are none."""
    return "".join(f"import {name}\n" for name in modules if not name.startswith("typing."))
