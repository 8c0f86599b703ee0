"""A private key in a work tree of Git: what is said agrees with what Git itself would do."""

import subprocess
from pathlib import Path

import pytest

from krm_function.cli.next_steps import is_open_to_git
from tests.failures.running import Zygote

CASES = {
    "nothing": ({}, "a-owner.pem"),
    "a name": ({".gitignore": "*-owner.pem\n"}, "a-owner.pem"),
    "another name": ({".gitignore": "*.key\n# *.pem\n"}, "a-owner.pem"),
    "a name, below": ({".gitignore": "*.pem\n"}, "deep/er/a-owner.pem"),
    "a directory": ({".gitignore": "keys/\n"}, "keys/a-owner.pem"),
    "a directory, below": ({".gitignore": "keys\n"}, "deep/keys/er/a-owner.pem"),
    "a directory that is a file": ({".gitignore": "a-owner.pem/\n"}, "a-owner.pem"),
    "from the top": ({".gitignore": "/keys/*.pem\n"}, "keys/a-owner.pem"),
    "from the top, elsewhere": ({".gitignore": "/keys/*.pem\n"}, "deep/keys/a-owner.pem"),
    "any depth": ({".gitignore": "**/keys/*.pem\n"}, "deep/keys/a-owner.pem"),
    "beside it": ({"deep/.gitignore": "*.pem\n"}, "deep/a-owner.pem"),
    "beside another": ({"other/.gitignore": "*.pem\n"}, "deep/a-owner.pem"),
    "taken back": ({".gitignore": "*.pem\n!a-owner.pem\n"}, "a-owner.pem"),
    "taken back below": ({".gitignore": "*.pem\n", "deep/.gitignore": "!*.pem\n"}, "deep/a-owner.pem"),
    "excluded": ({".git/info/exclude": "*.pem\n"}, "a-owner.pem"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_agrees_with_git(case: str, tmp_path: Path) -> None:
    files, key = CASES[case]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name, text in {**files, key: ""}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    command = ["git", "-c", "core.excludesFile=/dev/null", "-C", str(tmp_path), "check-ignore", "-q", key]
    ignored = subprocess.run(command, check=False).returncode == 0
    assert is_open_to_git(str(tmp_path / key)) is not ignored


def test_a_key_that_git_would_commit_is_a_warning_whose_hint_ends_it(tmp_path: Path, call: Zygote) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    run = call("keys", "new", "--workload-owner", directory=tmp_path)
    assert run.code == 0
    assert "warning CC1242: private key workload-owner.pem is in a Git work tree" in run.stderr
    hint = next(line for line in run.stderr.splitlines() if "hint:" in line).partition("hint: ")[2].partition(", or")[0]
    subprocess.run(["bash", "-c", hint], cwd=tmp_path, check=True)
    again = call("keys", "new", "--workload-owner", "-o", "second-owner.pem", directory=tmp_path)
    assert (again.code, "CC1242" in again.stderr) == (0, False)
    status = ["git", "-C", str(tmp_path), "status", "--short"]
    assert subprocess.run(status, capture_output=True, check=True).stdout == b"?? .gitignore\n"


def test_outside_of_git_and_on_standard_output_nothing_is_said(tmp_path: Path, call: Zygote) -> None:
    assert "CC1242" not in call("keys", "new", "--workload-owner", directory=tmp_path).stderr
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    run = call("keys", "new", "--workload-owner", "-o", "-", "--public", "a.pub", directory=tmp_path)
    assert (run.code, "CC1242" in run.stderr) == (0, False)
