"""Make the policy of each workload, and seal the pod with it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from krm_function.config.collect import Config
from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import References
from krm_function.config.release import chosen_profile
from krm_function.contrast.annotations import TOTAL, annotations_size
from krm_function.findings import Finding, Path, Ref, finding, has_errors
from krm_function.kubernetes.resource import Edit
from krm_function.kubernetes.workload import INITDATA, OpenVariable, Workload
from krm_function.policy.initdata import digest, from_annotation, unreadable
from krm_function.policy.mounts import shared_gpu_notes
from krm_function.policy.rules import load_rules, mismatch_findings
from krm_function.policy.seal import seal
from krm_function.policy.settings import Settings, settings
from krm_function.record import NamedTuple
from krm_function.schema.table import EMPTY

# --- Policy: generate the execution policy over everything injected so far, ID blocks included
#
# Rule: the policy is the last edit of a pod template, because every byte before it can enter the digest
# (docs/facts/contrast.md#order). It is sealed whole or not at all: a field that is not understood is a finding, never
# left out.


class Sealing(NamedTuple):
    """The edits of one workload, its initdata digest ("" after an error) and the open variables of its policy.

    notes: sentences about its policy for the plan.
    """

    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()
    digest: str = ""
    open: tuple[OpenVariable, ...] = ()
    notes: tuple[str, ...] = ()


def seal_policy(
    workload: Workload,
    images: Mapping[str, ImageFacts],
    references: References,
    settings: Settings,
    rules: str,
    files: Mapping[str, str] = EMPTY,
) -> Sealing:
    """Generate the policy of one workload and put its initdata into the pod template."""
    sealed, findings = seal(workload, images, references, settings, rules, files)
    if sealed is None:
        return Sealing(findings=findings)
    wrong = mismatch_findings(workload, sealed.data, settings.profile)
    if wrong:
        return Sealing(findings=wrong)
    notes = tuple(shared_gpu_notes(sealed.data)) if settings.profile.shared_gpus else ()
    return _annotated(workload, sealed.annotation, sealed.digest, findings)._replace(open=sealed.open, notes=notes)


def _annotated(workload: Workload, value: str, sealed: str, findings: tuple[Finding, ...]) -> Sealing:
    """Make the edit that puts an initdata annotation into the pod template, if all annotations fit."""
    reason = f"policy {sealed[:16]}… of the pod with all edits above"
    edits = workload.annotate([(INITDATA, value, reason)], "CC0606")
    bytes_of_all = annotations_size(workload.annotations | {INITDATA: value})
    if bytes_of_all > TOTAL:
        path = (*workload.metadata_path, "annotations")
        return Sealing(findings=(finding("CC0611", workload.ref, path, size=bytes_of_all, limit=TOTAL),))
    return Sealing(edits, findings, sealed)


def existing_digest(workload: Workload) -> Sealing:
    """Return the digest of the initdata that the pod has already, for policy.engine none; "" without any."""
    value = workload.annotations.get(INITDATA)
    if value is None:
        return Sealing()
    try:
        return Sealing(digest=digest(from_annotation(str(value))))
    except ValueError as problem:
        return Sealing(findings=(unreadable(workload, problem),))


# --- Choose the rules and settings of the policies of a render
#
# Rule: everything that makes policies is imported from here and nowhere else in the pipeline, so that a
# render without policies does not load it.


Sealer = Callable[[Workload], Sealing]


def choose_sealer(config: Config, values: Iterable[Any]) -> tuple[Sealer | None, tuple[Finding, ...]]:
    """Return the function that makes the policy of a workload (None after an error), and findings about the choice.

    values: the ConfigMaps and Secrets that pods may refer to, and Services if `asks_services`.
    """
    options = config.generate.policy
    override = options.settings or config.release.policy_settings
    profile, said = chosen_profile(options.profile, config.release, config.generate.name)
    if profile is None:
        return None, said
    if profile.narrowed and options.rules:
        return None, (*said, option_wrong("CC0901.rules", config, "profile", profile=profile.name))
    openable = not (options.rules or profile.narrowed)
    if options.external_sources and not openable:
        code = "CC0901.open-rules" if options.rules else "CC0901.open-profile"
        return None, (*said, option_wrong(code, config, "externalSources", profile=profile.name))
    references = References(values, options.external_sources, openable=openable)
    rules = options.rules or load_rules(profile)
    if config.images is None:
        return None, (*said, finding("CC0906"))
    images = config.images
    where: tuple[Ref, Path]
    if options.settings:
        where = config.generate.ref, ("spec", "policy", "settings")
    else:
        where = config.release.ref, ("spec", "policySettings")
    chosen, problems = settings(override, profile)
    if has_errors(problems):
        return None, (*said, *(found._replace(ref=where[0], path=where[1]) for found in problems))

    def natively(workload: Workload) -> Sealing:
        return seal_policy(workload, images, references, chosen, rules, options.initdata)

    return _beside_services(natively, config, values, chosen), said


def asks_services(config: Config) -> bool:
    """Tell whether the policies of a render may deny variables of Services: those with settings of other makers."""
    options = config.generate.policy
    if options.settings or config.release.policy_settings:
        return True
    profile, _ = chosen_profile(options.profile, config.release, config.generate.name)
    return profile is not None and not profile.own_settings


def _beside_services(sealer: Sealer, config: Config, values: Iterable[Any], chosen: Settings) -> Sealer:
    """Return a sealer that finds the Services of the input whose variables a policy denies."""
    if not asks_services(config):
        return sealer
    from krm_function.policy.service_variables import is_service, service_findings

    services = [value for value in values if is_service(value)]

    def beside(workload: Workload) -> Sealing:
        made = sealer(workload)
        wrong = service_findings(workload, services, chosen.shared, whole=chosen.profile.narrowed)
        return made._replace(findings=made.findings + wrong)

    return beside if services else sealer


def idle_sources(config: Config, values: Iterable[Any], workloads: Iterable[Workload]) -> tuple[Finding, ...]:
    """Return a warning for each entry of spec.policy.externalSources that opens no variable of these workloads."""
    from krm_function.policy.open_variables import idle_findings

    references = References(values, config.generate.policy.external_sources)
    return idle_findings(workloads, references, config.generate.ref)


def option_wrong(code: str, config: Config, field: str, **values: Any) -> Finding:
    """Make the finding about an option of spec.policy that contradicts the others. code: CC0901 with a variant."""
    ref, path = config.generate.ref, ("spec", "policy", field)
    return finding(code, ref, path, kind=ref.kind, name=ref.name, field=".".join(path), **values)
