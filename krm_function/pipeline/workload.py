"""Run the stages for one workload: namespace, resolve, inject, schedule, measure.

Rule of this file: each function adds the edits and findings of its stages; a workload with errors gets no injected
containers, no ID block and no policy.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from krm_function.api.records import EMPTY, Config, Generate, Release
from krm_function.findings import Finding, finding, has_errors
from krm_function.manifest.gathered_values import ReferenceValues
from krm_function.measurement.vcpu_count import vcpus_text
from krm_function.model.cpu_limits import vcpus
from krm_function.model.edits import Edit, ObjectEdits
from krm_function.model.platforms import PLATFORMS, Platform
from krm_function.model.runtime_class_objects import RuntimeClass
from krm_function.model.workload import Workload
from krm_function.pipeline.result import NO_LABELS, Planned
from krm_function.record import NamedTuple
from krm_function.stages.daemon_sets import schedule_daemon_set
from krm_function.stages.host_mounts import host_mounts
from krm_function.stages.inject import inject_into
from krm_function.stages.measure import id_blocks, measure
from krm_function.stages.namespace import in_namespace
from krm_function.stages.pod_checks import check_after_injection, check_before_injection
from krm_function.stages.resolve import Resolved, resolve
from krm_function.stages.runtime_classes import RuntimeClasses
from krm_function.stages.schedule import schedule

if TYPE_CHECKING:
    from krm_function.policy.open_variables import OpenVariable


class WorkloadRender(NamedTuple):
    """A workload between two stages: as it is now, with the edits and findings so far.

    placeholder: its runtimeClassName in the input, or that of the configuration. vcpus: 0 if they
    cannot be known. scheduled: the RuntimeClass that it was checked against. digest: of its initdata, "" if none. open:
    the variables of which its policy allows any value. notes: sentences about it for the plan. identity: those about
    what the manifest gives to it.
    """

    workload: Workload
    placeholder: str
    resolved: Resolved
    vcpus: int
    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()
    scheduled: RuntimeClass | None = None
    digest: str = ""
    open: "tuple[OpenVariable, ...]" = ()
    notes: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()

    def plus(
        self, edits: tuple[Edit, ...], findings: tuple[Finding, ...] = (), workload: Workload | None = None
    ) -> "WorkloadRender":
        """Return the workload after one more stage. workload: after the edits, if the stage has it already."""
        return self._replace(
            workload=workload or self.workload.after(edits),
            edits=self.edits + edits,
            findings=self.findings + findings,
        )

    @property
    def failed(self) -> bool:
        """Whether a stage found an error: later stages would only repeat it."""
        return has_errors(self.findings)

    @property
    def placed_findings(self) -> tuple[Finding, ...]:
        """Its findings with their lines in the input."""
        return tuple(map(self.workload.placed, self.findings))


def resolved(workload: Workload, config: Config, without: Collection[str] = ()) -> WorkloadRender:
    """Give one workload its namespace and its configured class, verify it as the user wrote it, resolve its class.

    without: codes of findings that are left out, as if there were no such rule.
    """
    named, workload = in_namespace(workload, config.generate.namespace)
    chosen, workload, notes = _with_configured_class(workload, config.generate)
    found = resolve(workload, config.release, config.generate.platform)
    count = vcpus(workload)
    findings = _left(check_before_injection(workload, config.release.images) + found.findings, without)
    vcpu = count if isinstance(count, int) else 0
    made = WorkloadRender(workload, workload.runtime_class, found, vcpu, named + chosen, notes=notes)
    return made.plus(() if has_errors(findings) else found.edits, findings)


def _with_configured_class(
    workload: Workload, generate: Generate
) -> tuple[tuple[Edit, ...], Workload, tuple[str, ...]]:
    """Write the class into a workload that `spec.workloads` names; also returns what the plan says of that."""
    if not generate.workloads:
        return (), workload, ()
    from krm_function.stages.choose import chosen_note, with_chosen_class

    return (*with_chosen_class(workload, generate), chosen_note(workload, generate))


def injected(
    one: WorkloadRender, config: Config, coordinator_namespace: str, without: Collection[str] = ()
) -> WorkloadRender:
    """Inject the containers and volumes that one workload gets, and verify the result. without: as in `resolved`."""
    if one.failed:
        return one
    images = config.images or EMPTY
    outcome, workload = inject_into(one.workload, config.generate, config.release, coordinator_namespace, images)
    one = one.plus(outcome.edits, _left(outcome.findings, without), workload)
    if one.failed:
        return one
    findings = check_after_injection(one.workload, config.release.version)
    settings = config.generate.policy.settings or config.release.policy_settings
    return one.plus((), _left((*findings, *host_mounts(one.workload, images, settings)), without))


def _left(findings: tuple[Finding, ...], without: Collection[str]) -> tuple[Finding, ...]:
    return tuple(found for found in findings if found.code not in without) if without else findings


def scheduled(one: WorkloadRender, classes: RuntimeClasses) -> WorkloadRender:
    """Check one pod against the RuntimeClass that it will have; a DaemonSet gets its scheduling in the template."""
    if one.resolved.platform is None:
        return one
    runtime_class = classes.classes.get(one.workload.runtime_class)
    one = one.plus(*schedule(one.workload, runtime_class))._replace(scheduled=runtime_class)
    return one if one.failed else one.plus(*schedule_daemon_set(one.workload, runtime_class))


def measured(workloads: Iterable[WorkloadRender], values: ReferenceValues, release: Release) -> list[WorkloadRender]:
    """Give every workload without errors the ID blocks of its VM; none at all if the reference values are wrong.

    A workload whose number of vCPUs has no RTMR0 in the release gets CC0609.
    """
    workloads = [one.plus((), _without_rtmr0(one, release)) for one in workloads]
    if has_errors(values.findings):
        return workloads
    blocks = cache(lambda platform, count: id_blocks(platform, count, values.merged.get("snp", ())))
    return [
        one
        if one.failed or one.resolved.platform is None
        else one.plus(*measure(one.workload, blocks(one.resolved.platform, one.vcpus)))
        for one in workloads
    ]


def _without_rtmr0(one: WorkloadRender, release: Release) -> tuple[Finding, ...]:
    """Return CC0609 if a VM of this size is in no reference value."""
    platform = one.resolved.platform
    if platform is None or not platform.rtmr0_by_vcpus or not one.vcpus or platform.name not in release.platforms:
        return ()
    if str(one.vcpus) in release.platforms[platform.name].rtmr0_by_vcpu:
        return ()
    return (
        finding(
            "CC0609", one.workload.ref, one.workload.spec_path, vcpus=vcpus_text(one.vcpus), platform=platform.name
        ),
    )


def used_platforms(workloads: Sequence[WorkloadRender], default: str) -> set[Platform]:
    """Find every platform whose reference values the manifest needs. default: the configured one, "" for none."""
    used = {platform for one in workloads for platform in one.resolved.reference_platforms}
    return used | {PLATFORMS[default]} if default and workloads else used


def vcpu_counts(workloads: Iterable[WorkloadRender], platforms: Iterable[Platform]) -> Mapping[str, list[int]]:
    """Collect by name of the platform the vCPU count of each of its pods."""
    return {
        platform.name: [one.vcpus for one in workloads if one.resolved.platform == platform] for platform in platforms
    }


def object_edits(one: WorkloadRender) -> tuple[int, ObjectEdits]:
    """Return the edits of one workload to its object, with the position of its resource."""
    position, root = one.workload.place
    return position, ObjectEdits(root, one.workload.ref, one.edits)


def planned(one: WorkloadRender) -> Planned:
    """Make the entry of one workload in the plan."""
    platform = one.resolved.platform
    return Planned(
        one.workload.ref,
        one.placeholder,
        platform.name if platform else "",
        one.workload.runtime_class,
        one.vcpus,
        one.scheduled.node_selector if one.scheduled else NO_LABELS,
        one.edits,
        one.digest,
        workload=one.workload,
        scheduled=one.scheduled,
        open=one.open,
        notes=one.identity + one.notes,
        identity=one.identity,
    )
