"""A render warns of an image whose tag nobody has looked up, wherever the lock says so; digests do not move by that."""

from tests.cli.conftest import Shop
from tests.failures.running import Run
from tests.failures.world import WEB_IMAGE, World

BUMPED = WEB_IMAGE.replace(":1.0@", ":2.0@")


def bumped(entry: bool) -> World:
    """A deployment whose image has another tag than the lock knows. entry: `lock` has been run since."""
    world = World()
    world.container["image"] = BUMPED
    images = world["lock"]["spec"]["images"]
    if entry:
        images[BUMPED] = {**images[WEB_IMAGE], "foundAs": "1.0"}
    return world


def codes(run: Run) -> list[str]:
    return [one["code"] for one in run.findings if one["severity"] != "info"]


def test_a_tag_that_nobody_has_looked_up_is_a_warning_of_render_and_check(shop: Shop) -> None:
    shop.change(bumped(entry=True))
    run = shop.generate("-o", "rendered.yaml", "--format", "json")
    assert (run.code, codes(run)) == (0, ["CC0510"])
    (warning,) = [one for one in run.findings if one["code"] == "CC0510"]
    assert "spec.template.spec.containers[0].image" in str(warning.values())
    assert "tag 1.0, and 2.0 " in warning["message"]
    assert f"--upgrade {BUMPED.partition('@')[0]} " in warning["hint"]
    checked = shop("check", "rendered.yaml", "--config", "config.yaml", "--format", "json")
    assert (checked.code, "CC0510" in codes(checked)) == (0, True)


def test_a_known_digest_that_is_not_in_the_lock_by_this_tag_says_by_which_it_is(shop: Shop) -> None:
    shop.change(bumped(entry=False))
    run = shop.generate("-o", "rendered.yaml", "--format", "json")
    assert (run.code, codes(run)) == (1, ["CC0504", "CC0510"])
    assert not (shop.directory / "rendered.yaml").exists()


def test_the_warning_changes_no_byte_of_the_output(shop: Shop) -> None:
    shop.change(bumped(entry=True))
    warned = shop.generate()
    world = bumped(entry=True)
    del world["lock"]["spec"]["images"][BUMPED]["foundAs"]
    shop.change(world)
    assert shop.generate().stdout == warned.stdout


def test_a_tag_that_is_none_is_refused(shop: Shop) -> None:
    world = bumped(entry=True)
    world["lock"]["spec"]["images"][BUMPED]["foundAs"] = "no tag"
    shop.change(world)
    run = shop.generate("--format", "json")
    assert (run.code, codes(run)) == (2, ["CC0901"])
