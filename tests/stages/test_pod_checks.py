"""The checks of docs/facts/contrast.md#checks, each with what it accepts and what it refuses."""

import re
from typing import Any

import pytest

from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.workload import PREFIX, Workload
from krm_function.render.inject import inject
from krm_function.render.pod_checks import check_after_injection, check_before_injection
from tests.wording import wording
from tests.world import (
    ADMIN,
    COORDINATOR,
    DIGEST,
    EGRESS,
    IMAGES,
    INGRESS,
    ON,
    RELEASE,
    ROLE,
    SECRETS_VOLUME,
    SECURE_PV,
    SKIP,
    WEB,
    coordinator_workload,
    pod_template,
    workload,
)

VERSION = "v1.25.0"


def early(subject: Workload) -> list[tuple[str, str]]:
    return [(found.code, found.message) for found in check_before_injection(subject, IMAGES)]


def late(subject: Workload) -> list[tuple[str, str]]:
    return [(found.code, found.message) for found in check_after_injection(subject, VERSION)]


def running(*images: Any, **spec: Any) -> Workload:
    containers = [{"name": f"c{index}", "image": image} for index, image in enumerate(images)]
    return workload(template=pod_template(**{"containers": containers or None, **spec}))


# --- profiles of the node


@pytest.mark.parametrize("field", ["appArmorProfile", "seccompProfile"])
@pytest.mark.parametrize(("kind", "count"), [("Localhost", 2), ("RuntimeDefault", 0), ("Unconfined", 0)])
def test_a_profile_of_the_node_does_not_apply_in_the_vm(field: str, kind: str, count: int) -> None:
    security = {"securityContext": {field: {"type": kind, "localhostProfile": "a.json"}}}
    subject = workload(template=pod_template(containers=[{"name": "a", "image": WEB, **security}], **security))
    assert early(subject) == [("CC0845", wording("CC0845", field=field))] * count


# --- images


@pytest.mark.parametrize("field", ["containers", "initContainers"])
@pytest.mark.parametrize(
    ("image", "code"),
    [
        (WEB, None),
        (f"web@{DIGEST}", None),
        (f"localhost:5000/a/b:1.2@{DIGEST}", None),
        ("web", "CC0502"),
        ("example.com/web:1.2", "CC0502"),
        ("web@sha256:abc", "CC0503"),
        (f"web@sha512:{'a' * 128}", "CC0503"),
        ("Web:1", "CC0503"),
        (f"https://example.com/web@{DIGEST}", "CC0503"),
        ("", "CC0501"),
        (None, "CC0501"),
    ],
)
def test_images(field: str, image: Any, code: str | None) -> None:
    entry = {"name": "it", "image": image}
    fields: dict[str, Any] = {field: [entry]}
    subject = workload(template=pod_template(**fields))
    assert [found for found, _ in early(subject)] == ([code] if code else [])
    assert [found for found, _ in late(subject)] == ([code] if code else [])


def test_contrasts_images_may_wait_for_the_release_but_not_for_ever() -> None:
    latest = next(iter(IMAGES))
    assert early(running(latest)) == []
    assert late(running(latest)) == [("CC0502", f"image {latest} is not pinned")]
    unknown = "ghcr.io/edgelesssys/contrast/other:latest"
    assert [code for code, _ in early(running(unknown))] == ["CC0502"]


def test_another_image_is_not_exempt_even_if_the_release_replaces_it() -> None:
    assert [found.code for found in check_before_injection(running("web:1"), {"web:1": WEB})] == ["CC0502"]
    look_alike = "ghcr.io/edgelesssys/contrastive:1"
    assert [found.code for found in check_before_injection(running(look_alike), {look_alike: WEB})] == ["CC0502"]


# --- versions


def old(image: str) -> str:
    return image.replace("v1.25.0", "v1.24.0")


def test_a_coordinator_of_another_release_is_refused() -> None:
    subject = coordinator_workload()
    subject.containers[0]["image"] = COORDINATOR
    assert late(subject) == []
    subject.containers[0]["image"] = old(COORDINATOR)
    assert late(subject) == [("CC0507", wording("CC0507", image=old(COORDINATOR), release="v1.25.0", tag="v1.24.0"))]
    assert check_after_injection(subject, "v1.26.0-pre") == ()
    assert check_after_injection(subject, "v0.0.0-dev") == ()
    subject.containers[0]["image"] = f"mirror.example/coordinator@{DIGEST}"
    assert late(subject) == []


@pytest.mark.parametrize("field", ["containers", "initContainers"])
@pytest.mark.parametrize("name", ["contrast-initializer", "contrast-service-mesh"])
def test_our_containers_are_of_the_release(name: str, field: str) -> None:
    entry = {"name": name, "image": f"example.com/x:v1@{DIGEST}"}
    fields: dict[str, Any] = {field: [entry]}
    assert [code for code, _ in late(workload(template=pod_template(**fields)))] == ["CC0507"]


def test_a_container_called_coordinator_elsewhere_is_anyones() -> None:
    entry = {"name": "coordinator", "image": f"example.com/x:v1@{DIGEST}"}
    assert late(workload(template=pod_template(containers=[entry]))) == []


# --- mounts


def mounting(field: str, volumes: list[Any], claims: list[Any] | None = None, name: str = "data") -> Workload:
    entry = {"name": "it", "image": WEB, "volumeMounts": [{"name": name, "mountPath": "/d"}]}
    fields: dict[str, Any] = {"volumes": volumes, field: [entry]}
    template = pod_template(**fields)
    return workload("StatefulSet", template, volumeClaimTemplates=claims) if claims else workload(template=template)


@pytest.mark.parametrize("field", ["containers", "initContainers"])
@pytest.mark.parametrize("source", ["configMap", "downwardAPI", "emptyDir", "ephemeral", "projected", "secret"])
def test_volumes_inside_the_vm_may_be_mounted(field: str, source: str) -> None:
    assert late(mounting(field, [{"name": "data", source: {}}])) == []


@pytest.mark.parametrize("field", ["containers", "initContainers"])
@pytest.mark.parametrize("source", ["hostPath", "persistentVolumeClaim", "csi", "nfs", "iscsi", "unheardOf"])
def test_volumes_of_the_host_may_not(field: str, source: str) -> None:
    assert late(mounting(field, [{"name": "data", source: {}}])) == [
        ("CC0807", f"container it mounts data, a {source} that the host controls")
    ]
    assert late(mounting(field, [{"name": "data", source: {}}, SECRETS_VOLUME], name="contrast-secrets")) == []


def test_the_hint_for_an_image_volume_is_about_images() -> None:
    (found,) = check_after_injection(mounting("containers", [{"name": "data", "image": {}}]), VERSION)
    assert found.code == "CC0807"
    assert "an image" in found.message
    assert "init container" in found.hint
    assert "claim" not in found.hint


def test_the_hint_names_what_contrast_documents_in_place_of_a_shared_file_system() -> None:
    host = mounting("containers", [{"name": "data", "hostPath": {"path": "/"}}])
    claim = mounting("containers", [], [{"metadata": {"name": "data"}, "spec": {}}])
    for pod, code in ((host, "CC0807"), (claim, "CC0808")):
        (hint,) = {found.hint for found in check_after_injection(pod, VERSION) if found.code == code}
        for words in ("emptyDir", "contrast.edgeless.systems/secure-pv", "volumeMode", "Block", "volumeDevices"):
            assert words in hint
        assert re.search(r"see https://docs\.edgeless\.systems/contrast/[^ ,]+, ", hint)


def test_a_second_source_hides_nothing() -> None:
    volume = {"name": "data", "emptyDir": {}, "hostPath": {"path": "/"}}
    assert [code for code, _ in late(mounting("containers", [volume]))] == ["CC0807"]
    twice = [{"name": "data", "emptyDir": {}}, {"name": "data", "hostPath": {"path": "/"}}]
    assert [code for code, _ in late(mounting("containers", twice))] == ["CC0807"]


def test_a_mount_without_volume() -> None:
    assert late(mounting("containers", [])) == [("CC0810", "container it mounts data, which the pod does not have")]


@pytest.mark.parametrize("volume", [{"emptyDir": None}, {}, {"hostPath": None}, {"emptyDir": None, "secret": None}])
def test_a_volume_without_a_source_is_an_empty_dir_as_in_kubernetes(volume: dict[str, Any]) -> None:
    assert late(mounting("containers", [{"name": "data", **volume}])) == []


def test_a_claim_template_is_a_device_and_no_mount() -> None:
    claim = {"metadata": {"name": "data"}, "spec": {"volumeMode": "Block"}}
    # it would take the place of the volume, whatever that is
    for volumes in ([], [{"name": "data", "emptyDir": {}}]):
        subject = mounting("containers", volumes, [claim])
        assert late(subject) == [("CC0807", "container it mounts data, a volumeClaimTemplate that the host controls")]
    assert late(mounting("containers", [SECRETS_VOLUME], [claim], "contrast-secrets")) == []


@pytest.mark.parametrize("spec", [{}, {"volumeMode": "Filesystem"}, {"volumeMode": None}, None])
def test_claims_are_block_devices(spec: Any) -> None:
    claim = {"metadata": {"name": "other"}, "spec": spec}
    subject = mounting("containers", [SECRETS_VOLUME], [claim], "contrast-secrets")
    assert late(subject) == [("CC0808", "volumeClaimTemplate other is not of volumeMode Block")]


def test_everything_we_inject_passes() -> None:
    claim = {"metadata": {"name": "disk"}, "spec": {"volumeMode": "Block"}}
    notes = {SECURE_PV: "disk:share", INGRESS: "", ADMIN: "9901", EGRESS: "db#127.1.0.1:5432#db:5432"}
    subject = workload("StatefulSet", pod_template(notes), volumeClaimTemplates=[claim])
    assert early(subject) == []
    outcome = inject(subject, ON, RELEASE, "default")
    assert late(subject.after(outcome.edits)) == []


# --- the service mesh


def test_an_empty_egress_is_an_error_and_an_empty_ingress_is_not() -> None:
    assert early(workload(template=pod_template({EGRESS: ""}))) == [("CC0205", "the egress annotation is empty")]
    assert early(workload(template=pod_template({INGRESS: ""}))) == []


@pytest.mark.parametrize(
    ("key", "value", "valid"),
    [
        (INGRESS, "DISABLED", True),
        (INGRESS, "web#8080#false##admin#9090#true", True),
        (INGRESS, "web#8080", False),
        (INGRESS, "DISABLED##web#8080#false", False),
        (EGRESS, "db#127.137.0.1:5432#db:5432", True),
        (EGRESS, "asdf", False),
        (EGRESS, "db#10.0.0.1:5432#db:5432", False),
        (ADMIN, "9901", True),
        (ADMIN, "http", False),
    ],
)
def test_mesh_grammar(key: str, value: str, valid: bool) -> None:
    assert [code for code, _ in early(workload(template=pod_template({key: value})))] == ([] if valid else ["CC0204"])


# --- annotations and labels


@pytest.mark.parametrize("key", [SKIP, INGRESS, SECURE_PV, PREFIX + "workload-secret-id"])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_annotations_on_the_object_itself(kind: str, key: str) -> None:
    subject = workload(kind)
    subject.object["metadata"].setdefault("annotations", {})[key] = "true" if key == SKIP else ""
    expected = f"annotation {key} has no effect on the {kind} itself, only on its pod template"
    assert early(subject) == ([] if kind == "Pod" else [("CC0202", expected)])


@pytest.mark.parametrize("root", [(), ("items", 1)])
def test_annotations_on_a_job_template(root: tuple[str | int, ...]) -> None:
    subject = workload("CronJob", root=root)
    subject.object["spec"]["jobTemplate"]["metadata"] = {"annotations": {SKIP: "true"}}
    findings = check_before_injection(subject, IMAGES)
    assert [(found.code, found.path) for found in findings] == [
        ("CC0202", (*root, "spec", "jobTemplate", "metadata", "annotations", SKIP))
    ]
    assert findings[0].hint.startswith("move it to the annotations of the pod template, or set spec.objectAnnotations ")


def test_what_kustomize_writes_everywhere_does_no_harm() -> None:
    subject = workload(template=pod_template({SKIP: "true"}))
    subject.object["metadata"]["annotations"] = {SKIP: "true"}
    assert early(subject) == []
    subject.object["metadata"]["annotations"] = {SKIP: "false"}
    assert [code for code, _ in early(subject)] == ["CC0202"]


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("service-mesh-ingress", f"did you mean {PREFIX}servicemesh-ingress?"),
        ("skip-initialiser", f"did you mean {PREFIX}skip-initializer?"),
        ("zzzzzz", "remove it; Contrast reads no such key"),
    ],
)
@pytest.mark.parametrize("what", ["annotation", "label"])
@pytest.mark.parametrize("place", ["object", "template"])
def test_misspelt_keys(key: str, hint: str, what: str, place: str) -> None:
    subject = workload()
    metadata = subject.object["metadata"] if place == "object" else subject.pod_metadata
    metadata.setdefault(f"{what}s", {})[PREFIX + key] = "x"
    findings = check_before_injection(subject, IMAGES)
    assert [(found.code, found.message, found.hint) for found in findings] == [
        ("CC0203", f"unknown {what} {PREFIX}{key}", hint)
    ]


def test_the_role_is_a_label_of_the_template() -> None:
    assert early(coordinator_workload()) == []
    by_annotation = workload("StatefulSet", pod_template({ROLE: "coordinator"}))
    findings = check_before_injection(by_annotation, IMAGES)
    hint = "move it to the labels of the pod template, or set spec.objectAnnotations of the ContrastGenerate to move"
    assert [(finding.code, finding.hint) for finding in findings] == [("CC0202", hint)]
    both = workload("StatefulSet", pod_template({ROLE: "coordinator"}, {ROLE: "coordinator"}))
    assert early(both) == []
    on_object = workload("StatefulSet")
    on_object.object["metadata"]["labels"] = {ROLE: "coordinator"}
    assert [code for code, _ in early(on_object)] == ["CC0202"]


def test_an_annotation_as_label_has_no_effect() -> None:
    assert early(workload(template=pod_template(labels={SKIP: "true"}))) == [
        ("CC0202", f"label {SKIP} has no effect on the labels of the pod template")
    ]


def test_foreign_keys_are_nobodys_business() -> None:
    notes = {"edgeless.systems/x": "y", "io.katacontainers.config.hypervisor.default_memory": "512"}
    assert early(workload(template=pod_template(notes, notes))) == []


# --- processors


def limited(cpu: Any, **more: Any) -> Workload:
    container = {"name": "web", "image": WEB, "resources": {"limits": {"cpu": cpu, **more}}}
    return workload(template=pod_template(containers=[container]))


@pytest.mark.parametrize(("cpu", "vcpus"), [("219", 220), (219, 220), ("218001m", 220), ("0", 1), (None, 1)])
def test_vcpus_in_range(cpu: Any, vcpus: int) -> None:
    assert early(limited(cpu)) == []


@pytest.mark.parametrize("cpu", ["219001m", "220", 1000])
def test_too_many_vcpus(cpu: Any) -> None:
    assert [code for code, _ in early(limited(cpu))] == ["CC0407"]


@pytest.mark.parametrize("cpu", ["two", "1 ", "-1", True, [], "1e999999999"])
def test_cpu_limits_that_are_none(cpu: Any) -> None:
    findings = check_before_injection(limited(cpu), IMAGES)
    assert [found.code for found in findings] == ["CC0408"]
    assert findings[0].path == ("spec", "template", "spec", "containers", 0, "resources", "limits", "cpu")


def test_limits_count_everywhere_and_requests_nowhere() -> None:
    subject = workload(template=pod_template(resources={"limits": {"cpu": "300"}}))
    assert [code for code, _ in early(subject)] == ["CC0407"]
    init = [{"name": "i", "image": WEB, "resources": {"limits": {"cpu": "bad"}}}]
    assert [code for code, _ in early(workload(template=pod_template(initContainers=init)))] == ["CC0408"]
    requests = {"name": "web", "image": WEB, "resources": {"requests": {"cpu": "300"}}}
    assert early(workload(template=pod_template(containers=[requests]))) == []


@pytest.mark.parametrize(("cpu", "gpus", "code"), [("1", "2", None), ("1", 3, "CC0406"), (None, 1, None)])
def test_a_gpu_needs_a_vcpu(cpu: Any, gpus: Any, code: str | None) -> None:
    subject = limited(cpu, **{"nvidia.com/GH100_H100_PCIE": gpus})
    assert [found for found, _ in early(subject)] == ([code] if code else [])


def sized(cpu: str, **more: Any) -> dict[str, Any]:
    return {"name": "web", "image": WEB, "resources": {"limits": {"cpu": cpu}}, **more}


@pytest.mark.parametrize(
    ("containers", "init", "pod", "counts"),
    [
        (["1"], [("1", False)], None, None),
        (["1"], [("1", False), ("2", False)], None, (4, 3)),  # added up, or the largest
        (["1"], [("1500m", True), ("2", False)], None, None),
        (["4", "250m"], [("1500m", True), ("2", False)], "4", (7, 5)),
        (["1"], [], "3", None),
    ],
)
def test_two_ways_to_count_vcpus_that_differ_are_a_warning_with_both(
    containers: list[str], init: list[tuple[str, bool]], pod: str | None, counts: tuple[int, int] | None
) -> None:
    spec: dict[str, Any] = {
        "initContainers": [
            sized(cpu, **({"restartPolicy": "Always"} if is_sidecar else {})) | {"name": f"i{at}"}
            for at, (cpu, is_sidecar) in enumerate(init)
        ],
        "containers": [sized(cpu) | {"name": f"c{at}"} for at, cpu in enumerate(containers)],
    }
    if pod:
        spec["resources"] = {"limits": {"cpu": pod}}
    found = check_before_injection(workload(template=pod_template(**spec)), IMAGES)
    assert [one.code for one in found] == (["CC0410"] if counts else [])
    if counts:
        assert f"with {counts[0]} vCPUs" in found[0].message
        assert found[0].message.endswith(f" {counts[1]}")
        spec["resources"] = {"limits": {"cpu": found[0].hint.split('"')[1]}}  # the remedy
        assert check_before_injection(workload(template=pod_template(**spec)), IMAGES) == ()


def test_a_gpu_limit_that_is_none() -> None:
    assert early(limited("1", **{"nvidia.com/gpu": "many"})) == [
        ("CC0408", "nvidia.com/gpu: is not a Kubernetes quantity")
    ]


# --- shapes


@pytest.mark.parametrize("containers", [None, []])
def test_a_pod_without_containers(containers: Any) -> None:
    subject = workload()
    subject.pod_spec["containers"] = containers
    assert early(subject) == [("CC0206", "pod template has no containers")]


def test_names_are_unique() -> None:
    twice = {"name": "web", "image": WEB}
    assert early(workload(template=pod_template(containers=[twice], initContainers=[twice]))) == [
        ("CC0208", "two containers are named web")
    ]
    assert early(workload(template=pod_template(volumes=[SECRETS_VOLUME] * 3))) == [
        ("CC0208", "two volumes are named contrast-secrets")
    ]


BROKEN: list[tuple[tuple[str, ...], Any, str]] = [
    (("containers",), {}, "containers must be a list, not a map"),
    (("containers",), "x", "containers must be a list, not a string"),
    (("containers",), ["x"], "containers[0] must be a map, not a string"),
    (("containers",), [None], "containers[0] must be a map, not null"),
    (("containers",), [{"image": WEB}], "containers[0].name must be a string, not null"),
    (("containers",), [{"name": ""}], "containers[0].name must be a string, not an empty one"),
    (("containers",), [{"name": "a", "image": 1}], "containers[0].image must be a string, not an integer"),
    (("containers",), [{"name": "a", "env": {}}], "containers[0].env must be a list, not a map"),
    (("containers",), [{"name": "a", "command": "x"}], "containers[0].command must be a list, not a string"),
    (("containers",), [{"name": "a", "args": [1]}], "containers[0].args[0] must be a string, not an integer"),
    (("containers",), [{"name": "a", "resources": []}], "containers[0].resources must be a map, not a list"),
    (
        ("containers",),
        [{"name": "a", "resources": {"limits": True}}],
        "containers[0].resources.limits must be a map, not a boolean",
    ),
    (("initContainers",), 3, "initContainers must be a list, not an integer"),
    (("volumes",), [{"emptyDir": {}}], "volumes[0].name must be a string, not null"),
    (("nodeSelector",), {"a": True}, "nodeSelector.a must be a string, not a boolean"),
    (("tolerations",), ["x"], "tolerations[0] must be a map, not a string"),
    (("nodeName",), 1, "nodeName must be a string, not an integer"),
    (("overhead",), "1Gi", "overhead must be a map, not a string"),
]


@pytest.mark.parametrize(("path", "value", "message"), BROKEN)
def test_wrong_types_in_the_pod_spec(path: tuple[str, ...], value: Any, message: str) -> None:
    subject = workload()
    subject.pod_spec[path[0]] = value
    assert early(subject) == [("CC0207", message)]


@pytest.mark.parametrize(
    ("notes", "message"),
    [
        ([], "annotations must be a map, not a list"),
        ({ADMIN: 9901}, f'annotations["{ADMIN}"] must be a string, not an integer'),
        ({SKIP: True}, f'annotations["{SKIP}"] must be a string, not a boolean'),
        # "" to Kubernetes, absent to kubectl apply: so it is neither
        ({INGRESS: None}, f'annotations["{INGRESS}"] must be a string, not null'),
        ({"other": None}, None),
        (None, None),
    ],
)
def test_wrong_types_in_annotations(notes: Any, message: str | None) -> None:
    subject = workload()
    subject.pod_metadata["annotations"] = notes
    assert early(subject) == ([("CC0207", message)] if message else [])


def test_wrong_types_in_claims_and_metadata() -> None:
    assert early(workload("StatefulSet", volumeClaimTemplates={})) == [
        ("CC0207", "volumeClaimTemplates must be a list, not a map")
    ]
    subject = workload()
    subject.object["metadata"]["labels"] = "x"
    assert early(subject) == [("CC0207", "labels must be a map, not a string")]
    subject = workload("Pod")
    subject.object["metadata"]["labels"] = "x"
    assert early(subject) == [("CC0207", "labels must be a map, not a string")]
