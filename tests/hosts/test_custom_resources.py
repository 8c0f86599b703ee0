"""LeaderWorkerSet, RayCluster and Rollout in each host's real tool give what `generate` makes of the same.

The input is examples/custom-resources. kustomize does not know where the pods of custom resources are: what that means
for each of its transformers that run before the function is here, too.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.documents import by_name, without_original
from tests.hosts.hosts import (
    HOSTS,
    Deployment,
    make_chart,
    make_kpt,
    make_kustomize,
    put,
    run_helm3,
    run_helm4,
    run_kpt,
    run_kustomize,
)
from tests.hosts.running import EXAMPLES, Machine, snapshot
from tests.wording import wording

EXAMPLE = EXAMPLES / "custom-resources"
DEPLOYMENT = Deployment(
    *({path.name: path.read_text() for path in sorted((EXAMPLE / name).iterdir())} for name in ("resources", "config"))
)
OTHERS = sorted(set(HOSTS) - {"files"})
WORKLOADS = ("LeaderWorkerSet/shop/vllm", "RayCluster/shop/assistant", "Rollout/shop/landing")
OWN = ("Kptfile/", "ContrastGenerate/", "ContrastRelease/", "ImageLock/")
DIGEST = "sha256:0c8fc3ba8049e727b07bad540a4fc3911b04203de32af519b7dc37680f25370f"
LANDING = f"registry.example.com/shop/landing:5.0.3@{DIGEST}"


@pytest.fixture(name="outputs", scope="module")
def the_outputs(krm_machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    directory = tmp_path_factory.mktemp("custom")
    return {name: host.render(krm_machine, directory / name, DEPLOYMENT).ok() for name, host in HOSTS.items()}


def specs(value: Any) -> Iterator[Any]:
    """Every pod spec in an object."""
    if isinstance(value, dict):
        if "containers" in value:
            yield value
        else:
            for part in value.values():
                yield from specs(part)
    elif isinstance(value, list):
        for part in value:
            yield from specs(part)


@pytest.mark.parametrize("host", OTHERS)
def test_a_host_gives_the_objects_that_files_give(outputs: dict[str, bytes], host: str) -> None:
    found = without_original(by_name(outputs[host]))
    found = {name: value for name, value in found.items() if not name.startswith(OWN)}
    wanted = without_original(by_name(outputs["files"]))
    assert found == wanted
    assert set(WORKLOADS) <= found.keys()
    assert [len(list(specs(found[name]))) for name in WORKLOADS] == [2, 2, 1]


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_the_manifest_is_the_one_of_the_example_and_check_passes(
    krm_machine: Machine, outputs: dict[str, bytes], host: str
) -> None:
    made = krm_machine.krm("manifest", stdin=outputs[host]).ok()
    assert made == (EXAMPLE / "expected/manifest.json").read_bytes()
    ran = krm_machine.krm("check", stdin=outputs[host])
    assert ran.ok() == b""
    assert "checked 6 Contrast workloads\n" in ran.err


@pytest.mark.parametrize("host", OTHERS)
def test_what_a_host_made_renders_to_itself(krm_machine: Machine, outputs: dict[str, bytes], host: str) -> None:
    options = [part for name in DEPLOYMENT.config for part in ("--config", str(EXAMPLE / "config" / name))]
    kept = [one for name, one in by_name(outputs[host]).items() if not name.startswith(OWN)]
    stream = "\n---\n".join(map(json.dumps, kept)).encode()
    again = krm_machine.krm("generate", "-", *options, stdin=stream).ok()
    assert without_original(by_name(again)) == without_original(by_name(stream))


def test_a_second_run_of_a_kpt_pipeline_changes_nothing(krm_machine: Machine, tmp_path: Path) -> None:
    package = make_kpt(krm_machine, tmp_path, DEPLOYMENT)
    krm_machine.run(["kpt", "fn", "render", "--allow-exec"], package).ok()
    once = snapshot(package)
    assert any(b"cc_init_data" in data for data in once.values())
    krm_machine.run(["kpt", "fn", "render", "--allow-exec"], package).ok()
    assert snapshot(package) == once
    assert run_kpt(krm_machine, package).code == 0


HOOK = """apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: warm-up
  namespace: shop
  annotations:
    helm.sh/hook: post-install
spec:
  replicatedJobs:
    - name: main
      template:
        spec:
          template:
            spec:
              runtimeClassName: contrast-cc
              restartPolicy: Never
              containers:
                - name: main
                  image: IMAGE
                  command: [/bin/landing, --once]
                  securityContext: {runAsUser: 65532, runAsGroup: 65532}
                  resources: {limits: {memory: 128Mi}}
""".replace("IMAGE", LANDING)
WITH_HOOK = DEPLOYMENT._replace(resources={**DEPLOYMENT.resources, "warm-up.yaml": HOOK})


def test_helm_4_seals_a_custom_resource_that_is_a_hook(krm_machine: Machine, tmp_path: Path) -> None:
    out = run_helm4(krm_machine, make_chart(krm_machine, tmp_path, WITH_HOOK)).ok()
    assert b"contrast-initializer" in json.dumps(by_name(out)["JobSet/shop/warm-up"]).encode()
    assert "checked 7 Contrast workloads\n" in krm_machine.krm("check", stdin=out).err


def test_of_helm_3_check_names_a_hook_that_is_a_custom_resource(krm_machine: Machine, tmp_path: Path) -> None:
    out = run_helm3(krm_machine, make_chart(krm_machine, tmp_path, WITH_HOOK)).ok()
    assert b"contrast-initializer" not in json.dumps(by_name(out)["JobSet/shop/warm-up"]).encode()
    ran = krm_machine.krm("check", stdin=out)
    assert ran.code == 1
    assert "CC1108" in ran.err
    assert "warm-up" in ran.err


# --- kustomize's own transformers, before the function ---

BASE = """namePrefix: prod-
namespace: live
commonAnnotations: {note: kept}
labels:
  - pairs: {team: blue}
    includeTemplates: true
images:
  - name: registry.example.com/shop/unpinned
    newName: registry.example.com/shop/landing
    newTag: 5.0.3
    digest: DIGEST
resources: [landing.yaml, assistant.yaml, vllm.yaml]
""".replace("DIGEST", DIGEST)
GENERATED = "configMapGenerator:\n  - {name: settings, literals: [MODE=fast]}\n"
REFERENCES = """nameReference:
  - kind: ConfigMap
    version: v1
    fieldSpecs: [{kind: Rollout, path: spec/template/spec/containers/envFrom/configMapRef/name}]
"""


def built(machine: Machine, directory: Path, base: str, landing: str, **more: str) -> tuple[bytes, str]:
    """The three kinds in a base with kustomize's transformers, below the function: the output, and what was said."""
    resources = {**DEPLOYMENT.resources, "landing.yaml": landing}
    pods = {name: resources.pop(name) for name in ("landing.yaml", "assistant.yaml", "vllm.yaml")}
    put(directory / "base", {"kustomization.yaml": base, **pods, **more})
    resources["coordinator.yaml"] = resources["coordinator.yaml"].replace("namespace: shop", "namespace: live")
    outer = make_kustomize(machine, directory / "outer", DEPLOYMENT._replace(resources=resources))
    text = (outer / "kustomization.yaml").read_text()
    (outer / "kustomization.yaml").write_text(text.replace("resources:\n", "resources:\n  - ../base\n"))
    ran = run_kustomize(machine, outer)
    return ran.ok(), ran.err


def reading(landing: str) -> str:
    """The Rollout with variables of a ConfigMap."""
    return landing.replace(
        "          command:", "          envFrom: [{configMapRef: {name: settings}}]\n          command:", 1
    )


def policy(machine: Machine, output: bytes, address: str) -> str:
    return machine.krm("policy", "show", address, "-o", "data", stdin=output).ok().decode()


def test_images_prefix_and_namespace_of_kustomize_are_in_the_policies(krm_machine: Machine, tmp_path: Path) -> None:
    landing = DEPLOYMENT.resources["landing.yaml"].replace(LANDING, "registry.example.com/shop/unpinned")
    output, said = built(krm_machine, tmp_path, BASE, landing)
    assert "CC0696" not in said
    assert DIGEST in policy(krm_machine, output, "Rollout/live/prod-landing")
    worker = policy(krm_machine, output, "RayCluster/live/prod-assistant#worker-gpu")
    assert "prod-assistant-head-svc.live.svc.cluster.local" in worker
    assert "^prod-assistant-gpu-worker-" in worker
    assert "^prod-vllm-[0-9]{1,10}$" in policy(krm_machine, output, "LeaderWorkerSet/live/prod-vllm#leader")
    assert "shop.svc" not in worker
    assert krm_machine.krm("check", stdin=output).ok() == b""


def test_labels_and_annotations_of_kustomize_do_not_reach_the_pods(krm_machine: Machine, tmp_path: Path) -> None:
    """So neither is in a policy; kustomize knows no pod template in these kinds."""
    output, _ = built(krm_machine, tmp_path, BASE, DEPLOYMENT.resources["landing.yaml"])
    (name,) = (name for name in by_name(output) if name.startswith("Rollout/"))
    rollout = by_name(output)[name]
    assert (rollout["metadata"]["labels"], rollout["metadata"]["annotations"]["note"]) == ({"team": "blue"}, "kept")
    inside = rollout["spec"]["template"]["metadata"]
    assert inside["labels"] == {"app": "landing"}
    assert "note" not in inside["annotations"]


def test_a_name_that_kustomize_leaves_behind_is_named(krm_machine: Machine, tmp_path: Path) -> None:
    output, said = built(krm_machine, tmp_path, BASE + GENERATED, reading(DEPLOYMENT.resources["landing.yaml"]))
    assert "CC0696 live/prod-landing spec.template.spec.containers[0].envFrom[0].configMapRef.name" in said
    (container,) = by_name(output)["Rollout/live/prod-landing"]["spec"]["template"]["spec"]["containers"]
    assert container["envFrom"] == [{"configMapRef": {"name": "settings"}}]
    assert not [name for name in by_name(output) if name == "ConfigMap/live/settings"]


def test_what_the_finding_says_makes_the_name_right(krm_machine: Machine, tmp_path: Path) -> None:
    base = BASE + GENERATED + "configurations: [references.yaml]\n"
    landing = reading(DEPLOYMENT.resources["landing.yaml"])
    output, _ = built(krm_machine, tmp_path, base, landing, **{"references.yaml": REFERENCES})
    (settings,) = (name for name in by_name(output) if name.startswith("ConfigMap/live/prod-settings-"))
    (container,) = by_name(output)["Rollout/live/prod-landing"]["spec"]["template"]["spec"]["containers"]
    assert container["envFrom"] == [{"configMapRef": {"name": settings.rpartition("/")[2]}}]
    assert '"MODE=fast"' in policy(krm_machine, output, "Rollout/live/prod-landing")
    assert krm_machine.krm("check", stdin=output).ok() == b""


@pytest.mark.parametrize("turned_off", [True, False])
def test_a_name_that_stays_is_none_of_it(krm_machine: Machine, tmp_path: Path, *, turned_off: bool) -> None:
    base = (BASE + GENERATED).replace("namePrefix: prod-\n", "")
    base += "generatorOptions: {disableNameSuffixHash: true}\n" if turned_off else ""
    _, said = built(krm_machine, tmp_path, base, reading(DEPLOYMENT.resources["landing.yaml"]))
    assert ("CC0696" in said) is not turned_off


def test_a_prefix_behind_the_function_is_drift(krm_machine: Machine, tmp_path: Path) -> None:
    make_kustomize(krm_machine, tmp_path / "inner", DEPLOYMENT)
    put(tmp_path / "outer", {"kustomization.yaml": "namePrefix: late-\nresources: [../inner]\n"})
    ran = krm_machine.krm("check", stdin=run_kustomize(krm_machine, tmp_path / "outer").ok())
    assert ran.code == 1
    assert wording("CC1103", field="metadata.name") in ran.err
    for name in ("vllm#leader", "vllm#worker", "assistant#head", "assistant#worker-gpu", "landing"):
        assert f": shop/late-{name} spec." in ran.err


def test_classes_are_made_for_the_platforms_of_custom_resources(krm_machine: Machine, tmp_path: Path) -> None:
    resources = {name: text for name, text in DEPLOYMENT.resources.items() if name != "runtime-classes.yaml"}
    config = {**DEPLOYMENT.config, "contrast.yaml": emitted(DEPLOYMENT.config["contrast.yaml"])}
    deployment = Deployment(resources, config)
    found = by_name(HOSTS["helm3"].render(krm_machine, tmp_path, deployment).ok())
    assert [name for name in found if name.startswith("RuntimeClass/")] == [
        "RuntimeClass//contrast-cc-metal-qemu-snp-18a1a065",
        "RuntimeClass//contrast-cc-metal-qemu-snp-gpu-18a1a065",
    ]


def emitted(text: str) -> str:
    assert "runtimeClasses: check" in text
    return text.replace("runtimeClasses: check", "runtimeClasses: emit")
