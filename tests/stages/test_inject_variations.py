"""Every row of the table of changes in docs/facts/contrast.md#worked-example."""

from typing import Any

import pytest

from krm_function.config.generate import Generate
from krm_function.findings import has_errors
from krm_function.kubernetes.workload import Workload
from krm_function.render.classes import resolve
from krm_function.render.inject import inject
from krm_function.render.pod_checks import check_after_injection, check_before_injection
from krm_function.render.select import select
from tests.wording import wording
from tests.world import (
    HANDLERS,
    IMAGES,
    INGRESS,
    INITIALIZER,
    MESH,
    RELEASE,
    SECRETS_MOUNT,
    SECRETS_VOLUME,
    SKIP,
    WEB,
    WRITABLE_SECRETS_MOUNT,
    names,
    pod_template,
    workload,
)


def rendered(subject: Workload, options: Generate | None = None) -> Workload:
    outcome = inject(subject, options or Generate(), RELEASE, "default")
    assert outcome.findings == ()
    return subject.after(outcome.edits)


def env_of(container: dict[str, Any]) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in container.get("env", [])}


EXAMPLE = pod_template({INGRESS: ""})


def test_the_worked_example_to_the_key() -> None:
    spec = rendered(workload(template=EXAMPLE)).pod_spec
    assert spec == {
        "runtimeClassName": "contrast-cc",
        "initContainers": [
            {
                "name": "contrast-initializer",
                "image": INITIALIZER,
                "env": [{"name": "COORDINATOR_HOST", "value": "coordinator-ready.default"}],
                "volumeMounts": [WRITABLE_SECRETS_MOUNT],
                "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}},
                "resources": {"requests": {"memory": "50Mi"}, "limits": {"memory": "50Mi"}},
            },
            {
                "name": "contrast-service-mesh",
                "image": MESH,
                "restartPolicy": "Always",
                "args": ["-l", "debug"],
                "volumeMounts": [SECRETS_MOUNT],
                "securityContext": {"privileged": True, "capabilities": {"add": ["NET_ADMIN"]}},
                "resources": {"requests": {"memory": "400Mi"}, "limits": {"memory": "400Mi"}},
                "startupProbe": {
                    "exec": {"command": ["test", "-f", "/ready"]},
                    "initialDelaySeconds": 1,
                    "periodSeconds": 5,
                    "failureThreshold": 5,
                },
            },
        ],
        "containers": [
            {
                "name": "web",
                "image": WEB,
                "resources": {"limits": {"cpu": "1500m", "memory": "200Mi"}},
                "volumeMounts": [SECRETS_MOUNT],
            }
        ],
        "volumes": [SECRETS_VOLUME],
    }
    assert list(spec["initContainers"][1]) == [
        "name", "image", "restartPolicy", "args", "volumeMounts", "securityContext", "resources", "startupProbe",
    ]  # fmt: skip


def test_without_a_mesh_annotation_there_is_only_the_initializer_and_it_drops_the_rule() -> None:
    pod = rendered(workload())
    assert names(pod) == ["contrast-initializer"]
    assert pod.init_containers[0]["env"] == [
        {"name": "COORDINATOR_HOST", "value": "coordinator-ready.default"},
        {"name": "CONTRAST_SERVICE_MESH_DISABLED", "value": "true"},
    ]


def test_an_annotation_on_the_deployment_is_as_good_as_none_and_is_reported() -> None:
    subject = workload()
    subject.object["metadata"]["annotations"] = {INGRESS: ""}
    assert rendered(subject).pod_spec == rendered(workload()).pod_spec
    assert [found.code for found in check_before_injection(subject, IMAGES)] == ["CC0202"]


def test_skip_initializer_leaves_the_mesh_its_volume_and_no_mount_in_the_app() -> None:
    pod = rendered(workload(template=pod_template({INGRESS: "", SKIP: "true"})))
    assert names(pod) == ["contrast-service-mesh"]
    assert pod.pod_spec["volumes"] == [SECRETS_VOLUME]
    assert "volumeMounts" not in pod.containers[0]


@pytest.mark.parametrize("value", ["yes", "True", "", "1", "false", " true"])
def test_skip_initializer_is_exactly_true_or_nothing(value: str) -> None:
    pod = rendered(workload(template=pod_template({SKIP: value})))
    assert names(pod) == ["contrast-initializer"]


def test_skip_initializer_without_mesh_changes_nothing() -> None:
    assert inject(workload(template=pod_template({SKIP: "true"})), Generate(), RELEASE, "default") == ((), ())


@pytest.mark.parametrize(
    ("name", "platform"),
    [
        ("contrast-cc-metal-qemu-snp-00000000", "metal-qemu-snp"),
        ("contrast-cc-metal-qemu-snp", "metal-qemu-snp"),
        ("contrast-cc", "metal-qemu-snp"),
        ("contrast-cc-metal-qemu-tdx", "metal-qemu-tdx"),
    ],
)
def test_placeholders_and_old_hashes_become_the_handler_of_the_release(name: str, platform: str) -> None:
    subject = workload(template=pod_template(runtimeClassName=name))
    resolved, outcome = resolve(subject, RELEASE, "metal-qemu-snp")
    assert subject.after(outcome.edits).runtime_class == HANDLERS[platform]
    assert resolved is not None
    assert resolved.tee == ("tdx" if platform.endswith("tdx") else "snp")


@pytest.mark.parametrize("name", ["kata", None])
def test_another_runtime_class_is_not_ours(name: str | None) -> None:
    subject = workload(template=pod_template(runtimeClassName=name))
    selection = select(subject.object)
    assert selection.workloads == ()
    assert len(selection.skipped) == 1


def test_an_image_by_tag_only_stops_before_anything_is_written() -> None:
    container = {"name": "web", "image": "example.com/web:1.2"}
    found = check_before_injection(workload(template=pod_template(containers=[container])), IMAGES)
    assert [one.code for one in found] == ["CC0502"]
    assert has_errors(found)


def test_a_second_run_on_its_own_output_is_no_edit() -> None:
    once = rendered(workload(template=EXAMPLE))
    assert inject(once, Generate(), RELEASE, "default") == ((), ())


def test_a_memory_volume_of_the_users_is_reused() -> None:
    own = {"name": "contrast-secrets", "emptyDir": {"sizeLimit": "1Mi"}}
    pod = rendered(workload(template=pod_template(volumes=[own])))
    assert pod.pod_spec["volumes"] == [own]


def test_any_other_volume_of_that_name_is_an_error() -> None:
    own = {"name": "contrast-secrets", "secret": {"secretName": "mine"}}
    outcome = inject(workload(template=pod_template(volumes=[own])), Generate(), RELEASE, "default")
    assert outcome.edits == ()
    assert [found.message for found in outcome.findings] == [
        wording("CC0805", actual="secret", expected="emptyDir", volume="contrast-secrets")
    ]


def test_the_users_init_container_comes_between_and_gets_the_mount() -> None:
    setup = {"name": "setup", "image": WEB, "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    template = pod_template({INGRESS: ""}, initContainers=[setup], volumes=[{"name": "data", "emptyDir": {}}])
    pod = rendered(workload(template=template))
    assert names(pod) == ["contrast-initializer", "setup", "contrast-service-mesh"]
    assert pod.init_containers[1]["volumeMounts"] == [{"name": "data", "mountPath": "/data"}, SECRETS_MOUNT]


def test_what_comes_out_passes_the_verifiers_of_after() -> None:
    assert check_after_injection(rendered(workload(template=EXAMPLE)), "v1.25.0") == ()
