"""Reference values as a release or an operator gives them: the manifest's own fields, each of them optional.

Rule of this file: the fields are those of the manifest package's tables; nothing about them is written here a second
time.
"""

from collections.abc import Mapping
from typing import Any

from krm_function.api.fields import Checked, Choice, Field, Flag, ListOf, MapOf, Number, Record, Spec, Text
from krm_function.manifest import check_overrides, check_release, shapes
from krm_function.manifest import fields as manifest_fields
from krm_function.manifest.problem import Problem
from krm_function.model.platforms import Platform


def spec_of(shape: shapes.Shape) -> Spec:
    """The spec that accepts what the manifest package accepts of a partial value of this shape."""
    match shape:
        case shapes.Text():
            return Choice(shape.choices) if shape.choices else Text()
        case shapes.Hex():
            return hexadecimal(shape.size, empty=shape.optional or shape.operator)
        case shapes.PublicKey():
            return hexadecimal(None)
        case shapes.Number():
            return Number(0, shape.limit)
        case shapes.Flag():
            return Flag(shape.danger)
        case shapes.Items():
            return ListOf(spec_of(shape.of), shape.length)
        case shapes.Table():
            return MapOf(Text(), spec_of(shape.of))
        case shapes.Record():
            return Record({field.name: Field(spec_of(field.shape)) for field in shape.fields})


def hexadecimal(size: int | None, *, empty: bool = False) -> Text:
    """Hex digits for `size` bytes."""
    if size is None:
        return Text("hex digits", "(?:[0-9a-fA-F]{2})+")
    pattern = f"[0-9a-fA-F]{{{2 * size}}}"
    return Text(f"{2 * size} hex digits ({size} bytes)", f"(?:{pattern})?" if empty else pattern)


def _entry(tee: str) -> Mapping[str, Field]:
    spec = spec_of(manifest_fields.SNP if tee == "snp" else manifest_fields.TDX)
    return spec.fields if isinstance(spec, Record) else {}


ENTRIES: Mapping[str, Mapping[str, Field]] = {"snp": _entry("snp"), "tdx": _entry("tdx")}


def released(platform: Platform) -> Record:
    """The reference values of one platform in a release: `{snp: [...]}` or `{tdx: [...]}`."""
    about = f"{platform.marker}, which is also what is meant when it is left out"
    fields = {**ENTRIES[platform.tee], "Platform": Field(Choice((platform.marker,)), about)}
    needed = ("ProductName", "TrustedMeasurement") if platform.tee == "snp" else ("MrTd", "Rtmrs")
    fields |= {name: fields[name]._replace(required=True) for name in needed}

    def check(values: dict[str, Any]) -> Checked:
        entries = [{**entry, "Platform": platform.marker} for entry in values.get(platform.tee, ())]
        return _problems(check_release({platform.tee: entries}))

    return Record({platform.tee: Field(ListOf(Record(fields)), "one entry for each product", required=True)}, check)


def operated(tee: str) -> Record:
    """What an operator sets in the entries of a platform or of a TEE; ProductName narrows it to one product."""
    fields = {name: field for name, field in ENTRIES[tee].items() if name != "Platform"}
    return Record(fields, lambda entry: _problems(check_overrides({tee: [entry]}), drop=2))


def _problems(problems: tuple[Problem, ...], drop: int = 0) -> Checked:
    """The manifest package's problems with paths of ours; the first `drop` steps are about where the entry was put."""
    return tuple((_path(found.field)[drop:], found.problem) for found in problems)


def _path(dotted: str) -> tuple[str | int, ...]:
    """The path that `snp[0].MinimumTCB.TEEVersion` names."""
    parts: list[str | int] = []
    for name in dotted.split("."):
        base, _, index = name.partition("[")
        parts += [base] if base else []
        parts += [int(index[:-1])] if index else []
    return tuple(parts)
