"""A record as a table: each field is declared once, in the class, and read into the class.

    class Options(NamedTuple):
        node_names: Annotated[tuple[str, ...], Field(ListOf(ANY_TEXT), "of the nodes")] = ()
        mode: Annotated[Literal["render", "check"], "what a call does"] = "render"

    OPTIONS = table(Options)        # {"nodeNames": a list, "mode": one of render, check; render by default}

Rule of this file: the attribute gives the name, in camel case; the annotation gives the type, the valid values, and the
sentence about it; a default of the class means that the field may be absent, and gives its value then. An attribute
that is not `Annotated` is not a field of the document.
"""

from collections.abc import Callable, Container, Mapping
from types import MappingProxyType
from typing import Any, get_args

from krm_function.record import Declared
from krm_function.schema.check import Faults, faults
from krm_function.schema.values import (
    Anything,
    Choice,
    Field,
    Flag,
    JsonObject,
    ListOf,
    MapOf,
    Number,
    OneOrMany,
    Only,
    OrNull,
    Problems,
    Record,
    Scalar,
    Spec,
    Text,
    Word,
)

# --- A value of a document: brought to the one form that `check` expects, checked, and filled into its record
#
# Rule: `read_value` makes equal what YAML and JSON Schema treat as equal; wrong values stay for the checker to find.
# `filled` turns a value without faults into the result of its table's `make`.
#
#                               read_value                                           filled
#     Choice with `fold`        the spelling of the table
#     Choice that has `off`     false is off: YAML 1.1 reads off so without quotes
#     Number                    2.0 is 2
#     JsonObject                the map in a JSON string
#     MapOf                     the key 2 is "2"                                     the same, of any key
#     OneOrMany                                                                      always a list
#     Record                    a null is left out
#     Record with `make`                                                             its result for the fields


UNREAD = "unread"  # the mark of a field that the result of `make` does not have
_AS_IT_IS = frozenset((Anything, Choice, Flag, JsonObject, Number, Only, Scalar, Text))
_NEVER_CHANGED = frozenset((Anything, Flag, Only, Scalar, Text))
OFF = "off"


def read_value(spec: Spec, value: Any) -> tuple[Any, Faults]:
    """Bring a value to the form of its spec, and find its faults. Raises nothing; use the value only without faults."""
    normal = _normalise(spec, value)
    return normal, faults(spec, normal)


def filled(spec: Spec, value: Any, **extra: Any) -> Any:
    """Make the value. It shares no maps and lists with the input, except for those without a table.

    extra: further arguments for the `make` of this Record.
    """
    kind = type(spec)
    if value is None or kind in _AS_IT_IS:  # None: of OrNull, or in a map that may have nulls
        return value
    if isinstance(spec, Record):
        return _fill_record(spec, value, extra)
    if isinstance(spec, MapOf):
        if type(spec.values) in _AS_IT_IS:
            return {str(key): item for key, item in value.items()}
        return {str(key): filled(spec.values, item) for key, item in value.items()}
    if isinstance(spec, ListOf):
        return list(value) if type(spec.items) in _AS_IT_IS else [filled(spec.items, item) for item in value]
    if isinstance(spec, OneOrMany):
        return filled(ListOf(spec.items), value if isinstance(value, list | tuple) else (value,))
    if isinstance(spec, Word):
        return value if isinstance(value, str) else filled(spec.spec, value)
    return filled(spec.spec, value) if isinstance(spec, OrNull) else value


def _normalise(spec: Spec, value: Any) -> Any:
    if type(spec) in _NEVER_CHANGED:
        return value
    match spec:
        case Record() if isinstance(value, dict):
            fields = spec.fields
            return {
                name: _normalise(fields[name].spec, item) if name in fields else item
                for name, item in value.items()
                if item is not None or name not in fields
            }
        case MapOf() if isinstance(value, dict):
            return {_key_text(key, value): _normalise(spec.values, item) for key, item in value.items()}
        case OneOrMany() if not isinstance(value, list):
            return _normalise(spec.items, value)
        case Word() if not isinstance(value, str):
            return _normalise(spec.spec, value)
        case ListOf() | OneOrMany() if isinstance(value, list):
            return [_normalise(spec.items, item) for item in value]
        case Choice() if value is False and OFF in spec.values:
            return OFF
        case Choice(fold=True) if isinstance(value, str):
            return next((name for name in spec.values if name.lower() == value.lower()), value)
        case Number() if isinstance(value, float) and value.is_integer():
            return int(value)
        case JsonObject() if isinstance(value, str):
            try:
                return spec.load(value)
            except (ValueError, RecursionError):
                return value
        case _:
            return value


def _key_text(key: Any, keys: Container[Any]) -> Any:
    """Return a key as text, unless the map also has that text as a key: then the number is a fault."""
    text = str(key) if isinstance(key, int) and not isinstance(key, bool) else key
    return key if text in keys else text


def _fill_record(spec: Record, value: Any, extra: dict[str, Any]) -> Any:
    fields, values = spec.fields, {}
    for name, item in value.items():
        field = fields.get(name)
        if field is None or UNREAD in field.marks:
            if spec.make is None:
                values[name] = item
        elif type(field.spec) in _AS_IT_IS:
            if item is not None:
                values[name] = item
        elif item is not None or type(field.spec) is OrNull:
            values[name] = filled(field.spec, item)
    return values if spec.make is None else spec.make(**values, **extra)


_NEEDED: Any = object()
EMPTY: Mapping[str, Any] = MappingProxyType({})
"""The default of an attribute that is a map."""


def table(
    form: Any,
    check: Callable[[dict[str, Any]], Problems] | None = None,
    make: Callable[..., Any] | None = None,
    unread: Mapping[str, Field] = EMPTY,
) -> Record:
    """Make the table of a record class. make: what to call instead of the class. unread: fields that it does not have.

    A list in the document is a tuple in the record. Annotations are `Annotated[type, Field]`, or
    `Annotated[type, about, *marks]` if the type defines the valid values: Literal and bool.
    """
    defaults = form._field_defaults
    attributes, fields = {}, {}
    for attribute, hint in form.__annotations__.items():
        if type(hint) is Declared:
            name = _camel_case(attribute) if "_" in attribute else attribute
            attributes[name] = attribute
            fields[name] = _make_field(hint, defaults.get(attribute, _NEEDED))
    maker = make or form

    def made(**values: Any) -> Any:
        """Make the record. values: by name of the field; an attribute that is not a field goes by its own name."""
        return maker(
            **{
                attributes.get(name, name): tuple(value) if isinstance(value, list) else value
                for name, value in values.items()
                if value is not None
            }
        )

    fields.update({name: field._replace(marks=(UNREAD,)) for name, field in unread.items()})
    return Record(fields, check, True, made)


def only(**values: Any) -> Any:
    """Return the value of a Record with one field, which an attribute replaces; None if it is absent."""
    return next(iter(values.values()), None)


def _camel_case(attribute: str) -> str:
    first, *rest = attribute.split("_")
    return first + "".join(map(str.capitalize, rest))


def _make_field(hint: Declared, default: Any) -> Field:
    """Return the field of an attribute; its default is shown if it is a word of the document, or true or false."""
    about, *marks = hint.notes
    field = about if isinstance(about, Field) else Field(_make_spec(hint.kind), about, False, None, tuple(marks))
    if default is _NEEDED:
        return field._replace(required=True)
    if not isinstance(default, bool | str) or default == "" or field.default is not None:
        return field
    if isinstance(field.spec, Record):  # with one field
        inner = {name: part._replace(default=default) for name, part in field.spec.fields.items()}
        return field._replace(spec=field.spec._replace(fields=inner))
    return field._replace(default=default)


def _make_spec(kind: Any) -> Spec:
    return Flag() if kind is bool else Choice(get_args(kind))
