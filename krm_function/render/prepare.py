"""Prepare the workloads of a deployment: read, select, resolve, identify, inject.

Rule of this file: no other place selects or injects, so that all commands see the same pods. `render` goes on with
policies and the manifest; `lock` lists the images. An error ends it early.
"""

from collections.abc import Collection, Sequence

from krm_function.config.collect import NO_RELEASE, Config
from krm_function.contrast.identity import Identities
from krm_function.contrast.injected import SECURE_PV
from krm_function.findings import Finding, Ref, has_errors
from krm_function.kubernetes.pod_kinds import SHIPPED
from krm_function.kubernetes.resource import ObjectEdits, Resource, with_kinds
from krm_function.kubernetes.workload import Workload, may_have_devices
from krm_function.record import NamedTuple
from krm_function.render.copies import add_copies, find_duplicates
from krm_function.render.deployment_checks import (
    check_coordinator_service,
    check_coordinator_time,
    find_late_injections,
    find_pull_secrets,
    find_renamed_references,
)
from krm_function.render.inject import find_missing_images
from krm_function.render.make_manifest import read_base_of_input
from krm_function.render.read import ReadResources, read
from krm_function.render.rendered import Log, Stop
from krm_function.render.roles import identify
from krm_function.render.select import Selected, select_all
from krm_function.render.stages import (
    add_findings,
    apply_outcome,
    check_namespaces,
    inject_containers,
    is_unreadable,
    list_passed_gpus,
    resolve_workload,
)
from krm_function.render.unsealed import (
    NONE_CONFIDENTIAL,
    check_none_confidential,
    check_only_coordinator,
    find_applied_configuration,
    find_placeholders,
)

UNREAD = ("CC01", "CC10", "CC0908", "CC0910")  # something was not read; the release may be in it
MISSING_IMAGES = "CC0511"


class Injected(NamedTuple):
    """The workloads with their containers, or with errors as far as they got. config: with the base of the input.

    identities: of the workloads in the manifest; identity_findings: about the configuration of these. claims: the edits
    of PersistentVolumeClaims, with the positions of their resources.
    """

    config: Config
    selected: Selected
    identities: Identities
    identity_findings: tuple[Finding, ...]
    workloads: list[Workload]
    claims: Sequence[tuple[int, ObjectEdits]] = ()


class Prepared(NamedTuple):
    """The beginning of a render. resources: as read, or as received if none could be.

    injected: None if there is nothing to render, or after an error about all of it.
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

    config, config_findings, live: as for `render`. without: codes of findings about pods that the caller is going to
    fix; they are left out, and stop no workload.
    """
    log, resources = Log(), with_kinds(resources, config.generate.kinds if config else SHIPPED)
    try:
        log.add(find_blocking(config_findings), stop=True)
        resources, findings = _read(add_copies(resources) if live else resources, config)
        log.add(findings)
        selected = select_all(resources, findings, config, live=live)
        log.add(selected.findings)
        log.plan = selected.skipped
        log.add(_find_idle_rules(selected, config))
        if has_errors(findings):
            log.stop()
        plain = [pod.ref for pod in selected.skipped if pod.is_plain]
        if config and not selected.workloads and not log.failed and NONE_CONFIDENTIAL not in without:
            log.add(check_none_confidential(plain, config.generate))
        log.add(find_placeholders(resources))
        if not (selected.workloads or selected.classes):
            log.stop()
        log.add(check_only_coordinator(selected.workloads, plain))
        log.add((*selected.stray, *find_duplicates(resources), *config_findings))
        if config is None:
            log.stop()
        config, problems = read_base_of_input(config, resources)
        log.add(problems, stop=True)

        log.add((*find_applied_configuration(resources), *find_late_injections(resources, selected.workloads)))
        log.add(find_pull_secrets(selected.workloads))
        log.add(check_namespaces(resources, selected.workloads, config.generate.namespace))
        log.add(find_renamed_references(resources, selected.workloads))
        resolved = [resolve_workload(workload, config, without) for workload in selected.workloads]
        reasons = {skipped.ref: skipped.skipped for skipped in selected.skipped}
        complete = not has_errors(selected.findings)
        identified, identities, namespace, about_config = identify(resolved, config, reasons, complete=complete)
        coordinator = next((workload.ref for workload in identified if workload.is_chosen), None)
        log.add(check_coordinator_service(resources, coordinator, namespace))
        rewritten, claims = _apply_rules(identified, resources, config)
        readable = [workload for workload in rewritten if not is_unreadable(workload)]
        if MISSING_IMAGES not in without:
            log.add(find_missing_images(readable, config.generate, config.release), stop=True)
        gpus = list_passed_gpus(config)
        injected = [inject_containers(workload, config, namespace, gpus, without) for workload in rewritten]
        log.add(tuple(check_coordinator_time([workload for workload in injected if not is_unreadable(workload)])))
        workloads = _check_claim_modes(injected, resources, config, [edits.ref for _, edits in claims])
    except Stop:
        return Prepared(log, resources)
    return Prepared(log, resources, Injected(config, selected, identities, about_config, workloads, claims))


def _read(resources: Sequence[Resource], config: Config | None) -> ReadResources:
    """Read the resources; also plain pods if entries may choose them, and claims if a rule may encrypt them."""
    if config is None or not config.generate.volumes.secure_claims:
        return read(resources, keep_plain=bool(config and config.generate.workloads))
    from krm_function.contrast.owned import CLAIM_KIND

    return read(resources, further=(CLAIM_KIND,), keep_plain=True)


def _find_idle_rules(selected: Selected, config: Config | None) -> tuple[Finding, ...]:
    """Return CC0840 for unused names in `spec.volumes`; nothing after errors, since the rest may use them."""
    if config is None or not config.generate.volumes.names_something or has_errors(selected.findings):
        return ()
    from krm_function.render.volume_rules import find_idle_entries

    return find_idle_entries(selected.workloads, config)


def _apply_rules(
    workloads: list[Workload], resources: Sequence[Resource], config: Config
) -> tuple[list[Workload], Sequence[tuple[int, ObjectEdits]]]:
    if config.generate.gpus.rename:
        from krm_function.adapt.gpu_names import rename_gpus

        names = config.generate.gpus.rename
        workloads = [
            workload if is_unreadable(workload) else apply_outcome(workload, rename_gpus(workload, names))
            for workload in workloads
        ]
    if not any(config.generate.volumes) and not any(SECURE_PV in workload.annotations for workload in workloads):
        return workloads, ()
    from krm_function.render.volume_rules import apply_volume_rules

    return apply_volume_rules(workloads, resources, config)


def _check_claim_modes(
    workloads: list[Workload], resources: Sequence[Resource], config: Config, made_block: Sequence[Ref]
) -> list[Workload]:
    """Check the claims that pods use as block devices. made_block: those that this render converts."""
    if not any(may_have_devices(workload) for workload in workloads if not is_unreadable(workload)):
        return workloads
    from krm_function.adapt.secure_pv import claim_modes, claim_objects

    claims = [claim for claim in claim_objects(resources) if claim.ref not in made_block]
    return [
        workload
        if is_unreadable(workload)
        else add_findings(workload, claim_modes(workload, claims, config.generate.namespace))
        for workload in workloads
    ]


def find_blocking(config_findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings of a configuration whose errors prevent reading the input; () if they do not.

    If a file could not be read, the release may be in it, so a missing release is not reported.
    """
    errors = tuple(problem for problem in config_findings if problem.code != NO_RELEASE)
    if not has_errors(errors):
        return ()
    unread = any(problem.code in UNREAD or problem.code[:4] in UNREAD for problem in errors)
    return errors if unread else config_findings
