"""Manifest: the digests of this render, the release's reference values and the operator's, as one document.

Rule of this file: the manifest is signed and compared byte for byte (contrast.md 2.6), so it is encoded once, here, and
travels verbatim in a ConfigMap. Nothing is dropped silently: two workloads with one digest are an error.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from krm_function.api.base_manifest import manifest_in
from krm_function.api.kinds import API_VERSION, Config, ManifestOptions
from krm_function.findings import Finding, Ref, finding
from krm_function.manifest import (
    COORDINATOR,
    FieldProblem,
    KeyProblem,
    Rtmr0,
    canonical,
    encode,
    merge,
    merged_reference_values,
    policy_entry,
    secret_id,
    seedshare_owner,
    unfilled,
    validate,
    workload_owner,
)
from krm_function.manifest.fields import FILE
from krm_function.model.platforms import PLATFORMS, Platform
from krm_function.model.workload import EMITTED, INITDATA, LOCAL_CONFIG, POD_ROLE, PREFIX, Workload, dig, mapping, maps
from krm_function.record import NamedTuple
from krm_function.schema.nearest import nearest


class SealedWorkload(NamedTuple):
    """A workload and its initdata digest; "" when somebody else has yet to seal it."""

    workload: Workload
    digest: str


class ReferenceValues(NamedTuple):
    """What the release says of the used platforms, what the operator sets, and both merged with the base manifest."""

    release: Mapping[str, Any] = {}
    overrides: Mapping[str, Any] = {}
    merged: Mapping[str, Any] = {}
    rtmr0: Rtmr0 | None = None
    findings: tuple[Finding, ...] = ()


class Made(NamedTuple):
    """The manifest as canonical bytes; b"" when none was asked for or after an error."""

    data: bytes = b""
    findings: tuple[Finding, ...] = ()


def gather_reference_values(
    config: Config, platforms: Iterable[Platform], counts: Mapping[str, Sequence[int]]
) -> ReferenceValues:
    """Reference values of the used platforms. counts: platform name -> the vCPU counts of its pods, for RTMR0."""
    options, ref = _options_ref(config), Ref(API_VERSION, "ContrastRelease", "", config.release.name)
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
            path = ("spec", "platforms", platform.name, "rtmr0ByVCPU")
            missing = sorted({count for count in rtmr0.counts if count and str(count) not in rtmr0.table})
            findings += [finding("CC0609", ref, path, vcpus=count, platform=platform.name) for count in missing]
    overrides = _overrides(config.generate.manifest.reference_values)
    base = config.generate.manifest.base or {}
    where = ("spec", "manifest", "base")
    try:
        canonical(base)  # `merge` trusts its shape
        where = ("spec", "manifest", "referenceValues")
        merged = merged_reference_values(base.get("ReferenceValues"), release, overrides)
    except FieldProblem as problem:
        found = finding("CC0702", options, where, field=problem.problem.field, problem=problem.problem.problem)
        return ReferenceValues(findings=(*findings, found))
    return ReferenceValues(release, overrides, merged, rtmr0, tuple(findings))


def _in_base(config: Config, platform: Platform) -> bool:
    """Whether the base manifest has reference values of a platform."""
    base = mapping((config.generate.manifest.base or {}).get("ReferenceValues"))
    return any(entry.get("Platform") == platform.marker for entry in maps(base.get(platform.tee)))


def make_manifest(config: Config, sealed: Sequence[SealedWorkload], values: ReferenceValues) -> Made:
    """The manifest of all workloads of this render, merged with the base."""
    options = config.generate.manifest
    base = options.base
    if not _has_coordinator(config, sealed):
        found = () if options.emit == "none" else (finding("CC0701"),)
        return Made(findings=found)
    policies, problems = _policies(sealed, options)
    problems += _unknown_names(sealed, config)
    keys, key_problems = _owner_keys(config)
    if problems or key_problems:
        unsealed_only = all(found.code == "CC0711" for found in problems) and not key_problems
        return Made() if options.emit == "none" and unsealed_only else Made(findings=problems + key_problems)
    manifest = merge(
        base, policies, values.release, values.overrides, owner_keys=keys[0], seedshare_keys=keys[1], rtmr0=values.rtmr0
    )
    if options.disable_updates:
        manifest["WorkloadOwnerPubKeys"] = None
    return Made(encode(manifest), _validated(manifest, config))


def foresee(config: Config, sealed: Sequence[SealedWorkload]) -> tuple[Finding, ...]:
    """What `make_manifest` will refuse once every workload is clean: told with the errors that keep it from starting.

    sealed: with "" as the digest of each workload that is not clean yet; nothing is asked of such a digest.
    """
    if not _has_coordinator(config, sealed):
        return () if config.generate.manifest.emit == "none" else (finding("CC0701"),)
    _, problems = _policies([one for one in sealed if one.digest], config.generate.manifest)
    return (*problems, *_unknown_names(sealed, config), *_owner_keys(config)[1])


def _has_coordinator(config: Config, sealed: Sequence[SealedWorkload]) -> bool:
    """Whether there is a coordinator among the workloads or in the base manifest."""
    kept = mapping((config.generate.manifest.base or {}).get("Policies")).values()
    in_base = any(mapping(policy).get("Role") == COORDINATOR for policy in kept)
    return in_base or any(one.workload.is_coordinator for one in sealed)


def emit(options: ManifestOptions, data: bytes, sealed: Sequence[SealedWorkload]) -> tuple[dict[str, Any], ...]:
    """The ConfigMap that carries the manifest, in the coordinator's namespace; nothing when none is to be emitted."""
    if not data or options.emit == "none":
        return ()
    annotations = {EMITTED: "true"}
    if options.emit == "LocalConfig":
        annotations[LOCAL_CONFIG] = "true"
    metadata: dict[str, Any] = {"name": options.name}
    namespaces = [one.workload.ref.namespace for one in sealed if one.workload.is_coordinator]
    if namespaces and namespaces[-1]:
        metadata["namespace"] = namespaces[-1]
    metadata["labels"] = {"app.kubernetes.io/managed-by": "contrast-krm"}
    metadata["annotations"] = annotations
    return ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {FILE: data.decode("utf-8")}},)


def manifest_of(value: Any) -> str | None:
    """The manifest text of a ConfigMap that a render emitted, None for any other object."""
    if dig(value, ("metadata", "annotations", EMITTED)) is None or dig(value, ("kind",)) != "ConfigMap":
        return None
    text = dig(value, ("data", FILE))
    return text if isinstance(text, str) else None


def with_base(config: Config, objects: Iterable[Any]) -> tuple[Config, tuple[Finding, ...]]:
    """The configuration with the manifest of the ConfigMap that its base names; objects: where to look for it."""
    options = config.generate.manifest
    name = (options.base or {}).get("configMap")
    found = [
        value for value in objects if dig(value, ("kind",)) == "ConfigMap" and dig(value, ("metadata", "name")) == name
    ]
    path = ("spec", "manifest", "base", "configMap")
    if len(found) != 1:
        why = "is in the input more than once" if found else "is not in the input"
        return config, (finding("CC0713", _options_ref(config), path, name=name, problem=why),)
    try:
        base = manifest_in(found[0])
    except ValueError as problem:
        return config, (finding("CC0713", _options_ref(config), path, name=name, problem=str(problem)),)
    generate = config.generate._replace(manifest=options._replace(base=base))
    return config._replace(generate=generate), ()


def _options_ref(config: Config) -> Ref:
    return Ref(API_VERSION, "ContrastGenerate", "", config.generate.name)


def _overrides(settings: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """The operator's values in the manifest's own shape; a platform's name becomes its entries' `Platform`."""
    result: dict[str, list[Mapping[str, Any]]] = {}
    for key, fields in settings.items():
        platform = PLATFORMS.get(key)
        entries = fields if isinstance(fields, list | tuple) else [fields]
        for values in entries:
            named = {"Platform": platform.marker, **values} if platform else values
            result.setdefault(platform.tee if platform else key, []).append(named)
    return result


def _policies(
    sealed: Sequence[SealedWorkload], options: ManifestOptions
) -> tuple[dict[str, Mapping[str, Any]], tuple[Finding, ...]]:
    """Digest -> entry of every workload (contrast.md 6.3)."""
    policies: dict[str, Mapping[str, Any]] = {}
    owners: dict[str, Ref] = {}
    findings: list[Finding] = []
    for workload, digest in sealed:
        ref = workload.ref
        path = (*workload.metadata_path, "annotations", INITDATA)
        role = workload.labels.get(POD_ROLE) or ""
        if not digest:
            findings.append(finding("CC0711", ref, path, name=ref))
        elif not isinstance(dig(workload.object, ("metadata", "name")), str):
            findings.append(finding("CC0712", ref, (*workload.root, "metadata", "name")))
        elif role not in {"", COORDINATOR}:
            label = (*workload.metadata_path, "labels", POD_ROLE)
            findings.append(finding("CC0702", ref, label, field="Role", problem=f"unknown role {role}"))
        elif digest in policies:
            findings.append(finding("CC0705", ref, path, first=_full(owners[digest]), second=_full(ref), digest=digest))
        else:
            owners[digest] = ref
            chosen = workload.annotations.get(PREFIX + "workload-secret-id")
            identity = chosen if isinstance(chosen, str) and chosen else secret_id(*ref)
            extra = options.policies[ref.name].sans if ref.name in options.policies else ()
            policies[digest] = policy_entry(ref.name, identity, role, extra)
    return policies, tuple(findings)


def _full(ref: Ref) -> str:
    return f"{ref.kind}/{ref}"


def _unknown_names(sealed: Sequence[SealedWorkload], config: Config) -> tuple[Finding, ...]:
    """Names under spec.manifest.policies that no workload has."""
    names = sorted({one.workload.ref.name for one in sealed})
    return tuple(
        finding(
            "CC0708",
            _options_ref(config),
            ("spec", "manifest", "policies", name),
            name=name,
            suggestion=nearest(name, names) or ", ".join(names),
        )
        for name in config.generate.manifest.policies
        if name not in names
    )


def _owner_keys(config: Config) -> tuple[tuple[list[str], list[str]], tuple[Finding, ...]]:
    """Workload owner and seedshare owner keys in the manifest's encoding."""
    options = config.generate.manifest
    keys: tuple[list[str], list[str]] = ([], [])
    findings: list[Finding] = []
    sources = (
        (options.workload_owner_keys, workload_owner, "workloadOwnerKeys"),
        (options.seedshare_owner_keys, seedshare_owner, "seedshareOwnerKeys"),
    )
    for target, (pems, convert, field) in zip(keys, sources, strict=True):
        for index, pem in enumerate(pems):
            try:
                target.append(convert(pem))
            except KeyProblem as problem:
                path = ("spec", "manifest", field, index)
                findings.append(finding("CC0707", _options_ref(config), path, problem=str(problem)))
    return keys, tuple(findings)


def _validated(manifest: Mapping[str, Any], config: Config) -> tuple[Finding, ...]:
    """What `contrast set` would say of it; unfilled values are allowed in a manifest that has no base yet."""
    problems = validate(manifest)
    ref, path = _options_ref(config), ("spec", "manifest")
    findings = [
        finding("CC0702", ref, path, field=one.field, problem=one.problem) for one in problems if not one.missing
    ]
    code = "CC0703" if config.generate.manifest.base is None else "CC0704"
    for place, fields in unfilled(problems).items():
        findings.append(finding(code, ref, (*path, "referenceValues"), entry=place, fields=", ".join(fields)))
    count = len(manifest["Policies"])
    return (*findings, finding("CC0706", policies=count))
