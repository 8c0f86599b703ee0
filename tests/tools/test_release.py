"""What a release carries beside its code: commit and address, versions of the plugins, checksums, one repository."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from krm_function import __version__
from krm_function.cli.main import ISSUES
from tools.checksums import checksums, main
from tools.stamp import PLACES, stamped

ROOT = Path(__file__).parents[2]
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
COMMIT, ADDRESS = "0123456789abcdef" * 2 + "01234567", "https://example.com/x/y/blob/v1.2.3/docs"
CALL = "from tools.stamp import main\nsys.exit(main(sys.argv[1:]))"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files of the repository that a stamp needs."""
    needed = (ROOT / "tools" / "__init__.py", ROOT / "tools" / "stamp.py", *(path for path, _, _ in PLACES.values()))
    for path in needed:
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return tmp_path


def stamp(tree: Path, *arguments: str) -> int:
    command = [sys.executable, "-IS", "-c", f"import sys; sys.path.insert(0, {str(tree)!r})\n{CALL}", *arguments]
    return subprocess.run(command, cwd=tree, capture_output=True, check=False).returncode


def test_commit_and_address_are_written_with_nothing_but_python(tree: Path) -> None:
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
    assert text.index("python -m tools.stamp") < text.index("make dist")
    assert re.search(r'tools\.stamp "\$GITHUB_SHA" "\S+/docs"\n', text)


def test_the_plugins_have_the_version_of_the_package_and_download_nothing() -> None:
    for path in ("plugin.yaml", "helm_plugin/plugin.yaml"):
        manifest = yaml.safe_load((ROOT / path).read_text())
        assert manifest["version"] == re.sub(r"\.dev(\d+)$", r"-dev.\1", __version__), path  # SemVer, as Helm wants it
        assert not {"hooks", "platformHooks", "downloaders"} & manifest.keys(), path


def test_sha256sum_checks_the_checksums(tmp_path: Path) -> None:
    (tmp_path / "b.tar.gz").write_text("b")
    (tmp_path / "a with a space").write_text("a")
    assert main([str(tmp_path)]) == main([str(tmp_path)]) == 0
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "a with a space: OK\nb.tar.gz: OK\n")
    (tmp_path / "a\nb").write_text("")
    with pytest.raises(ValueError, match="another way"):
        checksums(str(tmp_path))


def test_every_address_names_the_owner_of_pyproject() -> None:
    """The Dockerfile, the action, workflows, tools, the program and its pages."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    (owner,) = re.findall(r"https://github\.com/(.+)/contrast-krm", URLS["Source"])
    hosts = r"(?:github\.com|ghcr\.io|raw\.githubusercontent\.com)/|--repo |uses: |signer-workflow "
    address = re.compile(rf"(?:{hosts})([\w.-]+)/contrast-krm\b")
    seen = set()
    for name in filter(None, map(bytes.decode, listed)):
        path = ROOT / name
        if not name.startswith("tests/") and path.is_file():
            owners = set(address.findall(path.read_text(errors="replace")))
            assert owners <= {owner}, name
            seen |= {name} if owners else set()
    assert seen >= {
        "Dockerfile",
        "README.md",
        "SECURITY.md",
        "krm_function/cli/main.py",
        "docs/how-to/github-action.md",
    }
    assert not [name for name in seen if name.startswith("tools/")], "tools take it from there"


def test_all_pages_for_contributors_name_the_repository_of_the_package() -> None:
    assert URLS["Issues"] == ISSUES == f"{URLS['Source']}/issues"
    for page in ("SECURITY.md", ".github/ISSUE_TEMPLATE/config.yml", ".github/pull_request_template.md"):
        assert URLS["Source"] in (ROOT / page).read_text(), page
