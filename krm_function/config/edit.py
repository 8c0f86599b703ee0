"""Add to an existing ContrastGenerate; existing text and comments stay."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from krm_function.config.document import is_config
from krm_function.config.generate import REQUIRED
from krm_function.findings import Path
from krm_function.kubernetes.objects import dig
from krm_function.text.changes import Change, apply, same
from krm_function.text.errors import decode, encode
from krm_function.text.parse import parse
from krm_function.text.splice import splice
from krm_function.text.split import split_stream

# --- Add to the spec of a ContrastGenerate: existing text and comments stay
#
# Rule: a value that exists already changes nothing, so a second run writes nothing.


KIND = "ContrastGenerate"


def spec_changes(value: Any, spec: dict[str, Any]) -> list[Change]:
    """Return the changes that give a document this spec.

    spec: the whole spec. A list may have more entries than before, and replace old entries.
    """
    old = value.get("spec") if isinstance(value, dict) else None
    return list(_find_changes(old, spec, ("spec",)))


def _find_changes(old: Any, new: Any, path: Path) -> list[Change]:
    if same(old, new):
        return []
    if isinstance(old, dict) and old and isinstance(new, dict):
        return [change for key, value in new.items() for change in _find_changes(old.get(key), value, (*path, key))]
    if isinstance(old, list) and old and isinstance(new, list) and len(new) >= len(old):
        changed = [
            change for index, entry in enumerate(old) for change in _find_changes(entry, new[index], (*path, index))
        ]
        added = [Change((*path, index), "insert", new[index]) for index in range(len(old), len(new))]
        return [*changed, *added]
    return [Change(path, "set", new)]


def with_spec(value: Any, spec: dict[str, Any]) -> Any:
    """Return a document with this spec: the result of `generate_with_spec` as data."""
    return apply(value, spec_changes(value, spec))


def generate_with_spec(data: bytes, spec: dict[str, Any]) -> bytes:
    """Write a spec into the ContrastGenerate of a file.

    Raises YamlError, and ValueError unless there is exactly one.
    """
    return changed(data, lambda value: spec_changes(value, spec))


# --- Add to an existing ContrastGenerate the fields that its host and its user need
#
# Rule: fields that are set stay; only missing ones are added.


def with_reference_values(text: str, tee: str, values: Mapping[str, Any]) -> str:
    """Add values that only an operator can give. tee: snp or tdx.

    Raises YamlError, and ValueError if there are other values already.
    """
    document = parse(text)
    path: Path = ("spec", "manifest", "referenceValues", tee)
    present = dig(document.value, path)
    if present is not None:
        if present in (values, [values]):
            return text
        raise ValueError(f"{'.'.join(map(str, path))} is set already; change it there")
    return splice(document, [deep_change(document.value, path, dict(values))]).text


def deep_change(value: Any, path: Path, new: Any) -> Change:
    """Return the change that sets a value whose parents may be missing or empty. Raises ValueError for a non-map."""
    for depth in range(1, len(path)):
        parent = dig(value, path[:depth])
        if parent is not None and not isinstance(parent, dict):
            raise ValueError(f"{'.'.join(map(str, path[:depth]))} is not a map")
        if not parent:
            for name in reversed(path[depth:]):
                new = {name: new}
            return Change(path[:depth], "set", new)
    return Change(path, "set", new)


def with_platform(text: str, platform: str) -> str:
    """Set this default platform. Raises YamlError, and ValueError if the file has another one."""
    document = parse(text)
    path: Path = ("spec", "platform")
    present = dig(document.value, path)
    if present is None:
        return splice(document, [deep_change(document.value, path, platform)]).text
    if str(present).lower() != platform:
        raise ValueError(f"spec.platform is {present} already")
    return text


def with_required_workloads(text: str) -> str:
    """Require every pod to be confidential or named as plain; entries stay. Raises YamlError, and ValueError."""
    document = parse(text)
    path: Path = ("spec", "workloads")
    present = dig(document.value, path)
    entries = present if isinstance(present, list) else [] if present is None else [present]
    if REQUIRED in entries:
        return text
    if isinstance(present, list) and present:
        change = Change((*path, len(present)), "insert", REQUIRED)
    else:
        change = deep_change(document.value, path, [*entries, REQUIRED] if entries else REQUIRED)
    return splice(document, [change]).text


# --- A public key in a ContrastGenerate
#
# Rule: the list is appended to; all other text stays.


def with_owner_key(data: bytes, field: str, pem: str) -> bytes:
    """Add one more key to spec.manifest.<field>.

    Raises YamlError, and ValueError unless there is exactly one ContrastGenerate and each parent is a map.
    """
    return changed(data, lambda value: [_add_key(value, ("spec", "manifest", field), pem)])


def changed(data: bytes, changes_of: Callable[[Any], Sequence[Change]]) -> bytes:
    """Change the only ContrastGenerate of a file; without changes the bytes stay."""
    source = decode(data)
    chunks = [chunk for chunk in split_stream(source.text) if chunk.kind == KIND and is_config(chunk.api_version)]
    if len(chunks) != 1:
        raise ValueError(f"it has {len(chunks) or 'no'} ContrastGenerate")
    document = parse(chunks[0].of(source.text), line=chunks[0].line)
    changes = changes_of(document.value)
    if not changes:
        return data
    return encode(chunks[0].replaced(source.text, splice(document, changes).text), source.bom)


def _add_key(value: Any, path: Path, pem: str) -> Change:
    keys = dig(value, path)
    if keys is not None and not isinstance(keys, list):
        raise ValueError(f"{'.'.join(map(str, path))} is not a list")
    return Change((*path, len(keys)), "insert", pem) if keys else deep_change(value, path, [pem])


# --- The active manifest as the base of the next render, in a ContrastGenerate
#
# Rule: only `spec.manifest.base` and `spec.manifest.keep` change; all other text stays.


BASE: Path = ("spec", "manifest", "base")
KEEP: Path = ("spec", "manifest", "keep")


def with_kept_base(data: bytes, manifest: str) -> bytes:
    """Make a manifest the base, and keep its policies in the next render. Raises YamlError and ValueError."""
    data = changed(data, lambda value: [deep_change(value, BASE, manifest)])
    return changed(data, lambda value: [deep_change(value, KEEP, "previous")])


def without_keep(data: bytes) -> bytes:
    """Remove `keep`; the base stays. Raises YamlError, and ValueError if it is missing."""

    def removal(value: object) -> list[Change]:
        if dig(value, KEEP) is None:
            raise ValueError("it has no spec.manifest.keep")
        return [Change(KEEP, "remove")]

    return changed(data, removal)
