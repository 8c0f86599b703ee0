"""A replay as text and JSON: a block for each request that was denied, and what was counted.

    pod shop/web-7c5ddbdf54-x2v9k: 9 requests, 1 denied

    denied  line 12 2026-11-23T06:00:00Z CreateContainerRequest of container web
      OCI.Process.Env: variable HTTP_PROXY is not in the policy
        in the pod: spec.template.spec.containers[name=web].env
        remedy: if an admission webhook or a controller adds it, put it into the input and render again

Rule of this file: names come from the log and the input, so their control characters are made visible; values of
variables and arguments are in none of the records that are printed here.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from krm_function.findings import REF_NAMES, Ref
from krm_function.record import NamedTuple
from krm_function.replay.judged_requests import Denial, Judged, Log, Pod, Replayed
from krm_function.replay.pods_of_log import note
from krm_function.report.order import on_one_line

NUMBERS = 10  # of lines that are named
NOT_HELD = "the log has the denial and not the request, so which field it is cannot be told"
CONTRADICTED = "the agent denied it, and this policy allows the request before it: the VM has another policy"
COMPARE = "replay the output that was applied, or apply this one; contrast-krm check --cluster compares them"
HOW = "a log of the agent at debug level has the requests: docs/how-to/blocked-by-policy.md"


class Replay(NamedTuple):
    """Everything that is said. others: requests of other pods. unknown: of which the log does not say whose they are.

    denials: those without a request, of any pod. contradicted: those of requests that this policy allows.
    """

    ref: Ref
    digest: str
    engine: str
    log: Log
    pods: tuple[Replayed, ...]
    others: int
    unknown: int
    denials: tuple[Denial, ...]
    contradicted: tuple[Denial, ...]


def replay_text(replay: Replay) -> str:
    """Write a heading, a block for each denial, and the counts."""
    engine = f", asked with {replay.engine}" if replay.pods else ""
    lines = [f"{replay.ref.kind} {replay.ref}, policy {replay.digest[:8]}{engine}"]
    for pod in replay.pods:
        denied = [request for request in pod.judged if not request.allowed]
        lines += ["", f"pod {name_of(pod.pod)}: {_many(len(pod.judged), 'request')}, {len(denied)} denied"]
        for request in denied:
            lines += ["", *_block(request)]
    if replay.denials:
        lines += ["", *_without_request(replay.denials)]
    if replay.contradicted:
        lines += ["", *_contradicted(replay.contradicted)]
    lines += ["", *_counts(replay)]
    return "".join(f"{on_one_line(line)}\n" for line in lines)


def replay_json(replay: Replay) -> str:
    """Write `{"version": 1, "pods": [{"requests": …, "denied": [{"reasons": …}]}], "log": {…}}` and a newline."""
    pods = [
        {
            "namespace": one.pod.namespace,
            "name": one.pod.name,
            "requests": len(one.judged),
            "denied": [_data(judged) for judged in one.judged if not judged.allowed],
        }
        for one in replay.pods
    ]
    log = {
        "lines": replay.log.lines,
        "requests": len(replay.log.requests),
        "otherPods": replay.others,
        "unknownPod": replay.unknown,
        "notReadable": [{"line": line, "problem": problem} for line, problem in replay.log.unreadable],
        "denialsWithoutRequest": [one._asdict() for one in replay.denials],
        "denialsOfAllowedRequests": [one._asdict() for one in replay.contradicted],
    }
    whole = {"version": 1, "workload": _ref(replay.ref), "policy": replay.digest, "engine": replay.engine}
    return json.dumps(_visible({**whole, "pods": pods, "log": log}), indent=2, ensure_ascii=False) + "\n"


def name_of(pod: Pod) -> str:
    """Return `shop/web-0`; what a pod without a name is called."""
    return f"{pod.namespace}/{pod.name}" if pod.name else "of which the log has no container's name"


def _block(judged: Judged) -> Iterator[str]:
    request = judged.request
    container = note(request, "container-name") or ("the sandbox" * bool(note(request, "container-type")))
    of = f" of container {container}" if note(request, "container-name") else f" of {container}" if container else ""
    yield f"denied  line {request.line}{f' {request.time}' * bool(request.time)} {request.kind}{of}"
    for reason in judged.reasons:
        yield f"  {reason.field + ': ' if reason.field else ''}{reason.problem}"
        if reason.pod:
            yield f"    in the pod: {reason.pod}"
        if reason.remedy:
            yield f"    remedy: {reason.remedy}"


def _without_request(denials: tuple[Denial, ...]) -> Iterator[str]:
    yield from _by_kind(denials)
    yield f"  {NOT_HELD}"
    yield f"    remedy: {HOW}"


def _contradicted(denials: tuple[Denial, ...]) -> Iterator[str]:
    yield from _by_kind(denials)
    yield f"  {CONTRADICTED}"
    yield f"    remedy: {COMPARE}"


def _by_kind(denials: tuple[Denial, ...]) -> Iterator[str]:
    kinds: dict[str, list[Denial]] = {}
    for denial in denials:
        kinds.setdefault(denial.kind, []).append(denial)
    for kind, several in kinds.items():
        time = f" {several[0].time}" if several[0].time else ""
        yield f"denied  {_lines([denial.line for denial in several])}{time} {kind}"


def _counts(replay: Replay) -> Iterator[str]:
    own = sum(len(one.judged) for one in replay.pods)
    parts = [
        _many(replay.log.lines, "line"),
        f"{_many(own, 'request')} of this workload's pods" if own else "no request",
    ]
    if replay.others:
        parts.append(f"{_many(replay.others, 'request')} of other pods, not looked at")
    if replay.unknown:
        parts.append(f"{_many(replay.unknown, 'request')} of a pod that the log does not tell, not looked at")
    yield f"log: {'; '.join(parts)}"
    for problem, count in Counter(problem for _, problem in replay.log.unreadable).items():
        numbers = [line for line, said in replay.log.unreadable if said == problem]
        yield f"not readable: {_many(count, 'request')}, {problem}: {_lines(numbers)}"


def _lines(numbers: list[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:NUMBERS])
    more = f" and {len(numbers) - NUMBERS} more" if len(numbers) > NUMBERS else ""
    return f"line{'s' * (len(numbers) > 1)} {shown}{more}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _data(judged: Judged) -> dict[str, Any]:
    reasons = [{key: value for key, value in reason._asdict().items() if value} for reason in judged.reasons]
    request = judged.request
    place = {"kind": request.kind, "line": request.line, "time": request.time}
    return {**place, "container": note(request, "container-name"), "reasons": reasons}


def _ref(ref: Ref) -> dict[str, str]:
    return {key: value for key, value in zip(REF_NAMES, ref, strict=True) if value}


def _visible(value: Any) -> Any:
    """Put every text of a value on one line."""
    if isinstance(value, str):
        return on_one_line(value)
    if isinstance(value, dict):
        return {key: _visible(part) for key, part in value.items()}
    return [_visible(part) for part in value] if isinstance(value, list) else value
