"""The project's own Rego rules: files of the package.

Rule of this file: a policy has the text that all profiles share, then the text of its profile. The shared text calls
what the profile defines, so the two can never be mixed up or left out unnoticed.
"""

import functools
import os

from krm_function.policy.document import rules_of

KATA, STRICT = PROFILES = ("kata-4.1", "strict")


@functools.cache
def load_rules(profile: str = KATA) -> str:
    """The rules of a profile, one of PROFILES."""
    return _text("contrast-krm") + _text(profile)


def profile_of(rego: str) -> str:
    """The profile whose rules, as they are today, a policy document has; "" if it has others, or more than them."""
    try:
        rules = rules_of(rego)
    except ValueError:
        return ""
    return next((profile for profile in PROFILES if load_rules(profile) == rules), "")


def _text(name: str) -> str:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rules", f"{name}.rego")
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()
