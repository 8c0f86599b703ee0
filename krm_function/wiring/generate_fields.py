"""Add to an existing ContrastGenerate what its host and its user need.

Rule of this file: fields that are set stay; only missing ones are added.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.api.workload_entries import REQUIRED
from krm_function.findings import Path
from krm_function.model.lookup import dig
from krm_function.yamltext import Change, parse
from krm_function.yamltext.edit.splice import splice


def with_reference_values(text: str, tee: str, values: Mapping[str, Any]) -> str:
    """Add values that only an operator knows. tee: snp or tdx.

    Raises YamlError, and ValueError when there are others already.
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
    """Return the change that sets a value whose parents may be missing or empty. Raises ValueError if one is no map."""
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
    """Set this default platform. Raises YamlError, and ValueError when the file has another one."""
    document = parse(text)
    spec = dig(document.value, ("spec",))
    present = dig(spec, ("platform",))
    if present is not None:
        if str(present).lower() == platform:
            return text
        raise ValueError(f"spec.platform is {present} already")
    if spec is not None and not isinstance(spec, dict):
        raise ValueError("spec is not a map")
    change = Change(("spec", "platform"), "set", platform) if spec else Change(("spec",), "set", {"platform": platform})
    return splice(document, [change]).text


def with_required_workloads(text: str) -> str:
    """Require every pod to be confidential or named as plain; entries stay. Raises YamlError, and ValueError."""
    document = parse(text)
    spec = dig(document.value, ("spec",))
    if spec is not None and not isinstance(spec, dict):
        raise ValueError("spec is not a map")
    present = dig(spec, ("workloads",))
    entries = present if isinstance(present, list) else [] if present is None else [present]
    if REQUIRED in entries:
        return text
    wanted: Any = [*entries, REQUIRED] if entries else REQUIRED
    if isinstance(present, list) and present:
        change = Change(("spec", "workloads", len(present)), "insert", REQUIRED)
    elif spec:
        change = Change(("spec", "workloads"), "set", wanted)
    else:
        change = Change(("spec",), "set", {"workloads": wanted})
    return splice(document, [change]).text
