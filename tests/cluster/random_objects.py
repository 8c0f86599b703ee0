"""Random RuntimeClasses, pods and nodes out of a few words, so that they meet: the same ones for the same numbers."""

from random import Random
from typing import Any

from krm_function.kubernetes.runtime_classes import toleration_problems
from tests.cluster.api import Json

KEYS = ("example.com/tee", "zone", "gpu", "disk")
VALUES = ("snp", "tdx", "", "64")
EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")
IMAGE = "registry.example.com/web:1"
ESIDS = "sev-snp.amd.com/esids"
GPUS = "nvidia.com/pgpu"
# amounts that are equal though they are written differently, in each row
AMOUNTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "memory": (("682Mi", "715128832"), ("1Gi", "1024Mi"), ("1G", "1000M")),
    "cpu": (("250m", "0.25"), ("1", "1000m"), ("1500m", "1.5")),
    ESIDS: (("1", "1.0"), ("2",)),
}


def labels(random: Random, most: int = 3) -> dict[str, str]:
    """Some labels, as of a nodeSelector or of a node."""
    return {key: random.choice(VALUES) for key in random.sample(KEYS, random.randrange(most + 1))}


def tolerations(random: Random, most: int = 3) -> list[Json]:
    """Tolerations that are valid, and each only once."""
    found: list[Json] = []
    for _ in range(random.randrange(most + 1)):
        one: Json = {
            "key": random.choice((*KEYS, "")),
            "operator": random.choice(("Exists", "Equal", "")),
            "value": random.choice(VALUES),
            "effect": random.choice((*EFFECTS, "")),
        }
        if random.random() < 0.3:
            one["tolerationSeconds"] = random.choice((0, 30, 300))
        made = {key: value for key, value in one.items() if value != ""}
        if not toleration_problems([*found, made]):
            found.append(made)
    return found


def amounts(random: Random, share: float = 0.5) -> dict[str, str]:
    """Resources that are valid as overhead."""
    return {name: random.choice(random.choice(rows)) for name, rows in AMOUNTS.items() if random.random() < share}


def runtime_class(random: Random, name: str, *, scheduling: bool = True) -> Json:
    """A RuntimeClass object. scheduling: whether it may have a selector and tolerations."""
    value: Json = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": name},
        "handler": "kata",
    }
    if overhead := amounts(random):
        value["overhead"] = {"podFixed": overhead}
    found = {"nodeSelector": labels(random, 1), "tolerations": tolerations(random)} if scheduling else {}
    if wanted := {key: part for key, part in found.items() if part}:
        value["scheduling"] = wanted
    return value


def pod_spec(random: Random, class_name: str) -> Json:
    """A pod spec with what decides where it may run; it has no overhead."""
    spec: Json = {
        "runtimeClassName": class_name,
        "containers": [_container(random, f"app-{number}") for number in range(random.randint(1, 2))],
    }
    if random.random() < 0.3:
        spec["initContainers"] = [_container(random, "first")]
        if random.random() < 0.5:
            spec["initContainers"][0]["restartPolicy"] = "Always"
    if selector := labels(random, 1) if random.random() < 0.6 else {}:
        spec["nodeSelector"] = selector
    if wanted := tolerations(random) if random.random() < 0.6 else []:
        spec["tolerations"] = wanted
    if random.random() < 0.3:
        terms = [_term(random) for _ in range(random.randint(1, 2))]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        spec["affinity"] = {"nodeAffinity": required}
    return spec


def _container(random: Random, name: str) -> Json:
    value: Json = {"name": name, "image": IMAGE}
    for field in ("limits", "requests") if random.random() < 0.5 else ("limits",):
        found = {
            resource: random.choice(many)
            for resource, many in (("cpu", ("100m", "500m", "0.9")), ("memory", ("64Mi", "100M", "1e8")))
            if random.random() < 0.5
        }
        if found and field == "requests":  # never more than the limits
            limits = value.get("resources", {}).get("limits", {})
            found = {key: limits.get(key, amount) for key, amount in found.items()}
        if field == "limits" and random.random() < 0.1:
            found[GPUS] = "1"
        if found:
            value.setdefault("resources", {})[field] = found
    return value


def _term(random: Random) -> Json:
    return {"matchExpressions": [_requirement(random) for _ in range(random.randint(1, 2))]}


def _requirement(random: Random) -> Json:
    operator = random.choice(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    values: list[str] = []
    if operator in {"In", "NotIn"}:
        values = random.sample(VALUES, random.randint(1, 2))
    elif operator in {"Gt", "Lt"}:
        values = [random.choice(("0", "63", "64", "100"))]
    return {"key": random.choice(KEYS), "operator": operator, **({"values": values} if values else {})}


def node(random: Random, name: str) -> Json:
    """A node that may have labels, taints, a cordon, and little or much of each resource."""
    spec: Json = {}
    taints = {
        (key, effect): {"key": key, "effect": effect, **({"value": value} if (value := random.choice(VALUES)) else {})}
        for key, effect in (
            (random.choice(KEYS), random.choice(EFFECTS)) for _ in range(random.choice((0, 0, 0, 1, 2)))
        )
    }
    if taints:
        spec["taints"] = list(taints.values())
    if random.random() < 0.1:
        spec["unschedulable"] = True
    allocatable: dict[str, Any] = {
        "cpu": random.choice(("500m", "2500m", "64", "64")),
        "memory": random.choice(("512Mi", "2Gi", "64Gi", "64Gi")),
        "ephemeral-storage": "100Gi",
        "pods": random.choice(("110", "110", "110", "1", "0")),
        ESIDS: random.choice(("1", "99", "99")),
    }
    if random.random() < 0.5:
        allocatable[GPUS] = random.choice(("0", "1", "4"))
    metadata = {"name": name, "labels": {key: random.choice(VALUES) for key in KEYS if random.random() < 0.8}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": spec,
        "status": {"allocatable": allocatable},
    }
