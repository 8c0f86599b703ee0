"""RTMR0 in the manifest: one value for each vCPU count in use.

Rule of this file: only platforms with `rtmr0_by_vcpus` are concerned; GPU guests have one vCPU.
Source: docs/facts/contrast-manifest.md#rtmr0.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from krm_function.manifest.ordered_fields import Json
from krm_function.measurement.rtmr0 import select_rtmr0
from krm_function.model.platforms import PLATFORMS
from krm_function.record import NamedTuple

BY_VCPUS = frozenset(platform.marker for platform in PLATFORMS.values() if platform.rtmr0_by_vcpus)


class Rtmr0(NamedTuple):
    """What the release and the workloads say: `rtmr0ByVCPU` and the vCPU counts of the TDX workloads rendered now."""

    table: Mapping[str, str]
    counts: tuple[int, ...]


def rtmr0_values(reference_values: Mapping[str, Any] | None) -> tuple[str, ...]:
    """List every RTMR0 that a manifest accepts where it depends on the vCPU count, ascending."""
    found: set[str] = set()
    for entry in _entries(reference_values):
        found.update((entry.get("Rtmrs") or ())[:1], entry.get("Rtmr0Alternatives") or ())
    return tuple(sorted(found - {""}))


def with_rtmr0(reference_values: Mapping[str, Any], rtmr0: Rtmr0, kept: Iterable[str] = ()) -> Json:
    """Set Rtmrs[0] and Rtmr0Alternatives of every entry that is concerned to what the vCPU counts need.

    `kept`: further values to accept if the table has them, for workloads of an older manifest that are not rendered
    now. Without counts nothing changes. Raises UnknownVcpuCount for a count the table lacks.
    """
    result = dict(reference_values)
    if not rtmr0.counts or not result.get("tdx"):
        return result
    smallest, others = select_rtmr0(rtmr0.table, rtmr0.counts)
    values = sorted({smallest, *others, *(set(kept) & set(rtmr0.table.values()))})
    result["tdx"] = [_set(entry, values) if _concerned(entry) else entry for entry in result["tdx"]]
    return result


def _set(entry: Mapping[str, Any], values: list[str]) -> Json:
    """Put the values into a complete entry."""
    return {**entry, "Rtmrs": [values[0], *entry["Rtmrs"][1:]], "Rtmr0Alternatives": values[1:]}


def _entries(reference_values: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """List the entries that this file is about."""
    return [entry for entry in (reference_values or {}).get("tdx") or () if entry and _concerned(entry)]


def _concerned(entry: Mapping[str, Any]) -> bool:
    """Tell whether an entry's RTMR0 depends on the vCPU count."""
    return entry.get("Platform") in BY_VCPUS
