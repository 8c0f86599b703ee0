"""Add to the spec of a ContrastGenerate: what is there stays, comments included.

Rule of this file: a value that is to be there and is there already changes nothing, so a second run writes nothing.
"""

from typing import Any

from krm_function.api.document import is_config
from krm_function.findings import Path
from krm_function.yamltext import Change, apply, decode, encode, parse, same, split_stream
from krm_function.yamltext.edit.splice import splice

KIND = "ContrastGenerate"


def spec_changes(value: Any, spec: dict[str, Any]) -> list[Change]:
    """Return the changes that give a document this spec.

    spec: the whole of it. A list may have more entries than before, and other ones in the place of the old.
    """
    before = value.get("spec") if isinstance(value, dict) else None
    return list(_between(before, spec, ("spec",)))


def _between(old: Any, new: Any, path: Path) -> list[Change]:
    if same(old, new):
        return []
    if isinstance(old, dict) and old and isinstance(new, dict):
        return [change for key, one in new.items() for change in _between(old.get(key), one, (*path, key))]
    if isinstance(old, list) and old and isinstance(new, list) and len(new) >= len(old):
        changed = [change for index, one in enumerate(old) for change in _between(one, new[index], (*path, index))]
        added = [Change((*path, index), "insert", new[index]) for index in range(len(old), len(new))]
        return [*changed, *added]
    return [Change(path, "set", new)]


def with_spec(value: Any, spec: dict[str, Any]) -> Any:
    """Return a document with this spec: what `generate_with_spec` makes of the text, as data."""
    return apply(value, spec_changes(value, spec))


def generate_with_spec(data: bytes, spec: dict[str, Any]) -> bytes:
    """Write a spec into the ContrastGenerate of a file.

    Raises YamlError, and ValueError when there is not exactly one.
    """
    source = decode(data)
    chunks = [one for one in split_stream(source.text) if one.kind == KIND and is_config(one.api_version)]
    if len(chunks) != 1:
        raise ValueError(f"it has {len(chunks) or 'no'} ContrastGenerate")
    document = parse(chunks[0].of(source.text), line=chunks[0].line)
    changes = spec_changes(document.value, spec)
    if not changes:
        return data
    return encode(chunks[0].replaced(source.text, splice(document, changes).text), source.bom)
