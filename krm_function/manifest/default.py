"""Complete reference values out of partial ones.

Rule of this file: later layers win field by field, at any depth; a null or an empty string in a layer means "not
given" and lets the earlier layer show. So a release's entry, an older manifest's and the operator's settings stack.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from krm_function.manifest.canonical import copied_fields, newer_keys, zero_of
from krm_function.manifest.ordered_fields import DEFAULTS, ENTRIES, OMIT_EMPTY, Json
from krm_function.manifest.problem import FieldProblem, problem_of
from krm_function.schema.check import unknown_fields, wrong_type
from krm_function.schema.kinds import Path, Record


def snp_entry(*layers: Mapping[str, Any]) -> Json:
    """Make a complete entry of ReferenceValues.snp, defaults first: SMT is true, the rest zero.

    Source: docs/facts/contrast-manifest.md#default-values.

    A layer is a partial entry with the manifest's own field names, e.g. a release's {Platform, ProductName,
    TrustedMeasurement, APEIP}. Values are not validated here. Fields of a newer manifest are kept. Raises FieldProblem
    for another unknown field and for a value that is no map where one belongs; its path counts from the entry.
    """
    return complete_entry("snp", layers)


def tdx_entry(*layers: Mapping[str, Any]) -> Json:
    """Make a complete entry of ReferenceValues.tdx, like `snp_entry`; Xfam defaults to e702060000000000."""
    return complete_entry("tdx", layers)


def complete_entry(tee: str, layers: Sequence[Mapping[str, Any]]) -> Json:
    """Make a complete entry of ReferenceValues.snp or .tdx, like `snp_entry`; it shares nothing with a layer."""
    return _layered(ENTRIES[tee], [DEFAULTS[tee], *layers], ())


def _layered(spec: Record, layers: Sequence[Mapping[str, Any]], path: Path) -> Json:
    """Stack partial objects of one Record over Go's zero values."""
    newer: Json = {}
    for layer in layers:
        fault = wrong_type(spec, layer)
        if fault is None and not layer.keys() <= spec.fields.keys():
            known = newer_keys(layer, spec)
            fault = next((one for one in unknown_fields(spec, layer) if one.path[0] not in known), None)
            newer |= copied_fields(layer, known)
        if fault:
            raise FieldProblem(problem_of(fault.below(*path)))
    result: Json = {}
    for name, field in spec.fields.items():
        given = [layer[name] for layer in layers if layer.get(name) not in (None, "")]
        value: Any
        if isinstance(field.spec, Record):
            value = _layered(field.spec, given, (*path, name))
        elif given:
            value = list(given[-1]) if isinstance(given[-1], list | tuple) else given[-1]
        else:
            value = zero_of(field)
        if value or OMIT_EMPTY not in field.marks:
            result[name] = value
    return result | dict(sorted(newer.items()))
