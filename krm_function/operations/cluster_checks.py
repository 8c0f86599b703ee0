"""The comparisons of `plan --cluster` and `check --cluster`: with a cluster's objects, and with the pods it would make.

The functions that `Cluster` of cli/cluster.py declares are at the end.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

from krm_function.check.output import parse_output
from krm_function.check.pods import make_name_prefix, make_pod, place_in_owner
from krm_function.check.running_pods import RunningPods, judge_admitted, mask_server_words
from krm_function.cli.cluster import ClusterNodes
from krm_function.config.collect import Config
from krm_function.config.document import load_any
from krm_function.config.references import References
from krm_function.findings import Finding, Ref, finding
from krm_function.kubernetes.objects import dig, listed, mapping, maps, reference, selects
from krm_function.kubernetes.pod_kinds import SHIPPED
from krm_function.kubernetes.resource import Resource
from krm_function.kubernetes.runtime_classes import RuntimeClass
from krm_function.kubernetes.workload import INITDATA, Workload
from krm_function.operations.api_server import NAMESPACE, ApiServer, Listing, Lists, RefusalError
from krm_function.operations.diagnosis import find_denied_services
from krm_function.operations.evidence import API_SERVER
from krm_function.operations.live import (
    Rendered,
    compare_live,
    described,
    differing_planned_classes,
    sealed_in_the_cluster,
)
from krm_function.operations.live_objects import (
    NOT_FOUND,
    ClusterObjects,
    ask_cluster,
    list_if_allowed,
    listing_of,
    read_cluster_objects,
    runtime_classes,
)
from krm_function.policy.initdata import POLICY, decode_toml, from_annotation, read_policy_data
from krm_function.policy.rules import profile_of_data
from krm_function.policy.service_variables import denied_services
from krm_function.record import NamedTuple
from krm_function.render import rendered as renders
from krm_function.render.classes import make_classes
from krm_function.render.make_manifest import read_emitted_manifest
from krm_function.render.select import select

# --- Find which webhooks and admission policies of a cluster may change an object when it is created
#
# Rule: pure, and it only narrows down. Operations, resources and both selectors are evaluated; CEL conditions are not,
# so a webhook or policy in the result may still have left the object alone. A pod itself shows what a LimitRange has
# set. Source: docs/facts/kubernetes.md#dry-run.


LIMIT_RANGER = "kubernetes.io/limit-ranger"  # the annotation in which that plugin lists what it has set
OPERATIONS = {"CREATE", "*"}


def changed_by(
    webhooks: Sequence[Any], policies: Sequence[Any], bindings: Sequence[Any], value: Any, namespace: Any
) -> list[str]:
    """Return the names of what may have changed a pod or its owner. webhooks, policies, bindings: all of the cluster.

    value: as it was sent. namespace: its Namespace object, None if unknown; then its labels rule nothing out.
    """
    labels, ref = mapping(dig(value, ("metadata", "labels"))), reference(value)
    about = None if namespace is None else mapping(dig(namespace, ("metadata", "labels")))
    names = [
        f"webhook {webhook.get('name')} of {dig(configuration, ('metadata', 'name'))}"
        for configuration in webhooks
        for webhook in maps(configuration.get("webhooks"))
        if _has_matching_rule(maps(webhook.get("rules")), ref) and _matches(webhook, labels, about)
    ]
    bound = {
        dig(binding, ("spec", "policyName"))
        for binding in bindings
        if _matches(mapping(dig(binding, ("spec", "matchResources"))), labels, about)
    }
    for policy in policies:
        name = dig(policy, ("metadata", "name"))
        constraints = mapping(dig(policy, ("spec", "matchConstraints")))
        rules = maps(constraints.get("resourceRules"))
        if name in bound and _matches(constraints, labels, about) and _has_matching_rule(rules, ref):
            names.append(f"MutatingAdmissionPolicy {name}")
    return names


def _has_matching_rule(rules: Sequence[dict[str, Any]], ref: Ref) -> bool:
    plural = listing_of(ref.api_version, ref.kind, "").path.rpartition("/")[2]
    return any(
        {ref.api_version.rpartition("/")[0], "*"} & {*_texts(rule, "apiGroups")}
        and {plural, "*", "*/*", f"{plural}/*"} & {*_texts(rule, "resources")}
        and OPERATIONS & {*_texts(rule, "operations")}
        for rule in rules
    )


def _matches(selectors: dict[str, Any], labels: dict[str, Any], namespace: dict[str, Any] | None) -> bool:
    by_labels = selects(mapping(selectors.get("objectSelector")), labels)
    return by_labels and (namespace is None or selects(mapping(selectors.get("namespaceSelector")), namespace))


def _texts(value: dict[str, Any], key: str) -> list[str]:
    entries = value.get(key)
    return [entry for entry in entries if isinstance(entry, str)] if isinstance(entries, list) else []


# --- Turn the answers to dry runs, which ask an API server to make the pods of some workloads, into findings
#
# Rule: pure. The pod that the server would make is compared by the function that judges running pods; a refusal is
# quoted. A question without an answer is a warning, never silence. A refusal of the workload itself is CC1130.object,
# and says nothing about its pods.
#
#     answer                                       result
#     a pod                                        judged; CC1130 if it is not what was sealed
#     the user may not create pods                 CC1131.forbidden, once for a namespace
#     a webhook does not support dry runs          CC1131.side-effects
#     the namespace does not exist                 CC1131.namespace
#     a quota has no room, none of its pods runs   CC1130.refused
#     a quota has no room, some of its pods run    CC1131.room
#     a quota has no room, all of its pods run     nothing: the workload wants no more
#     refused otherwise                            CC1130.refused
#     401, 408, 409, 410 or 429 (of no webhook)    CC1131.answer
#     no pod, no refusal                           CC1131.answer


Running = Literal["none", "some", "all"]  # of the pods that a workload wants

NO_RIGHT = re.compile(r"\S+ is forbidden: User ")
NO_NAMESPACE = re.compile(r'namespaces "[^"]*" not found')
NO_DRY_RUN = re.compile(r"does not support dry run")
NO_ROOM = re.compile(r"exceeded quota")
NO_VERDICT = (401, 408, 409, 410, 429)  # of HTTP, about the request and not the pod
WITH_WORDS = ("CC1131.side-effects", "CC1131.room")
ABSENT: Mapping[str, re.Pattern[str]] = {  # field of the pod -> the server's message that the named object is absent
    "serviceAccountName": re.compile(r'serviceaccount "[^"]*" not found'),
    "priorityClassName": re.compile(r"no PriorityClass with name \S+ was found"),
    "runtimeClassName": re.compile(r'RuntimeClass "[^"]*" not found'),
}


class Answer(NamedTuple):
    """The server's answer about a workload. value: a pod or a Status. without: fields that were left out.

    namespace: of the request. status: of HTTP, 0 if no answer came; then `error` has the reason. of_owner: about the
    object itself, and not its pod.
    """

    workload: Workload
    namespace: str
    status: int
    value: Any = None
    without: tuple[str, ...] = ()
    error: str = ""
    of_owner: bool = False

    @property
    def message(self) -> str:
        """The message of a Status."""
        return str(mapping(self.value).get("message") or "")

    @property
    def pod(self) -> Any:
        """The pod that the server would make, with the left-out fields, or None if it would make none."""
        if not 200 <= self.status <= 299 or mapping(self.value).get("kind", "Pod") != "Pod":
            return None
        spec = dig(self.value, ("spec",))
        if not isinstance(spec, dict):
            return None
        left_out = {key: self.workload.pod_spec[key] for key in self.without if key in self.workload.pod_spec}
        return {**self.value, "spec": {**spec, **left_out}}


def missing_field(answer: Answer, planned: Iterable[Ref]) -> str:
    """Return the field whose named object is missing because this deployment brings it; "" if there is none.

    planned: the deployment's own objects. An absent RuntimeClass counts in any case: it has its own finding.
    """
    kinds = {(ref.kind, ref.name) for ref in planned}
    for field, pattern in ABSENT.items():
        name = str(answer.workload.pod_spec.get(field) or "")
        kind = f"{field[0].upper()}{field[1:]}".removesuffix("Name")
        if name and pattern.search(answer.message) and (kind == "RuntimeClass" or (kind, name) in kinds):
            return field
    return ""


def admission_findings(
    answers: Iterable[Answer],
    references: References,
    running: Callable[[Answer], Running],
    causes: Callable[[Answer], list[str]],
) -> list[Finding]:
    """Return the findings of all answers. running: how many of its pods the workload of an answer already has.

    causes: the names of what may have changed the pod of an answer; called for changed pods only.
    """
    findings: list[Finding] = []
    unasked: dict[tuple[str, str, str], list[Workload]] = {}
    for answer in answers:
        code = _find_warning(answer, running)
        if code is None:
            findings += _judge(answer, references, causes)
        elif code:
            words = mask_server_words(answer.message, answer.workload) if code in WITH_WORDS else answer.error
            if code == "CC1131.forbidden":
                words = "workloads of these kinds" if answer.of_owner else "pods"
            unasked.setdefault((code, answer.namespace, words or answer.error), []).append(answer.workload)
    for (code, namespace, words), workloads in unasked.items():
        names = listed([f"{workload.ref.kind}/{workload.ref.name}" for workload in workloads])
        findings.append(finding(code, None, names=names, namespace=namespace, words=words))
    return findings


def _find_warning(answer: Answer, running: Callable[[Answer], Running]) -> str | None:
    """Return the code of the warning that there is no verdict; "" for silence, None if there is a verdict."""
    message = answer.message
    if answer.pod is not None:
        return None
    if not answer.status or not message:
        return "CC1131.answer"
    if NO_RIGHT.match(message):
        return "CC1131.forbidden"
    if NO_NAMESPACE.search(message) and answer.status == 404:
        return "CC1131.namespace"
    if NO_DRY_RUN.search(message):
        return "CC1131.side-effects"
    if NO_ROOM.search(message):
        return {"none": None, "some": "CC1131.room", "all": ""}[running(answer)]
    is_verdict = 400 <= answer.status <= 499 and answer.status not in NO_VERDICT
    return None if is_verdict or "webhook" in message else "CC1131.answer"


def _judge(answer: Answer, references: References, causes: Callable[[Answer], list[str]]) -> Iterator[Finding]:
    workload, pod = answer.workload, answer.pod
    if pod is None:
        code = "CC1130.object" if answer.of_owner else "CC1130.refused"
        yield workload.placed(finding(code, workload.ref, words=mask_server_words(answer.message, workload)))
        return
    judged = judge_admitted(pod, workload, references)
    if not judged.fields:
        return
    by = causes(answer)
    if dig(pod, ("metadata", "annotations", LIMIT_RANGER)):
        by = [*by, "a LimitRange of the namespace"]
    code = "CC1130.changed" if by else "CC1130.changed-unknown"
    yield workload.placed(finding(code, workload.ref, fields=", ".join(judged.fields), by=listed(by)))


# --- Ask an API server what it makes of some workloads, and of the pods of these: each is posted with `dryRun=All`, and
# none is stored
#
# Rule: a workload is posted as a new one, by generateName, because an update could not change every field. The template
# that comes back becomes the pod, for a CronJob by way of a Job; without the right to create workloads, their own
# template. If the server does not answer at all, the remaining workloads are not asked. Webhooks, policies and the
# namespace are looked up once, and only when a pod comes back changed; without the right to read them they are not
# named. Source: docs/facts/kubernetes.md#dry-run.


ADMISSION = "admissionregistration.k8s.io/v1"
WEBHOOKS = Listing(ADMISSION, "MutatingWebhookConfiguration", "the mutating webhooks")
POLICIES = Listing(ADMISSION, "MutatingAdmissionPolicy", "the mutating admission policies")
BINDINGS = Listing(ADMISSION, "MutatingAdmissionPolicyBinding", "the bindings of mutating admission policies")
LONGEST_CRON_JOB = 52  # characters of its name, the shortest limit of the kinds of Kubernetes
RANDOM = 5  # characters that the server adds to a generateName
MOST_VALUES = 500_000  # of one answer, counted by the characters that begin one


def dry_run(
    server: ApiServer, workloads: Iterable[tuple[Workload, str]], planned: Sequence[Ref], references: References
) -> list[Finding]:
    """Return the findings about the pods that the server would make. workloads: each with its namespace.

    planned: the deployment's own objects, which may not be in the cluster yet.
    """
    asked = _Lookups(server)
    answers = list(_ask_all(server, workloads, planned))
    return admission_findings(answers, references, asked.running, asked.causes)


def names_of(resources: Iterable[Resource]) -> list[Ref]:
    """Return the deployment's own objects, by the headers of its documents."""
    return [Ref(resource.api_version, resource.kind, "", resource.name) for resource in resources]


def _ask_all(server: ApiServer, workloads: Iterable[tuple[Workload, str]], planned: Sequence[Ref]) -> Iterator[Answer]:
    broken = ""
    for workload, namespace in workloads:
        if broken or not NAMESPACE.fullmatch(namespace):
            yield Answer(workload, namespace, 0, error=broken or "it is no name of a namespace")
            continue
        try:
            admitted, of_owner = _ask_for_owners(server, workload, namespace)
            answer = _ask(server, workload, namespace, make_pod(admitted, namespace))
            while (field := missing_field(answer, planned)) and field not in answer.without:
                without = (*answer.without, field)
                pod = make_pod(admitted, namespace, without)
                answer = _ask(server, workload, namespace, pod)._replace(without=without)
        except RefusalError as problem:
            broken = str(problem.values.get("error") or problem.values.get("limit") or problem.code)
            answer, of_owner = Answer(workload, namespace, 0, error=broken), None
        yield answer
        if of_owner is not None and (answer.pod is not None or not NO_RIGHT.match(of_owner.message)):
            yield of_owner


def _ask_for_owners(server: ApiServer, workload: Workload, namespace: str) -> tuple[Workload, Answer | None]:
    """Return a workload with the template that admission leaves, and the answer that has no template, if any.

    404 is no answer: the namespace or the kind is not there yet.
    """
    value, path, admitted = workload.object, workload.template, workload
    longest = (workload.made_by and workload.made_by.longest_name) or LONGEST_CRON_JOB
    while path:
        metadata = {key: part for key in ("labels", "annotations") if (part := dig(value, ("metadata", key)))}
        metadata |= {"generateName": make_name_prefix(workload)[: longest - RANDOM]}
        answer = _ask(server, workload, namespace, {**value, "metadata": metadata})._replace(of_owner=True)
        template = dig(answer.value, path)
        if not 200 <= answer.status <= 299 or not isinstance(template, dict):
            return admitted, None if answer.status == NOT_FOUND else answer
        generated = [dig(answer.value, ("metadata", key)) for key in ("name", "uid")]  # which a Job writes into labels
        labels = mapping(dig(template, ("metadata", "labels")))
        labels = {key: text for key, text in labels.items() if text not in generated}
        template = {**template, "metadata": {**mapping(template.get("metadata")), "labels": labels}}
        admitted = place_in_owner(template, workload)
        if value["kind"] != "CronJob":
            break
        value, path = _make_job(answer.value), path[2:]
    return admitted, None


def _make_job(cron_job: Any) -> dict[str, Any]:
    return {"apiVersion": "batch/v1", "kind": "Job", **dig(cron_job, ("spec", "jobTemplate"))}


def _ask(server: ApiServer, workload: Workload, namespace: str, value: dict[str, Any]) -> Answer:
    """Post a workload or its pod. value: as it would be created."""
    path = f"{listing_of(value['apiVersion'], value['kind'], namespace).path}?dryRun=All&fieldValidation=Ignore"
    body = json.dumps(value, default=str).encode("utf-8", "replace")
    reply = server.dry_run(path, body, f"the pods of {workload.ref.kind} {workload.ref.name}")
    return Answer(workload, namespace, reply.status, _parse(reply.data), (), f"HTTP status {reply.status}")


def _parse(data: bytes) -> Any:
    if sum(map(data.count, (b"{", b"[", b","))) > MOST_VALUES:
        return None
    try:
        return load_any(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


class _Lookups:
    """Looks up the facts that findings need, each once."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._lists: Mapping[str, Sequence[Any]] | None = None
        self._namespaces: dict[str, Any] = {}

    def causes(self, answer: Answer) -> list[str]:
        """Return the names of what may have changed the pod of an answer."""
        if self._lists is None:
            self._lists = {listing.kind: self._list(listing) for listing in (WEBHOOKS, POLICIES, BINDINGS)}
        name = answer.namespace
        if name not in self._namespaces:
            self._namespaces[name] = self._get(f"/api/v1/namespaces/{quote(name)}", f"namespace {name}")
        workload = answer.workload
        values = [workload.object, make_pod(workload, name)]
        if workload.ref.kind == "CronJob":
            values.append(_make_job(workload.object))
        webhooks, policies, bindings = (self._lists[listing.kind] for listing in (WEBHOOKS, POLICIES, BINDINGS))
        about = self._namespaces[name]
        names = [cause for value in values for cause in changed_by(webhooks, policies, bindings, value, about)]
        return list(dict.fromkeys(names))

    def running(self, answer: Answer) -> Running:
        """Return how many of its pods the workload of an answer has in the cluster."""
        ref = answer.workload.ref
        path = f"{Listing(ref.api_version, ref.kind, '', answer.namespace).path}/{quote(ref.name)}"
        return pods_of(ref.kind, self._get(path, f"{ref.kind} {ref.name}"))

    def _list(self, listing: Listing) -> list[Any]:
        try:
            return list(Lists(self._server).objects(listing))
        except RefusalError:
            return []

    def _get(self, path: str, label: str) -> Any:
        try:
            return _parse(self._server.get(path, label))
        except RefusalError:
            return None


def pods_of(kind: str, value: Any) -> Running:
    """Tell by the status of a workload whether it has the pods that it wants. value: None if it does not exist."""
    spec, status = mapping(mapping(value).get("spec")), mapping(mapping(value).get("status"))
    match kind:
        case "Deployment" | "StatefulSet" | "ReplicaSet" | "ReplicationController":
            desired, count = spec.get("replicas", 1), status.get("replicas", 0)
        case "DaemonSet":
            desired, count = status.get("desiredNumberScheduled", 1), status.get("currentNumberScheduled", 0)
        case "Pod":
            return "all" if dig(value, ("status", "phase")) else "none"
        case "CronJob":
            return "some" if value is not None else "none"  # its time is yet to come
        case _:
            active, done = status.get("active"), status.get("succeeded")
            return "all" if active or done else "none"
    if not isinstance(desired, int) or not isinstance(count, int) or not count:
        return "none"
    return "all" if count >= desired else "some"


# --- Services of a cluster whose variables a sealed policy denies: no new pod of the workload starts
#
#     the policy                             the pod             Services that count
#     allows each legal Service              any                 none: the cluster is not asked
#     in Kata's form, or by own settings     with service links  all of its namespace, and that of the API server
#     in Kata's form, or by own settings     without them        that of the API server, which every pod gets
#
# Rule: one Service of each form that Kata's policy leaves out decides whether a policy allows each legal Service. Each
# namespace is listed once, and none if every policy allows each legal Service. A finding names the Services of a
# workload's namespace that the role may not read; without a right on `default` the Service of the API server is left
# out. Source: docs/facts/kubernetes.md#service-variables.


SCTP = {"port": 1, "protocol": "SCTP"}
EACH_FORM = tuple(
    {"metadata": {"name": name}, "spec": {"clusterIP": address, "ports": [port]}}
    for name, address, port in (("a", "10.0.0.1", SCTP), ("1", "10.0.0.1", {"port": 1}), ("a", "fd00::1", {"port": 1}))
)


class Narrow(NamedTuple):
    """A workload whose policy denies some legal Service. data: of its policy."""

    workload: Workload
    namespace: str
    data: Any


def narrow_workloads(workloads: Iterable[tuple[Workload, str]]) -> Iterator[Narrow]:
    """Yield the workloads whose pods a Service can stop. workloads: sealed, each with its namespace."""
    for workload, namespace in workloads:
        try:
            data = read_policy_data(decode_toml(from_annotation(str(workload.annotations.get(INITDATA)))).data[POLICY])
        except (ValueError, KeyError):
            continue  # a policy that cannot be read is a finding of `check`
        if any(denied_services(EACH_FORM, data, whole=profile_of_data(data).narrowed)):
            yield Narrow(workload, namespace, data)


def cluster_services(server: ApiServer, workloads: Iterable[tuple[Workload, str]]) -> list[Finding]:
    """Return a finding for each Service of the cluster that stops pods. workloads: sealed, each with its namespace."""
    lists = Lists(server)
    narrow = [item for item in narrow_workloads(workloads) if NAMESPACE.fullmatch(item.namespace)]
    services: dict[str, list[Any]] = {}
    findings: list[Finding] = []
    for namespace in sorted({API_SERVER[0], *(item.namespace for item in narrow)}) if narrow else ():
        try:
            services[namespace] = list(lists.objects(listing_of("v1", "Service", namespace)))
        except RefusalError as problem:
            near = [item.workload.ref for item in narrow if item.namespace == namespace]
            names = ", ".join(sorted({f"{ref.kind}/{ref.name}" for ref in near}))
            answer = str(problem.values.get("answer") or problem.values.get("error") or problem.code)
            if names:
                findings.append(finding("CC1135", names=names, answer=answer, namespace=namespace))
    for item in narrow:
        near = [*services.get(item.namespace, ()), *services.get(API_SERVER[0], ())]
        unique = {id(service): service for service in near}.values()
        stopped = find_denied_services(item.workload, item.namespace, item.data, unique)
        findings += map(item.workload.placed, stopped)
    return findings


# --- `check --cluster`: read the cluster's objects of rendered output, compare them, and ask for the pods it would make
#
# Rule: it reads first, so that `check` can tell which policies of a manifest belong to workloads of another release; it
# compares only if the output itself is right.


class Live(NamedTuple):
    """Rendered output and its cluster. values: all objects of the output that were parsed; refs: of all."""

    output: Rendered
    values: Sequence[Any]
    refs: Sequence[Ref]
    read: ClusterObjects

    @property
    def digests(self) -> frozenset[str]:
        """The digests of the policies of all Contrast workloads in these namespaces of the cluster."""
        if self.read.objects is None:
            return frozenset()
        return frozenset(sealed_in_the_cluster(self.read.objects, self.output.kinds) | self.read.pods.digests)

    def compared(self, beside: int) -> tuple[tuple[Finding, ...], str]:
        """Return the differences of the cluster, and a line on what was compared. beside: see `described`."""
        output, read = self.output, self.read
        if read.objects is None:
            return read.findings, ""
        references = References(self.values)
        findings = compare_live(output, read.objects, read.classes.objects, references, read.pods)
        if read.server is not None:
            refs = {reference(value) for value in read.objects}
            located = [(workload, _find_namespace(output, workload.ref, refs)) for workload in output.workloads]
            findings += dry_run(read.server, located, self.refs, references)
            findings += cluster_services(read.server, located)
        classes = read.classes.objects is not None
        seen = [workload for workload in output.workloads if not output.is_unlisted(workload.ref, read.pods)]
        output = output._replace(workloads=seen)
        line = described(output, read.context, classes=classes, pods=read.pods.count, beside=beside)
        return (*read.findings, *findings, *read.classes.findings), line


def _find_namespace(output: Rendered, ref: Ref, refs: set[Ref]) -> str:
    """Return the namespace in which the pods of a workload are or would be made."""
    places = output.placed(ref)
    return next((place for place in places if place in refs), places[0]).namespace


# --- The functions of `Cluster`


def read_nodes() -> ClusterNodes:
    """Read the nodes and RuntimeClasses of the current context of the kubeconfig, or of the cluster this runs in."""
    return ask_cluster(_read_nodes, ClusterNodes())


def _read_nodes(lists: Lists) -> ClusterNodes:
    """Return the nodes; or a finding without the right to list them, which some users of a namespace lack."""
    items, findings = list_if_allowed(lists, Listing("v1", "Node", "the nodes"), "CC1134")
    document = None if items is None else {"apiVersion": "v1", "kind": "NodeList", "items": items}
    return ClusterNodes(document, runtime_classes(lists), findings=findings)


def planned_classes(
    rendered: renders.Rendered, resources: Sequence[Resource], live: Mapping[str, Any]
) -> tuple[Mapping[str, RuntimeClass], list[Finding]]:
    """Return the classes that admission will use, without those that this deployment applies; and the problems."""
    applied = {ref.name for ref in map(reference, rendered.added) if ref.kind == "RuntimeClass"}
    applied |= {resource.name for resource in resources if resource.kind == "RuntimeClass"}
    return differing_planned_classes(rendered.plan, live, applied)


def planned_pods(rendered: renders.Rendered, resources: Sequence[Resource], server: ApiServer) -> list[Finding]:
    """Return the server's answers to dry runs for the pods of each rendered workload, as findings."""
    broken = {finding.ref for finding in rendered.findings if finding.severity == "error"}
    workloads = [workload for workload in rendered.plan if workload.digest and workload.ref not in broken]
    values = [*(item.value for item in parse_output(resources).objects()), *rendered.added]
    namespaces = sorted({workload.ref.namespace for workload in workloads if workload.ref.namespace}) or ["default"]
    located = [(workload, workload.ref.namespace or namespaces[0]) for workload in workloads]
    planned = [*names_of(resources), *map(reference, values)]
    return [*dry_run(server, located, planned, References(values)), *cluster_services(server, located)]


def read_live(resources: Sequence[Resource], config: Config | None) -> Live:
    """Read the cluster's objects in the namespaces of some output. Never raises."""
    kinds = config.generate.kinds if config else SHIPPED
    parsed = parse_output(resources)
    values = [item.value for item in parsed.objects()]
    workloads = [workload for resource in parsed.parsed for workload in select(resource.value, kinds=kinds).workloads]
    manifests = {reference(value): value for value in values if read_emitted_manifest(value) is not None}
    output = Rendered(workloads, manifests, make_classes(values, config), kinds)
    references = References(values)
    refs = [*names_of(resources), *map(reference, values)]
    return Live(
        output,
        values,
        refs,
        read_cluster_objects(
            output.namespaces,
            lambda objects, unlisted: RunningPods(objects, references, output.refs, kinds, unlisted),
            sorted({(item.ref.api_version, item.ref.kind) for item in workloads if item.made_by}),
        ),
    )
