"""Who makes the policies of a render: our generator, or genpolicy if the operator asked for it.

Rule of this file: everything that makes policies is imported from here and nowhere else on the line, so that a render
without policies does not wait for it.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from krm_function.api.kinds import Config
from krm_function.api.release_profile import chosen_profile
from krm_function.findings import Finding, Path, Ref, finding, has_errors
from krm_function.model.workload import Workload
from krm_function.policy import References, load_rules, settings
from krm_function.stages.policy import Sealing, seal_by_genpolicy, seal_policy

if TYPE_CHECKING:
    from krm_function.policy.genpolicy import Engine

Sealer = Callable[[Workload], Sealing]


def choose_sealer(
    config: Config, values: Iterable[Any], engine: "Engine | None"
) -> tuple[Sealer | None, tuple[Finding, ...]]:
    """What makes the policy of a workload, or None, and what there is to say of the choice.

    values: the ConfigMaps and Secrets that pods may refer to. engine: genpolicy in place of our own generator.
    """
    options = config.generate.policy
    references = References(values)
    override = options.settings or config.release.policy_settings
    profile, said = chosen_profile(options.profile, config.release, config.generate.name)
    if profile is None:
        return None, said
    if profile.narrowed and (options.rules or engine is not None):
        why = "other rules are given" if options.rules else "genpolicy has its own"
        problem = f"{profile.name} consists of its own rules, and {why}"
        remedy = "use the profile of the release, or leave out policy.rules, --policy and --genpolicy"
        return None, (*said, option_wrong(config, "profile", problem, remedy))
    rules = options.rules or load_rules(profile)
    if engine is not None:
        from krm_function.policy.genpolicy import MARK, settings_text

        text = settings_text(override, profile)
        marked = options.rules or rules + MARK
        files = options.initdata
        return lambda workload: seal_by_genpolicy(workload, engine, references, text, marked, files, profile), said
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
    return lambda workload: seal_policy(workload, images, references, chosen, rules, options.initdata), said


def option_wrong(config: Config, field: str, problem: str, remedy: str) -> Finding:
    """CC0901: an option of spec.policy that contradicts the others."""
    ref, path = config.generate.ref, ("spec", "policy", field)
    at = ".".join(path)
    return finding("CC0901", ref, path, kind=ref.kind, name=ref.name, field=at, problem=problem, remedy=remedy)
