"""Rule of this file: a condition whose loss no request can show stands here, with the reason.

A row that names no condition of the rules, or one whose loss is noticed after all, fails `python -m benchmarks.policy`.
"""

from typing import NamedTuple

ENUMERATES = "the call after it enumerates by itself, in all engines but rego-cpp, for which it stands there"


OTHER_TOKENS = "a mount point has the tokens of its own kind; where they stay in a pattern it matches no text"


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
    Equivalent("gpus_permitted", "own > 0", "for none, the other bodies say the same"),
    Equivalent("gpus_permitted", "announced > 0", "for none, the first body says the same"),
    Equivalent("mount_point_permitted", 'wanted.fstype == "local"', OTHER_TOKENS),
    Equivalent("mount_point_permitted", 'wanted.fstype == "bind"', OTHER_TOKENS),
    Equivalent("mount_point_permitted", 'wanted.fstype == "tmpfs"', OTHER_TOKENS),
    Equivalent(
        "plain_name",
        'not regex.match("^[a-z0-9.-]+$", pattern)',
        "a plain name is the one of the state, or the state has none yet, or the container is denied for it",
    ),
    Equivalent(
        "plain_name",
        'regex.match("^[a-z0-9.-]+$", name)',
        "a container with such a text was created under a plain name, which the state then has",
        2,
    ),
    Equivalent("variable_permitted", "count(parts) == 2", "without a second part the next line has no value"),
    Equivalent(
        "storage_matches", 'wanted.driver == "image_guest_pull"', "no other storage of a policy has fstype overlay"
    ),
    Equivalent(
        "annotation_permitted", 'storage.driver == "image_guest_pull"', "no other storage's source has a digest"
    ),
    Equivalent(
        "argument_permitted",
        'not startswith(wanted, "$(text-pattern)")',
        "a pattern has the pattern of a node's name in it, not the token",
        3,
    ),
)
