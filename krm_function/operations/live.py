"""Compare the workloads, the manifest and the RuntimeClasses of rendered output with a cluster's."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal

from krm_function.check.drift import compare_policies
from krm_function.check.output import describe_difference, format_paths
from krm_function.check.pods import check_workload
from krm_function.check.running_pods import RunningPods, compare_vcpus, find_last_writer, read_sealed_digest
from krm_function.config.references import References
from krm_function.contrast.manifest import ManifestError, decode
from krm_function.contrast.platforms import Platform, is_contrast_name, parse_runtime_class
from krm_function.findings import Finding, Path, Ref, finding
from krm_function.kubernetes.objects import dig, listed, mapping, reference
from krm_function.kubernetes.pod_kinds import SHIPPED, Kinds
from krm_function.kubernetes.quantity import equal
from krm_function.kubernetes.runtime_classes import (
    API_VERSION,
    KIND,
    RuntimeClass,
    parse_runtime_class_object,
    toleration_parts,
)
from krm_function.kubernetes.workload import INITDATA, LOCAL_CONFIG, Workload
from krm_function.policy.initdata import POLICY, decode_toml, digest, from_annotation, read_policy_data
from krm_function.record import NamedTuple
from krm_function.render.classes import check_daemon_set, schedule
from krm_function.render.copies import find_copies, find_owners, find_retirement, index_controllers
from krm_function.render.make_manifest import read_emitted_manifest
from krm_function.render.select import select
from krm_function.render.unsealed import check_handler
from krm_function.text.changes import ABSENT, Alike, differing_paths

# --- Tell by the marks of an object in a cluster who applies it, since that decides how to repair it
#
# Rule: only marks of the host itself count, in the order of this table; marks that a chart or a package may write do
# not. Sources: docs/facts/helm.md#objects, docs/facts/delivery.md#marks-of-hosts-in-objects.
#
#     the live object has                                              it is applied by
#     annotation argocd.argoproj.io/tracking-id                        gitops
#     label kustomize.toolkit.fluxcd.io/name or helm.toolkit.…/name    gitops
#     annotation config.k8s.io/owning-inventory                        kpt
#     annotation meta.helm.sh/release-name                             helm
#     none of these                                                    kubectl


Host = Literal["kubectl", "helm", "kpt", "gitops"]

MARKS: tuple[tuple[str, str, Host], ...] = (
    ("annotations", "argocd.argoproj.io/tracking-id", "gitops"),
    ("labels", "kustomize.toolkit.fluxcd.io/name", "gitops"),
    ("labels", "helm.toolkit.fluxcd.io/name", "gitops"),
    ("annotations", "config.k8s.io/owning-inventory", "kpt"),
    ("annotations", "meta.helm.sh/release-name", "helm"),
)


def applied_by(live: Any) -> Host:
    """Return who applies an object. live: as the cluster has it."""
    return next((host for field, key, host in MARKS if dig(live, ("metadata", field, key)) is not None), "kubectl")


def applied_together(objects: Iterable[Any]) -> Host:
    """Return who applies an object that is not there yet: the host of the first object with a mark."""
    return next((host for host in map(applied_by, objects) if host != "kubectl"), "kubectl")


# --- Name the fields of an object that differ or are missing in a cluster; additions there are ignored
#
# Rule: everything that the API server writes by itself is an addition, so this needs no list of defaults. An empty or
# false field may be missing there, and amounts are compared by value: the server writes 1024Mi as 1Gi.


AMOUNTS: dict[Path, Alike] = {
    **{("**", name, "*"): equal for name in ("limits", "requests")},
    **{("**", name): equal for name in ("sizeLimit", "divisor")},
}


def changed_fields(ours: Any, theirs: Any) -> list[Path]:
    """Return the deepest paths of ours at which theirs differs; a list of another length counts as a whole."""
    return differing_paths(ours, theirs, AMOUNTS, pairs=lambda first, second: len(first) == len(second), equal=_is_kept)


def _is_kept(ours: Any, theirs: Any) -> bool:
    if ours is ABSENT or (not ours and theirs in (None, ABSENT)):
        return True
    return not isinstance(ours, dict | list) and type(ours) is type(theirs) and bool(ours == theirs)


# --- Compare the RuntimeClasses of a cluster with those of a render, and check the pods as admission will
#
# Rule: pure. The API server merges the cluster's class into every pod, regardless of the configuration, and an
# administrator may have patched it.


def differing_classes(
    workloads: Iterable[Workload], rendered: Mapping[str, RuntimeClass], live: Mapping[str, Any]
) -> Iterator[Finding]:
    """Return the findings about the classes that some workloads name. rendered: from the render, if known.

    live: the objects of the cluster by name.
    """
    for name, users in _group_by_class(workloads).items():
        ref, value = _class_ref(name), live.get(name)
        if value is None:
            yield finding("CC1120.no-runtime-class", ref, names=_addresses(users))
            continue
        yield from check_handler(ref, (), value)
        live_class = parse_runtime_class_object(value).runtime_class
        if name in rendered and (fields := differing_class_fields(rendered[name], live_class)):
            yield finding("CC1120.runtime-class", ref, fields=", ".join(fields))
        for workload in users:
            yield from _check_admission(workload, live_class)


def differing_planned_classes(
    plan: Sequence[Workload], live: Mapping[str, Any], applied: Collection[str]
) -> tuple[dict[str, RuntimeClass], list[Finding]]:
    """Return the classes of a cluster that admission will use, by name, and the problems with them.

    applied: names of the deployment's own classes.
    """
    classes: dict[str, RuntimeClass] = {}
    findings: list[Finding] = []
    workloads = [workload for workload in plan if not workload.skipped]
    for name, users in _group_by_class(workloads).items():
        if name in applied:
            continue
        ref, value = _class_ref(name), live.get(name)
        if value is None:
            findings.append(finding("CC0319.absent", ref, names=_addresses(users)))
            continue
        live_class = classes[name] = parse_runtime_class_object(value).runtime_class
        planned = users[0].scheduled
        fields = differing_class_fields(planned, live_class) if planned is not None else []
        if fields:
            findings.append(finding("CC0319.differs", ref, fields=", ".join(fields)))
        if fields or planned is None:
            findings += [problem for workload in users for problem in _check_admission(workload, live_class)]
    return classes, findings


def differing_class_fields(first: RuntimeClass, second: RuntimeClass) -> list[str]:
    """Return the fields by which two classes differ for admission, such as `scheduling.nodeSelector`.

    No difference: `250m` and `0.25`, an absent map and an empty one, tolerations in another order, an operator that is
    absent and `Equal`.
    """
    fields = [_as_admission_reads(runtime_class) for runtime_class in (first, second)]
    paths = differing_paths(fields[0], fields[1], {("overhead.podFixed", "*"): equal})
    return list(dict.fromkeys(str(path[0]) for path in paths))


def _as_admission_reads(cls: RuntimeClass) -> dict[str, Any]:
    tolerations = map(toleration_parts, cls.tolerations)
    return {
        "handler": cls.handler,
        "overhead.podFixed": dict(cls.overhead),
        "scheduling.nodeSelector": dict(cls.node_selector),
        "scheduling.tolerations": {(key, operator or "Equal", *rest) for key, operator, *rest in tolerations},
    }


def _check_admission(workload: Workload, cls: RuntimeClass) -> Iterator[Finding]:
    yield from (*schedule(workload, cls).findings, *check_daemon_set(workload, cls))


def _group_by_class(workloads: Iterable[Workload]) -> dict[str, list[Workload]]:
    users: dict[str, list[Workload]] = {}
    for workload in workloads:
        if is_contrast_name(workload.runtime_class):
            users.setdefault(workload.runtime_class, []).append(workload)
    return dict(sorted(users.items()))


def _class_ref(name: str) -> Ref:
    return Ref(API_VERSION, KIND, "", name)


def _addresses(workloads: Iterable[Workload]) -> str:
    return listed([f"{workload.ref.kind}/{workload.ref.name}" for workload in workloads])


# --- Find pods of an earlier render that a cluster still has, and workloads that would make some
#
# Rule: pure; ended pods and jobs do not count, nor does a ReplicaSet that makes no pods. An unreadable initdata counts
# as left.


def earlier(objects: Iterable[Any], old: Collection[str], classes: Collection[str]) -> list[Ref]:
    """Return the objects that have an old policy, or a class of Contrast's that this render does not have.

    old: digests. classes: names of the RuntimeClasses of this render.
    """
    out = []
    for value in objects:
        ref = reference(value)
        templates = [dig(value, path) for path in SHIPPED.paths(ref, value)]
        if not _has_ended(value) and any(_is_earlier(template, old, classes) for template in templates):
            out.append(ref)
    return out


def _is_earlier(template: Any, old: Collection[str], classes: Collection[str]) -> bool:
    name = str(dig(template, ("spec", "runtimeClassName")) or "")
    if isinstance(parse_runtime_class(name), Platform) and name not in classes:
        return True
    value = dig(template, ("metadata", "annotations", INITDATA))
    if not isinstance(value, str):
        return False
    try:
        return digest(from_annotation(value)) in old
    except ValueError:
        return True


def _has_ended(value: Any) -> bool:
    """Tell whether an object runs no pod: by its status, or as a ReplicaSet that also has none left."""
    retired = find_retirement(value)
    return retired == "status" or (retired == "spec" and not dig(value, ("status", "replicas")))


# --- Compare the Contrast workloads, the manifest and the RuntimeClasses of rendered output with those of a cluster
#
# Rule: pure; the objects of the cluster come in as plain data. Policies are compared by their digests; if these differ,
# the fields are named and no value is shown. Other objects of the cluster count only if Contrast runs them and no
# manifest has their policy, so that another release is not a difference.


SHORT = 16  # digits of a digest in a sentence
PODS = "CC1103"  # a field of a pod is not as its policy describes

# the hints of CC1120 by who applies an object: how a missing object gets there
APPLY = {
    "kubectl": "apply this output",
    "helm": "run helm upgrade with this chart and these values, in Helm 4 with --force-conflicts",
    "kpt": "run kpt live apply",
    "gitops": "commit this output, and let Argo CD or Flux sync it",
}
# ... and how to undo a change without stopping a running service
REPAIR = {
    "kubectl": ("restore this output with kubectl apply; remove additions with kubectl rollout undo or kubectl edit"),
    "helm": (
        "restore the chart with helm upgrade, in Helm 4 with --force-conflicts; remove additions with kubectl rollout"
        " undo; do not use kubectl replace, after which a Helm 4 release cannot be upgraded"
    ),
    "kpt": "restore the package with kpt live apply; remove additions with kubectl rollout undo",
    "gitops": (
        "commit this output, and let Argo CD or Flux sync it; remove additions with kubectl rollout undo, and do not"
        " apply anything by hand"
    ),
}


class Rendered(NamedTuple):
    """The parts of rendered output. manifests: its objects that carry one. classes: from the render, by name.

    kinds: those with pod templates.
    """

    workloads: Sequence[Workload]
    manifests: Mapping[Ref, Any]
    classes: Mapping[str, RuntimeClass]
    kinds: Kinds = SHIPPED

    @property
    def namespaces(self) -> list[str]:
        """The namespaces of the workloads and manifests in the cluster; `default` if no object names one."""
        refs = [*(workload.ref for workload in self.workloads), *self.manifests]
        return sorted({ref.namespace for ref in refs if ref.namespace}) or ["default"]

    @property
    def refs(self) -> frozenset[Ref]:
        """The possible references of its workloads and manifests in the cluster."""
        refs = (*(workload.ref for workload in self.workloads), *self.manifests)
        return frozenset(possible for ref in refs for possible in self.placed(ref))

    def placed(self, ref: Ref) -> list[Ref]:
        """Return the possible references of an object in the cluster: without a namespace, one in each."""
        names = [ref.namespace] if ref.namespace else self.namespaces
        return [ref._replace(namespace=name, part="") for name in names]

    def is_unlisted(self, ref: Ref, pods: RunningPods) -> bool:
        """Tell whether the cluster does not show where an object may be."""
        return any((place.kind, place.namespace) in pods.unlisted for place in self.placed(ref))


def compare_live(
    output: Rendered,
    objects: Sequence[Any],
    classes: Mapping[str, Any] | None,
    references: References,
    pods: RunningPods,
) -> list[Finding]:
    """Return a finding for each difference.

    objects: all workloads and ConfigMaps of the namespaces. pods: has taken their pods. classes: the RuntimeClass
    objects by name; None: unknown.
    """
    live = {reference(value): value for value in objects} | dict(pods.bare)

    def there(ref: Ref) -> Any:
        return next((live[place] for place in output.placed(ref) if place in live), None)

    host = applied_together(value for value in map(there, output.refs) if value is not None)
    findings: list[Finding] = []
    for workload in output.workloads:
        value = there(workload.ref)
        if value is not None or not (_is_local(workload.object) or output.is_unlisted(workload.ref, pods)):
            findings += _compare_workload(workload, value, references, host)
    for ref, value in output.manifests.items():
        if (copy := there(ref)) is not None or not (_is_local(value) or output.is_unlisted(ref, pods)):
            findings += _compare_manifest(ref, str(read_emitted_manifest(value)), copy, host)
    differing = {ref for problem in findings if problem.ref is not None for ref in output.placed(problem.ref)}
    findings += _find_unknown(output, [*objects, *pods.strays.values()], pods, differing)
    reported = {ref for problem in findings if problem.ref is not None for ref in output.placed(problem.ref)}
    findings += pods.findings(output.refs, reported)
    return [*findings, *(differing_classes(output.workloads, output.classes, classes) if classes is not None else ())]


def described(output: Rendered, context: str, *, classes: bool, pods: int = 0, beside: int = 0) -> str:
    """Return the line on what was compared. classes: whether RuntimeClasses were. pods: how many were judged.

    beside: policies of the manifest whose workloads only the cluster has.
    """
    count = len(output.workloads)
    and_pods = f" and {pods} pod{'s' if pods > 1 else ''}" if pods else ""
    parts = [f"{count} workload{'' if count == 1 else 's'}{and_pods}"]
    for value in output.manifests.values():
        local = ", which no host applies" if _is_local(value) else ""
        parts.append(f"manifest {_short_digest(str(read_emitted_manifest(value)))}{local}")
    if beside:
        parts.append(f"{beside} of whose policies belong to workloads that the cluster alone has")
    if classes:
        has_all = output.classes.keys() >= {workload.runtime_class for workload in output.workloads}
        parts.append("their RuntimeClasses" if has_all else "that their RuntimeClasses admit them")
    return f"compared with the cluster of context {context}: {', '.join(parts)}\n"


def sealed_in_the_cluster(objects: Iterable[Any], kinds: Kinds) -> set[str]:
    """Return the digests of the policies of all Contrast workloads among some objects of a cluster.

    Objects that a controller made do not count: an old ReplicaSet has the policy of an earlier render.
    """
    values = list(objects)
    by_owner = index_controllers(values, kinds)
    owners = [value for value in values if not find_owners(value, by_owner)]
    digests = {read_sealed_digest(workload) for value in owners for workload in select(value, kinds=kinds).workloads}
    return digests - {""}


def _is_local(value: Any) -> bool:
    """Tell whether an object is a file of a package, which hosts do not apply (docs/facts/krm-functions.md)."""
    return dig(value, ("metadata", "annotations", LOCAL_CONFIG)) not in (None, "false")


def _short_digest(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()[:SHORT]


def _compare_workload(workload: Workload, value: Any, references: References, other_host: Host) -> list[Finding]:
    ref, wanted_class = workload.ref, workload.runtime_class
    if value is None:
        return [finding("CC1120.absent", ref, apply=APPLY[other_host])]
    live = Workload(value, (), ref, workload.template, made_by=workload.made_by)
    host = applied_by(value)
    repair = REPAIR[host]
    if not live.runtime_class:
        return [finding("CC1120.no-class", ref, wanted=wanted_class, repair=repair)]
    if live.runtime_class != wanted_class:
        return [finding("CC1120.class", ref, found=live.runtime_class, wanted=wanted_class, repair=repair)]
    ours, theirs = (side.annotations.get(INITDATA) for side in (workload, live))
    try:
        ours_toml = from_annotation(str(ours))
        if theirs is None:
            return [finding("CC1120.no-policy", ref, wanted=digest(ours_toml)[:SHORT], repair=repair)]
        theirs_toml = from_annotation(str(theirs))
        if ours_toml == theirs_toml:
            return _compare_pods(workload, live, digest(ours_toml)[:SHORT], references, repair)
        data = [read_policy_data(decode_toml(toml).data[POLICY]) for toml in (ours_toml, theirs_toml)]
        fields = ", ".join(compare_policies(data[0], data[1])) or "parts outside of its containers"
    except (ValueError, KeyError):
        return [finding("CC1120.unreadable", ref, repair=repair)]
    digests = [digest(toml)[:SHORT] for toml in (ours_toml, theirs_toml)]
    return [finding("CC1120.policy", ref, wanted=digests[0], found=digests[1], fields=fields, apply=APPLY[host])]


def _compare_pods(ours: Workload, live: Workload, policy: str, references: References, repair: str) -> list[Finding]:
    """Return the changes to a pod that still has this output's policy, as one finding; and the other problems.

    Its own policy shows additions. Only this output shows removals, and another number of vCPUs.
    """
    checked = check_workload(live, references)
    fields = list(checked.changed)
    if not fields and (paths := changed_fields(_mask_initdata(ours), _mask_initdata(live))):
        fields = [format_paths(paths)]
    fields += compare_vcpus(ours, live)
    problems = [problem for problem in checked.findings if problem.code != PODS]
    if not fields:
        return problems
    writer = find_last_writer(live.object)
    variant = "CC1120.pod-by" if writer else "CC1120.pod"
    change = finding(variant, live.ref, wanted=policy, fields=", ".join(fields), repair=repair, writer=writer)
    return [change, *problems]


def _mask_initdata(workload: Workload) -> Any:
    """Return the pod template without its initdata, whose content is compared apart."""
    metadata = {**workload.pod_metadata, "annotations": {**workload.annotations, INITDATA: ""}}
    return {"metadata": metadata, "spec": workload.pod_spec}


def _compare_manifest(ref: Ref, ours: str, value: Any, host: Host) -> Iterator[Finding]:
    if value is None:
        yield finding("CC1120.absent", ref, apply=APPLY[host])
    elif (theirs := read_emitted_manifest(value) or "") != ours:
        our_digest, their_digest = _short_digest(ours), _short_digest(theirs)
        fields = describe_difference(ours, theirs)
        apply = APPLY[applied_by(value)]
        yield finding("CC1120.manifest", ref, wanted=our_digest, found=their_digest, fields=fields, apply=apply)


def _find_unknown(
    output: Rendered, objects: Sequence[Any], pods: RunningPods, differing: Collection[Ref]
) -> Iterator[Finding]:
    """Yield Contrast workloads of the namespaces that belong neither to this output nor to another release.

    A workload is of another release if its policy is in a manifest: one of the cluster, or the base of this output.
    Policies that this output seals do not count as another release's. An object that the controller of an existing
    workload made is not a workload of its own, whatever policy it has: of this render, or of an earlier one. differing:
    workloads that have a finding already, which covers the objects of their controllers, too. Without the right to list
    ConfigMaps, no policy is known to be of another release.
    """
    if any(kind == "ConfigMap" for kind, _ in pods.unlisted):
        return
    texts = [read_emitted_manifest(value) for value in (*objects, *output.manifests.values())]
    elsewhere = {digest for text in texts if text is not None for digest in _read_digests(text)}
    elsewhere -= set(map(read_sealed_digest, output.workloads))
    for value, copy in zip(objects, find_copies(objects, output.kinds, pods.controllers), strict=True):
        if dig(value, ("metadata", "deletionTimestamp")) is not None or copy is not None or pods.is_of_unlisted(value):
            continue
        owners = find_owners(value, pods.controllers)
        if owners and (reference(value).kind == "Pod" or reference(owners[-1]) in differing):
            continue
        for workload in select(value, kinds=output.kinds).workloads:
            if workload.ref.whole not in output.refs and read_sealed_digest(workload) not in elsewhere:
                yield finding("CC1120.unknown", workload.ref, found=workload.runtime_class)


def _read_digests(text: str) -> Iterable[str]:
    try:
        return list(mapping(decode(text.encode("utf-8")).get("Policies")))
    except ManifestError:
        return ()
