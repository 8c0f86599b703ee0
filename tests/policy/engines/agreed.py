"""Rule of this file: no verdict counts that regorus, OPA and rego-cpp do not give alike.

regorus is the engine of Kata's agent; OPA is the language's reference; rego-cpp is the one a user gets with pip.
"""

import functools
import json
from typing import Any

from tests.policy.engines import corpus
from tests.policy.engines.answer import Answer, Disagreement, Engine, Json
from tests.policy.engines.lines import Lines
from tests.policy.engines.regocpp import RegoCpp


@functools.cache
def engines() -> tuple[Engine, ...]:
    """The three engines, started when first asked."""
    return (Lines("regorus"), Lines("opa"), RegoCpp())


def ask(policy: str, entry_point: str, state: Json, request: Any, what: str = "", *, quick: bool = False) -> Answer:
    """What all engines say of a rule; raises Disagreement if they do not say the same.

    what: for the corpus. quick: leave out rego-cpp, which needs ten times the time of the other two together.
    """
    asked = [engine for engine in engines() if not (quick and engine.name == RegoCpp.name)]
    answers = [engine.ask(policy, entry_point, state, request) for engine in asked]
    for engine, answer in zip(asked, answers, strict=True):
        if not answer.same(answers[0]):
            told = f"{asked[0].name}: {answers[0]}\n{engine.name}: {answer}"
            raise Disagreement(f"{entry_point}\n{told}\nstate {json.dumps(state)}\ninput {json.dumps(request)[:4000]}")
    corpus.record(policy, entry_point, state, request, answers[0], what)
    return answers[0]
