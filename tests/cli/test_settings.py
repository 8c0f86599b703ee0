"""The settings of policies: `--settings` with a file or a directory, `policy.requests`, and `policy settings`."""

import json
from typing import Any

import pytest

from krm_function.contrast.profiles import DEFAULT, PROFILES, ProfileName
from krm_function.policy.settings import default_document, settings
from tests.cli.conftest import Shop
from tests.cli.test_generate import manifest, refused
from tests.failures.checking import CONFIG
from tests.failures.world import World
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


# --- policy.requests, and the document that it is equal to

REGEX = {"ExecProcessRequest": {"allowed_commands": [["id"]], "regex": ["^ls"]}}
PG_DUMP = {"ExecProcessRequest": {"allowed_commands": [["pg_dump", "shop"]], "regex": []}}
NO_EXEC: dict[str, Any] = {"ExecProcessRequest": {"allowed_commands": [], "regex": []}}
LOGS = {"ReadStreamRequest": False}
REQUESTS: tuple[tuple[dict[str, Any], dict[str, Any], dict[str, Any]], ...] = (
    # policy.requests, request_defaults of the release's settings, what both make of them
    ({"logs": "deny"}, {}, LOGS),
    ({"logs": "allow"}, LOGS, {}),
    ({"exec": [["pg_dump", "shop"]]}, {}, PG_DUMP),
    ({"exec": [["pg_dump", "shop"]]}, REGEX, PG_DUMP),
    ({"exec": []}, REGEX, NO_EXEC),
    ({"logs": "deny", "exec": [["pg_dump", "shop"]]}, {}, LOGS | PG_DUMP),
    ({"logs": "deny"}, REGEX, LOGS | REGEX),
)


def _document(requests: dict[str, Any]) -> dict[str, Any]:
    document = default_document(DEFAULT)
    document["request_defaults"] |= requests
    return document


@pytest.mark.parametrize(("rules", "released", "same"), REQUESTS)
def test_rules_for_requests_are_the_same_document_of_settings(
    rules: dict[str, Any], released: dict[str, Any], same: dict[str, Any], shop: Shop
) -> None:
    shop.write("same.json", json.dumps(_document(same)))
    expected = _policies(shop, "same.json")
    world = World()
    world.spec["policy"] = {"requests": rules}
    if released:
        world["release"]["spec"]["policySettings"] = _document(released)
    shop.change(world)
    assert sorted(manifest(shop.generate())["Policies"]) == expected
    printed = shop("policy", "settings", "--config", CONFIG)
    assert printed.code == 0, printed.stderr
    in_force = json.loads(printed.stdout)["request_defaults"]
    assert in_force == json.loads(json.dumps(_document(same)["request_defaults"]))
    shop.change(World())
    shop.write("printed.json", printed.stdout)
    assert _policies(shop, "printed.json") == expected


def test_rules_for_requests_beside_settings_are_refused(shop: Shop) -> None:
    world = World()
    world.spec["policy"] = {"requests": {"logs": "deny"}}
    shop.change(world)
    shop.write("whole.json", json.dumps(_document({})))
    beside_option = shop.generate("--settings", "whole.json", "--format", "json")
    world.spec["policy"]["settings"] = {"common": 1}
    shop.change(world)
    printed = shop("policy", "settings", "--config", CONFIG, "--format", "json")
    for run in (beside_option, printed):
        (error,) = run.errors
        assert (run.code, run.stdout, error["code"]) == (2, b"", "CC0901")
        assert wording("CC0901.requests") in error["message"]


@pytest.mark.parametrize("profile", PROFILES)
def test_the_settings_of_each_profile_are_printed_whole(profile: ProfileName, shop: Shop) -> None:
    world = World()
    world.spec["policy"] = {"profile": profile}
    shop.change(world)
    printed = json.loads(shop("policy", "settings", "--config", CONFIG).stdout)
    assert settings(printed, PROFILES[profile]) == settings(None, PROFILES[profile])
