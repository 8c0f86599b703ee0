"""A file or module that a docstring, a comment or a page names exists: renaming one is not done before these say so.

Rule of this file: `krm_function/` may be left out of a path. Names in code blocks of pages are those of the reader.
"""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
TRACKED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
PATHS = {path.removeprefix("krm_function/") for path in TRACKED if path.startswith(("krm_function/", "helm_plugin/"))}
KNOWN = PATHS | {path.removesuffix(".py") for path in PATHS} | {str(Path(path).parent) for path in PATHS}
TOP = {path.partition("/")[0] for path in PATHS if "/" in path}
NAMES = {Path(path).name for path in TRACKED}
PAGES = [path for path in TRACKED if path.endswith(".md") and path != "CHANGELOG.md"]
MODULES = [path for path in TRACKED if path.startswith(("krm_function/", "helm_plugin/")) and path.endswith(".py")]


def missing(text: str) -> list[str]:
    """The paths and file names in a text that are not there."""
    paths = re.findall(r"(?<![\w./-])((?:krm_function/)?([a-z_]+)/[a-z_/]*[a-z_](?:\.py)?)(?![\w/.-])", text)
    paths = [(path, top) for path, top in paths if path != "text/plain"]  # a media type
    wrong = [path for path, top in paths if top in TOP and path.removeprefix("krm_function/") not in KNOWN]
    return wrong + [name for name in re.findall(r"(?<![\w/.-])([a-z_]+\.py)\b", text) if name not in NAMES]


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_modules_name_only_files_that_exist() -> None:
    assert {path: wrong for path in MODULES if (wrong := missing(read(path)))} == {}


def test_pages_name_only_files_that_exist() -> None:
    assert {path: wrong for path in PAGES if (wrong := missing_in_page(read(path)))} == {}


def missing_in_page(text: str) -> list[str]:
    """The same of a page: a name that its code blocks have is a file of the reader."""
    code = "\n".join(re.findall(r"(?ms)^```.*?^```|^    .*?$", text))
    theirs = set(re.findall(r"[a-z_]+\.py", code))
    return [name for name in missing(text) if name.removeprefix("test_") not in theirs]


def test_no_page_holds_both_sides_of_a_merge() -> None:
    assert [path for path in (*PAGES, "CHANGELOG.md") if re.search(r"(?m)^(<{7} |={7}$|>{7} )", read(path))] == []


def test_a_name_of_nothing_is_found() -> None:
    assert missing("see contrast/nothing_such.py, report/findings.py and nothing_such.py") == [
        "contrast/nothing_such.py",
        "nothing_such.py",
    ]
