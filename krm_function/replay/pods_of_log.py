"""Which requests of a log belong to which pod: those of one sandbox, which is one VM with one policy and one state.

Rule of this file: a request belongs to the sandbox that its line names, or its own fields, or an earlier request about
the same container. In a log of one sandbox all belong to it; elsewhere the rest is counted and not guessed.
"""

from typing import Any

from krm_function.model.lookup import dig
from krm_function.model.workload import Workload
from krm_function.record import NamedTuple
from krm_function.replay.judged_requests import ANNOTATION, Log, Pod, Request


class Sorted(NamedTuple):
    """The pods of a log in the order in which they appear, and the requests of which the log does not say whose."""

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
        return Sorted((_pod(list(log.requests)),) if log.requests else (), ())
    return Sorted(tuple(_pod(requests) for requests in by_sandbox.values()), tuple(unknown))


def meant(pods: tuple[Pod, ...], workload: Workload, name: str = "") -> tuple[Pod, ...]:
    """Return the pods that NAME or NAMESPACE/NAME means; without it those named like the workload, or the only one."""
    if name:
        return tuple(pod for pod in pods if name in (pod.name, f"{pod.namespace}/{pod.name}"))
    if len(pods) == 1:
        return pods
    own = workload.ref
    return tuple(
        pod
        for pod in pods
        if (pod.name == own.name or pod.name.startswith(f"{own.name}-")) and own.namespace in ("", pod.namespace)
    )


def note(request: Request, name: str) -> str:
    """Return an annotation of the container that a request is about, "" if it has none."""
    return text(dig(request.input, ("OCI", "Annotations", ANNOTATION + name)))


def text(value: Any) -> str:
    """Return a text, or "" for anything else."""
    return value if isinstance(value, str) else ""


def _pod(requests: list[Request]) -> Pod:
    named = next((one for one in requests if note(one, "sandbox-name")), None)
    namespace, name = (note(named, "sandbox-namespace"), note(named, "sandbox-name")) if named else ("", "")
    return Pod(namespace, name, tuple(requests))
