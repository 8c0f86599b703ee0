"""Image references: the distribution grammar, and what pins an image."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from krm_function.kubernetes.image import PINNED, REFERENCE, Image, is_contrast_image, parse_image

DIGEST = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(
    "text, expected",
    [
        ("nginx", Image("", "nginx", "", "")),
        ("nginx:1.27", Image("", "nginx", "1.27", "")),
        ("library/nginx", Image("", "library/nginx", "", "")),
        ("a.b", Image("", "a.b", "", "")),
        ("ghcr.io/org/app:v1@" + DIGEST, Image("ghcr.io", "org/app", "v1", DIGEST)),
        ("localhost/app", Image("localhost", "app", "", "")),
        ("localhost:5000/app:1", Image("localhost:5000", "app", "1", "")),
        ("reg:5000/a/b/c", Image("reg:5000", "a/b/c", "", "")),
        ("Reg/app", Image("Reg", "app", "", "")),
        ("[::1]:5000/app", Image("[::1]:5000", "app", "", "")),
        ("a__b/c-d/e.f_g--h", Image("", "a__b/c-d/e.f_g--h", "", "")),
        ("app@" + DIGEST, Image("", "app", "", DIGEST)),
        ("app:" + "t" * 128, Image("", "app", "t" * 128, "")),
    ],
)
def test_a_reference_is_read_into_its_parts_and_written_back(text: str, expected: Image) -> None:
    assert parse_image(text) == expected
    assert str(parse_image(text)) == text


@pytest.mark.parametrize(
    "text, problem",
    [
        ("", "it is empty"),
        (" nginx", "its name is not valid"),
        ("nginx\n", "its name is not valid"),
        ("nginx:", "its tag is not valid"),
        ("nginx:-1", "its tag is not valid"),
        ("nginx:" + "t" * 129, "its tag is not valid"),
        ("Nginx", "its name must be lower case"),
        ("a//b", "its name is not valid"),
        ("a/_b", "its name is not valid"),
        ("a___b", "its name is not valid"),
        ("a_b.c/d", "its name is not valid"),
        ("https://ghcr.io/a", "a reference has no scheme such as https://"),
        ("nginx@sha512:" + "0" * 128, "its digest must start with sha256:"),
        ("nginx@" + DIGEST[:-1], "its digest must be sha256: and 64 lower-case hex digits"),
        ("nginx@sha256:" + "A" * 64, "its digest must be sha256: and 64 lower-case hex digits"),
        ("nginx@" + DIGEST + "0", "its digest must be sha256: and 64 lower-case hex digits"),
        ("nginx@", "its digest must start with sha256:"),
        ("0" * 64, "64 hex digits are an image ID, not a name"),
        ("a" * 256, "its name is longer than 255 characters"),
        ("a" * 513, "it is longer than 512 characters"),
    ],
)
def test_a_problem_is_named_without_the_reference(text: str, problem: str) -> None:
    assert parse_image(text) == problem


@pytest.mark.parametrize("tag", ["7.06798e+13", "1e+06"])
def test_a_tag_that_yaml_read_as_a_number_is_to_be_quoted(tag: str) -> None:
    assert "quote it" in str(parse_image(f"nginx:{tag}"))


def test_only_a_digest_pins_an_image() -> None:
    tagged, pinned = parse_image("app:v1"), parse_image("app:v1@" + DIGEST)

    assert isinstance(tagged, Image)
    assert isinstance(pinned, Image)
    assert not tagged.pinned
    assert pinned.pinned


@pytest.mark.parametrize(
    "text, name",
    [
        ("nginx:1", "docker.io/library/nginx"),
        ("org/app", "docker.io/org/app"),
        ("index.docker.io/org/app", "docker.io/org/app"),
        ("docker.io/nginx", "docker.io/library/nginx"),
        ("ghcr.io/a/b:1", "ghcr.io/a/b"),
    ],
)
def test_dockers_defaults_are_filled_into_the_name(text: str, name: str) -> None:
    parsed = parse_image(text)

    assert isinstance(parsed, Image)
    assert parsed.name == name


@pytest.mark.parametrize("rest", ["", "/initializer:latest", "/coordinator", ":x", "@" + DIGEST])
def test_contrasts_own_images_are_known_by_their_name(rest: str) -> None:
    assert is_contrast_image("ghcr.io/edgelesssys/contrast" + rest)


@pytest.mark.parametrize(
    "text",
    ["ghcr.io/edgelesssys/contrast-evil/x", "ghcr.io/edgelesssys/contrastx", "evil/ghcr.io/edgelesssys/contrast"],
)
def test_a_look_alike_is_not_contrasts_own_image(text: str) -> None:
    assert not is_contrast_image(text)


PARTS = ["a", "b0", "localhost", "reg.io", "Reg", ":5000", ":v1", "/", "/", "@" + DIGEST, "0" * 64, "_", "__", ".", "-"]


@given(st.text("aA0./:@-_[]", max_size=30) | st.lists(st.sampled_from(PARTS), max_size=7).map("".join))
@example("0" * 64)
@example("[::1]:5000/a@" + DIGEST)
def test_what_is_read_is_written_back_unchanged_and_fits_the_grammar(text: str) -> None:
    parsed = parse_image(text)

    assert isinstance(parsed, str) or str(parsed) == text
    assert isinstance(parsed, Image) == bool(re.fullmatch(REFERENCE, text)) or re.match("[0-9a-f]{64}", text)
    assert isinstance(parsed, str) or parsed.pinned == bool(re.fullmatch(PINNED, text))


@pytest.mark.parametrize("part", ["a-", "a.", "a_", "a__", "A.", "-", "a/", ":", "[", "a:1/"])
def test_the_grammar_takes_linear_time(part: str) -> None:
    start = time.process_time()
    for end in ("", "!", "/", "@"):
        re.fullmatch(REFERENCE, part * 5000 + end)

    assert time.process_time() - start < 1
