"""Find what a render would refuse in pods, as far as it depends on no image and on no release of Contrast.

Rule of this file: the stages of a render decide (`pipeline.prepare`, then the policies), under a configuration that
stands for any: every platform is known, and of every image it is assumed that it names its user and its program. What
is left out is what a lock or a release settles.
"""

from collections.abc import Mapping, Sequence

from krm_function.api.records import NO_VERSION, Config, Generate, ImageFacts, PlatformRelease, PolicyOptions, Release
from krm_function.findings import Finding, Path, has_errors
from krm_function.model.platforms import PLATFORMS
from krm_function.model.profiles import DEFAULT
from krm_function.model.resource import Resource
from krm_function.model.runtime_class_names import placeholder
from krm_function.pipeline import prepare
from krm_function.pipeline.policies import with_policies

ANY_PLATFORM = "metal-qemu-snp"  # what the bare placeholder stands for; every other one has the same rules
OF_IMAGES = ("CC0502", "CC0813", "CC0507")  # pinned, in the lock, of this release
ANY_IMAGE = ImageFacts("", {"User": "65532:65532", "Entrypoint": ["/program"], "WorkingDir": "/"}, "", "")
ANY_RELEASE = Release(
    "any",
    NO_VERSION,
    {name: PlatformRelease(f"{placeholder(platform)}-0", {"memory": "0"}) for name, platform in PLATFORMS.items()},
)
Pod = tuple[int, Path, Path]  # position of the resource, path of the object in it, path of the template in the object


def refusals(resources: Sequence[Resource]) -> Mapping[Pod, tuple[Finding, ...]]:
    """Return the errors of each Contrast workload of some resources that could be read, () for one without."""
    policy = PolicyOptions(profile=DEFAULT.name)
    config = Config(Generate(platform=ANY_PLATFORM, runtime_classes="off", policy=policy), ANY_RELEASE)
    _, read, injected = prepare(resources, config, live=True, without=OF_IMAGES)
    if injected is None:
        return {}  # no pod asks
    named = [one.workload.all_containers for one in injected.workloads]
    images = {str(each.container.get("image")): ANY_IMAGE for containers in named for each in containers}
    workloads, _ = with_policies(injected.workloads, config._replace(images=images), read, None, None)
    return {
        (*one.workload.place, one.workload.template): tuple(
            found for found in one.placed_findings if has_errors([found]) and found.code not in OF_IMAGES
        )
        for one in workloads
    }
