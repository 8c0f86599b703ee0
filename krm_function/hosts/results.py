"""Remove the results of an earlier render from a ResourceList before it is read.

Rule of this file: only results with a code of contrast-krm go; those of other functions stay, in the same bytes unless
some between them go. What cannot be removed cleanly stays.
"""

from typing import Any

from krm_function.findings import is_code
from krm_function.model.lookup import dig
from krm_function.yamltext import ItemList, Source, YamlError, parse
from krm_function.yamltext.split.items import split_items
from krm_function.yamltext.split.list_parts import replace_items


def without_own_results(source: Source) -> Source:
    """Return the list without the results of an earlier render; the identical text if there are none."""
    if "results" not in source.text or "CC" not in source.text:
        return source
    try:
        split = split_items(source.text)
        if split is None or split.results is None:
            return source
        said = _list(parse(split.results.of(source.text)))
        others = [result for result in said if not _is_own(result)]
        if len(others) == len(said):
            return source
        if others:
            texts = [item.of(source.text) for item in split.items]
            return source._replace(text=replace_items(source.text, split, texts, (), others))
        text = _cut(source.text, split)
        rest = split_items(text)
    except YamlError:
        return source
    if rest is None or rest.results is not None or len(rest.items) != len(split.items):
        return source
    return source._replace(text=text)


def _is_own(result: Any) -> bool:
    code = dig(result, ("tags", "code"))
    return isinstance(code, str) and is_code(code)


def _list(document: Any) -> list[Any]:
    value = document.value if document.item is None else [document.value]  # a list of one reads like an item
    return value if isinstance(value, list) else []


def _cut(text: str, split: ItemList) -> str:
    """Return the text without the key `results`, which is where a render puts it: last."""
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
