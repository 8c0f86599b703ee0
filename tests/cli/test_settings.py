"""--settings with a directory: the file and its drop-ins, as genpolicy takes them."""

import json
from typing import Any

import pytest

from krm_function.contrast.profiles import DEFAULT
from krm_function.policy.settings import default_document
from tests.cli.conftest import Shop
from tests.cli.test_generate import manifest, refused
from tests.wording import wording

BASE = "settings/genpolicy-settings.json"
DROPIN = "settings/genpolicy-settings.d/10-oci.json"


def _patch(*operations: Any) -> str:
    return json.dumps(list(operations))


def _version(version: str) -> dict[str, str]:
    return {"op": "replace", "path": "/kata_config/oci_version", "value": version}


def _policies(shop: Shop, settings: str) -> list[str]:
    return sorted(manifest(shop.generate("--settings", settings))["Policies"])


def _file(shop: Shop, **kata_config: str) -> list[str]:
    shop.write(
        "whole.json",
        json.dumps(
            {**default_document(DEFAULT), "kata_config": {**default_document(DEFAULT)["kata_config"], **kata_config}}
        ),
    )
    return _policies(shop, "whole.json")


def test_a_directory_without_drop_ins_is_its_file(shop: Shop) -> None:
    shop.write(BASE, json.dumps(default_document(DEFAULT)))
    assert _policies(shop, "settings") == _file(shop)


def test_drop_ins_apply_in_the_order_of_their_names(shop: Shop) -> None:
    shop.write(BASE, json.dumps(default_document(DEFAULT)))
    shop.write("settings/genpolicy-settings.d/20-b.json", _patch(_version("1.3.0")))
    shop.write("settings/genpolicy-settings.d/10-a.json", _patch(_version("1.2.0")))
    shop.write("settings/genpolicy-settings.d/99-notes.txt", "no drop-in")
    assert _policies(shop, "settings") == _file(shop, oci_version="1.3.0")


def test_drop_ins_beside_a_file_are_not_read(shop: Shop) -> None:
    shop.write(BASE, json.dumps(default_document(DEFAULT)))
    shop.write(DROPIN, _patch(_version("1.3.0")))
    assert _policies(shop, BASE) == _file(shop)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("{", "is not JSON"),
        ("{}", "is not a JSON Patch (a list of operations)"),
        (
            _patch({"op": "replace", "path": "/kata/oci_version", "value": "1"}),
            "operation 1 (replace /kata/oci_version)",
        ),
        (_patch(_version("1.3.0"), {"op": "drop", "path": "/x"}), "operation 2 (drop /x)"),
        (_patch({"op": "replace", "path": "", "value": []}), wording("CC0909.drop-in-root")),
        ("[" * 100_000, "nested too deeply"),
        (b"[\xff]", "is not UTF-8"),
    ],
)
def test_a_drop_in_that_is_none_is_refused(data: str | bytes, says: str, shop: Shop) -> None:
    shop.write(BASE, json.dumps(default_document(DEFAULT)))
    shop.write(DROPIN, data)
    refused(shop.generate("--settings", "settings", "--format", "json"), "--settings", says, DROPIN)


def test_a_directory_without_settings_is_refused(shop: Shop) -> None:
    shop.write(DROPIN, "[]")
    run = shop.generate("--settings", "settings", "--format", "json")
    assert run.code == 3
    assert [(error["code"], error["file"]) for error in run.errors] == [("CC1001", BASE)]


def test_a_drop_in_that_takes_away_what_is_needed_is_refused(shop: Shop) -> None:
    shop.write(BASE, json.dumps(default_document(DEFAULT)))
    shop.write(DROPIN, _patch({"op": "remove", "path": "/common/cpath"}))
    run = shop.generate("--settings", "settings", "--format", "json")
    assert (run.code, [error["code"] for error in run.errors]) == (1, ["CC0641"])
