"""The pipeline: read -> select -> identity -> resolve -> inject -> schedule -> policy -> manifest -> write -> prove.

Rule of this file: it only calls stages in order and hands each what the one before it answered. A finding of severity
error anywhere means that nothing is written: the caller keeps the input.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from krm_function.api.base_manifest import names_config_map
from krm_function.api.kinds import Config
from krm_function.findings import Finding, Ref, has_errors
from krm_function.model.edits import Edit
from krm_function.model.located import placed
from krm_function.model.objects import objects
from krm_function.model.platforms import PLATFORMS
from krm_function.model.resource import Resource
from krm_function.model.runtime_class import RuntimeClass
from krm_function.model.workload import Workload
from krm_function.record import NamedTuple
from krm_function.stages.identity import duplicates
from krm_function.stages.manifest import (
    Made,
    ReferenceValues,
    SealedWorkload,
    emit,
    foresee,
    gather_reference_values,
    make_manifest,
    with_base,
)
from krm_function.stages.read import Read, read
from krm_function.stages.schedule import RuntimeClasses, runtime_class_objects, runtime_classes
from krm_function.stages.select import coordinator_namespace, select
from krm_function.stages.write import ObjectEdits, Written, collisions, write
from krm_function.subject import Subject, id_blocks_by_size, measured, prepared, scheduled

if TYPE_CHECKING:
    from krm_function.policy.genpolicy import Engine
    from krm_function.sealing import Sealer

NO_LABELS: Mapping[str, str] = {}
UNREAD = ("CC01", "CC10", "CC0908", "CC0910")  # something was not read; the release may be in it
NO_RELEASE = "CC0903"  # the one configuration error that a stream without Contrast workloads may have


class Planned(NamedTuple):
    """One line of the plan: a workload, what becomes of it and why; skipped says why nothing does.

    workload: as the render leaves it. scheduled: the class it is checked against, None when nothing is known of it.
    resource: position of its document in the input.
    """

    ref: Ref
    placeholder: str = ""
    platform: str = ""
    runtime_class: str = ""
    vcpus: int = 0
    node_selector: Mapping[str, str] = NO_LABELS
    edits: tuple[Edit, ...] = ()
    digest: str = ""
    skipped: str = ""
    workload: Workload | None = None
    scheduled: RuntimeClass | None = None
    resource: int = -1


class Rendered(NamedTuple):
    """What a render says: a text for every input resource (None: dropped), new objects, and everything about them."""

    texts: tuple[str | None, ...]
    added: tuple[Any, ...] = ()
    findings: tuple[Finding, ...] = ()
    plan: tuple[Planned, ...] = ()
    manifest: bytes = b""

    @property
    def failed(self) -> bool:
        """Whether the caller must keep its input."""
        return has_errors(self.findings)


def render(
    resources: Sequence[Resource],
    config: Config | None,
    config_findings: tuple[Finding, ...] = (),
    engine: "Engine | None" = None,
    sealer: "Sealer | None" = None,
) -> Rendered:
    """Render the resources of one deployment.

    config: None when it could not be made; config_findings then says why. That is an error only if there is anything to
    render: a stream of which nothing is Contrast's passes through as it is. engine: genpolicy in place of our own
    generator; the one thing here that is not pure, and given only if the operator asked for it. sealer: what puts
    policies into pods in place of both, for `check` without an ImageLock.
    """
    unchanged = tuple(resource.text for resource in resources)
    known = tuple(found for found in config_findings if found.code != NO_RELEASE)
    if has_errors(known):
        unread = any(found.code in UNREAD or found.code[:4] in UNREAD for found in known)
        return Rendered(unchanged, findings=known if unread else config_findings)
    source = read(resources)
    selections = [(index, select(document.value)) for index, document in source.documents.items()]
    findings = source.findings + tuple(
        placed(found, resources[index], source.documents[index])
        for index, chosen in selections
        for found in chosen.findings
    )
    skipped = tuple(Planned(one.ref, skipped=one.reason) for _, chosen in selections for one in chosen.skipped)
    workloads = [(index, workload) for index, chosen in selections for workload in chosen.workloads]
    values = ((index, document.value) for index, document in source.documents.items())
    classes = runtime_class_objects(values, config.release) if config else []
    if has_errors(source.findings) or not (workloads or classes):  # what cannot be read may be what others refer to
        return Rendered(unchanged, findings=findings + _unproven(resources, source, config), plan=skipped)
    if config is None:
        return Rendered(unchanged, findings=findings + config_findings, plan=skipped)
    findings += duplicates(resources, {**source.documents, **source.emitted})
    config, problems = _with_base(config, resources, source)
    if has_errors(problems):
        return Rendered(unchanged, findings=findings + config_findings + problems, plan=skipped)

    namespace = coordinator_namespace([workload for _, workload in workloads])
    subjects = [prepared(index, workload, config, namespace) for index, workload in workloads]
    used = {platform for subject in subjects for platform in subject.resolved.reference_platforms}
    used |= {PLATFORMS[config.generate.platform]} if config.generate.platform and workloads else set()
    classified = runtime_classes(config.generate, config.release, used, classes)
    subjects = [scheduled(subject, classified) for subject in subjects]
    findings += config_findings + classified.findings

    counts = {p.name: [s.vcpus for s in subjects if s.resolved.platform == p] for p in used}
    reference_values = gather_reference_values(config, used, counts)
    findings += reference_values.findings
    subjects, problems = _sealed(subjects, config, resources, source, reference_values, engine, sealer)
    findings += problems
    findings += tuple(
        placed(found, resources[subject.resource], source.documents[subject.resource], subject.workload)
        for subject in subjects
        for found in subject.findings
    )
    plan = tuple(_planned(subject) for subject in subjects) + skipped
    sealed = [SealedWorkload(subject.workload, subject.digest) for subject in subjects]
    if has_errors(findings):
        if subjects and not any(has_errors(chosen.findings) for _, chosen in selections):
            findings += _foreseen(config, sealed, resources, source, classified)
        return Rendered(unchanged, findings=findings + _unproven(resources, source, config), plan=plan)

    made = make_manifest(config, sealed, reference_values) if workloads else Made()
    emitted = (*classified.added, *emit(config.generate.manifest, made.data, sealed))
    edits = [ObjectEdits(s.resource, s.workload.root, s.workload.ref, s.edits) for s in subjects]
    edits += [ObjectEdits(*filled) for filled in classified.edits]
    written = write(resources, source.documents, source.emitted, edits, emitted)
    findings += made.findings + written.findings
    seals = config.generate.policy.engine != "none" or engine is not None
    findings += _unproven(resources, source, config, written, edits, seals=seals)
    if has_errors(findings):
        return Rendered(unchanged, findings=findings, plan=plan)
    return Rendered(written.texts, written.added, findings, plan, made.data)


def _unproven(
    resources: Sequence[Resource],
    source: Read,
    config: Config | None,
    written: Written | None = None,
    edits: Sequence[ObjectEdits] = (),
    *,
    seals: bool = False,
) -> tuple[Finding, ...]:
    """CC0115 for each undo record of the input that is not proven. written: None if nothing was written."""
    if not source.claims:
        return ()
    from krm_function.model.inverse import any_image, images_again, images_of
    from krm_function.stages.prove import Outcome, prove

    images = images_of(config.release.images) if config else any_image
    made = None
    if written is not None and config is not None:
        by_object = {(one.resource, one.root): one.edits for one in edits}
        later = images_again(config.release.images, images)
        made = Outcome(written.texts, by_object, later, seals, config.generate.scheduling)
    return prove(resources, source.documents, source.claims, images, made)


def _foreseen(
    config: Config,
    sealed: Sequence[SealedWorkload],
    resources: Sequence[Resource],
    source: Read,
    classified: RuntimeClasses,
) -> tuple[Finding, ...]:
    """Errors of the manifest and of what would be added, told with those of workloads and not only after them."""
    coming = (*classified.added, *emit(config.generate.manifest, b"{}", sealed))
    once = list({one.workload.ref: one for one in sealed}.values())  # a duplicate is CC0118 already
    return (*foresee(config, once), *collisions(resources, source.documents, source.emitted, coming))


def _with_base(config: Config, resources: Sequence[Resource], known: Read) -> tuple[Config, tuple[Finding, ...]]:
    """The configuration with the manifest that `manifest.base: {configMap: NAME}` means."""
    if not config.generate.manifest.base or not names_config_map(config.generate.manifest.base):
        return config, ()
    source = read(resources, ("ConfigMap",), known)
    if has_errors(source.findings):
        return config, source.findings
    documents = (*source.documents.values(), *source.emitted.values())
    return with_base(config, [value for document in documents for _, value in objects(document.value)])


def _sealed(
    subjects: list[Subject],
    config: Config,
    resources: Sequence[Resource],
    known: Read,
    reference_values: ReferenceValues,
    engine: "Engine | None",
    sealer: "Sealer | None" = None,
) -> tuple[list[Subject], tuple[Finding, ...]]:
    """Give every workload without errors its ID block and its policy."""
    options = config.generate.policy
    blocks = id_blocks_by_size(reference_values)
    if options.engine == "none" and engine is None and sealer is None:
        return [measured(subject, blocks, existing=True) for subject in subjects], _initdata_without_policy(config)
    said: tuple[Finding, ...] = ()
    if sealer is None:
        from krm_function.sealing import choose_sealer  # and with it all that makes policies

        source = read(resources, ("ConfigMap", "Secret"), known)
        values = [value for document in source.documents.values() for _, value in objects(document.value)]
        sealer, said = choose_sealer(config, values, engine)
        if sealer is None:
            return subjects, said
        said += source.findings
    done: list[Subject] = []
    for subject in (measured(one, blocks) for one in subjects):
        if subject.failed:
            done.append(subject)
            continue
        sealing = sealer(subject.workload)
        done.append(subject.plus(sealing.edits, sealing.findings)._replace(digest=sealing.digest))
    return done, said


def _initdata_without_policy(config: Config) -> tuple[Finding, ...]:
    """An error for files of the initdata when no policy is made."""
    if not config.generate.policy.initdata:
        return ()
    from krm_function.sealing import option_wrong

    return (option_wrong(config, "initdata", "has no effect with policy.engine: none", "remove one of the two"),)


def _planned(subject: Subject) -> Planned:
    platform = subject.resolved.platform
    return Planned(
        subject.workload.ref,
        subject.placeholder,
        platform.name if platform else "",
        subject.workload.runtime_class,
        subject.vcpus,
        subject.scheduled.node_selector if subject.scheduled else NO_LABELS,
        subject.edits,
        subject.digest,
        workload=subject.workload,
        scheduled=subject.scheduled,
        resource=subject.resource,
    )
