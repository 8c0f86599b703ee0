"""Live objects, as `kubectl get all,configmap -o yaml` prints them: what controllers made counts once."""

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tests.hosts.running import EXAMPLES, called
from tests.wording import wording

RENDERED = EXAMPLES / "quickstart/expected/rendered.yaml"
CONFIG = str(EXAMPLES / "quickstart/config")
POLICY = "io.katacontainers.config.hypervisor.cc_init_data"
Json = dict[str, Any]


def owner(value: Json) -> list[Json]:
    metadata = value["metadata"]
    reference = {"apiVersion": value["apiVersion"], "kind": value["kind"], "name": metadata["name"]}
    return [{**reference, "uid": metadata["uid"], "controller": True, "blockOwnerDeletion": True}]


def made(by: Json, kind: str, suffix: str, template: Json) -> Json:
    """An object as the controller of `by` makes it. template: of a pod; a Pod is one."""
    name = f"{by['metadata']['name']}-{suffix}"
    labels = {**template["metadata"].get("labels", {}), "pod-template-hash": "7cbfdbb585"}
    metadata = {"name": name, "namespace": by["metadata"]["namespace"], "uid": f"uid-{name}", "labels": labels}
    metadata["ownerReferences"] = owner(by)
    template = copy.deepcopy(template)
    if kind == "Pod":
        metadata["annotations"] = template["metadata"].get("annotations", {})
        spec = {**template["spec"], "nodeName": "snp-1", "enableServiceLinks": True}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    version = "batch/v1" if kind == "Job" else "apps/v1"
    metadata["annotations"] = dict(by["metadata"].get("annotations", {}))  # as the Deployment controller copies them
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {"template": template}}


def live() -> list[Json]:
    """The rendered quickstart after every controller has made what it makes."""
    objects = list(yaml.safe_load_all(RENDERED.read_text()))
    out = []
    for value in objects:
        value["metadata"]["uid"] = f"uid-{value['kind']}-{value['metadata']['name']}"
        value["metadata"].setdefault("annotations", {})["kubectl.kubernetes.io/last-applied-configuration"] = "{}\n"
        out.append(value)
        spec = value.get("spec", {})
        if value["kind"] == "Deployment":
            spec["template"]["metadata"].setdefault("annotations", {})["kubectl.kubernetes.io/restartedAt"] = "2026"
            replicas = made(value, "ReplicaSet", "7cbfdbb585", spec["template"])
            out += [replicas, made(replicas, "Pod", "vhsrf", spec["template"])]
        elif value["kind"] == "StatefulSet":
            pod = made(value, "Pod", "0", spec["template"])
            pod["spec"] |= {"hostname": pod["metadata"]["name"], "subdomain": spec["serviceName"]}
            for claim in spec.get("volumeClaimTemplates", ()):
                name = claim["metadata"]["name"]
                pod["spec"].setdefault("volumes", []).append(
                    {"name": name, "persistentVolumeClaim": {"claimName": name}}
                )
            out.append(pod)
        elif value["kind"] == "CronJob":
            job = made(value, "Job", "29000000", spec["jobTemplate"]["spec"]["template"])
            out += [job, made(job, "Pod", "x2b4c", job["spec"]["template"])]
    return out


def stream(objects: list[Json]) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=1).encode()


def test_a_healthy_cluster_passes() -> None:
    objects = live()
    assert sum("ownerReferences" in value["metadata"] for value in objects) >= 8
    for more in ([], ["--config", CONFIG]):
        ran = called("check", *more, stdin=stream(objects))
        assert ran.ok() == b"", ran.err
        assert ran.err.startswith("checked 6 Contrast workloads"), ran.err


def test_plan_and_diff_do_not_count_what_controllers_made() -> None:
    ran = called("plan", "-o", "json", "--config", CONFIG, stdin=stream(live()))
    workloads = json.loads(ran.ok())
    assert wording("CC1119", kind="Deployment", name="web", problem="with the same policy") in json.dumps(workloads)
    documents = "".join(f"---\n{yaml.safe_dump(value)}" for value in live())
    shown = called("diff", "--config", CONFIG, stdin=documents.encode()).ok().decode()
    headings = [line for line in shown.splitlines() if line.startswith("=== ")]
    assert not [line for line in headings if "Pod/" in line or "ReplicaSet/" in line or " Job/" in line]


@pytest.mark.parametrize("command", ["generate", "post-render"])
def test_a_render_refuses_them_with_their_place(command: str) -> None:
    ran = called(command, "--config", CONFIG, stdin=stream(live()))
    assert ran.code == 1
    assert ran.out == b""
    assert "error CC0220 shop/web-7cbfdbb585-vhsrf items[" in ran.err
    assert f"].metadata.ownerReferences: {wording('CC0220', kind='ReplicaSet', name='web-7cbfdbb585')}" in ran.err


def pod(objects: list[Json]) -> Json:
    return next(value for value in objects if value["metadata"]["name"] == "web-7cbfdbb585-vhsrf")


def other_uid(objects: list[Json]) -> None:
    pod(objects)["metadata"]["ownerReferences"][0]["uid"] = "another"


def other_policy(objects: list[Json]) -> None:
    key = "io.katacontainers.config.hypervisor.cc_init_data"
    other = next(value for value in objects if value["metadata"]["name"] == "coordinator")
    pod(objects)["metadata"]["annotations"][key] = other["spec"]["template"]["metadata"]["annotations"][key]


def earlier(objects: list[Json], name: str) -> Json:
    """What the render before this one has left: an object with a policy that no manifest has any more."""
    value = next(one for one in objects if one["metadata"]["name"] == name)
    template = value["spec"].get("template", value)
    template["metadata"]["annotations"][POLICY] = "of the render before"
    return value


def test_what_an_upgrade_has_left_and_runs_no_pod_is_not_checked() -> None:
    objects = live()
    earlier(objects, "web-7cbfdbb585")["spec"]["replicas"] = 0
    earlier(objects, "nightly-report-29000000")["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    earlier(objects, "nightly-report-29000000-x2b4c")["status"] = {"phase": "Succeeded"}
    earlier(objects, "web-7cbfdbb585-vhsrf")["status"] = {"phase": "Failed"}  # evicted
    ran = called("check", stdin=stream(objects))
    assert (ran.code, "checked 6 Contrast workloads" in ran.err) == (0, True), ran.err
    heads = [head for head in ran.err.split("\nmore: ")[0].split("warning ") if head.startswith("CC1122")]
    ended = [name for head in heads for name in re.findall(r"shop/[a-z0-9-]+", head.partition("hint:")[0])]
    assert ended == [
        "shop/nightly-report-29000000",
        "shop/nightly-report-29000000-x2b4c",
        "shop/web-7cbfdbb585-vhsrf",
    ], "a status is believed with a warning; replicas: 0 without one"
    plan = called("plan", "-o", "json", "--config", CONFIG, stdin=stream(objects)).ok().decode()
    assert wording("CC1119", kind="CronJob", name="nightly-report", problem="and runs no pod") in plan


def test_a_replica_set_of_a_pod_that_somebody_took_out_of_its_vm_for_a_while_is_not_checked() -> None:
    """It has the record of the Deployment, and another pod."""
    objects = live()
    value = earlier(objects, "web-7cbfdbb585")
    value["spec"]["replicas"] = 0
    del value["spec"]["template"]["spec"]["runtimeClassName"]
    objects[:] = [one for one in objects if one["metadata"]["name"] != "web-7cbfdbb585-vhsrf"]
    for more in ([], ["--config", CONFIG]):
        ran = called("check", *more, stdin=stream(objects))
        assert (ran.code, ran.err.splitlines()[0]) == (0, "checked 6 Contrast workloads"), ran.err
    value["spec"]["replicas"] = 1
    assert "error CC0115 shop/web-7cbfdbb585 " in called("check", stdin=stream(objects)).err


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("web-7cbfdbb585", {"spec": {"replicas": 1}}),
        ("web-7cbfdbb585", {"spec": {"replicas": False}}),
        ("nightly-report-29000000", {"status": {"conditions": [{"type": "Complete", "status": "False"}]}}),
        ("nightly-report-29000000", {"status": {"conditions": [{"type": "Suspended", "status": "True"}]}}),
        ("web-7cbfdbb585-vhsrf", {"status": {"phase": "Running"}}),
    ],
)
def test_what_still_runs_another_policy_is_checked(name: str, part: dict[str, Json]) -> None:
    objects = live()
    value = earlier(objects, name)
    for key, more in part.items():
        value.setdefault(key, {}).update(more)
    ran = called("check", stdin=stream(objects))
    assert (ran.code, f"shop/{name}" in ran.err) == (1, True)


def test_what_runs_no_pod_and_has_no_owner_here_is_checked() -> None:
    objects = live()
    value = earlier(objects, "web-7cbfdbb585-vhsrf")
    value["status"] = {"phase": "Succeeded"}
    del value["metadata"]["ownerReferences"]
    assert called("check", stdin=stream(objects)).code == 1


def no_controller(objects: list[Json]) -> None:
    del pod(objects)["metadata"]["ownerReferences"][0]["controller"]


def absent_owner(objects: list[Json]) -> None:
    objects[:] = [value for value in objects if value["metadata"]["name"] != "web-7cbfdbb585"]


def circle(objects: list[Json]) -> None:
    """The Deployment claims to be made by its own pod."""
    web = next(value for value in objects if value["metadata"]["name"] == "web" and value["kind"] == "Deployment")
    web["metadata"]["ownerReferences"] = owner(pod(objects))


def other_command(objects: list[Json]) -> None:
    pod(objects)["spec"]["containers"][0]["args"] = ["--steal"]


def more_cpu(objects: list[Json]) -> None:
    """What a LimitRange does to a pod."""
    for container in pod(objects)["spec"]["containers"]:
        container.setdefault("resources", {}).setdefault("limits", {})["cpu"] = "4"


@pytest.mark.slow
@pytest.mark.parametrize(
    "change", [other_uid, other_policy, no_controller, absent_owner, circle, other_command, more_cpu]
)
def test_what_only_claims_to_be_made_so_is_checked(change: Callable[[list[Json]], None]) -> None:
    objects = live()
    change(objects)
    ran = called("check", stdin=stream(objects))
    assert ran.code == 1
    assert "shop/web" in ran.err


def test_a_rollout_is_one_warning_for_its_owner() -> None:
    """An old ReplicaSet with pods that serve: as `kubectl get all` prints it during each upgrade."""
    older = yaml.safe_load_all((EXAMPLES / "strict/expected/rendered.yaml").read_text())
    template = next(one for one in older if one and one["metadata"]["name"] == "web")["spec"]["template"]
    objects = live()
    web = next(one for one in objects if one["kind"] == "Deployment" and one["metadata"]["name"] == "web")
    old = made(web, "ReplicaSet", "547467bcb6", template)
    old["spec"]["replicas"] = 2
    pods = [made(old, "Pod", name, template) for name in ("7r8n6", "x2b4c")]
    for pod in pods:
        pod["status"] = {"phase": "Running"}
    ran = called("check", stdin=stream([*pods, *objects, old]))
    assert ran.code == 0, ran.err
    said = "rollout of Deployment/web not finished: 2 pods of an earlier render run"
    assert re.findall("(?:error|warning) CC1.*", ran.err) == [f"warning CC1133 shop/web: {said}"]
    pods[0]["spec"]["containers"][0]["image"] = "registry.example.com/evil@sha256:" + "0" * 64
    ran = called("check", stdin=stream([*pods, *objects, old]))
    assert re.findall("error CC1.*", ran.err), "it is judged by its own policy"
    assert ran.code == 1


def test_what_a_workload_says_is_not_said_again_of_what_was_made_of_it() -> None:
    objects = live()
    for one in objects:
        spec = one["spec"] if one["kind"] == "Pod" else one.get("spec", {}).get("template", {}).get("spec")
        if one["metadata"]["name"].startswith("web") and spec:
            spec["containers"][0]["image"] = "registry.example.com/evil@sha256:" + "0" * 64
    ran = called("check", stdin=stream(objects))
    assert [line.split()[1] for line in ran.err.splitlines() if line.startswith("error ")] == ["CC1103"], ran.err
