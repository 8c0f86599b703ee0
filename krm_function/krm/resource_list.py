"""A ResourceList: the format that an orchestrator sends on stdin and expects back on stdout.

Rule of this file: the output is the input with the changes. Version, style, comments, line ends and a byte order mark
stay; an unchanged list is byte for byte the same. JSON stays JSON.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from krm_function.krm.fields import check_plain
from krm_function.krm.kube_object import FUNCTION, KubeObject
from krm_function.krm.result import MisuseError, NotAResourceListError
from krm_function.krm.results import Results
from krm_function.text.chunks import Chunk, ItemList, OuterList, join_items, take_out_items
from krm_function.text.errors import Source, YamlError, decode, encode
from krm_function.text.parse import parse
from krm_function.text.split import resolve_item_aliases, split_items

GROUP = "config.kubernetes.io/"
KIND = "ResourceList"
_HEAD = f"apiVersion: {GROUP}"  # the first line from kustomize and kpt


class ResourceList:
    """The items, the functionConfig and the results of one run. Make it with `ResourceList.parse`."""

    def __init__(self, source: Source, split: ItemList) -> None:
        """Wrap a text that was split already. Aliases between items are written out in the text that edits go to."""
        self._bom = source.bom
        self._received, self._received_items = _take_apart(source.text, split)
        self._apart, texts = self._received, self._received_items
        text = source.text
        if split.shared_anchors:
            text = resolve_item_aliases(text)
            split = _split(text)
            self._apart, texts = _take_apart(text, split)
        self._read = tuple(map(_make_object, texts, split.items))
        self._items = list(self._read)
        config = split.function_config
        self.function_config = _make_object(config.of(text), config) if config and not config.empty else None
        self._results = Results()
        self.earlier_results = _read_earlier(text, split.results)

    @classmethod
    def parse(cls, data: bytes | Source) -> "ResourceList":
        """Read one ResourceList of any version: its bytes, or what `decode` made of them.

        Raises NotAResourceListError for anything else, and YamlError for bytes that cannot be read.
        """
        source = decode(data) if isinstance(data, bytes) else data
        if not source.text or source.text.isspace():
            raise NotAResourceListError("the input is empty, a ResourceList is expected")
        split = _split(source.text)
        if split.kind != KIND or not split.api_version.startswith(GROUP):
            shown = "/".join(part for part in (split.api_version, split.kind) if part) or "nothing"
            raise NotAResourceListError(f"the input is not a {GROUP}v1 ResourceList but {shown}")
        if split.odd_key is not None:  # it may add items, and kubectl would find them
            raise YamlError("a key of the ResourceList is an alias, a merge key or has a tag", *split.odd_key, "shape")
        return cls(source, split)

    @property
    def api_version(self) -> str:
        """The version of the input and the output."""
        return self._apart.item_list.api_version

    @property
    def results(self) -> Results:
        """The results of this function; they follow `earlier_results` in the output."""
        return self._results

    @property
    def items(self) -> tuple[KubeObject, ...]:
        """The objects in their order, new ones last."""
        return tuple(self._items)

    @property
    def open_end(self) -> bool:
        """Whether the text ends with its last item, without a line end; a new item gives it one."""
        text, item_list, _ = self._apart
        return item_list.style == "block" and item_list.items_at == len(text) and not text.endswith("\n")

    @property
    def changed(self) -> bool:
        """Whether `to_bytes` differs from the input."""
        return bool(self._items != list(self._read) or len(self.results) or any(item.changed for item in self._read))

    def add(self, value: Mapping[str, Any] | KubeObject) -> KubeObject:
        """Append an object, of plain data or made with `KubeObject.from_value`; it takes the style of the list.

        The data is live: later changes in it are written as well. Raises ValueError for an object of a list,
        MisuseError for one without apiVersion or kind.
        """
        item = value if isinstance(value, KubeObject) else KubeObject.from_value(value)
        if not (item.api_version and item.kind):
            raise MisuseError("an object that is added needs apiVersion and kind")
        if item.line or item in self._items:
            raise ValueError("the object is part of a list already")
        self._items.append(item)
        return item

    def remove(self, item: KubeObject) -> None:
        """Take an object out. Raises ValueError when it is not in the list."""
        self._items.remove(item)

    def is_function_config(self, item: KubeObject) -> bool:
        """Tell whether an item is the functionConfig itself, as kustomize passes it to a function without resources.

        Leave such an item as it is: kustomize drops it later.
        """
        config = self.function_config
        return (
            config is not None
            and (item.kind, item.api_version, item.name) == (config.kind, config.api_version, config.name)
            and FUNCTION in item.annotations
            and item.annotations[FUNCTION] == config.annotations.get(FUNCTION)
        )

    def to_bytes(self) -> bytes:
        """Return the list with everything that was changed. Raises YamlError when an edit cannot be made."""
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        """Yield the text in pieces, so that a large list is not held once more. Errors are raised at once."""
        if self.function_config is not None and self.function_config.changed:
            raise MisuseError("the functionConfig is only read: orchestrators drop what a function changes in it")
        if not self.changed:
            return self._encode(join_items(self._received, self._received_items))
        present = {id(item) for item in self._items}
        texts = [item.text if id(item) in present else None for item in self._read]
        read = {id(item) for item in self._read}
        added = [item.value for item in self._items if id(item) not in read]
        for value in added:
            check_plain(value)
        return self._encode(join_items(self._apart, texts, added, self._collect_results(self.results)))

    def failed_bytes(self, results: Results) -> bytes:
        """Return the items as they came, with `results`: the output of a function that failed."""
        return b"".join(
            self._encode(join_items(self._received, self._received_items, (), self._collect_results(results)))
        )

    def _encode(self, pieces: Iterator[str]) -> Iterator[bytes]:
        return map(encode, chain(("\ufeff",) if self._bom else (), pieces))

    def _collect_results(self, results: Results) -> list[Any] | None:
        return self.earlier_results + results.to_data() if len(results) else None


def _take_apart(text: str, split: ItemList) -> tuple[OuterList, tuple[str, ...]]:
    texts = tuple(item.of(text) for item in split.items)
    return take_out_items(text, split, texts), texts


def _make_object(text: str, chunk: Chunk) -> KubeObject:
    return KubeObject(text, chunk.line, (chunk.api_version, chunk.kind, chunk.name), chunk.certain)


def _read_earlier(text: str, chunk: Chunk | None) -> list[Any]:
    """Read the results of earlier functions, unchanged; also in the old form `{name, items}`."""
    if chunk is None:
        return []
    document = parse(chunk.of(text), line=chunk.line)
    results = document.value if document.item is None else [document.value]  # a list with one entry reads like an item
    if isinstance(results, dict):
        results = results.get("items")
    if results is not None and not isinstance(results, list):
        raise NotAResourceListError("the results of the input are not a list")
    return results or []


def _split(text: str) -> ItemList:
    split = split_items(text)
    if split is None:
        raise NotAResourceListError("the input is not a ResourceList: it is not one document with items")
    return split


def is_resource_list(data: str | bytes) -> bool:
    """Tell whether an input is a ResourceList. Looks at the first two lines, and splits the text only when in doubt."""
    try:
        text = decode(data).text if isinstance(data, bytes) else data.removeprefix("\ufeff")
        if KIND not in text:
            return False
        first, second = [*text.split("\n", 2), ""][:2]
        if first.startswith(_HEAD) and second.rstrip("\r") == f"kind: {KIND}":
            return True
        split = split_items(text)
    except YamlError:
        return False
    return split is not None and split.kind == KIND and split.api_version.startswith(GROUP)
