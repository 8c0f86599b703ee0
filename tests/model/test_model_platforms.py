"""Runtime class names: every one has exactly one reading."""

from string import ascii_lowercase, digits

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from krm_function.contrast.platforms import (
    PLATFORMS,
    Platform,
    find_platform,
    is_contrast_name,
    is_placeholder,
    parse_runtime_class,
    placeholder,
    suggest_placeholder,
    with_gpu,
)


def test_the_four_platforms_are_those_of_contrast() -> None:
    assert [tuple(platform) for platform in PLATFORMS.values()] == [
        ("metal-qemu-snp", "Metal-QEMU-SNP", "snp", False, False),
        ("metal-qemu-snp-gpu", "Metal-QEMU-SNP-GPU", "snp", True, False),
        ("metal-qemu-tdx", "Metal-QEMU-TDX", "tdx", False, True),
        ("metal-qemu-tdx-gpu", "Metal-QEMU-TDX-GPU", "tdx", True, False),
    ]


@pytest.mark.parametrize(
    "name, expected",
    [
        ("contrast-cc-metal-qemu-snp", "metal-qemu-snp"),
        ("contrast-cc-metal-qemu-tdx-gpu", "metal-qemu-tdx-gpu"),
        ("contrast-cc-metal-qemu-snp-gpu", "metal-qemu-snp-gpu"),
        ("contrast-cc-metal-qemu-snp-gpu-1a2b3c4d", "metal-qemu-snp-gpu"),
        ("contrast-cc-metal-qemu-snp-00000000", "metal-qemu-snp"),
        ("contrast-cc-metal-qemu-snp-g", "metal-qemu-snp"),
        ("contrast-cc-metal-qemu-snp-0123456789abcdef", "metal-qemu-snp"),
        ("Contrast-CC-Metal-QEMU-TDX", "metal-qemu-tdx"),
        ("contrast-cc-Metal-QEMU-SNP-GPU-1A2B", "metal-qemu-snp-gpu"),
    ],
)
def test_an_explicit_name_is_its_platform_with_or_without_a_hash(name: str, expected: str) -> None:
    assert parse_runtime_class(name) == PLATFORMS[expected]
    assert is_contrast_name(name)


@pytest.mark.parametrize("name", ["contrast-cc", "kata-cc-isolation"])
def test_a_bare_name_leaves_the_platform_open(name: str) -> None:
    assert parse_runtime_class(name) == "bare"
    assert is_placeholder(name)


@pytest.mark.parametrize(
    "name",
    [
        "contrast-cc-",
        "contrast-cc-nonexistent",
        "contrast-cc-metal-qemu",
        "contrast-cc-metal-qemu-",
        "contrast-ccx",
        "contrast-cc-metal-qemu-snpx",
        "contrast-cc-metal-qemu-snp-",
        "contrast-cc-metal-qemu-snp-gpuX",
        "contrast-cc-metal-qemu-snp-gpu0",
        "contrast-cc-metal-qemu-tdx-gpu-gpu",
        "contrast-cc-metal-qemu-snp-0123456789abcdef0",
        "contrast-cc-metal-qemu-snp-1a2b-3c4d",
        "contrast-cc-metal-qemu-snp-1a_b",
        "contrast-cc-metal-qemu-snp-é",
        "contrast-cc-metal-qemu-snp-\N{KELVIN SIGN}",
        "contrast-cc-k3s-qemu-snp",
        "contrast-cc ",
        " contrast-cc",
        "contrast-cc\n",
        "contrast_cc",
        "contrast.cc",
        "contrastcc",
        "contrast",
        "contrast-",
        "contrast-foo",
        "Contrast-cc",
        "CONTRAST-CC",
        "Kata-CC-Isolation",
        "contrast-CC",
    ],
)
def test_a_name_that_means_to_be_contrasts_and_is_none_is_unknown_and_still_ours(name: str) -> None:
    assert parse_runtime_class(name) == "unknown"
    assert is_contrast_name(name)
    assert is_placeholder(name)


@pytest.mark.parametrize(
    "name", ["contrast-insecure", "contrast-insecure-metal-qemu", "Contrast-Insecure", "contrast-insecurex"]
)
def test_an_insecure_name_is_recognised_in_any_spelling(name: str) -> None:
    assert parse_runtime_class(name) == "insecure"
    assert is_contrast_name(name)


@pytest.mark.parametrize(
    "name", ["", "runc", "kata", "kata-cc", "kata-cc-isolation-2", "contrastive", "my-contrast-cc"]
)
def test_other_names_are_not_contrasts(name: str) -> None:
    assert parse_runtime_class(name) == "foreign"
    assert not is_contrast_name(name)
    assert not is_placeholder(name)


def test_a_handler_is_no_placeholder_but_every_placeholder_is_one() -> None:
    for platform in PLATFORMS.values():
        assert is_placeholder(placeholder(platform))
        assert is_placeholder(placeholder(platform).upper())
        assert not is_placeholder(placeholder(platform) + "-1a2b3c4d")


def test_the_gpu_variant_keeps_the_tee() -> None:
    for platform in PLATFORMS.values():
        assert with_gpu(platform).gpu
        assert with_gpu(platform).tee == platform.tee
        assert with_gpu(with_gpu(platform)) == with_gpu(platform)


def test_a_platform_is_found_by_name_in_any_letter_case() -> None:
    assert find_platform("Metal-QEMU-SNP") == PLATFORMS["metal-qemu-snp"]
    assert find_platform("metal-qemu-snp ") is None


@pytest.mark.parametrize(
    "name, expected",
    [
        ("contrast_cc", "contrast-cc"),
        ("contrast-cc-metal-qemu-snpx", "contrast-cc-metal-qemu-snp"),
        ("contrast-cc-metal-qemu-tdx-gpux", "contrast-cc-metal-qemu-tdx-gpu"),
        ("zzz", ""),
    ],
)
def test_the_closest_placeholder_is_suggested(name: str, expected: str) -> None:
    assert suggest_placeholder(name) == expected


@given(st.sampled_from(sorted(PLATFORMS)), st.text(digits + ascii_lowercase, min_size=1, max_size=16))
@example("metal-qemu-snp", "gpu")
def test_any_hash_names_the_platform_before_it(name: str, suffix: str) -> None:
    parsed = parse_runtime_class(f"contrast-cc-{name}-{suffix}")

    if suffix == "gpu" and not PLATFORMS[name].gpu:
        assert parsed == PLATFORMS[name + "-gpu"]
    elif suffix.startswith("gpu"):
        assert parsed == "unknown"
    else:
        assert parsed == PLATFORMS[name]


@given(st.text(max_size=40) | st.text("contras-cc_mel-qup.g INSEU").map(lambda rest: "contrast" + rest))
def test_every_text_has_a_reading_and_only_a_contrast_name_has_a_platform(name: str) -> None:
    parsed = parse_runtime_class(name)

    assert not isinstance(parsed, Platform) or name.lower().startswith("contrast-cc-" + parsed.name)
    assert is_contrast_name(name) or not name.lower().startswith(("contrast-", "contrast_"))
