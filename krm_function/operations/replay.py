"""Evaluate the requests of a log by the sealed policy, and explain which conditions a denied one does not meet."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from krm_function.findings import REF_NAMES, Ref, dotted
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.kubernetes.workload import Workload
from krm_function.operations.replay_log import (
    ANNOTATION,
    CREATE,
    Ask,
    Denial,
    Judged,
    Log,
    Pod,
    Question,
    Reason,
    Replayed,
    Request,
    Unanswered,
    note,
)
from krm_function.operations.rule_conditions import (
    AGAIN,
    CONTAINER,
    KINDS,
    PACKAGE,
    PREFIX,
    STARTED,
    Body,
    Condition,
    Probe,
    bodies,
    condition_of,
    definitions,
    probes_of,
    terms,
)
from krm_function.operations.rule_conditions import PREAMBLE as HEAD
from krm_function.record import NamedTuple
from krm_function.report.findings import on_one_line

# --- The state that the agent keeps: JSON Patches of allowed requests, applied to data (docs/facts/kata-rules.md#state)
#
# Rule: a verdict is a boolean, or an object with `allowed` and `ops`; anything else is a denial, and so is a patch that
# does not apply. Nothing is changed in place.


ROOT = "pstate"


class Verdict(NamedTuple):
    """An engine's verdict on a request. problem: of its patch, "" if there is none. changed: the state did."""

    allowed: bool
    state: dict[str, Any]
    changed: bool = False
    problem: str = ""


def judge(values: list[Any], state: dict[str, Any]) -> Verdict:
    """Return the verdict of an answer, and the state after it. values: empty if the answer is undefined."""
    if len(values) != 1:
        return Verdict(False, state)
    (value,) = values
    if isinstance(value, bool):
        return Verdict(value, state)
    if not isinstance(value, dict) or value.get("allowed") is not True:
        return Verdict(False, state)
    ops = value.get("ops") or []
    try:
        new_state = applied(state, ops)
    except ValueError as problem:
        return Verdict(False, state, problem=str(problem))
    return Verdict(True, new_state, changed=new_state != state)


def applied(state: dict[str, Any], ops: Any) -> dict[str, Any]:
    """Apply the operations add, remove and replace to the state. Raises ValueError for one that does not apply."""
    if not isinstance(ops, list):
        raise ValueError("its operations on the state are not a list")  # noqa: TRY004 - an answer, no bug
    for op in ops:
        path = op.get("path") if isinstance(op, dict) else None
        if not isinstance(path, str) or not path.startswith(f"/{ROOT}/"):
            raise ValueError("an operation is not one on the state")
        steps = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[2:]]
        state = _apply(state, steps, op)
    return state


def _apply(value: Any, steps: list[str], op: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("an operation does not apply to the state")  # noqa: TRY004 - an answer, not a bug
    key, rest = steps[0], steps[1:]
    present = key in value
    match op.get("op"):
        case _ if rest and present:
            return {**value, key: _apply(value[key], rest, op)}
        case "add" if not rest and "value" in op:
            return {**value, key: op["value"]}
        case "replace" if not rest and present and "value" in op:
            return {**value, key: op["value"]}
        case "remove" if not rest and present:
            return {name: member for name, member in value.items() if name != key}
        case _:
            raise ValueError("an operation does not apply to the state")


# --- Evaluate the requests of one pod by the sealed policy, in their order, each with the state that the allowed ones
# left
#
# Rule: the verdict is the engine's. One evaluation takes several requests with the state before the first; the answers
# after the first one that changes the state are thrown away and asked again.


AT_ONCE = 200  # requests of one evaluation
EXPLAINED = 50  # denials of a pod that are explained; each is an evaluation of its own

Explain = Callable[[Request, dict[str, Any], str], tuple[Reason, ...]]  # denied request, state, problem of its patch


def replay(requests: tuple[Request, ...], ask: Ask, explain: Explain) -> Iterator[Judged]:
    """Judge each request, and yield its verdict with the reasons of a denial."""
    state: dict[str, Any] = {}
    position = explained = 0
    while position < len(requests):
        several = requests[position : position + AT_ONCE]
        for request, verdict in zip(several, _judge_together(several, state, ask), strict=False):
            position += 1
            reasons: tuple[Reason, ...] = ()
            if not verdict.allowed:
                explained += 1
                in_full = explained <= EXPLAINED
                reasons = explain(request, state, verdict.problem) if in_full else (NOT_ASKED,)
            yield Judged(request, verdict.allowed, reasons)
            state = verdict.state
            if verdict.changed:
                break


CHOSEN, VALUE = f"{PREFIX}request", f"{PREFIX}answer"
ECHO = f"{HEAD}\n{PREFIX}input := input\n"  # an engine that does not take requests in this form shows it here
NOT_ASKED = Reason("", f"not looked into: the conditions of the first {EXPLAINED} denials of a pod are")


def _judge_together(requests: tuple[Request, ...], state: dict[str, Any], ask: Ask) -> Iterator[Verdict]:
    inputs = tuple(request.input for request in requests)
    # OPA takes `with input as data.…` as no input in a comprehension of a query; with a variable it works
    chosen = [f"{CHOSEN} := data.{PREFIX}requests[{n}]" for n in range(len(requests))]
    terms = tuple(
        f"[{VALUE} | {choose}; {VALUE} := {PACKAGE}{request.kind} with input as {CHOSEN}]"
        for choose, request in zip(chosen, requests, strict=True)
    )
    last = f"[{VALUE} | {chosen[-1]}; {VALUE} := {PACKAGE}{PREFIX}input with input as {CHOSEN}]"
    try:
        *answers, echo = ask(Question((*terms, last), state, requests=inputs, module=ECHO))
        together: list[list[Any]] | None = [answer[0] for answer in answers] if echo == [[inputs[-1]]] else None
    except Unanswered:  # an error in one request is an error of all
        together = None
    if together is None:
        yield from (judge(_ask_alone(request, state, ask), state) for request in requests)
    else:
        yield from (judge(values, state) for values in together)


def _ask_alone(request: Request, state: dict[str, Any], ask: Ask) -> list[Any]:
    """Return the answer to one request; an evaluation error is a denial (docs/facts/kata-rules.md#verdicts)."""
    try:
        return ask(Question((PACKAGE + request.kind,), state, request.input))[0]
    except Unanswered:
        return []


# --- Numbers, texts and lists of a request for a sentence
#
# Rule: a text is cut off after LONGEST characters, and a variable is shown by its name alone.


LONGEST = 200  # characters of a path, a reference or a list


def at(value: Any, path: str) -> Any:
    """Return the value at a dotted path, whose last step may be a key in brackets and quotes."""
    head, _, key = path.partition('["')
    steps: list[str | int] = [*head.split(".")] if head else []
    return dig(value, (*steps, key.removesuffix('"]')) if key else tuple(steps))


def shown(value: Any) -> str:
    """Write a number, a boolean or a text; describe anything else."""
    if isinstance(value, str):
        return short(value) if value else "nothing"
    if value is None:
        return "nothing"
    return json.dumps(value) if isinstance(value, int | float) else "something that is no single value"


def listed(value: Any) -> str:
    """Write the members of a list, or `none`."""
    members = [shown(member) for member in value] if isinstance(value, list) else []
    return short(", ".join(members)) if members else "none"


def variable_name(text: Any) -> str:
    """Return the text before the first `=`; nothing of a text without one, as it may be a value."""
    name, equals, _ = text.partition("=") if isinstance(text, str) else ("", "", "")
    return short(name) if equals and name else "without a name"


def short(text: str) -> str:
    """Put a text on one line and cut it at its longest length."""
    text = " ".join(text.split("\n"))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


# --- Describe the part of a request that a condition refuses: `a mount at /x that the policy does not have`
#
# Rule: never a value of a variable or annotation, and never an argument. It shows names, numbers, users, groups, paths,
# options of mounts, drivers, images and their digests; of arguments only their number and lengths.


PULLED = "image_guest_pull"
TOKENS = ("$(default_caps)", "$(privileged_caps)")


class Compared(NamedTuple):
    """The inputs of a condition. input: the request. sealed: its container in policy_data. keys: what does not hold."""

    input: Any
    sealed: Any
    state: dict[str, Any]
    common: Any
    statement: str
    keys: tuple[Any, ...] = ()


def differences(row: Condition, compared: Compared) -> Iterator[str]:  # noqa: C901 (one case for each word of `says`)
    """Yield sentences, at least one."""
    asked, sealed = at(compared.input, row.field), at(compared.sealed, row.field)
    sentences: Iterable[str]
    match row.says:
        case "value" | "another":
            sealed_text = shown(sealed) if row.says == "value" else "another"
            sentences = [f"the node asked for {shown(asked)}; the pod was sealed with {sealed_text}"]
        case "values":
            sentences = [f"the node asked for {listed(asked)}; the pod was sealed with {listed(sealed)}"]
        case "capabilities":
            sentences = _sets(
                _capabilities(asked, compared.common), _capabilities(sealed, compared.common), "capability"
            )
        case "elements":
            sentences = _elements(asked, sealed, compared)
        case "arguments":
            sentences = _arguments(asked, sealed, compared)
        case "mounts":
            sentences = (_mount(mount, maps(sealed)) for mount in _select(asked, compared.keys))
        case "used":
            sentences = ["two mounts of the request are the same one of the policy"]
        case "storages":
            sentences = _storages(asked, sealed, compared)
        case "devices":
            sentences = _sets(_texts(asked, "container_path"), _texts(sealed, "container_path"), "device")
        case "paths":
            sentences = _sets(_texts(asked, "Path"), _texts(sealed, "Path"), "device")
        case "required":
            sentences = _required(row, asked, sealed, compared)
        case "state":
            sentences = [_state(row, asked, compared)]
        case "role":
            sentences = [
                "the annotations that say what the container is (its type, its name, the log directory) differ"
            ]
        case "plain":
            sentences = ()
    told = [sentence for sentence in sentences if sentence]
    yield from told or [f"the node sends something else than the policy allows ({short(compared.statement)})"]


def _elements(asked: Any, sealed: Any, compared: Compared) -> Iterator[str]:
    for key in compared.keys:
        if isinstance(asked, dict):
            in_policy = isinstance(sealed, dict) and key in sealed
            yield f"{shown(key)}: {'another value than in the policy' if in_policy else 'not in the policy'}"
        elif isinstance(dig(asked, (key,)), str):
            name = variable_name(dig(asked, (key,)))
            names = {variable_name(text) for text in sealed} if isinstance(sealed, list) else set()
            difference = "has another value than in the policy" if name in names else "is not in the policy"
            yield f"variable {name} {difference}"
        else:
            yield f"number {key + 1 if isinstance(key, int) else shown(key)}: not in the policy"


def _arguments(asked: Any, sealed: Any, compared: Compared) -> Iterator[str]:
    asked, sealed = _list(asked), _list(sealed)
    if not compared.keys and compared.statement.startswith("command_permitted"):
        yield f"a command of {len(asked)} words that neither a probe nor a hook of the pod has"
    elif len(asked) != len(sealed):
        yield f"the node runs {len(asked)} arguments, the program among them; the pod was sealed with {len(sealed)}"
    for key in compared.keys:
        if isinstance(key, int) and key < len(asked) and key < len(sealed):
            lengths = f"{len(str(asked[key]))} characters, the policy's {len(str(sealed[key]))}"
            yield f"argument {key} differs from the policy's (it has {lengths})"


def _mount(mount: dict[str, Any], sealed: list[dict[str, Any]]) -> str:
    place = mount.get("destination")
    of_policy = next((entry for entry in sealed if entry.get("destination") == place), None)
    if of_policy is None:
        return f"a mount at {shown(place)} that the policy does not have"
    parts = []
    if mount.get("type_") != of_policy.get("type_"):
        parts.append(f"its type is {shown(mount.get('type_'))}, sealed was {shown(of_policy.get('type_'))}")
    if mount.get("options") != of_policy.get("options"):
        parts.append(f"its options are {listed(mount.get('options'))}; sealed were {listed(of_policy.get('options'))}")
    if not parts:
        parts.append(f"it comes from {shown(mount.get('source'))}, which is not where the policy has it from")
    return f"the mount at {shown(place)}: {'; '.join(parts)}"


def _storages(asked: Any, sealed: Any, compared: Compared) -> Iterator[str]:
    given_all, wanted_all = maps(asked), maps(sealed)
    if compared.statement.startswith("count"):
        yield f"the node sends {len(given_all)} storages (image and volumes); the pod was sealed with {len(wanted_all)}"
    missing = compared.statement.startswith("every wanted")
    for storage in _select(sealed if missing else asked, compared.keys):
        driver = storage.get("driver")
        if missing:
            part = f"image {shown(storage.get('source'))}" if driver == PULLED else f"volume of driver {shown(driver)}"
            yield f"the request lacks the {part} of the policy, or has it twice"
        elif driver == PULLED:
            yield _image(storage, next((item for item in wanted_all if item.get("driver") == PULLED), {}))
        else:
            place = shown(storage.get("mount_point"))
            yield f"a volume of driver {shown(driver)} at {place} that the policy does not have"


def _image(storage: dict[str, Any], sealed_storage: dict[str, Any]) -> str:
    source, sealed = storage.get("source"), sealed_storage.get("source")
    if not isinstance(source, str) or not isinstance(sealed, str):
        return "an image, where the policy has none"
    given_digest, wanted_digest = source.partition("@")[2], sealed.partition("@")[2]
    if not given_digest and wanted_digest:
        return (
            f"the node asked for {shown(source)}, without a digest; the pod was sealed with {shown(wanted_digest)}. "
            "containerd before 2.0 may name another reference of the image: remove the image from the node"
        )
    if given_digest != wanted_digest:
        asked, policy_text = (given_digest, wanted_digest) if wanted_digest else (source, sealed)
        return f"the node asked for {shown(asked)}; the pod was sealed with {shown(policy_text)}"
    names = ("driver_options", "options", "fstype", "fs_group", "shared")
    differ = [name for name in names if storage.get(name) != sealed_storage.get(name)]
    return f"the image's {', '.join(differ or ['mount point'])} differ from the policy's"


def _required(row: Condition, asked: Any, sealed: Any, compared: Compared) -> Iterator[str]:
    if row.field == "OCI.Process.Env":
        names = {variable_name(text) for text in _list(asked)}
        required = _list(dig(compared.sealed, ("required_variables",)))
        yield from (f"variable {shown(name)} of the pod is missing" for name in required if name not in names)
    elif row.field == "OCI.Mounts":
        places = {mount.get("destination") for mount in maps(asked)}
        required = _list(dig(compared.sealed, ("required_mounts",)))
        yield from (f"the mount at {shown(place)} is missing" for place in required if place not in places)
    elif missing := [path for path in _list(sealed) if path not in _list(asked)]:
        yield f"not among them, but in the policy: {listed(missing)}"


def _state(row: Condition, asked: Any, compared: Compared) -> str:
    if row.field == "container_id":
        return _describe_life(row, asked, compared.state.get(asked) if isinstance(asked, str) else None)
    earlier = compared.state.get(row.state)
    if row.state == "network_namespace":
        paths = [entry.get("Path") for entry in maps(asked) if entry.get("Type") == "network"]
        asked = paths[0] if len(paths) == 1 else None
    return f"the node says {shown(asked)}; an earlier request said {shown(earlier)}"


def _describe_life(row: Condition, asked: Any, container: Any) -> str:
    """Describe the state of a container's id: never seen, its number, or its number and a phase of its life."""
    name = f"the container id {shown(asked)}"
    phase = container.get("phase") if isinstance(container, dict) else None
    if row.function in ("CreateContainerRequest", "complete"):
        return (
            f"{name} was used before"
            if container is not None
            else f"{name} is new, and the container runs under another"
        )
    if container is None:
        return f"{name} is not known: never created, or removed before"
    return f"{name} is that of a container which is {shown(phase)}" if phase else f"{name} is known"


def _sets(asked: list[str], sealed: list[str], kind: str) -> Iterator[str]:
    yield from (f"{kind} {shown(name)} is not in the policy" for name in asked if name not in sealed)
    yield from (f"{kind} {shown(name)} of the policy is not in the request" for name in sealed if name not in asked)


def _capabilities(value: Any, common: Any) -> list[str]:
    names = _list(value)
    if len(names) == 1 and names[0] in TOKENS:
        names = _list(dig(common, (names[0][2:-1],)))
    return [name.removeprefix("CAP_") for name in names if isinstance(name, str)]


def _select(value: Any, keys: tuple[Any, ...]) -> list[dict[str, Any]]:
    return [mapping(dig(value, (key,))) for key in keys if isinstance(key, int)]


def _texts(value: Any, field: str) -> list[str]:
    return [entry[field] for entry in maps(value) if isinstance(entry.get(field), str)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# --- Find which conditions of a sealed policy a denied request does not meet, and the fields of the pod they are about
#
# Rule: the engine decides which of the policy's own conditions do not hold; fields and sentences come from the table in
# rule_conditions.py. If the reason cannot be found, the text states that.


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
    """Return why a request was denied, at least one reason. problem: of its state patch, "" if that applies."""
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
        index = _find_container(request, sealed.data)
        if index is None:
            return (_report_no_container(request),)
    elif kind == EXEC:
        index = _find_created(state, dig(request.input, ("container_id",)))
    tried = [_find_failed(body, rules, request, state, index, ask) for body in candidates]
    told = [failed for failed in tried if failed]
    if not told:
        why = "every condition holds by itself" if [] in tried else "the engine does not answer for single conditions"
        return (Reason(field, f"{UNTOLD}: {why}", remedy=remedy),)
    best = min((failed for failed in told), key=len)
    reasons = list(_list_reasons(best, sealed, request, state, index, (field, remedy)))
    rest = [Reason("", f"and {len(reasons) - MOST} more")] if len(reasons) > MOST else []
    return (*reasons[:MOST], *rest)


def _find_failed(
    body: Body, rules: Mapping[str, tuple[Body, ...]], request: Request, state: dict[str, Any], index: Any, ask: Ask
) -> list[_Failed] | None:
    """Return the conditions of one body that do not hold; None if the engine does not answer."""
    probes = probes_of(body, rules, index if request.kind == CREATE else None)
    try:
        answers = ask(Question(terms(probes.probes), state, request.input, module=probes.module))
    except Unanswered:
        return None
    return _walk(probes.probes, iter(answers))


def _walk(probes: tuple[Probe, ...], answers: Iterator[list[Any]], calls: tuple[Probe, ...] = ()) -> list[_Failed]:
    """Return the deepest conditions that do not hold, without those that only follow from another."""
    deepest: list[_Failed] = []
    failed: set[int] = set()
    for number, probe in enumerate(probes):
        values = next(answers)
        inner = _walk(probe.inner, answers, (*calls, probe))
        holds = bool(values) and (values[0] == [] if probe.keys else values[0] is True)
        assigned = f"; {CONTAINER}(" in probe.statement  # a list of the matching containers, which may be empty
        if holds and not (assigned and inner):
            continue
        if not failed.intersection(probe.needs):
            keys = tuple(values[0]) if probe.keys and values and isinstance(values[0], list) else ()
            deepest += inner or [_Failed(calls, probe, keys)]
        failed.add(number)
    return deepest


def _list_reasons(
    failed: list[_Failed],
    sealed: Sealed,
    request: Request,
    state: dict[str, Any],
    index: Any,
    default: tuple[str, str],
) -> Iterator[Reason]:
    sealed_container = dig(sealed.data.get("containers"), (index,)) if isinstance(index, int) else None
    asked = request.input
    if request.kind == EXEC and isinstance(asked, dict):
        asked = {**asked, "OCI": {"Process": asked.get("process")}}
    told: set[str] = set()
    yielded: set[tuple[str, str]] = set()
    for failure in failed:
        function, statement = failure.probe.function, failure.probe.statement
        row = row_of((*failure.calls, failure.probe))
        if row and row.follows and function in told:
            continue
        told.add(function)
        place = re.search(r"\binput\.([\w.]+)", statement)
        field_of_statement = place[1] if place else ""
        if row is None:
            text = f"a condition of the rules does not hold{_numbers(failure.keys)}: {shown(statement)}"
            yield Reason(default[0] or field_of_statement, text, remedy=default[1] or AGAIN)
            continue
        row = row._replace(field=row.field or field_of_statement)
        field = row.field.replace("OCI.Process", "process") if request.kind == EXEC else row.field
        compared = Compared(asked, sealed_container, state, sealed.data.get("common"), statement, failure.keys)
        for text in differences(row, compared):
            if (field, text) not in yielded:
                yielded.add((field, text))
                yield Reason(field, text, _find_pod_field(row, sealed.workload, sealed_container), row.remedy)


def row_of(calls: tuple[Probe, ...]) -> Condition | None:
    """Return the row of a condition, or of the closest call that leads to it."""
    rows = (condition_of(probe.function, probe.statement) for probe in reversed(calls))
    return next((row for row in rows if row), None)


def _numbers(keys: tuple[Any, ...]) -> str:
    numbers = [str(key + 1) for key in keys if isinstance(key, int) and not isinstance(key, bool)]
    return f" for number {', '.join(numbers)}" if numbers else ""


def _find_container(request: Request, data: Mapping[str, Any]) -> int | None:
    names = ("container-type", "container-name")
    for index, container in enumerate(maps(data.get("containers"))):
        annotations = mapping(dig(container, ("OCI", "Annotations")))
        if all((annotations.get(ANNOTATION + name) or "") == note(request, name) for name in names):
            return index
    return None


def _find_created(state: dict[str, Any], identity: Any) -> int | None:
    """Return the container of policy_data for an id: the state has its number, or a map with it."""
    container = state.get(identity) if isinstance(identity, str) else None
    number = container.get("container") if isinstance(container, dict) else container
    return number if isinstance(number, int) else None


def _report_no_container(request: Request) -> Reason:
    field = f'OCI.Annotations["{ANNOTATION}container-name"]'
    name = note(request, "container-name")
    if not name:
        return Reason(field, "a container without a name, which is not the sandbox's", remedy=AGAIN)
    text = f"the pod was sealed without a container {shown(name)}"
    remedy = "if an admission webhook injects it, put it into the input and render again; ephemeral containers of "
    return Reason(field, text, "spec.containers", remedy + "`kubectl debug` are never allowed")


def _find_pod_field(row: Condition, workload: Workload, sealed_container: Any) -> str:
    """Return the path of the field in the workload, "" if no pod decides it."""
    if not row.pod:
        return ""
    if row.pod in ("metadata.name", "metadata.namespace"):
        return row.pod
    name = dig(sealed_container, ("OCI", "Annotations", f"{ANNOTATION}container-name"))
    field = next((entry.field for entry in workload.all_containers if entry.name == name), "")
    if "{container}" in row.pod and not field:
        return ""
    container = f"spec.{field}[name={name}]"
    below = row.pod.format(container=container)
    return f"{dotted(workload.template_path)}.{below}" if workload.template_path else below


# --- A replay as text and JSON: a block for each denied request, and the counts
#
#     pod shop/web-7c5ddbdf54-x2v9k: 9 requests, 1 denied
#
#     denied  line 12 2026-11-23T06:00:00Z CreateContainerRequest of container web
#       OCI.Process.Env: variable HTTP_PROXY is not in the policy
#         in the pod: spec.template.spec.containers[name=web].env
#         remedy: if an admission webhook or a controller adds it, put it into the input and render again
#
# Rule: names come from the log and the input, so their control characters are made visible; the records printed here
# hold no values of variables and arguments.


NUMBERS = 10  # of line numbers in a list
NOT_HELD = "the log has the denial and not the request, so which field it is cannot be told"
CONTRADICTED = "the agent denied it, and this policy allows the request before it: the VM has another policy"
COMPARE = "replay the output that was applied, or apply this one; contrast-krm check --cluster compares them"
HOW = "a log of the agent at debug level has the requests: docs/how-to/blocked-by-policy.md"


class Replay(NamedTuple):
    """The verdicts on a log. other_pods: requests of other pods. unknown: requests whose pod the log does not name.

    denials: those without a request, of any pod. contradicted: those of requests that this policy allows.
    """

    ref: Ref
    digest: str
    engine: str
    log: Log
    pods: tuple[Replayed, ...]
    other_pods: int
    unknown: int
    denials: tuple[Denial, ...]
    contradicted: tuple[Denial, ...]


def replay_text(replay: Replay) -> str:
    """Write a heading, a block for each denial, and the counts."""
    engine = f", asked with {replay.engine}" if replay.pods else ""
    lines = [f"{replay.ref.kind} {replay.ref}, policy {replay.digest[:8]}{engine}"]
    for pod in replay.pods:
        denied = [request for request in pod.judged if not request.allowed]
        lines += ["", f"pod {name_of(pod.pod)}: {_count(len(pod.judged), 'request')}, {len(denied)} denied"]
        for request in denied:
            lines += ["", *_block(request)]
    for denials, problem, remedy in ((replay.denials, NOT_HELD, HOW), (replay.contradicted, CONTRADICTED, COMPARE)):
        if denials:
            lines += ["", *_by_kind(denials), f"  {problem}", f"    remedy: {remedy}"]
    lines += ["", *_counts(replay)]
    return "".join(f"{on_one_line(line)}\n" for line in lines)


def replay_json(replay: Replay) -> str:
    """Write `{"version": 1, "pods": [{"requests": …, "denied": [{"reasons": …}]}], "log": {…}}` and a newline."""
    pods = [
        {
            "namespace": pod.pod.namespace,
            "name": pod.pod.name,
            "requests": len(pod.judged),
            "denied": [_data(judged) for judged in pod.judged if not judged.allowed],
        }
        for pod in replay.pods
    ]
    log = {
        "lines": replay.log.lines,
        "requests": len(replay.log.requests),
        "otherPods": replay.other_pods,
        "unknownPod": replay.unknown,
        "notReadable": [{"line": line, "problem": problem} for line, problem in replay.log.unreadable],
        "denialsWithoutRequest": [denial._asdict() for denial in replay.denials],
        "denialsOfAllowedRequests": [denial._asdict() for denial in replay.contradicted],
    }
    whole = {"version": 1, "workload": _ref(replay.ref), "policy": replay.digest, "engine": replay.engine}
    return json.dumps(_visible({**whole, "pods": pods, "log": log}), indent=2, ensure_ascii=False) + "\n"


def name_of(pod: Pod) -> str:
    """Return `shop/web-0`, or a description of a pod without a name."""
    return f"{pod.namespace}/{pod.name}" if pod.name else "of which the log has no container's name"


def _block(judged: Judged) -> Iterator[str]:
    request = judged.request
    name = note(request, "container-name")
    of = f" of container {name}" if name else " of the sandbox" * bool(note(request, "container-type"))
    yield f"denied  line {request.line}{f' {request.time}' * bool(request.time)} {request.kind}{of}"
    for reason in judged.reasons:
        yield f"  {reason.field + ': ' if reason.field else ''}{reason.problem}"
        if reason.pod:
            yield f"    in the pod: {reason.pod}"
        if reason.remedy:
            yield f"    remedy: {reason.remedy}"


def _by_kind(denials: tuple[Denial, ...]) -> Iterator[str]:
    kinds: dict[str, list[Denial]] = {}
    for denial in denials:
        kinds.setdefault(denial.kind, []).append(denial)
    for kind, several in kinds.items():
        time = f" {several[0].time}" if several[0].time else ""
        yield f"denied  {_lines([denial.line for denial in several])}{time} {kind}"


def _counts(replay: Replay) -> Iterator[str]:
    asked = sum(len(pod.judged) for pod in replay.pods)
    parts = [
        _count(replay.log.lines, "line"),
        f"{_count(asked, 'request')} of this workload's pods" if asked else "no request",
    ]
    if replay.other_pods:
        parts.append(f"{_count(replay.other_pods, 'request')} of other pods, not looked at")
    if replay.unknown:
        parts.append(f"{_count(replay.unknown, 'request')} of a pod that the log does not tell, not looked at")
    yield f"log: {'; '.join(parts)}"
    for problem, count in Counter(problem for _, problem in replay.log.unreadable).items():
        numbers = [line for line, reason in replay.log.unreadable if reason == problem]
        yield f"not readable: {_count(count, 'request')}, {problem}: {_lines(numbers)}"


def _lines(numbers: list[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:NUMBERS])
    rest = f" and {len(numbers) - NUMBERS} more" if len(numbers) > NUMBERS else ""
    return f"line{'s' * (len(numbers) > 1)} {shown}{rest}"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _data(judged: Judged) -> dict[str, Any]:
    reasons = [{key: value for key, value in reason._asdict().items() if value} for reason in judged.reasons]
    request = judged.request
    place = {"kind": request.kind, "line": request.line, "time": request.time}
    return {**place, "container": note(request, "container-name"), "reasons": reasons}


def _ref(ref: Ref) -> dict[str, str]:
    return {key: value for key, value in zip(REF_NAMES, ref, strict=True) if value}


def _visible(value: Any) -> Any:
    if isinstance(value, str):
        return on_one_line(value)
    if isinstance(value, dict):
        return {key: _visible(part) for key, part in value.items()}
    return [_visible(part) for part in value] if isinstance(value, list) else value
