"""What --settings names: a settings file, or a directory with one and its drop-ins, as genpolicy reads them.

Rule of this file: a directory holds genpolicy-settings.json and may hold genpolicy-settings.d with drop-ins, which
apply in the order of their names. Nothing else in it is read (docs/facts/kata.md#settings-files).
"""

import os
from typing import Any

from krm_function.api.json_text import load, load_any
from krm_function.hosts.files import FileProblem, read_file
from krm_function.policy.dropins import patched

BASE = "genpolicy-settings.json"
DROPINS = "genpolicy-settings.d"


class SettingsProblem(ValueError):
    """Why settings cannot be used. `file` is the one that is to blame, `remedy` what to do about it."""

    def __init__(self, file: str, problem: str, remedy: str) -> None:
        """Remember where, what and how."""
        super().__init__(problem)
        self.file = file
        self.remedy = remedy


def read_settings(path: str) -> dict[str, Any]:
    """The settings document of a file or directory. Raises SettingsProblem, and FileProblem for what cannot be read."""
    directory = os.path.isdir(path)
    file = os.path.join(path, BASE) if directory else path
    document: Any = _parsed(file, load, f"name a {BASE}")
    for dropin in _dropins(os.path.join(path, DROPINS)) if directory else ():
        remedy = "correct the drop-in: a JSON list of operations add, remove, replace, move, copy, test"
        patch = _parsed(dropin, load_any, remedy)
        try:
            document = patched(document, patch)
        except ValueError as wrong:
            raise SettingsProblem(dropin, str(wrong), remedy) from None
        if not isinstance(document, dict):
            raise SettingsProblem(dropin, "puts something else in place of the settings", remedy)
    made: dict[str, Any] = document
    return made


def _dropins(directory: str) -> list[str]:
    """The drop-ins in the order in which they apply: by name, byte by byte."""
    if not os.path.isdir(directory):
        return []
    try:
        names = sorted((name for name in os.listdir(directory) if name.endswith(".json")), key=os.fsencode)
    except OSError as problem:
        raise FileProblem(directory, problem.strerror or "not readable") from problem
    return [os.path.join(directory, name) for name in names]


def _parsed(file: str, parse: Any, remedy: str) -> Any:
    """The content of one file."""
    try:
        return parse(read_file(file).decode("utf-8"))
    except UnicodeDecodeError:
        raise SettingsProblem(file, "is not UTF-8", remedy) from None
    except RecursionError:
        raise SettingsProblem(file, "is nested too deeply", remedy) from None
    except ValueError as wrong:
        raise SettingsProblem(file, str(wrong), remedy) from None
