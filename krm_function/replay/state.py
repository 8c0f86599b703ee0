"""The state that the agent keeps: JSON Patches of allowed requests, applied to data (docs/facts/kata-rules.md#state).

Rule of this file: a verdict is a boolean, or an object with `allowed` and `ops`; anything else is a denial, and so is a
patch that does not apply. Nothing is changed in place.
"""

from typing import Any

from krm_function.record import NamedTuple

ROOT = "pstate"


class Verdict(NamedTuple):
    """What an engine said of a request. problem: of its patch, "" if there is none. changed: the state did."""

    allowed: bool
    state: dict[str, Any]
    changed: bool = False
    problem: str = ""


def judge(values: list[Any], state: dict[str, Any]) -> Verdict:
    """Judge by an answer: the verdict, and the state after it. values: none where the answer is undefined."""
    if len(values) != 1:
        return Verdict(False, state)
    (value,) = values
    if isinstance(value, bool):
        return Verdict(value, state)
    if not isinstance(value, dict) or value.get("allowed") is not True:
        return Verdict(False, state)
    ops = value.get("ops") or []
    try:
        after = applied(state, ops)
    except ValueError as problem:
        return Verdict(False, state, problem=str(problem))
    return Verdict(True, after, changed=after != state)


def applied(state: dict[str, Any], ops: Any) -> dict[str, Any]:
    """Apply the operations add, remove and replace to the state. Raises ValueError for one that does not apply."""
    if not isinstance(ops, list):
        raise ValueError("its operations on the state are no list")  # noqa: TRY004 - an answer, no bug
    for op in ops:
        path = op.get("path") if isinstance(op, dict) else None
        if not isinstance(path, str) or not path.startswith(f"/{ROOT}/"):
            raise ValueError("an operation is not one on the state")
        steps = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[2:]]
        state = _applied(state, steps, op)
    return state


def _applied(value: Any, steps: list[str], op: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("an operation does not apply to the state")  # noqa: TRY004 - an answer, no bug
    key, rest = steps[0], steps[1:]
    present = key in value
    match op.get("op"):
        case _ if rest and present:
            return {**value, key: _applied(value[key], rest, op)}
        case "add" if not rest and "value" in op:
            return {**value, key: op["value"]}
        case "replace" if not rest and present and "value" in op:
            return {**value, key: op["value"]}
        case "remove" if not rest and present:
            return {name: kept for name, kept in value.items() if name != key}
        case _:
            raise ValueError("an operation does not apply to the state")
