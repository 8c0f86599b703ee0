"""One workload on its way through the stages: prepared, scheduled, measured.

Rule of this file: each step adds the edits and findings of its stages; a workload with errors gets no injected
containers, no ID block and no policy.
"""

from collections.abc import Callable
from functools import cache

from krm_function.api.kinds import Config
from krm_function.findings import Finding, has_errors
from krm_function.model.edits import Edit
from krm_function.model.platforms import Platform
from krm_function.model.runtime_class import RuntimeClass
from krm_function.model.vcpus import vcpus
from krm_function.model.workload import INITDATA, Workload
from krm_function.record import NamedTuple
from krm_function.stages.inject import inject_into
from krm_function.stages.manifest import ReferenceValues
from krm_function.stages.measure import IdBlocks, id_blocks, measure
from krm_function.stages.resolve import Resolved, resolve
from krm_function.stages.schedule import RuntimeClasses, schedule
from krm_function.stages.verify import after, before

Blocks = Callable[[Platform, int], IdBlocks]


class Subject(NamedTuple):
    """A workload between two stages: as it is now, with the edits and findings so far."""

    resource: int
    workload: Workload
    placeholder: str
    resolved: Resolved
    vcpus: int
    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()
    scheduled: RuntimeClass | None = None
    digest: str = ""

    def plus(
        self, edits: tuple[Edit, ...], findings: tuple[Finding, ...] = (), workload: Workload | None = None
    ) -> "Subject":
        """The subject after one more stage. workload: as it is after the edits, if the stage knows."""
        return self._replace(
            workload=workload or self.workload.after(edits),
            edits=self.edits + edits,
            findings=self.findings + findings,
        )

    @property
    def failed(self) -> bool:
        """Whether a stage found an error: later stages would only repeat it."""
        return has_errors(self.findings)


def prepared(resource: int, workload: Workload, config: Config, namespace: str) -> Subject:
    """Verify, resolve and inject one workload."""
    resolved = resolve(workload, config.release, config.generate.platform)
    count = vcpus(workload)
    findings = before(workload, config.release.images) + resolved.findings
    subject = Subject(
        resource, workload, workload.runtime_class, resolved, count if isinstance(count, int) else 0, findings=findings
    )
    if subject.failed:
        return subject
    subject = subject.plus(resolved.edits)
    outcome, workload = inject_into(subject.workload, config.generate, config.release, namespace)
    subject = subject.plus(*outcome, workload)
    return subject if subject.failed else subject.plus((), after(subject.workload, config.release.version))


def scheduled(subject: Subject, classified: RuntimeClasses) -> Subject:
    """Check one pod against the RuntimeClass it will get."""
    runtime_class = classified.classes.get(subject.workload.runtime_class)
    if subject.resolved.platform is None:
        return subject
    checked = schedule(subject.workload, runtime_class)
    return subject.plus(checked.edits, checked.findings)._replace(scheduled=runtime_class)


def id_blocks_by_size(reference_values: ReferenceValues) -> Blocks | None:
    """The ID blocks of a platform and a vCPU count, made once a render; None if the reference values are wrong."""
    if has_errors(reference_values.findings):
        return None
    snp = reference_values.merged.get("snp", ())
    return cache(lambda platform, count: id_blocks(platform, count, snp))


def measured(subject: Subject, blocks: Blocks | None, *, existing: bool = False) -> Subject:
    """Give one workload its ID block; existing: take the digest of initdata that stands there already."""
    platform = subject.resolved.platform
    if subject.failed or platform is None:
        return subject
    if blocks is not None:
        subject = subject.plus(*measure(subject.workload, blocks(platform, subject.vcpus)))
    if existing and not subject.failed and INITDATA in subject.workload.annotations:
        from krm_function.stages.policy import existing_digest

        found = existing_digest(subject.workload)
        return subject.plus((), found.findings)._replace(digest=found.digest)
    return subject
