"""`completion`: the real shells complete what the parser knows."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.failures.running import EXECUTABLE, Zygote, environment

BASH = """
eval "$("$0" completion bash)"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
function=$(complete -p contrast-krm | sed 's/.*-F \\([^ ]*\\).*/\\1/')
$function contrast-krm "${@: -1}" "${@: -2:1}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def bash(*words: str, directory: Path) -> set[str]:
    """What bash offers for the last word."""
    done = subprocess.run(
        ["bash", "-c", BASH, EXECUTABLE, "contrast-krm", *words],
        cwd=directory,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return {line for line in done.stdout.splitlines() if line}


def test_bash_completes_verbs_and_the_verbs_below_them(tmp_path: Path) -> None:
    assert {"generate", "release", "keys", "init"} <= bash("", directory=tmp_path)
    assert bash("relea", directory=tmp_path) == {"release"}
    assert bash("release", "im", directory=tmp_path) == {"import"}
    assert bash("manifest", "pru", directory=tmp_path) == {"prune"}
    assert "--in" in bash("manifest", "keep", "--i", directory=tmp_path)
    assert bash("completion", "", directory=tmp_path) == {"bash", "zsh", "fish"}


def test_bash_completes_flags_and_their_choices(tmp_path: Path) -> None:
    assert bash("keys", "new", "--w", directory=tmp_path) == {"--workload-owner"}
    assert bash("check", "--format", "j", directory=tmp_path) == {"json"}


def test_bash_completes_files(tmp_path: Path) -> None:
    (tmp_path / "rendered.yaml").write_text("")
    assert "rendered.yaml" in bash("check", "ren", directory=tmp_path)
    assert bash("manifest", "ren", directory=tmp_path) == set(), "bash itself offers files where there is nothing else"
    assert "rendered.yaml" in bash("generate", "--config", "ren", directory=tmp_path)


ZSH = """
autoload -U compinit && compinit -u
eval "$("$0" completion zsh)"
print -r -- ${_comps[contrast-krm]}
whence -w ${_comps[contrast-krm]}
"""


@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh on this machine")
def test_zsh_takes_the_script(tmp_path: Path) -> None:
    done = subprocess.run(["zsh", "-fc", ZSH, EXECUTABLE], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "function" in done.stdout


@pytest.mark.skipif(not shutil.which("fish"), reason="no fish on this machine")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("contrast-krm relea", "release"),
        ("contrast-krm release im", "import"),
        ("contrast-krm keys new --w", "--workload-owner"),
    ],
)
def test_fish_completes(line: str, offered: str, tmp_path: Path) -> None:
    script = f"{EXECUTABLE} completion fish | source; complete -C '{line}'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert offered in {text.split("\t")[0] for text in done.stdout.splitlines()}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(shell: str, call: Zygote) -> None:
    run = call("completion", shell)
    assert (run.code, run.stderr) == (0, "")
    for word in (b"workload-owner", b"release", b"import"):
        assert word in run.stdout


def test_another_shell_is_refused_with_the_choices(call: Zygote) -> None:
    run = call("completion", "tcsh")
    assert run.code == 2
    assert run.stderr == "contrast-krm: shell tcsh is not known\n  hint: use one of bash, zsh, fish\n"
