"""Render the resources of one deployment: every stage in order, each with the results of those before it.

Rule of this file: the body of `render` reads as the pipeline, and `Stop` is the one way to leave it early. A finding of
severity error anywhere means that nothing is written: the caller keeps its input.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from krm_function.api.records import Config
from krm_function.findings import Finding, Path, Ref, has_errors
from krm_function.manifest.identity import Identities
from krm_function.model.edits import ObjectEdits
from krm_function.model.resource import Resource
from krm_function.model.sealed import SealedWorkload
from krm_function.pipeline.base import with_base_of_input
from krm_function.pipeline.identity import identified
from krm_function.pipeline.log import Log, Stop
from krm_function.pipeline.policies import makes_policies, with_policies
from krm_function.pipeline.proof import unproven
from krm_function.pipeline.result import Rendered
from krm_function.pipeline.selected import Selected, select_all
from krm_function.pipeline.workload import (
    injected,
    measured,
    planned,
    resolved,
    scheduled,
    used_platforms,
    vcpu_counts,
)
from krm_function.stages.copies import Copy
from krm_function.stages.duplicates import duplicates
from krm_function.stages.manifest import MadeManifest, make_manifest, manifest_errors
from krm_function.stages.manifest_config_map import emitted_manifest, size_findings
from krm_function.stages.namespace import namespace_findings
from krm_function.stages.read import ReadDocuments, read
from krm_function.stages.reference_values import gather_reference_values
from krm_function.stages.runtime_classes import RuntimeClasses, runtime_classes
from krm_function.stages.write import WriteResult, collisions, write

if TYPE_CHECKING:
    from krm_function.pipeline.sealer import Sealer
    from krm_function.policy.genpolicy import Engine

UNREAD = ("CC01", "CC10", "CC0908", "CC0910")  # something was not read; the release may be in it
NO_RELEASE = "CC0903"  # the one configuration error that a stream without Contrast workloads may have


def render(
    resources: Sequence[Resource],
    config: Config | None,
    config_findings: tuple[Finding, ...] = (),
    engine: "Engine | None" = None,
    sealer: "Sealer | None" = None,
    copied: Mapping[tuple[int, Path], Copy] | None = None,
) -> Rendered:
    """Render the resources of one deployment.

    config: None when it could not be made; config_findings has the reasons. That is an error only if there is anything
    to render: a stream without Contrast workloads passes through as it is. engine: genpolicy in place of the native
    generator; the only argument that is not pure, and given only if the operator has chosen it. sealer: makes policies
    in place of both, for `check` without an ImageLock. copied: the copies that controllers made of workloads of the
    input, which are skipped (live.py); None: no object may be owned by a controller.
    """
    log, source, manifest = Log(), ReadDocuments({}, {}), MadeManifest()
    written: WriteResult | None = None
    edits: list[ObjectEdits] = []
    try:
        log.add(_before_reading(config_findings), stop=True)
        source = read(resources, left=copied or ())
        log.add(source.findings)
        selected = select_all(resources, source, config, copied)
        log.add(selected.findings)
        log.plan = selected.skipped
        if has_errors(source.findings) or not (selected.workloads or selected.classes):
            log.stop()
        log.add((*selected.stray, *duplicates(resources, {**source.documents, **source.emitted}), *config_findings))
        if config is None:
            log.stop()
        config, problems = with_base_of_input(config, resources, source)
        log.add(problems, stop=True)

        log.add(namespace_findings(resources, source.documents, selected.workloads, config.generate.namespace))
        workloads = [resolved(index, workload, config) for index, workload in selected.workloads]
        known = identified(workloads, config, _reasons(selected), complete=not has_errors(selected.findings))
        workloads = [injected(one, config, known.coordinator_namespace) for one in known.workloads]
        platforms = used_platforms(workloads, config.generate.platform)
        classes = runtime_classes(config.generate, config.release, platforms, selected.classes)
        workloads = [scheduled(one, classes) for one in workloads]
        log.add((*known.findings, *classes.findings))
        values = gather_reference_values(config, platforms, vcpu_counts(workloads, platforms))
        workloads = measured(workloads, values, config.release)
        log.add(values.findings)
        workloads, problems = with_policies(workloads, config, resources, source, engine, sealer)
        log.add(problems)
        for one in workloads:
            log.add(one.placed_findings(resources[one.resource], source.documents[one.resource]))
        log.plan = (*map(planned, workloads), *selected.skipped)

        sealed = [SealedWorkload(one.workload, one.digest) for one in workloads]
        if log.failed:
            if workloads and not has_errors(selected.findings):
                log.add(_further_errors(config, sealed, resources, source, classes, known.identities))
            log.stop()
        manifest = make_manifest(config, sealed, values, known.identities) if workloads else MadeManifest()
        log.add(manifest.findings)

        edits = [ObjectEdits(one.resource, one.workload.root, one.workload.ref, one.edits) for one in workloads]
        edits += classes.edits
        additions = (*classes.added, *emitted_manifest(config.generate, manifest.data, sealed))
        written = write(resources, source.documents, source.emitted, edits, additions)
        log.add((*written.findings, *size_findings(config, additions)))
    except Stop:
        pass

    seals = config is not None and makes_policies(config, engine, sealer)
    log.add(unproven(resources, source, config, written, edits, seals=seals))
    if written is None or log.failed:
        return Rendered(tuple(one.text for one in resources), (), log.located(config), log.plan, b"", _version(config))
    return Rendered(written.texts, written.added, log.located(config), log.plan, manifest.data, _version(config))


def _version(config: Config | None) -> str:
    """Return the version of the release, "" where there is no configuration."""
    return "" if config is None else config.release.version


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


def _further_errors(
    config: Config,
    sealed: Sequence[SealedWorkload],
    resources: Sequence[Resource],
    source: ReadDocuments,
    classes: RuntimeClasses,
    identities: Identities,
) -> tuple[Finding, ...]:
    """Find errors of the manifest and of the objects to add, so that they are reported together with the workloads'."""
    additions = (*classes.added, *emitted_manifest(config.generate, b"{}", sealed))
    once = list({one.workload.ref: one for one in sealed}.values())  # a duplicate is CC0118 already
    return (
        *manifest_errors(config, once, identities),
        *collisions(resources, source.documents, source.emitted, additions),
    )
