"""Identity: one input holds each object once.

Rule of this file: group, kind, namespace and name are what a cluster tells objects apart by, not the version. Of two
with one identity it keeps the one that is applied last, whatever was sealed. Only objects whose group, kind and name
stand more than once are parsed for the rest, so that an input without such pairs costs a look at each header.

Truth table, first row that holds:

    two objects have                                                            answer
    another namespace ("" is `default`; a RuntimeClass has none)              two objects
    no name, as with generateName alone                                       two objects
    the name that kpt gives its package contexts, both local to the package   two objects
    no class of Contrast's, and of just these two one is a Helm hook          two objects, as Helm makes them apart
    anything else                                                             one object twice: CC0118 at each place
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from krm_function.findings import Finding, Path, Ref, finding
from krm_function.model.asked import HOOK, classes_in, is_hook
from krm_function.model.objects import objects, reference
from krm_function.model.resource import Resource
from krm_function.model.workload import dig
from krm_function.record import NamedTuple
from krm_function.yamltext import Document, YamlError, locate, parse

CLUSTER_WIDE = frozenset(("RuntimeClass",))  # more of these kinds cannot be known: there are custom resources
PACKAGE_CONTEXT = "kptfile.kpt.dev"  # the ConfigMap that kpt puts into every package and subpackage
LOCAL = "config.kubernetes.io/local-config"

Named = tuple[str, str, str]  # group, kind, name


class Standing(NamedTuple):
    """An object and where it stands."""

    ref: Ref
    value: Any
    file: str
    line: int
    column: int

    @property
    def place(self) -> str:
        """`file:line`, for a sentence."""
        return f"{self.file or '<stdin>'}:{self.line}"


def duplicates(resources: Sequence[Resource], documents: Mapping[int, Document]) -> tuple[Finding, ...]:
    """CC0118 for every object of which there is another. documents: those that were parsed before, by position."""
    alike: dict[Named, list[int]] = {}
    for index, resource in enumerate(resources):
        for name in _names(resource, documents.get(index)):
            alike.setdefault(name, []).append(index)
    suspects = {name: indexes for name, indexes in alike.items() if len(indexes) > 1}
    if not suspects:
        return ()
    standing: dict[tuple[Named, str], list[Standing]] = {}
    for index in sorted({index for indexes in suspects.values() for index in indexes}):
        for one in _standing(resources[index]):
            if (named := _named(one.ref, one.value)) in suspects:
                standing.setdefault((named, _namespace(one.ref)), []).append(one)
    return tuple(found for group in standing.values() if len(group) > 1 and not _two(group) for found in _said(group))


def _names(resource: Resource, document: Document | None) -> Iterable[Named]:
    """Group, kind and name of every object of a resource, as far as they are known without parsing it."""
    if document is not None:
        found = [_named(reference(value), value) for _, value in objects(document.value)]
    else:
        found = [(_group(resource.api_version), resource.kind, resource.name)]
    return [named for named in found if named[1] and named[2]]


def _named(ref: Ref, value: Any) -> Named:
    name = dig(value, ("metadata", "name"))
    return _group(ref.api_version), ref.kind, name if isinstance(name, str) else ""


def _group(api_version: str) -> str:
    group, slash, _ = api_version.rpartition("/")
    return group if slash else ""


def _namespace(ref: Ref) -> str:
    return "" if ref.kind in CLUSTER_WIDE else ref.namespace or "default"


def _standing(resource: Resource) -> list[Standing]:
    """The objects of one resource as its text has them."""
    try:
        document = parse(resource.text, line=resource.line)
    except YamlError:
        return []  # whoever looks into it says so
    found = []
    for root, value in objects(document.value):
        found.append(Standing(reference(value), value, resource.file, *locate(document, root or _first(value))))
    return found


def _first(value: Any) -> Path:
    """The first key of an object, where a person looks for it."""
    return (str(next(iter(value), "")),) if isinstance(value, dict) else ()


def _two(group: list[Standing]) -> bool:
    """Whether these are different objects after all."""
    if group[0].ref.name == PACKAGE_CONTEXT and group[0].ref.kind == "ConfigMap":
        return all(dig(one.value, ("metadata", "annotations", LOCAL)) == "true" for one in group)
    hooks = [is_hook(dig(one.value, ("metadata", "annotations", HOOK))) for one in group]
    return sorted(hooks) == [False, True] and not any(list(classes_in(one.value)) for one in group)


def _said(group: list[Standing]) -> list[Finding]:
    """One finding at each place; each names another place, the first one where it can."""
    said = []
    for one in group:
        other = group[1] if one is group[0] else group[0]
        found = finding("CC0118", one.ref, kind=one.ref.kind, name=one.ref, other=other.place)
        said.append(found._replace(line=one.line, column=one.column, file=one.file))
    return said
