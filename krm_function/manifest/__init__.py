"""The manifest: its fields, validation, canonical bytes, owner keys, and the merge with a previous one.

Rule of this package: values in, values or bytes out; it reads no files.
"""

from krm_function.manifest.canonical import canonical
from krm_function.manifest.decode import ManifestError, decode
from krm_function.manifest.default import snp_entry, tdx_entry
from krm_function.manifest.encode import encode
from krm_function.manifest.merge import merge
from krm_function.manifest.merge_policies import policy_entry, secret_id, survivors
from krm_function.manifest.merge_reference_values import (
    check_overrides,
    check_release,
    check_selectors,
    merged_reference_values,
)
from krm_function.manifest.ordered_fields import COORDINATOR, PRODUCTS
from krm_function.manifest.owner_keys import KeyProblem, seedshare_owner, workload_owner
from krm_function.manifest.problem import FieldProblem, ManifestProblem
from krm_function.manifest.tdx import Rtmr0, rtmr0_values, with_rtmr0
from krm_function.manifest.validate import NO_COORDINATOR, NO_REFERENCE_VALUES, unfilled, validate

__all__ = [
    "COORDINATOR",
    "NO_COORDINATOR",
    "NO_REFERENCE_VALUES",
    "PRODUCTS",
    "FieldProblem",
    "KeyProblem",
    "ManifestError",
    "ManifestProblem",
    "Rtmr0",
    "canonical",
    "check_overrides",
    "check_release",
    "check_selectors",
    "decode",
    "encode",
    "merge",
    "merged_reference_values",
    "policy_entry",
    "rtmr0_values",
    "secret_id",
    "seedshare_owner",
    "snp_entry",
    "survivors",
    "tdx_entry",
    "unfilled",
    "validate",
    "with_rtmr0",
    "workload_owner",
]
