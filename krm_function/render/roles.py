"""Decide which role, names and secret each workload has, before any of them is edited."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_function.config.collect import Config
from krm_function.config.manifest_options import ManifestOptions, SharedSecret
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
from krm_function.findings import Finding, Path, Ref, finding
from krm_function.kubernetes.objects import listed
from krm_function.kubernetes.workload import POD_ROLE, PREFIX, Workload
from krm_function.record import NamedTuple
from krm_function.render.stages import with_findings
from krm_function.schema.nearest import nearest

# --- Base entries: find which entries of the base manifest are of workloads of this render, and may be replaced
#
# Rule: what resources write about themselves, an id or a name, proves nothing. An entry is of a workload
# only if its WorkloadSecretID is the one that Contrast derives of this object, or if the configuration says so.
#
#   WorkloadSecretID of the entry        it is of
#   derived of a workload of now         that workload
#   under spec.manifest.sharedSecrets    the workload under it that is named as the entry, or else the only one under it
#   none, as of old releases             the workload named so whose full key is under spec.manifest.policies
#   any other                            none of this render: it is kept


def owned_entries(workloads: Sequence[Identity], options: ManifestOptions) -> tuple[BaseEntry, ...]:
    """Read the entries of the base, each with the workload of this render that it is proven to be of."""
    by_derived = {one.derived: one.ref for one in workloads}
    by_key = {key: one.ref for one in workloads for key in one.keys}
    shared = {one.id: one.workloads for one in options.shared_secrets}
    named: dict[str, list[Ref]] = {}
    for one in workloads:
        if one.named:
            named.setdefault(one.ref.name, []).append(one.ref)

    def owner(entry: BaseEntry) -> Ref | None:
        if entry.secret in shared:
            keys = shared[entry.secret]
            alike = [key for key in keys if key.rpartition("/")[2].partition("#")[0] == entry.own_name]
            mine = alike or keys
            return by_key.get(mine[0]) if len(mine) == 1 else None
        if entry.secret:
            return by_derived.get(entry.secret)
        alike_named = named.get(entry.own_name, [])
        return alike_named[0] if len({ref.whole for ref in alike_named}) == 1 else None

    return tuple(entry._replace(owner=owner(entry)) for entry in base_entries(options.base))


def unproven_names(workloads: Sequence[Workload], kept: Sequence[BaseEntry]) -> tuple[Finding, ...]:
    """Return CC0724 for each workload that has the name of an entry without a WorkloadSecretID.

    Whether the entry is of this object cannot be known. kept: the entries that are of no workload of this render.
    """
    entries = {entry.own_name: entry for entry in kept if not entry.secret}
    found = []
    for one in workloads:
        if one.ref.name and one.ref.name in entries:
            setting = f"policies: {{{quoted(object_key(one.ref))}: {{}}}}"
            path = (*one.root, "metadata", "name")
            found.append(finding("CC0724.name", one.ref, path, entry=entries[one.ref.name], setting=setting))
    return tuple(found)


# --- Coordinator: decide which workload has the role, and where the initializers find it
#
# Rule: a label is written by whoever writes the object, so it gives the role to one StatefulSet at most
# and never against the configuration or the base manifest. Source: docs/facts/contrast.md#selection.
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
    """The coordinator among the workloads, None if it is not there, and the namespace in which the pods find it."""

    ref: Ref | None = None
    namespace: str = "default"
    findings: tuple[Finding, ...] = ()


def choose_coordinator(
    workloads: Sequence[Workload], base: Sequence[BaseEntry], config: Config, *, complete: bool = True
) -> ChosenCoordinator:
    """Choose the coordinator by the truth table above.

    base: the entries of the base manifest, with their owners. complete: whether `workloads` are all; if not, nothing
    is called absent.
    """
    named = config.generate.manifest.coordinator
    labelled = {one.ref: one for one in workloads if one.labels.get(POD_ROLE) == COORDINATOR}
    elsewhere = config.generate.namespace
    if named is not None:
        chosen = next((ref for ref in labelled if object_key(ref) == named.key), None)
        others = [one for ref, one in labelled.items() if ref != chosen]
        findings = [_at_label("CC0720.other", one, configured=named.key) for one in others]
        if chosen is None and complete:
            findings += _without_label(workloads, base, config)
        return ChosenCoordinator(chosen, named.namespace, (*findings, *_lost(labelled, workloads, base)))
    findings = _ambiguous_label(list(labelled.values()))
    chosen = next(iter(labelled), None)
    if chosen and not findings:
        findings = [
            _at_label("CC0720.base", labelled[chosen], other=entry, configured=_line(chosen))
            for entry in base
            if entry.role == COORDINATOR and entry.owner != chosen
        ]
    found = chosen.namespace if chosen else elsewhere
    return ChosenCoordinator(chosen, found or "default", (*findings, *_lost(labelled, workloads, base)))


def _ambiguous_label(labelled: Sequence[Workload]) -> list[Finding]:
    """Find what keeps the label from deciding: it is there more than once, or on another kind than a StatefulSet."""
    if len(labelled) == 1 and labelled[0].ref.kind != "StatefulSet":
        return [_at_label("CC0720.kind", labelled[0], configured=_line(labelled[0].ref))]
    if len(labelled) < 2:
        return []
    names = listed([object_key(one.ref) for one in labelled])
    return [_at_label("CC0720.several", one, names=names) for one in labelled]


def _without_label(workloads: Sequence[Workload], base: Sequence[BaseEntry], config: Config) -> list[Finding]:
    """Find what keeps the configured coordinator from being one, when no workload of that key has the label."""
    named = config.generate.manifest.coordinator
    if named is None:
        return []
    for one in workloads:
        if object_key(one.ref) == named.key:
            return [finding("CC0720.unlabelled", one.ref, _label(one), configured=named.key)]
    for entry in base:
        if entry.role == COORDINATOR and (key_of_derived(entry.secret) or named.key) == named.key:
            return []
    path = ("spec", "manifest", "coordinator")
    return [finding("CC0720.absent", config.generate.ref, path, configured=named.key)]


def _lost(labelled: dict[Ref, Workload], workloads: Sequence[Workload], base: Sequence[BaseEntry]) -> list[Finding]:
    """Find workloads that have the role in the base and would lose it without another that takes it."""
    if labelled:
        return []
    owners = {entry.owner for entry in base if entry.role == COORDINATOR and entry.owner}
    return [finding("CC0720.lost", one.ref, _label(one)) for one in workloads if one.ref in owners]


def _at_label(code: str, workload: Workload, **values: Any) -> Finding:
    return finding(code, workload.ref, _label(workload), name=object_key(workload.ref), **values)


def _label(workload: Workload) -> Path:
    return (*workload.metadata_path, "labels", POD_ROLE)


def _line(ref: Ref) -> str:
    """Return the line of the configuration that names a coordinator."""
    return f"coordinator: {{namespace: {ref.namespace or 'default'}, kind: {ref.kind}, name: {ref.name}}}"


# --- Certificate names: give each workload the names that the configuration adds, and check that nobody has another's
#
# Rule: a workload has its own name in its certificate, as with Contrast, and no other that it did not get
# from the configuration. Its own name is a claim as well: one that is another's, in this render or in the base, needs
# the full key of the workload under `spec.manifest.policies`.
#
#     key under spec.manifest.policies    is of
#     NAME                                the one workload of this name; CC0721 if there are several, or one in the base
#     KIND/NAMESPACE/NAME                 this object, so all of its pod templates
#     KIND/NAMESPACE/NAME#TEMPLATE        this pod template
#     a key of none                       CC0708


def with_configured_names(identities: Sequence[Identity], config: Config) -> tuple[Identity, ...]:
    """Return the identities with the names of their keys, and of their bare names where no other workload has them."""
    policies = config.generate.manifest.policies
    objects: dict[str, set[Ref]] = {}
    for one in identities:
        objects.setdefault(one.ref.name, set()).add(one.ref.whole)
    made = []
    for one in identities:
        keys = (*one.keys, *((one.ref.name,) if len(objects[one.ref.name]) == 1 else ()))
        sans = tuple(dict.fromkeys(san for key in keys if key in policies for san in policies[key].sans))
        made.append(one._replace(sans=sans, named=any(key in policies for key in one.keys)))
    return tuple(made)


def name_findings(
    workloads: Sequence[Workload],
    identities: Identities,
    config: Config,
    skipped: Mapping[Ref, str],
    *,
    complete: bool = True,
) -> tuple[Finding, ...]:
    """Return CC0722 for workloads with a name of another, and what is wrong with the keys of spec.manifest.policies.

    skipped: the objects with a pod template that are no Contrast workloads, with the reason. complete: whether
    `workloads` are all; if not, no key is called absent.
    """
    ambiguous = list(_ambiguous_names(identities, config))
    bare = {found.path[-1] for found in ambiguous}
    taken = _taken([one for one in workloads if one.ref.name not in bare], identities, config)
    return (*taken, *ambiguous, *(_absent(identities, config, skipped) if complete else ()))


def _taken(workloads: Sequence[Workload], identities: Identities, config: Config) -> Iterator[Finding]:
    """Yield CC0722 for each workload whose own name is a name of another one, unless the configuration has its key."""
    names = Names()
    for one in identities.workloads:
        for name in one.names:
            names.add(name, one.key)
    for entry in identities.base:
        for name in entry.names:
            names.add(name, str(entry) if entry.owner is None else object_key(entry.owner))
    templates: dict[Ref, set[str]] = {}  # the keys of all pod templates of an object
    for one in identities.workloads:
        templates.setdefault(one.ref.whole, set()).add(one.key)
    told: dict[tuple[str, str], set[str]] = {}  # by name and secret: what CC0723 and CC0724 are about
    shared = {one.id for one in config.generate.manifest.shared_secrets}
    for entry in identities.kept:
        if entry.secret in shared:
            continue  # who may have the secret need not have the name
        told.setdefault((entry.own_name, entry.secret), set()).add(str(entry))
    for workload in workloads:
        me = identities.by_ref[workload.ref]
        if me.named or not me.ref.name:
            continue
        known = {object_key(me.ref.whole)}.union(
            templates[me.ref.whole],
            told.get((me.ref.name, me.secret), ()),
            told.get((me.ref.name, ""), ()),
        )
        others = [holder for holder in names.holders(me.ref.name) if holder not in known]
        if others:
            alike = dict.fromkeys(
                object_key(one.ref.whole) for one in identities.workloads if one.ref.name == me.ref.name
            )
            setting = f"policies: {{{', '.join(f'{quoted(key)}: {{}}' for key in alike)}}}"
            path = (*workload.root, "metadata", "name")
            yield finding("CC0722", workload.ref, path, name=me.ref.name, others=listed(others), setting=setting)


def _ambiguous_names(identities: Identities, config: Config) -> Iterator[Finding]:
    """Yield CC0721 for each bare name that several workloads have, or one of them and an entry of the base."""
    for name in config.generate.manifest.policies:
        mine = list(dict.fromkeys(object_key(one.ref.whole) for one in identities.workloads if one.ref.name == name))
        before = [str(entry) for entry in identities.kept if entry.own_name == name]
        if mine and len(mine) + len(before) > 1:
            path = ("spec", "manifest", "policies", name)
            owners, keys = listed([*mine, *before]), " or ".join(mine[:5])
            yield finding("CC0721", config.generate.ref, path, name=name, owners=owners, keys=keys)


def _absent(identities: Identities, config: Config, skipped: Mapping[Ref, str]) -> Iterator[Finding]:
    """Yield CC0708 for each key that is of no Contrast workload."""
    names = sorted({one.ref.name for one in identities.workloads})
    keys = sorted({key for one in identities.workloads for key in one.keys})
    for name in config.generate.manifest.policies:
        known = keys if "/" in name else names
        if name not in known:
            left = {ref: why for ref, why in skipped.items() if name in {ref.name, object_key(ref)}}
            yield _unknown_name(config.generate.ref, name, known, left)


def _unknown_name(options: Ref, name: str, names: Sequence[str], skipped: Mapping[Ref, str]) -> Finding:
    """Make CC0708 for one key. skipped: the objects of this name that are no Contrast workloads."""
    path = ("spec", "manifest", "policies", name)
    for ref, reason in skipped.items():
        return finding("CC0708.skipped", options, path, name=name, reason=reason, workload=f"{ref.kind}/{ref}")
    if not names:
        return finding("CC0708.none", options, path, name=name)
    suggestion = nearest(name, names) or ", ".join(names)
    return finding("CC0708.absent", options, path, name=name, suggestion=suggestion)


# --- Secret ids: check that nobody shares or takes over a workload secret unless the configuration says so
#
# Rule: the annotation `workload-secret-id` is written by whoever writes the object. An id is a workload's
# own if no other workload of this render or of the base has it and Contrast derives it of no other object. Any other
# one needs `spec.manifest.sharedSecrets`.


SECRET_ID = PREFIX + "workload-secret-id"


def secret_id_findings(
    workloads: Sequence[Workload], identities: Identities, config: Config, *, complete: bool = True
) -> tuple[Finding, ...]:
    """Return CC0723 for each id that is not its workload's own, and CC0725 for shared secrets that nothing has.

    complete: whether `workloads` are all; if not, nothing is called absent.
    """
    shared = {one.id: one for one in config.generate.manifest.shared_secrets}
    users: dict[str, list[Identity]] = {}
    for one in identities.workloads:
        users.setdefault(one.secret, []).append(one)
    before: dict[str, list[str]] = {}
    for entry in identities.kept:
        if entry.secret:
            before.setdefault(entry.secret, []).append(key_of_derived(entry.secret) or entry.own_name)
    findings = []
    for workload in workloads:
        me = identities.by_ref[workload.ref]
        if me.chosen and me.chosen != me.derived:
            findings += _foreign(workload, me, users[me.chosen], before.get(me.chosen, []), shared.get(me.chosen))
    return (*findings, *(_unused(identities, before, config) if complete else ()))


def _foreign(
    workload: Workload, me: Identity, users: Sequence[Identity], before: Sequence[str], shared: SharedSecret | None
) -> list[Finding]:
    """Return CC0723 if the id that a workload chose is anybody else's.

    users: the workloads of this render with this id. before: who has it in the base, as far as entries are kept.
    """
    derived = key_of_derived(me.chosen)
    keys = {one.key for one in users} | ({derived} if derived in before else set())
    allowed = set(shared.workloads) if shared else set()
    mine = [one for one in users if allowed.isdisjoint(one.keys)]
    elsewhere = any(one.chosen for one in mine)  # which has the finding
    keys -= {one.key for one in users if not allowed.isdisjoint(one.keys)}
    if not allowed.isdisjoint(me.keys) and (elsewhere or keys <= allowed):
        return []
    others = [
        one for one in dict.fromkeys((derived, *sorted(keys), *before, *sorted(allowed))) if one not in {"", me.key}
    ]
    if not others:
        return []
    code = "CC0723.derived" if derived else "CC0723.base" if before else "CC0723.shared"
    wanted = sorted({*keys, me.key, *allowed, *([derived] if derived else ())})
    setting = f"sharedSecrets: [{{id: {quoted(me.chosen)}, workloads: [{', '.join(map(quoted, wanted))}]}}]"
    path = (*workload.metadata_path, "annotations", SECRET_ID)
    return [finding(code, workload.ref, path, id=short(me.chosen), others=listed(others), setting=setting)]


def _unused(identities: Identities, before: Mapping[str, Sequence[str]], config: Config) -> list[Finding]:
    """Return CC0725 for each shared secret that no workload has, and for workloads under it that have another one."""
    known = {one.key: one for one in identities.workloads}
    replaced = {entry.secret for entry in identities.base}
    findings = []
    for index, secret in enumerate(config.generate.manifest.shared_secrets):
        path = ("spec", "manifest", "sharedSecrets", index)
        here = [known[key] for key in secret.workloads if key in known]
        wrong = [one.key for one in here if one.secret != secret.id]
        names, ours = listed(wrong or secret.workloads), config.generate.ref
        if wrong:
            findings.append(finding("CC0725.other", ours, (*path, "workloads"), id=short(secret.id), names=names))
        elif not here and secret.id not in before and secret.id not in replaced:
            findings.append(finding("CC0725.absent", ours, path, id=short(secret.id), names=names))
    return findings


# --- Decide which role, names and secret each workload has, before any of them is edited
#
# Rule: the configuration decides; what workloads say of themselves counts where it takes nothing from
# another one. It is decided for all workloads at once, since each decision is about two of them.


def identify(
    workloads: Sequence[Workload], config: Config, skipped: Mapping[Ref, str], *, complete: bool
) -> tuple[list[Workload], Identities, str, tuple[Finding, ...]]:
    """Decide for all workloads. skipped: as in name_findings. complete: whether no workload is left out by an error.

    Returns the workloads with their findings, what they are in the manifest, the namespace in which the initializers
    find the coordinator, and the findings about the configuration.
    """
    first = list({workload.ref: workload for workload in workloads}.values())  # a duplicate is CC0118 already
    complete = complete and bool(first)
    identities = identities_of(first, config)
    coordinator = choose_coordinator(first, identities.base, config, complete=complete)
    findings = (
        *coordinator.findings,
        *name_findings(first, identities, config, skipped, complete=complete),
        *unproven_names(first, identities.kept),
        *secret_id_findings(first, identities, config, complete=complete),
    )
    by_ref: dict[Ref | None, list[Finding]] = {}
    for problem in findings:
        by_ref.setdefault(problem.ref, []).append(problem)
    sentences = dict(_notes(identities))
    identified: list[Workload] = []
    for workload in workloads:
        identity = sentences.get(workload.ref, ())
        identified.append(
            with_findings(workload, by_ref.get(workload.ref, ()))._replace(
                is_chosen=workload.is_chosen or workload.ref == coordinator.ref,
                identity=identity,
                notes=identity + workload.notes,
            )
        )
    about_config = tuple(finding for finding in findings if finding.ref == config.generate.ref)
    return identified, identities, coordinator.namespace, about_config


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
