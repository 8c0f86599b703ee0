"""What `make image` does without an engine: the libraries it fetches, what it says where it cannot run."""

import os
import re
from pathlib import Path

import pytest

from tools import engine, image, image_root
from tools.cache import ToolError

LOCK = """# a comment
some-thing==1.0 ; python_full_version < '3.14' \\
    --hash=sha256:aa \\
    --hash=sha256:bb
on-windows==2.0 ; sys_platform == 'win32' \\
    --hash=sha256:cc
always==3.0 \\
    --hash=sha256:dd
"""


@pytest.mark.parametrize(("version", "names"), [("3.11.2", ["some-thing", "always"]), ("3.14.0", ["always"])])
def test_the_libraries_are_those_of_the_python_in_the_base(version: str, names: list[str]) -> None:
    lines = image.for_python(LOCK, version).splitlines()
    assert [line.partition("==")[0] for line in lines] == names
    assert all(re.fullmatch(r"[\w=.-]+( --hash=sha256:\w+)+", line.strip()) for line in lines)


def test_the_lock_file_is_kept_whole_but_for_other_systems() -> None:
    lock = (Path(image.ROOT) / "requirements/run.txt").read_text()
    packages = {line.partition("==")[0] for line in lock.splitlines() if "==" in line and not line.startswith("#")}
    kept = {line.partition("==")[0] for line in image.for_python(lock, "3.11.2").splitlines()}
    assert packages - kept == {"colorama"}


def test_without_an_engine_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "environ", {"PATH": str(tmp_path)})
    with pytest.raises(ToolError) as caught:
        engine.environment()
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith("apt-get install --no-install-recommends mmdebstrap buildah podman runc")


@pytest.mark.parametrize("name", ["json", "ssl.py", "_ssl.cpython-311-x86_64-linux-gnu.so", "LICENSE.txt", "testing"])
def test_of_the_standard_library_stays_what_a_command_may_import(name: str) -> None:
    assert image_root.LEFT_OUT.fullmatch(name) is None


@pytest.mark.parametrize(
    "name", ["test", "ensurepip", "__pycache__", "config-3.11-x86_64-linux-gnu", "_tkinter.cpython-311-x86_64.so"]
)
def test_of_the_standard_library_goes_what_none_imports(name: str) -> None:
    assert image_root.LEFT_OUT.fullmatch(name)
