"""What --settings names: a settings file, or a directory with one and its drop-ins, as genpolicy reads them.

Rule of this file: a directory holds genpolicy-settings.json and may hold genpolicy-settings.d with drop-ins, which
apply in the order of their names. Nothing else in it is read (docs/facts/kata.md#settings-files).
"""

import os
from typing import TYPE_CHECKING, Any

from krm_function.api.strict_json import load_any, load_object
from krm_function.hosts.files import FileProblem, read_file
from krm_function.policy.dropins import patched

if TYPE_CHECKING:
    from krm_function.cli.files.readers import ReadFile

BASE = "genpolicy-settings.json"
DROPINS = "genpolicy-settings.d"


class SettingsProblem(ValueError):
    """Why settings cannot be used. code: CC0909 with a variant; file: which one is wrong; error: a parser's words."""

    def __init__(self, code: str, file: str, error: str = "") -> None:
        """Remember what and where."""
        super().__init__(code)
        self.code = code
        self.file = file
        self.error = error


def read_settings(path: str, read: "ReadFile" = read_file) -> dict[str, Any]:
    """Read the settings of a file or directory. Raises SettingsProblem, and FileProblem for what cannot be read.

    read: reads one file.
    """
    directory = os.path.isdir(path)
    file = os.path.join(path, BASE) if directory else path
    wrong_settings = "CC0909.settings", "CC0909.settings-encoding", "CC0909.settings-depth"
    document: Any = _parsed(file, path if directory else "", read, load_object, *wrong_settings)
    for dropin in _dropins(os.path.join(path, DROPINS)) if directory else ():
        wrong_patch = "CC0909.drop-in", "CC0909.drop-in-encoding", "CC0909.drop-in-depth"
        patch = _parsed(dropin, path, read, load_any, *wrong_patch)
        try:
            document = patched(document, patch)
        except ValueError as wrong:
            raise SettingsProblem("CC0909.drop-in", dropin, str(wrong)) from None
        if not isinstance(document, dict):
            raise SettingsProblem("CC0909.drop-in-root", dropin)
    settings: dict[str, Any] = document
    return settings


def _dropins(directory: str) -> list[str]:
    """Return the drop-ins in the order in which they apply: by name, byte by byte."""
    if not os.path.isdir(directory):
        return []
    try:
        names = sorted((name for name in os.listdir(directory) if name.endswith(".json")), key=os.fsencode)
    except OSError as problem:
        raise FileProblem(directory, problem.strerror or "not readable") from problem
    return [os.path.join(directory, name) for name in names]


def _parsed(
    file: str, root: str, read: "ReadFile", parse: Any, wrong_text: str, wrong_encoding: str, too_deep: str
) -> Any:
    """Parse one file. root: as `read` takes it. The last three are the codes of what can be wrong with it."""
    try:
        return parse(read(file, root).decode("utf-8"))
    except UnicodeDecodeError:
        raise SettingsProblem(wrong_encoding, file) from None
    except RecursionError:
        raise SettingsProblem(too_deep, file) from None
    except ValueError as wrong:
        raise SettingsProblem(wrong_text, file, str(wrong)) from None
