"""A manifest of a newer Contrast is no mistake of its user: what is not known is kept, and said."""

import copy
import json
from typing import Any

import pytest

from krm_function.contrast.manifest import FieldProblem, canonical, encode, newer_fields, validate
from tests.cli.conftest import Shop
from tests.failures.world import World

NEWER = {"MinimumAPIVersion": 3, "Extensions": {"b": [1, "x"], "a": None}}


def made(shop: Shop, base: Any = None) -> tuple[dict[str, Any], list[str], int]:
    world = World()
    if base is not None:
        world.spec.setdefault("manifest", {})["base"] = base
    shop.change(world)
    path = shop.directory / "manifest.json"
    path.unlink(missing_ok=True)  # else it is the base
    run = shop.generate("--format", "json", "--manifest", "manifest.json")
    codes = [found["code"] for found in run.findings if found["severity"] != "info"]
    return (json.loads(path.read_bytes()) if run.code == 0 else {}), codes, run.code


def test_a_field_of_a_newer_manifest_is_kept_and_warned_of(shop: Shop) -> None:
    first, codes, code = made(shop)
    assert (code, codes) == (0, [])
    second, codes, code = made(shop, {**NEWER, **first})
    assert (code, codes) == (0, ["CC0742"])
    assert second == first | NEWER
    assert list(second) == [*first, *sorted(NEWER)], "behind the known ones, in one order"
    data = (shop.directory / "manifest.json").read_bytes()
    assert encode(json.loads(data)) == data
    assert validate(json.loads(data)) == ()
    assert made(shop, second)[0] == second


@pytest.mark.parametrize(
    "wrong",
    [{"Policys": {}}, {"policies": {}}, {"x": 1}, {"ReferenceValues": {"snp": [{"MrSeam": "1"}]}}],
    ids=["misspelt", "case", "no-name", "of-the-other-kind"],
)
def test_a_mistake_stays_an_error(wrong: dict[str, Any], shop: Shop) -> None:
    first, _, _ = made(shop)
    _, codes, code = made(shop, {**first, **wrong})
    assert code != 0
    assert "CC0742" not in codes


def test_a_field_of_a_newer_manifest_is_kept_below_the_top_too(shop: Shop) -> None:
    first, _, _ = made(shop)
    newer = copy.deepcopy(first)
    digest = min(newer["Policies"])
    newer["Policies"][digest]["NotBefore"] = "2027-01-01"
    newer["ReferenceValues"]["snp"][0]["MinimumFirmware"] = {"b": 1}
    newer["ReferenceValues"]["snp"][0]["MinimumTCB"]["Attested"] = 3
    second, codes, code = made(shop, newer)
    assert (code, codes) == (0, ["CC0742"])
    assert second == newer, "in their places, and nothing else"
    assert list(second["ReferenceValues"]["snp"][0])[-1] == "MinimumFirmware"
    assert validate(second) == validate(first) == ()
    assert encode(second) == encode(json.loads(encode(second)))
    assert newer_fields(second) == [
        f"Policies.{digest}.NotBefore",
        "ReferenceValues.snp[0].MinimumFirmware",
        "ReferenceValues.snp[0].MinimumTCB.Attested",
    ]
    assert made(shop, second)[0] == second


def test_the_hint_of_a_renamed_field_names_the_new_one(shop: Shop) -> None:
    first, _, _ = made(shop)
    entry = {"Platform": "Metal-QEMU-TDX", "MinimumTeeTcbSvn": "0" * 32}
    with pytest.raises(FieldProblem, match="it is MinTCBEvaluationDataNumber now"):
        canonical({**first, "ReferenceValues": {"tdx": [entry]}})
    _, codes, code = made(shop, {**first, "ReferenceValues": {"tdx": [entry]}})
    assert code != 0
    assert "CC0742" not in codes


@pytest.mark.parametrize("values", [{"snp": {"MinimumFirmware": 1}}, {"snp": {"MinimumTCB": {"Attested": 1}}}])
def test_what_an_operator_writes_by_hand_today_is_known(values: dict[str, Any], shop: Shop) -> None:
    world = World()
    world.spec.setdefault("manifest", {})["referenceValues"] = values
    shop.change(world)
    run = shop.generate("--format", "json", "--manifest", "manifest.json")
    assert run.code != 0
    assert "unknown field" in run.stderr


def test_the_canonical_form_shares_nothing_with_its_input() -> None:
    given = {"Extensions": {"a": [1]}}
    canonical(given)["Extensions"]["a"].append(2)
    assert given == {"Extensions": {"a": [1]}}
    assert newer_fields({"Policies": {}, **NEWER}) == sorted(NEWER)
