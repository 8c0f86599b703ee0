"""Check: was the function really applied, and has nothing moved since?

Rule of this file: it looks at rendered output alone, because kustomize can skip a function without a word (krm.md 0.3).
What it asks is what `contrast set` and `contrast verify` will ask later (contrast.md 9).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.model.image import parse as parse_image
from krm_function.model.platforms import Platform, is_placeholder, parse_runtime_class
from krm_function.model.workload import INITDATA, Workload, mapping
from krm_function.policy import PROFILES, References, decode_toml, describe, digest, from_annotation, load_rules, rules_of
from krm_function.policy.drift import drift


class Checked(NamedTuple):
    """What there is to say about one workload, and the digest it was sealed with ("" if it was not)."""

    findings: tuple[Finding, ...] = ()
    digest: str = ""
    platform: Platform | None = None


def check_workload(workload: Workload, references: References) -> Checked:
    """Whether one pod is sealed and still is what its policy describes."""
    ref, name = workload.ref, workload.runtime_class
    if is_placeholder(name):
        return Checked((finding("CC1101", ref, (*workload.spec_path, "runtimeClassName"), name=name),))
    parsed = parse_runtime_class(name)
    platform = parsed if isinstance(parsed, Platform) else None
    findings = list(_images(workload))
    path = (*workload.metadata_path, "annotations", INITDATA)
    value = workload.annotations.get(INITDATA)
    if not isinstance(value, str):
        return Checked((*findings, finding("CC1102", ref, path)), "", platform)
    try:
        toml = from_annotation(value)
        initdata = decode_toml(toml)
        rego = initdata.data.get("policy.rego", "")
        sealed = describe(rego)
    except ValueError as problem:
        found = finding("CC0610", ref, path, key=INITDATA, problem=str(problem))
        return Checked((*findings, found), "", platform)
    moved = drift(workload, sealed, references, ours=rules_of(rego) in map(load_rules, PROFILES))
    findings += [finding("CC1103", ref, workload.spec_path, field=field) for field in moved]
    return Checked(tuple(findings), digest(toml), platform)


def _images(workload: Workload) -> list[Finding]:
    """Images that are not pinned, init containers included."""
    findings: list[Finding] = []
    for field, containers in (("initContainers", workload.init_containers), ("containers", workload.containers)):
        for index, container in enumerate(containers):
            image = container.get("image")
            parsed = parse_image(image) if isinstance(image, str) else "missing"
            path: Path = (*workload.spec_path, field, index, "image")
            if isinstance(parsed, str):
                findings.append(finding("CC0503", workload.ref, path, image=image, problem=parsed))
            elif not parsed.digest:
                findings.append(finding("CC0502", workload.ref, path, image=image))
    return findings


def check_manifest(digests: Mapping[Ref, str], manifest: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Whether manifest and workloads name exactly the same digests (contrast.md 9, `set`)."""
    policies = mapping(manifest.get("Policies"))  # whether its shape is right, `validate` says
    strangers = [(ref, sealed) for ref, sealed in digests.items() if sealed and sealed not in policies]
    findings = [finding("CC1104", ref, (), digest=sealed) for ref, sealed in strangers]
    unknown = sorted(set(policies) - set(digests.values()))
    if unknown:
        names = ", ".join("/".join(_names(policies[one]) or [one[:16]]) for one in unknown)
        findings.append(finding("CC1105", names=names))
    return tuple(findings)


def _names(policy: Any) -> list[str]:
    found = mapping(policy).get("SANs")
    return [str(name) for name in found] if isinstance(found, list) else []


def check_classes(workloads: Sequence[Workload], classes: Sequence[str]) -> tuple[Finding, ...]:
    """Whether every handler in use is among the RuntimeClass objects, if there are any of Contrast's."""
    if not classes:
        return ()
    return tuple(
        finding("CC1107", one.ref, (*one.spec_path, "runtimeClassName"), name=one.runtime_class)
        for one in workloads
        if not is_placeholder(one.runtime_class) and one.runtime_class not in classes
    )
