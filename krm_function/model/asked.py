"""What an object asks for wherever it says so: a runtime class of Contrast's, and to be a Helm hook.

Rule of this file: it knows no kinds, so that a pod in an object of any kind is seen.
"""

from collections.abc import Iterator
from typing import Any

from krm_function.findings import Path
from krm_function.model.platforms import is_contrast_name
from krm_function.model.workload import mapping

HOOK = "helm.sh/hook"


def classes_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every runtimeClassName of Contrast's, however deep, with its path. path: where the value stands."""
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield from classes_in(part, (*path, index))
    for key, part in mapping(value).items():
        if key != "runtimeClassName":
            yield from classes_in(part, (*path, key))
        elif isinstance(part, str) and is_contrast_name(part):
            yield (*path, key), part


def is_hook(value: Any) -> bool:
    """Whether an annotation makes a Helm hook of an object."""
    return isinstance(value, str) and bool(value)
