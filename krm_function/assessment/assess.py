"""Assess the pods of an application: each is confidential, plain, misplaced or blocked.

Rule of this file: the first row that holds decides. No configuration, no release, no lock and no network is needed.

    state          the pod
    misplaced      asks for a class of Contrast's, or for anything else of Contrast's, where nothing reads it
    blocked        asks, or would with `every`, and a render refuses it whatever the images and the release are
    confidential   asks, and nothing of that stands in the way
    plain          does not ask, and runs outside of a VM
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from krm_function.assessment.refusals import Pod, refusals
from krm_function.findings import Finding, Path, Ref, has_errors
from krm_function.input_checks.copies import with_copies
from krm_function.input_checks.placeholders_in_text import placeholders_in_text
from krm_function.input_checks.unsealed import misplaced, unsealed_classes, unsealed_finding, unsealed_findings
from krm_function.model.class_in_text import may_ask_for_contrast
from krm_function.model.finding_position import yaml_finding
from krm_function.model.gpu import wants_gpu
from krm_function.model.guarded_namespaces import guarded_namespaces
from krm_function.model.lookup import dig
from krm_function.model.objects import objects, reference
from krm_function.model.pod_specs import WITHOUT_PODS, pod_specs
from krm_function.model.resource import Resource
from krm_function.model.runtime_class_names import BARE, FIELD, is_contrast_name
from krm_function.model.workload import workloads_of
from krm_function.record import NamedTuple
from krm_function.stages.read import read
from krm_function.yamltext import Change, YamlError, apply

PodState = Literal["misplaced", "blocked", "plain", "confidential"]
CONTAINERS = "containers"
GPU_CLASS = f"{BARE}-metal-qemu-snp-gpu"  # what a pod with a GPU would ask for


class AssessedPod(NamedTuple):
    """One pod of the input. place: path of its pod spec in the object. findings: why it is misplaced or blocked."""

    ref: Ref
    place: Path
    state: PodState
    findings: tuple[Finding, ...] = ()
    is_coordinator: bool = False


class Assessment(NamedTuple):
    """The pods in the order of the input. findings: why something could not be read, and warnings.

    guarded: the namespaces of the input in which the command `guard` refuses plain pods.
    """

    pods: tuple[AssessedPod, ...] = ()
    findings: tuple[Finding, ...] = ()
    guarded: tuple[str, ...] = ()

    def of(self, state: PodState) -> tuple[AssessedPod, ...]:
        """Return the pods of one state."""
        return tuple(pod for pod in self.pods if pod.state == state)


def assess(resources: Sequence[Resource], *, every: bool = False) -> Assessment:
    """Assess all pods of an input. every: judge a pod that does not ask as if it did."""
    looked_at, findings = _parsed(with_copies(resources))
    if has_errors(findings):
        return Assessment((), findings)
    asking = [_asking(one) for one in looked_at] if every else looked_at
    refused = refusals(asking)
    pods: list[AssessedPod] = []
    for resource in looked_at:
        if resource.document is None or resource.state == "added":
            continue
        for root, value in objects(resource.value):
            ref = reference(value)
            if root in resource.copies:
                continue  # made by a controller of what is in the input as well
            if resource.kinds.of(ref):
                pods += _of_workloads(resource, root, ref, refused)
            else:
                pods += _of_another_kind(resource, root, ref, every=every)
    return Assessment(tuple(pods), placeholders_in_text(looked_at), guarded_namespaces(looked_at))


def _parsed(resources: Sequence[Resource]) -> tuple[list[Resource], tuple[Finding, ...]]:
    """Parse whatever may hold a pod, with positions; what an earlier render did is undone."""
    known, findings = read(resources)
    parsed: list[Resource] = []
    problems = list(findings)
    for position, resource in enumerate(known):
        outlined = resource.document is not None and resource.document.node is None
        asks = CONTAINERS in resource.text or may_ask_for_contrast(resource.text)
        if not asks or (resource.document is not None and not outlined):
            parsed.append(resource)
            continue
        try:
            parsed.append(resource.given()._replace(position=position))
        except YamlError as problem:
            parsed.append(resource)
            problems.append(yaml_finding(problem, resource))
    return parsed, tuple(problems)


def _asking(resource: Resource) -> Resource:
    """Return a resource in which each pod of a known kind that has no class asks for one of Contrast's."""
    document = resource.document
    if document is None or resource.state == "added":
        return resource
    changes: list[Change] = []
    for root, value in objects(document.value):
        for workload in workloads_of(value, root, reference(value), resource):
            pod = dig(document.value, workload.spec_path)
            if isinstance(pod, dict) and not pod.get(FIELD) and root not in resource.copies:
                wanted = GPU_CLASS if wants_gpu(pod) else BARE
                changes.append(Change((*workload.spec_path, FIELD), "set", wanted))
    return resource._replace(document=document._replace(value=apply(document.value, changes))) if changes else resource


def _of_workloads(
    resource: Resource, root: Path, ref: Ref, refused: Mapping[Pod, tuple[Finding, ...]]
) -> Iterator[AssessedPod]:
    """Assess the pods of an object of a kind whose pods are sealed."""
    wrong = tuple(map(resource.placed, misplaced(resource.value, root, kinds=resource.kinds)))
    for workload in workloads_of(dig(resource.value, root), root, ref, resource):
        problems = refused.get((resource.position, root, workload.template))
        asks = is_contrast_name(str(workload.runtime_class))
        state: PodState = "confidential" if asks else "plain"
        said: tuple[Finding, ...] = ()
        if wrong and not asks:
            state, said = "misplaced", wrong
        elif problems:
            state, said = "blocked", problems
        yield AssessedPod(workload.ref, (*workload.template, "spec"), state, said, workload.is_coordinator)
    for found in _asked(resource, root, ref):
        yield AssessedPod(ref, found.path[len(root) : -1], "blocked", (found,))


def _asked(resource: Resource, root: Path, ref: Ref) -> list[Finding]:
    """Return findings of the classes of Contrast's in an object where no render seals a pod."""
    classes = list(unsealed_classes(resource.value, root, resource.kinds))
    return list(map(resource.placed, unsealed_findings(ref, classes, root, resource)))


def _of_another_kind(resource: Resource, root: Path, ref: Ref, *, every: bool) -> Iterator[AssessedPod]:
    """Assess the pods of an object of which no render seals any."""
    asked = _asked(resource, root, ref)
    places = [] if ref.kind in WITHOUT_PODS else list(pod_specs(dig(resource.value, root)))
    if asked and not places:
        yield AssessedPod(ref, asked[0].path[len(root) : -1], "blocked", tuple(asked))
    for place in places:
        if asked:
            yield AssessedPod(ref, place, "blocked", tuple(_below(asked, (*root, *place)) or asked))
        elif every:
            wanted = unsealed_finding(ref, (*root, *place, FIELD), BARE, resource.kinds, root)
            yield AssessedPod(ref, place, "blocked", (resource.placed(wanted),))
        else:
            yield AssessedPod(ref, place, "plain")


def _below(findings: Iterable[Finding], path: Path) -> list[Finding]:
    return [found for found in findings if found.path[: len(path)] == path]
