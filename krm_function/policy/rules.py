"""The project's own Rego rules: a file of the package."""

import functools
import os


@functools.cache
def load_rules() -> str:
    """The text of rules/contrast-krm.rego."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rules", "contrast-krm.rego")
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()
