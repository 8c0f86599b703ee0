"""What a rule that rewrites pods would do for a pod that has none: for commands that offer it.

Rule of this file: a record only. A choice is an offer: nothing is chosen by it, and its consequence is for the reader.
"""

from typing import Any, Literal

from krm_function.record import NamedTuple

RuleName = Literal[
    "moveAnnotations",
    "renameGPUs",
    "splitSubPaths",
    "securePV",
    "imageVolumes",
    "hostPathCaches",
    "memory",
    "leastVCPUs",
]


class RuleChoice(NamedTuple):
    """A rule that would change a pod. value: what to write for it: of a rule with a list, one entry of the list.

    consequence: what the pod then has and no longer has, as a sentence without a full stop.
    """

    rule: RuleName
    value: Any
    consequence: str
