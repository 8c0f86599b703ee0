"""Rule of this file: a condition whose loss no request can show stands here, with the reason.

A row that names no condition of the rules, or one whose loss is noticed after all, fails `make bench-policy`.
"""

from typing import NamedTuple

ENUMERATES = "the call after it enumerates by itself, in all engines but rego-cpp, for which it stands there"


class Equivalent(NamedTuple):
    """A condition by its rule and text. nth: which one of equal ones in the order of the rules, from 1."""

    rule: str
    text: str
    reason: str
    nth: int = 1


EQUIVALENT = (
    Equivalent("CreateContainerRequest", "policy_data.containers[index]", ENUMERATES),
    Equivalent("mount_choices", "p.OCI.Mounts[index]", ENUMERATES),
    Equivalent(
        "path_matches",
        'contains(pattern, "$(sandbox-id)")',
        "without that token it is the pattern of the body before, or holds `$(bundle-id)` still, which matches no text",
    ),
    Equivalent("device_permitted", "wanted.container_path != gpu_prefix", "the path does not start with it"),
    Equivalent(
        "device_permitted", 'regex.match("^[0-9]+$", suffix)', "it is among the announced ones, which are digits"
    ),
    Equivalent("gpus_permitted", "count(gpu_numbers) == 0", "a policy without GPUs permits no device that is one"),
    Equivalent("gpus_permitted", "wanted > 0", "for none, the first body says the same"),
    Equivalent("gpus_permitted", "wanted > 0", "for none, the first body says the same", 2),
)
