"""The project's own Rego rules: files of the package.

Rule of this file: a policy has the texts that its profile names, one after the other. The first is shared by all and
calls what the others define, so that a part can never be left out unnoticed.
"""

import functools
import os

from krm_function.model.profiles import DEFAULT, PROFILES, Profile
from krm_function.policy.document import rules_of


@functools.cache
def load_rules(profile: Profile = DEFAULT) -> str:
    """The rules of a profile."""
    return "".join(load_file(name) for name in profile.rules)


def profile_of_rules(rego: str) -> Profile | None:
    """The profile whose rules, as they are today, a policy document has; None if it has others, or more than them."""
    try:
        rules = rules_of(rego)
    except ValueError:
        return None
    return next((profile for profile in PROFILES.values() if load_rules(profile) == rules), None)


def load_file(name: str) -> str:
    """One file of the rules, by its name without the ending."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rules", f"{name}.rego")
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()
