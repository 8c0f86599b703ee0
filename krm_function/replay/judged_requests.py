"""Records of a replay: what a log holds, what an engine is asked, and what is said of each request.

Rule of this file: values of variables and arguments stand in requests alone, so every other record may be printed.
"""

from collections.abc import Callable, Mapping
from typing import Any

from krm_function.record import NamedTuple

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
    """What was read. unreadable: the lines that begin a request which cannot be read, and why."""

    lines: int
    requests: tuple[Request, ...]
    denials: tuple[Denial, ...]
    unreadable: tuple[tuple[int, str], ...]


class Pod(NamedTuple):
    """The requests of one sandbox, in order. name, namespace: of the first container that says them, "" if none."""

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
    """The engine gave no answer to a question as a whole; the text is one line of its own."""


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
