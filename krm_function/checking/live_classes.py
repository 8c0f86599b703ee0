"""Compare the RuntimeClasses of a cluster with those of a render, and ask what admission says of the pods then.

Rule of this file: pure. The API server merges the class that the cluster has into every pod, whatever the configuration
says, and an administrator may have patched it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_function.findings import Finding, Ref, finding
from krm_function.input_checks.unsealed import check_handler
from krm_function.model.listed_names import listed
from krm_function.model.quantity import equal
from krm_function.model.runtime_class_names import is_contrast_name
from krm_function.model.runtime_class_objects import (
    API_VERSION,
    KIND,
    RuntimeClass,
    parse_runtime_class_object,
    toleration_parts,
)
from krm_function.model.workload import Workload
from krm_function.pipeline.result import Planned
from krm_function.record import NamedTuple
from krm_function.stages.daemon_sets import unscheduled_daemon_set
from krm_function.stages.schedule import schedule
from krm_function.yamltext.comparison import differing_paths


def differing_classes(
    workloads: Iterable[Workload], wanted: Mapping[str, RuntimeClass], live: Mapping[str, Any]
) -> Iterator[Finding]:
    """Return the findings about the classes that some workloads name. wanted: as the render made them, if it is known.

    live: the objects of the cluster by name.
    """
    for name, users in _users(workloads).items():
        ref, value = _ref(name), live.get(name)
        if value is None:
            yield finding("CC1120.no-runtime-class", ref, names=_addresses(users))
            continue
        yield from check_handler(ref, (), value)
        there = parse_runtime_class_object(value).runtime_class
        if name in wanted and (fields := differing_fields(wanted[name], there)):
            yield finding("CC1120.runtime-class", ref, fields=", ".join(fields))
        for workload in users:
            yield from _admission(workload, there)


class LiveClasses(NamedTuple):
    """The classes of a cluster for a plan, by name, and the findings about them."""

    classes: Mapping[str, RuntimeClass]
    findings: tuple[Finding, ...] = ()


def planned_classes(plan: Sequence[Planned], live: Mapping[str, Any], applied: Iterable[str]) -> LiveClasses:
    """Return the classes that admission will use. applied: names of classes that this deployment has itself."""
    found: dict[str, RuntimeClass] = {}
    findings: list[Finding] = []
    scheduled = {one.workload.ref: one.scheduled for one in plan if one.workload is not None}
    for name, users in _users(one.workload for one in plan if one.workload is not None).items():
        if name in applied:
            continue
        ref, value = _ref(name), live.get(name)
        if value is None:
            findings.append(finding("CC0319.absent", ref, names=_addresses(users)))
            continue
        there = found[name] = parse_runtime_class_object(value).runtime_class
        wanted = scheduled[users[0].ref]
        fields = differing_fields(wanted, there) if wanted is not None else []
        if fields:
            findings.append(finding("CC0319.differs", ref, fields=", ".join(fields)))
        if fields or wanted is None:
            findings += [each for workload in users for each in _admission(workload, there)]
    return LiveClasses(found, tuple(findings))


def differing_fields(first: RuntimeClass, second: RuntimeClass) -> list[str]:
    """Return the fields by which two classes differ for admission, such as `scheduling.nodeSelector`.

    No difference: `250m` and `0.25`, an absent map and an empty one, tolerations in another order, an operator that is
    absent and `Equal`.
    """
    paths = differing_paths(
        _as_admission_reads(first), _as_admission_reads(second), {("overhead.podFixed", "*"): equal}
    )
    return list(dict.fromkeys(str(path[0]) for path in paths))


def _as_admission_reads(cls: RuntimeClass) -> dict[str, Any]:
    tolerations = map(toleration_parts, cls.tolerations)
    return {
        "handler": cls.handler,
        "overhead.podFixed": dict(cls.overhead),
        "scheduling.nodeSelector": dict(cls.node_selector),
        "scheduling.tolerations": {(key, operator or "Equal", *rest) for key, operator, *rest in tolerations},
    }


def _admission(workload: Workload, cls: RuntimeClass) -> Iterator[Finding]:
    yield from (*schedule(workload, cls).findings, *unscheduled_daemon_set(workload, cls))


def _users(workloads: Iterable[Workload]) -> dict[str, list[Workload]]:
    """Return the workloads by the name of their class."""
    users: dict[str, list[Workload]] = {}
    for workload in workloads:
        if is_contrast_name(workload.runtime_class):
            users.setdefault(workload.runtime_class, []).append(workload)
    return dict(sorted(users.items()))


def _ref(name: str) -> Ref:
    return Ref(API_VERSION, KIND, "", name)


def _addresses(workloads: Iterable[Workload]) -> str:
    return listed([f"{one.ref.kind}/{one.ref.name}" for one in workloads])
