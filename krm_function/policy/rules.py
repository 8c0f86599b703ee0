"""Load the native Rego rules, which are files of the package.

Rule of this file: a policy has the files that its profile names, concatenated. The first is shared by all and calls
what the others define, so that a missing part cannot go unnoticed. A policy with open variables has one file more,
which only adds to what is allowed, so that all other policies keep their digests. Comments stay here: a policy is in an
annotation of each pod, where every kilobyte counts.
"""

import functools
import os

from krm_function.model.profiles import DEFAULT, PROFILES, Profile
from krm_function.policy.document import rules_of

EXTERNAL = "external-sources"


@functools.cache
def load_rules(profile: Profile = DEFAULT, *, external: bool = False) -> str:
    """Return the rules of a profile. external: with those for open variables."""
    rules = "".join(load_file(name) for name in profile.rules)
    return with_external_sources(rules) if external else rules


def with_external_sources(rules: str) -> str:
    """Add the rules for open variables."""
    return rules + load_file(EXTERNAL)


def without_external_sources(rules: str) -> str:
    """Return rules without those for open variables, which allow nothing but what the data say."""
    return rules.removesuffix(load_file(EXTERNAL))


def profile_of_rules(rego: str) -> Profile | None:
    """Return the profile whose current rules a policy document has; None if it has other or further text."""
    try:
        rules = without_external_sources(rules_of(rego))
    except ValueError:
        return None
    return next((profile for profile in PROFILES.values() if load_rules(profile) == rules), None)


def load_file(name: str) -> str:
    """Read one file of the rules as a policy has it, by its name without the extension.

    Without lines of comment, the first line of the file excepted, and with one blank line between two rules.
    """
    with open(path_of(name), encoding="utf-8", newline="") as file:
        first, *lines = file.read().splitlines()
    kept = [first]
    for line in lines:
        if not line.lstrip().startswith("#") and (line or kept[-1]):
            kept.append(line)
    return "\n".join(kept) + "\n"


def path_of(name: str) -> str:
    """Return where a file of the rules is."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "rules", f"{name}.rego")
