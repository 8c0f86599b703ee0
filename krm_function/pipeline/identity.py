"""Decide which role, names and secret each workload has, before any of them is edited.

Rule of this file: the configuration decides; what workloads say of themselves counts where it takes nothing from
another one. It is decided for all workloads at once, since each decision is about two of them.
"""

from collections.abc import Iterator, Mapping, Sequence

from krm_function.api.records import Config
from krm_function.findings import Finding, Ref
from krm_function.manifest.identity import Identities, Identity
from krm_function.model.listed_names import listed
from krm_function.model.workload import POD_ROLE, Workload
from krm_function.pipeline.workload import WorkloadRender
from krm_function.record import NamedTuple
from krm_function.stages.base_entries import owned_entries, unproven_names
from krm_function.stages.certificate_names import name_findings, with_configured_names
from krm_function.stages.coordinator import choose_coordinator
from krm_function.stages.secret_ids import SECRET_ID, secret_id_findings


class Identified(NamedTuple):
    """The workloads with their findings, and what they are in the manifest.

    coordinator_namespace: where the initializers find the coordinator. findings: those about the configuration.
    """

    workloads: list[WorkloadRender]
    identities: Identities
    coordinator_namespace: str
    findings: tuple[Finding, ...]


def identified(
    renders: Sequence[WorkloadRender], config: Config, skipped: Mapping[Ref, str], *, complete: bool
) -> Identified:
    """Decide for all workloads. skipped: as in name_findings. complete: whether no workload is left out by an error."""
    workloads = list({one.workload.ref: one.workload for one in renders}.values())  # a duplicate is CC0118 already
    complete = complete and bool(workloads)
    identities = identities_of(workloads, config)
    chosen = choose_coordinator(workloads, identities.base, config, complete=complete)
    found = (
        *chosen.findings,
        *name_findings(workloads, identities, config, skipped, complete=complete),
        *unproven_names(workloads, identities.kept),
        *secret_id_findings(workloads, identities, config, complete=complete),
    )
    mine: dict[Ref | None, list[Finding]] = {}
    for one in found:
        mine.setdefault(one.ref, []).append(one)
    notes = dict(_notes(identities))
    made = [
        one.said(mine.get(one.workload.ref, ()))._replace(
            workload=one.workload._replace(is_chosen=True) if one.workload.ref == chosen.ref else one.workload,
            identity=notes.get(one.workload.ref, ()),
        )
        for one in renders
    ]
    about_config = tuple(one for one in found if one.ref == config.generate.ref)
    return Identified(made, identities, chosen.namespace, about_config)


def identities_of(workloads: Sequence[Workload], config: Config) -> Identities:
    """Read what each workload says of itself and what the configuration adds, beside the entries of the base."""
    own = [Identity(one.ref, str(one.labels.get(POD_ROLE) or ""), _chosen_id(one)) for one in workloads]
    made = with_configured_names(own, config)
    return Identities(made, owned_entries(made, config.generate.manifest))


def _chosen_id(workload: Workload) -> str:
    """Return the id that a workload chose by its annotation, "" for none."""
    value = workload.annotations.get(SECRET_ID)
    return value if isinstance(value, str) else ""


def _notes(identities: Identities) -> Iterator[tuple[Ref, tuple[str, ...]]]:
    """Yield for each workload what a reader of the plan must know: what it shares, what changes against the base."""
    users: dict[str, list[str]] = {}
    for one in identities.workloads:
        users.setdefault(one.secret, []).append(one.key)
    for entry in identities.kept:
        if entry.secret:
            users.setdefault(entry.secret, []).append(str(entry))
    for one in identities.workloads:
        others = [key for key in users[one.secret] if key != one.key]
        shared = (f"shares the workload secret {one.secret} with {listed(others)}",) if others else ()
        yield one.ref, (*shared, *(_against_base(one, identities) if identities.base else ()))


def _against_base(one: Identity, identities: Identities) -> Iterator[str]:
    """Yield what the manifest gives to a workload and the base does not."""
    before = [entry for entry in identities.base if entry.owner and entry.owner.whole == one.ref.whole]
    if not before:
        yield f"new in the manifest: names {', '.join(one.names)}; workload secret {one.secret}"
    if before and one.secret not in {entry.secret for entry in before}:
        yield f"workload secret {one.secret} instead of {before[0].secret or 'none'}"
    had = {name for entry in before for name in entry.names}
    added = [name for name in one.names if name not in had]
    if before and added:
        yield f"new names in its certificate: {', '.join(added)}"
    roles = {entry.role for entry in before}
    if one.role and one.role not in roles:
        yield f"new role in the manifest: {one.role}"
    if before and not one.role and roles - {""}:
        yield f"no longer {listed(sorted(roles - {''}))} in the manifest"
