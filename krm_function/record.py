"""`NamedTuple` for records: the same behaviour as `typing.NamedTuple`, made in a tenth of the time.

Rule of this file: to type checkers it is `typing.NamedTuple` (see record.pyi), and the tests compare both. The standard
one compiles a constructor from source text for every class, which took a third of this project's import time, in every
build of every user. Here all classes share one constructor. These classes may also have a `functools.cached_property`.
To type checkers `Annotated` is typing's; it keeps the notes of a field unchanged, while typing's tries to hash them, in
9 microseconds for each field.

Where the body of a class keeps its annotations:

    Python           in the namespace of a metaclass
    3.11 to 3.13     `__annotations__`: field -> type
    3.14 and newer   `__annotate_func__`: a function that makes that map when it is called with 1, the format VALUE
                     (PEP 649, PEP 749)
    any              `__annotations__`, in a module with `from __future__ import annotations`
    any              neither, in a body without annotations
"""

from collections import _tuplegetter as getter  # type: ignore[attr-defined]  # half the time of a property
from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar, Self

_new = tuple.__new__
_VALUE = 1  # annotationlib.Format.VALUE; that module would be the slowest import at start


def _read_field_names(namespace: dict[str, Any]) -> tuple[str, ...]:
    if "__annotate_func__" in namespace:
        return tuple(namespace["__annotate_func__"](_VALUE))
    return tuple(namespace.get("__annotations__", ()))


class Declared:
    """A field's type and its notes: `Annotated[int, "how many"]`."""

    __slots__ = ("kind", "notes")

    def __init__(self, kind: Any, *notes: Any) -> None:
        self.kind = kind
        self.notes = notes

    def __class_getitem__(cls, parts: tuple[Any, ...]) -> Self:
        return cls(*parts)


Annotated = Declared


class _Meta(type):
    """Turns annotated names into the fields of a tuple."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        if "__new__" in namespace:  # the base class
            return super().__new__(cls, name, bases, namespace)
        fields = _read_field_names(namespace)
        defaults = {field: namespace[field] for field in fields if field in namespace}
        if tuple(defaults) != fields[len(fields) - len(defaults) :]:
            raise TypeError(f"{name}: a field without a default behind one with a default")
        for index, field in enumerate(fields):
            namespace[field] = getter(index, None)
        if not any(isinstance(value, cached_property) for value in namespace.values()):  # these need a __dict__
            namespace["__slots__"] = ()
        namespace |= {"__match_args__": fields, "_fields": fields, "_field_defaults": defaults}
        namespace |= {"_defaults": tuple(defaults.values()), "_places": {field: at for at, field in enumerate(fields)}}
        return super().__new__(cls, name, bases, namespace)


class NamedTuple(tuple[Any, ...], metaclass=_Meta):
    """Base of records: `class Point(NamedTuple): x: int; y: int = 0`."""

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]]
    _field_defaults: ClassVar[dict[str, Any]]
    _defaults: ClassVar[tuple[Any, ...]]
    _places: ClassVar[dict[str, int]]

    def __new__(cls, *values: Any, **by_name: Any) -> Self:
        """Make a record from positions, names and defaults. Raises TypeError if they do not fit the fields."""
        fields = cls._fields
        missing = len(fields) - len(values)
        if not by_name:
            if not missing:
                return _new(cls, values)
            if 0 < missing <= len(cls._defaults):
                return _new(cls, values + cls._defaults[-missing:])
        if missing < 0:
            raise TypeError(f"{cls.__name__} takes {len(fields)} fields, {len(values)} were given")
        rest = []
        for field in fields[len(values) :]:
            if field in by_name:
                rest.append(by_name.pop(field))
            elif field in cls._field_defaults:
                rest.append(cls._field_defaults[field])
            else:
                raise TypeError(f"{cls.__name__} lacks {field}")
        if by_name:
            raise TypeError(f"{cls.__name__} has no field {next(iter(by_name))}, or it was given twice")
        return _new(cls, (*values, *rest))

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Self:
        """Make a record of all its fields in order."""
        return cls(*values)

    def _asdict(self) -> dict[str, Any]:
        """Return field -> value."""
        return dict(zip(self._fields, self, strict=True))

    def _replace(self, **changed: Any) -> Self:
        """Copy a record with some fields changed. Raises TypeError for an unknown field (Python: since 3.13)."""
        values = list(self)
        for field, value in changed.items():
            if field not in self._places:
                raise TypeError(f"{type(self).__name__} has no field {field}")
            values[self._places[field]] = value
        return _new(type(self), values)

    def __repr__(self) -> str:
        pairs = zip(self._fields, self, strict=True)
        return f"{type(self).__name__}({', '.join(f'{field}={value!r}' for field, value in pairs)})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)
