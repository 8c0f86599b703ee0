"""Whether a pod moved since it was sealed with a policy that binds images, or by another generator."""

import copy
from typing import Any

import pytest

from krm_function.check.drift import compare_policies, find_drift
from krm_function.config.references import References
from krm_function.contrast.profiles import CONTRAST, KATA
from krm_function.kubernetes.workload import Workload
from krm_function.policy.initdata import read_policy_data
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_settings
from tests.checking.test_drift import EVERY, FACTS, MOVES, MOVES_OF_VOLUMES, OBJECTS, REFERENCES, RICH, SHAPES, changed
from tests.policy import pods
from tests.policy.bound import image_storage, with_images

Json = dict[str, Any]

ONE, TWO = "sha256:" + "1" * 64, "sha256:" + "2" * 64
APP = f"app@{ONE}"


def made(subject: Workload) -> Json:
    """The data for plain Kata."""
    return read_policy_data(pods.sealed(subject, REFERENCES, KATA).rego)


def bound(subject: Workload) -> Json:
    """The data for a Contrast node."""
    return read_policy_data(pods.sealed(subject, REFERENCES, CONTRAST).rego)


POD = pods.simple(image=APP)
BOUND = bound(POD)
RICH_BOUND = bound(RICH)


def holding(*storages: Json, data: Json = BOUND) -> Json:
    out = copy.deepcopy(data)
    out["containers"][1]["storages"] = list(storages)
    return out


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_an_untouched_pod_with_bound_images_did_not_move(shape: str, *, named: bool, native: bool) -> None:
    subject = pods.workload(SHAPES[shape])
    data = {key: value for key, value in bound(subject).items() if named or key != "profile"}
    assert find_drift(subject, data, REFERENCES, native=native) == []


@pytest.mark.parametrize("name", MOVES)
def test_an_edit_is_seen_under_bound_images_as_under_others(name: str) -> None:
    edit, field = MOVES[name]
    assert field in find_drift(changed(RICH, edit), RICH_BOUND, REFERENCES)


def test_a_mount_of_the_nodes_files_that_ended_is_seen_where_no_volume_of_an_image_could_be_one() -> None:
    """The looser policies of plain Kata cannot tell the two apart."""
    mounts = [{"name": "v", "mountPath": "/v"}]
    spec = {"containers": [{"name": "app", "image": APP, "volumeMounts": mounts}]}
    claim = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    subject = pods.workload({**spec, "volumes": claim})
    ended = changed(subject, lambda pod: pod["containers"][0].pop("volumeMounts"))
    assert find_drift(ended, bound(subject), REFERENCES) == ["app: volumeMounts"]
    assert find_drift(ended, made(subject), REFERENCES) == []


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize(
    "storages",
    [
        [image_storage(f"app@{TWO}")],
        [image_storage("app")],
        [image_storage(APP), image_storage(APP)],
        [image_storage(APP) | {"fstype": "tmpfs"}],
        [image_storage(APP) | {"source": None}],
        [image_storage(APP) | {"shared": 0}],
        [image_storage(APP) | {"more": 0}],
    ],
)
def test_what_does_not_bind_the_pods_image_is_told(storages: list[Json], *, native: bool) -> None:
    assert find_drift(POD, holding(*storages), REFERENCES, native=native) == ["app: image"]


def test_a_digest_that_moved_alone_is_told_once() -> None:
    edited = changed(POD, lambda spec: spec["containers"][0].update(image=f"app@{TWO}"))
    assert find_drift(edited, BOUND, REFERENCES) == ["app: image"]
    assert find_drift(edited, BOUND, REFERENCES, native=False) == ["app: image"]


def test_the_registry_may_differ_in_the_storage_and_the_digest_may_not() -> None:
    mirrored = holding(image_storage(f"mirror.example.com/app:1@{ONE}"))
    assert find_drift(POD, mirrored, REFERENCES, native=False) == []


def test_a_policy_of_ours_that_binds_no_image_although_its_profile_does_is_told() -> None:
    assert find_drift(POD, holding(), REFERENCES) == ["app: image"]
    assert find_drift(POD, {**BOUND, "profile": "kata-4.1"}, REFERENCES) == ["app: image", "(pause): image"]
    assert find_drift(POD, made(POD), REFERENCES) == [], "nor does its profile"


def test_a_policy_of_another_that_names_a_profile_binds_what_the_profile_binds() -> None:
    assert find_drift(POD, {**made(POD), "profile": "contrast-1.25"}, REFERENCES, native=False) == [
        "app: image",
        "(pause): image",
    ]


@pytest.mark.parametrize("index", [1, 2])
@pytest.mark.parametrize("native", [True, False])
def test_a_second_entry_of_a_name_is_seen_wherever_it_stands(index: int, *, native: bool) -> None:
    data = copy.deepcopy(BOUND)
    evil = copy.deepcopy(data["containers"][1])
    evil["OCI"]["Process"]["Args"] = ["/evil"]
    evil["storages"] = [image_storage(f"evil.example/x@{TWO}")]
    data["containers"].insert(index, evil)
    assert find_drift(POD, data, REFERENCES, native=native) == ["containers app"]


VOLUME = image_storage("x") | {"driver": ""}
SANDBOX: dict[str, tuple[Any, str]] = {
    "its image": (lambda one: one["storages"][-1].update(source=APP), "image"),
    "no image": (lambda one: one["storages"].clear(), "image"),
    "a volume": (
        lambda one: one["storages"].insert(0, VOLUME),
        "volumes or exec commands",
    ),
    "an exec": (lambda one: one["exec_commands"].append(["/bin/sh"]), "volumes or exec commands"),
}
PROCESS: dict[str, tuple[Any, str]] = {
    "its command": (lambda one: one["OCI"]["Process"].update(Args=["/evil"]), "command or args"),
    "its user": (lambda one: one["OCI"]["Process"]["User"].update(UID=0), "securityContext.runAsUser or runAsGroup"),
}


@pytest.mark.parametrize("name", [*SANDBOX, *PROCESS])
def test_what_the_policy_says_of_the_sandbox_is_looked_at_too(name: str) -> None:
    edit, field = (SANDBOX | PROCESS)[name]
    data = copy.deepcopy(BOUND)
    edit(data["containers"][0])
    assert find_drift(POD, data, REFERENCES) == [f"(pause): {field}"]
    if name in SANDBOX:
        named = {key: value for key, value in data.items() if key != "profile"} if name != "no image" else data
        assert find_drift(POD, named, REFERENCES, native=False) == [f"(pause): {field}"]


def test_a_policy_of_another_may_bind_images_or_not() -> None:
    assert find_drift(POD, made(POD), REFERENCES, native=False) == []
    assert find_drift(POD, with_images(made(POD)), REFERENCES, native=False) == []


@pytest.mark.parametrize("profile", [5, None, [], "contrast-9.9", {}])
def test_a_profile_that_nobody_knows_is_told_from_the_storages(profile: Any) -> None:
    assert find_drift(POD, {**made(POD), "profile": profile}, REFERENCES) == []
    assert find_drift(POD, {**with_images(made(POD)), "profile": profile}, REFERENCES) == []


def test_another_image_of_a_render_that_was_made_again_is_named() -> None:
    assert compare_policies(BOUND, holding(image_storage(f"app@{TWO}"))) == ["app: image"]
    assert compare_policies(BOUND, made(POD)) == ["(pause): image", "app: image"]


# --- plain genpolicy, which does not look at all that Kubernetes says of a mount


def mounted(volume: Json, **mount: Any) -> Workload:
    containers = [{"name": "app", "image": APP, "volumeMounts": [{"name": "v", "mountPath": "/v", **mount}]}]
    return pods.workload({"containers": containers, "volumes": [{"name": "v", **volume}]})


def rewritten(data: Json, **words: str) -> Json:
    """The data with other options of the mount at /v."""
    out = copy.deepcopy(data)
    (mount,) = [one for one in out["containers"][1]["OCI"]["Mounts"] if one["destination"] == "/v"]
    mount["options"] = [words.get(option, option) for option in mount["options"]]
    return out


PRIVATE = {"rslave": "rprivate", "rshared": "rprivate"}
PLAIN: dict[str, tuple[Workload, dict[str, str]]] = {
    "emptyDir": (mounted({"emptyDir": {}}, mountPropagation="Bidirectional"), PRIVATE),
    "a volume without a source": (mounted({}, mountPropagation="HostToContainer"), PRIVATE),
    "emptyDir in memory": (mounted({"emptyDir": {"medium": "Memory"}}, mountPropagation="HostToContainer"), PRIVATE),
    "claim": (mounted({"persistentVolumeClaim": {"claimName": "c"}}, readOnly=True), {"ro": "rw"}),
    "claim that propagates": (
        mounted({"persistentVolumeClaim": {"claimName": "c"}}, mountPropagation="HostToContainer"),
        PRIVATE,
    ),
    "hostPath": (mounted({"hostPath": {"path": "/srv"}}, mountPropagation="HostToContainer"), PRIVATE),
    "configMap": (mounted({"configMap": {"name": "look"}}, mountPropagation="HostToContainer"), PRIVATE),
    "projected": (mounted({"projected": {"sources": []}}, mountPropagation="HostToContainer"), PRIVATE),
}


@pytest.mark.parametrize("name", PLAIN)
def test_what_plain_genpolicy_writes_in_another_way_is_no_move(name: str) -> None:
    subject, words = PLAIN[name]
    theirs = rewritten(made(subject), **words)
    assert find_drift(subject, theirs, REFERENCES, native=False) == []


@pytest.mark.parametrize(
    "name, words",
    [
        ("emptyDir", {"rw": "ro"}),
        ("emptyDir", {"rbind": "bind"}),
        ("hostPath", {"rslave": "rshared", "rprivate": "rshared"}),
        ("hostPath", {"rw": "ro"}),
        ("configMap", {"ro": "rw"}),
        ("claim", {"rbind": "bind"}),
    ],
)
def test_what_plain_genpolicy_does_look_at_is_compared(name: str, words: dict[str, str]) -> None:
    subject = PLAIN[name][0]
    assert find_drift(subject, rewritten(made(subject), **words), REFERENCES, native=False) == ["app: volumeMounts"]


def test_our_own_policies_are_compared_to_the_word() -> None:
    subject = PLAIN["claim"][0]
    assert find_drift(subject, rewritten(made(subject), ro="rw"), REFERENCES) == ["app: volumeMounts"]


def test_contrasts_genpolicy_heeds_the_propagation_of_an_empty_dir() -> None:
    subject = PLAIN["emptyDir"][0]
    theirs = with_images(made(subject))
    # as long as our generator for this profile does too
    assert find_drift(subject, rewritten(theirs, rprivate="rshared"), REFERENCES, native=False) == []
    assert find_drift(subject, rewritten(theirs, **PRIVATE), REFERENCES, native=False) == ["app: volumeMounts"]


@pytest.mark.parametrize("name", MOVES_OF_VOLUMES)
def test_another_home_of_a_volume_is_seen_under_bound_images(name: str) -> None:
    sealed, _ = seal(EVERY, FACTS, OBJECTS, default_settings(), load_rules())
    assert sealed is not None
    data = sealed.data
    edited = changed(EVERY, lambda spec: MOVES_OF_VOLUMES[name]({one["name"]: one for one in spec["volumes"]}))
    assert find_drift(EVERY, data, OBJECTS) == []
    assert find_drift(edited, data, OBJECTS) == ["app: volumeMounts"]


def test_storages_that_nobody_can_read_are_told_and_never_raise() -> None:
    damages: tuple[Any, ...] = (None, 5, [5], [{}], [{"driver": "image_guest_pull"}])
    for storages in damages:
        data = copy.deepcopy(BOUND)
        data["containers"][1]["storages"] = storages
        assert find_drift(POD, data, References()) in (["app: its policy"], ["app: image"])


def test_a_policy_without_any_container_is_told_and_never_raises() -> None:
    nothing = pods.workload({"containers": []})
    assert find_drift(nothing, {**BOUND, "containers": []}, REFERENCES) == ["(pause): its policy"]
