"""What users of `contrast` type first: the hint names what is right, and guesses no TEE."""

import pytest

from tests.cli.conftest import Shop
from tests.failures.world import World
from tests.mistakes.test_mistakes import said


@pytest.mark.parametrize("command", ["set", "verify", "recover", "sign"])
def test_set_verify_recover_and_sign_are_contrasts_own(command: str, shop: Shop) -> None:
    run = shop(command, "--manifest", "manifest.json")
    assert run.code == 2
    assert f"contrast {command} is Contrast's own" in run.stderr
    assert "did you mean" not in run.stderr


def test_metal_qemu_guesses_no_tee(shop: Shop) -> None:
    world = World()
    world.pod["runtimeClassName"] = "contrast-cc-metal-qemu"
    (found,) = said(shop, world)[1]
    assert "did you mean" not in found["hint"]
    for tee in ("snp", "tdx"):
        assert f"contrast-cc-metal-qemu-{tee}" in found["hint"]
    run = shop.generate("--reference-values", "metal-qemu")
    assert run.code == 2
    assert "did you mean" not in run.stderr
    assert "metal-qemu-snp, metal-qemu-snp-gpu, metal-qemu-tdx" in run.stderr
