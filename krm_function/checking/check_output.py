"""Check rendered output in this order: read -> identity -> objects -> pods -> manifest -> render again.

Rule of this file: it only calls stages and the other files of this package, in order. It checks what `contrast set`
and `contrast verify` will check. Without configuration it reads the policies back; with one it renders again and
compares.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from krm_function.admission.refusals import refusals
from krm_function.api.records import Config
from krm_function.checking.gather_pods import Pod, check_pod, pods_of
from krm_function.checking.identities import shared_identities
from krm_function.checking.manifests import ManifestFile, differing_bytes, find_manifests, manifest_problems
from krm_function.checking.parse_output import object_findings, parse_output
from krm_function.checking.running_pods import RunningPods
from krm_function.checking.seal_checks import check_classes, check_manifest
from krm_function.checking.second_render import compare_renders, not_rendered_again
from krm_function.findings import Finding, Ref, finding, has_errors
from krm_function.input_checks.applied_configuration import applied_configuration
from krm_function.input_checks.claim_modes import claim_findings
from krm_function.input_checks.coordinator_service import coordinator_service
from krm_function.input_checks.duplicates import duplicates
from krm_function.input_checks.injectors import injected_afterwards
from krm_function.input_checks.placeholders_in_text import placeholders_in_text
from krm_function.input_checks.plain_pods import none_confidential, only_the_coordinator, plain_line
from krm_function.model.lookup import dig, mapping
from krm_function.model.objects import reference
from krm_function.model.pod_kinds import SHIPPED
from krm_function.model.resource import Resource, knowing
from krm_function.model.runtime_class_names import is_contrast_name
from krm_function.model.runtime_class_objects import RuntimeClass
from krm_function.model.runtime_class_objects import parse_runtime_class_object as parse_class
from krm_function.model.sealed import SealedWorkload
from krm_function.model.workload import EMITTED
from krm_function.policy import References
from krm_function.record import NamedTuple
from krm_function.stages.select import select

NOT_COMPARED = "CC1117"  # the info that says what was not looked at


class Verdict(NamedTuple):
    """The findings, how many Contrast workloads were checked, and the pods that are none.

    beside: how many policies of the manifest belong to workloads that are known not to be in this output.
    """

    findings: tuple[Finding, ...] = ()
    workloads: int = 0
    plain: tuple[Ref, ...] = ()
    beside: int = 0

    @property
    def summary(self) -> str:
        """The summary as lines of text: how many workloads, what was not compared, and what is not confidential."""
        left_out = [f"{found.message}\n" for found in self.findings if found.code == NOT_COMPARED]
        checked = f"checked {self.workloads} Contrast workload{'' if self.workloads == 1 else 's'}\n"
        return checked + "".join(left_out) + plain_line(self.plain)


def beside_summary(findings: Sequence[Finding], form: str) -> list[Finding]:
    """Return the findings to print beside the summary, which as text already lists what was not compared."""
    return [found for found in findings if form != "text" or found.code != NOT_COMPARED]


def check_output(
    resources: Sequence[Resource],
    file: ManifestFile | None = None,
    config: Config | None = None,
    *,
    as_function: bool = False,
    elsewhere: Collection[str] = (),
) -> Verdict:
    """Check rendered output. file: its manifest, if in a file; config: to render again with; None skips that.

    as_function: the caller is a KRM function, so no hint names an option of the command line. elsewhere: digests of
    policies of workloads that are known not to be in this output.
    """
    resources = knowing(resources, config.generate.kinds if config else SHIPPED)
    output = parse_output(resources)
    findings = list(output.findings)
    values = [value for _, _, value in output.objects()]
    manifests, wrong = find_manifests(file, values)
    findings += wrong
    if has_errors(findings):
        return Verdict(tuple(findings), sum(len(select(one.value, one).workloads) for one in output.parsed))
    every: list[Pod] = []
    plain: list[Ref] = []
    references = References(values)
    for resource in output.parsed:
        found = pods_of(resource, references)
        every += found.pods
        plain += found.plain
        findings += found.findings
    pods = [pod for pod in every if pod.made_of is None]
    classes = _classes(values)
    coordinators = [pod.workload.ref for pod in pods if pod.workload.is_coordinator]
    for ref in coordinators[:1]:  # of several, or of one that the configuration has chosen, the render speaks
        findings += coordinator_service(output.resources, ref, ref.namespace or "default")
    findings += applied_configuration(output.resources)
    findings += placeholders_in_text(output.resources)
    findings += injected_afterwards(output.resources, [pod.workload for pod in pods])
    findings += only_the_coordinator([pod.workload for pod in pods], plain)
    findings += none_confidential(plain, config.generate) if config and not every else ()
    if pods or any(is_contrast_name(name) for name in classes):
        findings += duplicates(output.resources)
    findings += object_findings(output)
    for pod in every:
        if of := pod.made_of:
            code = "CC1119.earlier" if pod.is_earlier else "CC1119.copy"
            findings.append(finding(code, pod.workload.ref, kind=of.kind, name=of.name))
    findings += _about(every, classes, manifests.decoded) + _rollouts(values)
    findings += claim_findings(output.resources, [pod.workload for pod in pods])
    named = [name for name in classes if is_contrast_name(name)]
    findings += check_classes([pod.workload for pod in pods], named, emitted=_emits_classes(values))
    findings += _without_manifest(config, as_function=as_function) if pods and manifests.decoded is None else []
    findings += manifest_problems(manifests) + _digests(manifests.decoded, pods, config, elsewhere)
    if config is None:
        sealed = [SealedWorkload(pod.workload, pod.checked.digest) for pod in pods]
        findings += shared_identities(sealed, manifests.decoded)
    findings += refusals(output.resources, [pod.workload for pod in pods])
    if not has_errors(findings):
        findings += differing_bytes(manifests)
    if not has_errors(findings):
        if config is None:
            findings += not_rendered_again(pods, output)
        else:
            findings += compare_renders(resources, output, pods, manifests, config)
    policies = {*mapping((manifests.decoded or {}).get("Policies"))} - {pod.checked.digest for pod in pods}
    beside = len(policies & set(elsewhere))
    return Verdict(tuple(dict.fromkeys(findings)), len(pods), tuple(plain), beside)


def _without_manifest(config: Config | None, *, as_function: bool) -> list[Finding]:
    """Return what is said of output without a manifest: CC1106, unless its configuration wants none."""
    if config is not None and config.generate.manifest.emit == "none":
        return [finding("CC1117.no-manifest")]
    return [finding("CC1106.function" if as_function else "CC1106")]


def _about(
    every: Sequence[Pod], classes: Mapping[str, RuntimeClass], manifest: Mapping[str, Any] | None
) -> list[Finding]:
    """Return what is to say of each pod; of what a controller made, once what its workload or another copy says too."""
    findings: list[Finding] = []
    told: dict[Ref, set[tuple[str, str]]] = {}
    for pod in sorted(every, key=lambda one: one.made_of is not None):
        said = told.setdefault(pod.made_of or pod.workload.ref, set())
        about = (*pod.checked.findings, *check_pod(pod, classes.get(pod.workload.runtime_class), manifest))
        new = [one for one in about if not pod.made_of or (one.code, one.message) not in said]
        said |= {(one.code, one.message) for one in new}
        findings += map(pod.workload.placed, new)
    return findings


def _rollouts(values: Sequence[Any]) -> list[Finding]:
    """Return a line for each rollout that is not finished, as far as the pods of a cluster are among the objects."""
    pods = [value for value in values if reference(value).kind == "Pod"]
    running = RunningPods([value for value in values if reference(value).kind != "Pod"], None)
    for pod in pods:
        running.add(pod)
    return list(running.rollouts())


def _classes(values: Sequence[Any]) -> Mapping[str, RuntimeClass]:
    """Return the RuntimeClass objects by name."""
    found = ((reference(value), value) for value in values)
    return {ref.name: parse_class(value).runtime_class for ref, value in found if ref.kind == "RuntimeClass"}


def _emits_classes(values: Sequence[Any]) -> bool:
    """Tell whether a render added a RuntimeClass."""
    return any(
        reference(value).kind == "RuntimeClass" and dig(value, ("metadata", "annotations", EMITTED)) is not None
        for value in values
    )


def _digests(
    manifest: Mapping[str, Any] | None, pods: Sequence[Pod], config: Config | None, elsewhere: Collection[str]
) -> list[Finding]:
    """Return what `contrast set` would refuse in the manifest beside the workloads, in its base, and `elsewhere`."""
    if manifest is None:
        return []
    base = mapping(mapping(config.generate.manifest.base if config else None).get("Policies"))
    sealed = [SealedWorkload(pod.workload, pod.checked.digest) for pod in pods]
    return list(check_manifest(sealed, manifest, (*base, *elsewhere)))
