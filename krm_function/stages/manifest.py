"""Manifest: write the digests of this render and the reference values of release and operator as one document.

Rule of this file: the manifest is signed and compared byte for byte (docs/facts/contrast-manifest.md#set-and-verify),
so it is encoded once, here, and travels verbatim in a ConfigMap. Nothing is dropped silently: two workloads with one
digest are an error.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.api.records import Config
from krm_function.findings import Finding, Ref, finding
from krm_function.manifest.canonical import newer_fields
from krm_function.manifest.encode import encode
from krm_function.manifest.gathered_values import ReferenceValues
from krm_function.manifest.identity import Identities, object_key
from krm_function.manifest.merge import merge
from krm_function.manifest.merge_policies import policy_entry
from krm_function.manifest.ordered_fields import COORDINATOR
from krm_function.manifest.owner_keys import KeyProblem, seedshare_owner, workload_owner
from krm_function.manifest.validate import unfilled, validate
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.sealed import SealedWorkload
from krm_function.model.workload import INITDATA, POD_ROLE
from krm_function.record import NamedTuple

NO_COORDINATOR = "CC0701"


class MadeManifest(NamedTuple):
    """The manifest as canonical bytes; b"" when none is configured or after an error."""

    data: bytes = b""
    findings: tuple[Finding, ...] = ()


def make_manifest(
    config: Config, sealed: Sequence[SealedWorkload], values: ReferenceValues, identities: Identities
) -> MadeManifest:
    """Make the manifest of all workloads of this render, merged with the base.

    identities: what it gives to each of them, without errors.
    """
    options = config.generate.manifest
    if not _has_coordinator(config, sealed):
        found = () if options.emit == "none" else (finding(NO_COORDINATOR),)
        return MadeManifest(findings=found)
    policies, problems = _policies(sealed, identities)
    keys, key_problems = _owner_keys(config)
    if problems or key_problems:
        unsealed_only = all(found.code == "CC0711" for found in problems) and not key_problems
        return (
            MadeManifest()
            if options.emit == "none" and unsealed_only
            else MadeManifest(findings=problems + key_problems)
        )
    now = {one.workload.ref: one.digest for one in sealed}
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
    return MadeManifest(encode(manifest), (*_kept(config, replaced, manifest), *_validated(manifest, config)))


def _kept(config: Config, replaced: Mapping[str, str], manifest: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Return what `keep: previous` keeps, a warning as long as it is anything; and CC0732 where it keeps nothing."""
    options, path = config.generate.manifest, ("spec", "manifest", "keep")
    if options.keep == "none":
        return ()
    if options.base is None:
        return (finding("CC0732", config.generate.ref, path),)
    policies = sum(before != now for before, now in replaced.items())
    old = mapping(options.base.get("ReferenceValues"))
    values = sum(
        max(len(mapping(manifest.get("ReferenceValues")).get(tee) or ()) - len(_keys(manifest, tee)), 0) for tee in old
    )
    if not policies and not values:
        return ()
    return (finding("CC0730", config.generate.ref, path, policies=policies, values=values),)


def _keys(manifest: Mapping[str, Any], tee: str) -> set[tuple[Any, Any]]:
    """Return the platforms and products that have reference values."""
    entries = maps(mapping(manifest.get("ReferenceValues")).get(tee))
    return {(entry.get("Platform"), entry.get("ProductName")) for entry in entries}


def manifest_errors(config: Config, sealed: Sequence[SealedWorkload], identities: Identities) -> tuple[Finding, ...]:
    """Find the errors of the manifest when those of workloads forbid making it, so that all are reported at once.

    sealed: with "" as the digest of each workload that has errors; such a workload gets no policy entry.
    """
    if not _has_coordinator(config, sealed):
        return () if config.generate.manifest.emit == "none" else (finding(NO_COORDINATOR),)
    _, problems = _policies([one for one in sealed if one.digest], identities)
    return (*problems, *_owner_keys(config)[1])


def _has_coordinator(config: Config, sealed: Sequence[SealedWorkload]) -> bool:
    """Tell whether there is a coordinator among the workloads or in the base manifest."""
    kept = mapping((config.generate.manifest.base or {}).get("Policies")).values()
    in_base = any(mapping(policy).get("Role") == COORDINATOR for policy in kept)
    return in_base or any(one.role == COORDINATOR for one in sealed)


def _policies(
    sealed: Sequence[SealedWorkload], identities: Identities
) -> tuple[dict[str, Mapping[str, Any]], tuple[Finding, ...]]:
    """Make the Policies of the manifest: digest -> entry (docs/facts/contrast-manifest.md#policy-entries)."""
    policies: dict[str, Mapping[str, Any]] = {}
    owners: dict[str, Ref] = {}
    kept = {entry.digest: entry for entry in identities.base}
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
            findings.append(finding("CC0702.role", ref, label, field="Role", role=role))
        elif digest in policies and _is_same_entry(ref, owners[digest], identities):
            continue  # two pod templates of an object that become the same pod
        elif digest in policies:
            findings.append(finding("CC0705", ref, path, first=_full(owners[digest]), second=_full(ref), digest=digest))
        elif digest in kept and (owner := kept[digest].owner) != ref and not (owner and owner.whole == ref.whole):
            path = (*workload.root, "metadata", "name")
            entry, key = kept[digest], object_key(ref)
            findings.append(finding("CC0724.digest", ref, path, entry=entry, key=key, digest=digest))
        else:
            owners[digest] = ref
            one = identities.by_ref[ref]
            policies[digest] = policy_entry(ref.name, one.secret, one.role, one.sans)
    return policies, tuple(findings)


def _is_same_entry(one: Ref, other: Ref, identities: Identities) -> bool:
    """Tell whether two pod templates are of one object and get the same from the manifest."""
    mine, theirs = identities.by_ref[one], identities.by_ref[other]
    return one.whole == other.whole and mine._replace(ref=one.whole) == theirs._replace(ref=one.whole)


def _full(ref: Ref) -> str:
    return f"{ref.kind}/{ref}"


def _owner_keys(config: Config) -> tuple[tuple[list[str], list[str]], tuple[Finding, ...]]:
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


def _validated(manifest: Mapping[str, Any], config: Config) -> tuple[Finding, ...]:
    """Validate the manifest as `contrast set` would; unfilled values are allowed in one that has no base yet."""
    problems = validate(manifest)
    ref, path = config.generate.ref, ("spec", "manifest")
    findings = [
        finding("CC0702", ref, path, field=one.field, problem=one.problem) for one in problems if not one.missing
    ]
    code = "CC0703" if config.generate.manifest.base is None else "CC0704"
    for place, fields in unfilled(problems).items():
        findings.append(finding(code, ref, (*path, "referenceValues"), entry=place, fields=", ".join(fields)))
    newer = newer_fields(manifest)
    if newer:
        findings.append(finding("CC0742", ref, (*path, "base"), names=", ".join(newer)))
    if not manifest.get("WorkloadOwnerPubKeys") and not config.generate.manifest.disable_updates:
        findings.append(finding("CC0770", ref, (*path, "workloadOwnerKeys")))
    count = len(manifest["Policies"])
    return (*findings, finding("CC0706", policies=count))
