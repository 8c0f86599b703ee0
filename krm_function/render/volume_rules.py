"""Apply the rules of `spec.volumes` to the workloads of a render, and to the claims that become block devices.

Rule of this file: it runs only if a rule is on or a pod has the annotation secure-pv, between resolve and inject, in
this order, since a cache may be mounted by subPath, and a mount that another rule leaves may cover a VOLUME:

    hostPathCaches -> splitSubPaths -> securePV -> imageVolumes
"""

from collections.abc import Mapping, Sequence

from krm_function.adapt.choices import RuleChoice
from krm_function.adapt.image_volumes import image_volume_choices, image_volumes
from krm_function.adapt.node_caches import cache_choices, host_path_caches, host_paths, idle_paths
from krm_function.adapt.secure_pv import (
    UNWRITABLE,
    Pods,
    find_claims,
    find_forbidden,
    find_unsound,
    idle_claims,
    made_block,
    mounted_claims,
    secure_pv,
    secure_pv_choices,
)
from krm_function.adapt.split_sub_paths import split_choices, split_sub_paths
from krm_function.config.collect import Config
from krm_function.config.generate import DIVIDE, VolumeRules
from krm_function.findings import Finding, Path, Ref
from krm_function.kubernetes.pod_fields import news, type_findings
from krm_function.kubernetes.resource import ObjectAt, ObjectEdits, Resource
from krm_function.kubernetes.workload import Workload
from krm_function.render.stages import add_findings, apply_outcome, is_unreadable
from krm_function.schema.table import EMPTY


def find_idle_entries(workloads: Sequence[Workload], config: Config) -> tuple[Finding, ...]:
    """Return CC0840 for each claim and path of the configuration that names nothing in the input."""
    return (*idle_claims(workloads, config.generate), *idle_paths(workloads, config.generate))


def apply_volume_rules(
    workloads: Sequence[Workload], resources: Sequence[Resource], config: Config
) -> tuple[list[Workload], list[tuple[int, ObjectEdits]]]:
    """Apply the rules to all workloads that can be read.

    Also returns the edits of claim objects, with the positions of their resources.
    """
    pods = _find_pods(resources, config)
    rewritten: list[Workload] = []
    blocks: dict[tuple[int, Path], ObjectAt] = {}
    for workload in workloads:
        result, claims = (workload, ()) if is_unreadable(workload) else _rewrite(workload, pods, config)
        rewritten.append(result)
        blocks |= {(claim.resource.position, claim.root): claim for claim in claims}
    edits = [
        (position, ObjectEdits(root, claim.ref, (made_block(claim),))) for (position, root), claim in blocks.items()
    ]
    return rewritten, edits


def _find_pods(resources: Sequence[Resource], config: Config) -> Pods:
    pods = find_claims(resources, config.generate.namespace)
    return pods._replace(images=config.images or EMPTY, owner_image=config.generate.volumes.owner_image)


def _rewrite(workload: Workload, pods: Pods, config: Config) -> tuple[Workload, Sequence[ObjectAt]]:
    """Apply the rules to one workload; also returns the claims that become block devices with it."""
    rules = config.generate.volumes
    claims: Sequence[ObjectAt] = ()
    by_hand = find_unsound(workload, pods)
    if rules.cache_paths:
        workload = apply_outcome(workload, host_path_caches(workload, rules.cache_paths))
    if rules.split_sub_paths:
        workload = apply_outcome(workload, split_sub_paths(workload, divide=rules.split_sub_paths == DIVIDE))
    if rules.secure_claims:
        encrypted = secure_pv(workload, rules.secure_claims, pods, initializer=config.generate.initializer)
        workload = apply_outcome(workload, encrypted.outcome)._replace(notes=workload.notes + encrypted.notes)
        claims = encrypted.blocks
    if rules.image_volumes:
        workload = apply_outcome(workload, image_volumes(workload, config.images or EMPTY, config.release.images))
    return add_findings(workload, by_hand), claims


def offer_volume_rules(workload: Workload, config: Config, resources: Sequence[Resource]) -> tuple[RuleChoice, ...]:
    """Return the rules that would help a workload before any rewriting, each as if those before it were chosen.

    config: for images, namespace and `owner_image`; its own rules do not count. resources: of the input, after reading.
    """
    if type_findings(workload):
        return ()  # the stages trust the types
    choices = list(cache_choices(workload))
    caches = [str(choice.value) for choice in choices]
    workload = workload.after(host_path_caches(workload, caches).edits)
    choices += split_choices(workload)
    workload = workload.after(split_sub_paths(workload, divide=True).edits)
    choices += secure_pv_choices(workload, _find_pods(resources, config))
    choices += image_volume_choices(workload, config.images or EMPTY, config.release.images)
    return tuple(choices)


def explain_refusals(
    workload: Workload,
    errors: Sequence[Finding],
    config: Config,
    resources: Sequence[Resource],
    forbidden: Mapping[str, Ref],
) -> tuple[Finding, ...]:
    """Return the errors of a workload, with why no rule helps a volume in place of those about it."""
    claims, paths = tuple(mounted_claims(workload).values()), tuple(host_paths(workload).values())
    rules = VolumeRules("divideSizeLimit", claims, True, paths, config.generate.volumes.owner_image)
    trial = config._replace(generate=config.generate._replace(volumes=rules))
    tried, _ = _rewrite(workload, _find_pods(resources, config), trial)
    refusals = [
        problem._replace(severity="error") if problem.code == UNWRITABLE else problem
        for problem in (*tried.findings, *find_forbidden(workload, forbidden))
    ]
    refusals = [problem for problem in refusals if len(news(errors, [problem], workload)) < len(errors)]
    return (*news(errors, refusals, workload), *refusals)
