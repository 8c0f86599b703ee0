"""Find what a render would refuse in pods, as far as it depends on no image and on no release of Contrast.

Rule of this file: the stages of a render decide (`pipeline.prepare`, then the policies). Of an image that is not in the
lock it is assumed that it names its user and its program; what a lock settles is left out. Without a configuration one
stands for any: every platform is known.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from krm_function.api.records import NO_VERSION, Config, Generate, ImageFacts, PlatformRelease, PolicyOptions, Release
from krm_function.findings import Finding, Path, has_errors
from krm_function.model.platforms import PLATFORMS
from krm_function.model.profiles import DEFAULT
from krm_function.model.resource import Resource
from krm_function.model.runtime_class_names import placeholder
from krm_function.model.workload import Workload
from krm_function.pipeline.policies import with_policies
from krm_function.pipeline.prepare import prepare
from krm_function.pipeline.workload import WorkloadRender
from krm_function.record import NamedTuple

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

    workloads: tuple[WorkloadRender, ...] = ()
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
    named = [str(each.container.get("image")) for one in injected.workloads for each in one.workload.all_containers]
    images = {name: _facts(name, known) for name in named}
    workloads = injected.workloads
    if known:  # else there are no sizes
        from krm_function.pipeline.memory import with_memory

        workloads = [with_memory(one, config._replace(images=images)) for one in workloads]
    workloads, problems = with_policies(workloads, config._replace(images=images), read, None, None)
    log.add(problems)
    errors = {
        (*one.workload.place, one.workload.template): tuple(
            found for found in one.findings if has_errors([found]) and found.code not in OF_IMAGES
        )
        for one in workloads
    }
    return Judged(tuple(workloads), injected.selected.workloads, errors, log.located(config), read, images)


def _facts(name: str, known: Mapping[str, ImageFacts]) -> ImageFacts:
    """Return what a lock says of an image; of one without a digest, what it says of its tag; else that of any image."""
    facts = known.get(name)
    if facts is None and "@" not in name:
        facts = next((one for reference, one in known.items() if reference.startswith(f"{name}@")), None)
    return facts or ANY_IMAGE
