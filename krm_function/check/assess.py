"""Assess an application before there is any configuration: which pods are confidential, which cannot be."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from krm_function.config.collect import Config
from krm_function.config.generate import Generate, PolicyOptions
from krm_function.config.image_lock import ImageFacts
from krm_function.config.release import NO_VERSION, PlatformRelease, Release
from krm_function.contrast.class_in_text import may_ask_for_contrast
from krm_function.contrast.gpus import wants_gpu
from krm_function.contrast.guarded_namespaces import guarded_namespaces
from krm_function.contrast.platforms import BARE, FIELD, PLATFORMS, is_contrast_name, placeholder
from krm_function.contrast.profiles import DEFAULT
from krm_function.findings import Finding, Path, Ref, has_errors
from krm_function.kubernetes.lookup import dig
from krm_function.kubernetes.objects import WITHOUT_PODS, pod_specs
from krm_function.kubernetes.resource import Resource, yaml_finding
from krm_function.kubernetes.workload import Workload, workloads_of
from krm_function.record import NamedTuple
from krm_function.render.copies import add_copies
from krm_function.render.policies import with_policies
from krm_function.render.prepare import prepare
from krm_function.render.read import read
from krm_function.render.unsealed import (
    find_misplaced,
    find_placeholders,
    list_unsealed_classes,
    report_unsealed,
    report_unsealed_class,
)
from krm_function.text.changes import Change, apply
from krm_function.text.errors import YamlError

# --- Find what a render would refuse in pods, as far as it depends on no image and on no release of Contrast
#
# Rule: the stages of a render decide (`render.prepare`, then the policies). Of an image that is not in
# the lock it is assumed that it names its user and its program; what a lock settles is left out. Without a
# configuration one stands for any: every platform is known.


ANY_PLATFORM = "metal-qemu-snp"  # what the bare placeholder stands for; every other one has the same rules
OF_IMAGES = ("CC0502", "CC0813", "CC0507", "CC0423")  # pinned, in the lock, of this release, with all sizes
ANY_IMAGE = ImageFacts("", {"User": "65532:65532", "Entrypoint": ["/program"], "WorkingDir": "/"}, "", "")
ANY_RELEASE = Release(
    "any",
    NO_VERSION,
    {name: PlatformRelease(f"{placeholder(platform)}-0", {"memory": "0"}) for name, platform in PLATFORMS.items()},
)
Pod = tuple[int, Path, Path]  # position of the resource, path of the object in it, path of the template in the object


class Judged(NamedTuple):
    """What a render makes of the pods of an input, as far as it depends on no image that is unknown.

    given: the pods as they stand in the input. errors: of each workload, () for one without. findings: about the input
    as a whole. read: the resources as they were read. images: what is known or assumed of them, by reference. stopped:
    whether an error of the input or of the configuration has ended it before any pod.
    """

    workloads: tuple[Workload, ...] = ()
    given: tuple[Workload, ...] = ()
    errors: Mapping[Pod, tuple[Finding, ...]] = MappingProxyType({})
    findings: tuple[Finding, ...] = ()
    read: tuple[Resource, ...] = ()
    images: Mapping[str, ImageFacts] = MappingProxyType({})
    stopped: bool = False


def refusals(resources: Sequence[Resource]) -> Mapping[Pod, tuple[Finding, ...]]:
    """Return the errors of each Contrast workload of some resources that could be read, () for one without."""
    policy = PolicyOptions(profile=DEFAULT.name)
    config = Config(Generate(platform=ANY_PLATFORM, runtime_classes="off", policy=policy), ANY_RELEASE)
    return judged(resources, config, live=True).errors


def judged(resources: Sequence[Resource], config: Config, *, live: bool = False) -> Judged:
    """Judge all Contrast workloads under a configuration. live: as for `render`."""
    log, read, injected = prepare(resources, config, live=live, without=OF_IMAGES)
    if injected is None:
        return Judged(findings=log.located(config), read=read, stopped=log.failed)
    known = config.images or {}
    named = [str(each.container.get("image")) for workload in injected.workloads for each in workload.all_containers]
    images = {name: _facts(name, known) for name in named}
    workloads = injected.workloads
    if known:  # else there are no sizes
        from krm_function.render.memory import add_memory

        workloads = [add_memory(one, config._replace(images=images)) for one in workloads]
    workloads, problems = with_policies(workloads, config._replace(images=images), read, None)
    log.add(problems)
    errors = {
        (*workload.place, workload.template): tuple(
            finding for finding in workload.findings if has_errors([finding]) and finding.code not in OF_IMAGES
        )
        for workload in workloads
    }
    return Judged(tuple(workloads), injected.selected.workloads, errors, log.located(config), read, images)


def _facts(name: str, known: Mapping[str, ImageFacts]) -> ImageFacts:
    """Return what a lock says of an image; of one without a digest, what it says of its tag; else that of any image."""
    facts = known.get(name)
    if facts is None and "@" not in name:
        facts = next((one for reference, one in known.items() if reference.startswith(f"{name}@")), None)
    return facts or ANY_IMAGE


# --- Assess the pods of an application: each is confidential, plain, misplaced or blocked
#
# Rule: the first row that holds decides. No configuration, no release, no lock and no network is needed.
#
#     state          the pod
#     misplaced      asks for a class of Contrast's, or for anything else of Contrast's, where nothing reads it
#     blocked        asks, or would with `every`, and a render refuses it whatever the images and the release are
#     confidential   asks, and nothing of that stands in the way
#     plain          does not ask, and runs outside of a VM


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
    looked_at, findings = _parsed(add_copies(resources))
    if has_errors(findings):
        return Assessment((), findings)
    asking = [_asking(one) for one in looked_at] if every else looked_at
    refused = refusals(asking)
    pods: list[AssessedPod] = []
    for resource in looked_at:
        if resource.document is None or resource.state == "added":
            continue
        for _, root, ref, _ in resource.objects:
            if root in resource.copies:
                continue  # made by a controller of what is in the input as well
            if resource.kinds.of(ref):
                pods += _of_workloads(resource, root, ref, refused)
            else:
                pods += _of_another_kind(resource, root, ref, every=every)
    return Assessment(tuple(pods), find_placeholders(looked_at), guarded_namespaces(looked_at))


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
    for _, root, ref, value in resource.objects:
        for workload in workloads_of(value, root, ref, resource):
            pod = dig(document.value, workload.spec_path)
            if isinstance(pod, dict) and not pod.get(FIELD) and root not in resource.copies:
                wanted = GPU_CLASS if wants_gpu(pod) else BARE
                changes.append(Change((*workload.spec_path, FIELD), "set", wanted))
    return resource._replace(document=document._replace(value=apply(document.value, changes))) if changes else resource


def _of_workloads(
    resource: Resource, root: Path, ref: Ref, refused: Mapping[Pod, tuple[Finding, ...]]
) -> Iterator[AssessedPod]:
    """Assess the pods of an object of a kind whose pods are sealed."""
    wrong = tuple(map(resource.placed, find_misplaced(resource.value, root, kinds=resource.kinds)))
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
    classes = list(list_unsealed_classes(resource.value, root, resource.kinds))
    return list(map(resource.placed, report_unsealed(ref, classes, root, resource)))


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
            wanted = report_unsealed_class(ref, (*root, *place, FIELD), BARE, resource.kinds, root)
            yield AssessedPod(ref, place, "blocked", (resource.placed(wanted),))
        else:
            yield AssessedPod(ref, place, "plain")


def _below(findings: Iterable[Finding], path: Path) -> list[Finding]:
    return [found for found in findings if found.path[: len(path)] == path]
