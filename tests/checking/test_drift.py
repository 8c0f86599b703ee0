"""Whether a pod moved since it was sealed."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.check.drift import COMPARED, find_drift
from krm_function.config.image_lock import ImageFacts
from krm_function.config.references import References
from krm_function.contrast.profiles import CONTRAST, DEFAULT, KATA, Profile
from krm_function.kubernetes.workload import Workload
from krm_function.policy.initdata import read_policy_data
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_document, default_settings
from krm_function.policy.settings import settings as policy_settings
from tests.policy import pods
from tests.wording import wording

Json = dict[str, Any]
Edit = Callable[[Json], object]

REFERENCES = References([pods.CONFIG_MAP, pods.SECRET])
SPEC = pods.rich().pod_spec
USER = {"runAsUser": 1000, "runAsGroup": 1000}
PASSWD, GROUP = "root:x:0:0:::\napp:x:1000:1000:::\n", "root:x:0:\napp:x:1000:\nmore:x:2000:app\n"


def rich(template: Json | None = None) -> Workload:
    notes = {"labels": {"app": "web"}, "annotations": {"shop.example.com/a": "b"}}
    return pods.workload(SPEC, template_metadata=template or notes)


def policy(subject: Workload, **config: Any) -> Json:
    return read_policy_data(pods.sealed(subject, REFERENCES, **config).rego)


def changed(subject: Workload, edit: Edit) -> Workload:
    """The workload after an edit of its pod spec."""
    document = copy.deepcopy(subject.object)
    moved = subject._replace(object=document)
    edit(moved.pod_spec)
    assert moved.pod_spec != subject.pod_spec
    return moved


def app(edit: Edit) -> Edit:
    """An edit of the container `app`."""
    return lambda spec: edit(spec["containers"][0])


def init(index: int, edit: Edit) -> Edit:
    return lambda spec: edit(spec["initContainers"][index])


def assign(**fields: Any) -> Edit:
    return lambda value: value.update(copy.deepcopy(fields))


def inside(key: str, **fields: Any) -> Edit:
    return lambda value: value.setdefault(key, {}).update(copy.deepcopy(fields))


def remove(key: str, of: str = "") -> Edit:
    return lambda value: (value[of] if of else value).pop(key)


RICH = rich()
RICH_POLICY = policy(RICH)


def moved(edit: Edit) -> list[str]:
    return find_drift(changed(RICH, edit), RICH_POLICY, REFERENCES)


# --- an untouched pod

SHAPES: dict[str, Json] = {
    "one container": {"containers": [{"name": "app", "image": "app:1"}]},
    "args only": {"containers": [{"name": "app", "image": "app:1", "args": ["a", "b"]}]},
    "command only": {"containers": [{"name": "app", "image": "app:1", "command": ["/c", "d"]}]},
    "command and args": {"containers": [{"name": "app", "image": "app:1", "command": ["/c"], "args": ["d"]}]},
    "an empty command": {"containers": [{"name": "app", "image": "app:1", "command": [], "args": ["x"]}]},
    "no command": {"containers": [{"name": "app", "image": "app:1", "command": None, "args": ["x"]}]},
    "empty args": {"containers": [{"name": "app", "image": "app:1", "args": []}]},
    "dollars": {"containers": [{"name": "app", "image": "app:1", "args": ["$$(A)", "$$$$", "$x", "a$$b"]}]},
    "dollars in a command": {"containers": [{"name": "app", "image": "app:1", "command": ["$$$$", "$$(A)"]}]},
    "tokens": {
        "containers": [
            {
                "name": "app",
                "image": "app:1",
                "args": ["serve", "$(N)", "--x=$(N)"],
                "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            }
        ]
    },
    "init containers": {
        "initContainers": [{"name": "one", "image": "one:1"}, {"name": "two", "image": "app:1", "args": ["x"]}],
        "containers": [{"name": "app", "image": "app:1"}, {"name": "side", "image": "side:1"}],
    },
    "sidecars": {
        "initContainers": [pods.HOLDER, pods.MESH],
        "containers": [{"name": "app", "image": "app:1"}],
        "volumes": [pods.SECRETS, pods.IMAGE_STORE],
    },
    "secure persistent volumes": {
        "initContainers": [pods.CRYPT_INITIALIZER],
        "containers": [
            {
                "name": "app",
                "image": "app:1",
                "volumeMounts": [{"name": "share", "mountPath": "/d", "mountPropagation": "HostToContainer"}],
            }
        ],
        "volumes": [
            pods.SECRETS,
            {"name": "share", "emptyDir": {"medium": "Memory"}},
            {"name": "state", "persistentVolumeClaim": {"claimName": "s"}},
        ],
    },
    "GPUs": {
        "containers": [
            {"name": "app", "image": "app:1", "resources": {"limits": {"nvidia.com/pgpu": "2", "cpu": 4}}},
            {"name": "side", "image": "app:1"},
        ]
    },
    "a user": {"securityContext": USER, "containers": [{"name": "app", "image": "app:1"}]},
    "a container's user": {
        "securityContext": {"fsGroup": 7, "supplementalGroups": [0, 2000, 9]},
        "containers": [{"name": "app", "image": "app:1", "securityContext": USER}],
        "volumes": [{"name": "v", "emptyDir": {}}],
    },
    "a terminal": {
        "containers": [{"name": "app", "image": "app:1", "tty": True, "env": [{"name": "A", "value": "1"}]}]
    },
    "its own TERM": {
        "containers": [{"name": "app", "image": "app:1", "tty": True, "env": [{"name": "TERM", "value": "xterm"}]}]
    },
    "no terminal": {"containers": [{"name": "app", "image": "app:1", "tty": False}]},
    "variables of the image": {
        "containers": [{"name": "app", "image": "app:1", "env": [{"name": "PATH", "value": "/bin"}]}]
    },
    "kernel parameters": {
        "securityContext": {"sysctls": [{"name": "net.core.somaxconn", "value": "1"}]},
        "containers": [{"name": "app", "image": "app:1"}],
    },
    "volumes of the node": {
        "containers": [
            {
                "name": "app",
                "image": "app:1",
                "volumeMounts": [
                    {"name": "fuse", "mountPath": "/dev/fuse"},
                    {"name": "claim", "mountPath": "/claim", "subPath": "a"},
                    {"name": "about", "mountPath": "/dev/shm"},  # noqa: S108
                    {"name": "memory", "mountPath": "/etc/hosts"},
                ],
            }
        ],
        "volumes": [
            {"name": "fuse", "hostPath": {"path": "/dev/fuse"}},
            {"name": "claim", "persistentVolumeClaim": {"claimName": "c", "readOnly": True}},
            {"name": "about", "downwardAPI": {"items": []}},
            {"name": "memory", "emptyDir": {"medium": "Memory"}},
        ],
    },
    "text around values": {
        "containers": [
            {
                "name": "app",
                "image": "app:1",
                "args": ["serve", "--listen=$(IP):80", "$(DB_PORT)", "$$(IP)"],
                "env": [
                    {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                    {"name": "URL", "value": "http://$(IP)/$$(IP)?a=b"},
                ],
                "readinessProbe": {"exec": {"command": ["$(URL)"]}},
            }
        ]
    },
    "groups that the pod names": {
        "securityContext": {**USER, "supplementalGroups": [9], "supplementalGroupsPolicy": "Strict"},
        "containers": [{"name": "app", "image": "app:1", "securityContext": {"runAsUser": 5, "runAsNonRoot": True}}],
    },
    "everything": SPEC,
}
IMAGES: dict[str, Json] = {
    "plain": {},
    "volumes": {"Volumes": {"/data": {}, "/var//x/": {}}},
    "no environment": {"Env": None},
    "an empty environment": {"Env": []},
    "dollars": {"Entrypoint": ["/a", "$$", "x$$(y)", "$z"], "Cmd": ["$$"]},
    "no entrypoint": {"Entrypoint": None, "Cmd": ["/run", "it"]},
    "TERM": {"Env": ["PATH=/bin", "TERM=xterm"]},
    "no directory": {"WorkingDir": ""},
}


@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("shape", SHAPES)
def test_an_untouched_pod_did_not_move(shape: str, image: str) -> None:
    subject = pods.workload(SHAPES[shape])
    profile = KATA if "Volumes" in IMAGES[image] else DEFAULT  # on a Contrast node such an image has no policy
    assert find_drift(subject, policy(subject, profile=profile, **IMAGES[image]), REFERENCES) == []


@pytest.mark.parametrize("kind", ["Pod", "Job", "CronJob", "StatefulSet", "DaemonSet", "ReplicaSet", "Deployment"])
@pytest.mark.parametrize("metadata", [{"name": "x"}, {"name": "x", "namespace": "y"}, {"generateName": "x-"}, {}])
def test_an_untouched_object_of_any_kind_did_not_move(kind: str, metadata: Json) -> None:
    subject = pods.workload(SHAPES["init containers"], kind, metadata or {"labels": {}})
    assert find_drift(subject, policy(subject), REFERENCES) == []


@pytest.mark.parametrize("user", ["app", "1000", "1000:1000", "root", ""])
def test_users_out_of_the_images_passwd_did_not_move(user: str) -> None:
    spec = {
        "securityContext": {"supplementalGroups": [0, 1000, 2000]},
        "containers": [
            {"name": "app", "image": "app:1", "securityContext": USER},
            {"name": "pod", "image": "app:1", "securityContext": {"runAsUser": 0, "runAsGroup": 0}},
        ],
    }
    subject = pods.workload(spec)
    facts = ImageFacts("", {**pods.IMAGE.config, "User": user}, PASSWD, GROUP)
    made, findings = seal(subject, {pods.pinned("app:1"): facts}, REFERENCES, default_settings(), load_rules())
    assert made is not None, findings
    assert find_drift(subject, read_policy_data(made.rego), REFERENCES) == []


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "profile, emptydir, guest_pull",
    [(CONTRAST, "block-plain", True), (KATA, "block-plain", True), (KATA, "shared-fs", False)],
    ids=["contrast", "kata", "kata without guest pull"],
)
def test_a_policy_of_other_settings_is_not_a_move(
    profile: Profile, shape: str, emptydir: str, *, guest_pull: bool
) -> None:
    document = default_document(profile)
    document["cluster_config"] |= {"emptydir_type": emptydir, "guest_pull": guest_pull}
    document["other_container"]["Linux"] = {"Sysctl": {"kernel.shm_rmid_forced": "1"}}
    chosen, problems = policy_settings(document, profile)
    assert problems == ()
    subject = pods.workload(SHAPES[shape])
    made, findings = seal(subject, pods.images(subject), REFERENCES, chosen, load_rules(profile))
    assert made is not None, findings
    assert find_drift(subject, read_policy_data(made.rego), REFERENCES) == []


def test_variables_whose_objects_are_not_in_the_input_are_not_a_move() -> None:
    assert find_drift(RICH, RICH_POLICY, References()) == []
    assert find_drift(RICH, RICH_POLICY, References([pods.CONFIG_MAP])) == []


def test_another_change_is_still_seen_when_objects_are_not_in_the_input() -> None:
    edited = changed(RICH, app(assign(args=["other"])))
    assert find_drift(edited, RICH_POLICY, References()) == ["app: command or args"]


# --- edits

MOVES: dict[str, tuple[Edit, str]] = {
    "another argument": (app(assign(args=["--name=x"])), "app: command or args"),
    "one more argument": (app(lambda one: one["args"].append("more")), "app: command or args"),
    "one argument less": (app(lambda one: one["args"].pop()), "app: command or args"),
    "no arguments": (app(remove("args")), "app: command or args"),
    "another command": (app(assign(command=["/other"])), "app: command or args"),
    "arguments of an init container": (init(1, assign(args=["x"])), "contrast-initializer: command or args"),
    "a directory": (app(assign(workingDir="/else")), "app: workingDir"),
    "a terminal": (app(assign(tty=True)), "app: tty"),
    "another user": (app(inside("securityContext", runAsUser=5)), "app: securityContext.runAsUser or runAsGroup"),
    "another group": (app(inside("securityContext", runAsGroup=5)), "app: securityContext.runAsUser or runAsGroup"),
    "another user of the pod": (inside("securityContext", runAsUser=5), "app: securityContext.runAsUser or runAsGroup"),
    "another group of the pod": (inside("securityContext", fsGroup=5), "app: securityContext.runAsUser or runAsGroup"),
    "more groups": (
        inside("securityContext", supplementalGroups=[5]),
        "app: securityContext.runAsUser or runAsGroup",
    ),
    "a capability": (
        app(inside("securityContext", capabilities={"add": ["SYS_ADMIN"]})),
        "app: securityContext.capabilities",
    ),
    "a capability less": (
        app(inside("securityContext", capabilities={"drop": ["ALL"]})),
        "app: securityContext.capabilities",
    ),
    "privileges": (app(inside("securityContext", privileged=True)), "app: securityContext.capabilities"),
    "no privileges": (
        init(2, remove("privileged", "securityContext")),
        "contrast-service-mesh: securityContext.capabilities",
    ),
    "escalation": (
        app(inside("securityContext", allowPrivilegeEscalation=True)),
        "app: securityContext.allowPrivilegeEscalation",
    ),
    "a writable root": (
        app(inside("securityContext", readOnlyRootFilesystem=False)),
        "app: securityContext.readOnlyRootFilesystem",
    ),
    "a device": (app(assign(volumeDevices=[{"name": "state", "devicePath": "/dev/x"}])), "app: volumeDevices"),
    "another device": (
        init(0, assign(volumeDevices=[{"name": "image-store", "devicePath": "/dev/other"}])),
        "pvc-holder: volumeDevices",
    ),
    "no device": (init(0, remove("volumeDevices")), "pvc-holder: volumeDevices"),
    "another probe": (
        app(assign(livenessProbe={"exec": {"command": ["/web", "sick"]}})),
        "app: exec probes or lifecycle",
    ),
    "a new probe": (app(assign(startupProbe={"exec": {"command": ["x"]}})), "app: exec probes or lifecycle"),
    "no probe": (app(remove("livenessProbe")), "app: exec probes or lifecycle"),
    "another hook": (
        app(assign(lifecycle={"postStart": {"exec": {"command": ["x"]}}})),
        "app: exec probes or lifecycle",
    ),
    "no hook": (app(remove("lifecycle")), "app: exec probes or lifecycle"),
    "a shared process namespace": (assign(shareProcessNamespace=True), "app: shareProcessNamespace"),
    "a GPU": (app(assign(resources={"limits": {"nvidia.com/pgpu": 1}})), "app: resources.limits"),
    "another variable": (app(lambda one: one["env"][4].update(value="else")), "app: env"),
    "one more variable": (app(lambda one: one["env"].append({"name": "NEW", "value": "x"})), "app: env"),
    "one variable less": (app(lambda one: one["env"].pop(5)), "app: env"),
    "no variables": (app(lambda one: [one.pop("env"), one.pop("envFrom"), one.pop("args")]), "app: env"),
    "another source of variables": (app(assign(envFrom=[{"configMapRef": {"name": "look"}}])), "app: env"),
    "no source of variables": (app(remove("envFrom")), "app: env"),
    "another image": (app(assign(image="registry.example.com/shop/web:1.2@sha256:" + "4" * 64)), "app: image"),
    "another tag": (app(assign(image="registry.example.com/shop/web:1.3@sha256:" + "3" * 64)), "app: image"),
    "another image of an init container": (init(2, assign(image="evil:1")), "contrast-service-mesh: image"),
    "one mount less": (app(lambda one: one["volumeMounts"].pop(0)), "app: volumeMounts"),
    "no secrets": (app(lambda one: one["volumeMounts"].pop()), "app: volumeMounts"),
    "no configuration": (app(lambda one: one["volumeMounts"].pop(1)), "app: volumeMounts"),
    "one mount more": (
        app(lambda one: one["volumeMounts"].append({"name": "share", "mountPath": "/again"})),
        "app: volumeMounts",
    ),
    "a mount elsewhere": (app(lambda one: one["volumeMounts"][0].update(mountPath="/else")), "app: volumeMounts"),
    "a read-only mount": (app(lambda one: one["volumeMounts"][0].update(readOnly=True)), "app: volumeMounts"),
    "another propagation": (
        app(lambda one: one["volumeMounts"][3].update(mountPropagation="Bidirectional")),
        "app: volumeMounts",
    ),
    "a file of last words": (app(assign(terminationMessagePath="/dev/last")), "app: volumeMounts"),
    "a volume on disk": (lambda spec: spec["volumes"][3].update(emptyDir={}), "app: volumeMounts"),
    "a volume in memory": (lambda spec: spec["volumes"][0].update(emptyDir={"medium": "Memory"}), "app: volumeMounts"),
    "another volume in memory": (
        app(lambda one: one["volumeMounts"][3].update(name="contrast-secrets")),
        "app: volumeMounts",
    ),
    "a secret that is a scratch directory": (
        lambda spec: [spec["volumes"][2].pop("secret"), spec["volumes"][2].update(emptyDir={})],
        "app: volumeMounts",
    ),
    "a kernel parameter": (
        inside("securityContext", sysctls=[{"name": "net.ipv4.ip_forward", "value": "1"}]),
        "app: securityContext.sysctls",
    ),
    "the host's network": (assign(hostNetwork=True), "hostNetwork is not covered by the policy generator yet"),
    "another container": (
        lambda spec: spec["containers"].append({"name": "extra", "image": "x:1"}),
        "containers extra",
    ),
    "no container": (lambda spec: spec["initContainers"].pop(0), "containers pvc-holder"),
    "another name": (app(assign(name="web")), "containers app, web"),
    "the host's processes": (assign(hostPID=True), "hostPID is not covered by the policy generator yet"),
    "a part of a volume": (
        app(lambda one: one["volumeMounts"][0].update(subPath="x")),
        f"app: containers[0].volumeMounts[0].subPath: {wording('CC0604.part-of-empty-dir')}",
    ),
    "a volume on the node": (
        lambda spec: [spec["volumes"][0].pop("emptyDir"), spec["volumes"][0].update(nfs={"server": "s", "path": "/"})],
        "app: volumeMounts",
    ),
    "a user that is root and must not be": (
        app(inside("securityContext", runAsNonRoot=True)),
        f"app: containers[0].securityContext.runAsNonRoot: {wording('CC0604.root', container='app')}",
    ),
    "a misspelt field": (app(assign(comand=["x"])), "unknown field containers[0].comand"),
    "a wrong type": (app(assign(env="A=1")), "containers[0].env must be a list, not a string"),
    "no image": (app(remove("image")), "containers[0].image: is missing"),
    "a mount of nothing": (
        app(lambda one: one["volumeMounts"].append({"name": "none", "mountPath": "/none"})),
        f"app: containers[0].volumeMounts[5].name: {wording('CC0604.volume')}",
    ),
}


@pytest.mark.parametrize("name", MOVES)
def test_an_edit_after_sealing_is_seen(name: str) -> None:
    edit, field = MOVES[name]
    assert field in moved(edit)


EVERY, OBJECTS, FACTS = pods.every_field()
MOVES_OF_VOLUMES: dict[str, Edit] = {
    "another device of the VM": lambda volumes: volumes["fuse"]["hostPath"].update(path="/dev/kvm"),
    "a directory of the node for a device": lambda volumes: volumes["fuse"]["hostPath"].update(path="/srv"),
    "a claim that is writable": lambda volumes: volumes["claim"]["persistentVolumeClaim"].pop("readOnly"),
    "files that are writable": lambda volumes: volumes["about"].update(downwardAPI=None, emptyDir={}),
}


@pytest.mark.parametrize("name", MOVES_OF_VOLUMES)
def test_another_home_of_a_volume_is_seen(name: str) -> None:
    sealed, _ = seal(EVERY, FACTS, OBJECTS, default_settings(), load_rules())
    assert sealed is not None
    edited = changed(EVERY, lambda spec: MOVES_OF_VOLUMES[name]({one["name"]: one for one in spec["volumes"]}))
    assert find_drift(edited, sealed.data, OBJECTS) == ["app: volumeMounts"]


def test_a_policy_of_genpolicy_may_allow_the_runtime_s_own_mount_as_well() -> None:
    mounts = [{"name": "memory", "mountPath": "/etc/hosts"}]
    volumes = [{"name": "memory", "emptyDir": {"medium": "Memory"}}]
    containers = [{"name": "app", "image": "app:1", "volumeMounts": mounts}]
    subject = pods.workload({"containers": containers, "volumes": volumes})
    sealed = policy(subject)
    own = {"destination": "/etc/hosts", "source": "x", "type_": "bind", "options": ["rbind", "rprivate", "rw"]}
    sealed["containers"][1]["OCI"]["Mounts"].append({**own, "options": ["rbind", "rprivate", "ro"]})
    assert find_drift(subject, sealed, REFERENCES, native=False) == []
    assert find_drift(subject, sealed, REFERENCES) == ["app: volumeMounts"]
    sealed["containers"][1]["OCI"]["Mounts"].append({**own, "destination": "/else", "options": ["rslave"]})
    assert find_drift(subject, sealed, REFERENCES, native=False) == ["app: volumeMounts"]


def test_a_policy_of_genpolicy_may_allow_what_a_later_variable_replaces() -> None:
    subject = pods.simple(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}])
    sealed = policy(subject)
    env = sealed["containers"][1]["OCI"]["Process"]["Env"]
    env.append("A=1")
    assert find_drift(subject, sealed, REFERENCES, native=False) == []
    assert find_drift(subject, sealed, REFERENCES) == ["app: env"]
    env.append("B=1")
    assert find_drift(subject, sealed, REFERENCES, native=False) == ["app: env"]


def test_every_compared_field_has_an_edit_that_shows_it() -> None:
    seen = {field.partition(": ")[2] for _, field in MOVES.values()}
    assert set(COMPARED) <= seen


ALONE = (
    "another argument",
    "a directory",
    "escalation",
    "no probe",
    "a GPU",
    "another image",
    "one mount less",
    "no secrets",
)


@pytest.mark.parametrize("name", ALONE)
def test_one_edit_of_one_container_is_told_once_and_of_no_other(name: str) -> None:
    edit, field = MOVES[name]
    assert moved(edit) == [field]


def test_a_removed_terminal_is_seen() -> None:
    subject = pods.simple(tty=True)
    edited = changed(subject, app(remove("tty")))
    assert "app: tty" in find_drift(edited, policy(subject), REFERENCES)


def test_a_removed_user_is_seen_where_an_image_may_not_imply_one() -> None:
    subject = pods.simple(securityContext={**USER, "runAsGroup": 0})
    edited = changed(subject, app(remove("securityContext")))
    assert find_drift(edited, policy(subject, profile=KATA), REFERENCES)
    assert find_drift(edited, policy(subject), REFERENCES) == [], "the lock alone knows the user of the image"


def test_a_removed_gpu_is_seen() -> None:
    subject = pods.simple(resources={"limits": {"nvidia.com/pgpu": 2}})
    edited = changed(subject, app(assign(resources={"limits": {"nvidia.com/pgpu": 1}})))
    assert find_drift(edited, policy(subject), REFERENCES) == ["app: resources.limits"]


@pytest.mark.parametrize("key", ["name", "namespace"])
def test_a_renamed_or_moved_object_is_seen(key: str) -> None:
    document = copy.deepcopy(RICH.object)
    document["metadata"][key] = "other"
    assert find_drift(pods.of(document), RICH_POLICY, REFERENCES) == [f"metadata.{key}"]


@pytest.mark.parametrize("annotations", [{}, {"io.katacontainers.a": "c"}])
def test_an_annotation_that_moved_is_seen_once_for_all_containers(annotations: Json) -> None:
    sealed = policy(rich({"annotations": {"io.katacontainers.a": "b"}}))
    assert find_drift(rich({"annotations": annotations}), sealed, REFERENCES) == ["annotation io.katacontainers.a"]


@pytest.mark.parametrize("value", [{}, {"shop.example.com/a": "c"}, {"shop.example.com/a": "b", "x.example.com/y": ""}])
def test_annotations_that_reach_no_node_and_labels_are_no_move(value: Json) -> None:
    annotations = {**value, "config.kubernetes.io/index": "3", "internal.kpt.dev/x": "y"}
    edited = rich({"labels": {"app": "else", "new": "x"}, "annotations": annotations})
    assert find_drift(edited, RICH_POLICY, REFERENCES) == []


@pytest.mark.parametrize("changed_object", [0, 1])
def test_another_value_in_a_config_map_or_secret_is_seen(changed_object: int) -> None:
    objects = [copy.deepcopy(pods.CONFIG_MAP), copy.deepcopy(pods.SECRET)]
    objects[changed_object]["data"].update({"colour": "blue"} if changed_object == 0 else {"token": "eA=="})
    assert find_drift(RICH, RICH_POLICY, References(objects)) == ["app: env"]


INERT: dict[str, Edit] = {
    "requests and limits": app(assign(resources={"requests": {"cpu": 1}, "limits": {"cpu": 9, "memory": "1Gi"}})),
    "a port": app(assign(ports=[])),
    "when to pull": app(assign(imagePullPolicy="Always")),
    "where to run": assign(nodeSelector={"a": "b"}, affinity={}, tolerations=[], priorityClassName="x"),
    "a probe over HTTP": app(assign(readinessProbe={"httpGet": {"path": "/", "port": 1}})),
    "how often to probe": app(inside("livenessProbe", periodSeconds=3)),
    "the runtime class": assign(runtimeClassName="contrast-cc-metal-qemu-tdx-12345678"),
    "a volume that nobody mounts": lambda spec: spec["volumes"].append({"name": "n", "emptyDir": {}}),
    "the size of a volume": lambda spec: spec["volumes"][0]["emptyDir"].update(sizeLimit="2Gi"),
}


@pytest.mark.parametrize("name", INERT)
def test_what_no_policy_holds_is_no_move(name: str) -> None:
    assert moved(INERT[name]) == []


def test_the_order_of_init_containers_is_no_move() -> None:
    assert moved(lambda spec: spec["initContainers"].reverse()) == []


# --- policies of others


def test_a_pod_with_fields_that_only_others_cover_may_have_a_policy_of_theirs() -> None:
    def edit(spec: Json) -> None:
        spec["hostIPC"] = True

    assert find_drift(changed(RICH, edit), RICH_POLICY, REFERENCES, native=False) == []
    assert find_drift(changed(RICH, edit), RICH_POLICY, REFERENCES) != []


def test_a_shape_that_nobody_can_read_is_seen_under_any_policy() -> None:
    assert find_drift(changed(RICH, app(assign(env="x"))), RICH_POLICY, REFERENCES, native=False) != []
    assert find_drift(changed(RICH, app(remove("image"))), RICH_POLICY, REFERENCES, native=False) != []


@pytest.mark.parametrize(
    "damage",
    [
        {"OCI": None},
        {"OCI": {}},
        {"storages": None},
        {"OCI": {"Process": [], "Mounts": []}},
        {"OCI": {"Process": {}, "Mounts": None}},
        {"OCI": {"Process": {"Args": "x"}, "Mounts": []}},
        {"OCI": {"Process": {"Env": [1]}, "Mounts": []}},
        {"OCI": {"Process": {"User": {"UID": "0"}}, "Mounts": []}},
        {"OCI": {"Process": {"Cwd": 1}, "Mounts": []}},
        {"OCI": {"Process": {"User": {"AdditionalGids": 5}}, "Mounts": []}},
        {"OCI": {"Process": {}, "Mounts": [{}]}},
        {"storages": [{}]},
        {"storages": [5]},
        {"OCI": {"Process": {}, "Mounts": [{"destination": "/a", "type_": "b", "options": None}]}},
    ],
)
def test_a_policy_without_the_usual_parts_is_told_and_never_raises(damage: Json) -> None:
    subject = pods.simple()
    sealed = policy(subject)
    notes = {"Annotations": sealed["containers"][1]["OCI"]["Annotations"]}
    if damage.get("OCI") is not None:
        damage = {**damage, "OCI": {**damage["OCI"], **notes}}
    sealed["containers"][1] |= damage
    assert find_drift(subject, sealed, REFERENCES) in (["app: its policy"], ["containers , app"])


@pytest.mark.parametrize(
    "sealed", [{}, {"containers": []}, {"containers": None}, {"containers": [5, "x"]}, {"containers": [{}, {}]}]
)
def test_a_policy_without_containers_is_a_move(sealed: Json) -> None:
    assert find_drift(pods.simple(), sealed, REFERENCES) != []


# --- any pod, any edit

words = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cc"]), max_size=6)
texts = words | st.sampled_from(["$$", "$(A)", "$$(A)", "$(B)$", "TERM=xterm", "$", "$(IP):80", "$(DB_PORT)", "$(IP)"])
variables = st.lists(
    st.builds(
        lambda name, value: {"name": name, "value": value},
        st.sampled_from(["A", "B", "TERM", "PATH", "HOSTNAME"]),
        texts,
    )
    | st.builds(
        lambda path: {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": path}}},
        st.sampled_from(["status.podIP", "status.podIPs", "metadata.name"]),
    ),
    max_size=3,
)
mounts = st.lists(
    st.builds(
        lambda name, path, read_only: {"name": name, "mountPath": path, "readOnly": read_only},
        st.sampled_from(["scratch", "memory", "look", "keys", "claim", "fuse", "about"]),
        st.sampled_from(["/a", "/b/c", "/data", "/etc/hosts"]),
        st.booleans(),
    ),
    max_size=2,
    unique_by=lambda mount: mount["mountPath"],
)
contexts = st.fixed_dictionaries(
    {},
    optional={
        "privileged": st.booleans(),
        "allowPrivilegeEscalation": st.booleans(),
        "readOnlyRootFilesystem": st.booleans(),
        "capabilities": st.fixed_dictionaries(
            {}, optional={"add": st.just(["NET_ADMIN"]), "drop": st.sampled_from([["ALL"], ["CHOWN"]])}
        ),
    },
)
bodies = st.fixed_dictionaries(
    {"image": st.sampled_from(["one:1", "two:2"])},
    optional={
        "env": variables,
        "volumeMounts": mounts,
        "securityContext": contexts,
        "tty": st.booleans(),
        "livenessProbe": st.builds(lambda command: {"exec": {"command": command}}, st.lists(words, max_size=2)),
        "resources": st.builds(lambda count: {"limits": {"nvidia.com/pgpu": count}}, st.integers(0, 2)),
    },
)
commands = st.fixed_dictionaries(
    {
        "command": st.lists(texts, min_size=1, max_size=2),
        "args": st.lists(texts, max_size=2),
        "workingDir": st.sampled_from(["/a", "/b"]),
    }
)
commands_or_none = commands | st.fixed_dictionaries({}, optional={"args": st.lists(texts, max_size=2)})
VOLUMES = [
    {"name": "scratch", "emptyDir": {}},
    {"name": "memory", "emptyDir": {"medium": "Memory"}},
    {"name": "look", "configMap": {"name": "look"}},
    {"name": "keys", "secret": {"secretName": "keys"}},
    {"name": "claim", "persistentVolumeClaim": {"claimName": "c", "readOnly": True}},
    {"name": "fuse", "hostPath": {"path": "/dev/fuse"}},
    {"name": "about", "downwardAPI": {"items": []}},
]


def pod(container: Json, process: Json, *, first: bool, share: bool) -> Workload:
    own = {"name": "app", **container, **process}
    lists = ({"initContainers": [own], "containers": []}, {"containers": [own]})[not first]
    return pods.workload({**lists, "shareProcessNamespace": share, "volumes": VOLUMES})


a_pod = st.builds(pod, bodies, commands_or_none, first=st.booleans(), share=st.booleans())
a_commanded_pod = st.builds(pod, bodies, commands, first=st.booleans(), share=st.booleans())
image_configs = st.sampled_from(list(IMAGES.values()))


def policy_of(subject: Workload, config: Json) -> Json | None:
    made, _ = pods.sealing(subject, REFERENCES, **config)
    return read_policy_data(made.rego) if made else None


@settings(max_examples=150, deadline=None)
@given(a_pod, image_configs)
def test_no_untouched_pod_ever_moved(subject: Workload, config: Json) -> None:
    sealed = policy_of(subject, config)
    if sealed is not None:
        assert find_drift(subject, sealed, REFERENCES) == []


def content(sealed: Json) -> Json:
    """What of a policy may differ without a move: the sources of mounts, which are the settings' matter."""
    found: Json = copy.deepcopy(sealed["containers"][1])
    found["OCI"]["Mounts"] = sorted(
        [mount["destination"], mount["type_"], *mount["options"], mount["source"] == "/dev/fuse"]
        for mount in found["OCI"]["Mounts"]
    )
    found["storages"] = sorted(one["mount_point"] if one["fstype"] == "tmpfs" else "" for one in found["storages"])
    found["OCI"]["Process"]["Env"] = sorted(found["OCI"]["Process"]["Env"])
    return found


@settings(max_examples=150, deadline=None)
@given(a_commanded_pod, a_commanded_pod, image_configs)
def test_any_two_pods_with_different_policies_are_told_apart(one: Workload, two: Workload, config: Json) -> None:
    first, second = policy_of(one, config), policy_of(two, config)
    if first is not None and second is not None:
        assert bool(find_drift(two, first, REFERENCES)) == (content(first) != content(second))


@pytest.mark.parametrize("told", [{"guest_pull": "yes"}, {"emptydir_type": "none"}, {"emptydir_type": ["x"]}, None, 5])
def test_cluster_settings_of_a_policy_that_are_not_understood_are_the_defaults(told: Any) -> None:
    subject = pods.workload(SHAPES["everything"])
    sealed = policy(subject)
    sealed["cluster_config"] = told
    assert find_drift(subject, sealed, REFERENCES) == []
    edited = changed(subject, app(assign(securityContext={"runAsUser": 5})))
    assert find_drift(edited, sealed, REFERENCES) != []


def test_a_policy_without_guest_pull_allows_what_the_image_implies() -> None:
    document = default_document(KATA)
    document["cluster_config"]["guest_pull"] = False
    chosen, _ = policy_settings(document, KATA)
    subject = pods.simple()
    facts = ImageFacts("", {**pods.IMAGE.config, "User": "app"}, PASSWD, GROUP)
    made, findings = seal(subject, {pods.pinned("app:1"): facts}, REFERENCES, chosen, load_rules(KATA))
    assert made is not None, findings
    sealed = read_policy_data(made.rego)
    assert find_drift(subject, sealed, REFERENCES) == []
    sealed["cluster_config"]["guest_pull"] = True
    assert find_drift(subject, sealed, REFERENCES) != []
    assert find_drift(subject, sealed, REFERENCES, native=False) == []


@pytest.mark.parametrize("env", [["PATH=/bin"], []])
def test_a_terminal_of_the_image_is_no_move(env: list[str]) -> None:
    subject = pods.simple()
    assert find_drift(subject, policy(subject, Tty=True, Env=env), REFERENCES) == []
