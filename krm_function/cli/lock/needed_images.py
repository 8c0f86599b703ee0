"""List the images that a deployment needs: those of its Contrast workloads, as a render would leave them.

Rule of this file: what a render restores, replaces and injects is what `pipeline.prepare` says, with every error that a
render finds so far, but for those that a lock settles. Without a release nothing can be rendered, so the pods are taken
as they stand, which is right for rendered output.
"""

from collections.abc import Iterable, Iterator, Sequence

from krm_function.api.records import Config
from krm_function.findings import Finding, Path, finding, has_errors
from krm_function.model.finding_position import yaml_finding
from krm_function.model.image import Image, parse_image, printable_reference
from krm_function.model.lookup import mapping, maps
from krm_function.model.pod_types import type_findings
from krm_function.model.resource import Resource
from krm_function.model.workload import Workload
from krm_function.pipeline.prepare import prepare
from krm_function.pipeline.proof import unproven
from krm_function.record import NamedTuple
from krm_function.stages.select import select
from krm_function.yamltext import YamlError

# images that are not pinned, an error to a render, and not in the lock, a warning: what `lock` is there to settle
SETTLED = ("CC0502", "CC0813")


class Use(NamedTuple):
    """The first place where an image stands; workload: as a render leaves it."""

    path: Path
    workload: Workload

    def place(self, found: Finding) -> Finding:
        """Place a finding about the image here."""
        return self.workload.placed(found._replace(ref=self.workload.ref, path=self.path))


class Needed(NamedTuple):
    """The images with their first use, in order. uses: all of them."""

    images: dict[Image, Use]
    findings: tuple[Finding, ...] = ()
    uses: tuple[tuple[Image, Use], ...] = ()


def needed(resources: Sequence[Resource], config: Config | None, *, refused_too: bool = False) -> Needed:
    """Find the images, and what is wrong with the resources. refused_too: also those of workloads with errors."""
    return _as_they_stand(resources) if config is None else _rendered(resources, config, refused_too=refused_too)


def _rendered(resources: Sequence[Resource], config: Config, *, refused_too: bool) -> Needed:
    """Find the images of the workloads with what a render injects and replaces."""
    log, read, injected = prepare(resources, config, without=SETTLED)
    forged = unproven(read, config, rendered=False, seals=False)
    log.add(forged)
    uses: list[tuple[Image, Use]] = []
    # a forged record may name an image of anybody's
    for outcome in injected.workloads if injected and not forged else ():
        log.add(outcome.findings)
        if refused_too or not outcome.failed:
            used, problems = _uses(outcome.workload)
            uses += used
            log.add(problems)
    return _needed(uses, log.located(config))


def _as_they_stand(resources: Sequence[Resource]) -> Needed:
    """Find the images of the workloads without a look at what an earlier render did."""
    uses: list[tuple[Image, Use]] = []
    findings: list[Finding] = []
    for resource in resources:
        if not resource.may_have_pods and resource.kind != "List":
            continue
        try:
            given = resource.given()
        except YamlError as problem:
            findings.append(yaml_finding(problem, resource))
            continue
        selection = select(given.value, given)
        findings += selection.findings
        for workload in selection.workloads:
            type_problems = type_findings(workload)
            findings += map(workload.placed, type_problems)
            if not has_errors(type_problems):
                used, problems = _uses(workload)
                uses += used
                findings += problems
    return _needed(uses, findings)


def _needed(uses: Sequence[tuple[Image, Use]], findings: Iterable[Finding]) -> Needed:
    images: dict[Image, Use] = {}
    for image, use in uses:
        images.setdefault(image, use)
    return Needed(images, tuple(findings), tuple(uses))


def _uses(workload: Workload) -> tuple[list[tuple[Image, Use]], tuple[Finding, ...]]:
    """Find the images of one workload, and CC0503 for each text that is no image reference."""
    uses, problems = [], []
    for path, text in _images(workload):
        image = parse_image(text)
        if isinstance(image, Image):
            uses.append((image, Use(path, workload)))
        else:
            problem = finding("CC0503", workload.ref, path, image=printable_reference(text), problem=image)
            problems.append(workload.placed(problem))
    return uses, tuple(problems)


def _images(workload: Workload) -> Iterator[tuple[Path, str]]:
    """Yield every image of a pod: containers, init containers, image volumes."""
    for each in workload.all_containers:
        image = each.container.get("image")
        yield (*each.path, "image"), image if isinstance(image, str) else ""
    for index, volume in enumerate(maps(workload.pod_spec.get("volumes"))):
        image = mapping(volume.get("image")).get("reference")
        if isinstance(image, str):
            yield (*workload.spec_path, "volumes", index, "image", "reference"), image
