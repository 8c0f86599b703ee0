"""Read and change the fields of an object, or of a map inside it.

Rule of this file: everything that is given out is live. Maps are dicts and lists are lists of the object itself, so a
change in place is a change of the object; setting them back is allowed and changes nothing more. A value that is set
becomes part of the object as in any dict: put into two places, it is one value. Typed getters answer None (or the
default) for a missing or null field, and raise FieldError, which names object and field, for one of another type.
"""

from collections.abc import Mapping
from typing import Any, TypeVar, overload

from krm_function.krm.errors import FieldError, MisuseError
from krm_function.krm.field_path import ABSENT, TYPES, check_plain, checked, child, kind_of, look_up, misfit
from krm_function.krm.result import FieldPath, Result, Severity

T = TypeVar("T")


class Fields:
    """What KubeObject and SubObject have in common; paths start at the object or at the sub-object."""

    __slots__ = ()

    # --- what the two kinds of objects define

    def _peek(self) -> Any:
        """Return the data to look into, not to give out."""
        raise NotImplementedError

    def _live(self) -> Any:
        """Return the data itself, which may be changed in place."""
        raise NotImplementedError

    def _replace(self, value: Any) -> None:
        """Put `value` in the place of all data."""
        raise NotImplementedError

    def result(
        self,
        message: str,
        severity: Severity = "error",
        path: FieldPath = (),
        *,
        current_value: Any = None,
        proposed_value: Any = None,
    ) -> Result:
        """Make a result about the object, and about its field at `path`; values are shown only if given here."""
        raise NotImplementedError

    def _refuse_dotted(self, path: FieldPath) -> None:
        """Raise MisuseError for a path whose first key was meant as several: ("spec.replicas",)."""

    def _named(self, path: FieldPath) -> tuple[str, FieldPath]:
        """Return the name of the object for a message, and the path from its root."""
        raise NotImplementedError

    # --- reading

    def nested(self, path: FieldPath) -> Any:
        """Return the live value at `path`, of any type; None when it is null or absent. Raises for no odd shape."""
        path = checked(path)
        found = look_up(self._peek(), path)
        if isinstance(found, dict | list):
            found = look_up(self._live(), path)
        if found is ABSENT:
            self._refuse_dotted(path)
            return None
        return found

    @overload
    def get_str(self, path: FieldPath) -> str | None: ...
    @overload
    def get_str(self, path: FieldPath, default: str) -> str: ...
    def get_str(self, path: FieldPath, default: str | None = None) -> str | None:
        """Return the string at `path`."""
        return self._typed(path, str, default)

    @overload
    def get_int(self, path: FieldPath) -> int | None: ...
    @overload
    def get_int(self, path: FieldPath, default: int) -> int: ...
    def get_int(self, path: FieldPath, default: int | None = None) -> int | None:
        """Return the integer at `path`; a boolean is none, nor is 0.5."""
        return self._typed(path, int, default)

    @overload
    def get_float(self, path: FieldPath) -> float | None: ...
    @overload
    def get_float(self, path: FieldPath, default: float) -> float: ...
    def get_float(self, path: FieldPath, default: float | None = None) -> float | None:
        """Return the number at `path`, an integer as a float."""
        found = self._typed(path, float, default, int)
        return None if found is None else float(found)

    @overload
    def get_bool(self, path: FieldPath) -> bool | None: ...
    @overload
    def get_bool(self, path: FieldPath, default: bool) -> bool: ...
    def get_bool(self, path: FieldPath, default: bool | None = None) -> bool | None:
        """Return the boolean at `path`."""
        return self._typed(path, bool, default)

    def get_list(self, path: FieldPath) -> list[Any] | None:
        """Return the live list at `path`. There is no default, since changes of a default would be lost: setdefault."""
        return self._typed(path, list, None)

    def get_map(self, path: FieldPath) -> dict[str, Any] | None:
        """Return the live map at `path`. There is no default, since changes of a default would be lost: setdefault."""
        return self._typed(path, dict, None)

    def get_strings(self, path: FieldPath) -> list[str] | None:
        """Return the live list at `path`, all of whose elements are strings."""
        found = self._typed(path, list, None)
        for index, item in enumerate(found or ()):
            self._expect(item, str, (*path, index))
        return found

    def get_string_map(self, path: FieldPath) -> dict[str, str] | None:
        """Return the live map at `path`, all of whose values are strings."""
        found = self._typed(path, dict, None)
        for key, item in (found or {}).items():
            self._expect(item, str, (*path, key))
        return found

    def sub_object(self, path: FieldPath) -> "SubObject | None":
        """Return the map at `path` as an object with getters and setters of its own."""
        found = self.get_map(path)
        return None if found is None else SubObject(self, path, found)

    def sub_objects(self, path: FieldPath) -> "tuple[SubObject, ...]":
        """Return the maps of the list at `path`, as `for container in item.sub_objects(...)`; () when it is missing."""
        found = self._typed(path, list, None) or []
        for index, item in enumerate(found):
            self._expect(item, dict, (*path, index))
        return tuple(SubObject(self, (*path, index), item) for index, item in enumerate(found))

    # --- changing

    def set_nested(self, path: FieldPath, value: Any) -> None:
        """Set the value at `path`, and make the maps above it where they are absent or null.

        An index may be that of an element, or the length of the list, which appends. Setting what is there already
        changes nothing. Raises FieldError when the path leads through something that is no map or list, and MisuseError
        for a value that is no plain data.
        """
        path = checked(path)
        self._refuse_dotted(path)
        self._check_new(value, path)
        if not path:
            self._replace(value)
            return
        for depth in range(len(path)):
            if isinstance(path[depth], int) and look_up(self._peek(), path[:depth]) in (None, ABSENT):
                raise FieldError(self.result("there is no list yet; set the whole list", path=path[:depth]))
        at = self._live()
        for depth, part in enumerate(path[:-1]):
            self._check_way(at, path, depth)
            below = child(at, part)
            if below is None or below is ABSENT:
                below = {}
                _put(at, part, below)
            at = below
        self._check_way(at, path, len(path) - 1)
        if child(at, path[-1]) is not value:
            _put(at, path[-1], list(value) if isinstance(value, tuple) else value)

    @overload
    def setdefault(self, path: FieldPath, default: list[Any]) -> list[Any]: ...
    @overload
    def setdefault(self, path: FieldPath, default: dict[str, Any]) -> dict[str, Any]: ...
    @overload
    def setdefault(self, path: FieldPath, default: T) -> T: ...
    def setdefault(self, path: FieldPath, default: Any) -> Any:
        """Return the live value at `path`, which is set to `default` where it is absent or null.

        Raises FieldError when there is a value of another type than `default`.
        """
        if self.nested(path) is None:
            self.set_nested(path, default)
        kind: type = next((kind for kind in TYPES if isinstance(default, kind)), type(None))
        return self._typed(path, list if kind is tuple else kind, None)

    def remove_nested(self, path: FieldPath) -> bool:
        """Remove the key or element at `path`; False when there is none."""
        path = checked(path)
        if not path or look_up(self._peek(), path) is ABSENT:
            self._refuse_dotted(path)
            return False
        del look_up(self._live(), path[:-1])[path[-1]]
        return True

    # --- how

    def _check_new(self, value: Any, path: FieldPath) -> None:
        """Raise MisuseError, which names the object, unless `value` can be written at `path`."""
        try:
            check_plain(value)
        except MisuseError:
            name, whole = self._named(path)
            try:
                check_plain(value, whole)
            except MisuseError as error:
                raise MisuseError(f"{name}: {error}") from None

    def _typed(self, path: FieldPath, kind: type[T], default: T | None, also: type | None = None) -> T | None:
        """Return the value at `path` if it is of `kind` or `also`; `default` where it is missing or null."""
        path = checked(path)
        value = self._peek()
        for depth, part in enumerate(path):
            if value is None or value is ABSENT:
                self._refuse_dotted(path)
                return default
            if problem := misfit(value, part):
                raise FieldError(self.result(problem, path=path[:depth]))
            value = child(value, part)
        if value is None or value is ABSENT:
            self._refuse_dotted(path)
            return default
        self._expect(value, kind, path, also)
        found: T = look_up(self._live(), path) if isinstance(value, dict | list) else value
        return found

    def _expect(self, value: Any, kind: type, path: FieldPath, also: type | None = None) -> None:
        fits = isinstance(value, (kind, also) if also else kind)
        if not fits or (isinstance(value, bool) and kind is not bool):
            raise FieldError(self.result(f"is {kind_of(value)}, {TYPES[kind]} is expected", path=path))

    def _check_way(self, value: Any, path: FieldPath, depth: int) -> None:
        """Raise FieldError when `path[depth]` cannot be set in `value`."""
        part = path[depth]
        problem = misfit(value, part)
        if not problem and isinstance(part, int) and not -len(value) <= part <= len(value):
            problem = f"has no element {part}"
        if problem:
            raise FieldError(self.result(problem, path=path[:depth]))


class SubObject(Fields):
    """A map inside of an object: a container, a volume, an owner reference. It stays valid when lists are reordered.

    Once its map has been taken out of the object, changes of it no longer concern the object, as with any dict.
    """

    __slots__ = ("_data", "_owner", "_path")

    def __init__(self, owner: Fields, path: FieldPath, data: dict[str, Any]) -> None:
        """Look at the live map `data`, which stands at `path` of `owner`; get one by `sub_object` or `sub_objects`."""
        self._owner = owner
        self._path = path
        self._data = data

    def __repr__(self) -> str:
        """Name the object and the path, no value."""
        return f"SubObject({self._owner!r}, {self._path!r})"

    @property
    def data(self) -> dict[str, Any]:
        """The map itself."""
        return self._data

    def result(
        self,
        message: str,
        severity: Severity = "error",
        path: FieldPath = (),
        *,
        current_value: Any = None,
        proposed_value: Any = None,
    ) -> Result:
        """Make a result about the object that this map is part of; `path` starts at this map."""
        whole = (*self._place(), *checked(path))
        return self._owner.result(message, severity, whole, current_value=current_value, proposed_value=proposed_value)

    def _place(self) -> FieldPath:
        """Return the path by now: the index of an element changes with the list that it stands in."""
        *above, last = self._path
        around = self._owner.nested(tuple(above))
        if isinstance(around, list):
            last = next((index for index, item in enumerate(around) if item is self._data), last)
        return (*above, last)

    def _named(self, path: FieldPath) -> tuple[str, FieldPath]:
        return self._owner._named((*self._place(), *path))  # noqa: SLF001 - of the same base class

    def _peek(self) -> Any:
        return self._data

    def _live(self) -> Any:
        return self._data

    def _replace(self, value: Any) -> None:
        if not isinstance(value, Mapping):
            raise MisuseError(f"a sub-object is a map, not {kind_of(value)}")
        new = dict(value)  # it may be the very map that is cleared
        self._data.clear()
        self._data.update(new)


def _put(into: Any, part: Any, value: Any) -> None:
    if isinstance(into, list) and part == len(into):
        into.append(value)
    else:
        into[part] = value
