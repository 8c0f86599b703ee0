"""One row of the table of failures: how a deployment is broken, and the one finding that says so."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.failures.world import World

Change = Callable[[World], None]
HOSTS = ("function", "post-render", "generate", "in-place", "output")


class Case(NamedTuple):
    """name: a phrase. place: `object field`, or "line" when the finding is about text. hosts: where it can happen."""

    name: str
    change: Change
    code: str
    place: str
    says: str
    hint: str
    exit: int
    hosts: tuple[str, ...]
    echoed: bool


class Table:
    """Cases in the order in which they are written down."""

    def __init__(self) -> None:
        self._cases: list[Case] = []

    def __iter__(self) -> Iterator[Case]:
        return iter(self._cases)

    def __call__(
        self,
        code: str,
        place: str = "",
        says: str = "",
        *,
        hint: str = "",
        exit: int = 1,  # noqa: A002 (what it is)
        hosts: tuple[str, ...] = HOSTS,
        echoed: bool = False,
    ) -> Callable[[Change], Change]:
        """Note down a case. echoed: not even the items can be told apart, so the function answers with its input."""

        def note(change: Change) -> Change:
            name = getattr(change, "__name__", "")
            assert name not in {known.name for known in self._cases}
            self._cases.append(Case(name, change, code, place, says, hint, exit, hosts, echoed))
            return change

        return note
