"""A configuration with the `spec.runtimeClasses` that a test is about, whatever the example's own is."""

import re
import shutil
from pathlib import Path


def set_runtime_classes(contrast: Path, value: str) -> None:
    """Write `runtimeClasses: VALUE` into a ContrastGenerate."""
    line = f"  runtimeClasses: {value}"
    text, count = re.subn(r"^  runtimeClasses: .*$", line, contrast.read_text(), flags=re.MULTILINE)
    contrast.write_text(text if count else text.replace("\nspec:\n", f"\nspec:\n{line}\n", 1))


def emitting(config: Path, directory: Path) -> Path:
    """A copy of a directory with a configuration, in which missing RuntimeClasses are emitted."""
    shutil.copytree(config, directory / "config")
    set_runtime_classes(directory / "config" / "contrast.yaml", "emit")
    return directory / "config"
