"""What the server adds to an object moves no digest: random workloads, created, read back and rendered again."""

import json
from random import Random
from typing import Any

import pytest

from krm_function.config.generate import ManifestOptions
from krm_function.kubernetes.kinds import KINDS
from tests.cluster.api import Api, Json
from tests.cluster.conftest import Sizes
from tests.hosts.running import called
from tests.world import WEB, a_list, an_object, config, coordinator, digests, good, values

TCB = {"BootloaderVersion": 9, "TEEVersion": 0, "SNPVersion": 21, "MicrocodeVersion": 72}
RENDER = config(manifest=ManifestOptions(reference_values={"snp": ({"MinimumTCB": TCB},)}))


def _spec(random: Random, kind: str) -> Json:
    """A pod spec in which as much as possible is left to the server."""
    containers = [_container(random, f"app-{number}") for number in range(random.randint(1, 3))]
    spec: Json = {"runtimeClassName": "contrast-cc", "containers": containers}
    if random.random() < 0.5:
        spec["initContainers"] = [_container(random, "first", probes=False)]
    if random.random() < 0.5:
        spec["volumes"] = [*_volumes(random)]
        for container in containers:
            container["volumeMounts"] = [
                {"name": volume["name"], "mountPath": f"/data/{volume['name']}", "readOnly": random.random() < 0.5}
                for volume in spec["volumes"]
            ]
    if kind in {"Job", "CronJob"}:
        spec["restartPolicy"] = random.choice(("Never", "OnFailure"))
    choices: Json = {
        "securityContext": random.choice(({}, {"runAsUser": 0}, {"fsGroup": 1000})),
        "terminationGracePeriodSeconds": random.choice((0, 30, 45)),
        "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["db"]}],
        "automountServiceAccountToken": random.random() < 0.5,
        "enableServiceLinks": random.random() < 0.5,
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "dnsPolicy": random.choice(("ClusterFirst", "Default")),
    }
    spec |= {key: value for key, value in choices.items() if random.random() < 0.3}
    return spec


def _container(random: Random, name: str, *, probes: bool = True) -> Json:
    value: Json = {"name": name, "image": WEB}
    choices: Json = {
        "command": ["/bin/web", "--verbose"],
        "args": ["serve", "$(NAME)"],
        "workingDir": "/srv",
        "env": _env(random),
        "ports": [{"containerPort": random.choice((80, 8080))}],
        "resources": random.choice(({"limits": {"cpu": "1", "memory": "64Mi"}}, {"requests": {"cpu": "0.10"}})),
        "securityContext": random.choice(
            ({"privileged": False}, {"runAsUser": 0}, {"capabilities": {"drop": ["ALL"]}})
        ),
        "tty": random.random() < 0.5,
        "imagePullPolicy": random.choice(("Always", "IfNotPresent")),
        "terminationMessagePath": "/dev/termination-log",
    }
    if probes:
        choices["livenessProbe"] = random.choice(({"exec": {"command": ["true"]}}, {"tcpSocket": {"port": 80}}))
        choices["readinessProbe"] = {"httpGet": {"port": 80}}
        choices["lifecycle"] = {"preStop": {"exec": {"command": ["/bin/stop"]}}}
    return value | {key: found for key, found in choices.items() if random.random() < 0.4}


def _env(random: Random) -> list[Json]:
    every: list[Json] = [
        {"name": "NAME", "value": "web"},
        {"name": "EMPTY"},
        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "mode"}}},
    ]
    return random.sample(every, random.randint(1, len(every)))


def _volumes(random: Random) -> list[Json]:
    every: list[Json] = [
        {"name": "scratch", "emptyDir": random.choice(({}, {"medium": "Memory"}, {"sizeLimit": "1Gi"}))},
        {"name": "settings", "configMap": {"name": "settings"}},
        {"name": "password", "secret": {"secretName": "password"}},
        {"name": "mixed", "projected": {"sources": [{"configMap": {"name": "settings"}}]}},
        {"name": "about", "downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
    ]
    return random.sample(every, random.randint(1, 3))


def _fields(random: Random, kind: str, name: str) -> Json:
    """What the object's own spec needs, or may have."""
    selector = {"matchLabels": {"app": name}}
    match kind:
        case "Deployment" | "ReplicaSet":
            return {"selector": selector, "replicas": random.randrange(2)}
        case "StatefulSet":
            return {"selector": selector, "serviceName": name, "replicas": 1}
        case "DaemonSet":
            return {"selector": selector}
        case "ReplicationController":
            return {"replicas": 1}
        case "CronJob":
            return {"schedule": "0 3 * * *", "suspend": True}
        case "Job":
            return random.choice(({}, {"parallelism": 2}, {"backoffLimit": 0}))
        case _:
            return {}


def _settings(namespace: str) -> Json:
    """What the environment of some containers comes from."""
    metadata = {"name": "settings", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"mode": "fast"}}


def _workload(random: Random, kind: str, name: str, namespace: str) -> Json:
    spec = _spec(random, kind)
    labels = {"tier": "back"} if random.random() < 0.5 else {}
    annotations = {"example.com/owner": "shop"} if random.random() < 0.3 else {}
    return an_object(kind, name, namespace, spec, annotations, labels, **_fields(random, kind, name))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_workload_that_was_created_has_the_digest_it_was_rendered_with(
    api: Api, namespace: str, sizes: Sizes, kind: str
) -> None:
    random = sizes.random(f"defaulting {kind}")
    count = sizes(4, 32)
    given = [_workload(random, kind, f"{kind.lower()}-{number}", namespace) for number in range(count)]
    around = [coordinator(namespace=namespace), _settings(namespace)]
    rendered = good(*around, *given, to=RENDER)
    sealed = [value for value in values(rendered) if value["kind"] in KINDS]
    classes = _classes(api, sealed)
    stored = [_stored(api, value) for value in sealed if value["metadata"]["name"] != "coordinator"]
    others = [value for value in values(rendered) if value["kind"] == "ConfigMap"]
    for name in classes:
        api.delete("RuntimeClass", name)
    assert len(stored) == count
    assert any(_difference(before, after) for before, after in zip(sealed[1:], stored, strict=True))
    before = digests(rendered)
    after = digests(good(*around, *stored, to=RENDER))
    assert after == before
    checked = called("check", "--format", "json", "-", stdin=_stream([sealed[0], *stored, *others]))
    errors = [
        (one["code"], one["message"]) for one in json.loads(checked.err)["findings"] if one["severity"] == "error"
    ]
    assert (errors, checked.code) == ([], 0)


def _classes(api: Api, sealed: list[Json]) -> set[str]:
    """Create the classes that rendered pods name, which admission asks for."""
    text = json.dumps(sealed)
    names = {part.split('"')[0] for part in text.split('"runtimeClassName": "')[1:]}
    for name in names:
        head = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": name}
        assert api.create({**head, "overhead": {"podFixed": {"memory": "682Mi"}}}).code in {201, 409}
    return names


def _stored(api: Api, value: Json) -> Json:
    """Create an object and read it back as `kubectl get` would."""
    api.create(value, "?fieldValidation=Strict").ok()
    found: Json = api.get(value["kind"], value["metadata"]["name"], value["metadata"]["namespace"]).ok()
    return {"apiVersion": value["apiVersion"], "kind": value["kind"], **found}


def _difference(before: Json, after: Json) -> bool:
    return bool(before["spec"] != after["spec"])


def _stream(objects: list[Any]) -> bytes:
    return json.dumps(a_list(*objects)).encode()
