"""Judge the pods that run: each by its own policy, and all of an owner as one rollout."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from sys import intern
from typing import Any

from krm_function.check.drift import READ_BY_THE_NODE
from krm_function.check.pods import check_workload, make_name_prefix, place_in_owner
from krm_function.config.references import References
from krm_function.contrast.platforms import is_contrast_name
from krm_function.contrast.vm_size import vcpus
from krm_function.findings import Finding, Ref, finding
from krm_function.kubernetes.objects import OWNERS, controller_of, dig, listed, mapping, maps, reference
from krm_function.kubernetes.pod_kinds import SHIPPED, Kinds
from krm_function.kubernetes.workload import INITDATA, POD_ROLE, Workload, workloads_of
from krm_function.policy.controllers import moved_variables
from krm_function.policy.initdata import digest, from_annotation
from krm_function.policy.made_pod import name_difference
from krm_function.record import NamedTuple
from krm_function.render.copies import find_owners, find_retirement, index_controllers, list_owners
from krm_function.text.changes import same

# --- Quote the words of an API server about a pod, without anything of the pod that might be secret
#
# Rule: a server repeats the values that it refuses, so the values of variables, long annotations and quoted values are
# masked; the rest is cut and on one line.


MASK = "(masked)"
LONGEST_WORDS = 600  # characters
LONG_ANNOTATION = 64  # characters, as everywhere
LEAST = 4  # characters of a value to mask: a shorter one would occur in other words
QUOTED = re.compile(r'((?:Invalid|Unsupported|Duplicate) value: )("(?:[^"\\]|\\.)*"?|\S+)')


def mask_server_words(text: str, workload: Workload) -> str:
    """Mask secrets in a server's message. workload: the one that was sent, whose values are masked."""
    for value in sorted({*_list_values(workload)}, key=len, reverse=True):
        text = text.replace(value, MASK)
    prefix = make_name_prefix(workload)  # of the name that the server has given to the pod of a dry run
    text = re.sub(rf"\b{re.escape(prefix)}[a-z0-9]{{5}}\b", f"{prefix}…", text)
    text = " ".join(QUOTED.sub(rf"\1{MASK}", text).split())
    return f"{text[:LONGEST_WORDS]}…" if len(text) > LONGEST_WORDS else text


def _list_values(workload: Workload) -> Iterator[str]:
    for container in workload.all_containers:
        for variable in maps(container.container.get("env")):
            yield from _select_long(variable.get("value"))
    for value in mapping(workload.pod_metadata.get("annotations")).values():
        if isinstance(value, str) and len(value) > LONG_ANNOTATION:
            yield value


def _select_long(value: Any) -> Iterator[str]:
    if isinstance(value, str) and len(value) >= LEAST:
        yield from (value, *(line for line in value.splitlines() if len(line) >= LEAST))


# --- Name the last writer of an object's spec, by its managedFields
#
# Rule: pure. Only entries about the spec count, and controllers of Kubernetes itself are not named, since they write on
# behalf of others. A client chooses its name itself. Source: docs/facts/kubernetes.md#managed-fields.


KUBERNETES = ("kube-controller-manager", "kube-scheduler", "kubelet", "k3s", "cloud-controller-manager")
LONGEST_WRITER = 40  # characters of a name in a sentence


def list_writers(fields: Any) -> list[dict[str, Any]]:
    """Reduce managedFields to manager and time of each entry about the spec."""
    return [
        {"manager": entry.get("manager"), "time": entry.get("time")}
        for entry in maps(fields)
        if "f:spec" in mapping(entry.get("fieldsV1"))
    ]


def find_last_writer(value: Any) -> str:
    """Name the last writer of an object's spec, "" if only Kubernetes is known to have written it."""
    entries = maps(mapping(mapping(value).get("metadata")).get("managedFields"))
    entries_by_time = [(str(entry.get("time") or ""), str(entry.get("manager") or "")) for entry in entries]
    candidates = [(time, name) for time, name in entries_by_time if name and name not in KUBERNETES]
    return max(candidates)[1][:LONGEST_WRITER] if candidates else ""


# --- Name the fields in which a pod of a cluster differs from the sealed template of its owner
#
# Rule: the generator answers, as in `find_drift`; this part only adds differences that a policy cannot show: another
# policy, another class, another number of vCPUs, a field that is gone so that the image's counts, a debug container.
# Fields that no policy covers (labels, most annotations, tolerations, priority, pull secrets) are not differences.


OF_THE_IMAGE = ("command", "args", "workingDir")  # without them, the image's own count
DEBUG = "ephemeralContainers"


class Judged(NamedTuple):
    """The fields that differ, () for none. debug: names of containers that were added to the running pod.

    allowed_names: the pattern of its name in its policy, "" if unknown; pods that are alike have other names.
    """

    fields: tuple[str, ...] = ()
    debug: tuple[str, ...] = ()
    allowed_names: str = ""


def judge_pod(pod: Any, workload: Workload, references: References) -> Judged:
    """Compare a pod with the workload of its template, and with the pod's own policy."""
    spec = mapping(mapping(pod).get("spec"))
    debug = tuple(str(container.get("name")) for container in maps(spec.get(DEBUG)))
    pod_without_debug = {**mapping(pod), "spec": {key: value for key, value in spec.items() if key != DEBUG}}
    running = place_in_owner(pod_without_debug, workload)
    sealed, running_digest = read_sealed_digest(workload), read_sealed_digest(running)
    expected_class, running_class = workload.runtime_class, running.runtime_class
    fields: list[str] = []
    if running_class != expected_class if running_digest == sealed else not is_contrast_name(running_class):
        fields.append(f"runtimeClassName, {running_class or 'none'} in place of {expected_class}")
    if not running_digest:
        gone = running.annotations.get(INITDATA) is None
        return Judged((*fields, f"its policy, which {'is gone' if gone else 'cannot be read'}"), debug)
    allowed = ""
    if is_contrast_name(running_class):
        checked = check_workload(running, references)
        allowed = checked.allowed_names
        fields += checked.changed
        fields += moved_variables(pod_without_debug, workload)
    fields += _find_hidden_changes(workload, running) if running_digest == sealed else ()
    return Judged(tuple(dict.fromkeys(fields)), debug, allowed)


def judge_admitted(pod: Any, workload: Workload, references: References) -> Judged:
    """Compare a workload's pod after admission with the workload: its policy has to be the same."""
    judged = judge_pod(pod, workload, references)
    admitted = place_in_owner(pod, workload)
    sealed, admitted_digest = read_sealed_digest(workload), read_sealed_digest(admitted)
    if admitted_digest and sealed != admitted_digest:
        return Judged(("its policy (there is a different one)", *judged.fields), judged.debug)
    return judged


def read_sealed_digest(workload: Workload) -> str:
    """Return the digest of a pod's policy, "" without a readable one."""
    return _digest(str(workload.annotations.get(INITDATA)))


@lru_cache(maxsize=64)  # the pods of a workload have one text
def _digest(annotation: str) -> str:
    try:
        return digest(from_annotation(annotation))
    except ValueError:
        return ""


def _find_hidden_changes(ours: Workload, theirs: Workload) -> list[str]:
    """Return the differences that a policy does not show: fields that hide the image's, mounts, vCPUs, options."""
    fields: list[str] = []
    by_name = {(item.field, item.name): item.container for item in theirs.all_containers}
    for container in ours.all_containers:
        running_container = by_name.get((container.field, container.name))
        if running_container is None:
            continue
        hidden = [key for key in OF_THE_IMAGE if container.container.get(key) and not running_container.get(key)]
        fields += [f"{container.name}: {key}" for key in hidden]
        mounts = {item.get("mountPath") for item in maps(running_container.get("volumeMounts"))}
        gone = [str(item.get("mountPath")) for item in container.mounts if item.get("mountPath") not in mounts]
        fields += [f"{container.name}: the mount {path}" for path in gone]
    return [*fields, *compare_vcpus(ours, theirs), *_compare_annotations(ours, theirs)]


def compare_vcpus(ours: Workload, theirs: Workload) -> list[str]:
    """Return the difference of the numbers of vCPUs, if both are known."""
    counts = [vcpus(pod) for pod in (ours, theirs)]
    differ = counts[0] != counts[1] and all(isinstance(count, int) for count in counts)
    return [f"its vCPUs, {counts[1]} in place of {counts[0]}"] if differ else []


def _compare_annotations(ours: Workload, theirs: Workload) -> list[str]:
    """Return the annotations that differ and that the node or Contrast reads to start the VM or the pod."""
    both = (ours.annotations, theirs.annotations)
    names = {name for annotations in both for name in annotations if str(name).startswith(READ_BY_THE_NODE)}
    differing = (name for name in sorted(names - {INITDATA}) if not same(*(texts.get(name) for texts in both)))
    return [f"annotation {name}" for name in differing]


# --- Judge the pods that run: each by the policy that it has itself, and all of an owner together as one rollout
#
# Rule: pods come one after another and none is kept, so that ten thousand take no more memory than one. A pod of an
# earlier template of its owner is not drift; it is counted, and judged by its own policy like any other. Of a pod that
# may be an owner itself (the leader of a group, listed before its workers) only the names are kept. Pods that are alike
# except for the fields that the cluster writes into each are judged once. A pod that has ended, or is being deleted,
# does not count.


TOKEN_VOLUME = re.compile(r"kube-api-access-[a-z0-9]{5}")  # as admission names it, another in each pod
OF_EACH_POD = ("nodeName", "hostname")
ROLLED_OUT = ("Deployment", "StatefulSet", "DaemonSet")
MOST_CACHED = 1_000
IDENTITY = ("name", "namespace", "uid", OWNERS, "creationTimestamp", "deletionTimestamp")
UNKNOWN = References()  # of a pod of an earlier render: its ConfigMaps may have been others


class _Owner:
    """The results for the pods of a workload."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.digest = read_sealed_digest(workload)
        self.own: tuple[str, ...] | None = None
        self.earlier = 0
        self.waiting: list[str] = []
        self.reasons: dict[str, None] = {}
        self.changed: dict[tuple[tuple[str, ...], str], list[str]] = {}
        self.debug: dict[tuple[str, ...], list[str]] = {}


class RunningPods:
    """Takes the pods of some namespaces, and has findings about them at the end.

    digests: of all pods. bare: pods without an owner that the output has. controllers: some of them are pods. strays:
    the first pod of each unknown owner. count: of the judged pods.
    """

    def __init__(
        self,
        objects: Sequence[Any],
        references: References | None,
        expected: Collection[Ref] = (),
        kinds: Kinds = SHIPPED,
        unlisted: Collection[tuple[str, str]] = (),
    ) -> None:
        """objects: all other workloads of the namespaces. references: None to count pods only. expected: the output's.

        kinds: those with pod templates. unlisted: kinds and namespaces of objects that the cluster does not show.
        """
        self._kinds = kinds
        self.unlisted = unlisted
        self.controllers = dict(index_controllers(objects, kinds))
        self._references = references
        self._owners: dict[Ref, list[_Owner]] = {}
        self._judged: dict[str, Judged] = {}
        self.digests: set[str] = set()
        self.strays: dict[object, Any] = {}
        self.bare: dict[Ref, Any] = {}
        self.count = 0
        self._expected = expected
        for value in objects:
            if controller_of(value) is None and _find_refusal(value):
                self._owner(value, "")

    def add(self, pod: Any) -> None:
        """Take a pod."""
        if dig(pod, ("metadata", "deletionTimestamp")) is not None or find_retirement(pod):
            return
        ref = reference(pod)
        owners = find_owners(pod, self.controllers)
        asks = is_contrast_name(str(dig(pod, ("spec", "runtimeClassName")) or ""))
        if owners is None:
            if asks:
                self.digests.add(read_sealed_digest(Workload(pod, (), ref, ())))
                self.strays.setdefault(controller_of(pod), reduce_pod(pod))
            return
        if owners and self._is_custom(owners[-1]):
            self.controllers |= index_controllers([reduce_pod(pod)])
        policy_digest = read_sealed_digest(Workload(pod, (), ref, ()))
        owner = self._owner(owners[-1] if owners else pod, policy_digest)
        if owner is None or not (asks or is_contrast_name(owner.workload.runtime_class)):
            return
        if not owners and ref in self._expected:
            self.bare[ref] = pod
        elif not owners:
            self.strays.setdefault(ref, _shrink(pod))
        self.count += 1
        self.digests.add(policy_digest)
        earlier = bool(policy_digest) and policy_digest != owner.digest and bool(owners)
        if earlier and len(owners) > 1 and policy_digest != self._digest(owners[0]):
            self.strays.setdefault(ref, _shrink(pod))  # no template of its owner ever had this policy
            return
        self._state(owner, pod, earlier=earlier)
        if self._references is None:
            return
        judged = self._judge(owner, pod, UNKNOWN if earlier else self._references)
        difference = name_difference(ref.name, judged.allowed_names)
        fields = (*judged.fields, difference) if difference else judged.fields
        if fields:
            owner.changed.setdefault((fields, find_last_writer(pod)), []).append(ref.name)
        if judged.debug:
            owner.debug.setdefault(judged.debug, []).append(ref.name)

    def is_of_unlisted(self, value: Any) -> bool:
        """Tell whether an owner of an object is of a kind that the cluster does not show."""
        owners = map(controller_of, (value, *list_owners(value, self.controllers)))
        return any((owner.kind, owner.namespace) in self.unlisted for owner in owners if owner)

    def rollouts(self, apart_from: Collection[Ref] = ()) -> Iterator[Finding]:
        """Yield a finding for each owner whose rollout is not finished."""
        for ref, owners in self._owners.items():
            if ref not in apart_from:
                yield from (problem for owner in owners for problem in _report_rollout(owner))

    def findings(self, ours: Collection[Ref], reported: Collection[Ref]) -> Iterator[Finding]:
        """Yield the findings about each owner. ours: of the output. reported: owners with a finding of their own."""
        for ref, owners in self._owners.items():
            for owner in owners:
                yield from self._changes(owner, is_reported=ref in reported)
        yield from self.rollouts({ref for ref in self._owners if ref in reported or ref not in ours})

    def _digest(self, value: Any) -> str:
        """Return the policy of a pod's owner, such as its ReplicaSet."""
        owner = self._owner(value, "")
        return owner.digest if owner else ""

    def _owner(self, value: Any, policy: str) -> _Owner | None:
        """Return the workload of an object with this policy, or else its first one; None if it has no workload."""
        ref = reference(value)
        if ref not in self._owners:
            self._owners[ref] = [_Owner(owner) for owner in workloads_of(value, (), ref, kinds=self._kinds)]
        owners = self._owners[ref]
        return next((owner for owner in owners if owner.digest == policy), owners[0] if owners else None)

    def _is_custom(self, value: Any) -> bool:
        kind = self._kinds.of(reference(value))
        return kind is not None and kind.source != "built-in"

    def _judge(self, owner: _Owner, pod: Any, references: References) -> Judged:
        """Judge a pod, or return the result for one like it."""
        spec = {key: part for key, part in mapping(pod.get("spec")).items() if key not in OF_EACH_POD}
        annotations = mapping(dig(pod, ("metadata", "annotations")))
        policy = read_sealed_digest(Workload(pod, (), owner.workload.ref, ())) or annotations.get(INITDATA)
        text = json.dumps([owner.workload.ref, policy, spec], sort_keys=True, default=str)
        texts = [*annotations.items(), *mapping(dig(pod, ("metadata", "labels"))).items()]
        needed = [
            (name, value)
            for name, value in texts
            if name != INITDATA and (str(name).startswith(READ_BY_THE_NODE) or f"['{name}']" in text)
        ]
        key = f"{TOKEN_VOLUME.sub('', text)}{needed}"
        if key not in self._judged:
            if len(self._judged) >= MOST_CACHED:
                self._judged.clear()
            self._judged[key] = judge_pod(pod, owner.workload, references)
        return self._judged[key]

    def _state(self, owner: _Owner, pod: Any, *, earlier: bool) -> None:
        phase = dig(pod, ("status", "phase"))
        if earlier:
            owner.earlier += 1
        elif phase and phase != "Running":
            owner.waiting.append(str(phase))
            if reason := explain_waiting(pod):
                owner.reasons[mask_server_words(reason, owner.workload)] = None

    def _changes(self, owner: _Owner, *, is_reported: bool) -> Iterator[Finding]:
        """Yield a finding for each difference between pods of an owner and the sealed template.

        is_reported: changes of the owner's own template have a finding already.
        """
        workload = owner.workload
        own_fields = {*self._template_fields(owner)} if is_reported else set()
        for (fields, writer), names in owner.changed.items():
            remaining = [field for field in fields if field not in own_fields]
            if not remaining:
                continue
            code = "CC1132.written" if writer else "CC1132.admitted"
            yield finding(code, workload.ref, pods=_format_pods(names), fields=", ".join(remaining), writer=writer)
        for containers, names in owner.debug.items():
            yield finding("CC1132.debug", workload.ref, pods=_format_pods(names), names=listed(containers))

    def _template_fields(self, owner: _Owner) -> tuple[str, ...]:
        if owner.own is None and self._references is not None:
            workload = owner.workload
            pod = {"metadata": workload.pod_metadata, "spec": workload.pod_spec}
            owner.own = judge_pod(pod, workload, self._references).fields
        return owner.own or ()


def explain_waiting(pod: Any) -> str:
    """Return why a pod does not run, as its status states it; "" without a reason."""
    status = mapping(mapping(pod).get("status"))
    for item in maps(status.get("conditions")):
        if item.get("type") == "PodScheduled" and item.get("status") == "False":
            return str(item.get("message") or item.get("reason") or "").partition(" preemption: ")[0]
    statuses = [*maps(status.get("initContainerStatuses")), *maps(status.get("containerStatuses"))]
    waiting = next((state for item in statuses if (state := mapping(dig(item, ("state", "waiting"))))), {})
    return ": ".join(str(waiting[part]) for part in ("reason", "message") if waiting.get(part))


def _report_rollout(owner: _Owner) -> Iterator[Finding]:
    value, ref = owner.workload.object, owner.workload.ref
    parts: list[str] = []
    if owner.earlier:
        pods = "pod of an earlier render runs" if owner.earlier == 1 else "pods of an earlier render run"
        parts.append(f"{owner.earlier} {pods}")
    for phase in dict.fromkeys(owner.waiting):
        count = owner.waiting.count(phase)
        parts.append(f"{count} of this one {'is' if count == 1 else 'are'} {phase}")
    refused = _find_refusal(value)
    reasons = [*owner.reasons, *([mask_server_words(refused, owner.workload)] if refused else [])]
    if refused:
        parts.append("one more cannot be made")
    if parts:
        noun = "rollout" if ref.kind in ROLLED_OUT else "start"
        state = ", ".join(parts) + (f": {reasons[0]}" if reasons else "")
        yield finding("CC1133", ref, what=noun, name=f"{ref.kind}/{ref.name}", state=state)


def _find_refusal(value: Any) -> str:
    """Return why a Deployment or ReplicaSet cannot make a pod, "" if it can."""
    for condition in maps(dig(value, ("status", "conditions"))):
        if condition.get("type") == "ReplicaFailure" and condition.get("status") == "True":
            return str(condition.get("message") or condition.get("reason") or "refused")
    return ""


def _format_pods(names: Sequence[str]) -> str:
    return f"pod{'' if len(names) == 1 else 's'} {listed(names)}"


def reduce_pod(pod: Any) -> Any:
    """Reduce a pod to its identity, owners, role, class, policy and state; pods with one policy share its text."""
    metadata, status = mapping(pod.get("metadata")), mapping(pod.get("status"))
    policy = mapping(metadata.get("annotations")).get(INITDATA)
    identity = {key: metadata[key] for key in IDENTITY if key in metadata}
    identity["annotations"] = {INITDATA: intern(policy)} if isinstance(policy, str) else {}
    identity["labels"] = {POD_ROLE: dig(metadata, ("labels", POD_ROLE))}
    ready = [condition for condition in maps(status.get("conditions")) if condition.get("type") == "Ready"]
    spec = {"runtimeClassName": dig(pod, ("spec", "runtimeClassName"))}
    head = {key: pod.get(key) for key in ("apiVersion", "kind")}
    return {**head, "metadata": identity, "spec": spec, "status": {"phase": status.get("phase"), "conditions": ready}}


def _shrink(pod: Any) -> Any:
    """Reduce a stray pod to itself, without an owner."""
    return reduce_pod({**pod, "metadata": {**mapping(pod.get("metadata")), OWNERS: []}})
