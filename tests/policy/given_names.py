"""The names that the API server and the controllers give to pods: for each character, those that it may be.

Written from Kubernetes' sources (docs/facts/kubernetes.md#names-of-pods), and not from the product.
"""

from random import Random
from typing import Any

Json = dict[str, Any]
Letters = list[str]

SERVER = "bcdfghjklmnpqrstvwxz2456789"  # utilrand.String
DIGITS = "0123456789"
HASHED = "".join(SERVER[ord(digit) % len(SERVER)] for digit in DIGITS)  # rand.SafeEncodeString of a number
LONGEST, ADDED = 63, 5


def generated(base: Letters) -> Letters:
    """SimpleNameGenerator of the API server."""
    return [*base[: LONGEST - ADDED], *[SERVER] * ADDED]


def letters(value: Json, *, hash_length: int = 10, index_length: int = 1) -> Letters:
    """What each character of the name of a pod of an object may be.

    hash_length: of the number that is the hash of a template. index_length: digits of an ordinal or an index.
    """
    metadata, spec = value["metadata"], value.get("spec", {})
    base = [*metadata["name"]] if "name" in metadata else generated([*metadata["generateName"]])
    index = [DIGITS] * index_length
    match value["kind"]:
        case "Pod":
            return base
        case "StatefulSet":
            return [*base, "-", *index]
        case "ReplicaSet" | "ReplicationController" | "DaemonSet":
            return generated([*base, "-"])
        case "Deployment" | "Rollout":
            return generated([*base, "-", *[HASHED] * hash_length, "-"])
        case "CronJob":
            job = spec["jobTemplate"]["spec"]
            return _of_a_job([*base, "-", *[DIGITS] * 8], job, index)
        case "Job":
            return _of_a_job(base, spec, index)
        case other:
            raise AssertionError(other)


def _of_a_job(name: Letters, spec: Json, index: Letters) -> Letters:
    """The Job controller shortens the name before an index by itself, so that the server cuts nothing."""
    if spec.get("completionMode") != "Indexed":
        return generated([*name, "-"])
    added = ["-", *index, "-"]
    return generated([*name[: LONGEST - ADDED - len(added)], *added])


def pod_name(value: Json, seed: int = 0, **lengths: int) -> str:
    """One name of a pod of an object, the same for the same seed."""
    random = Random(seed)  # noqa: S311
    return "".join(random.choice(choices) for choices in letters(value, **lengths))


def is_possible(value: Json, name: str) -> bool:
    """Whether a pod of an object may have a name."""
    forms = (
        letters(value, hash_length=hashed, index_length=index) for hashed in range(1, 11) for index in range(1, 11)
    )
    return any(
        len(form) == len(name) and all(char in choices for char, choices in zip(name, form, strict=True))
        for form in forms
    )


def host_name(name: str) -> str:
    """The host name of a pod of that name: the kubelet cuts it to 63 characters, and what it may not end with."""
    return name[:LONGEST].rstrip("-.")
