"""Why a pod does not start: recorded statuses and events, each told by the cause and its remedy."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.custom_resources.objects import OPTIONS, leader_worker_set, stream, template
from tests.diagnosis.objects import (
    NAME,
    Json,
    deployment,
    event,
    manifest,
    owned,
    pod,
    rendered,
    replica_set,
    status,
    why,
)
from tests.hosts.running import called
from tests.policy.pods import rego_document
from tests.wording import wording

CASES: list[Json] = yaml.safe_load((Path(__file__).parent / "statuses.yaml").read_text())
HEAD = {"apiVersion": "contrast-krm.dev/v1alpha1", "kind": "ContrastGenerate", "metadata": {"name": "contrast"}}
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def _denied(*more: Json, value: Json | None = None, **fields: Any) -> list[Json]:
    """Pod, owners and others, of which the policy denies a container."""
    made = value or pod()
    short = {"waiting": {"web": ["CreateContainerError", '"CreateContainerRequest is blocked by policy: "']}}
    return [status(made, {**short, **fields}), replica_set(), deployment(), *more]


@pytest.mark.parametrize("case", CASES, ids=[one["name"] for one in CASES])
def test_a_recorded_status_is_told(case: Json) -> None:
    owner = deployment()
    made, replicas = pod(), replica_set()
    image = next(one["image"] for one in made["spec"]["containers"] if one["name"] == "web")
    events = [
        event(replicas if "about" in case else made, one["reason"], one["message"].replace("IMAGE", image))
        for one in case.get("events", [])
    ]
    there = [status(made, case["status"])] if "status" in case else []
    of = f"pod/{NAME}" if there else "deploy/web"
    ran = why(*there, replicas, owner, manifest(), *events, of=of)
    assert ran.code == 1, ran.err
    out = ran.out.decode()
    assert out.splitlines()[2].startswith(case["code"]), out
    said = wording(f"{case['code']}.{case['variant']}", **case.get("values", {})) if "variant" in case else case["says"]
    assert said in out
    assert "remedy: " in out
    assert "hunter2" not in out
    report = json.loads(why(*there, replicas, owner, manifest(), *events, of=of, options=("-o", "json")).out)
    assert next(one["code"] for one in report["causes"]) == case["code"]
    assert all(one["remedy"] for one in report["causes"])


def test_a_pod_that_runs_has_no_cause() -> None:
    ran = why(status(pod(), READY), replica_set(), deployment(), manifest())
    assert (ran.code, "CC1171" in ran.out.decode()) == (0, True)
    done = why(status(pod(), {"phase": "Succeeded"}), replica_set(), deployment())
    assert done.code == 0


@pytest.mark.parametrize("alone", [False, True], ids=["with its owners", "alone"])
def test_a_name_that_the_policy_refuses_is_named(alone: bool) -> None:
    value = pod(name="web-7c5ddbdf54x2v9k")
    objects = _denied(value=value)[: 1 if alone else None]
    out = why(*objects, of="pod/web-7c5ddbdf54x2v9k").out.decode()
    assert "CC1165" in out
    assert "metadata.name, web-7c5ddbdf54x2v9k in place of ^web-[4-9bcdf]{1,10}-" in out


@pytest.mark.parametrize(
    ("kind", "good", "bad"), [("Pod", "one-x2v9k", "one-x2v9"), ("Job", "one-3-x2v9k", "one-x2v9k")]
)
def test_the_names_of_a_pod_that_stands_alone_are_known(kind: str, good: str, bad: str, tmp_path: Path) -> None:
    """Of a generateName, and of an Indexed Job, which the pod shows without its owner."""
    pod_template = template("web")
    metadata: Json = {"name": "one", "namespace": "shop"}
    if kind == "Pod":
        metadata = {"generateName": "one-", "namespace": "shop", **pod_template["metadata"]}
        value = {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": pod_template["spec"]}
    else:
        spec = {"completionMode": "Indexed", "completions": 4, "template": pod_template}
        value = {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": spec}
    without = {"platform": "metal-qemu-snp", "runtimeClasses": "off", "manifest": {"emit": "none"}}
    (tmp_path / "contrast.yaml").write_text(json.dumps({**HEAD, "spec": without}))
    output = called("generate", "-", *OPTIONS[:4], "--config", str(tmp_path), stdin=json.dumps(value).encode()).ok()
    sealed = next(one for one in yaml.safe_load_all(output) if one["kind"] == kind)
    sealed["metadata"]["uid"] = "uid-one"
    for name, is_refused in ((good, False), (bad, True)):
        if kind == "Pod":
            made = {**sealed, "metadata": {**sealed["metadata"], "name": name}}
        else:
            made = owned(sealed["spec"]["template"], "Pod", "v1", name, sealed)
            made["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] = "3"
        out = why(status(made, {"phase": "Pending"}), of=f"pod/{name}").out.decode()
        assert ("metadata.name, " in out) is is_refused, out


def test_it_is_known_without_its_owners() -> None:
    """`kubectl get pod,events -o yaml`: the policy says which kind of workload the pod was made of."""
    (denied, *_) = _denied()
    out = why(denied).out.decode()
    assert "CC1164" in out
    assert "CC1165" not in out, out


def test_a_pod_of_a_custom_resource_is_compared_with_the_template_of_its_policy() -> None:
    """Group and index of its own are the controller's; what somebody added is not."""
    output = called("generate", "-", *OPTIONS, stdin=stream(leader_worker_set("llm")).encode()).ok()
    llm = next(one for one in yaml.safe_load_all(output) if one["kind"] == "LeaderWorkerSet")
    llm["metadata"]["uid"] = "uid-llm"
    template = llm["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    workers = owned({"spec": {"template": template}}, "StatefulSet", "apps/v1", "llm-0", llm)
    worker = status(
        owned(template, "Pod", "v1", "llm-0-1", workers),
        {"waiting": {"worker": ["CreateContainerError", '"CreateContainerRequest is blocked by policy: "']}},
    )
    worker["metadata"].setdefault("annotations", {})["leaderworkerset.sigs.k8s.io/size"] = "3"
    said = why(worker, workers, llm, of="pod/llm-0-1").out.decode()
    assert "CC1164" in said, said
    assert "CC1165" not in said, said
    worker["spec"]["containers"][0].setdefault("env", []).append({"name": "HTTP_PROXY", "value": "hunter2"})
    assert "worker: env" in why(worker, workers, llm, of="pod/llm-0-1").out.decode()


def _changed(edit: Any) -> Json:
    value = pod()
    edit(value["spec"])
    return value


def _container(spec: Json) -> Json:
    return next(one for one in spec["containers"] if one["name"] == "web")


CHANGES = {
    "web: env": lambda spec: _container(spec).setdefault("env", []).append({"name": "HTTP_PROXY", "value": "hunter2"}),
    "web: image": lambda spec: _container(spec).update(image="registry.example.com/other@sha256:" + "e" * 64),
    "containers istio-proxy": lambda spec: spec["containers"].append(
        {"name": "istio-proxy", "image": "i@sha256:" + "f" * 64}
    ),
    "web: command or args": lambda spec: _container(spec).update(args=["hunter2"]),
}


@pytest.mark.parametrize("field", CHANGES)
@pytest.mark.parametrize("alone", [False, True], ids=["with its owners", "alone"])
def test_a_field_that_admission_changed_is_named(field: str, alone: bool) -> None:
    objects = _denied(value=_changed(CHANGES[field]))
    ran = why(*objects[: 1 if alone else None])
    out = ran.out.decode()
    assert ran.code == 1
    assert wording("CC1103", field=field) in out
    assert "hunter2" not in out


def test_an_annotation_of_a_cni_plugin_is_no_cause() -> None:
    value = status(pod(), {"phase": "Pending"})
    value["metadata"]["annotations"]["cni.projectcalico.org/podIP"] = "10.1.2.3/32"
    assert "CC1165" not in why(value, replica_set(), deployment()).out.decode()


@pytest.mark.parametrize("field", CHANGES)
def test_it_is_named_before_anything_has_been_denied(field: str) -> None:
    out = why(status(_changed(CHANGES[field]), {"phase": "Pending"}), replica_set(), deployment()).out.decode()
    assert "CC1165 [metadata.annotations" in out
    assert field in out


def test_a_service_is_named_where_the_policy_is_of_kata_s_form() -> None:
    from krm_function.contrast.profiles import KATA
    from krm_function.policy.initdata import (
        annotation,
        decode_toml,
        encode_toml,
        from_annotation,
        read_policy_data,
        rules_of,
    )
    from krm_function.policy.settings import default_document

    made, key = pod(), "io.katacontainers.config.hypervisor.cc_init_data"
    initdata = decode_toml(from_annotation(made["metadata"]["annotations"][key]))
    rego = initdata.data["policy.rego"]
    data = read_policy_data(rego)
    requests = default_document(KATA)["request_defaults"]
    data["request_defaults"]["CreateContainerRequest"] = requests["CreateContainerRequest"]
    data["request_defaults"]["CreateContainerRequest"]["allow_env_regex"] = list(
        requests["CreateContainerRequest"]["allow_env_regex"]
    )
    toml = encode_toml(initdata._replace(data={**initdata.data, "policy.rego": rego_document(rules_of(rego), data)}))
    made["metadata"]["annotations"][key] = annotation(toml)
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "diameter", "namespace": "shop"},
        "spec": {"clusterIP": "10.0.0.4", "ports": [{"port": 3868, "protocol": "SCTP"}]},
    }
    out = why(*_denied(service, value=made)[:1], service).out.decode()
    assert "DIAMETER_PORT" in out
    assert "enableServiceLinks: false" in out
    elsewhere = {**service, "metadata": {"name": "diameter", "namespace": "other"}}
    assert "DIAMETER_PORT" not in why(*_denied(value=made)[:1], elsewhere).out.decode()
    assert "DIAMETER_PORT" not in why(*_denied(service), service).out.decode()  # our own form allows it


def test_objects_may_be_documents_of_their_own() -> None:
    made = status(pod(), {})
    full = event(made, "FailedCreatePodSandBox", "Failed to create pod sandbox: no space left on device")
    objects = (made, replica_set(), deployment(), manifest(), full)
    documents = "".join(f"---\n{json.dumps(value)}\n" for value in objects)
    ran = called("why", f"pod/{NAME}", stdin=documents.encode())
    assert ran == why(*objects)
    assert "no space left on device" in ran.out.decode()


def _waiting(*more: Json) -> str:
    made = status(pod(), {"running": ["contrast-initializer"]})
    return why(made, replica_set(), deployment(), *more).out.decode()


def _coordinator(*, ready: bool) -> Json:
    value = rendered("StatefulSet", "coordinator")
    value["metadata"]["uid"] = "uid-coordinator"
    template = copy.deepcopy(value["spec"]["template"])
    metadata = {**template["metadata"], "name": "coordinator-0", "namespace": "shop", "uid": "uid-coordinator-0"}
    conditions = [{"type": "Ready", "status": str(ready)}]
    state = {"phase": "Running", "conditions": conditions}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"], "status": state}


def test_why_an_initializer_waits() -> None:
    known = manifest()
    other = copy.deepcopy(known)
    policies = json.loads(other["data"]["manifest.json"])
    policies["Policies"] = {"0" * 64: next(iter(policies["Policies"].values()))}
    other["data"]["manifest.json"] = json.dumps(policies)
    assert wording("CC1167.unknown") in _waiting()
    assert "which the coordinator may not have yet" in _waiting(known, _coordinator(ready=True))
    assert "the coordinator coordinator-0 is not ready" in _waiting(known, _coordinator(ready=False))
    assert "of the pod is not in any manifest" in _waiting(other, _coordinator(ready=True))
    none = wording("CC1167.no-coordinator", where="namespace shop")
    assert none in _waiting(known, status(pod(name="web-7c5ddbdf54-other"), READY))
    crashed = status(pod(), {"crashed": {"contrast-initializer": ["Error", 3]}})
    assert "it ends with exit code 3" in why(crashed, replica_set(), deployment(), known).out.decode()


def test_a_vcpu_count_that_a_limit_range_changed_is_named() -> None:
    def more_cpu(spec: Json) -> None:
        _container(spec).setdefault("resources", {}).setdefault("limits", {})["cpu"] = "7"

    words = "Failed to create pod sandbox: rpc error: code = DeadlineExceeded desc = context deadline exceeded"
    for edit, count in ((more_cpu, 1), (lambda spec: None, 0)):
        made = _changed(edit)
        ran = why(
            status(made, {}), replica_set(), deployment(), manifest(), event(made, "FailedCreatePodSandBox", words)
        )
        assert ran.out.decode().count(wording("CC1166.block", field="")) == count, ran.out


def test_the_worst_pod_of_a_workload_is_the_one_that_is_told() -> None:
    good = status(pod(name="web-7c5ddbdf54-good1"), READY)
    bad = status(pod(name="web-7c5ddbdf54-bad11"), {"crashed": {"web": ["Error", 1]}})
    for of in ("deploy/web", "Deployment/web", "deployments/shop/web", "rs/web-7c5ddbdf54"):
        ran = why(good, bad, replica_set(), deployment(), of=of)
        assert ran.out.decode().startswith("Pod shop/web-7c5ddbdf54-bad11:"), ran.err


def test_an_address_that_names_nothing_or_too_much() -> None:
    made = status(pod(), READY)
    elsewhere = copy.deepcopy(made)
    elsewhere["metadata"]["namespace"] = "other"
    for of, says in (
        ("web", wording("CC1172.address", address="web")),
        ("service/web", wording("CC1172.address", address="service/web")),
        ("pod/nobody", wording("CC1172.absent", address="pod/nobody")),
        (f"pod/{NAME}", "is in several namespaces: other, shop"),
    ):
        ran = why(made, elsewhere, of=of)
        assert (ran.code, ran.out) == (1, b"")
        assert says in ran.err
    assert why(made, elsewhere, of=f"pod/shop/{NAME}").code == 0
    assert why(made, elsewhere, options=("--namespace", "shop")).code == 0


def test_a_pod_that_is_gone_is_told_by_its_events() -> None:
    gone = pod()
    words = 'Failed to create pod sandbox: no runtime for "kata" is configured'
    told = event(gone, "FailedCreatePodSandBox", words)
    ran = why(told)
    assert ran.code == 1
    assert "no runtime handler kata" in ran.out.decode()


def test_events_of_an_earlier_pod_of_the_name_do_not_count() -> None:
    made = status(pod(), {})
    old = event(made, "FailedCreatePodSandBox", 'no runtime for "kata" is configured')
    old["involvedObject"]["uid"] = "uid-of-another"
    assert "CC1170" in why(made, replica_set(), deployment(), old).out.decode()


def test_the_latest_event_counts() -> None:
    made = status(pod(), {})
    first = event(made, "FailedCreatePodSandBox", 'no runtime for "kata" is configured', "2026-11-24T10:00:01Z")
    last = event(made, "FailedMount", 'MountVolume.SetUp failed : configmap "x" not found', "2026-11-24T10:09:01Z")
    assert "CC1168" in why(made, replica_set(), deployment(), last, first).out.decode()


def test_a_newer_form_of_events_is_read() -> None:
    made = status(pod(), {})
    old = event(made, "FailedCreatePodSandBox", 'no runtime for "kata" is configured')
    newer = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": old["metadata"],
        "regarding": old["involvedObject"],
        "reason": old["reason"],
        "note": old["message"],
        "eventTime": "2026-11-24T10:00:01.000000Z",
    }
    assert "CC1166" in why(made, newer).out.decode()


def test_a_plain_pod_is_said_to_be_plain() -> None:
    value = pod()
    del value["spec"]["runtimeClassName"]
    del value["metadata"]["annotations"]
    assert wording("CC1173.no-class") in why(status(value, {})).out.decode()


def test_control_characters_of_a_cluster_are_shown() -> None:
    made = status(pod(), {})
    told = event(made, "FailedCreatePodSandBox", "Failed \x1b[31mred")
    assert "\x1b" not in why(made, told).out.decode()


PROGRESS = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "timed out"}
WANTED: list[tuple[str, Json, str, Json]] = [
    ("spec", {"replicas": 0}, "none", {"field": "spec.replicas", "value": "0"}),
    ("spec", {"paused": True}, "none", {"field": "spec.paused", "value": "true"}),
    ("spec", {"suspend": True}, "none", {"field": "spec.suspend", "value": "true"}),
    ("status", {"desiredNumberScheduled": 0}, "none", {"field": "status.desiredNumberScheduled", "value": "0"}),
    ("status", {"conditions": [PROGRESS]}, "deadline", {"said": "timed out"}),
    (
        "metadata",
        {"deletionTimestamp": "2026-11-24T10:00:00Z", "finalizers": ["a/b"]},
        "deleted",
        {"since": "2026-11-24T10:00:00Z", "finalizers": "a/b"},
    ),
]


@pytest.mark.parametrize(("field", "parts", "variant", "values"), WANTED, ids=str)
def test_what_the_object_itself_states_is_the_cause(field: str, parts: Json, variant: str, values: Json) -> None:
    owner, earlier = deployment(), replica_set()
    earlier["spec"]["replicas"] = 0  # of an earlier template, which is no cause
    owner.setdefault(field, {}).update(parts)
    out = why(earlier, owner, of="deploy/web").out.decode()
    assert wording(f"CC1177.{variant}", kind="Deployment", name="web", **values) in out
    assert "CC1170" not in out
    assert "CC1170" in why(earlier, deployment(), of="deploy/web").out.decode()


def test_a_pod_that_does_not_go_is_named() -> None:
    made = status(pod(), {"phase": "Pending"})
    made["metadata"]["deletionTimestamp"] = "2026-11-24T10:00:00Z"
    out = why(made, replica_set(), deployment()).out.decode()
    assert wording("CC1177.deleted", kind="Pod", name=NAME, since="2026-11-24T10:00:00Z", finalizers="none") in out


@pytest.mark.parametrize(
    "address", ["deployment.apps/web", "deployments.apps/shop/web", "Deployment/web", "rs.apps/web-7c5ddbdf54"]
)
def test_a_kind_may_have_its_group(address: str) -> None:
    made = status(pod(), READY)
    assert why(made, replica_set(), deployment(), of=address).code == 0
    assert why(made, replica_set(), deployment(), of="deployment.example.com/web").code == 1


@pytest.mark.parametrize(
    ("address", "version", "kind"),
    [
        ("rollout/x", "argoproj.io/v1alpha1", "Rollout"),
        ("rollouts.argoproj.io/x", "argoproj.io/v1alpha1", "Rollout"),
        ("leaderworkerset/x", "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
        ("lws/shop/x", "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
        ("jobset/x", "jobset.x-k8s.io/v1alpha2", "JobSet"),
        ("statefulset.apps.kruise.io/x", "apps.kruise.io/v1beta1", "StatefulSet"),
    ],
)
def test_kinds_of_the_catalogue_can_be_asked_about(address: str, version: str, kind: str) -> None:
    owner = {**deployment(), "apiVersion": version, "kind": kind}
    owner["metadata"] |= {"name": "x", "uid": "uid-x"}
    replicas = replica_set(owner)
    ran = why(status(pod(replicas), READY), replicas, owner, of=address)
    assert (ran.code, ran.out.decode().startswith(f"Pod shop/{NAME}: Running")) == (0, True), ran.err
