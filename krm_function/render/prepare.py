"""Prepare the workloads of a deployment: read, select, resolve, decide who is who, inject.

Rule of this file: no other place selects or injects, so that all commands see the same pods.
`render` goes on with policies and the manifest; `lock` lists the images. An error ends it early.
"""

from collections.abc import Collection, Sequence

from krm_function.config.collect import Config
from krm_function.contrast.identity import Identities
from krm_function.findings import Finding, Ref, has_errors
from krm_function.kubernetes.pod_kinds import SHIPPED
from krm_function.kubernetes.resource import ObjectEdits, Resource, with_kinds
from krm_function.kubernetes.workload import Workload, may_have_devices
from krm_function.record import NamedTuple
from krm_function.render.copies import duplicates, with_copies
from krm_function.render.deployment_checks import coordinator_service, injected_afterwards, renamed_references
from krm_function.render.make_manifest import with_base_of_input
from krm_function.render.read import ReadResources, read
from krm_function.render.rendered import Log, Stop
from krm_function.render.roles import identify
from krm_function.render.select import Selected, select_all
from krm_function.render.stages import (
    inject_containers,
    is_unreadable,
    namespace_findings,
    passed_gpus,
    resolve_workload,
    with_findings,
    with_outcome,
)
from krm_function.render.unsealed import applied_configuration, only_the_coordinator

UNREAD = ("CC01", "CC10", "CC0908", "CC0910")  # something was not read; the release may be in it
NO_RELEASE = "CC0903"  # the one configuration error that a stream without Contrast workloads may have


class Injected(NamedTuple):
    """The workloads with their containers, those with errors as far as they got. config: with the base of the input.

    identities: what the manifest gives to the workloads; identity_findings: what is wrong with the configuration of
    these. claims: the edits of PersistentVolumeClaims, with the positions of their resources.
    """

    config: Config
    selected: Selected
    identities: Identities
    identity_findings: tuple[Finding, ...]
    workloads: list[Workload]
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
    log, resources = Log(), with_kinds(resources, config.generate.kinds if config else SHIPPED)
    try:
        log.add(_before_reading(config_findings), stop=True)
        resources, findings = _read(with_copies(resources) if live else resources, config)
        log.add(findings)
        selected = select_all(resources, findings, config, live=live)
        log.add(selected.findings)
        log.plan = selected.skipped
        log.add(_idle_rules(selected, config))
        if has_errors(findings) or not (selected.workloads or selected.classes):
            log.stop()
        log.add(only_the_coordinator(selected.workloads, [pod.ref for pod in selected.skipped if pod.is_plain]))
        log.add((*selected.stray, *duplicates(resources), *config_findings))
        if config is None:
            log.stop()
        config, problems = with_base_of_input(config, resources)
        log.add(problems, stop=True)

        log.add((*applied_configuration(resources), *injected_afterwards(resources, selected.workloads)))
        log.add(namespace_findings(resources, selected.workloads, config.generate.namespace))
        if any(workload.made_by for workload in selected.workloads):
            log.add(renamed_references(resources, selected.workloads))
        resolved = [resolve_workload(workload, config, without) for workload in selected.workloads]
        reasons = {skipped.ref: skipped.skipped for skipped in selected.skipped}
        complete = not has_errors(selected.findings)
        identified, identities, namespace, about_config = identify(resolved, config, reasons, complete=complete)
        coordinator = next((workload.ref for workload in identified if workload.is_chosen), None)
        log.add(coordinator_service(resources, coordinator, namespace))
        rewritten, claims = _rewritten(identified, resources, config)
        gpus = passed_gpus(config)
        injected = [inject_containers(workload, config, namespace, gpus, without) for workload in rewritten]
        workloads = _with_claim_modes(injected, resources, config, [edits.ref for _, edits in claims])
    except Stop:
        return Prepared(log, resources)
    return Prepared(log, resources, Injected(config, selected, identities, about_config, workloads, claims))


def _read(resources: Sequence[Resource], config: Config | None) -> ReadResources:
    """Read the resources; of pods that may become Contrast's or use its claims, all of them, and these claims."""
    if config is None or not config.generate.volumes.secure_claims:
        return read(resources, keep_plain=bool(config and config.generate.workloads))
    from krm_function.contrast.owned import CLAIM_KIND

    return read(resources, more=(CLAIM_KIND,), keep_plain=True)


def _idle_rules(selected: Selected, config: Config | None) -> tuple[Finding, ...]:
    """Return CC0840 for what `spec.volumes` names in vain; an input with errors may have what it names."""
    if config is None or not config.generate.volumes.names_something or has_errors(selected.findings):
        return ()
    from krm_function.render.volume_rules import idle_entries

    return idle_entries(selected.workloads, config)


def _rewritten(
    workloads: list[Workload], resources: Sequence[Resource], config: Config
) -> tuple[list[Workload], Sequence[tuple[int, ObjectEdits]]]:
    """Apply the rules of `spec.gpus` and `spec.volumes`, if there are any."""
    if config.generate.gpus.rename:
        from krm_function.adapt.gpu_names import rename_gpus

        names = config.generate.gpus.rename
        workloads = [
            workload if is_unreadable(workload) else with_outcome(workload, rename_gpus(workload, names))
            for workload in workloads
        ]
    if not any(config.generate.volumes):
        return workloads, ()
    from krm_function.render.volume_rules import with_volume_rules

    return with_volume_rules(workloads, resources, config)


def _with_claim_modes(
    workloads: list[Workload], resources: Sequence[Resource], config: Config, made_block: Sequence[Ref]
) -> list[Workload]:
    """Check the claims that pods have as block devices. made_block: those that this render makes so."""
    if not any(may_have_devices(workload) for workload in workloads if not is_unreadable(workload)):
        return workloads
    from krm_function.adapt.secure_pv import claim_modes, claim_objects

    claims = [claim for claim in claim_objects(resources) if claim.ref not in made_block]
    return [
        workload
        if is_unreadable(workload)
        else with_findings(workload, claim_modes(workload, claims, config.generate.namespace))
        for workload in workloads
    ]


def _before_reading(config_findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings of a configuration whose errors prevent reading the input; () if they do not.

    If a file could not be read, the release may be in it, so a missing release is not reported.
    """
    errors = tuple(finding for finding in config_findings if finding.code != NO_RELEASE)
    if not has_errors(errors):
        return ()
    unread = any(finding.code in UNREAD or finding.code[:4] in UNREAD for finding in errors)
    return errors if unread else config_findings
