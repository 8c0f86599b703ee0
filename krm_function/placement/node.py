"""Nodes as `kubectl get nodes -o yaml` prints them, read for what decides where a pod may run.

Rule of this file: it reads and never judges. What a hand-written Node leaves out is unknown, not zero: without
`allocatable` and `capacity` nothing is known about resources, without `runtimeHandlers` nothing about handlers.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.findings import Cause, Path
from krm_function.model.lookup import dig, mapping
from krm_function.model.objects import objects
from krm_function.model.quantity import nano
from krm_function.placement.firmware import UNKNOWN, Firmware, read_firmware
from krm_function.placement.taints import EFFECTS, Taint
from krm_function.record import NamedTuple

KINDS = frozenset({"Node", "NodeList"})


class Node(NamedTuple):
    """One node. allocatable: resource name -> nano units, None when unknown. handlers: None when unknown.

    firmware: what its annotations say of the machine.
    """

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    allocatable: Mapping[str, int] | None = None
    handlers: frozenset[str] | None = None
    firmware: Firmware = UNKNOWN


class NodeProblem(NamedTuple):
    """What is wrong with the node of this name, and where in the document. cause: CC0314 with a variant."""

    name: str
    path: Path
    cause: Cause


class ReadNodes(NamedTuple):
    """The nodes of one document; parts that are not valid are left out of them and named in `problems`."""

    nodes: tuple[Node, ...] = ()
    problems: tuple[NodeProblem, ...] = ()


def read_nodes(document: Any) -> ReadNodes:
    """Read the nodes of a document: a Node, a NodeList, or a List that holds some. Never raises."""
    nodes: list[Node] = []
    problems: list[NodeProblem] = []
    for path, value in _members(document):
        name = dig(value, ("metadata", "name"))
        if not isinstance(name, str) or not name:
            problems.append(NodeProblem("", (*path, "metadata", "name"), Cause("CC0314.string")))
            continue
        faults: list[tuple[Path, Cause]] = []
        labels = _labels(value, faults)
        allocatable = _allocatable(value, faults)
        taints = tuple(_taints(value, faults))
        unschedulable = dig(value, ("spec", "unschedulable"))
        if unschedulable is not None and not isinstance(unschedulable, bool):
            faults.append((("spec", "unschedulable"), Cause("CC0314.boolean")))
        firmware, wrong = read_firmware(_map(value, ("metadata", "annotations"), faults))
        faults += [(("metadata", "annotations", key), cause) for key, cause in wrong]
        nodes.append(Node(name, labels, taints, unschedulable is True, allocatable, _handlers(value), firmware))
        problems += [NodeProblem(name, path + where, cause) for where, cause in faults]
    return ReadNodes(tuple(nodes), tuple(problems))


def _members(document: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield every node of a document with its path; the members of a NodeList need not say their kind."""
    for path, value in objects(document):
        around = mapping(dig(document, path[:-2])) if path else {}
        if mapping(value).get("kind") == "Node" or around.get("kind") == "NodeList":
            yield path, mapping(value)


def _labels(value: Any, faults: list[tuple[Path, Cause]]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for key, label in _map(value, ("metadata", "labels"), faults).items():
        if isinstance(label, str):
            labels[str(key)] = label
        else:
            faults.append((("metadata", "labels", str(key)), Cause("CC0314.string")))
    return labels


def _allocatable(value: Any, faults: list[tuple[Path, Cause]]) -> dict[str, int] | None:
    """Return what pods may take; where it is not said, the capacity, as the API server fills it in."""
    for field in ("allocatable", "capacity"):
        quantities = _map(value, ("status", field), faults)
        if not quantities:
            continue
        amounts: dict[str, int] = {}
        for key, quantity in quantities.items():
            try:
                amounts[str(key)] = nano(quantity)
            except ValueError as problem:
                faults.append((("status", field, str(key)), Cause("CC0314.quantity", {"error": str(problem)})))
        return amounts
    return None


def _taints(value: Any, faults: list[tuple[Path, Cause]]) -> Iterator[Taint]:
    entries = dig(value, ("spec", "taints"))
    if entries is not None and not isinstance(entries, list):
        faults.append((("spec", "taints"), Cause("CC0314.list")))
        return
    for index, entry in enumerate(entries or ()):
        taint = mapping(entry)
        key, mark, effect = taint.get("key"), taint.get("value") or "", taint.get("effect")
        path: Path = ("spec", "taints", index)
        if not isinstance(key, str) or not key:
            faults.append(((*path, "key"), Cause("CC0314.string")))
        elif not isinstance(mark, str):
            faults.append(((*path, "value"), Cause("CC0314.string")))
        elif not isinstance(effect, str) or effect not in EFFECTS:
            faults.append(((*path, "effect"), Cause("CC0314.effect")))
        else:
            yield Taint(key, mark, effect)


def _handlers(value: Any) -> frozenset[str] | None:
    """Return the runtime handlers that the node's container runtime knows (Kubernetes 1.30 and later report them)."""
    handlers = dig(value, ("status", "runtimeHandlers"))
    if not isinstance(handlers, list) or not handlers:
        return None
    return frozenset(str(mapping(entry).get("name") or "") for entry in handlers)


def _map(value: Any, path: Path, faults: list[tuple[Path, Cause]]) -> dict[Any, Any]:
    content = dig(value, path)
    if content is not None and not isinstance(content, dict):
        faults.append((path, Cause("CC0314.map")))
    return mapping(content)
