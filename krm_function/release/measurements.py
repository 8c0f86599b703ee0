"""Measurements: the reference values of a manifest.json, or those that Contrast's CLI carries.

Rule of this file: only what a release measures is taken; what an operator fills in belongs to the ContrastGenerate.
Sources: docs/facts/contrast-manifest.md#manifest, docs/facts/contrast-manifest.md#release-measurements (an object by
handler), docs/facts/contrast-manifest.md#rtmr0.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.model.lookup import mapping, maps
from krm_function.model.platforms import PLATFORMS, Platform
from krm_function.model.runtime_class_names import is_placeholder, parse_runtime_class
from krm_function.record import NamedTuple
from krm_function.release.facts import MEASURED, Fact, Facts

MARKERS = {platform.marker: platform for platform in PLATFORMS.values()}
OPERATORS = {"snp": ("MinimumTCB", "AllowedChipIDs", "MinimumMitigationVector"), "tdx": ("MrSeam", "AllowedPIIDs")}


class MeasuredEntry(NamedTuple):
    """One entry of `snp` or `tdx`; field: its name for people."""

    platform: Platform
    product: str
    value: Mapping[str, Any]
    field: str


def is_by_handler(value: Mapping[str, Any]) -> bool:
    """Tell whether every key is a runtime handler."""
    meant = [parse_runtime_class(key) if not is_placeholder(key) else None for key in value]
    return bool(meant) and all(isinstance(one, Platform) for one in meant)


def handler_facts(value: Mapping[str, Any], file: str) -> Facts:
    """Return the facts of the CLI's reference values."""
    facts: list[Fact] = []
    for handler, values in value.items():
        platform = parse_runtime_class(handler)
        if isinstance(platform, Platform):
            facts.append(Fact(("platforms", platform.name, "handler"), handler, file))
            for entry in maps(mapping(values).get(platform.tee)):
                measured = MeasuredEntry(platform, _product(entry), entry, handler)
                facts += _measured(measured, file, first_rtmr_is_weak=False)
            for count, digest in mapping(mapping(values).get("rtmr0ByVCPU")).items():
                facts.append(Fact(("platforms", platform.name, "rtmr0ByVCPU", count), digest, file))
    return Facts(tuple(facts))


def manifest_facts(manifest: Mapping[str, Any], file: str, vcpus: int) -> Facts:
    """Return the facts of a manifest. vcpus: of all the TDX pods it is for, so that its RTMR0 is a fact; else 0."""
    findings: list[Finding] = []
    entries = list(_entries(manifest, file, findings))
    facts = [fact for entry in entries for fact in _measured(entry, file, first_rtmr_is_weak=True)]
    tdx = [entry for entry in entries if entry.platform.rtmr0_by_vcpus]
    if vcpus:
        facts += _rtmr0(tdx, file, vcpus, findings)
    filled = [
        f"{entry.field}.{name}"
        for entry in entries
        for name in OPERATORS[entry.platform.tee]
        if _filled(entry.value.get(name))
    ]
    if filled:
        fields = ", ".join(filled)
        findings.append(finding("CC1305.operator", file=file, what=fields))
    return Facts(tuple(facts), tuple(findings))


def _entries(manifest: Mapping[str, Any], file: str, findings: list[Finding]) -> Iterator[MeasuredEntry]:
    values = mapping(manifest["ReferenceValues"])
    for tee in MEASURED:
        for index, value in enumerate(maps(values.get(tee))):
            field, marker = f"{tee}[{index}]", value.get("Platform")
            platform = MARKERS.get(marker) if isinstance(marker, str) else None
            if platform is not None and platform.tee == tee:
                yield MeasuredEntry(platform, _product(value), value, field)
            elif marker:
                findings.append(finding("CC1305.platform", file=file, what=f"ReferenceValues.{field}"))
            else:
                findings.append(finding("CC1304.platform", file=file, field=field))


def _measured(entry: MeasuredEntry, file: str, *, first_rtmr_is_weak: bool) -> list[Fact]:
    """Return the measured values of one entry. A manifest's first RTMR is that of the pods it was made for."""
    tee, facts = entry.platform.tee, []
    place = ("platforms", entry.platform.name, tee, entry.product)
    for name in MEASURED[tee]:
        value = entry.value.get(name)
        if name == "Rtmrs" and isinstance(value, list):
            weak = first_rtmr_is_weak and entry.platform.rtmr0_by_vcpus
            facts += [
                Fact((*place, name, index), digest, file, weak=weak and index == 0)
                for index, digest in enumerate(value)
            ]
        elif value:
            facts.append(Fact((*place, name), value, file))
    return facts


def _rtmr0(entries: list[MeasuredEntry], file: str, vcpus: int, findings: list[Finding]) -> list[Fact]:
    """Return RTMR0 of one vCPU count, if the manifest was made for pods of that size only."""
    sure = [entry for entry in entries if not entry.value.get("Rtmr0Alternatives")]
    rtmrs = [entry.value.get("Rtmrs") for entry in sure]
    if not entries or len(sure) < len(entries):
        code = "CC0909.sizes" if entries else "CC0909.no-tdx"
        findings.append(finding(code, option="--vcpus", file=file))
        return []
    place = ("platforms", entries[0].platform.name, "rtmr0ByVCPU", str(vcpus))
    return [Fact(place, one[0], file) for one in rtmrs if isinstance(one, list) and one]


def _product(entry: Mapping[str, Any]) -> str:
    product = entry.get("ProductName")
    return product if isinstance(product, str) else ""


def _filled(value: Any) -> bool:
    """Tell whether an operator has set a value: null, "", 0 and objects of them are not set."""
    return any(map(_filled, value.values())) if isinstance(value, dict) else bool(value)
