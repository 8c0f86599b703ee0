"""Decide which role, names and secret each workload has, before any of them is edited."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_function.config.collect import Config
from krm_function.config.generate import ManifestOptions, SharedSecret
from krm_function.contrast.identity import (
    BaseEntry,
    Identities,
    Identity,
    Names,
    base_entries,
    key_of_derived,
    object_key,
    quoted,
)
from krm_function.contrast.manifest import COORDINATOR, short
from krm_function.findings import Finding, Ref, finding
from krm_function.kubernetes.objects import listed
from krm_function.kubernetes.workload import POD_ROLE, PREFIX, Workload
from krm_function.record import NamedTuple
from krm_function.render.stages import add_findings
from krm_function.schema.check import nearest

# --- Base entries: find the entries of the base manifest that belong to workloads of this render, and may be replaced
#
# Rule: an id or a name that resources state about themselves proves nothing. An entry belongs to a workload only if its
# WorkloadSecretID is the one that Contrast derives from this object, or if the configuration assigns it.
#
#   WorkloadSecretID of the entry        it belongs to
#   derived from a workload of now       that workload
#   under spec.manifest.sharedSecrets    the workload under it with the name of the entry, or else the only one under it
#   none, as of old releases             the workload of that name whose full key is under spec.manifest.policies
#   any other                            none of this render: it is kept


def read_owned_entries(workloads: Sequence[Identity], options: ManifestOptions) -> tuple[BaseEntry, ...]:
    """Read the entries of the base, each with the workload of this render that provably owns it."""
    by_derived = {identity.derived: identity.ref for identity in workloads}
    by_key = {key: identity.ref for identity in workloads for key in identity.keys}
    shared = {secret.id: secret.workloads for secret in options.shared_secrets}
    by_name: dict[str, list[Ref]] = {}
    for identity in workloads:
        if identity.has_entry:
            by_name.setdefault(identity.ref.name, []).append(identity.ref)

    def owner(entry: BaseEntry) -> Ref | None:
        if entry.secret in shared:
            keys = shared[entry.secret]
            alike = [key for key in keys if key.rpartition("/")[2].partition("#")[0] == entry.own_name]
            keys_of_entry = alike or keys
            return by_key.get(keys_of_entry[0]) if len(keys_of_entry) == 1 else None
        if entry.secret:
            return by_derived.get(entry.secret)
        alike_named = by_name.get(entry.own_name, [])
        return alike_named[0] if len({ref.whole for ref in alike_named}) == 1 else None

    return tuple(entry._replace(owner=owner(entry)) for entry in base_entries(options.base))


def find_unproven_names(workloads: Sequence[Workload], unowned: Sequence[BaseEntry]) -> tuple[Finding, ...]:
    """Return CC0724 for each workload that has the name of an entry without a WorkloadSecretID.

    Nothing shows whether the entry belongs to this object. unowned: the entries of no workload of this render.
    """
    entries = {entry.own_name: entry for entry in unowned if not entry.secret}
    findings = []
    for workload in workloads:
        if workload.ref.name and workload.ref.name in entries:
            setting = f"policies: {{{quoted(object_key(workload.ref))}: {{}}}}"
            path = (*workload.root, "metadata", "name")
            findings.append(
                finding("CC0724.name", workload.ref, path, entry=entries[workload.ref.name], setting=setting)
            )
    return tuple(findings)


# --- Coordinator: decide which workload has the role, and where the initializers find it
#
# Rule: the author of an object writes its label, so the label gives the role to one StatefulSet at most, and never
# against the configuration or the base manifest. Source: docs/facts/contrast.md#selection.
#
#     the label is on                 spec.manifest.coordinator names    answer
#     one StatefulSet                 nothing                            the coordinator; CC0720 if the base has another
#     one workload of any kind        it                                 the coordinator
#     several, or not a StatefulSet   nothing                            CC0720 at each
#     another workload                a workload                         CC0720 at each other one
#     nothing                         a workload of this render          CC0720: it needs the label
#     nothing                         the coordinator of the base        that one
#     nothing                         anything else                      CC0720


class ChosenCoordinator(NamedTuple):
    """The coordinator among the workloads, None if it is absent, and the namespace where the pods find it."""

    ref: Ref | None
    namespace: str
    findings: tuple[Finding, ...]


def choose_coordinator(
    workloads: Sequence[Workload], base: Sequence[BaseEntry], config: Config, *, complete: bool = True
) -> ChosenCoordinator:
    """Choose the coordinator by the truth table above.

    base: the entries of the base manifest, with their owners. complete: whether `workloads` are all; otherwise nothing
    is reported as absent.
    """
    configured = config.generate.manifest.coordinator
    labelled = {workload.ref: workload for workload in workloads if workload.labels.get(POD_ROLE) == COORDINATOR}
    if configured is not None:
        chosen = next((ref for ref in labelled if object_key(ref) == configured.key), None)
        rest = [workload for ref, workload in labelled.items() if ref != chosen]
        findings = [_report_label("CC0720.other", workload, configured=configured.key) for workload in rest]
        if chosen is None and complete:
            findings += _check_configured(workloads, base, config.generate.ref, configured.key)
        namespace = configured.namespace
    else:
        findings = _check_label(list(labelled.values()))
        chosen = next(iter(labelled), None)
        if chosen and not findings:
            findings = [
                _report_label("CC0720.base", labelled[chosen], other=entry, configured=_format_line(chosen))
                for entry in base
                if entry.role == COORDINATOR and entry.owner != chosen
            ]
        namespace = (chosen.namespace if chosen else config.generate.namespace) or "default"
    if not labelled:
        owners = {entry.owner for entry in base if entry.role == COORDINATOR}
        findings += [_report_label("CC0720.lost", workload) for workload in workloads if workload.ref in owners]
    return ChosenCoordinator(chosen, namespace, tuple(findings))


def _check_label(labelled: Sequence[Workload]) -> list[Finding]:
    """Find why the label cannot decide: it occurs more than once, or on another kind than a StatefulSet."""
    if len(labelled) == 1 and labelled[0].ref.kind != "StatefulSet":
        return [_report_label("CC0720.kind", labelled[0], configured=_format_line(labelled[0].ref))]
    if len(labelled) < 2:
        return []
    names = listed([object_key(workload.ref) for workload in labelled])
    return [_report_label("CC0720.several", workload, names=names) for workload in labelled]


def _check_configured(
    workloads: Sequence[Workload], base: Sequence[BaseEntry], options: Ref, key: str
) -> list[Finding]:
    """Find why the configured coordinator, of this key, cannot be one, when no workload of that key has the label."""
    for workload in workloads:
        if object_key(workload.ref) == key:
            return [_report_label("CC0720.unlabelled", workload, configured=key)]
    if any(entry.role == COORDINATOR and (key_of_derived(entry.secret) or key) == key for entry in base):
        return []
    return [finding("CC0720.absent", options, ("spec", "manifest", "coordinator"), configured=key)]


def _report_label(code: str, workload: Workload, **values: Any) -> Finding:
    path = (*workload.metadata_path, "labels", POD_ROLE)
    return finding(code, workload.ref, path, name=object_key(workload.ref), **values)


def _format_line(ref: Ref) -> str:
    """Return the line of the configuration that names a coordinator."""
    return f"coordinator: {{namespace: {ref.namespace or 'default'}, kind: {ref.kind}, name: {ref.name}}}"


# --- Certificate names: give each workload the names that the configuration adds, and check that none has another's
#
# Rule: a workload has its own name in its certificate, as with Contrast, and other names only from the configuration.
# Its own name is a claim as well: if another workload of this render or of the base has it, it needs the full key of
# the workload under `spec.manifest.policies`.
#
#     key under spec.manifest.policies    belongs to
#     NAME                                the one workload of this name; CC0721 if there are several, or one in the base
#     KIND/NAMESPACE/NAME                 this object, so all of its pod templates
#     KIND/NAMESPACE/NAME#TEMPLATE        this pod template
#     a key of none                       CC0708


def add_configured_names(identities: Sequence[Identity], config: Config) -> tuple[Identity, ...]:
    """Add the names of the keys of each identity, and of its bare name if no other workload has it."""
    policies = config.generate.manifest.policies
    objects: dict[str, set[Ref]] = {}
    for identity in identities:
        objects.setdefault(identity.ref.name, set()).add(identity.ref.whole)
    extended = []
    for identity in identities:
        keys = (*identity.keys, *((identity.ref.name,) if len(objects[identity.ref.name]) == 1 else ()))
        sans = tuple(dict.fromkeys(san for key in keys if key in policies for san in policies[key].sans))
        extended.append(identity._replace(sans=sans, has_entry=any(key in policies for key in identity.keys)))
    return tuple(extended)


def check_names(
    workloads: Sequence[Workload],
    identities: Identities,
    config: Config,
    skipped: Mapping[Ref, str],
    *,
    complete: bool = True,
) -> tuple[Finding, ...]:
    """Return CC0722 for workloads with a name of another, and problems of the keys of spec.manifest.policies.

    skipped: the objects with a pod template that are not Contrast workloads, with the reason. complete: whether
    `workloads` are all; otherwise no key is reported as absent.
    """
    ambiguous = list(_find_ambiguous_names(identities, config))
    bare = {problem.path[-1] for problem in ambiguous}
    claims = _check_own_names([workload for workload in workloads if workload.ref.name not in bare], identities, config)
    absent = _find_absent_keys(identities, config, skipped) if complete else ()
    return (*claims, *ambiguous, *_find_wildcards_of_base(identities, config), *absent)


def _check_own_names(workloads: Sequence[Workload], identities: Identities, config: Config) -> Iterator[Finding]:
    """Yield CC0722 for each workload whose own name is a name of another one, unless the configuration has its key."""
    names = Names()
    for identity in identities.workloads:
        for name in identity.names:
            names.add(name, identity.key)
    for entry in identities.base:
        for name in entry.names:
            names.add(name, str(entry) if entry.owner is None else object_key(entry.owner))
    templates: dict[Ref, set[str]] = {}  # the keys of all pod templates of an object
    for identity in identities.workloads:
        templates.setdefault(identity.ref.whole, set()).add(identity.key)
    reported: dict[tuple[str, str], set[str]] = {}  # by name and secret: what CC0723 and CC0724 are about
    shared = {secret.id for secret in config.generate.manifest.shared_secrets}
    for entry in identities.kept:
        if entry.secret in shared:
            continue  # a workload that may have the secret need not have the name
        reported.setdefault((entry.own_name, entry.secret), set()).add(str(entry))
    for workload in workloads:
        claimant = identities.by_ref[workload.ref]
        if claimant.has_entry or not claimant.ref.name:
            continue
        allowed = {object_key(claimant.ref.whole)}.union(
            templates[claimant.ref.whole],
            reported.get((claimant.ref.name, claimant.secret), ()),
            reported.get((claimant.ref.name, ""), ()),
        )
        holders = [holder for holder in names.holders(claimant.ref.name) if holder not in allowed]
        if holders:
            alike = dict.fromkeys(
                object_key(identity.ref.whole)
                for identity in identities.workloads
                if identity.ref.name == claimant.ref.name
            )
            setting = f"policies: {{{', '.join(f'{quoted(key)}: {{}}' for key in alike)}}}"
            path = (*workload.root, "metadata", "name")
            yield finding("CC0722", workload.ref, path, name=claimant.ref.name, others=listed(holders), setting=setting)


def _find_ambiguous_names(identities: Identities, config: Config) -> Iterator[Finding]:
    """Yield CC0721 for each bare name that several workloads have, or one of them and an entry of the base."""
    for name in config.generate.manifest.policies:
        refs = [identity.ref.whole for identity in identities.workloads if identity.ref.name == name]
        workload_keys = list(dict.fromkeys(map(object_key, refs)))
        entries = [str(entry) for entry in identities.kept if entry.own_name == name]
        if workload_keys and len(workload_keys) + len(entries) > 1:
            path = ("spec", "manifest", "policies", name)
            owners, keys = listed([*workload_keys, *entries]), " or ".join(workload_keys[:5])
            yield finding("CC0721", config.generate.ref, path, name=name, owners=owners, keys=keys)


def _find_wildcards_of_base(identities: Identities, config: Config) -> Iterator[Finding]:
    """Yield CC0727 if entries of the base that stay have the name `*`; an entry that is replaced loses it."""
    names = [str(entry) for entry in identities.kept if entry.has_wildcard]
    if names:
        yield finding("CC0727", config.generate.ref, ("spec", "manifest", "base"), names=listed(names))


def _find_absent_keys(identities: Identities, config: Config, skipped: Mapping[Ref, str]) -> Iterator[Finding]:
    """Yield CC0708 for each key that belongs to no Contrast workload."""
    names = sorted({identity.ref.name for identity in identities.workloads})
    keys = sorted({key for identity in identities.workloads for key in identity.keys})
    for name in config.generate.manifest.policies:
        candidates = keys if "/" in name else names
        if name not in candidates:
            matches = {ref: reason for ref, reason in skipped.items() if name in {ref.name, object_key(ref)}}
            yield _report_unknown_name(config.generate.ref, name, candidates, matches)


def _report_unknown_name(options: Ref, name: str, names: Sequence[str], skipped: Mapping[Ref, str]) -> Finding:
    """Make CC0708 for a key. skipped: the objects of this name that are not Contrast workloads."""
    path = ("spec", "manifest", "policies", name)
    for ref, reason in skipped.items():
        return finding("CC0708.skipped", options, path, name=name, reason=reason, workload=f"{ref.kind}/{ref}")
    if not names:
        return finding("CC0708.none", options, path, name=name)
    suggestion = nearest(name, names) or ", ".join(names)
    return finding("CC0708.absent", options, path, name=name, suggestion=suggestion)


# --- Secret ids: check that no workload shares or takes over a workload secret without the configuration's consent
#
# Rule: the author of an object writes its annotation `workload-secret-id`. An id is a workload's own if no other
# workload of this render or of the base has it and Contrast derives it from no other object. Any other id needs
# `spec.manifest.sharedSecrets`.


SECRET_ID = PREFIX + "workload-secret-id"


def check_secret_ids(
    workloads: Sequence[Workload], identities: Identities, config: Config, *, complete: bool = True
) -> tuple[Finding, ...]:
    """Return CC0723 for each id that is not its workload's own, and CC0725 for shared secrets without a user.

    complete: whether `workloads` are all; otherwise nothing is reported as absent.
    """
    shared = {secret.id: secret for secret in config.generate.manifest.shared_secrets}
    users: dict[str, list[Identity]] = {}
    for identity in identities.workloads:
        users.setdefault(identity.secret, []).append(identity)
    base_users: dict[str, list[str]] = {}
    for entry in identities.kept:
        if entry.secret:
            base_users.setdefault(entry.secret, []).append(key_of_derived(entry.secret) or entry.own_name)
    findings = []
    for workload in workloads:
        identity = identities.by_ref[workload.ref]
        if identity.chosen and identity.chosen != identity.derived:
            secret_id = identity.chosen
            findings += _check_foreign_id(
                workload, identity, users[secret_id], base_users.get(secret_id, []), shared.get(secret_id)
            )
    return (*findings, *(_find_unused_secrets(identities, base_users, config) if complete else ()))


def _check_foreign_id(
    workload: Workload,
    identity: Identity,
    users: Sequence[Identity],
    base_users: Sequence[str],
    shared: SharedSecret | None,
) -> list[Finding]:
    """Return CC0723 if the id that a workload chose belongs to another.

    users: the workloads of this render with this id. base_users: those in the kept entries of the base.
    """
    derived = key_of_derived(identity.chosen)
    keys = {user.key for user in users} | ({derived} if derived in base_users else set())
    allowed = set(shared.workloads) if shared else set()
    strangers = [user for user in users if allowed.isdisjoint(user.keys)]
    is_reported = any(user.chosen for user in strangers)  # a stranger has the finding
    keys -= {user.key for user in users if not allowed.isdisjoint(user.keys)}
    if not allowed.isdisjoint(identity.keys) and (is_reported or keys <= allowed):
        return []
    keys_of_id = dict.fromkeys((derived, *sorted(keys), *base_users, *sorted(allowed)))
    holders = [key for key in keys_of_id if key not in {"", identity.key}]
    if not holders:
        return []
    code = "CC0723.derived" if derived else "CC0723.base" if base_users else "CC0723.shared"
    listed_keys = sorted({*keys, identity.key, *allowed, *([derived] if derived else ())})
    setting = f"sharedSecrets: [{{id: {quoted(identity.chosen)}, workloads: [{', '.join(map(quoted, listed_keys))}]}}]"
    path = (*workload.metadata_path, "annotations", SECRET_ID)
    return [finding(code, workload.ref, path, id=short(identity.chosen), others=listed(holders), setting=setting)]


def _find_unused_secrets(
    identities: Identities, base_users: Mapping[str, Sequence[str]], config: Config
) -> list[Finding]:
    """Return CC0725 for each shared secret that no workload has, and for workloads under it that have another."""
    by_key = {identity.key: identity for identity in identities.workloads}
    replaced = {entry.secret for entry in identities.base}
    findings = []
    for index, secret in enumerate(config.generate.manifest.shared_secrets):
        path = ("spec", "manifest", "sharedSecrets", index)
        members = [by_key[key] for key in secret.workloads if key in by_key]
        strangers = [identity.key for identity in members if identity.secret != secret.id]
        names, ref = listed(strangers or secret.workloads), config.generate.ref
        if strangers:
            findings.append(finding("CC0725.other", ref, (*path, "workloads"), id=short(secret.id), names=names))
        elif not members and secret.id not in base_users and secret.id not in replaced:
            findings.append(finding("CC0725.absent", ref, path, id=short(secret.id), names=names))
    return findings


# --- Decide which role, names and secret each workload has, before any of them is edited
#
# Rule: the configuration decides; a statement of a workload counts where it takes nothing from another one. The
# decision is for all workloads at once, since each conflict is between two of them.


def identify(
    workloads: Sequence[Workload], config: Config, skipped: Mapping[Ref, str], *, complete: bool
) -> tuple[list[Workload], Identities, str, tuple[Finding, ...]]:
    """Decide for all workloads. skipped: as in check_names. complete: whether no workload is left out by an error.

    Returns the workloads with their findings, their identities in the manifest, the namespace where the initializers
    find the coordinator, and the findings about the configuration.
    """
    first = list({workload.ref: workload for workload in workloads}.values())  # a duplicate is CC0118 already
    complete = complete and bool(first)
    identities = read_identities(first, config)
    coordinator = choose_coordinator(first, identities.base, config, complete=complete)
    findings = (
        *coordinator.findings,
        *check_names(first, identities, config, skipped, complete=complete),
        *find_unproven_names(first, identities.kept),
        *check_secret_ids(first, identities, config, complete=complete),
    )
    by_ref: dict[Ref | None, list[Finding]] = {}
    for problem in findings:
        by_ref.setdefault(problem.ref, []).append(problem)
    sentences = dict(_list_notes(identities))
    identified: list[Workload] = []
    for workload in workloads:
        identity = sentences.get(workload.ref, ())
        identified.append(
            add_findings(workload, by_ref.get(workload.ref, ()))._replace(
                is_chosen=workload.is_chosen or workload.ref == coordinator.ref,
                identity=identity,
                notes=identity + workload.notes,
            )
        )
    about_config = tuple(problem for problem in findings if problem.ref == config.generate.ref)
    return identified, identities, coordinator.namespace, about_config


def read_identities(workloads: Sequence[Workload], config: Config) -> Identities:
    """Read the identities that workloads state and the configuration adds, and the entries of the base."""
    stated = [Identity(item.ref, str(item.labels.get(POD_ROLE) or ""), _read_chosen_id(item)) for item in workloads]
    extended = add_configured_names(stated, config)
    return Identities(extended, read_owned_entries(extended, config.generate.manifest))


def _read_chosen_id(workload: Workload) -> str:
    value = workload.annotations.get(SECRET_ID)
    return value if isinstance(value, str) else ""


def _list_notes(identities: Identities) -> Iterator[tuple[Ref, tuple[str, ...]]]:
    """Yield the plan's notes for each workload: with whom it shares a secret, and changes against the base."""
    users: dict[str, list[str]] = {}
    for identity in identities.workloads:
        users.setdefault(identity.secret, []).append(identity.key)
    for entry in identities.kept:
        if entry.secret:
            users.setdefault(entry.secret, []).append(str(entry))
    for identity in identities.workloads:
        sharers = [key for key in users[identity.secret] if key != identity.key]
        shared = (f"shares the workload secret {identity.secret} with {listed(sharers)}",) if sharers else ()
        yield identity.ref, (*shared, *(_compare_with_base(identity, identities) if identities.base else ()))


def _compare_with_base(identity: Identity, identities: Identities) -> Iterator[str]:
    """Yield the changes of a workload's entry against the base."""
    old = [entry for entry in identities.base if entry.owner and entry.owner.whole == identity.ref.whole]
    if not old:
        yield f"new in the manifest: names {', '.join(identity.names)}; workload secret {identity.secret}"
    if old and identity.secret not in {entry.secret for entry in old}:
        yield f"workload secret {identity.secret} instead of {old[0].secret or 'none'}"
    old_names = {name for entry in old for name in entry.names}
    added = [name for name in identity.names if name not in old_names]
    if old and added:
        yield f"new names in its certificate: {', '.join(added)}"
    roles = {entry.role for entry in old}
    if identity.role and identity.role not in roles:
        yield f"new role in the manifest: {identity.role}"
    if old and not identity.role and roles - {""}:
        yield f"no longer {listed(sorted(roles - {''}))} in the manifest"
