"""Unknown pods: find the objects whose pods no render seals and that have a pod template all the same.

Rule of this file: what a pod is in an object of unknown kind, `model/pod_specs.py` says.
"""

from collections.abc import Iterable, Iterator

from krm_function.findings import Finding, Path, Ref
from krm_function.model.finding_position import yaml_finding
from krm_function.model.kinds import CATALOGUED, KINDS
from krm_function.model.objects import objects, reference
from krm_function.model.pod_specs import WITHOUT_PODS, pod_specs
from krm_function.model.resource import Resource
from krm_function.record import NamedTuple
from krm_function.yamltext import YamlError


class UnknownPods(NamedTuple):
    """An object with pods that no render edits. pod: where the first of them is seen in it, None if none is."""

    resource: Resource
    root: Path
    ref: Ref
    pod: Path | None


def unknown_pods(resources: Iterable[Resource]) -> Iterator[UnknownPods | Finding]:
    """Yield the objects of other kinds than the eight; a finding for a document that cannot be read.

    Of those of catalogue and configuration, only what has a pod beside the templates that are known.
    """
    for resource in resources:
        if resource.state == "added" or (resource.certain and resource.kind in WITHOUT_PODS):
            continue
        if resource.certain and resource.kind in KINDS and resource.kind not in CATALOGUED:
            continue
        try:
            read = resource.parsed()
        except YamlError as problem:
            yield yaml_finding(problem, resource)
            continue
        for root, value in objects(read.value):
            ref = reference(value)
            known = ref.kind in KINDS and resource.kinds.entry(ref) is None
            if known or ref.kind in WITHOUT_PODS:
                continue
            templates = resource.kinds.paths(ref, value)
            others = (pod for pod in pod_specs(value) if not any(pod[: len(one)] == one for one in templates))
            pod = next(others, None)
            if pod is not None or resource.kinds.of(ref) is None:
                yield UnknownPods(read, root, ref, pod)
