"""Is every field of a pod spec known, covered and of the right type? Asked before the generator looks at it.

Rule of this file: it knows no field by name; the table does. After it every shape is as the table says.
"""

from typing import Any

from krm_function.findings import Finding, Path, Ref, dotted, finding
from krm_function.model.objects import a_type
from krm_function.policy.fields import TYPES, Field


def check_fields(spec: Any, path: Path, ref: Ref | None) -> list[Finding]:
    """Everything the table has to say about a pod spec at `path`. No finding: all shapes are as the table says."""
    out: list[Finding] = []
    _value(spec, "PodSpec", (), path, ref, out)
    return out


def _value(value: Any, shape: str, here: Path, root: Path, ref: Ref | None, out: list[Finding]) -> None:
    if shape == "string":
        good = isinstance(value, str)
    elif shape == "integer":
        good = isinstance(value, int) and not isinstance(value, bool)
    elif shape == "boolean":
        good = isinstance(value, bool)
    elif shape[0] == "[":
        good = isinstance(value, list)
        if good:
            for index, entry in enumerate(value):
                _value(entry, shape[1:-1], (*here, index), root, ref, out)
    else:
        good = isinstance(value, dict)
        if good and shape != "map":
            _map(value, shape, here, root, ref, out)
    if not good:
        expected = "list" if shape[0] == "[" else shape if shape in {"string", "integer", "boolean"} else "map"
        out.append(
            finding(
                "CC0207",
                ref,
                root + here,
                key=dotted(here) or "spec",
                expected=a_type(expected),
                actual=a_type(_kind(value)),
            )
        )


def _map(value: dict[str, Any], shape: str, here: Path, root: Path, ref: Ref | None, out: list[Finding]) -> None:
    known = TYPES[shape]
    for key, entry in value.items():
        field = known.get(key)
        if field is None:
            out.append(_unknown(str(key), known, (*here, str(key)), root, ref))
        elif entry is None or field.use == "inert":
            continue
        elif field.use == "refused":
            if not any(entry == good and type(entry) is type(good) for good in field.harmless):
                at = (*here, key)
                out.append(finding("CC0601", ref, root + at, field=dotted(at)))
        elif field.shape != "string" or not isinstance(entry, str):  # nearly all of them are
            _value(entry, field.shape, (*here, key), root, ref, out)
    out += [
        finding("CC0604", ref, root + here, field=dotted((*here, key)), problem="is missing", remedy=f"add {key}")
        for key in _REQUIRED.get(shape, ())
        if value.get(key) is None
    ]


def _unknown(key: str, known: dict[str, Field], here: Path, root: Path, ref: Ref | None) -> Finding:
    import difflib

    near = difflib.get_close_matches(key, known, 1)
    remedy = f"did you mean {near[0]}?" if near else "remove it, or set policy.engine: none"
    return finding("CC0605", ref, root + here, field=dotted(here), remedy=remedy)


def _kind(value: Any) -> str:
    """A value's type in the words of YAML."""
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "list", dict: "map"}
    return names.get(type(value), "null" if value is None else type(value).__name__)


_REQUIRED = {
    shape: needed
    for shape, known in TYPES.items()
    if (needed := tuple(key for key, field in known.items() if field.required))
}
