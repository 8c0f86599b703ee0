"""A directory that kustomize or Helm has to build is no input: an error, or a warning where its files have pods."""

import pytest

from tests.cli.conftest import Shop

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: web}]}\n"
HEADS = (
    "",
    "kind: Kustomization\n",
    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
    "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n",
)
COMMANDS = (("assess",), ("generate",), ("plan",), ("check",), ("diff",), ("lock",), ("policy", "show", "Pod/web"))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_directory_with_a_kustomization_alone_is_an_error(command: tuple[str, ...], shop: Shop) -> None:
    shop.write("overlay/kustomization.yaml", "resources: [../base]\n")
    run = shop(*command, "overlay")
    assert run.code != 0
    assert b"kind:" not in run.stdout
    assert "error CC0121" in run.stderr
    assert "kustomize build --enable-alpha-plugins overlay |" in run.stderr


@pytest.mark.parametrize("head", HEADS)
def test_a_kustomization_beside_pods_is_named(head: str, shop: Shop) -> None:
    name = "kustomization.yml" if "kind: K" in head or not head else "component.yaml"
    shop.write(f"base/{name}", f"{head}resources: [web.yaml]\n")
    shop.write("base/web.yaml", POD)
    run = shop("assess", "base")
    assert run.code == 0
    assert "warning CC0122" in run.stderr


@pytest.mark.parametrize("path", ["chart", "."])
def test_a_chart_is_an_error_before_its_templates_are_read(path: str, shop: Shop) -> None:
    shop.write("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n")
    shop.write("chart/templates/web.yaml", "{{ if .Values.web }}\n")
    run = shop("assess", path)
    assert run.code == 1
    assert (run.stdout, run.stderr.count("CC01")) == (b"", 2)  # the finding, and the line that names its explanation
    assert "error CC0121" in run.stderr


def test_other_objects_with_such_a_kind_are_ordinary_input(shop: Shop) -> None:
    shop.write(
        "flux/shop.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\n"
    )
    shop.write("flux/Chart.yaml", POD)
    run = shop("assess", "flux")
    assert (run.code, "CC012" in run.stderr) == (0, False)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_values_of_a_chart_are_no_input(command: tuple[str, ...], shop: Shop) -> None:
    shop.write("values.yaml", "# of the chart\nimage: {tag: '1'}\n")
    run = shop(*command, "values.yaml")
    assert (run.code != 0, b"image" in run.stdout, "error CC0121" in run.stderr) == (True, False, True)


def test_values_beside_objects_and_files_of_comments_are_left_alone(shop: Shop) -> None:
    shop.write("mixed/values.yaml", "image: {tag: '1'}\n")
    shop.write("mixed/web.yaml", POD)
    shop.write("comments/empty.yaml", "---\n# nothing here\n")
    for directory in ("mixed", "comments"):
        run = shop("assess", directory)
        assert (run.code, "CC012" in run.stderr) == (0, False)


@pytest.mark.parametrize(
    ("functions", "reported"),
    [("[{exec: contrast-krm}]", False), ("[{image: set-namespace}, {exec: contrast-krm}]", True), ("no list", False)],
)
def test_functions_of_a_package_that_are_not_applied_are_named(functions: str, reported: bool, shop: Shop) -> None:
    shop.write(
        "package/Kptfile",
        f"apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {{name: shop}}\npipeline: {{mutators: {functions}}}\n",
    )
    shop.write("package/web.yaml", POD)
    run = shop("assess", "package")
    assert (run.code, "warning CC0122" in run.stderr) == (0, reported)
