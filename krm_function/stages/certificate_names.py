"""Certificate names: give each workload the names that the configuration adds, and check that nobody has another's.

Rule of this file: a workload has its own name in its certificate, as with Contrast, and no other that it did not get
from the configuration. Its own name is a claim as well: one that is another's, in this render or in the base, needs the
full key of the workload under `spec.manifest.policies`.

    key under spec.manifest.policies    is of
    NAME                                the one workload of this name; CC0721 if there are several, or one in the base
    KIND/NAMESPACE/NAME                 this object, so all of its pod templates
    KIND/NAMESPACE/NAME#TEMPLATE        this pod template
    a key of none                       CC0708
"""

from collections.abc import Iterator, Mapping, Sequence

from krm_function.api.records import Config
from krm_function.findings import Finding, Ref, finding
from krm_function.manifest.identity import Identities, Identity, Names, object_key, quoted
from krm_function.model.listed_names import listed
from krm_function.model.workload import Workload
from krm_function.schema.nearest import nearest


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
    ambiguous = list(_ambiguous(identities, config))
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


def _ambiguous(identities: Identities, config: Config) -> Iterator[Finding]:
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
