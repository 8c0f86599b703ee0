"""Workloads that name no namespace, in each real host: what is deployed is what was sealed."""

import json
from pathlib import Path
from typing import Any, Protocol

import pytest

from krm_function.contrast.platforms import is_contrast_name
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import dig
from tests.hosts.api_server import api_server
from tests.hosts.documents import by_name, initdata, load, name_of
from tests.hosts.hosts import (
    COMMAND,
    CONFIG,
    HOSTS,
    POST_RENDER,
    Deployment,
    make_chart,
    make_files,
    make_kustomize,
    put,
    quickstart,
    run_kustomize,
)
from tests.hosts.running import Machine
from tests.wording import wording

GIVEN = ("--post-renderer-args", "--namespace", "--post-renderer-args", "shop")


class Outputs(Protocol):
    def __getitem__(self, host: str) -> bytes: ...


def unnamed() -> Deployment:
    """The quickstart, whose objects name no namespace."""
    shop = quickstart()
    resources = {name: text.replace("\n  namespace: shop\n", "\n") for name, text in shop.resources.items()}
    assert all("\n  namespace:" not in text for text in resources.values())
    return shop._replace(resources={name: text for name, text in resources.items() if name != "namespace.yaml"})


def configured() -> Deployment:
    """The same with spec.namespace."""
    shop = unnamed()
    text = shop.config["contrast.yaml"].replace("\nspec:\n", "\nspec:\n  namespace: shop\n")
    return shop._replace(config={**shop.config, "contrast.yaml": text})


def is_contrast(value: Any) -> bool:
    spec = dig(value, (*KINDS[value["kind"]][1], "spec")) if value["kind"] in KINDS else None
    return is_contrast_name(str((spec or {}).get("runtimeClassName")))


def equals_what_is_sealed_for_shop(output: bytes, rendered: bytes) -> None:
    """Check that the Contrast workloads are those of the deployment that names the namespace; others name none."""
    assert initdata(output) == initdata(rendered)
    workloads = {name: value["spec"] for name, value in by_name(output).items() if is_contrast(value)}
    assert workloads == {name: value["spec"] for name, value in by_name(rendered).items() if is_contrast(value)}
    found, wanted = by_name(output), by_name(rendered)
    name = "ConfigMap/shop/contrast-manifest"
    assert found[name]["data"] == wanted[name]["data"]
    others = [value for value in load(output) if not is_contrast(value) and name_of(value) != name]
    assert {value["metadata"].get("namespace") for value in others} == {None}


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_every_host_puts_the_workloads_into_the_configured_namespace(
    krm_machine: Machine, rendered: Outputs, tmp_path: Path, host: str
) -> None:
    ran = HOSTS[host].render(krm_machine, tmp_path, configured())
    equals_what_is_sealed_for_shop(ran.ok(), rendered[host])


def installed(machine: Machine, chart: Path, helm: str, *more: str) -> tuple[set[str], bytes]:
    """`helm install -n shop`: what it creates, each as namespace/resource/name, and what it stores as the release."""
    command = COMMAND if helm == "helm3" else ()
    with api_server(chart) as server:
        env = {"KUBECONFIG": str(server.kubeconfig)}
        arguments = ("install", "shop", "chart", "-n", "shop", "--disable-openapi-validation", "--output=json")
        call = ["helm", *arguments, *POST_RENDER, *command, *CONFIG, *more]
        release = json.loads(machine.run(call, chart, helm=helm, env=env).ok())
        return server.names(), release["manifest"].encode()


@pytest.mark.slow
@pytest.mark.parametrize("helm", ["helm3", "helm4"])
def test_helm_installs_what_the_option_of_the_post_renderer_gives(
    krm_machine: Machine, rendered: Outputs, tmp_path: Path, helm: str
) -> None:
    created, manifest = installed(krm_machine, make_chart(krm_machine, tmp_path, unnamed()), helm, *GIVEN)
    equals_what_is_sealed_for_shop(manifest, rendered[helm])
    assert {"shop/deployments/web", "shop/statefulsets/coordinator", "shop/services/web"} <= created
    assert {"shop/configmaps/contrast-manifest"} <= created
    assert {name.partition("/")[0] for name in created} == {"shop"}, "RuntimeClasses are the cluster's"
    (tmp_path / "output.yaml").write_bytes(manifest)
    check = ("check", "output.yaml", "--config", "config", "--namespace")
    assert krm_machine.krm(*check, "shop", cwd=tmp_path).code == 0
    refused = krm_machine.krm(*check, "prod", cwd=tmp_path)
    assert refused.code == 1
    assert "CC0115" in refused.err


@pytest.mark.parametrize("helm", ["helm3", "helm4"])
def test_helm_passes_no_namespace_of_its_own(krm_machine: Machine, tmp_path: Path, helm: str) -> None:
    created, manifest = installed(krm_machine, make_chart(krm_machine, tmp_path, unnamed()), helm)
    assert "shop/deployments/web" in created
    found = [name_of(value) for value in load(manifest) if is_contrast(value)]
    assert found
    assert all("//" in name for name in found)
    assert b"coordinator-ready.default" in manifest  # which nobody answers: the coordinator is in shop


def test_kustomize_sets_its_namespace_before_the_function(
    krm_machine: Machine, rendered: Outputs, tmp_path: Path
) -> None:
    ran = run_kustomize(krm_machine, make_kustomize(krm_machine, tmp_path, unnamed(), "namespace: shop\n"))
    assert initdata(ran.ok()) == initdata(rendered["kustomize"])
    assert "CC0210" not in ran.err


NO_NAMESPACE_FROM_KUSTOMIZE = """\
namespace: shop
helmGlobals: {chartHome: charts}
helmCharts: [{name: shop, releaseName: shop}]
transformers: [contrast.yaml]
resources: [release.yaml, images.yaml]
"""


def test_kustomize_sets_no_namespace_on_what_helm_charts_renders(krm_machine: Machine, tmp_path: Path) -> None:
    make_kustomize(krm_machine, tmp_path, unnamed())
    make_chart(krm_machine, tmp_path, unnamed())
    (tmp_path / "charts").mkdir()
    (tmp_path / "chart").rename(tmp_path / "charts" / "shop")
    put(tmp_path, {"kustomization.yaml": NO_NAMESPACE_FROM_KUSTOMIZE, "charts/shop/values.yaml": ""})
    flags = ("--enable-helm", "--enable-alpha-plugins", "--enable-exec")
    ran = run_kustomize(krm_machine, tmp_path, *flags)
    assert "CC0210" in ran.err
    assert "helmCharts" in ran.err
    config = tmp_path / "contrast.yaml"
    config.write_text(config.read_text().replace("\nspec:\n", "\nspec:\n  namespace: shop\n"))
    ran = run_kustomize(krm_machine, tmp_path, *flags)
    assert "CC0210" not in ran.err
    assert all(name.split("/")[1] == "shop" for name in initdata(ran.ok()))


IN_A_COMPONENT = {
    "kustomization.yaml": """\
namespace: shop
resources: [web.yaml, settings.yaml, coordinator.yaml]
components: [sealed]
""",
    "sealed/kustomization.yaml": """\
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources: [release.yaml, images.yaml]
transformers: [contrast.yaml]
""",
}


def test_a_function_in_a_component_runs_before_the_namespace(krm_machine: Machine, tmp_path: Path) -> None:
    make_kustomize(krm_machine, tmp_path, unnamed())
    (tmp_path / "sealed").mkdir()
    for name in ("release.yaml", "images.yaml", "contrast.yaml"):
        (tmp_path / name).rename(tmp_path / "sealed" / name)
    (tmp_path / "output.yaml").write_bytes(run_kustomize(krm_machine, put(tmp_path, IN_A_COMPONENT)).ok())
    checked = krm_machine.krm("check", "output.yaml", cwd=tmp_path)
    assert checked.code == 1
    assert "CC1103" in checked.err


def test_the_command_line_wins_over_the_configuration(krm_machine: Machine, tmp_path: Path) -> None:
    directory = make_files(krm_machine, tmp_path, configured())
    for command in ("generate", "plan", "diff"):
        made = krm_machine.krm(command, "resources", "--config", "config", "--namespace", "prod", cwd=directory)
        assert b"prod" in made.ok()
        assert "workloads are put into namespace prod, but" in made.err
    made = krm_machine.krm("generate", "resources", "--config", "config", "--namespace", "prod", cwd=directory)
    assert {name.split("/")[1] for name in initdata(made.ok())} == {"prod"}
    assert b"coordinator-ready.prod" in made.out


def test_uninject_gives_the_sources_back(krm_machine: Machine, tmp_path: Path) -> None:
    directory = make_files(krm_machine, tmp_path, unnamed())
    texts = unnamed().resources
    stream = "".join(f"---\n{text}" for text in texts.values()).encode()
    made = krm_machine.krm("generate", "--config", "config", "--namespace", "shop", stdin=stream, cwd=directory).ok()
    assert krm_machine.krm("uninject", stdin=made).ok() == stream
    proven = krm_machine.krm("uninject", "--namespace", "shop", stdin=made)
    assert (proven.ok(), proven.err) == (stream, "")
    again = krm_machine.krm("generate", "--config", "config", "--namespace", "shop", stdin=made, cwd=directory)
    assert again.ok() == made


def test_uninject_warns_of_a_namespace_that_it_takes_away_on_the_word_of_the_output(
    krm_machine: Machine, tmp_path: Path
) -> None:
    """Anybody can write a record; what the render's namespace was, its caller knows."""
    directory = make_files(krm_machine, tmp_path, unnamed())
    stream = "".join(f"---\n{text}" for text in unnamed().resources.values()).encode()
    made = krm_machine.krm("generate", "--config", "config", "--namespace", "shop", stdin=stream, cwd=directory).ok()
    ran = krm_machine.krm("uninject", stdin=made)
    assert ran.err.startswith("warning CC0117: namespace shop is removed from ")
    assert ran.err.count("CC0117:") == 1
    other = krm_machine.krm("uninject", "--namespace", "prod", stdin=made)
    assert (other.code, other.out) == (1, b"")
    assert "and 5 more: " in other.err
    assert wording("CC0115.namespace", namespace="shop") in other.err


def test_explain_says_where_the_namespace_is_from(krm_machine: Machine, tmp_path: Path) -> None:
    directory = make_files(krm_machine, tmp_path, unnamed())
    call = ("explain", "Deployment/shop/web", "resources", "--config", "config", "--namespace", "shop")
    said = krm_machine.krm(*call, cwd=directory).ok().decode()
    assert "metadata.namespace" in said
    assert "the configuration gives shop to workloads that name no namespace" in said


@pytest.mark.parametrize("command", [("check",), ("policy", "show", "Deployment/web"), ("diff", "--policy", "a", "b")])
def test_a_namespace_where_nothing_is_rendered_is_a_usage_error(krm_machine: Machine, command: tuple[str, ...]) -> None:
    ran = krm_machine.krm(*command, "--namespace", "shop", stdin=b"kind: X\n")
    assert (ran.code, ran.out) == (2, b"")


def test_kpt_can_give_it_as_an_argument(krm_machine: Machine, rendered: Outputs, tmp_path: Path) -> None:
    shop = unnamed()
    files = {**shop.resources, **{name: text for name, text in shop.config.items() if name != "contrast.yaml"}}
    put(tmp_path, files)
    call = ["kpt", "fn", "eval", "--exec", "contrast-krm", "-o", "unwrap", ".", "--"]
    made = krm_machine.run([*call, "namespace=shop", "platform=metal-qemu-snp", "manifest=none"], tmp_path).ok()
    assert initdata(made) == initdata(rendered["kpt"])


@pytest.mark.parametrize("name", ["", "Shop", "a.b", "-a", "x" * 64, "a/b", "shop\n"])
def test_what_is_no_namespace_is_a_usage_error(krm_machine: Machine, name: str) -> None:
    ran = krm_machine.krm("generate", "--namespace", name, stdin=b"kind: X\n")
    assert (ran.code, ran.out) == (2, b"")
    assert "--namespace" in ran.err
