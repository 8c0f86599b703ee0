"""The functionConfig in the form that needs no kind of its own: a ConfigMap's string map (`kpt fn eval -- key=value`).

Rule of this file: a key and a value are the text the user wrote. `version: 1.10` is "1.10", as Go reads it into a
string map; kpt writes `-- n=3` as `n: 3`, and `n` is a boolean of YAML 1.1.
"""

from typing import Any

from krm_function.krm.errors import FunctionError
from krm_function.krm.kube_object import KubeObject
from krm_function.yamltext.nodes import Node


def config_map_data(function_config: KubeObject | None) -> dict[str, str] | None:
    """Return the `data` of a ConfigMap as strings: {} when it has none (kpt without arguments), None without config.

    Raises FunctionError for another kind, and for data that is no map of scalars.
    """
    if function_config is None:
        return None
    if not function_config.is_gvk("", "v1", "ConfigMap"):
        shown = f"is of kind {function_config.kind}" if function_config.kind else "has no kind"
        raise FunctionError(f"functionConfig {shown}, a v1 ConfigMap is expected")
    data = function_config.nested(("data",))
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise FunctionError("functionConfig: data is not a map")
    pairs = [] if function_config.changed else _pairs(function_config)
    keys = {key: key for key in data} | {name: text for name, text, _ in pairs}
    written = {name: value for name, _, value in pairs if value is not None}
    return {keys[key]: _text(key, value, written) for key, value in data.items()}


def _text(key: str, value: Any, written: dict[str, str]) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if key not in written:
        raise FunctionError(f"functionConfig: data.{key} is not a string")
    return written[key]


def _pairs(config: KubeObject) -> list[tuple[str, str, str | None]]:
    """Return each key of `data` as it is read and as it stands in the text, and its value if that is unquoted."""
    document = config.document
    node = document.node
    data = next((value for _, value, name in node.parts if name == "data"), None) if node else None
    if data is not None and data.kind == "alias":
        data = data.parts[0]
    if data is None or data.kind != "map":
        return []
    return [
        (str(name), _plain(document.text, key) or str(name), _plain(document.text, value))
        for key, value, name in data.parts
        if name is not None
    ]


def _plain(text: str, node: Node) -> str | None:
    """Return an unquoted scalar as it stands in the text."""
    if node.kind == "scalar" and not node.style and not node.properties:
        return text[node.start : node.end]
    return None
