"""Which images `lock --upgrade` asks for again."""

import pytest

from krm_function.cli.lock_task import chosen_images
from krm_function.kubernetes.image import Image, parse_image
from tests.wording import wording

DIGEST = f"sha256:{'0' * 64}"
WEB = f"registry.example.com/shop/web:2@{DIGEST}"
WORKER = f"registry.example.com/shop/worker:1@{DIGEST}"
UNTAGGED = f"registry.example.com/shop/db@{DIGEST}"
RELEASED = f"registry.example.com/contrast/coordinator:1@{DIGEST}"
ADDED = f"registry.example.com/contrast/initializer:1@{DIGEST}"
UNKNOWN = "no Contrast workload of the input has such an image"
OWN = (WEB, WORKER, UNTAGGED, RELEASED)


def chosen(*names: str) -> tuple[set[str], list[str]]:
    images = [one for text in (*OWN, ADDED) if isinstance(one := parse_image(text), Image)]
    chosen, findings = chosen_images(names, images, OWN, {RELEASED, ADDED})
    return set(map(str, chosen)), [one.message for one in findings]


@pytest.mark.parametrize(
    "name",
    [
        "web",
        "web:2",
        "shop/web",
        "shop/web:2",
        "registry.example.com/shop/web",
        "registry.example.com/shop/web:2",
        WEB,
        "shop/we?",
        "*/web",
    ],
)
def test_a_name_has_its_registry_directory_and_tag_or_not(name: str) -> None:
    assert chosen(name) == ({WEB}, [])


def test_without_a_name_it_is_all_of_the_input_that_have_a_tag() -> None:
    assert chosen() == ({WEB, WORKER}, [])


def test_several_names_are_of_several_images() -> None:
    assert chosen("web", "shop/*") == ({WEB, WORKER}, [])


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("db", wording("CC1241.no-tag")),
        ("coordinator", "the images of Contrast belong to its release"),
        ("initializer", UNKNOWN),  # a render adds it
        ("eb", UNKNOWN),
        ("web:3", UNKNOWN),
        ("other/web", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_a_name_that_chooses_nothing_is_an_error(name: str, problem: str) -> None:
    assert chosen(name) == (set(), [f"--upgrade {name}: {problem}"])
