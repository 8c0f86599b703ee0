"""Whether attestation would accept the firmware of a node, and node labels of other platforms."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from krm_function.contrast.platforms import PLATFORMS, Platform
from krm_function.findings import Finding, Ref, finding
from krm_function.kubernetes.lookup import dig, mapping, maps
from krm_function.kubernetes.nodes import CHIP, PIID, PRODUCT, SEAM, TCB, UNKNOWN, Firmware, Node
from krm_function.kubernetes.placement import first_and_more
from krm_function.kubernetes.workload import Workload
from krm_function.record import NamedTuple

# --- Whether attestation would accept the firmware of a node: what the node says against the manifest's reference
# values
#
# Truth table of one entry of the reference values, by value; the entries are those of the pod's platform, and of the
# node's product where that is known:
#
#     the manifest wants       the node says             the value
#     nothing                  whatever                  passes
#     something                nothing                   is unknown
#     MinimumTCB.*: a number   that number or more       passes
#     MinimumTCB.*: a number   less                      is refused
#     MinimumTCB.*, MrSeam     the manifest: not yet     is unknown
#     MrSeam, or lists of ids  the same, or one of them  passes
#     MrSeam, or lists of ids  another                   is refused
#
#     an entry                       the node
#     one that refuses nothing,      accepted; where its product is unknown only if each entry accepts it
#     and of which all is known
#     each one refuses something     refused, for the reasons of the entry that refuses least
#     any other                      unknown
#
# Rule: unknown is never accepted. SMT, the mitigations and the date of TDX's collateral are not compared.
# Source: docs/facts/contrast-manifest.md.


class Verdict(NamedTuple):
    """What attestation would say to a node. refused: why it refuses it; unknown: what is to be known first."""

    refused: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def entries_of(manifest: bytes, platform: Platform) -> list[dict[str, Any]]:
    """Return the reference values of a platform in a manifest that this program wrote; [] where it wrote none."""
    values = dig(json.loads(manifest), ("ReferenceValues", platform.tee)) if manifest else None
    return [one for one in maps(values) if one.get("Platform") == platform.marker]


def judge(firmware: Firmware, platform: Platform, entries: Sequence[Mapping[str, Any]]) -> Verdict:
    """Compare a machine with the reference values of its platform, of which there is at least one."""
    of_product = [one for one in entries if firmware.product in {"", one.get("ProductName")}]
    if platform.tee == "snp" and not of_product:
        wanted = " or ".join(sorted({str(one.get("ProductName")) for one in entries}))
        return Verdict((f"ProductName is {firmware.product}, not {wanted}",))
    compare = _snp if platform.tee == "snp" else _tdx
    verdicts = [Verdict(*_parted(compare(firmware, one))) for one in of_product]
    open_ = [one for one in verdicts if not one.refused]
    if not open_:
        return Verdict(min(verdicts, key=lambda one: len(one.refused)).refused)
    accepted = [not one.unknown for one in open_]
    if platform.tee == "snp" and not firmware.product and not (all(accepted) and len(open_) == len(verdicts)):
        return Verdict(unknown=tuple(dict.fromkeys([PRODUCT, *(key for one in open_ for key in one.unknown)])))
    return Verdict() if any(accepted) else Verdict(unknown=open_[0].unknown)


def attested_nodes(
    pods: Sequence[tuple[Workload, str, AbstractSet[str]]], nodes: Sequence[Node], manifest: bytes
) -> list[Finding]:
    """Return the nodes that attestation would refuse or does not know enough of, and the workloads that no other takes.

    pods: each workload with the name of its platform and the names of the nodes that take it.
    """
    findings: list[Finding] = []
    for name in sorted({name for _, name, _ in pods}):
        platform = PLATFORMS[name]
        entries = entries_of(manifest, platform)
        of_platform = [(workload, taking) for workload, its, taking in pods if its == name]
        used = [node for node in nodes if any(node.name in taking for _, taking in of_platform)]
        if not entries:
            continue
        verdicts = {node.name: judge(node.firmware, platform, entries) for node in used}
        findings += _of_nodes(name, verdicts)
        for workload, taking in of_platform:
            if taking and all(verdicts[node].refused for node in taking):
                named = first_and_more(sorted(taking))
                lost = finding("CC0328", workload.ref, workload.spec_path, nodes=named, platform=name)
                findings.append(workload.placed(lost))
    return findings


def _of_nodes(platform: str, verdicts: Mapping[str, Verdict]) -> Iterator[Finding]:
    silent: dict[tuple[str, ...], list[str]] = {}
    for name, verdict in verdicts.items():
        if verdict.refused:
            reasons = ", ".join(verdict.refused)
            yield finding("CC0326", Ref("v1", "Node", "", name), platform=platform, reasons=reasons)
        elif verdict.unknown:
            silent.setdefault(verdict.unknown, []).append(name)
    for missing, names in silent.items():
        yield finding("CC0327", platform=platform, nodes=first_and_more(names), missing=", ".join(missing))


def any_firmware(nodes: Sequence[Node]) -> bool:
    """Tell whether any node says anything of its machine: where none does, nobody has asked."""
    return any(node.firmware != UNKNOWN for node in nodes)


def _parted(told: Iterator[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the reasons to refuse, and what is unknown, each once."""
    pairs = list(told)
    return tuple(why for why, _ in pairs if why), tuple(dict.fromkeys(key for _, key in pairs if key))


def _snp(firmware: Firmware, entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, least in mapping(entry.get("MinimumTCB")).items():
        if least is None:
            yield "", f"MinimumTCB.{name} of the manifest"
        elif firmware.tcb is None:
            yield "", TCB
        elif firmware.tcb.get(name, 0) < least:
            yield f"{name} is {firmware.tcb.get(name, 0)}, at least {least} is wanted", ""
    yield from _listed("AllowedChipIDs", entry, firmware.chip_id, CHIP)


def _tdx(firmware: Firmware, entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    wanted = str(entry.get("MrSeam") or "").lower()
    if not wanted:
        yield "", "MrSeam of the manifest"
    elif not firmware.mr_seam:
        yield "", SEAM
    elif firmware.mr_seam != wanted:
        yield f"MrSeam is {_short(firmware.mr_seam)}, not {_short(wanted)}", ""
    yield from _listed("AllowedPIIDs", entry, firmware.piid, PIID)


def _listed(field: str, entry: Mapping[str, Any], said: str, key: str) -> Iterator[tuple[str, str]]:
    allowed = {str(one).lower() for one in entry.get(field) or ()}
    if allowed and not said:
        yield "", key
    elif allowed and said not in allowed:
        yield f"{_short(said)} is not in {field}", ""


def _short(value: str) -> str:
    return f"{value[:12]}…" if len(value) > 13 else value


# --- Find node labels in a pod's nodeSelector that contradict its class: nodes with them are none of the platform's
#
# Truth table, first row that fits (docs/facts/kubernetes.md#labels-of-other-nodes has who sets them):
#
#     a node that the plan knows has the label    nothing to say
#     the label is of a cloud's nodes             CC0325.cloud
#     the label is of a GPU that containers get   CC0325.containers, on a platform with GPUs; else CC0325.none
#     any other                                   nothing to say
#
# Rule: the pod's own nodeSelector alone, and labels that are sure; a label of one's own may be on any
# node.


CLOUDS = {
    "GKE": re.compile(r"cloud\.google\.com/.+"),
    "EKS": re.compile(r"(eks\.amazonaws\.com|k8s\.amazonaws\.com|karpenter\.k8s\.aws)/.+"),
    "AKS": re.compile(r"kubernetes\.azure\.com/.+|agentpool"),
}
INSTANCE_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
# What such a label says on nodes of EKS, AKS and GKE; elsewhere it may be anything.
TYPES = {
    "EKS": re.compile(r"[a-z][a-z0-9-]*\.([0-9]*xlarge|metal[a-z0-9-]*|nano|micro|small|medium|large)"),
    "AKS": re.compile(r"(Standard|Basic)_[A-Za-z0-9_]+"),
    "GKE": re.compile(r"[a-z][0-9][a-z]?-[a-z]+-[0-9a-z-]+"),
}
# Set by GPU feature discovery, which asks the driver of the node.
OF_DRIVER = re.compile(
    r"nvidia\.com/(gpu\.(product|memory|family|count|replicas|machine|mode|compute\..+)|cuda\..+|mig.*)"
)


def foreign_labels(workload: Workload, platform: Platform, nodes: Sequence[Node] | None) -> Iterator[Finding]:
    """Yield what the nodeSelector of a pod contradicts. nodes: None if none are known."""
    for key, value in mapping(workload.pod_spec.get("nodeSelector")).items():
        label = f"{key}={value}"
        code, owner = _what(str(key), str(value), platform)
        if not code or any(node.labels.get(key) == value for node in nodes or ()):
            continue
        at = (*workload.spec_path, "nodeSelector", key)
        yield finding(code, workload.ref, at, label=label, owner=owner, platform=platform.name)


def _what(key: str, value: str, platform: Platform) -> tuple[str, str]:
    """Return code and cloud; "" for a label that any node may have."""
    if OF_DRIVER.fullmatch(key):
        return "CC0325.containers" if platform.gpu else "CC0325.none", ""
    cloud = next((name for name, pattern in CLOUDS.items() if pattern.fullmatch(key)), "")
    if not cloud and key in INSTANCE_TYPES:
        cloud = next((name for name, pattern in TYPES.items() if pattern.fullmatch(value)), "")
    return ("CC0325.cloud" if cloud else ""), cloud
