"""Complete reference values out of partial ones.

Rule of this file: later layers win field by field, at any depth; a null or an empty string in a layer means "not
given" and lets the earlier layer show. So a release's entry, an older manifest's and the operator's settings stack.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.manifest.canonical import unknown_field
from krm_function.manifest.fields import SNP, TDX
from krm_function.manifest.problem import FieldProblem, Problem, step
from krm_function.manifest.shapes import Json, Record, mismatch, zero


def snp_entry(*layers: Mapping[str, Any]) -> Json:
    """Make a complete entry of ReferenceValues.snp, defaults first: SMT is true, the rest zero.

    Source: docs/facts/contrast-manifest.md#default-values.

    A layer is a partial entry with the manifest's own field names, e.g. a release's {Platform, ProductName,
    TrustedMeasurement, APEIP}. Values are not validated here. Raises FieldProblem for an unknown field and for a value
    that is no object where one belongs; its path counts from the entry.
    """
    return layered(SNP, layers)


def tdx_entry(*layers: Mapping[str, Any]) -> Json:
    """Make a complete entry of ReferenceValues.tdx, like `snp_entry`; Xfam defaults to e702060000000000."""
    return layered(TDX, layers)


def layered(shape: Record, layers: Sequence[Mapping[str, Any]], path: str = "") -> Json:
    """Stack partial objects of one shape over its defaults; nothing of the result is shared with a layer."""
    names = shape.names()
    for layer in layers:
        for key in layer:
            if key not in names:
                raise FieldProblem(unknown_field(key, names, path))
    result: Json = {}
    for field in shape.fields:
        given = [layer[field.name] for layer in layers if layer.get(field.name) not in (None, "")]
        value: Any
        if isinstance(field.shape, Record):
            inside = step(path, field.name)
            for part in given:
                wrong = mismatch(part, field.shape)
                if wrong:
                    raise FieldProblem(Problem(inside, wrong))
            value = layered(field.shape, given, inside)
        elif given:
            value = list(given[-1]) if isinstance(given[-1], list | tuple) else given[-1]
        else:
            value = zero(field.shape) if field.default is None else field.default
        if value or not field.omit_empty:
            result[field.name] = value
    return result
