"""Read a ConfigMap's string map as a ContrastGenerate: what `kpt fn eval ... -- key=value` makes.

Source: docs/facts/krm-functions.md#function-configuration.

Rule of this file: a key is the dotted path of a field under `spec`, or one of a few short names; the text becomes what
that field holds, and everything else is left to the reader of ContrastGenerate.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from krm_function.api.contrast_generate import GENERATE, KIND, SHORT
from krm_function.api.document import API_VERSION, ConfigDocument, unknown_field, wrong_value
from krm_function.api.strict_json import load_any
from krm_function.findings import Finding, Path
from krm_function.model.lookup import mapping
from krm_function.record import NamedTuple
from krm_function.schema.kinds import Flag, ListOf, MapOf, Number, OneOrMany, Record, Spec, Text, Word
from krm_function.schema.nearest import nearest

# Short names of what is set most often: `policy` for `policy.engine`.
SHORT_NAMES: Mapping[str, str] = {
    name: f"{name}.{inner}"
    for name, field in GENERATE.fields.items()
    if isinstance(field.spec, Record)
    for inner, one in field.spec.fields.items()
    if SHORT in one.marks
}
FIELDS = frozenset({"apiVersion", "kind", "metadata", "data", "immutable"})


class Target(NamedTuple):
    """The field that a key names: its path in the spec, and what it may hold."""

    path: tuple[str, ...]
    spec: Spec


def from_config_map(document: ConfigDocument) -> tuple[ConfigDocument | None, tuple[Finding, ...]]:
    """Make the ContrastGenerate document that a ConfigMap stands for.

    None without data, which means no configuration: kpt sends `data: {}` when it was given nothing. Unknown keys, and
    one field given twice, are findings about the ConfigMap; then the document is None as well.
    """
    root = mapping(document.value)
    findings = [
        unknown_field(document, "ConfigMap", (str(key),), nearest(str(key), FIELDS) or "data")
        for key in root
        if key not in FIELDS and root[key]
    ]
    data = root.get("data")
    if data is not None and not isinstance(data, dict):
        findings.append(wrong_value(document, "ConfigMap", ("data",), "must be a map", "write a map of strings"))
    spec: dict[str, Any] = {}
    sources: dict[Path, Path] = {}
    for key, text in mapping(data).items():
        source: Path = ("data", str(key))
        found = field_at(SHORT_NAMES.get(str(key), str(key)))
        if found is None:
            meant = nearest(str(key), (*_names(GENERATE), *SHORT_NAMES)) or "a field of ContrastGenerate"
            findings.append(unknown_field(document, "ConfigMap", source, meant))
        elif _overlap(("spec", *found.path), sources):
            findings.append(wrong_value(document, "ConfigMap", source, "is given twice", "give the field once"))
        else:
            _insert(spec, found.path, coerce(found.spec, text))
            sources["spec", *found.path] = source
    if findings:
        return None, tuple(findings)
    if not spec:
        return None, ()
    value = {"apiVersion": API_VERSION, "kind": KIND, "metadata": root.get("metadata"), "spec": spec}

    def locate(path: Path) -> tuple[int, int]:
        """Find the place of a field in the ConfigMap that it came from."""
        for end in range(len(path), 0, -1):
            if path[:end] in sources and document.locate:
                return document.locate(sources[path[:end]])
        return document.locate(path) if document.locate else (document.line, 0)

    return ConfigDocument(value, document.file, document.line, locate), ()


def field_at(key: str) -> Target | None:
    """Return the field that a dotted path names; the free keys of a map may hold dots themselves."""
    spec: Spec = GENERATE
    path: tuple[str, ...] = ()
    parts = key.split(".")
    while parts:
        if isinstance(spec, OneOrMany):
            spec = spec.items
        if isinstance(spec, Record) and parts[0] in spec.fields:
            spec, path, parts = spec.fields[parts[0]].spec, (*path, parts[0]), parts[1:]
        elif isinstance(spec, MapOf):
            last = parts[-1:] if isinstance(spec.values, Record) else []
            name = ".".join(parts[: len(parts) - len(last)])
            spec, path, parts = spec.values, (*path, name), last
        else:
            return None
    return None if isinstance(spec, Record) else Target(path, spec)


def coerce(spec: Spec, text: Any) -> Any:
    """Return the value that a text means for this spec. A text that means none is returned for the reader to refuse."""
    if not isinstance(text, str):
        return text
    match spec:
        case Flag() | Word(spec=Flag()):
            return {"true": True, "false": False}.get(text.strip().lower(), text)
        case Number():
            digits = text.strip()
            return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 20 else text
        case ListOf(items=Text()):
            return [part.strip() for part in text.split(",") if part.strip()]
        case MapOf(values=Text()):
            pairs = [part.partition("=") for part in text.split(",") if part.strip()]
            return {name.strip(): value.strip() for name, equals, value in pairs} if all(p[1] for p in pairs) else text
        case ListOf() | MapOf() | OneOrMany():
            return _json(text)
        case _:
            return text


def _json(text: str) -> Any:
    """Return the JSON that a text holds, the text itself if it holds none."""
    try:
        return load_any(text)
    except (ValueError, RecursionError):
        return text


def _insert(spec: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    """Put a value into the tree."""
    for part in path[:-1]:
        spec = spec.setdefault(part, {})
    spec[path[-1]] = value


def _overlap(path: Path, others: Iterable[Path]) -> bool:
    """Tell whether one of the others is this field, a part of it, or what it is a part of."""
    return any(path[: len(other)] == other[: len(path)] for other in others)


def _names(spec: Record, prefix: str = "") -> list[str]:
    """Return the dotted names of all fields that are no records themselves."""
    names: list[str] = []
    for name, field in spec.fields.items():
        names += _names(field.spec, f"{prefix}{name}.") if isinstance(field.spec, Record) else [prefix + name]
    return names
