"""The reference values of one render, as the manifest will state them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from krm_function.findings import Finding
from krm_function.record import NamedTuple

if TYPE_CHECKING:
    from krm_function.manifest.tdx import Rtmr0


class ReferenceValues(NamedTuple):
    """What the release says of the used platforms, what the operator sets, and both merged with the base manifest."""

    release: Mapping[str, Any] = {}
    overrides: Mapping[str, Any] = {}
    merged: Mapping[str, Any] = {}
    rtmr0: "Rtmr0 | None" = None
    findings: tuple[Finding, ...] = ()
