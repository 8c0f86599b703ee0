"""Choose what makes the policies of a render: the native generator, or genpolicy if the operator has chosen it.

Rule of this file: everything that makes policies is imported from here and nowhere else in the pipeline, so that a
render without policies does not load it.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from krm_function.api.profile_of_version import chosen_profile
from krm_function.api.records import Config
from krm_function.findings import Finding, Path, Ref, finding, has_errors
from krm_function.model.workload import Workload
from krm_function.policy import References, Settings, load_rules, settings
from krm_function.stages.policy import Sealing, seal_by_genpolicy, seal_policy

if TYPE_CHECKING:
    from krm_function.policy.genpolicy import Engine

Sealer = Callable[[Workload], Sealing]


def choose_sealer(
    config: Config, values: Iterable[Any], engine: "Engine | None"
) -> tuple[Sealer | None, tuple[Finding, ...]]:
    """Return the function that makes the policy of a workload (None after an error), and findings about the choice.

    values: the ConfigMaps and Secrets that pods may refer to, and Services if `asks_services`. engine: genpolicy in
    place of the native generator.
    """
    options = config.generate.policy
    override = options.settings or config.release.policy_settings
    profile, said = chosen_profile(options.profile, config.release, config.generate.name)
    if profile is None:
        return None, said
    if profile.narrowed and (options.rules or engine is not None):
        code = "CC0901.rules" if options.rules else "CC0901.engine"
        return None, (*said, option_wrong(code, config, "profile", profile=profile.name))
    openable = not (options.rules or profile.narrowed or engine is not None)
    if options.external_sources and not openable:
        code = "CC0901.open-profile" if profile.narrowed else "CC0901.open-engine"
        code = "CC0901.open-rules" if options.rules else code
        return None, (*said, option_wrong(code, config, "externalSources", profile=profile.name))
    references = References(values, options.external_sources, openable=openable)
    rules = options.rules or load_rules(profile)
    if engine is not None:
        from krm_function.policy.genpolicy import MARK, settings_text

        text = settings_text(override, profile)
        marked = options.rules or rules + MARK
        files = options.initdata
        chosen, problems = settings(override, profile)

        def by_genpolicy(workload: Workload) -> Sealing:
            return seal_by_genpolicy(workload, engine, references, text, marked, files, profile)

        # genpolicy says itself what is wrong with settings
        return by_genpolicy if has_errors(problems) else _beside_services(by_genpolicy, config, values, chosen), said
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
    from krm_function.policy.external_sources import idle_findings

    references = References(values, config.generate.policy.external_sources)
    return idle_findings(workloads, references, config.generate.ref)


def option_wrong(code: str, config: Config, field: str, **values: Any) -> Finding:
    """Make the finding about an option of spec.policy that contradicts the others. code: CC0901 with a variant."""
    ref, path = config.generate.ref, ("spec", "policy", field)
    return finding(code, ref, path, kind=ref.kind, name=ref.name, field=".".join(path), **values)
