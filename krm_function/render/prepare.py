"""Prepare the workloads of a deployment: read, select, resolve, decide who is who, inject.

Rule of this file: whoever wants to know what a render makes of the pods asks here, and no other place selects or
injects. `render` goes on with policies and the manifest; `lock` lists the images. An error ends it early.
"""

from collections.abc import Collection, Mapping, Sequence

from krm_function.config.collect import Config
from krm_function.findings import Finding, Ref, has_errors
from krm_function.kubernetes.pod_kinds import SHIPPED
from krm_function.kubernetes.resource import ObjectEdits, Resource, knowing
from krm_function.kubernetes.workload import Workload, may_have_devices
from krm_function.record import NamedTuple
from krm_function.render.copies import duplicates, with_copies
from krm_function.render.deployment_checks import coordinator_service, injected_afterwards, renamed_references
from krm_function.render.make_manifest import with_base_of_input
from krm_function.render.read import ReadResources, read
from krm_function.render.rendered import Log, Stop
from krm_function.render.roles import Identified, identified
from krm_function.render.select import Selected, select_all
from krm_function.render.stages import WorkloadRender, injected, namespace_findings, passed_gpus, resolved
from krm_function.render.unsealed import applied_configuration, only_the_coordinator

UNREAD = ("CC01", "CC10", "CC0908", "CC0910")  # something was not read; the release may be in it
NO_RELEASE = "CC0903"  # the one configuration error that a stream without Contrast workloads may have


class Injected(NamedTuple):
    """The workloads with their containers, those with errors as far as they got. config: with the base of the input.

    claims: the edits of PersistentVolumeClaims, with the positions of their resources.
    """

    config: Config
    selected: Selected
    identified: Identified
    workloads: list[WorkloadRender]
    claims: Sequence[tuple[int, ObjectEdits]] = ()


class Prepared(NamedTuple):
    """The beginning of a render. resources: as they were read, or as they were given if nothing was.

    injected: None if there is nothing to render, or an error about all of it.
    """

    log: Log
    resources: tuple[Resource, ...]
    injected: Injected | None = None


def prepare(
    resources: Sequence[Resource],
    config: Config | None,
    config_findings: tuple[Finding, ...] = (),
    *,
    live: bool = False,
    without: Collection[str] = (),
) -> Prepared:
    """Prepare the workloads of one deployment; findings and skipped objects are in the log.

    config, config_findings, live: as for `render`. without: codes of findings about pods that the caller is there to
    cure; they are left out, and stop no workload.
    """
    log, resources = Log(), knowing(resources, config.generate.kinds if config else SHIPPED)
    try:
        log.add(_before_reading(config_findings), stop=True)
        resources, findings = _read(_with_copies(resources) if live else resources, config)
        log.add(findings)
        selected = select_all(resources, findings, config, live=live)
        log.add(selected.findings)
        log.plan = selected.skipped
        log.add(_idle_rules(selected, config))
        if has_errors(findings) or not (selected.workloads or selected.classes):
            log.stop()
        plain = [one.ref for one in selected.skipped if one.is_plain]
        log.add(only_the_coordinator(selected.workloads, plain))
        log.add((*selected.stray, *duplicates(resources), *config_findings))
        if config is None:
            log.stop()
        config, problems = with_base_of_input(config, resources)
        log.add(problems, stop=True)

        log.add((*applied_configuration(resources), *injected_afterwards(resources, selected.workloads)))
        log.add(namespace_findings(resources, selected.workloads, config.generate.namespace))
        if any(one.made_by for one in selected.workloads):
            log.add(_renamed(resources, selected.workloads))
        workloads = [resolved(workload, config, without) for workload in selected.workloads]
        known = identified(workloads, config, _reasons(selected), complete=not has_errors(selected.findings))
        coordinator = next((one.workload.ref for one in known.workloads if one.workload.is_chosen), None)
        log.add(coordinator_service(resources, coordinator, known.coordinator_namespace))
        rewritten, claims = _rewritten(known.workloads, resources, config)
        gpus = passed_gpus(config)
        workloads = [injected(one, config, known.coordinator_namespace, gpus, without) for one in rewritten]
        workloads = _with_claim_modes(workloads, resources, config, [edits.ref for _, edits in claims])
    except Stop:
        return Prepared(log, resources)
    return Prepared(log, resources, Injected(config, selected, known, workloads, claims))


def _with_copies(resources: tuple[Resource, ...]) -> tuple[Resource, ...]:
    return with_copies(resources)


def _read(resources: Sequence[Resource], config: Config | None) -> ReadResources:
    """Read the resources; of pods that may become Contrast's or use its claims, all of them, and these claims."""
    if config is None or not config.generate.volumes.secure_claims:
        return read(resources, keep_plain=bool(config and config.generate.workloads))
    from krm_function.contrast.owned import CLAIM_KIND

    return read(resources, more=(CLAIM_KIND,), keep_plain=True)


def _renamed(resources: Sequence[Resource], workloads: Sequence[Workload]) -> tuple[Finding, ...]:
    return renamed_references(resources, workloads)


def _idle_rules(selected: Selected, config: Config | None) -> tuple[Finding, ...]:
    """Return CC0840 for what `spec.volumes` names in vain; an input with errors may have what it names."""
    if config is None or not config.generate.volumes.names_something or has_errors(selected.findings):
        return ()
    from krm_function.render.volume_rules import idle_entries

    return idle_entries(selected.workloads, config)


def _rewritten(
    workloads: list[WorkloadRender], resources: Sequence[Resource], config: Config
) -> tuple[list[WorkloadRender], Sequence[tuple[int, ObjectEdits]]]:
    """Apply the rules of `spec.gpus` and `spec.volumes`, if there are any."""
    if config.generate.gpus.rename:
        from krm_function.adapt.gpu_names import rename_gpus

        names = config.generate.gpus.rename
        workloads = [one if one.unreadable else one.plus(*rename_gpus(one.workload, names)) for one in workloads]
    if not any(config.generate.volumes):
        return workloads, ()
    from krm_function.render.volume_rules import with_volume_rules

    return with_volume_rules(workloads, resources, config)


def _with_claim_modes(
    workloads: list[WorkloadRender], resources: Sequence[Resource], config: Config, made_block: Sequence[Ref]
) -> list[WorkloadRender]:
    """Check the claims that pods have as block devices. made_block: those that this render makes so."""
    if not any(may_have_devices(one.workload) for one in workloads if not one.unreadable):
        return workloads
    from krm_function.adapt.secure_pv import claim_modes, claim_objects

    claims = [one for one in claim_objects(resources) if one.ref not in made_block]
    namespace = config.generate.namespace
    return [
        one if one.unreadable else one.plus((), tuple(claim_modes(one.workload, claims, namespace)))
        for one in workloads
    ]


def _before_reading(config_findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings of a configuration whose errors prevent reading the input; () if they do not.

    If a file could not be read, the release may be in it, so a missing release is not reported.
    """
    errors = tuple(found for found in config_findings if found.code != NO_RELEASE)
    if not has_errors(errors):
        return ()
    unread = any(found.code in UNREAD or found.code[:4] in UNREAD for found in errors)
    return errors if unread else config_findings


def _reasons(selected: Selected) -> Mapping[Ref, str]:
    """Return the objects with a pod template that are no Contrast workloads, with the reason."""
    return {one.ref: one.skipped for one in selected.skipped}
