"""A public key in a ContrastGenerate.

Rule of this file: the list is appended to; existing keys stay.
"""

from typing import Any

from krm_function.api import is_config
from krm_function.findings import Path
from krm_function.model.lookup import dig
from krm_function.yamltext import Change, decode, encode, parse, splice, split_stream


def with_owner_key(data: bytes, field: str, pem: str) -> bytes:
    """Add one more key to spec.manifest.<field>.

    Raises YamlError, and ValueError when there is not exactly one ContrastGenerate or a field on the way is no map.
    """
    source = decode(data)
    chunks = [
        chunk
        for chunk in split_stream(source.text)
        if chunk.kind == "ContrastGenerate" and is_config(chunk.api_version)
    ]
    if len(chunks) != 1:
        raise ValueError(f"it has {len(chunks) or 'no'} ContrastGenerate")
    document = parse(chunks[0].of(source.text), line=chunks[0].line)
    change = _change(document.value, ("spec", "manifest", field), pem)
    return encode(chunks[0].replaced(source.text, splice(document, [change]).text), source.bom)


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
