"""Tell whether a part of `spec` may stand in a ContrastGenerate.

Rule of this file: names come from pods whose author may write anything, so what a configuration could not hold is not
proposed.
"""

from typing import Any

from krm_function.api.contrast_generate import GENERATE
from krm_function.schema.read import read_value


def is_valid(part: dict[str, Any]) -> bool:
    """Tell whether a part of `spec` has no fault."""
    return not read_value(GENERATE, part).faults
