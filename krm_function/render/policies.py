"""Give every workload its policy, or read the digest of the initdata that it has already.

Rule of this file: what makes policies (render/sealing.py, and with it the package `policy`) is imported only if
policies are made.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from krm_function.config.collect import Config
from krm_function.findings import Finding, has_errors
from krm_function.kubernetes.resource import Outcome, Resource
from krm_function.kubernetes.workload import INITDATA, Workload
from krm_function.render.read import read, read_values
from krm_function.render.stages import add_findings, apply_outcome, is_unreadable

if TYPE_CHECKING:
    from krm_function.render.sealing import Sealer


def makes_policies(config: Config, sealer: "Sealer | None") -> bool:
    """Whether this render writes initdata at all."""
    return config.generate.policy.engine != "none" or sealer is not None


def with_policies(
    workloads: Sequence[Workload],
    config: Config,
    resources: Sequence[Resource],
    sealer: "Sealer | None",
) -> tuple[list[Workload], tuple[Finding, ...]]:
    """Return the workloads with their policies, those with errors unchanged; and the findings about the whole render.

    sealer: as in `render`.
    """
    if not makes_policies(config, sealer):
        return [with_existing_digest(workload) for workload in workloads], _options_without_policy(config)
    findings: tuple[Finding, ...] = ()
    if sealer is None:
        from krm_function.render.sealing import asks_services, choose_sealer, idle_sources

        kinds = ("ConfigMap", "Secret", "Service") if asks_services(config) else ("ConfigMap", "Secret")
        references = read(resources, kinds)
        values = list(read_values(resource for resource in references.resources if resource.state != "added"))
        sealer, findings = choose_sealer(config, values)
        if sealer is None:
            return list(workloads), findings
        findings += references.findings
        sealed = [_with_policy(workload, sealer, look=True) for workload in workloads]
        if config.generate.policy.external_sources and not any(workload.failed for workload in sealed):
            findings += idle_sources(config, values, sealed)
        return sealed, findings
    return [_with_policy(workload, sealer) for workload in workloads], findings


def _with_policy(workload: Workload, sealer: "Sealer", *, look: bool = False) -> Workload:
    """Seal one workload. look: at one with errors as well, for the errors that its policy would have."""
    if workload.failed:
        findings = sealer(workload).findings if look and not is_unreadable(workload) else ()
        return add_findings(workload, [finding for finding in findings if has_errors([finding])])
    sealing = sealer(workload)
    notes = workload.notes + sealing.notes
    workload = apply_outcome(workload, Outcome(sealing.edits, sealing.findings))
    return workload._replace(digest=sealing.digest, open=sealing.open, notes=notes)


def with_existing_digest(workload: Workload) -> Workload:
    """Return the workload with the digest of the initdata that it has already, if there is any."""
    if workload.failed or not workload.platform or INITDATA not in workload.annotations:
        return workload
    from krm_function.render.sealing import existing_digest

    sealing = existing_digest(workload)
    return add_findings(workload, sealing.findings)._replace(digest=sealing.digest)


def _options_without_policy(config: Config) -> tuple[Finding, ...]:
    """Return CC0901 for options of the policies when none is made."""
    policy = config.generate.policy
    options = {"initdata": policy.initdata, "externalSources": policy.external_sources}
    useless = [name for name, value in options.items() if value]
    if not useless:
        return ()
    from krm_function.render.sealing import option_wrong

    return tuple(option_wrong("CC0901.no-engine", config, name) for name in useless)
