"""Say in CEL what a runtimeClassName means.

Rule of this file: `model/runtime_class_names.py` decides; each row of its truth table is asked of a real API server
too (tests/cluster/test_guard.py). A string `t` is what is asked about. No class has more characters than LONGEST.
"""

from krm_function.guard.cel import text
from krm_function.model.labels import LONGEST_SUBDOMAIN
from krm_function.model.platforms import PLATFORMS
from krm_function.model.runtime_class_names import BARE, LEGACY_BARE, LONGEST_HASH

LONGEST = LONGEST_SUBDOMAIN
_PLATFORMS = "|".join(PLATFORMS)
_CONTRAST = rf"^(?s:{LEGACY_BARE}|contrast([^\pL].*)?|contrast(cc|insecure).*)$"
_HANDLER = f"^{BARE}-({_PLATFORMS})-[0-9a-z]{{1,{LONGEST_HASH}}}$"
_NO_HASH = f"^{BARE}-({_PLATFORMS})-gpu[0-9a-z]*$"

IS_CONTRAST = f"(t.size() <= {LONGEST} && t.lowerAscii().trim().matches({text(_CONTRAST)}))"
IS_HANDLER = (
    f"(t.size() <= {LONGEST} && t.lowerAscii().matches({text(_HANDLER)}) && !t.lowerAscii().matches({text(_NO_HASH)}))"
)
IS_UNRESOLVED = f"({IS_CONTRAST} && !{IS_HANDLER})"
