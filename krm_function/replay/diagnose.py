"""Say which conditions of a sealed policy a denied request does not meet, and which fields of the pod they are about.

Rule of this file: what does not hold is what the engine says does not hold, of the policy's own conditions; fields and
sentences come from the table of conditions.py. What cannot be told is said to be so.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.findings import dotted
from krm_function.model.lookup import dig, maps
from krm_function.model.workload import Workload
from krm_function.record import NamedTuple
from krm_function.replay.conditions import AGAIN, KINDS, STARTED, Condition, condition_of
from krm_function.replay.differences import Compared, differences
from krm_function.replay.judged_requests import ANNOTATION, CREATE, Ask, Question, Reason, Request, Unanswered
from krm_function.replay.pods_of_log import note
from krm_function.replay.probes import CONTAINER, Probe, probes_of, terms
from krm_function.replay.rule_text import Body, bodies, definitions
from krm_function.replay.shown import shown

MOST = 20  # reasons of one request
UNTOLD = "which field it is cannot be told"
OTHER_RULES = "the rules are of another release or generator, and their conditions are not known here"
EXEC = "ExecProcessRequest"


class Sealed(NamedTuple):
    """A sealed policy. rules: its text without policy_data."""

    workload: Workload
    rules: str
    data: Mapping[str, Any]


class _Failed(NamedTuple):
    """A condition that does not hold, after the calls that lead to it. keys: the elements that it does not hold for."""

    calls: tuple[Probe, ...]
    probe: Probe
    keys: tuple[Any, ...]


def explain(sealed: Sealed, ask: Ask, request: Request, state: dict[str, Any], problem: str) -> tuple[Reason, ...]:
    """Say why a request was denied, at least one reason. problem: of its patch of the state, "" if that applies."""
    kind = request.kind
    field, remedy = KINDS.get(kind, ("", ""))
    remedy = remedy.format(kind=kind)
    if problem:
        name = shown(dig(request.input, ("container_id",)))
        text = f"the container {name} is not known: never created, or removed before ({problem})"
        return (Reason("container_id", text, remedy=STARTED),)
    counted = definitions(sealed.rules)
    if kind not in counted:
        return (Reason("", "the policy does not know this request", remedy=OTHER_RULES),)
    rules = bodies(sealed.rules)
    candidates = rules.get(kind, ())
    if not candidates:
        text = "the policy does not allow this request" if counted[kind] else "the policy never allows this request"
        return (Reason(field, text, remedy=remedy or OTHER_RULES),)
    index = None
    if kind == CREATE:
        if len(rules.get(CONTAINER, ())) != 1:
            return (Reason("", UNTOLD, remedy=OTHER_RULES),)
        index = _container(request, sealed.data)
        if index is None:
            return (_no_container(request),)
    elif kind == EXEC:
        index = _created(state, dig(request.input, ("container_id",)))
    tried = [_failed(body, rules, request, state, index, ask) for body in candidates]
    told = [failed for failed in tried if failed]
    if not told:
        why = "every condition holds by itself" if [] in tried else "the engine does not answer for single conditions"
        return (Reason(field, f"{UNTOLD}: {why}", remedy=remedy),)
    best = min((failed for failed in told), key=len)
    reasons = list(_reasons(best, sealed, request, state, index, (field, remedy)))
    more = [Reason("", f"and {len(reasons) - MOST} more")] if len(reasons) > MOST else []
    return (*reasons[:MOST], *more)


def _failed(
    body: Body, rules: Mapping[str, tuple[Body, ...]], request: Request, state: dict[str, Any], index: Any, ask: Ask
) -> list[_Failed] | None:
    """Return what does not hold of one body; None if the engine does not answer."""
    probes = probes_of(body, rules, index if request.kind == CREATE else None)
    try:
        answers = ask(Question(terms(probes.probes), state, request.input, module=probes.module))
    except Unanswered:
        return None
    return _walked(probes.probes, iter(answers))


def _walked(probes: tuple[Probe, ...], answers: Iterator[list[Any]], calls: tuple[Probe, ...] = ()) -> list[_Failed]:
    """Return the deepest conditions that do not hold, without those that only follow from another."""
    deepest: list[_Failed] = []
    failed: set[int] = set()
    for number, probe in enumerate(probes):
        values = next(answers)
        inner = _walked(probe.inner, answers, (*calls, probe))
        holds = bool(values) and (values[0] == [] if probe.keys else values[0] is True)
        assigned = f"; {CONTAINER}(" in probe.statement  # a list of the containers that fit, which may be empty
        if holds and not (assigned and inner):
            continue
        if not failed.intersection(probe.needs):
            keys = tuple(values[0]) if probe.keys and values and isinstance(values[0], list) else ()
            deepest += inner or [_Failed(calls, probe, keys)]
        failed.add(number)
    return deepest


def _reasons(
    failed: list[_Failed],
    sealed: Sealed,
    request: Request,
    state: dict[str, Any],
    index: Any,
    default: tuple[str, str],
) -> Iterator[Reason]:
    sealed_container = dig(sealed.data.get("containers"), (index,)) if isinstance(index, int) else None
    common = sealed.data.get("common")
    told: set[str] = set()
    yielded: set[tuple[str, str]] = set()
    for failure in failed:
        function, statement = failure.probe.function, failure.probe.statement
        row = row_of((*failure.calls, failure.probe))
        if row and row.follows and function in told:
            continue
        told.add(function)
        if row is None:
            place = re.search(r"\binput\.([\w.]+)", statement)
            text = f"a condition of the rules does not hold{_numbers(failure.keys)}: {shown(statement)}"
            yield Reason(default[0] or (place[1] if place else ""), text, remedy=default[1] or AGAIN)
            continue
        if not row.field and (place := re.search(r"\binput\.([\w.]+)", statement)):
            row = row._replace(field=place[1])
        field = row.field.replace("OCI.Process", "process") if request.kind == EXEC else row.field
        compared = Compared(
            _as_created(request) if request.kind == EXEC else request.input,
            sealed_container,
            state,
            common,
            statement,
            failure.keys,
        )
        for text in differences(row, compared):
            if (field, text) in yielded:
                continue
            yielded.add((field, text))
            yield Reason(field, text, _pod(row, sealed.workload, sealed_container), row.remedy)


def row_of(calls: tuple[Probe, ...]) -> Condition | None:
    """Return the row of a condition, or that of the closest call which leads to it."""
    rows = (condition_of(probe.function, probe.statement) for probe in reversed(calls))
    return next((row for row in rows if row), None)


def _numbers(keys: tuple[Any, ...]) -> str:
    """Return which elements a condition does not hold for, counted from 1."""
    numbers = [str(key + 1) for key in keys if isinstance(key, int) and not isinstance(key, bool)]
    return f" for number {', '.join(numbers)}" if numbers else ""


def _as_created(request: Request) -> Any:
    """Return the process of a command at the place that it has in the request of a container."""
    if not isinstance(request.input, dict):
        return request.input
    return {**request.input, "OCI": {"Process": request.input.get("process")}}


def _container(request: Request, data: Mapping[str, Any]) -> int | None:
    """Return the container of policy_data with the type and name of the request's."""
    for index, container in enumerate(maps(data.get("containers"))):
        notes = dig(container, ("OCI", "Annotations"))
        if all(
            (dig(notes, (ANNOTATION + name,)) or "") == note(request, name)
            for name in ("container-type", "container-name")
        ):
            return index
    return None


def _created(state: dict[str, Any], identity: Any) -> int | None:
    """Return the container of policy_data that an id stands for: the state has its number, or a map with it."""
    container = state.get(identity) if isinstance(identity, str) else None
    number = container.get("container") if isinstance(container, dict) else container
    return number if isinstance(number, int) else None


def _no_container(request: Request) -> Reason:
    field = f'OCI.Annotations["{ANNOTATION}container-name"]'
    name = note(request, "container-name")
    if not name:
        return Reason(field, "a container without a name, which is not the sandbox's", remedy=AGAIN)
    text = f"the pod was sealed without a container {shown(name)}"
    remedy = "if an admission webhook injects it, put it into the input and render again; ephemeral containers of "
    return Reason(field, text, "spec.containers", remedy + "`kubectl debug` are never allowed")


def _pod(row: Condition, workload: Workload, sealed_container: Any) -> str:
    """Return where in the workload the field is, "" for what no pod decides."""
    if not row.pod:
        return ""
    if row.pod in ("metadata.name", "metadata.namespace"):
        return row.pod
    name = dig(sealed_container, ("OCI", "Annotations", f"{ANNOTATION}container-name"))
    own = next((one.field for one in workload.all_containers if one.name == name), "")
    if "{container}" in row.pod and not own:
        return ""
    container = f"spec.{own}[name={name}]"
    below = row.pod.format(container=container)
    return f"{dotted(workload.template_path)}.{below}" if workload.template_path else below
