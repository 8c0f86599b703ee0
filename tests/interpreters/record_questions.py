"""What is asked of our records and of the standard library's, by `test_record.py` and under other interpreters.

Standard library only: `python -m tests.interpreters.record_questions` prints each question that the two answer
differently, and exits 1 if there is one.
"""

import copy
import pickle
import sys
import typing
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

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


class Asked(record.NamedTuple):
    x: list[int]

    @cached_property
    def total(self) -> int:
        return sum(self.x)


class Late(record.NamedTuple):
    """Annotations that are text, as for a class that is not there yet."""

    first: "Missing"  # type: ignore[name-defined]  # noqa: F821
    rest: "list[Late]" = []  # noqa: RUF012


def refusal(make: Any, misuse: str) -> type[Exception] | None:
    """The class of the error that a misuse ends in."""
    try:
        REFUSED[misuse](make)
    except (TypeError, ValueError, AttributeError) as error:
        return type(error)
    return None


def standard_refusal(misuse: str) -> type[Exception] | None:
    """How the standard library refuses it, since 3.13; before, an unknown name replaced is a ValueError."""
    found = refusal(Theirs, misuse)
    if misuse == "unknown name replaced" and sys.version_info < (3, 13):
        return TypeError if found is ValueError else found
    return found


def differences() -> Iterator[str]:
    """Each question that is answered in two ways."""
    yield from (question for question, ask in QUESTIONS.items() if ask(Ours) != ask(Theirs))
    for misuse in REFUSED:
        found = refusal(Ours, misuse)
        if found is None or found is not standard_refusal(misuse):
            yield misuse
    if Late._fields != ("first", "rest") or Late(1) != (1, []) or Asked([1, 2]).total != 3:
        yield "annotations as text, and a cached property"


if __name__ == "__main__":
    found = list(differences())
    print("\n".join(found))
    sys.exit(bool(found))
