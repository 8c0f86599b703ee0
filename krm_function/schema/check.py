"""Find all faults of a value, and their remedies."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from krm_function.record import NamedTuple
from krm_function.schema.values import (
    ANY_TEXT,
    Anything,
    Choice,
    Flag,
    JsonObject,
    ListOf,
    MapOf,
    Number,
    OneOrMany,
    Only,
    OrNull,
    Path,
    Problems,
    Record,
    Scalar,
    Spec,
    Text,
    Word,
    a_type,
    type_name,
)

# --- The faults of a value
#
# Rule: every fault is named, none raises, and no fault quotes a value: a configuration may contain keys, and env values
# of an image. A value without faults costs no path, since most values have none.


FaultKind = Literal["type", "unicode", "value", "unknown", "missing"]
"""type: of another type, or a list of another length. unicode: no valid text. unknown, missing: a field of a Record."""


class Fault(NamedTuple):
    """A problem with one value. problem: lower case, no full stop.

    spec: what the value does not meet; of an unknown or a missing field, the Record. actual: the type of a value of the
    wrong one, as in "must be a map, not {found}".
    """

    path: Path
    kind: FaultKind
    problem: str
    spec: Spec
    actual: str = ""

    def below(self, *path: str | int) -> "Fault":
        """Return the fault with a path that starts further up."""
        return self._replace(path=path + self.path)


Faults = Sequence[Fault]
NONE: Faults = ()


def faults(spec: Spec, value: Any) -> Faults:
    """Find all faults of a value: first fields that a Record does not have, then in the order of the value."""
    return _CHECKS[type(spec)](spec, value)


def wrong_type(spec: Spec, value: Any) -> Fault | None:
    """Return the fault of a value whose own type, not its content, is wrong. None if the spec has no type."""
    expected = _TYPES.get(type(spec))
    if expected is None:
        return None
    if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
        return _make_type_fault(spec, value)
    if isinstance(spec, ListOf) and spec.length is not None and len(value) != spec.length:
        return Fault((), "type", f"must have exactly {spec.length} entries, not {len(value)}", spec)
    return None if expected is not str or value.isascii() else _check_unicode(spec, value)


def unknown_fields(spec: Record, value: Mapping[Any, Any]) -> list[Fault]:
    """Return the fields of a map that a Record does not have."""
    return [Fault((str(key),), "unknown", "unknown field", spec) for key in value if key not in spec.fields]


def expected(spec: Spec) -> str:
    """Describe valid values: `a list`, `an integer from 0 to 255`."""
    match spec:
        case Text():
            return "a string"
        case Choice():
            return f"one of {', '.join(spec.values)}"
        case Flag():
            return "true or false"
        case Number():
            return "an integer" if spec == Number() else f"an integer from {spec.least} to {spec.most}"
        case JsonObject():
            return spec.meaning
        case ListOf():
            return "a list"
        case Word():
            return f"{', '.join(spec.words)} or {expected(spec.spec)}"
        case _:
            return "a map"


def _make_type_fault(spec: Spec, value: Any) -> Fault:
    actual = a_type(type_name(value))
    problem = f"must be {expected(spec)}" + ("" if isinstance(spec, Choice) else f", not {actual}")
    return Fault((), "type", problem, spec, actual)


def _check_unicode(spec: Spec, text: str) -> Fault | None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return Fault((), "unicode", "must be valid Unicode", spec)
    return None


def _value(spec: Spec, problem: str) -> Faults:
    return (Fault((), "value", problem, spec),) if problem else NONE


def _anything(_spec: Anything, _value: Any) -> Faults:
    return NONE


def _only(spec: Only, value: Any) -> Faults:
    good = any(value == allowed and type(value) is type(allowed) for allowed in spec.values)
    return NONE if good else _value(spec, "must not be set")


def _text(spec: Text, value: Any) -> Faults:
    if spec is ANY_TEXT and isinstance(value, str) and value.isascii():
        return NONE
    if not isinstance(value, str):
        return (_make_type_fault(spec, value),)
    if not value and not spec.empty:
        return _value(spec, "must not be empty")
    if spec.longest and len(value) > spec.longest:
        return _value(spec, f"is longer than {spec.longest} characters")
    if spec.pattern and not (spec.matches(value) if spec.matches else re.fullmatch(spec.pattern, value)):
        return _value(spec, f"must be {spec.meaning}")
    if not value.isascii() and (fault := _check_unicode(spec, value)):
        return (fault,)
    return _value(spec, spec.check(value)) if spec.check else NONE


def _choice(spec: Choice, value: Any) -> Faults:
    if not isinstance(value, str):
        return (_make_type_fault(spec, value),)
    return NONE if value in spec.values else _value(spec, f"must be {expected(spec)}")


def _flag(spec: Flag, value: Any) -> Faults:
    if not isinstance(value, bool):
        return (_make_type_fault(spec, value),)
    return _value(spec, f"must be false: {spec.danger}") if value and spec.danger else NONE


def _number(spec: Number, value: Any) -> Faults:
    if not isinstance(value, int) or isinstance(value, bool):
        return (_make_type_fault(spec, value),)
    good = spec.least <= value <= spec.most
    return NONE if good else _value(spec, f"must be an integer from {spec.least} to {spec.most}")


def _scalar(spec: Scalar, value: Any) -> Faults:
    return _value(spec, spec.problem(value))


def _json_object(spec: JsonObject, value: Any) -> Faults:
    if isinstance(value, dict):
        return _value(spec, spec.check(value)) if spec.check else NONE
    if not isinstance(value, str):
        return (_make_type_fault(spec, value),)
    try:
        loaded = spec.load(value)
    except RecursionError:
        return _value(spec, "is nested too deeply")
    except ValueError as error:
        return _value(spec, str(error))
    return _json_object(spec, loaded)


def _one_or_many(spec: OneOrMany, value: Any) -> Faults:
    return _list(ListOf(spec.items), value) if isinstance(value, list | tuple) else faults(spec.items, value)


def _word(spec: Word, value: Any) -> Faults:
    if not isinstance(value, str):
        return faults(spec.spec, value)
    return NONE if value in spec.words else _value(spec, f"must be {expected(spec)}")


def _or_null(spec: OrNull, value: Any) -> Faults:
    return NONE if value is None else faults(spec.spec, value)


def _list(spec: ListOf, value: Any) -> Faults:
    if not isinstance(value, list | tuple):
        return (_make_type_fault(spec, value),)
    type_fault = wrong_type(spec, value)
    out = [type_fault] if type_fault else []
    check = _CHECKS[type(spec.items)]
    for index, item in enumerate(value):
        item_faults = check(spec.items, item)
        if item_faults:
            out += [fault.below(index) for fault in item_faults]
    return out or (_run_check(spec, spec.check(list(value))) if spec.check else NONE)


def _map(spec: MapOf, value: Any) -> Faults:
    if not isinstance(value, (dict, Mapping)):
        return (_make_type_fault(spec, value),)
    out: list[Fault] = []
    free, check = isinstance(spec.keys, Anything), _CHECKS[type(spec.values)]
    for key, item in value.items():
        key_faults = NONE if free else faults(spec.keys, key)
        if key_faults:
            out += [fault._replace(path=(str(key),), problem=f"the key {fault.problem}") for fault in key_faults]
        elif item is not None or not spec.nulls:
            item_faults = check(spec.values, item)
            if item_faults:
                out += [fault.below(key) for fault in item_faults]
    return out or (_run_check(spec, spec.check(dict(value))) if spec.check else NONE)


def _record(spec: Record, value: Any) -> Faults:
    if not isinstance(value, (dict, Mapping)):
        return (_make_type_fault(spec, value),)
    fields, out, strangers = spec.fields, [], False
    for name, item in value.items():
        field = fields.get(name)
        if field is None:
            strangers = True
        elif item is not None and not (field.spec is ANY_TEXT and type(item) is str and item.isascii()):  # nearly all
            field_faults = _CHECKS[type(field.spec)](field.spec, item)
            if field_faults:
                out += [fault.below(name) for fault in field_faults]
    if strangers and spec.closed:
        out = [*unknown_fields(spec, value), *out]
    for name in spec.required:
        if value.get(name) is None and not (name in value and isinstance(fields[name].spec, OrNull)):
            out.append(Fault((name,), "missing", "is missing", spec))
    return out or (_run_check(spec, spec.check(dict(value))) if spec.check else NONE)


def _run_check(spec: Spec, problems: Problems) -> Faults:
    return [Fault(path, "value", problem, spec) for path, problem in problems]


_TYPES: dict[type, Any] = {
    Text: str,
    Choice: str,
    Flag: bool,
    Number: int,
    ListOf: (list, tuple),
    MapOf: (dict, Mapping),
    Record: (dict, Mapping),
}
_CHECKS: dict[type, Callable[[Any, Any], Faults]] = {
    Anything: _anything,
    Only: _only,
    Text: _text,
    Choice: _choice,
    Flag: _flag,
    Number: _number,
    Scalar: _scalar,
    JsonObject: _json_object,
    OneOrMany: _one_or_many,
    OrNull: _or_null,
    Word: _word,
    ListOf: _list,
    MapOf: _map,
    Record: _record,
}


# --- The remedy of a fault
#
# Rule: an imperative, made only from the table. It is loaded only for a fault.


def remedy_of(fault: Fault, value: object) -> str:  # noqa: C901 (one sentence for each kind of fault)
    """Return the remedy of a fault other than an unknown field. value: the one at fault."""
    match fault.kind, fault.spec:
        case "missing", Record():
            about = fault.spec.fields[str(fault.path[-1])].about
            return "add it" + (f": {about}" if about else "")
        case "type", Text() if isinstance(value, bool | int | float):
            return "put it in quotes"
        case _, Text():
            return _write(fault.spec)
        case _, Choice():
            close = nearest(value, fault.spec.values) if isinstance(value, str) else ""
            return f"did you mean {close}?" if close else f"write one of {', '.join(fault.spec.values)}"
        case "type", Flag():
            return "write true or false, without quotes"
        case _, Flag():
            return "set it to false"
        case "type", Number():
            return "write it in digits, without quotes"
        case _, Number():
            return "correct the number"
        case _, Scalar():
            return fault.spec.remedy
        case _, JsonObject():
            return f"correct it: {fault.spec.meaning}" if isinstance(value, dict) else f"write {fault.spec.meaning}"
        case "type", ListOf() | OneOrMany():
            return "correct the list" if isinstance(value, list) else "write a list, even for a single entry"
        case "type", MapOf():
            return "write a map"
        case _, Word():
            spec = fault.spec.spec
            form = f"a map of {', '.join(spec.fields)}" if isinstance(spec, Record) else expected(spec)
            return f"write {' or '.join(fault.spec.words)}, or {form}"
        case "type", Record():
            return f"write a map of {', '.join(fault.spec.fields)}"
        case _:
            return "correct the value"


def suggestion(fault: Fault) -> str:
    """Suggest fields for an unknown one: the nearest, one a level further down, or all that exist."""
    if not isinstance(fault.spec, Record) or not isinstance(fault.path[-1], str):
        return ""
    name, fields = fault.path[-1], fault.spec.fields
    close = nearest(name, fields)
    if close:
        return close
    for name_above, field in fields.items():
        below = nearest(name, field.spec.fields) if isinstance(field.spec, Record) else ""
        if below:
            return f"{name_above}.{below}"
    return f"one of {', '.join(fields)}" if len(fields) > 1 else "".join(fields)


def _write(spec: Text) -> str:
    return f"write {spec.meaning}" + (f", for instance {spec.example}" if spec.example else "")


# --- The known word nearest to a mistyped one
#
# Rule: a suggestion is an aid, never a decision; nothing acts on it, and there is none if a missing part would have to
# be guessed. difflib is loaded only for a mistyped word.
#
#     word              known                                        nearest
#     snp               metal-qemu-snp, metal-qemu-snp-gpu, …-tdx    metal-qemu-snp: the shortest that has all its parts
#     metal-qemu        the same                                     none: no guess between snp and tdx
#     metal-qmeu-snp    the same                                     metal-qemu-snp, by spelling


LONGEST = 128  # characters of the mistyped word that are compared: matching is quadratic
SEPARATORS = str.maketrans("/._", "---")


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the closest of `names`, ignoring case, or "" if none is close, or several are equally close."""
    spellings = {name.lower(): name for name in names}
    lowered = word[:LONGEST].lower()
    parts = _parts(lowered)
    whole = [name for name in spellings if parts and parts <= _parts(name)]
    if whole:
        fewest = min(len(_parts(name)) for name in whole)
        shortest = [name for name in whole if len(_parts(name)) == fewest]
        return spellings[shortest[0]] if len(shortest) == 1 else ""
    from difflib import get_close_matches

    matches = get_close_matches(lowered, spellings, n=1, cutoff=0.6)
    return spellings[matches[0]] if matches else ""


def _parts(name: str) -> frozenset[str]:
    return frozenset(name.translate(SEPARATORS).split("-")) - {""}
