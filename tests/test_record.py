"""Our records against the standard library's: the same answers to everything that the project does with one."""

import copy
import pickle
import typing
from collections.abc import Callable
from functools import cached_property
from typing import Any

import pytest

from krm_function import record


class Ours(record.NamedTuple):
    x: int
    y: str = "b"
    z: tuple[int, ...] = ()

    @property
    def double(self) -> int:
        return 2 * self.x


class Theirs(typing.NamedTuple):
    x: int
    y: str = "b"
    z: tuple[int, ...] = ()

    @property
    def double(self) -> int:
        return 2 * self.x


def matched(one: Any) -> Any:
    match one:
        case Ours(x, y) | Theirs(x, y):
            return x, y
        case _:
            return None


QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "positions": lambda make: tuple(make(1, "c", (2,))),
    "names": lambda make: tuple(make(x=1, z=(3,))),
    "defaults": lambda make: tuple(make(1)),
    "attributes": lambda make: (make(1).x, make(1).y, make(1).z, make(1, "c").y),
    "property": lambda make: make(4).double,
    "tuple": lambda make: (make(1) == (1, "b", ()), hash(make(1)) == hash((1, "b", ())), len(make(1)), make(1)[1]),
    "unpacked": lambda make: [*make(7, "q")],
    "replaced": lambda make: (tuple(make(1)._replace(y="n")), type(make(1)._replace(y="n")) is make),
    "shown": lambda make: repr(make(1, "c")).replace("Theirs", "Ours"),
    "fields": lambda make: (make._fields, make._field_defaults, make.__match_args__),
    "as a map": lambda make: make(1)._asdict(),
    "made of a list": lambda make: tuple(make._make([1, "c", ()])),
    "matched": lambda make: matched(make(1, "m")),
    "copied": lambda make: tuple(copy.deepcopy(make(1))),
    "pickled": lambda make: pickle.loads(pickle.dumps(make(1))) == make(1),  # noqa: S301
    "ordered": lambda make: min(make(2), make(1)).x,
    "no attributes of its own": lambda make: hasattr(make(1), "__dict__"),
}
REFUSED: dict[str, Callable[[Any], Any]] = {
    "too many": lambda make: make(1, "a", (), 4),
    "too few": lambda make: make(),
    "unknown name": lambda make: make(1, w=2),
    "twice": lambda make: make(1, x=2),
    "unknown name replaced": lambda make: make(1)._replace(w=2),
    "made of nothing": lambda make: make._make([]),
    "set": lambda make: setattr(make(1), "x", 2),
    "new attribute": lambda make: setattr(make(1), "w", 2),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_both_give_the_same_answer(question: str) -> None:
    assert QUESTIONS[question](Ours) == QUESTIONS[question](Theirs)


@pytest.mark.parametrize("misuse", REFUSED)
def test_both_refuse_the_same_in_the_same_way(misuse: str) -> None:
    refused = []
    for make in (Ours, Theirs):
        with pytest.raises((TypeError, ValueError, AttributeError)) as error:
            REFUSED[misuse](make)
        refused.append(error.type)
    assert refused[0] is refused[1]


@pytest.mark.parametrize("module", ["typing", "krm_function.record"])
def test_both_want_defaults_last(module: str) -> None:
    with pytest.raises(TypeError):
        exec(f"from {module} import NamedTuple\nclass Wrong(NamedTuple):\n    x: int = 1\n    y: int")  # noqa: S102


class Asked(record.NamedTuple):
    x: list[int]

    @cached_property
    def total(self) -> int:
        return sum(self.x)


def test_what_a_record_is_asked_may_be_kept() -> None:
    one = Asked([1, 2])
    assert one.total == 3
    one.x.append(3)
    assert one.total == 3, "not asked again"
    assert one == Asked([1, 2, 3])
    assert one._replace(x=[4]).total == 4
