"""`check --cluster`: read what a cluster has, ask it for the pods it would make, compare."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from krm_function.check.output import parse_output
from krm_function.check.pods import pod_as_created
from krm_function.check.running_pods import RunningPods
from krm_function.cli.api_server import NAMESPACE, ApiServer, Listing, Lists, RefusalError
from krm_function.cli.cluster import ClusterObjects, read_cluster_objects
from krm_function.config.collect import Config
from krm_function.config.document import load_any
from krm_function.config.references import References
from krm_function.findings import Finding, Ref, finding
from krm_function.kubernetes.lookup import dig, mapping
from krm_function.kubernetes.objects import reference
from krm_function.kubernetes.pod_kinds import SHIPPED
from krm_function.kubernetes.resource import Resource
from krm_function.kubernetes.workload import Workload
from krm_function.operations.admission import Answer, Running, admission_findings, changed_by, missing_field
from krm_function.operations.cluster_services import API_SERVER, narrow_workloads, stopping_services
from krm_function.operations.live import Rendered, compare_live, described, sealed_in_the_cluster
from krm_function.record import NamedTuple
from krm_function.render.classes import known_classes
from krm_function.render.make_manifest import manifest_of
from krm_function.render.select import select

# --- Ask an API server what it makes of the pods of some workloads: each is posted with `dryRun=All`, and none is
# stored
#
# Rule: it asks and reads, operations/admission.py judges. Where the server does not answer at all, the
# rest is not asked. Webhooks, policies and the namespace are looked up once, and only when a pod comes back changed;
# without the right to see them they are not named. Source: docs/facts/kubernetes.md#dry-run.


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


# --- Ask a cluster for the Services that stop the pods of workloads, whose policies must deny some Service for that
#
# Rule: each namespace is listed once, and none where every policy allows each legal Service;
# operations/cluster_services.py judges. What the role does not show of a workload's namespace is said and not guessed;
# without a right on `default` the Service of the API server is left out.


def cluster_services(server: ApiServer, workloads: Iterable[tuple[Workload, str]]) -> list[Finding]:
    """Return the Services of the cluster that stop pods of some workloads: sealed, each with its namespace."""
    lists = Lists(server)
    narrow = [one for one in narrow_workloads(workloads) if NAMESPACE.fullmatch(one.namespace)]
    services: dict[str, list[Any]] = {}
    findings: list[Finding] = []
    for namespace in sorted({API_SERVER[0], *(one.namespace for one in narrow)}) if narrow else ():
        try:
            services[namespace] = list(lists.objects(_listing(namespace)))
        except RefusalError as problem:
            near = [one.workload.ref for one in narrow if one.namespace == namespace]
            names = ", ".join(sorted({f"{ref.kind}/{ref.name}" for ref in near}))
            answer = str(problem.values.get("answer") or problem.values.get("error") or problem.code)
            if names:
                findings.append(finding("CC1135", names=names, answer=answer, namespace=namespace))
    for one in narrow:
        near = [*services.get(one.namespace, ()), *services.get(API_SERVER[0], ())]
        unique = {id(service): service for service in near}.values()
        findings += [one.workload.placed(found) for found in stopping_services(one, unique)]
    return findings


def _listing(namespace: str) -> Listing:
    return Listing("v1", "Service", f"the Services of namespace {namespace}", namespace)


# --- `check --cluster`: read what a cluster has of rendered output, compare it, and ask it for the pods it would make
#
# Rule: it reads first, so that `check` knows which policies of a manifest belong to workloads of another
# release; the comparison is asked for only where the output itself is right.


class Live(NamedTuple):
    """Rendered output, and what a cluster has. values: all objects of the output that were parsed; refs: of all."""

    output: Rendered
    values: Sequence[Any]
    refs: Sequence[Ref]
    read: ClusterObjects

    @property
    def digests(self) -> frozenset[str]:
        """Of the policies of all Contrast workloads that the cluster has in these namespaces."""
        if self.read.objects is None:
            return frozenset()
        return frozenset(sealed_in_the_cluster(self.read.objects, self.output.kinds) | self.read.pods.digests)

    def compared(self, beside: int) -> tuple[tuple[Finding, ...], str]:
        """Return what the cluster has otherwise, and the line that says what was compared. beside: see `described`."""
        output, read = self.output, self.read
        if read.objects is None:
            return read.findings, ""
        references = References(self.values)
        findings = compare_live(output, read.objects, read.classes.objects, references, read.pods)
        if read.server is not None:
            refs = {reference(value) for value in read.objects}
            placed = [(one, _namespace(output, one.ref, refs)) for one in output.workloads]
            findings += dry_run(read.server, placed, self.refs, references)
            findings += cluster_services(read.server, placed)
        classes = read.classes.objects is not None
        line = described(output, read.context, classes=classes, pods=read.pods.count, beside=beside)
        return (*findings, *read.classes.findings), line


def read_live(resources: Sequence[Resource], config: Config | None) -> Live:
    """Read what the cluster has in the namespaces of some output. Never raises."""
    kinds = config.generate.kinds if config else SHIPPED
    parsed = parse_output(resources)
    values = [item.value for item in parsed.objects()]
    workloads = [one for resource in parsed.parsed for one in select(resource.value, kinds=kinds).workloads]
    manifests = {reference(value): value for value in values if manifest_of(value) is not None}
    output = Rendered(workloads, manifests, known_classes(values, config), kinds)
    references = References(values)
    refs = [*(Ref(one.api_version, one.kind, "", one.name) for one in resources), *map(reference, values)]
    return Live(
        output,
        values,
        refs,
        read_cluster_objects(
            output.namespaces,
            lambda objects: RunningPods(objects, references, output.refs, kinds),
            sorted({(one.ref.api_version, one.ref.kind) for one in workloads if one.made_by}),
        ),
    )


def _namespace(output: Rendered, ref: Ref, there: set[Ref]) -> str:
    """Return the namespace in which the pods of a workload are made: where it is, or would be."""
    placed = output.placed(ref)
    return next((one for one in placed if one in there), placed[0]).namespace
