import re
from typing import Any

import pytest

from krm_function.policy.pod_metadata import escape_regex, is_bookkeeping, pod_metadata
from tests.policy import pods

SPEC = {"containers": [{"name": "app", "image": "app:1"}]}
NAME = "io.kubernetes.cri.sandbox-name"
ABC = "[bcdfghjklmnpqrstvwxz2456789]{5}"
HASH = "[4-9bcdf]{1,10}"


@pytest.mark.parametrize(
    ("kind", "pattern", "name"),
    [
        ("Pod", "^web$", "web"),
        ("ReplicaSet", f"^web-{ABC}$", "web-x2v9k"),
        ("ReplicationController", f"^web-{ABC}$", "web-x2v9k"),
        ("DaemonSet", f"^web-{ABC}$", "web-x2v9k"),
        ("Deployment", f"^web-{HASH}-{ABC}$", "web-7c5ddbdf54-x2v9k"),
        ("StatefulSet", "^web-[0-9]{1,10}$", "web-0"),
        ("Job", f"^web-{ABC}$", "web-x2v9k"),
        ("CronJob", f"^web-[0-9]{{8}}-{ABC}$", "web-28000000-x2v9k"),
    ],
)
def test_pod_names(kind: str, pattern: str, name: str) -> None:
    for container in pods.sealed(pods.workload(SPEC, kind)).data["containers"]:
        assert container["OCI"]["Annotations"][NAME] == pattern
    assert re.search(pattern, name)


def test_a_dot_of_a_name_is_a_dot() -> None:
    made = pods.container(pods.workload(SPEC, "Pod", {"generateName": "a.b-"}), 0)
    assert made["OCI"]["Annotations"][NAME] == rf"^a\.b-{ABC}$"
    made = pods.container(pods.workload(SPEC, "Pod", {"name": "a.b"}), 0)
    assert made["OCI"]["Annotations"][NAME] == r"^a\.b$"


def test_without_a_name_there_is_no_pattern() -> None:
    assert NAME not in pods.container(pods.workload(SPEC, "Pod", {"namespace": "x"}), 0)["OCI"]["Annotations"]


@pytest.mark.parametrize("name", [".*", "a|b", "web$", "-web", "we b"])
def test_a_name_that_is_a_regex_is_refused(name: str) -> None:
    assert pods.refused(pods.workload(SPEC, metadata={"name": name})) == [("CC0604", "metadata.name")]


def test_escape_is_rust_s() -> None:
    assert escape_regex("\\.+*?()|[]{}^$#&-~ a_/") == r"\\\.\+\*\?\(\)\|\[\]\{\}\^\$\#\&\-\~ a_/"


@pytest.mark.parametrize(
    "key",
    [
        "config.kubernetes.io/index",
        "config.kubernetes.io/path",
        "config.kubernetes.io/origin",
        "config.kubernetes.io/local-config",
        "internal.config.kubernetes.io/path",
        "internal.config.kubernetes.io/previousNames",
        "internal.config.k8s.io/kpt-resource-id",
        "config.k8s.io/id",
        "kustomize.config.k8s.io/id",
        "internal.kpt.dev/upstream-identifier",
        "alpha.config.kubernetes.io/transformations",
        "postrenderer.helm.sh/postrender-filename",
        "contrast-krm.dev/original",
        "kubectl.kubernetes.io/last-applied-configuration",
        "kubectl.kubernetes.io/restartedAt",
        "kubernetes.io/limit-ranger",
    ],
)
def test_bookkeeping_changes_no_digest(key: str) -> None:
    assert is_bookkeeping(key)
    plain = pods.workload(SPEC, "Pod", template_metadata={"annotations": {"a": "b"}})
    carried = pods.workload(SPEC, "Pod", template_metadata={"annotations": {"a": "b", key: "x"}})
    assert pods.sealed(plain).toml == pods.sealed(carried).toml


@pytest.mark.parametrize(
    "key",
    [
        "example.com/a",
        "kubectl.kubernetes.io/default-container",
        "meta.helm.sh/release-name",
        "contrast.edgeless.systems/secure-pv",
    ],
)
def test_other_annotations_are_in_every_container(key: str) -> None:
    assert not is_bookkeeping(key)
    made = pods.sealed(pods.workload(SPEC, template_metadata={"annotations": {key: "x"}}))
    assert all(container["OCI"]["Annotations"][key] == "x" for container in made.data["containers"])


@pytest.mark.parametrize(
    "key", ["io.kubernetes.cri.sandbox-name", "io.katacontainers.pkg.oci.container_type", "nerdctl/network-namespace"]
)
def test_what_the_runtime_writes_may_not_be_given(key: str) -> None:
    found = pods.refused(pods.workload(SPEC, template_metadata={"annotations": {key: "x"}}))
    assert [code for code, _ in found] == ["CC0604"]


def test_an_annotation_is_text() -> None:
    found = pods.refused(pods.workload(SPEC, template_metadata={"annotations": {"a": 1}}))
    assert found == [("CC0207", "spec.template.metadata.annotations.a")]


@pytest.mark.parametrize("metadata", [{"name": "web", "namespace": "shop"}, {"name": "web"}])
def test_namespaces(metadata: dict[str, Any]) -> None:
    for container in pods.sealed(pods.workload(SPEC, metadata=metadata)).data["containers"]:
        expected = metadata.get("namespace", "")
        assert container["OCI"]["Annotations"]["io.kubernetes.cri.sandbox-namespace"] == expected


def test_service_accounts() -> None:
    assert pod_metadata(pods.workload(SPEC))[0].service_account == "default"
    assert pod_metadata(pods.workload({**SPEC, "serviceAccount": "old"}))[0].service_account == "old"
    assert (
        pod_metadata(pods.workload({**SPEC, "serviceAccount": "old", "serviceAccountName": "new"}))[0].service_account
        == "new"
    )


KUBECTL = "metadata.annotations['kubectl.kubernetes.io/restartedAt']"


def reading(field: str, source: str) -> dict[str, Any]:
    """A pod spec with a volume of one field of the pod."""
    items = {"items": [{"path": "a", "fieldRef": {"fieldPath": field}}]}
    volume = {"name": "v", source: items if source == "downwardAPI" else {"sources": [{"downwardAPI": items}]}}
    container = {**SPEC["containers"][0], "volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    return {**SPEC, "containers": [container], "volumes": [volume]}


@pytest.mark.parametrize("source", ["downwardAPI", "projected"])
def test_a_volume_of_an_annotation_that_kubectl_changes_is_refused(source: str) -> None:
    sealed, findings = pods.sealing(pods.workload(reading(KUBECTL, source)))
    assert sealed is None
    assert [found.code for found in findings] == ["CC0601"]
    assert KUBECTL in findings[0].message


@pytest.mark.parametrize("source", ["downwardAPI", "projected"])
@pytest.mark.parametrize(
    ("key", "refused"),
    [
        ("kubectl.kubernetes.io/last-applied-configuration", True),
        ("kubectl.kubernetes.io/restartedAt", True),
        ("kubernetes.io/limit-ranger", True),
        ("example.com/a", False),
        ("contrast-krm.dev/original", False),  # which a render gives to each bare Pod
    ],
)
def test_a_volume_of_all_annotations_is_refused_where_kubectl_has_added_one(
    key: str, source: str, *, refused: bool
) -> None:
    given = pods.workload(reading("metadata.annotations", source), "Pod", template_metadata={"annotations": {key: "x"}})
    sealed, findings = pods.sealing(given)
    assert (sealed is None, [found.code for found in findings]) == (refused, ["CC0601" if refused else "CC0606"])
    labels = pods.workload(reading("metadata.labels", source), "Pod", template_metadata={"annotations": {key: "x"}})
    assert pods.sealing(labels)[0] is not None


def test_a_variable_of_an_annotation_that_kubectl_changes_is_refused() -> None:
    env = [{"name": "AT", "valueFrom": {"fieldRef": {"fieldPath": KUBECTL}}}]
    sealed, findings = pods.sealing(pods.workload({**SPEC, "containers": [{**SPEC["containers"][0], "env": env}]}))
    assert sealed is None
    assert KUBECTL in findings[0].message
