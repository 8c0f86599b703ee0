"""Which images a deployment needs: those of its Contrast workloads, as a render would leave them.

Rule of this file: what a render restores, replaces and injects is computed by the stages that do it. Without a release
nothing can be rendered, so the pods are taken as they stand, which is right for rendered output.
"""

from collections.abc import Iterator, Sequence

from krm_function.api.records import Config
from krm_function.findings import Finding, Path, finding, has_errors
from krm_function.model.finding_position import with_position, yaml_finding
from krm_function.model.image import Image, parse_image, printable_reference
from krm_function.model.inverse import images_of
from krm_function.model.kinds import KINDS
from krm_function.model.pod_types import type_findings
from krm_function.model.resource import Resource
from krm_function.model.workload import Workload, mapping, maps
from krm_function.record import NamedTuple
from krm_function.stages.coordinator import choose_coordinator
from krm_function.stages.inject import inject
from krm_function.stages.namespace import in_namespace
from krm_function.stages.pod_checks import check_before_injection
from krm_function.stages.prove import prove
from krm_function.stages.read import ReadDocuments, read
from krm_function.stages.select import select
from krm_function.yamltext import Document, YamlError
from krm_function.yamltext import parse as parse_yaml

NOT_PINNED = "CC0502"  # an error to a render, and what `lock` helps to correct
NOT_LOCKED = "CC0813"  # a warning of a render, which `lock` settles


class Use(NamedTuple):
    """The first place where an image stands; workload: as a render leaves it."""

    path: Path
    workload: Workload
    resource: Resource
    document: Document

    def place(self, found: Finding) -> Finding:
        """Place a finding about the image here."""
        found = found._replace(ref=self.workload.ref, path=self.path)
        return with_position(found, self.resource, self.document, self.workload)


class Needed(NamedTuple):
    """The images with their first use, in order. uses: all of them."""

    images: dict[Image, Use]
    findings: tuple[Finding, ...] = ()
    uses: tuple[tuple[Image, Use], ...] = ()


def needed(resources: Sequence[Resource], config: Config | None) -> Needed:
    """Find the images."""
    source = _as_they_stand(resources) if config is None else read(resources)
    findings = list(source.findings)
    if config is not None:
        unproven = prove(resources, source.documents, source.claims, images_of(config.release.images))
        if unproven:
            return Needed({}, (*findings, *unproven))
    found: list[tuple[int, Workload]] = []
    for index, document in source.documents.items():
        selection = select(document.value)
        found += [(index, workload) for workload in selection.workloads]
        findings += [with_position(problem, resources[index], document) for problem in selection.findings]
    if config is not None:
        found = _with_coordinator(found, config)
    uses: list[tuple[Image, Use]] = []
    for index, workload in found:
        final, problems = _rendered(workload, config)
        document = source.documents[index]
        for path, image in () if has_errors(problems) else _images(final):
            parsed = parse_image(image)
            if isinstance(parsed, str):
                problems += (finding("CC0503", workload.ref, path, image=printable_reference(image), problem=parsed),)
            else:
                uses.append((parsed, Use(path, final, resources[index], document)))
        findings += [with_position(problem, resources[index], document, final) for problem in problems]
    images: dict[Image, Use] = {}
    for parsed_image, use in uses:
        images.setdefault(parsed_image, use)
    return Needed(images, tuple(findings), tuple(uses))


def _as_they_stand(resources: Sequence[Resource]) -> ReadDocuments:
    """Read the workloads without a look at what an earlier render did."""
    documents, findings = {}, []
    for index, resource in enumerate(resources):
        if resource.may_be((*KINDS, "List")):
            try:
                documents[index] = parse_yaml(resource.text, line=resource.line)
            except YamlError as problem:
                findings.append(yaml_finding(problem, resource))
    return ReadDocuments(documents, {}, tuple(findings))


def _with_coordinator(found: list[tuple[int, Workload]], config: Config) -> list[tuple[int, Workload]]:
    """Mark the coordinator among the workloads, which gets no initializer."""
    refs = [in_namespace(workload, config.generate.namespace)[1] for _, workload in found]
    chosen = choose_coordinator(refs, (), config, complete=False).ref
    return [
        (index, workload._replace(is_chosen=named.ref == chosen))
        for (index, workload), named in zip(found, refs, strict=True)
    ]


def _rendered(workload: Workload, config: Config | None) -> tuple[Workload, tuple[Finding, ...]]:
    """Give a workload the images that it will have. Pins may be missing, everything else has to be right."""
    if config is None:
        return workload, type_findings(workload)
    problems = tuple(
        found for found in check_before_injection(workload, config.release.images) if found.code != NOT_PINNED
    )
    if has_errors(problems):
        return workload, problems
    outcome = inject(workload, config.generate, config.release, "")
    return workload.after(outcome.edits), tuple(found for found in outcome.findings if found.code != NOT_LOCKED)


def _images(workload: Workload) -> Iterator[tuple[Path, str]]:
    """Every image of a pod: containers, init containers, image volumes."""
    for each in workload.all_containers:
        image = each.container.get("image")
        yield (*each.path, "image"), image if isinstance(image, str) else ""
    for index, volume in enumerate(maps(workload.pod_spec.get("volumes"))):
        image = mapping(volume.get("image")).get("reference")
        if isinstance(image, str):
            yield (*workload.spec_path, "volumes", index, "image", "reference"), image
