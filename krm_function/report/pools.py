"""Group nodes into pools: nodes that are alike for every workload of the plan.

Rule of this file: two nodes are of one pool when they have the same taints, the same capacity in whole units,
the same values of every label that some workload selects by, and when each workload fits both or neither.
Without nodes, a pool is what a runtime class asks for, and says so.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.model.lookup import maps
from krm_function.model.node_affinity import required_terms
from krm_function.model.quantity import NANO
from krm_function.pipeline.result import Planned
from krm_function.placement.fit import amount_text
from krm_function.placement.node import Node
from krm_function.placement.place import Placement
from krm_function.record import NamedTuple

Entry = tuple[Planned, Placement | None, bool]  # a workload, where it can run, whether it is in conflict
LEFT_OUT = frozenset({"pods", "ephemeral-storage"})  # capacity that tells no pool from another
GIB = 2**30 * NANO


class Pool(NamedTuple):
    """Nodes that are alike. labels: those that some workload selects by. workloads: positions of the entries they take.

    assumed: no node is known, these are the labels that a node must have. capacity: resource name -> text.
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
    """Return the pools of a plan: those in use first, then by name."""
    if nodes is None:
        return _assumed(entries)
    asked = sorted({key for planned, _, _ in entries for key in _asked(planned)})
    fitting = [frozenset(where.fitting) if where is not None else frozenset() for _, where, _ in entries]
    members: dict[Any, list[Node]] = {}
    for node in nodes:
        takes = tuple(index for index, names in enumerate(fitting) if node.name in names)
        labels = tuple((key, node.labels[key]) for key in asked if key in node.labels)
        taints = tuple(sorted(map(str, node.taints)))
        alike = (labels, taints, node.unschedulable, _capacity(node), takes)
        members.setdefault(alike, []).append(node)
    grouped = [
        Pool(dict(labels), tuple(node.name for node in group), taints, cordoned, capacity, takes)
        for (labels, taints, cordoned, capacity, takes), group in members.items()
    ]
    return tuple(sorted(grouped, key=lambda pool: (not pool.workloads, pool.nodes)))


def _assumed(entries: Sequence[Entry]) -> tuple[Pool, ...]:
    """Return pools that the runtime classes select, with their workloads, where no nodes are known."""
    takers: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for index, (planned, _, failed) in enumerate(entries):
        if not failed and planned.workload is not None:
            takers.setdefault(tuple(sorted(planned.node_selector.items())), []).append(index)
    return tuple(Pool(dict(key), workloads=tuple(found), assumed=True) for key, found in sorted(takers.items()))


def _asked(planned: Planned) -> set[str]:
    """Return the label keys that one workload selects by: its own selector, its class's, and its required affinity."""
    spec = planned.workload.pod_spec if planned.workload is not None else {}
    own = spec.get("nodeSelector")
    keys = {*planned.node_selector, *(own if isinstance(own, dict) else ())}
    for term in required_terms(spec) or ():
        keys |= {str(one.get("key")) for one in maps(term.get("matchExpressions"))}
    return {str(key) for key in keys}


def _capacity(node: Node) -> tuple[tuple[str, str], ...]:
    """Return what a node holds: memory in whole GiB, so that two machines of one type are alike."""
    amounts = node.allocatable or {}
    names = [name for name in ("cpu", "memory") if name in amounts]
    names += sorted(name for name in amounts if name not in {"cpu", "memory"} | LEFT_OUT and amounts[name] > 0)
    return tuple(
        (name, f"{amounts[name] // GIB}Gi" if name == "memory" else amount_text(name, amounts[name])) for name in names
    )
