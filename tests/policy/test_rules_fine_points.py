"""Conditions of the rules that only an unusual pod, or policy data that our generator does not make, can show."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from krm_function.config.references import References
from krm_function.contrast.profiles import CONTRAST, KATA, STRICT, Profile
from krm_function.kubernetes.workload import Workload
from krm_function.policy.initdata import read_policy_data
from krm_function.policy.rules import load_rules
from krm_function.policy.seal import seal
from krm_function.policy.settings import default_document
from krm_function.policy.settings import settings as policy_settings
from tests.policy import pods
from tests.policy.host import SANDBOX_ID, Agent, Host, Json
from tests.policy.pods import rego_document

IMAGE = "registry.example.com/shop/app:1@sha256:" + "a" * 64
OTHER = "registry.example.com/shop/app:1@sha256:" + "b" * 64
CREATE = "CreateContainerRequest"
ALL = pytest.mark.parametrize("profile", [CONTRAST, STRICT, KATA], ids=lambda profile: profile.name)
# strict seals no text of which a part is only known at run time
LOOSE = pytest.mark.parametrize("profile", [CONTRAST, KATA], ids=lambda profile: profile.name)
BOUND = pytest.mark.parametrize("profile", [CONTRAST, STRICT], ids=lambda profile: profile.name)


def _pod(profile: Profile, kind: str = "Deployment", metadata: Json | None = None, **container: Any) -> str:
    volumes = container.pop("volumes", [])
    spec = {"containers": [{"name": "app", "image": IMAGE, **container}], "volumes": volumes}
    return pods.sealed(pods.workload(spec, kind, metadata), profile=profile).rego


def _allows(rego: str, request: Json) -> bool:
    return Agent(rego).verdict(CREATE, request) is not False


def _edited(rego: str, change: Callable[[Json], object]) -> str:
    """The policy with other data, as nobody's generator makes them."""
    data = read_policy_data(rego)
    change(data)
    return rego_document(load_rules(CONTRAST if data["profile"] == "contrast-1.25" else STRICT), data)


def _sources(data: Json, index: int, source: str) -> None:
    data["containers"][index]["storages"][-1]["source"] = source


def _pulling(request: Json, source: str) -> Json:
    changed = copy.deepcopy(request)
    (pull,) = [one for one in changed["storages"] if one["driver"] == "image_guest_pull"]
    pull["source"] = source
    return changed


@BOUND
def test_the_word_pause_stands_for_the_image_of_the_sandbox_alone(profile: Profile) -> None:
    rego = _edited(_pod(profile), lambda data: _sources(data, 1, "pause"))
    assert not _allows(rego, _pulling(Host(rego).create("app"), "pause"))


@BOUND
def test_a_sandbox_has_no_image_with_a_digest(profile: Profile) -> None:
    rego = _edited(_pod(profile), lambda data: _sources(data, 0, IMAGE))
    sandbox = Host(rego).create("pause")
    assert not _allows(rego, _pulling(sandbox, IMAGE))
    assert not _allows(rego, _pulling(sandbox, "pause"))


@BOUND
def test_with_two_kinds_of_propagation_containerd_writes_the_wider(profile: Profile) -> None:
    volumes: list[Json] = [{"name": name, "emptyDir": {}} for name in "ab"]
    mounts = [
        {"name": "a", "mountPath": "/a", "mountPropagation": "Bidirectional"},
        {"name": "b", "mountPath": "/b", "mountPropagation": "HostToContainer"},
    ]
    rego = _pod(profile, volumeMounts=mounts, volumes=volumes)
    request = Host(rego).create("app")
    assert request["OCI"]["Linux"]["RootfsPropagation"] == "rshared"
    assert _allows(rego, request)
    request["OCI"]["Linux"]["RootfsPropagation"] = "rslave"
    assert not _allows(rego, request)


def _stored(profile: Profile) -> tuple[str, Json]:
    """Two ConfigMap storages of which an unescaped name would match the other as well, and the correct request."""
    document = default_document(profile)
    document["kata_config"]["enable_configmap_secret_storages"] = True
    document["volumes"]["configMap"]["mount_point"] = "^$(cpath)/(watchable/)?$(bundle-id)-[a-z0-9]{16}-"
    chosen, problems = policy_settings(document, profile)
    assert problems == ()
    mounts = [{"name": name, "mountPath": f"/etc/{path}"} for name, path in (("a", "a.b"), ("b", "a-b"))]
    volumes = [{"name": name, "configMap": {"name": "look"}} for name in "ab"]
    spec = {"containers": [{"name": "app", "image": IMAGE, "volumeMounts": mounts}], "volumes": volumes}
    subject = pods.workload(spec)
    made, findings = seal(subject, pods.images(subject), References([pods.CONFIG_MAP]), chosen, load_rules(profile))
    assert made is not None, findings
    return made.rego, Host(made.rego).create("app")


@BOUND
def test_two_storages_with_names_alike_start(profile: Profile) -> None:
    assert _allows(*_stored(profile))


def test_one_storage_does_not_stand_for_two() -> None:
    rego, request = _stored(CONTRAST)

    def unescape(data: Json) -> None:
        for storage in data["containers"][1]["storages"]:
            storage.update({key: storage[key].replace("\\", "") for key in ("source", "mount_point")})

    alike = _edited(rego, unescape)
    first, second = (one for one in request["storages"] if one["driver"] == "local")
    assert first["source"].endswith("a.b")
    request["storages"].remove(first)
    assert not _allows(alike, request), "the second fits both, and there is one"
    request["storages"].append({**copy.deepcopy(second), "source": "/proc"})
    assert not _allows(alike, request), "nor does another one make up for it"


@BOUND
def test_only_a_volume_on_a_block_device_comes_as_one(profile: Profile) -> None:
    volumes: list[Json] = [{"name": "v", "emptyDir": {"medium": "Memory"}}]
    rego = _pod(profile, volumeMounts=[{"name": "v", "mountPath": "/v"}], volumes=volumes)
    request = Host(rego).create("app")
    (memory,) = [one for one in request["storages"] if one["driver"] == "ephemeral"]
    assert _allows(rego, request)
    for driver, source in (("blk", "01/01"), ("scsi", "0:1")):
        memory.update(driver=driver, source=source)
        assert not _allows(rego, request)


@BOUND
def test_no_container_of_the_pod_has_the_id_of_the_sandbox(profile: Profile) -> None:
    rego = _pod(profile)
    assert not _allows(rego, Host(rego).create("app", SANDBOX_ID))
    assert _allows(rego, Host(rego).create("pause", SANDBOX_ID))


def test_two_volumes_are_two_devices() -> None:
    volumes: list[Json] = [{"name": name, "emptyDir": {}} for name in ("code", "up")]
    mounts = [{"name": "code", "mountPath": "/code", "readOnly": True}, {"name": "up", "mountPath": "/up"}]
    for profile, allowed in ((CONTRAST, True), (STRICT, False)):
        rego = _pod(profile, volumeMounts=mounts, volumes=volumes)
        request = Host(rego).create("app")
        assert _allows(rego, request)
        code, up = (one for one in request["OCI"]["Mounts"] if one["destination"] in {"/code", "/up"})
        assert code["source"] != up["source"]
        code["source"] = up["source"]
        assert _allows(rego, request) is allowed


@ALL
def test_a_plain_argument_is_no_pattern(profile: Profile) -> None:
    rego = _pod(profile, args=["a.b"])
    request = Host(rego).create("app")
    assert _allows(rego, request)
    request["OCI"]["Process"]["Args"][-1] = "axb"
    assert not _allows(rego, request)


PATTERNS: dict[str, Any] = {
    "args": ["--at=$(POD_NAME).$(POD_IP)"],
    "env": [
        {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "URL", "value": "http://$(POD_IP)"},
    ],
}


@LOOSE
def test_the_text_of_a_pattern_is_no_argument(profile: Profile) -> None:
    rego = _pod(profile, **PATTERNS)
    host = Host(rego)
    wanted = host.data["containers"][1]["OCI"]["Process"]["Args"][-1]
    assert wanted.startswith("$(text-pattern)")
    request = host.create("app")
    assert _allows(rego, request)
    name = request["OCI"]["Annotations"]["io.kubernetes.cri.sandbox-name"]
    for text in (wanted, wanted.replace("$(sandbox-name)", name), wanted.replace("$$", "$")):
        request["OCI"]["Process"]["Args"][-1] = text
        assert not _allows(rego, request), text


@LOOSE
def test_the_value_of_a_variable_is_no_variable(profile: Profile) -> None:
    rego = _pod(profile, **PATTERNS)
    request = Host(rego).create("app")
    env = request["OCI"]["Process"]["Env"]
    (url,) = [entry for entry in env if entry.startswith("URL=")]
    env.append(url.removeprefix("URL="))
    assert not _allows(rego, request)


# --- strict


@pytest.fixture(scope="module")
def strict() -> str:
    return _pod(STRICT)


def _annotated(request: Json, **notes: str) -> Json:
    changed = copy.deepcopy(request)
    changed["OCI"]["Annotations"] |= {key.replace("_", "."): value for key, value in notes.items()}
    return changed


def test_an_annotation_may_not_be_a_reference_or_a_directory_but_for_the_two_that_are(strict: str) -> None:
    request = Host(strict).create("app")
    assert _allows(strict, request)
    assert not _allows(strict, _annotated(request, example_com=IMAGE))
    directory = request["OCI"]["Annotations"]["io.katacontainers.pkg.oci.bundle_path"]
    assert not _allows(strict, _annotated(request, example_com=directory))


@pytest.mark.parametrize("name", [OTHER, f"\n{IMAGE}", f"{IMAGE}\n", f"a b@{IMAGE.partition('@')[2]}", "app:1", ""])
def test_the_name_of_the_image_has_the_digest_of_the_image(strict: str, name: str) -> None:
    request = Host(strict).create("app")
    request["OCI"]["Annotations"]["io.kubernetes.cri.image-name"] = name
    assert not _allows(strict, request)


def test_text_that_does_not_begin_as_a_pattern_is_none() -> None:
    volumes = [{"name": "v", "hostPath": {"path": "/dev/a.b"}}]
    mounts = [{"name": "v", "mountPath": "/dev/a.b"}]
    for profile, allowed in ((CONTRAST, True), (STRICT, False)):
        rego = _pod(profile, volumeMounts=mounts, volumes=volumes)
        request = Host(rego).create("app")
        assert _allows(rego, request)
        (mount,) = [one for one in request["OCI"]["Mounts"] if one["destination"] == "/dev/a.b"]
        mount["source"] = "/dev/axb"
        assert _allows(rego, request) is allowed


@pytest.mark.parametrize("name", ["a/b", "../x", "a b", "A", "-a", "a|b", "a\n", ""])
def test_a_name_that_the_policy_does_not_know_is_a_name_of_kubernetes(name: str) -> None:
    rego = _pod(STRICT, "Pod", {"namespace": "shop"})
    assert _allows(rego, Host(rego, "any.name-1").create("app"))
    assert not _allows(rego, Host(rego, name).create("app"))


@pytest.mark.parametrize("namespace", ["a/b", "a b", "A", "-a", "a.b", "a|b", "a\n", ""])
def test_a_namespace_that_the_policy_does_not_know_is_a_name_of_kubernetes(namespace: str) -> None:
    rego = _pod(STRICT, "Pod", {"name": "web"})
    assert _allows(rego, Host(rego, "web", "any-1").create("app"))
    assert not _allows(rego, Host(rego, "web", namespace).create("app"))


def test_an_argument_is_never_a_token_of_the_policy() -> None:
    node = {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    for profile in (CONTRAST, STRICT):
        rego = _pod(profile, args=["$(NODE)"], env=[node])
        request = Host(rego).create("app")
        assert _allows(rego, request)
        request["OCI"]["Process"]["Args"][-1] = "$(node-name)"
        assert not _allows(rego, request)


def _shared(subject: Workload, profile: Profile) -> str:
    document = default_document(profile)
    document["cluster_config"]["emptydir_type"] = "shared-fs"
    chosen, problems = policy_settings(document, profile)
    assert problems == ()
    made, findings = seal(subject, pods.images(subject), References(), chosen, load_rules(profile))
    assert made is not None, findings
    return made.rego


def test_a_place_has_one_of_its_two_mounts_and_not_both() -> None:
    spec = {
        "containers": [{"name": "app", "image": IMAGE, "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
        "volumes": [{"name": "v", "emptyDir": {}}],
    }
    for profile, allowed in ((CONTRAST, True), (STRICT, False)):
        rego = _shared(pods.workload(spec), profile)
        request = Host(rego).create("app")
        assert _allows(rego, request)
        root, bundle = "/run/kata-containers/shared/containers", request["container_id"]
        sources = [f"{root}/sandbox-0123456789abcdef-v", f"{root}/{bundle}-0123456789abcdef-v"]
        (present,) = [one for one in request["OCI"]["Mounts"] if one["destination"] == "/v"]
        (missing,) = [source for source in sources if source != present["source"]]
        request["OCI"]["Mounts"].append({**copy.deepcopy(present), "source": missing})
        assert _allows(rego, request) is allowed
