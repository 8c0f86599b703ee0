"""Find the paths at which two values differ.

Rule of this file: it answers paths only, never values, so that no value can get into a finding.
"""

from collections.abc import Callable, Iterator
from typing import Any

from krm_function.findings import Path, dotted
from krm_function.model.edits import ABSENT
from krm_function.yamltext import same

Excuse = Callable[[Path, Any, Any], bool]  # path, first, second (ABSENT for none) -> whether the two mean the same

SHOWN = 4  # places in one sentence


def never(_path: Path, _first: Any, _second: Any) -> bool:
    """Excuse nothing."""
    return False


def differing_paths(first: Any, second: Any, excused: Excuse, path: Path = ()) -> Iterator[Path]:
    """Yield the deepest paths at which two values differ; lists with other names or another order differ as a whole."""
    if same(first, second) or excused(path, first, second):
        return
    if isinstance(first, dict) and isinstance(second, dict):
        for key in {**first, **second}:
            yield from differing_paths(first.get(key, ABSENT), second.get(key, ABSENT), excused, (*path, key))
    elif isinstance(first, list) and isinstance(second, list) and _names(first) == _names(second):
        for index, entry in enumerate(first):
            yield from differing_paths(entry, second[index], excused, (*path, index))
    else:
        yield path


def _names(entries: list[Any]) -> list[Any]:
    return [entry.get("name") if isinstance(entry, dict) else None for entry in entries]


def paths_text(paths: list[Path]) -> str:
    """Return the first paths as text, and how many more there are."""
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(dotted(path) or "all of it" for path in paths[:SHOWN]) + more
