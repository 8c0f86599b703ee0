"""How much `make test` runs of tests that take long; `make test-all` runs all of them.

Rule of this file: a function of `costly.json` runs with so many of its cases, spread evenly and always the same ones;
0: in `make test-all` alone. Every other one runs with all of its cases, property tests with a tenth of their examples.

    .venv/bin/python -m pytest -n 3 -v --durations=0 --durations-min=0.02 > LOG
    .venv/bin/python -m tests.shares LOG

writes the file anew: a function that takes longer than BUDGET gets the cases that fit into it, one at least, and none
where one takes longer than LONGEST, or what is set up for its file does; a 0 that is there stays. Times are those of
the machine that ran it, which is good enough.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import settings

from tests.selection import function_of

COSTLY = Path(__file__).parent / "costly.json"
BUDGET = 0.2  # seconds of a function
LONGEST = 7  # seconds of a case
TENTH = 10
FEWEST = 5  # examples of a property

_TIME = re.compile(r"([\d.]+)s (?:call|setup|teardown) +(\S+?::\w+)(.*)")
_RUN = re.compile(r"\[ *\d+%\] (?:PASSED|SKIPPED|FAILED) (\S+?::\w+)")


def costly() -> Mapping[str, int]:
    """Return how many cases of which functions run."""
    shares: dict[str, int] = json.loads(COSTLY.read_text(encoding="utf-8"))
    return shares


def spread(count: int, wanted: int) -> set[int]:
    """Return so many indices of a sequence, spread evenly from the first to the last."""
    if wanted >= count:
        return set(range(count))
    return {index * (count - 1) // max(wanted - 1, 1) for index in range(wanted)}


def smaller(items: Sequence[pytest.Item], shares: Mapping[str, int]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return what runs and what does not, each in order."""
    counts = Counter(function_of(item) for item in items)
    chosen = {name: spread(counts[name], wanted) for name, wanted in shares.items()}
    seen: Counter[str] = Counter()
    kept: list[pytest.Item] = []
    gone: list[pytest.Item] = []
    for item in items:
        name = function_of(item)
        (kept if name not in chosen or seen[name] in chosen[name] else gone).append(item)
        seen[name] += 1
    return kept, gone


def fewer_examples(items: Iterable[pytest.Item]) -> None:
    """Give each property test a tenth of its examples."""
    changed = set()
    for item in items:
        test: Any = getattr(item, "obj", None)
        if getattr(test, "is_hypothesis_test", False) and function_of(item) not in changed:
            changed.add(function_of(item))
            test = getattr(test, "__func__", test)
            given: settings = test._hypothesis_internal_use_settings  # as Hypothesis' own plugin reads it
            few = max(given.max_examples // TENTH, min(FEWEST, given.max_examples))
            test._hypothesis_internal_use_settings = settings(given, max_examples=few)


def measured(lines: Iterable[str], known: Mapping[str, int] = MappingProxyType({})) -> dict[str, int]:
    """Return the shares that a verbose log with durations asks for. known: those of before."""
    took: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    cases: Counter[str] = Counter()
    for line in lines:
        if time := _TIME.match(line):
            took[time[2]][time[3]] += float(time[1])
        elif ran := _RUN.search(line):
            cases[ran[1]] += 1
    shares = {}
    for name in sorted({*took, *(each for each, share in known.items() if share == 0)} & cases.keys()):
        times = took.get(name) or {"": 0.0}
        whole, count = sum(times.values()), cases[name]
        if max(times.values()) > LONGEST or known.get(name) == 0:
            shares[name] = 0
        elif whole > BUDGET and count > 1:
            shares[name] = max(1, int(BUDGET * count / whole))
    return {name: share for name, share in shares.items() if share < cases[name]}


def main(arguments: Sequence[str]) -> None:
    """Write `costly.json` from a log."""
    (log,) = arguments
    with open(log, encoding="utf-8", errors="replace") as lines:
        text = json.dumps(measured(lines, costly()), indent=0)
    COSTLY.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
