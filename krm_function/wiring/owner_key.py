"""A public key in a ContrastGenerate.

Rule of this file: the list is appended to, or one key of it is taken out; all others stay.
"""

from collections.abc import Callable
from typing import Any

from krm_function.api.document import is_config
from krm_function.findings import Path
from krm_function.model.lookup import dig
from krm_function.yamltext import Change, decode, encode, parse, split_stream
from krm_function.yamltext.edit.splice import splice


def with_owner_key(data: bytes, field: str, pem: str) -> bytes:
    """Add one more key to spec.manifest.<field>.

    Raises YamlError, and ValueError when there is not exactly one ContrastGenerate or a field on the way is no map.
    """
    return changed(data, lambda value: _change(value, ("spec", "manifest", field), pem))


def without_owner_key(data: bytes, field: str, index: int) -> bytes:
    """Take one key out of spec.manifest.<field>; an empty list is left out. Raises like `with_owner_key`."""
    path: Path = ("spec", "manifest", field)

    def removal(value: Any) -> Change:
        keys = dig(value, path)
        if not isinstance(keys, list) or index >= len(keys):
            raise ValueError(f"{'.'.join(map(str, path))} has no entry {index}")
        return Change((*path, index), "remove", None) if len(keys) > 1 else Change(path, "remove", None)

    return changed(data, removal)


def changed(data: bytes, change_of: Callable[[Any], Change]) -> bytes:
    """Make one change in the only ContrastGenerate of a file."""
    source = decode(data)
    chunks = [
        chunk
        for chunk in split_stream(source.text)
        if chunk.kind == "ContrastGenerate" and is_config(chunk.api_version)
    ]
    if len(chunks) != 1:
        raise ValueError(f"it has {len(chunks) or 'no'} ContrastGenerate")
    document = parse(chunks[0].of(source.text), line=chunks[0].line)
    text = splice(document, [change_of(document.value)]).text
    return encode(chunks[0].replaced(source.text, text), source.bom)


def _change(value: Any, path: Path, pem: str) -> Change:
    """Append to a list whose parents may be missing or empty."""
    for depth in range(1, len(path)):
        parent = dig(value, path[:depth])
        if parent is not None and not isinstance(parent, dict):
            raise ValueError(f"{'.'.join(map(str, path[:depth]))} is not a map")
        if not parent:
            new: Any = [pem]
            for name in reversed(path[depth:]):
                new = {name: new}
            return Change(path[:depth], "set", new)
    keys = dig(value, path)
    if keys is not None and not isinstance(keys, list):
        raise ValueError(f"{'.'.join(map(str, path))} is not a list")
    return Change((*path, len(keys)), "insert", pem) if keys else Change(path, "set", [pem])
