"""`adopt` offers the rules that rewrite pods, each with what follows, and what it writes renders."""

from typing import Any

import pytest

from krm_function.check.adopt import Request, adopt, is_choice
from krm_function.config.document import ConfigDocument
from tests.adoption.test_sources import GENERATE, codes
from tests.world import LOCK, Json, an_object, config, coordinator, pod_spec, stream


def mounting(name: str, volume: Json, *mounts: Json, **more: Any) -> Json:
    spec = pod_spec(volumes=[{"name": "data", **volume}])
    spec["containers"][0]["volumeMounts"] = [{"name": "data", **one} for one in mounts]
    return an_object(name=name, spec=spec, **more)


def adopted(*objects: Json, spec: Json | None = None, yes: tuple[str, ...] = (), owner: str = "") -> Any:
    document = ConfigDocument({**GENERATE, "spec": {"platform": "metal-qemu-snp", **(spec or {})}})
    request = Request(yes=frozenset(yes), owner_image=owner)
    return adopt(stream(coordinator(), *objects), document, config(), request)


CLAIM = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "files"}, "spec": {}}
CASES: dict[str, tuple[Json, Json]] = {
    "splitSubPaths": (
        mounting("web", {"emptyDir": {}}, {"mountPath": "/a", "subPath": "a"}, {"mountPath": "/b", "subPath": "b"}),
        {"volumes": {"splitSubPaths": True}},
    ),
    "securePV": (
        mounting("web", {"persistentVolumeClaim": {"claimName": "files"}}, {"mountPath": "/a"}),
        {"volumes": {"securePV": {"claims": ["files"]}}},
    ),
    "renameGPUs": (
        an_object(
            spec=pod_spec(containers=[{**pod_spec()["containers"][0], "resources": {"limits": {"nvidia.com/gpu": 1}}}])
        ),
        {"gpus": {"rename": {"nvidia.com/gpu": "nvidia.com/pgpu"}}},
    ),
    "leastVCPUs": (
        an_object(
            spec=pod_spec(
                runtimeClassName="contrast-cc-metal-qemu-snp-gpu",
                containers=[{**pod_spec()["containers"][0], "resources": {"limits": {"nvidia.com/pgpu": 4}}}],
            )
        ),
        {"vcpus": {"minimum": "gpus"}},
    ),
    "hostPathCaches=/models": (
        mounting("web", {"hostPath": {"path": "/models"}}, {"mountPath": "/a"}),
        {"volumes": {"hostPathCaches": {"paths": ["/models"]}}},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_rule_is_offered_with_its_consequence_and_taken_only_by_name(name: str) -> None:
    pod, part = CASES[name]
    made = adopted(pod)
    assert [choice.name for choice in made.offered] == [name]
    assert made.offered[0].spec == part
    assert made.offered[0].consequences
    assert made.accepted == ()
    assert codes(made) != []
    made = adopted(pod, yes=(name,))
    assert made.spec == {"platform": "metal-qemu-snp", **part}
    assert codes(made) == []
    again = adopted(pod, spec=made.spec, yes=(name,))
    assert (again.spec, again.accepted, again.offered) == (made.spec, (), ())


def test_what_is_on_a_node_is_chosen_path_by_path() -> None:
    pods = (
        mounting("web", {"hostPath": {"path": "/models"}}, {"mountPath": "/a"}),
        mounting("agent", {"hostPath": {"path": "/var/log/pods"}}, {"mountPath": "/a"}),
        mounting("driver", {"hostPath": {"path": "/dev/dri"}}, {"mountPath": "/a"}),
    )
    made = adopted(*pods, yes=("hostPathCaches=/models",))
    assert [choice.name for choice in made.offered] == ["hostPathCaches=/var/log/pods"], "/dev can be no cache"
    assert [pod.ref.name for pod in made.refused] == ["agent", "driver"]
    assert not is_choice("hostPathCaches")
    assert not is_choice("hostPathCaches=")
    assert not is_choice("securePV=files")


def claimed(name: str, *mounts: Json, claim: Json | None = None, replicas: int = 1) -> Json:
    volume = {"persistentVolumeClaim": {"claimName": "files", **(claim or {})}}
    return mounting(name, volume, *(mounts or ({"mountPath": "/a"},)), replicas=replicas)


SHARED = CLAIM | {"spec": {"accessModes": ["ReadWriteMany"]}}
TWO_CLAIMS = an_object(spec=pod_spec(volumes=[{"name": n, "persistentVolumeClaim": {"claimName": n}} for n in "ab"]))
TWO_CLAIMS["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = [
    {"name": n, "mountPath": f"/{n}"} for n in "ab"
]
# What no rule of spec.volumes can help -> why, in the report of adopt.
NO_RULE: dict[str, tuple[tuple[Json, ...], str, str]] = {
    "ReadWriteMany": ((claimed("web"), SHARED), "CC0837", "files is ReadWriteMany"),
    "part of a claim": ((claimed("web", {"mountPath": "/a", "subPath": "b"}),), "CC0837", "mounts its part b"),
    "two workloads": ((claimed("web"), claimed("api")), "CC0837", "uses it as well"),
    "several replicas": ((claimed("web", replicas=2),), "CC0837", "replicas is 2"),
    "readOnly claim": ((claimed("web", claim={"readOnly": True}),), "CC0837", "its volume is readOnly"),
    "two claims": ((TWO_CLAIMS,), "CC0837", "can only have one encrypted volume"),
    "whole emptyDir": (
        (mounting("web", {"emptyDir": {}}, {"mountPath": "/a"}, {"mountPath": "/b", "subPath": "b"}),),
        "CC0836",
        "mounts all of it",
    ),
    "socket": ((mounting("web", {"hostPath": {"path": "/run/a.sock"}}, {"mountPath": "/a"}),), "CC0838", "not a cache"),
    "directory of the node": (
        (mounting("web", {"hostPath": {"path": "/a", "type": "Directory"}}, {"mountPath": "/a"}),),
        "CC0838",
        "requires an existing path",
    ),
    "NFS": (
        (mounting("web", {"nfs": {"server": "a", "path": "/"}}, {"mountPath": "/a"}),),
        "CC0807",
        "a nfs that the host controls",
    ),
}


@pytest.mark.parametrize("yes", [(), ("securePV", "splitSubPaths", "imageVolumes")], ids=["no answer", "yes to all"])
@pytest.mark.parametrize("case", NO_RULE)
def test_what_no_rule_can_help_has_the_reason_of_the_rule_that_failed(case: str, yes: tuple[str, ...]) -> None:
    objects, code, reason = NO_RULE[case]
    made = adopted(*objects, yes=yes)
    assert (made.offered, made.accepted) == ((), ())
    assert made.refused
    for pod in made.refused:
        assert {finding.code for finding in pod.after} == {code}
        assert all(reason in finding.message for finding in pod.after)


OWNER = f"registry.example.com/tools/busybox:1.37@sha256:{'f' * 64}"
NOT_ROOT = claimed("web")
NOT_ROOT["spec"]["template"]["spec"]["securityContext"] = {"runAsUser": 7, "fsGroup": 7}


def test_a_claim_of_a_pod_that_could_not_write_is_not_offered_without_an_image_that_gives_it_away() -> None:
    made = adopted(NOT_ROOT, CLAIM, yes=("securePV",))
    assert (made.offered, made.accepted, codes(made)) == ((), (), ["CC0844"])
    (finding,) = made.refused[0].after
    assert "the pod cannot write to it" in finding.message
    assert "--volume-owner" in finding.hint

    (choice,) = adopted(NOT_ROOT, CLAIM, owner=OWNER).offered
    assert f"an init container of {OWNER} runs as root and gives the volume to fsGroup 7" in choice.consequences[0]
    rule = {"claims": ["files"], "owner": "fsGroup", "image": OWNER}
    made = adopted(NOT_ROOT, CLAIM, yes=("securePV",), owner=OWNER)
    assert (made.spec["volumes"], codes(made)) == ({"securePV": rule}, [])
    again = adopted(NOT_ROOT, CLAIM, spec=made.spec, yes=("securePV",))
    assert (again.spec, again.offered, codes(again)) == (made.spec, (), [])


@pytest.mark.parametrize("name", ["files", "data"])
def test_a_name_that_selects_such_a_claim_as_well_is_not_offered_for_another_pod(name: str) -> None:
    other = an_object(name="api", spec=pod_spec(volumes=[{"name": "x", "persistentVolumeClaim": {"claimName": name}}]))
    other["metadata"]["namespace"] = "elsewhere"
    other["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "x", "mountPath": "/x"}]
    made = adopted(NOT_ROOT, other, yes=("securePV",))
    assert made.accepted == ()
    assert {pod.ref.name: [finding.code for finding in pod.after] for pod in made.refused} == {
        "web": ["CC0844"],
        "api": ["CC0837"],
    }
    assert "Deployment/web has a claim of this name as well" in made.refused[1].after[0].message
    assert codes(adopted(NOT_ROOT, other, yes=("securePV",), owner=OWNER)) == []


def test_the_image_of_the_configuration_counts_for_further_claims() -> None:
    rule = {"claims": ["other"], "owner": "fsGroup", "image": OWNER}
    other = mounting("api", {"persistentVolumeClaim": {"claimName": "other"}}, {"mountPath": "/a"})
    made = adopted(NOT_ROOT, CLAIM, other, spec={"volumes": {"securePV": rule}}, yes=("securePV",))
    assert (made.spec["volumes"], codes(made)) == ({"securePV": {**rule, "claims": ["other", "files"]}}, [])


def test_a_claim_of_a_pod_that_can_write_needs_no_image() -> None:
    assert adopted(claimed("web"), CLAIM, owner=OWNER).offered[0].spec == CASES["securePV"][1]


def test_a_volume_that_a_rule_would_help_keeps_its_error_beside_one_that_none_helps() -> None:
    pod = mounting("web", {"emptyDir": {}}, {"mountPath": "/a"}, {"mountPath": "/b", "subPath": "b"})
    spec = pod["spec"]["template"]["spec"]
    spec["volumes"].append({"name": "models", "hostPath": {"path": "/models"}})
    spec["containers"][0]["volumeMounts"].append({"name": "models", "mountPath": "/models"})
    assert codes(adopted(pod)) == ["CC0807", "CC0836"]


def test_a_rule_that_is_on_gets_what_it_lacks() -> None:
    other = mounting("api", {"persistentVolumeClaim": {"claimName": "other"}}, {"mountPath": "/a"})
    made = adopted(
        CASES["securePV"][0], other, spec={"volumes": {"securePV": {"claims": ["files"]}}}, yes=("securePV",)
    )
    assert made.spec["volumes"] == {"securePV": {"claims": ["files", "other"]}}
    assert codes(made) == []


def test_an_image_without_a_digest_is_judged_by_the_lock_entry_of_its_tag() -> None:
    image = "registry.example.com/shop/db:17"
    facts = next(iter(LOCK.values()))
    facts = facts._replace(config={**facts.config, "Volumes": {"/data": {}}})
    images = {**LOCK, f"{image}@sha256:{'c' * 64}": facts}
    document = ConfigDocument({**GENERATE, "spec": {"platform": "metal-qemu-snp"}})
    pod = an_object(spec=pod_spec(containers=[{**pod_spec()["containers"][0], "image": image}]))
    made = adopt(stream(coordinator(), pod), document, config(images=images), Request(yes=frozenset({"imageVolumes"})))
    assert (made.spec.get("volumes"), codes(made)) == ({"imageVolumes": "emptyDir"}, [])


def test_a_claim_of_a_workload_that_the_configuration_puts_into_a_namespace_is_its_own() -> None:
    pod = CASES["securePV"][0] | {"metadata": {"name": "web"}}
    made = adopted(pod, CLAIM, spec={"namespace": "shop"}, yes=("securePV",))
    assert codes(made) == []


def test_several_rules_are_taken_in_one_round() -> None:
    spec = pod_spec(volumes=[{"name": "a", "hostPath": {"path": "/models"}}, {"name": "b", "emptyDir": {}}])
    spec["containers"][0] |= {
        "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "db", "key": "a"}}}],
        "volumeMounts": [
            {"name": "a", "mountPath": "/models"},
            {"name": "b", "mountPath": "/x", "subPath": "x"},
            {"name": "b", "mountPath": "/y", "subPath": "y"},
        ],
    }
    made = adopted(an_object(spec=spec), yes=("externalSources", "splitSubPaths", "hostPathCaches=/models"))
    assert [choice.name for choice in made.accepted] == ["externalSources", "hostPathCaches=/models", "splitSubPaths"]
    assert codes(made) == []


def test_an_object_with_several_templates_gets_one_entry() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod_spec(runtimeClassName=None)}
    groups = {"leaderTemplate": template, "workerTemplate": template, "size": 2}
    value = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "vllm", "namespace": "shop"},
        "spec": {"leaderWorkerTemplate": groups},
    }
    document = ConfigDocument({**GENERATE, "spec": {"platform": "metal-qemu-snp"}})
    made = adopt(stream(coordinator(), value), document, config(), Request(confidential=("all",)))
    assert made.selected == ({"kind": "LeaderWorkerSet", "name": "vllm", "namespace": "shop"},)
    assert made.plain == ()
    assert [str(pod.ref) for pod in made.pods] == ["shop/coordinator", "shop/vllm#leader", "shop/vllm#worker"]


def sized(pod: Json, *, megabytes: int, spec: Json | None = None, yes: tuple[str, ...] = ()) -> Any:
    """Adopt with a lock that has the sizes of all layers, this many MiB each way."""
    size = {"compressedSize": megabytes << 20, "uncompressedSize": megabytes << 20}
    images = {name: one._replace(layers=({"diffID": f"sha256:{1:064}", **size},)) for name, one in LOCK.items()}
    document = ConfigDocument({**GENERATE, "spec": {"platform": "metal-qemu-snp", **(spec or {})}})
    return adopt(stream(coordinator(), pod), document, config(images=images), Request(yes=frozenset(yes)))


def limited(memory: str = "", request: str = "") -> Json:
    limits = {"limits": {"memory": memory}} if memory else {}
    requests = {"requests": {"memory": request}} if request else {}
    return an_object(spec=pod_spec(containers=[{**pod_spec()["containers"][0], "resources": {**limits, **requests}}]))


@pytest.mark.parametrize("memory", ["", "64Mi"])
def test_memory_is_offered_to_a_vm_that_is_too_small_and_what_is_written_is_enough(memory: str) -> None:
    made = sized(limited(memory), megabytes=400)
    (choice,) = made.offered
    assert (choice.name, dict(choice.spec)) == ("memory", {"memory": "calculate"})
    assert "Deployment/shop/web" in {f"{ref.kind}/{ref}" for ref in choice.workloads}
    assert "counts as nothing" in choice.consequences[0]
    made = sized(limited(memory), megabytes=400, yes=("memory",))
    assert made.spec == {"platform": "metal-qemu-snp", "memory": "calculate"}
    assert codes(made) == []
    again = sized(limited(memory), megabytes=400, spec=made.spec, yes=("memory",))
    assert (again.spec, again.accepted, again.offered) == (made.spec, (), ())


def test_memory_is_not_offered_where_it_would_not_help() -> None:
    assert sized(limited("4Gi"), megabytes=400).offered[0].workloads[0].name == "coordinator", "which has no limit"
    refused = sized(limited(request="4Gi"), megabytes=40)
    assert "web" not in {ref.name for choice in refused.offered for ref in choice.workloads}, "Kubernetes refuses it"
    chosen = sized(limited("64Mi"), megabytes=400, spec={"memory": "check"})
    assert chosen.offered == (), "it was decided already"
    assert adopted(limited("64Mi")).offered == (), "the sizes are not known"


def test_adopt_reports_what_the_memory_of_a_pod_is_refused_for() -> None:
    made = sized(limited("64Mi"), megabytes=4000)
    assert codes(made) == ["CC0420"]
    assert codes(sized(limited("64Mi", "64Mi"), megabytes=4000, yes=("memory",))) == []
