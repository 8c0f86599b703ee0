"""The lines of a comparison as the tests write them."""

from typing import NamedTuple

from krm_function.policy.compare import compare_initdata
from krm_function.policy.initdata import Initdata


class Line(NamedTuple):
    """One difference, in the order in which the text has it."""

    container: str
    field: str
    op: str
    what: str
    verdict: str
    why: str


def lines_of(old: Initdata, new: Initdata) -> list[Line]:
    return [Line(*(getattr(found, name) for name in Line._fields)) for found in compare_initdata(old, new)]
