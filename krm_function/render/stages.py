"""Run the stages for one workload: namespace, resolve, inject, schedule, measure."""

from binascii import b2a_base64
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from krm_function.config.collect import Config
from krm_function.config.generate import Generate
from krm_function.config.release import Release, chosen_profile
from krm_function.contrast.gpus import passed_names
from krm_function.contrast.manifest import ReferenceValues
from krm_function.contrast.measurement import (
    SIGNATURES,
    ap_eip_of,
    as_u64,
    extend,
    guest_policy,
    id_auth,
    id_block,
    seed_of,
    vcpus_text,
)
from krm_function.contrast.platforms import PLATFORMS, Bare, Platform, parse_runtime_class
from krm_function.contrast.vm_size import vcpus
from krm_function.findings import Finding, Path, Ref, finding, has_errors
from krm_function.kubernetes.kinds import CATALOGUED, KINDS, KINDS_BY_CONTENT
from krm_function.kubernetes.lookup import dig, mapping
from krm_function.kubernetes.objects import listed, objects, reference
from krm_function.kubernetes.pod_fields import UNREADABLE, news
from krm_function.kubernetes.pod_kinds import SHIPPED
from krm_function.kubernetes.resource import Edit, ObjectEdits, Outcome, Resource
from krm_function.kubernetes.runtime_classes import RuntimeClass
from krm_function.kubernetes.workload import EMITTED, ID_BLOCKS, LOCAL_CONFIG, Workload
from krm_function.record import NamedTuple
from krm_function.render.classes import Resolved, RuntimeClasses, resolve, schedule, schedule_daemon_set
from krm_function.render.inject import inject_into
from krm_function.render.pod_checks import (
    check_after_injection,
    check_before_injection,
    closed_networks,
    gpu_checks,
    host_mounts,
)
from krm_function.render.rendered import NO_LABELS, Planned
from krm_function.schema.table import EMPTY
from krm_function.text.changes import ABSENT
from krm_function.text.errors import YamlError

if TYPE_CHECKING:
    from krm_function.contrast.vm_size import PodMemory
    from krm_function.policy.open_variables import OpenVariable


# --- Namespace: give the configured namespace to the workloads that name none, and report objects without one
#
# Rule: a workload that names a namespace keeps it, and objects of other kinds are never edited. Source:
# docs/facts/kubernetes.md#namespaces.
#
#     metadata.namespace    the configuration has one       it has none
#     a name                it stays                        it stays
#     absent, null, ""      the configured one is written   CC0210, once for all such workloads
#     of another type       CC0207 (model/pod_types)        CC0207


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


def in_namespace(workload: Workload, namespace: str) -> tuple[tuple[Edit, ...], Workload]:
    """Write the namespace into a workload that names none; also returns the workload after the edit."""
    metadata = workload.object.get("metadata", ABSENT)
    before = mapping(metadata).get("namespace", ABSENT)
    if not namespace or not (before is ABSENT or before is None or before == ""):
        return (), workload
    reason = f"the configuration gives {namespace} to workloads that name no namespace"
    path = (*workload.root, *NAMESPACE)
    edit = Edit("set", path, before, namespace, "CC0209", reason)
    if not isinstance(metadata, dict):
        edit = Edit("set", path[:-1], metadata, {"namespace": namespace}, "CC0209", reason)
    after = workload.after((edit,))
    return (edit,), after._replace(ref=after.ref._replace(namespace=namespace))


def namespace_findings(
    resources: Iterable[Resource], workloads: Iterable[Workload], namespace: str
) -> tuple[Finding, ...]:
    """Return one warning if workloads name no namespace: CC0210 if none is configured; else CC0211 for other objects.

    workloads: as they stand in the input.
    """
    unnamed = list({one.place: one.ref for one in workloads if not _names_namespace(one.object)}.values())
    if not unnamed:
        return ()
    if not namespace:
        return (finding("CC0210", names=_names(unnamed)),)
    others = [ref for ref in _others(resources) if ref not in unnamed]
    return (finding("CC0211", names=_names(others), namespace=namespace),) if others else ()


def _names_namespace(value: Any) -> bool:
    return dig(value, NAMESPACE) not in (None, "")


def _others(resources: Iterable[Resource]) -> Iterator[Ref]:
    """Yield the objects of the input that name no namespace and come into one when they are applied."""
    kinds = NAMESPACED | KINDS_BY_CONTENT
    for resource in resources:
        if not resource.may_be(kinds):
            continue
        try:
            value = resource.value
        except YamlError:
            continue  # nothing reads this document, or its reader reports the problem
        for _, one in objects(value):
            ref = reference(one)
            if ref.kind in NAMESPACED and ref.name and not _names_namespace(one) and not _is_not_applied(one):
                yield ref


def _is_not_applied(value: Any) -> bool:
    """Tell whether an object is local to the package, or was added by a render and is made again by this one."""
    annotations = mapping(dig(value, ("metadata", "annotations")))
    return annotations.get(LOCAL_CONFIG) == "true" or EMITTED in annotations


def _names(refs: Sequence[Ref]) -> str:
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


def id_blocks(platform: Platform, vcpus: int, reference_values: Sequence[Mapping[str, Any]]) -> IdBlocks:
    """Make the SNP ID blocks of all pods with this platform and vCPU count (docs/facts/contrast-manifest.md#id-block).

    reference_values: the manifest's `snp` entries. One product may fail (its entry may have been deleted), not both.
    """
    wanted: list[tuple[str, str, str]] = []
    problems: list[str] = []
    for product in PRODUCTS if platform.tee == "snp" else ():
        found = _entry(reference_values, platform, product)
        if isinstance(found, str):
            problems.append(found)
            continue
        try:
            made_of = _annotations(found, product, vcpus)
        except ValueError as problem:  # a base manifest is free to hold anything of the right type
            problems.append(f"{product}: {problem}")
            continue
        reason = f"launch digest of a {product} VM with {vcpus_text(vcpus)}"
        wanted += [(key, value, reason) for key, value in made_of.items()]
    return IdBlocks(platform.name, tuple(wanted), "" if wanted else "; ".join(problems))


def measure(workload: Workload, made: IdBlocks) -> Outcome:
    """Give one pod its ID blocks; stale ones of another render are removed."""
    if made.problem:
        path = workload.metadata_path
        wrong = finding("CC0608", workload.ref, path, platform=made.platform, problem=made.problem)
        return Outcome(findings=(wrong,))
    edits = list(workload.annotate(made.annotations, "CC0607"))
    written = {key for key, _, _ in made.annotations}
    for key, before in workload.annotations.items():
        if key.startswith(ID_BLOCKS) and key not in written:
            path = (*workload.metadata_path, "annotations", key)
            edits.append(Edit("remove", path, before, ABSENT, "CC0607", "belongs to another platform or product"))
    return Outcome(tuple(edits))


def _entry(reference_values: Sequence[Mapping[str, Any]], platform: Platform, product: str) -> Mapping[str, Any] | str:
    """Return the first reference value of a product, or the reason why there is none to use."""
    for entry in map(mapping, reference_values):  # `check` reads them from a manifest of any shape
        if entry.get("Platform") == platform.marker and entry.get("ProductName") == product:
            needed = ("TrustedMeasurement", "APEIP")
            missing = [key for key in needed if not entry.get(key) or not isinstance(entry[key], str)]
            return f"{product} has no {missing[0]}" if missing else entry
    return f"no entry for {product}"


def _annotations(entry: Mapping[str, Any], product: str, vcpus: int) -> dict[str, str]:
    """Make the three annotations of one product."""
    policy = as_u64(guest_policy(mapping(entry.get("GuestPolicy"))))
    block, auth = _block_and_auth(entry["TrustedMeasurement"], entry["APEIP"], product, vcpus, policy)
    values = (block, auth, str(policy))
    return {f"{key}_{product}": value for key, value in zip(ID_BLOCKS, values, strict=True)}


def _block_and_auth(measurement: str, ap_eip: str, product: str, vcpus: int, policy: int) -> tuple[str, str]:
    """Make ID block and ID auth in base64."""
    block = id_block(extend(seed_of(measurement), vcpus, ap_eip_of(ap_eip), SIGNATURES[product]), policy)
    return _base64(block), _base64(id_auth(block))


def _base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode("ascii")


# --- Run the stages for one workload: namespace, resolve, inject, schedule, measure
#
# Rule: each function adds the edits and findings of its stages. A workload with errors gets no ID block
# and no policy, but every later stage looks at it and says what is new, so that one round shows all errors; one whose
# types are wrong is looked at no further, since the stages trust them.


class WorkloadRender(NamedTuple):
    """A workload between two stages: as it is now, with the edits and findings so far.

    Findings have their lines and paths in the input. written: the workload before anything is injected.
    placeholder: its runtimeClassName in the input, or that of the configuration. vcpus: 0 if they cannot be known.
    scheduled: the RuntimeClass that it was checked against. digest: of its initdata, "" if none. open: the variables of
    which its policy allows any value. notes: sentences about it for the plan. identity: those about what the manifest
    gives to it. memory: of its VM, once that is known.
    """

    workload: Workload
    placeholder: str
    resolved: Resolved
    vcpus: int
    written: Workload
    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()
    scheduled: RuntimeClass | None = None
    digest: str = ""
    open: "tuple[OpenVariable, ...]" = ()
    notes: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    memory: "PodMemory | None" = None

    def plus(
        self, edits: tuple[Edit, ...], findings: tuple[Finding, ...] = (), workload: Workload | None = None
    ) -> "WorkloadRender":
        """Return the workload after one more stage.

        findings: about the workload as it is before the edits; those that repeat an error are left out. workload: after
        the edits, if the stage has it already.
        """
        return self.said(findings)._replace(workload=workload or self.workload.after(edits), edits=self.edits + edits)

    def said(self, findings: Sequence[Finding]) -> "WorkloadRender":
        """Return the workload with findings about it as it is now."""
        placed = tuple(map(self.workload.placed, findings))
        if self.failed and placed:
            placed = news(placed, self.findings, self.written)
        return self._replace(findings=self.findings + placed) if placed else self

    @property
    def failed(self) -> bool:
        """Whether a stage found an error: then nothing is written."""
        return has_errors(self.findings)

    @property
    def unreadable(self) -> bool:
        """Whether it has no containers, or values of a wrong type, so that no later stage can read it."""
        return any(found.code in UNREADABLE for found in self.findings)


def resolved(workload: Workload, config: Config, without: Collection[str] = ()) -> WorkloadRender:
    """Give one workload its namespace and its configured class, verify it as the user wrote it, resolve its class.

    without: codes of findings that are left out, as if there were no such rule.
    """
    named, workload = in_namespace(workload, config.generate.namespace)
    chosen, workload, notes = _with_configured_class(workload, config.generate)
    moved, workload = _with_moved_annotations(workload, config.generate)
    raised, workload = _with_least_vcpus(workload, config.generate)
    found = resolve(workload, config.release, config.generate.platform)
    count = vcpus(workload)
    findings = _left(check_before_injection(workload, config.release.images) + found.findings, without)
    vcpu = count if isinstance(count, int) else 0
    notes += _templates_note(workload, config.generate)
    made = WorkloadRender(
        workload, workload.runtime_class, found, vcpu, workload, named + chosen + moved + raised, notes=notes
    )
    return made.plus(() if has_errors(findings) else found.edits, findings)


def _with_configured_class(
    workload: Workload, generate: Generate
) -> tuple[tuple[Edit, ...], Workload, tuple[str, ...]]:
    """Write the class into a workload that `spec.workloads` names; also returns what the plan says of that."""
    if not generate.workloads:
        return (), workload, ()
    from krm_function.render.select import chosen_note, with_chosen_class

    return (*with_chosen_class(workload, generate), chosen_note(workload, generate))


def _with_moved_annotations(workload: Workload, generate: Generate) -> tuple[tuple[Edit, ...], Workload]:
    """Move annotations that stand on the object, if the configuration says so."""
    if generate.object_annotations != "move":
        return (), workload
    from krm_function.adapt.moved_annotations import move_annotations

    edits = move_annotations(workload)
    return edits, workload.after(edits) if edits else workload


def _with_least_vcpus(workload: Workload, generate: Generate) -> tuple[tuple[Edit, ...], Workload]:
    """Raise the cpu limit of the pod, if the configuration says so."""
    if not generate.vcpus:
        return (), workload
    from krm_function.adapt.least_vcpus import least_vcpus

    edits = least_vcpus(workload, generate.vcpus)
    return edits, workload.after(edits) if edits else workload


def _templates_note(workload: Workload, generate: Generate) -> tuple[str, ...]:
    """Return what the plan says of a workload whose kind the configuration has told about."""
    known = generate.kinds.entry(workload.ref) if workload.made_by and generate.pod_templates else None
    if known is None or known.source != "configuration":
        return ()
    said = "spec.podTemplates says where its pods are and what its controller adds"
    return (f"{said}, in place of the catalogue" if SHIPPED.entry(workload.ref) else said,)


def injected(
    one: WorkloadRender,
    config: Config,
    coordinator_namespace: str,
    gpus: tuple[str, ...],
    without: Collection[str] = (),
) -> WorkloadRender:
    """Inject the containers and volumes that one workload gets, and verify the result.

    gpus: `passed_gpus` of the configuration. without: as in `resolved`.
    """
    if one.unreadable:
        return one
    images = config.images or EMPTY
    outcome, workload = inject_into(one.workload, config.generate, config.release, coordinator_namespace, images)
    one = one.plus(outcome.edits, workload=workload).said(_left(outcome.findings, without))
    findings = check_after_injection(one.workload, config.release.version)
    settings = config.generate.policy.settings or config.release.policy_settings
    network = closed_networks(one.workload, config.generate)
    explicit = not isinstance(parse_runtime_class(one.placeholder), Bare)
    of_gpus = gpu_checks(one.workload, one.resolved.platform, gpus, explicit=explicit)
    return one.said(_left((*findings, *network, *host_mounts(one.workload, images, settings), *of_gpus), without))


def passed_gpus(config: Config) -> tuple[str, ...]:
    """Return the names of GPUs that the policies of a render pass."""
    options = config.generate.policy
    profile, _ = chosen_profile(options.profile, config.release, config.generate.name)
    return passed_names(options.settings or config.release.policy_settings, profile)


def _left(findings: tuple[Finding, ...], without: Collection[str]) -> tuple[Finding, ...]:
    return tuple(found for found in findings if found.code not in without) if without else findings


def scheduled(one: WorkloadRender, classes: RuntimeClasses) -> WorkloadRender:
    """Check one pod against the RuntimeClass that it will have; a DaemonSet gets its scheduling in the template."""
    if one.resolved.platform is None:
        return one
    runtime_class = classes.classes.get(one.workload.runtime_class)
    one = one.plus(*schedule(one.workload, runtime_class))._replace(scheduled=runtime_class)
    return one if one.failed else one.plus(*schedule_daemon_set(one.workload, runtime_class))


def measured(workloads: Iterable[WorkloadRender], values: ReferenceValues, release: Release) -> list[WorkloadRender]:
    """Give every workload without errors the ID blocks of its VM; none at all if the reference values are wrong.

    A workload whose number of vCPUs has no RTMR0 in the release gets CC0609.
    """
    workloads = [one.plus((), _without_rtmr0(one, release)) for one in workloads]
    if has_errors(values.findings):
        return workloads

    blocks = cache(lambda platform, count: id_blocks(platform, count, values.merged.get("snp", ())))
    return [
        one
        if one.failed or one.resolved.platform is None
        else one.plus(*measure(one.workload, blocks(one.resolved.platform, one.vcpus)))
        for one in workloads
    ]


def _without_rtmr0(one: WorkloadRender, release: Release) -> tuple[Finding, ...]:
    """Return CC0609 if a VM of this size is in no reference value."""
    platform = one.resolved.platform
    if platform is None or not platform.rtmr0_by_vcpus or not one.vcpus or platform.name not in release.platforms:
        return ()
    if str(one.vcpus) in release.platforms[platform.name].rtmr0_by_vcpu:
        return ()
    return (
        finding(
            "CC0609", one.workload.ref, one.workload.spec_path, vcpus=vcpus_text(one.vcpus), platform=platform.name
        ),
    )


def used_platforms(workloads: Sequence[WorkloadRender], default: str) -> set[Platform]:
    """Find every platform whose reference values the manifest needs. default: the configured one, "" for none.

    For a GPU on an explicit platform without one Contrast adds those of the GPU variant; here it is CC0409.
    """
    used = {one.resolved.platform for one in workloads if one.resolved.platform is not None}
    return used | {PLATFORMS[default]} if default and workloads else used


def vcpu_counts(workloads: Iterable[WorkloadRender], platforms: Iterable[Platform]) -> Mapping[str, list[int]]:
    """Collect by name of the platform the vCPU count of each of its pods."""
    return {
        platform.name: [one.vcpus for one in workloads if one.resolved.platform == platform] for platform in platforms
    }


def object_edits(one: WorkloadRender) -> tuple[int, ObjectEdits]:
    """Return the edits of one workload to its object, with the position of its resource."""
    position, root = one.workload.place
    return position, ObjectEdits(root, one.workload.ref, one.edits)


def planned(one: WorkloadRender) -> Planned:
    """Make the entry of one workload in the plan."""
    platform = one.resolved.platform
    return Planned(
        one.workload.ref,
        one.placeholder,
        platform.name if platform else "",
        one.workload.runtime_class,
        one.vcpus,
        one.scheduled.node_selector if one.scheduled else NO_LABELS,
        one.edits,
        one.digest,
        workload=one.workload,
        scheduled=one.scheduled,
        open=one.open,
        notes=one.identity + one.notes,
        identity=one.identity,
        memory=one.memory,
    )
