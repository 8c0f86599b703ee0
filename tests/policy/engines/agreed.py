"""Rule of this file: no verdict counts that regorus, OPA and rego-cpp do not give alike.

regorus is the engine of Kata's agent; OPA is the language's reference; rego-cpp is the one a user gets with pip.

regorus is asked twice. The agent has a commit shortly after 0.9.1 and sets limits of its own on the length of a policy.
No release is both: 0.9.1 (`regorus`) evaluates as the agent does and takes no long lines, 0.10.0 (`regorus-agent`) is
the next one and has the agent's limits. So 0.9.1 is asked about every policy that it can load.

rego-cpp needs four times the time of the others together. So in the default run of the tests it is asked one question
in twelve, and in each test function at least one; `make nightly` and `python -m benchmarks.policy` ask it all of them.
The older regorus is asked every second one. `make test` builds no regorus: it asks OPA and rego-cpp.
"""

import functools
import json
from typing import Any

from tests.policy.engines import corpus
from tests.policy.engines.answer import Answer, Disagreement, Engine, Json
from tests.policy.engines.limits import PUBLISHED
from tests.policy.engines.lines import Lines
from tests.policy.engines.regocpp import RegoCpp
from tools.real import ONLY


class Turns:
    """Which questions the slow engine is asked: the first, and every so-many-th after it."""

    def __init__(self) -> None:
        """Ask it all of them."""
        self._every, self._number = 1, 0

    def begin(self, every: int = 1, number: int = 0) -> None:
        """Begin a test. every: ask one question in so many. number: of the case among those of its function."""
        self._every, self._number = every, number

    def due(self) -> bool:
        """Whether the next question is one for the slow engine."""
        self._number += 1
        return (self._number - 1) % self._every == 0

    def odd(self) -> bool:
        """Whether the older regorus is asked, too: every second question, or all of them."""
        return self._every == 1 or self._number % 2 == 1


TURNS = Turns()


@functools.cache
def engines() -> tuple[Engine, ...]:
    """All of them, started when first asked; without what `make test` does not build."""
    return (*(Lines(name) for name in ("regorus-agent", "regorus", "opa") if not ONLY or name in ONLY), RegoCpp())


@functools.lru_cache(maxsize=64)
def asked_about(policy: str, *, quick: bool = False, older: bool = True) -> tuple[Engine, ...]:
    """The engines that have to agree on a policy. quick, older: as for `ask`."""
    gone = {RegoCpp.name} if quick else set()
    if not older or not PUBLISHED.admit(policy):
        gone.add("regorus")
    return tuple(engine for engine in engines() if engine.name not in gone)


def ask(
    policy: str,
    entry_point: str,
    state: Json,
    request: Any,
    what: str = "",
    *,
    quick: bool = False,
    older: bool = True,
    kept: bool = True,
) -> Answer:
    """What all engines say of a rule; raises Disagreement if they do not say the same.

    what: for the corpus. quick: leave out rego-cpp, also when it is its turn. older: ask the older regorus as well.
    kept: in the corpus.
    """
    quick = not TURNS.due() or quick
    asked = asked_about(policy, quick=quick, older=older and TURNS.odd())
    answers = [engine.ask(policy, entry_point, state, request) for engine in asked]
    for engine, answer in zip(asked, answers, strict=True):
        if not answer.same(answers[0]):
            told = f"{asked[0].name}: {answers[0]}\n{engine.name}: {answer}"
            raise Disagreement(f"{entry_point}\n{told}\nstate {json.dumps(state)}\ninput {json.dumps(request)[:4000]}")
    if kept:
        corpus.record(policy, entry_point, state, request, answers[0], what)
    return answers[0]
