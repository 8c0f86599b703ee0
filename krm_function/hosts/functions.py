"""Decode and encode ResourceLists, the form of kustomize and kpt."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_function.config.document import ConfigDocument
from krm_function.findings import is_code
from krm_function.hosts.emitted import AFTER_NEWLINE, marked
from krm_function.krm.kube_object import KubeObject
from krm_function.krm.resource_list import ResourceList
from krm_function.krm.result import Result
from krm_function.krm.results import Results
from krm_function.kubernetes.objects import dig
from krm_function.kubernetes.resource import Resource
from krm_function.record import NamedTuple
from krm_function.text.chunks import ItemList, replace_items
from krm_function.text.errors import Source, YamlError
from krm_function.text.parse import parse
from krm_function.text.split import split_items

# --- Remove the results of an earlier render from a ResourceList before it is read
#
# Rule: only results with a code of contrast-krm go; those of other functions stay, in the same bytes
# unless some between them go. What cannot be removed cleanly stays.


def without_own_results(source: Source) -> Source:
    """Return the list without the results of an earlier render; the identical text without such results."""
    if "results" not in source.text or "CC" not in source.text:
        return source
    try:
        split = split_items(source.text)
        if split is None or split.results is None:
            return source
        results = _items_or_entries(parse(split.results.of(source.text)))
        foreign = [result for result in results if not _is_own(result)]
        if len(foreign) == len(results):
            return source
        if foreign:
            texts = [item.of(source.text) for item in split.items]
            return source._replace(text=replace_items(source.text, split, texts, (), foreign))
        text = _cut_results(source.text, split)
        rest = split_items(text)
    except YamlError:
        return source
    if rest is None or rest.results is not None or len(rest.items) != len(split.items):
        return source
    return source._replace(text=text)


def _is_own(result: Any) -> bool:
    code = dig(result, ("tags", "code"))
    return isinstance(code, str) and is_code(code)


def _items_or_entries(document: Any) -> list[Any]:
    value = document.value if document.item is None else [document.value]  # a list of one reads like an item
    return value if isinstance(value, list) else []


def _cut_results(text: str, split: ItemList) -> str:
    # A render puts the key `results` last
    assert split.results_span is not None  # noqa: S101 (the caller has looked)
    start, end = text.rfind("results", 0, split.results_span[0]), split.results_span[1]
    if split.root_style == "flow":
        return text[: text.rfind(",", 0, start)] + text[end:]
    start -= split.indent_root
    if end >= len(text):
        start = len(text[:start].removesuffix("\n").removesuffix("\r"))
    else:
        end = text.find("\n", end - 1) + 1 or len(text)
    return text[:start] + text[end:]


# --- Tell from a ResourceList whether kpt runs the function: kpt shows results, other orchestrators show standard
# error
#
#     every item has                             and none has                   results are
#     the id of a call, and one of kpt's notes   kustomize's id of the item     shown by kpt
#     anything else                              anything else                  perhaps not shown
#
# `kpt fn source | contrast-krm | kpt fn sink` and `kustomize fn run` have paths too, but no ids, or no notes of kpt.
# Source: docs/facts/krm-functions.md#who-calls.
#
# Rule: the notes are annotations, which an author can write, too. Where one item lacks them, findings go
# to standard error, too: twice is better than not at all. An author cannot take kustomize's ids away.


OF_KUSTOMIZE = "kustomize.config.k8s.io/id"
OF_A_CALL = "internal.config.kubernetes.io/id"
OF_KPT = ("internal.config.kubernetes.io/seqindent", "internal.config.kubernetes.io/package-path")


def called_by_kpt(resources: Sequence[Resource]) -> bool:
    """Tell whether the items are as only kpt hands them to a function."""
    texts = [resource.text for resource in resources]
    return bool(texts) and all(
        OF_KUSTOMIZE not in text and OF_A_CALL in text and any(note in text for note in OF_KPT) for text in texts
    )


# --- Decode and encode ResourceLists, the form of kustomize and kpt, with the helpers of the package `krm`
#
# Rule: items keep their text, their order and every annotation that contrast-krm does not write; results
# are appended to those of other functions that are already there.


class DecodedList(NamedTuple):
    """A ResourceList, its items as resources, and its functionConfig."""

    source: ResourceList
    resources: tuple[Resource, ...]
    function_config: ConfigDocument | None


def cut_list(text: Source) -> DecodedList:
    """Read a ResourceList, without the results of an earlier render. Raises NotAResourceListError and YamlError."""
    source = ResourceList.parse(without_own_results(text))
    resources = tuple(map(_make_resource, source.items))
    config = source.function_config
    return DecodedList(source, resources, ConfigDocument(config.document.value, "", config.line) if config else None)


def _make_resource(item: KubeObject) -> Resource:
    """Set its identity as far as that is known without parsing the item."""
    header = (item.api_version, item.kind, item.name) if item.certain else item.header
    return Resource(item.text, item.line, "", *header, item.certain)


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
        new[0] = marked(new[0], AFTER_NEWLINE)
    for value in new:
        source.add(value)
    source.results.extend(results)
    return source.pieces()


def encode_failure(decoded: DecodedList, results: Iterable[Result]) -> bytes:
    """Encode the list with its items unchanged, and results."""
    return decoded.source.failed_bytes(Results(results))
