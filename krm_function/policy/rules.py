"""Load the native Rego rules, which are files of the package.

Rule of this file: a policy has the files that its profile names, concatenated. The first is shared by all and calls
what the others define, so that a missing part cannot go unnoticed.
"""

import functools
import os

from krm_function.model.profiles import DEFAULT, PROFILES, Profile
from krm_function.policy.document import rules_of


@functools.cache
def load_rules(profile: Profile = DEFAULT) -> str:
    """Return the rules of a profile."""
    return "".join(load_file(name) for name in profile.rules)


def profile_of_rules(rego: str) -> Profile | None:
    """Return the profile whose current rules a policy document has; None if it has other or further text."""
    try:
        rules = rules_of(rego)
    except ValueError:
        return None
    return next((profile for profile in PROFILES.values() if load_rules(profile) == rules), None)


def load_file(name: str) -> str:
    """Read one file of the rules, by its name without the extension."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rules", f"{name}.rego")
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()
