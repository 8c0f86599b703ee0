"""The manifest of a render: its policies, its reference values, and the ConfigMap that carries it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from krm_function.config.collect import Config
from krm_function.config.generate import Generate, manifest_in, names_config_map
from krm_function.contrast.annotations import TOTAL as APPLIED
from krm_function.contrast.identity import Identities, object_key
from krm_function.contrast.manifest import (
    COORDINATOR,
    FILE,
    FieldProblem,
    ReferenceValues,
    Rtmr0,
    canonical,
    encode,
    newer_fields,
    unfilled,
    validate,
)
from krm_function.contrast.manifest_merge import divided, merge, merged_reference_values, policy_entry, with_kept
from krm_function.contrast.owner_keys import KeyProblem, seedshare_owner, workload_owner
from krm_function.contrast.platforms import PLATFORMS, Platform
from krm_function.findings import Finding, Ref, finding, has_errors
from krm_function.kubernetes.objects import dig, listed, mapping, maps
from krm_function.kubernetes.resource import Resource
from krm_function.kubernetes.workload import EMITTED, INITDATA, LOCAL_CONFIG, POD_ROLE, Workload
from krm_function.record import NamedTuple
from krm_function.render.read import read, read_values

# --- Write and read the ConfigMap that carries the manifest, and read a base manifest from one in the input
#
# Rule: the manifest's bytes travel verbatim under the data key manifest.json.


MOST_DATA = 1 << 20  # bytes of the data of a ConfigMap that the API server accepts
NEARLY = 90  # per cent of a limit from which on there is a warning


def make_config_map(generate: Generate, data: bytes, sealed: Sequence[Workload]) -> tuple[dict[str, Any], ...]:
    """Make the ConfigMap that carries the manifest; () if none is emitted.

    It is in the coordinator's namespace; in the configured one if the coordinator is not among the workloads.
    """
    options = generate.manifest
    if not data or options.emit == "none":
        return ()
    annotations = {EMITTED: "true"}
    if options.emit == "LocalConfig":
        annotations[LOCAL_CONFIG] = "true"
    metadata: dict[str, Any] = {"name": options.name}
    namespaces = [workload.ref.namespace for workload in sealed if workload.is_coordinator]
    if namespace := namespaces[-1] if namespaces else generate.namespace:
        metadata["namespace"] = namespace
    metadata["labels"] = {"app.kubernetes.io/managed-by": "contrast-krm"}
    metadata["annotations"] = annotations
    return ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {FILE: data.decode("utf-8")}},)


def check_size(config: Config, added: Sequence[Any]) -> tuple[Finding, ...]:
    """Return CC0714 if the manifest's ConfigMap comes near a limit of the API server, or else of `kubectl apply`.

    added: the objects that the render adds, that of `make_config_map` last. Source: docs/facts/kubernetes.md#limits.
    """
    options = config.generate.manifest
    text = read_emitted_manifest(added[-1]) if added and options.emit == "ConfigMap" else None
    if text is None:
        return ()
    size, limit, code = len(text.encode("utf-8")), MOST_DATA, "CC0714.object"
    if size < APPLIED // 3:  # in JSON, no frequent character of a manifest takes more than three times its bytes
        return ()
    if size < limit * NEARLY // 100:
        import json

        text = json.dumps(added[-1], ensure_ascii=False, separators=(",", ":"))
        size, limit, code = len(text.encode("utf-8")), APPLIED, "CC0714.apply"
        if size < limit * NEARLY // 100:
            return ()
    return (finding(code, config.generate.ref, ("spec", "manifest"), name=options.name, size=size, limit=limit),)


def read_emitted_manifest(value: Any) -> str | None:
    """Return the manifest text of a ConfigMap that a render emitted, None for any other object."""
    if dig(value, ("metadata", "annotations", EMITTED)) is None or dig(value, ("kind",)) != "ConfigMap":
        return None
    text = dig(value, ("data", FILE))
    return text if isinstance(text, str) else None


def with_base(config: Config, objects: Iterable[Any]) -> tuple[Config, tuple[Finding, ...]]:
    """Return the configuration with the manifest of the ConfigMap that its base names. objects: of the input."""
    options = config.generate.manifest
    name = (options.base or {}).get("configMap")
    values = [
        value for value in objects if dig(value, ("kind",)) == "ConfigMap" and dig(value, ("metadata", "name")) == name
    ]
    path = ("spec", "manifest", "base", "configMap")
    if len(values) != 1:
        code = "CC0713.twice" if values else "CC0713.absent"
        return config, (finding(code, config.generate.ref, path, name=name),)
    try:
        base = manifest_in(values[0])
    except ValueError as problem:
        return config, (finding("CC0713.content", config.generate.ref, path, name=name, error=str(problem)),)
    generate = config.generate._replace(manifest=options._replace(base=base))
    return config._replace(generate=generate), ()


# --- Reference values: merge the release's for the platforms in use, the operator's, and those of the base manifest
#
# Rule: a platform in use without reference values is an error, never an entry left out.


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
        if facts is None or not (entries or _is_in_base(config, platform)):
            findings.append(finding("CC0709", ref, ("spec", "platforms", platform.name), platform=platform.name))
            continue
        release[platform.tee] += [{**values, "Platform": platform.marker} for values in entries]
        if platform.rtmr0_by_vcpus and counts.get(platform.name):
            rtmr0 = Rtmr0(facts.rtmr0_by_vcpu, tuple(counts[platform.name]))
    overrides = _convert_overrides(config.generate.manifest.reference_values)
    base = config.generate.manifest.base or {}
    where = ("spec", "manifest", "base")
    try:
        canonical(base)  # `merge` trusts its shape
        where = ("spec", "manifest", "referenceValues")
        merged = _merge_values(config, base.get("ReferenceValues"), release, overrides)
    except FieldProblem as problem:
        invalid = finding("CC0702", options, where, field=problem.problem.field, problem=problem.problem.problem)
        return ReferenceValues(findings=(*findings, invalid))
    return ReferenceValues(release, overrides, merged, rtmr0, tuple(findings))


def _merge_values(
    config: Config, base: Any, release: Mapping[str, Any], overrides: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Merge the three; entries that are only kept from the base come last. Raises FieldProblem."""
    if config.generate.manifest.keep == "none":
        return merged_reference_values(base, release, overrides)
    start, beside = divided(base, release)
    values = merged_reference_values(start, release, overrides)
    return with_kept(values, merged_reference_values(beside, None, overrides))


def _is_in_base(config: Config, platform: Platform) -> bool:
    base = mapping((config.generate.manifest.base or {}).get("ReferenceValues"))
    return any(entry.get("Platform") == platform.marker for entry in maps(base.get(platform.tee)))


def _convert_overrides(settings: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """Convert the operator's values to the manifest's shape; a platform's name becomes `Platform` of its entries."""
    result: dict[str, list[Mapping[str, Any]]] = {}
    for key, fields in settings.items():
        platform = PLATFORMS.get(key)
        entries = fields if isinstance(fields, list | tuple) else [fields]
        for values in entries:
            entry = {"Platform": platform.marker, **values} if platform else values
            result.setdefault(platform.tee if platform else key, []).append(entry)
    return result


# --- Manifest: write the digests of this render and the reference values of release and operator as one document
#
# Rule: the manifest is signed and compared byte for byte (docs/facts/contrast-manifest.md#set-and-verify), so it is
# encoded once, here, and travels verbatim in a ConfigMap. Nothing is dropped silently: two workloads with one digest
# are an error.


NO_COORDINATOR = "CC0701"


class MadeManifest(NamedTuple):
    """The manifest as canonical bytes; b"" when none is configured or after an error."""

    data: bytes = b""
    findings: tuple[Finding, ...] = ()


def make_manifest(
    config: Config, sealed: Sequence[Workload], values: ReferenceValues, identities: Identities
) -> MadeManifest:
    """Make the manifest of all workloads of this render, merged with the base. identities: those of all workloads."""
    options = config.generate.manifest
    if not _has_coordinator(config, sealed):
        findings = _find_unsealed(config, sealed) if options.emit == "none" else (finding(NO_COORDINATOR),)
        return MadeManifest(findings=findings)
    policies, problems = _make_policies(sealed, identities)
    keys, key_problems = _convert_owner_keys(config)
    if findings := problems + key_problems:
        if options.emit == "none" and all(problem.code == "CC0711" for problem in findings):
            findings = _find_unsealed(config, sealed)
        return MadeManifest(findings=findings)
    now = {workload.ref: workload.digest for workload in sealed}
    replaced = {digest: now[ref] for digest, ref in identities.replaced.items() if ref in now}
    manifest = merge(
        options.base,
        policies,
        values.release,
        values.overrides,
        owner_keys=keys[0],
        seedshare_keys=keys[1],
        rtmr0=values.rtmr0,
        replaced=replaced,
        keep=options.keep == "previous",
    )
    if options.disable_updates:
        manifest["WorkloadOwnerPubKeys"] = None
    return MadeManifest(encode(manifest), (*_report_kept(config, replaced, manifest), *_validate(manifest, config)))


def _report_kept(config: Config, replaced: Mapping[str, str], manifest: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Report what `keep: previous` keeps of the base, or CC0732 without a base."""
    options, path = config.generate.manifest, ("spec", "manifest", "keep")
    if options.keep == "none":
        return ()
    if options.base is None:
        return (finding("CC0732", config.generate.ref, path),)
    policies = sum(old_digest != digest for old_digest, digest in replaced.items())
    old = mapping(options.base.get("ReferenceValues"))
    values = sum(
        max(len(mapping(manifest.get("ReferenceValues")).get(tee) or ()) - len(_list_keys(manifest, tee)), 0)
        for tee in old
    )
    if not policies and not values:
        return ()
    return (finding("CC0730", config.generate.ref, path, policies=policies, values=values),)


def _list_keys(manifest: Mapping[str, Any], tee: str) -> set[tuple[Any, Any]]:
    entries = maps(mapping(manifest.get("ReferenceValues")).get(tee))
    return {(entry.get("Platform"), entry.get("ProductName")) for entry in entries}


def check_manifest(config: Config, sealed: Sequence[Workload], identities: Identities) -> tuple[Finding, ...]:
    """Find the errors of the manifest when errors of workloads forbid making it, so that all are reported at once.

    sealed: with "" as the digest of each workload that has errors; such a workload gets no policy entry.
    """
    if not _has_coordinator(config, sealed):
        return () if config.generate.manifest.emit == "none" else (finding(NO_COORDINATOR),)
    _, problems = _make_policies([workload for workload in sealed if workload.digest], identities)
    return (*problems, *_convert_owner_keys(config)[1])


def _find_unsealed(config: Config, sealed: Sequence[Workload]) -> tuple[Finding, ...]:
    """Return CC0716 for the workloads that leave this render without a policy, none of which is in a manifest."""
    unsealed = [f"{workload.ref.kind} {workload.ref}" for workload in sealed if not workload.digest]
    path = ("spec", "policy", "engine")
    return (finding("CC0716", config.generate.ref, path, workloads=listed(unsealed)),) if unsealed else ()


def _has_coordinator(config: Config, sealed: Sequence[Workload]) -> bool:
    policies = mapping((config.generate.manifest.base or {}).get("Policies")).values()
    in_base = any(mapping(policy).get("Role") == COORDINATOR for policy in policies)
    return in_base or any(workload.role == COORDINATOR for workload in sealed)


def _make_policies(
    sealed: Sequence[Workload], identities: Identities
) -> tuple[dict[str, Mapping[str, Any]], tuple[Finding, ...]]:
    """Make the Policies of the manifest: digest -> entry (docs/facts/contrast-manifest.md#policy-entries)."""
    policies: dict[str, Mapping[str, Any]] = {}
    owners: dict[str, Ref] = {}
    base_entries = {entry.digest: entry for entry in identities.base}
    findings: list[Finding] = []
    for workload in sealed:
        ref, digest = workload.ref, workload.digest
        path = (*workload.metadata_path, "annotations", INITDATA)
        role = workload.labels.get(POD_ROLE) or ""
        if not digest:
            findings.append(finding("CC0711", ref, path, name=ref))
        elif not isinstance(dig(workload.object, ("metadata", "name")), str):
            findings.append(finding("CC0712", ref, (*workload.root, "metadata", "name")))
        elif role not in {"", COORDINATOR}:
            label = (*workload.metadata_path, "labels", POD_ROLE)
            findings.append(finding("CC0702.role", ref, label, field="Role", role=role))
        elif digest in policies and _is_same_entry(ref, owners[digest], identities):
            continue  # two pod templates of an object that become the same pod
        elif digest in policies:
            first, second = (f"{owner.kind}/{owner}" for owner in (owners[digest], ref))
            findings.append(finding("CC0705", ref, path, first=first, second=second, digest=digest))
        elif digest in base_entries and not ((owner := base_entries[digest].owner) and owner.whole == ref.whole):
            path = (*workload.root, "metadata", "name")
            entry, key = base_entries[digest], object_key(ref)
            findings.append(finding("CC0724.digest", ref, path, entry=entry, key=key, digest=digest))
        else:
            owners[digest] = ref
            identity = identities.by_ref[ref]
            policies[digest] = policy_entry(ref.name, identity.secret, identity.role, identity.sans)
    return policies, tuple(findings)


def _is_same_entry(ref: Ref, second: Ref, identities: Identities) -> bool:
    identity, second_identity = identities.by_ref[ref], identities.by_ref[second]
    return ref.whole == second.whole and identity._replace(ref=ref.whole) == second_identity._replace(ref=ref.whole)


def _convert_owner_keys(config: Config) -> tuple[tuple[list[str], list[str]], tuple[Finding, ...]]:
    """Convert workload owner and seedshare owner keys to the manifest's encoding."""
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
                findings.append(finding("CC0707", config.generate.ref, path, problem=str(problem)))
    return keys, tuple(findings)


def _validate(manifest: Mapping[str, Any], config: Config) -> tuple[Finding, ...]:
    """Validate the manifest as `contrast set` would; without a base it may have unfilled values."""
    problems = validate(manifest)
    ref, path = config.generate.ref, ("spec", "manifest")
    findings = [
        finding("CC0702", ref, path, field=problem.field, problem=problem.problem)
        for problem in problems
        if not problem.missing
    ]
    code = "CC0703" if config.generate.manifest.base is None else "CC0704"
    entries: dict[str, list[str]] = {}
    for place, fields in unfilled(problems).items():
        entries.setdefault(", ".join(fields), []).append(place)
    for lacking, places in entries.items():
        findings.append(finding(code, ref, (*path, "referenceValues"), entry=", ".join(places), fields=lacking))
    newer = newer_fields(manifest)
    if newer:
        findings.append(finding("CC0742", ref, (*path, "base"), names=", ".join(newer)))
    if not manifest.get("WorkloadOwnerPubKeys") and not config.generate.manifest.disable_updates:
        findings.append(finding("CC0770", ref, (*path, "workloadOwnerKeys")))
    count = len(manifest["Policies"])
    return (*findings, finding("CC0706", policies=count))


# --- Read a base manifest that the configuration takes from a ConfigMap of the input: `base: {configMap: NAME}`


def read_base_of_input(config: Config, resources: Sequence[Resource]) -> tuple[Config, tuple[Finding, ...]]:
    """Return the configuration with the manifest in place of the ConfigMap's name, and the findings about it."""
    if not config.generate.manifest.base or not names_config_map(config.generate.manifest.base):
        return config, ()
    parsed = read(resources, ("ConfigMap",))
    if has_errors(parsed.findings):
        return config, parsed.findings
    return with_base(config, list(read_values(parsed.resources)))
