"""Give every workload its policy, or read the digest of the initdata that it has already.

Rule of this file: what makes policies (render/sealing.py, and with it the package `policy`) is imported only if
policies are made.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from krm_function.config.collect import Config
from krm_function.findings import Finding, has_errors
from krm_function.kubernetes.resource import Resource
from krm_function.kubernetes.workload import INITDATA
from krm_function.render.read import read, read_values
from krm_function.render.stages import WorkloadRender

if TYPE_CHECKING:
    from krm_function.policy.genpolicy import Engine
    from krm_function.render.sealing import Sealer


def makes_policies(config: Config, engine: "Engine | None", sealer: "Sealer | None") -> bool:
    """Whether this render writes initdata at all."""
    return config.generate.policy.engine != "none" or engine is not None or sealer is not None


def with_policies(
    workloads: Sequence[WorkloadRender],
    config: Config,
    resources: Sequence[Resource],
    engine: "Engine | None",
    sealer: "Sealer | None",
) -> tuple[list[WorkloadRender], tuple[Finding, ...]]:
    """Return the workloads with their policies, those with errors unchanged; and the findings about the whole render.

    engine, sealer: as in `render`.
    """
    if not makes_policies(config, engine, sealer):
        return [with_existing_digest(one) for one in workloads], _options_without_policy(config)
    findings: tuple[Finding, ...] = ()
    if sealer is None:
        from krm_function.render.sealing import asks_services, choose_sealer, idle_sources

        kinds = ("ConfigMap", "Secret", "Service") if asks_services(config) else ("ConfigMap", "Secret")
        references = read(resources, kinds)
        values = list(read_values(one for one in references.resources if one.state != "added"))
        sealer, findings = choose_sealer(config, values, engine)
        if sealer is None:
            return list(workloads), findings
        findings += references.findings
        made = [_with_policy(one, sealer, look=engine is None) for one in workloads]
        if config.generate.policy.external_sources and not any(one.failed for one in made):
            findings += idle_sources(config, values, [one.workload for one in made])
        return made, findings
    return [_with_policy(one, sealer) for one in workloads], findings


def _with_policy(workload: WorkloadRender, sealer: "Sealer", *, look: bool = False) -> WorkloadRender:
    """Seal one workload. look: at one with errors as well, for the errors that its policy would have."""
    if workload.failed:
        wrong = sealer(workload.workload).findings if look and not workload.unreadable else ()
        return workload.said([found for found in wrong if has_errors([found])])
    made = sealer(workload.workload)
    notes = workload.notes + made.notes
    return workload.plus(made.edits, made.findings)._replace(digest=made.digest, open=made.open, notes=notes)


def with_existing_digest(workload: WorkloadRender) -> WorkloadRender:
    """Return the workload with the digest of the initdata that it has already, if there is any."""
    if workload.failed or workload.resolved.platform is None or INITDATA not in workload.workload.annotations:
        return workload
    from krm_function.render.sealing import existing_digest

    found = existing_digest(workload.workload)
    return workload.plus((), found.findings)._replace(digest=found.digest)


def _options_without_policy(config: Config) -> tuple[Finding, ...]:
    """Return CC0901 for options of the policies when none is made."""
    policy = config.generate.policy
    options = {"initdata": policy.initdata, "externalSources": policy.external_sources}
    useless = [name for name, value in options.items() if value]
    if not useless:
        return ()
    from krm_function.render.sealing import option_wrong

    return tuple(option_wrong("CC0901.no-engine", config, name) for name in useless)
