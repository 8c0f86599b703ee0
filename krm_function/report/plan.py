"""The plan as data: one entry per workload, nodes in pools, memory; and as JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from krm_function.config.collect import ACKNOWLEDGED
from krm_function.contrast.vm_size import memory_text
from krm_function.findings import Finding, Ref, dotted
from krm_function.kubernetes.nodes import Node, required_terms
from krm_function.kubernetes.objects import mapping, maps
from krm_function.kubernetes.placement import Placement, amount_text, replicas_of
from krm_function.kubernetes.quantity import NANO
from krm_function.kubernetes.workload import PodMemory, Workload
from krm_function.record import NamedTuple
from krm_function.render.rendered import Rendered
from krm_function.report.findings import object_data, ordered

# --- The memory column of the plan: of one workload, and of the workloads that a node pool takes
#
#     2560Mi/23.0Gi   the VM gets 2560Mi; images and limits need 23.0Gi
#     2560Mi/?        the lock has no sizes of an image, so nothing is compared
#
# Rule: it adds up the results of the render (contrast/vm_size.py). A pod of a DaemonSet is counted once for each node
# of the pool.


LEGEND = "memory: what the VM of a pod gets / what its images and limits need"
UNKNOWN = "?: the lock has no sizes of an image (contrast-krm lock --sizes)"
NOTHING = "memory not compared: the lock has no sizes (contrast-krm lock --sizes)"


class MemorySum(NamedTuple):
    """The total memory that the VMs of some pods get and need; needs: None if one pod's is unknown."""

    pods: int
    gets: int
    needs: int | None

    def __str__(self) -> str:
        """Write `VMs of 3 pods: 12.3Gi/14.0Gi`."""
        return f"VMs of {counted(self.pods, 'pod')}: {_write_pair(self.gets, self.needs)}"


def memory_cell(workload: Workload) -> str:
    """Write the memory that a workload's VM gets and needs; "" if it was not calculated."""
    memory = workload.memory
    return "" if memory is None else _write_pair(memory.gets, memory.needs)


def memory_legend(plan: Iterable[Workload]) -> str:
    """Explain the cells of a plan, or report that there are none; "" without workloads whose memory was calculated."""
    memories = [workload.memory for workload in plan if workload.memory is not None]
    if not memories:
        return ""
    if all(workload.unknown for workload in memories):
        return NOTHING
    return f"{LEGEND}; {UNKNOWN}" if any(workload.unknown for workload in memories) else LEGEND


def memory_sum(workloads: Iterable[Workload], nodes: int = 1) -> MemorySum | None:
    """Add up the memory of all pods of some workloads. nodes: of their pool. None if all are unknown."""
    counted = [(workload.memory, _count_pods(workload, nodes)) for workload in workloads if workload.memory is not None]
    if not counted:
        return None
    amounts = [None if memory.needs is None else memory.needs * pods for memory, pods in counted]
    needs = None if None in amounts else sum(amount for amount in amounts if amount is not None)
    return MemorySum(sum(pods for _, pods in counted), sum(memory.gets * pods for memory, pods in counted), needs)


def memory_sentence(memory: PodMemory) -> str:
    """Describe the memory that a VM gets and needs, and the parts that were not compared."""
    vm, limits = memory_text(memory.of_vm), memory_text(memory.limits)
    gets = f"the VM gets {memory_text(memory.gets)}: {vm} of its own and {limits} of limits"
    if memory.stored:
        return f"{gets}; its images are in the image store"
    if memory.unknown:
        return (
            f"{gets}; not compared with its images, since the lock has no sizes of {len(memory.unknown)} of them "
            "(contrast-krm lock --sizes)"
        )
    about = "" if memory.exact else "about "
    parts = f"{about}{memory_text(memory.images)} of images and {memory_text(memory.asked)} of limits"
    gpu = ", with a GPU 8 GB at least" if memory.least else ""
    return f"{gets}; it needs {about}{memory_text(memory.needs or 0)}: {parts}{gpu}"


def memory_data(workload: Workload) -> dict[str, Any] | None:
    """Return the memory of one pod for JSON, in bytes; needs: null if unknown."""
    memory = workload.memory
    if memory is None:
        return None
    return {
        "gets": memory.gets,
        "needs": memory.needs,
        "images": None if memory.unknown else memory.images,
        "limits": memory.asked,
        "estimated": not memory.exact,
        "unknownImages": list(memory.unknown),
        "imageStore": memory.stored,
    }


def _count_pods(workload: Workload, nodes: int) -> int:
    replicas = replicas_of(workload)
    return nodes if replicas is None else replicas


def _write_pair(gets: int, needs: int | None) -> str:
    return f"{memory_text(gets)}/{'?' if needs is None else memory_text(needs)}"


# --- Group nodes into pools: nodes that are alike for every workload of the plan
#
# Rule: two nodes are in one pool if they have the same taints, the same capacity in whole units, the same values of
# every label that some workload selects by, and if each workload fits both or neither. Without nodes, a pool consists
# of the labels that a runtime class selects, and is marked as assumed.


Entry = tuple[Workload, Placement | None, bool]  # a workload, where it can run, whether it is in conflict
LEFT_OUT = frozenset({"pods", "ephemeral-storage"})  # capacity that does not distinguish pools
GIB = 2**30 * NANO


class Pool(NamedTuple):
    """Nodes that are alike. labels: those that some workload selects by. workloads: positions of the entries they take.

    assumed: no node is known; labels are those that a node must have. capacity: resource name -> text.
    """

    labels: Mapping[str, str]
    nodes: tuple[str, ...] = ()
    taints: tuple[str, ...] = ()
    cordoned: bool = False
    capacity: tuple[tuple[str, str], ...] = ()
    workloads: tuple[int, ...] = ()
    assumed: bool = False

    @property
    def title(self) -> str:
        """Its nodes by name, or the labels that they must have."""
        if self.assumed:
            return "nodes with " + ", ".join(f"{key}={value}" for key, value in self.labels.items())
        first = ", ".join(self.nodes[:3])
        return first if len(self.nodes) <= 3 else f"{first} and {len(self.nodes) - 3} more"


def pools(entries: Sequence[Entry], nodes: Sequence[Node] | None) -> tuple[Pool, ...]:
    """Return the pools of a plan: used ones first, then by name."""
    if nodes is None:
        return _assume_pools(entries)
    asked = sorted({key for workload, _, _ in entries for key in _list_label_keys(workload)})
    fitting = [frozenset(where.fitting) if where is not None else frozenset() for _, where, _ in entries]
    members: dict[Any, list[Node]] = {}
    for node in nodes:
        takes = tuple(index for index, names in enumerate(fitting) if node.name in names)
        labels = tuple((key, node.labels[key]) for key in asked if key in node.labels)
        taints = tuple(sorted(map(str, node.taints)))
        alike = (labels, taints, node.unschedulable, _round_capacity(node), takes)
        members.setdefault(alike, []).append(node)
    grouped = [
        Pool(dict(labels), tuple(node.name for node in group), taints, cordoned, capacity, takes)
        for (labels, taints, cordoned, capacity, takes), group in members.items()
    ]
    return tuple(sorted(grouped, key=lambda pool: (not pool.workloads, pool.nodes)))


def _assume_pools(entries: Sequence[Entry]) -> tuple[Pool, ...]:
    """Return the pools that the runtime classes select, with their workloads, for a plan without known nodes."""
    takers: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for index, (workload, _, failed) in enumerate(entries):
        if not failed:
            takers.setdefault(tuple(sorted(workload.node_selector.items())), []).append(index)
    return tuple(Pool(dict(key), workloads=tuple(indexes), assumed=True) for key, indexes in sorted(takers.items()))


def _list_label_keys(workload: Workload) -> set[str]:
    """Return the label keys that a workload selects by: its own selector, its class's, and its required affinity."""
    spec = workload.pod_spec
    selector = spec.get("nodeSelector")
    keys = {*workload.node_selector, *(selector if isinstance(selector, dict) else ())}
    for term in required_terms(spec) or ():
        keys |= {str(expression.get("key")) for expression in maps(term.get("matchExpressions"))}
    return {str(key) for key in keys}


def _round_capacity(node: Node) -> tuple[tuple[str, str], ...]:
    """Return a node's capacity, with memory in whole GiB, so that two machines of one type are alike."""
    amounts = node.allocatable or {}
    names = [name for name in ("cpu", "memory") if name in amounts]
    names += sorted(name for name in amounts if name not in {"cpu", "memory"} | LEFT_OUT and amounts[name] > 0)
    return tuple(
        (name, f"{amounts[name] // GIB}Gi" if name == "memory" else amount_text(name, amounts[name])) for name in names
    )


# --- The plan as data: one entry per workload with its placement and findings, conflicts first
#
# Rule: it arranges the records of a render and of `kubernetes.placement` without calculating anything again. Every form
# of the plan is made from this record.


UNPLACED = "CC0311"
INJECTED = frozenset({"CC0801", "CC0802", "CC0803"})
REWRITTEN = frozenset({"CC0831", "CC0832", "CC0833", "CC0834"})  # by a rule of spec.volumes; one reason for each volume
NAMED_CHANGES = {"CC0290": "annotations moved", "CC0422": "memory", "CC0417": "vCPUs raised", "CC0412": "GPU renamed"}


class PlanEntry(NamedTuple):
    """One workload. placement: None if no nodes are known, or if it has no runtime class yet."""

    workload: Workload
    placement: Placement | None = None
    findings: tuple[Finding, ...] = ()  # errors and warnings about this workload, in the order of a report

    @property
    def ref(self) -> Ref:
        """Which workload."""
        return self.workload.ref

    @property
    def broken(self) -> bool:
        """Whether the render fails because of it."""
        return any(finding.severity == "error" and finding.code != UNPLACED for finding in self.findings)

    @property
    def failed(self) -> bool:
        """Whether it is in conflict: an error of the render, or no node."""
        return any(finding.severity == "error" for finding in self.findings)

    @property
    def one_a_node(self) -> bool:
        """Whether it is a DaemonSet, whose pods are made for nodes and not placed on some of them."""
        return self.placement is not None and self.placement.replicas is None


class Plan(NamedTuple):
    """The plan of a render.

    findings: those about no workload of the plan. source: where the nodes come from. release: the version of the
    Contrast release, "" if unknown.
    """

    lines: tuple[PlanEntry, ...]
    skipped: tuple[Workload, ...]
    pools: tuple[Pool, ...] = ()
    findings: tuple[Finding, ...] = ()
    nodes: tuple[Node, ...] | None = None
    source: str = ""
    failed: bool = False  # the render itself: nothing would be written
    release: str = ""

    @property
    def problems(self) -> tuple[Finding, ...]:
        """Every error and warning, errors first."""
        return tuple(ordered([*self.findings, *(finding for line in self.lines for finding in line.findings)]))

    @property
    def unplaced(self) -> int:
        """The number of workloads that fit no node."""
        return sum(any(finding.code == UNPLACED for finding in line.findings) for line in self.lines)


def make_plan(
    rendered: Rendered,
    nodes: Sequence[Node] | None = None,
    placements: Mapping[int, Placement] | None = None,
    placing: Sequence[Finding] = (),
    source: str = "",
) -> Plan:
    """Make the plan of a render.

    nodes: None if unknown. placements: by position in `rendered.plan`. placing: findings of placing the pods.
    """
    findings = [
        finding
        for finding in ordered([*rendered.findings, *placing])
        if finding.severity != "info" or finding.code == ACKNOWLEDGED
    ]
    lines: list[PlanEntry] = []
    for index, workload in enumerate(rendered.plan):
        if not workload.skipped:
            mine = tuple(finding for finding in findings if finding.ref == workload.ref)
            lines.append(PlanEntry(workload, (placements or {}).get(index), mine))
    lines.sort(key=lambda line: not line.failed)
    of_lines = {line.ref for line in lines}
    return Plan(
        tuple(lines),
        tuple(workload for workload in rendered.plan if workload.skipped),
        pools([(line.workload, line.placement, line.failed) for line in lines], nodes),
        tuple(finding for finding in findings if finding.ref not in of_lines),
        None if nodes is None else tuple(nodes),
        source,
        rendered.failed,
        rendered.release,
    )


def common_class(plan: Plan) -> str:
    """Return the common pattern of all runtime classes, such as `contrast-cc-<platform>-1a2b3c4d`, or ""."""
    classes = {(line.workload.platform, line.workload.runtime_class) for line in plan.lines if line.workload.platform}
    patterns = {name.replace(f"-{platform}-", "-<platform>-") for platform, name in classes}
    if len(patterns) != 1:
        return ""
    return next(iter(classes))[1] if len(classes) == 1 else patterns.pop()


def changes_of(workload: Workload, *, digest: bool = True) -> str:
    """Write `+2 containers as user 0:0, policy 1a2b3c4d`; the containers' user is named if the pod sets another.

    digest: with the beginning of the policy's digest.
    """
    injected = [edit for edit in workload.edits if edit.code in INJECTED]
    containers = len({edit.code for edit in injected})
    users = dict.fromkeys(user for edit in injected for user in _list_users(edit.after))
    as_user = f" as user {' and '.join(users)}" if users else ""
    parts = [f"+{counted(containers, 'container')}{as_user}"] if containers else []
    volumes = len({edit.reason for edit in workload.edits if edit.code in REWRITTEN})
    parts += [f"{counted(volumes, 'volume')} rewritten"] if volumes else []
    codes = {edit.code for edit in workload.edits}
    parts += [text for code, text in NAMED_CHANGES.items() if code in codes]
    images = len([edit for edit in workload.edits if edit.code == "CC0506"])
    parts += [counted(images, "image")] if images else []
    parts += [f"policy {workload.digest[:8]}"] if workload.digest and digest else []
    return ", ".join(parts) or ("policy" if workload.digest else "no changes")


def _list_users(inserted: Any) -> list[str]:
    """Return the users, `uid:gid`, of inserted containers; without an existing list, the whole list is inserted."""
    contexts = [
        mapping(entry.get("securityContext")) for entry in maps(inserted if isinstance(inserted, list) else [inserted])
    ]
    return [
        f"{context['runAsUser']}:{context['runAsGroup']}"
        for context in contexts
        if {"runAsUser", "runAsGroup"} <= context.keys()
    ]


def counted(number: int, noun: str) -> str:
    """Write `1 node`, `2 nodes`."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def plan_totals(plan: Plan) -> str:
    """Summarise the plan in one sentence."""
    parts = [counted(len(plan.lines), "workload"), f"{len(plan.skipped)} skipped"]
    if plan.nodes is not None:
        parts.append(counted(len(plan.nodes), "node"))
    if plan.unplaced:
        parts.append(f"{plan.unplaced} without a node that fits")
    if plan.failed:
        errors = sum(problem.severity == "error" and problem.code != UNPLACED for problem in plan.problems)
        parts.append(f"{counted(errors, 'error')}: nothing would be written")
    return ", ".join(parts)


# --- The plan as JSON, version 1
#
# Rule: version 1 only ever gains fields.


def plan_json(plan: Plan) -> str:
    """Write `{"version": 1, "failed": bool, "release": ..., "workloads": [...], "skipped": [...], ...}`.

    failed: whether the render fails, so that nothing would be written. release: "" if unknown. notes of a workload:
    facts for the reader that are not findings. pools: null if no nodes are known. A workload's `nodes` is null then
    too, and if it has no runtime class yet.
    """
    data = {
        "version": 1,
        "failed": plan.failed,
        "release": plan.release,
        "workloads": [_workload_data(line) for line in plan.lines],
        "skipped": [{**object_data(workload.ref), "reason": workload.skipped} for workload in plan.skipped],
        "pools": None if plan.nodes is None else [_pool_data(pool, plan) for pool in plan.pools],
        "totals": {
            "workloads": len(plan.lines),
            "skipped": len(plan.skipped),
            "nodes": None if plan.nodes is None else len(plan.nodes),
            "conflicts": sum(line.failed for line in plan.lines),
            "unplaced": plan.unplaced,
        },
    }
    return json.dumps(data, indent=2) + "\n"


def _workload_data(line: PlanEntry) -> dict[str, Any]:
    workload = line.workload
    return {
        **object_data(workload.ref),
        "placeholder": workload.placeholder,
        "platform": workload.platform,
        "runtimeClassName": workload.runtime_class,
        "vcpus": workload.vcpus,
        "memory": memory_data(workload),
        "nodeSelector": dict(workload.node_selector),
        "nodes": None if line.placement is None else _nodes_data(line.placement),
        "digest": workload.digest,
        "openVariables": [variable._asdict() for variable in workload.open],
        "changes": [
            {"code": edit.code, "op": edit.op, "field": dotted(edit.path), "reason": edit.reason}
            for edit in workload.edits
        ],
        "findings": [
            {"code": finding.code, "severity": finding.severity, "message": finding.message}
            for finding in line.findings
        ],
        "notes": list(workload.notes),
    }


def _nodes_data(placement: Placement) -> dict[str, Any]:
    """Return a pod's nodes as data. replicas: null for one on every node. requests: of one pod, exact decimals."""
    return {
        "replicas": placement.replicas,
        "requests": {name: _write_exact(amount) for name, amount in sorted(placement.requests.items())},
        "refusedAtAdmission": placement.refused,
        "fitting": list(placement.fitting),
        "others": [{"nodes": list(refusal.nodes), "reasons": list(refusal.reasons)} for refusal in placement.refusals],
    }


def _write_exact(amount: int) -> str:
    whole, rest = divmod(amount, NANO)
    return f"{whole}.{rest:09d}".rstrip("0").rstrip(".") if rest else str(whole)


def _pool_data(pool: Pool, plan: Plan) -> dict[str, Any]:
    """Return one pool as data. memory: of the VMs of all pods that it may have, in bytes."""
    memory = memory_sum([plan.lines[index].workload for index in pool.workloads], len(pool.nodes))
    return {
        "nodes": list(pool.nodes),
        "labels": dict(pool.labels),
        "taints": list(pool.taints),
        "cordoned": pool.cordoned,
        "capacity": dict(pool.capacity),
        "workloads": [object_data(plan.lines[index].ref) for index in pool.workloads],
        "memory": None if memory is None else memory._asdict(),
    }
