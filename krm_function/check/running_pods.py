"""Judge the pods that run: each by its own policy, and all of an owner as one rollout."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from krm_function.check.pods import check_workload, in_its_owner, name_prefix
from krm_function.config.references import References
from krm_function.contrast.platforms import is_contrast_name
from krm_function.contrast.vm_size import vcpus
from krm_function.findings import Finding, Ref, finding
from krm_function.kubernetes.lookup import dig, mapping, maps
from krm_function.kubernetes.objects import OWNERS, controller_of, listed, reference
from krm_function.kubernetes.pod_kinds import SHIPPED, Kinds
from krm_function.kubernetes.workload import INITDATA, Workload, workloads_of
from krm_function.policy.controllers import moved_variables
from krm_function.policy.initdata import digest, from_annotation
from krm_function.policy.made_pod import name_difference
from krm_function.record import NamedTuple
from krm_function.render.copies import find_owners, index_controllers
from krm_function.text.changes import same

# --- Quote what an API server says of a pod, without anything of the pod that might be secret
#
# Rule: a server repeats the values that it refuses, so the values of variables, long annotations and what
# it quotes as a value are taken out; the rest is cut and on one line.


MASK = "(masked)"
LONGEST_WORDS = 600  # characters
LONG_ANNOTATION = 64  # characters, as everywhere
LEAST = 4  # characters of a value that is looked for: a shorter one would be found in other words
QUOTED = re.compile(r'((?:Invalid|Unsupported|Duplicate) value: )("(?:[^"\\]|\\.)*"?|\S+)')


def server_words(text: str, *workloads: Workload) -> str:
    """Return the words of a server. workloads: what was sent, whose values are masked."""
    values = sorted({value for one in workloads for value in _values(one)}, key=len, reverse=True)
    for value in values:
        text = text.replace(value, MASK)
    for one in workloads:  # the name that the server has given to the pod of a dry run
        text = re.sub(rf"\b{re.escape(name_prefix(one))}[a-z0-9]{{5}}\b", f"{name_prefix(one)}…", text)
    text = " ".join(QUOTED.sub(rf"\1{MASK}", text).split())
    return f"{text[:LONGEST_WORDS]}…" if len(text) > LONGEST_WORDS else text


def _values(workload: Workload) -> Iterator[str]:
    for each in workload.all_containers:
        for variable in maps(each.container.get("env")):
            yield from _long(variable.get("value"))
    for value in mapping(workload.pod_metadata.get("annotations")).values():
        if isinstance(value, str) and len(value) > LONG_ANNOTATION:
            yield value


def _long(value: Any) -> Iterator[str]:
    if isinstance(value, str) and len(value) >= LEAST:
        yield from (value, *(line for line in value.splitlines() if len(line) >= LEAST))


# --- Say who wrote a part of an object last, as its managedFields have it
#
# Rule: pure. Only entries about the spec count, and controllers of Kubernetes itself are not named, since
# they write what they are told to. A name there is what a client says of itself.
# Source: docs/facts/kubernetes.md#managed-fields.


KUBERNETES = ("kube-controller-manager", "kube-scheduler", "kubelet", "k3s", "cloud-controller-manager")
LONGEST_WRITER = 40  # characters of a name in a sentence


def writers(fields: Any) -> list[dict[str, Any]]:
    """Return what is needed of managedFields: manager and time of each entry about the spec."""
    return [
        {"manager": one.get("manager"), "time": one.get("time")}
        for one in maps(fields)
        if "f:spec" in mapping(one.get("fieldsV1"))
    ]


def last_writer(value: Any) -> str:
    """Name who wrote the spec of an object last, "" if nothing but Kubernetes is known to have."""
    entries = maps(mapping(mapping(value).get("metadata")).get("managedFields"))
    named = [(str(one.get("time") or ""), str(one.get("manager") or "")) for one in entries]
    others = [(time, name) for time, name in named if name and name not in KUBERNETES]
    return max(others)[1][:LONGEST_WRITER] if others else ""


# --- Name the fields in which a pod of a cluster is not what its owner was sealed for
#
# Rule: the generator answers, as in `drift`; here is only what a policy cannot show of a pod: another one,
# another class, another number of vCPUs, what an image would have put where a field is gone, a debug container. What
# nobody's policy is about (tolerations, priority, pull secrets) is no difference.


OF_THE_IMAGE = ("command", "args", "workingDir")  # without them, the image's own count
DEBUG = "ephemeralContainers"
READ_BY_THE_NODE = ("io.katacontainers.", "contrast.edgeless.systems/")


class Judged(NamedTuple):
    """The fields that differ, [] for none. debug: names of containers that somebody added to a pod that ran.

    allowed_names: the pattern of its name in its policy, "" if it is not known; pods that are alike have other names.
    """

    fields: tuple[str, ...] = ()
    debug: tuple[str, ...] = ()
    allowed_names: str = ""


def judge_pod(pod: Any, workload: Workload, references: References) -> Judged:
    """Compare a pod with the workload of which it was made, and with the policy that the pod itself has."""
    spec = mapping(mapping(pod).get("spec"))
    debug = tuple(str(one.get("name")) for one in maps(spec.get(DEBUG)))
    whole = {**mapping(pod), "spec": {key: value for key, value in spec.items() if key != DEBUG}}
    there = in_its_owner(whole, workload)
    sealed, found = sealed_digest(workload), sealed_digest(there)
    wanted, given = workload.runtime_class, there.runtime_class
    fields: list[str] = []
    if given != wanted if found == sealed else not is_contrast_name(given):
        fields.append(f"runtimeClassName, {given or 'none'} in place of {wanted}")
    if not found:
        gone = there.annotations.get(INITDATA) is None
        return Judged((*fields, f"its policy, which {'is gone' if gone else 'cannot be read'}"), debug)
    allowed = ""
    if is_contrast_name(given):
        checked = check_workload(there, references)
        allowed = checked.allowed_names
        fields += checked.moved
        fields += moved_variables(whole, workload)
    fields += _gone(workload, there) if found == sealed else ()
    return Judged(tuple(dict.fromkeys(fields)), debug, allowed)


def judge_admitted(pod: Any, workload: Workload, references: References) -> Judged:
    """Compare what the API server makes of a workload's pod with the workload: its policy has to be the same."""
    judged = judge_pod(pod, workload, references)
    there = in_its_owner(pod, workload)
    sealed, found = sealed_digest(workload), sealed_digest(there)
    if found and sealed != found:
        return Judged(("its policy, in place of which there is another", *judged.fields), judged.debug)
    return judged


def sealed_digest(workload: Workload) -> str:
    """Return the digest of the policy that a pod has, "" if it has none that can be read."""
    return _digest(str(workload.annotations.get(INITDATA)))


@lru_cache(maxsize=64)  # the pods of a workload have one text
def _digest(annotation: str) -> str:
    try:
        return digest(from_annotation(annotation))
    except ValueError:
        return ""


def _gone(ours: Workload, theirs: Workload) -> list[str]:
    """Return what a policy does not show to be gone or other: fields that hide the image's, mounts, vCPUs, options."""
    fields: list[str] = []
    there = {(one.field, one.name): one.container for one in theirs.all_containers}
    for each in ours.all_containers:
        found = there.get((each.field, each.name))
        if found is None:
            continue
        fields += [f"{each.name}: {key}" for key in OF_THE_IMAGE if each.container.get(key) and not found.get(key)]
        mounts = {one.get("mountPath") for one in maps(found.get("volumeMounts"))}
        gone = [str(one.get("mountPath")) for one in each.mounts if one.get("mountPath") not in mounts]
        fields += [f"{each.name}: the mount {path}" for path in gone]
    counts = [vcpus(one) for one in (ours, theirs)]
    if counts[0] != counts[1] and all(isinstance(count, int) for count in counts):
        fields.append(f"its vCPUs, {counts[1]} in place of {counts[0]}")
    return [*fields, *_annotations(ours, theirs)]


def _annotations(ours: Workload, theirs: Workload) -> list[str]:
    """Return the annotations by which a node starts the VM or Contrast the pod, where they differ."""
    names = {name for one in (ours, theirs) for name in one.annotations if str(name).startswith(READ_BY_THE_NODE)}
    values = [(name, *(dig(one.annotations, (name,)) for one in (ours, theirs))) for name in sorted(names - {INITDATA})]
    return [f"annotation {name}" for name, first, second in values if not same(first, second)]


# --- Judge the pods that run: each by the policy that it has itself, and all of an owner together as one rollout
#
# Rule: pods come one after another and none is kept, so that ten thousand take no more room than one. A
# pod of an earlier template of its owner is no drift; it is counted, and judged by its own policy like any other. Of a
# pod that may be an owner itself (the leader of a group, listed before its workers) only the names are kept. Pods that
# are alike but for what the cluster writes into each are judged once. What has ended, or is being deleted, runs no
# more.


ENDED = ("Succeeded", "Failed")
TOKEN_VOLUME = re.compile(r"kube-api-access-[a-z0-9]{5}")  # as admission names it, another in each pod
OF_EACH_POD = ("nodeName", "hostname")
ROLLED_OUT = ("Deployment", "StatefulSet", "DaemonSet")
MOST_CACHED = 1_000
UNKNOWN = References()  # what ConfigMaps held when a pod of an earlier render was sealed


class _Owner:
    """What is known of the pods of one workload."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.digest = sealed_digest(workload)
        self.own: tuple[str, ...] | None = None
        self.earlier = 0
        self.waiting: list[str] = []
        self.reasons: dict[str, None] = {}
        self.changed: dict[tuple[tuple[str, ...], str], list[str]] = {}
        self.debug: dict[tuple[str, ...], list[str]] = {}


class RunningPods:
    """Takes the pods of some namespaces, and has findings about them at the end.

    digests: of all pods that were taken. bare: pods that stand for themselves, as they are, if the output has them.
    known: the controllers, some of which are pods. strays: of pods of which nobody here is the owner, the first one of
    each owner. count: of the pods that were judged.
    """

    def __init__(
        self,
        objects: Sequence[Any],
        references: References | None,
        wanted: Collection[Ref] = (),
        kinds: Kinds = SHIPPED,
    ) -> None:
        """objects: all other workloads of the namespaces. references: None to count pods only. wanted: the output's.

        kinds: those with pod templates.
        """
        self._kinds = kinds
        self.known = dict(index_controllers(objects, kinds))
        self._references = references
        self._owners: dict[Ref, list[_Owner]] = {}
        self._judged: dict[str, Judged] = {}
        self.digests: set[str] = set()
        self.strays: dict[object, Any] = {}
        self.bare: dict[Ref, Any] = {}
        self.count = 0
        self._wanted = wanted
        for value in objects:
            if controller_of(value) is None and _refused(value):
                self._owner(value, "")

    def add(self, pod: Any) -> None:
        """Take one pod."""
        if dig(pod, ("metadata", "deletionTimestamp")) is not None or dig(pod, ("status", "phase")) in ENDED:
            return
        ref = reference(pod)
        owners = find_owners(pod, self.known)
        asks = is_contrast_name(str(dig(pod, ("spec", "runtimeClassName")) or ""))
        if owners is None:
            if asks:
                self.digests.add(sealed_digest(Workload(pod, (), ref, ())))
                self.strays.setdefault(controller_of(pod), _small(pod))
            return
        if owners and self._is_custom(owners[-1]):
            self.known |= index_controllers([_names(pod)])
        found = sealed_digest(Workload(pod, (), ref, ()))
        owner = self._owner(owners[-1] if owners else pod, found)
        if owner is None or not (asks or is_contrast_name(owner.workload.runtime_class)):
            return
        if not owners and ref in self._wanted:
            self.bare[ref] = pod
        elif not owners:
            self.strays.setdefault(ref, _small(pod))
        self.count += 1
        self.digests.add(found)
        earlier = bool(found) and found != owner.digest and bool(owners)
        if earlier and len(owners) > 1 and found != self._digest(owners[0]):
            self.strays.setdefault(ref, _small(pod))  # no template of its owner has ever had this policy
            return
        self._state(owner, pod, earlier=earlier)
        if self._references is None:
            return
        judged = self._judge(owner, pod, UNKNOWN if earlier else self._references)
        difference = name_difference(ref.name, judged.allowed_names)
        fields = (*judged.fields, difference) if difference else judged.fields
        if fields:
            owner.changed.setdefault((fields, last_writer(pod)), []).append(ref.name)
        if judged.debug:
            owner.debug.setdefault(judged.debug, []).append(ref.name)

    def rollouts(self, apart_from: Collection[Ref] = ()) -> Iterator[Finding]:
        """Yield one line for each owner whose rollout is not finished."""
        for ref, owners in self._owners.items():
            if ref not in apart_from:
                yield from (said for owner in owners for said in _rollout(owner))

    def findings(self, ours: Collection[Ref], reported: Collection[Ref]) -> Iterator[Finding]:
        """Yield what is to say of each owner. ours: of the output. reported: owners with a finding of their own."""
        for ref, owners in self._owners.items():
            for owner in owners:
                yield from self._changes(owner, told=ref in reported)
        yield from self.rollouts({ref for ref in self._owners if ref in reported or ref not in ours})

    def _digest(self, value: Any) -> str:
        """Return the policy of what a pod belongs to, such as its ReplicaSet."""
        owner = self._owner(value, "")
        return owner.digest if owner else ""

    def _owner(self, value: Any, policy: str) -> _Owner | None:
        """Return the workload of an object that has a policy, the first one if none has; None if it has no workload."""
        ref = reference(value)
        if ref not in self._owners:
            self._owners[ref] = [_Owner(one) for one in workloads_of(value, (), ref, kinds=self._kinds)]
        owners = self._owners[ref]
        return next((one for one in owners if one.digest == policy), owners[0] if owners else None)

    def _is_custom(self, value: Any) -> bool:
        kind = self._kinds.of(reference(value))
        return kind is not None and kind.source != "built-in"

    def _judge(self, owner: _Owner, pod: Any, references: References) -> Judged:
        """Judge a pod, or remember what was said of one like it."""
        spec = {key: part for key, part in mapping(pod.get("spec")).items() if key not in OF_EACH_POD}
        annotations = mapping(dig(pod, ("metadata", "annotations")))
        policy = sealed_digest(Workload(pod, (), owner.workload.ref, ())) or annotations.get(INITDATA)
        others = {key: value for key, value in annotations.items() if key != INITDATA}
        text = json.dumps([owner.workload.ref, policy, others, spec], sort_keys=True, default=str)
        key = TOKEN_VOLUME.sub("", text)
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
            if reason := waits_for(pod):
                owner.reasons[server_words(reason, owner.workload)] = None

    def _changes(self, owner: _Owner, *, told: bool) -> Iterator[Finding]:
        """Yield one finding for each way in which pods of an owner are not what was sealed.

        told: what the owner's own template has changed is told already.
        """
        workload = owner.workload
        own = {*self._template_fields(owner)} if told else set()
        for (fields, writer), names in owner.changed.items():
            left = [field for field in fields if field not in own]
            if not left:
                continue
            code = "CC1132.written" if writer else "CC1132.admitted"
            yield finding(code, workload.ref, pods=_pods(names), fields=", ".join(left), writer=writer)
        for containers, names in owner.debug.items():
            yield finding("CC1132.debug", workload.ref, pods=_pods(names), names=listed(containers))

    def _template_fields(self, owner: _Owner) -> tuple[str, ...]:
        if owner.own is None and self._references is not None:
            workload = owner.workload
            pod = {"metadata": workload.pod_metadata, "spec": workload.pod_spec}
            owner.own = judge_pod(pod, workload, self._references).fields
        return owner.own or ()


def waits_for(pod: Any) -> str:
    """Return why a pod does not run, in the words of its status; "" if it does not say."""
    status: Mapping[str, Any] = mapping(mapping(pod).get("status"))
    for one in maps(status.get("conditions")):
        if one.get("type") == "PodScheduled" and one.get("status") == "False":
            return str(one.get("message") or one.get("reason") or "").partition(" preemption: ")[0]
    for key in ("initContainerStatuses", "containerStatuses"):
        for one in maps(status.get(key)):
            waiting = mapping(dig(one, ("state", "waiting")))
            if waiting:
                return ": ".join(str(waiting[part]) for part in ("reason", "message") if waiting.get(part))
    return ""


def _rollout(owner: _Owner) -> Iterator[Finding]:
    """Yield the one line about a rollout that is not finished."""
    value, ref = owner.workload.object, owner.workload.ref
    parts: list[str] = []
    if owner.earlier:
        parts.append(f"{_count(owner.earlier)} of an earlier render {'runs' if owner.earlier == 1 else 'run'}")
    for phase in dict.fromkeys(owner.waiting):
        count = owner.waiting.count(phase)
        parts.append(f"{count} of this one {'is' if count == 1 else 'are'} {phase}")
    refused = _refused(value)
    reasons = [*owner.reasons, *([server_words(refused, owner.workload)] if refused else [])]
    if refused:
        parts.append("one more cannot be made")
    if parts:
        what = "rollout" if ref.kind in ROLLED_OUT else "start"
        state = ", ".join(parts) + (f": {reasons[0]}" if reasons else "")
        yield finding("CC1133", ref, what=what, name=f"{ref.kind}/{ref.name}", state=state)


def _refused(value: Any) -> str:
    """Return why a Deployment or ReplicaSet can make no pod, "" if it can."""
    conditions = maps(dig(value, ("status", "conditions")))
    failed = [one for one in conditions if one.get("type") == "ReplicaFailure" and one.get("status") == "True"]
    return str(failed[0].get("message") or failed[0].get("reason") or "refused") if failed else ""


def _count(number: int) -> str:
    return f"{number} pod{'' if number == 1 else 's'}"


def _pods(names: Sequence[str]) -> str:
    return f"pod{'' if len(names) == 1 else 's'} {listed(names)}"


def _names(pod: Any) -> Any:
    """Return what makes a pod known as an owner."""
    metadata = mapping(pod.get("metadata"))
    kept = {key: metadata[key] for key in ("name", "namespace", "uid", OWNERS) if key in metadata}
    return {"apiVersion": pod.get("apiVersion"), "kind": pod.get("kind"), "metadata": kept}


def _small(pod: Any) -> Any:
    """Return what is said of a pod that nobody has: who it is, and what it asks for."""
    metadata = mapping(pod.get("metadata"))
    annotations = {INITDATA: mapping(metadata.get("annotations")).get(INITDATA)}
    kept = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
    spec = {"runtimeClassName": dig(pod, ("spec", "runtimeClassName"))}
    head = {key: pod.get(key) for key in ("apiVersion", "kind")}
    return {**head, "metadata": {**kept, "annotations": annotations}, "spec": spec}
