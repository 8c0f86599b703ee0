"""Say in CEL where the pods of an object are, and which requests of an API server are about such objects.

Rule of this file: kinds and paths are those of `model/pod_kinds.py`. An API server asks by resource, and of a custom
resource only the kind is known: so every resource of its group is asked for, and the kind decides.

    kind                                    guarded
    the eight kinds of Kubernetes           yes
    of the catalogue or spec.podTemplates   yes, in every version
    refused by the catalogue                where `refused_kinds.py` knows the places of its classes
    with a path through two lists           not there: CC1370, as CEL cannot make one list of them
"""

from collections.abc import Iterable, Mapping
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.guard.cel import a_list, field, listed, texts
from krm_function.guard.refused_kinds import LIST, MAP, REFUSED_PLACES
from krm_function.model.kinds import CATALOGUED, KINDS, Pattern
from krm_function.model.pod_kind import PodKind
from krm_function.model.pod_kinds import Kinds
from krm_function.model.shipped_kinds import of_group, shipped
from krm_function.record import NamedTuple

Places = Mapping[str, tuple[Pattern, ...]]  # group/Kind -> paths from the object; () is the object itself
Rule = dict[str, Any]
GROUPS = frozenset(known[0].rpartition("/")[0] for known in KINDS.values())  # of Kubernetes itself


class Guarded(NamedTuple):
    """The kinds that a guard knows. pods: paths of their pod templates.

    classes: of the kinds whose pods nobody seals, paths of the maps that have a runtimeClassName. reasons: why not.
    """

    pods: Places
    classes: Places
    reasons: Mapping[str, str]
    findings: tuple[Finding, ...] = ()


def guarded(kinds: Kinds) -> Guarded:
    """Return what is known of all kinds with pods."""
    pods: dict[str, tuple[Pattern, ...]] = {
        _key(known[0].rpartition("/")[0], kind): known[1:] for kind, known in KINDS.items()
    }
    findings = []
    for known in _sealed_kinds(kinds):
        paths = tuple(dict.fromkeys(tuple(step.replace("*", LIST) for step in one.path) for one in known.templates))
        deep = [path for path in paths if path.count(LIST) > 1]
        findings += [finding("CC1370", kind=known.kind, group=known.group, place=_written(path)) for path in deep]
        if left := tuple(path for path in paths if path not in deep):
            pods[_key(known.group, known.kind)] = left
    classes: dict[str, tuple[Pattern, ...]] = {}
    reasons: dict[str, str] = {}
    for group, of in REFUSED_PLACES.items():
        for kind, paths in of.items():
            refused = shipped(group, kind)
            if (group, kind) not in kinds.configured and refused is not None and refused.refused:
                classes[_key(group, kind)] = paths
                reasons[_key(group, kind)] = f"{refused.refused}; {refused.instead}"
    return Guarded(pods, classes, reasons, tuple(findings))


def _sealed_kinds(kinds: Kinds) -> list[PodKind]:
    """Return the kinds of catalogue and configuration whose pods are sealed, in the order of their names."""
    groups = {group for groups in CATALOGUED.values() for group in groups}
    every = {key: known for group in groups for key, known in of_group(group).items()}
    every.update(kinds.configured)
    return [known for _, known in sorted(every.items()) if not known.refused]


def _key(group: str, kind: str) -> str:
    return f"{group}/{kind}"


def _written(path: Pattern) -> str:
    return ".".join(path).replace(f".{LIST}", "[*]")


def maps_at(value: str, places: Places) -> str:
    """Write the list of the maps at the places of an object, by its kind, the variable `kind`."""
    by_paths: dict[tuple[Pattern, ...], list[str]] = {}
    for key, paths in places.items():
        by_paths.setdefault(paths, []).append(key)
    cases = [
        f"variables.kind in {texts(keys)} ? {listed(_maps(value, path) for path in paths)} : "
        for paths, keys in by_paths.items()
    ]
    return f"({''.join(cases)}[]).filter(p, type(p) == map)"


def _maps(value: str, path: Pattern) -> str:
    if MAP in path:
        of, below = _cut(value, path, MAP)
        each = f"m.map(k, {_at('m[k]', below)})"
        return f"[{of}.orValue({{}})].map(m, type(m) == map ? {each} : [])[0]"
    if LIST in path:
        of, below = _cut(value, path, LIST)
        return f"{a_list(of)}.map(e, {_at('e', below)})"
    return f"[{_at(value, path)}]"


def _cut(value: str, path: Pattern, mark: str) -> tuple[str, Pattern]:
    size = path.index(mark)
    return field(value, path[:size]), path[size + 1 :]


def _at(value: str, path: Pattern) -> str:
    return f"{field(value, path)}.orValue({{}})" if path else value


def rules(places: Iterable[str], scope: str = "Namespaced") -> list[Rule]:
    """Return the rules by which an API server asks for objects of these kinds (group/Kind); of pods, new ones only."""
    by_version: dict[str, list[str]] = {}
    for kind, known in KINDS.items():
        if kind != "Pod":
            by_version.setdefault(known[0], []).append(f"{kind.lower()}s")
    changed = ["CREATE", "UPDATE"]
    custom = sorted({key.partition("/")[0] for key in places} - GROUPS)
    return [
        _rule("", "v1", ["CREATE"], ["pods"]),
        *(
            _rule(version.rpartition("/")[0], version.rpartition("/")[2], changed, sorted(resources))
            for version, resources in by_version.items()
        ),
        *([{**_rule("", "*", changed, ["*"], scope), "apiGroups": custom}] if custom else []),
    ]


def ephemeral_containers() -> Rule:
    """Return the rule for containers that are put into a pod that runs."""
    return _rule("", "v1", ["UPDATE"], ["pods/ephemeralcontainers"])


def _rule(group: str, version: str, operations: list[str], resources: list[str], scope: str = "Namespaced") -> Rule:
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "operations": operations,
        "resources": resources,
        "scope": scope,
    }
