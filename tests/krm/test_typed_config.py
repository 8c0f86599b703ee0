from collections import namedtuple
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

import pytest

from krm_function.krm import FunctionError, KubeObject, MisuseError, read_config


class Limits(TypedDict):
    cpu: str
    memory: NotRequired[str]


class SetReplicas(NamedTuple):
    replicas: int
    names: list[str] = []  # noqa: RUF012 - a default of a NamedTuple
    strategy: Literal["Recreate", "RollingUpdate"] = "RollingUpdate"
    factor: float = 1.0
    dry: bool = False
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class Resources:
    limits: Limits
    labels: dict[str, str] = field(default_factory=dict)
    more: list[SetReplicas] = field(default_factory=list)
    whatever: Any = None
    made: int = field(default=3, init=False)


def own(spec: str) -> KubeObject:
    return KubeObject(f"apiVersion: example.com/v1\nkind: Own\nmetadata: {{name: c}}\nspec: {spec}\n")


def config_map(data: str) -> KubeObject:
    return KubeObject(f"apiVersion: v1\nkind: ConfigMap\ndata: {data}\n")


def test_a_named_tuple_from_a_spec() -> None:
    config = read_config(
        own("{replicas: 3, names: [a], strategy: Recreate, factor: 2, dry: true, note: x}"), SetReplicas
    )
    assert config == SetReplicas(3, ["a"], "Recreate", 2.0, True, "x")
    assert isinstance(config.factor, float)


def test_defaults_hold_for_what_is_absent_or_null() -> None:
    assert read_config(own("{replicas: 3, names: null, note: null}"), SetReplicas) == SetReplicas(3)


def test_texts_of_a_config_map_are_read_as_the_declared_types() -> None:
    config = config_map("{replicas: '3', strategy: Recreate, factor: '1.5', dry: 'TRUE', note: '5'}")
    assert read_config(config, SetReplicas) == SetReplicas(3, [], "Recreate", 1.5, True, "5")


def test_a_number_that_kpt_leaves_unquoted_is_the_text_that_was_written() -> None:
    class Version(NamedTuple):
        version: str

    assert read_config(config_map("{version: 1.10}"), Version) == Version("1.10")


def test_a_dataclass_with_classes_inside() -> None:
    config = read_config(own("{limits: {cpu: '1'}, labels: {a: b}, more: [{replicas: 1}], whatever: [1]}"), Resources)
    assert config == Resources(limits={"cpu": "1"}, labels={"a": "b"}, more=[SetReplicas(1)], whatever=[1])
    assert config.made == 3


def test_a_typed_dict() -> None:
    assert read_config(own("{cpu: '1', memory: 1Gi}"), Limits) == {"cpu": "1", "memory": "1Gi"}
    assert read_config(own("{cpu: '1'}"), Limits) == {"cpu": "1"}


class Tree(NamedTuple):
    name: str
    below: list["Tree"] = []  # noqa: RUF012 - a default of a NamedTuple
    note: str | None = "none was given"
    whatever: Any = 1


def test_a_class_may_hold_its_like() -> None:
    config = read_config(own("{name: a, below: [{name: b, below: [{name: c}]}]}"), Tree)
    assert config == Tree("a", [Tree("b", [Tree("c")])])
    with pytest.raises(FunctionError, match=r"spec\.below\[0\]\.below\[0\]\.name is missing"):
        read_config(own("{name: a, below: [{name: b, below: [{}]}]}"), Tree)


def test_a_null_is_a_value_where_the_class_says_so() -> None:
    assert read_config(own("{name: a, note: null, whatever: null}"), Tree) == Tree("a", [], None, None)


def test_a_number_of_any_size() -> None:
    assert read_config(config_map(f"{{replicas: '{2**70}'}}"), SetReplicas) == SetReplicas(2**70)


def test_without_a_config_the_defaults_hold() -> None:
    class Optional(NamedTuple):
        replicas: int = 1

    assert read_config(None, Optional) == Optional(1)
    assert read_config(config_map("{}"), Optional) == Optional(1)
    assert read_config(KubeObject("kind: Own\n"), Optional) == Optional(1)
    with pytest.raises(FunctionError, match="there is no functionConfig; it must give replicas"):
        read_config(None, SetReplicas)


WRONG = {
    "missing": (own("{}"), SetReplicas, "spec.replicas is missing"),
    "null where a value is needed": (
        own("{replicas: null}"),
        SetReplicas,
        "spec.replicas is null, an integer is expected",
    ),
    "unknown": (
        own("{replicas: 1, replcas: 2}"),
        SetReplicas,
        "spec.replcas is unknown; known are replicas, names, strategy, factor, dry, note",
    ),
    "string": (own("{replicas: '3'}"), SetReplicas, "spec.replicas is a string, an integer is expected"),
    "boolean": (own("{replicas: true}"), SetReplicas, "spec.replicas is a boolean, an integer is expected"),
    "element": (own("{replicas: 1, names: [a, 5]}"), SetReplicas, "spec.names[1] is an integer, a string is expected"),
    "list": (own("{replicas: 1, names: a}"), SetReplicas, "spec.names is a string, a list is expected"),
    "choice": (own("{replicas: 1, strategy: No}"), SetReplicas, "spec.strategy is not one of Recreate, RollingUpdate"),
    "two at once": (
        own("{replicas: x, dry: 1}"),
        SetReplicas,
        "spec.replicas is a string, an integer is expected; spec.dry is an integer, a boolean is expected",
    ),
    "inside": (
        own("{limits: {}, labels: {a: 1}}"),
        Resources,
        "spec.limits.cpu is missing; spec.labels.a is an integer",
    ),
    "no map": (own("[a]"), SetReplicas, "spec is a list, a map is expected"),
    "made by the class": (own("{limits: {cpu: a}, made: 5}"), Resources, "spec.made is unknown"),
    "text": (config_map("{replicas: three}"), SetReplicas, "data.replicas is not an integer"),
    "text of a boolean": (config_map("{replicas: 1, dry: maybe}"), SetReplicas, "data.dry is not a boolean"),
    "text of a list": (
        config_map("{replicas: 1, names: 'a,b'}"),
        SetReplicas,
        "data.names is a list, which a ConfigMap cannot hold",
    ),
    "unknown in a ConfigMap": (config_map("{replicas: 1, x: y}"), SetReplicas, "data.x is unknown"),
}


@pytest.mark.parametrize(("config", "form", "problem"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_named(config: KubeObject, form: Any, problem: str) -> None:
    with pytest.raises(FunctionError) as raised:
        read_config(config, form)
    assert str(raised.value).startswith(f"functionConfig: {problem}")


def test_no_value_is_in_a_message() -> None:
    with pytest.raises(FunctionError) as raised:
        read_config(own("{replicas: hunter2, strategy: hunter2, dry: hunter2, factor: [hunter2]}"), SetReplicas)
    assert "hunter2" not in str(raised.value)
    with pytest.raises(FunctionError) as raised:
        read_config(config_map("{replicas: hunter2, strategy: hunter2, dry: hunter2}"), SetReplicas)
    assert "hunter2" not in str(raised.value)


class Plain:
    replicas: int


class Union(NamedTuple):
    both: int | str


class Odd(NamedTuple):
    when: Plain


class Level(Enum):
    LOW = "low"


class WithEnum(NamedTuple):
    level: Level = Level.LOW


class WithDecimals(NamedTuple):
    limits: list[Decimal] | None = None


class WithTuple(NamedTuple):
    pair: tuple[str, str] = ("a", "b")


class WithKeys(NamedTuple):
    ports: dict[int, str] | None = None


BAD_FORMS = {
    "plain class": (Plain, "Plain cannot be read from a functionConfig: write a dataclass"),
    "dict": (dict, "dict cannot be read"),
    "no annotations": (namedtuple("Old", "both"), None),  # noqa: PYI024
    "union": (Union, r"Union\.both: of a union only `\.\.\. \| None` can be read"),
    "field": (Odd, r"Odd\.when: Plain cannot be read from a functionConfig; supported are str, int, .*Literal"),
    "enum": (WithEnum, r"WithEnum\.level: Level cannot be read .*supported are"),
    "inside a list": (WithDecimals, r"WithDecimals\.limits: Decimal cannot be read"),
    "tuple": (WithTuple, r"WithTuple\.pair: tuple.* cannot be read"),
    "integer keys": (WithKeys, r"WithKeys\.ports: .* cannot be read"),
}


@pytest.mark.parametrize(("form", "problem"), BAD_FORMS.values(), ids=BAD_FORMS)
def test_a_class_that_cannot_be_filled_is_a_mistake_in_the_code(form: Any, problem: str | None) -> None:
    if problem is None:  # no field is known
        with pytest.raises(FunctionError, match=r"spec\.both is unknown; known are none"):
            read_config(own("{both: {}, when: {}}"), form)
        return
    with pytest.raises(MisuseError, match=problem):
        read_config(own("{both: {}}") if form is not Odd else own("{when: {}}"), form)
