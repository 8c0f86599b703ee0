"""Workloads of all kinds with names of all lengths, on the engines: the pods that a cluster makes start, no others."""

import copy
import json
from typing import Any

import pytest

from krm_function.check.pods import check_workload
from krm_function.config.references import References
from krm_function.contrast.profiles import CONTRAST, PROFILES, Profile
from krm_function.kubernetes.kinds import KINDS as KINDS_OF_KUBERNETES
from krm_function.kubernetes.workload import INITDATA, Workload
from krm_function.policy.initdata import Initdata, annotation, encode_toml
from krm_function.policy.made_pod import SANDBOX_NAME
from tests.policy import given_names, pods
from tests.policy.host import Agent, Host

Json = dict[str, Any]
CREATE = "CreateContainerRequest"
WIDE = "[bcdfghjklmnpqrstvwxz2456789]+"
LENGTHS = (40, 46, 47, 52, 57, 58, 60, 63)
# kind, its fields, and the longest of its names of which there are pods
KINDS: dict[str, tuple[str, Json, int]] = {
    "Pod": ("Pod", {}, 63),
    "ReplicaSet": ("ReplicaSet", {}, 63),
    "ReplicationController": ("ReplicationController", {}, 63),
    "DaemonSet": ("DaemonSet", {}, 63),
    "Deployment": ("Deployment", {}, 63),
    "StatefulSet": ("StatefulSet", {}, 52),
    "Job": ("Job", {}, 63),
    "Indexed Job": ("Job", {"completionMode": "Indexed", "completions": 12}, 60),
    "CronJob": ("CronJob", {}, 52),
    "Indexed CronJob": ("CronJob", {"completionMode": "Indexed", "completions": 12}, 52),
}
POSSIBLE = [(kind, length) for kind, (_, _, most) in KINDS.items() for length in LENGTHS if length <= most]
IDS = [f"{kind}-{length}" for kind, length in POSSIBLE]
SPEC: Json = {
    "containers": [
        {
            "name": "app",
            "image": pods.APP["image"],
            "command": ["/web", "--name=$(POD_NAME)"],
            "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        }
    ]
}


def named(kind: str, length: int, key: str = "name") -> Json:
    """Metadata and the other fields that decide about names, for `given_names`."""
    of_kind, fields, _ = KINDS[kind]
    spec = {"jobTemplate": {"spec": fields}} if of_kind == "CronJob" else fields
    name = ("analytics-platform-recommendation-engine-worker." * 2)[:length].rstrip(".-").ljust(length, "x")
    return {"kind": of_kind, "metadata": {key: name, "namespace": "shop"}, "spec": spec}


def with_template(value: Json) -> Workload:
    """The workload of an object, to which a pod template is added."""
    document = copy.deepcopy({"apiVersion": KINDS_OF_KUBERNETES[value["kind"]][0], **value})
    holder = document["spec"]["jobTemplate"]["spec"] if value["kind"] == "CronJob" else document["spec"]
    added: Json = SPEC if value["kind"] == "Pod" else {"template": {"metadata": {}, "spec": SPEC}}
    holder.update(added)
    return pods.of(document)


def policy(value: Json, profile: Profile) -> str:
    return pods.sealed(with_template(value), profile=profile).rego


def starts(rego: str, name: str, *, quick: bool = True) -> bool:
    """Whether sandbox and container of a pod of that name start: all of them or none."""
    host, agent = Host(rego, name), Agent(rego, quick=quick)
    allowed = [agent.allows(CREATE, host.create(container)) for container in ("pause", "app")]
    assert len(set(allowed)) == 1
    return allowed[0]


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@pytest.mark.parametrize(("kind", "length"), POSSIBLE, ids=IDS)
def test_the_pods_that_the_cluster_makes_start(kind: str, length: int, profile: Profile) -> None:
    value = named(kind, length)
    rego = policy(value, profile)
    for lengths in ({"hash_length": 10}, {"hash_length": 9, "index_length": 2}, {"hash_length": 8, "index_length": 3}):
        assert starts(rego, given_names.pod_name(value, **lengths))


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@pytest.mark.parametrize(("kind", "length"), POSSIBLE, ids=IDS)
def test_no_other_pod_starts(kind: str, length: int, profile: Profile) -> None:
    value = named(kind, length)
    rego, name = policy(value, profile), given_names.pod_name(value)
    others = {
        f"{name}b",
        name[:-1],
        f"x{name}",
        name.replace("-", "x"),
        f"{value['metadata']['name']}-7c5ddbdf54-x2v9k",
    }
    if kind == "Pod":
        others.add(given_names.pod_name(named("DaemonSet", length)))
    for other in sorted(others - {name}):
        if not given_names.is_possible(value, other):
            assert not starts(rego, other), other


@pytest.mark.parametrize("length", [3, 57, 58, 59, 64])
@pytest.mark.parametrize("kind", ["Pod", "Job", "Deployment"])
def test_a_generated_name_is_cut_as_well(kind: str, length: int) -> None:
    value = named(kind, length, "generateName")
    rego = policy(value, CONTRAST)
    assert starts(rego, given_names.pod_name(value))
    assert not starts(rego, f"{given_names.pod_name(value)}b")


def test_the_pod_of_the_issue_is_allowed_by_all_engines() -> None:
    """kubernetes#116447: the name has no dash between hash and suffix."""
    metadata = {"name": "analytics-platform-recommendation-engine-worker", "namespace": "shop"}
    rego = policy({"kind": "Deployment", "metadata": metadata, "spec": {}}, CONTRAST)
    assert starts(rego, "analytics-platform-recommendation-engine-worker-7c5ddbdf54x2v9k", quick=False)
    assert not starts(rego, "analytics-platform-recommendation-engine-worker-7c5ddbdf54-x2v9k", quick=False)


# --- the same for `check`


@pytest.mark.parametrize(("length", "is_refused"), [(46, False), (47, True)])
def test_a_policy_of_an_earlier_version_is_found_if_it_refuses_the_pods(length: int, is_refused: bool) -> None:
    value = named("Deployment", length)
    workload = with_template(value)
    made = pods.sealed(workload)
    (name,) = {one["OCI"]["Annotations"][SANDBOX_NAME] for one in made.data["containers"]}
    earlier = f"^{value['metadata']['name']}-{WIDE}-{WIDE}$"
    for text in (earlier, earlier.replace(".", r"\.")):
        rego = made.rego.replace(json.dumps(name), json.dumps(text))
        toml = encode_toml(Initdata("0.1.0", "sha256", {"policy.rego": rego}))
        annotations = {INITDATA: annotation(toml)}
        template = {"metadata": {"annotations": annotations}, "spec": SPEC}
        sealed = workload._replace(object={**workload.object, "spec": {"template": template}})
        found = [one.message for one in check_workload(sealed, References()).findings]
        assert any("metadata.name, " in one for one in found) is is_refused, found
