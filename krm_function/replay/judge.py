"""Put the requests of one pod to the sealed policy, in their order, with the state that the allowed ones leave behind.

Rule of this file: the verdict is the engine's. Several requests are asked in one evaluation with the state before the
first of them; what is said behind the first one that changes the state is thrown away and asked again.
"""

from collections.abc import Callable, Iterator
from typing import Any

from krm_function.replay.judged_requests import Ask, Judged, Question, Reason, Request, Unanswered
from krm_function.replay.probes import HEAD, PACKAGE, PREFIX
from krm_function.replay.state import Verdict, judge

AT_ONCE = 200  # requests of one evaluation
EXPLAINED = 50  # denials of a pod of which the conditions are asked; each is an evaluation of its own

Explain = Callable[[Request, dict[str, Any], str], tuple[Reason, ...]]  # denied request, state, problem of its patch


def replay(requests: tuple[Request, ...], ask: Ask, explain: Explain) -> Iterator[Judged]:
    """Judge each request, and yield its verdict with the reasons of a denial."""
    state: dict[str, Any] = {}
    position = explained = 0
    while position < len(requests):
        several = requests[position : position + AT_ONCE]
        for request, verdict in zip(several, _verdicts(several, state, ask), strict=False):
            position += 1
            reasons: tuple[Reason, ...] = ()
            if not verdict.allowed:
                explained += 1
                more = explained <= EXPLAINED
                reasons = explain(request, state, verdict.problem) if more else (NOT_ASKED,)
            yield Judged(request, verdict.allowed, reasons)
            state = verdict.state
            if verdict.changed:
                break


CHOSEN, VALUE = f"{PREFIX}request", f"{PREFIX}answer"
ECHO = f"{HEAD}\n{PREFIX}input := input\n"  # an engine that does not take the requests as they are shows it here
NOT_ASKED = Reason("", f"not looked into: the conditions of the first {EXPLAINED} denials of a pod are")


def _verdicts(requests: tuple[Request, ...], state: dict[str, Any], ask: Ask) -> Iterator[Verdict]:
    inputs = tuple(one.input for one in requests)
    # OPA takes `with input as data.…` for no input in a comprehension of a query; with a variable it does not
    chosen = [f"{CHOSEN} := data.{PREFIX}requests[{n}]" for n in range(len(requests))]
    terms = tuple(
        f"[{VALUE} | {choose}; {VALUE} := {PACKAGE}{one.kind} with input as {CHOSEN}]"
        for choose, one in zip(chosen, requests, strict=True)
    )
    last = f"[{VALUE} | {chosen[-1]}; {VALUE} := {PACKAGE}{PREFIX}input with input as {CHOSEN}]"
    try:
        *answers, echo = ask(Question((*terms, last), state, requests=inputs, module=ECHO))
        together: list[list[Any]] | None = [one[0] for one in answers] if echo == [[inputs[-1]]] else None
    except Unanswered:  # an error of one is an error of all
        together = None
    if together is None:
        yield from (judge(_alone(one, state, ask), state) for one in requests)
    else:
        yield from (judge(values, state) for values in together)


def _alone(request: Request, state: dict[str, Any], ask: Ask) -> list[Any]:
    """Return the answer to one request; an error of the evaluation is a denial (docs/facts/kata-rules.md#verdicts)."""
    try:
        return ask(Question((PACKAGE + request.kind,), state, request.input))[0]
    except Unanswered:
        return []
