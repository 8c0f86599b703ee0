"""Requests and denials from a log, each with its pod."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any

from krm_function.kubernetes.objects import dig
from krm_function.kubernetes.workload import Workload
from krm_function.record import NamedTuple

# --- Records of a replay: the content of a log, the questions to an engine, and the reasons for each request
#
# Rule: only requests hold values of variables and arguments, so every other record may be printed.


CREATE = "CreateContainerRequest"
ANNOTATION = "io.kubernetes.cri."


class Request(NamedTuple):
    """A request as the agent wrote it down. line: from 1. time, sandbox: as the line has them, or ""."""

    kind: str
    input: Any
    line: int
    time: str = ""
    sandbox: str = ""


class Denial(NamedTuple):
    """A line that says `KIND is blocked by policy`, without the request."""

    kind: str
    line: int
    time: str = ""


class Log(NamedTuple):
    """The content of a log. unreadable: the lines with a request that cannot be read, and why."""

    lines: int
    requests: tuple[Request, ...]
    denials: tuple[Denial, ...]
    unreadable: tuple[tuple[int, str], ...]


class Pod(NamedTuple):
    """The requests of one sandbox, in order. name, namespace: of the first container that has them, "" if none."""

    namespace: str
    name: str
    requests: tuple[Request, ...]


class Question(NamedTuple):
    """Terms of Rego for one evaluation. requests: `data.contrast_krm_requests`. module: more rules of the package."""

    terms: tuple[str, ...]
    state: Mapping[str, Any]
    input: Any = None
    requests: tuple[Any, ...] = ()
    module: str = ""


class Unanswered(Exception):
    """The engine gave no answer to a question; the message is one line."""


# the values of each term: one, or none where it is undefined. Raises Unanswered
Ask = Callable[[Question], list[list[Any]]]


class Reason(NamedTuple):
    """Why a request was denied. field: of the request; pod: the field of the workload that decides it, "" for none."""

    field: str
    problem: str
    pod: str = ""
    remedy: str = ""


class Judged(NamedTuple):
    """One request and the verdict. reasons: of a denial, at least one."""

    request: Request
    allowed: bool
    reasons: tuple[Reason, ...] = ()


class Replayed(NamedTuple):
    """One pod of the log, request by request."""

    pod: Pod
    judged: tuple[Judged, ...]


# --- Read the requests and the denials from a log: the agent's own file, a journal, output of kubectl or containerd
#
# Forms, of a line each, in any text around them:
#
#     {"kind": "CreateContainerRequest", "request": {…}}       the agent at debug level, in /tmp/policy.jsonl of its VM
#     … msg="{\"kind\": \"CreateContainerRequest\", …}"         the same, quoted by a program that passes it on
#     … CreateContainerRequest is blocked by policy: …         a denial, without the request
#
# Sources: docs/facts/kata-rules.md#requests, docs/facts/kata-rules.md#verdicts.
#
# Rule: the log is untrusted. A text that begins like a request is read completely or counted as unreadable. Of the text
# around a request, or after "blocked by policy", nothing is kept: the rules of some generators print values there.


LONGEST = 64 << 20  # bytes of a log, as of every input
DEEPEST = 3  # quotes around quotes
DEPTHS = {2**depth - 1: depth for depth in range(DEEPEST + 1)}  # backslashes before a quote -> quotes around it
NESTING = 64  # of a request; the deepest that the agent makes has eight levels
START = re.compile(r'\{\s*(\\*)"kind\1"\s*:')
DENIED = re.compile(r"\b([A-Za-z]{1,64}) is blocked by policy")
KIND = re.compile(r"[A-Za-z]{1,64}")
TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?|\b[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d\b"
)
SANDBOX = re.compile(r'\bsandbox(?:[_-]?id)?\\*"?[=:]\\*"?([0-9a-f]{64})\b')
QUOTED = re.compile(r'(?:[^"\\]++|\\.)*+')
ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)")
SURROGATE = re.compile("[\ud800-\udfff]")
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v"}


def read_log(data: bytes) -> Log:
    """Read a log. Raises ValueError for one that is longer than LONGEST."""
    if len(data) > LONGEST:
        raise ValueError(f"it has {len(data)} bytes; at most {LONGEST} are read")
    requests: list[Request] = []
    denials: list[Denial] = []
    unreadable: list[tuple[int, str]] = []
    lines = data.decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    for number, line in enumerate(lines, 1):
        time = match[0] if (match := TIME.search(line[:200])) else ""
        read = list(_read_requests(line))
        mark = SANDBOX.search(line) if read else None
        for request in read:
            if isinstance(request, str):
                unreadable.append((number, request))
            else:
                requests.append(Request(*request, number, time, mark[1] if mark else ""))
        if not read and (denial := DENIED.search(line)):
            denials.append(Denial(denial[1], number, time))
    return Log(len(lines), tuple(requests), tuple(denials), tuple(unreadable))


def _read_requests(line: str) -> Iterator[tuple[str, Any] | str]:
    position = 0
    while start := START.search(line, position):
        depth = DEPTHS.get(len(start[1]))
        if depth is None:
            yield f"quoted more than {DEEPEST} times"
            return
        if depth == 0:
            request, position = _read_object(line, start.start())
            yield request
            if not position:
                return  # after a request that was cut off nothing is at a known place
            continue
        text = line[start.start() :]
        for _ in range(depth):
            text = _unquote(text)
        yield _read_object(text, 0)[0]
        return  # nor after a quoted one


def _unquote(text: str) -> str:
    inside = QUOTED.match(text)
    text_inside = ESCAPE.sub(_unescape, inside[0] if inside else "")
    if SURROGATE.search(text_inside):  # JSON writes a character as two of them
        text_inside = text_inside.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text_inside


def _unescape(match: re.Match[str]) -> str:
    escape = match[1]
    if len(escape) > 1:
        number = int(escape[1:], 16)
        return chr(number) if number < 0x110000 else "\ufffd"
    return ESCAPED.get(escape, escape)


def _read_object(text: str, start: int) -> tuple[tuple[str, Any] | str, int]:
    """Return the request at this position and its end; or the problem and 0."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except _TwiceError as problem:
        return str(problem), 0
    except (ValueError, RecursionError):
        return "cut off, or no JSON", 0
    kind = value.get("kind")
    if set(value) != {"kind", "request"} or not isinstance(kind, str) or not KIND.fullmatch(kind):
        return "not of the form {kind, request}", 0
    if _is_too_deep(value["request"]):
        return f"nested more than {NESTING} levels deep", 0
    if text.find("\ufffd", start, end) >= 0 or SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        return "not UTF-8", 0
    return (kind, value["request"]), end


class _TwiceError(ValueError):
    """A duplicate member."""


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _TwiceError("a member appears twice")
    return members


def _parse_finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):  # Python also reads NaN and Infinity, which are no JSON
        raise ValueError("no number")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_refuse_duplicates, parse_constant=_parse_finite, parse_float=_parse_finite
)


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(NESTING):
        level = [
            part
            for parent in level
            if isinstance(parent, dict | list)
            for part in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return False
    return True


# --- Assign the requests of a log to pods: a sandbox is one VM with one policy and one state
#
# Rule: a request belongs to the sandbox that its line names, or its own fields, or an earlier request about the same
# container. In a log of one sandbox all belong to it; otherwise the rest is counted and not guessed.


class Sorted(NamedTuple):
    """The pods of a log in order of appearance, and the requests without a known pod."""

    pods: tuple[Pod, ...]
    unknown: tuple[Request, ...]


def pods_of(log: Log) -> Sorted:
    """Sort the requests of a log by sandbox."""
    owners: dict[str, str] = {}  # id of a container -> its sandbox
    by_sandbox: dict[str, list[Request]] = {}
    for request in log.requests:
        sandbox = request.sandbox or note(request, "sandbox-id") or text(dig(request.input, ("sandbox_id",)))
        container = text(dig(request.input, ("container_id",)))
        sandbox = sandbox or owners.get(container, "")
        if sandbox and container:
            owners.setdefault(container, sandbox)
        by_sandbox.setdefault(sandbox, []).append(request)
    unknown = by_sandbox.pop("", [])
    if len(by_sandbox) < 2:
        return Sorted((_make_pod(list(log.requests)),) if log.requests else (), ())
    return Sorted(tuple(_make_pod(requests) for requests in by_sandbox.values()), tuple(unknown))


def meant(pods: tuple[Pod, ...], workload: Workload, name: str = "") -> tuple[Pod, ...]:
    """Return the pods for NAME or NAMESPACE/NAME; without a name, those named like the workload, or the only one."""
    if name:
        return tuple(pod for pod in pods if name in (pod.name, f"{pod.namespace}/{pod.name}"))
    if len(pods) == 1:
        return pods
    ref = workload.ref
    return tuple(
        pod
        for pod in pods
        if (pod.name == ref.name or pod.name.startswith(f"{ref.name}-")) and ref.namespace in ("", pod.namespace)
    )


def note(request: Request, name: str) -> str:
    """Return an annotation of the container that a request is about, "" if it has none."""
    return text(dig(request.input, ("OCI", "Annotations", ANNOTATION + name)))


def text(value: Any) -> str:
    """Return a text, or "" for anything else."""
    return value if isinstance(value, str) else ""


def _make_pod(requests: list[Request]) -> Pod:
    first = next((request for request in requests if note(request, "sandbox-name")), None)
    namespace, name = (note(first, "sandbox-namespace"), note(first, "sandbox-name")) if first else ("", "")
    return Pod(namespace, name, tuple(requests))
