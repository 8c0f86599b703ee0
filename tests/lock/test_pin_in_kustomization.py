"""Pins in the text of a kustomization; tests/lock/test_lock_pins.py builds with them."""

import pytest
import yaml

from krm_function.kubernetes.image import Image, parse_image
from krm_function.lock.pins import Pin, pin_in_kustomization

NEW = f"sha256:{'a' * 64}"
OLD = f"sha256:{'0' * 64}"
HEAD = "resources: [app.yaml] # ours\n"


def pin(reference: str = "example.com/web:2") -> Pin:
    made = parse_image(reference)
    assert isinstance(made, Image)
    return Pin(made, NEW)


@pytest.mark.parametrize("before", ["", "images:\n", "images: []\n", "images: null\n"])
@pytest.mark.parametrize("head", [HEAD, f"kind: Kustomization\n{HEAD}"])
def test_the_first_pin_makes_the_list(before: str, head: str) -> None:
    found = pin_in_kustomization(head + before, [pin()], ())
    assert found.text.startswith(head)
    images = [{"name": "example.com/web", "newTag": "2", "digest": NEW}]
    assert yaml.safe_load(found.text) == {**yaml.safe_load(head), "images": images}
    assert (found.done, found.unpinned) == ((pin(),), ())


@pytest.mark.parametrize(
    ("entry", "after"),
    [
        ("name: example.com/web", {"name": "example.com/web", "newTag": "2", "digest": NEW}),
        (f"name: example.com/web, digest: {OLD}", {"name": "example.com/web", "digest": NEW, "newTag": "2"}),
        (f"name: example.com/web, newTag: 1@{OLD}", {"name": "example.com/web", "newTag": f"2@{NEW}"}),
        (
            "name: web, newName: example.com/web",
            {"name": "web", "newName": "example.com/web", "newTag": "2", "digest": NEW},
        ),
    ],
)
def test_an_entry_that_makes_the_name_holds_the_pin(entry: str, after: dict[str, str]) -> None:
    text = f"{HEAD}images:\n  - {{name: example.com/db, newTag: '1'}} # stays\n  - {{{entry}}}\n"
    found = pin_in_kustomization(text, [pin()], ())
    assert yaml.safe_load(found.text)["images"] == [{"name": "example.com/db", "newTag": "1"}, after]
    assert "# stays" in found.text


@pytest.mark.parametrize("entry", ["name: example.com/db", "name: example.com/web, tagSuffix: -x", "name: web"])
def test_beside_other_entries_it_is_a_new_one(entry: str) -> None:
    found = pin_in_kustomization(f"{HEAD}images:\n  - {{{entry}}}\n", [pin()], ())
    before, after = yaml.safe_load(found.text)["images"]
    assert before == yaml.safe_load(f"{{{entry}}}")
    assert after == {"name": "example.com/web", "newTag": "2", "digest": NEW}


def test_an_image_without_a_tag_gets_its_digest_alone() -> None:
    found = pin_in_kustomization(HEAD, [pin("example.com/web")], ())
    assert yaml.safe_load(found.text)["images"] == [{"name": "example.com/web", "digest": NEW}]


def test_a_name_of_which_others_have_another_tag_is_left() -> None:
    used = {"example.com/web:2", f"example.com/web:2@{NEW}", "example.com/web:3", "example.com/db:1"}
    found = pin_in_kustomization(HEAD, [pin()], used)
    assert (found.text, found.done) == (HEAD, ())
    ((left, cause),) = found.unpinned
    assert (left, cause.code, cause.values) == (pin(), "CC1215.other", {"other": "example.com/web:3"})


@pytest.mark.parametrize("text", ["[]", "kind: Component\n", "images: {}\n", "images: [web]\n", "images: web\n"])
def test_what_is_no_kustomization_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"it is not a kustomization|images is not a list of maps"):
        pin_in_kustomization(text, [pin()], ())
