"""More mistakes: each gives one finding, and its hint, followed to the letter, helps."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.running import Run
from tests.failures.world import World
from tests.hosts.hosts import make_kustomize, put, quickstart, run_kustomize
from tests.hosts.running import Machine
from tests.mistakes.cases import Mistake
from tests.mistakes.more_cases import MORE
from tests.mistakes.test_mistakes import PAGE, lines, said
from tools.mistakes_page import more_mistakes_page


@pytest.mark.parametrize("mistake", MORE, ids=lambda mistake: mistake.title)
def test_the_hint_followed_to_the_letter_makes_the_render_succeed(mistake: Mistake, shop: Shop) -> None:
    world = World()
    mistake.change(world)
    assert not mistake.wrote or mistake.wrote in lines(world)
    code, findings = said(shop, world)
    assert code in {1, 2}
    beside = {"CC0242"}  # where the mistake leaves the coordinator as the only confidential workload
    assert {found["code"] for found in findings} - beside == {mistake.code}
    mistake.follow(world, findings[0]["hint"])
    assert said(shop, world) == (0, [])


def test_the_page_has_a_row_for_each() -> None:
    rows = [line for line in more_mistakes_page().splitlines() if re.match(r"\| \d+ ", line)]
    assert len(rows) == len(MORE)
    assert all(row in PAGE.read_text() for row in rows)


def only(run: Run, code: str) -> str:
    """The hint of the one error of a run."""
    (error,) = run.errors
    assert (error["code"], bool(run.code)) == (code, True)
    hint = error["hint"]
    assert isinstance(hint, str)
    return hint


def test_manifest_of_what_was_never_rendered(shop: Shop) -> None:
    hint = only(shop("manifest", "deployment", "--format", "json"), "CC1106")
    command = quoted_command(hint, r"for example with (contrast-krm generate FILE --config FILE -o rendered\.yaml)")
    command = command.replace("generate FILE", "generate deployment").replace("--config FILE", f"--config {CONFIG}")
    assert shop(*shlex.split(command)[1:]).code == 0
    assert shop("manifest", "rendered.yaml").stdout.startswith(b"{")


def test_manifest_of_a_render_that_emits_none(shop: Shop) -> None:
    world = World()
    world.spec["manifest"]["emit"] = "none"
    shop.change(world)
    assert shop.generate("-o", "rendered.yaml").code == 0
    hint = only(shop("manifest", "rendered.yaml", "--format", "json"), "CC1106")
    assert "contrast-krm generate -m FILE writes one" in hint
    assert shop.generate("-m", "manifest.json", "-o", "rendered.yaml").code == 0
    assert (shop.directory / "manifest.json").read_bytes().startswith(b"{")


def quoted_command(hint: str, pattern: str) -> str:
    found = re.search(pattern, hint)
    assert found, hint
    return found[1]


def test_documents_piped_into_the_program_without_a_command(shop: Shop) -> None:
    documents = (shop.directory / "deployment/resources.yaml").read_bytes()
    hint = only(shop("fn", "--format", "json", data=documents), "CC0108")
    command = quoted_command(hint, r"(contrast-krm generate --config FILE)").replace("FILE", CONFIG)
    assert shop(*shlex.split(command)[1:], data=documents).code == 0
    command = quoted_command(hint, r"(contrast-krm post-render --config FILE)").replace("FILE", CONFIG)
    assert shop(*shlex.split(command)[1:], data=documents).code == 0


def test_output_below_the_directory_of_the_resources_twice(shop: Shop) -> None:
    assert shop.generate("-o", "deployment/rendered.yaml").code == 0
    hint = only(shop.generate("-o", "deployment/rendered.yaml", "--format", "json"), "CC0909")
    assert hint == "name a file outside of that directory, and delete the old one"
    (shop.directory / "deployment/rendered.yaml").unlink()
    assert shop.generate("-o", "rendered.yaml").code == 0
    assert shop.generate("-o", "rendered.yaml").code == 0


def test_init_in_a_chart(shop: Shop) -> None:
    put(shop.directory / "chart", {"Chart.yaml": "name: shop\n"})
    hint = only(shop("init", "chart", "--format", "json"), "CC1310")
    command = quoted_command(hint, r"(contrast-krm init .*)\Z")
    assert shop(*shlex.split(command)[1:]).code == 0
    assert (shop.directory / "config/contrast.yaml").exists()


@pytest.mark.parametrize("text", ["B,T,S,M", "9,0,21,72", "BootloaderVersion=9", "BootloaderVersion=B,TEEVersion=T"])
def test_letters_where_numbers_belong(text: str, shop: Shop) -> None:
    shop.write("overlay/kustomization.yaml", "resources: []\n")
    hint = only(shop("init", "overlay", "--minimum-tcb", text, "--format", "json"), "CC0909")
    form = quoted_command(hint, r"write (\S+) with the numbers")
    numbers = re.sub(r"=[A-Z]\b", "=7", form)
    assert shop("init", "overlay", "--minimum-tcb", numbers).code == 0
    assert "MicrocodeVersion: 7\n" in (shop.directory / "overlay/contrast.yaml").read_text()


def test_a_manifest_without_the_firmware_versions(shop: Shop) -> None:
    world = World()
    values = world.spec["manifest"].pop("referenceValues")
    world.spec["runtimeClasses"] = "emit"
    shop.change(world)
    assert shop.generate("-o", "rendered.yaml").code == 0
    hint = only(shop("check", "rendered.yaml", "--format", "json"), "CC0702")
    assert hint == "set these under spec.manifest.referenceValues of the ContrastGenerate, and render again"
    world.spec["manifest"]["referenceValues"] = values
    shop.change(world)
    assert shop.generate("-o", "rendered.yaml").code == 0
    assert shop("check", "rendered.yaml").code == 0


def test_a_bare_name_in_the_place_of_a_workload(shop: Shop) -> None:
    arguments = ("deployment", "--config", CONFIG)
    hint = only(shop("explain", "web", *arguments, "--format", "json"), "CC0909")
    assert shop("explain", quoted_command(hint, r"did you mean (\S+)\?"), *arguments).code == 0


def test_an_outer_overlay_that_changes_sealed_pods(krm_machine: Machine, tmp_path: Path) -> None:
    directory = make_kustomize(krm_machine, tmp_path / "shop", quickstart())
    patch = '[{"op": "add", "path": "/spec/template/spec/containers/0/args", "value": ["x"]}]'
    overlay = f"resources: [../shop]\npatches: [{{target: {{name: web, kind: Deployment}}, patch: '{patch}'}}]\n"
    outer = put(tmp_path / "outer", {"kustomization.yaml": overlay})
    flags = ("--enable-alpha-plugins", "--enable-exec")
    ran = krm_machine.krm("check", stdin=run_kustomize(krm_machine, outer, *flags).ok())
    assert ran.code == 1
    assert "error CC1103 " in ran.err
    assert "if an outer overlay does, move the function to the outermost overlay; then render again" in ran.err
    inner = (directory / "kustomization.yaml").read_text()
    assert inner.endswith("transformers:\n  - contrast.yaml\n")
    put(directory, {"kustomization.yaml": inner.partition("transformers:")[0]})
    (directory / "contrast.yaml").rename(outer / "contrast.yaml")
    local = [name for name in ("release.yaml", "images.yaml") if f"  - {name}\n" in inner]
    put(
        directory,
        {
            "kustomization.yaml": "".join(
                line
                for line in (directory / "kustomization.yaml").read_text().splitlines(keepends=True)
                if line.strip(" -\n") not in local
            )
        },
    )
    for name in local:
        (directory / name).rename(outer / name)
    put(
        outer,
        {
            "kustomization.yaml": f"resources: [../shop, {', '.join(local)}]\ncommonAnnotations: {{a: b}}\n"
            "transformers: [contrast.yaml]\n"
        },
    )
    rendered = run_kustomize(krm_machine, outer, *flags).ok()
    krm_machine.krm("check", stdin=rendered).ok()
