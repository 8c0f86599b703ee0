"""Compare the Contrast workloads, the manifest and the RuntimeClasses of rendered output with those of a cluster.

Rule of this file: pure; the objects of the cluster come in as plain data. Policies are compared by their digests, and
where these differ, the fields are named; no value is shown. What the cluster has beside this output counts only if
Contrast runs it and no manifest knows it, so that another release beside this one is no difference.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from krm_function.checking.applied_by import Host, applied_by, applied_together
from krm_function.checking.changed_fields import changed_fields
from krm_function.checking.drift import differing_fields
from krm_function.checking.judge_pod import sealed_digest
from krm_function.checking.live_classes import differing_classes
from krm_function.checking.manifests import manifest_difference
from krm_function.checking.paths_text import paths_text
from krm_function.checking.running_pods import RunningPods
from krm_function.checking.seal_checks import check_workload
from krm_function.checking.written_by import last_writer
from krm_function.findings import Finding, Ref, finding
from krm_function.findings.cc11_check import APPLY, REPAIR
from krm_function.input_checks.copies import controllers, copies, known_controllers
from krm_function.manifest.decode import ManifestError, decode
from krm_function.model.cpu_limits import vcpus
from krm_function.model.lookup import dig, mapping
from krm_function.model.objects import reference
from krm_function.model.pod_kinds import SHIPPED, Kinds
from krm_function.model.runtime_class_objects import RuntimeClass
from krm_function.model.workload import INITDATA, LOCAL_CONFIG, Workload
from krm_function.policy import References, decode_toml, digest, from_annotation, read_policy_data
from krm_function.policy.initdata import POLICY
from krm_function.record import NamedTuple
from krm_function.stages.manifest_config_map import manifest_of
from krm_function.stages.select import select

SHORT = 16  # digits of a digest in a sentence
PODS = "CC1103"  # a field of a pod is not as its policy describes


class Rendered(NamedTuple):
    """What rendered output has. manifests: its objects that carry one. classes: as the render made them, by name.

    kinds: those with pod templates.
    """

    workloads: Sequence[Workload]
    manifests: Mapping[Ref, Any]
    classes: Mapping[str, RuntimeClass]
    kinds: Kinds = SHIPPED

    @property
    def namespaces(self) -> list[str]:
        """Where the cluster has the workloads and manifests; `default` if no object names one."""
        refs = [*(one.ref for one in self.workloads), *self.manifests]
        return sorted({ref.namespace for ref in refs if ref.namespace}) or ["default"]

    @property
    def refs(self) -> frozenset[Ref]:
        """What its workloads and manifests may be in the cluster."""
        every = (*(one.ref for one in self.workloads), *self.manifests)
        return frozenset(placed for ref in every for placed in self.placed(ref))

    def placed(self, ref: Ref) -> list[Ref]:
        """Return what an object of the output may be in the cluster: without a namespace, it may be in each."""
        names = [ref.namespace] if ref.namespace else self.namespaces
        return [ref._replace(namespace=name, part="") for name in names]


def compare_live(
    output: Rendered,
    objects: Sequence[Any],
    classes: Mapping[str, Any] | None,
    references: References,
    pods: RunningPods | None = None,
) -> list[Finding]:
    """Return a finding for each difference.

    objects: all workloads and ConfigMaps of the namespaces. pods: has taken their pods; None: they are among the
    objects. classes: the RuntimeClass objects by name; None: unknown.
    """
    if pods is None:
        pods = RunningPods(objects, references, output.refs, output.kinds)
        for value in objects:
            if reference(value).kind == "Pod":
                pods.add(value)
    live = {reference(value): value for value in objects} | dict(pods.bare)

    def there(ref: Ref) -> Any:
        return next((live[one] for one in output.placed(ref) if one in live), None)

    others = applied_together(value for value in map(there, output.refs) if value is not None)
    findings: list[Finding] = []
    for workload in output.workloads:
        value = there(workload.ref)
        if value is not None or not _is_local(workload.object):
            findings += _workload(workload, value, references, others)
    for ref, value in output.manifests.items():
        if (found := there(ref)) is not None or not _is_local(value):
            findings += _manifest(ref, str(manifest_of(value)), found, others)
    differing = {one for found in findings if found.ref is not None for one in output.placed(found.ref)}
    findings += _beside(output, [*objects, *pods.strays.values()], pods, differing)
    reported = {one for found in findings if found.ref is not None for one in output.placed(found.ref)}
    findings += pods.findings(output.refs, reported)
    return [*findings, *(differing_classes(output.workloads, output.classes, classes) if classes is not None else ())]


def described(output: Rendered, context: str, *, classes: bool, pods: int = 0, beside: int = 0) -> str:
    """Return the line that says what was compared. classes: whether RuntimeClasses were. pods: how many were judged.

    beside: policies of the manifest whose workloads only the cluster has.
    """
    count = len(output.workloads)
    parts = [
        f"{count} workload{'' if count == 1 else 's'}{f' and {pods} pod' if pods else ''}{'s' if pods > 1 else ''}"
    ]
    parts += [
        f"manifest {_short_digest(str(manifest_of(value)))}{', which no host applies' if _is_local(value) else ''}"
        for value in output.manifests.values()
    ]
    if beside:
        parts.append(f"{beside} of whose policies belong to workloads that the cluster alone has")
    if classes:
        known = output.classes.keys() >= {one.runtime_class for one in output.workloads}
        parts.append("their RuntimeClasses" if known else "that their RuntimeClasses admit them")
    return f"compared with the cluster of context {context}: {', '.join(parts)}\n"


def sealed_in_the_cluster(objects: Iterable[Any], kinds: Kinds) -> set[str]:
    """Return the digests of the policies of all Contrast workloads among some objects of a cluster.

    What a controller made of one of them is none of its own: an old ReplicaSet has the policy of an earlier render.
    """
    every = list(objects)
    by_owner = known_controllers(every, kinds)
    own = [value for value in every if not controllers(value, by_owner)]
    return {sealed_digest(workload) for value in own for workload in select(value, kinds=kinds).workloads} - {""}


def _is_local(value: Any) -> bool:
    """Tell whether an object is a file of a package, which no host applies (docs/facts/krm-functions.md)."""
    return dig(value, ("metadata", "annotations", LOCAL_CONFIG)) not in (None, "false")


def _short_digest(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()[:SHORT]


def _workload(workload: Workload, value: Any, references: References, others: Host) -> list[Finding]:
    """Compare one workload with the one in the cluster, of the same kind and name. others: who applies the others."""
    ref, wanted_class = workload.ref, workload.runtime_class
    if value is None:
        return [finding("CC1120.absent", ref, apply=APPLY[others])]
    there = Workload(value, (), ref, workload.template, made_by=workload.made_by)
    host = applied_by(value)
    repair = REPAIR[host]
    if not there.runtime_class:
        return [finding("CC1120.no-class", ref, wanted=wanted_class, repair=repair)]
    if there.runtime_class != wanted_class:
        return [finding("CC1120.class", ref, found=there.runtime_class, wanted=wanted_class, repair=repair)]
    ours, theirs = (one.annotations.get(INITDATA) for one in (workload, there))
    try:
        wanted = from_annotation(str(ours))
        if theirs is None:
            return [finding("CC1120.no-policy", ref, wanted=digest(wanted)[:SHORT], repair=repair)]
        found = from_annotation(str(theirs))
        if wanted == found:
            return _changed(workload, there, digest(wanted)[:SHORT], references, repair)
        data = [read_policy_data(decode_toml(toml).data[POLICY]) for toml in (wanted, found)]
        fields = ", ".join(differing_fields(data[0], data[1])) or "what is not in its containers"
    except (ValueError, KeyError):
        return [finding("CC1120.unreadable", ref, repair=repair)]
    digests = [digest(toml)[:SHORT] for toml in (wanted, found)]
    return [finding("CC1120.policy", ref, wanted=digests[0], found=digests[1], fields=fields, apply=APPLY[host])]


def _changed(ours: Workload, there: Workload, wanted: str, references: References, repair: str) -> list[Finding]:
    """Return what was changed in a pod that still has this output's policy, as one finding; and what else is wrong.

    Its own policy shows what somebody added. Only this output shows what was taken away, and other numbers of vCPUs.
    """
    checked = check_workload(there, references)
    fields = list(checked.moved)
    if not fields and (paths := changed_fields(_template(ours), _template(there))):
        fields = [paths_text(paths)]
    counts = [vcpus(one) for one in (ours, there)]
    if counts[0] != counts[1] and all(isinstance(count, int) for count in counts):
        fields.append(f"its vCPUs, {counts[1]} in place of {counts[0]}")
    others = [found for found in checked.findings if found.code != PODS]
    if not fields:
        return others
    writer = last_writer(there.object)
    variant = "CC1120.pod-by" if writer else "CC1120.pod"
    said = finding(variant, there.ref, wanted=wanted, fields=", ".join(fields), repair=repair, writer=writer)
    return [said, *others]


def _template(workload: Workload) -> Any:
    """Return the pod template without its initdata, which is compared by what is packed in it."""
    metadata = {**workload.pod_metadata, "annotations": {**workload.annotations, INITDATA: ""}}
    return {"metadata": metadata, "spec": workload.pod_spec}


def _manifest(ref: Ref, ours: str, value: Any, others: Host) -> Iterator[Finding]:
    if value is None:
        yield finding("CC1120.absent", ref, apply=APPLY[others])
    elif (theirs := manifest_of(value) or "") != ours:
        wanted, found = _short_digest(ours), _short_digest(theirs)
        fields = manifest_difference(ours, theirs)
        apply = APPLY[applied_by(value)]
        yield finding("CC1120.manifest", ref, wanted=wanted, found=found, fields=fields, apply=apply)


def _beside(
    output: Rendered, objects: Sequence[Any], pods: RunningPods, differing: Collection[Ref]
) -> Iterator[Finding]:
    """Yield Contrast workloads of the namespaces that belong neither to this output nor to another release.

    A workload is of another release if its policy stands in a manifest: one of the cluster, or one that this output has
    as its base. Policies that this output seals do not count, they are of no other release. What a controller made of a
    workload that is there is no workload of its own, whatever policy it has: of this render, or of an earlier one.
    differing: workloads with a finding already, which is about all that their controllers made, too.
    """
    texts = [manifest_of(value) for value in (*objects, *output.manifests.values())]
    known = {digest for text in texts if text is not None for digest in _policies(text)}
    known -= set(map(sealed_digest, output.workloads))
    for value, copy in zip(objects, copies(objects, output.kinds, pods.known), strict=True):
        if dig(value, ("metadata", "deletionTimestamp")) is not None or copy is not None:
            continue
        owners = controllers(value, pods.known)
        if owners and (reference(value).kind == "Pod" or reference(owners[-1]) in differing):
            continue
        for workload in select(value, kinds=output.kinds).workloads:
            if workload.ref.whole not in output.refs and sealed_digest(workload) not in known:
                yield finding("CC1120.unknown", workload.ref, found=workload.runtime_class)


def _policies(text: str) -> Iterable[str]:
    try:
        return list(mapping(decode(text.encode("utf-8")).get("Policies")))
    except ManifestError:
        return ()
