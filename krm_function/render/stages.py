"""Run the stages for one workload: namespace, resolve, inject, schedule, measure."""

from binascii import b2a_base64
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from krm_function.config.collect import Config
from krm_function.config.generate import Generate
from krm_function.config.release import Release, chosen_profile
from krm_function.contrast.gpus import passed_names
from krm_function.contrast.manifest import ReferenceValues
from krm_function.contrast.measurement import (
    SIGNATURES,
    ap_eip_of,
    extend,
    guest_policy,
    id_auth,
    id_block,
    seed_of,
    vcpus_text,
)
from krm_function.contrast.platforms import PLATFORMS, Platform, parse_runtime_class
from krm_function.contrast.vm_size import vcpus
from krm_function.findings import Finding, Path, Ref, finding, has_errors
from krm_function.kubernetes.kinds import CATALOGUED, KINDS, KINDS_BY_CONTENT
from krm_function.kubernetes.objects import dig, listed, mapping
from krm_function.kubernetes.pod_fields import UNREADABLE, news
from krm_function.kubernetes.pod_kinds import SHIPPED
from krm_function.kubernetes.resource import Edit, Outcome, Resource
from krm_function.kubernetes.workload import ID_BLOCKS, Workload, is_not_applied
from krm_function.record import NamedTuple
from krm_function.render.classes import RuntimeClasses, resolve, schedule, schedule_daemon_set
from krm_function.render.inject import inject
from krm_function.render.pod_checks import (
    check_after_injection,
    check_before_injection,
    check_gpus,
    check_host_mounts,
    check_networks,
)
from krm_function.schema.table import EMPTY
from krm_function.text.changes import ABSENT

# --- Namespace: set the configured namespace on workloads without one, and report other objects without one
#
# Rule: a workload that names a namespace keeps it, and objects of other kinds are never edited. Source:
# docs/facts/kubernetes.md#namespaces.
#
#     metadata.namespace    the configuration has one       it has none
#     a name                it stays                        it stays
#     absent, null, ""      the configured one is written   CC0210, once for all such workloads
#     of another type       CC0207                          CC0207


NAMESPACE: Path = ("metadata", "namespace")
# Kinds of Kubernetes itself that belong to a namespace and that people deploy; the pods' own are in KINDS.
NAMESPACED = frozenset(
    (
        *("ConfigMap", "Secret", "Service", "ServiceAccount", "PersistentVolumeClaim", "ResourceQuota", "LimitRange"),
        *("Role", "RoleBinding", "Ingress", "NetworkPolicy", "PodDisruptionBudget", "HorizontalPodAutoscaler"),
        *KINDS,
        *CATALOGUED,
    )
)


def set_namespace(workload: Workload, namespace: str) -> Workload:
    """Write the namespace into a workload that names none."""
    metadata = workload.object.get("metadata", ABSENT)
    old = mapping(metadata).get("namespace", ABSENT)
    if not namespace or not (old is ABSENT or old is None or old == ""):
        return workload
    reason = f"the configuration gives {namespace} to workloads that name no namespace"
    path = (*workload.root, *NAMESPACE)
    edit = Edit("set", path, old, namespace, "CC0209", reason)
    if not isinstance(metadata, dict):
        edit = Edit("set", path[:-1], metadata, {"namespace": namespace}, "CC0209", reason)
    return workload.after((edit,))._replace(ref=workload.ref._replace(namespace=namespace))


def check_namespaces(
    resources: Iterable[Resource], workloads: Iterable[Workload], namespace: str
) -> tuple[Finding, ...]:
    """Return one warning if workloads name no namespace: CC0210 if none is configured; else CC0211 for other objects.

    workloads: as in the input.
    """
    unnamed = list({item.place: item.ref for item in workloads if not _names_namespace(item.object)}.values())
    if not unnamed:
        return ()
    if not namespace:
        return (finding("CC0210", names=_format_names(unnamed)),)
    rest = [ref for ref in _find_others(resources) if ref not in unnamed]
    return (finding("CC0211", names=_format_names(rest), namespace=namespace),) if rest else ()


def _names_namespace(value: Any) -> bool:
    return dig(value, NAMESPACE) not in (None, "")


def _find_others(resources: Iterable[Resource]) -> Iterator[Ref]:
    """Yield the objects of the input that name no namespace and get one when they are applied."""
    kinds = NAMESPACED | KINDS_BY_CONTENT
    for resource in resources:
        for _, _, ref, value in resource.objects if resource.may_be(kinds) else ():
            if ref.kind in NAMESPACED and ref.name and not _names_namespace(value) and not is_not_applied(value):
                yield ref


def _format_names(refs: Sequence[Ref]) -> str:
    return listed([f"{ref.kind}/{ref.name or '(unnamed)'}" for ref in refs])


# --- Measure: write the SNP ID blocks of every pod, from the launch digest of the VM that it will run in
#
# Rule: a pod on SNP gets the ID blocks of its size and platform, or an error; all others are removed.


PRODUCTS = ("Genoa", "Milan")  # the order in which Contrast writes them (docs/facts/contrast-manifest.md#id-block)


class IdBlocks(NamedTuple):
    """The annotations of the VMs of one platform and size: key, value, reason. problem: why there are none on SNP."""

    platform: str
    annotations: tuple[tuple[str, str, str], ...] = ()
    problem: str = ""


def make_id_blocks(platform: Platform, vcpus: int, reference_values: Sequence[Mapping[str, Any]]) -> IdBlocks:
    """Make the SNP ID blocks of all pods with this platform and vCPU count (docs/facts/contrast-manifest.md#id-block).

    reference_values: the manifest's `snp` entries. One product may fail (its entry may have been deleted), not both.
    """
    annotations: list[tuple[str, str, str]] = []
    problems: list[str] = []
    for product in PRODUCTS if platform.tee == "snp" else ():
        entry = _find_entry(reference_values, platform, product)
        if isinstance(entry, str):
            problems.append(entry)
            continue
        try:
            values = _make_annotations(entry, product, vcpus)
        except ValueError as problem:  # a base manifest is free to hold anything of the right type
            problems.append(f"{product}: {problem}")
            continue
        reason = f"launch digest of a {product} VM with {vcpus_text(vcpus)}"
        annotations += [(key, value, reason) for key, value in values.items()]
    return IdBlocks(platform.name, tuple(annotations), "" if annotations else "; ".join(problems))


def measure(workload: Workload, blocks: IdBlocks) -> Outcome:
    """Give a pod its ID blocks, and remove stale ones of another render."""
    if blocks.problem:
        path = workload.metadata_path
        problem = finding("CC0608", workload.ref, path, platform=blocks.platform, problem=blocks.problem)
        return Outcome(findings=(problem,))
    edits = list(workload.annotate(blocks.annotations, "CC0607"))
    written = {key for key, _, _ in blocks.annotations}
    for key, value in workload.annotations.items():
        if key.startswith(ID_BLOCKS) and key not in written:
            path = (*workload.metadata_path, "annotations", key)
            edits.append(Edit("remove", path, value, ABSENT, "CC0607", "belongs to another platform or product"))
    return Outcome(tuple(edits))


def _find_entry(
    reference_values: Sequence[Mapping[str, Any]], platform: Platform, product: str
) -> Mapping[str, Any] | str:
    """Return the first reference value of a product, or the reason why there is none to use."""
    for entry in map(mapping, reference_values):  # `check` reads them from a manifest of any shape
        if entry.get("Platform") == platform.marker and entry.get("ProductName") == product:
            needed = ("TrustedMeasurement", "APEIP")
            missing = [key for key in needed if not entry.get(key) or not isinstance(entry[key], str)]
            return f"{product} has no {missing[0]}" if missing else entry
    return f"no entry for {product}"


def _make_annotations(entry: Mapping[str, Any], product: str, vcpus: int) -> dict[str, str]:
    policy = guest_policy(mapping(entry.get("GuestPolicy")))
    block, auth = _make_block_and_auth(entry["TrustedMeasurement"], entry["APEIP"], product, vcpus, policy)
    return {f"{key}_{product}": value for key, value in zip(ID_BLOCKS, (block, auth, str(policy)), strict=True)}


@cache
def _make_block_and_auth(measurement: str, ap_eip: str, product: str, vcpus: int, policy: int) -> tuple[str, str]:
    block = id_block(extend(seed_of(measurement), vcpus, ap_eip_of(ap_eip), SIGNATURES[product]), policy)
    return _encode(block), _encode(id_auth(block))


def _encode(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode("ascii")


# --- Run the stages for one workload: namespace, resolve, inject, schedule, measure
#
# Rule: each function adds the edits and findings of its stages. A workload with errors gets no ID block and no policy,
# but every later stage checks it and adds new findings, so that one round shows all errors. A workload with values of
# wrong types goes no further, since the stages trust the types.


def add_findings(workload: Workload, findings: Iterable[Finding]) -> Workload:
    """Return the workload with findings about its present state; those that repeat one of its errors are left out."""
    located = tuple(map(workload.placed, findings))
    if workload.failed and located:
        located = news(located, workload.findings, workload.written or workload)
    return workload._replace(findings=workload.findings + located) if located else workload


def apply_outcome(workload: Workload, outcome: Outcome) -> Workload:
    """Return the workload after one more stage, whose findings are about its state before the edits."""
    return add_findings(workload, outcome.findings).after(outcome.edits)


def is_unreadable(workload: Workload) -> bool:
    """Tell whether a workload has no containers, or values of a wrong type, so that no later stage can read it."""
    return any(problem.code in UNREADABLE for problem in workload.findings)


def resolve_workload(workload: Workload, config: Config, without: Collection[str] = ()) -> Workload:
    """Set the namespace and the configured class of a workload, check it as the user wrote it, resolve its class.

    without: codes of findings that are left out, as if there were no such rule.
    """
    generate = config.generate
    workload = set_namespace(workload, generate.namespace)
    workload = _apply_choices(workload, generate)
    platform, outcome = resolve(workload, config.release, generate.platform)
    count = vcpus(workload)
    workload = workload._replace(
        placeholder=workload.runtime_class,
        platform=platform.name if platform else "",
        vcpus=count if isinstance(count, int) else 0,
        notes=workload.notes + _note_templates(workload, generate),
    )
    workload = workload._replace(written=workload)
    findings = _leave_out(check_before_injection(workload, config.release.images) + outcome.findings, without)
    return apply_outcome(workload, Outcome(() if has_errors(findings) else outcome.edits, findings))


def _apply_choices(workload: Workload, generate: Generate) -> Workload:
    """Write the class of `spec.workloads`, with a note for the plan; move annotations; raise the number of vCPUs."""
    if generate.workloads:
        from krm_function.render.select import note_entries, write_class

        workload = write_class(workload, generate)._replace(notes=note_entries(workload, generate))
    if generate.object_annotations == "move":
        from krm_function.adapt.moved_annotations import move_annotations

        workload = workload.after(move_annotations(workload))
    if generate.vcpus:
        from krm_function.adapt.least_vcpus import least_vcpus

        workload = workload.after(least_vcpus(workload, generate.vcpus))
    return workload


def _note_templates(workload: Workload, generate: Generate) -> tuple[str, ...]:
    entry = generate.kinds.entry(workload.ref) if workload.made_by and generate.pod_templates else None
    if entry is None or entry.source != "configuration":
        return ()
    note = "spec.podTemplates says where its pods are and what its controller adds"
    return (f"{note}, in place of the catalogue" if SHIPPED.entry(workload.ref) else note,)


def inject_containers(
    workload: Workload,
    config: Config,
    coordinator_namespace: str,
    gpus: tuple[str, ...],
    without: Collection[str] = (),
) -> Workload:
    """Inject the containers and volumes of a workload, and verify the result.

    gpus: `list_passed_gpus` of the configuration. without: as in `resolve_workload`.
    """
    if is_unreadable(workload):
        return workload
    images = config.images or EMPTY
    outcome = inject(workload, config.generate, config.release, coordinator_namespace, images)
    workload = add_findings(workload.after(outcome.edits), _leave_out(outcome.findings, without))
    settings = config.generate.policy.settings or config.release.policy_settings
    explicit = parse_runtime_class(workload.placeholder) != "bare"
    findings = (
        *check_after_injection(workload, config.release.version),
        *check_networks(workload, config.generate),
        *check_host_mounts(workload, images, settings),
        *check_gpus(workload, PLATFORMS.get(workload.platform), gpus, explicit=explicit),
    )
    return add_findings(workload, _leave_out(findings, without))


def list_passed_gpus(config: Config) -> tuple[str, ...]:
    """Return the names of the GPUs that the policies of a render pass."""
    options = config.generate.policy
    profile, _ = chosen_profile(options.profile, config.release, config.generate.name)
    return passed_names(options.settings or config.release.policy_settings, profile)


def _leave_out(findings: tuple[Finding, ...], without: Collection[str]) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding.code not in without) if without else findings


def schedule_workload(workload: Workload, classes: RuntimeClasses) -> Workload:
    """Check a pod against the RuntimeClass that it will have; the template of a DaemonSet gets its scheduling."""
    if not workload.platform:
        return workload
    runtime_class = classes.classes.get(workload.runtime_class)
    workload = apply_outcome(workload, schedule(workload, runtime_class))._replace(scheduled=runtime_class)
    return workload if workload.failed else apply_outcome(workload, schedule_daemon_set(workload, runtime_class))


def measure_all(workloads: Iterable[Workload], values: ReferenceValues, release: Release) -> list[Workload]:
    """Give every workload without errors the ID blocks of its VM; none at all if the reference values are wrong.

    A workload whose number of vCPUs has no RTMR0 in the release gets CC0609.
    """
    checked = [add_findings(workload, _check_rtmr0(workload, release)) for workload in workloads]
    if has_errors(values.findings):
        return checked

    blocks = cache(lambda platform, count: make_id_blocks(PLATFORMS[platform], count, values.merged.get("snp", ())))
    return [
        workload
        if workload.failed or not workload.platform
        else apply_outcome(workload, measure(workload, blocks(workload.platform, workload.vcpus)))
        for workload in checked
    ]


def _check_rtmr0(workload: Workload, release: Release) -> tuple[Finding, ...]:
    """Return CC0609 if no reference value covers VMs of this size."""
    platform = PLATFORMS.get(workload.platform)
    if platform is None or not platform.rtmr0_by_vcpus or not workload.vcpus:
        return ()
    facts = release.platforms.get(platform.name)
    if facts is None or str(workload.vcpus) in facts.rtmr0_by_vcpu:
        return ()
    size = vcpus_text(workload.vcpus)
    return (finding("CC0609", workload.ref, workload.spec_path, vcpus=size, platform=platform.name),)


def find_platforms(workloads: Sequence[Workload], default: str) -> set[Platform]:
    """Return every platform whose reference values the manifest needs. default: the configured one, "" for none.

    For a GPU on an explicit platform without one Contrast adds the values of the GPU variant; here it is CC0409.
    """
    used = {PLATFORMS[workload.platform] for workload in workloads if workload.platform}
    return used | {PLATFORMS[default]} if default and workloads else used


def collect_vcpu_counts(workloads: Iterable[Workload], platforms: Iterable[Platform]) -> Mapping[str, list[int]]:
    """Collect the vCPU counts of the pods by the name of their platform."""
    return {
        platform.name: [workload.vcpus for workload in workloads if workload.platform == platform.name]
        for platform in platforms
    }
