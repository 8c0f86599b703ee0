"""Ask an API server what it makes of the pods of some workloads: each is posted with `dryRun=All`, and none is stored.

Rule of this file: it asks and reads, checking/admitted.py judges. Where the server does not answer at all, the rest is
not asked. Webhooks, policies and the namespace are looked up once, and only when a pod comes back changed; without the
right to see them they are not named. Source: docs/facts/kubernetes.md#dry-run.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from krm_function.api.strict_json import load_any
from krm_function.checking.admission_rules import changed_by
from krm_function.checking.admitted import Answer, Running, admission_findings, missing_field
from krm_function.checking.pod_as_created import pod_as_created
from krm_function.cli.cluster.answer import NAMESPACE, Listing, Lists
from krm_function.cli.cluster.connection import ApiServer, RefusalError
from krm_function.findings import Finding, Ref
from krm_function.model.lookup import dig, mapping
from krm_function.model.resource import Resource
from krm_function.model.workload import Workload
from krm_function.policy import References

ADMISSION = "admissionregistration.k8s.io/v1"
WEBHOOKS = Listing(ADMISSION, "MutatingWebhookConfiguration", "the mutating webhooks")
POLICIES = Listing(ADMISSION, "MutatingAdmissionPolicy", "the mutating admission policies")
BINDINGS = Listing(ADMISSION, "MutatingAdmissionPolicyBinding", "the bindings of mutating admission policies")
MOST_VALUES = 500_000  # of one answer, counted by the characters that begin one


def dry_run(
    server: ApiServer, workloads: Iterable[tuple[Workload, str]], planned: Sequence[Ref], references: References
) -> list[Finding]:
    """Return what is wrong with the pods that the server would make. workloads: each with its namespace.

    planned: the objects that the deployment has itself, which may not be there yet.
    """
    asked = _Asked(server)
    answers = list(_answers(server, workloads, planned))
    return admission_findings(answers, references, asked.running, asked.causes)


def names_of(resources: Iterable[Resource]) -> list[Ref]:
    """Return what a deployment has itself, by the headers of its documents."""
    return [Ref(one.api_version, one.kind, "", one.name) for one in resources]


def _answers(server: ApiServer, workloads: Iterable[tuple[Workload, str]], planned: Sequence[Ref]) -> Iterator[Answer]:
    broken = ""
    for workload, namespace in workloads:
        if broken or not NAMESPACE.fullmatch(namespace):
            yield Answer(workload, namespace, 0, error=broken or "it is no name of a namespace")
            continue
        try:
            answer = _answer(server, workload, namespace)
            while (field := missing_field(answer, planned)) and field not in answer.without:
                answer = _answer(server, workload, namespace, (*answer.without, field))
        except RefusalError as problem:
            broken = str(problem.values.get("error") or problem.values.get("limit") or problem.code)
            answer = Answer(workload, namespace, 0, error=broken)
        yield answer


def _answer(server: ApiServer, workload: Workload, namespace: str, without: tuple[str, ...] = ()) -> Answer:
    pod = pod_as_created(workload, namespace, without)
    path = f"/api/v1/namespaces/{quote(namespace)}/pods?dryRun=All&fieldValidation=Ignore"
    body = json.dumps(pod, default=str).encode("utf-8", "replace")
    reply = server.dry_run(path, body, f"the pods of {workload.ref.kind} {workload.ref.name}")
    value = _parsed(reply.data)
    return Answer(workload, namespace, reply.status, value, without, f"HTTP status {reply.status}")


def _parsed(data: bytes) -> Any:
    """Return an answer as plain data, None if it is none."""
    if sum(map(data.count, (b"{", b"[", b","))) > MOST_VALUES:
        return None
    try:
        return load_any(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


class _Asked:
    """What is looked up for findings, each once."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._lists: Mapping[str, Sequence[Any]] | None = None
        self._namespaces: dict[str, Any] = {}

    def causes(self, answer: Answer) -> list[str]:
        """Name what may have changed the pod of an answer."""
        if self._lists is None:
            self._lists = {one.kind: self._listed(one) for one in (WEBHOOKS, POLICIES, BINDINGS)}
        name = answer.namespace
        if name not in self._namespaces:
            self._namespaces[name] = self._one(f"/api/v1/namespaces/{quote(name)}", f"namespace {name}")
        pod = pod_as_created(answer.workload, name)
        webhooks, policies, bindings = (self._lists[one.kind] for one in (WEBHOOKS, POLICIES, BINDINGS))
        return changed_by(webhooks, policies, bindings, pod, self._namespaces[name])

    def running(self, answer: Answer) -> Running:
        """Tell how many of its pods the workload of an answer has in the cluster."""
        ref = answer.workload.ref
        path = f"{Listing(ref.api_version, ref.kind, '', answer.namespace).path}/{quote(ref.name)}"
        return pods_of(ref.kind, self._one(path, f"{ref.kind} {ref.name}"))

    def _listed(self, listing: Listing) -> list[Any]:
        try:
            return list(Lists(self._server).objects(listing))
        except RefusalError:
            return []

    def _one(self, path: str, what: str) -> Any:
        try:
            return _parsed(self._server.get(path, what))
        except RefusalError:
            return None


def pods_of(kind: str, value: Any) -> Running:
    """Tell by the status of a workload whether it has the pods that it wants. value: None if it is not there."""
    spec, status = mapping(mapping(value).get("spec")), mapping(mapping(value).get("status"))
    match kind:
        case "Deployment" | "StatefulSet" | "ReplicaSet" | "ReplicationController":
            wanted, there = spec.get("replicas", 1), status.get("replicas", 0)
        case "DaemonSet":
            wanted, there = status.get("desiredNumberScheduled", 1), status.get("currentNumberScheduled", 0)
        case "Pod":
            return "all" if dig(value, ("status", "phase")) else "none"
        case "CronJob":
            return "some" if value is not None else "none"  # of a time that is yet to come
        case _:
            active, done = status.get("active"), status.get("succeeded")
            return "all" if active or done else "none"
    if not isinstance(wanted, int) or not isinstance(there, int) or not there:
        return "none"
    return "all" if there >= wanted else "some"
