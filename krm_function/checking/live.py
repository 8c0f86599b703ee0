"""Compare the Contrast workloads, the manifest and the RuntimeClasses of rendered output with those of a cluster.

Rule of this file: pure; the objects of the cluster come in as plain data. Policies are compared by their digests, and
where these differ, the fields are named; no value is shown. What the cluster has beside this output counts only if
Contrast runs it and no manifest knows it, so that another release beside this one is no difference.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from krm_function.checking.changed_fields import changed_fields
from krm_function.checking.drift import differing_fields
from krm_function.checking.live_classes import differing_classes
from krm_function.checking.manifests import manifest_difference
from krm_function.checking.paths_text import paths_text
from krm_function.checking.seal_checks import check_workload
from krm_function.findings import Finding, Ref, finding
from krm_function.input_checks.copies import controllers, copies, known_controllers
from krm_function.manifest import ManifestError, decode
from krm_function.model.cpu_limits import vcpus
from krm_function.model.lookup import dig, mapping
from krm_function.model.objects import reference
from krm_function.model.runtime_class_objects import RuntimeClass
from krm_function.model.workload import INITDATA, Workload
from krm_function.policy import References, decode_toml, digest, from_annotation, read_policy_data
from krm_function.policy.initdata import POLICY
from krm_function.record import NamedTuple
from krm_function.stages.manifest_config_map import manifest_of
from krm_function.stages.select import select

SHORT = 16  # digits of a digest in a sentence
PODS = "CC1103"  # a field of a pod is not as its policy describes


class Rendered(NamedTuple):
    """What rendered output has. manifests: its objects that carry one. classes: as the render made them, by name."""

    workloads: Sequence[Workload]
    manifests: Mapping[Ref, Any]
    classes: Mapping[str, RuntimeClass]

    @property
    def namespaces(self) -> list[str]:
        """Where the cluster has the workloads and manifests; `default` if no object names one."""
        refs = [*(one.ref for one in self.workloads), *self.manifests]
        return sorted({ref.namespace for ref in refs if ref.namespace}) or ["default"]

    def placed(self, ref: Ref) -> list[Ref]:
        """Return what an object of the output may be in the cluster: without a namespace, it may be in each."""
        return [ref._replace(namespace=name) for name in ([ref.namespace] if ref.namespace else self.namespaces)]


def compare_live(
    output: Rendered, objects: Sequence[Any], classes: Mapping[str, Any] | None, references: References
) -> list[Finding]:
    """Return a finding for each difference.

    objects: all workloads and ConfigMaps of the namespaces. classes: the RuntimeClass objects by name; None: unknown.
    """
    live = {reference(value): value for value in objects}

    def there(ref: Ref) -> Any:
        return next((live[one] for one in output.placed(ref) if one in live), None)

    findings: list[Finding] = []
    for workload in output.workloads:
        findings += _workload(workload, there(workload.ref), references)
    for ref, value in output.manifests.items():
        findings += _manifest(ref, str(manifest_of(value)), there(ref))
    findings += _beside(output, objects, {found.ref for found in findings})
    return [*findings, *(differing_classes(output.workloads, output.classes, classes) if classes is not None else ())]


def described(output: Rendered, context: str, *, classes: bool) -> str:
    """Return the line that says what was compared. classes: whether RuntimeClasses were."""
    count = len(output.workloads)
    parts = [f"{count} workload{'' if count == 1 else 's'}"]
    parts += [f"manifest {_short_digest(str(manifest_of(value)))}" for value in output.manifests.values()]
    if classes:
        known = output.classes.keys() >= {one.runtime_class for one in output.workloads}
        parts.append("their RuntimeClasses" if known else "that their RuntimeClasses admit them")
    return f"compared with the cluster of context {context}: {', '.join(parts)}\n"


def _short_digest(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()[:SHORT]


def _workload(workload: Workload, value: Any, references: References) -> list[Finding]:
    """Compare one workload with the one in the cluster, of the same kind and name."""
    ref, wanted_class = workload.ref, workload.runtime_class
    if value is None:
        return [finding("CC1120.absent", ref)]
    there = Workload(value, (), ref, workload.template)
    if not there.runtime_class:
        return [finding("CC1120.no-class", ref, wanted=wanted_class)]
    if there.runtime_class != wanted_class:
        return [finding("CC1120.class", ref, found=there.runtime_class, wanted=wanted_class)]
    ours, theirs = (one.annotations.get(INITDATA) for one in (workload, there))
    try:
        wanted = from_annotation(str(ours))
        if theirs is None:
            return [finding("CC1120.no-policy", ref, wanted=digest(wanted)[:SHORT])]
        found = from_annotation(str(theirs))
        if wanted == found:
            return _changed(workload, there, digest(wanted)[:SHORT], references)
        data = [read_policy_data(decode_toml(toml).data[POLICY]) for toml in (wanted, found)]
        fields = ", ".join(differing_fields(data[0], data[1])) or "what is not in its containers"
    except (ValueError, KeyError):
        return [finding("CC1120.unreadable", ref)]
    return [finding("CC1120.policy", ref, wanted=digest(wanted)[:SHORT], found=digest(found)[:SHORT], fields=fields)]


def _changed(ours: Workload, there: Workload, wanted: str, references: References) -> list[Finding]:
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
    return [finding("CC1120.pod", there.ref, wanted=wanted, fields=", ".join(fields)), *others] if fields else others


def _template(workload: Workload) -> Any:
    """Return the pod template without its initdata, which is compared by what is packed in it."""
    metadata = {**workload.pod_metadata, "annotations": {**workload.annotations, INITDATA: ""}}
    return {"metadata": metadata, "spec": workload.pod_spec}


def _manifest(ref: Ref, ours: str, value: Any) -> Iterator[Finding]:
    if value is None:
        yield finding("CC1120.absent", ref)
    elif (theirs := manifest_of(value) or "") != ours:
        wanted, found = _short_digest(ours), _short_digest(theirs)
        fields = manifest_difference(ours, theirs)
        yield finding("CC1120.manifest", ref, wanted=wanted, found=found, fields=fields)


def _beside(output: Rendered, objects: Sequence[Any], differing: Collection[Ref | None]) -> Iterator[Finding]:
    """Yield Contrast workloads of the namespaces that belong neither to this output nor to another release.

    A workload is of another release if its policy stands in a manifest: one of the cluster, or one that this output has
    as its base. Policies that this output seals do not count, they are of no other release. differing: workloads with a
    finding already, which is about all that their controllers made, too.
    """
    ours = {ref for one in output.workloads for ref in output.placed(one.ref)}
    texts = [manifest_of(value) for value in (*objects, *output.manifests.values())]
    known = {digest for text in texts if text is not None for digest in _policies(text)}
    known -= set(map(_digest, output.workloads))
    by_owner = known_controllers(objects)
    reported = {one for ref in differing if ref is not None for one in output.placed(ref)}
    for value, copy in zip(objects, copies(objects), strict=True):
        if dig(value, ("metadata", "deletionTimestamp")) is not None or copy is not None:
            continue
        owners = controllers(value, by_owner)
        if owners and reference(owners[-1]) in reported:
            continue
        for workload in select(value).workloads:
            if workload.ref not in ours and _digest(workload) not in known:
                yield finding("CC1120.unknown", workload.ref, found=workload.runtime_class)


def _policies(text: str) -> Iterable[str]:
    try:
        return list(mapping(decode(text.encode("utf-8")).get("Policies")))
    except ManifestError:
        return ()


def _digest(workload: Workload) -> str:
    try:
        return digest(from_annotation(str(workload.annotations.get(INITDATA))))
    except ValueError:
        return ""
