"""What an API server makes of the pods of some workloads, by its answers to dry runs."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from krm_function.check.running_pods import judge_admitted, server_words
from krm_function.config.references import References
from krm_function.findings import Finding, Ref, finding
from krm_function.kubernetes.lookup import dig, mapping, maps, selects
from krm_function.kubernetes.objects import listed
from krm_function.kubernetes.workload import Workload
from krm_function.record import NamedTuple

# --- Find which webhooks and admission policies of a cluster may change a pod when it is created
#
# Rule: pure, and it only narrows down. Operations, resources and both selectors are evaluated; conditions
# in CEL are not, so what is named may have let the pod alone. What a LimitRange has set stands in the pod itself.
# Source: docs/facts/kubernetes.md#dry-run.


LIMIT_RANGER = "kubernetes.io/limit-ranger"  # the annotation in which that plugin lists what it has set
GROUPS = {"", "*"}
RESOURCES = {"pods", "*", "*/*", "pods/*"}
OPERATIONS = {"CREATE", "*"}


def changed_by(
    webhooks: Sequence[Any], policies: Sequence[Any], bindings: Sequence[Any], pod: Any, namespace: Any
) -> list[str]:
    """Name what may have changed a pod. webhooks, policies, bindings: all of the cluster.

    pod: as it was sent. namespace: its Namespace object, None if it is not known; then its labels rule nothing out.
    """
    labels = mapping(dig(pod, ("metadata", "labels")))
    about = None if namespace is None else mapping(dig(namespace, ("metadata", "labels")))
    names = [f"webhook {name}" for name in _webhooks(webhooks, labels, about)]
    bound = {
        dig(one, ("spec", "policyName"))
        for one in bindings
        if _chosen(_constraints(one, "matchResources"), labels, about)
    }
    for policy in policies:
        name = dig(policy, ("metadata", "name"))
        constraints = _constraints(policy, "matchConstraints")
        if name in bound and _chosen(constraints, labels, about) and _asks(maps(constraints.get("resourceRules"))):
            names.append(f"MutatingAdmissionPolicy {name}")
    return names


def set_by_limit_ranges(pod: Any) -> bool:
    """Tell whether a LimitRange has filled in requests or limits of a pod."""
    return bool(dig(pod, ("metadata", "annotations", LIMIT_RANGER)))


def _constraints(value: Any, field: str) -> dict[str, Any]:
    return mapping(dig(value, ("spec", field)))


def _webhooks(configurations: Sequence[Any], labels: dict[str, Any], namespace: dict[str, Any] | None) -> Iterator[str]:
    for configuration in configurations:
        for one in maps(configuration.get("webhooks")):
            if _asks(maps(one.get("rules"))) and _chosen(one, labels, namespace):
                yield f"{one.get('name')} of {dig(configuration, ('metadata', 'name'))}"


def _asks(rules: Sequence[dict[str, Any]]) -> bool:
    """Tell whether a rule is about pods that are created."""
    return any(
        GROUPS & {*_texts(rule, "apiGroups")}
        and RESOURCES & {*_texts(rule, "resources")}
        and OPERATIONS & {*_texts(rule, "operations")}
        for rule in rules
    )


def _chosen(selectors: dict[str, Any], labels: dict[str, Any], namespace: dict[str, Any] | None) -> bool:
    """Tell whether both selectors of a webhook or policy may choose a pod."""
    own = selects(mapping(selectors.get("objectSelector")), labels)
    return own and (namespace is None or selects(mapping(selectors.get("namespaceSelector")), namespace))


def _texts(value: dict[str, Any], key: str) -> list[str]:
    entries = value.get(key)
    return [one for one in entries if isinstance(one, str)] if isinstance(entries, list) else []


# --- Say what an API server answered when it was asked, by dry runs, to make the pods of some workloads
#
# Rule: pure. What the server would make is compared by the function that judges running pods; what it
# refuses is told in its own words. What could not be asked is a warning that says so, never silence.
#
#     answer                                       is
#     a pod                                        judged; CC1130 if it is not what was sealed
#     the user may not create pods                 CC1131.forbidden, once for a namespace
#     a webhook does not know dry runs             CC1131.side-effects
#     the namespace is not there                   CC1131.namespace
#     a quota has no room, none of its pods runs   CC1130.refused
#     a quota has no room, some of its pods run    CC1131.room
#     a quota has no room, all of its pods run     nothing: no more is wanted
#     refused otherwise                            CC1130.refused
#     no pod, no refusal                           CC1131.answer


Running = Literal["none", "some", "all"]  # of the pods that a workload wants

NO_RIGHT = re.compile(r"pods is forbidden: User ")
NO_NAMESPACE = re.compile(r'namespaces "[^"]*" not found')
NO_DRY_RUN = re.compile(r"does not support dry run")
NO_ROOM = re.compile(r"exceeded quota")
WITH_WORDS = ("CC1131.side-effects", "CC1131.room")
ABSENT: Mapping[str, re.Pattern[str]] = {  # field of the pod -> how the server says that it names what is not there
    "serviceAccountName": re.compile(r'serviceaccount "[^"]*" not found'),
    "priorityClassName": re.compile(r"no PriorityClass with name \S+ was found"),
    "runtimeClassName": re.compile(r'RuntimeClass "[^"]*" not found'),
}


class Answer(NamedTuple):
    """What the server answered about a workload. value: a pod or a Status. without: fields that were left out.

    namespace: in which it was asked. status: of HTTP, 0 if no answer came, and then `error` says why.
    """

    workload: Workload
    namespace: str
    status: int
    value: Any = None
    without: tuple[str, ...] = ()
    error: str = ""

    @property
    def message(self) -> str:
        """What a Status says."""
        return str(mapping(self.value).get("message") or "")

    @property
    def pod(self) -> Any:
        """The pod that it would make, None if it would make none; what was left out is in it again."""
        if not 200 <= self.status <= 299 or mapping(self.value).get("kind", "Pod") != "Pod":
            return None
        spec = dig(self.value, ("spec",))
        if not isinstance(spec, dict):
            return None
        kept = {key: self.workload.pod_spec[key] for key in self.without if key in self.workload.pod_spec}
        return {**self.value, "spec": {**spec, **kept}}


def missing_field(answer: Answer, planned: Iterable[Ref]) -> str:
    """Return the field that makes a pod refused because of what comes with this deployment; "" for none.

    planned: what the deployment has itself. That a RuntimeClass is absent is a finding of its own.
    """
    kinds = {(one.kind, one.name) for one in planned}
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
    """Return the findings of all answers. running: how many of its pods the workload of an answer has already.

    causes: what may have changed the pod of an answer, asked for pods that are changed.
    """
    findings: list[Finding] = []
    unasked: dict[tuple[str, str, str], list[Workload]] = {}
    for answer in answers:
        match _unasked(answer, running):
            case None:
                findings += _judged(answer, references, causes)
            case "":
                pass
            case str() as code:
                words = server_words(answer.message, answer.workload) if code in WITH_WORDS else answer.error
                unasked.setdefault((code, answer.namespace, words or answer.error), []).append(answer.workload)
    for (code, namespace, words), workloads in unasked.items():
        names = listed([f"{one.ref.kind}/{one.ref.name}" for one in workloads])
        findings.append(finding(code, None, names=names, namespace=namespace, words=words))
    return findings


def _unasked(answer: Answer, running: Callable[[Answer], Running]) -> str | None:
    """Return the code of the warning that there is no verdict; "" for no word, None where there is a verdict."""
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
    return None if 400 <= answer.status <= 499 or "webhook" in message else "CC1131.answer"


def _judged(answer: Answer, references: References, causes: Callable[[Answer], list[str]]) -> Iterator[Finding]:
    workload, pod = answer.workload, answer.pod
    if pod is None:
        yield workload.placed(finding("CC1130.refused", workload.ref, words=server_words(answer.message, workload)))
        return
    judged = judge_admitted(pod, workload, references)
    if not judged.fields:
        return
    by = [*causes(answer), *(["a LimitRange of the namespace"] if set_by_limit_ranges(pod) else [])]
    fields = ", ".join(judged.fields)
    if by:
        yield workload.placed(finding("CC1130.changed", workload.ref, fields=fields, by=listed(by)))
    else:
        yield workload.placed(finding("CC1130.changed-unknown", workload.ref, fields=fields))
