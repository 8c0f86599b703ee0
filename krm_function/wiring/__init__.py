"""The function in a host's own file: kustomization.yaml or Kptfile, and new configuration files to fill in.

Rule of this package: texts in, texts out; what is there already stays, and a second time changes nothing.
"""

from krm_function.wiring.generate_fields import (
    with_platform,
    with_reference_values,
    with_required_workloads,
)
from krm_function.wiring.kept_base import with_kept_base, without_keep
from krm_function.wiring.kptfile import KPTFILE, wire_kptfile
from krm_function.wiring.kustomization import KUSTOMIZATIONS, listed, wire_kustomization
from krm_function.wiring.kustomize_function import FORMS, Function, function_of, with_function
from krm_function.wiring.new_files import NEW_FILES, new_file
from krm_function.wiring.owner_key import with_owner_key, without_owner_key
from krm_function.wiring.wired import Files, Wired

__all__ = [
    "FORMS",
    "KPTFILE",
    "KUSTOMIZATIONS",
    "NEW_FILES",
    "Files",
    "Function",
    "Wired",
    "function_of",
    "listed",
    "new_file",
    "wire_kptfile",
    "wire_kustomization",
    "with_function",
    "with_kept_base",
    "with_owner_key",
    "with_platform",
    "with_reference_values",
    "with_required_workloads",
    "without_keep",
    "without_owner_key",
]
