"""The command `guard`: admission policies by which an API server refuses honest mistakes at the door.

Rule of this package: what it knows of names, kinds and annotations is `model`'s, written as CEL; it asks no cluster.
An update that leaves the pod templates as they are is never refused, so that no controller is stopped half-way; nor is
what a controller made, but for its pods. The host's API server is not trusted (docs/explanation/threat-model.md): what
holds is the sealed policy in the VM.
"""

from krm_function.findings import Finding
from krm_function.guard.confidential_namespaces import confidential_namespaces, role_of_exceptions
from krm_function.guard.pod_templates import guarded
from krm_function.guard.policy_objects import Json, binding
from krm_function.guard.sealed_containers import SELECTOR, config_maps, sealed_containers
from krm_function.guard.sealed_pods import sealed_pods
from krm_function.model.pod_kinds import Kinds
from krm_function.record import NamedTuple

__all__ = ["Guard", "config_maps", "guard"]


class Guard(NamedTuple):
    """The objects in the order in which to apply them. findings: what is not guarded."""

    objects: tuple[Json, ...]
    findings: tuple[Finding, ...] = ()


def guard(kinds: Kinds, *, warn: bool = False) -> Guard:
    """Return the policies, each with its binding, and the role of exceptions. warn: they warn and refuse nothing."""
    known = guarded(kinds)
    objects: list[Json] = []
    for policy, parameters in (
        (sealed_pods(known), None),
        (sealed_containers(known), SELECTOR),
        (confidential_namespaces(known), None),
    ):
        objects += [policy, binding(policy, parameters, warn=warn)]
    return Guard((*objects, role_of_exceptions()), known.findings)
