"""The verdict on rendered output, readable aloud: read -> select -> tripwire -> pods -> manifest -> render again.

Rule of this file: it only calls stages and hands each what the one before it said; nothing is restored or edited, as
the verdict is about the bytes that will be applied. What it asks is what `contrast set` and `contrast verify` will ask
(contrast.md 9). Without configuration it reads back what the policies say; with one it renders again and compares.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.api.kinds import Config
from krm_function.findings import Finding, Ref, finding, has_errors
from krm_function.manifest import ManifestError, decode, rtmr0_values, validate
from krm_function.model.kinds import KINDS
from krm_function.model.located import placed, yaml_finding
from krm_function.model.objects import objects, reference
from krm_function.model.platforms import Platform
from krm_function.model.resource import Resource
from krm_function.model.runtime_class import RuntimeClass
from krm_function.model.runtime_class import parse as parse_class
from krm_function.model.vcpus import vcpus
from krm_function.model.workload import INITDATA, POD_ROLE, Workload, mapping, maps
from krm_function.pipeline import render
from krm_function.policy import References, decode_toml, describe, from_annotation
from krm_function.policy.drift import compare
from krm_function.record import NamedTuple
from krm_function.stages.check import (
    Checked,
    Sealed,
    check_classes,
    check_manifest,
    check_workload,
    stale,
    unwatched,
)
from krm_function.stages.manifest import RTMR0_PLATFORM, manifest_of
from krm_function.stages.measure import ID_BLOCK_KEYS, KATA, id_blocks, measure
from krm_function.stages.schedule import schedule
from krm_function.stages.select import select
from krm_function.stages.verify import rendered as admissible
from krm_function.yamltext import Document, YamlError, parse

LOOKED_AT = frozenset((*KINDS, "List", "RuntimeClass", "ConfigMap", "Secret"))
CONTRAST = "contrast"  # every name by which a pod can ask for Contrast has this in it, but for LEGACY
LEGACY = "kata-cc-isolation"
IN_THE_INPUT = "the input"


class Verdict(NamedTuple):
    """What there is to say, and how many Contrast workloads were looked at."""

    findings: tuple[Finding, ...] = ()
    workloads: int = 0


class ManifestFile(NamedTuple):
    """A manifest that does not stand in the output."""

    name: str
    data: bytes


class Pod(NamedTuple):
    """One workload, where it stands, and what was read back from its policy."""

    resource: Resource
    document: Document
    workload: Workload
    checked: Checked
    vcpus: int  # 0: they cannot be told


def verdict(resources: Sequence[Resource], file: ManifestFile | None = None, config: Config | None = None) -> Verdict:
    """Check rendered output. file: its manifest, if it has one outside; config: to render again under, and compare."""
    findings: list[Finding] = []
    documents: list[tuple[Resource, Document]] = []
    for resource in resources:
        if resource.kind not in LOOKED_AT and not _asks(resource.text.lower()):
            continue
        try:
            documents.append((resource, parse(resource.text, line=resource.line)))
        except YamlError as problem:
            findings.append(yaml_finding(problem, resource.file))
    values = [value for _, document in documents for _, value in objects(document.value)]
    data, problems = _manifest(file, values)
    findings += problems
    if has_errors(findings):
        return Verdict(tuple(findings), sum(len(select(document.value).workloads) for _, document in documents))
    classes = {
        reference(value).name: parse_class(value).runtime_class
        for value in values
        if reference(value).kind == "RuntimeClass" and reference(value).name.startswith("contrast-cc")
    }
    pods: list[Pod] = []
    references = References(values)
    for resource, document in documents:
        made, problems = _pods(resource, document, references)
        pods += made
        findings += problems
    manifest = None if data is None else mapping(data)
    for pod in pods:
        said = (*pod.checked.findings, *_pod(pod, classes.get(pod.workload.runtime_class), manifest))
        findings += [placed(found, pod.resource, pod.document) for found in said]
    findings += check_classes([pod.workload for pod in pods], list(classes))
    findings += _against(manifest, pods)
    if not has_errors(findings):
        findings += _differ(file, values)
    if config is not None and not has_errors(findings):
        findings += _again(resources, config, pods, values, manifest)
    return Verdict(tuple(dict.fromkeys(findings)), len(pods))


def _asks(folded: str) -> bool:
    """Whether a text may hold a name of Contrast's; folded: in lower case."""
    return CONTRAST in folded or LEGACY in folded


def _manifest(file: ManifestFile | None, values: Sequence[Any]) -> tuple[Mapping[str, Any] | None, list[Finding]]:
    """The manifest of the file, else of the output, decoded; None when there is neither."""
    data = file.data if file else next(iter(_texts(values)), None)
    if data is None:
        return None, []
    try:
        return decode(data), []
    except ManifestError as problem:
        place = file.name if file else ""
        return None, [finding("CC0702", field=place or "manifest.json", problem=str(problem), file=place)]


def _texts(values: Sequence[Any]) -> list[bytes]:
    return [text.encode("utf-8") for text in map(manifest_of, values) if text is not None]


def _differ(file: ManifestFile | None, values: Sequence[Any]) -> list[Finding]:
    """Manifests that say the same in other bytes: one of them would not verify (contrast.md 2.4)."""
    found = ([file.data] if file else []) + _texts(values)
    if len(set(found)) < 2:
        return []
    return [finding("CC1111", first=file.name if file else IN_THE_INPUT, second=IN_THE_INPUT)]


def _pods(resource: Resource, document: Document, references: References) -> tuple[list[Pod], list[Finding]]:
    """The Contrast workloads of a document, and what it says of objects that are none but ask for Contrast."""
    chosen = select(document.value)
    findings = list(chosen.findings)
    known = {skipped.ref for skipped in chosen.skipped if skipped.ref.api_version != KINDS[skipped.ref.kind][0]}
    for root, value in objects(document.value):
        ref = reference(value)
        if ref.kind not in KINDS or ref in known:
            findings += unwatched(document.value, root, ref)
    pods = []
    for workload in chosen.workloads:
        count = vcpus(workload)
        checked = check_workload(workload, references)
        pods.append(Pod(resource, document, workload, checked, count if isinstance(count, int) else 0))
    return pods, [placed(found, resource, document) for found in findings]


def _pod(pod: Pod, runtime_class: RuntimeClass | None, manifest: Mapping[str, Any] | None) -> list[Finding]:
    """Whether the cluster admits one pod, and whether its VM is the one that was measured."""
    workload, platform = pod.workload, pod.checked.platform
    if platform is None:
        return []  # a placeholder is left; nothing else is worth a word
    findings = [*admissible(workload), *schedule(workload, runtime_class).findings]
    if manifest is None or not pod.checked.digest or not pod.vcpus:
        return findings
    values = mapping(manifest.get("ReferenceValues"))
    if not any(one.get("Platform") in (platform.marker, "", None) for one in maps(values.get(platform.tee))):
        return [*findings, finding("CC0709", workload.ref, workload.spec_path, platform=platform.name)]
    measured = measure(workload, id_blocks(platform, pod.vcpus, values.get("snp") or ()))
    if measured.edits:
        findings.append(stale(workload, _measured_field(workload, platform)))
    return [*findings, *measured.findings]


def _measured_field(workload: Workload, platform: Platform) -> str:
    """Which field makes an ID block wrong, as far as it shows."""
    if platform.tee != "snp":
        return f"runtimeClassName (it has the ID block of another platform than {platform.name})"
    if not any(key.startswith(KATA + ID_BLOCK_KEYS[0]) for key in workload.annotations):
        return "the ID block is missing"
    return "the vCPU count (cpu limits) or the ID block"


def _against(manifest: Mapping[str, Any] | None, pods: Sequence[Pod]) -> list[Finding]:
    """What `contrast set` would say of the manifest, alone and beside the workloads."""
    if manifest is None:
        return [finding("CC1106")] if pods else []
    findings = [finding("CC0702", field=one.field, problem=one.problem) for one in validate(manifest)]
    sealed = {
        pod.workload.ref: Sealed(pod.checked.digest, str(pod.workload.labels.get(POD_ROLE) or "")) for pod in pods
    }
    return findings + list(check_manifest(sealed, manifest))


def _again(
    resources: Sequence[Resource],
    config: Config,
    pods: Sequence[Pod],
    values: Sequence[Any],
    manifest: Mapping[str, Any] | None,
) -> list[Finding]:
    """What a render under this configuration would seal otherwise: also what no policy can tell by itself."""
    if config.images is None and config.generate.policy.engine == "native":
        return []  # without lock there is no other render; what could be read back was read back
    findings = [found for pod in pods for found in _rtmr0(pod, config, manifest)]
    rendered = render(resources, config)
    if rendered.failed:
        return findings + [found for found in rendered.findings if found.severity == "error"]
    now = {}
    for text in rendered.texts:
        if text is not None and INITDATA in text:
            now.update({one.ref: one for one in select(parse(text).value).workloads})
    for pod in pods:
        if pod.workload.ref in now:
            moved = _moved(pod.workload, now[pod.workload.ref])
            findings += [placed(stale(pod.workload, field), pod.resource, pod.document) for field in moved]
    texts = _texts(values)
    if not findings and texts and rendered.manifest and rendered.manifest != texts[0]:
        other = mapping(decode(rendered.manifest))
        parts = [key for key in sorted({*other, *(manifest or {})}) if other.get(key) != (manifest or {}).get(key)]
        findings.append(finding("CC1113", fields=", ".join(parts) or "the same values in other bytes"))
    return findings


def _rtmr0(pod: Pod, config: Config, manifest: Mapping[str, Any] | None) -> list[Finding]:
    """Whether the manifest accepts a TDX VM of this size; only the release knows its RTMR0 (contrast.md 5.11)."""
    platform = pod.checked.platform
    if manifest is None or platform is None or platform.name != RTMR0_PLATFORM:
        return []
    facts = config.release.platforms.get(platform.name)
    wanted = facts.rtmr0_by_vcpu.get(str(pod.vcpus)) if facts else None
    if wanted is None or wanted in rtmr0_values(mapping(manifest.get("ReferenceValues"))):
        return []
    found = finding("CC1112", pod.workload.ref, pod.workload.spec_path, vcpus=pod.vcpus, platform=platform.name)
    return [placed(found, pod.resource, pod.document)]


def _moved(before: Workload, now: Workload) -> list[str]:
    """The fields by which the sealed policy differs from the one of another render; [] if they are the same."""
    policies = [_policy(workload) for workload in (before, now)]
    if policies[0] == policies[1]:
        return []
    sealed, again = policies
    return compare(describe(sealed), describe(again)) if sealed and again else ["its policy"]


def _policy(workload: Workload) -> str:
    """The policy document of a sealed pod, "" if it has none."""
    value: Ref | Any = workload.annotations.get(INITDATA)
    return decode_toml(from_annotation(value)).data.get("policy.rego", "") if isinstance(value, str) else ""
