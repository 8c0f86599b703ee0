"""Plain files in a directory: rendered in place and taken back, and objects in JSON, as kubectl applies them."""

import json
from pathlib import Path

import pytest

from krm_function.hosts.files import find_files
from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.running import listing
from tests.failures.world import World

DIRECTORY = "deployment"


def split(shop: Shop) -> None:
    """The deployment as a file for each object, one of them in JSON, and files that are no objects beside them."""
    world = World()
    (shop.directory / DIRECTORY / "resources.yaml").unlink()
    for name, value in world.documents.items():
        if name not in CONFIG_DOCUMENTS and isinstance(value, dict):
            shop.write(f"{DIRECTORY}/{name}.yaml", f"# {name}\n{world.text(name)}")
    web = json.dumps(world["web"], indent="\t") + "\n"
    (shop.directory / DIRECTORY / "web.yaml").unlink()
    shop.write(f"{DIRECTORY}/web.json", web)
    shop.write(f"{DIRECTORY}/package.json", '{"name": "shop", "kind": "apiVersion"}\n')
    shop.write(f"{DIRECTORY}/list.json", '["kind", "apiVersion"]\n')
    shop.write(f"{DIRECTORY}/notes.txt", "kind: apiVersion\n")


CONFIG_DOCUMENTS = ("options", "release", "lock", "second")


def test_what_was_rendered_in_place_is_taken_back_in_place(shop: Shop) -> None:
    split(shop)
    before = listing(shop.directory)
    assert shop.generate("--in-place").code == 0
    rendered = listing(shop.directory)
    assert rendered.keys() - before.keys() == {f"{DIRECTORY}/contrast-manifest.yaml"}
    assert rendered[f"{DIRECTORY}/web.json"] != before[f"{DIRECTORY}/web.json"], "JSON is sealed as well"
    run = shop("uninject", DIRECTORY, "--in-place")
    assert (run.code, run.stdout) == (0, b""), run.stderr
    assert listing(shop.directory) == before
    assert shop("uninject", DIRECTORY, "--in-place").code == 0
    assert listing(shop.directory) == before, "a second time changes nothing"


def test_what_goes_to_a_file_is_what_is_printed(shop: Shop) -> None:
    assert shop.generate("-o", "rendered.yaml").code == 0
    assert shop("uninject", "rendered.yaml", "-o", "back.yaml").stdout == b""
    assert (shop.directory / "back.yaml").read_bytes() == shop("uninject", "rendered.yaml").stdout


@pytest.mark.parametrize("arguments", [("--in-place",), ("-", "--in-place")], ids=["none", "-"])
def test_standard_input_is_in_no_place(arguments: tuple[str, ...], shop: Shop) -> None:
    run = shop("uninject", *arguments, data=b"a: b\n")
    assert run.code == 2
    assert "--in-place" in run.stderr


def test_nothing_is_written_for_output_that_cannot_be_restored(shop: Shop) -> None:
    assert shop.generate("--in-place").code == 0
    path = shop.directory / DIRECTORY / "resources.yaml"
    path.write_text(
        path.read_text()
        .replace('"set","/', '"sett","/', 1)
        .replace("contrast-krm.dev/original: '[", "contrast-krm.dev/original: '[[", 1)
    )
    before = listing(shop.directory)
    assert shop("uninject", DIRECTORY, "--in-place").code == 1
    assert listing(shop.directory) == before


def test_an_object_in_json_is_rendered_with_the_others(shop: Shop) -> None:
    split(shop)
    run = shop.generate("-o", "rendered.yaml")
    assert run.code == 0, run.stderr
    checked = shop("check", "rendered.yaml")
    assert "checked 2 Contrast workloads" in checked.stderr, checked.stderr


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ('{"apiVersion": "v1", "kind": "Pod"}', True),
        ('{"kind": "Pod", "apiVersion": 1, "more": []}', True),
        ('{"apiVersion": "v1", "kind": "Pod",}', True),  # no JSON, so that the reader says so
        ('{"kind": "apiVersion"}', False),
        ('{"properties": {"apiVersion": {}, "kind": {}}}', False),  # a JSON Schema
        ('[{"apiVersion": "v1", "kind": "Pod"}]', False),
        ("", False),
        ("[" * 100_000, False),
    ],
    ids=["object", "odd", "broken", "no-version", "schema", "array", "empty", "deep"],
)
def test_json_is_read_where_it_is_an_object(text: str, taken: bool, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: b\n")
    (tmp_path / "b.json").write_text(text)
    assert [one.path for one in find_files([str(tmp_path)])] == [
        str(tmp_path / name) for name in ("a.yaml", "b.json") if taken or name != "b.json"
    ]


def test_json_that_is_a_link_out_of_the_directory_is_refused(shop: Shop) -> None:
    shop.write("outside.json", '{"apiVersion": "v1", "kind": "Pod"}')
    (shop.directory / DIRECTORY / "pod.json").symlink_to("../outside.json")
    run = shop.generate("--format", "json")
    assert [one["code"] for one in run.errors] == ["CC1001"]


def test_a_directory_of_configuration_has_no_manifest_in_it(shop: Shop) -> None:
    shop.write("config/all.yaml", (shop.directory / CONFIG).read_text())
    shop.write("config/manifest.json", '{"Policies": {}}')
    assert shop("generate", DIRECTORY, "--config", "config").code == 0
