"""The manifest that `spec.manifest.base` holds or names: as a map, as JSON, in a ConfigMap, or `{configMap: NAME}`.

Rule of this file: it recognises a manifest by the types of its fields; manifest.validate checks the values later.
"""

from collections.abc import Mapping
from typing import Any


def load_manifest(text: str) -> dict[str, Any]:
    """Read a manifest. Raises ValueError with a problem text."""
    from krm_function.manifest.decode import decode

    return decode(text.encode())


def manifest_in(value: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of a ConfigMap object; any other map as it is. Raises ValueError with a problem text."""
    if value.get("kind") != "ConfigMap":
        return value
    data = value.get("data")
    text = data.get("manifest.json") if isinstance(data, dict) else None
    if not isinstance(text, str):
        raise ValueError("is a ConfigMap without the key manifest.json")  # noqa: TRY004 (about the object)
    return load_manifest(text)


def names_config_map(value: Mapping[str, Any]) -> bool:
    """Tell whether a base is `{configMap: NAME}`: the manifest of a ConfigMap among the resources."""
    return set(value) == {"configMap"} and isinstance(value["configMap"], str)


def manifest_problem(value: dict[str, Any]) -> str:
    """Return what keeps a map from being a manifest at all, or ""."""
    from krm_function.manifest.canonical import canonical
    from krm_function.manifest.problem import FieldProblem

    if names_config_map(value):
        return ""
    try:
        canonical(manifest_in(value))
    except FieldProblem as found:
        return f"is no manifest: {found}"
    except ValueError as problem:
        return str(problem)
    return ""
