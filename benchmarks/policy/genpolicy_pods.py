"""Pods for two generators: those of the examples and of the policy tests, each with one field changed at random.

Rule of this file: a seed gives the same pods in the same order. Their images are the given ones, so that a program that
pulls images can be asked; nothing else of a pod is made to suit a generator but for the fields that genpolicy ends at,
which are left out before the change. The change itself may bring such a field in.
"""

import copy
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.policy.genpolicy_changes import CHANGES
from benchmarks.policy.genpolicy_fields import containers, reduced
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.workload import Workload
from tests import quick_yaml as yaml
from tests.policy import pods

Json = dict[str, Any]

EXAMPLES = Path(__file__).parents[2] / "examples"
CLASS = "contrast-cc"
ORDINARY = 0.8  # of the pods name a user, without which plain genpolicy refuses most images
# value of an object that has what only the kubelet leaves as it is
OBJECTS: tuple[Json, ...] = (
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "changed"},
        "data": {"COLOUR": "red", "RULE": "a=b", "REFERS": "$(FIRST) and $(SECOND)"},
    },
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "changed"}, "data": {"TOKEN": "czNjcjN0"}},
)


class Base(NamedTuple):
    """A workload to change, and the ConfigMaps and Secrets that it may refer to."""

    name: str
    document: Json
    objects: tuple[Json, ...]


class Mutant(NamedTuple):
    """A changed workload. name: its number, what it was, and the change."""

    name: str
    workload: Workload
    objects: tuple[Json, ...]


def bases() -> list[Base]:
    """Return the pods that are changed, in a fixed order."""
    found = []
    for path in sorted(EXAMPLES.glob("*/resources")):
        documents = [one for file in sorted(path.glob("*.yaml")) for one in yaml.safe_load_all(file.read_text()) if one]
        objects = tuple(one for one in documents if one.get("kind") in {"ConfigMap", "Secret"})
        found += [
            Base(f"{path.parent.name} {one['kind']}/{one['metadata']['name']}", one, objects)
            for one in documents
            if one.get("kind") in KINDS and _is_of_interest(pods.of(one))
        ]
    more, _, _ = pods.every_field()
    own = (pods.CONFIG_MAP, pods.SECRET)
    every = next(one.objects for one in found if one.name.startswith("every-field"))
    return [*found, Base("rich", pods.rich().object, own), Base("every field", more.object, every)]


def _is_of_interest(workload: Workload) -> bool:
    """Whether a workload is one of Contrast's; coordinators are alike, and one pod of theirs is enough."""
    return workload.runtime_class.startswith(CLASS) and not workload.is_coordinator


def mutants(seed: int, count: int, images: Sequence[str]) -> Iterator[Mutant]:
    """So many pods with one change each. images: the references that they may name, at least one."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    known = bases()
    for number in range(1, count + 1):
        base = rng.choice(known)
        workload = pods.of(copy.deepcopy(base.document))
        spec = workload.pod_spec
        made = plain(rng, spec, images)
        container = rng.choice(containers(made))
        change = rng.choice(CHANGES)
        change(rng, made, container)
        spec.clear()
        spec.update(made)
        what = change.__name__.strip("_").replace("_", " ")
        yield Mutant(f"{number} {base.name}: {what} of {container['name']}", workload, (*base.objects, *OBJECTS))


def plain(rng: random.Random, spec: Json, images: Sequence[str]) -> Json:
    """Return a pod spec that both generators read, with other images."""
    out = reduced(spec)
    out["runtimeClassName"] = CLASS
    for container in containers(out):
        container["image"] = rng.choice(images)
    if rng.random() < ORDINARY:
        context = out.setdefault("securityContext", {})
        for key in ("runAsUser", "runAsGroup"):
            context.setdefault(key, 65534)
    return out
