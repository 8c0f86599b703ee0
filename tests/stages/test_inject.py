"""Injection in detail: docs/facts/contrast.md#initializer, #service-mesh, #image-store, #image-replacements."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krm_function.config.generate import Generate
from krm_function.config.release import InjectedMemory
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.pod_fields import type_findings
from krm_function.kubernetes.workload import PREFIX, Workload
from krm_function.render.inject import inject
from krm_function.text.changes import ABSENT
from tests.wording import wording
from tests.world import (
    ADMIN,
    COORDINATOR,
    EGRESS,
    IMAGES,
    INGRESS,
    INITIALIZER,
    MESH,
    ON,
    RELEASE,
    SECRETS_MOUNT,
    SECRETS_VOLUME,
    SECURE_PV,
    SKIP,
    STORE_SIZE,
    WEB,
    WRITABLE_SECRETS_MOUNT,
    annotated,
    coordinator_workload,
    first_workload,
    names,
    pod_template,
    workload,
)


def rendered(subject: Workload, options: Generate | None = None, namespace: str = "default") -> Workload:
    outcome = inject(subject, options or Generate(), RELEASE, namespace)
    assert outcome.findings == ()
    return subject.after(outcome.edits)


def refused(subject: Workload, options: Generate | None = None) -> list[tuple[str, str]]:
    outcome = inject(subject, options or Generate(), RELEASE, "default")
    assert outcome.edits == ()
    return [(found.code, found.message) for found in outcome.findings]


def env_of(container: dict[str, Any]) -> list[tuple[str, str]]:
    return [(entry["name"], entry["value"]) for entry in container.get("env", [])]


# --- where and for whom


@pytest.mark.parametrize("root", [(), ("items", 2)])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_is_injected_at_its_pod_template(kind: str, root: tuple[str | int, ...]) -> None:
    subject = workload(kind, pod_template({INGRESS: ""}), root)
    pod = rendered(subject)
    assert names(pod) == ["contrast-initializer", "contrast-service-mesh"]
    assert pod.containers[0]["volumeMounts"] == [SECRETS_MOUNT]
    assert pod.ref == subject.ref


def test_the_input_is_never_changed() -> None:
    subject = annotated(servicemesh_ingress="")
    copy = deepcopy(subject.object)
    rendered(subject, ON)
    assert subject.object == copy


def test_the_coordinator_gets_its_image_and_nothing_else() -> None:
    pod = rendered(coordinator_workload())
    assert pod.pod_spec["containers"] == [{"name": "coordinator", "image": COORDINATOR}]
    assert "initContainers" not in pod.pod_spec
    assert "volumes" not in pod.pod_spec


def test_the_coordinator_is_not_exempt_from_the_image_store() -> None:
    assert names(rendered(coordinator_workload(), ON)) == ["pvc-holder"]


def test_a_deployment_that_claims_to_be_coordinator_is_an_ordinary_workload() -> None:
    subject = workload(template=pod_template(labels={PREFIX + "pod-role": "coordinator"}))
    assert names(rendered(subject)) == ["contrast-initializer"]


def test_options_switch_the_steps_off() -> None:
    subject = annotated(servicemesh_ingress="")
    assert names(rendered(subject, Generate(initializer=False))) == ["contrast-service-mesh"]
    without = rendered(subject, Generate(service_mesh=False))
    assert names(without) == ["contrast-initializer"]
    # the annotations alone decide about the rule, as in the original
    assert env_of(without.init_containers[0]) == [("COORDINATOR_HOST", "coordinator-ready.default")]
    assert inject(subject, Generate(initializer=False, service_mesh=False), RELEASE, "default") == ((), ())


@pytest.mark.parametrize(("namespace", "host"), [("", "default"), ("default", "default"), ("vault", "vault")])
def test_the_coordinators_namespace_is_in_its_host_name(namespace: str, host: str) -> None:
    container = rendered(workload(), namespace=namespace).init_containers[0]
    assert env_of(container)[0] == ("COORDINATOR_HOST", f"coordinator-ready.{host}")


# --- the service mesh


def test_the_mesh_takes_its_configuration_from_the_annotations_in_a_fixed_order() -> None:
    egress = "db#127.137.0.1:5432#db:5432"
    notes = {EGRESS: egress, INGRESS: "web#8080#false", ADMIN: "9901"}
    mesh = rendered(workload(template=pod_template(notes))).init_containers[-1]
    assert env_of(mesh) == [
        ("CONTRAST_ADMIN_PORT", "9901"),
        ("CONTRAST_INGRESS_PROXY_CONFIG", "web#8080#false"),
        ("CONTRAST_EGRESS_PROXY_CONFIG", egress),
    ]
    assert mesh["ports"] == [{"name": "contrast-admin", "containerPort": 9901}]
    assert list(mesh)[:6] == ["name", "image", "restartPolicy", "args", "env", "ports"]


@pytest.mark.parametrize("key", [INGRESS, EGRESS, ADMIN])
def test_each_mesh_annotation_alone_enables_the_mesh(key: str) -> None:
    value = {INGRESS: "", EGRESS: "db#127.137.0.1:5432#db:5432", ADMIN: "9901"}[key]
    pod = rendered(workload(template=pod_template({key: value})))
    assert names(pod)[-1] == "contrast-service-mesh"
    assert "CONTRAST_SERVICE_MESH_DISABLED" not in dict(env_of(pod.init_containers[0]))


@pytest.mark.parametrize("port", ["", "x", "0", "65536", "-1", "1e3", "9 901", "٣"])
def test_an_admin_port_that_is_none_stops_everything(port: str) -> None:
    assert [code for code, _ in refused(workload(template=pod_template({ADMIN: port})))] == ["CC0204"]


def test_a_mesh_container_without_annotation_stays_and_is_treated_as_the_users() -> None:
    own = {"name": "contrast-service-mesh", "image": WEB, "restartPolicy": "Always"}
    pod = rendered(workload(template=pod_template(initContainers=[own])))
    assert names(pod) == ["contrast-initializer", "contrast-service-mesh"]
    assert pod.init_containers[1] == {**own, "volumeMounts": [SECRETS_MOUNT]}


# --- secure persistent volumes

CLAIM = {"metadata": {"name": "state"}, "spec": {"volumeMode": "Block"}}
DISK = {"name": "state", "persistentVolumeClaim": {"claimName": "state"}}


def secured(value: str = "state:share", claims: list[Any] | None = None, **spec: Any) -> Workload:
    template = pod_template({SECURE_PV: value}, **spec)
    return (
        workload("StatefulSet", template, volumeClaimTemplates=claims or []) if claims else workload(template=template)
    )


@pytest.mark.parametrize(
    "subject",
    [
        secured(claims=[CLAIM]),
        secured(volumes=[DISK]),
        secured(volumes=[{"name": "state", "iscsi": {}}]),
    ],
)
def test_the_crypt_variant_to_the_key(subject: Workload) -> None:
    pod = rendered(subject)
    assert pod.init_containers == [
        {
            "name": "contrast-initializer",
            "image": INITIALIZER,
            "restartPolicy": "Always",
            "env": [
                {"name": "COORDINATOR_HOST", "value": "coordinator-ready.default"},
                {"name": "CRYPTSETUP_DEVICE", "value": "/dev/csi0"},
                {"name": "CONTRAST_SERVICE_MESH_DISABLED", "value": "true"},
            ],
            "volumeMounts": [
                WRITABLE_SECRETS_MOUNT,
                {"name": "share", "mountPath": "/state", "mountPropagation": "Bidirectional"},
            ],
            "volumeDevices": [{"name": "state", "devicePath": "/dev/csi0"}],
            "securityContext": {"privileged": True},
            "resources": {"requests": {"memory": "100Mi"}, "limits": {"memory": "100Mi"}},
            "startupProbe": {
                "exec": {"command": ["/bin/test", "-f", "/done"]},
                "failureThreshold": 20,
                "periodSeconds": 5,
            },
        }
    ]
    assert pod.pod_spec["volumes"][-2:] == [{"name": "share", "emptyDir": {"medium": "Memory"}}, SECRETS_VOLUME]
    assert inject(pod, Generate(), RELEASE, "default") == ((), ())


def test_an_existing_share_is_kept_with_the_users_mounts() -> None:
    share = {"name": "share", "emptyDir": {}}
    mount = {"name": "share", "mountPath": "/data", "mountPropagation": "HostToContainer"}
    app = {"name": "web", "image": WEB, "volumeMounts": [mount]}
    pod = rendered(secured(volumes=[DISK, share], containers=[app]))
    assert pod.pod_spec["volumes"] == [DISK, share, SECRETS_VOLUME]
    assert pod.containers[0]["volumeMounts"] == [mount, SECRETS_MOUNT]


def test_an_empty_annotation_asks_for_no_volume() -> None:
    assert "volumeDevices" not in rendered(secured("")).init_containers[0]


@pytest.mark.parametrize("value", ["state", "a:b:c", ":", "state:", ":share"])
def test_the_annotation_has_two_parts(value: str) -> None:
    assert refused(secured(value, volumes=[DISK])) == [
        ("CC0806", f"secure-pv {value}: must have the form device-name:mount-name")
    ]


def test_the_device_must_exist() -> None:
    assert refused(secured()) == [("CC0806", "secure-pv state:share: device state not found")]
    # claims exist in StatefulSets only
    subject = workload("Deployment", pod_template({SECURE_PV: "state:share"}), volumeClaimTemplates=[CLAIM])
    assert refused(subject) == [("CC0806", "secure-pv state:share: device state not found")]


@pytest.mark.parametrize("source", ["emptyDir", "hostPath", "csi"])
def test_the_device_must_be_a_block_device(source: str) -> None:
    assert refused(secured(volumes=[{"name": "state", source: {}}])) == [
        ("CC0805", wording("CC0805", actual=source, expected="persistentVolumeClaim or iscsi", volume="state"))
    ]


def test_the_share_must_be_an_empty_dir() -> None:
    volumes = [DISK, {"name": "share", "hostPath": {"path": "/"}}]
    assert refused(secured(volumes=volumes)) == [
        ("CC0805", wording("CC0805", actual="hostPath", expected="emptyDir", volume="share"))
    ]
    other = {"metadata": {"name": "share"}, "spec": {"volumeMode": "Block"}}
    assert refused(secured(claims=[CLAIM, other])) == [
        ("CC0805", wording("CC0805", actual="a volumeClaimTemplate", expected="emptyDir", volume="share"))
    ]


@pytest.mark.parametrize("mount", ["state", "contrast-secrets"])
def test_the_share_is_a_volume_of_its_own(mount: str) -> None:
    assert refused(secured(f"state:{mount}", volumes=[DISK])) == [
        ("CC0806", f"secure-pv state:{mount}: {wording('CC0806.mount', mount=mount)}")
    ]


def test_a_skipped_initializer_asks_for_no_valid_volume() -> None:
    subject = workload(template=pod_template({SECURE_PV: "nonsense", SKIP: "true"}))
    assert inject(subject, Generate(), RELEASE, "default") == ((), ())


# --- the secrets


@pytest.mark.parametrize(
    ("mounts", "expected"),
    [
        (None, [SECRETS_MOUNT]),
        ([], [SECRETS_MOUNT]),
        ([SECRETS_MOUNT], [SECRETS_MOUNT]),
        ([{"name": "contrast-secrets", "mountPath": "/old"}], [SECRETS_MOUNT]),
        ([WRITABLE_SECRETS_MOUNT], [SECRETS_MOUNT]),
        ([{**SECRETS_MOUNT, "readOnly": False}], [SECRETS_MOUNT]),
        ([{**SECRETS_MOUNT, "mountPropagation": "HostToContainer"}], [SECRETS_MOUNT]),
        ([SECRETS_MOUNT, {"name": "a", "mountPath": "/a"}], [{"name": "a", "mountPath": "/a"}, SECRETS_MOUNT]),
        ([SECRETS_MOUNT, SECRETS_MOUNT], [SECRETS_MOUNT]),
        ([{"name": "a", "mountPath": "/a"}, SECRETS_MOUNT], [{"name": "a", "mountPath": "/a"}, SECRETS_MOUNT]),
    ],
)
@pytest.mark.parametrize("field", ["containers", "initContainers"])
def test_the_mount_ends_up_last_and_once(field: str, mounts: Any, expected: Any) -> None:
    container = {"name": "it", "image": WEB, "volumeMounts": mounts}
    fields: dict[str, Any] = {"volumes": [{"name": "a", "emptyDir": {}}, SECRETS_VOLUME], field: [container]}
    outcome = inject(workload(template=pod_template(**fields)), Generate(), RELEASE, "default")
    pod = workload(template=pod_template(**fields)).after(outcome.edits)
    assert next(one for one in pod.pod_spec[field] if one["name"] == "it")["volumeMounts"] == expected
    changed = [edit for edit in outcome.edits if edit.code == "CC0804" and field in edit.path]
    assert bool(changed) == (mounts != expected)


def test_another_volume_at_the_same_path_is_refused() -> None:
    mount = {"name": "mine", "mountPath": "/contrast/"}
    app = {"name": "web", "image": WEB, "volumeMounts": [mount]}
    subject = workload(template=pod_template(containers=[app], volumes=[{"name": "mine", "emptyDir": {}}]))
    assert refused(subject) == [("CC0812", wording("CC0812", container="web", place="/contrast", volume="mine"))]


def test_what_an_older_initializer_mounts_there_goes_with_it() -> None:
    old = {"name": "contrast-initializer", "image": WEB, "volumeMounts": [{"name": "tls", "mountPath": "/contrast"}]}
    volumes = [{"name": "tls", "emptyDir": {}}]
    pod = rendered(workload(template=pod_template(initContainers=[old], volumes=volumes)))
    assert pod.init_containers[0]["volumeMounts"] == [WRITABLE_SECRETS_MOUNT]
    # a regular container is the user's, and so is an init container of another name
    late = {**old, "name": "late"}
    assert [code for code, _ in refused(workload(template=pod_template(initContainers=[late], volumes=volumes)))] == [
        "CC0812"
    ]


def test_a_claim_template_cannot_take_the_place_of_the_secrets() -> None:
    claim = {"metadata": {"name": "contrast-secrets"}, "spec": {"volumeMode": "Block"}}
    subject = workload("StatefulSet", volumeClaimTemplates=[claim])
    assert refused(subject) == [
        ("CC0805", wording("CC0805", actual="a volumeClaimTemplate", expected="emptyDir", volume="contrast-secrets"))
    ]


def test_a_regular_container_of_our_name_is_refused() -> None:
    app = {"name": "contrast-initializer", "image": WEB}
    assert refused(workload(template=pod_template(containers=[app]))) == [
        ("CC0208", "two containers are named contrast-initializer")
    ]


@pytest.mark.parametrize("device", ["", "state:share"])
def test_only_the_initializer_can_write_the_secrets(device: str) -> None:
    template = pod_template(
        {INGRESS: "", SECURE_PV: device},
        containers=[{"name": "a", "image": WEB}, {"name": "b", "image": WEB}],
        initContainers=[{"name": "setup", "image": WEB}],
        volumes=[DISK],
    )
    pod = rendered(workload(template=template), ON)
    mounts = {
        one["name"]: [mount for mount in one.get("volumeMounts", []) if mount["name"] == "contrast-secrets"]
        for one in (*pod.init_containers, *pod.containers)
    }
    assert mounts == {
        "pvc-holder": [],
        "contrast-initializer": [WRITABLE_SECRETS_MOUNT],
        "setup": [SECRETS_MOUNT],
        "contrast-service-mesh": [SECRETS_MOUNT],
        "a": [SECRETS_MOUNT],
        "b": [SECRETS_MOUNT],
    }


# --- memory


def memory_of(pod: Workload) -> dict[str, Any]:
    found = {one["name"]: one["resources"] for one in pod.init_containers if one["name"] in OURS}
    assert all(resources["requests"] == resources["limits"] for resources in found.values())
    return {name: resources["limits"] for name, resources in found.items()}


def test_the_release_says_how_much_memory_each_container_gets() -> None:
    release = RELEASE._replace(memory=InjectedMemory("1Mi", "2Mi", "3Mi", 4194304))
    for note, initializer in (("", "1Mi"), ("state:share", "2Mi")):
        subject = workload(template=pod_template({INGRESS: "", SECURE_PV: note}, volumes=[DISK]))
        pod = subject.after(inject(subject, ON, release, "default").edits)
        assert memory_of(pod) == {
            "pvc-holder": {"memory": 4194304},
            "contrast-initializer": {"memory": initializer},
            "contrast-service-mesh": {"memory": "3Mi"},
        }


def test_without_a_word_of_the_release_each_container_gets_what_is_usual() -> None:
    assert memory_of(rendered(annotated(servicemesh_ingress=""), ON)) == {
        "pvc-holder": {"memory": "50Mi"},
        "contrast-initializer": {"memory": "50Mi"},
        "contrast-service-mesh": {"memory": "400Mi"},
    }
    assert memory_of(rendered(secured("state:share", volumes=[DISK]))) == {"contrast-initializer": {"memory": "100Mi"}}


def test_what_the_previous_version_injected_is_brought_up_to_date() -> None:
    """Mounts that could be written and a mesh without memory, in a pod that has no record of them."""
    today = rendered(annotated(servicemesh_ingress=""))
    document = deepcopy(today.object)
    spec = document["spec"]["template"]["spec"]
    for one in (*spec["containers"], *spec["initContainers"]):
        one["volumeMounts"] = [WRITABLE_SECRETS_MOUNT]
    del spec["initContainers"][1]["resources"]
    assert first_workload(document).pod_spec != today.pod_spec
    assert rendered(first_workload(document)).pod_spec == today.pod_spec


# --- the image store


def test_everything_on_comes_in_the_order_of_the_original() -> None:
    template = pod_template({INGRESS: ""}, initContainers=[{"name": "setup", "image": WEB}])
    pod = rendered(workload(template=template), ON)
    assert names(pod) == ["pvc-holder", "contrast-initializer", "setup", "contrast-service-mesh"]
    assert pod.init_containers[0] == {
        "name": "pvc-holder",
        "image": INITIALIZER,
        "restartPolicy": "Always",
        "command": ["/bin/sh", "-c", "sleep inf"],
        "volumeDevices": [{"name": "image-store", "devicePath": "/dev/image_store"}],
        "securityContext": {"privileged": True},
        "resources": {"requests": {"memory": "50Mi"}, "limits": {"memory": "50Mi"}},
    }
    claim = {"volumeMode": "Block", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}}
    assert pod.pod_spec["volumes"] == [
        SECRETS_VOLUME,
        {"name": "image-store", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}},
    ]


def test_the_image_store_is_idempotent_where_the_original_is_not() -> None:
    once = rendered(annotated(servicemesh_ingress=""), ON)
    assert inject(once, ON, RELEASE, "default") == ((), ())
    # the order after the original's second run is put right
    swapped = rendered(annotated(servicemesh_ingress=""), ON)
    first, second, *rest = swapped.pod_spec["initContainers"]
    swapped.pod_spec["initContainers"] = [second, first, *rest]
    assert names(rendered(swapped, ON)) == names(once)


def test_a_holder_of_the_users_stays_as_and_where_it_is() -> None:
    holder = {"name": "pvc-holder", "image": WEB}
    volume = {"name": "image-store", "persistentVolumeClaim": {"claimName": "mine"}}
    template = pod_template(initContainers=[{"name": "setup", "image": WEB}, holder], volumes=[volume])
    pod = rendered(workload(template=template), ON)
    assert names(pod) == ["contrast-initializer", "setup", "pvc-holder"]
    assert pod.init_containers[2] == holder
    assert pod.pod_spec["volumes"] == [volume, SECRETS_VOLUME]


def test_without_the_option_a_pvc_holder_is_any_container() -> None:
    holder = {"name": "pvc-holder", "image": WEB}
    pod = rendered(workload(template=pod_template(initContainers=[holder])))
    assert names(pod) == ["contrast-initializer", "pvc-holder"]
    assert pod.init_containers[1]["volumeMounts"] == [SECRETS_MOUNT]


def test_size_annotation() -> None:
    pod = rendered(annotated(image_store_size="512Mi"), ON)
    claim = pod.pod_spec["volumes"][-1]["ephemeral"]["volumeClaimTemplate"]["spec"]
    assert claim["resources"] == {"requests": {"storage": "512Mi"}}
    assert names(rendered(annotated(image_store_size="0"), ON)) == ["contrast-initializer"]
    # without the option it means nothing
    assert names(rendered(annotated(image_store_size="huge"))) == ["contrast-initializer"]


@pytest.mark.parametrize("size", ["huge", "", "-1Gi", "0Gi", "10 Gi", "10gi"])
def test_a_size_that_is_none_stops_everything(size: str) -> None:
    assert [code for code, _ in refused(workload(template=pod_template({STORE_SIZE: size})), ON)] == ["CC0204"]


# --- upgrades and images


def test_an_older_initializer_makes_room() -> None:
    old = {"name": "contrast-initializer", "image": "ghcr.io/edgelesssys/contrast/initializer:v1.4.0@sha256:00"}
    template = pod_template({INGRESS: ""}, initContainers=[{"name": "setup", "image": WEB}, old, old])
    subject = workload(template=template)
    outcome = inject(subject, Generate(), RELEASE, "default")
    pod = subject.after(outcome.edits)
    assert names(pod) == ["contrast-initializer", "setup", "contrast-service-mesh"]
    assert pod.init_containers[0]["image"] == INITIALIZER
    assert [edit.code for edit in outcome.edits].count("CC0809") == 2


def test_a_mesh_of_another_place_or_release_is_put_right() -> None:
    once = rendered(annotated(servicemesh_ingress=""))
    first, second = once.pod_spec["initContainers"]
    once.pod_spec["initContainers"] = [second, {"name": "late", "image": WEB, "volumeMounts": [SECRETS_MOUNT]}, first]
    assert names(rendered(once)) == ["contrast-initializer", "late", "contrast-service-mesh"]
    newer = {**IMAGES, "ghcr.io/edgelesssys/contrast/service-mesh-proxy:latest": "mesh@sha256:" + "9" * 64}
    outcome = inject(rendered(annotated(servicemesh_ingress="")), Generate(), RELEASE._replace(images=newer), "default")
    assert [(edit.op, edit.code) for edit in outcome.edits] == [("remove", "CC0809"), ("insert", "CC0802")]


def test_images_are_replaced_once_and_by_whole_string() -> None:
    containers = [
        {"name": "a", "image": "one"},
        {"name": "b", "image": "one:1"},
        {"name": "c", "image": None},
        {"name": "d"},
    ]
    images = {"one": "two", "two": "three", **IMAGES, INITIALIZER: "again", MESH: "again"}
    init = [{"name": "e", "image": "two"}]
    subject = workload(template=pod_template({INGRESS: ""}, containers=containers, initContainers=init))
    pod = subject.after(inject(subject, ON, RELEASE._replace(images=images), "default").edits)
    assert [one.get("image") for one in pod.containers] == ["two", "one:1", None, None]
    assert [one["image"] for one in pod.init_containers] == [INITIALIZER, INITIALIZER, "three", MESH]


def test_a_release_without_our_images_leaves_names_that_later_verifiers_refuse() -> None:
    subject = workload()
    pod = subject.after(inject(subject, Generate(), RELEASE._replace(images={}), "default").edits)
    assert pod.init_containers[0]["image"] == "ghcr.io/edgelesssys/contrast/initializer:latest"


# --- shapes


@pytest.mark.parametrize("empty", [None, []])
def test_null_and_empty_lists_count_as_absent(empty: Any) -> None:
    subject = workload()
    subject.pod_spec.update(initContainers=empty, volumes=empty)
    subject.containers[0]["volumeMounts"] = empty
    assert rendered(subject, ON).pod_spec == rendered(workload(), ON).pod_spec


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("initContainers", {}, "initContainers must be a list, not a map"),
        ("initContainers", [None], "initContainers[0] must be a map, not null"),
        ("initContainers", [{"image": WEB}], "initContainers[0].name must be a string, not null"),
        ("containers", "web", "containers must be a list, not a string"),
        ("containers", [{"name": "web", "volumeMounts": {}}], "containers[0].volumeMounts must be a list, not a map"),
        (
            "containers",
            [{"name": "web", "volumeMounts": [{}]}],
            "containers[0].volumeMounts[0].name must be a string, not null",
        ),
        ("containers", [{"name": "web", "env": "A=b"}], "containers[0].env must be a list, not a string"),
        ("containers", [{"name": 7}], "containers[0].name must be a string, not an integer"),
        ("volumes", [["x"]], "volumes[0] must be a map, not a list"),
    ],
)
def test_wrong_types_are_findings(field: str, value: Any, message: str) -> None:
    subject = workload()
    subject.pod_spec[field] = value
    assert [(finding.code, finding.message) for finding in type_findings(subject)] == [("CC0207", message)]


# --- edits are data


def test_edits_say_what_stood_there() -> None:
    subject = annotated(servicemesh_ingress="")
    for edit in inject(subject, ON, RELEASE, "default").edits:
        assert edit.code.startswith(("CC08", "CC0506"))
        assert edit.reason
        assert "\n" not in edit.reason
        assert edit.before is ABSENT or edit.op != "insert"
        assert (edit.after is ABSENT) == (edit.op == "remove")


def test_before_tells_null_from_absent_and_keeps_what_goes() -> None:
    old = {"name": "contrast-initializer", "image": "old"}
    app = {"name": "web", "image": next(iter(IMAGES)), "volumeMounts": None}
    subject = workload(template=pod_template(initContainers=[old], containers=[app]))
    edits = {(edit.op, *edit.path[3:]): edit.before for edit in inject(subject, Generate(), RELEASE, "").edits}
    assert edits == {
        ("set", "volumes"): ABSENT,
        ("set", "containers", 0, "volumeMounts"): None,
        ("remove", "initContainers", 0): old,
        ("insert", "initContainers", 0): ABSENT,
        ("set", "containers", 0, "image"): app["image"],
    }


NAMES = st.sampled_from(["a", "b", "contrast-initializer", "contrast-service-mesh", "pvc-holder"])
MOUNT = st.fixed_dictionaries(
    {"name": st.sampled_from(["data", "contrast-secrets"]), "mountPath": st.sampled_from(["/x", "/y", "/contrast"])}
)
CONTAINER = st.fixed_dictionaries(
    {"name": NAMES, "image": st.sampled_from([WEB, *IMAGES])},
    optional={"volumeMounts": st.none() | st.lists(MOUNT, max_size=3), "command": st.just(["x"])},
)
POD = st.fixed_dictionaries(
    {"containers": st.lists(CONTAINER, min_size=1, max_size=3)},
    optional={
        "initContainers": st.none() | st.lists(CONTAINER, max_size=4),
        "volumes": st.none()
        | st.lists(st.sampled_from([{"name": "data", "emptyDir": {}}, SECRETS_VOLUME, DISK]), max_size=3),
    },
)
NOTES = st.dictionaries(
    st.sampled_from([INGRESS, SKIP, ADMIN, SECURE_PV, STORE_SIZE]),
    st.sampled_from(["", "true", "9901", "state:share", "0", "1Gi"]),
)
OPTIONS = st.tuples(st.booleans(), st.booleans(), st.booleans()).map(
    lambda on: Generate(initializer=on[0], service_mesh=on[1], image_store=on[2])
)
OURS = {"contrast-initializer", "contrast-service-mesh", "pvc-holder"}


def stripped(container: dict[str, Any]) -> dict[str, Any]:
    """A container without what injection may change: image and mounts of the secrets."""
    mounts = [mount for mount in container.get("volumeMounts") or [] if mount["name"] != "contrast-secrets"]
    return {**container, "image": "", "volumeMounts": mounts}


@settings(max_examples=300, deadline=None)
@given(spec=POD, notes=NOTES, options=OPTIONS)
def test_injection_is_idempotent_and_never_touches_a_users_container(
    spec: dict[str, Any], notes: dict[str, str], options: Generate
) -> None:
    subject = workload(template=pod_template(notes, **spec))
    original = deepcopy(subject.object)
    outcome = inject(subject, options, RELEASE, "default")
    assert subject.object == original
    if outcome.findings:
        assert outcome.edits == ()
        return
    pod = subject.after(outcome.edits)
    assert inject(pod, options, RELEASE, "default") == ((), ())
    assert [stripped(one) for one in pod.containers] == [stripped(one) for one in subject.containers]
    users = [stripped(one) for one in subject.init_containers if one["name"] not in OURS]
    assert [stripped(one) for one in pod.init_containers if one["name"] not in OURS] == users
    assert [v for v in pod.pod_spec.get("volumes") or [] if v in (subject.pod_spec.get("volumes") or [])] == (
        subject.pod_spec.get("volumes") or []
    )
    assert pod.annotations == subject.annotations
    for name in ("contrast-initializer", "contrast-service-mesh"):
        wanted = [edit for edit in outcome.edits if isinstance(edit.after, dict) and edit.after.get("name") == name]
        assert len(wanted) <= 1
    injected = [one["image"] for one in pod.init_containers if one["name"] in OURS]
    assert all(image in {INITIALIZER, MESH, COORDINATOR, WEB} for image in injected)
