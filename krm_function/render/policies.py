"""Give every workload its policy, or read the digest of the initdata that it has already.

Rule of this file: the policy is the last edit of a pod template, because every byte before it can enter the digest
(docs/facts/contrast.md#order). A pod is sealed whole or not at all: an unsupported field is a finding, never left out.
The pipeline imports this file, and with it the package `policy`, only for a policy to make or to read.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from krm_function.config.collect import Config
from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import References, namespace_of, references_of
from krm_function.config.release import chosen_profile
from krm_function.contrast.annotations import TOTAL, annotations_size
from krm_function.contrast.profiles import Profile
from krm_function.findings import Finding, finding, has_errors
from krm_function.kubernetes.objects import listed, mapping
from krm_function.kubernetes.resource import Edit, Outcome, Resource
from krm_function.kubernetes.workload import INITDATA, OpenVariable, Workload, frozen_notes
from krm_function.policy.initdata import digest, from_annotation, unreadable
from krm_function.policy.mounts import shared_gpu_notes
from krm_function.policy.rules import load_rules, mismatch_findings
from krm_function.policy.seal import seal
from krm_function.policy.settings import NO_RULES, Settings, choose_settings, report_option
from krm_function.record import NamedTuple
from krm_function.render.read import read, read_values
from krm_function.render.stages import add_findings, apply_outcome, is_unreadable
from krm_function.schema.table import EMPTY


class Sealing(NamedTuple):
    """The edits of one workload, its initdata digest ("" after an error) and the open variables of its policy.

    notes: sentences about its policy for the plan.
    """

    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()
    digest: str = ""
    open: tuple[OpenVariable, ...] = ()
    notes: tuple[str, ...] = ()


Sealer = Callable[[Workload], Sealing]

# --- Give every workload of a render its policy


def add_policies(
    workloads: Sequence[Workload], config: Config, resources: Sequence[Resource], sealer: Sealer | None
) -> tuple[list[Workload], tuple[Finding, ...]]:
    """Return the workloads with their policies, those with errors unchanged; and the findings about the whole render.

    sealer: as in `render`.
    """
    policy = config.generate.policy
    if sealer is not None:
        return [_add_policy(workload, sealer) for workload in workloads], ()
    if policy.engine == "none":
        return [add_existing_digest(workload) for workload in workloads], _find_idle_options(config)
    profile, findings = chosen_profile(policy.profile, config.release, config.generate.name)
    if profile is None:
        return list(workloads), findings
    kinds = ("ConfigMap", "Secret", "Service") if _denies_services(config, profile) else ("ConfigMap", "Secret")
    sources = read(resources, kinds)
    values = list(read_values(resource for resource in sources.resources if resource.state != "added"))
    references = References(values, policy.external_sources, openable=not (policy.rules or profile.narrowed))
    sealer, problems = _choose_sealer(config, profile, values, references)
    findings += problems
    if sealer is None:
        return list(workloads), findings
    sealed = [_add_policy(workload, sealer, look=True) for workload in workloads]
    findings += (*sources.findings, *_find_readable_secrets(sealed, references))
    if policy.external_sources and not any(workload.failed for workload in sealed):
        from krm_function.policy.open_variables import idle_findings

        findings += idle_findings(sealed, references, config.generate.ref)
    return sealed, findings


def _add_policy(workload: Workload, sealer: Sealer, *, look: bool = False) -> Workload:
    """Seal one workload. look: also one with errors, to find the errors that its policy would have."""
    if workload.failed:
        findings = sealer(workload).findings if look and not is_unreadable(workload) else ()
        return add_findings(workload, [finding for finding in findings if has_errors([finding])])
    sealing = sealer(workload)
    notes = workload.notes + sealing.notes + frozen_notes(workload)
    workload = apply_outcome(workload, Outcome(sealing.edits, sealing.findings))
    return workload._replace(digest=sealing.digest, open=sealing.open, notes=notes)


def _find_readable_secrets(workloads: Sequence[Workload], references: References) -> tuple[Finding, ...]:
    """Return one CC0675, at the first pod, for all variables of the policies that have their values from Secrets."""
    variables: dict[str, dict[str, None]] = {}
    using: list[Workload] = []
    for workload in (workload for workload in workloads if workload.digest):
        for reference in chain.from_iterable(references_of(entry.container) for entry in workload.all_containers):
            data = reference.kind == "Secret" and references.find("Secret", namespace_of(workload), reference.name)
            keys = [key for key in data or () if reference.key in ("", key)]
            if keys:
                names = dict.fromkeys(reference.variable or reference.prefix + key for key in keys)
                variables[reference.name] = variables.get(reference.name, {}) | names
                using.append(workload)
    secrets = ", ".join(f"Secret {name} ({listed(list(names))})" for name, names in variables.items())
    return tuple(
        workload.placed(finding("CC0675", workload.ref, workload.spec_path, secrets=secrets)) for workload in using[:1]
    )


def add_existing_digest(workload: Workload) -> Workload:
    """Return the workload with the digest of its present initdata, if it has any."""
    if workload.failed or not workload.platform or INITDATA not in workload.annotations:
        return workload
    try:
        return workload._replace(digest=digest(from_annotation(str(workload.annotations[INITDATA]))))
    except ValueError as problem:
        return add_findings(workload, [unreadable(workload, problem)])


def _find_idle_options(config: Config) -> tuple[Finding, ...]:
    """Return CC0901 for options of the policies when none is made."""
    policy = config.generate.policy
    options = {
        "initdata": policy.initdata,
        "externalSources": policy.external_sources,
        "requests": policy.requests != NO_RULES,
    }
    return tuple(report_option("CC0901.no-engine", config, name) for name, value in options.items() if value)


# --- Choose the rules and settings of a render, and seal a pod with them


def _choose_sealer(
    config: Config, profile: Profile, values: Sequence[Any], references: References
) -> tuple[Sealer | None, tuple[Finding, ...]]:
    """Return the function that makes the policy of a workload (None after an error), and findings about the choice.

    values: the ConfigMaps and Secrets that pods may refer to, and Services if `_denies_services`; references: their
    index.
    """
    options = config.generate.policy
    if profile.narrowed and options.rules:
        return None, (report_option("CC0901.rules", config, "profile", profile=profile.name),)
    if options.external_sources and not references.openable:
        code = "CC0901.open-rules" if options.rules else "CC0901.open-profile"
        return None, (report_option(code, config, "externalSources", profile=profile.name),)
    if config.images is None:
        return None, (finding("CC0906"),)
    chosen, findings = choose_settings(config, profile)
    if chosen is None:
        return None, findings
    images, rules = config.images, options.rules or load_rules(profile)

    def seal_natively(workload: Workload) -> Sealing:
        return seal_policy(workload, images, references, chosen, rules, options.initdata)

    if not _denies_services(config, profile):
        return seal_natively, findings
    from krm_function.policy.service_variables import is_service, service_findings

    services = [value for value in values if is_service(value)]

    def seal_beside_services(workload: Workload) -> Sealing:
        sealing = seal_natively(workload)
        denied = service_findings(workload, services, chosen.shared, whole=profile.narrowed)
        return sealing._replace(findings=sealing.findings + denied)

    return seal_beside_services, findings


def _denies_services(config: Config, profile: Profile) -> bool:
    """Tell whether policies may deny variables of Services: if their settings differ from the profile's own."""
    return bool(config.generate.policy.settings or config.release.policy_settings) or not profile.own_settings


def seal_policy(
    workload: Workload,
    images: Mapping[str, ImageFacts],
    references: References,
    settings: Settings,
    rules: str,
    files: Mapping[str, str] = EMPTY,
) -> Sealing:
    """Generate the policy of one workload, and make the edit that puts its initdata into the pod template."""
    policy, findings = seal(workload, images, references, settings, rules, files)
    if policy is None:
        return Sealing(findings=findings)
    mismatch = mismatch_findings(workload, policy.data, settings.profile)
    if mismatch:
        return Sealing(findings=mismatch)
    bytes_of_all = annotations_size(workload.annotations | {INITDATA: policy.annotation})
    if bytes_of_all > TOTAL:
        path = (*workload.metadata_path, "annotations")
        return Sealing(findings=(finding("CC0611", workload.ref, path, size=bytes_of_all, limit=TOTAL),))
    reason = f"policy {policy.digest[:16]}… of the pod with all edits above"
    edits = workload.annotate([(INITDATA, policy.annotation, reason)], "CC0606")
    notes = tuple(shared_gpu_notes(policy.data)) if settings.profile.shared_gpus else ()
    late = (problem.message for problem in find_late_variables(workload))
    return Sealing(edits, findings, policy.digest, policy.open, (*notes, *late))


def find_late_variables(workload: Workload) -> Iterator[Finding]:
    """Yield an info, CC0686, about each variable with a text that Flux may replace after the render."""
    for container in workload.all_containers:
        for index, entry in enumerate(container.container.get("env") or ()):
            if re.search(r"(?<!\$)\$\{[A-Za-z_][^}]*\}", str(mapping(entry).get("value") or "")):
                path = (*container.path, "env", index, "value")
                yield finding("CC0686", workload.ref, path, variable=entry.get("name"))
