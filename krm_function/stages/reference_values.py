"""Reference values: merge the release's for the platforms in use, the operator's, and those of the base manifest.

Rule of this file: a platform in use without reference values is an error, never an entry left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from krm_function.api.records import Config
from krm_function.findings import Finding, finding
from krm_function.manifest.canonical import canonical
from krm_function.manifest.gathered_values import ReferenceValues
from krm_function.manifest.merge_reference_values import merged_reference_values
from krm_function.manifest.problem import FieldProblem
from krm_function.manifest.tdx import Rtmr0
from krm_function.model.lookup import mapping, maps
from krm_function.model.platforms import PLATFORMS, Platform


def gather_reference_values(
    config: Config, platforms: Iterable[Platform], counts: Mapping[str, Sequence[int]]
) -> ReferenceValues:
    """Gather the values of the used platforms. counts: platform name -> the vCPU counts of its pods, for RTMR0."""
    options, ref = config.generate.ref, config.release.ref
    findings: list[Finding] = []
    release: dict[str, list[Mapping[str, Any]]] = {"snp": [], "tdx": []}
    rtmr0: Rtmr0 | None = None
    for platform in sorted(platforms, key=lambda used: list(PLATFORMS).index(used.name)):
        facts = config.release.platforms.get(platform.name)
        entries = () if facts is None else (facts.snp if platform.tee == "snp" else facts.tdx)
        if facts is None or not (entries or _in_base(config, platform)):
            findings.append(finding("CC0709", ref, ("spec", "platforms", platform.name), platform=platform.name))
            continue
        release[platform.tee] += [{**values, "Platform": platform.marker} for values in entries]
        if platform.rtmr0_by_vcpus and counts.get(platform.name):
            rtmr0 = Rtmr0(facts.rtmr0_by_vcpu, tuple(counts[platform.name]))
    overrides = _overrides(config.generate.manifest.reference_values)
    base = config.generate.manifest.base or {}
    where = ("spec", "manifest", "base")
    try:
        canonical(base)  # `merge` trusts its shape
        where = ("spec", "manifest", "referenceValues")
        merged = _merged(config, base.get("ReferenceValues"), release, overrides)
    except FieldProblem as problem:
        found = finding("CC0702", options, where, field=problem.problem.field, problem=problem.problem.problem)
        return ReferenceValues(findings=(*findings, found))
    return ReferenceValues(release, overrides, merged, rtmr0, tuple(findings))


def _merged(config: Config, base: Any, release: Mapping[str, Any], overrides: Mapping[str, Any]) -> Mapping[str, Any]:
    """Merge the three; what is kept of the base stands behind. Raises FieldProblem."""
    if config.generate.manifest.keep == "none":
        return merged_reference_values(base, release, overrides)
    from krm_function.manifest.previous_values import divided, with_kept

    before = divided(base, release)
    values = merged_reference_values(before.merged, release, overrides)
    return with_kept(values, merged_reference_values(before.kept, None, overrides))


def _in_base(config: Config, platform: Platform) -> bool:
    """Tell whether the base manifest has reference values of a platform."""
    base = mapping((config.generate.manifest.base or {}).get("ReferenceValues"))
    return any(entry.get("Platform") == platform.marker for entry in maps(base.get(platform.tee)))


def _overrides(settings: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """Convert the operator's values to the manifest's shape; a platform's name becomes its entries' `Platform`."""
    result: dict[str, list[Mapping[str, Any]]] = {}
    for key, fields in settings.items():
        platform = PLATFORMS.get(key)
        entries = fields if isinstance(fields, list | tuple) else [fields]
        for values in entries:
            named = {"Platform": platform.marker, **values} if platform else values
            result.setdefault(platform.tee if platform else key, []).append(named)
    return result
