"""The literal lines: what `init` writes runs on the line that belongs to it, and `helm install` says what it lacks."""

import shlex
from pathlib import Path

import pytest
from yaml import YAMLError

from tests import quick_yaml as yaml
from tests.cli.conftest import Shop
from tests.hosts.documents import by_name
from tests.hosts.hosts import make_chart, quickstart
from tests.hosts.running import Machine
from tests.hosts.test_setting_up import deployment, set_up

FUNCTION = "config.kubernetes.io/function"
IMAGE = f"registry.example.com/tools/contrast-krm@sha256:{'5' * 64}"
CONTAINER = ("--function", "container", "--image", IMAGE)
PLAIN = "kustomize build --enable-alpha-plugins shop"


def written(directory: Path) -> object:
    """What kustomize is told to run, as it parses it."""
    annotations = yaml.safe_load((directory / "contrast.yaml").read_text())["metadata"]["annotations"]
    return yaml.safe_load(annotations[FUNCTION]) if FUNCTION in annotations else None


def step(said: str, words: str) -> str:
    """The command of the one step that has these words."""
    (command,) = [line.strip() for line in said.splitlines() if words in line and line.startswith("     ")]
    return command


@pytest.fixture
def work(krm_machine: Machine, tmp_path: Path) -> Path:
    made = deployment(tmp_path, "kustomize")
    set_up(krm_machine, made)
    return made


def test_exec_runs_with_enable_exec(krm_machine: Machine, work: Path) -> None:
    assert written(work / "shop") == {"exec": {"path": "contrast-krm"}}
    said = krm_machine.krm("init", "shop", "--function", "exec", cwd=work).err
    assert said.startswith("nothing to do\n")
    build = step(said, "rendered.yaml").partition(" > ")[0]
    assert build == "kustomize build --enable-alpha-plugins --enable-exec shop"
    assert b"cc_init_data" in krm_machine.run(shlex.split(build), work).ok()
    unsealed = krm_machine.run(shlex.split(PLAIN), work).ok()
    assert b"cc_init_data" not in unsealed, "kustomize skips a program without the flag"
    assert krm_machine.krm("check", stdin=unsealed).code == 1


@pytest.mark.slow
def test_legacy_runs_with_enable_alpha_plugins_alone_after_one_command(krm_machine: Machine, work: Path) -> None:
    wanted = krm_machine.run(shlex.split(f"{PLAIN} --enable-exec"), work).ok()
    said = krm_machine.krm("init", "shop", "--function", "legacy", cwd=work).err
    assert written(work / "shop") is None
    assert step(said, "rendered.yaml").partition(" > ")[0] == PLAIN
    home = {"XDG_CONFIG_HOME": str(work / "settings")}
    without = krm_machine.run(shlex.split(PLAIN), work, env=home)
    assert (without.code, without.out) == (1, b""), "kustomize does not skip a plugin"
    said = krm_machine.run(["contrast-krm", "init", "shop"], work, env=home).err
    install = step(said, "contrast-krm install")
    assert install == f"contrast-krm install {work}/settings/kustomize"
    krm_machine.run(shlex.split(install), work).ok()
    sealed = krm_machine.run(shlex.split(PLAIN), work, env=home).ok()
    assert b"cc_init_data" in sealed
    assert by_name(sealed) == by_name(wanted)
    again = krm_machine.run(["contrast-krm", "init", "shop"], work, env=home).err
    assert again.startswith("nothing to do\n"), "a second time changes nothing, and needs no option"
    assert "contrast-krm install" not in again


def test_what_the_function_would_get_is_shown_for_a_legacy_plugin(krm_machine: Machine, work: Path) -> None:
    text = (work / "shop/web.yaml").read_text()
    (work / "shop/web.yaml").write_text(text.replace("      runtimeClassName: contrast-cc-metal-qemu-snp\n", ""))
    assert "runtimeClassName" not in (work / "shop/web.yaml").read_text()
    said = krm_machine.krm("init", "shop", "--function", "legacy", cwd=work).err
    ran = krm_machine.run(["bash", "-c", step(said, "contrast-krm assess -")], work)
    assert b"web" in ran.ok()
    assert written(work / "shop") is None, "the form is back"


def test_container_is_written_for_enable_alpha_plugins_alone(shop: Shop) -> None:
    run = shop("init", "deploy", "--kustomize", *CONTAINER)
    assert run.code == 0, run.stderr
    assert written(shop.directory / "deploy") == {"container": {"image": IMAGE}}
    build = "kustomize build --enable-alpha-plugins deploy"
    assert step(run.stderr, "rendered.yaml").partition(" > ")[0] == build
    assert shop("init", "deploy").stderr.startswith("nothing to do\n")
    assert step(run.stderr, "contrast-krm assess -").endswith(
        f"; contrast-krm init deploy --kustomize {' '.join(CONTAINER)}"
    )


def test_one_form_becomes_another_and_the_rest_of_the_text_stays(shop: Shop) -> None:
    shop("init", "deploy", "--kustomize")
    path = shop.directory / "deploy/contrast.yaml"
    first = path.read_text()
    for form, value in ((CONTAINER, {"container": {"image": IMAGE}}), (("--function", "legacy"), None)):
        assert shop("init", "deploy", *form).code == 0
        assert written(path.parent) == value
    assert set(path.read_text().splitlines()) < set(first.splitlines())
    assert shop("init", "deploy", "--function", "exec").code == 0
    assert sorted(path.read_text().splitlines()) == sorted(first.splitlines())


@pytest.mark.parametrize("more", ["        args: [fn]\n", "      network: true\n"], ids=["args", "network"])
def test_what_somebody_wrote_into_the_annotation_stays(more: str, shop: Shop) -> None:
    shop("init", "deploy", "--kustomize")
    path = shop.directory / "deploy/contrast.yaml"
    path.write_text(path.read_text().replace("path: contrast-krm\n", f"path: contrast-krm\n{more}"))
    before = path.read_text()
    assert shop("init", "deploy").code == 0
    run = shop("init", "deploy", "--function", "legacy")
    assert run.code == 1
    assert "contains more than a program or an image" in run.stderr
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--kustomize", "--function", "container"), "--function container needs --image IMAGE"),
        (("--kustomize", "--image", IMAGE), "--function container needs --image IMAGE"),
        (("--kustomize", "--function", "container", "--image", "a b"), "--image: "),
        (("--kpt", "--function", "legacy"), "--function is for a kustomization"),
    ],
    ids=["no-image", "no-form", "no-reference", "kpt"],
)
def test_a_form_that_cannot_be_is_refused(arguments: tuple[str, ...], says: str, shop: Shop) -> None:
    run = shop("init", "deploy", *arguments)
    assert run.code == 2
    assert says in run.stderr
    assert not (shop.directory / "deploy").exists()


@pytest.mark.parametrize("host", ["helm3", "helm4"])
def test_post_renderer_without_arguments_is_told_by_helm(host: str, krm_machine: Machine, tmp_path: Path) -> None:
    chart = make_chart(krm_machine, tmp_path, quickstart())
    ran = krm_machine.run(["helm", "template", "shop", "chart", "--post-renderer", "contrast-krm"], chart, helm=host)
    assert (ran.code, ran.out) == (1, b"")
    line = "--post-renderer-args --config" if host == "helm4" else "contrast-krm post-render --config FILE"
    assert line in ran.err


def test_only_helm_4s_own_plugin_gets_the_line(krm_machine: Machine) -> None:
    stream = (quickstart().resources["web.yaml"]).encode()
    plugin = {"HELM_PLUGIN_NAME": "contrast-krm", "HELM_PLUGIN_DIR": "/"}
    told = krm_machine.run(["contrast-krm", "post-render"], stdin=stream, env=plugin)
    assert (told.code, told.out.count(b"\n")) == (0, 2)
    assert told.out.startswith(b"\n--- contrast-krm: error CC")
    with pytest.raises(YAMLError):
        list(yaml.safe_load_all(told.out))
    for other in ({}, {"HELM_PLUGIN_NAME": "contrast"}, {**plugin, "HELM_BIN": "helm"}):
        ran = krm_machine.run(["contrast-krm", "post-render"], stdin=stream, env=other)
        assert (ran.code != 0, ran.out) == (True, b""), other
