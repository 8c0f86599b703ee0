"""The functionConfig as a class of the function's own: a dataclass, a NamedTuple or a TypedDict.

Rule of this file: the fields come from `data` of a v1 ConfigMap (`kpt fn eval -- replicas=3`), whose texts are read as
the types that the class declares, and from `spec` of any other kind. A field that is missing, unknown or of another
type is an error that names it, all of them in one message; no message quotes a value.
"""

import sys
from collections.abc import Callable, Iterable
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

from krm_function.krm.errors import FunctionError, MisuseError
from krm_function.krm.field_path import TYPES, kind_of
from krm_function.krm.function_config import config_map_data
from krm_function.krm.kube_object import KubeObject
from krm_function.krm.result import FieldPath, dotted

T = TypeVar("T")
_PLAIN = (Any, str, int, float, bool, list, dict)
_SUPPORTED = (
    "supported are str, int, float, bool, Any, list[...], dict[str, ...], Literal[...], `... | None`,"
    " and a NamedTuple, dataclass or TypedDict"
)
_TRUTH = {"true": True, "false": False}


def read_config(function_config: KubeObject | None, form: type[T]) -> T:
    """Fill `form` from the functionConfig; without one, from nothing, so that its defaults hold.

    Field types: str, int, float, bool, Any, list[...], dict[str, ...], Literal[...], `... | None`, and such classes
    again. Raises FunctionError for what does not fit, MisuseError for a class or type that cannot be filled.
    """
    problems: list[str] = []
    texts = config_map_data(function_config) if _is_config_map(function_config) else None
    path: FieldPath = ("spec",) if texts is None else ("data",)
    found: Any = texts
    if texts is None and function_config is not None:
        found = function_config.nested(path)
    made = _Reader(problems, texts is not None).record(found if found is not None else {}, form, path)
    if problems and function_config is None:
        raise FunctionError(f"there is no functionConfig; it must give {_listed(sorted(_form(form).required))}")
    if problems:
        raise FunctionError(f"functionConfig: {'; '.join(problems)}")
    result: T = made
    return result


def _is_config_map(config: KubeObject | None) -> bool:
    return config is not None and config.is_gvk("", "v1", "ConfigMap")


class _Form(NamedTuple):
    """The fields of a class: the type of each field, which of them must be there, and how to make it."""

    hints: dict[str, Any]
    required: frozenset[str]
    make: Callable[..., Any]


class _Reader:
    """Reads values as declared types, and collects what does not fit. texts: values are the texts of a ConfigMap."""

    def __init__(self, problems: list[str], texts: bool) -> None:
        self.problems = problems
        self.texts = texts

    def record(self, value: Any, form: Any, path: FieldPath) -> Any:
        """Make an object of the class `form`; None after a problem."""
        if not isinstance(value, dict):
            return self._problem(path, f"is {kind_of(value)}, a map is expected")
        hints, required, make = _form(form)
        for name, hint in hints.items():
            _check_type(hint, f"{_name(form)}.{name}")
        before = len(self.problems)
        for name in value:
            if name not in hints:
                self._problem((*path, name), f"is unknown; known are {_listed(hints)}")
        fields = {
            name: self.value(value[name], hint, (*path, name))
            for name, hint in hints.items()
            if name in value and (value[name] is not None or name in required or _takes_null(hint))
        }
        for name in sorted(required.difference(fields)):
            self._problem((*path, name), "is missing")
        return make(**fields) if len(self.problems) == before else None

    def value(self, value: Any, hint: Any, path: FieldPath) -> Any:
        """Read one value as the type `hint`."""
        origin, arguments = get_origin(hint), get_args(hint)
        if hint is Any:
            return value
        if origin in (Union, UnionType):
            return None if value is None else self.value(value, _not_none(arguments)[0], path)
        if origin is Literal:
            return self._literal(value, arguments, path)
        if hint in (str, int, float, bool):
            return self._scalar(value, hint, path)
        if origin is list or hint is list:
            return self._list(value, (arguments or (Any,))[0], path)
        if origin is dict or hint is dict:
            return self._map(value, (arguments or (str, Any))[1], path)
        return self.record(value, hint, path)

    def _scalar(self, value: Any, kind: type, path: FieldPath) -> Any:
        if self.texts and isinstance(value, str):
            try:
                return _TRUTH[value.strip().lower()] if kind is bool else kind(value)
            except (ValueError, KeyError):
                return self._problem(path, f"is not {TYPES[kind]}")
        fits = isinstance(value, (int, float) if kind is float else kind)
        if not fits or (isinstance(value, bool) and kind is not bool):
            return self._problem(path, f"is {kind_of(value)}, {TYPES[kind]} is expected")
        return float(value) if kind is float else value

    def _literal(self, value: Any, choices: tuple[Any, ...], path: FieldPath) -> Any:
        for choice in choices:
            if value == (str(choice) if self.texts else choice) and (self.texts or type(value) is type(choice)):
                return choice
        return self._problem(path, f"is none of {_listed(map(str, choices))}")

    def _list(self, value: Any, hint: Any, path: FieldPath) -> Any:
        if not isinstance(value, list):
            return self._problem(path, self._unfit(value, "a list"))
        return [self.value(item, hint, (*path, index)) for index, item in enumerate(value)]

    def _map(self, value: Any, hint: Any, path: FieldPath) -> Any:
        if not isinstance(value, dict):
            return self._problem(path, self._unfit(value, "a map"))
        return {key: self.value(item, hint, (*path, key)) for key, item in value.items()}

    def _unfit(self, value: Any, wanted: str) -> str:
        if self.texts:
            return f"is {wanted}, which a ConfigMap cannot hold: use a kind of your own with a spec"
        return f"is {kind_of(value)}, {wanted} is expected"

    def _problem(self, path: FieldPath, problem: str) -> None:
        self.problems.append(f"{dotted(path)} {problem}")


def _form(form: Any) -> _Form:
    """Return the fields of a class. Raises MisuseError for one that is no dataclass, NamedTuple or TypedDict."""
    if is_typeddict(form):
        return _Form(get_type_hints(form), form.__required_keys__, form)
    if hasattr(form, "__dataclass_fields__"):
        missing = sys.modules["dataclasses"].MISSING  # loaded, since there is a dataclass
        fields = [field for field in form.__dataclass_fields__.values() if field.init]
        hints = get_type_hints(form)
        required = {field.name for field in fields if field.default is missing and field.default_factory is missing}
        return _Form({field.name: hints[field.name] for field in fields}, frozenset(required), form)
    if isinstance(form, type) and issubclass(form, tuple) and hasattr(form, "_field_defaults"):
        names: Iterable[str] = form._fields  # type: ignore[attr-defined]
        return _Form(get_type_hints(form), frozenset(names) - set(form._field_defaults), form)
    raise MisuseError(
        f"{_name(form)} cannot be read from a functionConfig: write a dataclass, a NamedTuple or a TypedDict"
    )


def _check_type(hint: Any, field: str) -> None:
    """Raise MisuseError, which names the field, for a type that no value can be read as."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        inner = _not_none(arguments)
        if len(inner) != 1:
            raise MisuseError(f"{field}: of a union only `... | None` can be read from a functionConfig")
        _check_type(inner[0], field)
    elif origin is list:
        _check_type(arguments[0], field)
    elif origin is dict and arguments[0] is str:
        _check_type(arguments[1], field)
    elif hint not in _PLAIN and origin is not Literal and not _is_form(hint):
        raise MisuseError(f"{field}: {_name(hint)} cannot be read from a functionConfig; {_SUPPORTED}")


def _not_none(arguments: tuple[Any, ...]) -> list[Any]:
    return [argument for argument in arguments if argument is not NoneType]


def _is_form(hint: Any) -> bool:
    is_tuple = isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_field_defaults")
    return is_tuple or is_typeddict(hint) or hasattr(hint, "__dataclass_fields__")


def _name(hint: Any) -> str:
    return str(getattr(hint, "__name__", None) or hint)


def _takes_null(hint: Any) -> bool:
    return hint is Any or NoneType in get_args(hint)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
