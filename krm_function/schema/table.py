"""A record as a table: each field is declared once, in the class, and read into the class.

    class Options(NamedTuple):
        node_names: Annotated[tuple[str, ...], Field(ListOf(ANY_TEXT), "of the nodes")] = ()
        mode: Annotated[Literal["render", "check"], "what a call does"] = "render"

    OPTIONS = table(Options)        # {"nodeNames": a list, "mode": one of render, check; render by default}

Rule of this file: the attribute gives the name, in camel case; the annotation the type, what a value may be, and the
sentence about it; the default of the class says that the field may be absent, and what it is then. An attribute that is
not `Annotated` is no field of the document.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, get_args

from krm_function.record import Declared
from krm_function.schema.kinds import Choice, Field, Flag, Problems, Record, Spec
from krm_function.schema.read import UNREAD

_NEEDED: Any = object()
EMPTY: Mapping[str, Any] = MappingProxyType({})
"""The default of an attribute that is a map."""


def table(
    form: Any,
    check: Callable[[dict[str, Any]], Problems] | None = None,
    make: Callable[..., Any] | None = None,
    unread: Mapping[str, Field] = EMPTY,
) -> Record:
    """Make the table of a record class. make: what to call in place of the class. unread: fields that it does not have.

    A list in the document is a tuple in the record. Annotations are `Annotated[type, Field]`, or
    `Annotated[type, about, *marks]` where the type says what a value may be: Literal and bool.
    """
    defaults = form._field_defaults
    attributes, fields = {}, {}
    for attribute, hint in form.__annotations__.items():
        if type(hint) is Declared:
            name = _camel_case(attribute) if "_" in attribute else attribute
            attributes[name] = attribute
            fields[name] = _field(hint, defaults.get(attribute, _NEEDED))
    maker = make or form

    def made(**given: Any) -> Any:
        """Make the record. given: by name of the field; an attribute that is no field goes by its own name."""
        return maker(
            **{
                attributes.get(name, name): tuple(value) if isinstance(value, list) else value
                for name, value in given.items()
                if value is not None
            }
        )

    fields.update({name: field._replace(marks=(UNREAD,)) for name, field in unread.items()})
    return Record(fields, check, True, made)


def only(**given: Any) -> Any:
    """Return the value of a Record with one field, which an attribute stands for; None where it is absent."""
    return next(iter(given.values()), None)


def _camel_case(attribute: str) -> str:
    first, *rest = attribute.split("_")
    return first + "".join(map(str.capitalize, rest))


def _field(hint: Declared, default: Any) -> Field:
    """Return the field of an attribute; its default is shown where it is a word of the document, or true or false."""
    about, *marks = hint.said
    field = about if isinstance(about, Field) else Field(_spec(hint.kind), about, False, None, tuple(marks))
    if default is _NEEDED:
        return field._replace(required=True)
    if not isinstance(default, bool | str) or default == "" or field.default is not None:
        return field
    if isinstance(field.spec, Record):  # of one field
        inner = {name: one._replace(default=default) for name, one in field.spec.fields.items()}
        return field._replace(spec=field.spec._replace(fields=inner))
    return field._replace(default=default)


def _spec(kind: Any) -> Spec:
    return Flag() if kind is bool else Choice(get_args(kind))
