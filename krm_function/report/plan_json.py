"""The plan as JSON, version 1.

Rule of this file: version 1 only ever gains fields.
"""

import json
from typing import Any

from krm_function.findings import dotted
from krm_function.model.quantity import NANO
from krm_function.pipeline.result import Planned
from krm_function.placement.place import Placement
from krm_function.report.plan import Plan, PlanEntry
from krm_function.report.plan_memory import memory_data, memory_sum
from krm_function.report.pools import Pool


def plan_json(plan: Plan) -> str:
    """Write `{"version": 1, "failed": bool, "release": ..., "workloads": [...], "skipped": [...], ...}`.

    failed: whether the render fails, so that nothing would be written. release: "" if it is not known. notes of a
    workload: what a reader must know and what is no finding. pools: null when no nodes are known. A
    workload's `nodes` is null then too, and for one that has no runtime class yet.
    """
    data = {
        "version": 1,
        "failed": plan.failed,
        "release": plan.release,
        "workloads": [_workload(line) for line in plan.lines],
        "skipped": [{**_ref(planned), "reason": planned.skipped} for planned in plan.skipped],
        "pools": None if plan.nodes is None else [_pool(pool, plan) for pool in plan.pools],
        "totals": {
            "workloads": len(plan.lines),
            "skipped": len(plan.skipped),
            "nodes": None if plan.nodes is None else len(plan.nodes),
            "conflicts": sum(line.failed for line in plan.lines),
            "unplaced": plan.unplaced,
        },
    }
    return json.dumps(data, indent=2) + "\n"


def _ref(planned: Planned) -> dict[str, Any]:
    api_version, kind, namespace, name, part = planned.ref
    template = {"template": part} if part else {}
    return {"apiVersion": api_version, "kind": kind, "namespace": namespace, "name": name, **template}


def _workload(line: PlanEntry) -> dict[str, Any]:
    planned = line.planned
    return {
        **_ref(planned),
        "placeholder": planned.placeholder,
        "platform": planned.platform,
        "runtimeClassName": planned.runtime_class,
        "vcpus": planned.vcpus,
        "memory": memory_data(planned),
        "nodeSelector": dict(planned.node_selector),
        "nodes": None if line.placement is None else _nodes(line.placement),
        "digest": planned.digest,
        "openVariables": [one._asdict() for one in planned.open],
        "changes": [
            {"code": edit.code, "op": edit.op, "field": dotted(edit.path), "reason": edit.reason}
            for edit in planned.edits
        ],
        "findings": [
            {"code": found.code, "severity": found.severity, "message": found.message} for found in line.findings
        ],
        "notes": list(planned.notes),
    }


def _nodes(placement: Placement) -> dict[str, Any]:
    """Write the nodes of a pod. replicas: null for one on every node. requests: of one pod, as exact decimals."""
    return {
        "replicas": placement.replicas,
        "requests": {name: _exact(amount) for name, amount in sorted(placement.requests.items())},
        "refusedAtAdmission": placement.refused,
        "fitting": list(placement.fitting),
        "others": [{"nodes": list(one.nodes), "reasons": list(one.reasons)} for one in placement.refusals],
    }


def _exact(amount: int) -> str:
    whole, rest = divmod(amount, NANO)
    return f"{whole}.{rest:09d}".rstrip("0").rstrip(".") if rest else str(whole)


def _pool(pool: Pool, plan: Plan) -> dict[str, Any]:
    """Write one pool. memory: of the VMs of all pods that it may have, in bytes."""
    memory = memory_sum([plan.lines[index].planned for index in pool.workloads], len(pool.nodes))
    return {
        "nodes": list(pool.nodes),
        "labels": dict(pool.labels),
        "taints": list(pool.taints),
        "cordoned": pool.cordoned,
        "capacity": dict(pool.capacity),
        "workloads": [_ref(plan.lines[index].planned) for index in pool.workloads],
        "memory": None if memory is None else memory._asdict(),
    }
