"""Check each workload of rendered output: sealed, unchanged since, admitted by the cluster."""

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

from krm_function.check.drift import find_drift
from krm_function.config.references import References
from krm_function.contrast.gpus import PASSED, asked_gpus
from krm_function.contrast.identity import key_of_derived
from krm_function.contrast.platforms import Platform, is_placeholder, parse_runtime_class
from krm_function.contrast.vm_size import vcpus
from krm_function.findings import Finding, Path, Ref, finding
from krm_function.kubernetes.objects import dig, hook_of, mapping, maps, reference
from krm_function.kubernetes.pod_fields import type_findings
from krm_function.kubernetes.pod_kinds import SHIPPED, Kinds
from krm_function.kubernetes.pod_names import LONGEST_BASE
from krm_function.kubernetes.resource import Resource
from krm_function.kubernetes.runtime_classes import RuntimeClass
from krm_function.kubernetes.workload import ID_BLOCKS, INITDATA, Workload, claim_names, workloads_of
from krm_function.policy.controllers import controller_findings, without_controlled, written_by_controller
from krm_function.policy.initdata import decode_toml, digest, from_annotation, read_policy_data, unreadable
from krm_function.policy.made_pod import allowed_names, name_difference, refused_name
from krm_function.policy.open_guest import opening_findings
from krm_function.policy.open_variables import open_findings, open_variables, unbound_values
from krm_function.policy.rules import profile_of_data, profile_of_rules
from krm_function.record import NamedTuple
from krm_function.render.classes import check_daemon_set, schedule
from krm_function.render.pod_checks import check_gpus, check_host_mounts
from krm_function.render.pod_checks import check_rendered as admissible
from krm_function.render.select import select
from krm_function.render.stages import make_id_blocks, measure
from krm_function.render.unsealed import find_misplaced, list_unsealed_classes, report_unsealed_class
from krm_function.text.changes import Change, apply

# --- Make the pod that a controller would create from a workload, for a dry run
#
# Rule: pure. The pod has everything that admission looks at: the template's labels and annotations, the namespace, the
# service account, claims of templates, the additions of a StatefulSet. The server chooses the name, since a running pod
# has that of the workload. There is no ownerReference, which needs rights of its own. Source:
# docs/facts/kubernetes.md#dry-run.


def make_pod(workload: Workload, namespace: str, without: Container[str] = ()) -> dict[str, Any]:
    """Make the pod. without: fields of its spec that name objects which the cluster does not have yet."""
    metadata = {key: workload.pod_metadata[key] for key in ("labels", "annotations") if workload.pod_metadata.get(key)}
    # the older name of the account, which the API server sets beside it
    old = "serviceAccount" if "serviceAccountName" in without else ""
    spec = {key: value for key, value in workload.pod_spec.items() if key not in without and key != old}
    spec |= _add_claims(workload, spec)
    if workload.ref.kind == "StatefulSet":
        spec |= _add_pod_name(workload)
    metadata |= {"generateName": make_name_prefix(workload), "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def make_name_prefix(workload: Workload) -> str:
    """Return the beginning of the pod's name; the server adds five characters."""
    return f"{workload.ref.name}-"[:LONGEST_BASE]


def _add_claims(workload: Workload, spec: dict[str, Any]) -> dict[str, Any]:
    """Return the volumes with the claims of claim templates, for a kind that has any."""
    claims = claim_names(workload)
    if not claims:
        return {}
    volumes = [volume for volume in maps(spec.get("volumes")) if volume.get("name") not in claims]
    of_claims = [
        {"name": name, "persistentVolumeClaim": {"claimName": f"{name}-{workload.ref.name}-0"}} for name in claims
    ]
    return {"volumes": volumes + of_claims}


def _add_pod_name(workload: Workload) -> dict[str, Any]:
    """Return the fields that its controller sets: the name and domain of the first pod."""
    domain = mapping(workload.object.get("spec")).get("serviceName")
    name = {"hostname": f"{workload.ref.name}-0"}
    return {**name, "subdomain": domain} if isinstance(domain, str) else name


def place_in_owner(pod: Any, workload: Workload) -> Workload:
    """Return the workload with a pod in place of its template, as its policy has the owner's name and kind.

    pod: or the template of an object that a controller made, with metadata and spec.
    """
    template, path = without_controlled(mapping(pod), workload), workload.template
    if path and isinstance(dig(workload.object, path[:-1]), dict):
        edited = apply(workload.object, [Change(path, "set", template)])
    elif path:  # of an owner without a template
        edited = {**workload.object, **reduce(lambda value, name: {str(name): value}, reversed(path), template)}
    else:
        names = {key: workload.pod_metadata[key] for key in ("name", "namespace") if key in workload.pod_metadata}
        edited = {**workload.object, **template, "metadata": {**template["metadata"], **names}}
    return Workload(edited, (), workload.ref, path, made_by=workload.made_by)


# --- Check each workload of rendered output: it is sealed, and neither its pod nor the manifest has changed since
#
# Rule: the check needs only rendered output, because kustomize can skip a function silently
# (docs/facts/kustomize.md#exec-functions). It checks everything that `contrast set` and `contrast verify` will check
# later (docs/facts/contrast-manifest.md#set-and-verify).


LONGEST_HOOK = 64  # characters of that annotation in a sentence


class Checked(NamedTuple):
    """The findings about a workload, and the digest of its seal, "" without one.

    changed: the fields that changed since; each has a finding. has_gpus: whether the policy passes any to the pod.
    allowed_names: the pattern of its name, "" if unknown.
    """

    findings: tuple[Finding, ...] = ()
    digest: str = ""
    platform: Platform | None = None
    changed: tuple[str, ...] = ()
    has_gpus: bool = False
    allowed_names: str = ""


def check_workload(workload: Workload, references: References) -> Checked:
    """Check that a pod is sealed and still matches its policy."""
    ref, name = workload.ref, workload.runtime_class
    if is_placeholder(name):
        hook = hook_of(workload.object)
        path = (*workload.spec_path, "runtimeClassName")
        return Checked((_report_hook(ref, path, name, hook) if hook else finding("CC1101", ref, path, name=name),))
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
    if workload.made_by and (shape := type_findings(workload)):
        return Checked(shape, digest(toml), platform)  # the additions of its controller need the right types
    profile = profile_of_rules(rego)
    changed = find_drift(workload, sealed, references, native=bool(profile))
    allowed = allowed_names(workload, sealed)
    if profile and profile is not profile_of_data(sealed):
        changed.append("policy profile (its rules and its data disagree)")
    opened = (
        *open_findings(workload, open_variables(sealed, workload, references)),
        *open_findings(workload, unbound_values(sealed), "CC0683"),
        *opening_findings(workload, sealed, initdata.data, own_rules=not profile),
        *controller_findings(workload, written_by_controller(workload)),
    )
    sandbox = maps(sealed.get("containers"))[:1]
    has_gpus = any(entry.get("devices") for entry in sandbox)  # which has all of the pod
    difference = name_difference(refused_name(workload, allowed), allowed)
    fields = (*changed, difference) if difference else changed
    findings = (*(report_change(workload, field) for field in fields), *opened)
    return Checked(findings, digest(toml), platform, tuple(changed), has_gpus, allowed)


def report_change(workload: Workload, field: str) -> Finding:
    """Make the finding about a field that changed since the pod was sealed."""
    return finding("CC1103", workload.ref, workload.spec_path, field=field)


def find_unwatched(value: Any, root: Path, ref: Ref, kinds: Kinds) -> tuple[Finding, ...]:
    """Return findings for Contrast runtime class names in an object whose pods no render seals."""
    hook = hook_of(dig(value, root))
    asked = list(list_unsealed_classes(value, root, kinds))
    paths = [path for path, _ in asked]
    return tuple(
        _report_hook(ref, path, name, hook)
        if hook and is_placeholder(name)
        else report_unsealed_class(ref, path, name, kinds, root, paths)
        for path, name in asked
    )


def _report_hook(ref: Ref, path: Path, name: str, hook: str) -> Finding:
    return finding("CC1108", ref, path, name=name, hook=hook[:LONGEST_HOOK])


def check_manifest(
    sealed: Iterable[Workload], manifest: Mapping[str, Any], elsewhere: Iterable[str] = ()
) -> tuple[Finding, ...]:
    """Find digests and roles that only the manifest or only the workloads have, as `contrast set` does.

    elsewhere: digests of workloads that are rendered by themselves, or are in a base. An entry for a workload of this
    output is an earlier policy of it, even if it is elsewhere, too. Source:
    docs/facts/contrast-manifest.md#set-and-verify.
    """
    policies = mapping(manifest.get("Policies"))  # `validate` checks its shape
    findings: list[Finding] = []
    owners: dict[str, Ref] = {}
    once = {(workload.ref, workload.template): workload for workload in sealed}
    for (ref, _), workload in once.items():
        sealed_as, role = workload.digest, workload.role
        first = owners.setdefault(sealed_as, ref)
        if not sealed_as:
            continue
        if first.whole != ref.whole:
            names = (f"{owner.kind}/{owner}" for owner in (first, ref))
            findings.append(finding("CC0705", ref, (), first=next(names), second=next(names), digest=sealed_as))
        if sealed_as not in policies:
            findings.append(finding("CC1104", ref, (), digest=sealed_as))
        elif (role_of_entry := mapping(policies[sealed_as]).get("Role") or "") != role:
            findings.append(finding("CC1110", ref, (), found=role_of_entry or "none", wanted=role or "none"))
    unmatched = sorted(set(policies) - {workload.digest for workload in once.values()})
    identities = {_read_identity(policies.get(workload.digest)) for workload in once.values()} - {None}
    rendered_elsewhere = set(elsewhere)
    earlier = [
        key
        for key in unmatched
        if _read_identity(policies[key]) in identities
        and (key not in rendered_elsewhere or _has_own_secret(policies[key]))
    ]
    unknown = [key for key in unmatched if key not in rendered_elsewhere]
    if earlier:
        names_of = ", ".join(dict.fromkeys("/".join(_list_names(policies[key])[:1]) for key in earlier))
        findings.append(finding("CC0731", names=names_of))
        unknown = [key for key in unknown if key not in earlier]
    if unknown:
        names_of = ", ".join("/".join(_list_names(policies[key]) or [key[:16]]) for key in unknown)
        findings.append(finding("CC1105", names=names_of))
    return tuple(findings)


def _read_identity(policy: Any) -> tuple[str, str, str] | None:
    """Return name, secret and role of an entry, None without these: then its owner is unknown."""
    entry, names = mapping(policy), _list_names(policy)
    secret = entry.get("WorkloadSecretID")
    return (names[0], str(secret), str(entry.get("Role") or "")) if names and secret else None


def _has_own_secret(policy: Any) -> bool:
    """Tell whether the secret of an entry names its object, so that no other workload has the same identity."""
    return bool(key_of_derived(str(mapping(policy).get("WorkloadSecretID"))))


def _list_names(policy: Any) -> list[str]:
    names = mapping(policy).get("SANs")
    return [str(name) for name in names] if isinstance(names, list) else []


def check_classes(workloads: Sequence[Workload], classes: Sequence[str], *, emitted: bool) -> tuple[Finding, ...]:
    """Check that every handler in use has a RuntimeClass object of Contrast's in the input, if a render emitted any.

    A render that emits one class emits all. If none was emitted, a class may be in the cluster alone.
    """
    if not emitted:
        return ()
    return tuple(
        finding("CC1107", workload.ref, (*workload.spec_path, "runtimeClassName"), name=workload.runtime_class)
        for workload in workloads
        if not is_placeholder(workload.runtime_class) and workload.runtime_class not in classes
    )


# --- Gather the pods of rendered output, and check each: sealed, unchanged since, admitted by the cluster
#
# Rule: a pod is checked by itself and against the manifest, without any configuration.


NODE_NAME = "CC0310"  # a warning about nodeName, which the scheduler writes into a pod of a controller


class Pod(NamedTuple):
    """A workload, and the result of reading back its policy."""

    workload: Workload
    checked: Checked
    vcpus: int  # 0: unknown
    made_of: Ref | None = None  # of a copy that a controller made: the workload
    is_earlier: bool = False  # a copy of an earlier template


class PodsOf(NamedTuple):
    """The Contrast workloads of a resource, its plain pods, and findings about unsealed requests."""

    pods: list[Pod]
    plain: list[Ref]
    findings: list[Finding]


def gather_pods(resource: Resource, references: References) -> PodsOf:
    """Check the pods of a resource.

    An object that a controller made and that runs no pod any more is not checked. One of an earlier template is checked
    by its own policy alone: this render and its manifest do not include it.
    """
    chosen = select(resource.value, resource)
    findings = list(chosen.findings)
    for _, root, ref, _ in resource.objects:
        asked = (
            *find_unwatched(resource.value, root, ref, resource.kinds),
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
        sources = References() if is_earlier else references  # its ConfigMaps may have been others
        checked = _check_copy(workload, copy.origin, sources) if copy else check_workload(workload, sources)
        pods.append(Pod(workload, checked, count if isinstance(count, int) else 0, made_of, is_earlier))
    plain = [workload.ref for workload in chosen.skipped if not workload.owned]
    return PodsOf(pods, plain, findings)


def _check_copy(copy: Workload, origin: Any, references: References) -> Checked:
    """Check the pod of a copy as a pod of its origin, whose name and kind its policy has."""
    value: Any = copy.at(copy.template_path)
    template = {key: value.get(key) for key in ("metadata", "spec")}
    ref = reference(origin)
    kinds = copy.resource.kinds if copy.resource else SHIPPED
    made_of = workloads_of(origin, (), ref, kinds=kinds)  # the copy comes from the one with its policy
    policy, names = copy.annotations.get(INITDATA), _list_container_names(copy)
    sealed_alike = [candidate for candidate in made_of if candidate.annotations.get(INITDATA) == policy]
    alike = [candidate for candidate in made_of if _list_container_names(candidate) == names]  # an earlier template's
    source = (*sealed_alike, *alike, *made_of)[0]
    checked = check_workload(place_in_owner(template, source), references)
    difference = name_difference(copy.ref.name, checked.allowed_names) if copy.ref.kind == "Pod" else ""
    if difference:
        checked = checked._replace(findings=(*checked.findings, report_change(copy, difference)))
    findings = [problem._replace(ref=copy.ref, path=copy.spec_path) for problem in checked.findings]
    return checked._replace(findings=tuple(findings))


def _list_container_names(workload: Workload) -> list[str]:
    return [container.name for container in workload.all_containers]


def check_pod(pod: Pod, runtime_class: RuntimeClass | None, manifest: Mapping[str, Any] | None) -> list[Finding]:
    """Check that the cluster admits a pod, and that its VM is the measured one."""
    workload, platform = pod.workload, pod.checked.platform
    if platform is None or pod.is_earlier:
        return []  # a placeholder remains, which is an error already; or it was admitted, and is in another manifest
    mounts = [problem for problem in check_host_mounts(workload) if problem.severity == "error"]
    findings = [*admissible(workload), *mounts, *schedule(workload, runtime_class).findings]
    findings += check_daemon_set(workload, runtime_class)
    gpus = check_gpus(workload, platform, _list_passed_gpus(pod), explicit=False)
    findings += [problem for problem in gpus if problem.severity == "error"]
    if pod.made_of:
        findings = [problem for problem in findings if problem.code != NODE_NAME]
    if manifest is None or not pod.checked.digest or not pod.vcpus:
        return findings
    values = mapping(manifest.get("ReferenceValues"))
    if not any(entry.get("Platform") in (platform.marker, "", None) for entry in maps(values.get(platform.tee))):
        return [*findings, finding("CC0709", workload.ref, workload.spec_path, platform=platform.name)]
    measured = measure(workload, make_id_blocks(platform, pod.vcpus, values.get("snp") or ()))
    if measured.edits:
        findings.append(report_change(workload, _find_measured_field(workload, platform)))
    return [*findings, *measured.findings]


def _list_passed_gpus(pod: Pod) -> tuple[str, ...]:
    """Return the names of GPUs that a policy passes: the usual ones; if it passes any, also the pod's.

    The names that a render counts as GPUs are in its settings, not in the policy.
    """
    asked = (gpu for container in pod.workload.all_containers for gpu in asked_gpus(container.container))
    return (*PASSED, *(gpu.name for gpu in asked if gpu.kind == "other")) if pod.checked.has_gpus else PASSED


def _find_measured_field(workload: Workload, platform: Platform) -> str:
    """Name the field that makes an ID block wrong, as far as visible."""
    if platform.tee != "snp":
        return f"runtimeClassName (it has the ID block of another platform than {platform.name})"
    if not any(key.startswith(ID_BLOCKS[0]) for key in workload.annotations):
        return "the ID block is missing"
    return "the vCPU count (cpu limits) or the ID block"
