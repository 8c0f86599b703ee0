"""Which policy profile a render takes, and what it says of the choice."""

import re
from typing import Any

import pytest
import yaml

from krm_function.contrast.profiles import CONTRAST, KATA, PROFILES, Profile
from krm_function.kubernetes.workload import INITDATA
from krm_function.policy.initdata import annotation, decode_toml, digest, encode_toml, from_annotation
from krm_function.policy.rules import load_rules, profile_of_rules
from tests.cli.conftest import Shop
from tests.failures.running import Run
from tests.failures.world import World


def _run(shop: Shop, profile: str = "", version: str = "v1.25.0", own: str = "") -> Run:
    world = World()
    if profile:
        world.spec["policy"] = {"profile": profile}
    world["release"]["spec"] |= {"version": version} | ({"policyProfile": own} if own else {})
    shop.change(world)
    return shop.generate("--format", "json")


def _profiles(run: Run) -> set[str]:
    """The profiles of the sealed policies."""
    assert run.code == 0, run.stderr
    found: list[Profile | None] = []
    for document in yaml.safe_load_all(run.stdout):
        template: Any = (document.get("spec") or {}).get("template") or {}
        value = ((template.get("metadata") or {}).get("annotations") or {}).get(INITDATA)
        if value:
            found.append(profile_of_rules(decode_toml(from_annotation(value)).data["policy.rego"]))
    assert len(found) == 2
    return {one.name if one else "" for one in found}


def _warnings(run: Run) -> list[str]:
    return [found["code"] for found in run.findings if found["code"].startswith("CC065")]


def test_without_a_word_it_is_the_one_of_the_release(shop: Shop) -> None:
    run = _run(shop)
    assert (_profiles(run), _warnings(run)) == ({"contrast-1.25"}, [])


@pytest.mark.parametrize("profile", PROFILES)
def test_an_option_chooses(shop: Shop, profile: str) -> None:
    run = _run(shop, profile)
    assert _profiles(run) == {profile}
    assert _warnings(run) == (["CC0653"] if profile == KATA.name else [])


def test_the_warning_of_plain_kata_names_what_is_not_bound(shop: Shop) -> None:
    (found,) = [one for one in _run(shop, "kata-4.1").findings if one["code"] == "CC0653"]
    assert "does not bind the images of containers and the files at a VOLUME" in found["message"]
    assert found["severity"] == "warning"


def test_a_newer_release_takes_the_newest_profile_and_says_so(shop: Shop) -> None:
    run = _run(shop, version="v1.26.0-pre")
    assert (_profiles(run), _warnings(run)) == ({"contrast-1.25"}, ["CC0651"])


def test_a_release_with_a_profile_is_believed_and_a_newer_release_is_reported_all_the_same(shop: Shop) -> None:
    for version, warnings in (("v1.26.0-pre", ["CC0651"]), ("v1.24.0-pre", [])):
        run = _run(shop, version=version, own="contrast-1.25")
        assert (_profiles(run), _warnings(run)) == ({"contrast-1.25"}, warnings)


def test_an_older_release_is_rendered_for_plain_kata_only(shop: Shop) -> None:
    refused = _run(shop, "strict", version="v1.24.0-pre")
    assert (refused.code, refused.stdout) == (1, b"")
    assert [error["code"] for error in refused.errors] == ["CC0650"]
    assert _profiles(_run(shop, "kata-4.1", version="v1.24.0-pre")) == {"kata-4.1"}


def test_rules_of_somebody_else_are_sealed_with_the_data_of_the_profile(shop: Shop) -> None:
    for profile, bound in (("", True), ("kata-4.1", False)):
        world = World()
        world.spec["policy"] = {"rules": "package agent_policy\n"} | ({"profile": profile} if profile else {})
        shop.change(world)
        run = shop.generate()
        assert run.code == 0, run.stderr
        shown = shop("policy", "show", "Deployment/web", "-", "-o", "rego", data=run.stdout)
        assert (b"image_guest_pull" in shown.stdout) is bound


def test_strict_consists_of_its_rules(shop: Shop) -> None:
    world = World()
    world.spec["policy"] = {"rules": "package agent_policy\n", "profile": "strict"}
    shop.change(world)
    run = shop.generate("--format", "json")
    assert (run.code, [error["code"] for error in run.errors]) == (2, ["CC0901"])


def test_the_gate_says_that_images_are_bound_now_and_why(shop: Shop) -> None:
    for profile, name in (("kata-4.1", "old.yaml"), ("", "new.yaml")):
        shop.write(name, _run(shop, profile).stdout)
    found = shop("check", "new.yaml", "--no-weaker", "old.yaml", "--format", "json").findings
    stronger = [one["message"] for one in found if one["code"] == "CC0619"]
    assert any("web: image added registry.example.com" in text for text in stronger)
    services = ("allow_env_regex", "svc_name_downward_env")  # the profiles have other patterns for Services
    about_others = [text for text in stronger if not any(name in text for name in services)]
    assert all(text.endswith(("the image is bound to its digest", "is the VM's own")) for text in about_others)
    weaker = [one["message"] for one in found if one["code"] == "CC0617"]
    assert not [text for text in weaker if "image" in text]
    back = shop("check", "old.yaml", "--no-weaker", "new.yaml", "--format", "json").findings
    weaker = [one["message"] for one in back if one["code"] == "CC0617"]
    assert any("web: image removed" in text and "the host may have any image pulled" in text for text in weaker)


def test_rules_of_one_profile_with_the_data_of_another_are_found_by_check(shop: Shop) -> None:
    text = _run(shop).stdout.decode()
    for value in re.findall(rf"{re.escape(INITDATA)}: \"?([A-Za-z0-9+/=]+)", text):
        toml = from_annotation(value)
        initdata = decode_toml(toml)
        rego = initdata.data["policy.rego"]
        mixed = encode_toml(
            initdata._replace(data={"policy.rego": rego.replace(load_rules(CONTRAST), load_rules(KATA))})
        )
        text = text.replace(value, annotation(mixed)).replace(digest(toml), digest(mixed))
    run = shop("check", "-", "--format", "json", data=text.encode())
    assert {(error["code"], "policy profile" in error["message"]) for error in run.errors} == {("CC1103", True)}
