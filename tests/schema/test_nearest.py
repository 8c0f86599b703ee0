"""A suggestion completes what is clear, and guesses nothing."""

import pytest

from krm_function.contrast.platforms import PLATFORMS, suggest_placeholder
from krm_function.schema.check import nearest


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("snp", PLATFORMS, "metal-qemu-snp"),
        ("SNP", PLATFORMS, "metal-qemu-snp"),
        ("qemu/tdx", PLATFORMS, "metal-qemu-tdx"),
        ("tdx-gpu", PLATFORMS, "metal-qemu-tdx-gpu"),
        ("metal-qemu", PLATFORMS, ""),
        ("gpu", PLATFORMS, ""),
        ("metal-qmeu-snp", PLATFORMS, "metal-qemu-snp"),
        ("nodename", ("nodeName", "nodeSelector"), "nodeName"),
        ("xyz", PLATFORMS, ""),
        ("", PLATFORMS, ""),
    ],
)
def test_the_nearest_word(word: str, known: tuple[str, ...], near: str) -> None:
    assert nearest(word, known) == near


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("contrast-cc-snp", "contrast-cc-metal-qemu-snp"),
        ("contrast_cc_tdx", "contrast-cc-metal-qemu-tdx"),
        ("contrast-cc-metal-qemu", ""),
        ("contrast-cx", "contrast-cc"),
    ],
)
def test_the_nearest_placeholder_never_guesses_a_tee(name: str, near: str) -> None:
    assert suggest_placeholder(name) == near
