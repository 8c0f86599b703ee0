"""Objects with long names: the pods that the controllers and the API server really make of them start, of all kinds."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.api import Api, until
from tests.cluster.control_plane import ControlPlane
from tests.cluster.made_pods import assert_starts
from tests.cluster.made_up_nodes import made_up_nodes
from tests.custom_resources.objects import OPTIONS, stream, template
from tests.hosts.running import called
from tests.policy.given_names import is_possible
from tests.quick_yaml import safe_load_all

Json = dict[str, Any]
Made = dict[str, tuple[Json, list[Json]]]
LENGTHS = (40, 46, 47, 52, 57, 58, 60, 63)
INDEXED = {"completionMode": "Indexed", "completions": 2, "parallelism": 2}
# kind, the fields of its spec (of a CronJob: of its Jobs) and the longest of its names of which there are pods
KINDS: dict[str, tuple[str, str, Json, int]] = {
    "pod": ("v1", "Pod", {}, 63),
    "rs": ("apps/v1", "ReplicaSet", {}, 63),
    "rc": ("v1", "ReplicationController", {}, 63),
    "ds": ("apps/v1", "DaemonSet", {}, 63),
    "deploy": ("apps/v1", "Deployment", {}, 63),
    "sts": ("apps/v1", "StatefulSet", {"serviceName": "web"}, 52),
    "job": ("batch/v1", "Job", {}, 63),
    "indexed": ("batch/v1", "Job", INDEXED, 60),
    "cron": ("batch/v1", "CronJob", {}, 52),
    "cron-indexed": ("batch/v1", "CronJob", INDEXED, 52),
}
NODES = [{"metadata": {"name": "long-names"}, "status": {"allocatable": {"cpu": "640", "memory": "640Gi"}}}]
# what a cluster says of names that are one character too long, or ten where a hash of nine digits would fit
TOO_LONG = [
    ("sts", 57, "label"),
    ("job", 64, "must be no more than 63"),
    ("indexed", 62, "will not able to create pod with invalid DNS label"),
    ("cron", 53, "must be no more than 52 characters"),
]


def an_object(short: str, length: int, namespace: str, key: str = "name") -> Json:
    """An object of a kind with a name of that length, whose pods are labelled with both."""
    version, kind, fields, _ = KINDS[short]
    app = f"{short}-{length}-{key.lower()}"
    variable = {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    pod = template("web", args=["--name=$(POD_NAME)"], env=[variable])
    pod["metadata"]["labels"] = {"app": app}
    if "Job" in kind:
        pod["spec"]["restartPolicy"] = "Never"
        holder = {**fields, "template": pod}
    elif kind == "ReplicationController":
        holder = {"selector": {"app": app}, "template": pod}
    else:
        holder = {**fields, "selector": {"matchLabels": {"app": app}}, "template": pod}
    name = f"{app}-analytics-platform-recommendation-engine-worker".ljust(length, "x")[: length - 1] + "z"
    value: Json = {"apiVersion": version, "kind": kind, "metadata": {key: name, "namespace": namespace}, "spec": holder}
    if kind == "CronJob":
        value["spec"] = {"schedule": "* * * * *", "concurrencyPolicy": "Forbid", "jobTemplate": {"spec": holder}}
    if kind == "Pod":
        value["metadata"]["labels"], value["spec"] = pod["metadata"]["labels"], pod["spec"]
    return value


def rendered(directory: Path, *values: Json) -> list[Json]:
    """What a render makes of objects; no manifest has an object without a name."""
    spec = {"platform": "metal-qemu-snp", "runtimeClasses": "off", "manifest": {"emit": "none"}}
    head = {"apiVersion": "contrast-krm.dev/v1alpha1", "kind": "ContrastGenerate", "metadata": {"name": "contrast"}}
    (directory / "contrast.yaml").write_text(json.dumps({**head, "spec": spec}))
    text = "\n---\n".join(map(json.dumps, values))
    options = (*OPTIONS[:4], "--config", str(directory))
    return list(safe_load_all(called("generate", "-", *options, stdin=text.encode()).ok()))


@pytest.fixture(name="made")
def pods_of_all_lengths(api: Api, namespace: str, tmp_path: Path) -> Iterator[Made]:
    """By their label: each object, and its pods."""
    every = [(short, length) for short, (*_, longest) in KINDS.items() for length in LENGTHS if length <= longest]
    values = [an_object(short, length, namespace) for short, length in every]
    of_generated_names = [(short, length) for short in ("pod", "job") for length in (57, 58, 59)]
    values += [an_object(short, length, namespace, "generateName") for short, length in of_generated_names]
    sealed = rendered(tmp_path, *values)
    assert len(sealed) == len(values)
    for handler in set(re.findall(r"contrast-cc-metal-qemu-[a-z-]+-[0-9a-f]{8}", str(sealed))):
        head = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": handler}}
        api.create({**head, "handler": handler}).ok()
    with made_up_nodes(api, NODES):
        for value in sealed:
            api.create(value).ok()

        def by_label() -> dict[str, list[Json]]:
            pods: dict[str, list[Json]] = {}
            for pod in api.items("Pod", namespace):
                pods.setdefault(pod["metadata"]["labels"]["app"], []).append(pod)
            return pods

        def complete() -> dict[str, list[Json]] | None:
            pods = by_label()
            return pods if len(pods) == len(values) else None

        pods = until(f"pods of {len(values)} objects", complete, 150)
        yield {_label(value): (value, pods[_label(value)]) for value in sealed}


def _label(value: Json) -> str:
    found = re.search(r"'app': '([a-z0-9-]+)'", str(value))
    assert found
    return found[1]


def test_every_pod_starts(cluster: ControlPlane, namespace: str, made: Made) -> None:
    """And the tests' own rules for names are those of the cluster, which `check` finds in order as well."""
    for value, pods in made.values():
        for pod in pods:
            name = pod["metadata"]["name"]
            assert is_possible(value, name), (value["kind"], value["metadata"], name)
            assert_starts(pod)
    listed = "deployments,replicasets,replicationcontrollers,daemonsets,cronjobs"
    own = cluster.kubectl("-n", namespace, "get", f"{listed},statefulsets,jobs,pods", "-o", "yaml").stdout
    errors = [line for line in called("check", "-", stdin=own.encode()).err.splitlines() if line.startswith("error")]
    assert [line for line in errors if "CC1106" not in line] == []


@pytest.mark.parametrize(("short", "length", "words"), TOO_LONG)
def test_a_name_that_is_refused_makes_no_pod(
    cluster: ControlPlane, api: Api, namespace: str, short: str, length: int, words: str
) -> None:
    value = an_object(short, length, namespace)
    refused = called("generate", "-", *OPTIONS, stdin=stream(value).encode())
    assert (refused.code, "CC0222" in refused.err, refused.out) == (1, True, b"")
    pod = value["spec"]["template"] if short != "cron" else value["spec"]["jobTemplate"]["spec"]["template"]
    del pod["spec"]["runtimeClassName"]
    answer = api.create(value)
    if answer.code >= 300:
        assert words in answer.message
        return

    def said() -> bool:
        return words in cluster.kubectl("-n", namespace, "get", "events", "-o", "yaml").stdout

    until(f"what the cluster says of {short}", said)
    assert api.items("Pod", namespace) == []
