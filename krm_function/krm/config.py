"""The functionConfig: a ConfigMap's string map, or a class of the function's own."""

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

from krm_function.krm.fields import ABSENT, TYPES, kind_of, look_up
from krm_function.krm.kube_object import KubeObject
from krm_function.krm.result import FieldPath, FunctionError, MisuseError, dotted
from krm_function.schema.check import Fault, expected, faults
from krm_function.schema.table import filled
from krm_function.schema.values import (
    ANY_TEXT,
    Anything,
    Field,
    Flag,
    ListOf,
    MapOf,
    Only,
    OrNull,
    Record,
    Scalar,
    Spec,
)
from krm_function.text.parse import Node

# --- The functionConfig without a separate kind: a ConfigMap's string map (`kpt fn eval -- key=value`)
#
# Rule: a key and a value are the text that the user wrote. `version: 1.10` is "1.10", as Go reads it into a
# string map; kpt writes `-- n=3` as `n: 3`, and `n` is a boolean of YAML 1.1.


def config_map_data(function_config: KubeObject | None) -> dict[str, str] | None:
    """Return the `data` of a ConfigMap as strings: {} when it has none (kpt without arguments), None without config.

    Raises FunctionError for another kind, and for data that is no map of scalars.
    """
    if function_config is None:
        return None
    if not function_config.is_gvk("", "v1", "ConfigMap"):
        shown = f"is of kind {function_config.kind}" if function_config.kind else "has no kind"
        raise FunctionError(f"functionConfig {shown}, a v1 ConfigMap is expected")
    data = function_config.nested(("data",))
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise FunctionError("functionConfig: data is not a map")
    pairs = [] if function_config.changed else _read_pairs(function_config)
    keys = {key: key for key in data} | {name: text for name, text, _ in pairs}
    written = {name: value for name, _, value in pairs if value is not None}
    return {keys[key]: _read_text(key, value, written) for key, value in data.items()}


def _read_text(key: str, value: Any, written: dict[str, str]) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if key not in written:
        raise FunctionError(f"functionConfig: data.{key} is not a string")
    return written[key]


def _read_pairs(config: KubeObject) -> list[tuple[str, str, str | None]]:
    """Return each key of `data` as it is read and as it is written, and its value if that is unquoted."""
    document = config.document
    node = document.node
    data = next((value for _, value, name in node.parts if name == "data"), None) if node else None
    if data is not None and data.kind == "alias":
        data = data.parts[0]
    if data is None or data.kind != "map":
        return []
    return [
        (str(name), _read_unquoted(document.text, key) or str(name), _read_unquoted(document.text, value))
        for key, value, name in data.parts
        if name is not None
    ]


def _read_unquoted(text: str, node: Node) -> str | None:
    if node.kind == "scalar" and not node.style and not node.properties:
        return text[node.start : node.end]
    return None


# --- The functionConfig as a class of the function's own: a dataclass, a NamedTuple or a TypedDict
#
# Rule: the fields come from `data` of a v1 ConfigMap (`kpt fn eval -- replicas=3`), whose texts are read as the types
# that the class declares, and from `spec` of any other kind. A missing, unknown or mistyped field is an error that
# names it, all in one message; no message quotes a value. A table of the schema language, made from the class, finds
# the errors and fills the class; the messages use this package's words.


T = TypeVar("T")
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
    texts = function_config is not None and function_config.is_gvk("", "v1", "ConfigMap")
    path: FieldPath = ("data",) if texts else ("spec",)
    data: Any = config_map_data(function_config) if texts else function_config and function_config.nested(path)
    table = Record(_Fields(form), make=form)
    value = _bring_to_form(table, {} if data is None else data, texts=texts)
    faults_found = faults(table, value)
    if faults_found and function_config is None:
        raise FunctionError(f"there is no functionConfig; it must give {_join_names(sorted(table.required))}")
    if faults_found:
        problems = (
            f"{dotted(path + fault.path)} {_describe(fault, look_up(value, fault.path), texts=texts)}"
            for fault in faults_found
        )
        raise FunctionError(f"functionConfig: {'; '.join(problems)}")
    filled_form: T = filled(table, value)
    return filled_form


class _Fields(Mapping[str, Field]):
    """The fields of a class, made on demand: a class may contain itself, or a field whose type has no values."""

    def __init__(self, form: Any) -> None:
        self.form = form

    @cached_property
    def made(self) -> dict[str, Field]:
        """The table. Raises MisuseError for a class that cannot be filled."""
        hints, required = _read_fields(self.form)
        return {
            name: Field(_make_spec(hint, f"{_type_name(self.form)}.{name}"), required=name in required)
            for name, hint in hints.items()
        }

    def __getitem__(self, name: str) -> Field:
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.made)

    def __len__(self) -> int:
        return len(self.made)


def _read_fields(form: Any) -> tuple[dict[str, Any], Collection[str]]:
    """Return the types of a class's fields, and the required ones. Raises MisuseError for another class."""
    if not _is_form(form):
        kinds = "a dataclass, a NamedTuple or a TypedDict"
        raise MisuseError(f"{_type_name(form)} cannot be read from a functionConfig: write {kinds}")
    hints = get_type_hints(form)
    if is_typeddict(form):
        return hints, form.__required_keys__
    if not hasattr(form, "__dataclass_fields__"):
        return hints, set(form._fields) - set(form._field_defaults)
    missing = sys.modules["dataclasses"].MISSING  # loaded, since a dataclass exists
    fields = {name: field for name, field in form.__dataclass_fields__.items() if field.init}
    required = [name for name, field in fields.items() if field.default is missing and field.default_factory is missing]
    return {name: hints[name] for name in fields}, required


def _make_spec(hint: Any, field: str) -> Spec:
    """Return the valid values of a type. Raises MisuseError, which names the field, for an unsupported type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        inner = [argument for argument in arguments if argument is not NoneType]
        if len(inner) != 1:
            raise MisuseError(f"{field}: of a union only `... | None` can be read from a functionConfig")
        return OrNull(_make_spec(inner[0], field))
    if origin is Literal:
        return OrNull(Only(arguments)) if None in arguments else Only(arguments)
    if origin is list:
        return ListOf(_make_spec(arguments[0], field))
    if origin is dict and arguments[0] is str:
        return MapOf(Anything(), _make_spec(arguments[1], field))
    if _is_form(hint):
        return Record(_Fields(hint), make=hint)
    if hint in _PLAIN:
        return _PLAIN[hint]
    raise MisuseError(f"{field}: {_type_name(hint)} cannot be read from a functionConfig; {_SUPPORTED}")


_INTEGER = Scalar(lambda value: "" if type(value) is int else "must be an integer", "", {"type": "integer"})
_FLOAT = Scalar(lambda value: "" if type(value) in (int, float) else "must be a number", "", {"type": "number"})
_ANY = OrNull(Anything())
_PLAIN: dict[Any, Spec] = {
    Any: _ANY,
    str: ANY_TEXT,
    int: _INTEGER,
    float: _FLOAT,
    bool: Flag(),
    list: ListOf(_ANY),
    dict: MapOf(Anything(), _ANY),
}


def _bring_to_form(spec: Spec, value: Any, *, texts: bool) -> Any:
    """Bring a value to the form that `faults` expects, fields in the order of the class. Wrong values stay."""
    match spec:
        case OrNull():
            return None if value is None else _bring_to_form(spec.spec, value, texts=texts)
        case Record() if isinstance(value, dict):
            present = {name: field for name, field in spec.fields.items() if name in value}
            unknown = {name: item for name, item in value.items() if name not in present}
            return unknown | {
                name: _bring_to_form(field.spec, value[name], texts=texts) for name, field in present.items()
            }
        case ListOf() if isinstance(value, list):
            return [_bring_to_form(spec.items, item, texts=texts) for item in value]
        case MapOf() if isinstance(value, dict):
            return {key: _bring_to_form(spec.values, item, texts=texts) for key, item in value.items()}
        case _ if texts and isinstance(value, str):
            return _convert(spec, value)
        case Scalar() if spec is _FLOAT and not spec.problem(value):
            return float(value)
        case _:
            return value


def _convert(spec: Spec, text: str) -> Any:
    """Convert a text to the type of the spec; return the text if it does not fit."""
    try:
        match spec:
            case Flag():
                return _TRUTH[text.strip().lower()]
            case Only():
                return next(choice for choice in spec.values if str(choice) == text)
            case Scalar():
                return int(text) if spec is _INTEGER else float(text)
            case _:
                return text
    except (ValueError, KeyError, StopIteration):
        return text


def _describe(fault: Fault, value: Any, *, texts: bool) -> str:
    """Describe the fault of a value, without the value."""
    spec, fields = fault.spec, fault.spec.fields if isinstance(fault.spec, Record) else {}
    if fault.kind == "unknown":
        return f"is unknown; known are {_join_names(fields)}"
    if fault.kind == "missing" and value is ABSENT:
        return "is missing"
    if fault.kind == "missing":
        spec = fields[str(fault.path[-1])].spec
    if fault.kind == "unicode":
        return fault.problem
    if isinstance(spec, Only):
        return f"is not one of {_join_names(map(str, spec.values))}"
    expectation = TYPES[bool] if isinstance(spec, Flag) else expected(spec)
    if isinstance(spec, Scalar):
        expectation = spec.problem(value).removeprefix("must be ")
    if texts and isinstance(spec, ListOf | MapOf):
        return f"is {expectation}, which a ConfigMap cannot hold: use a kind of your own with a spec"
    if texts and not isinstance(spec, Record):
        return f"is not {expectation}"
    return f"is {kind_of(value)}, {expectation} is expected"


def _is_form(hint: Any) -> bool:
    is_tuple = isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_field_defaults")
    return is_tuple or is_typeddict(hint) or hasattr(hint, "__dataclass_fields__")


def _type_name(hint: Any) -> str:
    return str(getattr(hint, "__name__", None) or hint)


def _join_names(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
