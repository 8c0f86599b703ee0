"""`check --cluster`: read what a cluster has of rendered output, compare it, and ask it for the pods it would make.

Rule of this file: it reads first, so that `check` knows which policies of a manifest belong to workloads of another
release; the comparison is asked for only where the output itself is right.
"""

from collections.abc import Sequence
from typing import Any

from krm_function.api.records import Config
from krm_function.checking.live import Rendered, compare_live, described, sealed_in_the_cluster
from krm_function.checking.parse_output import parse_output
from krm_function.checking.running_pods import RunningPods
from krm_function.cli.cluster.cluster_objects import ClusterObjects, read_cluster_objects
from krm_function.findings import Finding, Ref
from krm_function.model.objects import reference
from krm_function.model.pod_kinds import SHIPPED
from krm_function.model.resource import Resource
from krm_function.policy import References
from krm_function.record import NamedTuple
from krm_function.stages.manifest_config_map import manifest_of
from krm_function.stages.runtime_classes import known_classes
from krm_function.stages.select import select


class Live(NamedTuple):
    """Rendered output, and what a cluster has. values: all objects of the output that were parsed; refs: of all."""

    output: Rendered
    values: Sequence[Any]
    refs: Sequence[Ref]
    read: ClusterObjects

    @property
    def digests(self) -> frozenset[str]:
        """Of the policies of all Contrast workloads that the cluster has in these namespaces."""
        if self.read.objects is None:
            return frozenset()
        return frozenset(sealed_in_the_cluster(self.read.objects, self.output.kinds) | self.read.pods.digests)

    def compared(self, beside: int) -> tuple[tuple[Finding, ...], str]:
        """Return what the cluster has otherwise, and the line that says what was compared. beside: see `described`."""
        output, read = self.output, self.read
        if read.objects is None:
            return read.findings, ""
        references = References(self.values)
        findings = compare_live(output, read.objects, read.classes.objects, references, read.pods)
        if read.server is not None:
            from krm_function.cli.cluster.dry_run import dry_run
            from krm_function.cli.cluster.services import cluster_services

            refs = {reference(value) for value in read.objects}
            placed = [(one, _namespace(output, one.ref, refs)) for one in output.workloads]
            findings += dry_run(read.server, placed, self.refs, references)
            findings += cluster_services(read.server, placed)
        classes = read.classes.objects is not None
        line = described(output, read.context, classes=classes, pods=read.pods.count, beside=beside)
        return (*findings, *read.classes.findings), line


def read_live(resources: Sequence[Resource], config: Config | None) -> Live:
    """Read what the cluster has in the namespaces of some output. Never raises."""
    kinds = config.generate.kinds if config else SHIPPED
    parsed = parse_output(resources)
    values = [value for _, _, value in parsed.objects()]
    workloads = [one for resource in parsed.parsed for one in select(resource.value, kinds=kinds).workloads]
    manifests = {reference(value): value for value in values if manifest_of(value) is not None}
    output = Rendered(workloads, manifests, known_classes(values, config), kinds)
    references = References(values)
    refs = [*(Ref(one.api_version, one.kind, "", one.name) for one in resources), *map(reference, values)]
    return Live(
        output,
        values,
        refs,
        read_cluster_objects(
            output.namespaces,
            lambda objects: RunningPods(objects, references, output.refs, kinds),
            sorted({(one.ref.api_version, one.ref.kind) for one in workloads if one.made_by}),
        ),
    )


def _namespace(output: Rendered, ref: Ref, there: set[Ref]) -> str:
    """Return the namespace in which the pods of a workload are made: where it is, or would be."""
    placed = output.placed(ref)
    return next((one for one in placed if one in there), placed[0]).namespace
