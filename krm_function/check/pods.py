"""Check each workload of rendered output: sealed, still what was sealed, admitted by the cluster."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from krm_function.check.drift import drift
from krm_function.config.references import References
from krm_function.contrast.gpus import PASSED, asked_gpus
from krm_function.contrast.identity import key_of_derived
from krm_function.contrast.platforms import Platform, is_placeholder, parse_runtime_class
from krm_function.contrast.vm_size import vcpus
from krm_function.findings import Finding, Path, Ref, finding
from krm_function.kubernetes.helm_hooks import hook_of
from krm_function.kubernetes.lookup import dig, mapping, maps
from krm_function.kubernetes.objects import reference
from krm_function.kubernetes.pod_kinds import SHIPPED, Kinds
from krm_function.kubernetes.pod_names import LONGEST_BASE
from krm_function.kubernetes.resource import Resource
from krm_function.kubernetes.runtime_classes import RuntimeClass
from krm_function.kubernetes.workload import ID_BLOCKS, INITDATA, Workload, claim_names, workloads_of
from krm_function.policy.controllers import controller_findings, without_controlled, written_by_controller
from krm_function.policy.initdata import decode_toml, digest, from_annotation, read_policy_data, unreadable
from krm_function.policy.made_pod import allowed_names, name_difference, refused_name
from krm_function.policy.open_variables import open_findings, open_variables, unbound_findings, unbound_values
from krm_function.policy.rules import profile_of_data, profile_of_rules
from krm_function.record import NamedTuple
from krm_function.render.classes import check_daemon_set, schedule
from krm_function.render.pod_checks import check_gpus, check_host_mounts
from krm_function.render.pod_checks import check_rendered as admissible
from krm_function.render.select import select
from krm_function.render.stages import make_id_blocks, measure
from krm_function.render.unsealed import find_misplaced, list_unsealed_classes, report_unsealed_class
from krm_function.text.changes import Change, apply

# --- Make the pod that a controller would create of a workload, for a dry run
#
# Rule: pure. What admission looks at is there: the template's labels and annotations, the namespace, the
# service account, claims of templates, what a StatefulSet adds; the name is left to the server, since that of a running
# pod is taken. There is no ownerReference, which needs rights of its own. Source: docs/facts/kubernetes.md#dry-run.


def pod_as_created(workload: Workload, namespace: str, without: Container[str] = ()) -> dict[str, Any]:
    """Return the pod. without: fields of its spec that name what the cluster does not have yet."""
    given = {key: workload.pod_metadata[key] for key in ("labels", "annotations") if workload.pod_metadata.get(key)}
    spec = {key: value for key, value in workload.pod_spec.items() if key not in without}
    spec |= _with_claims(workload, spec)
    if workload.ref.kind == "StatefulSet":
        spec |= _of_a_stateful_set(workload)
    metadata = {**given, "generateName": name_prefix(workload), "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def name_prefix(workload: Workload) -> str:
    """Return the beginning of the pod's name, to which the server adds five characters."""
    return f"{workload.ref.name}-"[:LONGEST_BASE]


def _with_claims(workload: Workload, spec: dict[str, Any]) -> dict[str, Any]:
    """Return the volumes with the claims of claim templates, of a kind that has any."""
    claims = claim_names(workload)
    if not claims:
        return {}
    volumes = [one for one in maps(spec.get("volumes")) if one.get("name") not in claims]
    named = [{"name": one, "persistentVolumeClaim": {"claimName": f"{one}-{workload.ref.name}-0"}} for one in claims]
    return {"volumes": [*volumes, *named]}


def _of_a_stateful_set(workload: Workload) -> dict[str, Any]:
    """Return what its controller sets: the name and domain of the first pod."""
    domain = mapping(workload.object.get("spec")).get("serviceName")
    name = {"hostname": f"{workload.ref.name}-0"}
    return {**name, "subdomain": domain} if isinstance(domain, str) else name


def in_its_owner(pod: Any, workload: Workload) -> Workload:
    """Return the workload with a pod in the place of its template, as its policy has the owner's name and kind.

    pod: or the template of what a controller made, with metadata and spec.
    """
    template, path = without_controlled(mapping(pod), workload), workload.template
    if path:
        edited = apply(workload.object, [Change(path, "set", template)])
    else:
        names = {key: workload.pod_metadata[key] for key in ("name", "namespace") if key in workload.pod_metadata}
        edited = {**workload.object, **template, "metadata": {**template["metadata"], **names}}
    return Workload(edited, (), workload.ref, path, made_by=workload.made_by)


# --- Check each workload of rendered output: it is sealed, and neither its pod nor the manifest has changed since
#
# Rule: it looks at rendered output alone, because kustomize can skip a function without a word
# (docs/facts/kustomize.md#exec-functions). It checks what `contrast set` and `contrast verify` will check later
# (docs/facts/contrast-manifest.md#set-and-verify).


LONGEST_HOOK = 64  # characters of that annotation in a sentence


class Checked(NamedTuple):
    """The findings about one workload, and the digest it was sealed with ("" if it was not).

    moved: the fields that changed since; each has a finding. has_gpus: whether the policy passes any to the pod.
    allowed_names: the pattern of its name, "" if it is not known.
    """

    findings: tuple[Finding, ...] = ()
    digest: str = ""
    platform: Platform | None = None
    moved: tuple[str, ...] = ()
    has_gpus: bool = False
    allowed_names: str = ""


def check_workload(workload: Workload, references: References) -> Checked:
    """Tell whether one pod is sealed and still is what its policy describes."""
    ref, name = workload.ref, workload.runtime_class
    if is_placeholder(name):
        hook = hook_of(workload.object)
        path = (*workload.spec_path, "runtimeClassName")
        return Checked((_hooked(ref, path, name, hook) if hook else finding("CC1101", ref, path, name=name),))
    parsed = parse_runtime_class(name)
    platform = parsed if isinstance(parsed, Platform) else None
    path = (*workload.metadata_path, "annotations", INITDATA)
    value = workload.annotations.get(INITDATA)
    if not isinstance(value, str):
        return Checked((finding("CC1102", ref, path),), "", platform)
    try:
        toml = from_annotation(value)
        initdata = decode_toml(toml)
        rego = initdata.data.get("policy.rego", "")
        sealed = read_policy_data(rego)
    except ValueError as problem:
        return Checked((unreadable(workload, problem),), "", platform)
    profile = profile_of_rules(rego)
    moved = drift(workload, sealed, references, native=bool(profile))
    allowed = allowed_names(workload, sealed)
    if profile and profile is not profile_of_data(sealed):
        moved.append("policy profile, of which its rules and its data do not agree")
    opened = (
        *open_findings(workload, open_variables(sealed, workload, references)),
        *unbound_findings(workload, unbound_values(sealed)),
        *controller_findings(workload, written_by_controller(workload)),
    )
    has_gpus = any(one.get("devices") for one in maps(sealed.get("containers"))[:1])  # the sandbox has all of the pod
    difference = name_difference(refused_name(workload, allowed), allowed)
    fields = (*moved, difference) if difference else moved
    findings = (*(stale(workload, field) for field in fields), *opened)
    return Checked(findings, digest(toml), platform, tuple(moved), has_gpus, allowed)


def stale(workload: Workload, field: str) -> Finding:
    """Return the finding of one field that changed since the pod was sealed."""
    return finding("CC1103", workload.ref, workload.spec_path, field=field)


def unwatched(value: Any, root: Path, ref: Ref, kinds: Kinds) -> tuple[Finding, ...]:
    """Return findings for Contrast runtime class names in an object whose pods no render seals."""
    hook = hook_of(dig(value, root))
    asked = list(list_unsealed_classes(value, root, kinds))
    paths = [path for path, _ in asked]
    return tuple(
        _hooked(ref, path, name, hook)
        if hook and is_placeholder(name)
        else report_unsealed_class(ref, path, name, kinds, root, paths)
        for path, name in asked
    )


def _hooked(ref: Ref, path: Path, name: str, hook: str) -> Finding:
    return finding("CC1108", ref, path, name=name, hook=hook[:LONGEST_HOOK])


def check_manifest(
    sealed: Iterable[Workload], manifest: Mapping[str, Any], elsewhere: Iterable[str] = ()
) -> tuple[Finding, ...]:
    """Find where manifest and workloads do not name exactly the same digests and roles, as `contrast set` does.

    elsewhere: digests of workloads that are rendered by themselves, or stand in a base. An entry for a workload that
    is here too is an earlier policy of it, wherever else it stands.
    Source: docs/facts/contrast-manifest.md#set-and-verify.
    """
    policies = mapping(manifest.get("Policies"))  # whether its shape is right, `validate` says
    findings: list[Finding] = []
    owners: dict[str, Ref] = {}
    once = {(one.ref, one.template): one for one in sealed}
    for (ref, _), one in once.items():
        sealed_as, role = one.digest, one.role
        first = owners.setdefault(sealed_as, ref)
        if not sealed_as:
            continue
        if first.whole != ref.whole:
            names = (f"{each.kind}/{each}" for each in (first, ref))
            findings.append(finding("CC0705", ref, (), first=next(names), second=next(names), digest=sealed_as))
        if sealed_as not in policies:
            findings.append(finding("CC1104", ref, (), digest=sealed_as))
        elif (found := mapping(policies[sealed_as]).get("Role") or "") != role:
            findings.append(finding("CC1110", ref, (), found=found or "none", wanted=role or "none"))
    others = sorted(set(policies) - {one.digest for one in once.values()})
    ours = {_identity(policies.get(one.digest)) for one in once.values()} - {None}
    left = set(elsewhere)
    earlier = [
        one for one in others if _identity(policies[one]) in ours and (one not in left or _is_of_one(policies[one]))
    ]
    unknown = [one for one in others if one not in left]
    if earlier:
        names_of = ", ".join(dict.fromkeys("/".join(_certificate_names(policies[one])[:1]) for one in earlier))
        findings.append(finding("CC0731", names=names_of))
        unknown = [one for one in unknown if one not in earlier]
    if unknown:
        names_of = ", ".join("/".join(_certificate_names(policies[one]) or [one[:16]]) for one in unknown)
        findings.append(finding("CC1105", names=names_of))
    return tuple(findings)


def _identity(policy: Any) -> tuple[str, str, str] | None:
    """Return name, secret and role of an entry, None for one without: then nothing says whose it is."""
    entry, names = mapping(policy), _certificate_names(policy)
    secret = entry.get("WorkloadSecretID")
    return (names[0], str(secret), str(entry.get("Role") or "")) if names and secret else None


def _is_of_one(policy: Any) -> bool:
    """Tell whether the secret of an entry names its object, so that no other workload has the same identity."""
    return bool(key_of_derived(str(mapping(policy).get("WorkloadSecretID"))))


def _certificate_names(policy: Any) -> list[str]:
    found = mapping(policy).get("SANs")
    return [str(name) for name in found] if isinstance(found, list) else []


def check_classes(workloads: Sequence[Workload], classes: Sequence[str], *, emitted: bool) -> tuple[Finding, ...]:
    """Tell whether every handler in use is among Contrast's RuntimeClass objects of the input, if a render emitted any.

    A render that emits one class emits all. Where none was emitted, a class may be in the cluster alone.
    """
    if not emitted:
        return ()
    return tuple(
        finding("CC1107", one.ref, (*one.spec_path, "runtimeClassName"), name=one.runtime_class)
        for one in workloads
        if not is_placeholder(one.runtime_class) and one.runtime_class not in classes
    )


# --- Gather the pods of rendered output, and check each: sealed, still what was sealed, admitted by the cluster
#
# Rule: a pod is checked by itself and against the manifest, without any configuration.


NODE_NAME = "CC0310"  # a warning about nodeName, which the scheduler writes into what a controller made


class Pod(NamedTuple):
    """One workload, and what was read back from its policy."""

    workload: Workload
    checked: Checked
    vcpus: int  # 0: unknown
    made_of: Ref | None = None  # of a copy that a controller made: the workload
    is_earlier: bool = False  # a copy of an earlier template


class PodsOf(NamedTuple):
    """The Contrast workloads of a resource, its plain pods, and findings of what asks for Contrast in vain."""

    pods: list[Pod]
    plain: list[Ref]
    findings: list[Finding]


def pods_of(resource: Resource, references: References) -> PodsOf:
    """Return the pods of a resource.

    What controllers made and runs no pod any more is not checked. What is of an earlier template is checked by its own
    policy alone: this render and its manifest do not know it.
    """
    chosen = select(resource.value, resource)
    findings = list(chosen.findings)
    for _, root, ref, _ in resource.objects:
        asked = (
            *unwatched(resource.value, root, ref, resource.kinds),
            *find_misplaced(resource.value, root, kinds=resource.kinds),
        )
        findings += map(resource.placed, asked)
    pods = []
    for workload in chosen.workloads:
        count = vcpus(workload)
        copy = resource.copies.get(workload.root)
        made_of = reference(copy.origin) if copy else None
        if copy and made_of and copy.retired in ("spec", "status"):
            code = "CC1119.retired" if copy.retired == "spec" else "CC1122"
            findings.append(workload.placed(finding(code, workload.ref, kind=made_of.kind, name=made_of.name)))
            continue
        is_earlier = copy is not None and copy.retired == "earlier"
        known = References() if is_earlier else references  # its ConfigMaps may have been others
        checked = _check_copy(workload, copy.origin, known) if copy else check_workload(workload, known)
        pods.append(Pod(workload, checked, count if isinstance(count, int) else 0, made_of, is_earlier))
    plain = [one.ref for one in chosen.skipped if not one.owned]
    return PodsOf(pods, plain, findings)


def _check_copy(copy: Workload, origin: Any, references: References) -> Checked:
    """Check the pod of a copy as a pod of what it was made of, whose name and kind its policy has."""
    value: Any = copy.at(copy.template_path)
    template = {key: value.get(key) for key in ("metadata", "spec")}
    ref = reference(origin)
    kinds = copy.resource.kinds if copy.resource else SHIPPED
    made_of = workloads_of(origin, (), ref, kinds=kinds)  # of those, the copy is of the one with its policy
    policy, names = copy.annotations.get(INITDATA), _container_names(copy)
    alike = [one for one in made_of if _container_names(one) == names]  # of an earlier template none has it
    mine = next((one for one in made_of if one.annotations.get(INITDATA) == policy), (alike or made_of)[0])
    checked = check_workload(in_its_owner(template, mine), references)
    difference = name_difference(copy.ref.name, checked.allowed_names) if copy.ref.kind == "Pod" else ""
    if difference:
        checked = checked._replace(findings=(*checked.findings, stale(copy, difference)))
    findings = [found._replace(ref=copy.ref, path=copy.spec_path) for found in checked.findings]
    return checked._replace(findings=tuple(findings))


def _container_names(workload: Workload) -> list[str]:
    return [each.name for each in workload.all_containers]


def check_pod(pod: Pod, runtime_class: RuntimeClass | None, manifest: Mapping[str, Any] | None) -> list[Finding]:
    """Tell whether the cluster admits one pod, and whether its VM is the one that was measured."""
    workload, platform = pod.workload, pod.checked.platform
    if platform is None or pod.is_earlier:
        return []  # a placeholder is left, which is an error already; or it is admitted, and known to another manifest
    mounts = [
        found for found in check_host_mounts(workload) if found.severity == "error"
    ]  # of the rest a render has told
    findings = [*admissible(workload), *mounts, *schedule(workload, runtime_class).findings]
    findings += check_daemon_set(workload, runtime_class)
    gpus = check_gpus(workload, platform, _passed(pod), explicit=False)
    findings += [found for found in gpus if found.severity == "error"]
    if pod.made_of:
        findings = [found for found in findings if found.code != NODE_NAME]
    if manifest is None or not pod.checked.digest or not pod.vcpus:
        return findings
    values = mapping(manifest.get("ReferenceValues"))
    if not any(one.get("Platform") in (platform.marker, "", None) for one in maps(values.get(platform.tee))):
        return [*findings, finding("CC0709", workload.ref, workload.spec_path, platform=platform.name)]
    measured = measure(workload, make_id_blocks(platform, pod.vcpus, values.get("snp") or ()))
    if measured.edits:
        findings.append(stale(workload, _measured_field(workload, platform)))
    return [*findings, *measured.findings]


def _passed(pod: Pod) -> tuple[str, ...]:
    """Return the names of GPUs that a policy passes: the usual ones; if it passes any, also those of the pod.

    By which names they were counted is in the settings of the render, and not in the policy.
    """
    asked = (one for each in pod.workload.all_containers for one in asked_gpus(each.container))
    return (*PASSED, *(one.name for one in asked if one.what == "other")) if pod.checked.has_gpus else PASSED


def _measured_field(workload: Workload, platform: Platform) -> str:
    """Name the field that makes an ID block wrong, as far as it shows."""
    if platform.tee != "snp":
        return f"runtimeClassName (it has the ID block of another platform than {platform.name})"
    if not any(key.startswith(ID_BLOCKS[0]) for key in workload.annotations):
        return "the ID block is missing"
    return "the vCPU count (cpu limits) or the ID block"
