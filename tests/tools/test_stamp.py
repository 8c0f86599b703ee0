"""What a release build writes into the package: its commit, and where its documentation is."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.stamp import PLACES, stamped

ROOT = Path(__file__).parents[2]
COMMIT, ADDRESS = "0123456789abcdef" * 2 + "01234567", "https://example.com/x/y/blob/v1.2.3/docs"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files of the repository that a stamp needs."""
    for path in (
        ROOT / "tools" / "__init__.py",
        ROOT / "tools" / "stamp.py",
        *(path for path, _, _ in PLACES.values()),
    ):
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return tmp_path


def stamp(tree: Path, *arguments: str) -> int:
    command = [sys.executable, "-IS", "-c", f"import sys; sys.path.insert(0, {str(tree)!r})\n{CALL}", *arguments]
    return subprocess.run(command, cwd=tree, capture_output=True, check=False).returncode


CALL = "from tools.stamp import main\nsys.exit(main(sys.argv[1:]))"


def test_both_are_written_with_nothing_but_python(tree: Path) -> None:
    assert stamp(tree, COMMIT, ADDRESS) == 0
    assert f'__commit__ = "{COMMIT}"' in (tree / "krm_function/__init__.py").read_text()
    assert f'DOCUMENTATION = "{ADDRESS}"' in (tree / "krm_function/findings/__init__.py").read_text()
    assert stamp(tree, COMMIT, ADDRESS) != 0, "a second time there is no empty constant"


@pytest.mark.parametrize(
    "arguments",
    [(), (COMMIT,), (COMMIT[1:], ADDRESS), (COMMIT, ""), (COMMIT, f"{ADDRESS}/"), (COMMIT, 'https://x/"\nimport os #')],
    ids=repr,
)
def test_what_is_no_commit_and_no_address_is_not_written(tree: Path, arguments: tuple[str, ...]) -> None:
    before = {path: path.read_bytes() for path in tree.rglob("*.py")}
    assert stamp(tree, *arguments) == 2
    assert {path: path.read_bytes() for path in tree.rglob("*.py")} == before


def test_a_constant_that_is_not_there_once_is_an_error() -> None:
    for text in ("", 'X = ""\nX = ""\n', 'X = "a"\n'):
        with pytest.raises(ValueError, match="wanted one"):
            stamped(text, "X", "1")


def test_the_release_workflow_writes_them_before_it_builds() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text()
    called, built = text.index("python -m tools.stamp"), text.index("make dist")
    assert called < built
    assert re.search(r'tools\.stamp "\$GITHUB_SHA" "\S+/docs"\n', text)
