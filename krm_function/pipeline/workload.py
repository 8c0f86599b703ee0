"""Run the stages for one workload: namespace, resolve, inject, schedule, measure.

Rule of this file: each function adds the edits and findings of its stages. A workload with errors gets no ID block and
no policy, but every later stage looks at it and says what is new, so that one round shows all errors; one whose types
are wrong is looked at no further, since the stages trust them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from krm_function.api.profile_of_version import chosen_profile
from krm_function.api.records import EMPTY, Config, Generate, Release
from krm_function.findings import Finding, finding, has_errors
from krm_function.manifest.gathered_values import ReferenceValues
from krm_function.measurement.vcpu_count import vcpus_text
from krm_function.model.cpu_limits import vcpus
from krm_function.model.edits import Edit, ObjectEdits
from krm_function.model.gpu_names import passed_names
from krm_function.model.platforms import PLATFORMS, Platform
from krm_function.model.pod_kinds import SHIPPED
from krm_function.model.pod_types import UNREADABLE
from krm_function.model.repeated_findings import news
from krm_function.model.runtime_class_names import Bare, parse_runtime_class
from krm_function.model.runtime_class_objects import RuntimeClass
from krm_function.model.workload import Workload
from krm_function.pipeline.result import NO_LABELS, Planned
from krm_function.record import NamedTuple
from krm_function.stages.closed_networks import closed_networks
from krm_function.stages.daemon_sets import schedule_daemon_set
from krm_function.stages.gpu_checks import gpu_checks
from krm_function.stages.host_mounts import host_mounts
from krm_function.stages.inject import inject_into
from krm_function.stages.namespace import in_namespace
from krm_function.stages.pod_checks import check_after_injection, check_before_injection
from krm_function.stages.resolve import Resolved, resolve
from krm_function.stages.runtime_classes import RuntimeClasses
from krm_function.stages.schedule import schedule

if TYPE_CHECKING:
    from krm_function.model.pod_memory import PodMemory
    from krm_function.policy.open_variables import OpenVariable


class WorkloadRender(NamedTuple):
    """A workload between two stages: as it is now, with the edits and findings so far.

    Findings have their lines and paths in the input. written: the workload before anything is injected.
    placeholder: its runtimeClassName in the input, or that of the configuration. vcpus: 0 if they cannot be known.
    scheduled: the RuntimeClass that it was checked against. digest: of its initdata, "" if none. open: the variables of
    which its policy allows any value. notes: sentences about it for the plan. identity: those about what the manifest
    gives to it. memory: of its VM, once that is known.
    """

    workload: Workload
    placeholder: str
    resolved: Resolved
    vcpus: int
    written: Workload
    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()
    scheduled: RuntimeClass | None = None
    digest: str = ""
    open: "tuple[OpenVariable, ...]" = ()
    notes: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    memory: "PodMemory | None" = None

    def plus(
        self, edits: tuple[Edit, ...], findings: tuple[Finding, ...] = (), workload: Workload | None = None
    ) -> "WorkloadRender":
        """Return the workload after one more stage.

        findings: about the workload as it is before the edits; those that repeat an error are left out. workload: after
        the edits, if the stage has it already.
        """
        return self.said(findings)._replace(workload=workload or self.workload.after(edits), edits=self.edits + edits)

    def said(self, findings: Sequence[Finding]) -> "WorkloadRender":
        """Return the workload with findings about it as it is now."""
        placed = tuple(map(self.workload.placed, findings))
        if self.failed and placed:
            placed = news(placed, self.findings, self.written)
        return self._replace(findings=self.findings + placed) if placed else self

    @property
    def failed(self) -> bool:
        """Whether a stage found an error: then nothing is written."""
        return has_errors(self.findings)

    @property
    def unreadable(self) -> bool:
        """Whether it has no containers, or values of a wrong type, so that no later stage can read it."""
        return any(found.code in UNREADABLE for found in self.findings)


def resolved(workload: Workload, config: Config, without: Collection[str] = ()) -> WorkloadRender:
    """Give one workload its namespace and its configured class, verify it as the user wrote it, resolve its class.

    without: codes of findings that are left out, as if there were no such rule.
    """
    named, workload = in_namespace(workload, config.generate.namespace)
    chosen, workload, notes = _with_configured_class(workload, config.generate)
    moved, workload = _with_moved_annotations(workload, config.generate)
    raised, workload = _with_least_vcpus(workload, config.generate)
    found = resolve(workload, config.release, config.generate.platform)
    count = vcpus(workload)
    findings = _left(check_before_injection(workload, config.release.images) + found.findings, without)
    vcpu = count if isinstance(count, int) else 0
    notes += _templates_note(workload, config.generate)
    made = WorkloadRender(
        workload, workload.runtime_class, found, vcpu, workload, named + chosen + moved + raised, notes=notes
    )
    return made.plus(() if has_errors(findings) else found.edits, findings)


def _with_configured_class(
    workload: Workload, generate: Generate
) -> tuple[tuple[Edit, ...], Workload, tuple[str, ...]]:
    """Write the class into a workload that `spec.workloads` names; also returns what the plan says of that."""
    if not generate.workloads:
        return (), workload, ()
    from krm_function.stages.choose import chosen_note, with_chosen_class

    return (*with_chosen_class(workload, generate), chosen_note(workload, generate))


def _with_moved_annotations(workload: Workload, generate: Generate) -> tuple[tuple[Edit, ...], Workload]:
    """Move annotations that stand on the object, if the configuration says so."""
    if generate.object_annotations != "move":
        return (), workload
    from krm_function.stages.move_annotations import move_annotations

    edits = move_annotations(workload)
    return edits, workload.after(edits) if edits else workload


def _with_least_vcpus(workload: Workload, generate: Generate) -> tuple[tuple[Edit, ...], Workload]:
    """Raise the cpu limit of the pod, if the configuration says so."""
    if not generate.vcpus:
        return (), workload
    from krm_function.stages.least_vcpus import least_vcpus

    edits = least_vcpus(workload, generate.vcpus)
    return edits, workload.after(edits) if edits else workload


def _templates_note(workload: Workload, generate: Generate) -> tuple[str, ...]:
    """Return what the plan says of a workload whose kind the configuration has told about."""
    known = generate.kinds.entry(workload.ref) if workload.made_by and generate.pod_templates else None
    if known is None or known.source != "configuration":
        return ()
    said = "spec.podTemplates says where its pods are and what its controller adds"
    return (f"{said}, in place of the catalogue" if SHIPPED.entry(workload.ref) else said,)


def injected(
    one: WorkloadRender,
    config: Config,
    coordinator_namespace: str,
    gpus: tuple[str, ...],
    without: Collection[str] = (),
) -> WorkloadRender:
    """Inject the containers and volumes that one workload gets, and verify the result.

    gpus: `passed_gpus` of the configuration. without: as in `resolved`.
    """
    if one.unreadable:
        return one
    images = config.images or EMPTY
    outcome, workload = inject_into(one.workload, config.generate, config.release, coordinator_namespace, images)
    one = one.plus(outcome.edits, workload=workload).said(_left(outcome.findings, without))
    findings = check_after_injection(one.workload, config.release.version)
    settings = config.generate.policy.settings or config.release.policy_settings
    network = closed_networks(one.workload, config.generate)
    explicit = not isinstance(parse_runtime_class(one.placeholder), Bare)
    of_gpus = gpu_checks(one.workload, one.resolved.platform, gpus, explicit=explicit)
    return one.said(_left((*findings, *network, *host_mounts(one.workload, images, settings), *of_gpus), without))


def passed_gpus(config: Config) -> tuple[str, ...]:
    """Return the names of GPUs that the policies of a render pass."""
    options = config.generate.policy
    profile, _ = chosen_profile(options.profile, config.release, config.generate.name)
    return passed_names(options.settings or config.release.policy_settings, profile)


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
    from krm_function.stages.measure import id_blocks, measure  # late: `assess` measures nothing

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
    """Find every platform whose reference values the manifest needs. default: the configured one, "" for none.

    For a GPU on an explicit platform without one Contrast adds those of the GPU variant; here it is CC0409.
    """
    used = {one.resolved.platform for one in workloads if one.resolved.platform is not None}
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
        memory=one.memory,
    )
