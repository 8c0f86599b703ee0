"""Decode and encode ResourceLists, the form of kustomize and kpt, with the helpers of the package `krm`.

Rule of this file: items keep their text, their order and every annotation that contrast-krm does not write; results
are appended to those of other functions that are already there.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_function.api.document import ConfigDocument
from krm_function.hosts.emitted_annotations import after_newline
from krm_function.hosts.results import without_own_results
from krm_function.krm.errors import NotAResourceListError
from krm_function.krm.kube_object import KubeObject
from krm_function.krm.resource_list import ResourceList
from krm_function.krm.result import Result
from krm_function.krm.results import Results
from krm_function.model.resource import Resource
from krm_function.record import NamedTuple
from krm_function.yamltext import Source

__all__ = [
    "DecodedList",
    "NotAResourceListError",
    "cut_list",
    "encode_failure",
    "encode_list",
    "list_pieces",
]


class DecodedList(NamedTuple):
    """A ResourceList, its items as resources, and its functionConfig."""

    source: ResourceList
    resources: tuple[Resource, ...]
    function_config: ConfigDocument | None


def cut_list(text: Source) -> DecodedList:
    """Read a ResourceList, without the results of an earlier render. Raises NotAResourceListError and YamlError."""
    source = ResourceList.parse(without_own_results(text))
    resources = tuple(map(_resource, source.items))
    config = source.function_config
    return DecodedList(source, resources, ConfigDocument(config.document.value, "", config.line) if config else None)


def _resource(item: KubeObject) -> Resource:
    """Make the resource of an item, with its identity as far as that is known without parsing it."""
    known = (item.api_version, item.kind, item.name) if item.certain else item.header
    return Resource(item.text, item.line, "", *known, item.certain)


def encode_list(
    decoded: DecodedList, texts: Sequence[str | None], added: Iterable[Any], results: Iterable[Result]
) -> bytes:
    """Encode the list with new texts (None: without the item), added objects and results."""
    return b"".join(list_pieces(decoded, texts, added, results))


def list_pieces(
    decoded: DecodedList, texts: Sequence[str | None], added: Iterable[Any], results: Iterable[Result]
) -> Iterator[bytes]:
    """Do as `encode_list`, but yield the pieces, so that a large list is not copied once more."""
    source = decoded.source
    for item, text in zip(source.items, texts, strict=True):
        if text is None:
            source.remove(item)
        elif text != item.text:
            item.replace_text(text)
    new = list(added)
    if new and source.open_end:
        new[0] = after_newline(new[0])
    for value in new:
        source.add(value)
    source.results.extend(results)
    return source.pieces()


def encode_failure(decoded: DecodedList, results: Iterable[Result]) -> bytes:
    """Encode the list with its items unchanged, and results."""
    return decoded.source.failed_bytes(Results(results))
