"""kustomize: names it has not made yet are followed, and what it keeps in annotations comes back to it."""

from pathlib import Path
from typing import Any

import pytest

from tests.hosts.documents import by_name, initdata, load, name_of
from tests.hosts.hosts import HOSTS, emitting, make_kustomize, make_legacy, put, quickstart, run_kustomize, run_legacy
from tests.hosts.running import Machine, Ran, copied

RESOURCES = quickstart("coordinator.yaml", "web.yaml", "settings.yaml").resources
BASE = """apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - web.yaml
configMapGenerator:
  - name: shop-settings
    namespace: shop
    literals: [CURRENCY=EUR, LOG_LEVEL=debug]
secretGenerator:
  - name: shop-tokens
    namespace: shop
    literals: [ANALYTICS_TOKEN=made-up]
"""
OVERLAY = """apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namePrefix: prod-
nameSuffix: -eu
namespace: shop
resources:
  - ../base
configMapGenerator:
  - name: shop-settings
    namespace: shop
    behavior: merge
    literals: [LOG_LEVEL=warn]
"""
OUTER = """apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - ../overlay
  - coordinator.yaml
  - release.yaml
  - images.yaml
transformers:
  - contrast.yaml
"""
SANS = "\n    # Names that clients use"


def build(machine: Machine, directory: Path, host: str) -> Ran:
    """The web shop with generated configuration, a prefix and a suffix, below the function or the plugin."""
    put(directory / "base", {"kustomization.yaml": BASE, "web.yaml": RESOURCES["web.yaml"]})
    put(directory / "overlay", {"kustomization.yaml": OVERLAY})
    deployment = quickstart("coordinator.yaml")
    config = {**deployment.config, "contrast.yaml": deployment.config["contrast.yaml"].partition(SANS)[0] + "\n"}
    make, run = (make_kustomize, run_kustomize) if host == "kustomize" else (make_legacy, run_legacy)
    outer = make(machine, directory / "outer", deployment._replace(config=config))
    put(outer, {"kustomization.yaml": OUTER})
    return run(machine, outer)


@pytest.fixture(scope="module", params=["kustomize", "legacy"])
def built(krm_machine: Machine, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> bytes:
    return build(krm_machine, tmp_path_factory.mktemp("built"), request.param).ok()


def environment(container: Any) -> dict[str, Any]:
    return {entry["name"]: entry for entry in container["env"]}


def test_generated_names_are_followed_and_their_values_sealed(krm_machine: Machine, built: bytes) -> None:
    policy = initdata(built)["Deployment/shop/prod-web-eu"]
    for variable in ("CURRENCY=EUR", "LOG_LEVEL=warn", "ANALYTICS_TOKEN=made-up"):
        assert f'"{variable}"' in policy
    assert "LOG_LEVEL=debug" not in policy
    assert "shop-settings" not in policy
    assert krm_machine.krm("check", stdin=built).err.startswith("checked 2 Contrast workloads\n")


def test_references_get_the_final_names_because_bookkeeping_comes_back(built: bytes) -> None:
    objects = by_name(built)
    (settings,) = (name.split("/")[2] for name in objects if name.startswith("ConfigMap/shop/prod-shop-settings-eu-"))
    (tokens,) = (name.split("/")[2] for name in objects if name.startswith("Secret/shop/prod-shop-tokens-eu-"))
    (web,) = (
        one
        for one in objects["Deployment/shop/prod-web-eu"]["spec"]["template"]["spec"]["containers"]
        if one["name"] == "web"
    )
    assert web["envFrom"] == [{"configMapRef": {"name": settings}}]
    token = environment(web)["ANALYTICS_TOKEN"]["valueFrom"]["secretKeyRef"]
    assert token == {"key": "ANALYTICS_TOKEN", "name": tokens}


def test_no_bookkeeping_is_left_in_the_output(built: bytes) -> None:
    for prefix in (b"internal.config.kubernetes.io", b"kustomize.config.k8s.io", b"config.kubernetes.io/"):
        assert prefix not in built


def test_the_function_gives_back_every_annotation_it_got(
    krm_machine: Machine, recording_machine: Machine, tmp_path: Path
) -> None:
    build(recording_machine, tmp_path, "kustomize").ok()
    (before,) = load((recording_machine.home / "seen").read_bytes())
    (after,) = load(krm_machine.krm(stdin=(recording_machine.home / "seen").read_bytes()).ok())
    assert after["functionConfig"] == before["functionConfig"]
    for had, has in zip(before["items"], after["items"], strict=False):
        assert name_of(had) == name_of(has)
        assert had["metadata"]["annotations"].items() <= has["metadata"]["annotations"].items()
    added = after["items"][len(before["items"]) :]
    assert [item["kind"] for item in added] == ["ConfigMap"]
    # only our own annotations: kustomize would leave any other in its output (docs/facts/kustomize.md#answers)
    for item in added:
        assert list(item["metadata"]["annotations"]) == ["contrast-krm.dev/emitted"]


def test_objects_stay_in_the_order_of_the_resources_if_kustomize_is_asked_for_it(
    krm_machine: Machine, recording_machine: Machine, tmp_path: Path
) -> None:
    fifo = "sortOptions: {order: fifo}\n"
    plain = make_kustomize(recording_machine, tmp_path / "plain", emitting(), fifo)
    ours = make_kustomize(krm_machine, tmp_path / "ours", emitting(), fifo)
    before = list(by_name(run_kustomize(recording_machine, plain).ok()))
    after = list(by_name(run_kustomize(krm_machine, ours).ok()))
    assert after[: len(before)] == before
    assert [name.split("/")[0] for name in after[len(before) :]] == ["RuntimeClass"] * 3 + ["ConfigMap"]


def test_configuration_among_the_resources_is_dropped(krm_machine: Machine, tmp_path: Path) -> None:
    kinds = {value["kind"] for value in load(HOSTS["kustomize"].render(krm_machine, tmp_path, quickstart()).ok())}
    assert not kinds & {"ContrastGenerate", "ContrastRelease", "ImageLock"}


def test_two_overlays_render_apart(krm_machine: Machine, tmp_path: Path) -> None:
    work = copied("kustomize", tmp_path)
    flags = ["--enable-alpha-plugins", "--enable-exec"]
    first = krm_machine.run(["kustomize", "build", *flags, "confidential"], work).ok()
    second = krm_machine.run(["kustomize", "build", *flags, str(work / "confidential")], tmp_path).ok()
    assert first == second
