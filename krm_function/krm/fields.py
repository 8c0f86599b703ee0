"""Read and change the fields of an object, or of a map inside it."""

from collections.abc import Iterator, Mapping, MutableMapping
from marshal import dumps
from math import isfinite
from typing import Any, Literal, Self, TypeVar, overload

from krm_function.krm.result import FieldError, FieldPath, FunctionError, MisuseError, Result, Severity, dotted
from krm_function.record import NamedTuple

# --- Walk plain data by a path: a tuple of map keys and list indexes, ("spec", "containers", 0, "image")
#
# Rule: a string is never a path. An index may count from the end (-1 is the last element), as in Python.
# Null counts as absent, as in Kubernetes.


ABSENT: Any = object()
TYPES: dict[type, str] = {
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    list: "a list",
    tuple: "a list",
    dict: "a map",
    type(None): "null",
}
_DEEPEST = 200  # nested collections: far more than Kubernetes has, far less than the interpreter's limit


def checked(path: Any) -> FieldPath:
    """Return `path` as a tuple. Raises MisuseError for a string, and for parts that are no key and no index."""
    if isinstance(path, str):
        raise MisuseError(
            'a path is a tuple of keys and indexes: write ("spec", "replicas"), not "spec.replicas",'
            ' and ("kind",), with a comma, for one key'
        )
    try:
        parts = tuple(path)
    except TypeError:
        raise MisuseError(f"a path is a tuple of keys and indexes, not {type(path).__name__}") from None
    for part in parts:
        if not isinstance(part, str | int) or isinstance(part, bool):
            raise MisuseError(f"a path consists of keys (str) and indexes (int), not of {type(part).__name__}")
    return parts


def child(value: Any, part: str | int) -> Any:
    """Return the element of a map or list; ABSENT where there is none. A tuple becomes a list in its place."""
    if isinstance(value, dict) and isinstance(part, str):
        element = value.get(part, ABSENT)
    elif isinstance(value, list) and isinstance(part, int) and -len(value) <= part < len(value):
        element = value[part]
    else:
        return ABSENT
    if isinstance(element, tuple):
        value[part] = element = list(element)
    return element


def look_up(value: Any, path: FieldPath) -> Any:
    """Return the value at `path`; ABSENT where there is nothing, or where the way is no map or list."""
    for part in path:
        value = child(value, part)
    return value


def misfit(value: Any, part: str | int) -> str:
    """Say why `part` cannot be a key or an index of `value`; "" when it can."""
    kind, name = (dict, "map") if isinstance(part, str) else (list, "list")
    return "" if isinstance(value, kind) else f"is {kind_of(value)}, a {name} is expected"


def kind_of(value: Any) -> str:
    """Return what a value is, in the words of YAML: `a string`."""
    return TYPES.get(type(value)) or next(
        (words for kind, words in TYPES.items() if isinstance(value, kind)), f"a {type(value).__name__}"
    )


def check_plain(value: Any, path: FieldPath = (), depth: int = 0, *, new: bool = True) -> None:
    """Raise MisuseError unless `value`, the new value of `path`, is plain data all the way down.

    new: it was not read from a text, so that it must also be writable: no infinity, no half of a surrogate pair.
    """
    where = f"{dotted(path)}: " if path else ""
    if isinstance(value, str | int | float | None):
        if new and isinstance(value, float) and not isfinite(value):
            raise MisuseError(f"{where}NaN and infinity cannot be written: Kubernetes has finite numbers only")
        if new and isinstance(value, str):
            _check_writable(value, where)
        return
    if depth >= _DEEPEST:
        raise MisuseError(f"{dotted(path[:6])}: nested deeper than {_DEEPEST} levels, or inside itself")
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise MisuseError(f"{where}a key is a string, not {type(key).__name__}: write str(key)")
            if new:
                _check_writable(key, where)
            if new or not isinstance(item, str):  # nearly all are strings
                check_plain(item, (*path, key), depth + 1, new=new)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            check_plain(item, (*path, index), depth + 1, new=new)
    else:
        name = type(value).__name__
        raise MisuseError(f"{where}plain data is dict, list, str, int, float, bool and None, not {name}")


def _check_writable(text: str, where: str) -> None:
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        raise MisuseError(f"{where}half of a surrogate pair is not a character and cannot be written") from None


# --- Read and change the fields of an object, or of a map inside it
#
# Rule: all returned data is live. Maps are dicts and lists are lists of the object itself, so a change in place is a
# change of the object; setting them back is allowed and has no further effect. A value that is set becomes part of the
# object as in any dict: in two places, it is one value. Typed getters return None (or the default) for a missing or
# null field, and raise FieldError, which names object and field, for a field of another type.


T = TypeVar("T")


class Fields:
    """What KubeObject and SubObject have in common; paths start at the object or at the sub-object."""

    __slots__ = ()

    # --- defined by the two kinds of objects

    def _peek(self) -> Any:
        """Return the data for reading, not to be passed on."""
        raise NotImplementedError

    def _live(self) -> Any:
        """Return the data itself, which may be changed in place."""
        raise NotImplementedError

    def _replace(self, value: Any) -> None:
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

    def _locate(self, path: FieldPath) -> tuple[str, FieldPath]:
        """Return the name of the object for a message, and the path from its root."""
        raise NotImplementedError

    # --- reading

    def nested(self, path: FieldPath) -> Any:
        """Return the live value at `path`, of any type; None when it is null or absent. Raises for no odd shape."""
        path = checked(path)
        value = look_up(self._peek(), path)
        if isinstance(value, dict | list):
            value = look_up(self._live(), path)
        if value is ABSENT:
            self._refuse_dotted(path)
            return None
        return value

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
        number = self._typed(path, float, default, int)
        return None if number is None else float(number)

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
        strings = self._typed(path, list, None)
        for index, item in enumerate(strings or ()):
            self._expect(item, str, (*path, index))
        return strings

    def get_string_map(self, path: FieldPath) -> dict[str, str] | None:
        """Return the live map at `path`, all of whose values are strings."""
        strings = self._typed(path, dict, None)
        for key, item in (strings or {}).items():
            self._expect(item, str, (*path, key))
        return strings

    def sub_object(self, path: FieldPath) -> "SubObject | None":
        """Return the map at `path` as an object with getters and setters of its own."""
        data = self.get_map(path)
        return None if data is None else SubObject(self, path, data)

    def sub_objects(self, path: FieldPath) -> "tuple[SubObject, ...]":
        """Return the maps of the list at `path`, as `for container in item.sub_objects(...)`; () when it is missing."""
        items = self._typed(path, list, None) or []
        for index, item in enumerate(items):
            self._expect(item, dict, (*path, index))
        return tuple(SubObject(self, (*path, index), item) for index, item in enumerate(items))

    # --- changing

    def set_nested(self, path: FieldPath, value: Any) -> None:
        """Set the value at `path`, and make the maps above it where they are absent or null.

        An index names an element, or is the length of the list, which appends. Setting what is there already
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

    # --- helpers

    def _check_new(self, value: Any, path: FieldPath) -> None:
        """Raise MisuseError, with the object's name, unless `value` can be written at `path`."""
        try:
            check_plain(value)
        except MisuseError:
            name, whole = self._locate(path)
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
                break
            if problem := misfit(value, part):
                raise FieldError(self.result(problem, path=path[:depth]))
            value = child(value, part)
        if value is None or value is ABSENT:
            self._refuse_dotted(path)
            return default
        self._expect(value, kind, path, also)
        live: T = look_up(self._live(), path) if isinstance(value, dict | list) else value
        return live

    def _expect(self, value: Any, kind: type, path: FieldPath, also: type | None = None) -> None:
        fits = isinstance(value, (kind, also) if also else kind)
        if not fits or (isinstance(value, bool) and kind is not bool):
            raise FieldError(self.result(f"is {kind_of(value)}, {TYPES[kind]} is expected", path=path))

    def _check_way(self, value: Any, path: FieldPath, depth: int) -> None:
        """Raise FieldError if `path[depth]` cannot be set in `value`."""
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
        """Look at the live map `data`, at `path` of `owner`; get one by `sub_object` or `sub_objects`."""
        self._owner = owner
        self._path = path
        self._data = data

    def __repr__(self) -> str:
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
        """Return the present path: the index of an element changes with its list."""
        *above, last = self._path
        around = self._owner.nested(tuple(above))
        if isinstance(around, list):
            last = next((index for index, item in enumerate(around) if item is self._data), last)
        return (*above, last)

    def _locate(self, path: FieldPath) -> tuple[str, FieldPath]:
        return self._owner._locate((*self._place(), *path))  # noqa: SLF001 - of the same base class

    def _peek(self) -> Any:
        return self._data

    def _live(self) -> Any:
        return self._data

    def _replace(self, value: Any) -> None:
        if not isinstance(value, Mapping):
            raise MisuseError(f"a sub-object is a map, not {kind_of(value)}")
        new = dict(value)  # it may be the map that is being cleared
        self._data.clear()
        self._data.update(new)


def _put(into: Any, part: Any, value: Any) -> None:
    if isinstance(into, list) and part == len(into):
        into.append(value)
    else:
        into[part] = value


# --- Labels and annotations as a live map of strings: `item.labels["app"] = "web"`, `del item.annotations["note"]`
#
# Rule: only strings are written, since kpt would write a number unchanged and Kubernetes would refuse it; a value is
# read as the string that kyaml makes of it (`a: 5` is "5").


UPSTREAM_IDENTIFIER = "internal.kpt.dev/upstream-identifier"  # kpt's own; the Go SDK refuses to edit it too


class StringMap(MutableMapping[str, str]):
    """`metadata.labels` or `metadata.annotations` of one object, made there when the first key is set."""

    __slots__ = ("_field", "_object")

    def __init__(self, item: Fields, field: Literal["labels", "annotations"]) -> None:
        self._object = item
        self._field = field

    def __repr__(self) -> str:
        return repr(dict(self))

    def __getitem__(self, key: str) -> str:
        """Return one value. Raises KeyError when there is none, or no scalar."""
        return self._strings()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._strings())

    def __len__(self) -> int:
        return len(self._strings())

    def __setitem__(self, key: str, value: str) -> None:
        """Set one value. Raises MisuseError for what is no string, FieldError where labels are no map."""
        check_settable(key)
        for part in (key, value):
            if not isinstance(part, str):
                raise MisuseError(f"{self._field} are strings, not {type(part).__name__}: write str(...)")
        self._object.set_nested(("metadata", self._field, key), value)

    def __delitem__(self, key: str) -> None:
        """Remove one key. Raises KeyError when there is none."""
        check_settable(key)
        if not self._object.remove_nested(("metadata", self._field, key)):
            raise KeyError(key)

    def __ior__(self, other: Mapping[str, str]) -> Self:
        self.update(other)
        return self

    def _strings(self) -> dict[str, str]:
        data = self._object.nested(("metadata", self._field))
        if not isinstance(data, dict):
            return {}
        pairs = ((key, as_string(value)) for key, value in data.items())
        return {key: value for key, value in pairs if value is not None}


def check_settable(key: str) -> None:
    """Raise FunctionError for the annotation that only kpt may set."""
    if key == UPSTREAM_IDENTIFIER:
        raise FunctionError(f"annotation {key} belongs to kpt and may not be set")


def as_string(value: Any) -> str | None:
    """Return a scalar as text, since kyaml reads `a: 5` as "5"; None for a map or a list."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    return str(value) if isinstance(value, str | int | float) else None


# --- The places of maps and lists at the time when an object returned its data
#
# Rule: an outline refers to the maps and lists themselves, whatever changes in them later; so it shows which elements
# of a sorted, cut or filled list were in it before.


class Outline(NamedTuple):
    """One map or list, `data`, and the outlines of its content: by key, or one for each element.

    None stands for what is neither map nor list.
    """

    data: Any
    parts: Any


def outline(value: Any) -> Outline | None:
    """Make the outline of plain data as it is now."""
    if isinstance(value, dict):
        return Outline(value, {key: outline(item) for key, item in value.items() if isinstance(item, dict | list)})
    if isinstance(value, list):
        return Outline(value, [outline(item) for item in value])
    return None


def below(whole: Outline | None, part: str | int) -> Outline | None:
    """Return the outline of the former value at a key or index."""
    inner: Outline | None = None
    if whole is not None and isinstance(whole.parts, dict):
        inner = whole.parts.get(part)
    elif whole is not None and isinstance(part, int) and part < len(whole.parts):
        inner = whole.parts[part]
    return inner


def with_order(whole: Outline | None, path: FieldPath, order: list[int]) -> Outline | None:
    """Return the outline with the elements of the list at `path` in another order."""
    if whole is None:
        return None
    if not path:
        return Outline(whole.data, [whole.parts[index] for index in order])
    parts = whole.parts.copy()
    parts[path[0]] = with_order(below(whole, path[0]), path[1:], order)
    return Outline(whole.data, parts)


def state(value: Any) -> bytes:
    """Return plain data as bytes: those of equal data with equal key order are equal, and True is not 1.

    b"" for data that has no such form, which is no plain data.
    """
    try:
        return dumps(value, 2)  # version 2 has no references, so sharing makes no difference
    except ValueError:
        return b""
