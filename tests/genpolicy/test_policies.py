"""Policies that genpolicy makes, Kata's and Contrast's: `check` accepts them, and our rules run them.

The stand-ins share nothing with our generator but the documentation that both follow.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from krm_function.check.drift import find_drift
from krm_function.check.pods import check_workload
from krm_function.config.references import References
from krm_function.contrast.profiles import CONTRAST, KATA, Profile
from krm_function.kubernetes.workload import Workload
from krm_function.policy.made_pod import allowed_names, refused_name
from krm_function.policy.rules import load_rules, mismatch
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_settings
from tests.genpolicy.settings_files import contrast, kata
from tests.genpolicy.standin_mounts import VOLUME
from tests.genpolicy.standin_pod import Pod, Refused
from tests.genpolicy.standin_policy import policy_data
from tests.policy import host, node, pods
from tests.policy.pods import rego_document

Json = dict[str, Any]
PINNED = "shop/web:1@sha256:" + "1" * 64
OTHER = "shop/web:1@sha256:" + "2" * 64

MOUNTS: list[Json] = [
    {"name": "scratch", "mountPath": "/scratch", "mountPropagation": "Bidirectional"},
    {"name": "memory", "mountPath": "/memory", "mountPropagation": "HostToContainer"},
    {"name": "look", "mountPath": "/etc/look"},
    {"name": "keys", "mountPath": "/etc/keys", "readOnly": True},
    {"name": "claim", "mountPath": "/claim", "readOnly": True},
    {"name": "fuse", "mountPath": "/dev/fuse", "mountPropagation": "HostToContainer"},
    {"name": "srv", "mountPath": "/srv", "mountPropagation": "HostToContainer"},
    {"name": "about", "mountPath": "/about"},
    {"name": "memory", "mountPath": "/etc/hosts"},
    {"name": "memory", "mountPath": "/dev/shm", "readOnly": True},  # noqa: S108
]
SPEC: Json = {
    "runtimeClassName": "contrast-cc-metal-qemu-snp-0123abcd",
    "shareProcessNamespace": True,
    "securityContext": {"sysctls": [{"name": "net.core.somaxconn", "value": "1"}]},
    "initContainers": [
        {"name": "first", "image": PINNED, "command": ["/prepare"], "securityContext": {"privileged": True}},
        {"name": "second", "image": PINNED, "args": ["x"], "terminationMessagePath": "/dev/last"},
    ],
    "containers": [
        {
            "name": "app",
            "image": PINNED,
            "command": ["/web"],
            "args": ["--level=$(LEVEL)"],
            "tty": True,
            "env": [
                {"name": "LEVEL", "value": "info"},
                {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                {"name": "COLOUR", "valueFrom": {"configMapKeyRef": {"name": "look", "key": "colour"}}},
                {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "token"}}},
            ],
            "livenessProbe": {"exec": {"command": ["/web", "health"]}},
            "lifecycle": {"preStop": {"exec": {"command": ["/web", "stop"]}}},
            "resources": {"limits": {"nvidia.com/pgpu": "2"}},
            "securityContext": {
                "readOnlyRootFilesystem": True,
                "allowPrivilegeEscalation": False,
                "capabilities": {"add": ["NET_ADMIN"], "drop": ["CHOWN"]},
            },
            "volumeMounts": MOUNTS,
            "volumeDevices": [{"name": "block", "devicePath": "/dev/xvda"}],
        }
    ],
    "volumes": [
        {"name": "scratch", "emptyDir": {}},
        {"name": "memory", "emptyDir": {"medium": "Memory"}},
        {"name": "look", "configMap": {"name": "look"}},
        {"name": "keys", "secret": {"secretName": "keys"}},
        {"name": "claim", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "fuse", "hostPath": {"path": "/dev/fuse"}},
        {"name": "srv", "hostPath": {"path": "/srv"}},
        {"name": "about", "downwardAPI": {"items": []}},
        {"name": "block", "persistentVolumeClaim": {"claimName": "b"}},
    ],
}
REFERENCES = References([pods.CONFIG_MAP, pods.SECRET])
OBJECTS = {("ConfigMap", "look"): pods.CONFIG_MAP["data"], ("Secret", "keys"): {"token": "s3cr3t"}}
SUBJECT = pods.workload(SPEC)


def made(subject: Workload, *, patched: bool) -> Json:
    """What one of the generators makes of a pod."""
    pod = subject.object if subject.ref.kind == "Pod" else subject.object["spec"]["template"]
    settings = contrast() if patched else kata()
    return policy_data(Pod(subject.object, pod, OBJECTS, settings, patched))


def edited(edit: Callable[[Json], object], subject: Workload = SUBJECT) -> Workload:
    document = copy.deepcopy(subject.object)
    moved = subject._replace(object=document)
    edit(moved.pod_spec)
    assert moved.pod_spec != subject.pod_spec
    return moved


@pytest.mark.parametrize("patched", [False, True], ids=["plain", "patched"])
def test_check_takes_what_they_make_for_what_it_is(*, patched: bool) -> None:
    data = made(SUBJECT, patched=patched)
    assert find_drift(SUBJECT, data, REFERENCES, native=False) == []
    assert find_drift(SUBJECT, data, References(), native=False) == []


@pytest.mark.parametrize("kind", ["Pod", "StatefulSet", "DaemonSet", "Job", "Deployment"])
@pytest.mark.parametrize("patched", [False, True], ids=["plain", "patched"])
def test_check_takes_what_they_make_of_objects_of_any_kind(kind: str, *, patched: bool) -> None:
    subject = pods.workload(SPEC, kind)
    assert find_drift(subject, made(subject, patched=patched), REFERENCES, native=False) == []


def test_check_takes_a_volume_of_an_image_as_plain_genpolicy_mounts_it() -> None:
    spec = {"containers": [{"name": "app", "image": f"{VOLUME}@sha256:{'1' * 64}"}]}
    subject = pods.workload(spec)
    data = made(subject, patched=False)
    assert "/cache" in [mount["destination"] for mount in data["containers"][1]["OCI"]["Mounts"]]
    assert find_drift(subject, data, REFERENCES, native=False) == []
    with pytest.raises(Refused, match="/cache"):
        made(subject, patched=True)


EDITS: dict[str, tuple[Callable[[Json], object], str]] = {
    "another digest": (lambda spec: spec["containers"][0].update(image=OTHER), "app: image"),
    "another argument": (lambda spec: spec["containers"][0].update(args=["x"]), "app: command or args"),
    "another variable": (lambda spec: spec["containers"][0]["env"][0].update(value="debug"), "app: env"),
    "one mount less": (lambda spec: spec["containers"][0]["volumeMounts"].pop(0), "app: volumeMounts"),
    "a mount elsewhere": (
        lambda spec: spec["containers"][0]["volumeMounts"][0].update(mountPath="/else"),
        "app: volumeMounts",
    ),
    "a read-only emptyDir": (
        lambda spec: spec["containers"][0]["volumeMounts"][0].update(readOnly=True),
        "app: volumeMounts",
    ),
    "another home": (lambda spec: spec["volumes"][5]["hostPath"].update(path="/dev/kvm"), "app: volumeMounts"),
    "a GPU less": (
        lambda spec: spec["containers"][0]["resources"]["limits"].update({"nvidia.com/pgpu": "1"}),
        "app: resources.limits",
    ),
}


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("patched", [False, True], ids=["plain", "patched"])
def test_check_sees_an_edit_after_they_sealed(name: str, *, patched: bool) -> None:
    edit, field = EDITS[name]
    assert field in find_drift(edited(edit), made(SUBJECT, patched=patched), REFERENCES, native=False)


def test_check_sees_another_digest_behind_the_same_name() -> None:
    """The annotation is the host's to write; what binds is the storage."""
    data = made(SUBJECT, patched=True)
    data["containers"][-1]["storages"][-1]["source"] = OTHER
    assert find_drift(SUBJECT, data, REFERENCES, native=False) == ["app: image"]


@pytest.mark.parametrize("patched", [False, True], ids=["plain", "patched"])
def test_what_they_make_fits_the_rules_of_its_kind_and_no_others(*, patched: bool) -> None:
    data = made(SUBJECT, patched=patched)
    assert bool(mismatch(data, CONTRAST)) == (not patched)
    assert bool(mismatch(data, KATA)) == patched


def test_the_patched_one_without_guest_pull_binds_nothing() -> None:
    settings = contrast()
    settings["cluster_config"]["guest_pull"] = False
    data = policy_data(Pod(SUBJECT.object, SUBJECT.object["spec"]["template"], OBJECTS, settings, patched=True))
    assert mismatch(data, KATA) is None


# beside the mounts of the node, of which the host of these tests knows no second place
SMALL = edited(lambda spec: [spec["containers"][0]["volumeMounts"].pop(0), spec.update(volumes=SPEC["volumes"][1:])])


@pytest.mark.parametrize("profile", [KATA, CONTRAST], ids=["plain", "patched"])
def test_our_rules_run_what_genpolicy_makes(profile: Profile) -> None:
    rego = rego_document(load_rules(profile), made(SMALL, patched=profile is CONTRAST))
    agent, asking = host.Agent(rego), host.Host(rego, on=node.KATA if profile is KATA else node.CONTRAST)
    for name in ("pause", "first", "second", "app"):
        assert agent.allows("CreateContainerRequest", asking.create(name)), name
    assert agent.allows("ExecProcessRequest", asking.execute("app", ["/web", "health"]))
    if profile is CONTRAST:
        request = asking.create("app", "e" * 64)
        (pull,) = [one for one in request["storages"] if one["driver"] == "image_guest_pull"]
        pull["source"] = OTHER
        assert not host.Agent(rego).allows("CreateContainerRequest", request)
    request = asking.create("app", "f" * 64)
    request["OCI"]["Process"]["Args"] = ["/bin/sh"]
    assert not host.Agent(rego).allows("CreateContainerRequest", request)


# --- long names, which they do not cut

LONG = "n" * 47  # of a Deployment, whose pods may have a hash of ten letters


@pytest.mark.parametrize("patched", [False, True], ids=["plain", "patched"])
@pytest.mark.parametrize(("length", "is_refused"), [(46, False), (47, True), (60, True)])
def test_check_finds_a_policy_that_refuses_the_pods_of_a_long_name(
    length: int, is_refused: bool, *, patched: bool
) -> None:
    subject = pods.workload(SPEC, metadata={"name": "n" * length, "namespace": "shop"})
    data = made(subject, patched=patched)
    assert find_drift(subject, data, REFERENCES, native=False) == []
    allowed = allowed_names(subject, data)
    assert allowed
    assert bool(refused_name(subject, allowed)) is is_refused


def test_check_does_not_ask_our_generator_about_fields_that_only_genpolicy_knows() -> None:
    """The pod has a field that we do not cover; who made its policy decides whether that is a change."""

    def checked(rules: str) -> list[str]:
        subject = pods.simple()
        made, _ = seal(subject, pods.images(subject), References(), default_settings(), rules)
        assert made is not None
        document = {**subject.object}
        template = document["spec"]["template"]
        notes = {"io.katacontainers.config.hypervisor.cc_init_data": made.annotation}
        spec = {**template["spec"], "hostPID": True}
        document["spec"] = {"template": {"metadata": {**template["metadata"], "annotations": notes}, "spec": spec}}
        findings = check_workload(subject._replace(object=document), References()).findings
        return [found.message for found in findings if found.code == "CC1103"]

    assert checked(load_rules())
    assert checked(load_rules() + "# rules of another program\n") == []
