"""Assess an application, with or without a configuration: which pods are confidential, and which cannot be."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from krm_function.config.collect import Config
from krm_function.config.generate import Generate, PolicyOptions, Workloads, naming
from krm_function.config.image_lock import ImageFacts
from krm_function.config.release import NO_VERSION, PlatformRelease, Release
from krm_function.contrast.class_in_text import may_ask_for_contrast, may_name_contrast
from krm_function.contrast.gpus import wants_gpu
from krm_function.contrast.guarded_namespaces import guarded_namespaces
from krm_function.contrast.platforms import BARE, FIELD, PLATFORMS, is_contrast_name, is_handler, placeholder
from krm_function.contrast.profiles import DEFAULT
from krm_function.findings import Finding, Path, Ref, has_errors
from krm_function.kubernetes.custom_kinds import kind_makes
from krm_function.kubernetes.objects import WITHOUT_PODS, dig, pod_specs
from krm_function.kubernetes.pod_kinds import SHIPPED
from krm_function.kubernetes.resource import Resource, with_kinds, yaml_finding
from krm_function.kubernetes.workload import INITDATA, Workload, workloads_of
from krm_function.record import NamedTuple
from krm_function.render.copies import add_copies
from krm_function.render.policies import add_policies, find_late_variables
from krm_function.render.prepare import prepare
from krm_function.render.read import read
from krm_function.render.unsealed import (
    NONE_CONFIDENTIAL,
    find_misplaced,
    find_placeholders,
    list_unsealed_classes,
    report_unsealed,
    report_unsealed_class,
)
from krm_function.text.changes import Change, apply
from krm_function.text.errors import YamlError
from krm_function.text.parse import read_value

# --- Find the errors that a render would report about pods, independent of images and of the release of Contrast
#
# Rule: the stages of a render decide (`render.prepare`, then the policies). An image that is not in the lock is assumed
# to name its user and its program; findings that a lock settles are left out. Without a configuration, an assumed one
# has every platform.


ANY_PLATFORM = "metal-qemu-snp"  # the meaning of the bare placeholder; every other platform has the same rules
OF_IMAGES = ("CC0502", "CC0511", "CC0813", "CC0507", "CC0423")  # pinned, in the lock, of this release, with all sizes
ANY_IMAGE = ImageFacts("", {"User": "65532:65532", "Entrypoint": ["/program"], "WorkingDir": "/"}, "", "")
ANY_RELEASE = Release(
    "any",
    NO_VERSION,
    {name: PlatformRelease(f"{placeholder(platform)}-0", {"memory": "0"}) for name, platform in PLATFORMS.items()},
)
Pod = tuple[int, Path, Path]  # position of the resource, path of the object in it, path of the template in the object


class Judged(NamedTuple):
    """The results of a render for the pods of an input, as far as they do not depend on unknown images.

    originals: the pods as in the input. errors: of each workload, () for one without. findings: all others.
    read: the resources that were read. images: known or assumed facts, by reference. stopped: whether an error of the
    input or of the configuration ended the render before any pod.
    """

    workloads: tuple[Workload, ...] = ()
    originals: tuple[Workload, ...] = ()
    errors: Mapping[Pod, tuple[Finding, ...]] = MappingProxyType({})
    findings: tuple[Finding, ...] = ()
    read: tuple[Resource, ...] = ()
    images: Mapping[str, ImageFacts] = MappingProxyType({})
    stopped: bool = False


def find_refusals(resources: Sequence[Resource]) -> Mapping[Pod, tuple[Finding, ...]]:
    """Return the errors of each readable Contrast workload, () for one without."""
    policy = PolicyOptions(profile=DEFAULT.name)
    config = Config(Generate(platform=ANY_PLATFORM, runtime_classes="off", policy=policy), ANY_RELEASE)
    return judge(resources, config, live=True).errors


def judge(resources: Sequence[Resource], config: Config, *, live: bool = False) -> Judged:
    """Judge all Contrast workloads under a configuration. live: as for `render`."""
    if config.images:
        config = config._replace(images=_add_tags(config.images))
    log, read, injected = prepare(resources, config, live=live, without=(*OF_IMAGES, NONE_CONFIDENTIAL))
    if injected is None:
        return Judged(findings=log.reported(config), read=read, stopped=log.failed)
    locked = config.images or {}
    containers = [entry.container for workload in injected.workloads for entry in workload.all_containers]
    images = {name: locked.get(name, ANY_IMAGE) for name in (str(container.get("image")) for container in containers)}
    workloads = injected.workloads
    if locked:  # otherwise there are no sizes
        from krm_function.render.memory import add_memory

        workloads = [add_memory(workload, config._replace(images=images)) for workload in workloads]
    workloads, problems = add_policies(workloads, config._replace(images=images), read, None)
    log.add(problems)
    findings = log.reported(config)
    errors = {
        (*workload.place, workload.template): tuple(
            problem
            for problem in (*workload.findings, *(problem for problem in findings if problem.ref == workload.ref))
            if has_errors([problem]) and problem.code not in OF_IMAGES
        )
        for workload in workloads
    }
    of_pods = {problem for problems in errors.values() for problem in problems}
    findings = tuple(problem for problem in findings if problem not in of_pods)
    return Judged(tuple(workloads), injected.selected.workloads, errors, findings, read, images)


def _add_tags(locked: Mapping[str, ImageFacts]) -> dict[str, ImageFacts]:
    """Return the lock with each image also by its tag alone, as pods name it until they are pinned."""
    return {reference.partition("@")[0]: facts for reference, facts in reversed(list(locked.items()))} | dict(locked)


# --- Assess the pods of an application: each is confidential, plain, misplaced or blocked
#
# Rule: the first row that holds decides. No configuration, no release, no lock and no network is needed. A pod asks by
# its class; with a configuration, a pod asks if a render would select it, and its rules and acknowledgements count.
#
#     state          the pod
#     confidential   is sealed: it has a handler of Contrast's and a policy; `check` verifies that policy
#     misplaced      asks for a class of Contrast's, or for anything else of Contrast's, where nothing reads it
#     blocked        asks, or would with `judge_plain`, and a render refuses it whatever the images and the release are
#     confidential   asks, and none of these applies
#     plain          does not ask, and runs outside of a VM; reason: why the configuration declares it plain, "" if not


PodState = Literal["misplaced", "blocked", "plain", "confidential"]
CONTAINERS = "containers"
GPU_CLASS = f"{BARE}-metal-qemu-snp-gpu"  # the class for a pod with a GPU


class AssessedPod(NamedTuple):
    """A pod of the input. place: path of its pod spec in the object.

    findings: why it is misplaced or blocked, and infos about a confidential one.
    """

    ref: Ref
    place: Path
    state: PodState
    findings: tuple[Finding, ...] = ()
    is_coordinator: bool = False
    is_sealed: bool = False
    reason: str = ""


class Assessment(NamedTuple):
    """The pods in the order of the input. findings: why something could not be read, and warnings.

    guarded: the namespaces of the input in which the command `guard` refuses plain pods. unknown: the kinds of custom
    resources that may make pods, each with its group.
    """

    pods: tuple[AssessedPod, ...] = ()
    findings: tuple[Finding, ...] = ()
    guarded: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def of(self, state: PodState) -> tuple[AssessedPod, ...]:
        """Return the pods of one state."""
        return tuple(pod for pod in self.pods if pod.state == state)


def assess(resources: Sequence[Resource], config: Config | None = None, *, judge_plain: bool = False) -> Assessment:
    """Assess all pods of an input. config: to judge with. judge_plain: judge a pod that does not ask as if it did."""
    kinds = config.generate.kinds if config else SHIPPED
    keep_plain = judge_plain or config is not None
    parsed, findings = _parse(add_copies(with_kinds(resources, kinds)), keep_plain=keep_plain)
    if has_errors(findings):
        return Assessment((), findings)
    workloads = config.generate.workloads if config else ()
    namespace = config.generate.namespace if config else ""
    asking = [_add_class(resource, workloads, namespace) for resource in parsed] if judge_plain else parsed
    refused = find_refusals(asking) if judge_plain or not config else {}
    findings = find_placeholders(parsed)
    selected: Container[Pod] = ()
    if config:
        generate = config.generate._replace(runtime_classes="off")  # as without a configuration: no release is needed
        judged = judge(parsed, config._replace(generate=generate, release=ANY_RELEASE), live=True)
        if judged.stopped:
            return Assessment((), judged.findings)
        refused, selected, findings = {**refused, **judged.errors}, judged.errors, judged.findings
    pods: list[AssessedPod] = []
    unknown: dict[str, None] = {}
    for resource in parsed:
        if resource.document is None or resource.state == "added":
            continue
        for _, root, ref, _ in resource.objects:
            if root in resource.copies:
                continue  # a controller made it of an object that is in the input as well
            if resource.kinds.of(ref):
                reason = next((entry.plain for _, entry in naming(workloads, ref, namespace) if entry.plain), "")
                of_object = list(_assess_workloads(resource, root, ref, refused, selected))
                pods += [pod._replace(reason=reason) if pod.state == "plain" else pod for pod in of_object]
            else:
                of_object = list(_assess_other_kind(resource, root, ref, judge_plain=judge_plain))
                pods += of_object
                if not of_object and kind_makes(ref.api_version, ref.kind) == "unknown":
                    unknown[f"{ref.api_version.rpartition('/')[0]}/{ref.kind}"] = None
    reasons = {problem for pod in pods for problem in pod.findings}
    findings = tuple(problem for problem in findings if problem not in reasons)
    return Assessment(tuple(pods), findings, guarded_namespaces(parsed), tuple(unknown))


def _parse(resources: Sequence[Resource], *, keep_plain: bool) -> tuple[list[Resource], tuple[Finding, ...]]:
    """Parse every resource that may hold a pod; changes of an earlier render are undone. keep_plain: as for `read`."""
    read_resources, findings = read(resources, keep_plain=keep_plain)
    parsed: list[Resource] = []
    problems = list(findings)
    for position, resource in enumerate(read_resources):
        asks = CONTAINERS in resource.text or may_ask_for_contrast(resource.text)
        asks = asks or not resource.certain or kind_makes(resource.api_version, resource.kind) != "none"
        if not asks or resource.document is not None:
            parsed.append(resource)
            continue
        try:
            parsed.append(resource.given()._replace(position=position))
        except YamlError as problem:
            parsed.append(resource)
            problems.append(yaml_finding(problem, resource))
    return parsed, tuple(problems)


def _add_class(resource: Resource, workloads: Workloads, namespace: str) -> Resource:
    """Return a resource in which each pod of a known kind without a class or an entry asks for one of Contrast's."""
    document = resource.document
    if document is None or resource.state == "added":
        return resource
    changes: list[Change] = []
    for _, root, ref, value in resource.objects:
        for workload in workloads_of(value, root, ref, resource):
            pod = dig(document.value, workload.spec_path)
            is_decided = root in resource.copies or naming(workloads, ref, namespace)
            if isinstance(pod, dict) and not pod.get(FIELD) and not is_decided:
                name = GPU_CLASS if wants_gpu(pod) else BARE
                changes.append(Change((*workload.spec_path, FIELD), "set", name))
    return resource._replace(document=document._replace(value=apply(document.value, changes))) if changes else resource


def _assess_workloads(
    resource: Resource, root: Path, ref: Ref, refused: Mapping[Pod, tuple[Finding, ...]], selected: Container[Pod]
) -> Iterator[AssessedPod]:
    """Assess the pods of an object of a kind whose pods are sealed. selected: those that the configuration seals."""
    misplaced: tuple[Finding, ...] = ()
    if may_name_contrast(resource.text):
        problems_of_object = find_misplaced(resource.value, root, resource.position, selected, kinds=resource.kinds)
        misplaced = tuple(map(resource.placed, problems_of_object))
    sealed = _find_sealed(resource, root, ref)
    for workload in workloads_of(dig(resource.value, root), root, ref, resource):
        pod = (resource.position, root, workload.template)
        problems = refused.get(pod)
        asks = pod in selected or is_contrast_name(str(workload.runtime_class))
        state: PodState = "confidential" if asks else "plain"
        reasons: tuple[Finding, ...] = ()
        is_sealed = workload.template in sealed
        if is_sealed:
            state = "confidential"
        elif misplaced and not asks:
            state, reasons = "misplaced", misplaced
        elif problems:
            state, reasons = "blocked", problems
        elif asks:
            reasons = tuple(map(workload.placed, find_late_variables(workload)))
        place = (*workload.template, "spec")
        yield AssessedPod(workload.ref, place, state, reasons, workload.is_coordinator, is_sealed)
    for problem in _find_unsealed(resource, root, ref):
        yield AssessedPod(ref, problem.path[len(root) : -1], "blocked", (problem,))


def _find_sealed(resource: Resource, root: Path, ref: Ref) -> list[Path]:
    """Return the templates of an object whose pods have a handler and a policy in the input, before anything is undone.

    Initdata without a policy, as a user may write it, seals nothing.
    """
    if INITDATA not in resource.text:
        return []
    value = dig(resource.value if resource.state == "given" else read_value(resource.text), root)
    pods = workloads_of(value, root, ref, resource)
    return [pod.template for pod in pods if is_handler(str(pod.runtime_class)) and _has_policy(pod)]


def _has_policy(workload: Workload) -> bool:
    from krm_function.policy.initdata import POLICY, decode_toml, from_annotation, read_policy_data

    try:
        initdata = decode_toml(from_annotation(str(workload.annotations.get(INITDATA))))
        return bool(read_policy_data(initdata.data.get(POLICY, "")))
    except ValueError:
        return False


def _find_unsealed(resource: Resource, root: Path, ref: Ref) -> list[Finding]:
    if not may_ask_for_contrast(resource.text):
        return []
    classes = list(list_unsealed_classes(resource.value, root, resource.kinds))
    return list(map(resource.placed, report_unsealed(ref, classes, root, resource)))


def _assess_other_kind(resource: Resource, root: Path, ref: Ref, *, judge_plain: bool) -> Iterator[AssessedPod]:
    """Assess the pods of an object that no render seals."""
    asked = _find_unsealed(resource, root, ref)
    places = [] if ref.kind in WITHOUT_PODS else list(pod_specs(dig(resource.value, root)))
    if asked and not places:
        yield AssessedPod(ref, asked[0].path[len(root) : -1], "blocked", tuple(asked))
    if not places and not asked and kind_makes(ref.api_version, ref.kind) == "pods":
        places = [()]  # the object does not show them
    for place in places:
        if asked:
            yield AssessedPod(ref, place, "blocked", tuple(_select_below(asked, (*root, *place)) or asked))
        elif judge_plain:
            problem = report_unsealed_class(ref, (*root, *place, FIELD), BARE, resource.kinds, root)
            yield AssessedPod(ref, place, "blocked", (resource.placed(problem),))
        else:
            yield AssessedPod(ref, place, "plain")


def _select_below(findings: Iterable[Finding], path: Path) -> list[Finding]:
    return [problem for problem in findings if problem.path[: len(path)] == path]
