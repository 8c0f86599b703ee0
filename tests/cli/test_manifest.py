"""`manifest`: the exact bytes, or what is wrong with a file."""

import json
from typing import Any

import pytest

from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.world import World
from tests.wording import wording


def test_the_bytes_are_those_that_generate_writes(shop: Shop) -> None:
    rendered = shop.generate("-m", "written.json").stdout
    shop.write("out.yaml", rendered)
    run = shop("manifest", "out.yaml")
    assert (run.code, run.stderr) == (0, "")
    assert run.stdout == (shop.directory / "written.json").read_bytes()


def test_a_resource_list_holds_the_same_manifest_as_a_stream(shop: Shop) -> None:
    listed = shop("fn", data=World().resource_list()).stdout
    streamed = shop.generate().stdout
    assert shop("manifest", data=listed).stdout == shop("manifest", data=streamed).stdout


def test_it_is_found_among_many_files(shop: Shop) -> None:
    shop.generate("--in-place", "-m", "written.json")
    assert shop("manifest", "deployment").stdout == (shop.directory / "written.json").read_bytes()


def test_input_without_a_manifest_is_an_error(shop: Shop) -> None:
    run = shop("manifest", "deployment", "--format", "json")
    assert (run.code, run.stdout) == (1, b"")
    assert [error["code"] for error in run.errors] == ["CC1106"]


def test_two_different_manifests_are_an_error(shop: Shop, rendered: bytes) -> None:
    run = shop("manifest", "--format", "json", data=rendered + shop.generate("--disable-updates").stdout)
    assert (run.code, run.stdout) == (1, b"")
    assert ["2 different manifests" in error["message"] for error in run.errors] == [True]


def test_a_config_map_that_only_looks_like_one_is_not_taken(shop: Shop) -> None:
    data = b'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: contrast-manifest}\ndata: {manifest.json: "{}"}\n'
    run = shop("manifest", "--format", "json", data=data)
    assert [error["code"] for error in run.errors] == ["CC1106"]


def validated(shop: Shop, text: str | bytes) -> list[dict[str, Any]]:
    run = shop("manifest", "--validate", shop.write("manifest.json", text), "--format", "json")
    assert run.code == int(bool(run.errors))
    assert run.stdout == b""
    assert all(error["code"] == "CC0702" for error in run.errors)
    assert all(error["file"] == "manifest.json" for error in run.errors)
    return run.errors


def test_what_a_render_makes_is_valid(shop: Shop, rendered: bytes) -> None:
    assert validated(shop, shop("manifest", data=rendered).stdout) == []


def test_a_value_that_is_not_filled_in_is_an_error_for_contrast_set(shop: Shop, rendered: bytes) -> None:
    made = json.loads(shop("manifest", data=rendered).stdout)
    del made["ReferenceValues"]["snp"][0]["MinimumTCB"]["TEEVersion"]
    (error,) = validated(shop, json.dumps(made))
    assert error["message"] == "ReferenceValues.snp[0].MinimumTCB.TEEVersion: not filled in"


def test_every_problem_is_named_at_once(shop: Shop, rendered: bytes) -> None:
    made = json.loads(shop("manifest", data=rendered).stdout)
    made["Polices"] = made.pop("Policies")
    made["WorkloadOwnerPubKeys"] = ["zz"]
    messages = " ".join(error["message"] for error in validated(shop, json.dumps(made)))
    assert "Polices" in messages
    assert "did you mean Policies" in messages
    assert "WorkloadOwnerPubKeys[0]" in messages
    assert "coordinator" in messages


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("", 1, 1, "not JSON"),
        ("{\n  oops\n}", 2, 3, "not JSON"),
        ("[]", 0, 0, "not a JSON object"),
        (b"\xff", 0, 0, "not UTF-8"),
        ("[" * 100_000, 0, 0, "nested deeper"),
    ],
)
def test_a_file_that_is_no_json_is_located(text: str | bytes, line: int, column: int, says: str, shop: Shop) -> None:
    (error,) = validated(shop, text)
    assert (error.get("line", 0), error.get("column", 0)) == (line, column)
    assert error["message"].startswith(f"manifest.json: {says}")


def test_a_name_of_no_contrast_workload_has_its_place_in_the_configuration(shop: Shop) -> None:
    world = World()
    world.spec["manifest"]["policies"] = {"web": {"sans": ["shop.example.com"]}}
    world.pod["runtimeClassName"] = "kata-qemu-snp"
    shop.change(world)
    run = shop.generate("--format", "json")
    (error,) = run.errors
    assert error["message"].endswith(wording("CC0708.skipped", reason="runtime class kata-qemu-snp is not Contrast's"))
    lines = (shop.directory / error["file"]).read_text().splitlines()
    assert (error["file"], lines[error["line"] - 1].strip()) == (CONFIG, "web:")
