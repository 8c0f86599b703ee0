"""Identity: report objects that occur more than once in the input.

Rule of this file: a cluster identifies an object by group, kind, namespace and name, not by the version. Of two objects
with one identity it keeps the one that is applied last, whichever was sealed. Only objects that share kind and name are
parsed, so that an input without such pairs costs only a comparison of headers.

Truth table, first row that holds:

    two objects have                                                          answer
    no name, as with generateName alone                                       two objects
    one is Contrast's, and one gets its namespace when it is applied          as in one namespace
    another namespace ("" is `default`; a RuntimeClass has none)              two objects
    the name that kpt gives its package contexts, both local to the package   two objects
    nothing of Contrast's, and of just these two one is a Helm hook           two objects, as Helm makes them apart
    anything else                                                             one object twice: CC0118 at each place
"""

from collections.abc import Iterable, Sequence
from typing import Any

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.findings.origin import position_text
from krm_function.model.finding_position import yaml_finding
from krm_function.model.kinds import KINDS_BY_CONTENT
from krm_function.model.lookup import dig
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.model.runtime_class_names import contrast_names_in, is_contrast_name
from krm_function.model.workload import EMITTED, LOCAL_CONFIG
from krm_function.record import NamedTuple
from krm_function.yamltext import YamlError, read_value

CLUSTER_WIDE = frozenset(("RuntimeClass",))  # more of these kinds cannot be known: there are custom resources
PACKAGE_CONTEXT = "kptfile.kpt.dev"  # the ConfigMap that kpt puts into every package and subpackage

Named = tuple[str, str]  # kind and name
Identity = tuple[str, str, str]  # group, kind, name: with a namespace, all of an identity


class ObjectAt(NamedTuple):
    """An object with its resource and the path to it."""

    resource: Resource
    root: Path
    ref: Ref
    value: Any


def duplicates(resources: Sequence[Resource]) -> tuple[Finding, ...]:
    """Return CC0118 for every object that occurs again."""
    alike: dict[Named, list[int]] = {}
    for index, resource in enumerate(resources):
        if not resource.may_be(KINDS_BY_CONTENT) or resource.document is None:
            if resource.name:
                alike.setdefault((resource.kind, resource.name), []).append(index)
            continue
        for _, value in objects(resource.document.value):
            alike.setdefault((reference(value).kind, _name(value)), []).append(index)
    suspects = {named for named, indexes in alike.items() if len(indexes) > 1 and all(named)}
    standing: dict[Identity, list[ObjectAt]] = {}
    findings: list[Finding] = []
    for resource in (resources[index] for index in sorted({index for named in suspects for index in alike[named]})):
        try:
            value = read_value(resource.text)
        except YamlError as problem:  # its identity is unknown
            findings.append(yaml_finding(problem, resource))
            continue
        for one in (ObjectAt(resource, root, reference(each), each) for root, each in objects(value)):
            if (one.ref.kind, name := _name(one.value)) in suspects:
                standing.setdefault((_group(one.ref.api_version), one.ref.kind, name), []).append(one)
    for group in (group for named in standing.values() for group in _by_namespace(named)):
        if len(group) > 1 and not _are_distinct(group):
            findings += _duplicate_findings(group)
    return tuple(findings)


def _by_namespace(named: list[ObjectAt]) -> Iterable[list[ObjectAt]]:
    """Group objects of one name by the namespace that they can come into."""
    if any(not one.ref.namespace for one in named) and any(map(_is_contrast_object, named)):
        return [named]
    spaces: dict[str, list[ObjectAt]] = {}
    for one in named:
        spaces.setdefault(_namespace(one.ref), []).append(one)
    return spaces.values()


def _name(value: Any) -> str:
    """Return the name of an object, "" without one; a generateName is no name."""
    name = dig(value, ("metadata", "name"))
    return name if isinstance(name, str) else ""


def _group(api_version: str) -> str:
    group, slash, _ = api_version.rpartition("/")
    return group if slash else ""


def _namespace(ref: Ref) -> str:
    return "" if ref.kind in CLUSTER_WIDE else ref.namespace or "default"


def _are_distinct(group: list[ObjectAt]) -> bool:
    """Tell whether objects of one identity are different ones all the same."""
    if group[0].ref.name == PACKAGE_CONTEXT and group[0].ref.kind == "ConfigMap":
        return all(dig(one.value, ("metadata", "annotations", LOCAL_CONFIG)) == "true" for one in group)
    from krm_function.model.helm_hooks import hook_of

    hooks = [bool(hook_of(one.value)) for one in group]
    return sorted(hooks) == [False, True] and not any(map(_is_contrast_object, group))


def _is_contrast_object(one: ObjectAt) -> bool:
    """Tell whether an object names a class of Contrast's, is one, or was added by a render."""
    if one.ref.kind == "RuntimeClass" and is_contrast_name(one.ref.name):
        return True
    added = dig(one.value, ("metadata", "annotations", EMITTED)) is not None
    return added or any(True for _ in contrast_names_in(one.value))


def _duplicate_findings(group: list[ObjectAt]) -> list[Finding]:
    """Make a finding for each occurrence; each names another occurrence, the first one if possible."""
    placed = []
    for one in group:
        first = next(iter(one.value), "") if isinstance(one.value, dict) else ""  # of a document: behind its comments
        path = one.root or (str(first),)
        placed.append(
            one.resource.given().placed(finding("CC0118", one.ref, path, kind=one.ref.kind, name=one.ref, other=""))
        )
    said = []
    for index, (one, here) in enumerate(zip(group, placed, strict=True)):
        there = placed[0 if index else 1]
        other = position_text(there.file, there.line, 0, there.origin)
        found = finding("CC0118", one.ref, kind=one.ref.kind, name=one.ref, other=other)
        said.append(found._replace(file=here.file, line=here.line, column=here.column, origin=here.origin))
    return said
