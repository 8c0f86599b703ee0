"""A configuration with the `spec.runtimeClasses` that a test is about, whatever the example's own is."""

import re
import shutil
from pathlib import Path


def set_runtime_classes(contrast: Path, value: str) -> None:
    """Write `runtimeClasses: VALUE` into a ContrastGenerate."""
    text, count = re.subn(r"^  runtimeClasses: .*$", f'  runtimeClasses: "{value}"', contrast.read_text(), flags=re.MULTILINE)
    if not count:
        text = text.replace("\nspec:\n", f'\nspec:\n  runtimeClasses: "{value}"\n', 1)
    contrast.write_text(text)


def emitting(config: Path, directory: Path) -> Path:
    """A copy of a directory with a configuration, in which missing RuntimeClasses are emitted."""
    shutil.copytree(config, directory / "config")
    set_runtime_classes(directory / "config" / "contrast.yaml", "emit")
    return directory / "config"
