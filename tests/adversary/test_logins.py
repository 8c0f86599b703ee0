"""No login that stands inside of an invalid reference is printed, in no form of the findings."""

from pathlib import Path

import pytest

from krm_function.kubernetes.image import parse_image, printable_reference
from tests.failures.running import spawned
from tests.lock.content import pods

HEX = "0" * 64

# what somebody has copied out of a browser, a script or a clone command, and what may be printed of it
REFERENCES: tuple[tuple[str, str], ...] = (
    ("user:CANARY@registry.example.com/web:1", "…@registry.example.com/web:1"),
    ("https://user:CANARY@registry.example.com/web:1", "…@registry.example.com/web:1"),
    (f"user:CANARY@registry.example.com/web@sha256:{HEX}", f"…@registry.example.com/web@sha256:{HEX}"),
    ("user:CANARY@registry.example.com/web@sha256:0", "…@registry.example.com/web@sha256:0"),
    ("user:CAN/CANARY@registry.example.com/web", "…@registry.example.com/web"),
    ("user:CAN@CANARY@registry.example.com/web", "…@registry.example.com/web"),
    ("user:CANARY@", "…@"),
    ("user:CANARY@sha256x", "…@sha256x"),
    ("user:CANARY\n@registry.example.com/web", "…@registry.example.com/web"),
    ("CANARY@registry.example.com/web", "…@registry.example.com/web"),
    ("registry.example.com/web?token=CANARY", "registry.example.com/web?…"),
    ("https://registry.example.com/web#CANARY", "https://registry.example.com/web?…"),
    ("Registry/Web:1", "Registry/Web:1"),
)


@pytest.mark.parametrize(("text", "says"), REFERENCES)
def test_what_is_shown_of_an_invalid_reference(text: str, says: str) -> None:
    assert isinstance(parse_image(text), str)
    assert printable_reference(text) == says


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_lock_prints_no_login(form: str, tmp_path: Path) -> None:
    texts = [f'"{text}"'.replace("\n", "\\n") for text, _ in REFERENCES]
    for arguments in (("lock",), ("generate", "--config", "config.yaml")):
        (tmp_path / "config.yaml").write_text(
            "apiVersion: contrast-krm.dev/v1alpha1\nkind: ImageLock\nmetadata: {name: images}\nspec:\n"
            '  images: {"user:CANARY@registry.example.com/web:1": {digest: "sha256:0", config: {}}}\n'
        )
        run = spawned(*arguments, "--format", form, "--report", "report", data=pods(*texts), directory=tmp_path)
        assert run.code in (1, 2)
        for said in (run.stderr, run.stdout.decode(), (tmp_path / "report").read_text()):
            assert "CANARY" not in said
        assert "…@registry.example.com" in run.stderr or "\\u2026@registry.example.com" in run.stderr
