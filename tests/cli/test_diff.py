"""`diff`: the changes of a render and nothing else, without a secret, in colour for people only."""

import os
import pty
import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from krm_function.report.diff import ChangedDocument, diff_text
from krm_function.report.masking import hidden, masked
from krm_function.text.changes import Change, apply
from tests.cli.conftest import Shop
from tests.failures.running import EXECUTABLE, Run, environment
from tests.failures.world import CANARY, World, canaries


def diff(shop: Shop, *arguments: str) -> Run:
    run = shop("diff", "deployment", "--config", "config.yaml", *arguments)
    assert not list(canaries(run.stdout.decode() + run.stderr))
    return run


def test_each_document_that_changes_has_a_header_and_a_unified_diff(shop: Shop) -> None:
    run = diff(shop)
    assert (run.code, run.stderr) == (0, "")
    text = run.stdout.decode()
    heads = [line for line in text.splitlines() if line.startswith("=== ")]
    assert heads[0].startswith("=== StatefulSet/shop/coordinator (deployment/resources.yaml:1)")
    assert heads[1].startswith("=== Deployment/shop/web (deployment/resources.yaml:")
    assert heads[2] == "=== ConfigMap/shop/contrast-manifest, new"
    assert "\n--- input\n+++ output\n@@ " in text
    assert "\n--- /dev/null\n+++ output\n@@ " in text
    assert "\n-      runtimeClassName: contrast-cc-metal-qemu-snp\n" in text
    assert "\n+      runtimeClassName: contrast-cc-metal-qemu-snp-1a2b3c4d\n" in text
    assert "Service" not in text
    assert "\x1b" not in text


def test_no_line_is_long_because_of_an_annotation(shop: Shop) -> None:
    lines = diff(shop).stdout.decode().splitlines()
    noted = [line for line in lines if line.lstrip("+ ").startswith(("io.katacontainers", "contrast-krm.dev/original"))]
    assert noted
    assert all("sha256" in line or '"196608"' in line for line in noted)
    assert max(map(len, noted)) < 120


def test_after_a_render_there_is_nothing_to_show(shop: Shop) -> None:
    assert shop.generate("--in-place").code == 0
    run = diff(shop, "--exit-code")
    assert (run.code, run.stdout, run.stderr) == (0, b"", "")


def test_the_exit_code_tells_of_changes_only_to_those_who_ask(shop: Shop) -> None:
    assert diff(shop).code == 0
    run = diff(shop, "--exit-code")
    assert run.code == 1
    assert run.stdout


def test_an_error_prints_no_diff_and_so_differs_from_a_change(shop: Shop) -> None:
    world = World()
    world.container["image"] = "registry.example.com/shop/web:1.0"
    shop.change(world)
    run = diff(shop, "--exit-code")
    assert (run.code, run.stdout) == (1, b"")
    assert "error CC0502" in run.stderr


def test_a_diff_from_standard_input_and_of_a_resource_list(shop: Shop) -> None:
    world = World()
    run = shop("diff", "--config", "config.yaml", data=world.stream())
    assert run.code == 0
    assert b"=== Deployment/shop/web\n" in run.stdout
    run = shop("diff", data=world.resource_list())
    assert b"=== Deployment/shop/web\n" in run.stdout


def test_what_a_render_takes_away_is_shown_as_removed(shop: Shop) -> None:
    assert shop.generate("--in-place").code == 0
    world = World()
    world.spec["manifest"]["emit"] = "none"
    shop.write("config.yaml", world.config())
    text = diff(shop).stdout.decode()
    assert "=== ConfigMap/shop/contrast-manifest (deployment/contrast-manifest.yaml:" in text
    assert "removed" in text
    assert "\n+++ /dev/null\n" in text


def test_a_secret_beside_a_change_is_never_context(shop: Shop) -> None:
    world = World()
    items = [yaml.safe_load(world.text(name)) for name in world.resources()]
    listed = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items}, sort_keys=False)
    run = shop("diff", "--config", "config.yaml", data=listed.encode())
    assert run.code == 0
    assert b"(masked)" in run.stdout
    assert not list(canaries(run.stdout.decode()))


@pytest.mark.parametrize("no_colour", ["", "1"])
def test_colour_is_for_terminals_and_never_against_a_no(no_colour: str, shop: Shop) -> None:
    terminal, end = pty.openpty()
    command = [EXECUTABLE, "diff", "deployment", "--config", "config.yaml"]
    variables = environment(NO_COLOR=no_colour, TERM="xterm")
    process = subprocess.Popen(command, cwd=shop.directory, stdout=end, stderr=subprocess.PIPE, env=variables)
    os.close(end)
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    assert process.wait(60) == 0
    os.close(terminal)
    if process.stderr:
        process.stderr.close()
    assert (b"\x1b[32m+" in shown) == (not no_colour)
    assert b"runtimeClassName" in shown


def test_a_name_cannot_paint_the_terminal() -> None:
    text = diff_text([ChangedDocument("web\x1b[31m", "a: 1\n", "a: \"\\e[31m\"\nb: '\u202e'\n")])
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_line_ends_of_windows_are_no_noise() -> None:
    assert diff_text([ChangedDocument("web", "a: 1\r\nb: 2\r\n", "a: 1\r\nb: 3\r\n")]).splitlines()[-2:] == [
        "-b: 2",
        "+b: 3",
    ]


def test_a_change_of_a_masked_value_is_reported_without_the_value() -> None:
    before, after = ("kind: Secret\ndata: {a: eA==}\n", "kind: Secret\ndata: {a: eQ==}\n")
    assert diff_text([ChangedDocument("s", before, after)]).endswith("# only values that are not shown differ\n")


WORDS = st.text("abc/", min_size=1, max_size=6)
TREES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=8,
)


@st.composite
def objects_with_canaries(draw: st.DrawFn) -> dict[str, object]:
    """An object of any shape in which every place that may not be shown holds a canary."""
    canary = CANARY + draw(WORDS)
    value: dict[str, object] = {"kind": draw(st.sampled_from(["Secret", "ConfigMap", "Deployment", "Rollout"]))}
    if value["kind"] in {"Secret", "ConfigMap"}:
        value |= {"data": {draw(WORDS): canary}, "stringData": {draw(WORDS): {"deep": canary}}}
    env = [{"name": draw(WORDS), "value": canary}, {"name": "x", "valueFrom": draw(TREES)}, draw(TREES)]
    notes = {draw(WORDS): canary * 12, "short": "short"}
    value |= {"spec": {"any": draw(TREES), "containers": [{"env": env, "more": draw(TREES)}]}}
    value["metadata"] = {"annotations": notes, "more": draw(TREES)}
    return value


@given(objects_with_canaries(), st.booleans())
def test_nothing_that_may_not_be_shown_is_left_at_any_depth(value: dict[str, object], inside: bool) -> None:
    document = {"kind": "List", "items": [value, {"template": value}]} if inside else value
    shown = apply(document, [Change(path, "set", text) for path, text in hidden(document)])
    if value["kind"] not in {"Secret", "ConfigMap"} or not inside:
        assert CANARY not in str(shown)
    assert "short" in str(shown)
    spec = value["spec"]
    assert CANARY not in str(masked(("spec",), spec))


def test_the_file_is_not_touched(shop: Shop, tmp_path: Path) -> None:
    before = (shop.directory / "deployment/resources.yaml").read_bytes()
    diff(shop)
    assert (shop.directory / "deployment/resources.yaml").read_bytes() == before
    assert sorted(path.name for path in (shop.directory / "deployment").iterdir()) == ["resources.yaml"]
