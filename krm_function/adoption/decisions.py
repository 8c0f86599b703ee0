"""What who calls has decided: which workloads are confidential or plain, which choices are taken, which keys are meant.

Rule of this file: records, and how an address selects workloads.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from krm_function.findings import Ref
from krm_function.model.address import parse_address
from krm_function.model.glob_pattern import fits
from krm_function.record import NamedTuple

ALL = "all"
Key = tuple[str, str]  # kind and name of a ConfigMap or Secret
NO_KEYS: Mapping[Key, tuple[str, ...]] = MappingProxyType({})


class Request(NamedTuple):
    """One call. confidential: addresses, whose names may have *, or `all`. plain: address -> reason.

    yes: names of choices. keys: of objects that only the cluster has, for envFrom.
    """

    confidential: tuple[str, ...] = ()
    plain: Mapping[str, str] = MappingProxyType({})
    yes: frozenset[str] = frozenset()
    keys: Mapping[Key, tuple[str, ...]] = NO_KEYS


def selects(text: str, ref: Ref) -> bool:
    """Tell whether an address selects an object."""
    if text == ALL:
        return True
    address = parse_address(text)
    return (
        address is not None
        and address.kind == ref.kind
        and address.namespace in ("", ref.namespace)
        and fits(address.name, ref.name)
    )


def unused(texts: Sequence[str], refs: Sequence[Ref]) -> list[str]:
    """Return the addresses that select none of some objects."""
    return [text for text in texts if text != ALL and not any(selects(text, ref) for ref in refs)]
