"""The known differences between genpolicy's policies and ours, each with the place of its reason in docs/facts.

Source: docs/facts/kata.md#where-our-generator-differs.

Rule of this file: a row says of which lines of a comparison it is the reason, by what the pod has: another pod with the
same line has a difference that nobody knows. Where two rows fit, the first one counts.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from benchmarks.policy.genpolicy_mounts import claim_templates, escaped, slash, variants
from benchmarks.policy.genpolicy_place import Place
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.policy.compare import ENV
from krm_function.policy.expansion import as_bound_variable, bound_argument
from krm_function.policy.mounts import ALL

Json = dict[str, Any]


class Row(NamedTuple):
    """A known difference. facts: the section with its reason and source."""

    name: str
    facts: str
    fits: Callable[[Place], bool]


# --- variables


def _written_names(place: Place) -> list[str]:
    """Return the names that env and envFrom set, as often as they do, with prefixes and without."""
    return [str(one.get("name")) for one in maps(place.written.get("env"))] + [
        name for source, pairs in _sources(place) for name in _with_prefix(source, pairs)
    ]


def _sources(place: Place) -> Iterator[tuple[Json, Mapping[str, str]]]:
    for source in maps(place.written.get("envFrom")):
        for kind, key in (("ConfigMap", "configMapRef"), ("Secret", "secretRef")):
            if key in source:
                yield source, place.references.find(kind, place.workload.ref.namespace, source[key]["name"]) or {}


def _with_prefix(source: Json, pairs: Mapping[str, str]) -> set[str]:
    return {f"{prefix}{name}" for name in pairs for prefix in ("", source.get("prefix") or "")}


def _values(entry: Json, name: str) -> set[str]:
    found = dig(entry, ENV) or []
    return {text for text in found if text.partition("=")[0] == name}


def _is_variable(place: Place) -> bool:
    return place.line.field == "env"


def _last_of_two(place: Place) -> bool:
    name = place.line.what
    fewer = _values(place.ours, name) < _values(place.theirs, name)
    return _is_variable(place) and fewer and _written_names(place).count(name) > 1


def _prefix(place: Place) -> bool:
    prefixed = [(source, pairs) for source, pairs in _sources(place) if source.get("prefix")]
    return _is_variable(place) and any(place.line.what in _with_prefix(*one) for one in prefixed)


def _literal(place: Place) -> bool:
    """Whether a variable has its value from a ConfigMap or Secret, and that value has a `$(`."""
    if not _is_variable(place):
        return False
    name, values = place.line.what, []
    for _, pairs in _sources(place):
        values += [value for key, value in pairs.items() if key == name]
    for entry in maps(place.written.get("env")):
        source = mapping(entry.get("valueFrom"))
        for kind, key in (("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")):
            if entry.get("name") == name and key in source:
                pairs = place.references.find(kind, place.workload.ref.namespace, source[key]["name"]) or {}
                values.append(pairs.get(source[key]["key"], ""))
    return any("$(" in value for value in values)


def _service_account(place: Place) -> bool:
    for entry in maps(place.written.get("env")):
        path = dig(entry, ("valueFrom", "fieldRef", "fieldPath"))
        if _is_variable(place) and entry.get("name") == place.line.what and path == "spec.serviceAccountName":
            return True
    return False


def _of_the_pod(place: Place) -> bool:
    """Whether genpolicy has a token, and ours the form of its value."""
    if _is_variable(place):
        texts = _values(place.theirs, place.line.what)
        return bool(texts) and {as_bound_variable(one) for one in texts} == _values(place.ours, place.line.what)
    theirs, ours = (dig(entry, ("OCI", "Process", "Args")) or [] for entry in (place.theirs, place.ours))
    return place.line.field == "command" and [bound_argument(text) for text in theirs] == ours


def _expansion(place: Place) -> bool:
    """Whether a text of the pod that the kubelet expands has a dollar: the variable's, or one of the command's."""
    if _is_variable(place):
        texts = [one.get("value") for one in maps(place.written.get("env")) if one.get("name") == place.line.what]
        return any("$" in (text or "") for text in texts)
    if place.line.field != "command":
        return False
    found = [text for entry in (place.theirs, place.ours) for text in dig(entry, ("OCI", "Process", "Args")) or ()]
    return any("$" in text for text in (*found, *_words(place.written, "command"), *_words(place.written, "args")))


def _words(value: Json, key: str) -> list[str]:
    return [text for text in value.get(key) or () if isinstance(text, str)]


def _probes(place: Place) -> bool:
    hooks = [place.written.get(key) for key in ("livenessProbe", "readinessProbe", "startupProbe")]
    commands = [word for hook in hooks for word in _words(mapping(dig(hook, ("exec",))), "command")]
    return place.line.field == "exec commands" and any("$" in word for word in commands)


# --- who, and what it may do


def _groups(place: Place) -> bool:
    """Whether both run as the same user, and ours has the groups that the kubelet and containerd derive."""
    users = [mapping(dig(entry, ("OCI", "Process", "User"))) for entry in (place.theirs, place.ours)]
    own = mapping(place.written.get("securityContext"))
    context = mapping(place.workload.pod_spec.get("securityContext"))
    named = any(key in own for key in ("runAsUser", "runAsGroup")) or "supplementalGroupsPolicy" in context
    same = place.line.field == "user" and users[0].get("UID") == users[1].get("UID")
    return same and bool(place.written) and (named or place.profile.image_identity)


def _capabilities(place: Place) -> bool:
    asked = mapping(dig(place.written, ("securityContext", "capabilities")))
    names = {key: [str(one) for one in asked.get(key) or ()] for key in ("add", "drop")}
    odd = any(one != one.upper() for one in (*names["add"], *names["drop"]))
    both = bool({*names["add"]} & {*names["drop"]})
    return place.line.field == "capabilities" and (odd or both or "ALL" in names["add"])


def _sysctl(place: Place) -> bool:
    written = maps(dig(place.workload.pod_spec, ("securityContext", "sysctls")))
    return place.line.field == "sysctls" and any("/" in str(one.get("name")) for one in written)


def _names(place: Place) -> bool:
    return place.line.field == "pod name" and "only names that a cluster generates" in place.line.why


def _shared_gpus(place: Place) -> bool:
    """Whether the process of either side has the variable by which the runtime announces all GPUs of the pod."""
    processes = [dig(entry, ENV) or () for entry in (place.theirs, place.ours)]
    return place.line.field in {"GPUs", "annotation patterns"} and any(ALL in env for env in processes)


ROWS = (
    Row("envFrom prefix", "docs/facts/kata.md#prefix-of-envfrom", _prefix),
    Row("envFrom literal", "docs/facts/kata.md#values-of-configmaps-and-secrets", _literal),
    Row("values of the running pod", "docs/facts/kata.md#values-of-the-running-pod", _of_the_pod),
    Row("service account", "docs/facts/kata.md#service-account", _service_account),
    Row("the last of two variables", "docs/facts/kata.md#the-last-of-two-variables", _last_of_two),
    Row("$(VAR) as the kubelet expands", "docs/facts/kata.md#expansion", _expansion),
    Row("$(VAR) in probes", "docs/facts/kata.md#probes", _probes),
    Row("groups as containerd computes them", "docs/facts/kata.md#groups", _groups),
    Row("names of capabilities", "docs/facts/kata.md#names-of-capabilities", _capabilities),
    Row("sysctls with slashes", "docs/facts/kata.md#sysctls-with-slashes", _sysctl),
    Row("claims of a StatefulSet", "docs/facts/kata.md#claims-of-a-statefulset", claim_templates),
    Row("escaped paths", "docs/facts/kata.md#escaped-paths", escaped),
    Row("paths that end in a slash", "docs/facts/kata.md#paths-that-end-in-a-slash", slash),
    Row("options of mounts", "docs/facts/kata.md#options-of-mounts", variants),
    Row("names of pods", "docs/facts/kata.md#names-of-pods", _names),
    Row("GPUs by a variable", "docs/facts/kata.md#gpus-by-a-variable", _shared_gpus),
)


def row_of(place: Place) -> Row | None:
    """Return the row that knows a line, None if none does."""
    return next((row for row in ROWS if row.fits(place)), None)
