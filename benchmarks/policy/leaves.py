"""Rule of this file: every single-field change of every request is tried on regorus and OPA, and judged.

rego-cpp, which is slow, is asked about one in ten, or about all of them.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from krm_function.contrast.profiles import CONTRAST, KATA
from tests.policy.engines import agreed
from tests.policy.engines.answer import Disagreement
from tests.policy.engines.corpus import allows
from tests.policy.oracle import workloads
from tests.policy.oracle.requests import Asked, life
from tests.policy.oracle.trial import trials

SLOW = 10
# a dot of a pattern is the end of a line too, for rego-cpp alone: tests/policy/test_engines_differ.py
DOT = "terminationMessagePath'] newline"


class Leaves(NamedTuple):
    """Counts of verdicts, of disagreements, and the changes with a wrong verdict."""

    allowed: int = 0
    denied: int = 0
    differ: int = 0
    wrong: tuple[str, ...] = ()

    def plus(self, other: "Leaves") -> "Leaves":
        """Both together."""
        return Leaves(
            self.allowed + other.allowed,
            self.denied + other.denied,
            self.differ + other.differ,
            self.wrong + other.wrong,
        )


def try_leaves(*, thorough: bool = False) -> Leaves:
    """Try them all; the requests of a correct host must all be allowed, which `life` sees to.

    thorough: ask rego-cpp about all of them.
    """
    policies = {
        (name, profile.name): make(profile)
        for profile in (CONTRAST, KATA)
        for name, make in (("everything", workloads.everything), ("gpus", workloads.gpus))
    }
    work = [(*key, rego, asked, thorough) for key, rego in policies.items() for asked in life(rego)]
    total = Leaves()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for part in pool.map(_tried, work):
            total = total.plus(part)
        for alive in pool.map(_alive, workloads.examples().items()):
            total = total.plus(alive)
    return total


def _tried(work: tuple[str, str, str, Asked, bool]) -> Leaves:
    name, profile, rego, asked, thorough = work
    allowed = denied = differ = 0
    wrong = []
    for number, trial in enumerate(trials(asked, profile)):
        quick = (not thorough and number % SLOW != 0) or trial.what.endswith(DOT)
        try:
            verdict = allows(agreed.ask(rego, trial.entry_point, trial.state, trial.request, quick=quick))
        except Disagreement as problem:
            differ += 1
            wrong.append(f"{name}, {profile}: {trial.what}: {' / '.join(str(problem).splitlines()[1:3])}")
            continue
        allowed, denied = allowed + verdict, denied + (not verdict)
        if verdict != bool(trial.reason):
            wrong.append(f"{name}, {profile}: {trial.what}: {'allowed' if verdict else 'denied'}")
    return Leaves(allowed, denied, differ, tuple(wrong))


def _alive(example: tuple[str, str]) -> Leaves:
    name, rego = example
    try:
        return Leaves(allowed=len(list(life(rego, quick=True))))
    except Disagreement:
        return Leaves(differ=1)
    except AssertionError as error:
        return Leaves(wrong=(f"{name}: {error}",))
