"""The manifest: its fields, its canonical bytes, and whether Contrast accepts it."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from krm_function.contrast.measurement import POLICY_BITS, select_rtmr0
from krm_function.contrast.owner_keys import seedshare_problem, workload_problem
from krm_function.contrast.platforms import PLATFORMS
from krm_function.findings import Finding
from krm_function.kubernetes.objects import mapping
from krm_function.record import NamedTuple
from krm_function.schema.check import Fault, faults, nearest, unknown_fields, wrong_type
from krm_function.schema.values import (
    ANY_TEXT,
    Choice,
    Field,
    Flag,
    ListOf,
    MapOf,
    Number,
    Path,
    Record,
    Spec,
    Text,
    hexadecimal,
)

# --- The fields of a Contrast manifest: names, order, types and defaults, as tables
#
# Rule: data only; validation, encoding, defaults and the configuration all read it. The order makes the bytes
# canonical. Sources: docs/facts/contrast-manifest.md#manifest (names and order),
# docs/facts/contrast-manifest.md#manifest-rules (lengths, ranges), docs/facts/contrast-manifest.md#default-values,
# docs/facts/contrast.md#platforms. Marks of a field:
#
#     omitempty   not written when it is empty, as by Go's tag of that name
#     measured    a fact of the release, not for people to edit
#     operator    empty (a number: null) until the platform operator fills it in


Json = dict[str, Any]
"""A JSON object as Python has it."""

FILE = "manifest.json"  # in a directory, and as the key of a ConfigMap
COORDINATOR = "coordinator"
PRODUCTS = ("Milan", "Genoa")
OMIT_EMPTY, MEASURED, OPERATOR = "omitempty", "measured", "operator"


def _markers(tee: str) -> Choice:
    return Choice(tuple(platform.marker for platform in PLATFORMS.values() if platform.tee == tee))


def _digest_problem(digits: str) -> str:
    return "" if digits == digits.lower() else "matches no workload, since digests are compared in lower case"


DIGEST = Text("a digest: 64 hex digits", "[0-9a-fA-F]{64}", check=_digest_problem)
_SVN = Field(Number(0, 255), marks=(OPERATOR,))
_BYTE = Field(Number(0, 255))
_FLAG = Field(Flag())
_SHA384 = hexadecimal(48)

POLICY = Record(
    {
        "SANs": Field(ListOf(ANY_TEXT)),
        "WorkloadSecretID": Field(ANY_TEXT, marks=(OMIT_EMPTY,)),
        "Role": Field(Choice(("", COORDINATOR)), marks=(OMIT_EMPTY,)),
    }
)
MINIMUM_TCB = Record(dict.fromkeys(("BootloaderVersion", "TEEVersion", "SNPVersion", "MicrocodeVersion"), _SVN))
GUEST_POLICY = Record(
    {name: _BYTE if name.startswith("ABI") else _FLAG for name in POLICY_BITS}
    | {"Debug": Field(Flag("it would let the host read and change the guest's memory"))}
)
PLATFORM_INFO = Record(
    dict.fromkeys(
        (
            *("SMTEnabled", "TSMEEnabled", "ECCEnabled", "RAPLDisabled", "CiphertextHidingDRAMEnabled"),
            *("AliasCheckComplete", "TIOEnabled"),
        ),
        _FLAG,
    )
)
SNP = Record(
    {
        "Platform": Field(_markers("snp")),
        "ProductName": Field(Choice(PRODUCTS)),
        "TrustedMeasurement": Field(_SHA384, marks=(MEASURED,)),
        "APEIP": Field(hexadecimal(4, empty=True), marks=(MEASURED,)),
        "MinimumTCB": Field(MINIMUM_TCB),
        "GuestPolicy": Field(GUEST_POLICY),
        "PlatformInfo": Field(PLATFORM_INFO),
        "MinimumMitigationVector": Field(Number(0, 2**64 - 1)),
        "AllowedChipIDs": Field(ListOf(hexadecimal(64))),
    }
)
TDX = Record(
    {
        "Platform": Field(_markers("tdx")),
        "MinTCBEvaluationDataNumber": Field(Number(0, 2**32 - 1)),
        "MrTd": Field(_SHA384, marks=(MEASURED,)),
        "MrSeam": Field(hexadecimal(48, empty=True), marks=(OPERATOR,)),
        "Rtmrs": Field(ListOf(_SHA384, length=4), marks=(MEASURED,)),
        "Rtmr0Alternatives": Field(ListOf(_SHA384), marks=(OMIT_EMPTY, MEASURED)),
        "Xfam": Field(hexadecimal(8)),
        "AllowedPIIDs": Field(ListOf(hexadecimal())),
        "MemoryIntegrity": _FLAG,
        "SMTDisabled": _FLAG,
        "StaticPlatform": _FLAG,
    }
)
ENTRIES: Mapping[str, Record] = {"snp": SNP, "tdx": TDX}
REFERENCE_VALUES = Record({tee: Field(ListOf(entry), marks=(OMIT_EMPTY,)) for tee, entry in ENTRIES.items()})
MANIFEST = Record(
    {
        "Policies": Field(MapOf(DIGEST, POLICY)),
        "ReferenceValues": Field(REFERENCE_VALUES),
        "WorkloadOwnerPubKeys": Field(ListOf(Text(check=workload_problem))),
        "SeedshareOwnerPubKeys": Field(ListOf(Text(check=seedshare_problem))),
    }
)

DEFAULTS: Mapping[str, Json] = {
    "snp": {"GuestPolicy": {"SMT": True}, "PlatformInfo": {"SMTEnabled": True}},
    "tdx": {"Xfam": "e702060000000000"},
}
"""What a new entry has beside Go's zero values."""


# --- The problems of a manifest, and their places
#
# Rule: a problem names a field and a rule, and quotes a value only if it is one of a few names.


_LONGEST_QUOTE = 64
RENAMED = dict.fromkeys(("MinimumTeeTcbSvn", "MinimumQeSvn", "MinimumPceSvn"), "MinTCBEvaluationDataNumber")
"""Fields of TDX entries of older manifests, and the one that has taken their place."""


class ManifestProblem(NamedTuple):
    """One problem of one field. path: from the manifest, or from the part that was checked."""

    path: Path
    problem: str  # lower case, no full stop
    # a value that only the platform operator can fill in (docs/facts/contrast-manifest.md#manifest-rules)
    missing: bool = False

    @property
    def field(self) -> str:
        """The path as people write it: `ReferenceValues.snp[0].MinimumTCB.TEEVersion`."""
        text = ""
        for part in self.path:
            text += f"[{part}]" if isinstance(part, int) else f".{short(part)}" if text else short(part)
        return text


class FieldProblem(ValueError):
    """A ManifestProblem that leaves no result."""

    def __init__(self, problem: ManifestProblem) -> None:
        super().__init__(f"{problem.field}: {problem.problem}" if problem.path else problem.problem)
        self.problem = problem


def problem_of(fault: Fault, value: Any = None) -> ManifestProblem:
    """Return the problem of a fault that the tables find. value: the value at fault, for a choice of names."""
    if fault.kind == "unknown" and isinstance(fault.spec, Record):
        return ManifestProblem(fault.path, fault.problem + meant(str(fault.path[-1]), fault.spec.fields))
    if isinstance(fault.spec, Choice):
        choices = fault.spec.values
        return ManifestProblem(
            fault.path,
            _describe_choices(value, choices) if fault.kind == "value" else f"must be a string, not {fault.actual}",
        )
    return ManifestProblem(fault.path, fault.problem)


def short(text: str) -> str:
    """Cut a user's text to the length for a message, and make it printable."""
    cut = text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "..."
    return cut if cut.isprintable() else ascii(cut)[1:-1]


def _describe_choices(value: Any, choices: tuple[str, ...]) -> str:
    text = str(value)
    if "insecure" in text.casefold():
        return "insecure platforms are not supported"
    allowed = " or ".join(choice or "empty" for choice in choices)
    return f"must be {allowed}, not {short(text) or 'empty'}{meant(text, filter(None, choices))}"


def meant(name: str, candidates: Iterable[str]) -> str:
    """Write `, did you mean X?` for a similar known name, or its new name if it was renamed; "" for neither."""
    names = tuple(candidates)
    if RENAMED.get(name) in names:
        return f", it is {RENAMED[name]} now"
    close = nearest(name, names)
    return f", did you mean {close}?" if close else ""


# --- The canonical form of a manifest: every field present, in order, null where Go has nil
#
# Rule: canonical(canonical(m)) == canonical(m); a value that does not fit the types of the field tables raises. A JSON
# null means the zero value everywhere, as it does when Go's encoding/json reads one.


NEWER = "[A-Z][A-Za-z0-9]{2,63}"  # as Contrast names its fields


def canonical(manifest: Mapping[str, Any]) -> Json:
    """Bring a manifest to the form that `encode` writes; the result shares no mutable part with the input.

    Absent and null fields get Go's zero value, fields are in the order of Contrast's structs
    (docs/facts/contrast-manifest.md#manifest), policies are sorted by digest, and empty fields that Contrast omits are
    removed. In each object the fields of a newer manifest follow the known ones, sorted. Values are not validated.
    Raises FieldProblem for a value of the wrong type and for another unknown field.
    """
    result: Json = canonical_value(manifest, MANIFEST)
    return result


def is_newer(name: Any, spec: Record) -> bool:
    """Tell whether a field is of no known release: not a misspelling, an older name, or a field of another place."""
    newer = isinstance(name, str) and re.fullmatch(NEWER, name) is not None and name not in _list_names(MANIFEST)
    return newer and not meant(name, spec.fields)


def _list_names(spec: Spec) -> Iterator[str]:
    match spec:
        case Record():
            for name, field in spec.fields.items():
                yield name
                yield from _list_names(field.spec)
        case MapOf(values=part) | ListOf(items=part):
            yield from _list_names(part)
        case _:
            return


def newer_keys(value: Any, spec: Record) -> list[str]:
    """Return the fields of one object that are of a newer manifest, sorted.

    They are not dropped, since that would silently lose a demand of a newer Contrast.
    """
    if not isinstance(value, Mapping) or value.keys() <= spec.fields.keys():
        return []
    return sorted(key for key in value if is_newer(key, spec))


def copied_fields(value: Mapping[str, Any], names: Sequence[str]) -> Json:
    """Copy some fields of an object; the copy shares no mutable part with it."""
    if not names:
        return {}
    from copy import deepcopy  # few manifests have fields that need it, and it imports more than the rest of this file

    return {name: deepcopy(value[name]) for name in names}


def newer_fields(value: Any, spec: Spec = MANIFEST, path: Path = ()) -> list[str]:
    """Return the fields of a newer manifest at any depth, as readable paths, sorted within an object."""
    keys = newer_keys(value, spec) if isinstance(spec, Record) else []
    fields = [ManifestProblem((*path, key), "").field for key in keys]
    for name, part, part_spec in _list_parts(value, spec):
        fields += newer_fields(part, part_spec, (*path, name))
    return fields


def _list_parts(value: Any, spec: Spec) -> list[tuple[str | int, Any, Spec]]:
    """Return the known fields of an object, or the entries of a map or list, with their specs."""
    match spec:
        case Record() if isinstance(value, Mapping):
            return [(name, value[name], field.spec) for name, field in spec.fields.items() if name in value]
        case MapOf() if isinstance(value, Mapping):
            return [(key, part, spec.values) for key, part in value.items()]
        case ListOf() if isinstance(value, list | tuple):
            return [(index, part, spec.items) for index, part in enumerate(value)]
        case _:
            return []


def canonical_value(value: Any, spec: Spec, path: Path = (), *, strict: bool = True) -> Any:
    """Do what `canonical` does, for a part of a manifest. path: its place, for the messages.

    strict: whether to raise; else a value that does not fit stays unchanged, for `validate` to report.
    """
    if value is None:
        return zero(spec)
    if strict and (fault := wrong_type(spec, value)):
        raise FieldProblem(problem_of(fault.below(*path)))
    match spec:
        case Record() if isinstance(value, Mapping):
            return _complete_record(value, spec, path, strict=strict)
        case MapOf() if isinstance(value, Mapping):
            for key in value if strict else ():
                fault = wrong_type(spec.keys, key)
                if fault:
                    raise FieldProblem(ManifestProblem((*path, str(key)), f"the key {fault.problem}"))
            keys = sorted(value) if strict else value
            return {key: canonical_value(value[key], spec.values, (*path, key), strict=strict) for key in keys}
        case ListOf() if isinstance(value, list | tuple):
            return [
                canonical_value(item, spec.items, (*path, index), strict=strict) for index, item in enumerate(value)
            ]
        case _:
            return value


def _complete_record(value: Mapping[str, Any], spec: Record, path: Path, *, strict: bool) -> Json:
    unknown = unknown_fields(spec, value)
    newer = newer_keys(value, spec) if unknown else []
    faults = [fault for fault in unknown if fault.path[0] not in newer]
    if faults and strict:
        raise FieldProblem(problem_of(faults[0].below(*path)))
    result: Json = {key: part for key, part in value.items() if key not in (*spec.fields, *newer)} if faults else {}
    for name, field in spec.fields.items():
        part = value.get(name)
        part = zero_of(field) if part is None else canonical_value(part, field.spec, (*path, name), strict=strict)
        # {} is not an empty string
        empty = not part and (strict or part is None or wrong_type(field.spec, part) is None)
        if not empty or OMIT_EMPTY not in field.marks:
            result[name] = part
    return result | copied_fields(value, newer)


def zero_of(field: Field) -> Any:
    """Return the zero value of a field: null for a number that only the operator has, as Go has a pointer there."""
    return None if OPERATOR in field.marks and isinstance(field.spec, Number) else zero(field.spec)


def zero(spec: Spec) -> Any:
    """Return Go's zero value, the meaning of an absent field or a null. A Record comes complete, in field order."""
    match spec:
        case Text() | Choice():
            return ""
        case Number():
            return 0
        case Flag():
            return False
        case ListOf():
            return None if spec.length is None else [zero(spec.items)] * spec.length
        case Record():
            return {name: zero_of(field) for name, field in spec.fields.items() if OMIT_EMPTY not in field.marks}
        case _:
            return None


# --- A manifest from bytes: strict JSON, lenient names
#
# Rule: input that two readers could understand differently is refused (duplicate keys, NaN, lone surrogates); input
# that Go's encoding/json understands in one way only is understood in that way (letter case of field names).


MAX_BYTES = 16 * 2**20  # some 60000 policies
MAX_DEPTH = 32  # a manifest needs six


class ManifestError(ValueError):
    """Bytes that are not a manifest. `line` and `column` count from 1; 0 means unknown."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def decode(data: bytes) -> Json:
    """Read a manifest, its field names brought to the canonical letter case; nothing is filled in or dropped.

    Fields that no manifest has and values of wrong types are kept for `validate` to report. Raises ManifestError for
    anything but one JSON object in UTF-8, for keys given twice (also in different letter case), for non-JSON numbers,
    and beyond MAX_BYTES or MAX_DEPTH.
    """
    if len(data) > MAX_BYTES:
        raise ManifestError(f"{len(data)} bytes, the limit is {MAX_BYTES}")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ManifestError(f"not UTF-8 at byte {error.start}") from error
    try:
        value = json.loads(
            text, object_pairs_hook=_make_object, parse_constant=_refuse_constant, parse_float=_parse_finite
        )
    except ManifestError:
        raise
    except json.JSONDecodeError as error:
        raise ManifestError(f"not JSON: {error.msg.lower()}", error.lineno, error.colno) from error
    except RecursionError as error:
        raise ManifestError(f"nested deeper than {MAX_DEPTH} levels") from error
    except ValueError as error:  # an integer of thousands of digits
        raise ManifestError("a number is too long") from error
    if not isinstance(value, dict):
        raise ManifestError("not a JSON object")
    _check(value, MAX_DEPTH)
    manifest: Json = _rename_fields(value, MANIFEST, ())
    return manifest


def _make_object(pairs: Sequence[tuple[str, Any]]) -> Json:
    result: Json = {}
    for key, value in pairs:
        if key in result:
            raise ManifestError(f"duplicate key {short(key)}")
        result[key] = value
    return result


def _refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and the infinities, which Python would read."""
    raise ManifestError(f"{name} is not JSON")


def _parse_finite(digits: str) -> float:
    """Refuse a number that no float64 can hold: Go's reader does, and Python would write it as Infinity."""
    number = float(digits)
    if number - number != 0:
        raise ManifestError("a number is too large")
    return number


def _check(value: Any, depth: int) -> None:
    """Refuse values nested deeper than `depth` levels, and text that UTF-8 cannot carry."""
    if isinstance(value, str):
        if wrong_type(ANY_TEXT, value):
            raise ManifestError("half of a surrogate pair is not a character")
    elif isinstance(value, dict | list):
        if not depth:
            raise ManifestError(f"nested deeper than {MAX_DEPTH} levels")
        for part in value:
            _check(part, depth - 1)
        if isinstance(value, dict):
            for part in value.values():
                _check(part, depth - 1)


def _rename_fields(value: Any, spec: Spec, path: Path) -> Any:
    match spec:
        case Record() if isinstance(value, dict):
            canonical_names = {name.casefold(): name for name in spec.fields}
            result: Json = {}
            for key, part in value.items():
                name = canonical_names.get(key.casefold()) or key
                if len(name) != len(key):  # a ligature folds to two letters; Go does not match those
                    name = key
                place = (*path, name)
                if name in result:
                    raise ManifestError(f"duplicate key {ManifestProblem(place, '').field} in two spellings")
                result[name] = _rename_fields(part, spec.fields[name].spec, place) if name in spec.fields else part
            return result
        case MapOf() if isinstance(value, dict):
            return {key: _rename_fields(part, spec.values, (*path, key)) for key, part in value.items()}
        case ListOf() if isinstance(value, list):
            return [_rename_fields(part, spec.items, (*path, index)) for index, part in enumerate(value)]
        case _:
            return value


# --- A manifest as bytes: the one encoder, since Contrast compares and signs manifests byte for byte
#
# Rule: the bytes are those of Go's json.MarshalIndent with two spaces and a trailing newline.
# Nothing else in the project may print a manifest. Source: docs/facts/contrast-manifest.md#manifest.


_GO_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"},
)
"""What Go escapes beyond JSON's need, to be safe in HTML and JavaScript. All of it can only stand inside strings."""


def encode(manifest: Mapping[str, Any]) -> bytes:
    r"""Write a manifest as Contrast's CLI would: UTF-8 and canonical, so equal manifests give equal bytes.

    Control characters are written as Go 1.22 and later do, with \b and \f. Raises FieldProblem for a value of the
    wrong type and for an unknown field, since neither can be written without loss.
    """
    text = json.dumps(canonical(manifest), ensure_ascii=False, indent=2)
    return f"{text.translate(_GO_ESCAPES)}\n".encode()


# --- Complete reference values from partial ones
#
# Rule: later layers win field by field, at any depth; a null or an empty string in a layer counts as absent and lets
# the earlier layer show. So a release's entry, an older manifest's and the operator's settings stack.


def complete_entry(tee: str, layers: Sequence[Mapping[str, Any]]) -> Json:
    """Make a complete entry of ReferenceValues.snp or .tdx, defaults first; it shares nothing with a layer.

    Source: docs/facts/contrast-manifest.md#default-values.

    A layer is a partial entry with the manifest's own field names, e.g. a release's {Platform, ProductName,
    TrustedMeasurement, APEIP}. Values are not validated here. Fields of a newer manifest are kept. Raises FieldProblem
    for another unknown field and for a non-map in place of a map; its path counts from the entry.
    """
    return _stack_layers(ENTRIES[tee], [DEFAULTS[tee], *layers], ())


def _stack_layers(spec: Record, layers: Sequence[Mapping[str, Any]], path: Path) -> Json:
    """Stack partial objects of one Record over Go's zero values."""
    newer: Json = {}
    for layer in layers:
        fault = wrong_type(spec, layer)
        if fault is None and not layer.keys() <= spec.fields.keys():
            newer_of_layer = newer_keys(layer, spec)
            unknown = (fault for fault in unknown_fields(spec, layer) if fault.path[0] not in newer_of_layer)
            fault = next(unknown, None)
            newer |= copied_fields(layer, newer_of_layer)
        if fault:
            raise FieldProblem(problem_of(fault.below(*path)))
    result: Json = {}
    for name, field in spec.fields.items():
        values = [layer[name] for layer in layers if layer.get(name) not in (None, "")]
        value: Any
        if isinstance(field.spec, Record):
            value = _stack_layers(field.spec, values, (*path, name))
        elif values:
            value = list(values[-1]) if isinstance(values[-1], list | tuple) else values[-1]
        else:
            value = zero_of(field)
        if value or OMIT_EMPTY not in field.marks:
            result[name] = value
    return result | dict(sorted(newer.items()))


# --- Whether Contrast's set, verify and sign accept a manifest
#
# Rule: all problems at once, in the order of the fields; any input gives Problems, never an exception. The rules are
# Contrast's (docs/facts/contrast-manifest.md#manifest-rules), stricter where an accepted value could only mislead:
# digests in upper case, which match no workload; platforms that are unknown or not confidential; a guest policy that
# permits debugging.


NO_COORDINATOR = ManifestProblem(("Policies",), f"expected at least 1 policy with role '{COORDINATOR}'")
NO_REFERENCE_VALUES = ManifestProblem(("ReferenceValues",), "at least one snp or tdx entry is needed")


def validate(manifest: Any) -> tuple[ManifestProblem, ...]:
    """Return all problems of a manifest (from `decode` or `merge`); () means that Contrast accepts it.

    Fields of a newer manifest (`is_newer`) are allowed. Problems with `missing` set follow those of wrong values; they
    are the two values that only a platform operator has, MinimumTCB.* and MrSeam, left empty: Contrast tolerates
    exactly these in a manifest it has just made. The problems NO_COORDINATOR and NO_REFERENCE_VALUES come last and are
    about the manifest as a whole.
    """
    value = canonical_value(manifest, MANIFEST, strict=False)
    problems = [*_find_faults(value, MANIFEST, newer=True), *_find_unfilled(value, MANIFEST, ())]
    policies = mapping(mapping(value).get("Policies"))
    if not any(isinstance(entry, Mapping) and entry.get("Role") == COORDINATOR for entry in policies.values()):
        problems.append(NO_COORDINATOR)
    references = mapping(mapping(value).get("ReferenceValues"))
    if not references.get("snp") and not references.get("tdx"):
        problems.append(NO_REFERENCE_VALUES)
    return tuple(problems)


def validate_partial(reference_values: Any) -> tuple[ManifestProblem, ...]:
    """Return all problems of partial reference values, {"snp": [...], "tdx": [...]}: a release's or an operator's.

    A field that is absent, null or an empty string is not checked.
    """
    return tuple(_find_faults(_drop_empty(reference_values), REFERENCE_VALUES))


def unfilled(problems: tuple[ManifestProblem, ...]) -> dict[str, tuple[str, ...]]:
    """Group the `missing` problems: {"snp[0]": ("MinimumTCB.BootloaderVersion", ...), "tdx[0]": ("MrSeam",)}."""
    result: dict[str, tuple[str, ...]] = {}
    for problem in problems:
        if problem.missing:
            entry, _, field = problem.field.removeprefix("ReferenceValues.").partition(".")
            result[entry] = (*result.get(entry, ()), field)
    return result


def _find_faults(value: Any, spec: Spec, *, newer: bool = False) -> Iterator[ManifestProblem]:
    """Yield the faults by the tables; null counts as absent. newer: fields of a newer manifest are allowed."""
    for fault in faults(spec, value) if value is not None else ():
        unknown = fault.spec if newer and fault.kind == "unknown" else None
        if not (isinstance(unknown, Record) and is_newer(fault.path[-1], unknown)):
            yield problem_of(fault, _get(value, fault.path))


def _get(value: Any, path: Path) -> Any:
    """Return the value at the path of a fault, None for an absent field."""
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part)
        else:
            value = value[part] if isinstance(part, int) and isinstance(value, list) else None
    return value


def _find_unfilled(value: Any, spec: Spec, path: Path) -> Iterator[ManifestProblem]:
    """Yield the operator's fields that are still empty."""
    if isinstance(spec, Record) and isinstance(value, Mapping):
        for name, field in spec.fields.items():
            part = value.get(name)
            if OPERATOR in field.marks and (part is None or part == zero_of(field)):
                yield ManifestProblem((*path, name), "not filled in", missing=True)
            yield from _find_unfilled(part, field.spec, (*path, name))
    elif isinstance(spec, ListOf) and isinstance(value, list):
        for index, part in enumerate(value):
            yield from _find_unfilled(part, spec.items, (*path, index))


def _drop_empty(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _drop_empty(part) for key, part in value.items() if part is not None and part != ""}
    return [_drop_empty(part) for part in value] if isinstance(value, list | tuple) else value


# --- RTMR0 in the manifest: one value for each vCPU count in use
#
# Rule: only for platforms with `rtmr0_by_vcpus`; GPU guests have one vCPU. Source:
# docs/facts/contrast-manifest.md#rtmr0.


BY_VCPUS = frozenset(platform.marker for platform in PLATFORMS.values() if platform.rtmr0_by_vcpus)


class Rtmr0(NamedTuple):
    """The release's `rtmr0ByVCPU`, and the vCPU counts of the TDX workloads rendered now."""

    table: Mapping[str, str]
    counts: tuple[int, ...]


def rtmr0_values(reference_values: Mapping[str, Any] | None) -> tuple[str, ...]:
    """List every RTMR0 that a manifest accepts where it depends on the vCPU count, ascending."""
    values: set[str] = set()
    for entry in filter(_depends_on_vcpus, (reference_values or {}).get("tdx") or ()):
        values.update((entry.get("Rtmrs") or ())[:1], entry.get("Rtmr0Alternatives") or ())
    return tuple(sorted(values - {""}))


def with_rtmr0(reference_values: Mapping[str, Any], rtmr0: Rtmr0, earlier: Iterable[str] = ()) -> Json:
    """Set Rtmrs[0] and Rtmr0Alternatives of every entry that depends on the vCPU counts.

    earlier: further values to accept if the table has them, for workloads of an older manifest that are not rendered
    now. Without counts nothing changes. Raises UnknownVcpuCount for a count the table lacks.
    """
    result = dict(reference_values)
    if not rtmr0.counts or not result.get("tdx"):
        return result
    smallest, rest = select_rtmr0(rtmr0.table, rtmr0.counts)
    values = sorted({smallest, *rest, *(set(earlier) & set(rtmr0.table.values()))})
    result["tdx"] = [_set_rtmr0(entry, values) if _depends_on_vcpus(entry) else entry for entry in result["tdx"]]
    return result


def _set_rtmr0(entry: Mapping[str, Any], values: list[str]) -> Json:
    return {**entry, "Rtmrs": [values[0], *entry["Rtmrs"][1:]], "Rtmr0Alternatives": values[1:]}


def _depends_on_vcpus(entry: Mapping[str, Any] | None) -> bool:
    return (entry or {}).get("Platform") in BY_VCPUS


# --- The reference values of one render, for the manifest


class ReferenceValues(NamedTuple):
    """The release's values for the used platforms, the operator's settings, and both merged with the base manifest."""

    release: Mapping[str, Any] = {}
    overrides: Mapping[str, Any] = {}
    merged: Mapping[str, Any] = {}
    rtmr0: "Rtmr0 | None" = None
    findings: tuple[Finding, ...] = ()
