"""Secret ids: check that nobody shares or takes over a workload secret unless the configuration says so.

Rule of this file: the annotation `workload-secret-id` is written by whoever writes the object. An id is a workload's
own if no other workload of this render or of the base has it and Contrast derives it of no other object. Any other one
needs `spec.manifest.sharedSecrets`.
"""

from collections.abc import Mapping, Sequence

from krm_function.api.records import Config, SharedSecret
from krm_function.findings import Finding, finding
from krm_function.manifest.identity import Identities, Identity, key_of_derived, quoted
from krm_function.manifest.problem import short
from krm_function.model.listed_names import listed
from krm_function.model.workload import PREFIX, Workload

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
