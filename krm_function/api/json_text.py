"""A JSON object given as text, where a configuration may hold one.

Rule of this file: one reading or none. Duplicate keys, NaN and half surrogates are refused, because the next reader may
see something else in them.
"""

from collections.abc import Mapping
from typing import Any, NoReturn


def load(text: str) -> dict[str, Any]:
    """Read one JSON object. Raises ValueError with a problem text, RecursionError for absurd nesting."""
    value = load_any(text)
    if not isinstance(value, dict):
        raise ValueError("is not a JSON object")  # noqa: TRY004 (about the text)
    return value


def load_any(text: str) -> Any:
    """Read any JSON value. Raises like `load`."""
    import json

    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg.lower()} (line {error.lineno}, column {error.colno})") from error
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("must be valid Unicode") from error
    return value


def load_manifest(text: str) -> dict[str, Any]:
    """Read a manifest. Raises ValueError with a problem text."""
    from krm_function.manifest import decode

    return decode(text.encode())


def manifest_in(value: dict[str, Any]) -> dict[str, Any]:
    """The manifest of a ConfigMap object; any other map as it is. Raises ValueError with a problem text."""
    if value.get("kind") != "ConfigMap":
        return value
    data = value.get("data")
    text = data.get("manifest.json") if isinstance(data, dict) else None
    if not isinstance(text, str):
        raise ValueError("is a ConfigMap without the key manifest.json")  # noqa: TRY004 (about the object)
    return load_manifest(text)


def names_config_map(value: Mapping[str, Any]) -> bool:
    """Whether a base is `{configMap: NAME}`: the manifest of a ConfigMap among the resources."""
    return set(value) == {"configMap"} and isinstance(value["configMap"], str)


def manifest_problem(value: dict[str, Any]) -> str:
    """What keeps a map from being a manifest at all, or ""; whether its values are right is for later."""
    from krm_function.manifest import FieldProblem, canonical

    if names_config_map(value):
        return ""
    try:
        canonical(manifest_in(value))
    except FieldProblem as found:
        return f"is no manifest: {found}"
    except ValueError as problem:
        return str(problem)
    return ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("has a key twice in one object")
    return made


def _constant(name: str) -> NoReturn:
    raise ValueError(f"holds {name}, which is not JSON")
