"""Find the paths at which two values differ.

Rule of this file: it answers paths only, never values, so that no value can get into a finding.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from krm_function.findings import Path, dotted
from krm_function.yamltext.comparison import Alike, differing_places

NO_EXCUSES: Mapping[Path, Alike] = MappingProxyType({})

SHOWN = 4  # places in one sentence


def differing_paths(first: Any, second: Any, excuses: Mapping[Path, Alike] = NO_EXCUSES) -> list[Path]:
    """Return the deepest paths at which two values differ; lists with other names or another order differ as a whole.

    excuses: by path, whether two different values mean the same there.
    """
    return [
        path
        for path, left, right, means_the_same in differing_places(first, second, excuses, pairs=_by_name)
        if means_the_same is None or not means_the_same(left, right)
    ]


def _by_name(first: list[Any], second: list[Any]) -> bool:
    return _names(first) == _names(second)


def _names(entries: list[Any]) -> list[Any]:
    return [entry.get("name") if isinstance(entry, dict) else None for entry in entries]


def paths_text(paths: list[Path]) -> str:
    """Return the first paths as text, and how many more there are."""
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(dotted(path) or "all of it" for path in paths[:SHOWN]) + more
