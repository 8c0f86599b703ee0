"""Values of the manifest that only an operator knows, out of the options of `init`.

Rule of this file: a text that is not exactly such a value is a finding. Nothing is guessed and nothing has a default,
because a lower number accepts more machines.
"""

import re
from collections.abc import Mapping
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.model.tcb import parse_tcb


def operator_values(minimum_tcb: str, mr_seam: str) -> tuple[Mapping[str, Any], list[Finding]]:
    """Return, by kind of hardware (snp, tdx), what goes into spec.manifest.referenceValues. Either text may be ""."""
    values: dict[str, Any] = {}
    findings: list[Finding] = []
    if minimum_tcb:
        versions = parse_tcb(minimum_tcb)
        values |= {"snp": {"MinimumTCB": versions}} if versions else {}
        findings += [] if versions else [finding("CC0909.tcb", option="--minimum-tcb")]
    if mr_seam:
        good = re.fullmatch("[0-9a-fA-F]{96}", mr_seam)
        values |= {"tdx": {"MrSeam": mr_seam.lower()}} if good else {}
        findings += [] if good else [finding("CC0909.mr-seam", option="--mr-seam")]
    return values, findings
