"""Render the resources of one deployment: every stage in order, each with the results of those before it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from krm_function.config.collect import Config
from krm_function.config.generate import RequestRules
from krm_function.contrast.identity import Identities
from krm_function.findings import Finding, Ref, has_errors
from krm_function.kubernetes.kinds import LIMITING
from krm_function.kubernetes.resource import Resource
from krm_function.kubernetes.workload import INITDATA, Workload
from krm_function.render.classes import RuntimeClasses, complete_classes, find_removed_scheduling
from krm_function.render.make_manifest import (
    NO_COORDINATOR,
    MadeManifest,
    check_manifest,
    check_size,
    gather_reference_values,
    make_config_map,
    make_manifest,
)
from krm_function.render.memory import add_memory
from krm_function.render.prepare import prepare
from krm_function.render.rendered import Rendered, Stop
from krm_function.render.stages import collect_vcpu_counts, find_platforms, measure_all, schedule_workload
from krm_function.render.write import WriteResult, collect_edits, find_collisions, with_edits, write

if TYPE_CHECKING:
    from krm_function.render.policies import Sealer


# --- Prove the undo records of the input; the modules that this needs are imported only if there are any


def find_unproven(
    resources: Sequence[Resource], config: Config | None, *, rendered: bool, seals: bool, taken_back: bool = False
) -> tuple[Finding, ...]:
    """Return CC0115 for each unproven undo record of the input, and the scheduling that records remove for good.

    config: without one, a record may restore any image, since nothing of the result is deployed. rendered: whether the
    resources have their new texts. seals: whether the render writes initdata. taken_back: nothing is rendered, so parts
    that a record removes need not come back; otherwise a class may go only where the configuration gives one.
    """
    if not any(resource.undone for resource in resources):
        return ()
    from krm_function.kubernetes.image import any_image, images_again, images_of
    from krm_function.render.proof import RenderOutcome, prove
    from krm_function.render.select import is_confidential

    def class_comes_back(ref: Ref) -> bool:
        return taken_back if config is None else is_confidential(ref, config.generate)

    images = images_of(config.release.images) if config else any_image
    outcome = None
    if config is not None and rendered:
        outcome = RenderOutcome(images_again(config.release.images, images), seals, config.generate.scheduling)
    unproven_records: list[Finding] = []
    removed: list[Finding] = []
    for resource in resources:
        if not resource.undone or (outcome is not None and resource.output == resource.text):
            continue  # without a record, or the record changes nothing
        source = resource.given()
        unproven_records += prove(resource, source, images, outcome, class_may_go=class_comes_back)
        removed += find_removed_scheduling(resource, source) if outcome is not None else ()
    return (*unproven_records, *removed)


# --- Render the resources of one deployment: every stage in order, each with the results of those before it
#
# The first half, up to the injected containers, is `prepare`, which other commands share.
#
# Rule: the body of `render` reads as the pipeline, and `Stop` is the one way to leave it early. A finding
# of severity error anywhere means that nothing is written: the caller keeps its input.


def render(
    resources: Sequence[Resource],
    config: Config | None,
    config_findings: tuple[Finding, ...] = (),
    sealer: "Sealer | None" = None,
    *,
    live: bool = False,
) -> Rendered:
    """Render the resources of one deployment.

    config: None when it could not be made; config_findings has the reasons. That is an error only if there is anything
    to render: a stream without Contrast workloads passes through as it is. sealer: makes policies in
    place of the native generator, for `check` without an ImageLock. live: the input may be of a cluster, so the copies
    that controllers made of its workloads are skipped (render/copies.py); else no object may be owned by a controller.
    """
    log, read, prepared = prepare(resources, config, config_findings, live=live)
    written, manifest = WriteResult(read), MadeManifest()
    finished = False
    try:
        if prepared is None:
            log.stop()
        config, selected, identities, identity_findings, injected, claims = prepared
        platforms = find_platforms(injected, config.generate.platform)
        classes = complete_classes(config.generate, config.release, platforms, selected.classes)
        scheduled = [add_memory(schedule_workload(workload, classes), config) for workload in injected]
        log.add((*identity_findings, *classes.findings))
        values = gather_reference_values(config, platforms, collect_vcpu_counts(scheduled, platforms))
        log.add(values.findings)
        measured = measure_all(scheduled, values, config.release)
        sealed, problems = _add_policies(measured, config, read, sealer)
        log.add(problems)
        for workload in sealed:
            log.add(workload.findings)
        log.add(_check_namespaces(read, sealed))
        log.plan = (*sealed, *selected.skipped)

        if log.failed:
            if sealed and not has_errors(selected.findings):
                problems = _find_further_errors(config, sealed, read, classes, identities)
                log.add(_name_coordinator(problems, read))
            log.stop()
        manifest = make_manifest(config, sealed, values, identities) if sealed else MadeManifest()
        log.add(_name_coordinator(manifest.findings, read))

        additions = (*classes.added, *make_config_map(config.generate, manifest.data, sealed))
        written = write(with_edits(read, (*map(collect_edits, sealed), *classes.edits, *claims)), additions)
        finished = True
        log.add((*written.findings, *check_size(config, additions)))
    except Stop:
        pass

    seals = sealer is not None or (config is not None and config.generate.policy.engine != "none")
    log.add(find_unproven(written.resources, config, rendered=finished, seals=seals))
    version = "" if config is None else config.release.version
    findings = log.reported(config)
    if not finished or has_errors(findings):
        return Rendered(tuple(resource.text for resource in resources), (), findings, log.plan, b"", version)
    return Rendered(written.texts, written.added, findings, log.plan, manifest.data, version)


def _add_policies(
    workloads: Sequence[Workload], config: Config, resources: Sequence[Resource], sealer: "Sealer | None"
) -> tuple[Sequence[Workload], tuple[Finding, ...]]:
    """Give workloads their policies; what makes and reads them is imported only if there are any."""
    policy = config.generate.policy
    has_options = policy.initdata or policy.external_sources or policy.requests != RequestRules()
    makes_policies = sealer is not None or policy.engine != "none" or has_options
    if not makes_policies and not any(INITDATA in workload.annotations for workload in workloads):
        return workloads, ()
    from krm_function.render.policies import add_policies

    return add_policies(workloads, config, resources, sealer)


def _check_namespaces(resources: Sequence[Resource], workloads: Sequence[Workload]) -> tuple[Finding, ...]:
    if not any(resource.may_be((*LIMITING, "List")) for resource in resources):
        return ()
    from krm_function.contrast.namespace_admission import refusals

    return refusals(resources, workloads)


def _name_coordinator(findings: tuple[Finding, ...], resources: Sequence[Resource]) -> tuple[Finding, ...]:
    if not any(finding.code == NO_COORDINATOR for finding in findings):
        return findings
    from krm_function.render.deployment_checks import name_coordinator

    return name_coordinator(findings, resources)


def _find_further_errors(
    config: Config,
    sealed: Sequence[Workload],
    resources: Sequence[Resource],
    classes: RuntimeClasses,
    identities: Identities,
) -> tuple[Finding, ...]:
    """Find errors of the manifest and of the objects to add, so that they are reported together with the workloads'."""
    additions = (*classes.added, *make_config_map(config.generate, b"{}", sealed))
    once = list({(workload.ref, workload.template): workload for workload in sealed}.values())  # a duplicate is CC0118
    return (*check_manifest(config, once, identities), *find_collisions(resources, additions))
