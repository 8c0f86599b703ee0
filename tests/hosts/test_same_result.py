"""Five hosts, one result: what a host keeps in annotations for itself enters no pod, no policy and no manifest."""

from collections.abc import Mapping
from typing import Protocol

import pytest

from krm_function.kubernetes.workload import INITDATA
from tests.hosts.documents import annotations, by_name, digests, emitted, initdata, pod_templates, without_original
from tests.hosts.hosts import HOSTS, WEB, Deployment, make_kustomize, make_legacy, quickstart, run_kustomize, run_legacy
from tests.hosts.running import Machine

OTHERS = sorted(set(HOSTS) - {"files"})
POD = """apiVersion: v1
kind: Pod
metadata:
  name: once
  namespace: shop
  labels:
    app: once
  annotations:
    example.com/note: mine
spec:
  runtimeClassName: contrast-cc-metal-qemu-snp
  restartPolicy: Never
  containers:
    - name: once
      image: IMAGE
      securityContext:
        runAsUser: 65532
        runAsGroup: 65532
      resources:
        limits:
          memory: 128Mi
""".replace("IMAGE", WEB)
PROVENANCE = "buildMetadata: [originAnnotations, transformerAnnotations, managedByLabel]\n"
ALONE = Deployment(
    {**quickstart("coordinator.yaml", "namespace.yaml").resources, "once.yaml": POD},
    {
        name: text.partition("\n    # Names that clients use")[0] + "\n"
        for name, text in quickstart("coordinator.yaml").config.items()
    },
)


class Outputs(Protocol):
    def __getitem__(self, host: str) -> bytes: ...


def manifest(machine: Machine, rendered: bytes) -> bytes:
    return machine.krm("manifest", stdin=rendered).ok()


@pytest.mark.parametrize("host", OTHERS)
def test_a_host_gives_the_pod_templates_that_files_give(rendered: Outputs, host: str) -> None:
    templates = pod_templates(rendered[host])
    assert len(initdata(rendered[host])) == 6
    assert templates == pod_templates(rendered["files"])


@pytest.mark.parametrize("host", OTHERS)
def test_a_host_gives_the_objects_that_files_give(rendered: Outputs, host: str) -> None:
    found = without_original(by_name(rendered[host]))
    if host == "kpt":  # a package holds its configuration and its Kptfile
        own = ("Kptfile/", "ContrastGenerate/", "ContrastRelease/", "ImageLock/")
        found = {name: value for name, value in found.items() if not name.startswith(own)}
    assert found == without_original(by_name(rendered["files"]))


@pytest.mark.parametrize("host", OTHERS)
def test_a_host_gives_the_policy_digests_that_files_give(rendered: Outputs, host: str) -> None:
    assert digests(rendered[host]) == digests(rendered["files"])


@pytest.mark.parametrize("host", OTHERS)
def test_a_host_gives_the_bytes_of_the_manifest_that_files_give(
    krm_machine: Machine, rendered: Outputs, host: str
) -> None:
    made = manifest(krm_machine, rendered[host])
    assert made == manifest(krm_machine, rendered["files"])
    assert all(digest.encode() in made for digest in digests(rendered[host]).values())


@pytest.mark.parametrize("host", OTHERS)
def test_a_host_adds_the_objects_that_files_add(with_classes: Outputs, host: str) -> None:
    mine, of_files = (
        with_classes[one].replace(b"emitted: before-separator", b'emitted: "true"') for one in (host, "files")
    )
    assert emitted(mine) == emitted(of_files)
    assert len(emitted(mine)) == 4  # three RuntimeClasses, one ConfigMap


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_the_result_of_every_host_passes_check(krm_machine: Machine, rendered: Outputs, host: str) -> None:
    ran = krm_machine.krm("check", stdin=rendered[host])
    assert ran.ok() == b""
    assert ran.err.startswith("checked 6 Contrast workloads\n")


def pod_annotations(output: bytes) -> Mapping[str, str]:
    return annotations(pod_templates(output)["Pod/shop/once"])


@pytest.fixture(scope="module")
def alone(krm_machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    directory = tmp_path_factory.mktemp("alone")
    outputs = {name: host.render(krm_machine, directory / name, ALONE).ok() for name, host in HOSTS.items()}
    made = make_kustomize(krm_machine, directory / "provenance", ALONE, PROVENANCE)
    outputs["kustomize with provenance"] = run_kustomize(krm_machine, made).ok()
    made = make_legacy(krm_machine, directory / "legacy-provenance", ALONE, PROVENANCE)
    outputs["legacy with provenance"] = run_legacy(krm_machine, made).ok()
    return outputs


@pytest.mark.slow
@pytest.mark.parametrize("host", [*OTHERS, "kustomize with provenance", "legacy with provenance"])
def test_the_policy_of_a_bare_pod_knows_nothing_of_the_hosts_own_annotations(
    krm_machine: Machine, alone: dict[str, bytes], host: str
) -> None:
    assert initdata(alone[host]) == initdata(alone["files"])
    assert len(initdata(alone[host])) == 2
    assert manifest(krm_machine, alone[host]) == manifest(krm_machine, alone["files"])


@pytest.mark.parametrize("host", HOSTS)
def test_a_bare_pod_keeps_its_own_annotations_beside_ours(alone: dict[str, bytes], host: str) -> None:
    found = pod_annotations(alone[host])
    assert found["example.com/note"] == "mine"
    assert found[INITDATA] == pod_annotations(alone["files"])[INITDATA]
    assert set(found) == set(pod_annotations(alone["files"]))


def test_kustomize_says_where_a_pod_comes_from_and_check_still_passes(
    krm_machine: Machine, alone: dict[str, bytes]
) -> None:
    output = alone["kustomize with provenance"]
    assert pod_annotations(output)["config.kubernetes.io/origin"] == "path: once.yaml\n"
    assert krm_machine.krm("check", stdin=output).ok() == b""
